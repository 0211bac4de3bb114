//! The encodings of fields, one at a time, byte by byte as `docs/formats/rowkey.md` registers them.
//!
//! ```text
//! encode: value  -> bytes, appended          extent: how many bytes at the front of a key are this field
//! decode: exactly those bytes -> value       open:   what all values that begin with a text or bytes begin with
//! ```
//!
//! A released encoding never changes. Nothing here panics on any value or bytes, and no encoding has two forms: bytes that decode
//! are the bytes that the decoded value encodes to.

mod bytes;
mod digits;
mod domain;
mod escaped;
mod facts;
mod hex;
pub(crate) mod quick;
mod text;
mod time;

pub(crate) use bytes::position_up_to;
pub(crate) use digits::{POW10, first_bad as first_bad_digit, parse as parse_digits};
pub(crate) use hex::{push as push_hex, value as hex_value};
pub(crate) use text::{format_value, parse_value};
pub(crate) use time::{from_units, in_units, in_units_fast};

use crate::schema::{FieldKind, Order, TimeUnit};
use crate::{Error, Result, Value};
use std::borrow::Cow;

/// Appends the encoding of `value`. On an error, what has been appended is of no use.
#[inline]
pub(crate) fn encode(kind: &FieldKind, order: Order, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    let desc = order == Order::Desc;
    match (kind, value) {
        (FieldKind::String, Value::Text(text)) => bytes::append(text.as_bytes(), out),
        (FieldKind::EscapedText, Value::Text(text)) if !desc => escaped::encode(text.as_bytes(), out),
        (FieldKind::Uint { digits }, Value::Uint(number)) => return push_number(*number, *digits, desc, out),
        (FieldKind::EpochDigits { unit, digits }, Value::Time(time)) => {
            let units = match time::in_units_fast(*time, *unit) {
                Some(units) => units,
                None => unsigned_units(*time, *unit)?,
            };
            return push_number(units, *digits, desc, out);
        }
        (FieldKind::BeUint { bytes }, Value::Uint(number)) => {
            return push_be_uint(*number, *bytes, desc, out);
        }
        (FieldKind::BeInt { bytes }, Value::Int(number)) => return push_be_int(*number, *bytes, desc, out),
        (FieldKind::BeTime { unit }, Value::Time(time)) => {
            let units = time::in_units_fast(*time, *unit).and_then(|units| i64::try_from(units).ok());
            let units = match units {
                Some(units) => units,
                None => signed_units(*time, *unit)?,
            };
            return push_be_int(units, 8, desc, out);
        }
        _ => return encode_other(kind, desc, value, out),
    }
    Ok(())
}

/// The kinds that are not on the shortest path.
fn encode_other(kind: &FieldKind, desc: bool, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    match *kind {
        FieldKind::Uint { digits } => return push_number(as_uint(kind, value)?, digits, desc, out),
        FieldKind::UintReversed { digits } => {
            push_number(as_uint(kind, value)?, digits, false, out)?;
            out[start..].reverse();
            return Ok(());
        }
        FieldKind::Int { digits } => return push_int(as_int(kind, value)?, digits, desc, out),
        FieldKind::BeUint { bytes } => return push_be_uint(as_uint(kind, value)?, bytes, desc, out),
        FieldKind::BeInt { bytes } => return push_be_int(as_int(kind, value)?, bytes, desc, out),
        FieldKind::Hex { digits } => hex::encode(as_bytes(kind, value)?, digits, out)?,
        FieldKind::Iso { form, unit } => time::encode_iso(as_time(kind, value)?, form, unit, out)?,
        FieldKind::Domain { separator } => domain::encode(separator, as_text(kind, value)?, out)?,
        FieldKind::UuidText => hex::encode_uuid(as_uuid(kind, value)?, out),
        FieldKind::BeFloat => out.extend_from_slice(&float_bits(as_float(kind, value)?).to_be_bytes()),
        FieldKind::EscapedBytes => escaped::encode(as_bytes(kind, value)?, out),
        FieldKind::EscapedText => escaped::encode(as_text(kind, value)?.as_bytes(), out),
        FieldKind::Fixed { bytes } => {
            let value = as_bytes(kind, value)?;
            if value.len() != usize::from(bytes) {
                let unit = if value.len() == 1 { "byte" } else { "bytes" };
                return Err(Error::value(format!(
                    "{} {unit}, and the field holds exactly {bytes}",
                    value.len()
                )));
            }
            out.extend_from_slice(value);
        }
        FieldKind::UuidBytes => out.extend_from_slice(as_uuid(kind, value)?),
        _ => return Err(mismatch(kind, value)),
    }
    if desc {
        complement(&mut out[start..]);
    }
    Ok(())
}

