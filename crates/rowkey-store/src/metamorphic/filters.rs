//! Makes up filters of rows whose keys, qualifiers and values are of [`super::generate`]'s few bytes. Now and then a wrong one.

use super::generate::{BYTES, FAMILIES};
use crate::Filter;
use crate::seeded::Seeded;
use bytes::Bytes;
use std::ops::{Bound, Range};

/// Of keys, qualifiers and values of a few bytes.
const PATTERNS: [&[u8]; 18] = [
    b".*",
    b"\\C*",
    b"a",
    b"a\\C*",
    b"(?i)A.*",
    b"[ab]+",
    b"[^a]*",
    b"a|b|.\\C",
    b"\xff\\C*",
    b"\\xff?\\x00*",
    b"[\xfe-\xff]{1,2}",
    b"\\Q\x00\\E|\\pL",
    b".",
    b"(?s).?",
    b"\\C\\C",
    b"",
    b"(?P<n>b)|\\001",
    b"a**",
];
const FAMILY_PATTERNS: [&str; 6] = ["a", "[a-c]", "a|d", ".*", "[^b]", "a:"];
const LABELS: [&str; 3] = ["one", "two", "3-"];

/// A filter of so many levels or less. `times` makes a range of times.
pub(crate) fn filter(
    choose: &mut Seeded,
    times: &mut dyn FnMut(&mut Seeded) -> Range<i64>,
    depth: usize,
) -> Filter {
    // Wrong with a chance of a few in a hundred, so that most filters are right.
    let count = if choose.chance(3) { 0 } else { 1 + u32::try_from(choose.below(3)).unwrap_or_default() };
    let leaf = depth == 0 || choose.chance(40);
    if leaf {
        return single(choose, times, count);
    }
    let mut members = |choose: &mut Seeded| {
        let members = if choose.chance(2) { 1 } else { 2 + choose.below(2) };
        (0..members).map(|_| filter(choose, times, depth - 1)).collect()
    };
    match choose.below(10) {
        0..5 => Filter::Chain(members(choose)),
        5..8 => Filter::Interleave(members(choose)),
        _ => {
            let mut branch = |choose: &mut Seeded, chance| {
                choose.chance(chance).then(|| Box::new(filter(choose, times, depth - 1)))
            };
            Filter::Condition {
                predicate: branch(choose, 100).unwrap_or_else(|| Box::new(Filter::PassAll)),
                then: branch(choose, 80),
                otherwise: branch(choose, 80),
            }
        }
    }
}

fn single(choose: &mut Seeded, times: &mut dyn FnMut(&mut Seeded) -> Range<i64>, count: u32) -> Filter {
    let pattern = |choose: &mut Seeded| {
        // The last one is wrong.
        let known = if choose.chance(3) { PATTERNS.len() } else { PATTERNS.len() - 1 };
        Bytes::from_static(PATTERNS[choose.below(known)])
    };
    match choose.below(22) {
        0 | 1 => Filter::PassAll,
        2 => Filter::BlockAll,
        3 => Filter::StripValue,
        4 | 5 => Filter::TimestampRange(times(choose)),
        6 => {
            let (start, end) = bounds(choose);
            let family = if choose.chance(2) { "x" } else { *choose.one_of(&FAMILIES) };
            Filter::QualifierRange { family: family.to_owned(), start, end }
        }
        7 => {
            let (start, end) = bounds(choose);
            Filter::ValueRange { start, end }
        }
        8 => Filter::ValueBitmask(some_bytes(choose, 2)),
        9 => Filter::CellsPerRowOffset(count),
        10 | 11 => Filter::CellsPerRowLimit(count),
        12 | 13 => Filter::CellsPerColumnLimit(count),
        14 => Filter::ApplyLabel((*choose.one_of(&LABELS)).to_owned()),
        15 => Filter::Sink,
        16 => Filter::RowKeyRegex(pattern(choose)),
        17 => Filter::RowSample(f64::from(count) / 4.0),
        18 | 19 => {
            let known = if choose.chance(3) { FAMILY_PATTERNS.len() } else { FAMILY_PATTERNS.len() - 1 };
            Filter::FamilyRegex(FAMILY_PATTERNS[choose.below(known)].to_owned())
        }
        20 => Filter::QualifierRegex(pattern(choose)),
        _ => Filter::ValueRegex(pattern(choose)),
    }
}

fn some_bytes(choose: &mut Seeded, most: usize) -> Bytes {
    (0..choose.below(most + 1)).map(|_| *choose.one_of(&BYTES)).collect()
}

fn bounds(choose: &mut Seeded) -> (Bound<Bytes>, Bound<Bytes>) {
    let (a, b) = (some_bytes(choose, 2), some_bytes(choose, 2));
    let mut bound = |bytes: Bytes| match choose.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(bytes),
        _ => Bound::Included(bytes),
    };
    (bound(a.clone().min(b.clone())), bound(a.max(b)))
}
