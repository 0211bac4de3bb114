//! How much of a cluster `buckets` places that are written at once can use.
//!
//! ```text
//! even placement:    usable share = K / (N * ceil(K / N))                    >= K / (K + N - 1)
//! random placement:  P(max <= m)  = K! / N^K * [x^K] (sum_{j<=m} x^j / j!)^N
//!                    usable share = (K / N) / E[max]
//! ```
//!
//! K buckets carry equal load; a node's load is the number of buckets on it; the fullest node is full first, and then no more is
//! written (closed loop: batches wait for the slowest node).

use super::numbers::{float, rate, whole};
use crate::context::Capacity;

/// How buckets come to nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Every node has as many as every other, or one more: a balancer that looks at load, or tablets split in advance and balanced
    /// within the table.
    #[default]
    Even,
    /// Each bucket on a node at random: a balancer that counts tablets of all tables.
    Random,
}

/// Nodes that a stream of `writes_per_s` needs if it can use them all: `ceil(W / (target * C))`, at least 1. At most one node is
/// needed below [`Capacity::one_node_writes_per_s`], 9,800 writes a second for `bigtable-ssd`.
pub fn nodes_needed(writes_per_s: f64, capacity: &Capacity) -> u32 {
    whole((rate(writes_per_s) / capacity.one_node_writes_per_s()).ceil()).max(1)
}

/// Usable share of the cluster, 0 to 1, for `buckets` spread evenly over `nodes`: `K / (N * ceil(K / N))`, F2. A count of 0 is 1.
pub fn even_share(buckets: u32, nodes: u32) -> f64 {
    let (buckets, nodes) = (buckets.max(1), nodes.max(1));
    let fullest = buckets.div_ceil(nodes);
    f64::from(buckets) / (f64::from(nodes) * f64::from(fullest))
}

/// The least that [`even_share`] can be for so many buckets and nodes or nearly so many: `K / (K + N - 1)`, F3.
pub fn even_share_min(buckets: u32, nodes: u32) -> f64 {
    let (buckets, nodes) = (f64::from(buckets.max(1)), f64::from(nodes.max(1)));
    buckets / (buckets + nodes - 1.0)
}

/// Usable share of the cluster, 0 to 1, on average for `buckets` dropped at random on `nodes`: mean load over mean of the greatest.
pub fn random_share(buckets: u32, nodes: u32) -> f64 {
    1.0 / max_over_mean(buckets, nodes)
}

/// Usable share of the cluster, 0 to 1.
pub fn usable_share(buckets: u32, nodes: u32, placement: Placement) -> f64 {
    match placement {
        Placement::Even => even_share(buckets, nodes),
        Placement::Random => random_share(buckets, nodes),
    }
}

/// Writes per second that `buckets` on `nodes` carry at the target use of a node.
pub fn carried_per_s(buckets: u32, nodes: u32, placement: Placement, capacity: &Capacity) -> f64 {
    usable_share(buckets, nodes, placement) * f64::from(nodes.max(1)) * capacity.one_node_writes_per_s()
}

/// The share of nodes without any bucket under random placement: `(1 - 1/N)^K`, F5.
pub fn idle_share(buckets: u32, nodes: u32) -> f64 {
    (1.0 - 1.0 / f64::from(nodes.max(1))).powf(f64::from(buckets))
}

/// The expected load of the fullest node over the mean load, for `buckets` dropped at random on `nodes`: at least 1.
///
/// From [`random_max_at_most`]: `E[max] = sum_m P(max > m)`.
pub fn max_over_mean(buckets: u32, nodes: u32) -> f64 {
    let (buckets, nodes) = (buckets.max(1), nodes.max(1));
    if nodes == 1 {
        return 1.0;
    }
    let least = buckets.div_ceil(nodes);
    // Where a node has thousands of buckets, the probability changes little from one count to the next.
    let stride = whole((f64::from(buckets) / f64::from(nodes)).sqrt() / 16.0).max(1);
    let (mut expected, mut before, mut most) = (f64::from(least), 1.0, least);
    while most < buckets {
        let above = 1.0 - random_max_at_most(buckets, nodes, most);
        // The trapezoid over a stride; exactly the sum where the stride is 1.
        let first = if stride == 1 { above } else { f64::midpoint(before, above) };
        expected += first * f64::from(stride);
        if above < 1e-9 {
            break;
        }
        before = above;
        most = most.saturating_add(stride);
    }
    (expected * f64::from(nodes) / f64::from(buckets)).max(1.0)
}

