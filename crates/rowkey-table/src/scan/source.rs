//! One bucket of a scan: its ranges, its open stream, and how a chunk of rows is read from it.
//!
//! A chunk ends when it has the rows or the bytes that were asked for; the stream stays open for the next one, so a scan that
//! needs ten rows reads little more than ten. What is wrong with a bucket becomes an error that names the bucket and the range.

use crate::{Error, ErrorKind, KeyedRow, OnForeignKey, Result, row};
use bytes::Bytes;
use rowkey::Value;
use rowkey_store::{Clock, ReadRequest, Row, RowRange, RowSet, RowStream, Selection, Snapshot};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows that one chunk examines at most, however few of them the filter lets through: a deadline is about progress.
const CHUNK_EXAMINED_MAX: u64 = 4096;

/// Decides whether a stored key belongs to the result. Behind a trait, so that merging can be tested without a schema.
pub(crate) trait Judge: Send + Sync + std::fmt::Debug {
    /// The values of the key; `None` if the residual filter says no.
    fn judge(&self, key: &[u8]) -> Result<Option<Vec<Value<'static>>>, rowkey::Error>;
}

/// What all buckets of a scan have in common.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) table: String,
    pub(crate) snapshot: Arc<dyn Snapshot>,
    pub(crate) judge: Box<dyn Judge>,
    pub(crate) selection: Selection,
    pub(crate) live: bool,
    pub(crate) reversed: bool,
    pub(crate) on_foreign_key: OnForeignKey,
    /// Bytes of the salt, in front of the unsalted key.
    pub(crate) salt_width: usize,
    /// Bytes behind the salt that all keys of the scan share.
    pub(crate) shared: usize,
    /// Rows of one bucket that can be needed at all: offset and limit together.
    pub(crate) rows_max: Option<u64>,
    /// Whether the engine may count to `rows_max`: only if every row that it returns is returned by us.
    pub(crate) rows_exact: bool,
    pub(crate) clock: Arc<dyn Clock>,
    /// Microseconds that a chunk may take.
    pub(crate) deadline_us: Option<i64>,
    pub(crate) cancelled: AtomicBool,
}

/// A row that waits to be merged.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The first bytes of the unsalted key behind those that all keys share: decides most comparisons.
    pub(crate) prefix: u128,
    pub(crate) row: KeyedRow,
}

/// Rows of one bucket, in order.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) rows: Vec<Entry>,
    pub(crate) examined: u64,
    pub(crate) foreign: u64,
    /// Nothing follows.
    pub(crate) last: bool,
}

/// How much to read at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkSize {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

/// Which rows one bucket of a scan reads.
#[derive(Debug)]
pub(crate) struct Part {
    /// The bucket; `None` without salt.
    pub(crate) bucket: Option<u32>,
    pub(crate) ranges: RowSet,
}

/// One bucket of a scan, as far as it was read.
pub(crate) struct Source {
    part: Arc<Part>,
    stream: Option<RowStream>,
    last_key: Option<Bytes>,
    rows_left: Option<u64>,
}

impl Source {
    pub(crate) fn new(part: Arc<Part>, rows_max: Option<u64>) -> Self {
        Self { part, stream: None, last_key: None, rows_left: rows_max }
    }

    pub(crate) fn part(&self) -> &Arc<Part> {
        &self.part
    }

    /// Reads the next chunk. `started_us` is when that began, for the deadline.
    pub(crate) fn read(&mut self, reading: &Reading, size: ChunkSize, started_us: i64) -> Result<Chunk> {
        let mut stream = if let Some(stream) = self.stream.take() {
            stream
        } else {
            let opened = reading.snapshot.read_rows(&self.request(reading));
            opened.map_err(|error| self.failed(reading, error.into()))?
        };
        let mut chunk = Chunk::default();
        let mut bytes = 0;
        while chunk.rows.len() < size.rows && bytes < size.bytes && chunk.examined < CHUNK_EXAMINED_MAX {
            if reading.cancelled.load(Ordering::Relaxed) {
                break;
            }
            if self.rows_left == Some(0) {
                chunk.last = true;
                return Ok(chunk);
            }
            let Some(next) = stream.next() else {
                self.check_deadline(reading, started_us)?;
                chunk.last = true;
                return Ok(chunk);
            };
            let next = next.map_err(|error| self.failed(reading, error.into()))?;
            chunk.examined += 1;
            self.check_deadline(reading, started_us)?;
            self.last_key = Some(next.key.clone());
            if let Some(entry) = self.admit(reading, next, &mut chunk.foreign)? {
                bytes += entry.row.bytes();
                chunk.rows.push(entry);
                self.rows_left = self.rows_left.map(|rows| rows - 1);
            }
        }
        chunk.last = self.rows_left == Some(0);
        self.stream = Some(stream);
        Ok(chunk)
    }

