//! Rows cut into `ReadRows` messages.
//!
//! ```text
//! message 1: | row a: chunk chunk chunk+commit | row b: chunk+commit |      as many whole rows as fit
//! message 2: | row c: chunk, value_size ...                                 a row that is larger than a message, alone
//! message 3:   ... rest of the value, chunk+commit |
//! ```
//!
//! A row that fits into a message is never cut: clients written in Go fail a read whose message ends within a row, and clients of an
//! emulator refuse messages above 4 MiB. So only a row that is larger than that goes over several messages, which is the only way in
//! which anybody can read it. No chunk is ever a bare commit, which would be one more empty cell.

use crate::status::large_row;
use bytes::Bytes;
use rowkey_proto::data::ReadRowsResponse;
use rowkey_proto::data::read_rows_response::CellChunk;
use rowkey_proto::data::read_rows_response::cell_chunk::RowStatus;
use rowkey_store::{Cell, Row};
use std::collections::VecDeque;
use std::sync::Arc;
use tonic::Status;

/// Bytes of the largest row that a read returns, 256 MiB (`ReadRowsResponse`).
pub const ROW_BYTES_MAX: u64 = 256 << 20;

/// Bytes of a chunk beside its key, family, qualifier, labels and value, at most: tags and lengths of each (up to 6 bytes for lengths
/// below 4 GiB), a timestamp (11), a size (6), a commit (2), and the header of the chunk itself (6).
const CHUNK_BYTES: usize = 64;

/// Packs rows into messages.
///
/// ```
/// use rowkey_bigtable::chunks::Packer;
/// use rowkey_store::{Cell, Row};
///
/// let mut packer = Packer::new(3_500_000);
/// let cell = Cell { family: "m".into(), qualifier: "q".into(), timestamp_us: 0, value: "v".into(), labels: vec![] };
/// packer.push(Row { key: "truck#07".into(), cells: vec![cell] })?;
/// assert!(packer.full().is_none());
/// assert_eq!(packer.rest().unwrap().chunks.len(), 1);
/// # Ok::<(), tonic::Status>(())
/// ```
#[derive(Debug)]
pub struct Packer {
    message_bytes_max: usize,
    close_at: usize,
    row_bytes_max: u64,
    full: VecDeque<ReadRowsResponse>,
    chunks: Vec<CellChunk>,
    bytes: usize,
}

impl Packer {
    /// A packer of messages of at most `message_bytes_max` bytes, encoded. A key and a qualifier are never cut: where they alone are
    /// longer, so is their message.
    pub fn new(message_bytes_max: usize) -> Self {
        Self {
            message_bytes_max,
            close_at: message_bytes_max,
            row_bytes_max: ROW_BYTES_MAX,
            full: VecDeque::new(),
            chunks: Vec::new(),
            bytes: 0,
        }
    }

    /// The same, refusing rows above another limit than [`ROW_BYTES_MAX`].
    #[must_use]
    pub fn with_row_bytes_max(mut self, row_bytes_max: u64) -> Self {
        self.row_bytes_max = row_bytes_max;
        self
    }

    /// The same, closing messages as [`Packer::close_at`] says.
    #[must_use]
    pub fn closing_at(mut self, bytes: usize) -> Self {
        self.close_at(bytes);
        self
    }

    /// From now on a message is full when it has about so many bytes. A row that is larger by itself still has a message of its own, up
    /// to the limit of messages.
    pub fn close_at(&mut self, bytes: usize) {
        self.close_at = bytes.min(self.message_bytes_max);
    }

    /// Takes a row, which has at least one cell. Its values are not copied.
    ///
    /// # Errors
    ///
    /// `FAILED_PRECONDITION` for a row above the limit, with the details that clients look for ([`large_row`]). Rows before it are kept.
    pub fn push(&mut self, row: Row) -> Result<(), Status> {
        let bytes = row.key.len() + row.cells.iter().map(content_bytes).sum::<usize>();
        if bytes as u64 > self.row_bytes_max {
            return Err(large_row(&row.key, bytes as u64, self.row_bytes_max));
        }
        let encoded_max = bytes + row.cells.len() * CHUNK_BYTES;
        if !self.chunks.is_empty() && self.bytes + encoded_max > self.close_at {
            self.close();
        }
        if encoded_max <= self.message_bytes_max {
            self.whole(row, encoded_max);
        } else {
            self.cut(row);
        }
        if self.bytes >= self.close_at {
            self.close();
        }
        Ok(())
    }

