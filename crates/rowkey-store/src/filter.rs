//! The filter tree of `google.bigtable.v2.RowFilter`. Its evaluation is completed with the server; what is not evaluated yet is
//! refused by name, never passed over.

use bytes::Bytes;
use std::ops::{Bound, Range};

/// Decides which cells of a row come out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// All cells.
    PassAll,
    /// No cells.
    BlockAll,
    /// Each filter works on what the one before let through. At least two.
    Chain(Vec<Filter>),
    /// Each filter works on a copy; results are merged and sorted, duplicates kept. At least two.
    Interleave(Vec<Filter>),
    /// If the predicate lets a cell through, the first branch, else the second; a missing branch is `BlockAll`.
    Condition {
        /// The predicate.
        predicate: Box<Filter>,
        /// If it let a cell through.
        then: Option<Box<Filter>>,
        /// If not.
        otherwise: Option<Box<Filter>>,
    },
    /// Sends cells straight to the output.
    Sink,
    /// Full match of RE2 in Latin-1 mode on the row key.
    RowKeyRegex(Bytes),
    /// Keeps rows with this probability, 0 to 1 exclusive.
    RowSample(f64),
    /// Full match on the family name.
    FamilyRegex(String),
    /// Full match on the qualifier.
    QualifierRegex(Bytes),
    /// Qualifiers of one family in a range.
    QualifierRange {
        /// The family.
        family: String,
        /// The lower bound.
        start: Bound<Bytes>,
        /// The upper bound.
        end: Bound<Bytes>,
    },
    /// Cells whose time is in a half-open range, in microseconds.
    TimestampRange(Range<i64>),
    /// Full match on the value.
    ValueRegex(Bytes),
    /// Values in a range, bytewise.
    ValueRange {
        /// The lower bound.
        start: Bound<Bytes>,
        /// The upper bound.
        end: Bound<Bytes>,
    },
    /// Values of the mask's length with `value & mask == mask`.
    ValueBitmask(Bytes),
    /// Skips the first cells of each row.
    CellsPerRowOffset(u32),
    /// The first cells of each row.
    CellsPerRowLimit(u32),
    /// The newest cells of each column.
    CellsPerColumnLimit(u32),
    /// Replaces values by empty ones.
    StripValue,
    /// Puts a label on each cell.
    ApplyLabel(String),
}
