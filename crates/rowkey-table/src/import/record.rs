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
        if header.is_empty() {
            return Err(Error::data(
                "the input is empty: expected a header line with the names of the columns",
            ));
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
        Ok(Self { reader, header: names, start: 0 })
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
        let fields = if record.len() == self.header.len() {
            Ok(Fields::Row(record))
        } else {
            Err(format!("{} columns, but the header has {}", record.len(), self.header.len()))
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
    let text =
        std::str::from_utf8(line).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let object: Object<'_> =
        serde_json::from_str(text).map_err(|error| format!("no JSON object: {error}"))?;
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

/// A string without its quotes and escapes; a number, a truth value, a list or an object as it is written; `None` for `null`.
fn text_of(value: &RawValue) -> Result<Option<String>, String> {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).map(Some).map_err(|error| error.to_string()),
        Some(b'n') => Ok(None),
        _ => Ok(Some(raw.to_owned())),
    }
}

fn parse_exported(object: &Object<'_>) -> Result<ExportedRow, String> {
    let mut row = ExportedRow::default();
    for (name, value) in object {
        match name.as_str() {
            "type" => {}
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
    let fields: Object<'_> = serde_json::from_str(value.get()).map_err(wrong("key"))?;
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
            let bytes = BASE64_STANDARD.decode(&text).map_err(|error| format!("`{name}`: {error}"))?;
            Ok(bytes.into())
        }
        _ => Err(format!("`{name}` must be a string, {{\"text\": ...}} or {{\"base64\": ...}}")),
    }
}

fn parse_string(name: &str, value: &RawValue) -> Result<String, String> {
    serde_json::from_str(value.get()).map_err(wrong(name))
}

fn wrong(name: &str) -> impl Fn(serde_json::Error) -> String + '_ {
    move |error| format!("`{name}`: {error}")
}
