//! Simulates a large cluster for an hour and prints how long that takes, as a ratio to the goal of 5 seconds.
//!
//! `cargo run --release -p hotspot --bin simulate [nodes [tablets [seconds]]]`: 1,000 nodes, 100,000 tablets and 3,600 seconds, if not said otherwise. Seconds
//! of the processor are printed too (Linux): they are what one core takes where other work shares the machine.

use rowkey::{Codec, KeySchema};
use rowkey_hotspot::sim::{Settings, simulate};
use rowkey_hotspot::workload::WorkloadOptions;
use std::error::Error;
use std::time::Instant;

const GOAL_S: f64 = 5.0;

const SCHEMA: &str = r#"
version = 1
table = "telemetry"
[key]
layout = "{vehicle}#{time}"
[key.fields]
vehicle = { type = "uint", digits = 8 }
time = { type = "timestamp", unit = "ms", digits = 13 }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u32> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let argument = |at: usize, default: u32| arguments.get(at).copied().unwrap_or(default).max(1);
    let (nodes, tablets, seconds) = (argument(0, 1_000), argument(1, 100_000), argument(2, 3_600));
    let codec = Codec::new(KeySchema::parse(SCHEMA)?)?;
    let rate = 9_800.0 * f64::from(nodes);
    let workload = WorkloadOptions { entities: 1_000_000, writes_per_s: rate, ..WorkloadOptions::default() };
    let settings = Settings { nodes, ..Settings::default() };
    let point = |at: u32| format!("{:08}", u64::from(at) * 100_000_000 / u64::from(tablets)).into_bytes();
    let points: Vec<Vec<u8>> = (1..tablets).map(point).collect();
    let (begun, busy) = (Instant::now(), busy_s());
    let outcome = simulate(&codec, &workload, &settings, points, seconds, &mut ())?;
    let (took, busy) = (begun.elapsed().as_secs_f64(), busy_s() - busy);
    let totals = &outcome.totals;
    println!(
        "{nodes} nodes, {tablets} tablets, {seconds} s simulated in {took:.1} s, {busy:.1} s of the processor"
    );
    println!(
        "{} operations drawn, {} tablets cut, {:.0} operations/s served",
        totals.draws, totals.splits, totals.served_per_s
    );
    println!(
        "against the goal of {GOAL_S} s: {:.2} by the clock, {:.2} by the processor",
        took / GOAL_S,
        busy / GOAL_S
    );
    Ok(())
}

/// Seconds that this process has used of all processors; 0 where that is not known.
fn busy_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, in brackets: state is field 3; user and system time are fields 14 and 15, in hundredths of a second.
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        behind.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
