//! What a query says about each field, and how far into the key its ranges can reach.
//!
//! ```text
//! key        | tenant      | kind          | vehicle    | time           | ...
//! query      | in (a, b)   | (few values)  | = 4092     | >= t           | = 7
//! level      | points      | points        | points     | last: interval | checked on the decoded row
//! ```

use super::axis::{self, Axis};
use super::cut::{self, Slot};
use super::groups::Groups;
use super::set::{FieldSet, single};
use crate::codec::Codec;
use crate::query::{Condition, Query};
use crate::schema::{FieldKind, Order};
use crate::{Error, Result, Value, encode};

/// Values of a bounded range are listed one by one up to this number, to find their buckets.
const LISTED_MAX: u128 = 4096;

/// Combinations that the query did not list itself are tried one by one up to the first of these numbers, so that a later field can bound
/// the range; up to a later number if that makes more than [`IMPLICIT_RANGES_MAX`] ranges.
pub(crate) const IMPLICIT_COMBINATIONS: [u128; 4] = [256, 64, 16, 4];

/// The most ranges of a plan that tries such combinations.
pub(crate) const IMPLICIT_RANGES_MAX: usize = 4096;

/// What the query says about one field.
#[derive(Debug)]
pub(super) struct FieldChoice {
    /// The values admitted, if the query binds the field.
    pub(super) set: Option<FieldSet>,
    /// The values one by one, if they are few.
    pub(super) points: Option<Points>,
}

/// The values of a field one by one, in the order of their bytes.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) list: Vec<Point>,
    /// Whether the query lists them itself.
    pub(super) explicit: bool,
}

/// One value of a field.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) value: Value<'static>,
    /// Its bytes in the key.
    pub(super) bytes: Vec<u8>,
    /// Points of consecutive ranks have no other value between them.
    pub(super) rank: i128,
}

/// Everything a query says.
#[derive(Debug)]
pub(super) struct Choices {
    /// One for each field, in order.
    pub(super) fields: Vec<FieldChoice>,
    /// The fields with the literals around them.
    pub(super) slots: Vec<Slot>,
    /// Why no row can match, or why a value of the query is left out.
    pub(super) notes: Vec<String>,
    /// Whether no row can match.
    pub(super) is_empty: bool,
}

/// Looks up the fields of a query, and intersects what it says about each.
pub(super) fn choose(codec: &Codec, query: &Query) -> Result<Choices> {
    let schema = codec.schema();
    let slots = cut::slots(schema);
    let mut sets: Vec<Option<FieldSet>> = vec![None; schema.fields.len()];
    let mut notes = Vec::new();
    for (name, condition) in &query.conditions {
        let Some(index) = schema.field_index(name) else {
            return Err(unknown_field(codec, name));
        };
        let set = axis::resolve(codec, index, condition)
            .map_err(|error| Error::query(error.message()).in_field(name))?;
        if set.is_everything() {
            continue;
        }
        note_unheld(codec, index, condition, &mut notes);
        sets[index] = Some(match sets[index].take() {
            Some(earlier) => earlier.intersect(&set),
            None => set,
        });
    }
    let mut fields = Vec::with_capacity(sets.len());
    for (index, set) in sets.into_iter().enumerate() {
        let set = set.map(|set| clipped(codec, index, set, &slots[index]));
        fields.push(field_choice(codec, index, set)?);
    }
    let is_empty = fields.iter().any(FieldChoice::is_empty);
    for (field, choice) in schema.fields.iter().zip(&fields) {
        if choice.is_empty() && notes.is_empty() {
            notes.push(format!("no row can match: no value of `{}` meets the conditions on it", field.name));
        }
    }
    Ok(Choices { fields, slots, notes, is_empty })
}

impl FieldChoice {
    fn is_empty(&self) -> bool {
        self.set.as_ref().is_some_and(FieldSet::is_empty)
            || self.points.as_ref().is_some_and(|points| points.list.is_empty())
    }

    /// How many ranges it is as the last level.
    pub(super) fn ranges(&self) -> usize {
        match (&self.points, &self.set) {
            (Some(points), _) => {
                let breaks = points.list.windows(2).filter(|pair| pair[0].rank + 1 != pair[1].rank);
                usize::from(!points.list.is_empty()) + breaks.count()
            }
            (None, Some(FieldSet::Numbers(intervals))) => intervals.len(),
            (None, Some(FieldSet::Strings(intervals))) => intervals.len(),
            (None, None) => 1,
        }
    }