/// Appends what the encodings of all values that begin with `value` begin with.
///
/// A domain's prefix is a host without port and path, and stands for its whole subtree; that is one range only where the separator
/// stands after each label.
pub(crate) fn encode_open(
    kind: &FieldKind,
    order: Order,
    value: &Value<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    match kind {
        FieldKind::String => out.extend_from_slice(as_text(kind, value)?.as_bytes()),
        FieldKind::EscapedText => escaped::encode_open(as_text(kind, value)?.as_bytes(), out),
        FieldKind::EscapedBytes => escaped::encode_open(as_bytes(kind, value)?, out),
        FieldKind::Fixed { bytes } => {
            let prefix = as_bytes(kind, value)?;
            if prefix.len() > usize::from(*bytes) {
                let message =
                    format!("a prefix of {} bytes, and the field holds exactly {bytes}", prefix.len());
                return Err(Error::value(message));
            }
            out.extend_from_slice(prefix);
        }
        FieldKind::Hex { digits } => {
            let prefix = as_text(kind, value)?.to_ascii_lowercase();
            if let Some(bad) = prefix.chars().find(|digit| !digit.is_ascii_hexdigit()) {
                return Err(Error::value(format!("`{}` is not a hex digit", bad.escape_default())));
            }
            if prefix.len() > usize::from(*digits) {
                let message =
                    format!("a prefix of {} digits, and the field holds exactly {digits}", prefix.len());
                return Err(Error::value(message));
            }
            out.extend_from_slice(prefix.as_bytes());
        }
        FieldKind::Domain { separator } => {
            let host = domain::normalise(as_text(kind, value)?)?;
            domain::encode(*separator, &host, out)?;
        }
        _ => {
            let message = format!("a `{}` field has no prefixes: use equality or a range", kind.name());
            return Err(Error::value(message));
        }
    }
    if order == Order::Desc {
        complement(&mut out[start..]);
    }
    Ok(())
}

/// How many bytes at the front of `bytes` are this field. `delimiter` is the first byte of the literal behind it, if there is one.
#[inline]
pub(crate) fn extent(kind: &FieldKind, order: Order, bytes: &[u8], delimiter: Option<u8>) -> Result<usize> {
    if let Some(width) = kind.fixed_width() {
        if bytes.len() < width {
            return Err(too_short(width, bytes.len()));
        }
        return Ok(width);
    }
    if kind.is_self_delimiting() {
        return escaped::extent(bytes, if order == Order::Desc { 0xff } else { 0 });
    }
    // The domain's own separator is above the delimiter, which `Codec::new` checks.
    Ok(delimiter.and_then(|delimiter| bytes::position_up_to(bytes, delimiter)).unwrap_or(bytes.len()))
}

#[cold]
fn too_short(width: usize, left: usize) -> Error {
    Error::malformed(left, format!("the key ends here; the field is {width} bytes wide and {left} are left"))
}

/// Decodes exactly these bytes. Offsets of errors count from their start.
pub(crate) fn decode<'k>(kind: &FieldKind, order: Order, bytes: &'k [u8]) -> Result<Value<'k>> {
    let mut value = Value::Uint(0);
    decode_into(kind, order, bytes, &mut value)?;
    Ok(value)
}

