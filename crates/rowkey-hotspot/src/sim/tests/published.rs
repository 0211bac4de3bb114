//! V1-V10: claims and measurements that others published.

use super::*;

fn time_first() -> Codec {
    codec("{time}#{hash}", "", "")
}

#[test]
fn v1_fifty_nodes_reduced_to_one() {
    // Sequential writes, closed loop: the capacity of one node, whatever the number of nodes and splits; to 1e-4, since in the second of
    // a hand-over two nodes serve.
    for nodes in [1, 2, 10, 50] {
        let settings = Settings {
            nodes,
            clients: Clients::Closed,
            split_pause_s: 0.0,
            move_pause_s: 0.0,
            ..Settings::preset("bigtable-ssd").unwrap()
        };
        let outcome = run(&time_first(), &writes(50.0 * C), &settings, Vec::new(), 200);
        close(outcome.totals.served_per_s, C, 1e-4);
        assert!(outcome.totals.splits > 5, "{}", outcome.totals.splits);
    }
}

#[test]
fn v2_of_ten_nodes_one_or_two_are_used() {
    let outcome =
        run(&time_first(), &writes(0.7 * C), &Settings::preset("bigtable-ssd").unwrap(), Vec::new(), 300);
    let used: Vec<u32> = outcome.ticks.iter().map(|tick| tick.nodes_used).collect();
    assert!(used.iter().all(|&nodes| nodes <= 2), "{used:?}");
    assert!(used.iter().filter(|&&nodes| nodes == 1).count() * 10 >= used.len() * 9, "{used:?}");
}

#[test]
fn v3_write_latency_falls_by_seventy_per_cent_if_the_hot_node_was_at_three_quarters() {
    // The claim does not say how busy the hot node was. At 0.75 the 99th percentile falls by 71 % (10 nodes) and 73 % (50), within 2
    // points; at 0.9 by 88 %.
    let p99 = |buckets: u32, nodes: u32, rho: f64| {
        let shares = vec![1; buckets as usize];
        exact(&still(nodes, Clients::Open), &shares, rho * C, 2).ticks[1].p99_ms
    };
    for (nodes, rho, fall) in [(10, 0.75, 0.71), (50, 0.75, 0.73), (10, 0.9, 0.88)] {
        let measured = 1.0 - p99(50, nodes, rho) / p99(1, nodes, rho);
        within(measured, fall - 0.02, fall + 0.02);
    }
    // Mean of M/M/1: at 0.72 on 10 nodes, 70 %.
    within(1.0 - (1.0 - 0.72) / (1.0 - 0.072), 0.695, 0.705);
}

/// The `PerfKit` table: 3 nodes of 2021, keys of Zipf's law, 200 tablets.
fn perfkit(rate: f64) -> Outcome {
    let codec = codec("{vehicle}", "", "[[queries]]\nname = \"get\"\nwhere = \"vehicle\"\nper_second = 1\n");
    let workload = WorkloadOptions {
        writes_per_s: rate,
        sources: BTreeMap::from([("vehicle".to_owned(), Source::Entity { count: 1_000_000, skew: 0.99 })]),
        ..WorkloadOptions::default()
    };
    let points = rowkey::splits::for_regions(&codec, 200).unwrap().points;
    let settings =
        Settings { nodes: 3, size: SizeRule::Never, load: None, ..Settings::preset("perfkit-2021").unwrap() };
    run(&codec, &workload, &settings, points, 400)
}

#[test]
fn v4_perfkit_runs_are_met_within_35_per_cent() {
    // Published intervals of several runs; the simulation may be 35 % outside of them.
    let near = |value: f64, low: f64, high: f64| within(value, low * 0.65, high * 1.35);
    let light = perfkit(6_550.0);
    near(light.late()[0].utilisation_mean, 0.25, 0.44);
    near(light.totals.late_p99_ms, 7.8, 12.6);
    let heavy = perfkit(25_000.0);
    near(heavy.late()[0].utilisation_mean, 0.88, 0.92);
    near(heavy.totals.late_p99_ms, 51.0, 64.0);
    near(heavy.totals.p50_ms, 4.2, 4.2);
    close(heavy.totals.late_served_per_s, 25_000.0, 0.01);
}

#[test]
fn v5_under_zipf_the_hottest_node_is_somewhat_above_the_mean() {
    // Published: 1.08 to 1.14. The simulated balancer stops at 5 % above the mean and sees all; 1.0 to 1.2 are accepted.
    let light = perfkit(6_550.0);
    within(light.totals.late_max_over_mean, 1.0, 1.2);
}

#[test]
fn v6_salting_a_small_hbase_gains_eighty_per_cent_and_more() {
    // Phoenix's page: +80 %. Two servers' worth at most on two servers: within 5 % of K / ceil(K / N), which must be at least 1.8.
    let settings = Settings {
        preset: "hbase",
        nodes: 2,
        capacity: Settings::preset("hbase").unwrap().capacity,
        ..still(2, Clients::Closed)
    };
    let before = run(&time_first(), &writes(1e5), &settings, Vec::new(), 30).totals.late_served_per_s;
    let points = pre_split(&salted(20), &writes(1.0), 1).unwrap().points;
    let after = run(&salted(20), &writes(1e5), &settings, points, 30).totals.late_served_per_s;
    assert!(after / before >= 1.8, "{after} / {before}");
    close(after / before, 2.0, 0.05);
}

