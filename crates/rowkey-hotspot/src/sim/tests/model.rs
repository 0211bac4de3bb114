//! The model's own promises: V11, replays, limits, pauses, strange parameters.

use super::*;
use crate::operation::Operation;
use std::ops::ControlFlow;

#[test]
fn v11_nothing_is_lost_under_any_preset_and_seeds_repeat() {
    // Served + refused + backlog = offered to 1e-9 (checked in `run`), overloaded or not, and a seed gives the same outcome.
    let query = "[[queries]]\nname = \"q\"\nwhere = \"time range\"\nrows = 50\nper_second = 300\n";
    let codec = codec("{salt}#{time}#{hash}", "of = [\"hash\"]\nbuckets = 4", query);
    for name in Settings::PRESETS {
        for clients in [Clients::Open, Clients::Closed] {
            for balancer in [Balancer::Even, Balancer::Random, Balancer::Count] {
                let settings = Settings {
                    clients,
                    balancer,
                    balance_every_s: 7,
                    size: SizeRule::Fixed { bytes: 2e7 },
                    timeout_s: 2.0,
                    ..Settings::preset(name).unwrap()
                };
                let once = run(&codec, &writes(60_000.0), &settings, Vec::new(), 30);
                assert!(once.totals.splits > 0, "{name}");
                assert_eq!(once, run(&codec, &writes(60_000.0), &settings, Vec::new(), 30), "{name}");
            }
        }
    }
}

#[test]
fn overload_waits_and_then_is_refused() {
    // Twice what one node takes: the backlog grows by C a second up to the timeout, then C a second are refused.
    let outcome = exact(&Settings { timeout_s: 5.0, ..still(3, Clients::Open) }, &[1], 2.0 * C, 20);
    close(outcome.ticks[2].backlog, 3.0 * C, 1e-6);
    close(outcome.ticks[19].backlog, 5.0 * C, 1e-6);
    close(outcome.ticks[19].refused, C, 1e-6);
    // What was served had waited the whole backlog.
    within(outcome.ticks[19].p50_ms, 4_900.0, 5_300.0);
    assert_eq!(outcome.ticks[19].nodes_used, 1);
}

#[test]
fn a_moving_front_leaves_half_full_tablets_behind() {
    // D15: cut in the middle, so all tablets but the last hold about half of the limit, within 10 %.
    let settings = Settings { split_pause_s: 0.0, ..Settings::preset("bigtable-ssd").unwrap() };
    let codec = codec("{time}#{hash}", "", "");
    let outcome = run(&codec, &writes(10_000.0), &settings, Vec::new(), 200);
    // 2 GB in tablets of 100 MB, the last of up to 200.
    within(f64::from(outcome.totals.tablets), 17.0, 21.0);
    within(outcome.totals.largest_tablet_bytes, 95e6, 210e6);
    let bytes: f64 = outcome.nodes.iter().map(|node| node.bytes).sum();
    close(bytes, 10_000.0 * 200.0 * 1_000.0, 0.02);
}

#[test]
fn the_balancer_by_load_evens_what_the_one_by_count_does_not() {
    // Four hot tablets of twelve, which land on two of four nodes by count.
    let shares = [30, 1, 30, 1, 30, 1, 30, 1, 1, 1, 1, 1];
    let busiest = |balancer| {
        let settings =
            Settings { balancer, balance_every_s: 10, moves_share: 1.0, ..still(4, Clients::Open) };
        exact(&settings, &shares, 20_000.0, 100).totals.late_max_over_mean
    };
    within(busiest(Balancer::Even), 1.0, 1.15);
    within(busiest(Balancer::Count), 1.8, 2.1);
}

#[test]
fn a_front_that_moves_to_another_tablet_is_followed_at_once() {
    let mut simulation = Simulation::new(still(2, Clients::Open), vec![b"m".to_vec()]).unwrap();
    for second in 0..40 {
        simulation.begin_tick();
        for _ in 0..1_000 {
            simulation.book(&Piece::write(if second < 30 { b"a" } else { b"z" }));
        }
        let tick = simulation.end_tick(0.5 * C);
        assert_eq!(tick.nodes_used, 1, "second {second}");
        close(tick.utilisation_max, 0.5, 1e-5);
    }
    let outcome = simulation.finish();
    close(outcome.nodes[0].served, 30.0 * 0.5 * C, 1e-5);
    close(outcome.nodes[1].served, 10.0 * 0.5 * C, 1e-5);
}

#[test]
fn the_limit_of_a_tablet_refuses_what_is_above() {
    // A partition takes 1,000 writes a second, whatever its node could.
    let settings = Settings { load: None, size: SizeRule::Never, ..Settings::preset("dynamodb").unwrap() };
    let outcome = exact(&settings, &[8, 1, 1], 5_000.0, 10);
    for at in [0, 9] {
        close(outcome.ticks[at].served, 1_000.0 + 500.0 + 500.0, 1e-6);
        close(outcome.ticks[at].refused, 3_000.0, 1e-6);
    }
}

#[test]
fn a_blocked_tablet_holds_its_operations_and_a_closed_loop_waits() {
    let settings =
        |clients| Settings { split_pause_s: 3.0, size: SizeRule::Fixed { bytes: 5e7 }, ..still(2, clients) };
    let codec = codec("{hash}", "", "");
    let open = run(&codec, &writes(10_000.0), &settings(Clients::Open), Vec::new(), 8);
    assert!(open.ticks.iter().any(|tick| tick.backlog > 9_000.0 && tick.splits == 0), "{:?}", open.ticks);
    let closed = run(&codec, &writes(10_000.0), &settings(Clients::Closed), Vec::new(), 8);
    assert!(closed.ticks.iter().any(|tick| tick.offered < 1.0));
    assert!(closed.totals.backlog.abs() < 1e-9);
}

