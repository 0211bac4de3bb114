//! Sets of field values as sorted, disjoint intervals.
//!
//! Numbers are inclusive intervals `low..=high` of positions on the field's axis (see [`super::axis`]). Strings are half-open
//! intervals of byte strings; a single string `s` is `[s, s 00)`, since `s 00` is the very next byte string.

use crate::range::{KeyRange, after};

/// The values of one field that a query admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FieldSet {
    /// Inclusive intervals, ascending and disjoint. Neighbours are not joined: each value of an `in` list stays one.
    Numbers(Vec<(i128, i128)>),
    /// Half-open intervals, ascending and disjoint.
    Strings(Vec<KeyRange>),
}

impl FieldSet {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Numbers(intervals) => intervals.is_empty(),
            Self::Strings(intervals) => intervals.is_empty(),
        }
    }

    /// Whether every interval is a single value.
    pub(super) fn is_singles(&self) -> bool {
        match self {
            Self::Numbers(intervals) => intervals.iter().all(|(low, high)| low == high),
            Self::Strings(intervals) => intervals.iter().all(|interval| single(interval).is_some()),
        }
    }

    /// Whether the set admits every value that there can be, of whatever width.
    pub(super) fn is_everything(&self) -> bool {
        match self {
            Self::Numbers(intervals) => intervals[..] == [(i128::MIN, i128::MAX)],
            Self::Strings(intervals) => {
                matches!(&intervals[..], [KeyRange { start, end: None }] if start.is_empty())
            }
        }
    }

    /// How many numbers, if it is a set of numbers.
    pub(super) fn count(&self) -> Option<u128> {
        match self {
            Self::Numbers(intervals) => {
                Some(intervals.iter().map(|(low, high)| high.abs_diff(*low).saturating_add(1)).sum())
            }
            Self::Strings(_) => None,
        }
    }

    /// What both admit. Both are of one axis.
    pub(super) fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Numbers(a), Self::Numbers(b)) => Self::Numbers(intersect_numbers(a, b)),
            (Self::Strings(a), Self::Strings(b)) => Self::Strings(intersect_strings(a, b)),
            _ => unreachable!("one field has one axis"),
        }
    }

    /// What any of them admits. All are of one axis.
    pub(super) fn union(sets: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut numbers = Vec::new();
        let mut strings = Vec::new();
        let mut is_strings = None;
        for set in sets {
            match set {
                Self::Numbers(intervals) => {
                    is_strings = Some(false);
                    numbers.extend(intervals);
                }
                Self::Strings(intervals) => {
                    is_strings = Some(true);
                    strings.extend(intervals);
                }
            }
        }
        is_strings.map(|strings_only| {
            if strings_only {
                Self::Strings(normal_strings(strings))
            } else {
                Self::Numbers(normal_numbers(numbers))
            }
        })
    }

    pub(super) fn contains_number(&self, number: i128) -> bool {
        match self {
            Self::Numbers(intervals) => {
                let next = intervals.partition_point(|(low, _)| *low <= number);
                next > 0 && number <= intervals[next - 1].1
            }
            Self::Strings(_) => false,
        }
    }

    pub(super) fn contains_string(&self, string: &[u8]) -> bool {
        match self {
            Self::Numbers(_) => false,
            Self::Strings(intervals) => {
                let next = intervals.partition_point(|interval| interval.start.as_slice() <= string);
                next > 0 && intervals[next - 1].end.as_deref().is_none_or(|end| string < end)
            }
        }
    }
}

/// The one string of `[s, s 00)`.
pub(super) fn single(interval: &KeyRange) -> Option<&[u8]> {
    let end = interval.end.as_deref()?;
    let (last, body) = end.split_last()?;
    (*last == 0 && body == interval.start).then_some(body)
}

/// The interval of one string.
pub(super) fn one_string(string: Vec<u8>) -> KeyRange {
    let end = Some(after(&string));
    KeyRange { start: string, end }
}

/// Sorts, drops what is empty, and joins what overlaps.
pub(super) fn normal_numbers(mut intervals: Vec<(i128, i128)>) -> Vec<(i128, i128)> {
    intervals.retain(|(low, high)| low <= high);
    intervals.sort_unstable();
    let mut out: Vec<(i128, i128)> = Vec::with_capacity(intervals.len());
    for (low, high) in intervals {
        match out.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => out.push((low, high)),
        }
    }
    out
}