    fn request(&self, reading: &Reading) -> ReadRequest {
        ReadRequest {
            rows: self.part.ranges.clone(),
            selection: reading.selection.clone(),
            rows_max: if reading.rows_exact { reading.rows_max } else { None },
            reversed: reading.reversed,
            live: reading.live,
            ..ReadRequest::default()
        }
    }

    fn admit(&self, reading: &Reading, next: Row, foreign: &mut u64) -> Result<Option<Entry>> {
        let values = match reading.judge.judge(&next.key) {
            Ok(Some(values)) => values,
            Ok(None) => return Ok(None),
            Err(error) if reading.on_foreign_key == OnForeignKey::Fail => {
                let message = format!(
                    "table `{}`, {}: the stored key `{}` does not conform to the key schema: {error}. It was written without this \
                     schema; delete or migrate it, or ask to skip such keys",
                    reading.table,
                    self.part,
                    row::named(&next.key),
                );
                let kind = match error.kind() {
                    rowkey::ErrorKind::Malformed { offset } => ErrorKind::Malformed { offset },
                    _ => ErrorKind::Malformed { offset: 0 },
                };
                return Err(Error::new(kind, message).with_source(error));
            }
            Err(_) => {
                *foreign += 1;
                return Ok(None);
            }
        };
        let unshared = next.key.get(reading.salt_width + reading.shared..).unwrap_or_default();
        let prefix = prefix_of(unshared);
        Ok(Some(Entry { prefix, row: KeyedRow { values, key: next.key, cells: next.cells } }))
    }

    fn check_deadline(&self, reading: &Reading, started_us: i64) -> Result<()> {
        match reading.deadline_us {
            Some(deadline_us) if reading.clock.now_us() - started_us > deadline_us => {
                Err(self.part.too_slow(reading, self.last_key.as_ref(), deadline_us))
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, reading: &Reading, error: Error) -> Error {
        self.part.failed(reading, self.last_key.as_ref(), error)
    }
}

impl Part {
    /// The error of a bucket that did not answer in time.
    pub(crate) fn too_slow(&self, reading: &Reading, last_key: Option<&Bytes>, deadline_us: i64) -> Error {
        let error = Error::new(
            ErrorKind::DeadlineExceeded,
            format!("no answer within {} ms; raise the deadline, or ask for less", deadline_us / 1000),
        );
        self.failed(reading, last_key, error)
    }

    /// The error with the names of table, bucket and the range that was being read.
    pub(crate) fn failed(&self, reading: &Reading, last_key: Option<&Bytes>, error: Error) -> Error {
        let ranges = self.ranges.ranges();
        let range = match last_key {
            Some(key) => ranges.iter().find(|range| range.contains(key)),
            None if reading.reversed => ranges.last(),
            None => ranges.first(),
        };
        error.context(format!("table `{}`, {self}, {}", reading.table, shown(range)))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bucket {
            Some(bucket) => write!(f, "bucket {bucket}"),
            None => f.write_str("the only bucket"),
        }
    }
}

/// The first 16 bytes as a number; a shorter key is filled with zeros. Equal numbers say nothing, unequal ones order the keys.
pub(crate) fn prefix_of(key: &[u8]) -> u128 {
    let mut prefix = [0; 16];
    let length = key.len().min(16);
    prefix[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(prefix)
}

fn shown(range: Option<&RowRange>) -> String {
    let Some(range) = range else { return "no range".to_owned() };
    let end = range.end.as_ref().map(|end| row::named(end).to_string());
    format!("range `{}`..`{}`", row::named(&range.start), end.as_deref().unwrap_or(""))
}