    /// Whether intervals of its values are ranges of keys.
    fn is_interval(&self, codec: &Codec, index: usize) -> bool {
        let field = &codec.schema().fields[index];
        self.set.is_some() && field.kind.is_ordered()
    }
}

fn field_choice(codec: &Codec, index: usize, set: Option<FieldSet>) -> Result<FieldChoice> {
    let field = &codec.schema().fields[index];
    let points = if field.values.is_empty() {
        match &set {
            Some(set) => listed(codec, index, set),
            None => None,
        }
    } else {
        Some(declared(codec, index, set.as_ref())?)
    };
    Ok(FieldChoice { set, points })
}

/// The declared values of a field that are in the set.
fn declared(codec: &Codec, index: usize, set: Option<&FieldSet>) -> Result<Points> {
    let field = &codec.schema().fields[index];
    let mut all = Vec::with_capacity(field.values.len());
    for text in &field.values {
        let value = codec.parse_value(index, text)?;
        let mut bytes = Vec::new();
        codec.encode_field(index, &value, &mut bytes)?;
        all.push(Point { value, bytes, rank: 0 });
    }
    all.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    for (rank, point) in (0..).zip(&mut all) {
        point.rank = rank;
    }
    if let Some(set) = set {
        all.retain(|point| contains(codec, index, set, &point.value));
    }
    Ok(Points { list: all, explicit: set.is_some_and(FieldSet::is_singles) })
}

/// The values of a set that are single, or few.
fn listed(codec: &Codec, index: usize, set: &FieldSet) -> Option<Points> {
    let field = &codec.schema().fields[index];
    let explicit = set.is_singles();
    let values: Vec<(Value<'static>, i128)> = match (set, Axis::of(&field.kind)) {
        (FieldSet::Numbers(intervals), Axis::Numbers(numbers)) => {
            if !explicit && set.count().is_none_or(|count| count > LISTED_MAX) {
                return None;
            }
            let positions = intervals.iter().flat_map(|&(low, high)| low..=high);
            positions.map(|position| (numbers.value(position), position)).collect()
        }
        (FieldSet::Strings(intervals), _) if explicit => {
            let singles = intervals.iter().filter_map(single);
            let values = singles.filter_map(|string| value_of(codec, index, string));
            // An even rank each: strings have no neighbours.
            values.zip((0..).step_by(2)).collect()
        }
        _ => return None,
    };
    let mut list = Vec::with_capacity(values.len());
    for (value, rank) in values {
        let mut bytes = Vec::new();
        if codec.encode_field(index, &value, &mut bytes).is_ok() {
            let rank = match (&field.kind, field.order) {
                // Neighbours are those whose digits are, as they stand in the key.
                (FieldKind::UintReversed { .. }, _) => {
                    bytes.iter().fold(0, |number, digit| 10 * number + i128::from(digit - b'0'))
                }
                (_, Order::Asc) => rank,
                (_, Order::Desc) => -rank,
            };
            list.push(Point { value, bytes, rank });
        }
    }
    list.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    list.dedup_by(|a, b| a.bytes == b.bytes);
    Some(Points { list, explicit })
}

/// The field value that a byte string of its axis stands for, if there is one.
fn value_of(codec: &Codec, index: usize, string: &[u8]) -> Option<Value<'static>> {
    let text = || String::from_utf8(string.to_vec()).ok();
    match codec.schema().fields[index].kind {
        FieldKind::String | FieldKind::EscapedText => Some(Value::Text(text()?.into())),
        FieldKind::EscapedBytes | FieldKind::Fixed { .. } => Some(Value::Bytes(string.to_vec().into())),
        FieldKind::UuidBytes | FieldKind::UuidText => Some(Value::Uuid(string.try_into().ok()?)),
        // The axis of these is that of the stored bytes.
        ref kind => Some(encode::decode(kind, Order::Asc, string).ok()?.into_owned()),
    }
}

/// Whether a decoded value is in the set.
pub(super) fn contains(codec: &Codec, index: usize, set: &FieldSet, value: &Value<'_>) -> bool {
    match Axis::of(&codec.schema().fields[index].kind) {
        Axis::Numbers(axis) => axis.position(value).is_some_and(|position| set.contains_number(position)),
        Axis::Strings => {
            axis::string_of(codec, index, value).is_ok_and(|string| set.contains_string(&string))
        }
    }
}

