//! What a query means, said a second time: on typed values, without sets, bytes or ranges.

use crate::Value;
use crate::codec::Codec;
use crate::query::{Condition, Query};
use crate::schema::FieldKind;
use std::cmp::Ordering;
use std::ops::Bound;

/// Whether a row meets every condition.
pub(super) fn holds(codec: &Codec, query: &Query, values: &[Value<'_>]) -> bool {
    query.conditions.iter().all(|(name, condition)| {
        let index = codec.schema().field_index(name).unwrap();
        holds_for(codec, index, condition, &values[index])
    })
}

fn holds_for(codec: &Codec, index: usize, condition: &Condition, value: &Value<'_>) -> bool {
    let kind = &codec.schema().fields[index].kind;
    let compare = |other: &Value<'_>| compare(codec, index, value, other);
    match condition {
        Condition::Equal(other) => compare(other) == Ordering::Equal,
        Condition::OneOf(others) => others.iter().any(|other| compare(other) == Ordering::Equal),
        Condition::Between(low, high) => {
            let above = match low {
                Bound::Included(low) => compare(low) != Ordering::Less,
                Bound::Excluded(low) => compare(low) == Ordering::Greater,
                Bound::Unbounded => true,
            };
            let below = match high {
                Bound::Included(high) => compare(high) != Ordering::Greater,
                Bound::Excluded(high) => compare(high) == Ordering::Less,
                Bound::Unbounded => true,
            };
            above && below
        }
        Condition::Prefix(prefix) => match (value, prefix) {
            (Value::Text(text), Value::Text(prefix)) => text.starts_with(&**prefix),
            (Value::Bytes(_), Value::Text(prefix)) => {
                crate::encode::format_value(kind, value).starts_with(&**prefix)
            }
            (Value::Bytes(bytes), Value::Bytes(prefix)) => bytes.starts_with(prefix),
            (Value::Uuid(_), Value::Text(prefix)) => {
                crate::encode::format_value(kind, value).replace('-', "").starts_with(&**prefix)
            }
            _ => panic!("a prefix of another type: {prefix:?}"),
        },
        Condition::SubdomainOf(domain) => {
            let Value::Text(text) = value else { panic!("a domain is text") };
            let host = text.split([':', '/', '?', '#']).next().unwrap();
            domain.is_empty() || host == domain || host.ends_with(&format!(".{domain}"))
        }
        Condition::AllOf(conditions) => conditions.iter().all(|c| holds_for(codec, index, c, value)),
        Condition::AnyOf(conditions) => conditions.iter().any(|c| holds_for(codec, index, c, value)),
    }
}

fn compare(codec: &Codec, index: usize, a: &Value<'_>, b: &Value<'_>) -> Ordering {
    let integer = |value: &Value<'_>| match value {
        Value::Uint(number) => i128::from(*number),
        Value::Int(number) => i128::from(*number),
        Value::Time(time) => time.nanos,
        other => panic!("not a number: {other:?}"),
    };
    let kind = &codec.schema().fields[index].kind;
    match (kind, a, b) {
        (FieldKind::Domain { .. }, _, _) => {
            // The order of a domain is that of its reversed labels.
            let [a, b] = [a, b].map(|value| {
                let mut bytes = Vec::new();
                crate::encode::encode(kind, crate::schema::Order::Asc, value, &mut bytes).unwrap();
                bytes
            });
            a.cmp(&b)
        }
        (_, Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap(),
        (_, Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (FieldKind::Hex { digits }, Value::Bytes(a), Value::Bytes(b)) => {
            let [a, b] = [a, b].map(|bytes| {
                let text = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
                let is_odd_zero = text.len() == usize::from(*digits) + 1 && text.starts_with('0');
                if is_odd_zero { text[1..].to_owned() } else { text }
            });
            a.cmp(&b)
        }
        (_, Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (_, Value::Uuid(a), Value::Uuid(b)) => a.cmp(b),
        _ => integer(a).cmp(&integer(b)),
    }
}
