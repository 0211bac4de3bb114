//! A simulation as JSON lines and as CSV.

use super::{Report, Run};
use crate::json::{self, Object};
use crate::text;
use rowkey_hotspot::sim::{Clients, Tick};
use std::io::{self, Write};

/// For each run an object of type `simulation`, then one of type `node` for each node and one of type `second` for each second.
pub(super) fn json(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for run in &report.runs {
        writeln!(out, "{}", summary(report, run))?;
        for (at, node) in run.outcome.nodes.iter().enumerate() {
            let line = Object::line("node")
                .text("run", &run.name)
                .number("node", at)
                .raw("utilisation", &real(node.utilisation))
                .raw("utilisation_late", &real(node.utilisation_late))
                .raw("served", &real(node.served))
                .number("tablets", node.tablets)
                .raw("bytes", &real(node.bytes));
            writeln!(out, "{}", line.end())?;
        }
        for tick in &run.outcome.ticks {
            let mut line = Object::line("second").text("run", &run.name);
            for (name, value) in COLUMNS {
                line = line.raw(name, &real(value(tick)));
            }
            writeln!(out, "{}", line.end())?;
        }
    }
    Ok(())
}

fn summary(report: &Report, run: &Run) -> String {
    let totals = &run.outcome.totals;
    let settings = &report.settings;
    let parameters = settings.parameters().into_iter().map(|parameter| {
        Object::new()
            .text("name", parameter.name)
            .text("value", &parameter.value)
            .text("source", parameter.source)
            .end()
    });
    Object::line("simulation")
        .text("run", &run.name)
        .text("table", &report.table)
        .text("preset", settings.preset)
        .number("nodes", settings.nodes)
        .text("clients", if settings.clients == Clients::Open { "open" } else { "closed" })
        .number("seed", settings.seed)
        .number("seconds", totals.seconds)
        .raw("demand", &real(totals.demand))
        .raw("offered", &real(totals.offered))
        .raw("served", &real(totals.served))
        .raw("refused", &real(totals.refused))
        .raw("backlog", &real(totals.backlog))
        .raw("served_per_s", &real(totals.served_per_s))
        .raw("late_served_per_s", &real(totals.late_served_per_s))
        .raw("p50_ms", &real(totals.p50_ms))
        .raw("p99_ms", &real(totals.p99_ms))
        .raw("late_p99_ms", &real(totals.late_p99_ms))
        .raw("late_nodes_used", &real(totals.late_nodes_used))
        .raw("late_max_over_mean", &real(totals.late_max_over_mean))
        .number("tablets_before", run.tablets)
        .number("tablets", totals.tablets)
        .raw("largest_tablet_bytes", &real(totals.largest_tablet_bytes))
        .number("splits", totals.splits)
        .number("moves", totals.moves)
        .number("draws", totals.draws)
        .raw("node_error", &real(totals.node_error))
        .raw("assumed", &json::array(report.assumed.iter().map(|text| json::quote(text))))
        .raw("parameters", &json::array(parameters))
        .end()
}

/// The series, in the order of their columns.
type Column = (&'static str, fn(&Tick) -> f64);
const COLUMNS: [Column; 14] = [
    ("time_s", |tick| tick.time_s),
    ("demand", |tick| tick.demand),
    ("offered", |tick| tick.offered),
    ("served", |tick| tick.served),
    ("refused", |tick| tick.refused),
    ("backlog", |tick| tick.backlog),
    ("p50_ms", |tick| tick.p50_ms),
    ("p99_ms", |tick| tick.p99_ms),
    ("tablets", |tick| tick.tablets.into()),
    ("splits", |tick| tick.splits.into()),
    ("moves", |tick| tick.moves.into()),
    ("nodes_used", |tick| tick.nodes_used.into()),
    ("utilisation_max", |tick| tick.utilisation_max),
    ("utilisation_mean", |tick| tick.utilisation_mean),
];

/// The seconds of all runs, with the run in front.
pub(super) fn csv(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    writeln!(out, "run,{}", names.join(","))?;
    for run in &report.runs {
        let name = text::csv(&run.name);
        for tick in &run.outcome.ticks {
            let values: Vec<String> = COLUMNS.iter().map(|(_, value)| real(value(tick))).collect();
            writeln!(out, "{name},{}", values.join(","))?;
        }
    }
    Ok(())
}

/// Six digits: no simulation knows more, and the last bits of a sum are not the same on every machine.
fn real(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    if value == 0.0 || value.abs() >= 1e5 {
        return format!("{value:.0}");
    }
    let rounded = format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    format!("{rounded}")
}
