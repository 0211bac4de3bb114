//! Records of CSV and of JSON lines, each with its line and its text.

use super::input::{RECORD_BYTES_MAX, Remembering, read_failed};
use crate::{Error, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use csv::ByteRecord;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

/// One record, before mapping.
#[derive(Debug)]
pub(crate) enum Fields {
    /// Of a CSV file: by the header's positions.
    Row(ByteRecord),
    /// A flat JSON object: texts by name. `null` is left out.
    Object(BTreeMap<String, Bytes>),
    /// A line of our own export, with versions and timestamps.
    Exported(ExportedRow),
}

/// A line of a JSON export, decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportedRow {
    /// Field values as text, by name.
    pub(crate) key: BTreeMap<String, String>,
    /// Only with a random salt.
    pub(crate) bucket: Option<u32>,
    pub(crate) cells: Vec<ExportedCell>,
}

/// A cell of a JSON export.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExportedCell {
    pub(crate) family: String,
    pub(crate) qualifier: Bytes,
    pub(crate) timestamp_us: i64,
    pub(crate) value: Bytes,
}

/// Reads records one by one.
pub(crate) enum Records<R: Read> {
    Csv(CsvRecords<R>),
    Json(JsonRecords<R>),
}

/// CSV with a header.
pub(crate) struct CsvRecords<R: Read> {
    reader: csv::Reader<Remembering<R>>,
    header: Vec<String>,
    delimiter: u8,
    start: u64,
}

/// One JSON object a line.
pub(crate) struct JsonRecords<R: Read> {
    reader: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// What stands at one place of the input.
pub(crate) struct Record {
    /// Line of its first byte, counted from 1.
    pub(crate) line: u64,
    /// The fields, or what is wrong with the text.
    pub(crate) fields: Result<Fields, String>,
}

impl<R: Read> Records<R> {
    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        match self {
            Records::Csv(records) => records.next(),
            Records::Json(records) => records.next(),
        }
    }

    /// The text of the record that [`Records::next`] returned last, without the end of the line.
    pub(crate) fn text(&self) -> &[u8] {
        let text = match self {
            Records::Csv(records) => {
                let end = records.reader.position().byte();
                records.reader.get_ref().text(records.start, end)
            }
            Records::Json(records) => &records.line,
        };
        trim_line(text)
    }

    /// Bytes of text consumed so far.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Records::Csv(records) => {
                records.reader.position().byte().min(records.reader.get_ref().bytes_read())
            }
            Records::Json(records) => records.bytes,
        }
    }
}

impl<R: Read> CsvRecords<R> {
    pub(crate) fn new(input: R, delimiter: u8) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(true)
            .flexible(true)
            .from_reader(Remembering::new(input));
        let header = reader.byte_headers().map_err(|error| csv_failed(&error))?.clone();
        if is_never_closed(&reader, 0, delimiter) {
            return Err(Error::data("a quote in the header is never closed; correct the header"));
        }
        if header.is_empty() {
            return Err(Error::data(
                "the input is empty: expected a header line with the names of the columns",
            ));
        }
        if header.get(0).is_some_and(|name| name.starts_with(b"{\"")) {
            let message = "the input looks like JSON lines, not like CSV; say that it is, or name it so that it ends in .jsonl";
            return Err(Error::data(message));
        }
        let mut names = Vec::with_capacity(header.len());
        for (at, name) in header.iter().enumerate() {
            let name = std::str::from_utf8(name).map_err(|_| {
                Error::data(format!(
                    "the header is not UTF-8 in column {}; convert the file to UTF-8",
                    at + 1
                ))
            })?;
            let name = name.trim();
            if names.iter().any(|earlier| earlier == name) {
                return Err(Error::data(format!("the header has two columns `{name}`; rename one of them")));
            }
            names.push(name.to_owned());
        }
        Ok(Self { reader, header: names, delimiter, start: 0 })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    fn next(&mut self) -> Result<Option<Record>> {
        self.start = self.reader.position().byte();
        let start = self.start;
        self.reader.get_mut().release(start);
        let mut record = ByteRecord::new();
        if !self.reader.read_byte_record(&mut record).map_err(|error| csv_failed(&error))? {
            return Ok(None);
        }
        let position =
            record.position().map_or((0, self.start), |position| (position.line(), position.byte()));
        self.start = position.1;
        let fields = if is_never_closed(&self.reader, self.start, self.delimiter) {
            Err("a quote is never closed: the rest of the input went into this record".to_owned())
        } else if record.len() == self.header.len() {
            Ok(Fields::Row(record))
        } else {
            let columns = record.len();
            let s = if columns == 1 { "" } else { "s" };
            Err(format!("{columns} column{s}, but the header has {}", self.header.len()))
        };
        Ok(Some(Record { line: position.0, fields }))
    }
}

