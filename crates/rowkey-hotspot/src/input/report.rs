//! The account of an input: what became of each line.

use super::lines::Lines;
use super::{Compression, Format, Options};
use crate::{Error, ErrorKind, Result};
use rowkey::escape::escaped;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

/// Malformed lines that a report shows.
const MALFORMED_SHOWN: usize = 5;
/// Malformed lines that an error shows.
const MALFORMED_IN_ERROR: usize = 3;
/// Bytes of a malformed line that are shown.
const SHOWN_BYTES: usize = 80;
/// A file with more malformed lines of 100 is refused.
const MALFORMED_PERCENT_MAX: u64 = 1;
/// From this line on, a file is refused once over half of its lines are malformed.
const HOPELESS_FROM_LINE: u64 = 10_000;
/// Names of ignored columns that are kept.
const IGNORED_MAX: usize = 64;

/// What became of each line. The counts add up: see [`ReadReport::adds_up`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadReport {
    /// What the lines were.
    pub format: Format,
    /// How the input was packed.
    pub compression: Compression,
    /// Bytes of the source that were read.
    pub source_bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// Operations handed on.
    pub operations: u64,
    /// Lines, or records of CSV, that could not be understood.
    pub malformed: u64,
    /// The first few of them.
    pub first_malformed: Vec<Malformed>,
    /// Empty lines.
    pub blank: u64,
    /// Lines of the header of CSV.
    pub header: u64,
    /// Lines of CSV that continue a record, because a quoted value has line ends.
    pub continued: u64,
    /// Operations of other tables than the one wanted.
    pub elsewhere: u64,
    /// The table that the lines name.
    pub table: Option<String>,
    /// Operations whose key had bytes other than `20` to `7e` without an escape; they were taken as they are.
    pub raw: u64,
    /// Columns of CSV or members of JSON objects that were left out, by name, at most 64.
    pub ignored: BTreeSet<String>,
    /// The input began with a byte order mark, which was left out.
    pub bom: bool,
    /// The sink ended the reading before the end of the input.
    pub stopped: bool,
    /// What cut the input off, where that was let pass.
    pub cut_off: Option<String>,
}

/// A line that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
    /// Its text, escaped, at most its first 80 bytes. It may hold personal data.
    pub shown: String,
}

impl ReadReport {
    /// Whether each line is in one count: `lines = operations + malformed + blank + header + continued +
    /// elsewhere`.
    pub fn adds_up(&self) -> bool {
        let ReadReport { operations, malformed, blank, header, continued, elsewhere, .. } = self;
        self.lines == operations + malformed + blank + header + continued + elsewhere
    }
}

/// A report in the making.
pub(super) struct Tally<'n> {
    name: &'n str,
    lenient: bool,
    /// The report's table is the one wanted, not the first one that was met.
    wants_table: bool,
    pub(super) report: ReadReport,
}

impl<'n> Tally<'n> {
    pub(super) fn new(name: &'n str, options: &Options, format: Format, compression: Compression) -> Self {
        let report = ReadReport {
            format,
            compression,
            source_bytes: 0,
            lines: 0,
            operations: 0,
            malformed: 0,
            first_malformed: Vec::new(),
            blank: 0,
            header: 0,
            continued: 0,
            elsewhere: 0,
            table: options.table.clone(),
            raw: 0,
            ignored: BTreeSet::new(),
            bom: false,
            stopped: false,
            cut_off: None,
        };
        Self { name, lenient: options.lenient, wants_table: options.table.is_some(), report }
    }

    /// An error about the whole input.
    pub(super) fn refuse(&self, kind: ErrorKind, what: &str) -> Error {
        Error::new(kind, format!("{} {what}", self.name))
    }

    /// Counts a malformed line.
    ///
    /// # Errors
    ///
    /// If the input is hopeless.
    pub(super) fn malformed(&mut self, line: u64, why: impl Into<String>, text: &[u8]) -> Result<()> {
        self.report.malformed += 1;
        if self.report.first_malformed.len() < MALFORMED_SHOWN {
            let cut = if text.len() > SHOWN_BYTES { "..." } else { "" };
            let shown = format!("{}{cut}", escaped(&text[..text.len().min(SHOWN_BYTES)]));
            self.report.first_malformed.push(Malformed { line, why: why.into(), shown });
        }
        if !self.lenient && line >= HOPELESS_FROM_LINE && self.report.malformed > line / 2 {
            return Err(self.too_many(line));
        }
        Ok(())
    }

    /// Counts a line over the limit.
    ///
    /// # Errors
    ///
    /// As [`Tally::malformed`].
    pub(super) fn too_long(&mut self, line: u64, start: &[u8], bytes: u64, max: usize) -> Result<()> {
        self.malformed(line, format!("the line has {bytes} bytes; the limit is {max}"), start)
    }

