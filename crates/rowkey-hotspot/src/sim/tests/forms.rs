//! F1-F10: closed forms.

use super::*;
use crate::advice;

#[test]
fn f1_open_loop_serves_the_sum_of_minima_and_closed_loop_what_the_largest_share_allows() {
    // Shares 0.5, 0.3, 0.2 on three nodes; exact, so to 1e-6: loads have seven digits.
    let shares = [5, 3, 2];
    let check = |clients, rate: f64, expected: f64| {
        let outcome = exact(&Settings { timeout_s: 1e6, ..still(3, clients) }, &shares, rate, 5);
        for tick in &outcome.ticks {
            close(tick.served, expected, 1e-6);
        }
    };
    check(Clients::Open, 20_000.0, 20_000.0);
    check(Clients::Open, 40_000.0, C + 12_000.0 + 8_000.0);
    check(Clients::Open, 100_000.0, 3.0 * C);
    check(Clients::Closed, 20_000.0, 20_000.0);
    check(Clients::Closed, 100_000.0, C / 0.5);
}

#[test]
fn f2_salts_placed_evenly_carry_what_the_fullest_node_allows() {
    // X = C * K / ceil(K / N); exact, so to 1e-6.
    for (k, n) in [(1u32, 10u32), (4, 10), (10, 10), (16, 10), (20, 10), (50, 50), (7, 3), (3, 7)] {
        let outcome = exact(&still(n, Clients::Closed), &vec![1; k as usize], 1e9, 2);
        let expected = C * f64::from(k) / f64::from(k.div_ceil(n));
        close(outcome.totals.served_per_s, expected, 1e-6);
        let advised = advice::carried_per_s(k, n, advice::Placement::Even, &still(n, Clients::Open).capacity);
        close(advised, 0.7 * expected, 1e-6);
    }
}

#[test]
fn f2_holds_through_the_codec_within_the_sampling_error() {
    // 16 buckets on 10 nodes: 2 tablets on the fullest. The busiest of 16 sampled buckets reads up to 3 standard errors high: 3 %.
    let outcome = run(&salted(16), &writes(1e6), &still(10, Clients::Closed), splits_of(&salted(16)), 60);
    close(outcome.totals.late_served_per_s, C * 8.0, 0.03);
}

fn splits_of(codec: &Codec) -> Vec<Vec<u8>> {
    pre_split(codec, &WorkloadOptions::default(), 10).unwrap().points
}

#[test]
fn f3_even_placement_uses_at_least_k_of_k_plus_n_minus_1() {
    for k in 1..40u32 {
        for n in [2u32, 5, 10] {
            let outcome = exact(&still(n, Clients::Closed), &vec![1; k as usize], 1e9, 1);
            let used = outcome.totals.served_per_s / (C * f64::from(n));
            assert!(used >= f64::from(k) / f64::from(k + n - 1) - 1e-9, "{k} on {n}: {used}");
        }
    }
}

#[test]
fn f4_random_placement_loses_what_theory_says() {
    // The mean of max / mean over 300 placements has a standard error below 1.5 %; 4 % are allowed.
    for (k, n) in [(10u32, 10u32), (20, 10), (80, 10), (50, 50)] {
        let seeds = 300;
        let sum: f64 = (0..seeds)
            .map(|seed| {
                let settings = Settings { seed, balancer: Balancer::Random, ..still(n, Clients::Closed) };
                let outcome = exact(&settings, &vec![1; k as usize], 1e9, 1);
                C * f64::from(n) / outcome.totals.served_per_s
            })
            .sum();
        close(sum / f64::from(u32::try_from(seeds).unwrap()), advice::max_over_mean(k, n), 0.04);
    }
}

#[test]
fn f5_random_placement_leaves_as_many_nodes_idle_as_theory_says() {
    // 200 placements of 20 on 10 nodes: within 0.02.
    let seeds = 200;
    let idle: f64 = (0..seeds)
        .map(|seed| {
            let settings = Settings { seed, balancer: Balancer::Random, ..still(10, Clients::Open) };
            let outcome = exact(&settings, &[1; 20], 1e5, 1);
            1.0 - f64::from(outcome.ticks[0].nodes_used) / 10.0
        })
        .sum();
    let expected = (1.0f64 - 0.1).powi(20);
    within(idle / f64::from(u32::try_from(seeds).unwrap()), expected - 0.02, expected + 0.02);
    close(advice::idle_share(20, 10), expected, 1e-9);
}

