//! Puts the chunks of all buckets into one sequence: by unsalted key, ties by bucket; or as they come.
//!
//! The first chunk of a bucket is small and each next one larger, so that "ten rows of a hundred buckets" reads about a hundred
//! rows, and a long scan pays for the threads once in some hundred rows. The next chunk of a bucket is requested when the scan
//! begins with the current one.

use super::fetch::Fetcher;
use super::source::{Chunk, ChunkSize, Entry, Part, Reading, Source};
use super::tree::LoserTree;
use crate::{KeyedRow, Result};
use std::cmp::Ordering;
use std::sync::Arc;

/// Rows of the largest chunk: then the threads cost little.
const CHUNK_ROWS_MAX: usize = 256;
/// Rows of the largest chunk if there are many buckets.
const CHUNK_ROWS_MIN: usize = 16;
/// Rows of the first chunk of a bucket, if the scan has no limit.
const CHUNK_ROWS_FIRST: usize = 32;
/// Rows of all buckets that wait at the same time, about, so that they are still in the processor's cache when they are merged.
const ROWS_WAITING: usize = 2048;

/// Rows of several buckets as one sequence.
#[derive(Debug)]
pub(crate) struct Merge {
    fetcher: Fetcher,
    heads: Vec<Head>,
    /// The first row of each head, as far as most comparisons need it: close together, for the processor's cache.
    fronts: Vec<Front>,
    /// Only for ordered merges.
    tree: Option<LoserTree>,
    /// The bucket whose head was returned last: refilled only when the next row is asked for.
    stale: Option<usize>,
    /// Only for merges as they come: the bucket whose chunk is being returned, and the next one to be begun.
    current: usize,
    next_bucket: usize,
    window: usize,
    order: HeadOrder,
    /// Rows that are still wanted, and those that wait in chunks.
    rows_left: Option<u64>,
    rows_waiting: u64,
    chunk_bytes: usize,
    chunk_rows_max: usize,
    examined: u64,
    foreign: u64,
}

/// The rows of one bucket that wait.
#[derive(Debug)]
struct Head {
    rows: std::vec::IntoIter<Entry>,
    chunk_rows: usize,
    /// No chunk follows the current one.
    last: bool,
}

/// The prefix of a head's first row; `None` if it has none.
type Front = Option<u128>;

#[derive(Debug, Clone, Copy)]
struct HeadOrder {
    reversed: bool,
    /// Where the compared part of a stored key begins.
    compared_from: usize,
}

/// How a merge is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergeConfig {
    pub(crate) ordered: bool,
    /// Threads that read, 0 for none.
    pub(crate) workers: usize,
    pub(crate) buffer_bytes_max: usize,
}

impl Merge {
    /// Begins to read all buckets, or as many as there are workers if rows come as they come.
    pub(crate) fn new(reading: Reading, parts: Vec<Part>, config: MergeConfig) -> Result<Self> {
        let rows_max = reading.rows_max;
        let order =
            HeadOrder { reversed: reading.reversed, compared_from: reading.salt_width + reading.shared };
        let buckets = parts.len();
        let sources: Vec<Source> =
            parts.into_iter().map(|part| Source::new(Arc::new(part), rows_max)).collect();
        let first = rows_max.map_or(CHUNK_ROWS_FIRST, |rows| {
            let share = rows.div_ceil(buckets.max(1) as u64);
            usize::try_from(share).unwrap_or(usize::MAX).clamp(1, CHUNK_ROWS_FIRST)
        });
        let heads = (0..buckets)
            .map(|_| Head { rows: Vec::new().into_iter(), chunk_rows: first, last: false })
            .collect();
        let window = if config.ordered { buckets } else { (2 * config.workers).clamp(1, buckets.max(1)) };
        // Each bucket has at most one chunk that is being returned and one that is on its way.
        let chunk_bytes = (config.buffer_bytes_max / (2 * window.max(1))).max(1);
        let fetcher = Fetcher::new(reading, sources, config.workers, !config.ordered);
        let mut merge = Self {
            fetcher,
            heads,
            fronts: vec![None; buckets],
            tree: None,
            stale: None,
            current: 0,
            next_bucket: 0,
            window,
            order,
            rows_left: rows_max,
            rows_waiting: 0,
            chunk_bytes,
            chunk_rows_max: (ROWS_WAITING / window.max(1)).clamp(CHUNK_ROWS_MIN, CHUNK_ROWS_MAX),
            examined: 0,
            foreign: 0,
        };
        if config.ordered {
            merge.begin_ordered()?;
        } else {
            merge.fill_window();
        }
        Ok(merge)
    }

    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    pub(crate) fn foreign(&self) -> u64 {
        self.foreign
    }

