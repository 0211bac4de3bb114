//! Which buckets can hold a row of a query.
//!
//! If the values of all salt inputs are known one by one, every combination is hashed: only the buckets it falls into are read, and
//! each with its own combinations alone. Otherwise every bucket is read, the one outside of the set that `hbasewd` can write to
//! among them.

use super::choice::{Choices, Points};
use crate::Value;
use crate::codec::Codec;
use crate::schema::{Salt, SaltSource};
use std::collections::BTreeMap;

/// Combinations of salt inputs are hashed one by one up to this number: more than [`super::RANGES_MAX`] cannot be planned anyway.
const COMBINATIONS_MAX: u128 = 65_536;

/// Indexes into the points of each salt input.
pub(super) type Combination = Vec<usize>;

/// A bucket, or a hash prefix, or the whole table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The bytes in front of its keys.
    pub(super) salt: Vec<u8>,
    /// Its number, where it has one.
    pub(super) bucket: Option<u32>,
    /// The combinations of salt inputs in it, ascending, if they are known.
    pub(super) combinations: Option<Vec<Combination>>,
}

/// The groups to read.
#[derive(Debug)]
pub(super) struct Groups {
    /// In the order of their salts.
    pub(super) list: Vec<Group>,
    /// How many buckets the table has, the stray one not counted.
    pub(super) total: Option<u32>,
    /// Whether every group knows its combinations of salt inputs.
    pub(super) is_known: bool,
    /// Whether what the query says about the salt inputs spares buckets.
    pub(super) is_pruned: bool,
    /// Whether the salt is a hash prefix that is not known: then no range can say anything.
    pub(super) is_hash_unknown: bool,
}

/// Chooses the groups.
pub(super) fn groups(codec: &Codec, choices: &Choices) -> Groups {
    let Some(salt) = codec.schema().salt.as_ref() else {
        let list = vec![Group { salt: Vec::new(), bucket: None, combinations: None }];
        return Groups { list, total: None, is_known: false, is_pruned: false, is_hash_unknown: false };
    };
    let total = codec.bucket_count();
    let is_bound = salt.of.iter().any(|&field| choices.fields[field].set.is_some());
    if let Some(known) = known_groups(codec, salt, choices) {
        let is_pruned = is_bound && total.is_none_or(|total| known.len() < total as usize);
        return Groups { list: known, total, is_known: true, is_pruned, is_hash_unknown: false };
    }
    if matches!(salt.source, SaltSource::HashPrefix { .. }) {
        let list = vec![Group { salt: Vec::new(), bucket: None, combinations: None }];
        return Groups { list, total, is_known: false, is_pruned: false, is_hash_unknown: true };
    }
    let buckets = (0..salt.buckets).chain(codec.stray_bucket());
    let group = |bucket| Group { salt: salt_bytes(codec, bucket), bucket: Some(bucket), combinations: None };
    let list = buckets.map(group).collect();
    Groups { list, total, is_known: false, is_pruned: false, is_hash_unknown: false }
}

fn salt_bytes(codec: &Codec, bucket: u32) -> Vec<u8> {
    let mut salt = Vec::new();
    codec.write_salt(bucket, &mut salt);
    salt
}

/// The groups of every combination of salt inputs, or `None` if they are unknown or too many.
fn known_groups(codec: &Codec, salt: &Salt, choices: &Choices) -> Option<Vec<Group>> {
    if salt.of.is_empty() || matches!(salt.source, SaltSource::Random) {
        return None;
    }
    let mut inputs: Vec<&Points> = Vec::with_capacity(salt.of.len());
    for &field in &salt.of {
        match &choices.fields[field].points {
            Some(points) => inputs.push(points),
            None => return None,
        }
    }
    let count = |explicit: bool| {
        let inputs = inputs.iter().filter(|points| points.explicit == explicit);
        inputs.fold(1u128, |product, points| product.saturating_mul(points.list.len() as u128))
    };
    // Far more values than buckets fall into every bucket: hashing them all would spare none.
    let implicit_max = 4 * u128::from(salt.buckets) + 256;
    if count(false) > implicit_max || count(true).saturating_mul(count(false)) > COMBINATIONS_MAX {
        return None;
    }
    let is_prefix = matches!(salt.source, SaltSource::HashPrefix { .. });
    let mut groups: BTreeMap<(Vec<u8>, Option<u32>), Vec<Combination>> = BTreeMap::new();
    let mut combination = vec![0; inputs.len()];
    loop {
        if inputs.iter().any(|points| points.list.is_empty()) {
            break;
        }
        let values = inputs.iter().zip(&combination).map(|(points, &at)| points.list[at].value.clone());
        let values: Vec<Value<'static>> = values.collect();
        let place = if is_prefix {
            codec.hash_prefix_of(&values).map(|prefix| (prefix.unwrap_or_default(), None))
        } else {
            codec.bucket_of(&values).map(|bucket| (salt_bytes(codec, bucket.unwrap_or(0)), bucket))
        };
        // A combination without a bucket is one that no key can have.
        if let Ok(place) = place {
            groups.entry(place).or_default().push(combination.clone());
        }
        if !advance(&mut combination, &inputs) {
            break;
        }
    }
    let made = groups.into_iter();
    Some(made.map(|((salt, bucket), all)| Group { salt, bucket, combinations: Some(all) }).collect())
}

/// The next combination in ascending order, or false after the last.
fn advance(combination: &mut [usize], inputs: &[&Points]) -> bool {
    for (at, points) in combination.iter_mut().zip(inputs).rev() {
        *at += 1;
        if *at < points.list.len() {
            return true;
        }
        *at = 0;
    }
    false
}
