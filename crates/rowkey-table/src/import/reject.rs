//! Rejected records: one line of JSON each, with line, reason and text, so that they can be corrected and imported again.
//!
//! ```text
//! {"type":"rejected","line":17,"reason":"field `vehicle`: ...","text":"4x92,2026-09-15T00:00:00Z,3.5"}
//! ```
//!
//! Text that is not UTF-8 stands as `"base64"` instead of `"text"`.

use super::ImportReport;
use crate::{Error, ErrorKind, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::io::Write;

/// Rejects that the report itself shows.
const SHOWN_MAX: usize = 10;
/// Bytes of a rejected text that the report itself shows.
const SHOWN_BYTES_MAX: usize = 200;

/// A rejected record, as a report shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Its first line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
    /// The beginning of its text, escaped where it is no printable text.
    pub text: String,
}

/// Takes rejected records.
pub(crate) struct Rejects<'h> {
    sink: Option<&'h mut dyn Write>,
    rejects_max: Option<u64>,
}

impl<'h> Rejects<'h> {
    pub(crate) fn new(sink: Option<&'h mut dyn Write>, rejects_max: Option<u64>) -> Self {
        Self { sink, rejects_max }
    }

    /// Writes a rejected record down. It is counted by the caller before.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the sink fails; `Data` if it is one reject too many.
    pub(crate) fn reject(
        &mut self,
        report: &mut ImportReport,
        line: u64,
        reason: String,
        text: &[u8],
    ) -> Result<()> {
        if let Some(sink) = &mut self.sink {
            write_line(sink, line, &reason, text).map_err(|error| {
                Error::new(ErrorKind::Unavailable, format!("the reject file cannot be written: {error}"))
            })?;
        }
        let too_many = self.rejects_max.is_some_and(|rejects_max| report.rejected() > rejects_max);
        let message = too_many.then(|| {
            format!(
                "{} rejected, more than the {} allowed; the last one, line {line}: {reason}",
                match report.rejected() {
                    1 => "1 record is".to_owned(),
                    rejected => format!("{rejected} records are"),
                },
                self.rejects_max.unwrap_or_default(),
            )
        });
        if report.first_rejects.len() < SHOWN_MAX {
            let shown = &text[..text.len().min(SHOWN_BYTES_MAX)];
            let text = String::from_utf8_lossy(shown).into_owned();
            report.first_rejects.push(Reject { line, reason, text });
        }
        message.map_or(Ok(()), |message| Err(Error::data(message)))
    }
}

fn write_line(sink: &mut dyn Write, line: u64, reason: &str, text: &[u8]) -> std::io::Result<()> {
    let (kind, text) = match std::str::from_utf8(text) {
        Ok(text) => ("text", text.to_owned()),
        Err(_) => ("base64", BASE64_STANDARD.encode(text)),
    };
    writeln!(
        sink,
        r#"{{"type":"rejected","line":{line},"reason":{},"{kind}":{}}}"#,
        serde_json::Value::from(reason),
        serde_json::Value::from(text),
    )
}