/// Decodes exactly these bytes into `slot`. To hand a value on through several results costs more than to decode it: each copy waits
/// for the stores of the one before.
#[inline]
pub(crate) fn decode_into<'k>(
    kind: &FieldKind,
    order: Order,
    bytes: &'k [u8],
    slot: &mut Value<'k>,
) -> Result<()> {
    let desc = order == Order::Desc;
    if let Some(width) = kind.fixed_width()
        && bytes.len() != width
    {
        return Err(wrong_width(width, bytes.len()));
    }
    match *kind {
        FieldKind::String => *slot = Value::Text(Cow::Borrowed(utf8(bytes)?)),
        FieldKind::Uint { digits } => match read_number_fast(bytes, digits, desc) {
            Some(number) => *slot = Value::Uint(number),
            None => *slot = Value::Uint(read_number(bytes, digits, desc)?),
        },
        FieldKind::EpochDigits { unit, digits } => {
            let units = match read_number_fast(bytes, digits, desc) {
                Some(units) => units,
                None => read_number(bytes, digits, desc)?,
            };
            *slot = Value::Time(time::from_units(units, unit));
        }
        FieldKind::BeUint { .. } => *slot = Value::Uint(read_be(bytes, desc)),
        FieldKind::BeInt { bytes: width } => *slot = Value::Int(read_be_int(bytes, width, desc)),
        FieldKind::BeTime { unit } => {
            *slot = Value::Time(time::from_units(read_be_int(bytes, 8, desc), unit));
        }
        FieldKind::EscapedText if !desc => match escaped::plain(bytes) {
            Some(content) => *slot = Value::Text(Cow::Borrowed(utf8(content)?)),
            None => *slot = decode_other(kind, desc, bytes)?,
        },
        _ => *slot = decode_other(kind, desc, bytes)?,
    }
    Ok(())
}

fn decode_other<'k>(kind: &FieldKind, desc: bool, bytes: &'k [u8]) -> Result<Value<'k>> {
    let flip = if desc { 0xff } else { 0 };
    match *kind {
        FieldKind::UintReversed { digits } => {
            let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
            let number = read_number(&reversed, digits, false);
            // Offsets are from the other end.
            number.map(Value::Uint).map_err(|error| match error.kind() {
                crate::ErrorKind::Malformed { offset } => {
                    Error::malformed(bytes.len().saturating_sub(offset + 1), error.message())
                }
                _ => error,
            })
        }
        FieldKind::Int { digits } => read_int(bytes, digits, desc).map(Value::Int),
        FieldKind::Hex { .. } => hex::decode(bytes).map(|bytes| Value::Bytes(Cow::Owned(bytes))),
        FieldKind::Iso { form, unit } => time::decode_iso(bytes, form, unit).map(Value::Time),
        FieldKind::Domain { separator } => domain::decode(separator, bytes).map(Value::Text),
        FieldKind::UuidText => hex::decode_uuid(bytes).map(Value::Uuid),
        FieldKind::BeFloat => {
            let float = float_of_bits(read_be(bytes, desc));
            if float.is_nan() {
                return Err(Error::malformed(0, "not a number (NaN), which is never written"));
            }
            Ok(Value::Float(float))
        }
        FieldKind::EscapedBytes => escaped::decode(bytes, flip).map(Value::Bytes),
        FieldKind::EscapedText => match escaped::decode(bytes, flip)? {
            Cow::Borrowed(bytes) => Ok(Value::Text(Cow::Borrowed(utf8(bytes)?))),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Value::Text(Cow::Owned(text))),
                Err(_) => Err(Error::malformed(0, "not UTF-8, which a text field is")),
            },
        },
        FieldKind::Fixed { .. } if desc => {
            Ok(Value::Bytes(Cow::Owned(bytes.iter().map(|byte| !byte).collect())))
        }
        FieldKind::Fixed { .. } => Ok(Value::Bytes(Cow::Borrowed(bytes))),
        FieldKind::UuidBytes => {
            let mut uuid = [0u8; 16];
            uuid.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte ^ flip);
            Ok(Value::Uuid(uuid))
        }
        _ => Err(Error::malformed(0, "an unknown encoding")),
    }
}

