//! `rowkey export`: a table's rows as CSV or JSON lines, which `rowkey import` reads back.

use crate::command::plan;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::new_file;
use crate::output::Format;
use crate::progress::{Progress, Unit};
use crate::recording::RecordArgs;
use crate::session::Session;
use crate::store;
use crate::text;
use anyhow::Result;
use rowkey_table::export::{ExportFormat, ExportReport};
use rowkey_table::{ErrorKind, ScanRequest};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Arguments of `rowkey export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey export telemetry --format csv > telemetry.csv
  rowkey export telemetry --where 'vehicle = 42707' --format json -o truck.jsonl

JSON lines hold everything: keys, all versions of all cells with their times; `rowkey import` makes the same rows of them. CSV has the \
newest version of each column, with the bytes of its values as they are (`rowkey scan --format csv` writes \\xNN for those that are no \
text). Rows come in the order of the fields in the key's layout. --format text means csv here.
Without --where the whole table is written; that needs no --full-scan.")]
pub(crate) struct ExportArgs {
    /// The table
    #[arg(value_name = "TABLE")]
    table: String,
    /// Which rows: a condition on the fields of the key, as in `rowkey scan --where`
    #[arg(
        short = 'w',
        long = "where",
        value_name = "CONDITION",
        default_value = "",
        hide_default_value = true
    )]
    condition: String,
    /// The file to write instead of stdout; it appears under its name when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out cells that garbage collection may take, as if it had run just now
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// Runs it.
pub(crate) fn run(args: &ExportArgs, session: &mut Session) -> Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let table = store::open_table_recorded(session, &args.table, &args.record)?;
    let query = plan::query(table.codec(), &args.condition, args.condition.trim().is_empty())?;
    let request = ScanRequest { live: args.live, ..ScanRequest::new(query) };
    let format = match session.format {
        Format::Json => ExportFormat::JsonLines,
        Format::Text | Format::Csv => ExportFormat::Csv { delimiter: b',', columns: None },
    };
    let mut progress = Progress::new("export", None, Unit::Rows);
    let mut tell = |rows: u64| {
        progress.set(rows);
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = match &args.output {
        None => {
            table.export(&mut session.out, &format, &request, Some(&mut tell)).map_err(anyhow::Error::from)
        }
        Some(file) => {
            let named = |error: rowkey_table::Error| match error.kind() {
                ErrorKind::Output => Failure::bad_data(format!("{}: {error}", file.display())),
                _ => error.into(),
            };
            new_file::write(file, |out| table.export(out, &format, &request, Some(&mut tell)).map_err(named))
        }
    };
    drop(progress);
    let report = match result {
        Err(error) if is_cancelled(&error) => {
            session.note(&format!("interrupted: {error}"));
            return Ok(Exit::Interrupted);
        }
        result => result?,
    };
    session.out.flush_all()?;
    tell_counts(&report, args.output.as_deref(), session);
    Ok(Exit::Done)
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    error.downcast_ref::<rowkey_table::Error>().is_some_and(|error| error.kind() == ErrorKind::Cancelled)
}

fn tell_counts(report: &ExportReport, file: Option<&Path>, session: &Session) {
    if let Some(file) = file {
        session.note(&format!("{} written to {}", text::counted(report.rows, "row"), file.display()));
    }
    if report.versions_omitted > 0 {
        session.warn(&format!(
            "{} older versions of cells were left out, since CSV has one; --format json has all",
            text::count(report.versions_omitted)
        ));
    }
}
