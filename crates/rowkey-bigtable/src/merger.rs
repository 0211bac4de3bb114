//! `ReadRows` messages put together to rows again, as a client does it; the reverse of [`crate::chunks`].
//!
//! Everything that a server must not send is an error, so that it serves to check servers as well.

use bytes::{Bytes, BytesMut};
use rowkey_proto::data::ReadRowsResponse;
use rowkey_proto::data::read_rows_response::CellChunk;
use rowkey_proto::data::read_rows_response::cell_chunk::RowStatus;
use rowkey_store::{Cell, Error, ErrorKind, Result, Row, RowKey};
use std::sync::Arc;

/// Puts rows together. After an error it is of no use.
#[derive(Debug, Default)]
pub struct RowMerger {
    reversed: bool,
    /// The greatest key so far (the least, if reversed), of a row or of what was scanned.
    last_key: RowKey,
    row: Option<OpenRow>,
}

#[derive(Debug)]
struct OpenRow {
    row: Row,
    family: Arc<str>,
    qualifier: Bytes,
    cell: Option<OpenCell>,
}

/// A cell whose value is not complete.
#[derive(Debug)]
struct OpenCell {
    timestamp_us: i64,
    labels: Vec<String>,
    value: BytesMut,
    /// As announced by its first chunk.
    size: usize,
}

impl RowMerger {
    /// A merger for a read in ascending or, `reversed`, descending order.
    pub fn new(reversed: bool) -> Self {
        Self { reversed, ..Self::default() }
    }

    /// The key up to which all rows have come: of the last row, or of the last one that the server looked at. Empty: none yet.
    pub fn last_key(&self) -> &RowKey {
        &self.last_key
    }

    /// Takes a message and appends the rows that it completes to `rows`.
    ///
    /// # Errors
    ///
    /// `Corrupt`: a chunk that must not come here. Rows before it are in `rows`.
    pub fn push(&mut self, message: ReadRowsResponse, rows: &mut Vec<Row>) -> Result<()> {
        for chunk in message.chunks {
            if let Some(row) = self.chunk(chunk)? {
                rows.push(row);
            }
        }
        if !message.last_scanned_row_key.is_empty() {
            if self.row.is_some() {
                return Err(corrupt("a last scanned key within a row"));
            }
            self.advance(&message.last_scanned_row_key)?;
        }
        Ok(())
    }

    /// The stream has ended.
    ///
    /// # Errors
    ///
    /// `Corrupt`: within a row.
    pub fn finish(self) -> Result<()> {
        self.row.map_or(Ok(()), |_| Err(corrupt("the end of the stream within a row")))
    }

    fn chunk(&mut self, chunk: CellChunk) -> Result<Option<Row>> {
        if chunk.row_status == Some(RowStatus::ResetRow(true)) {
            let bare = CellChunk { row_status: chunk.row_status, ..CellChunk::default() };
            if self.row.is_none() || chunk != bare {
                return Err(corrupt("a reset between rows, or with content"));
            }
            self.row = None;
            return Ok(None);
        }
        let commit = chunk.row_status == Some(RowStatus::CommitRow(true));
        if commit && chunk.value_size > 0 {
            return Err(corrupt("a commit within a value"));
        }
        let mut row = match self.row.take() {
            Some(row) => row,
            None => self.open(&chunk)?,
        };
        row.add(chunk)?;
        if !commit {
            self.row = Some(row);
            return Ok(None);
        }
        self.advance(&row.row.key)?;
        Ok(Some(row.row))
    }

    fn open(&self, chunk: &CellChunk) -> Result<OpenRow> {
        let (Some(family), Some(qualifier)) = (&chunk.family_name, &chunk.qualifier) else {
            return Err(corrupt("a row that begins without a column"));
        };
        if chunk.row_key.is_empty() {
            return Err(corrupt("a row that begins without a key"));
        }
        if !self.is_ahead(&chunk.row_key) {
            return Err(corrupt("a row out of order"));
        }
        Ok(OpenRow {
            row: Row { key: chunk.row_key.clone(), cells: Vec::new() },
            family: family.as_str().into(),
            qualifier: Bytes::copy_from_slice(qualifier),
            cell: None,
        })
    }

    fn is_ahead(&self, key: &RowKey) -> bool {
        self.last_key.is_empty() || if self.reversed { *key < self.last_key } else { *key > self.last_key }
    }

    fn advance(&mut self, key: &RowKey) -> Result<()> {
        if !self.is_ahead(key) {
            return Err(corrupt("a key out of order"));
        }
        self.last_key = key.clone();
        Ok(())
    }
}

impl OpenRow {
    fn add(&mut self, chunk: CellChunk) -> Result<()> {
        let size = usize::try_from(chunk.value_size).map_err(|_| corrupt("a negative size of a value"))?;
        match self.cell.take() {
            Some(cell) => self.continue_cell(cell, &chunk, size),
            None => self.begin_cell(chunk, size),
        }
    }

    fn begin_cell(&mut self, chunk: CellChunk, size: usize) -> Result<()> {
        if !chunk.row_key.is_empty() && chunk.row_key != self.row.key {
            return Err(corrupt("another row before this one was committed"));
        }
        if let Some(family) = chunk.family_name {
            if chunk.qualifier.is_none() {
                return Err(corrupt("a family without a qualifier"));
            }
            if *family != *self.family {
                self.family = family.into();
            }
        }
        if let Some(qualifier) = chunk.qualifier {
            self.qualifier = qualifier.into();
        }
        if size == 0 {
            self.push(chunk.timestamp_micros, chunk.value, chunk.labels);
            return Ok(());
        }
        let mut value = BytesMut::with_capacity(size.min(VALUE_BYTES_AHEAD_MAX));
        value.extend_from_slice(&chunk.value);
        let (timestamp_us, labels) = (chunk.timestamp_micros, chunk.labels);
        self.cell = Some(OpenCell { timestamp_us, labels, value, size });
        Ok(())
    }

    fn continue_cell(&mut self, mut cell: OpenCell, chunk: &CellChunk, size: usize) -> Result<()> {
        let bare = chunk.row_key.is_empty()
            && chunk.family_name.is_none()
            && chunk.qualifier.is_none()
            && chunk.timestamp_micros == 0
            && chunk.labels.is_empty();
        if !bare {
            return Err(corrupt("more than a value within a value"));
        }
        cell.value.extend_from_slice(&chunk.value);
        let complete = size == 0;
        if size != 0 && size != cell.size || cell.value.len() > cell.size {
            return Err(corrupt("a value of another size than announced"));
        }
        if !complete {
            self.cell = Some(cell);
            return Ok(());
        }
        if cell.value.len() != cell.size {
            return Err(corrupt("a value of another size than announced"));
        }
        self.push(cell.timestamp_us, cell.value.freeze(), cell.labels);
        Ok(())
    }

    fn push(&mut self, timestamp_us: i64, value: Bytes, labels: Vec<String>) {
        let (family, qualifier) = (Arc::clone(&self.family), self.qualifier.clone());
        self.row.cells.push(Cell { family, qualifier, timestamp_us, value, labels });
    }
}

/// Bytes that are reserved for a value before they come, at most: what a server announces may never come.
const VALUE_BYTES_AHEAD_MAX: usize = 1 << 20;

fn corrupt(what: &str) -> Error {
    let message = format!("the answer to a read has {what}; what came before it is good, read on behind it");
    Error::new(ErrorKind::Corrupt, message)
}
