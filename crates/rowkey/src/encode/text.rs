//! Values as people and CSV files write them. What `format_value` prints, `parse_value` reads back to the same value.

use super::{domain, hex, time};
use crate::escape::{escaped, unescape};
use crate::schema::{FieldKind, IsoForm, TimeUnit};
use crate::{Error, Result, Time, Value};
use std::borrow::Cow;

/// Reads a value of this kind. Whether it fits into the field is checked when it is encoded.
pub(crate) fn parse_value(kind: &FieldKind, text: &str) -> Result<Value<'static>> {
    match *kind {
        FieldKind::String | FieldKind::EscapedText => Ok(Value::Text(Cow::Owned(text.to_owned()))),
        FieldKind::Uint { .. } | FieldKind::UintReversed { .. } | FieldKind::BeUint { .. } => {
            let number = text.parse().map(Value::Uint);
            number.map_err(|_| not_a("an unsigned integer of at most 64 bits, in decimal", text))
        }
        FieldKind::Int { .. } | FieldKind::BeInt { .. } => {
            let number = text.parse().map(Value::Int);
            number.map_err(|_| not_a("an integer of at most 64 bits, in decimal", text))
        }
        FieldKind::BeFloat => match text.parse::<f64>() {
            // Digits that only infinity is near to. `inf` itself is spelt with letters.
            Ok(float) if float.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
                let message =
                    format!("{text} does not fit into a 64-bit float, which ends at {:e}", f64::MAX);
                Err(Error::value(message))
            }
            Ok(float) if !float.is_nan() => Ok(Value::Float(float)),
            _ => Err(not_a("a number", text)),
        },
        FieldKind::Hex { digits } => {
            if text.len() != usize::from(digits) {
                return Err(Error::value(format!(
                    "`{text}` has {} characters; the field holds exactly {digits} hex digits",
                    text.chars().count()
                )));
            }
            let bytes = hex::decode(text.to_ascii_lowercase().as_bytes());
            bytes.map(|bytes| Value::Bytes(Cow::Owned(bytes))).map_err(|_| not_a("hex digits", text))
        }
        FieldKind::EpochDigits { unit, .. } | FieldKind::BeTime { unit } => parse_time(text, unit, None),
        FieldKind::Iso { form, unit } => parse_time(text, unit, Some(form)),
        FieldKind::Domain { .. } => domain::normalise(text).map(|host| Value::Text(Cow::Owned(host))),
        FieldKind::UuidText | FieldKind::UuidBytes => parse_uuid(text),
        FieldKind::EscapedBytes | FieldKind::Fixed { .. } => {
            let bytes =
                unescape(text).map_err(|error| Error::value(format!("`{text}`: {}", error.message())))?;
            Ok(Value::Bytes(Cow::Owned(bytes)))
        }
    }
}

/// A number is one of `unit`s since the epoch, except eight digits for a field of ISO text, which are a date.
fn parse_time(text: &str, unit: TimeUnit, iso: Option<IsoForm>) -> Result<Value<'static>> {
    let date = iso.is_some() && text.len() == 8;
    if !date && time::is_number(text) {
        let units: i128 = text.parse().map_err(|_| not_a("a time", text))?;
        let nanos = units.checked_mul(i128::from(unit.nanos())).ok_or_else(|| not_a("a time", text))?;
        return Ok(Value::Time(Time { nanos }));
    }
    time::parse(text).map(Value::Time)
}

/// 36 characters with hyphens, or 32 without.
fn parse_uuid(text: &str) -> Result<Value<'static>> {
    let lower = text.to_ascii_lowercase();
    let uuid = match lower.len() {
        32 => hex::decode(lower.as_bytes()).ok().and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()),
        _ => hex::decode_uuid(lower.as_bytes()).ok(),
    };
    uuid.map(Value::Uuid).ok_or_else(|| not_a("a UUID such as 00112233-4455-6677-8899-aabbccddeeff", text))
}

fn not_a(what: &str, text: &str) -> Error {
    Error::value(format!("`{text}` is not {what}"))
}

/// Prints a value of this kind.
pub(crate) fn format_value(kind: &FieldKind, value: &Value<'_>) -> String {
    match (value, kind) {
        (Value::Text(text), _) => text.clone().into_owned(),
        (Value::Bytes(bytes), FieldKind::Hex { digits }) => {
            let mut text = Vec::new();
            hex::push(bytes, &mut text);
            let skip = text.len().saturating_sub(usize::from(*digits));
            String::from_utf8_lossy(&text[skip..]).into_owned()
        }
        (Value::Bytes(bytes), _) => escaped(bytes).to_string(),
        (Value::Uint(number), _) => number.to_string(),
        (Value::Int(number), _) => number.to_string(),
        (Value::Float(float), _) => float.to_string(),
        (Value::Uuid(uuid), _) => {
            let mut text = Vec::new();
            hex::encode_uuid(uuid, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        // No calendar text: the number of units, which every field of times reads.
        (
            Value::Time(time),
            FieldKind::EpochDigits { unit, .. } | FieldKind::BeTime { unit } | FieldKind::Iso { unit, .. },
        ) if !time::has_four_digit_year(*time) => time.nanos.div_euclid(i128::from(unit.nanos())).to_string(),
        (Value::Time(time), FieldKind::Iso { form: IsoForm::DateBasic | IsoForm::DateExtended, .. }) => {
            time::format_date(*time)
        }
        (Value::Time(time), _) => time::format(*time),
    }
}
