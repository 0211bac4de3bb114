//! A sketch as a key schema: types that hold the sampled values, literals that keep the order, a salt, and the queries.

use super::Cure;
use super::convert::{Cell, Convert};
use super::old::{Old, Reader};
use super::reads::{Pattern, Reads};
use super::sketch::{Case, SaltSketch, Sketch};
use super::typing::{self, Typing, Wish};
use crate::layout::{Meaning, Oddity};
use crate::rule::Rule;
use rowkey::schema::{
    Binding, DeclaredQuery, Family, Field, FieldKind, Hash, KeySchema, Order, Part, Salt, SaltFormat,
    SaltSource,
};
use rowkey::{Codec, Value};

/// A field of the new key.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// The old field.
    pub(super) from: usize,
    pub(super) convert: Convert,
}

/// A schema and how old fields get into it.
#[derive(Debug, Clone)]
pub(super) struct Built {
    pub(super) codec: Codec,
    pub(super) columns: Vec<Column>,
    /// What the types and literals cure besides the sketch.
    pub(super) cures: Vec<Cure>,
    /// A comment for each field; empty: none.
    pub(super) comments: Vec<String>,
    /// What else is to be known.
    pub(super) notes: Vec<String>,
}

/// Builds a sketch; `None` if the schema language cannot have it.
pub(super) fn build(case: &Case<'_>, sketch: &Sketch, cells: &[Vec<Cell<'_>>], table: &str) -> Option<Built> {
    let (old, reads) = (case.old, case.reads);
    let typed: Option<Vec<Typed>> = sketch.order.iter().map(|at| typed(case, *at, sketch, cells)).collect();
    let mut typed = typed?;
    let (literals, delimiter) = literals(old, sketch, &mut typed, cells);
    let mut notes = Vec::new();
    let mut cures: Vec<Cure> = Vec::new();
    for field in &typed {
        cures.extend(field.cure.filter(|cure| !cures.contains(cure)));
        notes.extend(field.note.clone());
    }
    if !sketch.keep
        && old.delimiter().is_some_and(|byte| byte != delimiter)
        && has_delimiter_in_data(old, sketch)
    {
        cures.push(Cure::SafeDelimiter);
    }
    let fields: Vec<Field> = typed
        .iter()
        .map(|field| Field {
            name: old.fields[field.from].name.clone(),
            kind: field.typing.kind.clone(),
            order: field.typing.order,
            values: field.values.clone(),
        })
        .collect();
    let salt = sketch.salt.as_ref().map(|salt| new_salt(salt, sketch, kept_format(old, sketch, cells)));
    let parts = parts(&literals, salt.is_some(), old, sketch, delimiter);
    let queries = queries(sketch, reads, &fields, salt.as_ref());
    let families = if old.families.is_empty() { vec![placeholder()] } else { old.families.clone() };
    let schema = KeySchema { table: table.to_owned(), parts, fields, salt, families, queries };
    let schema = parsed(schema)?;
    let columns =
        typed.iter().map(|field| Column { from: field.from, convert: field.typing.convert }).collect();
    let comments = typed.into_iter().map(|field| field.comment).collect();
    Some(Built { codec: Codec::new(schema).ok()?, columns, cures, comments, notes })
}

/// A family for a table of which only keys are known.
fn placeholder() -> Family {
    Family { name: "data".to_owned(), gc: "maxversions=1".to_owned(), value_type: "bytes".to_owned() }
}

/// The schema as `parse` makes it, which checks all of it. A salt of another program that does not fit becomes one of `xxh3`.
fn parsed(mut schema: KeySchema) -> Option<KeySchema> {
    if let Ok(parsed) = KeySchema::parse(&schema.to_toml()) {
        return Some(parsed);
    }
    let salt = schema.salt.as_mut()?;
    salt.source = SaltSource::Hash(Hash::Xxh3);
    salt.buckets = salt.buckets.max(1);
    salt.format = digits_for(salt.buckets);
    KeySchema::parse(&schema.to_toml()).ok()
}

struct Typed {
    from: usize,
    typing: Typing,
    values: Vec<String>,
    cure: Option<Cure>,
    comment: String,
    note: Option<String>,
}

