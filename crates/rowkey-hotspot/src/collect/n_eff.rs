//! The effective number of places: one number for "how many tablets work at once".

use crate::sketch::float;

/// Effective number of places, unbiased: `W(W-1) / sum c(c-1)` for counts `c` that sum to `W`: one over the chance that two
/// operations of the window, drawn at random, hit the same place (inverse Simpson index; Simpson 1949).
///
/// 0 without operations, 1 for one. Where no two hit the same place the sample sets no limit: the number of places, `counts.len()`.
pub fn n_eff(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    if total < 2 {
        return float(total);
    }
    let together: f64 = counts.iter().map(|count| float(*count) * float(count.saturating_sub(1))).sum();
    let places = float(counts.len() as u64);
    if together == 0.0 {
        return places;
    }
    float(total) * float(total - 1) / together
}

/// The plain estimator `W^2 / sum c^2`: never above the number of places or of operations, so safe for a minimum; biased low. For even
/// traffic over `B` places it is `1 / (1/B + (1 - 1/B)/W)` in expectation: 204 for 256 places and 1,000 operations.
pub fn n_eff_plain(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return 0.0;
    }
    let squares: f64 = counts.iter().map(|count| float(*count) * float(*count)).sum();
    float(total) * float(total) / squares
}

/// Standard error of [`n_eff`] of one window, from that window alone: the variance of the share of equal pairs (Simpson 1949), by the delta method.
pub fn n_eff_error(counts: &[u64]) -> f64 {
    let total = float(counts.iter().sum());
    let estimate = n_eff(counts);
    if total < 2.0 {
        return estimate;
    }
    let moment = |power: i32| -> f64 { counts.iter().map(|count| (float(*count) / total).powi(power)).sum() };
    let (second, third) = (moment(2), moment(3));
    let variance = (2.0 * second * (1.0 - second) + 4.0 * (total - 2.0) * (third - second * second))
        / (total * (total - 1.0));
    estimate * estimate * variance.max(0.0).sqrt()
}

/// Entropy of the counts over the logarithm of their number: 0 (one place has all) to 1 (all have the same). 0 for one place or none.
pub fn evenness(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    if total == 0 || counts.len() < 2 {
        return 0.0;
    }
    let terms = counts.iter().filter(|count| **count > 0).map(|count| float(*count) * float(*count).ln());
    let entropy = float(total).ln() - terms.sum::<f64>() / float(total);
    (entropy / float(counts.len() as u64).ln()).clamp(0.0, 1.0)
}
