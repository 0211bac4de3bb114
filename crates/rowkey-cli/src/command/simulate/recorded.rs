//! A simulation of recorded operations; under two schemas, of the same rows.

use super::args::PreSplit;
use super::{Bar, Report, Run, SimulateArgs, refused};
use crate::exit::Failure;
use crate::progress::{Progress, Unit};
use crate::schema_file;
use crate::session::Session;
use crate::text;
use anyhow::Result;
use rowkey::{Codec, Value, escape};
use rowkey_hotspot::input;
use rowkey_hotspot::operation::{OpKind, Operation};
use rowkey_hotspot::sim::{self, Settings, Trace, TraceOptions};
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

pub(super) fn run(args: &SimulateArgs, file: &Path, settings: Settings, session: &Session) -> Result<Report> {
    let codec = args
        .schema
        .as_deref()
        .map(|file| Codec::new(schema_file::load(file)?).map_err(anyhow::Error::new))
        .transpose()?;
    let other = args
        .versus
        .as_deref()
        .map(|file| Codec::new(schema_file::load(file)?).map_err(anyhow::Error::new))
        .transpose()?;
    let mut recoder = match (codec.as_ref(), other.as_ref()) {
        (Some(from), Some(to)) => Some(Recoder::new(from, to)?),
        _ => None,
    };
    let mut trace = Trace::default();
    read(args, file, codec.clone(), session, &mut |operation| {
        trace.push(operation);
        if let Some(recoder) = &mut recoder {
            recoder.push(operation);
        }
    })?;
    let options = TraceOptions { rate_per_s: args.rate(), seconds: args.seconds() };
    let mut report = Report {
        table: codec
            .as_ref()
            .map_or_else(|| file.display().to_string(), |codec| codec.schema().table.clone()),
        rate: 0.0,
        seconds: 0,
        runs: Vec::new(),
        assumed: Vec::new(),
        settings,
    };
    report.assumed.push(if trace.is_timed() {
        "operations come at the times at which they were recorded".to_owned()
    } else {
        "the operations have no times: they are spread evenly over the duration, each standing for many"
            .to_owned()
    });
    simulate(args, &shown(file), codec.as_ref(), &mut trace, &options, &mut report)?;
    if let (Some(recoder), Some(name)) = (recoder, &args.versus) {
        report.assumed.extend(recoder.notes());
        let mut trace = recoder.trace;
        simulate(args, &name.display().to_string(), Some(&recoder.to), &mut trace, &options, &mut report)?;
    }
    Ok(report)
}

fn shown(file: &Path) -> String {
    if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() }
}