#[test]
fn v7_shards_make_tiny_queries_slower_and_big_ones_faster() {
    // GeoMesa measured both with 4 shards: 0.096 s to 0.314 s, and 1.128 s to 0.390 s. Both directions come from the one cost model.
    // The sizes do not: a tiny query of theirs took 3.3 times as long, mostly for reasons that are not seeks.
    let p50 = |buckets: u32, rows: u32| {
        let query =
            format!("[[queries]]\nname = \"q\"\nwhere = \"time range\"\nrows = {rows}\nper_second = 1\n");
        let codec = codec("{salt}#{time}#{hash}", &format!("of = [\"hash\"]\nbuckets = {buckets}"), &query);
        let points = pre_split(&codec, &writes(1.0), 1).unwrap().points;
        let settings = Settings { samples: Some(50), ..still(4, Clients::Open) };
        run(&codec, &writes(0.0), &settings, points, 2).totals.p50_ms
    };
    assert!(p50(4, 1) > 1.2 * p50(1, 1), "{} {}", p50(4, 1), p50(1, 1));
    assert!(p50(4, 220_000) < 0.5 * p50(1, 220_000), "{} {}", p50(4, 220_000), p50(1, 220_000));
}

#[test]
fn v8_load_splitting_finds_no_cut_in_sequential_writes() {
    // CockroachDB measured one or two accidental splits an hour; at most 3 are accepted in ten minutes of simulation.
    let settings = Settings { size: SizeRule::Never, ..Settings::preset("cockroachdb").unwrap() };
    let outcome = run(&time_first(), &writes(8_000.0), &settings, Vec::new(), 600);
    assert!(outcome.totals.splits <= 3, "{}", outcome.totals.splits);
    within(outcome.totals.late_nodes_used, 1.0, 2.0);
}

#[test]
fn v8_load_splitting_under_zipf_splits_and_stays_below_what_one_key_allows() {
    // Many splits, and still no more than C / share of the first key, within 5 %: less than half of the cluster.
    let settings = Settings {
        size: SizeRule::Never,
        clients: Clients::Closed,
        split_pause_s: 0.0,
        move_pause_s: 0.0,
        ..Settings::preset("cockroachdb").unwrap()
    };
    let codec = codec("{vehicle}", "", "");
    let (count, skew) = (10_000, 1.2);
    let workload = WorkloadOptions {
        sources: BTreeMap::from([("vehicle".to_owned(), Source::Entity { count, skew })]),
        ..writes(200_000.0)
    };
    let points = rowkey::splits::for_regions(&codec, 10).unwrap().points;
    let outcome = run(&codec, &workload, &settings, points, 900);
    assert!(outcome.totals.splits >= 10, "{}", outcome.totals.splits);
    let limit = settings.capacity.writes_per_s / crate::workload::Zipf::new(count, skew).largest_share();
    let served = outcome.totals.late_served_per_s;
    within(served, 0.0, 1.05 * limit);
    within(served, 0.0, 0.5 * settings.capacity.writes_per_s * 10.0);
}

#[test]
fn v9_a_front_faster_than_splitting_grows_without_bound() {
    // TiKV issue 9785: up to 10 pieces of 96 MiB each 10 s are 100 MB/s. Above that, the last region grows by the difference; sizes within
    // 15 %. Below, it stays near its limit.
    let largest = |mb_per_s: f64, every_s: u32| {
        let mut settings = Settings::preset("tikv").unwrap();
        settings.capacity.writes_per_s = 1e6;
        settings.split_pause_s = 0.0;
        settings.move_pause_s = 0.0;
        if let SizeRule::Pieces { every_s: every, .. } = &mut settings.size {
            *every = every_s;
        }
        run(&time_first(), &writes(mb_per_s * 1e3), &settings, Vec::new(), 600).totals.largest_tablet_bytes
            / 1e6
    };
    within(largest(60.0, 10), 0.0, 1_000.0);
    close(largest(150.0, 10), (150.0 - 100.7) * 600.0, 0.15);
    close(largest(40.0, 40), (40.0 - 25.2) * 600.0, 0.15);
}

#[test]
fn v10_servers_of_2006_are_as_slow_as_the_paper_says() {
    // Per-server random writes at 1, 50, 250 and 500 servers, within the sampling error of the fullest server: 3 % of many draws.
    for (nodes, writes_per_s, reads_per_s) in PAPER_2006 {
        close(paper_2006(nodes as u32).0, writes_per_s, 1e-9);
        close(paper_2006(nodes as u32).1, reads_per_s, 1e-9);
        let nodes = nodes as u32;
        let settings = Settings { ..Settings::preset("bigtable-2006").unwrap() };
        let settings = Settings {
            nodes,
            efficiency: settings.efficiency,
            capacity: settings.capacity,
            ..still(nodes, Clients::Open)
        };
        let points = (1..nodes).map(|at| u16::try_from(at).unwrap().to_be_bytes().to_vec()).collect();
        let mut simulation = Simulation::new(settings, points).unwrap();
        simulation.begin_tick();
        for at in 0..nodes {
            simulation.book(&Piece::write(&u16::try_from(at).unwrap().to_be_bytes()));
        }
        let tick = simulation.end_tick(1e9);
        close(tick.served / f64::from(nodes), writes_per_s, 1e-6);
    }
    // Between the measured sizes, rates fall.
    assert!((1..500).all(|nodes| paper_2006(nodes).0 >= paper_2006(nodes + 1).0));
    close(paper_2006(5_000).0, 2_000.0, 1e-9);
}
