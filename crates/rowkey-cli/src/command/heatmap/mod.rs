//! `rowkey heatmap`: key space by time as a picture, a page, or characters.

mod source;

use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::Format;
use crate::session::Session;
use crate::{new_file, schema_file, text};
use anyhow::Result;
use rowkey::{Codec, Time};
use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
use rowkey_hotspot::heatmap::{
    Axis, Colours, Config, FigureOptions, Matrix, Metric, NODES_MAX, Sheet, SheetOptions, TerminalOptions,
    View, ViewSpec,
};
use rowkey_hotspot::input::ReadReport;
use rowkey_hotspot::picture::Theme;
use rowkey_hotspot::report::{Redactor, Wording};
use rowkey_hotspot::{Capacity, Context, Declared, Finding, Severity};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// Findings that are told below the map in a terminal; `rowkey doctor` tells all.
const FINDINGS_SHOWN: usize = 3;

/// The options.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey heatmap keys.txt                                # in the terminal
  rowkey heatmap operations.jsonl.gz -o heat.html        # a page to zoom into, one file
  rowkey heatmap operations.jsonl -o heat.png --metric reads --theme dark
  rowkey heatmap operations.jsonl --from 2026-09-15T08:00:00Z --to 2026-09-15T09:00:00Z
  rowkey heatmap --schema telemetry.toml -o heat.html    # no data yet: the schema's own writes and queries, simulated

Time runs to the right, keys run downwards, colour is how much: a diagonal is a front that all writes follow, bands are salts or hot
ranges, even grain is good. Without times in the input, time is the order of arrival. docs/heatmap.md shows how to read it.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct HeatmapArgs {
    /// Keys one a line, JSON lines of operations, or CSV with --schema; .gz and .zst too; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Write to this file instead of the terminal: .html, .png, .svg or .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The schema of the keys: names rows by fields, and reads CSV
    #[arg(short, long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What is shown: writes, reads, bytes-in, bytes-out, rows-read [default: writes, else what there is]
    #[arg(long, value_name = "METRIC")]
    metric: Option<Metric>,
    /// Ranges of keys at most [default: 1000; in a terminal as many as fit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rows: Option<u32>,
    /// Columns of time at most [default: 1000; in a terminal as many as fit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    columns: Option<u32>,
    /// From this time on (RFC 3339 or milliseconds; without times in the input: the number of an operation)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Up to this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Nodes to place the ranges on, for the strip below the map; 0: none
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = clap::value_parser!(u32).range(0..=i64::from(NODES_MAX)))]
    nodes: u32,
    /// What one node takes, for absolute colours: bigtable-ssd, bigtable-hdd, hbase
    #[arg(long, value_name = "NAME", default_value = "bigtable-ssd")]
    preset: String,
    /// Without FILE: how long the schema's own writes and queries are simulated
    #[arg(long, value_name = "NUMBER", default_value = "600", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Writes per second, if the input has no times or is simulated [default there: as many as keep all nodes at 70 %]
    #[arg(long, value_name = "NUMBER", value_parser = super::simulate::positive)]
    writes_per_s: Option<f64>,
    /// The keys are a load that happens once, sorted on purpose
    #[arg(long)]
    bulk_load: bool,
    /// Rows are only ever read by the complete key
    #[arg(long)]
    point_reads: bool,
    /// Leave the doctor's findings out: half the time
    #[arg(long)]
    no_findings: bool,
    /// Colours for light or dark paper [default: dark in a terminal, else light; a page follows its reader's settings]
    #[arg(long, value_name = "THEME")]
    theme: Option<Theme>,
    /// Width of a PNG or SVG in pixels
    #[arg(long, value_name = "PIXELS", default_value = "1400", value_parser = clap::value_parser!(u32).range(400..=8_000))]
    width: u32,
    /// Show classes of characters instead of keys, so that the result can be passed on
    #[arg(long)]
    redact: bool,
    /// Go on however many lines are malformed
    #[arg(long)]
    lenient: bool,
}

/// What `-o` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Png,
    Svg,
    Json,
}

