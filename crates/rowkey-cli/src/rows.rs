//! Rows in three formats, streamed: text tables and CSV look at the first rows to choose their columns, then go on row by row.

use crate::command::key::fields_json;
use crate::exit::Failure;
use crate::json::{self, Object};
use crate::output::{Format, Output, Style, styled};
use crate::records::TableLayout;
use crate::text;
use anyhow::Result;
use rowkey::{Codec, escape};
use rowkey_store::Cell;
use rowkey_table::KeyedRow;
use std::io::Write as _;

/// Rows that are looked at before the columns of a text table or CSV are fixed.
const LOOK_AHEAD_ROWS: usize = 1000;

/// What of a row is printed. JSON lines are those of `rowkey export`, and always have all cells with their times.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// The stored key in front of the fields.
    pub(crate) keys: bool,
    /// In text and CSV: one line for each cell with its time, instead of one line for each row.
    pub(crate) cells: bool,
}

/// Prints rows.
#[derive(Debug)]
pub(crate) struct RowPrinter {
    codec: Codec,
    format: Format,
    shown: Shown,
    waiting: Vec<KeyedRow>,
    /// Fixed once the first rows were seen.
    table: Option<Table>,
}

#[derive(Debug)]
struct Table {
    columns: Vec<(String, Vec<u8>)>,
    layout: TableLayout,
}

impl RowPrinter {
    /// A printer of rows whose keys are read by `codec`.
    pub(crate) fn new(codec: Codec, format: Format, shown: Shown) -> Self {
        Self { codec, format, shown, waiting: Vec::new(), table: None }
    }

    /// Prints a row, now or later.
    ///
    /// # Errors
    ///
    /// If stdout cannot be written; in CSV, if the row has a column that the header lacks.
    pub(crate) fn row(&mut self, row: KeyedRow, out: &mut Output) -> Result<()> {
        match (self.format, &self.table) {
            (Format::Json, _) => writeln!(out, "{}", self.json(&row))?,
            (_, Some(_)) => self.lines(&row, out)?,
            (_, None) => {
                self.waiting.push(row);
                if self.waiting.len() == LOOK_AHEAD_ROWS {
                    self.begin(out)?;
                }
            }
        }
        Ok(())
    }

    /// Prints what waits. Without a row, text prints nothing, and CSV its header.
    ///
    /// # Errors
    ///
    /// As [`RowPrinter::row`].
    pub(crate) fn finish(mut self, out: &mut Output) -> Result<()> {
        let wanted = self.format == Format::Csv || !self.waiting.is_empty();
        if self.format != Format::Json && self.table.is_none() && wanted {
            self.begin(out)?;
        }
        Ok(())
    }

