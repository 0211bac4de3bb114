//! Bytes of an old field to a typed value of a new one.
//!
//! Nothing is cut or rounded: what cannot be said exactly in the new type does not convert.

use rowkey::{Time, Value};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_128;

/// A field of an old key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'k> {
    /// Its bytes, where the layout was inferred.
    Raw(&'k [u8]),
    /// Its value, where a schema decoded it.
    Typed(Value<'k>),
}

/// How a cell becomes a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Convert {
    /// A typed value stays as it is.
    Same,
    /// Bytes that are UTF-8.
    Text,
    /// Any bytes.
    Bytes,
    /// Decimal digits.
    Number,
    /// Decimal digits, with `-` or `+` in front or not.
    Signed,
    /// A decimal fraction, times ten to this power, as an integer.
    Scaled(u8),
    /// A decimal fraction as a float.
    Float,
    /// A time.
    Time(Reading),
    /// Hex digits of either case.
    Hex,
    /// A UUID as text of either case.
    Uuid,
    /// A host in reading order.
    Host,
    /// The XXH3-128 of the bytes, instead of them.
    Digest,
    /// Big-endian bytes.
    BigEndian,
}

/// How a time was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// How.
    pub(super) form: ReadingForm,
    /// What the time was taken from, if greater times come first: `i64::MAX` of Java, the end of the calendar in .NET, 99...9.
    pub(super) reversed_at: Option<i128>,
}

/// How a time was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReadingForm {
    /// Decimal digits of so many nanoseconds since 1970.
    Digits(i128),
    /// The same with the unit that the size tells: a moment after 1973 has 9 digits of seconds or more, 12 of milliseconds, and so on.
    AnyUnit,
    /// 100 ns ticks since the year 1.
    Ticks,
    /// Calendar text, basic or extended.
    Calendar,
    /// Big-endian bytes of so many nanoseconds.
    Binary(i128),
}

/// Ticks from the year 1 to 1970: 719,162 days.
const TICKS_TO_1970: i128 = 719_162 * 86_400 * 10_000_000;

impl Convert {
    /// The value of a cell; `None` if it cannot be one.
    pub(super) fn value<'k>(self, cell: &Cell<'k>) -> Option<Value<'k>> {
        let bytes: Cow<'k, [u8]> = match (self, cell) {
            (Self::Same, Cell::Typed(value)) => return Some(value.clone()),
            (Self::Same, Cell::Raw(_)) => return None,
            (_, Cell::Raw(bytes)) => Cow::Borrowed(*bytes),
            (_, Cell::Typed(Value::Text(text))) => Cow::Owned(text.as_bytes().to_vec()),
            (_, Cell::Typed(Value::Bytes(bytes))) => bytes.clone(),
            (_, Cell::Typed(_)) => return None,
        };
        match self {
            Self::Bytes => return Some(Value::Bytes(bytes)),
            Self::Digest => return Some(Value::Bytes(Cow::Owned(xxh3_128(&bytes).to_be_bytes().to_vec()))),
            Self::BigEndian => {
                return big_endian(&bytes).and_then(|number| u64::try_from(number).ok()).map(Value::Uint);
            }
            Self::Time(Reading { form: ReadingForm::Binary(unit), reversed_at }) => {
                return time_of_units(big_endian(&bytes)?, unit, reversed_at);
            }
            _ => {}
        }
        let text = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
        };
        self.value_of_text(text)
    }

    fn value_of_text(self, text: Cow<'_, str>) -> Option<Value<'_>> {
        match self {
            Self::Text => Some(Value::Text(text)),
            Self::Number => digits(&text).and_then(|number| u64::try_from(number).ok()).map(Value::Uint),
            Self::Signed => signed(&text).map(Value::Int),
            Self::Scaled(decimals) => scaled(&text, decimals).map(Value::Int),
            Self::Float => float(&text).map(Value::Float),
            Self::Time(reading) => time(&text, reading),
            Self::Hex => hex(&text).map(|bytes| Value::Bytes(Cow::Owned(bytes))),
            Self::Uuid => uuid(&text).map(Value::Uuid),
            Self::Host => host(&text).map(|host| Value::Text(Cow::Owned(host))),
            Self::Same | Self::Bytes | Self::Digest | Self::BigEndian => None,
        }
    }
}

fn big_endian(bytes: &[u8]) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    Some(bytes.iter().fold(0, |number, byte| number << 8 | i128::from(*byte)))
}

/// Decimal digits only, at most 30.
fn digits(text: &str) -> Option<i128> {
    let fits = (1..=30).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

fn signed(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    i64::try_from(digits(rest)? * sign).ok()
}

/// `-050.56` with 2 decimals is -5056; with 1 it is nothing, since a digit would be lost.
fn scaled(text: &str, decimals: u8) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let missing = usize::from(decimals).checked_sub(fraction.len())?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || whole.is_empty() {
        return None;
    }
    signed(&format!("{whole}{fraction}{}", "0".repeat(missing)))
}

