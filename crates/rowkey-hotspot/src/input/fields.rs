//! CSV of fields, through a key schema: the header names the fields, each record is a write of the key that its values make.
//!
//! Quotes are those of RFC 4180: a quote opens a value only as its first byte, a doubled one stands for itself, and a value in quotes may
//! have line ends.

use super::lines::{Line, Lines, trim_cr};
use super::report::Tally;
use super::{Options, Sink, Stop};
use crate::ErrorKind;
use crate::operation::Operation;
use rowkey::schema::{KeySchema, SaltSource};
use rowkey::{Codec, Value};
use rowkey_store::seeded::Seeded;

/// What may divide columns, most likely first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Bytes of a record that are kept to show it.
const SHOWN_BYTES: usize = 128;

/// The delimiter that makes names of all fields of a header line.
pub(super) fn find_delimiter(header: &[u8], schema: &KeySchema, asked: Option<u8>) -> Option<u8> {
    let candidates = asked.map_or_else(|| DELIMITERS.to_vec(), |delimiter| vec![delimiter]);
    candidates.into_iter().find(|&delimiter| {
        let names = header_names(header, delimiter);
        schema.fields.iter().all(|field| names.contains(&field.name))
    })
}

/// The names of a header line; of one that ends within quotes, none.
fn header_names(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut record = Record::default();
    if !record.feed(line, delimiter) {
        return Vec::new();
    }
    record.values().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// Reads all records as writes.
pub(super) fn read(
    lines: &mut Lines<'_>,
    tally: &mut Tally<'_>,
    sink: &mut Sink<'_>,
    options: &Options,
) -> Result<(), Stop> {
    let Some(codec) = &options.codec else {
        let what = "is CSV of fields: give the key schema whose fields it has, with --schema";
        return Err(tally.refuse(ErrorKind::Conflict, what).into());
    };
    let Some((mut columns, delimiter)) = header(lines, tally, codec, options)? else { return Ok(()) };
    let mut record = Record::default();
    let mut key = Vec::new();
    while let Some(state) = next_record(lines, tally, &mut record, delimiter)? {
        let made = match state {
            State::Whole => columns.key(&record, &mut key),
            State::Open => {
                Err("a quote is never closed: the rest of the input went into this record".to_owned())
            }
            State::TooLong => Err(format!(
                "the record is longer than {} bytes; is a quote never closed?",
                lines.line_bytes_max()
            )),
        };
        if let Err(why) = made {
            tally.malformed(record.line, why, &record.start)?;
            continue;
        }
        tally.report.operations += 1;
        if sink(&Operation::write(&key)).is_break() {
            tally.report.stopped = true;
            return Ok(());
        }
    }
    Ok(())
}

/// Reads the header; `None` if the input ends before it.
fn header(
    lines: &mut Lines<'_>,
    tally: &mut Tally<'_>,
    codec: &Codec,
    options: &Options,
) -> Result<Option<(Columns, u8)>, Stop> {
    let schema = codec.schema();
    let line = loop {
        match lines.next()? {
            None => return Ok(None),
            Some(Line::TooLong(_, bytes)) => {
                let what = format!("has a header of {bytes} bytes, which is over the limit");
                return Err(tally.refuse(ErrorKind::Malformed, &what).into());
            }
            Some(Line::Text(text)) if trim_cr(text).is_empty() => tally.report.blank += 1,
            Some(Line::Text(text)) => break trim_cr(text),
        }
    };
    tally.report.header = 1;
    let list = |names: &[String]| format!("`{}`", names.join("`, `"));
    let Some(delimiter) = find_delimiter(line, schema, options.delimiter) else {
        let delimiter = options.delimiter.unwrap_or(DELIMITERS[0]);
        let names = header_names(line, delimiter);
        let missing: Vec<_> = schema.fields.iter().map(|field| field.name.clone()).collect();
        let missing: Vec<_> = missing.into_iter().filter(|name| !names.contains(name)).collect();
        let what = format!(
            "has no column for {}, which the schema has; the header has {}",
            list(&missing),
            list(&names)
        );
        return Err(tally.refuse(ErrorKind::Conflict, &what).into());
    };
    let names = header_names(line, delimiter);
    let mut positions = Vec::with_capacity(schema.fields.len());
    for field in &schema.fields {
        let found: Vec<usize> = (0..names.len()).filter(|&at| names[at] == field.name).collect();
        if found.len() > 1 {
            let what = format!("has two columns `{}`; rename one of them", field.name);
            return Err(tally.refuse(ErrorKind::Conflict, &what).into());
        }
        positions.extend(found);
    }
    for (_, name) in names.iter().enumerate().filter(|(at, _)| !positions.contains(at)) {
        tally.ignore(name);
    }
    let columns =
        Columns { codec: codec.clone(), positions, count: names.len(), dice: Seeded::new(options.seed) };
    Ok(Some((columns, delimiter)))
}

/// Which columns are the fields.
struct Columns {
    codec: Codec,
    /// The column of each field.
    positions: Vec<usize>,
    /// Columns of the header.
    count: usize,
    dice: Seeded,
}

impl Columns {
    /// The key of a record, or what is wrong with it.
    fn key(&mut self, record: &Record, key: &mut Vec<u8>) -> Result<(), String> {
        let columns = record.ends.len();
        if columns != self.count {
            let s = if columns == 1 { "" } else { "s" };
            return Err(format!("{columns} column{s}, but the header has {}", self.count));
        }
        let fields = &self.codec.schema().fields;
        let mut values: Vec<Value<'static>> = Vec::with_capacity(fields.len());
        for (index, &column) in self.positions.iter().enumerate() {
            let text = std::str::from_utf8(record.value(column)).map_err(|error| {
                format!("column `{}`: not UTF-8 at byte {}", fields[index].name, error.valid_up_to() + 1)
            })?;
            values.push(self.codec.parse_value(index, text).map_err(|error| error.to_string())?);
        }
        let made = match &self.codec.schema().salt {
            Some(salt) if matches!(salt.source, SaltSource::Random) => {
                let buckets = usize::try_from(salt.buckets).unwrap_or(usize::MAX);
                let bucket = u32::try_from(self.dice.below(buckets)).unwrap_or_default();
                self.codec.encode_in_bucket(bucket, &values, key)
            }
            _ => self.codec.encode(&values, key),
        };
        made.map_err(|error| error.to_string())
    }
}

/// How a record ended.
enum State {
    /// With a line.
    Whole,
    /// With the input, within quotes.
    Open,
    /// It passed the limit.
    TooLong,
}

/// Reads the next record into `record`; `None` at the end.
fn next_record(
    lines: &mut Lines<'_>,
    tally: &mut Tally<'_>,
    record: &mut Record,
    delimiter: u8,
) -> Result<Option<State>, Stop> {
    let limit = lines.line_bytes_max();
    record.clear();
    loop {
        let number = lines.number() + 1;
        let is_first = record.line == 0;
        let text = match lines.next()? {
            None => return Ok((!is_first).then_some(State::Open)),
            Some(Line::TooLong(start, _)) => {
                record.begin(number, start, is_first);
                tally.report.continued += u64::from(!is_first);
                return Ok(Some(State::TooLong));
            }
            Some(Line::Text(text)) => text,
        };
        if is_first && trim_cr(text).is_empty() {
            tally.report.blank += 1;
            continue;
        }
        record.begin(number, text, is_first);
        tally.report.continued += u64::from(!is_first);
        if record.feed(text, delimiter) {
            return Ok(Some(State::Whole));
        }
        if record.text.len() > limit {
            return Ok(Some(State::TooLong));
        }
    }
}

/// A record, value by value.
#[derive(Debug, Default)]
struct Record {
    /// The line on which it begins, 0 before that.
    line: u64,
    /// How it begins.
    start: Vec<u8>,
    /// The values, one behind the other.
    text: Vec<u8>,
    /// Where each value ends in them.
    ends: Vec<usize>,
    quoted: bool,
}

impl Record {
    fn clear(&mut self) {
        self.line = 0;
        self.start.clear();
        self.text.clear();
        self.ends.clear();
        self.quoted = false;
    }

    fn begin(&mut self, line: u64, text: &[u8], is_first: bool) {
        if is_first {
            self.line = line;
            self.start.extend_from_slice(&text[..text.len().min(SHOWN_BYTES)]);
        }
    }

    /// Adds a line; whether the record ends with it. If not, it ends within quotes, and the line end belongs to the value.
    fn feed(&mut self, line: &[u8], delimiter: u8) -> bool {
        let mut bytes = trim_cr(line).iter().copied().peekable();
        // Only the first byte of a value opens quotes; a line that continues one is within them.
        let mut at_start = !self.quoted;
        while let Some(byte) = bytes.next() {
            let opens = at_start;
            at_start = false;
            match byte {
                b'"' if self.quoted => {
                    if bytes.next_if_eq(&b'"').is_some() {
                        self.text.push(b'"');
                    } else {
                        self.quoted = false;
                    }
                }
                b'"' if opens => self.quoted = true,
                _ if byte == delimiter && !self.quoted => {
                    self.ends.push(self.text.len());
                    at_start = true;
                }
                _ => self.text.push(byte),
            }
        }
        if self.quoted {
            self.text.extend_from_slice(&line[trim_cr(line).len()..]);
            self.text.push(b'\n');
            return false;
        }
        self.ends.push(self.text.len());
        true
    }

    fn value(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[column]]
    }

    fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|column| self.value(column))
    }
}

#[cfg(test)]
mod tests;
