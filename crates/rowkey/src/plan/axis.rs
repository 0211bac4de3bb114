//! The line on which the values of a field lie, and the set of positions that a condition admits.
//!
//! Numbers, floats and times are integers on their line: a time in steps of what the field can tell apart. So a bound that is finer
//! than a step, or beyond the ends, needs no special case: it becomes the next position inside. All other values are byte strings.

use super::set::{FieldSet, normal_numbers, normal_strings, one_string};
use crate::codec::Codec;
use crate::query::Condition;
use crate::range::{KeyRange, after, prefix_end};
use crate::schema::{Field, FieldKind, IsoForm, Order};
use crate::{Error, Result, Time, Value, encode};
use std::ops::Bound;

/// The line of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Numbers(NumberAxis),
    /// Byte strings: UTF-8 text, bytes, the 16 bytes of a UUID, hex digits as text, the stored bytes of a domain.
    Strings,
}

/// A line of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberAxis {
    scale: Scale,
    /// The least position that the field holds.
    pub(super) min: i128,
    /// The greatest position that the field holds.
    pub(super) max: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Uint,
    Int,
    /// Positions are those of the bits in IEEE 754 total order.
    Float,
    Time {
        step_ns: i128,
    },
}

/// What port, path, query and fragment of a domain begin with.
const BEHIND_HOST: [u8; 4] = *b":/?#";
const DAY_NS: i128 = 86_400_000_000_000;
/// 0000-01-01T00:00:00Z in seconds since the epoch.
const YEAR_0_S: i128 = -62_167_219_200;
/// 10000-01-01T00:00:00Z in seconds since the epoch.
const YEAR_10000_S: i128 = 253_402_300_800;

impl Axis {
    pub(super) fn of(kind: &FieldKind) -> Self {
        let numbers = |scale, min, max| Self::Numbers(NumberAxis { scale, min, max });
        match *kind {
            FieldKind::Uint { digits } | FieldKind::UintReversed { digits } => {
                numbers(Scale::Uint, 0, ten_to(digits).min(i128::from(u64::MAX) + 1) - 1)
            }
            FieldKind::Int { digits } => numbers(Scale::Int, 1 - ten_to(digits), ten_to(digits) - 1),
            FieldKind::BeUint { bytes } => numbers(Scale::Uint, 0, (1 << (8 * u32::from(bytes))) - 1),
            FieldKind::BeInt { bytes } => {
                let half = 1i128 << (8 * u32::from(bytes) - 1);
                numbers(Scale::Int, -half, half - 1)
            }
            FieldKind::BeFloat => {
                numbers(Scale::Float, float_position(f64::NEG_INFINITY), float_position(f64::INFINITY))
            }
            FieldKind::EpochDigits { unit, digits } => {
                numbers(Scale::Time { step_ns: i128::from(unit.nanos()) }, 0, ten_to(digits) - 1)
            }
            FieldKind::BeTime { unit } => {
                let scale = Scale::Time { step_ns: i128::from(unit.nanos()) };
                numbers(scale, i128::from(i64::MIN), i128::from(i64::MAX))
            }
            FieldKind::Iso { form, unit } => {
                let step_ns = match form {
                    IsoForm::DateBasic | IsoForm::DateExtended => DAY_NS,
                    IsoForm::Basic | IsoForm::Extended => i128::from(unit.nanos()),
                };
                let position = |seconds: i128| seconds * 1_000_000_000 / step_ns;
                numbers(Scale::Time { step_ns }, position(YEAR_0_S), position(YEAR_10000_S) - 1)
            }
            _ => Self::Strings,
        }
    }
}

