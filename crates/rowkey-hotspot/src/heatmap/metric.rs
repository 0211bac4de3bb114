//! What is counted in a cell.

use std::fmt;
use std::str::FromStr;

/// A quantity of which each cell has a sum. Sums are exact 64-bit integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Rows written or deleted.
    Writes,
    /// Point reads and scans; a scan counts once, where it begins.
    Reads,
    /// Bytes written, where operations say so.
    BytesIn,
    /// Bytes answered, where operations say so.
    BytesOut,
    /// Rows that reads and scans answered, where operations say so.
    Rows,
    /// Time spent on operations, in microseconds, where it is known. Over reads and writes it is their mean latency.
    TimeUs,
}

/// One sum for each metric, in the order of [`Metric::ALL`].
pub type Values = [u64; Metric::ALL.len()];

impl Metric {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Writes, Self::Reads, Self::BytesIn, Self::BytesOut, Self::Rows, Self::TimeUs];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::BytesIn => "bytes-in",
            Self::BytesOut => "bytes-out",
            Self::Rows => "rows-read",
            Self::TimeUs => "time",
        }
    }

    /// Its unit, for people.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::BytesIn | Self::BytesOut => "bytes",
            Self::Rows => "rows",
            Self::TimeUs => "us",
        }
    }

    /// Where it stands in [`Values`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether it counts operations: these decide where the key space is cut finely.
    pub fn is_load(self) -> bool {
        matches!(self, Self::Writes | Self::Reads)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|metric| metric.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|metric| metric.name()).collect();
            format!("`{text}` is no metric; there are {}", names.join(", "))
        })
    }
}
