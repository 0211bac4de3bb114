//! What a read asks for, and how it is watched.

use crate::{Filter, RowKey, RowSet};
use bytes::Bytes;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Cancels the read from another thread, and sees how far it came. `None`: dropping the stream is the only way to end it early.
    pub watch: Option<Arc<Watch>>,
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

/// Watches one read from another thread. The read looks at it once for each row that it examines, whether anything of the row comes
/// out or not; so a read whose filter lets nothing through can be ended as well.
///
/// ```
/// use rowkey_store::{ReadRequest, Watch};
///
/// let watch = Watch::new();
/// let request = ReadRequest { watch: Some(watch.clone()), ..ReadRequest::all() };
/// watch.cancel(); // its next row is an error of the kind `Cancelled`
/// # assert!(request.watch.is_some_and(|watch| watch.is_cancelled()));
/// ```
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    rows_seen: AtomicU64,
    cells_seen: AtomicU64,
    last_key: Mutex<RowKey>,
}

/// Rows that are examined between two notes of the last key.
const ROWS_BETWEEN_NOTES: u64 = 64;

impl Watch {
    /// A watch for one read.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Ends the read at the next row that it examines, with an error of the kind [`crate::ErrorKind::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Rows that were examined so far, whatever came out of them.
    pub fn rows_seen(&self) -> u64 {
        self.rows_seen.load(Ordering::Relaxed)
    }

    /// Cells of those rows that were selected and came before the filter. Cells that need not be looked at do not count: of rows that
    /// are left out for their key, of families that the filter never lets through, older versions than it asks for.
    pub fn cells_seen(&self) -> u64 {
        self.cells_seen.load(Ordering::Relaxed)
    }

    /// A row that was examined before the one at which the read is now, not long ago (every 64 rows); empty before the first. All rows
    /// up to it that come out were returned before.
    pub fn last_key(&self) -> RowKey {
        self.last_key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a row that is about to be examined. `false`: the read is cancelled.
    pub(crate) fn row(&self) -> bool {
        self.rows_seen.fetch_add(1, Ordering::Relaxed);
        !self.is_cancelled()
    }

    pub(crate) fn cells(&self, cells: usize) {
        self.cells_seen.fetch_add(cells as u64, Ordering::Relaxed);
    }

    /// A row of which nothing came out.
    pub(crate) fn nothing_of(&self, key: &RowKey) {
        if self.rows_seen().is_multiple_of(ROWS_BETWEEN_NOTES) {
            *self.last_key.lock().unwrap_or_else(PoisonError::into_inner) = key.clone();
        }
    }
}

/// A watch is equal to itself alone.
impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
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

#[cfg(test)]
mod tests;