fn typed(case: &Case<'_>, at: usize, sketch: &Sketch, cells: &[Vec<Cell<'_>>]) -> Option<Typed> {
    let field = &case.old.fields[at];
    let wish = sketch.wishes.get(&at).copied().unwrap_or(if sketch.keep { Wish::Keep } else { Wish::Sort });
    if let Some((kind, order, values)) = &field.typed {
        return typed_by_schema(at, kind, *order, values, wish);
    }
    let raw: Vec<&[u8]> = cells.iter().filter_map(|row| raw(row.get(at)?)).collect();
    let typing = typing::choose(&field.facts, &raw, wish)?;
    let cure = cure_of(&typing, case.rules, &field.facts.meaning);
    let comment = comment(&typing, &field.facts.meaning, cure);
    let note = (typing.merged > 0).then(|| {
        format!(
            "{} values of {} became one with another, since they mean the same.",
            typing.merged, field.name
        )
    });
    Some(Typed { from: at, typing, values: Vec::new(), cure, comment, note })
}

fn raw<'k>(cell: &Cell<'k>) -> Option<&'k [u8]> {
    match cell {
        Cell::Raw(bytes) => Some(bytes),
        Cell::Typed(_) => None,
    }
}

/// A field of a schema keeps its type, unless another is wished for that its values have.
fn typed_by_schema(
    from: usize,
    kind: &FieldKind,
    order: Order,
    values: &[String],
    wish: Wish,
) -> Option<Typed> {
    let (kind, order, convert) = match (wish, kind) {
        (Wish::ReverseDigits, FieldKind::Uint { digits }) => {
            (FieldKind::UintReversed { digits: *digits }, Order::Asc, Convert::Same)
        }
        (Wish::ReverseLabels, FieldKind::String | FieldKind::EscapedText) => {
            (FieldKind::Domain { separator: b',' }, Order::Asc, Convert::Host)
        }
        (Wish::Digest, FieldKind::String | FieldKind::EscapedText | FieldKind::EscapedBytes) => {
            (FieldKind::Hex { digits: 32 }, Order::Asc, Convert::Digest)
        }
        (Wish::ReverseDigits, _) => return None,
        _ => (kind.clone(), order, Convert::Same),
    };
    let values = if convert == Convert::Same { values.to_vec() } else { Vec::new() };
    let typing = Typing { kind, order, convert, changes: convert != Convert::Same, merged: 0 };
    Some(Typed { from, typing, values, cure: None, comment: String::new(), note: None })
}

/// What a type cures.
fn cure_of(typing: &Typing, rules: &[Rule], meaning: &Meaning) -> Option<Cure> {
    let found = |rule| rules.contains(&rule);
    match (&typing.kind, typing.convert) {
        _ if !typing.changes => None,
        (FieldKind::EpochDigits { .. }, _) if found(Rule::MixedTimeUnits) => Some(Cure::OneTimeUnit),
        (FieldKind::EpochDigits { .. }, _)
            if typing.order == Order::Desc && found(Rule::LossyReverseTime) =>
        {
            Some(Cure::ExactReverseTime)
        }
        (FieldKind::Hex { .. }, Convert::Hex) => Some(Cure::OneHexCase),
        (FieldKind::Int { .. } | FieldKind::BeFloat, _) => Some(Cure::SignedNumber),
        (FieldKind::Uint { .. }, Convert::Number)
            if matches!(meaning, Meaning::Number { .. } | Meaning::Id(_)) =>
        {
            Some(Cure::PadNumber)
        }
        _ => None,
    }
}

