//! Queries as where-text, which [`Query::parse`] reads back.

use super::parse::{is_bare_char, is_keyword};
use super::{Condition, Query};
use crate::codec::Codec;
use crate::schema::{FieldKind, IsoForm, TimeUnit};
use crate::{Time, Value, encode};
use std::ops::{Bound, Range};

const DAY_NS: i128 = 86_400_000_000_000;
/// The years 0 to 9999 in nanoseconds since 1970.
const YEARS_NS: Range<i128> = -62_167_219_200_000_000_000..253_402_300_800_000_000_000;

impl Query {
    /// The conditions as where-text; empty without any.
    pub fn text(&self, codec: &Codec) -> String {
        let parts = self.conditions.iter().filter_map(|(field, condition)| text(codec, field, condition));
        parts.collect::<Vec<_>>().join(" and ")
    }

    /// The conditions on one field as where-text.
    pub fn text_of_field(&self, codec: &Codec, name: &str) -> String {
        let own = self.conditions.iter().filter(|(field, _)| field == name);
        let parts = own.filter_map(|(field, condition)| text(codec, field, condition));
        parts.collect::<Vec<_>>().join(" and ")
    }
}

/// `None` if the condition says nothing.
fn text(codec: &Codec, field: &str, condition: &Condition) -> Option<String> {
    let show = |value: &Value<'static>| quoted(&plain(codec, field, value));
    Some(match condition {
        Condition::Equal(value) => format!("{field} = {}", show(value)),
        Condition::OneOf(values) => {
            format!("{field} in ({})", values.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Condition::Prefix(value) => format!("{field} prefix {}", show(value)),
        Condition::SubdomainOf(domain) => format!("{field} subdomain of {}", quoted(domain)),
        Condition::Between(low, high) => {
            let low = match low {
                Bound::Included(value) => Some(format!("{field} >= {}", show(value))),
                Bound::Excluded(value) => Some(format!("{field} > {}", show(value))),
                Bound::Unbounded => None,
            };
            let high = match high {
                Bound::Included(value) => Some(format!("{field} <= {}", show(value))),
                Bound::Excluded(value) => Some(format!("{field} < {}", show(value))),
                Bound::Unbounded => None,
            };
            match (low, high) {
                (Some(low), Some(high)) => format!("{low} and {high}"),
                (low, high) => low.or(high)?,
            }
        }
        Condition::AllOf(conditions) => {
            let parts: Vec<String> = conditions.iter().filter_map(|c| text(codec, field, c)).collect();
            if parts.is_empty() {
                return None;
            }
            parts.join(" and ")
        }
        Condition::AnyOf(conditions) if conditions.is_empty() => format!("{field} in ()"),
        Condition::AnyOf(conditions) => {
            let parts: Option<Vec<String>> = conditions.iter().map(|c| text(codec, field, c)).collect();
            format!("({})", parts?.join(" or "))
        }
    })
}

fn plain(codec: &Codec, field: &str, value: &Value<'static>) -> String {
    let index = codec.schema().field_index(field);
    match (value, index) {
        (Value::Text(text), _) => text.to_string(),
        (Value::Time(time), Some(index)) => time_text(&codec.schema().fields[index].kind, *time),
        (Value::Bytes(bytes), Some(index)) => bytes_text(&codec.schema().fields[index].kind, bytes),
        (value, Some(index)) => codec.format_value(index, value),
        (value, None) => format!("{value:?}"),
    }
}

/// A bound may be wider than its field.
fn bytes_text(kind: &FieldKind, bytes: &[u8]) -> String {
    match kind {
        FieldKind::Hex { digits } => {
            String::from_utf8_lossy(&crate::plan::hex_text(bytes, usize::from(*digits))).into_owned()
        }
        kind => encode::format_value(kind, &Value::from(bytes)),
    }
}

/// A bound may be finer than its field, or beyond the years that ISO 8601 writes: then it is a number of the field's units.
fn time_text(kind: &FieldKind, time: Time) -> String {
    let value = Value::Time(time);
    let has_four_digit_year = YEARS_NS.contains(&time.nanos);
    match kind {
        FieldKind::Iso { .. } if has_four_digit_year && time.nanos.rem_euclid(DAY_NS) == 0 => {
            encode::format_value(kind, &value)
        }
        FieldKind::EpochDigits { unit, .. } | FieldKind::BeTime { unit } | FieldKind::Iso { unit, .. }
            if !has_four_digit_year =>
        {
            encode::format_value(&FieldKind::BeTime { unit: *unit }, &value)
        }
        _ => encode::format_value(&FieldKind::Iso { form: IsoForm::Extended, unit: TimeUnit::Nanos }, &value),
    }
}

/// Whether a value needs no quotes.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && !is_keyword(text) && text.chars().all(is_bare_char)
}

fn quoted(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}
