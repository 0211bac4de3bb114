//! `rowkey scan`: the rows of a query, in key order.

use crate::command::plan;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::json::Object;
use crate::output::Format;
use crate::recording::RecordArgs;
use crate::rows::{RowPrinter, Shown};
use crate::session::Session;
use crate::{store, text};
use anyhow::Result;
use bytes::Bytes;
use rowkey::escape;
use rowkey_store::{ColumnSelection, Selection};
use rowkey_table::ScanRequest;
use std::io::Write as _;

/// Arguments of `rowkey scan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey scan telemetry --where 'vehicle = 42707 and time >= 2026-09-15' --limit 10 --reverse
  rowkey scan telemetry --where 'vehicle in (14, 42707)' --columns metrics:speed
  rowkey scan telemetry --full-scan --format json > rows.jsonl

Conditions compare fields of the key: = < <= > >= in prefix, joined by `and`. Values with blanks or signs go into quotes. Times \
are written like 2026-09-15 (midnight UTC) or 2026-09-15T08:30:00Z; other zones as 2026-09-15T10:30:00+02:00.
Rows come in the order of the fields in the key's layout, whatever the salt; --reverse turns it round.
Ctrl-C ends the scan after the row at hand, exit 130.")]
pub(crate) struct ScanArgs {
    /// The table
    #[arg(value_name = "TABLE", required_unless_present = "named_table", conflicts_with = "named_table")]
    table: Option<String>,
    /// The table, in the words of `rowkey plan`
    #[arg(short = 't', long = "table", value_name = "TABLE")]
    named_table: Option<String>,
    /// Which rows: a condition on the fields of the key
    #[arg(
        short = 'w',
        long = "where",
        value_name = "CONDITION",
        default_value = "",
        hide_default_value = true
    )]
    condition: String,
    /// At most so many rows
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u64>,
    /// Leave out so many rows first
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    offset: u64,
    /// From the last row to the first
    #[arg(short, long)]
    reverse: bool,
    /// Go on behind the page that ended with this token
    // The token stands behind what was left out already: to leave out as much again would lose rows.
    #[arg(long, value_name = "TOKEN", conflicts_with = "offset")]
    page_token: Option<String>,
    /// Rows in any order: saves the merging of buckets
    #[arg(long)]
    unordered: bool,
    /// Read the whole table, and mean it: without this a scan without bounds is refused
    #[arg(long)]
    full_scan: bool,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    record: RecordArgs,
}

/// Which cells of rows are read, and how they are shown.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cells")]
pub(crate) struct SelectArgs {
    /// Only these families or columns: `family` or `family:qualifier`, with commas between
    #[arg(short, long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// The newest so many cells of each column, or `all`; other than 1, cells are shown one a line with their times
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    versions: Versions,
    /// Only cells of this time or later
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only cells before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Leave out cells that garbage collection may take, as if it had run just now
    #[arg(long)]
    pub(crate) live: bool,
    /// Show the stored row key in front of its fields
    #[arg(long)]
    keys: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Versions {
    All,
    Newest(u32),
}

impl std::str::FromStr for Versions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("at least 1, or `all`".to_owned()),
            Ok(number) => Ok(Self::Newest(number)),
            Err(_) if text == "all" => Ok(Self::All),
            Err(_) => Err("neither a number nor `all`".to_owned()),
        }
    }
}

impl SelectArgs {
    /// As the store takes it.
    ///
    /// # Errors
    ///
    /// Usage if a column or a time cannot be read.
    pub(crate) fn selection(&self) -> Result<Selection> {
        let since = self.since.as_deref().map(time_us).transpose()?;
        let until = self.until.as_deref().map(time_us).transpose()?;
        let times_us =
            (since.is_some() || until.is_some()).then(|| since.unwrap_or(0)..until.unwrap_or(i64::MAX));
        let versions_max = match self.versions {
            Versions::All => None,
            Versions::Newest(number) => Some(number),
        };
        Ok(Selection { columns: columns(&self.columns)?, times_us, versions_max })
    }

