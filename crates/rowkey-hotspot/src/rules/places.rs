//! Effective places of a small sequence of keys, and groups of keys by prefix.
//!
//! The definition is that of [`crate::facts::Spread`], with windows and ranges that fit the sequence: places of one window among ranges of
//! equal count learned from all keys before it.

use std::collections::BTreeMap;

use super::case::Row;
use crate::collect::spread_of;

/// The effective number of places of a sequence, and how much of it is a front.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Places {
    /// Mean of the unbiased inverse Simpson over the windows.
    pub(super) n_eff: f64,
    /// The most that it could be: the number of ranges.
    pub(super) ranges: f64,
}

/// Measures keys in order of arrival. `None`: fewer than 40, which make no two windows.
pub(super) fn places(keys: &[&[u8]]) -> Option<Places> {
    // At least 20 keys a window, so that one place and two differ; at most 1,000 as everywhere. Four keys a range.
    let window = (keys.len() / 6).clamp(20, 1_000);
    let ranges = u32::try_from(window / 4).unwrap_or(256).clamp(5, 256);
    if keys.len() < 2 * window {
        return None;
    }
    let spread = spread_of(keys.iter().copied(), window, ranges);
    Some(Places { n_eff: spread.n_eff, ranges: f64::from(ranges) })
}

/// Keys with one prefix, in order of arrival.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) prefix: &'a [u8],
    pub(super) keys: Vec<&'a [u8]>,
}

/// Groups rows by their key up to the end of field `depth`, the largest first, equals by prefix. Rows without that field are left out.
pub(super) fn groups<'r, 'a: 'r>(rows: impl Iterator<Item = &'r Row<'a>>, depth: usize) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<&'a [u8], Vec<&'a [u8]>> = BTreeMap::new();
    for row in rows {
        if let Some(prefix) = row.prefix(depth) {
            groups.entry(prefix).or_default().push(row.key);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(prefix, keys)| Group { prefix, keys }).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.keys.len()));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::seeded::Seeded;

    #[track_caller]
    fn check(keys: &[String], low: f64, high: f64) {
        let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        let places = places(&keys).unwrap();
        assert!((low..=high).contains(&places.n_eff), "{places:?}");
    }

    #[test]
    fn a_front_is_one_place_and_hashes_are_many() {
        let mut random = Seeded::new(1);
        check(&(0..500).map(|n| format!("{n:09}")).collect::<Vec<_>>(), 1.0, 1.01);
        check(&(0..60).map(|n| format!("{n:09}")).collect::<Vec<_>>(), 1.0, 1.01);
        check(&(0..3_000).map(|_| format!("{:016x}", random.any())).collect::<Vec<_>>(), 80.0, 125.0);
        check(&(0..3_000).map(|n| format!("{}#{n:09}", n % 4)).collect::<Vec<_>>(), 3.9, 4.1);
        check(&vec!["same".to_owned(); 100], 1.0, 1.0);
    }

    #[test]
    fn few_keys_say_nothing() {
        assert_eq!(places(&[]), None);
        assert_eq!(places(&[b"a".as_slice(); 39]), None);
    }
}