fn comment(typing: &Typing, meaning: &Meaning, cure: Option<Cure>) -> String {
    match (&typing.kind, typing.convert, cure) {
        (_, _, Some(Cure::OneTimeUnit)) => {
            "one unit for all writers; seconds of the old keys are converted".to_owned()
        }
        (_, _, Some(Cure::ExactReverseTime)) => {
            "the codec reverses with integers, so no digit is lost".to_owned()
        }
        (_, _, Some(Cure::OneHexCase)) => "always written in small letters".to_owned(),
        (FieldKind::Int { .. }, Convert::Scaled(decimals), _) => {
            format!("the number times 10^{decimals}; the digit in front makes negative ones sort first")
        }
        (FieldKind::Int { .. }, ..) => "the digit in front makes negative ones sort first".to_owned(),
        (FieldKind::BeFloat, ..) => "8 bytes that sort as numbers, negative ones too".to_owned(),
        (FieldKind::Uint { .. }, _, Some(Cure::PadNumber)) => {
            "padded with zeros, so that 9 sorts before 10; room for a thousand times as many".to_owned()
        }
        (FieldKind::UintReversed { .. }, ..) => {
            "the digits in reverse, so that neighbours stand far apart".to_owned()
        }
        (FieldKind::Domain { .. }, ..) => {
            "labels in reverse, so that a domain and all below it are one range".to_owned()
        }
        (FieldKind::Hex { .. }, Convert::Digest, _) => {
            "XXH3-128 of the text, which stands in a cell".to_owned()
        }
        (FieldKind::EpochDigits { .. }, ..) if typing.order == Order::Desc => "newest first".to_owned(),
        _ if matches!(meaning, Meaning::Time(_)) && typing.order == Order::Asc => {
            "oldest first; order = \"desc\" puts the newest first, if it is digits".to_owned()
        }
        _ => String::new(),
    }
}

fn has_delimiter_in_data(old: &Old, sketch: &Sketch) -> bool {
    let odd = |oddity: &Oddity| matches!(oddity, Oddity::Delimiter { .. } | Oddity::BelowDelimiter { .. });
    sketch.order.iter().any(|at| old.fields[*at].facts.oddities.iter().any(odd))
}

