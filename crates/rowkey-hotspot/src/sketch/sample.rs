//! A uniform sample of keys in order of arrival: complete while few, bounded in number and bytes, nothing allocated per key.

use super::{Thinning, kept, short};

/// One key of a [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampled<'a> {
    /// Its index in the stream, from 0.
    pub index: u64,
    /// Its time, if it has one.
    pub time_ms: Option<i64>,
    /// The key, cut at [`super::KEY_KEPT_MAX`] bytes.
    pub key: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    index: u64,
    time_ms: Option<i64>,
    offset: u32,
    len: u32,
}

/// A uniform sample of a stream of keys, in order of arrival.
///
/// Complete up to `keys_max` keys and `bytes_max` bytes; from then on one key, chosen at random, of each block of
/// [`Sample::weight`] consecutive ones, between half of the room and all of it.
#[derive(Debug, Clone)]
pub struct Sample {
    keys_max: usize,
    bytes_max: usize,
    thinning: Thinning,
    seen: u64,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    halvings: u32,
    keep: Vec<bool>,
}

impl Sample {
    /// An empty sample with room for so many keys (at least 2) and bytes of keys (at least 64 KiB; at most 1 GiB).
    pub fn new(seed: u64, keys_max: usize, bytes_max: usize) -> Self {
        Self {
            keys_max: keys_max.clamp(2, 1 << 26),
            bytes_max: bytes_max.clamp(1 << 16, 1 << 30),
            thinning: Thinning::new(seed),
            seen: 0,
            bytes: Vec::new(),
            entries: Vec::new(),
            halvings: 0,
            keep: Vec::new(),
        }
    }

    /// Offers the next key of the stream.
    #[inline]
    pub fn offer(&mut self, key: &[u8], time_ms: Option<i64>) {
        let index = self.seen;
        self.seen += 1;
        if self.thinning.takes(index) {
            self.take(index, key, time_ms);
        }
    }

    fn take(&mut self, index: u64, key: &[u8], time_ms: Option<i64>) {
        let key = kept(key);
        self.entries.push(Entry { index, time_ms, offset: short(self.bytes.len()), len: short(key.len()) });
        self.bytes.extend_from_slice(key);
        while self.entries.len() > self.keys_max || self.bytes.len() > self.bytes_max {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.thinning.double(self.entries.iter().map(|entry| entry.index), &mut self.keep);
        self.halvings += 1;
        let mut bytes_end = 0;
        let mut entries_end = 0;
        for position in 0..self.entries.len() {
            if self.keep[position] {
                let mut entry = self.entries[position];
                let start = entry.offset as usize;
                self.bytes.copy_within(start..start + entry.len as usize, bytes_end);
                entry.offset = short(bytes_end);
                bytes_end += entry.len as usize;
                self.entries[entries_end] = entry;
                entries_end += 1;
            }
        }
        self.bytes.truncate(bytes_end);
        self.entries.truncate(entries_end);
    }

    /// Keys offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Keys in the sample.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many keys of the stream each one stands for.
    pub fn weight(&self) -> u64 {
        self.thinning.weight()
    }

    /// How often the sample was halved: positions are only comparable between equal answers.
    pub fn halvings(&self) -> u32 {
        self.halvings
    }

    /// The key at a position below [`Sample::len`], cut at [`super::KEY_KEPT_MAX`] bytes.
    #[inline]
    pub fn key(&self, position: usize) -> &[u8] {
        let entry = &self.entries[position];
        let start = entry.offset as usize;
        &self.bytes[start..start + entry.len as usize]
    }

    /// All of it, in order of arrival.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Sampled<'_>> {
        self.entries.iter().map(|entry| {
            let start = entry.offset as usize;
            let key = &self.bytes[start..start + entry.len as usize];
            Sampled { index: entry.index, time_ms: entry.time_ms, key }
        })
    }
}
