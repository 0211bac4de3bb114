//! Rows and cells, as reads return them.

use bytes::Bytes;
use std::sync::Arc;

/// A row key as the store sees it: 1 to 4,096 bytes, ordered bytewise.
pub type RowKey = Bytes;

/// One version of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The column family. Shared by all cells of a family.
    pub family: Arc<str>,
    /// The column qualifier.
    pub qualifier: Bytes,
    /// Microseconds since the epoch, not negative.
    pub timestamp_us: i64,
    /// The value.
    pub value: Bytes,
    /// Labels that a filter put on it; nearly always empty.
    pub labels: Vec<String>,
}

/// A row with at least one cell, ordered by family (in the order of [`crate::TableConfig::families`]), qualifier, then newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row key.
    pub key: RowKey,
    /// Its cells.
    pub cells: Vec<Cell>,
}
