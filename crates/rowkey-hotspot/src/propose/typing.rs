//! Which field of a schema holds the values of an old one: candidates from narrow to wide, tried on every sampled value.

use super::convert::{Cell, Convert, Reading, ReadingForm};
use crate::layout::{FieldFacts, HashEncoding, IdMeaning, Meaning, Oddity, TimeForm, TimeMeaning};
use rowkey::schema::{Field, FieldKind, IsoForm, KeySchema, Order, Part, TimeUnit};
use rowkey::{Codec, Value};
use std::collections::BTreeSet;

/// A narrower kind is taken if it holds so much of the values: the rest are malformed keys, and are counted.
const FIT_MIN: f64 = 0.99;

/// A field of the new key, without its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Typing {
    pub(super) kind: FieldKind,
    pub(super) order: Order,
    pub(super) convert: Convert,
    /// Whether the stored bytes of some value differ from the old ones.
    pub(super) changes: bool,
    /// Old values that became one with another.
    pub(super) merged: usize,
}

/// What a field is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Wish {
    /// The same bytes as before.
    Keep,
    /// The kind that sorts and prints as the values do.
    #[default]
    Sort,
    /// A number with its digits reversed.
    ReverseDigits,
    /// A host with its labels reversed.
    ReverseLabels,
    /// A digest of fixed width.
    Digest,
}

#[derive(Debug, Clone)]
struct Candidate {
    kind: FieldKind,
    order: Order,
    convert: Convert,
    /// Whether two old values may become one, because they mean the same.
    folds: bool,
}

impl Candidate {
    fn new(kind: FieldKind, convert: Convert) -> Self {
        Self { kind, order: Order::Asc, convert, folds: false }
    }

    fn folding(kind: FieldKind, convert: Convert) -> Self {
        Self { folds: true, ..Self::new(kind, convert) }
    }
}

/// The typing of a field with these raw values, or `None` if the wish cannot be had.
pub(super) fn choose(facts: &FieldFacts, values: &[&[u8]], wish: Wish) -> Option<Typing> {
    let longest = values.iter().map(|value| value.len()).max().unwrap_or(1).max(1);
    let list = match wish {
        Wish::Keep | Wish::Sort => candidates(facts, values, longest),
        Wish::ReverseDigits => {
            let digits = room(longest);
            vec![Candidate::new(FieldKind::UintReversed { digits }, Convert::Number)]
        }
        Wish::ReverseLabels => vec![Candidate::folding(FieldKind::Domain { separator: b',' }, Convert::Host)],
        Wish::Digest => vec![Candidate::new(FieldKind::Hex { digits: 32 }, Convert::Digest)],
    };
    let exact = wish == Wish::Keep;
    list.iter().find_map(|candidate| attempt(candidate, values, exact))
}

/// The widest kinds: any text, any bytes.
pub(super) fn widest(values: &[&[u8]]) -> Typing {
    let text = Candidate::new(FieldKind::EscapedText, Convert::Text);
    let bytes = Candidate::new(FieldKind::EscapedBytes, Convert::Bytes);
    let typing = if values.iter().all(|value| std::str::from_utf8(value).is_ok()) { text } else { bytes };
    Typing { kind: typing.kind, order: Order::Asc, convert: typing.convert, changes: true, merged: 0 }
}

/// Width for numbers of at most `longest` digits that may grow a thousandfold.
fn room(longest: usize) -> u8 {
    u8::try_from(longest.saturating_add(3)).unwrap_or(20).clamp(1, 20)
}

fn attempt(candidate: &Candidate, values: &[&[u8]], exact: bool) -> Option<Typing> {
    let codec = alone(&candidate.kind, candidate.order)?;
    let mut key = Vec::new();
    let (mut fitting, mut changes) = (0_usize, false);
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    for raw in values {
        let Some(value) = candidate.convert.value(&Cell::Raw(raw)) else { continue };
        if codec.encode(std::slice::from_ref(&value), &mut key).is_err() || !comes_back(&codec, &value, &key)
        {
            continue;
        }
        if exact && key != *raw {
            continue;
        }
        fitting += 1;
        changes |= key != *raw;
        if old.insert(*raw) {
            new.insert(key.clone());
        }
    }
    let merged = old.len() - new.len();
    #[expect(clippy::cast_precision_loss, reason = "counts of a sample are far below 2^53")]
    let fits = fitting as f64 >= values.len() as f64 * FIT_MIN;
    let (kind, order, convert) = (candidate.kind.clone(), candidate.order, candidate.convert);
    (fits && (merged == 0 || candidate.folds)).then_some(Typing { kind, order, convert, changes, merged })
}

