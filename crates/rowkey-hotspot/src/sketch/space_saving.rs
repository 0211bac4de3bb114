//! Heavy hitters: which keys come most, in bounded memory (Space-Saving: Metwally, Agrawal, El Abbadi 2005).

use super::kept;

/// A key that a [`SpaceSaving`] still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heavy<'a> {
    /// The key, cut at [`super::KEY_KEPT_MAX`] bytes.
    pub key: &'a [u8],
    /// It came at most so often.
    pub count: u64,
    /// The count is at most so much too high, never too low.
    pub error: u64,
}

const FREE: u32 = u32::MAX;

/// Counts the most frequent keys of a stream with `m` counters.
///
/// After `n` keys: a count is at most `n/m` too high and never too low, and every key that came more than `n/m` times has a counter.
/// While no more than `m` different keys came, all counts are exact. Where keys are so long that `m` of them pass the bound in bytes,
/// `m` shrinks to what fits: [`SpaceSaving::counters`] says it, [`SpaceSaving::missed_max`] what follows.
#[derive(Debug, Clone)]
pub struct SpaceSaving {
    counters_max: usize,
    bytes_max: usize,
    bytes: usize,
    total: u64,
    /// No key without a counter came more often.
    missed_max: u64,
    keys: Vec<Vec<u8>>,
    hashes: Vec<u64>,
    counts: Vec<u64>,
    errors: Vec<u64>,
    /// Open addressing with linear probing: the counter of a hash.
    table: Vec<u32>,
    /// No counter is below `least`; those that equal it are at or behind `cursor`.
    least: u64,
    cursor: usize,
}

impl SpaceSaving {
    /// Empty, with so many counters (1 to 2^20) for so many bytes of keys (at least 8 KiB).
    pub fn new(counters_max: usize, bytes_max: usize) -> Self {
        let counters_max = counters_max.clamp(1, 1 << 20);
        Self {
            counters_max,
            bytes_max: bytes_max.max(2 * super::KEY_KEPT_MAX),
            bytes: 0,
            total: 0,
            missed_max: 0,
            keys: Vec::new(),
            hashes: Vec::new(),
            counts: Vec::new(),
            errors: Vec::new(),
            table: vec![FREE; (4 * counters_max).next_power_of_two()],
            least: 0,
            cursor: 0,
        }
    }

    /// Keys observed.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Counters in use; after the first key was missed they are all that there are.
    pub fn counters(&self) -> usize {
        self.keys.len()
    }

    /// No key without a counter came more often than this, at most `total / counters`. 0: every key that came has one.
    pub fn missed_max(&self) -> u64 {
        self.missed_max
    }

    /// Counts a key.
    #[inline]
    pub fn observe(&mut self, key: &[u8]) {
        self.total += 1;
        let hash = xxhash_rust::xxh3::xxh3_64(key);
        let key = kept(key);
        let mut at = self.home(hash);
        while self.table[at] != FREE {
            let counter = self.table[at] as usize;
            if self.hashes[counter] == hash && self.keys[counter] == key {
                self.counts[counter] += 1;
                return;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        self.admit(hash, key);
    }

    fn admit(&mut self, hash: u64, key: &[u8]) {
        let room = self.keys.len() < self.counters_max && self.bytes + key.len() <= self.bytes_max;
        if self.keys.is_empty() || (self.missed_max == 0 && room) {
            let counter = self.keys.len();
            self.keys.push(key.to_vec());
            self.hashes.push(hash);
            self.counts.push(1);
            self.errors.push(0);
            self.bytes += key.len();
            self.link(counter);
            return;
        }
        let counter = self.least_counter();
        self.unlink(counter);
        let least = self.counts[counter];
        self.missed_max = self.missed_max.max(least);
        self.bytes = self.bytes + key.len() - self.keys[counter].len();
        let place = &mut self.keys[counter];
        place.clear();
        place.extend_from_slice(key);
        self.hashes[counter] = hash;
        self.counts[counter] = least + 1;
        self.errors[counter] = least;
        self.link(counter);
        while self.bytes > self.bytes_max && self.keys.len() > 1 {
            self.drop_least();
        }
    }

    /// A counter with the least count.
    fn least_counter(&mut self) -> usize {
        let least = self.least;
        if let Some(further) = self.counts[self.cursor..].iter().position(|count| *count == least) {
            self.cursor += further;
            return self.cursor;
        }
        self.least = self.counts.iter().copied().min().unwrap_or_default();
        self.cursor = self.counts.iter().position(|count| *count == self.least).unwrap_or_default();
        self.cursor
    }

    /// Gives up a counter for good.
    fn drop_least(&mut self) {
        let counter = self.least_counter();
        self.missed_max = self.missed_max.max(self.counts[counter]);
        self.unlink(counter);
        let last = self.keys.len() - 1;
        if counter != last {
            self.unlink(last);
        }
        self.bytes -= self.keys.swap_remove(counter).len();
        self.hashes.swap_remove(counter);
        self.counts.swap_remove(counter);
        self.errors.swap_remove(counter);
        if counter != last {
            self.link(counter);
        }
        self.counters_max = self.keys.len();
        self.cursor = 0;
    }

    fn home(&self, hash: u64) -> usize {
        // The low bits that the table's length selects; the rest does not matter.
        usize::try_from(hash & (self.table.len() as u64 - 1)).expect("below the table's length")
    }

    fn link(&mut self, counter: usize) {
        let mut at = self.home(self.hashes[counter]);
        while self.table[at] != FREE {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = super::short(counter);
    }

    /// Takes a counter out of the table and closes the gap, so that probing needs no tombstones.
    fn unlink(&mut self, counter: usize) {
        let mask = self.table.len() - 1;
        let mut gap = self.home(self.hashes[counter]);
        while self.table[gap] as usize != counter {
            gap = (gap + 1) & mask;
        }
        let mut at = gap;
        loop {
            self.table[gap] = FREE;
            loop {
                at = (at + 1) & mask;
                if self.table[at] == FREE {
                    return;
                }
                let home = self.home(self.hashes[self.table[at] as usize]);
                // It may move into the gap if its home is not between the gap and it.
                if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                    break;
                }
            }
            self.table[gap] = self.table[at];
            gap = at;
        }
    }

    /// The most frequent keys, at most `list_max`, most first, equal ones by key; and how often a key that is not listed
    /// can have come. A key is left out if it is known to have come only once while others were missed.
    pub fn list(&self, list_max: usize) -> (Vec<Heavy<'_>>, u64) {
        let mut unlisted_max = self.missed_max;
        let mut heavies = Vec::new();
        for (counter, key) in self.keys.iter().enumerate() {
            let heavy = Heavy { key, count: self.counts[counter], error: self.errors[counter] };
            if heavy.error > 0 && heavy.count - heavy.error <= 1 {
                unlisted_max = unlisted_max.max(heavy.count);
            } else {
                heavies.push(heavy);
            }
        }
        heavies.sort_unstable_by(|left, right| {
            right.count.cmp(&left.count).then(left.error.cmp(&right.error)).then(left.key.cmp(right.key))
        });
        if let Some(first) = heavies.get(list_max) {
            unlisted_max = unlisted_max.max(first.count);
        }
        heavies.truncate(list_max);
        (heavies, unlisted_max)
    }
}
