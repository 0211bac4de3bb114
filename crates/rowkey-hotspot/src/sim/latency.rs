//! How long an operation takes on a node of some utilisation.
//!
//! Service times of a node that takes 14,000 writes a second are far below a millisecond, so no queue explains the tails that people
//! measure. The form of the presets is therefore a fit: `p99 = base + b * rho / (1 - rho)`, with a median that does not move. Queues in
//! closed form (`M/M/1`, `M/M/c`) are there as references for tests.

/// Utilisations above are taken as this: the forms have no value at 1, and what waits longer is told by the backlog.
pub const RHO_MAX: f64 = 0.98;

/// How latency follows from utilisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latency {
    /// A lognormal with a flat median and `p99 = base + b * rho / (1 - rho)`.
    Fit {
        /// The median, milliseconds.
        p50_ms: f64,
        /// The 99th percentile of an idle node, milliseconds.
        base_ms: f64,
        /// What load adds, milliseconds.
        b_ms: f64,
    },
    /// A queue with one server: time in the system is exponential with rate `capacity - load`.
    Mm1,
    /// A queue with so many servers, each with that part of the node's capacity (Erlang C).
    Mmc {
        /// Servers, at least 1.
        servers: u32,
    },
}

impl Latency {
    /// The chance that an operation takes at most `t_ms`, on a node of utilisation `rho` that takes `capacity_per_s` operations.
    pub fn cdf(&self, t_ms: f64, rho: f64, capacity_per_s: f64) -> f64 {
        if t_ms <= 0.0 {
            return 0.0;
        }
        let rho = rho.clamp(0.0, RHO_MAX);
        match *self {
            Self::Fit { p50_ms, base_ms, b_ms } => {
                let p99 = base_ms + b_ms * rho / (1.0 - rho);
                let sigma = ((p99 / p50_ms).ln() / Z99).max(1e-6);
                normal_cdf((t_ms / p50_ms).ln() / sigma)
            }
            Self::Mm1 => 1.0 - (-capacity_per_s * (1.0 - rho) * t_ms / 1e3).exp(),
            Self::Mmc { servers } => mmc_cdf(t_ms / 1e3, rho, capacity_per_s, servers.max(1)),
        }
    }

    /// The quantile `p`, 0 to 1 without the ends, in milliseconds.
    pub fn quantile_ms(&self, p: f64, rho: f64, capacity_per_s: f64) -> f64 {
        let p = p.clamp(1e-9, 1.0 - 1e-9);
        let rho = rho.clamp(0.0, RHO_MAX);
        if let Self::Mm1 = self {
            return -(1.0 - p).ln() / (capacity_per_s * (1.0 - rho)) * 1e3;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.cdf(high, rho, capacity_per_s) < p && high < 1e12 {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.cdf(middle, rho, capacity_per_s) < p { low = middle } else { high = middle }
        }
        high
    }
}

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

/// The standard normal distribution, within 2e-7 (Abramowitz and Stegun, 7.1.26).
pub fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * poly * (-z * z).exp();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The chance that an arrival has to wait in a queue of `servers` servers, each of utilisation `rho` (Erlang's C formula).
pub fn erlang_c(servers: u32, rho: f64) -> f64 {
    let offered = rho * f64::from(servers);
    // Erlang B by its recursion, which cannot overflow.
    let blocked =
        (1..=servers).fold(1.0, |blocked, n| offered * blocked / (f64::from(n) + offered * blocked));
    blocked / (1.0 - rho * (1.0 - blocked))
}

/// Time in the system: a wait, exponential with what capacity is left, for those that wait, and a service.
fn mmc_cdf(t: f64, rho: f64, capacity: f64, servers: u32) -> f64 {
    let service = capacity / f64::from(servers);
    let drain = capacity * (1.0 - rho);
    let waits = erlang_c(servers, rho);
    let served_by = |rate: f64| (-rate * t).exp();
    let both = if (drain - service).abs() < 1e-9 * service {
        (1.0 + service * t) * served_by(service)
    } else {
        (drain * served_by(service) - service * served_by(drain)) / (drain - service)
    };
    1.0 - (1.0 - waits) * served_by(service) - waits * both
}

/// A histogram of latencies: bins 5 % wide from 0.01 ms to about 1,000 s.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    weights: Vec<f64>,
    total: f64,
}

const FIRST_MS: f64 = 0.01;
const RATIO: f64 = 1.05;
const BINS: usize = 380;

impl Histogram {
    pub(super) fn new() -> Self {
        Self { weights: vec![0.0; BINS], total: 0.0 }
    }