/// Runs it.
pub(crate) fn run(args: &HeatmapArgs, session: &mut Session) -> Result<Exit> {
    let kind = args.output.as_deref().map(kind_of).transpose()?;
    let capacity = Capacity::preset(&args.preset).ok_or_else(|| {
        let names = Capacity::PRESETS.join(", ");
        Failure::usage(format!("--preset {}: there is no such preset; there are {names}", args.preset))
    })?;
    let codec = args.schema.as_deref().map(schema_file::load).transpose()?.map(Codec::new).transpose()?;
    let (from, to) = (moment(args.from.as_deref(), "--from")?, moment(args.to.as_deref(), "--to")?);
    let interrupt = Interrupt::watch()?;
    let mut matrix = Matrix::new(Config::default());
    let mut doctor = (!args.no_findings).then(|| Doctor::new(examination(args, &capacity, codec.as_ref())));
    let notes = match (&args.file, &codec) {
        (None, Some(codec)) => {
            source::simulate(codec, args, &capacity, &interrupt, &mut matrix, doctor.as_mut())?
        }
        (file, codec) => {
            let file = file.as_deref().unwrap_or(Path::new("-"));
            let report = source::read(file, args, codec.as_ref(), &interrupt, |operation| {
                matrix.observe(operation);
                if let Some(doctor) = &mut doctor {
                    doctor.observe(operation);
                }
            })?;
            tell(&report, session);
            notes(&matrix, &report)
        }
    };
    let findings: Vec<Finding> = doctor.map(Doctor::finish).map_or_else(Vec::new, |diagnosis| {
        let wording = Wording::of_layout(Redactor::new(args.redact), &diagnosis.layout);
        diagnosis.findings.iter().map(|finding| wording.finding(finding)).collect()
    });
    let (width, height) = terminal_size();
    let fits = kind.is_none() && session.format == Format::Text;
    let spec = ViewSpec {
        rows_max: size(args.rows, if fits { 2 * height } else { 1_000 }),
        columns_max: size(args.columns, if fits { width } else { 1_000 }),
        from,
        to,
        ..ViewSpec::default()
    };
    let view = matrix.view(&spec);
    check(args, &matrix, &view)?;
    let options = SheetOptions {
        title: title(args),
        notes,
        codec: codec.as_ref(),
        nodes: args.nodes,
        capacity: Some(capacity),
        operations_per_s: rate(args.writes_per_s, &matrix),
        findings: &findings,
        redactor: Redactor::new(args.redact),
    };
    let sheet = Sheet::new(view, &options);
    match (kind, &args.output) {
        (Some(kind), Some(file)) => save(&sheet, args, kind, file, session)?,
        _ => print(&sheet, args, (width, height), session)?,
    }
    if interrupt.is_set() {
        session.note("interrupted: the map shows what was read until then");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Done)
}

/// What the doctor judges by.
fn examination(args: &HeatmapArgs, capacity: &Capacity, codec: Option<&Codec>) -> DoctorOptions {
    let context = Context {
        // A map without nodes is still judged for a cluster.
        nodes: if args.nodes == 0 { Context::default().nodes } else { args.nodes },
        capacity: capacity.clone(),
        writes_per_s: args.writes_per_s,
        declared: Declared { bulk_load: args.bulk_load, point_reads: args.point_reads },
        ..Context::default()
    };
    DoctorOptions { context, schema: codec.cloned(), ..DoctorOptions::default() }
}

fn size(asked: Option<u32>, default: usize) -> usize {
    asked.and_then(|asked| usize::try_from(asked).ok()).unwrap_or(default)
}

fn kind_of(file: &Path) -> Result<Kind> {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => Ok(Kind::Html),
        Some("png") => Ok(Kind::Png),
        Some("svg") => Ok(Kind::Svg),
        Some("json") => Ok(Kind::Json),
        _ => Err(Failure::usage(format!(
            "--output {}: its ending says what to write; there are .html, .png, .svg and .json",
            file.display()
        ))),
    }
}

/// A time, or the number of an operation.
fn moment(text: Option<&str>, option: &str) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok();
    let moment = number.or_else(|| text.parse().ok().map(Time::as_millis));
    moment.map(Some).ok_or_else(|| {
        Failure::usage(format!("{option} {text}: neither a time such as 2026-09-15T08:00:00Z nor a number"))
    })
}

/// What the map is of.
fn title(args: &HeatmapArgs) -> String {
    match (&args.file, &args.schema) {
        (None, Some(schema)) => format!("{}, simulated", schema.display()),
        (file, _) => shown(file.as_deref().unwrap_or(Path::new("-"))),
    }
}

fn shown(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}

/// Says what could not be read.
fn tell(report: &ReadReport, session: &Session) {
    if report.malformed > 0 {
        let lines = text::counted(report.malformed, "line");
        session.warn(&format!("{lines} of {} could not be understood", text::count(report.lines)));
        for line in &report.first_malformed {
            session.note(&format!("line {}: {}: {}", line.line, line.why, line.shown));
        }
    }
    if let Some(why) = &report.cut_off {
        session.warn(&format!("the input is cut off: {why}"));
    }
}

/// What a reader of the map must know.
fn notes(matrix: &Matrix, report: &ReadReport) -> Vec<String> {
    let mut notes = Vec::new();
    if matrix.axis() == Axis::Arrival {
        notes.push("The input has no times: time is the order of arrival.".to_owned());
    }
    if report.malformed > 0 {
        let lines = text::counted(report.malformed, "line");
        notes.push(format!(
            "{lines} of {} could not be understood and are not in the map.",
            text::count(report.lines)
        ));
    }
    notes
}