impl<R: Read> JsonRecords<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, input), line: Vec::new(), number: 0, bytes: 0 }
    }

    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            self.line.clear();
            let limit = RECORD_BYTES_MAX as u64;
            let mut limited = (&mut self.reader).take(limit);
            let length =
                limited.read_until(b'\n', &mut self.line).map_err(|error| read_failed(&error))? as u64;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += length;
            if length == limit && self.line.last() != Some(&b'\n') {
                return Err(Error::data(format!("line {} is longer than 64 MiB", self.number)));
            }
            if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(Record { line: self.number, fields: parse_object(&self.line) }));
            }
        }
    }
}

/// Whether the record that begins at `start` ends within quotes, because the input does. The CSV reader takes that for a field, however
/// much of the file is in it.
fn is_never_closed<R: Read>(reader: &csv::Reader<Remembering<R>>, start: u64, delimiter: u8) -> bool {
    let (input, end) = (reader.get_ref(), reader.position().byte());
    // Only the last record ends where the input does. In the middle of it, that is rare, and such a record is closed.
    end >= input.bytes_read() && ends_in_quotes(input.text(start, end), delimiter)
}

/// Whether CSV text ends within a quoted field. A quote opens only as the first character of a field.
fn ends_in_quotes(text: &[u8], delimiter: u8) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (mut quoted, mut at_start) = (false, true);
    let mut bytes = text.iter().peekable();
    while let Some(&byte) = bytes.next() {
        match byte {
            // A doubled quote is one of the value.
            b'"' if quoted => quoted = bytes.next_if(|next| **next == b'"').is_some(),
            b'"' if at_start => quoted = true,
            _ => {}
        }
        at_start = !quoted && (byte == delimiter || byte == b'\n' || byte == b'\r');
    }
    quoted
}

fn trim_line(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

fn csv_failed(error: &csv::Error) -> Error {
    let line = error.position().map(|position| format!("line {}: ", position.line())).unwrap_or_default();
    Error::data(format!("{line}the input cannot be read: {error}"))
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

fn parse_object(line: &[u8]) -> Result<Fields, String> {
    let text = std::str::from_utf8(trim_line(line))
        .map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let object = distinct(text)?;
    if object.get("type").is_some_and(|kind| kind.get() == "\"row\"") && object.contains_key("cells") {
        return parse_exported(&object).map(Fields::Exported);
    }
    let mut fields = BTreeMap::new();
    for (name, value) in object {
        if let Some(text) = text_of(value)? {
            fields.insert(name, Bytes::from(text));
        }
    }
    Ok(Fields::Object(fields))
}

/// The members of an object, none of which stands twice: the last one would win, and nobody would know of the others.
fn distinct(text: &str) -> Result<Object<'_>, String> {
    let object: Object<'_> =
        serde_json::from_str(text).map_err(|error| format!("no JSON object: {}", json_error(&error)))?;
    let mut names = raw_names(text);
    if names.len() == object.len() {
        return Ok(object);
    }
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    Err(format!("the member {} stands twice", twice.unwrap_or("of one name")))
}

/// The names of the members of a JSON object that is known to be one, as they are written.
fn raw_names(text: &str) -> Vec<&str> {
    let (mut names, mut depth, mut string_at, mut escaped) = (Vec::new(), 0_usize, None, false);
    let mut last_string = "";
    for (at, byte) in text.bytes().enumerate() {
        if let Some(start) = string_at {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => (last_string, string_at) = (&text[start..=at], None),
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string_at = Some(at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => names.push(last_string),
            _ => {}
        }
    }
    names
}

/// What is wrong with a text of one line: the line that the parser counts would be taken for that of the file.
fn json_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) if error.column() > 0 => format!("{what} at character {}", error.column()),
        Some(what) => what.to_owned(),
        None => message,
    }
}