/// The lowest byte that the values of a field have, as encoded; fields of fixed width need no delimiter.
fn lowest_byte(typing: &Typing, at: usize, cells: &[Vec<Cell<'_>>]) -> Option<u8> {
    match typing.kind {
        FieldKind::Domain { .. } => Some(b','),
        FieldKind::String => {
            let bytes = cells.iter().filter_map(|row| match row.get(at)? {
                Cell::Raw(bytes) => bytes.iter().min().copied(),
                Cell::Typed(Value::Text(text)) => text.bytes().min(),
                Cell::Typed(_) => None,
            });
            // An empty value has no byte; it ends at once.
            Some(bytes.min().unwrap_or(b'z'))
        }
        _ => None,
    }
}

/// What stands before each field and behind the last, and the byte between fields.
///
/// The old literals, if they stand where they stood and keep the order; else one delimiter below all bytes of the fields it ends. Fields
/// for which there is none become types that end themselves.
fn literals(old: &Old, sketch: &Sketch, typed: &mut [Typed], cells: &[Vec<Cell<'_>>]) -> (Vec<Vec<u8>>, u8) {
    let behind = typed.len().saturating_sub(1);
    if sketch.keep {
        for field in &mut typed[..behind] {
            fix_width(field, old, cells);
        }
    }
    let lowest: Vec<Option<u8>> =
        typed[..behind].iter().map(|field| lowest_byte(&field.typing, field.from, cells)).collect();
    let old_delimiter = old.delimiter();
    let bound = lowest.iter().flatten().min().copied().unwrap_or(u8::MAX);
    // Below the digits, so that values to come may have digits and letters.
    let good = |byte: u8| {
        byte < bound && byte < b'0' || lowest.iter().all(Option::is_none) || sketch.keep && byte < bound
    };
    let choices = [old_delimiter.unwrap_or(b'#'), b'#', 0];
    let delimiter = choices.into_iter().find(|byte| good(*byte)).unwrap_or_else(|| {
        for field in typed[..behind].iter_mut().filter(|field| field.typing.kind == FieldKind::String) {
            if field.typing.convert == Convert::Same {
                field.typing.kind = FieldKind::EscapedText;
            } else {
                let raw: Vec<&[u8]> = cells.iter().filter_map(|row| raw(row.get(field.from)?)).collect();
                field.typing = typing::widest(&raw);
            }
        }
        b'#'
    });
    let mut literals = place(old, sketch, old_delimiter.unwrap_or(delimiter), delimiter);
    for (field, literal) in typed[..behind].iter().zip(&mut literals[1..]) {
        let lowest = lowest_byte(&field.typing, field.from, cells);
        if lowest.is_some_and(|lowest| literal.first().is_none_or(|first| *first >= lowest)) {
            *literal = vec![delimiter];
        }
    }
    (literals, delimiter)
}

/// Text of one width that has bytes not above the literal behind it: as bytes of that width it needs no delimiter.
fn fix_width(field: &mut Typed, old: &Old, cells: &[Vec<Cell<'_>>]) {
    let literal =
        old.literals.get(field.from + 1).and_then(|literal| literal.first().copied()).unwrap_or(u8::MAX);
    let lowest = lowest_byte(&field.typing, field.from, cells);
    let values = || cells.iter().filter_map(|row| raw(row.get(field.from)?));
    let width = values().map(<[u8]>::len).max().unwrap_or(0);
    if field.typing.kind == FieldKind::String
        && lowest.is_some_and(|lowest| lowest <= literal)
        && values().all(|value| value.len() == width)
        && let Ok(bytes @ 1..=4_096) = u16::try_from(width)
    {
        field.typing.kind = FieldKind::Fixed { bytes };
        field.typing.convert = Convert::Bytes;
    }
}

/// The literals around the fields in their new order.
fn place(old: &Old, sketch: &Sketch, from: u8, to: u8) -> Vec<Vec<u8>> {
    let swap = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().map(|byte| if *byte == from { to } else { *byte }).collect()
    };
    // Without the delimiter in front; what stands directly before the field stays there.
    let trimmed = |at: usize| {
        let literal = old.literals.get(at).map(Vec::as_slice).unwrap_or_default();
        let start = literal.iter().position(|byte| *byte != from).unwrap_or(literal.len());
        swap(&literal[start..])
    };
    let mut list = Vec::new();
    let ascending = sketch.order.is_sorted();
    for (index, at) in sketch.order.iter().enumerate() {
        let same = index > 0 && ascending && sketch.order[index - 1] + 1 == *at;
        let literal = if same || *at == 0 && index == 0 {
            swap(&old.literals[*at])
        } else {
            let word = if *at == 0 { Vec::new() } else { trimmed(*at) };
            let mut literal = if index == 0 { Vec::new() } else { vec![to] };
            literal.extend_from_slice(&word);
            literal
        };
        list.push(literal);
    }
    // What stands in front of all keys stays there.
    if let Some(first) = list.first_mut()
        && sketch.order.first() != Some(&0)
    {
        let mut lead = swap(old.literals.first().map(Vec::as_slice).unwrap_or_default());
        lead.append(first);
        *first = lead;
    }
    list.push(swap(old.literals.last().map(Vec::as_slice).unwrap_or_default()));
    list
}

fn parts(literals: &[Vec<u8>], salted: bool, old: &Old, sketch: &Sketch, delimiter: u8) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lead = Vec::new();
    if salted {
        parts.push(Part::Salt);
        lead = between_salt_and_key(old, sketch, delimiter);
    }
    for (index, literal) in literals.iter().enumerate() {
        lead.extend_from_slice(literal);
        if !lead.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut lead)));
        }
        if index + 1 < literals.len() {
            parts.push(Part::Field(index));
        }
    }
    parts
}

/// A kept salt keeps what stands behind it.
fn between_salt_and_key(old: &Old, sketch: &Sketch, delimiter: u8) -> Vec<u8> {
    if sketch.keep
        && let Reader::Schema(codec) = &old.reader
    {
        return match codec.schema().parts.get(1) {
            Some(Part::Literal(bytes)) => bytes.clone(),
            _ => Vec::new(),
        };
    }
    if sketch.keep
        && let Some(at) = old.salt.as_ref().and_then(|salt| salt.at)
    {
        return old.literals.get(at + 1).cloned().unwrap_or_default();
    }
    let printable = if delimiter.is_ascii_graphic() { delimiter } else { b'#' };
    vec![printable]
}