    /// The upper ends of the bins.
    pub(super) fn edges() -> Vec<f64> {
        (0..BINS).map(|bin| FIRST_MS * RATIO.powi(i32::try_from(bin).unwrap_or(i32::MAX))).collect()
    }

    /// A distribution, given by its values at the edges, at another place.
    pub(super) fn at(cdf: &[f64], edges: &[f64], t_ms: f64) -> f64 {
        let above = edges.partition_point(|&edge| edge < t_ms);
        match (above.checked_sub(1), cdf.get(above)) {
            (None, _) => 0.0,
            (Some(_), None) => 1.0,
            (Some(below), Some(&high)) => {
                let part = (t_ms - edges[below]) / (edges[above] - edges[below]);
                cdf[below] + (high - cdf[below]) * part
            }
        }
    }

    /// Adds a distribution, given its values at the edges, ascending.
    pub(super) fn add(&mut self, cdf: &[f64], weight: f64) {
        let mut before = 0.0;
        for (bin, &at_most) in self.weights.iter_mut().zip(cdf) {
            *bin += (at_most - before).max(0.0) * weight;
            before = at_most;
        }
        if let Some(last) = self.weights.last_mut() {
            *last += (1.0 - before).max(0.0) * weight;
        }
        self.total += weight;
    }

    pub(super) fn merge(&mut self, other: &Self, factor: f64) {
        for (bin, weight) in self.weights.iter_mut().zip(&other.weights) {
            *bin += weight * factor;
        }
        self.total += other.total * factor;
    }

    /// A quantile in milliseconds, within half a bin; 0 of nothing.
    pub(super) fn quantile_ms(&self, p: f64, edges: &[f64]) -> f64 {
        let wanted = p * self.total;
        let mut sum = 0.0;
        for (bin, &weight) in self.weights.iter().enumerate() {
            if sum + weight >= wanted && weight > 0.0 {
                let inside = ((wanted - sum) / weight).clamp(0.0, 1.0);
                let high = edges[bin];
                // Evenly between the edges on the scale of the bins.
                return high / RATIO.powf(1.0 - inside);
            }
            sum += weight;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected.abs().max(1e-12), "{value}, not {expected}");
    }

    #[test]
    fn the_fit_has_its_median_and_its_tail() {
        let fit = Latency::Fit { p50_ms: 4.4, base_ms: 7.0, b_ms: 6.3 };
        for (rho, p99) in [(0.0, 7.0), (0.5, 13.3), (0.9, 63.7)] {
            close(fit.quantile_ms(0.5, rho, 1.0), 4.4, 1e-4);
            close(fit.quantile_ms(0.99, rho, 1.0), p99, 1e-3);
        }
        // No value at or above 1 is not finite.
        assert!(fit.quantile_ms(0.99, 7.0, 1.0).is_finite());
    }

    #[test]
    fn one_server_of_many_is_the_simple_queue() {
        for rho in [0.1, 0.5, 0.9] {
            close(erlang_c(1, rho), rho, 1e-12);
            for t in [0.01, 0.1, 1.0] {
                close(
                    Latency::Mmc { servers: 1 }.cdf(t, rho, 1_000.0),
                    Latency::Mm1.cdf(t, rho, 1_000.0),
                    1e-9,
                );
            }
        }
    }

    #[test]
    fn erlang_c_gives_the_values_of_tables() {
        // Two servers, one erlang: 1/3. Ten servers, eight erlang: 0.4092 (any traffic table).
        close(erlang_c(2, 0.5), 1.0 / 3.0, 1e-12);
        close(erlang_c(10, 0.8), 0.4092, 1e-3);
    }

    #[test]
    fn the_normal_distribution_is_that_of_tables() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (Z99, 0.99)] {
            close(normal_cdf(x), p, 1e-5);
        }
    }

    #[test]
    fn a_histogram_gives_back_the_quantiles_that_went_in_within_three_per_cent() {
        let edges = Histogram::edges();
        let mut histogram = Histogram::new();
        let cdf: Vec<f64> = edges.iter().map(|&t| Latency::Mm1.cdf(t, 0.5, 100.0)).collect();
        histogram.add(&cdf, 3.0);
        for p in [0.5, 0.99] {
            close(histogram.quantile_ms(p, &edges), Latency::Mm1.quantile_ms(p, 0.5, 100.0), 0.03);
        }
        assert!(Histogram::new().quantile_ms(0.5, &edges).abs() < 1e-12);
    }
}