#[test]
fn f6_a_scatter_is_as_slow_as_its_slowest_part() {
    // Parts are exponential (M/M/1); quantiles within 5 %, the width of a bin.
    for k in [1u32, 4, 16] {
        let settings = Settings { latency: Latency::Mm1, ..still(k, Clients::Open) };
        let points = (1..k).map(|at| vec![u8::try_from(at).unwrap()]).collect();
        let mut simulation = Simulation::new(settings.clone(), points).unwrap();
        let rate = 0.5 * settings.capacity.reads_per_s;
        simulation.begin_tick();
        for _ in 0..10 {
            for at in 0..k {
                let key = [u8::try_from(at).unwrap()];
                let end = [key[0], 1];
                let share = 1.0 / f64::from(k);
                simulation.book(&Piece {
                    kind: OpKind::Scan,
                    key: &key,
                    end: Some(&end),
                    rows: 0.0,
                    share,
                    is_limited: true,
                });
            }
        }
        let tick = simulation.end_tick(rate);
        // Every node gets a part of every scan, and shares of operations: K parts a node second would be 1 / K operations.
        let drain = settings.capacity.reads_per_s / f64::from(k) * (1.0 - 0.5);
        for (q, value) in [(0.5f64, tick.p50_ms), (0.99, tick.p99_ms)] {
            let part = q.powf(1.0 / f64::from(k));
            close(value, -(1.0 - part).ln() / drain * 1e3, 0.05);
        }
        let mean: f64 = (1..=k).map(|i| 1.0 / f64::from(i)).sum();
        close(advice::harmonic(k), mean, 1e-9);
    }
}

#[test]
fn f7_the_best_number_of_buckets_is_where_writes_and_seeks_cost_the_same() {
    // Busiest node's writes plus the seeks' mean share, both measured: least at K* = sqrt(N W / (C_w Q c_seek)), within one.
    let (n, w, q) = (40u32, 12_000.0, 800.0);
    let settings = still(n, Clients::Open);
    let query = "[[queries]]\nname = \"q\"\nwhere = \"time range\"\nlimit = 1\nper_second = 800\n";
    let cost = |k: u32| {
        let with = |queries: &str| {
            codec("{salt}#{time}#{hash}", &format!("of = [\"hash\"]\nbuckets = {k}"), queries)
        };
        let points = splits_of(&with(""));
        let only_writes = exact(&settings, &vec![1; k as usize], w, 1);
        let only_reads =
            run(&with(query), &writes(0.0), &Settings { samples: Some(20), ..settings.clone() }, points, 1);
        only_writes.ticks[0].utilisation_max + only_reads.ticks[0].utilisation_mean
    };
    let best = (2..=40u32).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap();
    let expected =
        (f64::from(n) * w / (settings.capacity.writes_per_s * q * settings.capacity.seek_s())).sqrt();
    within(f64::from(best), expected - 1.0, expected + 1.0);
    close(advice::optimum(n, w, q, &settings.capacity), expected, 1e-9);
}

#[test]
fn f8_a_hashed_load_on_one_tablet_ramps_by_doubling() {
    // X(t) = C min(N, 2^floor(t / d)) with d = 60 s; halves are cut by 32 requests, so 30 % are allowed, and a minute for moves.
    let settings = Settings {
        load: Some(LoadRule {
            watched: Watched::Work,
            threshold: 0.5,
            sustained_s: 60,
            pause_s: 60,
            cut: Cut::Middle,
        }),
        balance_every_s: 1,
        moves_share: 1.0,
        ..still(16, Clients::Open)
    };
    let outcome = run(&codec("{hash}", "", ""), &writes(16.0 * C), &settings, Vec::new(), 480);
    for (step, at) in [(0u32, 30usize), (1, 90), (2, 150), (3, 210)] {
        let served = outcome.ticks[at].served;
        within(served, C * f64::from(1 << step) * 0.7, C * f64::from(1 << step) * 1.05);
    }
    within(outcome.totals.late_served_per_s, 16.0 * C * 0.85, 16.0 * C);
}

#[test]
fn f9_the_quantile_of_a_simple_queue() {
    // -ln(1 - p) / (mu - lambda), to 1e-9.
    for (p, rho) in [(0.5, 0.2), (0.99, 0.9)] {
        let expected = -f64::ln(1.0 - p) / (C - rho * C) * 1e3;
        close(Latency::Mm1.quantile_ms(p, rho, C), expected, 1e-9);
    }
}

#[test]
fn f10_uniform_keys_have_the_n_eff_of_the_oracle() {
    // Plain N_eff of 1,000 writes over 256 equal ranges: 1 / (1/B + (1 - 1/B) / W) = 204; the mean of 40 windows within 2 %.
    let codec = codec("{hash}", "", "");
    let mut generator = crate::workload::Generator::new(&codec, &writes(1.0)).unwrap();
    let mut sum = 0.0;
    for _ in 0..40 {
        let mut counts = [0u32; 256];
        for _ in 0..1_000 {
            let mut key = Vec::new();
            generator.next_write(0, &mut key).unwrap();
            counts[usize::from_str_radix(std::str::from_utf8(&key[..2]).unwrap(), 16).unwrap()] += 1;
        }
        sum += 1e6 / counts.iter().map(|&count| f64::from(count).powi(2)).sum::<f64>();
    }
    let expected = 1.0 / (1.0 / 256.0 + (1.0 - 1.0 / 256.0) / 1_000.0);
    close(expected, 204.0, 0.001);
    close(sum / 40.0, expected, 0.02);
}