/// How a salt that stays is written.
fn kept_format(old: &Old, sketch: &Sketch, cells: &[Vec<Cell<'_>>]) -> Option<SaltFormat> {
    if !sketch.keep {
        return None;
    }
    if let Reader::Schema(codec) = &old.reader {
        return codec.schema().salt.as_ref().map(|salt| salt.format);
    }
    let at = old.salt.as_ref()?.at?;
    let values = || cells.iter().filter_map(|row| raw(row.get(at)?));
    let width = u8::try_from(values().map(<[u8]>::len).max()?).ok()?;
    let all = |test: fn(&u8) -> bool| values().all(|value| value.iter().all(test));
    if all(u8::is_ascii_digit) {
        Some(SaltFormat::Digits { width })
    } else if all(u8::is_ascii_hexdigit) {
        Some(SaltFormat::Hex { width })
    } else {
        Some(SaltFormat::Bytes { width })
    }
}

fn new_salt(salt: &SaltSketch, sketch: &Sketch, kept: Option<SaltFormat>) -> Salt {
    let place = |at: &usize| sketch.order.iter().position(|other| other == at);
    let mut of: Vec<usize> = salt.of.iter().filter_map(place).collect();
    of.sort_unstable();
    let format = match salt.source {
        SaltSource::HashPrefix { bytes, .. } => SaltFormat::Hex { width: bytes.saturating_mul(2) },
        SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd | Hash::OpenTsdb) => SaltFormat::Bytes { width: 1 },
        _ => digits_for(salt.buckets),
    };
    let buckets = if matches!(salt.source, SaltSource::HashPrefix { .. }) { 0 } else { salt.buckets };
    Salt { of, source: salt.source, format: kept.unwrap_or(format), buckets }
}

/// Two digits at least, so that a number of buckets can grow to 100 without another width.
fn digits_for(buckets: u32) -> SaltFormat {
    let digits = buckets.saturating_sub(1).checked_ilog10().unwrap_or(0) + 1;
    SaltFormat::Digits { width: u8::try_from(digits).unwrap_or(5).max(2) }
}

/// The reads that the design was judged by, and the read of one row.
fn queries(sketch: &Sketch, reads: &Reads, fields: &[Field], salt: Option<&Salt>) -> Vec<DeclaredQuery> {
    let mut list: Vec<DeclaredQuery> = Vec::new();
    for pattern in &reads.ranges {
        if let Some(query) = query(sketch, pattern, fields)
            && !list.iter().any(|other| other.name == query.name)
        {
            list.push(query);
        }
    }
    let name = "one row by its key".to_owned();
    let random = salt.is_some_and(|salt| salt.source == SaltSource::Random);
    if !random && !list.iter().any(|other| other.name == name) {
        let bound = (0..fields.len()).map(|at| (at, Binding::Equal)).collect();
        list.push(DeclaredQuery {
            name,
            bound,
            limit: Some(1),
            per_second: None,
            rows: None,
            reverse: false,
        });
    }
    list
}

fn query(sketch: &Sketch, pattern: &Pattern, fields: &[Field]) -> Option<DeclaredQuery> {
    let mut bound: Vec<(usize, Binding)> = Vec::new();
    for (at, binding) in &pattern.bound {
        let place = sketch.order.iter().position(|other| other == at)?;
        let kind = &fields[place].kind;
        let has_prefix = matches!(
            kind,
            FieldKind::String
                | FieldKind::Hex { .. }
                | FieldKind::Domain { .. }
                | FieldKind::EscapedBytes
                | FieldKind::EscapedText
                | FieldKind::Fixed { .. }
        );
        let binding = match binding {
            Binding::Prefix if !has_prefix => Binding::Range,
            other => *other,
        };
        // Reversed digits and digests cannot answer ranges: such a read has to go elsewhere.
        let unordered = !kind.is_ordered() || sketch.wishes.get(at) == Some(&Wish::Digest);
        if unordered && matches!(binding, Binding::Range | Binding::Prefix) {
            return None;
        }
        bound.push((place, binding));
    }
    bound.sort_by_key(|(place, _)| *place);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    let rows = pattern.limit.is_none().then(|| (pattern.rows.round() as u64).clamp(1, i64::MAX as u64));
    let per_second = (pattern.per_second.is_finite() && pattern.per_second > 0.0).then(|| {
        // Two digits are what a sample tells.
        (pattern.per_second * 100.0).round() / 100.0
    });
    let (name, limit, reverse) = (pattern.name.clone(), pattern.limit, pattern.reverse);
    Some(DeclaredQuery {
        name,
        bound,
        limit,
        per_second: per_second.filter(|rate| *rate > 0.0),
        rows,
        reverse,
    })
}
