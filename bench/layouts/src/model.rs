//! What both layouts must build: the same row, from the same mutation.
//!
//! All byte strings of a row are [`Bytes`]s: a part of a block or of a stored value, shared by reference count,
//! or held inline when it is 20 bytes or shorter. Nothing here knows how a row is stored.

use bytes::Bytes;

/// Result of everything that reads or writes a store.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Versions of a column that a reader sees and that compaction keeps. Both layouts apply it at read time too.
pub const VERSIONS_MAX: usize = 1;

/// One timestamped value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub qualifier: Bytes,
    /// Microseconds.
    pub ts: i64,
    pub value: Bytes,
}

/// One row of one family: cells by qualifier ascending, then timestamp descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Bytes,
    pub cells: Vec<Cell>,
}

/// Cells to write into one row, by qualifier ascending, then timestamp descending.
pub struct Mutation {
    pub row: Vec<u8>,
    pub cells: Vec<(Vec<u8>, i64, Vec<u8>)>,
}

/// Which columns a read returns.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    All,
    One(&'a [u8]),
}

impl Columns<'_> {
    /// Whether a cell of `qualifier` is wanted.
    pub fn has(self, qualifier: &[u8]) -> bool {
        match self {
            Columns::All => true,
            Columns::One(wanted) => wanted == qualifier,
        }
    }
}

/// Order of a scan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Reverse,
}

/// Drops the versions above [`VERSIONS_MAX`] from sorted cells and makes a row, or nothing if no cell is left.
pub fn finish_row(key: Bytes, mut cells: Vec<Cell>) -> Option<Row> {
    let mut nth = 0;
    cells.dedup_by(|cell, kept| {
        nth = if cell.qualifier == kept.qualifier { nth + 1 } else { 0 };
        nth >= VERSIONS_MAX
    });
    (!cells.is_empty()).then_some(Row { key, cells })
}
