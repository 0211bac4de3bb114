//! Export, the inverse of import: rows in logical order, streaming.
//!
//! ```text
//! CSV         key fields in the order of the layout, then one column `family:qualifier` each, newest version, values as they are
//! JSON lines  {"type":"row","key":{"vehicle":4092},"cells":[{"family":..,"qualifier":{"text":..},"timestamp_us":..,"value":{..}}]}
//! ```
//!
//! JSON lines lose nothing: importing them gives an equal table. CSV has one version, no timestamps, and an empty field for a cell that
//! does not exist; what was left out for that reason is counted.

mod csv;
mod json;

use crate::{Error, ErrorKind, KeyedRow, KeyedTable, Result, Scan, ScanRequest, ScanStats};
use bytes::Bytes;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// How rows are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportFormat {
    /// CSV with a header line.
    Csv {
        /// Between fields, `,` in most files.
        delimiter: u8,
        /// The columns behind the key fields: family and qualifier. `None`: all that the rows have, found by reading them once
        /// before.
        columns: Option<Vec<(String, Bytes)>>,
    },
    /// One JSON object a line, with all versions, timestamps and bytes.
    JsonLines,
}

/// Told how many rows were written, 0 while the columns of a CSV file are looked for; `Break` stops the export.
pub type ExportProgressFn<'h> = dyn FnMut(u64) -> ControlFlow<()> + 'h;

/// What an export wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportReport {
    /// Rows written.
    pub rows: u64,
    /// Cells written.
    pub cells: u64,
    /// Older versions that CSV has no place for.
    pub versions_omitted: u64,
    /// Cells of columns that were not asked for.
    pub cells_omitted: u64,
    /// What the scan did.
    pub stats: ScanStats,
}

/// Rows between two calls of the progress function.
const PROGRESS_ROWS: u64 = 1000;

impl KeyedTable {
    /// Writes the rows of a scan.
    ///
    /// # Errors
    ///
    /// Those of [`KeyedTable::scan`]; `Unsupported` for a qualifier that CSV cannot name; `Output` if `out` fails, with the
    /// [`io::Error`] as source; `Cancelled`.
    pub fn export(
        &self,
        out: &mut dyn Write,
        format: &ExportFormat,
        request: &ScanRequest,
        mut progress: Option<&mut ExportProgressFn<'_>>,
    ) -> Result<ExportReport> {
        let snapshot = self.engine().snapshot(self.name())?;
        match format {
            ExportFormat::Csv { delimiter, columns } => {
                let columns = match columns {
                    Some(columns) => columns.clone(),
                    None => csv::discover(self.scan_snapshot(&snapshot, request)?, progress.as_deref_mut())?,
                };
                let writer = csv::CsvWriter::new(out, self.codec(), *delimiter, columns)?;
                run(self.scan_snapshot(&snapshot, request)?, writer, progress)
            }
            ExportFormat::JsonLines => {
                let writer = json::JsonWriter::new(out, self.codec());
                run(self.scan_snapshot(&snapshot, request)?, writer, progress)
            }
        }
    }
}

/// Writes rows in one format.
trait RowWriter {
    fn write(&mut self, row: &KeyedRow, report: &mut ExportReport) -> Result<()>;
    fn finish(self) -> Result<()>;
}

fn run(
    mut scan: Scan,
    mut writer: impl RowWriter,
    mut progress: Option<&mut ExportProgressFn<'_>>,
) -> Result<ExportReport> {
    let mut report = ExportReport::default();
    for row in scan.by_ref() {
        writer.write(&row?, &mut report)?;
        report.rows += 1;
        if report.rows.is_multiple_of(PROGRESS_ROWS)
            && let Some(progress) = &mut progress
            && progress(report.rows).is_break()
        {
            return Err(cancelled(report.rows));
        }
    }
    writer.finish()?;
    report.stats = scan.stats();
    Ok(report)
}

fn cancelled(rows: u64) -> Error {
    let s = if rows == 1 { "" } else { "s" };
    Error::new(ErrorKind::Cancelled, format!("the export was cancelled after {rows} row{s}"))
}

/// The error of output that could not be written.
fn write_failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Output, format!("the output cannot be written: {error}")).with_source(error)
}