impl NumberAxis {
    /// The positions equal to a value: `low..=high`. `high` is below `low` if the value lies between two positions.
    fn place(&self, value: &Value<'_>) -> Option<(i128, i128)> {
        match (self.scale, value) {
            (Scale::Uint | Scale::Int, Value::Uint(number)) => Some(twice(i128::from(*number))),
            (Scale::Uint | Scale::Int, Value::Int(number)) => Some(twice(i128::from(*number))),
            (Scale::Float, Value::Float(number)) if *number == 0.0 => {
                Some((float_position(-0.0), float_position(0.0)))
            }
            (Scale::Float, Value::Float(number)) if !number.is_nan() => Some(twice(float_position(*number))),
            (Scale::Time { step_ns }, Value::Time(time)) => {
                let floor = time.nanos.div_euclid(step_ns);
                let exact = time.nanos.rem_euclid(step_ns) == 0;
                Some((if exact { floor } else { floor + 1 }, floor))
            }
            _ => None,
        }
    }

    /// The position of a value that came out of a key.
    pub(super) fn position(&self, value: &Value<'_>) -> Option<i128> {
        self.place(value).map(|(low, _)| low)
    }

    /// The value at a position from `min` to `max`.
    pub(super) fn value(&self, position: i128) -> Value<'static> {
        let unsigned = || u64::try_from(position).expect("the axis of unsigned numbers is 0..=u64::MAX");
        match self.scale {
            Scale::Uint => Value::Uint(unsigned()),
            Scale::Int => Value::Int(i64::try_from(position).expect("the axis of integers is that of i64")),
            Scale::Float => Value::Float(float_at(unsigned())),
            Scale::Time { step_ns } => Value::Time(Time { nanos: position * step_ns }),
        }
    }
}

/// What a condition on a field admits; not yet clipped to what the field can hold.
pub(super) fn resolve(codec: &Codec, index: usize, condition: &Condition) -> Result<FieldSet> {
    let field = &codec.schema().fields[index];
    let axis = Axis::of(&field.kind);
    match condition {
        Condition::Equal(value) => one(codec, index, axis, value),
        Condition::OneOf(values) => {
            let sets =
                values.iter().map(|value| one(codec, index, axis, value)).collect::<Result<Vec<_>>>()?;
            Ok(FieldSet::union(sets).unwrap_or_else(|| nothing(axis)))
        }
        Condition::Prefix(prefix) => prefix_set(field, prefix),
        Condition::Between(low, high) => between(codec, index, axis, low, high),
        Condition::SubdomainOf(domain) => subdomains(codec, index, domain),
        Condition::AllOf(conditions) => {
            let mut set = everything(axis);
            for condition in conditions {
                set = set.intersect(&resolve(codec, index, condition)?);
            }
            Ok(set)
        }
        Condition::AnyOf(conditions) => {
            let sets = conditions.iter().map(|c| resolve(codec, index, c)).collect::<Result<Vec<_>>>()?;
            Ok(FieldSet::union(sets).unwrap_or_else(|| nothing(axis)))
        }
    }
}

/// Every value.
pub(super) fn everything(axis: Axis) -> FieldSet {
    match axis {
        Axis::Numbers(_) => FieldSet::Numbers(vec![(i128::MIN, i128::MAX)]),
        Axis::Strings => FieldSet::Strings(vec![KeyRange::all()]),
    }
}

fn nothing(axis: Axis) -> FieldSet {
    match axis {
        Axis::Numbers(_) => FieldSet::Numbers(Vec::new()),
        Axis::Strings => FieldSet::Strings(Vec::new()),
    }
}

fn one(codec: &Codec, index: usize, axis: Axis, value: &Value<'_>) -> Result<FieldSet> {
    Ok(match axis {
        Axis::Numbers(numbers) => {
            FieldSet::Numbers(normal_numbers(vec![place(codec, index, &numbers, value)?]))
        }
        Axis::Strings => FieldSet::Strings(vec![one_string(string_of(codec, index, value)?)]),
    })
}

