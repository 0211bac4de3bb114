//! Lists of alike things in three formats: a text table, JSON lines, CSV.

use crate::json::Object;
use crate::output::{Format, Output, Style, styled};
use crate::text;
use std::borrow::Cow;
use std::io::{self, Write as _};

/// One column of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Heading, and name in CSV and JSON.
    pub(crate) name: &'static str,
    /// Numbers stand to the right.
    pub(crate) right: bool,
}

/// A column of text.
pub(crate) const fn left(name: &'static str) -> Column {
    Column { name, right: false }
}

/// A column of numbers.
pub(crate) const fn right(name: &'static str) -> Column {
    Column { name, right: true }
}

/// One entry of a list.
#[derive(Debug, Clone)]
pub(crate) enum Datum {
    /// Nothing: `-`, null, empty.
    None,
    /// Text.
    Text(String),
    /// A number.
    Count(u64),
    /// A number of bytes.
    Size(u64),
    /// A row key or a part of one.
    Key(Vec<u8>),
}

impl Datum {
    fn for_people(&self) -> Cow<'_, str> {
        match self {
            Self::None => "-".into(),
            Self::Text(text) => text.as_str().into(),
            Self::Count(number) => text::count(*number).into(),
            Self::Size(bytes) => text::size(*bytes).into(),
            Self::Key(key) => rowkey::escape::escaped(key).to_string().into(),
        }
    }

    fn for_csv(&self) -> Cow<'_, str> {
        match self {
            Self::None => "".into(),
            Self::Text(text) => text::csv(text),
            Self::Count(number) | Self::Size(number) => number.to_string().into(),
            Self::Key(key) => text::csv(&rowkey::escape::escaped(key).to_string()).into_owned().into(),
        }
    }

    fn put(&self, object: Object, name: &str) -> Object {
        match self {
            Self::None => object.raw(name, "null"),
            Self::Text(text) => object.text(name, text),
            Self::Count(number) | Self::Size(number) => object.number(name, number),
            Self::Key(key) => object.bytes(name, key),
        }
    }
}

/// Prints a list. `kind` is the `"type"` of its JSON lines.
///
/// # Errors
///
/// If stdout cannot be written.
pub(crate) fn print(
    out: &mut Output,
    format: Format,
    kind: &str,
    columns: &[Column],
    rows: &[Vec<Datum>],
) -> io::Result<()> {
    match format {
        Format::Text => print_table(out, columns, rows),
        Format::Json => rows.iter().try_for_each(|row| {
            let object = columns.iter().zip(row).fold(Object::line(kind), |object, (column, datum)| {
                datum.put(object, &column.name.replace([' ', '-'], "_"))
            });
            writeln!(out, "{}", object.end())
        }),
        Format::Csv => {
            let names: Vec<String> =
                columns.iter().map(|column| column.name.replace([' ', '-'], "_")).collect();
            writeln!(out, "{}", names.join(","))?;
            rows.iter().try_for_each(|row| {
                let fields: Vec<Cow<'_, str>> = row.iter().map(Datum::for_csv).collect();
                writeln!(out, "{}", fields.join(","))
            })
        }
    }
}

fn print_table(out: &mut Output, columns: &[Column], rows: &[Vec<Datum>]) -> io::Result<()> {
    let header: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let body: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|datum| datum.for_people().into_owned()).collect()).collect();
    let to_the_right: Vec<bool> = columns.iter().map(|column| column.right).collect();
    let mut layout = TableLayout::new(&to_the_right);
    layout.fit(&header);
    for row in &body {
        layout.fit(row);
    }
    let heading = layout.line(&header);
    let color = out.color;
    writeln!(out, "{}", styled(&heading, Style::Heading, color))?;
    body.iter().try_for_each(|row| writeln!(out, "{}", layout.line(row)))
}

/// The widths of a text table's columns.
#[derive(Debug)]
pub(crate) struct TableLayout {
    widths: Vec<usize>,
    to_the_right: Vec<bool>,
}

impl TableLayout {
    /// Columns of no width yet.
    pub(crate) fn new(to_the_right: &[bool]) -> Self {
        Self { widths: vec![0; to_the_right.len()], to_the_right: to_the_right.to_vec() }
    }

    /// Makes room for this line.
    pub(crate) fn fit(&mut self, line: &[String]) {
        for (width, text) in self.widths.iter_mut().zip(line) {
            *width = (*width).max(text.chars().count());
        }
    }

    /// A line with its columns in place, without blanks at its end.
    pub(crate) fn line(&self, line: &[String]) -> String {
        let mut out = String::new();
        for (at, text) in line.iter().enumerate() {
            let blanks = self.widths[at].saturating_sub(text.chars().count());
            if at > 0 {
                out.push_str("  ");
            }
            if self.to_the_right[at] {
                out.extend(std::iter::repeat_n(' ', blanks));
                out.push_str(text);
            } else {
                out.push_str(text);
                out.extend(std::iter::repeat_n(' ', blanks));
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}