    /// The next message that is full, in order.
    pub fn full(&mut self) -> Option<ReadRowsResponse> {
        self.full.pop_front()
    }

    /// The next full message, or what is left. `None`: nothing is left.
    pub fn rest(&mut self) -> Option<ReadRowsResponse> {
        if self.full.is_empty() && !self.chunks.is_empty() {
            self.close();
        }
        self.full()
    }

    /// Whether a message is full.
    pub fn has_full(&self) -> bool {
        !self.full.is_empty()
    }

    fn close(&mut self) {
        let chunks = std::mem::take(&mut self.chunks);
        if chunks.is_empty() {
            return;
        }
        self.bytes = 0;
        self.full.push_back(ReadRowsResponse { chunks, ..ReadRowsResponse::default() });
    }

    fn whole(&mut self, row: Row, encoded_max: usize) {
        self.chunks.reserve(row.cells.len());
        let mut heads = Heads::of(row.key);
        for cell in row.cells {
            let chunk = heads.chunk(cell);
            self.chunks.push(chunk);
        }
        commit(self.chunks.last_mut());
        self.bytes += encoded_max;
    }

    /// A row over several messages, of which it has the first and the last for itself.
    fn cut(&mut self, row: Row) {
        let mut heads = Heads::of(row.key);
        for cell in row.cells {
            let chunk = heads.chunk(cell);
            self.cut_cell(chunk);
        }
        commit(self.chunks.last_mut());
        self.close();
    }

    fn cut_cell(&mut self, mut chunk: CellChunk) {
        let mut rest = std::mem::take(&mut chunk.value);
        let size = i32::try_from(rest.len()).unwrap_or(i32::MAX);
        loop {
            let head = CHUNK_BYTES + head_bytes(&chunk);
            if !self.chunks.is_empty() && self.bytes + head + rest.len() > self.message_bytes_max {
                // A small remainder of a message is not worth a cut.
                let room = self.message_bytes_max.saturating_sub(self.bytes + head);
                if room < self.message_bytes_max / 2 {
                    self.close();
                }
            }
            // At least one byte, so that it ends however small a message is.
            let room = self.message_bytes_max.saturating_sub(self.bytes + head).max(1);
            if rest.len() <= room {
                self.bytes += head + rest.len();
                self.chunks.push(CellChunk { value: rest, ..chunk });
                return;
            }
            let value = rest.split_to(room);
            self.chunks.push(CellChunk { value, value_size: size, ..std::mem::take(&mut chunk) });
            self.close();
        }
    }
}

/// What of a cell's place is new since the cell before.
struct Heads {
    key: Bytes,
    column: Option<(Arc<str>, Bytes)>,
}

impl Heads {
    fn of(key: Bytes) -> Self {
        Self { key, column: None }
    }

    fn chunk(&mut self, cell: Cell) -> CellChunk {
        let known = self.column.as_ref();
        let new_family = known.is_none_or(|(family, _)| *family != cell.family);
        let new_column = new_family || known.is_none_or(|(_, qualifier)| *qualifier != cell.qualifier);
        let chunk = CellChunk {
            row_key: std::mem::take(&mut self.key),
            family_name: new_family.then(|| (*cell.family).to_owned()),
            qualifier: new_column.then(|| cell.qualifier.to_vec()),
            timestamp_micros: cell.timestamp_us,
            labels: cell.labels,
            value: cell.value,
            value_size: 0,
            row_status: None,
        };
        if new_column {
            self.column = Some((cell.family, cell.qualifier));
        }
        chunk
    }
}

fn commit(last: Option<&mut CellChunk>) {
    if let Some(last) = last {
        last.row_status = Some(RowStatus::CommitRow(true));
    }
}

/// Bytes of a cell that count for the limits of a row and of a message, whether its family and qualifier are repeated or not.
fn content_bytes(cell: &Cell) -> usize {
    cell.family.len() + cell.qualifier.len() + cell.value.len() + labels_bytes(&cell.labels)
}

fn head_bytes(chunk: &CellChunk) -> usize {
    chunk.row_key.len()
        + chunk.family_name.as_ref().map_or(0, String::len)
        + chunk.qualifier.as_ref().map_or(0, Vec::len)
        + labels_bytes(&chunk.labels)
}

/// With a tag and a length of 1 byte, as labels have at most 15 characters.
fn labels_bytes(labels: &[String]) -> usize {
    labels.iter().map(|label| label.len() + 2).sum()
}

#[cfg(test)]
mod tests;