fn between(
    codec: &Codec,
    index: usize,
    axis: Axis,
    low: &Bound<Value<'static>>,
    high: &Bound<Value<'static>>,
) -> Result<FieldSet> {
    match axis {
        Axis::Numbers(numbers) => {
            let place = |value: &Value<'_>| place(codec, index, &numbers, value);
            let from = match low {
                Bound::Included(value) => place(value)?.0,
                Bound::Excluded(value) => place(value)?.1 + 1,
                Bound::Unbounded => i128::MIN,
            };
            let to = match high {
                Bound::Included(value) => place(value)?.1,
                Bound::Excluded(value) => place(value)?.0 - 1,
                Bound::Unbounded => i128::MAX,
            };
            Ok(FieldSet::Numbers(normal_numbers(vec![(from, to)])))
        }
        Axis::Strings => {
            let string = |value: &Value<'_>| string_of(codec, index, value);
            let start = match low {
                Bound::Included(value) => string(value)?,
                Bound::Excluded(value) => after(&string(value)?),
                Bound::Unbounded => Vec::new(),
            };
            let end = match high {
                Bound::Included(value) => Some(after(&string(value)?)),
                Bound::Excluded(value) => Some(string(value)?),
                Bound::Unbounded => None,
            };
            Ok(FieldSet::Strings(normal_strings(vec![KeyRange { start, end }])))
        }
    }
}

fn place(codec: &Codec, index: usize, axis: &NumberAxis, value: &Value<'_>) -> Result<(i128, i128)> {
    let parsed;
    let value = match value {
        Value::Text(text) => {
            parsed = codec.parse_value(index, text)?;
            &parsed
        }
        value => value,
    };
    axis.place(value).ok_or_else(|| mismatch(&codec.schema().fields[index], value))
}

/// The byte string that a value is on the field's axis.
pub(super) fn string_of(codec: &Codec, index: usize, value: &Value<'_>) -> Result<Vec<u8>> {
    let field = &codec.schema().fields[index];
    match (&field.kind, value) {
        (FieldKind::String | FieldKind::EscapedText, Value::Text(text)) => Ok(text.as_bytes().to_vec()),
        (FieldKind::EscapedBytes | FieldKind::Fixed { .. }, Value::Bytes(bytes)) => Ok(bytes.to_vec()),
        (FieldKind::UuidBytes | FieldKind::UuidText, Value::Uuid(bytes)) => Ok(bytes.to_vec()),
        (FieldKind::Hex { digits }, Value::Bytes(bytes)) => Ok(hex_text(bytes, usize::from(*digits))),
        (FieldKind::Hex { .. }, Value::Text(text)) => hex_digits(field, text),
        (FieldKind::Domain { .. }, Value::Text(_)) => {
            let mut bytes = Vec::new();
            encode::encode(&field.kind, Order::Asc, value, &mut bytes)?;
            Ok(bytes)
        }
        (_, Value::Text(text)) => string_of(codec, index, &not_text(codec, index, text)?),
        _ => Err(mismatch(field, value)),
    }
}

/// Text that a person wrote for a field of another type. Bytes of any length are welcome: the field may not hold them, but they are
/// a bound.
fn not_text(codec: &Codec, index: usize, text: &str) -> Result<Value<'static>> {
    match codec.parse_value(index, text)? {
        Value::Text(_) => Err(mismatch(&codec.schema().fields[index], &Value::from(text))),
        value => Ok(value),
    }
}

/// Two digits for each byte, without the leading zero of an odd width.
pub(crate) fn hex_text(bytes: &[u8], digits: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(2 * bytes.len());
    encode::push_hex(bytes, &mut text);
    if text.len() == digits + 1 && text[0] == b'0' {
        text.remove(0);
    }
    text
}

fn hex_digits(field: &Field, text: &str) -> Result<Vec<u8>> {
    if let Some(wrong) = text.chars().find(|c| !c.is_ascii_hexdigit()) {
        let message = format!("`{wrong}` is not a hex digit");
        return Err(Error::query(message).in_field(&field.name));
    }
    Ok(text.to_ascii_lowercase().into_bytes())
}

