//! Fields that keep their name and change their type, width or order.

use super::{Changes, Reach, Verdict};
use crate::schema::print::field_attributes;
use crate::schema::{Field, FieldKind, IsoForm, Order, TimeUnit};

/// What a value is, whatever its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    Integer,
    Float,
    Time,
    Uuid,
    Bytes,
}

/// Tells what becomes of a field whose type or order differs.
pub(super) fn compare(old: &Field, new: &Field, changes: &mut Changes) {
    if old.kind == new.kind && old.order == new.order {
        return;
    }
    let bare = |field: &Field| field_attributes(&Field { values: Vec::new(), ..field.clone() });
    let what = format!("field `{}`: {} -> {}", new.name, bare(old), bare(new));
    match impossible(&old.kind, &new.kind) {
        Some(why) => changes.add(Verdict::Forbidden, Reach::Everything, what, why),
        None => changes.add(Verdict::Migrate, Reach::Everything, what, consequence(old, new)),
    }
}

/// Why not every old value has one of the new type, or two have the same.
fn impossible(old: &FieldKind, new: &FieldKind) -> Option<String> {
    let classes = (class(old), class(new));
    let why = match classes {
        _ if classes.0 != classes.1 => {
            "one kind of value cannot be turned into the other without a rule of yours; export, convert, and import into a new table"
                .to_owned()
        }
        (Class::Text, _) if !is_domain(old) && is_domain(new) => {
            "a domain is kept in lower case and without scheme, so two texts could become one; export, decide, and import into a new \
             table"
                .to_owned()
        }
        (Class::Time, _) => {
            let (old, new) = (resolution(old), resolution(new));
            if new.0 <= old.0 {
                return None;
            }
            format!("a time of {} is finer than {}: it would lose its end, and two rows could get one key", old.1, new.1)
        }
        (Class::Bytes, _) => match (exact_bytes(old), exact_bytes(new)) {
            (Some(old), Some(new)) if old != new => {
                format!("every value has {old} bytes, and the new type takes exactly {new}")
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(why)
}

fn consequence(old: &Field, new: &Field) -> String {
    if old.kind == new.kind {
        return "the order of the rows is turned round, so every key is written again".to_owned();
    }
    match (limit(&old.kind), limit(&new.kind)) {
        (Some((old_low, old_high)), Some((low, high))) if low > old_low || high < old_high => {
            format!(
                "every key is written again; the new type takes {low} to {high}, rows outside are refused: look for them first"
            )
        }
        _ if exact_bytes(&old.kind).is_none() && exact_bytes(&new.kind).is_some() => {
            "every key is written again; values of another length are refused: look for them first".to_owned()
        }
        _ => "every key is written again".to_owned(),
    }
}

fn class(kind: &FieldKind) -> Class {
    match kind {
        FieldKind::String | FieldKind::EscapedText | FieldKind::Domain { .. } => Class::Text,
        FieldKind::Uint { .. }
        | FieldKind::UintReversed { .. }
        | FieldKind::Int { .. }
        | FieldKind::BeUint { .. }
        | FieldKind::BeInt { .. } => Class::Integer,
        FieldKind::BeFloat => Class::Float,
        FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. } => Class::Time,
        FieldKind::UuidText | FieldKind::UuidBytes => Class::Uuid,
        FieldKind::Hex { .. } | FieldKind::EscapedBytes | FieldKind::Fixed { .. } => Class::Bytes,
    }
}

fn is_domain(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::Domain { .. })
}

/// How fine a time is, coarser is greater, and its name.
fn resolution(kind: &FieldKind) -> (u8, &'static str) {
    match kind {
        FieldKind::Iso { form: IsoForm::DateBasic | IsoForm::DateExtended, .. } => (4, "days"),
        FieldKind::Iso { unit, .. } | FieldKind::EpochDigits { unit, .. } | FieldKind::BeTime { unit } => {
            let rank = match unit {
                TimeUnit::Nanos => 0,
                TimeUnit::Micros => 1,
                TimeUnit::Millis => 2,
                TimeUnit::Seconds => 3,
            };
            (rank, unit.name())
        }
        _ => (0, ""),
    }
}

/// Bytes of a value of fixed length; odd hex digits count like one more.
fn exact_bytes(kind: &FieldKind) -> Option<u16> {
    match kind {
        FieldKind::Hex { digits } => Some(digits.div_ceil(2)),
        FieldKind::Fixed { bytes } => Some(*bytes),
        _ => None,
    }
}

/// The least and the greatest number of a type.
fn limit(kind: &FieldKind) -> Option<(i128, i128)> {
    let power = |digits: u8| 10_i128.pow(u32::from(digits)) - 1;
    match *kind {
        FieldKind::Uint { digits } | FieldKind::UintReversed { digits } => {
            Some((0, power(digits).min(i128::from(u64::MAX))))
        }
        FieldKind::Int { digits } => Some((-power(digits), power(digits))),
        FieldKind::BeUint { bytes } => Some((0, (1 << (8 * u32::from(bytes))) - 1)),
        FieldKind::BeInt { bytes } => {
            let half = 1_i128 << (8 * u32::from(bytes) - 1);
            Some((-half, half - 1))
        }
        _ => None,
    }
}

/// Whether greater values come first in one and last in the other.
pub(super) fn turned(old: &Field, new: &Field) -> bool {
    old.order != new.order && (old.order == Order::Desc || new.order == Order::Desc)
}
