//! `rowkey doctor`: whether keys would hotspot, why, and what to do.

mod examine;
mod generate;
mod page;
mod propose;
mod text;

use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output::{Format, Style};
use crate::session::Session;
use crate::{schema_file, text as words};
use anyhow::Result;
use examine::{Examination, Setting};
use page::Page;
use rowkey::Codec;
use rowkey_hotspot::report::{self, Redactor, Wording};
use rowkey_hotspot::{Capacity, Context, Declared, Diagnosis, Severity};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `rowkey doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey doctor keys.txt                               # one key a line, in order of arrival
  rowkey doctor ops.jsonl.gz --nodes 20 --writes-per-s 120000
  rowkey doctor keys.txt --propose better.toml         # a schema that cures it, before and after
  rowkey doctor readings.csv --schema telemetry.toml   # CSV through a schema
  rowkey doctor --schema telemetry.toml                # no data yet: keys are made up
  tail -n 100000 keys.txt | rowkey doctor - --redact --format sarif --fail-on error

An operation is {\"op\": \"write|read|scan|delete\", \"key\": \"...\"}, and where known \"time_ms\", \"end\", \"rows\", \"bytes\". Keys are escaped as Rowkey \
prints them. Order of arrival matters: a sorted file looks like a table that is written at one place, which it then is.

What is not stated is assumed, and the report says so. Severity is capacity lost: an error means that the design cannot carry the stated load, a \
warning that it wastes much of the cluster or that reads come back wrong, a note that nothing is lost at this load.

Exit code 1 if a finding reaches --fail-on.")]
pub(crate) struct DoctorArgs {
    /// Keys, one a line in order of arrival; operations as JSON lines; CSV with --schema; gzip and zstd too; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// The schema of the keys: names their fields, reads CSV, and says what is asked; without FILE it is judged alone
    #[arg(short, long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What FILE is, if its first lines do not tell
    #[arg(long, value_name = "KIND")]
    input_format: Option<InputKind>,
    /// Go on where more than 1 % of the lines are malformed, or packed data is damaged
    #[arg(long)]
    lenient: bool,
    /// End with exit code 1 if there is a finding of this severity or worse
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: FailOn,
    /// Write a key schema for the recommended design into this file, which must not exist, and show before and after
    #[arg(long, value_name = "FILE")]
    propose: Option<PathBuf>,
    /// Show classes instead of values: 9 for digits, a and A for letters
    #[arg(long)]
    redact: bool,
    /// Decides what is sampled and made up; the same seed gives the same report
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// List every check, with what was seen
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    load: LoadArgs,
}

/// What the keys are judged against.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The load and the cluster")]
pub(crate) struct LoadArgs {
    /// Nodes of the cluster
    #[arg(short, long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: u32,
    /// Writes per second at the peak; without it as measured if operations have times, else what the whole cluster takes
    #[arg(long, value_name = "RATE", value_parser = rate)]
    writes_per_s: Option<f64>,
    /// Range reads per second
    #[arg(long, value_name = "RATE", value_parser = rate)]
    reads_per_s: Option<f64>,
    /// Rows that a range read returns
    #[arg(long, value_name = "NUMBER", value_parser = rate)]
    rows_per_read: Option<f64>,
    /// What a node takes: bigtable-ssd, bigtable-hdd, hbase
    #[arg(long, value_name = "NAME", default_value = "bigtable-ssd", value_parser = preset)]
    preset: Capacity,
    /// Writes per second that a node takes, instead of the preset's
    #[arg(long, value_name = "RATE", value_parser = positive)]
    node_writes_per_s: Option<f64>,
    /// Point reads per second that a node takes
    #[arg(long, value_name = "RATE", value_parser = positive)]
    node_reads_per_s: Option<f64>,
    /// Rows per second that scans pass on a node
    #[arg(long, value_name = "RATE", value_parser = positive)]
    node_scanned_rows_per_s: Option<f64>,
    /// The share of a node that is used on purpose, above 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    node_target: Option<f64>,
    /// It is a one-off load, sorted on purpose
    #[arg(long)]
    bulk_load: bool,
    /// Rows are only ever read by the complete key
    #[arg(long)]
    point_reads: bool,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum InputKind {
    /// One key a line
    Keys,
    /// JSON lines of operations
    Operations,
    /// CSV whose columns are the fields of --schema
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// The design cannot carry the load
    Error,
    /// It wastes much of the cluster, or reads come back wrong
    Warning,
    /// Anything found
    Note,
}

impl LoadArgs {
    /// As the doctor takes it.
    pub(crate) fn context(&self) -> Context {
        let mut capacity = self.preset.clone();
        let given = [
            (self.node_writes_per_s, &mut capacity.writes_per_s),
            (self.node_reads_per_s, &mut capacity.reads_per_s),
            (self.node_scanned_rows_per_s, &mut capacity.scanned_rows_per_s),
            (self.node_target, &mut capacity.target),
        ];
        let mut is_custom = false;
        for (value, place) in given {
            if let Some(value) = value {
                *place = value;
                is_custom = true;
            }
        }
        if is_custom {
            capacity.source =
                format!("given on the command line; the rest is {}: {}", capacity.name, capacity.source);
            "custom".clone_into(&mut capacity.name);
        }
        Context {
            nodes: self.nodes,
            capacity,
            writes_per_s: self.writes_per_s,
            reads_per_s: self.reads_per_s,
            rows_per_read: self.rows_per_read,
            declared: Declared { bulk_load: self.bulk_load, point_reads: self.point_reads },
        }
    }
}

/// Rates and rows, at most: no cluster comes near, and it prints in one line.
const NUMBER_MAX: f64 = 1e12;

fn number(text: &str) -> Result<f64, String> {
    // Underscores and commas as people write thousands.
    let plain: String = text.chars().filter(|character| !matches!(character, '_' | ',')).collect();
    let number: f64 = plain
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "not a number".to_owned())?;
    if number <= NUMBER_MAX { Ok(number) } else { Err("it must be at most 1e12".to_owned()) }
}

fn rate(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number >= 0.0 { Ok(number) } else { Err("it cannot be below 0".to_owned()) }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number > 0.0 { Ok(number) } else { Err("it must be above 0".to_owned()) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    if share > 0.0 && share <= 1.0 { Ok(share) } else { Err("it must be above 0 and at most 1".to_owned()) }
}

fn preset(name: &str) -> Result<Capacity, String> {
    Capacity::preset(name).ok_or_else(|| format!("there are {}", Capacity::PRESETS.join(", ")))
}

/// Runs it.
pub(crate) fn run(args: &DoctorArgs, session: &mut Session) -> Result<Exit> {
    if let Some(file) = &args.propose {
        propose::check_is_new(file)?;
    }
    let setting = Setting {
        args,
        codec: args.schema.as_deref().map(load).transpose()?,
        redactor: Redactor::new(args.redact),
        interrupt: Interrupt::watch()?,
    };
    let Some(examination) = examine::examine(&setting, session)? else {
        return Ok(Exit::Interrupted);
    };
    show(&examination, &setting, session)?;
    if let Some(file) = &args.propose
        && !propose::run(file, &examination, &setting, session)?
    {
        return Ok(Exit::Interrupted);
    }
    let limit = match args.fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Note => Severity::Note,
    };
    let fails = examination.diagnosis.worst().is_some_and(|worst| worst >= limit);
    Ok(if fails { Exit::No } else { Exit::Done })
}

fn load(file: &Path) -> Result<Codec> {
    Ok(Codec::new(schema_file::load(file)?)?)
}

/// Prints a diagnosis as `--format` says.
fn show(examination: &Examination, setting: &Setting<'_>, session: &mut Session) -> Result<()> {
    let (Examination { diagnosis, source, .. }, Setting { args, redactor, .. }) = (examination, setting);
    let wording = &Wording::of_layout(*redactor, &diagnosis.layout);
    if session.sarif {
        writeln!(session.out, "{}", report::sarif(diagnosis, source, *redactor))?;
        return Ok(());
    }
    match session.format {
        Format::Json => writeln!(session.out, "{}", report::json(diagnosis, source, *redactor))?,
        Format::Csv => print_csv(diagnosis, wording, session)?,
        Format::Text => {
            let look = text::Look {
                wording,
                verbose: args.verbose,
                rate_is_stated: args.load.writes_per_s.is_some(),
            };
            let mut page = Page::new(session.out.color, session.out.columns);
            text::diagnosis(diagnosis, look, &mut page);
            if args.verbose {
                page.blank();
                text::basis(diagnosis, source, &mut page);
            }
            if let (Some(file), None) = (&args.file, &args.propose)
                && !diagnosis.is_healthy()
                && file != Path::new("-")
            {
                let hint = format!(
                    "rowkey doctor {} --propose new.toml   writes a key that cures it, and proves it",
                    file.display()
                );
                page.paragraph("next", 8, &hint, Some(Style::Faint));
            }
            write!(session.out, "{}", page.finish())?;
        }
    }
    Ok(())
}

fn print_csv(diagnosis: &Diagnosis, wording: &Wording, session: &mut Session) -> Result<()> {
    writeln!(session.out, "rule,severity,field,nodes_lost,headline")?;
    for finding in &diagnosis.findings {
        writeln!(
            session.out,
            "{},{},{},{:.2},{}",
            finding.rule,
            finding.severity,
            words::csv(wording.name(finding.field.as_deref().unwrap_or_default())),
            finding.nodes_lost,
            words::csv(&wording.text(&finding.headline)),
        )?;
    }
    Ok(())
}