#[test]
fn recorded_operations_are_replayed_in_their_seconds() {
    let mut trace = Trace::default();
    for at in 0..300u32 {
        let key = format!("{:03}", at % 100);
        let time_ms = Some(i64::from(at / 100) * 1_000 + i64::from(at % 100));
        trace.push(&Operation { time_ms, ..Operation::write(key.as_bytes()) });
    }
    let settings = still(2, Clients::Open);
    let points = vec![b"050".to_vec()];
    let outcome = replay(&mut trace, &TraceOptions::default(), &settings, points.clone(), &mut ()).unwrap();
    assert_eq!(outcome.ticks.len(), 3);
    for tick in &outcome.ticks {
        close(tick.offered, 100.0, 1e-9);
    }
    // At another rate, each stands for more.
    let options = TraceOptions { rate_per_s: Some(14_000.0), seconds: Some(2) };
    let outcome = replay(&mut trace, &options, &settings, points, &mut ()).unwrap();
    assert_eq!(outcome.ticks.len(), 2);
    close(outcome.ticks[1].offered, 14_000.0, 1e-9);
    close(outcome.ticks[1].utilisation_max, 0.5, 1e-5);
}

#[test]
fn keys_without_times_are_spread_over_the_length() {
    let mut trace = Trace::default();
    for at in 0..5_000u32 {
        trace.push(&Operation::write(format!("{at:04}").as_bytes()));
    }
    let options = TraceOptions { rate_per_s: Some(7_000.0), seconds: Some(100) };
    let outcome =
        replay(&mut trace, &options, &still(2, Clients::Open), vec![b"2500".to_vec()], &mut ()).unwrap();
    close(outcome.totals.offered, 700_000.0, 1e-9);
    // The front moves to the other node halfway.
    within(outcome.nodes[0].served, 0.49 * 700_000.0, 0.51 * 700_000.0);
}

#[test]
fn an_observer_sees_the_operations_and_can_stop() {
    #[derive(Default)]
    struct Counting {
        weight: f64,
        ticks: u32,
    }
    impl Observer for Counting {
        fn operation(&mut self, _: i64, _: OpKind, key: &[u8], weight: f64) {
            assert!(!key.is_empty());
            self.weight += weight;
        }
        fn tick(&mut self, _: &Tick, seconds: u32) -> ControlFlow<()> {
            assert_eq!(seconds, 100);
            self.ticks += 1;
            if self.ticks == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let mut counting = Counting::default();
    let outcome =
        simulate(&salted(4), &writes(500.0), &still(2, Clients::Open), Vec::new(), 100, &mut counting)
            .unwrap();
    assert_eq!(outcome.ticks.len(), 3);
    close(counting.weight, 1_500.0, 1e-9);
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let check = |settings: Settings, expected: &str| {
        let error = Simulation::new(settings, Vec::new()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let base = || Settings::preset("bigtable-ssd").unwrap();
    check(Settings { nodes: 0, ..base() }, "nodes: a cluster has at least one");
    check(Settings { nodes: u32::MAX, ..base() }, "too many");
    check(Settings { timeout_s: f64::NAN, ..base() }, "timeout");
    check(Settings { bytes_per_write: -1.0, ..base() }, "bytes of a write");
    let mut slow = base();
    slow.capacity.writes_per_s = 0.0;
    check(slow, "writes per second of a node");
    let simulated = |rate, seconds| {
        simulate(&salted(2), &writes(rate), &base(), Vec::new(), seconds, &mut ()).unwrap_err().to_string()
    };
    assert!(simulated(0.0, 10).contains("nothing is written"));
    assert!(simulated(f64::INFINITY, 10).contains("no rate of writes"));
    assert!(simulated(1.0, 0).contains("from 1 to"));
    assert!(simulated(1.0, SECONDS_MAX + 1).contains("a week"));
    assert!(replay(&mut Trace::default(), &TraceOptions::default(), &base(), Vec::new(), &mut ()).is_err());
}

#[test]
fn seconds_without_operations_are_idle() {
    let mut simulation = Simulation::new(still(2, Clients::Closed), Vec::new()).unwrap();
    simulation.begin_tick();
    let tick = simulation.end_tick(1_000.0);
    assert!(tick.offered + tick.served + tick.p99_ms < 1e-12);
    simulation.begin_tick();
    assert!(simulation.end_tick(f64::NAN).demand < 1e-12);
    assert_eq!(Simulation::new(still(2, Clients::Open), Vec::new()).unwrap().finish().totals.seconds, 0);
}

#[test]
fn every_preset_names_the_source_of_every_number() {
    for name in Settings::PRESETS {
        let settings = Settings::preset(name).unwrap();
        assert_eq!(settings.preset, *name);
        let parameters = settings.parameters();
        assert!(parameters.len() > 12);
        for parameter in parameters {
            let known = ["published: ", "derived: ", "assumption: ", "known: "];
            assert!(known.iter().any(|mark| parameter.source.starts_with(mark)), "{parameter:?}");
            assert!(!parameter.value.is_empty());
        }
    }
    assert_eq!(Settings::preset("nothing"), None);
}
