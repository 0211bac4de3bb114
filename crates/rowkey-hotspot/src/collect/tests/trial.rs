//! The trial of the research report, section 2.2: 60,000 keys, 5 ms apart, up to 50 ms of jitter, thirteen designs.

use rowkey_store::seeded::Seeded;
use xxhash_rust::xxh3::xxh3_64;

use super::super::spread_of;
use crate::facts::Spread;

/// 60,000 keys made from a time with jitter, a sequence number, and chance.
fn trial(mut key: impl FnMut(u64, u64, &mut Seeded) -> String) -> Spread {
    let mut seeded = Seeded::new(0x5eed);
    let keys: Vec<String> = (0..60_000_u64)
        .map(|n| {
            let time = 1_714_644_000_000 + 5 * n + seeded.below(101) as u64 - 50;
            key(time, n, &mut seeded)
        })
        .collect();
    spread_of(keys.iter().map(String::as_bytes), 1_000, 256)
}

/// A row of the table: bounds that N_eff, its minimum and 1/largest share (a mean over the windows) must keep; |tau| within 0.02, the
/// ascending share within 0.01.
#[derive(Debug)]
struct Expected {
    n_eff: (f64, f64),
    n_eff_min: (f64, f64),
    one_over_largest: (f64, f64),
    tau: f64,
    ascending: f64,
}

/// Compares the windows from the 10,000th key on: ranges learned from fewer keys are visibly unequal, and the table leaves them out
/// (with them, the unpadded sequence reads 2.9, for its second window spreads over all that begin with 1, and the minimum of
/// even traffic reads 173).
fn check(spread: &Spread, expected: &Expected) {
    let within = |value: f64, (low, high): (f64, f64)| (low..=high).contains(&value);
    let windows = || spread.series.iter().filter(|window| window.first >= 10_000);
    let n_eff = windows().map(|window| window.n_eff).sum::<f64>() / 50.0;
    let n_eff_min = windows().map(|window| window.n_eff_min).fold(f64::INFINITY, f64::min);
    let largest = windows().map(|window| 1.0 / window.largest_share).sum::<f64>() / 50.0;
    let front = spread.front;
    let shown = format!(
        "N_eff {n_eff} min {n_eff_min} 1/max {largest} tau {} ascending {}, {expected:?}",
        front.tau, front.ascending
    );
    assert_eq!(windows().count(), 50);
    assert!(within(n_eff, expected.n_eff), "N_eff: {shown}");
    assert!(within(n_eff_min, expected.n_eff_min), "minimum: {shown}");
    assert!(within(largest, expected.one_over_largest), "1/largest: {shown}");
    assert!((front.tau.abs() - expected.tau).abs() <= 0.02, "tau: {shown}");
    assert!((front.ascending - expected.ascending).abs() <= 0.01, "ascending: {shown}");
}

/// All in one place.
fn one_place(ascending: f64) -> Expected {
    let one = (1.0, 1.05);
    Expected { n_eff: one, n_eff_min: one, one_over_largest: one, tau: 1.0, ascending }
}

/// 256 ranges, all used alike: unbiased 256 less what sampling costs; the plain minimum of 59 windows is about 2.5 deviations below 204.
fn everywhere() -> Expected {
    Expected {
        n_eff: (248.0, 258.0),
        n_eff_min: (185.0, 200.0),
        one_over_largest: (85.0, 102.0),
        tau: 0.0,
        ascending: 0.5,
    }
}

/// So many fronts with equal traffic. The plain estimator reads `1 / (1/k + 1/W)` and scatters.
fn fronts(count: f64, largest: (f64, f64), tau: f64) -> Expected {
    let plain = 1.0 / (1.0 / count + 0.001);
    Expected {
        n_eff: (0.97 * count, 1.03 * count),
        n_eff_min: (0.93 * plain, plain),
        one_over_largest: largest,
        tau,
        // Neighbours in one front ascend as often as jittered times do.
        ascending: 0.5 + 0.05 / count,
    }
}