/// Whether decoding gives the value that was encoded; a host comes back in its normal form.
fn comes_back(codec: &Codec, value: &Value<'_>, key: &[u8]) -> bool {
    let mut values = Vec::new();
    if codec.decode(key, &mut values).is_err() {
        return false;
    }
    codec.normal_value(0, value).is_ok_and(|normal| values.first() == Some(&normal))
}

/// A codec for one field.
fn alone(kind: &FieldKind, order: Order) -> Option<Codec> {
    let field = Field { name: "x".to_owned(), kind: kind.clone(), order, values: Vec::new() };
    let schema = KeySchema {
        table: "t".to_owned(),
        parts: vec![Part::Field(0)],
        fields: vec![field],
        salt: None,
        families: Vec::new(),
        queries: Vec::new(),
    };
    Codec::new(schema).ok()
}

fn candidates(facts: &FieldFacts, values: &[&[u8]], longest: usize) -> Vec<Candidate> {
    let mut list = narrow(facts, values, longest);
    // What a field is inferred to be may be wrong for some of its values; these are right for all.
    list.push(Candidate::new(FieldKind::String, Convert::Text));
    if values.iter().all(|value| value.len() == longest)
        && let Ok(bytes @ 1..=4_096) = u16::try_from(longest)
    {
        list.push(Candidate::new(FieldKind::Fixed { bytes }, Convert::Bytes));
    }
    list.push(Candidate::new(FieldKind::EscapedBytes, Convert::Bytes));
    list
}

fn narrow(facts: &FieldFacts, values: &[&[u8]], longest: usize) -> Vec<Candidate> {
    let same_width = values.iter().all(|value| value.len() == longest);
    match &facts.meaning {
        Meaning::Time(time) | Meaning::Period(time) => times(facts, time, values, longest),
        Meaning::Number { negative: false, .. } | Meaning::Id(IdMeaning::Snowflake) => {
            numbers(longest, same_width)
        }
        Meaning::Number { negative: true, .. } => {
            let digits = room(longest.saturating_sub(1).max(1)).min(18);
            vec![Candidate::new(FieldKind::Int { digits }, Convert::Signed)]
        }
        Meaning::Decimal { .. } => decimals(values),
        Meaning::BinaryNumber { bytes, .. } if matches!(bytes, 1 | 2 | 4 | 8) => {
            vec![Candidate::new(FieldKind::BeUint { bytes: *bytes }, Convert::BigEndian)]
        }
        Meaning::Id(IdMeaning::Uuid(_)) if longest == 36 => {
            vec![Candidate::folding(FieldKind::UuidText, Convert::Uuid)]
        }
        Meaning::Id(IdMeaning::Uuid(_) | IdMeaning::ObjectId) if longest == 32 || longest == 24 => {
            hexes(longest)
        }
        Meaning::Hash { encoding: HashEncoding::Hex, .. } if same_width => hexes(longest),
        _ => Vec::new(),
    }
}

/// Numbers of one width keep it; others get room.
fn numbers(longest: usize, same_width: bool) -> Vec<Candidate> {
    let width = u8::try_from(longest).unwrap_or(u8::MAX);
    let digits = if same_width { width } else { room(longest) };
    if digits > 20 { Vec::new() } else { vec![Candidate::new(FieldKind::Uint { digits }, Convert::Number)] }
}

fn hexes(longest: usize) -> Vec<Candidate> {
    let digits = u16::try_from(longest).unwrap_or(u16::MAX).min(512);
    vec![Candidate::folding(FieldKind::Hex { digits }, Convert::Hex)]
}

