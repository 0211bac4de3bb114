//! The filter tree of `google.bigtable.v2.RowFilter`. What is wrong with one is said before a row is read: [`crate::check::filter`].
//! Patterns are those of RE2 in Latin-1 mode and match the whole ([`crate::regex`]).

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
    /// Sends cells straight to the output, past all filters that follow; nothing goes on to those. Not inside of a condition.
    Sink,
    /// Rows whose key matches a pattern, which is not empty.
    RowKeyRegex(Bytes),
    /// Keeps about this share of the rows, between 0 and 1, both out. A hash of the row key decides, so the same rows stay each time, and
    /// those of a smaller share are among those of a larger one; several samples in one filter decide independently.
    RowSample(f64),
    /// Families whose name matches a pattern, which has no `:`.
    FamilyRegex(String),
    /// Qualifiers that match a pattern.
    QualifierRegex(Bytes),
    /// Qualifiers of one family in a range. A family that the table does not have has no cells.
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
    /// Values that match a pattern.
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
    /// Puts a label on each cell. Of the members of a chain at most one may do that, or have one inside that does.
    ApplyLabel(String),
}