/// Without what the field cannot hold.
fn clipped(codec: &Codec, index: usize, set: FieldSet, slot: &Slot) -> FieldSet {
    let field = &codec.schema().fields[index];
    match (Axis::of(&field.kind), set) {
        (Axis::Numbers(axis), set) => set.intersect(&FieldSet::Numbers(vec![(axis.min, axis.max)])),
        (Axis::Strings, FieldSet::Strings(mut intervals)) => {
            let is_single_held = |string: &[u8]| {
                let value = value_of(codec, index, string);
                value.is_some_and(|value| codec.encode_field(index, &value, &mut Vec::new()).is_ok())
            };
            intervals.retain(|interval| match single(interval) {
                Some(string) => is_single_held(string),
                None => cut::of_strings(field, &[], interval, slot).is_some(),
            });
            FieldSet::Strings(intervals)
        }
        (Axis::Strings, set) => set,
    }
}

/// Notes the values of the query that no row can have. Bounds are not values.
fn note_unheld(codec: &Codec, index: usize, condition: &Condition, notes: &mut Vec<String>) {
    let field = &codec.schema().fields[index];
    let mut note = |value: &Value<'static>| {
        let mut bytes = Vec::new();
        let value = match value {
            Value::Text(text) => codec.parse_value(index, text),
            value => Ok(value.clone()),
        };
        let held = value.and_then(|value| codec.encode_field(index, &value, &mut bytes));
        if let Err(error) = held {
            notes.push(format!("no row can match a value of `{}`: {}", field.name, error.message()));
        }
    };
    match condition {
        Condition::Equal(value) => note(value),
        Condition::OneOf(values) => values.iter().for_each(note),
        Condition::AllOf(conditions) | Condition::AnyOf(conditions) => {
            for condition in conditions {
                note_unheld(codec, index, condition, notes);
            }
        }
        Condition::Prefix(_) | Condition::Between(..) | Condition::SubdomainOf(_) => {}
    }
}

/// How many fields the ranges express, from the left. Combinations that the query did not list itself are tried as long as the plan
/// stays small; without them, a later field is checked on each row.
pub(super) fn levels(codec: &Codec, fields: &[FieldChoice], groups: &Groups) -> usize {
    if groups.is_hash_unknown {
        return 0;
    }
    let salt_of = codec.schema().salt.as_ref().map_or(&[][..], |salt| &salt.of);
    for combinations_max in IMPLICIT_COMBINATIONS {
        let levels = levels_within(codec, fields, combinations_max);
        let is_tight = groups.is_known && salt_of.iter().all(|&field| field < levels);
        let copies = if is_tight { 1 } else { groups.list.len() };
        let before = fields[..levels.saturating_sub(1)].iter();
        let product = before
            .filter_map(|field| field.points.as_ref())
            .fold(copies, |product, points| product.saturating_mul(points.list.len()));
        let last = levels.checked_sub(1).map_or(1, |last| fields[last].ranges());
        if product.saturating_mul(last) <= IMPLICIT_RANGES_MAX {
            return levels;
        }
    }
    levels_within(codec, fields, 1)
}

fn levels_within(codec: &Codec, fields: &[FieldChoice], combinations_max: u128) -> usize {
    let mut implicit = 1u128;
    let mut levels = 0;
    for (index, field) in fields.iter().enumerate() {
        let Some(points) = &field.points else {
            // An interval ends the ranges.
            levels += usize::from(field.is_interval(codec, index));
            break;
        };
        if !points.explicit {
            let combinations = implicit.saturating_mul(points.list.len() as u128);
            if combinations > combinations_max {
                levels += usize::from(field.is_interval(codec, index));
                break;
            }
            implicit = combinations;
        }
        levels += 1;
    }
    // Values of a field that the query leaves open help only if a field behind it is bound.
    while levels > 0 && fields[levels - 1].set.is_none() {
        levels -= 1;
    }
    levels
}

fn unknown_field(codec: &Codec, name: &str) -> Error {
    let names: Vec<&str> = codec.schema().fields.iter().map(|field| field.name.as_str()).collect();
    Error::query(format!("the key has no field `{name}`; it has {}", names.join(", ")))
}
