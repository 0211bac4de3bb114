//! Lengths of keys: an exact histogram.

use crate::facts::Lengths;

/// Longest row key of Bigtable, `google.bigtable.v2.Row.key`.
const LIMIT: usize = 4_096;

/// Counts lengths 0 to 4,096 exactly, and what is longer as one.
#[derive(Debug, Clone)]
pub(crate) struct LengthCounter {
    counts: Vec<u64>,
    max: u64,
    total: u64,
}

impl LengthCounter {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; LIMIT + 2], max: 0, total: 0 }
    }

    #[inline]
    pub(crate) fn observe(&mut self, len: usize) {
        self.counts[len.min(LIMIT + 1)] += 1;
        self.max = self.max.max(len as u64);
        self.total = self.total.saturating_add(len as u64);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.max = self.max.max(other.max);
        self.total = self.total.saturating_add(other.total);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// Percentiles are nearest ranks; one that lies above 4,096 bytes is given as the longest key.
    pub(crate) fn finish(&self) -> Lengths {
        let keys: u64 = self.counts.iter().sum();
        let percentile = |hundredths: u64| {
            let rank = (keys * hundredths).div_ceil(100);
            let mut passed = 0;
            for (len, count) in self.counts.iter().enumerate() {
                passed += count;
                if passed >= rank {
                    return if len > LIMIT { self.max } else { len as u64 };
                }
            }
            self.max
        };
        Lengths {
            p50: percentile(50),
            p99: percentile(99),
            max: self.max,
            over_limit: self.counts[LIMIT + 1],
            total: self.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lens: impl Iterator<Item = usize>, expected: [u64; 5]) {
        let mut counter = LengthCounter::new();
        lens.for_each(|len| counter.observe(len));
        let found = counter.finish();
        assert_eq!([found.p50, found.p99, found.max, found.over_limit, found.total], expected);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        check([].into_iter(), [0, 0, 0, 0, 0]);
        check([7].into_iter(), [7, 7, 7, 0, 7]);
        check(1..=100, [50, 99, 100, 0, 5_050]);
        check([1, 1, 4_096].into_iter(), [1, 4_096, 4_096, 0, 4_098]);
        check([1, 4_097, 9_000].into_iter(), [9_000, 9_000, 9_000, 2, 13_098]);
    }
}