/// Above so many terms (buckets squared), the exact sum is left for its saddlepoint, which is then within 0.5 %.
const EXACT_TERMS_MAX: u64 = 512 * 512;

/// The probability that no node has more than `most` of `buckets` dropped at random on `nodes`, F4.
///
/// Exact up to rounding for at most 512 buckets; beyond, by the saddlepoint of the same coefficient.
pub fn random_max_at_most(buckets: u32, nodes: u32, most: u32) -> f64 {
    let (buckets, nodes) = (buckets.max(1), nodes.max(1));
    if most >= buckets {
        return 1.0;
    }
    if u64::from(most) * u64::from(nodes) < u64::from(buckets) {
        return 0.0;
    }
    let exact = u64::from(buckets) * u64::from(buckets) <= EXACT_TERMS_MAX;
    let probability =
        if exact { exact_at_most(buckets, nodes, most) } else { saddle_at_most(buckets, nodes, most) };
    probability.clamp(0.0, 1.0)
}

/// `P = [x^K] g(x)^N / [x^K] e^(N x)`, where `g` is the exponential series cut after `most`; both with `x` scaled by `K / N`, so
/// that all terms are probabilities of Poisson variables and none overflows.
fn exact_at_most(buckets: u32, nodes: u32, most: u32) -> f64 {
    let terms = buckets as usize + 1;
    let mean = f64::from(buckets) / f64::from(nodes);
    let one: Vec<f64> = (0..=most.min(buckets)).map(|count| poisson(count, mean)).collect();
    let all = power(&one, nodes, terms);
    all.get(buckets as usize).copied().unwrap_or(0.0) / poisson(buckets, f64::from(buckets))
}

/// The polynomial to the power `exponent`, by squaring, cut to `terms` coefficients.
fn power(base: &[f64], mut exponent: u32, terms: usize) -> Vec<f64> {
    let mut result = vec![1.0];
    let mut square = base.to_vec();
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = product(&result, &square, terms);
        }
        exponent /= 2;
        if exponent > 0 {
            square = product(&square, &square, terms);
        }
    }
    result
}

/// The product of two polynomials, cut to `terms` coefficients.
fn product(left: &[f64], right: &[f64], terms: usize) -> Vec<f64> {
    let len = (left.len() + right.len() - 1).min(terms);
    let mut result = vec![0.0; len];
    for (shift, factor) in left.iter().enumerate().take(len) {
        for (sum, term) in result[shift..].iter_mut().zip(right) {
            *sum += factor * term;
        }
    }
    result
}

/// The same probability by the saddlepoint of `[x^K] g(x)^N`: with `r` such that a node's truncated Poisson of mean parameter `r`
/// has mean `K / N` and variance `v`, `[x^K] g^N ~ g(r)^N r^-K / sqrt(2 pi N v)`. The denominator `N^K / K!` is taken by the same
/// formula, so that the two errors nearly cancel.
fn saddle_at_most(buckets: u32, nodes: u32, most: u32) -> f64 {
    let mean = f64::from(buckets) / f64::from(nodes);
    if f64::from(most) <= mean {
        // The only way is that every node has exactly `most`; that is below 1e-9 for as many buckets as come here.
        return 0.0;
    }
    let (mut low, mut high) = (mean, mean);
    while truncated(high, most).mean < mean && high < mean * 1e9 {
        high *= 2.0;
    }
    for _ in 0..48 {
        let middle = f64::midpoint(low, high);
        if truncated(middle, most).mean < mean { low = middle } else { high = middle }
    }
    let root = f64::midpoint(low, high);
    let node = truncated(root, most);
    let nodes = f64::from(nodes);
    // ln of g(r)^N r^-K over e^(N mean) mean^-K, and the two variances; the untruncated Poisson has variance `mean`.
    let exponent = nodes * (node.log_sum - mean) - f64::from(buckets) * (root / mean).ln();
    exponent.exp() * (mean / node.variance).sqrt()
}