/// Fractions as integers of the smallest decimal; floats where they have too many digits for that.
fn decimals(values: &[&[u8]]) -> Vec<Candidate> {
    let after = |value: &&[u8]| value.iter().rev().position(|byte| *byte == b'.').unwrap_or(0);
    let before = |value: &&[u8]| value.iter().take_while(|byte| **byte != b'.').count();
    let decimals = values.iter().map(after).max().unwrap_or(0);
    let whole = values.iter().map(before).max().unwrap_or(1);
    let mut list = Vec::new();
    if let (Ok(decimals), Ok(digits @ 1..=18)) = (u8::try_from(decimals), u8::try_from(decimals + whole)) {
        list.push(Candidate::new(FieldKind::Int { digits }, Convert::Scaled(decimals)));
    }
    list.push(Candidate::new(FieldKind::BeFloat, Convert::Float));
    list
}

fn times(facts: &FieldFacts, time: &TimeMeaning, values: &[&[u8]], longest: usize) -> Vec<Candidate> {
    let order = if time.reversed { Order::Desc } else { Order::Asc };
    let mixed = facts.oddities.iter().any(|oddity| matches!(oddity, Oddity::TimeUnits { .. }));
    let digits = |unit, reading| Candidate {
        order,
        folds: mixed,
        ..Candidate::new(FieldKind::EpochDigits { unit, digits: epoch_digits(unit) }, Convert::Time(reading))
    };
    let mut list = Vec::new();
    if mixed {
        let reading = Reading { form: ReadingForm::AnyUnit, reversed_at: None };
        list.push(digits(finest(values), reading));
    }
    let form = match time.form {
        TimeForm::Epoch(unit) => ReadingForm::Digits(nanos(unit)),
        TimeForm::Ticks => ReadingForm::Ticks,
        TimeForm::IsoExtended | TimeForm::IsoBasic | TimeForm::Calendar => ReadingForm::Calendar,
        TimeForm::Binary(unit) => ReadingForm::Binary(nanos(unit)),
    };
    let unit = match time.form {
        TimeForm::Epoch(unit) | TimeForm::Binary(unit) => unit,
        TimeForm::Ticks => TimeUnit::Nanos,
        _ => decimals_of(values),
    };
    let reading = |reversed_at| Reading { form, reversed_at };
    if time.reversed {
        let bases = reversal_bases(longest, form, values, time);
        list.extend(bases.into_iter().map(|base| digits(unit, reading(Some(base)))));
        return list;
    }
    if form == ReadingForm::Calendar {
        list.extend(calendars(values, unit, longest));
    }
    list.push(digits(unit, reading(None)));
    list
}

/// Text of the calendar that the codec writes in just the same way.
fn calendars(values: &[&[u8]], unit: TimeUnit, longest: usize) -> Vec<Candidate> {
    let convert = Convert::Time(Reading { form: ReadingForm::Calendar, reversed_at: None });
    let dashes = values.first().is_some_and(|value| value.contains(&b'-'));
    let form = match (longest, dashes) {
        (8, false) => IsoForm::DateBasic,
        (10, true) => IsoForm::DateExtended,
        (9.., true) => IsoForm::Extended,
        // Months and hours, and seconds without a letter: digits that sort as they are.
        (_, false)
            if values.iter().all(|value| value.len() == longest && value.iter().all(u8::is_ascii_digit)) =>
        {
            return numbers(longest, true);
        }
        (9.., false) => IsoForm::Basic,
        _ => return Vec::new(),
    };
    vec![Candidate::new(FieldKind::Iso { form, unit }, convert)]
}

