//! What a read asks for.

use crate::{Filter, RowSet};
use bytes::Bytes;
use std::ops::Range;

/// A read of rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadRequest {
    /// Which rows. [`RowSet::all`] for the whole table; the default is none.
    pub rows: RowSet,
    /// Which cells of them.
    pub selection: Selection,
    /// What is let through of those. A row without cells is not returned and does not count.
    pub filter: Option<Filter>,
    /// At most so many rows come out; `None`: all.
    pub rows_max: Option<u64>,
    /// Row keys in descending order. The order of cells stays.
    pub reversed: bool,
    /// Cells that garbage collection may take are left out, as if it had run just now. Without it they can be read until it runs.
    pub live: bool,
}

impl ReadRequest {
    /// All cells of these rows. (The default request is of no rows.)
    pub fn of(rows: impl Into<RowSet>) -> Self {
        Self { rows: rows.into(), ..Self::default() }
    }

    /// All cells of the table.
    pub fn all() -> Self {
        Self::of(RowSet::all())
    }
}

/// Which cells an engine reads at all. What is left out here costs no I/O in an engine with separate families.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Families and columns.
    pub columns: ColumnSelection,
    /// Cells whose time is in this half-open range, in microseconds; an end of `i64::MAX` is no end. `None`: all.
    pub times_us: Option<Range<i64>>,
    /// The newest so many cells of each column, counted after the range of times; `None`: all.
    pub versions_max: Option<u32>,
}

/// Families and columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ColumnSelection {
    /// All of them.
    #[default]
    All,
    /// These families: all of their columns, or the named ones. A family that does not exist is an error.
    Only(Vec<(String, Option<Vec<Bytes>>)>),
}
