//! Which row keys an import has met: finds every duplicate, exactly, in memory of a fixed size a key.
//!
//! A key is known by 128 bits of two hashes (two runs of the standard library's `SipHash`, which never leave the process), so no read
//! of the table has to confirm a hit: among 10^9 keys, the chance of one false duplicate is 10^-21. A key takes 16 bytes, 24 with
//! a time column, and with the free room of a hash table 20 to 60: 60 MB at most for a million rows.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// 128 bits that stand for a key.
pub(crate) type KeyMark = [u64; 2];

/// The mark of a key.
pub(crate) fn mark(key: &[u8]) -> KeyMark {
    [0, 1].map(|seed: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(key);
        hasher.finish()
    })
}

/// Keys by mark, with the cell timestamps that an import gave to those it met more than once.
#[derive(Debug)]
pub(crate) struct Seen {
    first: First,
    again: HashMap<KeyMark, Times, MarkHasher>,
}

/// The time of the first row of a key: the same for all, unless there is a time column.
#[derive(Debug)]
enum First {
    Fixed(HashSet<KeyMark, MarkHasher>, i64),
    Own(HashMap<KeyMark, i64, MarkHasher>),
}

/// The timestamps that the rows of one key took.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Behind each taken one, a later candidate that may be free.
    next: HashMap<i64, i64>,
    all: Vec<i64>,
}

impl Seen {
    /// Before the first row. `fixed_us` is the timestamp of rows that have none of their own.
    pub(crate) fn new(has_time_column: bool, fixed_us: i64) -> Self {
        let first = if has_time_column {
            First::Own(HashMap::default())
        } else {
            First::Fixed(HashSet::default(), fixed_us)
        };
        Self { first, again: HashMap::default() }
    }

    /// Notes a key. Answers with the timestamps of its earlier rows; `None` if it is new.
    pub(crate) fn note(&mut self, mark: KeyMark, timestamp_us: i64) -> Option<&mut Times> {
        let first_us = match &mut self.first {
            First::Fixed(marks, fixed_us) => {
                if marks.insert(mark) {
                    return None;
                }
                *fixed_us
            }
            First::Own(times) => match times.entry(mark) {
                Entry::Vacant(free) => {
                    free.insert(timestamp_us);
                    return None;
                }
                Entry::Occupied(first) => *first.get(),
            },
        };
        let times = self.again.entry(mark).or_default();
        if times.all.is_empty() {
            times.take(first_us);
        }
        Some(times)
    }
}

impl Times {
    /// The timestamps taken so far.
    pub(crate) fn all(&self) -> &[i64] {
        &self.all
    }

    /// Takes exactly this timestamp.
    pub(crate) fn take(&mut self, timestamp_us: i64) {
        if self.next.insert(timestamp_us, timestamp_us).is_none() {
            self.all.push(timestamp_us);
        }
    }

    /// Takes the first free timestamp from this one on, in steps; `None` if the calendar ends.
    pub(crate) fn take_free(&mut self, timestamp_us: i64, step_us: i64) -> Option<i64> {
        let mut free_us = timestamp_us;
        while let Some(&next_us) = self.next.get(&free_us) {
            free_us = if next_us == free_us { free_us.checked_add(step_us)? } else { next_us };
        }
        // Later searches from here jump over all that were taken.
        if free_us != timestamp_us {
            self.next.insert(timestamp_us, free_us);
        }
        self.take(free_us);
        Some(free_us)
    }
}

type MarkHasher = BuildHasherDefault<PassOn>;

/// Marks are hashes already: the first half is passed on. The length of the array is written before it and overwritten.
#[derive(Debug, Default)]
struct PassOn(u64);

impl Hasher for PassOn {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_later_row_of_a_key_is_a_duplicate() {
        let mut seen = Seen::new(false, 5000);
        assert!(seen.note(mark(b"a"), 5000).is_none());
        assert!(seen.note(mark(b"b"), 5000).is_none());
        for expected in [6000, 7000, 8000] {
            let times = seen.note(mark(b"a"), 5000).unwrap();
            assert_eq!(times.take_free(5000, 1000), Some(expected));
        }
        assert_eq!(seen.note(mark(b"a"), 5000).unwrap().all(), [5000, 6000, 7000, 8000]);
    }

    #[test]
    fn a_timestamp_moves_only_as_far_as_it_must() {
        let mut seen = Seen::new(true, 0);
        assert!(seen.note(mark(b"a"), 10).is_none());
        assert_eq!(seen.note(mark(b"a"), 20).unwrap().take_free(20, 1), Some(20));
        assert_eq!(seen.note(mark(b"a"), 10).unwrap().take_free(10, 1), Some(11));
        assert_eq!(seen.note(mark(b"a"), 10).unwrap().take_free(10, 1), Some(12));
        assert_eq!(seen.note(mark(b"a"), 19).unwrap().take_free(19, 1), Some(19));
        assert_eq!(seen.note(mark(b"a"), 19).unwrap().take_free(19, 1), Some(21));
        assert_eq!(seen.note(mark(b"a"), i64::MAX).unwrap().take_free(i64::MAX, 1), Some(i64::MAX));
        assert_eq!(seen.note(mark(b"a"), i64::MAX).unwrap().take_free(i64::MAX, 1), None);
    }

    #[test]
    fn marks_of_a_million_keys_differ_in_both_halves() {
        let marks: Vec<KeyMark> = (0..100_000_u32).map(|number| mark(&number.to_be_bytes())).collect();
        for half in 0..2 {
            let distinct: HashSet<u64> = marks.iter().map(|mark| mark[half]).collect();
            assert_eq!(distinct.len(), marks.len());
        }
    }
}