fn float(text: &str) -> Option<f64> {
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|float| plain && float.is_finite())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    // An odd number of digits: as the codec's `hex`, which prints the last ones.
    let padded = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_owned() };
    let byte = |at: usize| u8::from_str_radix(padded.get(at..at + 2)?, 16).ok();
    (0..padded.len()).step_by(2).map(byte).collect()
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let hyphens = text.len() == 36 && [8, 13, 18, 23].into_iter().all(|at| text.as_bytes()[at] == b'-');
    let plain: String =
        if hyphens { text.chars().filter(|letter| *letter != '-').collect() } else { text.to_owned() };
    if plain.len() != 32 {
        return None;
    }
    hex(&plain)?.try_into().ok()
}

/// What the codec takes for a host is the codec's matter; here only what can never be one.
fn host(text: &str) -> Option<String> {
    let can = !text.is_empty() && text.bytes().all(|byte| byte > b' ' && byte != b'/' && byte != b'#');
    can.then(|| text.to_ascii_lowercase())
}

fn time(text: &str, reading: Reading) -> Option<Value<'static>> {
    match reading.form {
        ReadingForm::Digits(unit) => time_of_units(digits(text)?, unit, reading.reversed_at),
        ReadingForm::AnyUnit => {
            let number = digits(text)?;
            time_of_units(number, unit_of_size(number), reading.reversed_at)
        }
        ReadingForm::Ticks => {
            let ticks = digits(text)?;
            let ticks = reading.reversed_at.map_or(Some(ticks), |end| end.checked_sub(ticks))?;
            Some(Value::Time(Time { nanos: (ticks - TICKS_TO_1970) * 100 }))
        }
        ReadingForm::Calendar => calendar(text).map(|nanos| Value::Time(Time { nanos })),
        ReadingForm::Binary(_) => None,
    }
}

fn time_of_units(number: i128, unit: i128, reversed_at: Option<i128>) -> Option<Value<'static>> {
    let units = reversed_at.map_or(Some(number), |end| end.checked_sub(number))?;
    Some(Value::Time(Time { nanos: units.checked_mul(unit)? }))
}

/// Seconds below 10^11 (the year 5138), then milliseconds, microseconds and nanoseconds, each a thousand times as many.
fn unit_of_size(number: i128) -> i128 {
    match number {
        ..100_000_000_000 => 1_000_000_000,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000,
        _ => 1,
    }
}