/// The bits of a float, so that their order as an unsigned number is that of the floats; -0.0 comes right before 0.0.
fn float_bits(float: f64) -> u64 {
    let bits = float.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn float_of_bits(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

fn complement(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

#[inline]
fn utf8(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes)
        .map_err(|error| Error::malformed(error.valid_up_to(), "not UTF-8, which this field is"))
}

#[inline]
fn push_number(number: u64, digits: u8, desc: bool, out: &mut Vec<u8>) -> Result<()> {
    if number > digits::max(digits) {
        return Err(too_wide(number, digits));
    }
    if desc {
        digits::push_desc(out, number, digits);
    } else {
        digits::push(out, number, digits);
    }
    Ok(())
}

#[cold]
fn too_wide(number: impl std::fmt::Display, digits: u8) -> Error {
    Error::value(format!("{number} has more than {digits} digits: widen the field or correct the value"))
}

#[inline]
fn read_number_fast(bytes: &[u8], digits: u8, desc: bool) -> Option<u64> {
    let power = POW10.get(usize::from(digits))?;
    let number = digits::parse(bytes)?;
    Some(if desc { power - 1 - number } else { number })
}

/// As [`read_number_fast`], for 20 digits too, and with the reason if there is no number.
#[cold]
fn read_number(bytes: &[u8], digits: u8, desc: bool) -> Result<u64> {
    if let Some(at) = digits::first_bad(bytes) {
        return Err(Error::malformed(at, "not a digit"));
    }
    let number = match (POW10.get(usize::from(digits)), desc) {
        (None, true) => {
            let nines: Vec<u8> = bytes.iter().map(|&digit| digits::nines(digit)).collect();
            digits::parse(&nines)
        }
        (None, false) => digits::parse(bytes),
        _ => read_number_fast(bytes, digits, desc),
    };
    number.ok_or_else(|| Error::malformed(0, "greater than the greatest 64-bit number"))
}

/// A sign digit (0 negative, 1 not) and the digits of `number mod 10^digits`, as one number of `digits + 1` digits.
fn push_int(number: i64, digits: u8, desc: bool, out: &mut Vec<u8>) -> Result<()> {
    if number.unsigned_abs() > digits::max(digits) {
        return Err(too_wide(number, digits));
    }
    let offset = POW10[usize::from(digits)].wrapping_add_signed(number);
    let ordered = if desc { 2 * POW10[usize::from(digits)] - 1 - offset } else { offset };
    digits::push(out, ordered, digits + 1);
    Ok(())
}

fn read_int(bytes: &[u8], digits: u8, desc: bool) -> Result<i64> {
    let ordered = read_number(bytes, digits + 1, false)?;
    let power = POW10[usize::from(digits)];
    if ordered >= 2 * power {
        return Err(Error::malformed(0, "the sign digit is neither 0 nor 1"));
    }
    let offset = if desc { 2 * power - 1 - ordered } else { ordered };
    if offset == 0 {
        return Err(Error::malformed(0, format!("a number of more than {digits} digits")));
    }
    // Both are below 2 * 10^18, which an i64 holds.
    Ok(offset.cast_signed() - power.cast_signed())
}

#[inline]
fn push_be_uint(number: u64, bytes: u8, desc: bool, out: &mut Vec<u8>) -> Result<()> {
    if bytes < 8 && number >> (8 * u32::from(bytes)) != 0 {
        let message = format!("{number} does not fit into {} bits: widen the field", 8 * u32::from(bytes));
        return Err(Error::value(message));
    }
    push_be(number, bytes, desc, out);
    Ok(())
}

#[inline]
fn push_be_int(number: i64, bytes: u8, desc: bool, out: &mut Vec<u8>) -> Result<()> {
    let bits = 8 * u32::from(bytes);
    let half = 1i64 << (bits - 1).min(62);
    if bytes < 8 && !(-half..half).contains(&number) {
        let message = format!("{number} does not fit into {bits} bits with a sign: widen the field");
        return Err(Error::value(message));
    }
    // Flips the sign bit: the smallest number becomes 0.
    push_be(number.cast_unsigned() ^ 1 << (bits - 1), bytes, desc, out);
    Ok(())
}

/// Appends the low `bytes` bytes.
#[inline]
fn push_be(number: u64, bytes: u8, desc: bool, out: &mut Vec<u8>) {
    let number = if desc { !number } else { number };
    let all @ [.., a, b, c, d] = number.to_be_bytes();
    match bytes {
        1 => out.push(d),
        2 => out.extend_from_slice(&[c, d]),
        4 => out.extend_from_slice(&[a, b, c, d]),
        _ => out.extend_from_slice(&all),
    }
}

/// Reads at most eight bytes.
#[inline]
fn read_be(bytes: &[u8], desc: bool) -> u64 {
    let flip = if desc { 0xff } else { 0 };
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(byte ^ flip))
}

#[inline]
fn read_be_int(bytes: &[u8], width: u8, desc: bool) -> i64 {
    let unused = 64 - 8 * u32::from(width);
    // Moves the sign bit to the top, flips it, and moves it back with its copies.
    (read_be(bytes, desc) << unused ^ 1 << 63).cast_signed() >> unused
}

#[inline]
fn as_text<'v>(kind: &FieldKind, value: &'v Value<'_>) -> Result<&'v str> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(mismatch(kind, value)),
    }
}

