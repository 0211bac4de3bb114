//! `CockroachDB`'s ascending key encoding of integers, strings and bytes: what its hash-sharded indexes hash.
//!
//! ```text
//! 0 to 109           88 + value
//! above              f6 to fd (f5 + number of bytes), then the value in the fewest bytes, big endian
//! negative           87 down to 80 (88 - number of bytes), then the low bytes of the two's complement, big endian
//! string, bytes      12, the bytes with 00 as `00 ff`, then `00 01`
//! ```
//!
//! Several columns stand one behind the other. Other types are refused: their encodings are not certain here.

use crate::schema::{FieldKind, KeySchema};
use crate::{Error, Result, Value};

/// The greatest value that is written in one byte.
const SMALL_MAX: u64 = 109;

/// Whether the encoding of this kind is known.
pub(crate) fn knows(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Uint { .. }
            | FieldKind::UintReversed { .. }
            | FieldKind::Int { .. }
            | FieldKind::BeUint { .. }
            | FieldKind::BeInt { .. }
            | FieldKind::String
            | FieldKind::EscapedText
            | FieldKind::EscapedBytes
            | FieldKind::Fixed { .. }
    )
}

/// The bucket of these values: one for each of `fields`.
pub(crate) fn encode<'v>(
    schema: &KeySchema,
    fields: &[usize],
    values: impl Iterator<Item = &'v Value<'v>>,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for (&field, value) in fields.iter().zip(values) {
        encode_one(value, &mut out).map_err(|error| error.in_field(&schema.fields[field].name))?;
    }
    Ok(out)
}

/// Appends one column.
pub(crate) fn encode_one(value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Int(number) => push_int(*number, out),
        Value::Uint(number) => {
            let number = i64::try_from(*number).map_err(|_| {
                Error::value(format!("{number} is greater than the greatest INT8 of `CockroachDB`"))
            })?;
            push_int(number, out);
        }
        Value::Text(text) => push_bytes(text.as_bytes(), out),
        Value::Bytes(bytes) => push_bytes(bytes, out),
        _ => {
            let message = format!(
                "`CockroachDB`'s key encoding of {} is not supported: integers, text and bytes are",
                value.type_name()
            );
            return Err(Error::value(message));
        }
    }
    Ok(())
}

fn push_int(number: i64, out: &mut Vec<u8>) {
    let magnitude = number.unsigned_abs();
    if number >= 0 && magnitude <= SMALL_MAX {
        let [low, ..] = magnitude.to_le_bytes();
        out.push(0x88 + low);
        return;
    }
    // The fewest bytes that hold the magnitude: 1 to 8.
    let width = (64 - magnitude.leading_zeros()).div_ceil(8).max(1);
    let [width_byte, ..] = width.to_le_bytes();
    out.push(if number < 0 { 0x88 - width_byte } else { 0xf5 + width_byte });
    let bytes = number.to_be_bytes();
    out.extend_from_slice(&bytes[8 - usize::from(width_byte)..]);
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(0x12);
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 1]);
}
