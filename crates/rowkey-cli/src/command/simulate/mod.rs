//! `rowkey simulate`: a key design on tablets and nodes, before there are any.

mod args;
mod export;
mod recorded;
mod text;

pub(crate) use args::{SimulateArgs, positive};

use crate::exit::{Exit, Failure};
use crate::new_file;
use crate::output::Format;
use crate::progress::{Progress, Unit};
use crate::schema_file;
use crate::session::Session;
use anyhow::Result;
use args::{PictureKind, PreSplit};
use rowkey::Codec;
use rowkey_hotspot::sim::{self, Chart, Observer, Outcome, Settings, Tick};
use rowkey_hotspot::workload::WorkloadOptions;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

/// One simulated design.
#[derive(Debug)]
pub(crate) struct Run {
    /// The file of the schema, or of the operations.
    pub(crate) name: String,
    /// Tablets before the first write.
    pub(crate) tablets: usize,
    /// What came of it.
    pub(crate) outcome: Outcome,
}

/// What was simulated, in all runs alike.
#[derive(Debug)]
pub(crate) struct Report {
    /// The table.
    pub(crate) table: String,
    /// The parameters.
    pub(crate) settings: Settings,
    /// Operations per second that clients want, on average.
    pub(crate) rate: f64,
    /// Seconds.
    pub(crate) seconds: u32,
    /// One or two.
    pub(crate) runs: Vec<Run>,
    /// What was assumed, in sentences.
    pub(crate) assumed: Vec<String>,
}

/// Runs it.
pub(crate) fn run(args: &SimulateArgs, session: &mut Session) -> Result<Exit> {
    let settings = args.settings()?;
    if args.parameters {
        text::print_parameters(&settings, session.format, &mut session.out)?;
        return Ok(Exit::Done);
    }
    let report = match &args.file {
        Some(file) => recorded::run(args, file, settings, session)?,
        None => generated(args, settings)?,
    };
    if let Some(file) = &args.picture {
        let kind = PictureKind::of(file)?;
        draw(file, kind, args, &report)?;
    }
    match session.format {
        Format::Text => {
            let color = session.out.color;
            text::print(&report, color, &mut session.out)?;
            if let Some(file) = &args.picture {
                writeln!(session.out, "\npicture: {}", file.display())?;
            }
        }
        Format::Json => export::json(&report, &mut session.out)?,
        Format::Csv => export::csv(&report, &mut session.out)?,
    }
    Ok(Exit::Done)
}

fn generated(args: &SimulateArgs, settings: Settings) -> Result<Report> {
    let Some(schema) = &args.schema else {
        return Err(Failure::usage("give --schema FILE, or a file of keys or operations to replay"));
    };
    let seconds = args.seconds().unwrap_or(args::SECONDS);
    let mut report = Report {
        table: String::new(),
        rate: 0.0,
        seconds,
        runs: Vec::new(),
        assumed: args.assumed(&settings),
        settings,
    };
    let files: Vec<&Path> =
        [Some(schema), args.versus.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect();
    for file in files {
        let codec = Codec::new(schema_file::load(file)?)?;
        let workload = args.workload(&report.settings);
        let points = split_points(args, &codec, &workload, report.settings.nodes)?;
        let name = file.display().to_string();
        let tablets = points.len() + 1;
        let mut bar = Bar::new(&name, seconds);
        let outcome =
            sim::simulate(&codec, &workload, &report.settings, points, seconds, &mut bar).map_err(refused)?;
        drop(bar);
        report.assume(&name, &codec, &workload, &outcome, args.versus.is_some());
        if report.runs.is_empty() {
            report.table.clone_from(&codec.schema().table);
            report.rate = outcome.totals.demand / f64::from(outcome.totals.seconds.max(1));
        }
        report.runs.push(Run { name, tablets, outcome });
    }
    Ok(report)
}

impl Report {
    /// Notes what the fields of a design were taken for, and what the simulation says of it.
    fn assume(
        &mut self,
        name: &str,
        codec: &Codec,
        workload: &WorkloadOptions,
        outcome: &Outcome,
        many: bool,
    ) {
        let of = if many { format!("{name}: ") } else { String::new() };
        let fields: Vec<String> = codec
            .schema()
            .fields
            .iter()
            .zip(rowkey_hotspot::workload::default_sources(codec, workload))
            .map(|(field, source)| format!("{} {}", field.name, text::source(source, field, workload)))
            .collect();
        self.assumed.push(format!("{of}{}", fields.join("; ")));
        for note in &outcome.notes {
            self.assumed.push(format!("{of}{note}"));
        }
    }
}

fn split_points(
    args: &SimulateArgs,
    codec: &Codec,
    workload: &WorkloadOptions,
    nodes: u32,
) -> Result<Vec<Vec<u8>>> {
    match args.pre_split()? {
        PreSplit::No => Ok(Vec::new()),
        PreSplit::Points(points) => Ok(points),
        PreSplit::Yes => {
            let tablets =
                args.tablets.unwrap_or_else(|| nodes.saturating_mul(10)).min(rowkey::splits::REGIONS_MAX);
            Ok(sim::pre_split(codec, workload, tablets).map_err(refused)?.points)
        }
    }
}

/// What the simulator refuses is a wrong command line.
pub(crate) fn refused(error: rowkey_hotspot::Error) -> anyhow::Error {
    match error.kind() {
        rowkey_hotspot::ErrorKind::Conflict | rowkey_hotspot::ErrorKind::Limit => {
            Failure::usage(error.to_string())
        }
        _ => anyhow::Error::new(error),
    }
}

fn draw(file: &Path, kind: PictureKind, args: &SimulateArgs, report: &Report) -> Result<()> {
    let title = text::title(report);
    let chart =
        Chart { title, runs: report.runs.iter().map(|run| (run.name.clone(), &run.outcome)).collect() };
    let bytes = match kind {
        PictureKind::Svg => chart.svg(args.theme()).into_bytes(),
        PictureKind::Png => chart.png(args.theme())?,
    };
    new_file::write(file, |out| Ok(out.write_all(&bytes)?))
}

/// Shows how far a simulation is.
#[derive(Debug)]
pub(crate) struct Bar {
    progress: Progress,
    done: u64,
}

impl Bar {
    pub(crate) fn new(name: &str, seconds: u32) -> Self {
        Self { progress: Progress::new(name, Some(seconds.into()), Unit::Seconds), done: 0 }
    }
}

impl Observer for Bar {
    fn tick(&mut self, _: &Tick, _: u32) -> ControlFlow<()> {
        self.done += 1;
        self.progress.set(self.done);
        ControlFlow::Continue(())
    }
}
