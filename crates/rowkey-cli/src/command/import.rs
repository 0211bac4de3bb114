//! `rowkey import`: CSV and JSON lines into a table.

use crate::exit::{Exit, Failure};
use crate::input_file;
use crate::interrupt::{Interrupt, Interruptible};
use crate::json::{self, Object};
use crate::output::Format;
use crate::progress::{Progress, Unit};
use crate::recording::RecordArgs;
use crate::records::{Datum, right};
use crate::session::Session;
use crate::{records, store, text};
use anyhow::Result;
use rowkey::schema::TimeUnit;
use rowkey_store::Durability;
use rowkey_table::import::{
    ImportHooks, ImportOptions, ImportReport, InputFormat, Mapping, OnDuplicate, RestColumns, TimeColumn,
};
use rowkey_table::{ErrorKind, KeyedTable};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Arguments of `rowkey import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey import telemetry readings.csv
  rowkey import telemetry readings.csv.gz --map vehicle=truck_no --map km_h=metrics:speed
  producer | rowkey import telemetry - --input json --durability buffered
  rowkey import telemetry readings.csv --reject-file rejects.jsonl --on-duplicate overwrite

Where columns go: a column that is called like a field of the key is that field; one called `family:qualifier` is that cell; any other \
one is a cell of the schema's first family, its qualifier the column's name. --map, --constant and --rest say otherwise.

Every record is counted once: as written, as a duplicate, or as rejected. Without --reject-file the first bad record ends the import \
(exit 3; what was written before it stays). With it, bad records go there, and the exit code is 1 if there were any.
Ctrl-C finishes the batch at hand, says what was done, and ends with exit code 130; the import can be repeated: equal keys are \
equal rows, and their cells get one more version.")]
pub(crate) struct ImportArgs {
    /// The table
    #[arg(value_name = "TABLE")]
    table: String,
    /// CSV with a header line, or JSON lines; either may be gzipped; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the file is; without this its name decides (.json, .jsonl, .ndjson: JSON lines; else CSV)
    #[arg(long, value_name = "KIND")]
    input: Option<Input>,
    /// What stands between the fields of a CSV line
    #[arg(long, value_name = "CHARACTER", default_value = ",")]
    delimiter: char,
    /// Where a column goes: `field=column` or `column=family:qualifier`; can be given several times
    #[arg(short, long, value_name = "RULE")]
    map: Vec<String>,
    /// What every row gets: `field=value` or `family:qualifier=value`; can be given several times
    #[arg(long, value_name = "RULE")]
    constant: Vec<String>,
    /// Store the numbers of this column as 8 bytes, as counters need them; can be given several times
    #[arg(long, value_name = "COLUMN")]
    integer: Vec<String>,
    /// What happens to columns that no rule names: `ignore`, `refuse`, or the name of a family
    #[arg(long, value_name = "WHERE")]
    rest: Option<String>,
    /// Write no cell where a column is empty
    #[arg(long)]
    skip_empty: bool,
    /// The column that tells the time of the cells; without it all cells get the time of the import
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// The unit of plain numbers in the time column
    #[arg(long, value_name = "UNIT", default_value = "ms", requires = "time_column")]
    time_unit: TimeUnitName,
    /// What happens to a record whose key an earlier record had
    #[arg(long, value_name = "WHAT", default_value = "keep-versions")]
    on_duplicate: Duplicate,
    /// Put bad records into this file, one a line with its place and what is wrong, and go on
    #[arg(long, value_name = "FILE")]
    reject_file: Option<PathBuf>,
    /// End the import at one more bad record than this
    #[arg(long, value_name = "NUMBER", requires = "reject_file")]
    rejects_max: Option<u64>,
    /// When a batch counts as written
    #[arg(long, value_name = "WHEN", default_value = "synced")]
    durability: WrittenWhen,
    #[command(flatten)]
    record: RecordArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Input {
    /// CSV with a header line
    Csv,
    /// JSON lines
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TimeUnitName {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Duplicate {
    /// Keep both as versions of the cells
    KeepVersions,
    /// The last record of the file wins
    Overwrite,
    /// The first record wins, later ones are bad records
    Reject,
}

/// When a batch counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WrittenWhen {
    /// When it is on disk: survives a crash of the machine
    Synced,
    /// When the system has it: faster; a crash of the machine during the import may lose its last rows, never half of one. The import
    /// ends by putting everything on disk
    Buffered,
}

/// Runs it.
pub(crate) fn run(args: &ImportArgs, session: &mut Session) -> Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let table = store::open_table_recorded(session, &args.table, &args.record)?;
    let mapping = mapping(args, &table)?;
    let (reader, length) = open(&args.file, &interrupt)?;
    let mut rejects = args.reject_file.as_deref().map(|file| create(file, &args.file)).transpose()?;
    let mut progress = Progress::new("import", length, Unit::Bytes);
    let mut tell = |at: rowkey_table::import::Progress| {
        progress.set(at.bytes);
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let hooks = ImportHooks {
        rejects: rejects.as_mut().map(|writer| writer as &mut dyn io::Write),
        progress: Some(&mut tell),
    };
    let result = table.import(reader, format(args)?, &mapping, &options(args), hooks);
    drop(progress);
    if let Some(writer) = &mut rejects {
        writer.flush()?;
    }
    let report = match result {
        // A wait for stdin that Ctrl-C ended is an error of the data.
        Err(error)
            if error.kind() == ErrorKind::Cancelled
                || (error.kind() == ErrorKind::Data && interrupt.is_set()) =>
        {
            session.note(&format!("interrupted: {error}"));
            return Ok(Exit::Interrupted);
        }
        Err(error) if error.kind() == ErrorKind::Data => {
            let file = shown(&args.file);
            // The one error of data that an option gets over.
            let hint = if args.reject_file.is_none() && error.to_string().contains("more than the 0 allowed")
            {
                "\nwith --reject-file FILE, bad records go there, and the import goes on"
            } else {
                ""
            };
            return Err(Failure::bad_data(format!("{file}: {error}{hint}")));
        }
        result => result?,
    };
    print(&report, args, session)?;
    Ok(if report.rejected() > 0 { Exit::No } else { Exit::Done })
}

fn mapping(args: &ImportArgs, table: &KeyedTable) -> Result<Mapping> {
    let schema = table.codec().schema();
    let mut mapping = Mapping { skip_empty: args.skip_empty, ..Mapping::default() };
    for rule in &args.map {
        mapping.add_rule(rule, schema)?;
    }
    for rule in &args.constant {
        mapping.add_constant(rule, schema)?;
    }
    mapping.integers.extend(args.integer.iter().cloned());
    mapping.rest = match args.rest.as_deref() {
        None => RestColumns::FirstFamily,
        Some("ignore") => RestColumns::Ignore,
        Some("refuse") => RestColumns::Refuse,
        Some(family) => RestColumns::Family(family.to_owned()),
    };
    let unit = match args.time_unit {
        TimeUnitName::S => TimeUnit::Seconds,
        TimeUnitName::Ms => TimeUnit::Millis,
        TimeUnitName::Us => TimeUnit::Micros,
        TimeUnitName::Ns => TimeUnit::Nanos,
    };
    mapping.time = args.time_column.clone().map(|column| TimeColumn { column, unit });
    Ok(mapping)
}

fn options(args: &ImportArgs) -> ImportOptions {
    ImportOptions {
        on_duplicate: match args.on_duplicate {
            Duplicate::KeepVersions => OnDuplicate::KeepVersions,
            Duplicate::Overwrite => OnDuplicate::Overwrite,
            Duplicate::Reject => OnDuplicate::Reject,
        },
        rejects_max: if args.reject_file.is_some() { args.rejects_max } else { Some(0) },
        durability: match args.durability {
            WrittenWhen::Synced => Durability::Synced,
            WrittenWhen::Buffered => Durability::Buffered,
        },
        ..ImportOptions::default()
    }
}

fn format(args: &ImportArgs) -> Result<InputFormat> {
    let input = args.input.unwrap_or_else(|| {
        let name = args.file.to_string_lossy().to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let is_json = [".json", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending));
        if is_json { Input::Json } else { Input::Csv }
    });
    Ok(match input {
        Input::Json => InputFormat::JsonLines,
        Input::Csv => {
            let delimiter = u8::try_from(args.delimiter).ok().filter(u8::is_ascii).ok_or_else(|| {
                Failure::usage(format!("--delimiter `{}` is not an ASCII character", args.delimiter))
            })?;
            InputFormat::Csv { delimiter }
        }
    })
}

/// The input and, if it is a plain file, its length.
fn open(file: &Path, interrupt: &Interrupt) -> Result<(Box<dyn Read>, Option<u64>)> {
    if file == Path::new("-") {
        return Ok((Box::new(Interruptible::new(io::stdin(), interrupt.clone())), None));
    }
    let (opened, length) = input_file::open(file)?;
    let is_packed = file.extension().is_some_and(|ending| ending == "gz");
    Ok((Box::new(opened), length.filter(|_| !is_packed)))
}

/// Creates the reject file, which must not be the input: that would be empty then.
fn create(file: &Path, input: &Path) -> Result<BufWriter<File>> {
    if let (Ok(one), Ok(other)) = (file.canonicalize(), input.canonicalize())
        && one == other
    {
        let message = format!("--reject-file {} is the input itself; name another file", file.display());
        return Err(Failure::usage(message));
    }
    let created = File::create(file)
        .map_err(|error| Failure::bad_data(format!("{}: cannot be written: {error}", file.display())))?;
    Ok(BufWriter::new(created))
}

/// A file as messages name it.
fn shown(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}

fn print(report: &ImportReport, args: &ImportArgs, session: &mut Session) -> Result<()> {
    for warning in &report.warnings {
        session.warn(warning);
    }
    if session.format == Format::Csv {
        return print_csv(report, session);
    }
    if session.format == Format::Json {
        let ignored = report.columns_ignored.iter().map(|column| json::quote(column));
        let line = Object::line("import")
            .number("rows_read", report.rows_read)
            .number("rows_written", report.rows_written)
            .number("duplicates_kept", report.duplicates_kept)
            .number("duplicates_overwritten", report.duplicates_overwritten)
            .number("duplicates_rejected", report.duplicates_rejected)
            .number("rows_rejected", report.rows_rejected)
            .number("cells_written", report.cells_written)
            .number("bytes_read", report.bytes_read)
            .raw("columns_ignored", &json::array(ignored));
        writeln!(session.out, "{}", line.end())?;
        return Ok(());
    }
    let out = &mut session.out;
    let line = |count: u64, what: &str| format!("{:>12}  {what}", text::count(count));
    writeln!(out, "{}", line(report.rows_read, "records read"))?;
    writeln!(out, "{}", line(report.rows_written, "rows written"))?;
    let duplicates = [
        (report.duplicates_kept, "duplicates kept as versions"),
        (report.duplicates_overwritten, "duplicates that replaced an earlier record"),
        (report.duplicates_rejected, "duplicates rejected"),
        (report.rows_rejected, "bad records rejected"),
    ];
    for (count, what) in duplicates.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "{}", line(count, what))?;
    }
    writeln!(out, "{}", line(report.cells_written, "cells written"))?;
    // Before what goes to stderr, also where both streams end at one terminal.
    out.flush_all()?;
    if !report.columns_ignored.is_empty() {
        session.note(&format!("columns left out: {}", report.columns_ignored.join(", ")));
    }
    for reject in &report.first_rejects {
        session.warn(&format!("line {}: {}: {}", reject.line, reject.reason, reject.text));
    }
    let more = report.rejected() - report.first_rejects.len() as u64;
    if let (Some(file), true) = (&args.reject_file, more > 0) {
        session.note(&format!("and {} more in {}", text::count(more), file.display()));
    }
    Ok(())
}

fn print_csv(report: &ImportReport, session: &mut Session) -> Result<()> {
    let columns = [
        right("rows_read"),
        right("rows_written"),
        right("duplicates_kept"),
        right("duplicates_overwritten"),
        right("duplicates_rejected"),
        right("rows_rejected"),
        right("cells_written"),
        right("bytes_read"),
    ];
    let counts = [
        report.rows_read,
        report.rows_written,
        report.duplicates_kept,
        report.duplicates_overwritten,
        report.duplicates_rejected,
        report.rows_rejected,
        report.cells_written,
        report.bytes_read,
    ];
    let row = counts.map(Datum::Count).to_vec();
    Ok(records::print(&mut session.out, Format::Csv, "import", &columns, &[row])?)
}
