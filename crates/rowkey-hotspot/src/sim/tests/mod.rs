//! The simulator against closed forms (F1-F10) and published figures (V1-V12) of `docs/simulator.md`. Each test states its tolerance.

mod forms;
mod model;
mod published;
mod twin;

use super::*;
use crate::operation::OpKind;
use crate::workload::{Source, WorkloadOptions};
use rowkey::{Codec, KeySchema};
use std::collections::BTreeMap;

/// A schema of this layout, with the fields `time`, `vehicle`, `user` and `hash` where it has them, and this salt.
fn codec(layout: &str, salt: &str, queries: &str) -> Codec {
    let fields = [
        ("{time}", "time = { type = \"timestamp\", unit = \"ms\", digits = 13 }\n"),
        ("{vehicle}", "vehicle = { type = \"uint\", digits = 8 }\n"),
        ("{hash}", "hash = { type = \"hex\", digits = 16 }\n"),
    ];
    let fields: String =
        fields.iter().filter(|(name, _)| layout.contains(name)).map(|(_, field)| *field).collect();
    let salt = if salt.is_empty() { String::new() } else { format!("[key.salt]\n{salt}\n") };
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\n{salt}[key.fields]\n{fields}{queries}"
    );
    Codec::new(KeySchema::parse(&text).unwrap()).unwrap()
}

/// Vehicles in front of a salt of so many buckets.
fn salted(buckets: u32) -> Codec {
    codec("{salt}#{time}#{hash}", &format!("of = [\"hash\"]\nbuckets = {buckets}"), "")
}

fn writes(rate: f64) -> WorkloadOptions {
    WorkloadOptions { writes_per_s: rate, ..WorkloadOptions::default() }
}

/// A cluster without splits, pauses and moves.
fn still(nodes: u32, clients: Clients) -> Settings {
    Settings {
        nodes,
        clients,
        size: SizeRule::Never,
        load: None,
        split_pause_s: 0.0,
        move_pause_s: 0.0,
        balance_every_s: 1_000_000,
        ..Settings::preset("bigtable-ssd").unwrap()
    }
}

fn run(
    codec: &Codec,
    workload: &WorkloadOptions,
    settings: &Settings,
    points: Vec<Vec<u8>>,
    seconds: u32,
) -> Outcome {
    let outcome = simulate(codec, workload, settings, points, seconds, &mut ()).unwrap();
    conserves(&outcome);
    outcome
}

/// V11: nothing is lost or made, to 1e-9 of what was offered.
fn conserves(outcome: &Outcome) {
    let Totals { offered, served, refused, backlog, .. } = outcome.totals;
    let balance = served + refused + backlog - offered;
    assert!(balance.abs() <= 1e-9 * offered.max(1.0), "{balance} of {offered}");
    for tick in &outcome.ticks {
        assert!(tick.served >= -1e-6 && tick.backlog >= -1e-6 && tick.refused >= -1e-6, "{tick:?}");
        assert!(tick.offered <= tick.demand * (1.0 + 1e-12));
    }
}

/// One tablet for each of these shares, exactly: 1,000 draws a second.
fn exact(settings: &Settings, shares: &[u32], rate: f64, seconds: u32) -> Outcome {
    let points = (1..shares.len()).map(|at| vec![u8::try_from(at).unwrap()]).collect();
    let mut simulation = Simulation::new(settings.clone(), points).unwrap();
    simulation.expect_seconds(seconds);
    for _ in 0..seconds {
        simulation.begin_tick();
        for (at, &share) in shares.iter().enumerate() {
            for _ in 0..share {
                simulation.book(&Piece::write(&[u8::try_from(at).unwrap()]));
            }
        }
        simulation.end_tick(rate);
    }
    let outcome = simulation.finish();
    conserves(&outcome);
    outcome
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance * expected.abs(),
        "{value}, not {expected} within {tolerance}"
    );
}

fn within(value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{value}, not within {low} to {high}");
}

/// The capacity of a node in writes per second.
const C: f64 = 14_000.0;
