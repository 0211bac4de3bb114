//! A key of made-up values. Deterministic: the same schema gives the same key, in every release as far as taste allows.

use crate::schema::{Field, FieldKind, KeySchema, Part, SaltSource};
use crate::{Codec, StoredKey, Time, Value};

/// 2026-09-15T00:00:00Z, the day of the examples in the documentation.
const TIME_S: i64 = 1_789_430_400;

/// The example, if the codec takes it; it does for every schema that `KeySchema::parse` makes.
pub(super) fn key(schema: &KeySchema, codec: &Codec) -> Option<StoredKey> {
    let delimiters = schema.parts.windows(2).filter_map(|pair| match pair {
        [Part::Field(index), Part::Literal(literal)] => Some((*index, literal[0])),
        _ => None,
    });
    let delimiters: Vec<(usize, u8)> = delimiters.collect();
    let values: Vec<Value<'_>> = schema
        .fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let delimiter = delimiters.iter().find(|(before, _)| *before == index).map(|(_, byte)| *byte);
            value(field, delimiter)
        })
        .collect();
    let mut key = Vec::new();
    let made = match &schema.salt {
        Some(salt) if salt.source == SaltSource::Random => {
            codec.encode_in_bucket(7 % salt.buckets, &values, &mut key)
        }
        _ => codec.encode(&values, &mut key),
    };
    made.ok().map(|()| StoredKey(key))
}

fn value(field: &Field, delimiter: Option<u8>) -> Value<'static> {
    if let Some(first) = field.values.first() {
        return Value::Text(first.clone().into());
    }
    match field.kind {
        FieldKind::String => Value::Text(name_above(&field.name, delimiter).into()),
        FieldKind::EscapedText => Value::Text(field.name.clone().into()),
        FieldKind::Domain { .. } => Value::Text("www.example.com".into()),
        FieldKind::Uint { digits } | FieldKind::UintReversed { digits } => Value::Uint(number(digits)),
        FieldKind::Int { digits } => Value::Int(-number(digits).cast_signed()),
        FieldKind::BeUint { bytes } => Value::Uint(if bytes == 1 { 42 } else { 4092 }),
        FieldKind::BeInt { bytes } => Value::Int(if bytes == 1 { -42 } else { -4092 }),
        FieldKind::BeFloat => Value::Float(21.5),
        FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. } => {
            Value::Time(Time::from_seconds(TIME_S))
        }
        FieldKind::Hex { digits } => {
            let mut bytes = counting(usize::from(digits.div_ceil(2)));
            bytes[0] &= 0x0f;
            Value::Bytes(bytes.into())
        }
        FieldKind::EscapedBytes => Value::Bytes(counting(2).into()),
        FieldKind::Fixed { bytes } => Value::Bytes(counting(usize::from(bytes)).into()),
        FieldKind::UuidText | FieldKind::UuidBytes => Value::Uuid([
            0x01, 0x90, 0x16, 0x3d, 0x86, 0x94, 0x73, 0x9b, 0xae, 0xa5, 0x96, 0x6c, 0x26, 0xf8, 0xad, 0x91,
        ]),
    }
}

/// The name of the field, without what its delimiter forbids.
fn name_above(name: &str, delimiter: Option<u8>) -> String {
    let allowed = |byte: u8| delimiter.is_none_or(|delimiter| byte > delimiter);
    let kept: String = name.chars().filter(|character| u8::try_from(*character).is_ok_and(allowed)).collect();
    // `z` is above every delimiter that a schema may have.
    if kept.is_empty() { "z".to_owned() } else { kept }
}

/// 4092, or as many of its digits as fit.
fn number(digits: u8) -> u64 {
    match digits {
        1 => 4,
        2 => 40,
        3 => 409,
        _ => 4092,
    }
}

fn counting(count: usize) -> Vec<u8> {
    (1..=u8::MAX).cycle().take(count).collect()
}