/// The unit of the decimals behind the second.
fn decimals_of(values: &[&[u8]]) -> TimeUnit {
    let behind = |value: &&[u8]| {
        let text = value.strip_suffix(b"Z").unwrap_or(value);
        match text.iter().position(|byte| matches!(byte, b'.' | b',')) {
            Some(point) => text[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
            // Basic form: what is behind 14 digits and a T.
            None if !text.contains(&b':') => {
                text.iter().filter(|byte| byte.is_ascii_digit()).count().saturating_sub(14)
            }
            None => 0,
        }
    };
    match values.iter().map(behind).max().unwrap_or(0) {
        0 => TimeUnit::Seconds,
        1..=3 => TimeUnit::Millis,
        4..=6 => TimeUnit::Micros,
        _ => TimeUnit::Nanos,
    }
}

/// The finest unit among epoch digits of several.
fn finest(values: &[&[u8]]) -> TimeUnit {
    match values.iter().map(|value| value.len()).max().unwrap_or(13) {
        ..=11 => TimeUnit::Seconds,
        12..=14 => TimeUnit::Millis,
        15..=17 => TimeUnit::Micros,
        _ => TimeUnit::Nanos,
    }
}

/// What times are taken from in practice, those first with which all values lie in the time that the sample is said to span.
fn reversal_bases(longest: usize, form: ReadingForm, values: &[&[u8]], time: &TimeMeaning) -> Vec<i128> {
    let nines = u32::try_from(longest)
        .ok()
        .filter(|digits| *digits <= 30)
        .map_or(0, |digits| 10_i128.pow(digits) - 1);
    let all = [
        i128::from(i64::MAX),
        i128::from(u64::MAX),
        nines,
        nines + 1,
        i128::from(i32::MAX),
        i128::from(u32::MAX),
        // The end of the year 9999 in .NET's ticks (`DateTime.MaxValue.Ticks`).
        3_155_378_975_999_999_999,
        // The last millisecond of JavaScript's `Date` (ECMA-262, 21.4.1.1) and the greatest safe integer.
        8_640_000_000_000_000,
        9_007_199_254_740_991,
    ];
    let (first, last) = (time.first_ms.saturating_sub(1_000), time.last_ms.saturating_add(1_000));
    let explains = |base: &i128| {
        let convert = Convert::Time(Reading { form, reversed_at: Some(*base) });
        let within = |value: &&&[u8]| match convert.value(&Cell::Raw(value)) {
            Some(Value::Time(time)) => (first..=last).contains(&time.as_millis()),
            _ => false,
        };
        let some = values.len().min(200);
        values.iter().take(some).filter(within).count() * 10 >= some * 9
    };
    all.into_iter().filter(explains).collect()
}

fn nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Millis => 1_000_000,
        TimeUnit::Micros => 1_000,
        TimeUnit::Nanos => 1,
    }
}