fn prefix_set(field: &Field, prefix: &Value<'_>) -> Result<FieldSet> {
    let bytes = match (&field.kind, prefix) {
        (FieldKind::String | FieldKind::EscapedText, Value::Text(text)) => text.as_bytes().to_vec(),
        (
            FieldKind::EscapedBytes | FieldKind::Fixed { .. } | FieldKind::UuidBytes | FieldKind::UuidText,
            Value::Bytes(bytes),
        ) => bytes.to_vec(),
        (FieldKind::EscapedBytes | FieldKind::Fixed { .. }, Value::Text(text)) => {
            crate::escape::unescape(text)
                .map_err(|error| Error::query(error.message().to_owned()).in_field(&field.name))?
        }
        (FieldKind::Hex { digits }, Value::Bytes(bytes)) => hex_text(bytes, usize::from(*digits)),
        (FieldKind::Hex { .. }, Value::Text(text)) => hex_digits(field, text)?,
        (FieldKind::UuidBytes | FieldKind::UuidText, Value::Text(text)) => return uuid_prefix(field, text),
        _ => return Err(no_prefix(field)),
    };
    let end = prefix_end(&bytes);
    Ok(FieldSet::Strings(vec![KeyRange { start: bytes, end }]))
}

/// The digits that a UUID begins with, hyphens left out or not.
fn uuid_prefix(field: &Field, text: &str) -> Result<FieldSet> {
    let digits = hex_digits(field, &text.replace('-', ""))?;
    let nibble = |digit: u8| char::from(digit).to_digit(16).map_or(0, |value| value.to_le_bytes()[0]);
    let mut start: Vec<u8> = digits
        .chunks(2)
        .map(|pair| (nibble(pair[0]) << 4) | pair.get(1).map_or(0, |&low| nibble(low)))
        .collect();
    if digits.len() % 2 == 0 {
        let end = prefix_end(&start);
        return Ok(FieldSet::Strings(vec![KeyRange { start, end }]));
    }
    let last = start.pop().expect("an odd number of digits is not none");
    let end = match last.checked_add(0x10) {
        Some(next) => Some([start.as_slice(), &[next]].concat()),
        None => prefix_end(&start),
    };
    start.push(last);
    Ok(FieldSet::Strings(vec![KeyRange { start, end }]))
}

fn subdomains(codec: &Codec, index: usize, domain: &str) -> Result<FieldSet> {
    let field = &codec.schema().fields[index];
    let FieldKind::Domain { separator } = field.kind else {
        let message = "`subdomain of` needs a field of type domain";
        return Err(Error::query(message).in_field(&field.name));
    };
    let own = string_of(codec, index, &Value::from(domain))?;
    if own.is_empty() {
        return Ok(everything(Axis::Strings));
    }
    let rest_at = if own[0] == b'[' { own.iter().position(|&byte| byte == b']').unwrap_or(0) } else { 0 };
    if own[rest_at..].iter().any(|byte| BEHIND_HOST.contains(byte)) {
        let message = format!("`subdomain of` takes a host alone; leave out port and path of `{domain}`");
        return Err(Error::query(message).in_field(&field.name));
    }
    if own.last() == Some(&separator) {
        // The separator stands behind every label, so the subtree is everything that begins with the domain.
        return Ok(FieldSet::Strings(vec![KeyRange::prefix(&own)]));
    }
    let mut intervals = vec![one_string(own.clone())];
    for follows in BEHIND_HOST.iter().chain([&separator]) {
        intervals.push(KeyRange::prefix(&[own.as_slice(), &[*follows]].concat()));
    }
    Ok(FieldSet::Strings(normal_strings(intervals)))
}

fn no_prefix(field: &Field) -> Error {
    let message = match (&field.kind, Axis::of(&field.kind)) {
        (FieldKind::Domain { .. }, _) => {
            "`prefix` has no meaning for a domain, whose labels are reversed; use `subdomain of`".to_owned()
        }
        (_, Axis::Numbers(NumberAxis { scale: Scale::Time { .. }, .. })) => format!(
            "`prefix` has no meaning for a time; use a range, as in `{0} >= 2026-09-01 and {0} < 2026-10-01`",
            field.name
        ),
        (_, Axis::Numbers(_)) => {
            "`prefix` has no meaning for a number; use a range with `>=` and `<`".to_owned()
        }
        (_, Axis::Strings) => "the prefix is not of the field's type".to_owned(),
    };
    Error::query(message).in_field(&field.name)
}

