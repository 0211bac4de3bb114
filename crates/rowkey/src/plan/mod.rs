//! Scan plans: a query as the fewest ranges of stored keys, in the fewest buckets.
//!
//! ```text
//! query -> choice: values of each field       -> groups: buckets that can hold them
//!       -> expand: ranges of unsalted keys     -> clipped behind the last row of a page -> salt in front
//! ```
//!
//! A plan never looks at tablets. What its ranges cannot express is checked on the decoded row: [`Plan::matches`].

mod axis;
mod choice;
mod cut;
mod expand;
mod groups;
mod residual;
mod set;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use axis::hex_text;
pub(crate) use choice::{IMPLICIT_COMBINATIONS, IMPLICIT_RANGES_MAX};
pub use residual::{Check, Residual};

use crate::codec::Codec;
use crate::query::{After, Condition, Query};
use crate::range::{KeyRange, prefix_end};
use crate::schema::SaltSource;
use crate::{Error, Result, Value};
use choice::{Choices, FieldChoice};
use groups::{Group, Groups};

/// The most ranges of a plan, over all buckets.
pub const RANGES_MAX: usize = 65_536;

/// How to read the rows of a query.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for, as where-text.
    pub query: String,
    /// The buckets to read, in the order of their salts. None: no row can match. Without a salt there is one, without a number.
    pub buckets: Vec<BucketPlan>,
    /// What is left to check on each decoded row.
    pub residual: Residual,
    /// How the rows of the buckets come together.
    pub order: ResultOrder,
    /// Whether rows are wanted in descending key order: then every range is read from its end.
    pub reversed: bool,
    /// Whether all rows of the table are read.
    pub is_full_scan: bool,
    /// What it costs.
    pub cost: Cost,
    /// Why no row can match, or which values of the query no row can have.
    pub notes: Vec<String>,
}

/// The ranges to read in one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketPlan {
    /// The number of the bucket. `None` without a salt, and for a hash prefix.
    pub bucket: Option<u32>,
    /// The bytes in front of every key of the bucket. Empty without a salt, and for a scan over all hash prefixes.
    pub salt: Vec<u8>,
    /// Stored keys: ascending, disjoint, not touching.
    pub ranges: Vec<KeyRange>,
}

/// How the rows of the buckets come together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultOrder {
    /// Merged by unsalted key, ties by bucket: the order of the fields.
    Logical,
    /// In the order of the stored keys, which says nothing.
    Unordered {
        /// Why.
        why: String,
    },
}

/// What a plan costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Ranges over all buckets.
    pub ranges: usize,
    /// Places at which reading starts: one for each range.
    pub seeks: usize,
    /// Buckets read. Without a salt 1, or 0 if no row can match.
    pub buckets: usize,
    /// Buckets of the table, where it has any.
    pub buckets_total: Option<u32>,
    /// Rows read for each row returned. `None`: unknown, since rows are dropped by the residual check.
    pub rows_examined_per_row: Option<f64>,
}

