//! The tail of a query that waits for several answers.
//!
//! The slowest of K independent answers is below t with probability F(t)^K, so its quantile q is `F^-1(q^(1/K))` (F6; Dean and
//! Barroso, "The Tail at Scale", 2013). A node that all of them share makes it worse.

use super::numbers::rate;

/// Latency of one answer, as a lognormal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterLatency {
    /// Half of the answers take at most so many milliseconds.
    pub p50_ms: f64,
    /// 99 of 100 take at most so many.
    pub p99_ms: f64,
}

impl Default for ScatterLatency {
    /// 4 ms and 15 ms: a lightly loaded Bigtable cluster in `PerfKit` Benchmarker's published runs of 2021, rounded.
    fn default() -> Self {
        Self { p50_ms: 4.0, p99_ms: 15.0 }
    }
}

impl ScatterLatency {
    /// The quantile `q`, 0 to 1, of a query over `buckets`, in milliseconds.
    pub fn quantile_ms(&self, q: f64, buckets: u32) -> f64 {
        let median = rate(self.p50_ms).max(f64::MIN_POSITIVE);
        let sigma = (rate(self.p99_ms) / median).ln().max(0.0) / upper_normal(0.01);
        // 1 - q^(1/K), without losing the digits of a small difference.
        let upper = -(q.clamp(1e-12, 1.0 - 1e-12).ln() / f64::from(buckets.max(1))).exp_m1();
        median * (sigma * upper_normal(upper)).exp()
    }
}

/// The share of queries, 0 to 1, of which at least one of `buckets` answers is among the slowest `slow`: `1 - (1 - slow)^K`.
pub fn slow_share(slow: f64, buckets: u32) -> f64 {
    1.0 - (1.0 - slow.clamp(0.0, 1.0)).powf(f64::from(buckets))
}

/// `1 + 1/2 + ... + 1/K`: how many times longer the mean of the slowest of K is, where one answer's time is exponential.
pub fn harmonic(buckets: u32) -> f64 {
    (1..=buckets).map(|term| 1.0 / f64::from(term)).sum()
}

/// The x above which a standard normal variable is with probability `upper`, by bisection.
fn upper_normal(upper: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if normal_above(middle) > upper { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The probability that a standard normal variable is above `x`. Near 0 by the series of its integral, beyond by Laplace's continued
/// fraction (Abramowitz and Stegun, 26.2.10 and 26.2.14).
fn normal_above(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_above(-x);
    }
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 3.0 {
        let (mut term, mut sum) = (x, x);
        for step in 1..100 {
            term *= x * x / f64::from(2 * step + 1);
            sum += term;
        }
        return 0.5 - density * sum;
    }
    let mut fraction = x;
    for step in (1..=100).rev() {
        fraction = x + f64::from(step) / fraction;
    }
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKETS: [u32; 7] = [1, 4, 8, 16, 32, 64, 128];

    #[test]
    fn the_table_of_scatter_tails_is_reproduced() {
        // Section 4.2 of the research, p50 4 ms and p99 15 ms. Tolerance: half of the last digit shown.
        let one = ScatterLatency::default();
        let halves = [4.0, 7.1, 8.8, 10.6, 12.6, 14.8, 17.0];
        let tails = [15.0, 20.0, 22.0, 25.0, 28.0, 31.0, 34.0];
        for ((buckets, half), tail) in BUCKETS.into_iter().zip(halves).zip(tails) {
            let measured = one.quantile_ms(0.5, buckets);
            assert!((measured - half).abs() < 0.06, "p50 of {buckets}: {measured}, not {half}");
            let measured = one.quantile_ms(0.99, buckets);
            assert!((measured - tail).abs() < 0.6, "p99 of {buckets}: {measured}, not {tail}");
        }
    }

    #[test]
    fn slow_answers_and_harmonic_numbers_are_those_of_the_table() {
        let shares = [0.01, 0.04, 0.08, 0.15, 0.28, 0.47, 0.72];
        let means = [1.0, 2.1, 2.7, 3.4, 4.1, 4.7, 5.4];
        for ((buckets, share), mean) in BUCKETS.into_iter().zip(shares).zip(means) {
            assert!((slow_share(0.01, buckets) - share).abs() < 0.0051);
            assert!((harmonic(buckets) - mean).abs() < 0.051);
        }
    }

    #[test]
    fn normal_quantiles_are_the_known_ones() {
        for (upper, x) in
            [(0.5, 0.0), (0.01, 2.326_348), (0.025, 1.959_964), (1e-6, 4.753_424), (0.9, -1.281_552)]
        {
            assert!((upper_normal(upper) - x).abs() < 1e-5, "{upper}: {}", upper_normal(upper));
        }
    }

    #[test]
    fn more_buckets_are_never_faster_at_a_quantile() {
        let one = ScatterLatency { p50_ms: 2.0, p99_ms: 9.0 };
        let mut before = 0.0;
        for buckets in [0, 1, 2, 3, 100, 65_536, u32::MAX] {
            let now = one.quantile_ms(0.99, buckets);
            assert!(now.is_finite() && now >= before);
            before = now;
        }
    }
}
