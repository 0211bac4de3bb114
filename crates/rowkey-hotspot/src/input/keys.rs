//! Keys, one a line. The line is the key, unless it has a backslash.

use super::escape::{self, is_printable, unescape};
use super::lines::{Line, Lines, trim_cr};
use super::report::Tally;
use super::{Sink, Stop};
use crate::operation::Operation;
use memchr::memchr;

/// Reads all lines as writes of keys.
pub(super) fn read(lines: &mut Lines<'_>, tally: &mut Tally<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let line_bytes_max = lines.line_bytes_max();
    let mut scratch = Vec::new();
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
        if text.is_empty() {
            tally.report.blank += 1;
            continue;
        }
        let mut key = text;
        if memchr(b'\\', text).is_some() {
            if let Err(at) = unescape(text, &mut scratch) {
                let why = format!("byte {}: {}", at + 1, escape::BAD_ESCAPE);
                tally.malformed(number, why, text)?;
                continue;
            }
            key = &scratch;
        }
        tally.report.raw += u64::from(!is_printable(text));
        tally.report.operations += 1;
        if sink(&Operation::write(key)).is_break() {
            tally.report.stopped = true;
            return Ok(());
        }
    }
}
