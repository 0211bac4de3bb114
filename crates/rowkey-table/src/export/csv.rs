//! CSV: the newest version of each column.

use super::{ExportProgressFn, ExportReport, PROGRESS_ROWS, RowWriter, cancelled, write_failed};
use crate::{Error, ErrorKind, KeyedRow, Result, Scan};
use bytes::Bytes;
use rowkey::Codec;
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::sync::Arc;

/// Columns that a CSV file may have when they are found by reading.
const COLUMNS_MAX: usize = 10_000;

/// Reads all rows once for their columns, by family and qualifier.
pub(super) fn discover(
    scan: Scan,
    mut progress: Option<&mut ExportProgressFn<'_>>,
) -> Result<Vec<(String, Bytes)>> {
    let mut columns: BTreeSet<(Arc<str>, Bytes)> = BTreeSet::new();
    for (number, row) in scan.enumerate() {
        let row = row?;
        // Nothing is written yet, but a caller who wants no more must not have to wait for the end of the table.
        if (number as u64 + 1).is_multiple_of(PROGRESS_ROWS)
            && let Some(progress) = &mut progress
            && progress(0).is_break()
        {
            return Err(cancelled(0));
        }
        let mut last: Option<(&Arc<str>, &Bytes)> = None;
        for cell in &row.cells {
            if last != Some((&cell.family, &cell.qualifier)) {
                columns.insert((Arc::clone(&cell.family), cell.qualifier.clone()));
                last = Some((&cell.family, &cell.qualifier));
            }
        }
        if columns.len() > COLUMNS_MAX {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the rows have more than {COLUMNS_MAX} columns; name those to export, or export JSON lines"
                ),
            ));
        }
    }
    Ok(columns.into_iter().map(|(family, qualifier)| (family.to_string(), qualifier)).collect())
}

pub(super) struct CsvWriter<'w> {
    out: ::csv::Writer<&'w mut dyn Write>,
    codec: &'w Codec,
    positions: HashMap<String, HashMap<Bytes, usize>>,
    columns: usize,
    /// The values of a row by column, reused.
    values: Vec<Option<Bytes>>,
}

impl<'w> CsvWriter<'w> {
    pub(super) fn new(
        out: &'w mut dyn Write,
        codec: &'w Codec,
        delimiter: u8,
        columns: Vec<(String, Bytes)>,
    ) -> Result<Self> {
        let names = columns.iter().map(|(family, qualifier)| name(family, qualifier));
        let names = names.collect::<Result<Vec<_>>>()?;
        let mut out = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        for field in &codec.schema().fields {
            out.write_field(&field.name).map_err(csv_failed)?;
        }
        let count = columns.len();
        let mut positions: HashMap<String, HashMap<Bytes, usize>> = HashMap::new();
        for (position, (family, qualifier)) in columns.into_iter().enumerate() {
            positions.entry(family).or_default().insert(qualifier, position);
        }
        for name in &names {
            out.write_field(name).map_err(csv_failed)?;
        }
        out.write_record(None::<&[u8]>).map_err(csv_failed)?;
        Ok(Self { out, codec, positions, columns: count, values: Vec::new() })
    }
}

/// The name of a column, as import takes it.
fn name(family: &str, qualifier: &[u8]) -> Result<String> {
    let name = std::str::from_utf8(qualifier).map_err(|_| {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "the qualifier `{}` of family `{family}` is no text, so no CSV column can have its name; export JSON lines",
                qualifier.escape_ascii(),
            ),
        )
    })?;
    Ok(format!("{family}:{name}"))
}

impl RowWriter for CsvWriter<'_> {
    fn write(&mut self, row: &KeyedRow, report: &mut ExportReport) -> Result<()> {
        self.values.clear();
        self.values.resize(self.columns, None);
        for cell in &row.cells {
            let position = self.positions.get(&*cell.family).and_then(|family| family.get(&cell.qualifier));
            match position.map(|&position| &mut self.values[position]) {
                None => report.cells_omitted += 1,
                Some(Some(_)) => report.versions_omitted += 1,
                Some(free) => {
                    *free = Some(cell.value.clone());
                    report.cells += 1;
                }
            }
        }
        for (field, value) in row.values.iter().enumerate() {
            self.out.write_field(self.codec.format_value(field, value)).map_err(csv_failed)?;
        }
        for value in &self.values {
            self.out.write_field(value.as_deref().unwrap_or_default()).map_err(csv_failed)?;
        }
        self.out.write_record(None::<&[u8]>).map_err(csv_failed)
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(write_failed)
    }
}

fn csv_failed(error: ::csv::Error) -> Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => write_failed(error),
        other => Error::new(ErrorKind::Output, format!("the output cannot be written: {other:?}")),
    }
}
