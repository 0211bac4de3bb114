//! Kendall's rank correlation with the order of arrival, in O(n log n) (Knight 1966).

use super::float;

/// Kendall's correlation of ranks with their order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tau {
    /// -1 (each below all before it) to 1 (each above all before it); 0 where fewer than two differ.
    pub tau: f64,
    /// Values it was computed from. Independent values scatter by `sqrt(2 (2n+5) / (9n (n-1)))` around 0: 0.007 for 8,192.
    pub sample: u64,
}

/// tau-b of ranks against their positions: pairs in order less pairs out of order, over the geometric mean of all pairs and
/// the pairs that are not tied. Positions are never tied. Reorders `ranks`.
pub fn tau_b(ranks: &mut [u32]) -> Tau {
    let pairs = |count: u64| count * count.saturating_sub(1) / 2;
    let sample = ranks.len() as u64;
    let mut scratch = vec![0; ranks.len()];
    let inversions = sort_counting(ranks, &mut scratch);
    let tied: u64 = ranks.chunk_by(|left, right| left == right).map(|run| pairs(run.len() as u64)).sum();
    let all = pairs(sample);
    let untied = all - tied;
    if untied == 0 {
        return Tau { tau: 0.0, sample };
    }
    let tau = (float(untied) - 2.0 * float(inversions)) / (float(all) * float(untied)).sqrt();
    Tau { tau, sample }
}

/// Sorts by merging from the bottom up and counts pairs out of order; equal ones are in order.
fn sort_counting(values: &mut [u32], scratch: &mut [u32]) -> u64 {
    let mut inversions = 0;
    let mut width = 1;
    while width < values.len() {
        for start in (0..values.len()).step_by(2 * width) {
            let middle = (start + width).min(values.len());
            let end = (start + 2 * width).min(values.len());
            let (mut left, mut right) = (start, middle);
            for slot in &mut scratch[start..end] {
                if left < middle && (right == end || values[left] <= values[right]) {
                    *slot = values[left];
                    left += 1;
                } else {
                    *slot = values[right];
                    right += 1;
                    inversions += (middle - left) as u64;
                }
            }
        }
        values.copy_from_slice(scratch);
        width *= 2;
    }
    inversions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(ranks: &[u32], expected: f64) {
        let tau = tau_b(&mut ranks.to_vec()).tau;
        assert!((tau - expected).abs() < 1e-12, "{ranks:?}: {tau}, expected {expected}");
    }

    #[test]
    fn known_values() {
        check(&[], 0.0);
        check(&[7], 0.0);
        check(&[7, 7, 7], 0.0);
        check(&[1, 2, 3, 4], 1.0);
        check(&[4, 3, 2, 1], -1.0);
        // 5 of 6 pairs in order, 1 not.
        check(&[1, 2, 4, 3], 4.0 / 6.0);
        // One tied pair of 6, the other 5 in order: 5 / sqrt(6 * 5).
        check(&[1, 1, 2, 3], 5.0 / 30.0_f64.sqrt());
    }

    proptest! {
        #[test]
        fn it_equals_the_definition(ranks in prop::collection::vec(0_u32..12, 0..60)) {
            let (mut score, mut untied, mut all) = (0_i32, 0_i32, 0_i32);
            for (position, left) in ranks.iter().enumerate() {
                for right in &ranks[position + 1..] {
                    all += 1;
                    untied += i32::from(left != right);
                    score += i32::from(left < right) - i32::from(left > right);
                }
            }
            let expected = if untied == 0 { 0.0 } else { f64::from(score) / (f64::from(all) * f64::from(untied)).sqrt() };
            let tau = tau_b(&mut ranks.clone()).tau;
            prop_assert!((tau - expected).abs() < 1e-9);
        }
    }
}