fn mismatch(field: &Field, value: &Value<'_>) -> Error {
    let wanted = match (&field.kind, Axis::of(&field.kind)) {
        (_, Axis::Numbers(axis)) => match axis.scale {
            Scale::Uint | Scale::Int => "an integer",
            Scale::Float => "a float that is not NaN",
            Scale::Time { .. } => "a time",
        },
        (FieldKind::UuidBytes | FieldKind::UuidText, _) => "a UUID",
        (FieldKind::EscapedBytes | FieldKind::Fixed { .. } | FieldKind::Hex { .. }, _) => "bytes",
        _ => "text",
    };
    Error::query(format!("the field is compared with {wanted}; the query has {value:?}"))
        .in_field(&field.name)
}

fn ten_to(digits: u8) -> i128 {
    10i128.pow(u32::from(digits))
}

fn twice(position: i128) -> (i128, i128) {
    (position, position)
}

fn float_position(number: f64) -> i128 {
    let bits = number.to_bits();
    i128::from(if bits >> 63 == 1 { !bits } else { bits | 1 << 63 })
}

fn float_at(position: u64) -> f64 {
    f64::from_bits(if position >> 63 == 1 { position & !(1 << 63) } else { !position })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TimeUnit;

    fn numbers(kind: &FieldKind) -> NumberAxis {
        match Axis::of(kind) {
            Axis::Numbers(axis) => axis,
            Axis::Strings => panic!("not a number"),
        }
    }

    #[test]
    fn the_ends_of_an_axis_are_what_the_field_holds() {
        let check = |kind: FieldKind, min: i128, max: i128| {
            let axis = numbers(&kind);
            assert_eq!((axis.min, axis.max), (min, max), "{kind:?}");
        };
        check(FieldKind::Uint { digits: 5 }, 0, 99_999);
        check(FieldKind::Uint { digits: 20 }, 0, i128::from(u64::MAX));
        check(FieldKind::Int { digits: 2 }, -99, 99);
        check(FieldKind::BeUint { bytes: 1 }, 0, 255);
        check(FieldKind::BeInt { bytes: 8 }, i64::MIN.into(), i64::MAX.into());
        check(FieldKind::EpochDigits { unit: TimeUnit::Seconds, digits: 10 }, 0, 9_999_999_999);
        let date = FieldKind::Iso { form: IsoForm::DateBasic, unit: TimeUnit::Seconds };
        check(date, -719_528, 2_932_896);
    }

    #[test]
    fn a_time_between_two_steps_is_equal_to_none() {
        let axis = numbers(&FieldKind::BeTime { unit: TimeUnit::Seconds });
        assert_eq!(axis.place(&Value::Time(Time::from_millis(2_500))), Some((3, 2)));
        assert_eq!(axis.place(&Value::Time(Time::from_millis(-2_500))), Some((-2, -3)));
        assert_eq!(axis.place(&Value::Time(Time::from_millis(3_000))), Some((3, 3)));
    }

    #[test]
    fn floats_lie_in_their_order_and_both_zeros_are_equal() {
        let axis = numbers(&FieldKind::BeFloat);
        let order = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, f64::MAX, f64::INFINITY];
        for pair in order.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|float| axis.place(&Value::Float(float)).unwrap());
            assert!(a.1 < b.0, "{pair:?}");
            assert_eq!(axis.value(a.0), Value::Float(pair[0]));
        }
        let zero = axis.place(&Value::Float(0.0)).unwrap();
        assert_eq!(axis.place(&Value::Float(-0.0)), Some(zero));
        assert_eq!(zero.1 - zero.0, 1);
        assert_eq!(axis.place(&Value::Float(f64::NAN)), None);
    }
}