/// A Poisson variable, given that it is at most some count.
struct Truncated {
    /// The natural logarithm of `sum_{j<=m} r^j / j!`.
    log_sum: f64,
    mean: f64,
    variance: f64,
}

fn truncated(parameter: f64, most: u32) -> Truncated {
    // Weights relative to that of the mode, so that neither end overflows; 40 standard deviations away they are below 1e-300.
    let mode = whole(parameter).min(most);
    let reach = whole(40.0 * (f64::from(mode) + 1.0).sqrt());
    let (mut sum, mut first, mut second) = (1.0, f64::from(mode), f64::from(mode).powi(2));
    let mut add = |count: u32, weight: f64| {
        sum += weight;
        first += weight * f64::from(count);
        second += weight * f64::from(count) * f64::from(count);
    };
    let mut weight = 1.0;
    for count in (mode.saturating_sub(reach)..mode).rev() {
        weight *= (f64::from(count) + 1.0) / parameter;
        add(count, weight);
    }
    weight = 1.0;
    for count in mode + 1..=most.min(mode.saturating_add(reach)) {
        weight *= parameter / f64::from(count);
        add(count, weight);
    }
    let log_sum = sum.ln() + f64::from(mode) * parameter.ln() - log_factorial(mode);
    let mean = first / sum;
    Truncated { log_sum, mean, variance: (second / sum - mean * mean).max(1e-12) }
}

/// The probability of `count` for a Poisson variable of this mean.
fn poisson(count: u32, mean: f64) -> f64 {
    (f64::from(count) * mean.ln() - mean - log_factorial(count)).exp()
}