impl Plan {
    /// Whether a decoded row meets what the ranges do not express. `values` are those of all fields, in order.
    pub fn matches(&self, values: &[Value<'_>]) -> bool {
        self.residual.matches(values)
    }

    /// Whether no row can match.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }
}

/// Plans a query.
///
/// # Errors
///
/// [`ErrorKind::Query`](crate::ErrorKind::Query) if the query has an unknown field, or a value that its field cannot be compared
/// with, or would read the whole table without [`Query::full_scan`]; [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the plan has
/// more than [`RANGES_MAX`] ranges.
pub fn plan(codec: &Codec, query: &Query) -> Result<Plan> {
    let choices = choice::choose(codec, query)?;
    let text = query.text(codec);
    if choices.is_empty {
        return Ok(empty(codec, query, text, choices.notes));
    }
    let groups = groups::groups(codec, &choices);
    let levels = choice::levels(codec, &choices.fields, &groups);
    let is_unbound = levels == 0 && !groups.is_pruned;
    if is_unbound && !query.full_scan {
        return Err(full_scan_error(codec, &choices, &groups));
    }
    let (buckets, is_all) = bucket_plans(codec, query, &choices, levels, &groups)?;
    let is_full_scan = is_unbound || is_all && !groups.is_pruned;
    if is_full_scan && !query.full_scan {
        return Err(wide_scan_error(codec, &choices));
    }
    let residual = Residual::new(codec, query, &choices, levels);
    let ranges = buckets.iter().map(|bucket| bucket.ranges.len()).sum();
    let cost = Cost {
        ranges,
        seeks: ranges,
        buckets: buckets.len(),
        buckets_total: groups.total,
        rows_examined_per_row: residual.checks.is_empty().then_some(1.0),
    };
    let order = if groups.is_hash_unknown {
        let why = "the hash in front of every key is not known, so the scan follows the hashes".to_owned();
        ResultOrder::Unordered { why }
    } else {
        ResultOrder::Logical
    };
    let reversed = query.reversed;
    Ok(Plan { query: text, buckets, residual, order, reversed, is_full_scan, cost, notes: choices.notes })
}

fn empty(codec: &Codec, query: &Query, text: String, notes: Vec<String>) -> Plan {
    let buckets_total = codec.bucket_count();
    let cost = Cost { ranges: 0, seeks: 0, buckets: 0, buckets_total, rows_examined_per_row: Some(1.0) };
    Plan {
        query: text,
        buckets: Vec::new(),
        residual: Residual::default(),
        order: ResultOrder::Logical,
        reversed: query.reversed,
        is_full_scan: false,
        cost,
        notes,
    }
}

/// The plans of the buckets, and whether they are all of every bucket: then the conditions exclude nothing.
fn bucket_plans(
    codec: &Codec,
    query: &Query,
    choices: &Choices,
    levels: usize,
    groups: &Groups,
) -> Result<(Vec<BucketPlan>, bool)> {
    if groups.is_hash_unknown {
        let after = query.after.as_ref().map(|after| stored_after(codec, after)).transpose()?;
        let ranges = clip(vec![KeyRange::all()], after.as_deref(), query.reversed, false);
        return Ok((vec![BucketPlan { bucket: None, salt: Vec::new(), ranges }], true));
    }
    let salt_of = codec.schema().salt.as_ref().map_or(&[][..], |salt| &salt.of);
    let walk = expand::Walk { codec, choices, levels, salt_of };
    let whole = expand::Walk { codec, choices, levels: 0, salt_of }.ranges(None)?;
    let mut is_all = true;
    let mut common = None;
    let mut total = 0;
    let mut plans = Vec::with_capacity(groups.list.len());
    for group in &groups.list {
        let ranges = match &group.combinations {
            Some(combinations) => walk.ranges(Some(combinations))?,
            None => match &common {
                Some(ranges) => Vec::clone(ranges),
                None => common.insert(walk.ranges(None)?).clone(),
            },
        };
        total += ranges.len();
        if total > RANGES_MAX {
            return Err(walk.too_many(groups.list.len()));
        }
        is_all &= ranges == whole;
        let after = query.after.as_ref().map(|after| after.key.as_bytes());
        let is_tie_ahead = is_tie_ahead(codec, query, group);
        let mut ranges = clip(ranges, after, query.reversed, is_tie_ahead);
        if ranges.is_empty() {
            continue;
        }
        for range in &mut ranges {
            put_salt_in_front(&group.salt, range);
        }
        plans.push(BucketPlan { bucket: group.bucket, salt: group.salt.clone(), ranges });
    }
    Ok((plans, is_all))
}

/// Whether a row of this group with the very key of the last row is still to come: possible under a random salt alone.
fn is_tie_ahead(codec: &Codec, query: &Query, group: &Group) -> bool {
    let is_random = codec.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
    let last = query.after.as_ref().and_then(|after| after.bucket);
    match (is_random, group.bucket.zip(last)) {
        (true, Some((bucket, last))) => (bucket > last) != query.reversed && bucket != last,
        _ => false,
    }
}

/// Keeps what is behind `after` in the direction of the scan; `after` itself too if `keep` is set.
fn clip(ranges: Vec<KeyRange>, after: Option<&[u8]>, reversed: bool, keep: bool) -> Vec<KeyRange> {
    let Some(after) = after else { return ranges };
    // The cut lies before the key or right behind it.
    let cut = if reversed == keep { cut::behind_key(after) } else { after.to_vec() };
    let clipped = ranges.into_iter().map(|range| {
        if reversed {
            let end = range.end.map_or_else(|| cut.clone(), |end| end.min(cut.clone()));
            KeyRange { start: range.start, end: Some(end) }
        } else {
            KeyRange { start: range.start.max(cut.clone()), end: range.end }
        }
    });
    clipped.filter(|range| !range.is_empty()).collect()
}

/// An open end is that of the bucket, never that of the table.
fn put_salt_in_front(salt: &[u8], range: &mut KeyRange) {
    range.start.splice(0..0, salt.iter().copied());
    range.end = match range.end.take() {
        Some(end) => Some([salt, end.as_slice()].concat()),
        None => prefix_end(salt),
    };
}

/// The stored key of the last row, where rows come in the order of hash prefixes.
fn stored_after(codec: &Codec, after: &After) -> Result<Vec<u8>> {
    let mut values = Vec::new();
    codec.decode_unsalted(after.key.as_bytes(), &mut values).map_err(|error| {
        Error::query(format!(
            "the row to go on after is not of this schema: {error}; start again from the first page"
        ))
    })?;
    let mut stored = codec.hash_prefix(&values)?.unwrap_or_default();
    stored.extend_from_slice(after.key.as_bytes());
    Ok(stored)
}

fn full_scan_error(codec: &Codec, choices: &Choices, groups: &Groups) -> Error {
    let names: Vec<&str> = codec.schema().fields.iter().map(|field| field.name.as_str()).collect();
    let bound = names.iter().zip(&choices.fields).filter(|(_, choice)| choice.set.is_some());
    let bound: Vec<String> = bound.map(|(name, _)| format!("`{name}`")).collect();
    // Fields of few values are tried one by one, so the first other field that is open is the one in the way.
    let is_open = |choice: &FieldChoice| choice.set.is_none() && choice.points.is_none();
    let first = names[choices.fields.iter().position(is_open).unwrap_or(0)];
    let is_first_bound = choices.fields[0].set.is_some();
    let what = if bound.is_empty() {
        "it binds no field".to_owned()
    } else if groups.is_hash_unknown {
        format!("{} alone does not tell the hash in front of the key", bound.join(", "))
    } else if is_first_bound {
        // Bound, and yet of no use: reversed digits have no order.
        format!(
            "the digits of `{}` stand reversed in the key, so that a range of it is no range of keys",
            names[0]
        )
    } else {
        format!("it binds {}, but `{first}` stands before it in the key", bound.join(", "))
    };
    let advice = if groups.is_hash_unknown {
        let of = codec.schema().salt.as_ref().map_or(&[][..], |salt| &salt.of);
        let inputs: Vec<String> = of.iter().map(|&field| format!("`{}`", names[field])).collect();
        format!("bind {} to values", inputs.join(" and "))
    } else if is_first_bound {
        format!("bind `{}` to values", names[0])
    } else {
        format!("bind `{first}` to a value or a range")
    };
    Error::query(format!(
        "this query would read the whole table: {what}; {advice}, or ask for a full scan by name"
    ))
}

/// For conditions that every key meets, as `>= 0` of an unsigned number.
fn wide_scan_error(codec: &Codec, choices: &Choices) -> Error {
    let names = codec.schema().fields.iter().map(|field| field.name.as_str()).zip(&choices.fields);
    let first = names.filter(|(_, choice)| choice.set.is_some()).map(|(name, _)| name).next();
    let first = first.unwrap_or(&codec.schema().fields[0].name);
    Error::query(format!(
        "this query would read the whole table: what it says of `{first}` holds for every key; bind `{first}` to a narrower range, or \
         ask for a full scan by name"
    ))
}

/// Whether a condition can be put to a field.
pub(crate) fn check(codec: &Codec, index: usize, condition: &Condition) -> Result<()> {
    axis::resolve(codec, index, condition).map(|_| ())
}