#[test]
fn a_time_in_front_is_one_place() {
    check(&trial(|time, _, _| format!("{time:013}#device")), &one_place(0.55));
    check(&trial(|time, _, _| format!("{:013}#device", 9_999_999_999_999 - time)), &one_place(0.45));
    // A version-7 UUID: 48 bits of time, then chance.
    check(&trial(|time, _, seeded| format!("{time:012x}7{:019x}", seeded.any())), &one_place(0.55));
}

#[test]
fn a_sequence_in_front_is_one_place_and_unpadded_it_is_nearly_one() {
    check(&trial(|_, n, _| format!("{n:010}")), &one_place(1.0));
    let unpadded = trial(|_, n, _| n.to_string());
    let expected = Expected {
        n_eff: (1.6, 1.8),
        n_eff_min: (1.0, 1.01),
        one_over_largest: (1.4, 1.6),
        tau: 0.6,
        ascending: 1.0,
    };
    check(&unpadded, &expected);
}

#[test]
fn chance_in_front_is_everywhere() {
    check(&trial(|_, _, seeded| format!("{:016x}{:016x}", seeded.any(), seeded.any())), &everywhere());
    check(&trial(|_, n, _| format!("{:016x}#{n}", xxh3_64(&n.to_le_bytes()))), &everywhere());
}

#[test]
fn a_date_before_a_hash_is_a_cliff_at_midnight() {
    // The trial's 300 s cross one midnight in the middle.
    let spread = trial(|_, n, seeded| format!("202405{:02}#{:016x}", 2 + n / 30_000, seeded.any()));
    let expected = Expected {
        n_eff: (138.0, 155.0),
        n_eff_min: (1.0, 1.01),
        one_over_largest: (52.0, 66.0),
        tau: 0.5,
        ascending: 0.5,
    };
    check(&spread, &expected);
}

#[test]
fn salts_before_a_time_are_counted() {
    let salted = |salts: usize| trial(move |time, _, seeded| format!("{:02}#{time}", seeded.below(salts)));
    check(&salted(4), &fronts(4.0, (3.6, 3.95), 0.25));
    check(&salted(16), &fronts(16.0, (12.0, 14.0), 0.06));
    check(&salted(50), &fronts(50.0, (30.0, 36.0), 0.02));
}

#[test]
fn devices_before_a_time_are_counted_by_their_traffic() {
    let five = trial(|time, _, seeded| format!("device-{}#{time}", seeded.below(5)));
    check(&five, &fronts(5.0, (4.4, 4.8), 0.2));
    // 10,000 devices, Zipf 1.1, drawn by inversion: the first has 15 % of the traffic.
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=10_000_u32 {
        sum += f64::from(rank).powf(-1.1);
        sums.push(sum);
    }
    let zipf = trial(|time, _, seeded| {
        let drawn = f64::from(u32::try_from(seeded.any() >> 32).unwrap()) / f64::from(u32::MAX) * sum;
        let rank = sums.partition_point(|sum| *sum < drawn) as u64;
        format!("{:08x}#{time}", xxh3_64(&rank.to_le_bytes()) >> 32)
    });
    let expected = Expected {
        n_eff: (23.0, 33.0),
        n_eff_min: (18.0, 27.0),
        one_over_largest: (5.9, 7.5),
        tau: 0.03,
        ascending: 0.5,
    };
    check(&zipf, &expected);
}

#[test]
fn a_skewed_prefix_is_judged_by_what_follows_it() {
    let country = |seeded: &mut Seeded| {
        if seeded.chance(80) { "de" } else { ["at", "ch", "dk", "fr", "nl", "pl"][seeded.below(6)] }
    };
    check(&trial(|_, _, seeded| format!("{}#{:016x}", country(seeded), seeded.any())), &everywhere());
    let timed = trial(|time, _, seeded| format!("{}#{time}", country(seeded)));
    let expected = Expected {
        n_eff: (1.45, 1.6),
        n_eff_min: (1.38, 1.55),
        one_over_largest: (1.2, 1.3),
        tau: 0.65,
        ascending: 0.53,
    };
    check(&timed, &expected);
}