/// Joins neighbours too: `3..=5` and `6..=7` are `3..=7`.
pub(super) fn joined_numbers(intervals: &[(i128, i128)]) -> Vec<(i128, i128)> {
    let mut out: Vec<(i128, i128)> = Vec::with_capacity(intervals.len());
    for &(low, high) in intervals {
        match out.last_mut() {
            Some(last) if low == last.1 + 1 => last.1 = high,
            _ => out.push((low, high)),
        }
    }
    out
}

/// Sorts, drops what is empty, and joins what overlaps; what only touches stays apart.
pub(super) fn normal_strings(mut intervals: Vec<KeyRange>) -> Vec<KeyRange> {
    intervals.retain(|interval| interval.end.as_ref().is_none_or(|end| &interval.start < end));
    intervals.sort_unstable_by(|a, b| a.start.cmp(&b.start));
    let mut out: Vec<KeyRange> = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match out.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| &interval.start < end) => {
                last.end = later_end(last.end.take(), interval.end);
            }
            _ => out.push(interval),
        }
    }
    out
}

/// Joins ranges that overlap or touch; `ranges` is sorted by start.
pub(super) fn merged_ranges(ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let mut out: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| &range.start <= end) => {
                last.end = later_end(last.end.take(), range.end);
            }
            _ => out.push(range),
        }
    }
    out
}

fn later_end(a: Option<Vec<u8>>, b: Option<Vec<u8>>) -> Option<Vec<u8>> {
    Some(a?.max(b?))
}

fn earlier_end(a: Option<&Vec<u8>>, b: Option<&Vec<u8>>) -> Option<Vec<u8>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b).clone()),
        (a, b) => a.or(b).cloned(),
    }
}

fn intersect_numbers(a: &[(i128, i128)], b: &[(i128, i128)]) -> Vec<(i128, i128)> {
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let both = (x.0.max(y.0), x.1.min(y.1));
        if both.0 <= both.1 {
            out.push(both);
        }
        if x.1 < y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

fn intersect_strings(a: &[KeyRange], b: &[KeyRange]) -> Vec<KeyRange> {
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let start = x.start.as_slice().max(&y.start);
        let end = earlier_end(x.end.as_ref(), y.end.as_ref());
        if end.as_deref().is_none_or(|end| start < end) {
            out.push(KeyRange { start: start.to_vec(), end: end.clone() });
        }
        if x.end == end && x.end.is_some() {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &str, end: Option<&str>) -> KeyRange {
        KeyRange { start: start.into(), end: end.map(Into::into) }
    }

    #[test]
    fn numbers_are_sorted_and_overlaps_joined_but_neighbours_stay_apart() {
        assert_eq!(normal_numbers(vec![(5, 7), (1, 2), (6, 9), (4, 3)]), [(1, 2), (5, 9)]);
        assert_eq!(normal_numbers(vec![(3, 3), (2, 2), (3, 3)]), [(2, 2), (3, 3)]);
        assert_eq!(joined_numbers(&[(1, 2), (3, 3), (5, 9)]), [(1, 3), (5, 9)]);
    }

    #[test]
    fn intersections_keep_what_both_admit() {
        assert_eq!(intersect_numbers(&[(1, 5), (8, 9)], &[(0, 1), (4, 8)]), [(1, 1), (4, 5), (8, 8)]);
        let a = [range("a", Some("c")), range("x", None)];
        let b = [range("b", Some("y"))];
        assert_eq!(intersect_strings(&a, &b), [range("b", Some("c")), range("x", Some("y"))]);
        assert_eq!(intersect_strings(&[range("", None)], &[range("q", None)]), [range("q", None)]);
    }

    #[test]
    fn a_single_string_ends_at_itself_and_a_zero_byte() {
        assert_eq!(single(&one_string(b"ab".to_vec())), Some(&b"ab"[..]));
        assert_eq!(single(&range("ab", Some("ac"))), None);
        assert_eq!(single(&range("ab", None)), None);
    }

    #[test]
    fn membership_is_found_by_interval() {
        let set = FieldSet::Numbers(vec![(1, 2), (5, 9)]);
        let inside: Vec<i128> = (0..=10).filter(|n| set.contains_number(*n)).collect();
        assert_eq!(inside, [1, 2, 5, 6, 7, 8, 9]);
        let set = FieldSet::Strings(vec![range("b", Some("c")), range("x", None)]);
        let inside: Vec<&str> = ["", "a", "b", "bz", "c", "w", "x", "zz"]
            .into_iter()
            .filter(|s| set.contains_string(s.as_bytes()))
            .collect();
        assert_eq!(inside, ["b", "bz", "x", "zz"]);
    }
}
