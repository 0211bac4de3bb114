//! Which keys come most, in the last half hour to hour: two heavy-hitter sketches, of which the older one is replaced every half hour.

use super::answer::{HotKey, HotKeys};
use rowkey_hotspot::sketch::SpaceSaving;
use rowkey_store::RowRange;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Keys that are listed.
const LISTED_MAX: usize = 20;
/// How long the newer sketch counts.
const HALF_MS: i64 = 30 * 60_000;

/// The most frequent keys of one kind of operation.
#[derive(Debug, Clone)]
pub(super) struct Frequent {
    counters: usize,
    key_len_max: usize,
    newer: Option<SpaceSaving>,
    newer_since_ms: i64,
    older: Option<SpaceSaving>,
    older_since_ms: i64,
}

impl Frequent {
    /// With so many counters for each half.
    pub(super) fn new(counters: usize) -> Self {
        Self { counters, key_len_max: 0, newer: None, newer_since_ms: 0, older: None, older_since_ms: 0 }
    }

    pub(super) fn observe(&mut self, time_ms: i64, key: &[u8]) {
        if self.newer.is_some() && time_ms.saturating_sub(self.newer_since_ms) >= HALF_MS {
            self.older = self.newer.take();
            self.older_since_ms = self.newer_since_ms;
        }
        let (counters, since) = (self.counters, &mut self.newer_since_ms);
        let newer = self.newer.get_or_insert_with(|| {
            *since = time_ms;
            SpaceSaving::new(counters, counters * 128)
        });
        newer.observe(key);
        self.key_len_max = self.key_len_max.max(key.len());
    }

    /// The keys of a range that came most, among those that were counted up to an hour ago.
    pub(super) fn list(&self, now_ms: i64, range: &RowRange) -> HotKeys {
        let older = self.older.as_ref().filter(|_| now_ms.saturating_sub(self.newer_since_ms) < 2 * HALF_MS);
        let newer = self.newer.as_ref().filter(|_| now_ms.saturating_sub(self.newer_since_ms) < 2 * HALF_MS);
        let mut found: BTreeMap<&[u8], (u64, u64, usize)> = BTreeMap::new();
        let mut unlisted_max = 0_u64;
        let missed: Vec<u64> =
            [newer, older].into_iter().flatten().map(|sketch| sketch.list(usize::MAX).1).collect();
        for sketch in [newer, older].into_iter().flatten() {
            let (heavies, missed_max) = sketch.list(usize::MAX);
            unlisted_max = unlisted_max.saturating_add(missed_max);
            for heavy in heavies.into_iter().filter(|heavy| range.contains(heavy.key)) {
                let (count, error, sketches) = found.entry(heavy.key).or_default();
                *count = count.saturating_add(heavy.count);
                *error = error.saturating_add(heavy.error);
                *sketches += 1;
                if *sketches == 1 {
                    // Another sketch may have missed it: that is taken back when it has not.
                    let others = missed.iter().sum::<u64>().saturating_sub(missed_max);
                    *count = count.saturating_add(others);
                    *error = error.saturating_add(others);
                } else {
                    *count = count.saturating_sub(missed_max);
                    *error = error.saturating_sub(missed_max);
                }
            }
        }
        let mut keys: Vec<HotKey> = found
            .into_iter()
            .map(|(key, (count, error_max, _))| HotKey { key: key.to_vec(), count, error_max })
            .collect();
        keys.sort_by(|a, b| {
            (Reverse(a.count), a.error_max, &a.key).cmp(&(Reverse(b.count), b.error_max, &b.key))
        });
        if let Some(first) = keys.get(LISTED_MAX) {
            unlisted_max = unlisted_max.max(first.count);
        }
        keys.truncate(LISTED_MAX);
        let operations = [newer, older].into_iter().flatten().map(SpaceSaving::total).sum();
        let since_ms = if older.is_some() { self.older_since_ms } else { self.newer_since_ms };
        HotKeys { keys, unlisted_max, operations, since_ms }
    }

    /// Bytes of memory, about: keys are counted as long as the longest of them, within the sketch's own bound.
    pub(super) fn bytes(&self) -> usize {
        let of = |sketch: &SpaceSaving| {
            let keys = (sketch.counters() * self.key_len_max).min((self.counters * 128).max(8_192));
            self.counters.saturating_mul(16).next_power_of_two() + sketch.counters() * 48 + keys
        };
        [&self.newer, &self.older].into_iter().flatten().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(keys: &HotKeys) -> Vec<(String, u64, u64)> {
        let text = |key: &HotKey| (String::from_utf8_lossy(&key.key).into_owned(), key.count, key.error_max);
        keys.keys.iter().map(text).collect()
    }

    #[test]
    fn few_keys_are_counted_exactly_also_over_two_halves() {
        let mut frequent = Frequent::new(64);
        for minute in 0..40 {
            frequent.observe(minute * 60_000, b"hot");
            frequent.observe(minute * 60_000, if minute < 30 { b"a" } else { b"b" });
        }
        let now_ms = 40 * 60_000;
        let all = frequent.list(now_ms, &RowRange::all());
        assert_eq!(
            shown(&all),
            [("hot".to_owned(), 40, 0), ("a".to_owned(), 30, 0), ("b".to_owned(), 10, 0)]
        );
        assert_eq!((all.unlisted_max, all.operations, all.since_ms), (0, 80, 0));
        assert_eq!(shown(&frequent.list(now_ms, &RowRange::prefix(b"b"))), [("b".to_owned(), 10, 0)]);
        // The older half goes.
        for minute in 60..62 {
            frequent.observe(minute * 60_000, b"c");
        }
        let later = frequent.list(62 * 60_000, &RowRange::all());
        assert_eq!(later.operations, 22);
        assert_eq!(shown(&later)[0], ("b".to_owned(), 10, 0));
        assert!(frequent.list(200 * 60_000, &RowRange::all()).keys.is_empty());
    }

    #[test]
    fn bounds_hold_where_keys_are_many() {
        let mut frequent = Frequent::new(32);
        let mut exact: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for number in 0..20_000_i64 {
            let key = if number % 5 == 0 { "hot".to_owned() } else { format!("k{}", number * 7 % 3_001) };
            frequent.observe(number * 150, key.as_bytes());
            *exact.entry(key.into_bytes()).or_default() += 1;
        }
        let all = frequent.list(20_000 * 150, &RowRange::all());
        assert_eq!(all.keys[0].key, b"hot");
        for key in &all.keys {
            let times = exact[&key.key];
            assert!(key.count >= times && key.count - key.error_max <= times, "{key:?}, not {times}");
        }
        assert!(frequent.bytes() < 64 << 10);
    }
}