/// Refuses to draw what is not there.
fn check(args: &HeatmapArgs, matrix: &Matrix, view: &View) -> Result<()> {
    if view.columns == 0 {
        let all = matrix.view(&ViewSpec { rows_max: 1, columns_max: 1, ..ViewSpec::default() });
        let (first, last) = (all.time_start, all.time_start.saturating_add(all.time_step));
        let shown = |at: i64| match matrix.axis() {
            Axis::Time => Time::from_millis(at).to_string(),
            Axis::Arrival => at.to_string(),
        };
        return Err(Failure::usage(format!(
            "nothing lies between --from and --to: the input reaches from {} to {}",
            shown(first),
            shown(last)
        )));
    }
    match args.metric {
        Some(metric) if view.metric(metric).is_none() => {
            let have: Vec<&str> = view.metrics.iter().map(|metric| metric.name()).collect();
            Err(Failure::bad_data(format!(
                "{}: nothing is known of --metric {metric}; there are {}",
                title(args),
                have.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// Operations per second, from the rate of the writes among them.
fn rate(writes_per_s: Option<f64>, matrix: &Matrix) -> Option<f64> {
    let writes = matrix.totals()[Metric::Writes.index()];
    #[expect(clippy::cast_precision_loss, reason = "a ratio for colours")]
    let share = matrix.operations() as f64 / writes.max(1) as f64;
    writes_per_s.map(|rate| rate * share)
}

fn save(sheet: &Sheet, args: &HeatmapArgs, kind: Kind, file: &Path, session: &Session) -> Result<()> {
    let theme = args.theme.unwrap_or_default();
    let figure = FigureOptions { metric: args.metric, theme, width: args.width, map_height: args.width / 2 };
    let bytes = match kind {
        Kind::Html => sheet.html()?.into_bytes(),
        Kind::Png => sheet.png(&figure)?,
        Kind::Svg => sheet.svg(&figure)?.into_bytes(),
        Kind::Json => format!("{}\n", sheet.json()?).into_bytes(),
    };
    new_file::write(file, |out| Ok(out.write_all(&bytes)?))?;
    let size = text::size(bytes.len() as u64);
    let (rows, columns) = (sheet.view.rows.len() as u64, sheet.view.columns as u64);
    session.note(&format!(
        "{}: {size}, {} by {} of time",
        file.display(),
        text::counted(rows, "range"),
        text::counted(columns, "column")
    ));
    Ok(())
}

fn print(
    sheet: &Sheet,
    args: &HeatmapArgs,
    (width, height): (usize, usize),
    session: &mut Session,
) -> Result<()> {
    match session.format {
        Format::Json => writeln!(session.out, "{}", sheet.json()?)?,
        Format::Csv => print_csv(sheet, session)?,
        Format::Text => {
            let variable = |name| std::env::var(name).ok();
            let colours = if session.out.color {
                Colours::detect(variable("COLORTERM").as_deref(), variable("TERM").as_deref())
            } else {
                Colours::None
            };
            let theme = args.theme.unwrap_or(Theme::Dark);
            let options = TerminalOptions { metric: args.metric, width, height, colours, theme };
            write!(session.out, "{}", sheet.terminal(&options))?;
            for note in &sheet.notes {
                writeln!(session.out, "{note}")?;
            }
            for mark in sheet.marks.iter().filter(|mark| mark.severity > Severity::Note).take(FINDINGS_SHOWN)
            {
                writeln!(session.out, "{} {}: {}", mark.severity, mark.rule, mark.headline)?;
            }
        }
    }
    Ok(())
}

/// One line for each cell that is not empty.
fn print_csv(sheet: &Sheet, session: &mut Session) -> Result<()> {
    let view = &sheet.view;
    let names: Vec<&str> = view.metrics.iter().map(|metric| metric.name()).collect();
    writeln!(session.out, "key,time,{}", names.join(","))?;
    for row in 0..view.rows.len() {
        for column in 0..view.columns {
            let sums: Vec<u64> = (0..view.metrics.len()).map(|metric| view.at(metric, row, column)).collect();
            if sums.iter().all(|&sum| sum == 0) {
                continue;
            }
            let offset = i64::try_from(column).unwrap_or(i64::MAX).saturating_mul(view.time_step);
            let at = view.time_start.saturating_add(offset);
            let time = match view.axis {
                Axis::Time => Time::from_millis(at).to_string(),
                Axis::Arrival => at.to_string(),
            };
            let sums: Vec<String> = sums.iter().map(ToString::to_string).collect();
            writeln!(session.out, "{},{time},{}", text::csv(&sheet.keys[row]), sums.join(","))?;
        }
    }
    Ok(())
}

/// Characters and lines of the terminal: `COLUMNS` and `LINES`, else what the terminal says, else 80 by 24.
fn terminal_size() -> (usize, usize) {
    let variable =
        |name| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok()).filter(|&size| size > 0);
    let known = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let (width, height) =
        known.map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
    // One line stays for the prompt.
    (variable("COLUMNS").unwrap_or(width), variable("LINES").unwrap_or(height).saturating_sub(1))
}
