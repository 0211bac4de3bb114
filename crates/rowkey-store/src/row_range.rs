//! Sets of row keys.

use bytes::Bytes;

/// Row keys `start..end`: the start is in, the end is not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RowRange {
    /// The first key; empty: from the beginning of the table.
    pub start: Bytes,
    /// The first key behind the range; `None`: to the end of the table.
    pub end: Option<Bytes>,
}

/// Ascending, disjoint, not touching, non-empty ranges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowSet {
    ranges: Vec<RowRange>,
}

impl RowRange {
    /// The whole table.
    pub fn all() -> Self {
        Self::default()
    }

    /// Exactly this key.
    pub fn key(key: &[u8]) -> Self {
        Self { start: Bytes::copy_from_slice(key), end: Some(after_key(key)) }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: Bytes::copy_from_slice(prefix), end: prefix_end(prefix) }
    }

    /// Whether `key` is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }

    /// Whether no key can be in it.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The part that lies in `other` as well, if any.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        let range = Self { start: self.start.clone().max(other.start.clone()), end };
        (!range.is_empty()).then_some(range)
    }
}

impl RowSet {
    /// The whole table.
    pub fn all() -> Self {
        Self { ranges: vec![RowRange::all()] }
    }

    /// The union of keys and ranges.
    pub fn new(keys: impl IntoIterator<Item = Bytes>, ranges: impl IntoIterator<Item = RowRange>) -> Self {
        let mut all: Vec<RowRange> = keys.into_iter().map(|key| RowRange::key(&key)).collect();
        all.extend(ranges);
        all.retain(|range| !range.is_empty());
        all.sort_by(|a, b| a.start.cmp(&b.start));
        let mut merged: Vec<RowRange> = Vec::with_capacity(all.len());
        for range in all {
            match merged.last_mut() {
                Some(last) if last.end.as_ref().is_none_or(|end| range.start <= *end) => {
                    last.end = later_end(last.end.take(), range.end);
                }
                _ => merged.push(range),
            }
        }
        Self { ranges: merged }
    }

    /// Its ranges, ascending.
    pub fn ranges(&self) -> &[RowRange] {
        &self.ranges
    }

    /// Whether `key` is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        let behind = self.ranges.partition_point(|range| &range.start[..] <= key);
        behind > 0 && self.ranges[behind - 1].contains(key)
    }
}

impl From<RowRange> for RowSet {
    fn from(range: RowRange) -> Self {
        Self::new([], [range])
    }
}

/// The first key behind all keys that begin with `prefix`; `None` if there is none (the prefix is empty or all `ff`).
/// Must agree with `rowkey::range::prefix_end`: the two crates do not know each other.
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let kept = prefix.iter().rposition(|&byte| byte != 0xff)? + 1;
    let mut end = prefix[..kept].to_vec();
    end[kept - 1] += 1;
    Some(end.into())
}

fn after_key(key: &[u8]) -> Bytes {
    let mut after = Vec::with_capacity(key.len() + 1);
    after.extend_from_slice(key);
    after.push(0);
    after.into()
}

fn later_end(a: Option<Bytes>, b: Option<Bytes>) -> Option<Bytes> {
    Some(a?.max(b?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: &'static str, end: &'static str) -> RowRange {
        let end = (!end.is_empty()).then(|| Bytes::from_static(end.as_bytes()));
        RowRange { start: Bytes::from_static(start.as_bytes()), end }
    }

    #[test]
    fn the_end_of_a_prefix_drops_trailing_ff_and_adds_one() {
        assert_eq!(prefix_end(b"phone#").unwrap(), "phone$");
        assert_eq!(prefix_end(b"a\xff").unwrap(), "b");
        assert_eq!(&prefix_end(b"\x03\xaa\xff").unwrap()[..], b"\x03\xab");
        assert_eq!(prefix_end(b"\xff\xff"), None);
        assert_eq!(prefix_end(b""), None);
    }

    #[test]
    fn keys_and_ranges_are_united() {
        let set = RowSet::new(["b".into(), "x".into()], [range("a", "c"), range("c", "d"), range("e", "e")]);
        assert_eq!(set.ranges(), [range("a", "d"), RowRange::key(b"x")]);
        assert_eq!(RowSet::new([], [range("m", ""), range("a", "n")]), range("a", "").into());
        assert!(RowSet::default().ranges().is_empty());
    }

    proptest! {
        #[test]
        fn a_set_holds_what_any_of_its_parts_holds(
            parts in prop::collection::vec((prop::collection::vec(0u8..3, 0..3), prop::option::of(prop::collection::vec(0u8..3, 0..3))), 0..6),
            key in prop::collection::vec(0u8..3, 0..4),
        ) {
            let parts: Vec<RowRange> =
                parts.into_iter().map(|(start, end)| RowRange { start: start.into(), end: end.map(Into::into) }).collect();
            let set = RowSet::new([], parts.clone());
            prop_assert_eq!(set.contains(&key), parts.iter().any(|part| part.contains(&key)));
            prop_assert!(set.ranges().windows(2).all(|pair| pair[0].end.as_ref().unwrap() < &pair[1].start));
        }
    }
}