fn as_bytes<'v>(kind: &FieldKind, value: &'v Value<'_>) -> Result<&'v [u8]> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(mismatch(kind, value)),
    }
}

#[inline]
fn as_uint(kind: &FieldKind, value: &Value<'_>) -> Result<u64> {
    match *value {
        Value::Uint(number) => Ok(number),
        Value::Int(number) => u64::try_from(number)
            .map_err(|_| Error::value(format!("{number} is negative, and the field is `{}`", kind.name()))),
        _ => Err(mismatch(kind, value)),
    }
}

#[inline]
fn as_int(kind: &FieldKind, value: &Value<'_>) -> Result<i64> {
    match *value {
        Value::Int(number) => Ok(number),
        Value::Uint(number) => i64::try_from(number)
            .map_err(|_| Error::value(format!("{number} is greater than the greatest signed 64-bit number"))),
        _ => Err(mismatch(kind, value)),
    }
}

fn as_float(kind: &FieldKind, value: &Value<'_>) -> Result<f64> {
    match *value {
        Value::Float(float) if float.is_nan() => {
            Err(Error::value("not a number (NaN) has no place in an order: leave the row out"))
        }
        Value::Float(float) => Ok(float),
        _ => Err(mismatch(kind, value)),
    }
}

fn as_time(kind: &FieldKind, value: &Value<'_>) -> Result<crate::Time> {
    match *value {
        Value::Time(time) => Ok(time),
        _ => Err(mismatch(kind, value)),
    }
}

#[cold]
fn unsigned_units(time: crate::Time, unit: TimeUnit) -> Result<u64> {
    let units = in_units(time, unit)?;
    u64::try_from(units).map_err(|_| {
        let time = time::format(time);
        let problem = if units < 0 { "is before 1970" } else { "does not fit into 64 bits" };
        Error::value(format!("{time} {problem}: use ISO text or `encoding = \"binary\"`"))
    })
}

#[cold]
fn signed_units(time: crate::Time, unit: TimeUnit) -> Result<i64> {
    let units = in_units(time, unit)?;
    i64::try_from(units).map_err(|_| Error::value(format!("{units} {} do not fit into 64 bits", unit.name())))
}

fn as_uuid<'v>(kind: &FieldKind, value: &'v Value<'_>) -> Result<&'v [u8; 16]> {
    match value {
        Value::Uuid(uuid) => Ok(uuid),
        _ => Err(mismatch(kind, value)),
    }
}

#[cold]
fn mismatch(kind: &FieldKind, value: &Value<'_>) -> Error {
    let takes = match kind {
        FieldKind::String | FieldKind::Domain { .. } | FieldKind::EscapedText => "text",
        FieldKind::Uint { .. } | FieldKind::UintReversed { .. } | FieldKind::BeUint { .. } => {
            "an unsigned integer"
        }
        FieldKind::Int { .. } | FieldKind::BeInt { .. } => "an integer",
        FieldKind::Hex { .. } | FieldKind::EscapedBytes | FieldKind::Fixed { .. } => "bytes",
        FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. } => "a time",
        FieldKind::UuidText | FieldKind::UuidBytes => "a UUID",
        FieldKind::BeFloat => "a float",
    };
    Error::value(format!("a `{}` field takes {takes}, not {}", kind.name(), value.type_name()))
}

#[cold]
fn wrong_width(width: usize, got: usize) -> Error {
    Error::malformed(got.min(width), format!("{got} bytes; the field is {width} bytes wide"))
}

#[cfg(test)]
mod tests;
