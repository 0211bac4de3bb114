//! What buckets cost range reads.
//!
//! A query of R rows over K buckets does K seeks and passes R rows:
//!
//! ```text
//! node time  = K * seek + R * row            seek / row = 12.94 for bigtable-ssd (a seek taken as a point read, derived)
//! dearer by  = (K * 12.94 + R) / (12.94 + R)
//! ```

use super::numbers::{rate, whole};
use crate::context::Capacity;

/// Node seconds of one range read of `rows` over `buckets`.
pub fn query_cost_s(buckets: u32, rows: f64, capacity: &Capacity) -> f64 {
    f64::from(buckets) * capacity.seek_s() + rate(rows) / capacity.scanned_rows_per_s
}

/// How much dearer a range read of `rows` becomes over `buckets` than over one: at least 1.
pub fn read_amplification(buckets: u32, rows: f64, capacity: &Capacity) -> f64 {
    query_cost_s(buckets.max(1), rows, capacity) / query_cost_s(1, rows, capacity)
}

/// The most buckets for which a range read of `rows` becomes at most `amplification_max` times dearer: `floor(A + (A - 1) * R / 12.94)`,
/// at least 1.
pub fn bucket_cap(amplification_max: f64, rows: f64, capacity: &Capacity) -> u32 {
    let most = amplification_max.max(1.0);
    // Rounding must not take a bucket away where the bound is a whole number.
    whole(most + (most - 1.0) * rate(rows) / capacity.rows_per_seek() + 1e-9).max(1)
}

/// The number of buckets, not rounded, that keeps the hottest node least busy while there are fewer buckets than nodes, F7:
/// `sqrt(N * W / (C * Q * seek))`.
///
/// It is where the derivative of `W / (C * K) + Q * K * seek / N` is 0: a bucket's writes on one node, and the extra seeks spread
/// over all. Infinite without range reads.
pub fn optimum(nodes: u32, writes_per_s: f64, range_reads_per_s: f64, capacity: &Capacity) -> f64 {
    let seeks = rate(range_reads_per_s) * capacity.seek_s();
    if seeks == 0.0 {
        return f64::INFINITY;
    }
    (f64::from(nodes.max(1)) * rate(writes_per_s) / (capacity.writes_per_s * seeks)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seek_costs_as_much_as_12_94_rows() {
        let ratio = Capacity::default().rows_per_seek();
        assert!((ratio - 12.94).abs() < 0.005, "{ratio}");
    }

    #[test]
    fn the_table_of_read_costs_is_reproduced() {
        // Section 4.2 of the research; K = 4, 8, 16, 32, 64, 128. Tolerance: half of the last digit shown.
        let table: [(f64, [(f64, f64); 6]); 5] = [
            (1.0, [(3.8, 0.05), (7.5, 0.05), (15.0, 0.5), (30.0, 0.5), (59.0, 0.5), (119.0, 0.5)]),
            (10.0, [(2.7, 0.05), (5.0, 0.052), (9.5, 0.05), (18.0, 0.5), (37.0, 0.5), (73.0, 0.5)]),
            (100.0, [(1.3, 0.05), (1.8, 0.05), (2.7, 0.05), (4.6, 0.05), (8.2, 0.05), (16.0, 0.5)]),
            (
                1_000.0,
                [(1.04, 0.005), (1.09, 0.005), (1.19, 0.005), (1.40, 0.005), (1.80, 0.006), (2.6, 0.05)],
            ),
            (
                10_000.0,
                [(1.0, 0.005), (1.01, 0.005), (1.02, 0.005), (1.04, 0.005), (1.08, 0.005), (1.16, 0.005)],
            ),
        ];
        for (rows, row) in table {
            for ((expected, tolerance), buckets) in row.into_iter().zip([4, 8, 16, 32, 64, 128]) {
                let measured = read_amplification(buckets, rows, &Capacity::default());
                assert!(
                    (measured - expected).abs() <= tolerance,
                    "R {rows}, K {buckets}: {measured}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn the_bucket_caps_of_the_rule_are_reproduced() {
        let ssd = Capacity::default();
        for (limit, caps) in [(1.5, [1, 5, 40, 387]), (2.0, [2, 9, 79, 774])] {
            for (cap, rows) in caps.into_iter().zip([10.0, 100.0, 1_000.0, 10_000.0]) {
                assert_eq!(bucket_cap(limit, rows, &ssd), cap, "A {limit}, R {rows}");
            }
        }
    }

    #[test]
    fn the_cap_is_the_last_count_within_the_limit() {
        let ssd = Capacity::default();
        for rows in [0.0, 1.0, 7.0, 100.0, 3_000.0] {
            for limit in [1.0, 1.2, 1.5, 2.0, 5.0] {
                let cap = bucket_cap(limit, rows, &ssd);
                assert!(read_amplification(cap, rows, &ssd) <= limit + 1e-6);
                assert!(read_amplification(cap + 1, rows, &ssd) > limit);
            }
        }
    }

    #[test]
    fn the_optimum_is_the_least_of_its_function() {
        let ssd = Capacity::default();
        let busy =
            |buckets: f64| 50_000.0 / (ssd.writes_per_s * buckets) + 20_000.0 * buckets * ssd.seek_s() / 50.0;
        let best = optimum(50, 50_000.0, 20_000.0, &ssd);
        // sqrt(50 * 50,000 / (14,000 * 20,000 / 17,000)) = 12.3
        assert!((best - 12.32).abs() < 0.01, "{best}");
        assert!(busy(best) < busy(best * 1.01) && busy(best) < busy(best * 0.99));
    }

    #[test]
    fn without_range_reads_there_is_no_best_number_of_buckets() {
        assert!(optimum(10, 1e6, 0.0, &Capacity::default()).is_infinite());
    }

    #[test]
    fn odd_numbers_are_taken_as_none() {
        let ssd = Capacity::default();
        assert_eq!(bucket_cap(f64::NAN, f64::NAN, &ssd), 1);
        assert_eq!(bucket_cap(2.0, f64::INFINITY, &ssd), 2);
        assert!(read_amplification(0, -5.0, &ssd) >= 1.0);
    }
}