/// `ln(count!)`: summed up to 255, beyond by Stirling's series, whose error is then below 1e-15.
fn log_factorial(count: u32) -> f64 {
    if count < 256 {
        return (2..=count).map(|factor| f64::from(factor).ln()).sum();
    }
    let x = float(u64::from(count));
    x * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI * x).ln() + 1.0 / (12.0 * x)
        - 1.0 / (360.0 * x.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(measured: f64, expected: f64, tolerance: f64) {
        assert!((measured - expected).abs() <= tolerance, "{measured} is not {expected} +- {tolerance}");
    }

    #[test]
    fn one_node_takes_9800_writes_of_bigtable_ssd() {
        let ssd = Capacity::default();
        for (writes, nodes) in
            [(0.0, 1), (1.0, 1), (9_800.0, 1), (9_801.0, 2), (98_000.0, 10), (98_001.0, 11)]
        {
            assert_eq!(nodes_needed(writes, &ssd), nodes, "{writes} writes a second");
        }
    }

    #[test]
    fn impossible_rates_need_one_node_and_infinite_ones_do_not_overflow() {
        let ssd = Capacity::default();
        for writes in [f64::NAN, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(nodes_needed(writes, &ssd), 1);
        }
        assert_eq!(nodes_needed(f64::MAX, &ssd), u32::MAX);
    }

    #[test]
    fn the_table_of_random_placement_is_reproduced() {
        // Section 4.1 of the research: nodes, then max over mean for K = N, 2N, 4N, 8N. For 1,000 nodes and 2N it
        // has 3.9 by Monte Carlo; 300 draws of ours give 3.96, as the formula.
        let table = [
            (10, [2.75, 2.20, 1.83, 1.58], 0.005),
            (50, [3.81, 2.89, 2.28, 1.88], 0.01),
            (100, [4.23, 3.15, 2.45, 1.98], 0.01),
            (1_000, [5.5, 3.96, 3.0, 2.3], 0.06),
        ];
        for (nodes, row, tolerance) in table {
            for (expected, times) in row.into_iter().zip([1, 2, 4, 8]) {
                let measured = max_over_mean(nodes * times, nodes);
                near(measured, expected, tolerance);
                near(random_share(nodes * times, nodes), 1.0 / expected, 0.01);
            }
        }
    }

    #[test]
    fn ten_nodes_need_about_640_random_buckets_for_83_percent() {
        near(random_share(640, 10), 0.833, 0.01);
        assert!(random_share(320, 10) < 0.80);
    }

    #[test]
    fn the_exact_probability_equals_counting_all_placements() {
        for (buckets, nodes) in [(1_u32, 2_u32), (3, 2), (4, 3), (5, 4), (6, 3), (7, 2)] {
            let placements = nodes.pow(buckets);
            for most in 0..=buckets {
                let good =
                    (0..placements).filter(|placement| fullest(*placement, buckets, nodes) <= most).count();
                let expected = float(good as u64) / f64::from(placements);
                near(random_max_at_most(buckets, nodes, most), expected, 1e-12);
            }
        }
    }

    /// The greatest count of one node, where `placement` has a digit to base `nodes` for each bucket.
    fn fullest(mut placement: u32, buckets: u32, nodes: u32) -> u32 {
        let mut counts = vec![0; nodes as usize];
        for _ in 0..buckets {
            counts[(placement % nodes) as usize] += 1;
            placement /= nodes;
        }
        counts.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn saddlepoint_and_exact_sum_agree_where_both_are_feasible() {
        for (buckets, nodes) in [(500, 500), (500, 100), (512, 64), (400, 10)] {
            let least = u32::div_ceil(buckets, nodes) + 1;
            for most in least..least + 30 {
                let exact = exact_at_most(buckets, nodes, most);
                near(saddle_at_most(buckets, nodes, most), exact, 0.005);
            }
        }
    }

    #[test]
    fn even_placement_uses_everything_when_the_nodes_divide_the_buckets() {
        for nodes in 1..60 {
            near(even_share(nodes, nodes), 1.0, 0.0);
            near(even_share(nodes * 3, nodes), 1.0, 0.0);
        }
        near(even_share(16, 10), 0.8, 1e-12);
        near(even_share(1, 50), 0.02, 1e-12);
    }

    #[test]
    fn the_lower_bound_of_even_placement_holds_and_gives_its_published_multiples() {
        for nodes in 1..80_u32 {
            for buckets in 1..400_u32 {
                assert!(even_share(buckets, nodes) >= even_share_min(buckets, nodes) - 1e-12);
            }
        }
        for (times, share) in [(1, 0.5), (3, 0.75), (9, 0.9)] {
            for nodes in 2..100 {
                assert!(even_share_min(times * (nodes - 1), nodes) >= share - 1e-12);
            }
        }
    }

    #[test]
    fn random_placement_is_never_better_than_even_placement() {
        for nodes in [1, 2, 3, 7, 20] {
            for buckets in [1, 2, 3, 8, 30, 64] {
                assert!(
                    random_share(buckets, nodes) <= even_share(buckets, nodes) + 1e-9,
                    "{buckets} on {nodes}"
                );
            }
        }
    }

    #[test]
    fn idle_nodes_follow_the_closed_form() {
        near(idle_share(50, 50), 0.364, 0.001);
        near(idle_share(0, 50), 1.0, 0.0);
        near(idle_share(7, 1), 0.0, 0.0);
    }

    #[test]
    fn large_counts_stay_finite() {
        for (buckets, nodes) in [(65_536, 1_000), (65_536, 2), (65_536, 60_000), (1, u32::MAX), (0, 0)] {
            let share = random_share(buckets, nodes);
            assert!(share > 0.0 && share <= 1.0, "{buckets} on {nodes}: {share}");
        }
    }

    #[test]
    fn what_is_carried_is_the_share_of_the_target() {
        near(carried_per_s(16, 10, Placement::Even, &Capacity::default()), 78_400.0, 1e-6);
        near(carried_per_s(1, 10, Placement::Random, &Capacity::default()), 9_800.0, 1e-6);
    }
}
