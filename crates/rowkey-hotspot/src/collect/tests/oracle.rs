//! Spread against the definition computed naively, and against closed forms.

use proptest::prelude::*;
use rowkey_store::seeded::Seeded;

use super::super::{evenness, n_eff, n_eff_error, n_eff_plain, spread_of};

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, expected {expected} within {tolerance}");
}

/// Section 2.2 of the research report, word for word: sort all earlier keys, cut, count. Unbiased mean, plain minimum, mean largest share.
fn defined(keys: &[Vec<u8>], window: usize, ranges: usize) -> (f64, f64, f64) {
    let (mut sum, mut least, mut largest, mut windows) = (0.0, f64::INFINITY, 0.0, 0.0);
    for start in (window..keys.len()).step_by(window) {
        let these = &keys[start..keys.len().min(start + window)];
        if 2 * these.len() < window {
            continue;
        }
        let mut earlier = keys[..start].to_vec();
        earlier.sort();
        let mut bounds: Vec<&Vec<u8>> = (1..ranges).map(|cut| &earlier[cut * start / ranges]).collect();
        bounds.dedup();
        let mut counts = vec![0; bounds.len() + 1];
        for key in these {
            counts[bounds.iter().filter(|bound| **bound <= key).count()] += 1_u64;
        }
        windows += 1.0;
        sum += n_eff(&counts);
        least = n_eff_plain(&counts).min(least);
        let fullest = u32::try_from(*counts.iter().max().unwrap()).unwrap();
        largest += f64::from(fullest) / f64::from(u32::try_from(these.len()).unwrap());
    }
    (sum / windows, least, largest / windows)
}

fn uniform(keys: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut seeded = Seeded::new(seed);
    (0..keys).map(|_| format!("{:016x}", seeded.any()).into_bytes()).collect()
}

#[test]
fn the_estimators_have_their_known_values() {
    near(n_eff(&[]), 0.0, 0.0);
    near(n_eff(&[1]), 1.0, 0.0);
    near(n_eff(&[1_000, 0, 0]), 1.0, 0.0);
    near(n_eff(&[1, 1, 0, 0]), 4.0, 0.0);
    // 4 places of 250: 1000 * 999 / (4 * 250 * 249).
    near(n_eff(&[250; 4]), 4.012, 0.001);
    near(n_eff_plain(&[250; 4]), 4.0, 1e-12);
    near(n_eff_plain(&[0; 4]), 0.0, 0.0);
    near(evenness(&[250; 4]), 1.0, 1e-12);
    near(evenness(&[250, 0, 0, 0]), 0.0, 1e-12);
    near(evenness(&[2, 2, 0, 0]), 0.5, 1e-12);
    near(evenness(&[7]), 0.0, 0.0);
}

#[test]
fn even_traffic_reads_256_unbiased_and_204_plain() {
    let spread = spread_of(uniform(200_000, 1).iter().map(Vec::as_slice), 1_000, 256);
    // 199 windows of standard deviation 11 about 253: the ranges are learned from a sample, and are not quite equal.
    near(spread.n_eff, 254.0, 4.0);
    assert!(spread.n_eff_error < 1.5, "{}", spread.n_eff_error);
    let plain: f64 = spread.series.iter().map(|window| window.n_eff_min).sum::<f64>() / 199.0;
    near(plain, 1.0 / (1.0 / 256.0 + (1.0 - 1.0 / 256.0) / 1_000.0), 3.0);
    near(spread.evenness, 0.977, 0.005);
}

