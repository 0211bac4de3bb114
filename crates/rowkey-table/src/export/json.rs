//! JSON lines: all versions, timestamps and bytes. `import/record.rs` reads them.

use super::{ExportReport, RowWriter, write_failed};
use crate::{KeyedRow, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rowkey::schema::SaltSource;
use rowkey::{Codec, Value};
use serde_json::Value as Json;
use std::io::Write;

/// The greatest integer that every JSON reader keeps exactly, 2^53 - 1. Greater ones are written as strings.
const JSON_INTEGER_MAX: u64 = (1 << 53) - 1;

pub(super) struct JsonWriter<'w> {
    out: &'w mut dyn Write,
    codec: &'w Codec,
    random_salt: bool,
    line: Vec<u8>,
}

impl<'w> JsonWriter<'w> {
    pub(super) fn new(out: &'w mut dyn Write, codec: &'w Codec) -> Self {
        let salt = codec.schema().salt.as_ref();
        let random_salt = salt.is_some_and(|salt| salt.source == SaltSource::Random);
        Self { out, codec, random_salt, line: Vec::new() }
    }
}

impl RowWriter for JsonWriter<'_> {
    fn write(&mut self, row: &KeyedRow, report: &mut ExportReport) -> Result<()> {
        self.line.clear();
        let bucket = if self.random_salt {
            let (salt, _) = self.codec.split_salt(&row.key)?;
            Some(self.codec.read_salt(salt)?)
        } else {
            None
        };
        write_line(&mut self.line, self.codec, row, bucket).map_err(write_failed)?;
        report.cells += row.cells.len() as u64;
        self.out.write_all(&self.line).map_err(write_failed)
    }

    fn finish(self) -> Result<()> {
        self.out.flush().map_err(write_failed)
    }
}

fn write_line(line: &mut Vec<u8>, codec: &Codec, row: &KeyedRow, bucket: Option<u32>) -> std::io::Result<()> {
    line.write_all(br#"{"type":"row","key":{"#)?;
    for (index, (field, value)) in codec.schema().fields.iter().zip(&row.values).enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(line, "{comma}\"{}\":{}", field.name, key_json(codec, index, value))?;
    }
    line.write_all(b"}")?;
    if let Some(bucket) = bucket {
        write!(line, ",\"bucket\":{bucket}")?;
    }
    line.write_all(b",\"cells\":[")?;
    for (index, cell) in row.cells.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(line, "{comma}{{\"family\":\"{}\",\"qualifier\":", cell.family)?;
        write_bytes(line, &cell.qualifier)?;
        write!(line, ",\"timestamp_us\":{},\"value\":", cell.timestamp_us)?;
        write_bytes(line, &cell.value)?;
        line.write_all(b"}")?;
    }
    line.write_all(b"]}\n")
}

fn key_json(codec: &Codec, field: usize, value: &Value<'_>) -> Json {
    match *value {
        Value::Uint(number) if number <= JSON_INTEGER_MAX => number.into(),
        Value::Int(number) if number.unsigned_abs() <= JSON_INTEGER_MAX => number.into(),
        _ => codec.format_value(field, value).into(),
    }
}

/// `{"text":"..."}` if it is UTF-8, else `{"base64":"..."}`.
fn write_bytes(line: &mut Vec<u8>, bytes: &[u8]) -> std::io::Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            line.write_all(b"{\"text\":")?;
            serde_json::to_writer(&mut *line, text)?;
        }
        Err(_) => write!(line, "{{\"base64\":\"{}\"", BASE64_STANDARD.encode(bytes))?,
    }
    line.write_all(b"}")
}