    /// Whether an operation of this table is wanted.
    ///
    /// # Errors
    ///
    /// If it is the second table, and none was asked for.
    #[inline]
    pub(super) fn wants(&mut self, table: &str) -> Result<bool> {
        match &self.report.table {
            Some(known) if known == table => Ok(true),
            Some(_) if self.wants_table => Ok(false),
            Some(known) => {
                let what = format!(
                    "has operations of the tables `{known}` and `{table}`; examine one of them, as with `grep '\"table\":\"{known}\"'`"
                );
                Err(self.refuse(ErrorKind::Conflict, &what))
            }
            None => {
                self.report.table = Some(table.to_owned());
                Ok(true)
            }
        }
    }

    /// Notes what is left out.
    pub(super) fn ignore(&mut self, name: &str) {
        let ignored = &mut self.report.ignored;
        if ignored.len() < IGNORED_MAX && !ignored.contains(name) {
            ignored.insert(name.to_owned());
        }
    }

    /// Ends an input where reading or unpacking failed.
    ///
    /// # Errors
    ///
    /// Unless lenient, the failure. That of the source is always one.
    pub(super) fn cut_off(
        &mut self,
        lines: &mut Lines<'_>,
        error: &io::Error,
        source_failed: bool,
    ) -> Result<()> {
        let after = format!("after {}", count(lines.number(), "complete line"));
        if source_failed {
            return Err(self.refuse(ErrorKind::Io, &format!("cannot be read on {after}: {error}")));
        }
        let packed = match self.report.compression {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::None => "unpacked",
        };
        let what = if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("is cut off: its {packed} data ends too early, {after}")
        } else {
            format!("is damaged: its {packed} data cannot be unpacked {after} ({error})")
        };
        if !self.lenient {
            let help = "get the file again, or use what there is with --lenient";
            return Err(self.refuse(ErrorKind::Malformed, &format!("{what}; {help}")));
        }
        self.report.cut_off = Some(what);
        if let Some(piece) = lines.take_cut() {
            self.malformed(lines.number(), "the line is cut off", &piece)?;
        }
        Ok(())
    }

    /// The report.
    ///
    /// # Errors
    ///
    /// If there is no operation, or too much is malformed.
    pub(super) fn finish(mut self, lines: &Lines<'_>, source_bytes: u64) -> Result<ReadReport> {
        self.report.lines = lines.number();
        self.report.source_bytes = source_bytes;
        self.report.bom = lines.bom;
        assert!(self.report.adds_up(), "each line is in one count: {:?}", self.report);
        let ReadReport { operations, malformed, .. } = self.report;
        // Over 1 % of what is no header and not blank.
        let too_many = malformed * 100 > (operations + malformed) * MALFORMED_PERCENT_MAX;
        if malformed > 0 && (operations == 0 || too_many && !self.lenient) {
            return Err(self.too_many(lines.number()));
        }
        if operations == 0 {
            return Err(self.refuse(ErrorKind::Malformed, &self.nothing()));
        }
        Ok(self.report)
    }

    fn nothing(&self) -> String {
        let wanted = "expected keys, one a line, or JSON lines of operations, or CSV with a key schema";
        match &self.report {
            ReadReport { cut_off: Some(what), .. } => format!("{what}; nothing can be used"),
            ReadReport { lines: 0, .. } => format!("is empty: {wanted}"),
            ReadReport { elsewhere: 1.., table: Some(table), .. } => {
                format!("has no operation of the table `{table}`")
            }
            ReadReport { header: 1.., .. } => "has a header and no record".to_owned(),
            ReadReport { lines, .. } => format!("has {}, all blank: {wanted}", count(*lines, "line")),
        }
    }

    fn too_many(&self, lines: u64) -> Error {
        let ReadReport { operations, malformed, format, .. } = &self.report;
        let expected = match format {
            Format::Keys => "keys, one a line",
            Format::Operations => "JSON lines of operations",
            Format::Csv => "CSV of the schema's fields",
        };
        let all = if *operations == 0 { "not one line" } else { "too few lines" };
        let mut message = format!(
            "of {} read as {expected}, {malformed} are malformed (more than {MALFORMED_PERCENT_MAX} %)",
            count(lines, "line"),
        );
        if *operations == 0 {
            message = format!("cannot be used: {all} of {lines} can be read as {expected}");
        }
        for Malformed { line, why, shown } in self.report.first_malformed.iter().take(MALFORMED_IN_ERROR) {
            let _ = write!(message, "\n  line {line}: {why}: {shown}");
        }
        if *operations > 0 {
            message.push_str("\ncorrect them, or go on without them with --lenient");
        }
        let colon = if *operations > 0 { ":" } else { "" };
        Error::new(ErrorKind::Malformed, format!("{}{colon} {message}", self.name))
    }
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
