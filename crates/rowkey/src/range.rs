//! Half-open ranges of keys, and the exact end of a prefix.
//!
//! ```text
//! prefix       first key behind it          not
//! phone#       phone$                       phone#\xff, phone#~
//! 61 ff        62                           61 ff ff
//! ff ff        none: the end of the table
//! ```

use crate::escape::escaped;
use std::fmt;

/// Keys from `start` up to but excluding `end`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRange {
    /// The first key. Empty: the start of the table.
    pub start: Vec<u8>,
    /// The first key that is not in the range. `None`: the end of the table.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: prefix_end(prefix) }
    }

    /// This one key.
    pub fn key(key: &[u8]) -> Self {
        Self { start: key.to_vec(), end: Some(after(key)) }
    }

    /// Whether no key is in it.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether `key` is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, ", escaped(&self.start))?;
        match &self.end {
            Some(end) => write!(f, "{})", escaped(end)),
            None => f.write_str("end)"),
        }
    }
}

/// The first key behind all keys that begin with `prefix`, or `None` if there is no such key.
///
/// ```
/// use rowkey::range::prefix_end;
/// assert_eq!(prefix_end(b"us-east#fleet_01#").unwrap(), b"us-east#fleet_01$");
/// assert_eq!(prefix_end(b"a\xff").unwrap(), b"b");
/// assert_eq!(prefix_end(b"\xff\xff"), None);
/// ```
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// The first key behind `key` itself: `key` and a zero byte.
///
/// ```
/// assert_eq!(rowkey::range::after(b"1\x001"), b"1\x001\x00");
/// ```
pub fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(prefix: &[u8], end: Option<&[u8]>) {
        assert_eq!(prefix_end(prefix).as_deref(), end);
    }

    #[test]
    fn the_end_of_a_prefix_carries_and_is_cut_never_filled() {
        check(b"phone#", Some(b"phone$"));
        check(b"a\xff", Some(b"b"));
        check(b"\x03\xaa\xff", Some(b"\x03\xab"));
        check(b"\xff\xff", None);
        check(b"", None);
        check(b"us-east#fleet_01#", Some(b"us-east#fleet_01$"));
        check(b"\x00\x00\x00\x80", Some(b"\x00\x00\x00\x81"));
    }

    proptest! {
        #[test]
        fn a_key_is_in_the_range_of_a_prefix_only_if_it_begins_with_it(
            prefix in proptest::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 0..4),
            key in proptest::collection::vec(prop_oneof![Just(0xffu8), Just(0u8), any::<u8>()], 0..6),
            tail: Vec<u8>,
        ) {
            let range = KeyRange::prefix(&prefix);
            prop_assert_eq!(range.contains(&key), key.starts_with(&prefix));
            let inside = [prefix.as_slice(), tail.as_slice()].concat();
            prop_assert!(range.contains(&inside));
        }

        #[test]
        fn no_key_is_between_a_key_and_the_one_after_it(key: Vec<u8>, other: Vec<u8>) {
            prop_assert_eq!(KeyRange::key(&key).contains(&other), key == other);
        }
    }
}