/// Digits that last until 2286.
fn epoch_digits(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Seconds => 10,
        TimeUnit::Millis => 13,
        TimeUnit::Micros => 16,
        TimeUnit::Nanos => 19,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        meaning: &Meaning,
        values: &[&str],
        wish: Wish,
        expected: impl Into<Option<FieldKind>>,
    ) -> Option<Typing> {
        let facts = FieldFacts::new("x", meaning.clone());
        let raw: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
        let typing = choose(&facts, &raw, wish);
        assert_eq!(typing.as_ref().map(|typing| typing.kind.clone()), expected.into(), "{values:?}");
        typing
    }

    fn time(form: TimeForm, reversed: bool) -> Meaning {
        let around = 1_714_645_800_000;
        Meaning::Time(TimeMeaning { form, reversed, first_ms: around - 10_000, last_ms: around + 10_000 })
    }

    fn number(padded: bool, negative: bool) -> Meaning {
        Meaning::Number { padded, grows: false, negative }
    }

    #[test]
    fn numbers_are_padded_with_room_to_grow() {
        let typing =
            check(&number(false, false), &["7", "123"], Wish::Sort, Some(FieldKind::Uint { digits: 6 }));
        assert!(typing.is_some_and(|typing| typing.changes && typing.merged == 0));
        check(&number(true, false), &["007", "123"], Wish::Sort, Some(FieldKind::Uint { digits: 3 }));
        check(
            &number(false, false),
            &["7", "123"],
            Wish::ReverseDigits,
            Some(FieldKind::UintReversed { digits: 6 }),
        );
    }

    #[test]
    fn numbers_that_would_become_one_stay_text() {
        check(&number(false, false), &["7", "07"], Wish::Sort, Some(FieldKind::String));
    }

    #[test]
    fn negative_numbers_get_a_sign_that_sorts() {
        check(&number(false, true), &["-7", "12"], Wish::Sort, Some(FieldKind::Int { digits: 4 }));
        let decimal = Meaning::Decimal { negative: true };
        check(&decimal, &["-050.56", "0019.57"], Wish::Sort, Some(FieldKind::Int { digits: 6 }));
        check(&decimal, &["-0.1234567890123456789", "2.5"], Wish::Sort, Some(FieldKind::BeFloat));
    }

    #[test]
    fn keeping_takes_only_kinds_with_the_same_bytes() {
        check(&number(false, false), &["7", "123"], Wish::Keep, Some(FieldKind::String));
        check(&number(true, false), &["007", "123"], Wish::Keep, Some(FieldKind::Uint { digits: 3 }));
        let typing = check(
            &time(TimeForm::IsoExtended, false),
            &["2024-05-02T10:30:00.123Z"],
            Wish::Keep,
            Some(FieldKind::Iso { form: IsoForm::Extended, unit: TimeUnit::Millis }),
        );
        assert!(typing.is_some_and(|typing| !typing.changes));
    }

    #[test]
    fn times_become_timestamps_of_their_unit_and_direction() {
        let millis = FieldKind::EpochDigits { unit: TimeUnit::Millis, digits: 13 };
        check(
            &time(TimeForm::Epoch(TimeUnit::Millis), false),
            &["1714645800123"],
            Wish::Sort,
            Some(millis.clone()),
        );
        let typing = check(
            &time(TimeForm::Epoch(TimeUnit::Millis), true),
            &["9223370322208975684"],
            Wish::Sort,
            Some(millis.clone()),
        );
        assert_eq!(typing.map(|typing| typing.order), Some(Order::Desc));
        check(
            &time(TimeForm::Ticks, true),
            &["2516876549998769999"],
            Wish::Sort,
            Some(FieldKind::EpochDigits { unit: TimeUnit::Nanos, digits: 19 }),
        );
        check(
            &time(TimeForm::IsoBasic, false),
            &["20240502T103000123Z"],
            Wish::Sort,
            Some(FieldKind::Iso { form: IsoForm::Basic, unit: TimeUnit::Millis }),
        );
        check(
            &time(TimeForm::Calendar, false),
            &["20240502"],
            Wish::Sort,
            Some(FieldKind::Iso { form: IsoForm::DateBasic, unit: TimeUnit::Seconds }),
        );
        check(
            &time(TimeForm::Calendar, false),
            &["2024050210"],
            Wish::Sort,
            Some(FieldKind::Uint { digits: 10 }),
        );
    }

    #[test]
    fn mixed_units_become_the_finest() {
        let mut facts = FieldFacts::new("time", time(TimeForm::Epoch(TimeUnit::Millis), false));
        facts.oddities.push(Oddity::TimeUnits { units: Vec::new() });
        let typing = choose(&facts, &[b"1714645800", b"1714645800123"], Wish::Sort);
        assert_eq!(
            typing.map(|typing| (typing.kind, typing.merged)),
            Some((FieldKind::EpochDigits { unit: TimeUnit::Millis, digits: 13 }, 0))
        );
    }

    #[test]
    fn hex_of_two_cases_folds() {
        let hash = Meaning::Hash { bits: 160, encoding: HashEncoding::Hex };
        let typing = check(&hash, &["9A", "9a", "0b"], Wish::Sort, Some(FieldKind::Hex { digits: 2 }));
        assert_eq!(typing.map(|typing| typing.merged), Some(1));
        check(&hash, &["9A", "0b"], Wish::Keep, Some(FieldKind::String));
    }

    #[test]
    fn what_is_not_what_it_was_taken_for_gets_a_wider_kind() {
        check(&number(false, false), &["7", "x"], Wish::Sort, Some(FieldKind::String));
        let facts = FieldFacts::new("x", number(false, false));
        let typing = choose(&facts, &[b"7", b"\xff\xff"], Wish::Sort);
        assert_eq!(typing.map(|typing| typing.kind), Some(FieldKind::EscapedBytes));
        check(&Meaning::Text, &["\u{e9}"], Wish::ReverseDigits, None);
    }

    #[test]
    fn hosts_and_digests_are_had_on_request() {
        check(
            &Meaning::Domain { reversed: false },
            &["www.example.com", "example.org"],
            Wish::ReverseLabels,
            Some(FieldKind::Domain { separator: b',' }),
        );
        check(&Meaning::Text, &["a long text", "another"], Wish::Digest, Some(FieldKind::Hex { digits: 32 }));
    }
}