fn read(
    args: &SimulateArgs,
    file: &Path,
    codec: Option<Codec>,
    session: &Session,
    take: &mut dyn FnMut(&Operation<'_>),
) -> Result<()> {
    let options =
        input::Options { codec, lenient: args.lenient, seed: args.seed(), ..input::Options::default() };
    let name = shown(file);
    let (source, bytes): (Box<dyn Read>, Option<u64>) = if file.as_os_str() == "-" {
        (Box::new(io::stdin().lock()), None)
    } else {
        let opened = File::open(file)
            .map_err(|error| Failure::bad_data(format!("{name}: cannot be read: {error}")))?;
        let bytes = opened.metadata().ok().map(|metadata| metadata.len());
        (Box::new(opened), bytes)
    };
    let mut progress = Progress::new(&name, bytes, Unit::Bytes);
    let report = input::read(
        source,
        &name,
        &options,
        &mut |operation| {
            take(operation);
            ControlFlow::Continue(())
        },
        &mut |read| progress.set(read),
    )?;
    if report.malformed > 0 {
        session.warn(&format!("{name}: {} malformed and left out", text::counted(report.malformed, "line")));
    }
    Ok(())
}

fn simulate(
    args: &SimulateArgs,
    name: &str,
    codec: Option<&Codec>,
    trace: &mut Trace,
    options: &TraceOptions,
    report: &mut Report,
) -> Result<()> {
    let points = match args.pre_split()? {
        PreSplit::No => Vec::new(),
        PreSplit::Points(points) => points,
        PreSplit::Yes => split_points(args, codec, trace, report)?,
    };
    let tablets = points.len() + 1;
    let mut bar = Bar::new(name, options.seconds.unwrap_or(0));
    let outcome = sim::replay(trace, options, &report.settings, points, &mut bar).map_err(refused)?;
    drop(bar);
    for note in &outcome.notes {
        report.assumed.push(format!("{name}: {note}"));
    }
    if report.runs.is_empty() {
        report.seconds = outcome.totals.seconds;
        report.rate = outcome.totals.demand / f64::from(outcome.totals.seconds.max(1));
    }
    report.runs.push(Run { name: name.to_owned(), tablets, outcome });
    Ok(())
}

/// One tablet for each bucket if the schema has some, else cut by the keys of the first tenth of the record: what was there before.
fn split_points(
    args: &SimulateArgs,
    codec: Option<&Codec>,
    trace: &Trace,
    report: &mut Report,
) -> Result<Vec<Vec<u8>>> {
    if let Some(codec) = codec
        && let Ok(split) = rowkey::splits::per_bucket(codec)
    {
        return Ok(split.points);
    }
    let tablets = args
        .tablets
        .unwrap_or_else(|| report.settings.nodes.saturating_mul(10))
        .min(rowkey::splits::REGIONS_MAX);
    let keys: Vec<Vec<u8>> = trace.first_keys(trace.len().div_ceil(10)).map(<[u8]>::to_vec).collect();
    report.assumed.push(format!(
        "tablets are cut by the first {} of the record",
        text::counted(keys.len() as u64, "key")
    ));
    Ok(rowkey::splits::from_sample(keys, tablets)?.points)
}

/// Writes the rows of one schema under another.
struct Recoder {
    from: Codec,
    to: Codec,
    /// For each field of `to`, its number in `from`.
    order: Vec<usize>,
    trace: Trace,
    scans: u64,
    strangers: u64,
    first_stranger: Option<String>,
}

impl Recoder {
    fn new(from: &Codec, to: &Codec) -> Result<Self> {
        let fields =
            |codec: &Codec| codec.schema().fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        let known = fields(from);
        let order = fields(to)
            .iter()
            .map(|name| {
                known.iter().position(|known| known == name).ok_or_else(|| {
                    Failure::usage(format!(
                        "--versus has the field `{name}`, which the keys of FILE do not: {}",
                        known.join(", ")
                    ))
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            from: from.clone(),
            to: to.clone(),
            order,
            trace: Trace::default(),
            scans: 0,
            strangers: 0,
            first_stranger: None,
        })
    }

    fn push(&mut self, operation: &Operation<'_>) {
        if operation.kind == OpKind::Scan {
            self.scans += 1;
            return;
        }
        let mut values = Vec::new();
        let mut key = Vec::new();
        let encoded = self.from.decode(operation.key, &mut values).and_then(|()| {
            let values: Vec<Value<'_>> =
                self.order.iter().filter_map(|&at| values.get(at).cloned()).collect();
            self.to.encode(&values, &mut key)
        });
        match encoded {
            Ok(()) => self.trace.push(&Operation { key: &key, end: None, ..*operation }),
            Err(error) => {
                self.strangers += 1;
                self.first_stranger
                    .get_or_insert_with(|| format!("`{}`: {error}", escape::escaped(operation.key)));
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.scans > 0 {
            notes.push(format!(
                "under --versus, {} left out: a range of one key is none of the other",
                text::counted(self.scans, "scan is")
            ));
        }
        if let Some(first) = &self.first_stranger {
            notes.push(format!(
                "under --versus, {} left out; the first is {first}",
                text::counted(self.strangers, "key is")
            ));
        }
        notes
    }
}