#[test]
fn the_error_of_one_window_is_the_scatter_of_many() {
    let mut seeded = Seeded::new(5);
    let (mut estimates, mut errors) = (Vec::new(), 0.0);
    for _ in 0..400 {
        // A quarter of the traffic in one of 64 places.
        let mut counts = [0; 64];
        for _ in 0..1_000 {
            counts[if seeded.chance(25) { 0 } else { seeded.below(64) }] += 1_u64;
        }
        estimates.push(n_eff(&counts));
        errors += n_eff_error(&counts) / 400.0;
    }
    let mean = estimates.iter().sum::<f64>() / 400.0;
    let scatter = (estimates.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
    near(errors / scatter, 1.0, 0.15);
}

#[test]
fn short_streams_have_an_answer() {
    let measured = |keys: &[Vec<u8>]| spread_of(keys.iter().map(Vec::as_slice), 1_000, 256);
    let sequence = |keys: u32| (0..keys).map(|n| format!("{n:06}").into_bytes()).collect::<Vec<_>>();
    for keys in [2, 3, 5, 20, 300, 999, 1_000, 1_001, 1_499, 1_500, 2_001] {
        let spread = measured(&sequence(keys));
        near(spread.n_eff, 1.0, 0.0);
        assert!(spread.windows > 0, "{keys} keys");
        near(spread.front.above, 1.0, 0.0);
        near(spread.front.ascending, 1.0, 0.0);
    }
    assert_eq!(measured(&sequence(1_499)).window_len, 187);
    assert_eq!(measured(&sequence(1_500)).window_len, 1_000);
    // Ranges learned from 125 to 875 keys are fewer than 256, and unequal: a short stream cannot tell 256 places from 100.
    near(measured(&uniform(1_000, 3)).n_eff, 160.0, 60.0);
    for keys in [&uniform(1, 1)[..], &[]] {
        let spread = measured(keys);
        assert_eq!(spread.windows, 0);
        near(spread.n_eff, 0.0, 0.0);
        near(spread.front.tau, 0.0, 0.0);
    }
}

#[test]
fn equal_keys_are_one_place() {
    for len in [1, 4_096] {
        let keys = vec![vec![b'k'; len]; 5_000];
        let spread = spread_of(keys.iter().map(Vec::as_slice), 1_000, 256);
        near(spread.n_eff, 1.0, 0.0);
        near(spread.largest_share_max, 1.0, 0.0);
        near(spread.front.above + spread.front.below, 0.0, 0.0);
        near(spread.front.ascending, 0.0, 0.0);
    }
}

#[test]
fn long_keys_are_measured_within_their_bytes() {
    // 4 MB hold 1,024 keys of 4 KiB: ranges are learned from 512 or more, four or two a range. Their inequality costs up to a third.
    let keys: Vec<Vec<u8>> =
        uniform(6_000, 9).into_iter().map(|key| [vec![b'x'; 4_080], key].concat()).collect();
    let spread = spread_of(keys.iter().map(Vec::as_slice), 1_000, 256);
    assert!((160.0..262.0).contains(&spread.n_eff), "{}", spread.n_eff);
}

#[test]
fn a_long_series_is_joined_and_keeps_its_sums() {
    let keys = uniform(1_600 * 10, 4);
    let spread = spread_of(keys.iter().map(Vec::as_slice), 10, 4);
    assert_eq!(spread.windows, 1_599);
    assert!((256..=512).contains(&spread.series.len()), "{}", spread.series.len());
    assert_eq!(spread.series.iter().map(|window| window.len).sum::<u64>(), 15_990);
    let least = spread.series.iter().map(|window| window.n_eff_min).fold(f64::INFINITY, f64::min);
    near(least, spread.n_eff_min, 0.0);
    let most = spread.series.iter().map(|window| window.largest_share).fold(0.0, f64::max);
    near(most, spread.largest_share_max, 0.0);
    let in_order = spread.series.windows(2).all(|pair| pair[0].first + pair[0].len == pair[1].first);
    assert!(in_order);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn while_all_keys_are_kept_it_equals_the_definition(
        keys in prop::collection::vec(prop::collection::vec(0_u8..4, 0..6), 20..400),
        window in 2_usize..40,
        ranges in 1_u32..20,
    ) {
        prop_assume!(2 * keys.len() >= 3 * window);
        let spread = spread_of(keys.iter().map(Vec::as_slice), window, ranges);
        let (mean, least, largest) = defined(&keys, window, ranges as usize);
        prop_assert!((spread.n_eff - mean).abs() < 1e-9, "{} {mean}", spread.n_eff);
        prop_assert!((spread.n_eff_min - least).abs() < 1e-9, "{} {least}", spread.n_eff_min);
        prop_assert!((spread.largest_share - largest).abs() < 1e-9, "{} {largest}", spread.largest_share);
    }

    #[test]
    fn the_front_equals_its_definition(
        keys in prop::collection::vec(prop::collection::vec(0_u8..9, 0..4), 60..200),
        window in 2_usize..20,
    ) {
        let spread = spread_of(keys.iter().map(Vec::as_slice), window, 4);
        let (mut above, mut below, mut windows) = (0.0, 0.0, 0.0);
        for start in (window..keys.len()).step_by(window) {
            let these = &keys[start..keys.len().min(start + window)];
            if 2 * these.len() >= window {
                let len = f64::from(u32::try_from(these.len()).unwrap());
                let (greatest, least) = (keys[..start].iter().max().unwrap(), keys[..start].iter().min().unwrap());
                above += these.iter().map(|key| f64::from(u8::from(key > greatest))).sum::<f64>() / len;
                below += these.iter().map(|key| f64::from(u8::from(key < least))).sum::<f64>() / len;
                windows += 1.0;
            }
        }
        prop_assert!((spread.front.above - above / windows).abs() < 1e-9);
        prop_assert!((spread.front.below - below / windows).abs() < 1e-9);
    }
}

#[test]
fn fronts_are_counted_from_sampled_ranges_too() {
    // 300,000 keys: the ranges are learned from every 16th, and lag by up to an eighth of one.
    for salts in [1, 16, 50] {
        let mut seeded = Seeded::new(12);
        let keys: Vec<String> = (0..300_000).map(|n| format!("{:02}#{n:012}", seeded.below(salts))).collect();
        let spread = spread_of(keys.iter().map(String::as_bytes), 1_000, 256);
        let salts = f64::from(u32::try_from(salts).unwrap());
        near(spread.n_eff, salts, 0.01 * salts);
    }
}