/// Nanoseconds of `2024-05-02T10:30:00.123Z`, `20240502T103000123Z`, `20240502103000`, `2024-05-02 10:30`, `20240502`.
fn calendar(text: &str) -> Option<i128> {
    let mut rest = text.as_bytes();
    let year = take(&mut rest, 4)?;
    let month = part(&mut rest, b"-/", 2)?;
    let day = part(&mut rest, b"-/", 2)?;
    let days = days_from_1970(year, month, day)?;
    let mut nanos = i128::from(days) * 86_400 * 1_000_000_000;
    if rest.is_empty() {
        return Some(nanos);
    }
    let hour = part(&mut rest, b"Tt _-", 2)?;
    let minute = if rest.is_empty() { 0 } else { part(&mut rest, b":-", 2)? };
    let second = if rest.first().is_some_and(|byte| byte.is_ascii_digit() || b":-".contains(byte))
        && has_digits(rest)
    {
        part(&mut rest, b":-", 2)?
    } else {
        0
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    nanos += i128::from(hour * 3_600 + minute * 60 + second) * 1_000_000_000;
    nanos += fraction(&mut rest)?;
    nanos -= offset(&mut rest)? * 60 * 1_000_000_000;
    rest.is_empty().then_some(nanos)
}

/// Whether digits of seconds come next, and not an offset such as `-05:00`.
fn has_digits(rest: &[u8]) -> bool {
    rest[0].is_ascii_digit() || rest[0] == b':' || rest.len() == 3
}

fn take(rest: &mut &[u8], width: usize) -> Option<i64> {
    let (front, behind) = rest.split_at_checked(width)?;
    *rest = behind;
    i64::try_from(digits(std::str::from_utf8(front).ok()?)?).ok()
}

fn part(rest: &mut &[u8], separators: &[u8], width: usize) -> Option<i64> {
    if let [first, behind @ ..] = *rest
        && separators.contains(first)
    {
        *rest = behind;
    }
    take(rest, width)
}

fn fraction(rest: &mut &[u8]) -> Option<i128> {
    if let [b'.' | b',', behind @ ..] = *rest {
        *rest = behind;
    }
    let width = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if width == 0 {
        return Some(0);
    }
    let exponent = u32::try_from(9_usize.checked_sub(width)?).ok()?;
    Some(i128::from(take(rest, width)?) * 10_i128.pow(exponent))
}

/// Minutes east of Greenwich.
fn offset(rest: &mut &[u8]) -> Option<i128> {
    let sign = match rest.first() {
        None => return Some(0),
        Some(b'Z' | b'z') => {
            *rest = &rest[1..];
            return Some(0);
        }
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    *rest = &rest[1..];
    let hours = take(rest, 2)?;
    let minutes = if rest.is_empty() { 0 } else { part(rest, b":", 2)? };
    Some(i128::from(sign * (hours * 60 + minutes)))
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, by counting from March (Hinnant, "chrono-compatible low-level date
/// algorithms", `days_from_civil`).
fn days_from_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(convert: Convert, raw: &str, expected: impl Into<Option<Value<'static>>>) {
        let found = convert.value(&Cell::Raw(raw.as_bytes()));
        assert_eq!(found, expected.into(), "{raw}");
    }

    fn check_time(form: ReadingForm, reversed_at: Option<i128>, raw: &str, millis: Option<i64>) {
        let reading = Reading { form, reversed_at };
        check(Convert::Time(reading), raw, millis.map(|millis| Value::Time(Time::from_millis(millis))));
    }

    #[test]
    fn numbers_convert_and_nothing_else_does() {
        check(Convert::Number, "007", Some(Value::Uint(7)));
        check(Convert::Number, "18446744073709551615", Some(Value::Uint(u64::MAX)));
        for bad in ["", "-1", "18446744073709551616", "1.0", "x", "99999999999999999999999999999999999"] {
            check(Convert::Number, bad, None);
        }
        check(Convert::Signed, "-42", Some(Value::Int(-42)));
        check(Convert::Signed, "-", None);
    }

    #[test]
    fn fractions_keep_every_digit_or_do_not_convert() {
        check(Convert::Scaled(2), "-050.56", Some(Value::Int(-5_056)));
        check(Convert::Scaled(2), "0019.5", Some(Value::Int(1_950)));
        check(Convert::Scaled(2), "7", Some(Value::Int(700)));
        check(Convert::Scaled(2), "-0.05", Some(Value::Int(-5)));
        check(Convert::Scaled(1), "1.55", None);
        check(Convert::Scaled(1), ".5", None);
        check(Convert::Float, "-1.25", Some(Value::Float(-1.25)));
        check(Convert::Float, "inf", None);
    }

    #[test]
    fn times_of_every_form_are_the_same_moment() {
        let millis = Some(1_714_645_800_123);
        check_time(ReadingForm::Digits(1_000_000), None, "1714645800123", millis);
        check_time(ReadingForm::Digits(1_000_000), Some(i128::from(i64::MAX)), "9223370322208975684", millis);
        check_time(ReadingForm::Ticks, None, "638502426001230000", millis);
        check_time(ReadingForm::Ticks, Some(3_155_378_975_999_999_999), "2516876549998769999", millis);
        for text in [
            "2024-05-02T10:30:00.123Z",
            "20240502T103000123Z",
            "20240502103000123",
            "2024-05-02 12:30:00.123+02:00",
        ] {
            check_time(ReadingForm::Calendar, None, text, millis);
        }
        for (text, millis) in [
            ("1714645800", 1_714_645_800_000),
            ("1714645800123", 1_714_645_800_123),
            ("1714645800123000", 1_714_645_800_123),
        ] {
            check_time(ReadingForm::AnyUnit, None, text, Some(millis));
        }
    }

    #[test]
    fn dates_are_checked() {
        check_time(ReadingForm::Calendar, None, "1970-01-01", Some(0));
        check_time(ReadingForm::Calendar, None, "20240229", Some(1_709_164_800_000));
        check_time(ReadingForm::Calendar, None, "2024050210", Some(1_714_644_000_000));
        for bad in [
            "20230229",
            "20241301",
            "2024-05-02T24:00:00Z",
            "2024-05-02T10:30:00Zx",
            "",
            "2024",
            "2024-05-02T10:30:00-5",
        ] {
            check_time(ReadingForm::Calendar, None, bad, None);
        }
    }

    #[test]
    fn ids_and_hosts_lose_their_case_and_nothing_else() {
        check(Convert::Hex, "9A53", Some(Value::Bytes(Cow::Owned(vec![0x9a, 0x53]))));
        check(Convert::Hex, "9A5", Some(Value::Bytes(Cow::Owned(vec![0x09, 0xa5]))));
        check(Convert::Hex, "xy", None);
        let uuid = Convert::Uuid.value(&Cell::Raw(b"0191B6F3-8ba2-7fb2-ac60-cb2ef950ded2"));
        assert!(matches!(uuid, Some(Value::Uuid([0x01, 0x91, ..]))));
        check(Convert::Uuid, "0191b6f3_8ba2-7fb2-ac60-cb2ef950ded2", None);
        check(Convert::Host, "WWW.Example.com", Some(Value::from("www.example.com")));
        check(Convert::Host, "a/b", None);
    }

    #[test]
    fn a_digest_is_of_16_bytes_and_typed_values_stay() {
        assert!(
            matches!(Convert::Digest.value(&Cell::Raw(b"long")), Some(Value::Bytes(bytes)) if bytes.len() == 16)
        );
        assert_eq!(Convert::Same.value(&Cell::Typed(Value::Uint(7))), Some(Value::Uint(7)));
        assert_eq!(Convert::Same.value(&Cell::Raw(b"7")), None);
        assert_eq!(Convert::Number.value(&Cell::Typed(Value::Uint(7))), None);
    }
}