    /// The next row; `None` behind the last.
    pub(crate) fn next_row(&mut self) -> Result<Option<KeyedRow>> {
        let row = if self.tree.is_some() { self.next_ordered() } else { self.next_as_it_comes() }?;
        if row.is_some() {
            self.rows_waiting -= 1;
            self.rows_left = self.rows_left.map(|rows| rows.saturating_sub(1));
        }
        Ok(row)
    }

    fn begin_ordered(&mut self) -> Result<()> {
        for bucket in 0..self.heads.len() {
            self.fetcher.request(bucket, self.chunk_size(bucket));
        }
        for bucket in 0..self.heads.len() {
            self.refill(bucket)?;
        }
        for bucket in 0..self.heads.len() {
            self.fronts[bucket] = self.heads[bucket].front();
        }
        let (heads, fronts, order) = (&self.heads, &self.fronts, self.order);
        self.tree = Some(LoserTree::new(heads.len(), &|a, b| order.less(fronts, heads, a, b)));
        Ok(())
    }

    fn next_ordered(&mut self) -> Result<Option<KeyedRow>> {
        if let Some(bucket) = self.stale.take() {
            self.refill(bucket)?;
            self.fronts[bucket] = self.heads[bucket].front();
            let (heads, fronts, order) = (&self.heads, &self.fronts, self.order);
            let tree = self.tree.as_mut().expect("an ordered merge has a tree");
            tree.replay(&|a, b| order.less(fronts, heads, a, b));
        }
        let Some(bucket) = self.tree.as_ref().and_then(LoserTree::winner) else { return Ok(None) };
        // The winner is empty only if all heads are.
        let Some(entry) = self.heads[bucket].rows.next() else { return Ok(None) };
        self.stale = Some(bucket);
        Ok(Some(entry.row))
    }

    /// Waits until a bucket has rows or ends, and asks for the chunk behind.
    fn refill(&mut self, bucket: usize) -> Result<()> {
        if !self.heads[bucket].rows.as_slice().is_empty() {
            return Ok(());
        }
        while self.heads[bucket].rows.as_slice().is_empty() && !self.heads[bucket].last {
            self.fetcher.request(bucket, self.chunk_size(bucket));
            let chunk = self.fetcher.take(bucket)?;
            self.accept(bucket, chunk);
        }
        let enough = self.rows_left.is_some_and(|rows| self.rows_waiting >= rows);
        if !self.heads[bucket].last && !enough {
            self.fetcher.request(bucket, self.chunk_size(bucket));
        }
        Ok(())
    }

    fn next_as_it_comes(&mut self) -> Result<Option<KeyedRow>> {
        loop {
            if let Some(entry) = self.heads.get_mut(self.current).and_then(|head| head.rows.next()) {
                return Ok(Some(entry.row));
            }
            let Some((bucket, chunk)) = self.fetcher.take_any() else { return Ok(None) };
            self.accept(bucket, chunk?);
            self.current = bucket;
            if self.heads[bucket].last {
                self.window += 1;
            } else {
                self.fetcher.request(bucket, self.chunk_size(bucket));
            }
            self.fill_window();
        }
    }

    /// Begins further buckets. `window` counts all that may have been begun.
    fn fill_window(&mut self) {
        while self.next_bucket < self.heads.len().min(self.window) {
            self.fetcher.request(self.next_bucket, self.chunk_size(self.next_bucket));
            self.next_bucket += 1;
        }
    }

    fn accept(&mut self, bucket: usize, chunk: Chunk) {
        self.examined += chunk.examined;
        self.foreign += chunk.foreign;
        self.rows_waiting += chunk.rows.len() as u64;
        let rows_max = self.chunk_rows_max;
        let head = &mut self.heads[bucket];
        head.last = chunk.last;
        head.rows = chunk.rows.into_iter();
        head.chunk_rows = (head.chunk_rows * 2).min(rows_max);
    }

    fn chunk_size(&self, bucket: usize) -> ChunkSize {
        ChunkSize { rows: self.heads[bucket].chunk_rows, bytes: self.chunk_bytes }
    }
}

impl Head {
    fn front(&self) -> Front {
        self.rows.as_slice().first().map(|entry| entry.prefix)
    }
}

impl HeadOrder {
    /// Whether the head of `a` comes before that of `b`. An empty head comes last.
    fn less(self, fronts: &[Front], heads: &[Head], a: usize, b: usize) -> bool {
        let (Some(first), Some(second)) = (fronts[a], fronts[b]) else { return fronts[a].is_some() };
        let order = first
            .cmp(&second)
            .then_with(|| self.compared(&heads[a]).cmp(&self.compared(&heads[b])).then(a.cmp(&b)));
        order == if self.reversed { Ordering::Greater } else { Ordering::Less }
    }

    /// The part of the head's first key that orders it.
    fn compared(self, head: &Head) -> Option<&[u8]> {
        head.rows.as_slice().first()?.row.key.get(self.compared_from..)
    }
}
