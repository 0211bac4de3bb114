//! JSON lines of operations.
//!
//! ```text
//! {"time_ms": 1714644000123, "op": "scan", "key": "07#a\\x00", "end": "07#b", "rows": 3, "bytes": 180, "table": "fleet"}
//! ```
//!
//! Lines in the plain form take the quick way; all others, and all that are wrong, are read by a JSON parser. Both agree.

mod quick;

use super::escape::{BAD_ESCAPE, is_printable, unescape};
use super::lines::{Line, Lines, trim_cr};
use super::report::Tally;
use super::{Sink, Stop};
use crate::operation::{OpKind, Operation};
use quick::Quick;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Reads all lines as operations.
pub(super) fn read(lines: &mut Lines<'_>, tally: &mut Tally<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let line_bytes_max = lines.line_bytes_max();
    let mut quick = Quick::default();
    let mut slow = Keys::default();
    loop {
        let number = lines.number() + 1;
        let text = match lines.next()? {
            None => return Ok(()),
            Some(Line::Text(text)) => trim_cr(text),
            Some(Line::TooLong(start, bytes)) => {
                tally.too_long(number, start, bytes, line_bytes_max)?;
                continue;
            }
        };
        if text.trim_ascii().is_empty() {
            tally.report.blank += 1;
            continue;
        }
        let parsed = match quick.parse(text, tally) {
            Some(parsed) => Ok(parsed),
            None => parse(text, &mut slow, tally),
        };
        let Parsed { operation, table, raw } = match parsed {
            Ok(parsed) => parsed,
            Err(why) => {
                tally.malformed(number, why, text)?;
                continue;
            }
        };
        if let Some(table) = table
            && !tally.wants(&table)?
        {
            tally.report.elsewhere += 1;
            continue;
        }
        tally.report.raw += u64::from(raw);
        tally.report.operations += 1;
        if sink(&operation).is_break() {
            tally.report.stopped = true;
            return Ok(());
        }
    }
}

/// Whether a line is a JSON object.
pub(super) fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Map<String, Value>>(line).is_ok()
}

/// Whether a line is an operation in JSON.
pub(super) fn is_operation(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{")
        && serde_json::from_slice::<Map<String, Value>>(line)
            .is_ok_and(|object| object.contains_key("key") && object.contains_key("op"))
}

/// A line that was understood.
#[derive(Debug, PartialEq, Eq)]
struct Parsed<'a> {
    operation: Operation<'a>,
    /// The table that the line names.
    table: Option<Cow<'a, str>>,
    /// A key had bytes that should have been escaped.
    raw: bool,
}

/// The keys of a line, unescaped.
#[derive(Debug, Default)]
struct Keys {
    key: Vec<u8>,
    end: Vec<u8>,
}

/// The members of a line.
#[derive(Debug, Default)]
struct Members<'a> {
    kind: Option<OpKind>,
    key: Option<&'a [u8]>,
    end: Option<&'a [u8]>,
    time_ms: Option<i64>,
    rows: Option<u64>,
    bytes: Option<u64>,
}

impl<'a> Members<'a> {
    /// The operation of these members, or what they lack.
    fn operation(self) -> Result<Operation<'a>, &'static str> {
        let Self { kind, key, end, time_ms, rows, bytes } = self;
        let kind = kind.ok_or("the member `op` is missing: write, read, scan or delete")?;
        let key = key.ok_or("the member `key` is missing")?;
        let end = end.filter(|end| !end.is_empty());
        if kind != OpKind::Scan && key.is_empty() {
            return Err("the key is empty; only a scan may begin so, at the start of the table");
        }
        if kind != OpKind::Scan && end.is_some() {
            return Err("the member `end` belongs to scans");
        }
        Ok(Operation { kind, key, end, time_ms, rows, bytes })
    }
}

fn kind_of(name: &[u8]) -> Option<OpKind> {
    OpKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
}

/// Reads a line with a JSON parser, or says what is wrong with it.
fn parse<'k>(line: &[u8], keys: &'k mut Keys, tally: &mut Tally<'_>) -> Result<Parsed<'k>, String> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| json_fault(line, &error))?;
    let mut members = Members::default();
    let (mut raw, mut table) = (false, None);
    for (name, value) in &object {
        match (name.as_str(), value) {
            ("time_ms" | "end" | "rows" | "bytes" | "table", Value::Null) => {}
            ("time_ms", _) => members.time_ms = Some(time(value)?),
            ("rows" | "bytes", _) => {
                let number = Some(whole(name, value)?);
                *(if name == "rows" { &mut members.rows } else { &mut members.bytes }) = number;
            }
            ("op", _) => members.kind = Some(kind(value)?),
            ("key", _) => raw |= key(name, value, &mut keys.key)?,
            ("end", _) => raw |= key(name, value, &mut keys.end)?,
            ("table", _) => {
                let name =
                    value.as_str().ok_or_else(|| format!("`table` is {}: expected text", short(value)))?;
                table = Some(Cow::Owned(name.to_owned()));
            }
            _ => {}
        }
    }
    members.key = object.contains_key("key").then_some(&keys.key);
    members.end = object.get("end").is_some_and(Value::is_string).then_some(&keys.end);
    let operation = members.operation()?;
    for name in object.keys().filter(|name| !is_known(name.as_bytes())) {
        tally.ignore(name);
    }
    Ok(Parsed { operation, table, raw })
}

fn is_known(name: &[u8]) -> bool {
    matches!(name, b"time_ms" | b"op" | b"key" | b"end" | b"rows" | b"bytes" | b"table")
}

/// Why a line is no JSON object.
fn json_fault(line: &[u8], error: &serde_json::Error) -> String {
    let at = error.column();
    match error.classify() {
        serde_json::error::Category::Data => "a JSON object is expected".to_owned(),
        serde_json::error::Category::Eof => "the JSON object does not end in this line".to_owned(),
        _ if line[..at.min(line.len())].ends_with(b"\\x") => {
            format!("byte {at}: in JSON, the backslash of `\\x00` is written twice: `\\\\x00`")
        }
        _ => {
            // The parser adds its place, which counts lines within a line.
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or_default();
            format!("byte {at}: no JSON: {what}")
        }
    }
}

fn time(value: &Value) -> Result<i64, String> {
    let wrong = || format!("`time_ms` is {}: expected milliseconds since 1970", short(value));
    if let Some(time_ms) = value.as_i64() {
        return Ok(time_ms);
    }
    let time_ms = value.as_f64().filter(|_| value.is_f64()).ok_or_else(wrong)?.floor();
    // 2^53: beyond, not every whole number is a floating-point number.
    if time_ms.abs() > 9_007_199_254_740_992.0 {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within 2^53")]
    Ok(time_ms as i64)
}

fn whole(name: &str, value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("`{name}` is {}: expected a whole number from 0", short(value)))
}

fn kind(value: &Value) -> Result<OpKind, String> {
    let kind = value.as_str().and_then(|name| kind_of(name.as_bytes()));
    kind.ok_or_else(|| format!("`op` is {}: expected write, read, scan or delete", short(value)))
}

/// Unescapes a key; whether it had bytes that should have been escaped.
fn key(name: &str, value: &Value, out: &mut Vec<u8>) -> Result<bool, String> {
    let text = value.as_str().ok_or_else(|| format!("`{name}` is {}: expected text", short(value)))?;
    unescape(text.as_bytes(), out).map_err(|at| format!("`{name}`, byte {}: {BAD_ESCAPE}", at + 1))?;
    Ok(!is_printable(text.as_bytes()))
}

/// A value in few words.
fn short(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.len() > 20 => "a text".to_owned(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
