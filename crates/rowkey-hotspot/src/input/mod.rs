//! Operations read from files: keys, JSON lines, CSV through a schema, compressed or not, with every line accounted for.
//!
//! ```text
//! source --unpack--> bytes --lines--> lines --keys | operations | fields--> operations --> sink
//!                                       |
//!                                       +--> malformed, blank, header: counted in the report
//! ```
//!
//! Never seeks, and never holds more than a line and a block of its input, whatever its size.

mod escape;
mod fields;
mod keys;
mod lines;
mod operations;
mod recognise;
pub mod record;
mod report;
mod unpack;

pub use report::{Malformed, ReadReport};

use crate::operation::Operation;
use crate::{Error, ErrorKind, Result};
use lines::Lines;
use report::Tally;
use rowkey::Codec;
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;
use std::rc::Rc;
use unpack::Gauge;

/// What the lines of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A key a line, as `rowkey` prints keys: printable ASCII stands for itself, a backslash is `\\`, any other byte is `\xNN`.
    /// Spaces count. Other bytes are taken as they are, and counted. Each line is a write.
    Keys,
    /// A JSON object a line: `op` (`write`, `read`, `scan` or `delete`) and `key`, and where known `time_ms`, `end`, `rows` and `bytes`.
    /// Keys are escaped as in [`Format::Keys`], on top of JSON's own escapes. Lines may say their `table`, as those of [`mod@record`] do.
    Operations,
    /// CSV whose header has the fields of a key schema. Each record is a write.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Keys, Self::Operations, Self::Csv];

    /// Its name: `keys`, `operations`, `csv`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Operations => "operations",
            Self::Csv => "csv",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How an input is packed. Told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, any number of members.
    Gzip,
    /// zstd, any number of frames.
    Zstd,
}

/// How an input is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the lines are. `None`: told by the first lines.
    pub format: Option<Format>,
    /// The schema whose fields a CSV file has. Without one, no input is taken for CSV.
    pub codec: Option<Codec>,
    /// What divides the columns of CSV. `None`: the comma, tab, semicolon or bar that makes the header's names.
    pub delimiter: Option<u8>,
    /// Only operations of this table are wanted. `None`: all; then lines that name two tables are an error.
    pub table: Option<String>,
    /// Goes on however much is malformed, or where packed data is cut off or damaged.
    pub lenient: bool,
    /// A line with more bytes is malformed.
    pub line_bytes_max: usize,
    /// Chooses the buckets of a random salt.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            codec: None,
            delimiter: None,
            table: None,
            lenient: false,
            line_bytes_max: 1024 * 1024,
            seed: 0,
        }
    }
}

/// What takes the operations; `Break` ends the reading.
pub type Sink<'s> = dyn FnMut(&Operation<'_>) -> ControlFlow<()> + 's;

/// Reads all operations of a source, in order, and hands each to `sink`. `progress` is told how many bytes of the source were read, each time
/// some were. `name` is what messages call the source.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] for an input that is empty, is no text, or has too many malformed lines: over 1 % at the end, or over half of
/// them from line 10,000 on, unless the options are lenient; also for packed data that is cut off or damaged. [`ErrorKind::Conflict`] for
/// CSV without a schema, or without a column for each of its fields, and for operations of several tables. [`ErrorKind::Io`] if the source fails.
pub fn read(
    source: impl Read,
    name: &str,
    options: &Options,
    sink: &mut Sink<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<ReadReport> {
    let gauge = Rc::new(Gauge::default());
    let (compression, unpacked) = unpack::open(source, &gauge).map_err(|error| {
        Error::new(ErrorKind::Io, format!("{name} cannot be read: {error}")).with_source(error)
    })?;
    let mut lines = Lines::new(unpacked, Rc::clone(&gauge), progress, options.line_bytes_max);
    let format = match options.format {
        Some(format) => recognise::check_text(lines.unread()).map(|()| format),
        None => recognise::format_of(lines.unread(), options),
    };
    let format = format.map_err(|why| Error::new(ErrorKind::Malformed, format!("{name} {why}")))?;
    let mut tally = Tally::new(name, options, format, compression);
    let result = match format {
        Format::Keys => keys::read(&mut lines, &mut tally, sink),
        Format::Operations => operations::read(&mut lines, &mut tally, sink),
        Format::Csv => fields::read(&mut lines, &mut tally, sink, options),
    };
    match result {
        Ok(()) => {}
        Err(Stop::Refused(error)) => return Err(error),
        Err(Stop::Failed(error)) => tally.cut_off(&mut lines, &error, gauge.failed.get())?,
    }
    tally.finish(&lines, gauge.bytes.get())
}

/// Why reading ends before the end.
enum Stop {
    /// The input is not taken.
    Refused(Error),
    /// Reading or unpacking failed.
    Failed(std::io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error)
    }
}

#[cfg(test)]
mod tests;
