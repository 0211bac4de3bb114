//! Ranks whose popularity falls as a power of the rank: `share(r) ~ 1 / (r + 1)^skew`.

use rowkey_store::seeded::Seeded;

/// A number in `0.0..1.0`: 53 random bits.
pub(crate) fn unit(rng: &mut Seeded) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
    (rng.any() >> 11) as f64 * SCALE
}

/// Draws ranks below a count: uniform for a skew of 0, Zipf's law for 1.
#[derive(Debug, Clone)]
pub struct Zipf {
    /// Cumulated shares, scaled to 2^53; empty if all ranks are equal.
    bounds: Vec<u64>,
    /// For each of `guide.len()` equal parts of 0..2^53, the first rank that can be meant (Chen and Asau 1974): a draw looks at one or
    /// two bounds.
    guide: Vec<u32>,
    count: u64,
}

/// The most ranks of a skewed draw; more are cut off, whose common share is small.
const RANKS_MAX: u64 = 1 << 20;

const FULL: u64 = 1 << 53;

impl Zipf {
    /// `count` ranks, at least 1. Negative or infinite skews are taken as 0. A skewed draw has at most 2^20 ranks.
    pub fn new(count: u64, skew: f64) -> Self {
        let count = count.max(1);
        if !(skew > 0.0 && skew.is_finite()) {
            return Self { bounds: Vec::new(), guide: Vec::new(), count };
        }
        let count = count.min(RANKS_MAX);
        let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-skew)).collect();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut bounds: Vec<u64> = Vec::with_capacity(weights.len());
        for weight in &weights {
            sum += weight;
            bounds.push(((sum / total).min(1.0) * FULL as f64) as u64);
        }
        if let Some(last) = bounds.last_mut() {
            *last = FULL;
        }
        let parts = bounds.len();
        let mut guide = Vec::with_capacity(parts);
        let mut rank = 0;
        for part in 0..parts as u64 {
            let from = (u128::from(part) * u128::from(FULL) / parts as u128) as u64;
            while bounds[rank] <= from && rank + 1 < parts {
                rank += 1;
            }
            guide.push(u32::try_from(rank).expect("there are at most 2^20 ranks"));
        }
        Self { bounds, guide, count }
    }

    /// The number of ranks.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The share of the most popular rank.
    pub fn largest_share(&self) -> f64 {
        self.bounds.first().map_or(1.0 / self.count as f64, |&bound| bound as f64 / FULL as f64)
    }

    /// A rank below the count, 0 the most popular.
    #[inline]
    pub fn draw(&self, rng: &mut Seeded) -> u64 {
        let random = rng.any();
        if self.bounds.is_empty() {
            // The high half of the product: uniform but for count / 2^64.
            return ((u128::from(random) * u128::from(self.count)) >> 64) as u64;
        }
        let random = random >> 11;
        let part = (u128::from(random) * self.guide.len() as u128 / u128::from(FULL)) as usize;
        let mut rank = self.guide[part] as usize;
        while self.bounds[rank] <= random {
            rank += 1;
        }
        rank as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(zipf: &Zipf, draws: usize) -> Vec<usize> {
        let mut rng = Seeded::new(1);
        let mut counts = vec![0; usize::try_from(zipf.count()).unwrap()];
        for _ in 0..draws {
            counts[usize::try_from(zipf.draw(&mut rng)).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn shares_follow_the_power_law_within_four_standard_deviations() {
        let check = |count: u64, skew: f64| {
            let zipf = Zipf::new(count, skew);
            let draws = 200_000;
            let total: f64 = (1..=count).map(|rank| (rank as f64).powf(-skew)).sum();
            for (rank, &seen) in counts(&zipf, draws).iter().enumerate() {
                let share = (rank as f64 + 1.0).powf(-skew) / total;
                let expected = share * draws as f64;
                let tolerance = 4.0 * (expected * (1.0 - share)).sqrt() + 1.0;
                assert!(
                    (seen as f64 - expected).abs() <= tolerance,
                    "skew {skew}, rank {rank}: {seen}, not {expected}"
                );
            }
        };
        check(10, 0.0);
        check(10, 1.0);
        check(100, 1.1);
        check(7, 3.0);
        check(1, 1.0);
    }

    #[test]
    fn strange_skews_and_counts_are_harmless() {
        let mut rng = Seeded::new(1);
        for skew in [-1.0, f64::NAN, f64::INFINITY, 400.0] {
            assert!(Zipf::new(5, skew).draw(&mut rng) < 5);
        }
        assert_eq!(Zipf::new(0, 0.0).count(), 1);
        assert_eq!(Zipf::new(u64::MAX, 1.0).count(), RANKS_MAX);
        assert!((Zipf::new(4, 0.0).largest_share() - 0.25).abs() < 1e-12);
    }
}
