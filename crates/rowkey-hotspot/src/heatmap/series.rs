//! What one row of the matrix has seen over time: exact sums by time slot, packed.
//!
//! ```text
//! entry: | header: u8 | skip: LEB128, if bit 7 of the header is set | sum: LEB128, for each metric whose bit 0..5 is set |
//! ```
//!
//! Slots ascend. Without bit 7 an entry's slot is the one behind the last; `skip` is how many lie between (for the first entry, how many
//! slots there are below it). Sums of 0 take no
//! space, and slots without any are not there.

use super::metric::{Metric, Values};

const FAR: u8 = 0x80;

/// The sums of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The slot: time divided by the timeline's unit.
    pub(super) slot: i64,
    /// Its sums.
    pub(super) values: Values,
}

/// Packed entries, ascending by slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    bytes: Vec<u8>,
    last: Option<i64>,
}

impl Series {
    /// Packs entries, which ascend by slot.
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut series = Self::default();
        for entry in entries {
            series.push(entry);
        }
        series.bytes.shrink_to_fit();
        series
    }

    /// The last slot.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Bytes of memory beyond the struct itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Appends an entry behind all others.
    pub(super) fn push(&mut self, entry: &Entry) {
        debug_assert!(self.last.is_none_or(|last| last < entry.slot), "slots ascend");
        // The first entry's distance is taken from the smallest slot, itself included.
        let skip = match self.last {
            Some(last) => entry.slot.abs_diff(last).saturating_sub(1),
            None => entry.slot.abs_diff(i64::MIN),
        };
        let mut header = if skip > 0 || self.last.is_none() { FAR } else { 0 };
        for (bit, &value) in entry.values.iter().enumerate() {
            header |= u8::from(value > 0) << bit;
        }
        if self.bytes.capacity() - self.bytes.len() < 64 {
            // Growing by an eighth wastes less than growing to the double.
            self.bytes.reserve_exact(64 + self.bytes.len() / 8);
        }
        self.bytes.push(header);
        if header & FAR != 0 {
            push_leb128(&mut self.bytes, skip);
        }
        for &value in entry.values.iter().filter(|&&value| value > 0) {
            push_leb128(&mut self.bytes, value);
        }
        self.last = Some(entry.slot);
    }

    /// The entries.
    pub(super) fn entries(&self) -> Entries<'_> {
        Entries { bytes: &self.bytes, next: i64::MIN }
    }
}

/// Walks over a series.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    bytes: &'a [u8],
    /// The slot of an entry that skips none.
    next: i64,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let (&header, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let skip = if header & FAR == 0 { 0 } else { take_leb128(&mut self.bytes) };
        let mut values = [0; Metric::ALL.len()];
        for (bit, value) in values.iter_mut().enumerate() {
            if header >> bit & 1 == 1 {
                *value = take_leb128(&mut self.bytes);
            }
        }
        let slot = self.next.wrapping_add_unsigned(skip);
        self.next = slot.wrapping_add(1);
        Some(Entry { slot, values })
    }
}

/// Little endian, seven bits a byte, bit 7 set on all but the last.
pub(super) fn push_leb128(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn take_leb128(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 63 {
            break;
        }
    }
    value
}

/// Entries of both, ascending; those of one slot are added up. Both ascend.
pub(super) fn merged(left: impl Iterator<Item = Entry>, right: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    let mut all: Vec<Entry> = Vec::with_capacity(left.size_hint().0 + right.size_hint().0);
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.slot <= b.slot => left.next(),
            (_, Some(_)) => right.next(),
            _ => left.next(),
        };
        let Some(next) = next else { return all };
        push_or_add(&mut all, next);
    }
}

/// Appends an entry, or adds it to the last one if that has the same slot.
pub(super) fn push_or_add(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.last_mut().filter(|last| last.slot == entry.slot) {
        Some(last) => add(&mut last.values, &entry.values),
        None => entries.push(entry),
    }
}

/// Adds sums. The matrix lets no total pass 64 bits, so no cell does.
pub(super) fn add(to: &mut Values, from: &Values) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(slot: i64, values: Values) -> Entry {
        Entry { slot, values }
    }

    fn check(entries: &[Entry], bytes: usize) {
        let series = Series::new(entries);
        assert_eq!(series.entries().collect::<Vec<_>>(), entries);
        assert_eq!(series.bytes.len(), bytes, "{entries:?}");
        assert_eq!(series.last(), entries.last().map(|entry| entry.slot));
    }

    #[test]
    fn neighbouring_slots_take_a_byte_and_their_sums() {
        check(&[], 0);
        check(&[entry(i64::MIN, [1, 0, 0, 0, 0, 0])], 3);
        let far = Series::new(&[entry(7, [1, 0, 0, 0, 0, 0])]).bytes.len();
        check(&[entry(7, [1, 0, 0, 0, 0, 0]), entry(8, [127, 0, 128, 0, 0, 0])], far + 4);
        check(&[entry(7, [1, 0, 0, 0, 0, 0]), entry(9, [1, 1, 1, 1, 1, 1])], far + 8);
        check(&[entry(i64::MAX, [u64::MAX; 6])], 1 + 10 + 60);
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked_and_merging_adds_up(
            left in prop::collection::btree_map(-50_i64..50, prop::array::uniform6(0_u64..1 << 40), 0..30),
            right in prop::collection::btree_map(any::<i64>(), prop::array::uniform6(0_u64..300), 0..30),
        ) {
            let entries = |map: &std::collections::BTreeMap<i64, Values>| {
                map.iter().map(|(&slot, &values)| entry(slot, values)).collect::<Vec<_>>()
            };
            let (left, right) = (entries(&left), entries(&right));
            prop_assert_eq!(Series::new(&left).entries().collect::<Vec<_>>(), left.clone());
            prop_assert_eq!(Series::new(&right).entries().collect::<Vec<_>>(), right.clone());
            let both = merged(left.iter().copied(), right.iter().copied());
            prop_assert!(both.windows(2).all(|pair| pair[0].slot < pair[1].slot));
            for metric in 0..6 {
                let sum = |entries: &[Entry]| entries.iter().map(|entry| entry.values[metric]).sum::<u64>();
                prop_assert_eq!(sum(&both), sum(&left) + sum(&right));
            }
        }
    }
}
