//! What a write does to one row. The whole list of a row applies, or nothing does.

use crate::{ColumnSelection, Filter, RowKey};
use bytes::Bytes;
use std::ops::Range;

/// The time of a new cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timestamp {
    /// The store's clock, cut to the table's granularity.
    Server,
    /// Microseconds since the epoch, a multiple of the granularity, not negative.
    Micros(i64),
}

/// One step. Steps apply in order; a later one may mask an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutation {
    /// Writes a cell. A cell of the same column and time is replaced.
    SetCell {
        /// The family, which must exist and be no aggregate.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// The time.
        timestamp: Timestamp,
        /// The value.
        value: Bytes,
    },
    /// Adds an input to the cell of this column and time, or makes one of it. Repeated, it counts again.
    AddToCell {
        /// The family, which must be an aggregate.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// The time.
        timestamp: Timestamp,
        /// The input.
        input: i64,
    },
    /// Merges a state into the cell of this column and time, or makes one of it. An empty state does nothing.
    MergeToCell {
        /// The family, which must be an aggregate.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// The time.
        timestamp: Timestamp,
        /// The state, 8 bytes big-endian ([`crate::aggregate`]), or nothing.
        state: Bytes,
    },
    /// Deletes the cells of a column whose time is in a half-open range (an end of `i64::MAX` is no end), and those that the
    /// family's rule hides at this moment. Without the latter, deleting the newest of more versions than the rule keeps would
    /// bring an older one back, or not, depending on whether compaction had taken it.
    DeleteFromColumn {
        /// The family, which must exist.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// Start and end in microseconds; `None`: all times.
        times_us: Option<Range<i64>>,
    },
    /// Deletes all cells of a family.
    DeleteFromFamily {
        /// The family, which must exist.
        family: String,
    },
    /// Deletes the row.
    DeleteFromRow,
}

impl Mutation {
    /// Writes a cell.
    pub fn set(
        family: impl Into<String>,
        qualifier: impl Into<Bytes>,
        timestamp: Timestamp,
        value: impl Into<Bytes>,
    ) -> Self {
        Self::SetCell { family: family.into(), qualifier: qualifier.into(), timestamp, value: value.into() }
    }

    /// Adds an input to an aggregate cell.
    pub fn add(
        family: impl Into<String>,
        qualifier: impl Into<Bytes>,
        timestamp: Timestamp,
        input: i64,
    ) -> Self {
        Self::AddToCell { family: family.into(), qualifier: qualifier.into(), timestamp, input }
    }

    /// Bytes of the value that it writes; 0 for a delete.
    pub fn value_bytes(&self) -> u64 {
        match self {
            Self::SetCell { value: bytes, .. } | Self::MergeToCell { state: bytes, .. } => bytes.len() as u64,
            Self::AddToCell { .. } => crate::aggregate::STATE_BYTES as u64,
            Self::DeleteFromColumn { .. } | Self::DeleteFromFamily { .. } | Self::DeleteFromRow => 0,
        }
    }

    /// Deletes all cells of a column.
    pub fn delete_column(family: impl Into<String>, qualifier: impl Into<Bytes>) -> Self {
        Self::DeleteFromColumn { family: family.into(), qualifier: qualifier.into(), times_us: None }
    }
}

/// The mutations of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowMutation {
    /// The row key.
    pub key: RowKey,
    /// 1 to 100,000 steps.
    pub mutations: Vec<Mutation>,
}

/// A conditional write: the row is read and written as one step.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckAndMutate {
    /// The row key.
    pub key: RowKey,
    /// The cells that the predicate looks at.
    pub columns: ColumnSelection,
    /// Matched if at least one cell passes; `None`: if the selection has any cell.
    pub predicate: Option<Filter>,
    /// What to do if it matched.
    pub then: Vec<Mutation>,
    /// What to do if not.
    pub otherwise: Vec<Mutation>,
}