/// A string without its quotes and escapes; a number, a truth value, a list or an object as it is written; `None` for `null`.
fn text_of(value: &RawValue) -> Result<Option<String>, String> {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).map(Some).map_err(|error| json_error(&error)),
        Some(b'n') => Ok(None),
        _ => Ok(Some(raw.to_owned())),
    }
}

fn parse_exported(object: &Object<'_>) -> Result<ExportedRow, String> {
    let mut row = ExportedRow::default();
    for (name, value) in object {
        match name.as_str() {
            // The stored key of `scan --keys` follows from the fields.
            "type" | "row_key" => {}
            "key" => row.key = parse_key(value)?,
            "bucket" => row.bucket = Some(serde_json::from_str(value.get()).map_err(wrong(name))?),
            "cells" => {
                let cells: Vec<Object<'_>> = serde_json::from_str(value.get()).map_err(wrong(name))?;
                row.cells = cells.iter().map(parse_cell).collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("an exported row has no member `{name}`")),
        }
    }
    Ok(row)
}

fn parse_key(value: &RawValue) -> Result<BTreeMap<String, String>, String> {
    let fields = distinct(value.get()).map_err(|error| format!("`key`: {error}"))?;
    let mut key = BTreeMap::new();
    for (name, value) in fields {
        let text = text_of(value)?.ok_or_else(|| format!("key field `{name}` is null"))?;
        key.insert(name, text);
    }
    Ok(key)
}

fn parse_cell(cell: &Object<'_>) -> Result<ExportedCell, String> {
    let member =
        |name: &str| cell.get(name).copied().ok_or_else(|| format!("a cell lacks the member `{name}`"));
    if let Some(name) =
        cell.keys().find(|name| !["family", "qualifier", "timestamp_us", "value"].contains(&name.as_str()))
    {
        return Err(format!("a cell has no member `{name}`"));
    }
    Ok(ExportedCell {
        family: parse_string("family", member("family")?)?,
        qualifier: parse_bytes("qualifier", member("qualifier")?)?,
        timestamp_us: serde_json::from_str(member("timestamp_us")?.get()).map_err(wrong("timestamp_us"))?,
        value: parse_bytes("value", member("value")?)?,
    })
}

/// `"text"`, `{"text": "..."}` or `{"base64": "..."}`.
fn parse_bytes(name: &str, value: &RawValue) -> Result<Bytes, String> {
    if value.get().starts_with('"') {
        return parse_string(name, value).map(Bytes::from);
    }
    let object: BTreeMap<String, String> = serde_json::from_str(value.get()).map_err(wrong(name))?;
    let mut members = object.into_iter();
    match (members.next(), members.next()) {
        (Some((kind, text)), None) if kind == "text" => Ok(text.into()),
        (Some((kind, text)), None) if kind == "base64" => {
            let bytes =
                BASE64_STANDARD.decode(&text).map_err(|error| format!("`{name}`: no base64: {error}"))?;
            Ok(bytes.into())
        }
        _ => Err(format!("`{name}` must be a string, {{\"text\": ...}} or {{\"base64\": ...}}")),
    }
}

fn parse_string(name: &str, value: &RawValue) -> Result<String, String> {
    serde_json::from_str(value.get()).map_err(wrong(name))
}

fn wrong(name: &str) -> impl Fn(serde_json::Error) -> String + '_ {
    move |error| format!("`{name}`: {}", json_error(&error))
}