    fn begin(&mut self, out: &mut Output) -> Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let columns = if self.shown.cells { Vec::new() } else { columns_of(&rows) };
        let header = self.header(&columns);
        let mut layout = TableLayout::new(&vec![false; header.len()]);
        layout.fit(&header);
        for row in &rows {
            self.fields_of(row, &columns)?.iter().for_each(|line| layout.fit(line));
        }
        if self.format == Format::Csv {
            writeln!(out, "{}", csv_line(&header))?;
        } else {
            let color = out.color;
            writeln!(out, "{}", styled(&layout.line(&header), Style::Heading, color))?;
        }
        self.table = Some(Table { columns, layout });
        rows.iter().try_for_each(|row| self.lines(row, out))
    }

    fn header(&self, columns: &[(String, Vec<u8>)]) -> Vec<String> {
        let mut header = Vec::new();
        if self.shown.keys {
            header.push("key".to_owned());
        }
        header.extend(self.codec.schema().fields.iter().map(|field| field.name.clone()));
        if self.shown.cells {
            header.extend(["column", "timestamp", "value"].map(str::to_owned));
        } else {
            header.extend(columns.iter().map(|(family, qualifier)| column_name(family, qualifier)));
        }
        header
    }

    fn lines(&mut self, row: &KeyedRow, out: &mut Output) -> Result<()> {
        let Some(table) = &self.table else { return Ok(()) };
        if let Some(cell) = self.unexpected(row, table) {
            let name = column_name(&cell.family, &cell.qualifier);
            if self.format == Format::Csv {
                return Err(Failure::bad_data(format!(
                    "row {}: its column `{name}` is not in the header, which has the columns of the first {LOOK_AHEAD_ROWS} rows; \
                     choose the columns with --columns, or use --format json",
                    escape::escaped(&row.key)
                )));
            }
            // A text table may begin anew.
            writeln!(out)?;
            self.table = None;
            self.waiting.push(row.clone());
            return self.begin(out);
        }
        for line in self.fields_of(row, &table.columns)? {
            if self.format == Format::Csv {
                writeln!(out, "{}", csv_line(&line))?;
            } else {
                writeln!(out, "{}", table.layout.line(&line))?;
            }
        }
        Ok(())
    }

    fn unexpected<'r>(&self, row: &'r KeyedRow, table: &Table) -> Option<&'r Cell> {
        if self.shown.cells {
            return None;
        }
        row.cells.iter().find(|cell| {
            !table
                .columns
                .iter()
                .any(|(family, qualifier)| *family == *cell.family && *qualifier == cell.qualifier)
        })
    }

    /// The lines of a row: one, or one for each cell.
    fn fields_of(&self, row: &KeyedRow, columns: &[(String, Vec<u8>)]) -> Result<Vec<Vec<String>>> {
        let mut front = Vec::new();
        if self.shown.keys {
            front.push(escape::escaped(&row.key).to_string());
        }
        front.extend(
            row.values.iter().enumerate().map(|(field, value)| self.codec.format_value(field, value)),
        );
        if self.shown.cells {
            return row
                .cells
                .iter()
                .map(|cell| {
                    let mut line = front.clone();
                    line.push(column_name(&cell.family, &cell.qualifier));
                    line.push(time_text(cell.timestamp_us));
                    line.push(text::value(&cell.value));
                    Ok(line)
                })
                .collect();
        }
        let missing = if self.format == Format::Csv { "" } else { "-" };
        front.extend(columns.iter().map(|(family, qualifier)| {
            let cell = row.cells.iter().find(|cell| *cell.family == **family && cell.qualifier == *qualifier);
            cell.map_or_else(|| missing.to_owned(), |cell| text::value(&cell.value))
        }));
        Ok(vec![front])
    }

    fn json(&self, row: &KeyedRow) -> String {
        let cells = row.cells.iter().map(|cell| {
            Object::new()
                .text("family", &cell.family)
                .bytes("qualifier", &cell.qualifier)
                .number("timestamp_us", cell.timestamp_us)
                .bytes("value", &cell.value)
                .end()
        });
        let line = Object::line("row").raw("key", &fields_json(&self.codec, &row.values));
        let line = if self.shown.keys { line.bytes("row_key", &row.key) } else { line };
        line.raw("cells", &json::array(cells)).end()
    }
}

/// The columns of these rows: families as the store orders them, qualifiers ascending.
fn columns_of(rows: &[KeyedRow]) -> Vec<(String, Vec<u8>)> {
    let mut families: Vec<&str> = Vec::new();
    let mut columns: Vec<(usize, &[u8])> = Vec::new();
    for cell in rows.iter().flat_map(|row| &row.cells) {
        let family = families.iter().position(|family| *family == &*cell.family).unwrap_or_else(|| {
            families.push(&cell.family);
            families.len() - 1
        });
        let column = (family, &cell.qualifier[..]);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns.sort_unstable();
    columns.into_iter().map(|(family, qualifier)| (families[family].to_owned(), qualifier.to_vec())).collect()
}

fn column_name(family: &str, qualifier: &[u8]) -> String {
    format!("{family}:{}", text::value(qualifier))
}

fn csv_line(fields: &[String]) -> String {
    let fields: Vec<_> = fields.iter().map(|field| text::csv(field)).collect();
    fields.join(",")
}

/// A cell's time as RFC 3339, in UTC.
pub(crate) fn time_text(timestamp_us: i64) -> String {
    rowkey::Time::from_micros(timestamp_us).to_string()
}