    /// How rows are printed.
    pub(crate) fn shown(&self) -> Shown {
        Shown { keys: self.keys, cells: self.versions != Versions::Newest(1) }
    }
}

/// `family` and `family:qualifier` as a selection; none: all.
fn columns(names: &[String]) -> Result<ColumnSelection> {
    let mut only: Vec<(String, Option<Vec<Bytes>>)> = Vec::new();
    for name in names {
        let (family, qualifier) = match name.split_once(':') {
            Some((family, qualifier)) => (family, Some(Bytes::from(escape::unescape(qualifier)?))),
            None => (name.as_str(), None),
        };
        if family.is_empty() {
            return Err(Failure::usage(format!("`{name}` is neither `family` nor `family:qualifier`")));
        }
        let at = only.iter().position(|(known, _)| known == family).unwrap_or_else(|| {
            only.push((family.to_owned(), Some(Vec::new())));
            only.len() - 1
        });
        // The whole family includes its columns.
        match (&mut only[at].1, qualifier) {
            (Some(qualifiers), Some(qualifier)) => qualifiers.push(qualifier),
            (qualifiers, None) => *qualifiers = None,
            (None, Some(_)) => {}
        }
    }
    Ok(if only.is_empty() { ColumnSelection::All } else { ColumnSelection::Only(only) })
}

/// Microseconds since the epoch, from an RFC 3339 time or a date.
///
/// # Errors
///
/// Usage if it is neither, or before 1970.
pub(crate) fn time_us(text: &str) -> Result<i64> {
    let time: rowkey::Time = text.parse().map_err(|error: rowkey::Error| {
        let what = error.message();
        Failure::usage(format!("{what}; write it like 2026-09-15 or 2026-09-15T08:30:00Z"))
    })?;
    let time_us = time.as_micros();
    if time_us < 0 {
        return Err(Failure::usage(format!("{text} is before 1970, and no cell is")));
    }
    if rowkey::Time::from_micros(time_us) != time {
        return Err(Failure::usage(format!(
            "{text} is finer than the microseconds of cells, or too late for one"
        )));
    }
    Ok(time_us)
}

/// Runs it.
pub(crate) fn run(args: &ScanArgs, session: &mut Session) -> Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let Some(name) = args.table.as_ref().or(args.named_table.as_ref()) else {
        return Err(Failure::usage("which table? give its name"));
    };
    let table = store::open_table_recorded(session, name, &args.record)?;
    let query = plan::query(table.codec(), &args.condition, args.full_scan)?;
    let request = ScanRequest {
        rows_max: args.limit,
        offset: args.offset,
        reversed: args.reverse,
        selection: args.select.selection()?,
        live: args.select.live,
        page_token: args.page_token.clone(),
        ordered: !args.unordered,
        ..ScanRequest::new(query)
    };
    let mut printer = RowPrinter::new(table.codec().clone(), session.format, args.select.shown());
    let mut scan = table.scan(&request)?;
    let mut exit = Exit::Done;
    let mut rows = 0;
    for row in &mut scan {
        printer.row(row?, &mut session.out)?;
        rows += 1;
        if interrupt.is_set() {
            exit = Exit::Interrupted;
            break;
        }
    }
    printer.finish(&mut session.out)?;
    if exit == Exit::Interrupted {
        session.note(&format!("interrupted after {}", text::counted(rows, "row")));
    } else if args.limit == Some(rows) {
        tell_next_page(scan.page_token(), session)?;
    }
    Ok(exit)
}

fn tell_next_page(token: Option<String>, session: &mut Session) -> Result<()> {
    let Some(token) = token else { return Ok(()) };
    match session.format {
        Format::Json => writeln!(session.out, "{}", Object::line("page").text("next", &token).end())?,
        Format::Text | Format::Csv => {
            // Behind the rows, also where both streams end at one terminal.
            session.out.flush_all()?;
            session.note(&format!("next page: --page-token {token}"));
        }
    }
    Ok(())
}
