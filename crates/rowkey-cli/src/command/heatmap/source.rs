//! Where a heatmap's operations come from: a file, or a simulation of a schema's own writes and queries.

use super::{HeatmapArgs, shown};
use crate::exit::Failure;
use crate::input_file;
use crate::interrupt::{Interrupt, Interruptible};
use crate::progress::{Progress, Unit};
use anyhow::Result;
use rowkey::Codec;
use rowkey_hotspot::doctor::Doctor;
use rowkey_hotspot::heatmap::{Matrix, Recorder};
use rowkey_hotspot::input::{self, ReadReport};
use rowkey_hotspot::sim::{self, Observer, Settings, Tick};
use rowkey_hotspot::workload::WorkloadOptions;
use rowkey_hotspot::{Capacity, OpKind, Operation};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Hands all operations of a file to `observe`.
///
/// # Errors
///
/// If the file cannot be read, or is not what it should be.
pub(super) fn read(
    file: &Path,
    args: &HeatmapArgs,
    codec: Option<&Codec>,
    interrupt: &Interrupt,
    mut observe: impl FnMut(&Operation<'_>),
) -> Result<ReadReport> {
    let (reader, length) = open(file, interrupt)?;
    let mut progress = Progress::new("heatmap", length, Unit::Bytes);
    let options =
        input::Options { codec: codec.cloned(), lenient: args.lenient, ..input::Options::default() };
    let mut count = 0_u32;
    let mut sink = |operation: &Operation<'_>| {
        observe(operation);
        count = count.wrapping_add(1);
        if count.is_multiple_of(1_024) && interrupt.is_set() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let report = input::read(reader, &shown(file), &options, &mut sink, &mut |bytes| progress.set(bytes))?;
    Ok(report)
}

/// The input and, if it is a file, its length.
fn open(file: &Path, interrupt: &Interrupt) -> Result<(Box<dyn Read>, Option<u64>)> {
    if file == Path::new("-") {
        return Ok((Box::new(Interruptible::new(io::stdin(), interrupt.clone())), None));
    }
    let (opened, length) = input_file::open(file)?;
    Ok((Box::new(opened), length))
}

/// Simulates the schema's writes and queries on the nodes of a cluster, and answers with what was assumed.
///
/// # Errors
///
/// If no key can be generated for the schema, or the simulation refuses its length or rate.
pub(super) fn simulate(
    codec: &Codec,
    args: &HeatmapArgs,
    capacity: &Capacity,
    interrupt: &Interrupt,
    matrix: &mut Matrix,
    doctor: Option<&mut Doctor>,
) -> Result<Vec<String>> {
    let nodes = args.nodes.max(1);
    let rate = args.writes_per_s.unwrap_or(f64::from(nodes) * capacity.one_node_writes_per_s());
    let Some(settings) = Settings::preset(&args.preset) else {
        return Err(Failure::usage(format!("--preset {}: the simulator does not know it", args.preset)));
    };
    let settings = Settings { nodes, ..settings };
    let workload = WorkloadOptions { writes_per_s: rate, ..WorkloadOptions::default() };
    let cuts = sim::pre_split(codec, &workload, nodes)?.points;
    let mut watch = Watch {
        recorder: Recorder::new(matrix),
        doctor,
        progress: Progress::new("simulate", Some(args.seconds.into()), Unit::Rows),
        interrupt,
    };
    let outcome = sim::simulate(codec, &workload, &settings, cuts, args.seconds, &mut watch)?;
    let mut notes = vec![format!(
        "Simulated: {rate:.0} writes a second for {} s, and the schema's queries.",
        args.seconds
    )];
    notes.extend(outcome.notes);
    Ok(notes)
}

/// Counts a simulation's operations, shows them to the doctor, and ends on Ctrl-C.
struct Watch<'a, 'm> {
    recorder: Recorder<'m>,
    doctor: Option<&'a mut Doctor>,
    progress: Progress,
    interrupt: &'a Interrupt,
}

impl Observer for Watch<'_, '_> {
    fn operation(&mut self, time_ms: i64, kind: OpKind, key: &[u8], weight: f64) {
        self.recorder.operation(time_ms, kind, key, weight);
        if let Some(doctor) = &mut self.doctor {
            doctor.observe(&Operation {
                kind,
                key,
                end: None,
                time_ms: Some(time_ms),
                rows: None,
                bytes: None,
            });
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole seconds, from 0 to a week"
    )]
    fn tick(&mut self, tick: &Tick, _seconds: u32) -> ControlFlow<()> {
        self.progress.set(tick.time_s as u64);
        if self.interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
