//! Stretches of consecutive operations, spread over the whole stream, in bounded memory.

use crate::facts::{Arrived, Scan};
use crate::sketch::{Thinning, kept, short};

/// One operation of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) time_ms: Option<i64>,
    pub(crate) key: &'a [u8],
    pub(crate) end: Option<&'a [u8]>,
    pub(crate) rows: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    time_ms: Option<i64>,
    rows: Option<u64>,
    offset: u32,
    key_len: u32,
    /// Of the end, which follows the key.
    end_len: Option<u32>,
}

/// Consecutive operations.
#[derive(Debug, Clone, Default)]
struct Block {
    number: u64,
    first: u64,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Block {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn push(&mut self, record: &Record<'_>) {
        let (key, end) = (kept(record.key), record.end.map(kept));
        self.entries.push(Entry {
            time_ms: record.time_ms,
            rows: record.rows,
            offset: short(self.bytes.len()),
            key_len: short(key.len()),
            end_len: end.map(|end| short(end.len())),
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(end.unwrap_or_default());
    }

    fn records(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        (self.first..).zip(&self.entries).map(|(index, entry)| {
            let (key, rest) = self.bytes[entry.offset as usize..].split_at(entry.key_len as usize);
            let end = entry.end_len.map(|len| &rest[..len as usize]);
            (index, Record { time_ms: entry.time_ms, key, end, rows: entry.rows })
        })
    }
}

/// Room of a [`Runs`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunsConfig {
    /// A block of consecutive operations ends at so many, or at so many bytes of keys.
    pub(crate) block_len: usize,
    pub(crate) block_bytes: usize,
    /// Blocks kept, beside the first and the last two.
    pub(crate) blocks_max: usize,
    pub(crate) seed: u64,
}

/// Cuts the stream into blocks; keeps the first, the latest, and evenly some of those between.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    config: RunsConfig,
    thinning: Thinning,
    head: Option<Block>,
    kept: Vec<Block>,
    previous: Option<Block>,
    current: Block,
    keep: Vec<bool>,
}

impl Runs {
    pub(crate) fn new(config: RunsConfig) -> Self {
        Self {
            config,
            thinning: Thinning::new(config.seed),
            head: None,
            kept: Vec::new(),
            previous: None,
            current: Block::default(),
            keep: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        let bytes = self.current.bytes.len() + record.key.len() + record.end.map_or(0, <[u8]>::len);
        let full = self.current.entries.len() >= self.config.block_len || bytes > self.config.block_bytes;
        if full && !self.current.entries.is_empty() {
            self.turn();
        }
        self.current.push(record);
    }

    /// Ends a block and opens the next.
    fn turn(&mut self) {
        let next = Block { number: self.current.number + 1, first: self.current.end(), ..self.recycled() };
        let done = std::mem::replace(&mut self.current, next);
        if self.head.is_none() {
            self.head = Some(done);
        } else if self.thinning.takes(done.number - 1) {
            self.kept.push(done);
            self.thin();
        } else {
            self.previous = Some(done);
        }
    }

    /// An empty block with the memory of the one before the last, which is not needed any more.
    fn recycled(&mut self) -> Block {
        let mut block = self.previous.take().unwrap_or_default();
        block.bytes.clear();
        block.entries.clear();
        block
    }

    fn thin(&mut self) {
        if self.kept.len() <= self.config.blocks_max.max(2) {
            return;
        }
        self.thinning.double(self.kept.iter().map(|block| block.number - 1), &mut self.keep);
        if self.keep.last() == Some(&false) {
            // The latest stays in any case, until the next.
            self.previous = self.kept.pop();
        }
        let mut position = 0;
        self.kept.retain(|_| {
            position += 1;
            self.keep[position - 1]
        });
    }

    /// All records of each run; blocks that follow each other are one run.
    fn collect<T>(self, one: impl Fn(u64, Record<'_>) -> T) -> Vec<Vec<T>> {
        let blocks = self.head.into_iter().chain(self.kept).chain(self.previous).chain([self.current]);
        let mut runs: Vec<Vec<T>> = Vec::new();
        let mut end = None;
        for block in blocks.filter(|block| !block.entries.is_empty()) {
            if end != Some(block.first) {
                runs.push(Vec::new());
            }
            end = Some(block.end());
            if let Some(run) = runs.last_mut() {
                run.extend(block.records().map(|(index, record)| one(index, record)));
            }
        }
        runs
    }

    /// The runs as keys.
    pub(crate) fn into_arrived(self) -> Vec<Vec<Arrived>> {
        self.collect(|index, record| Arrived { index, time_ms: record.time_ms, key: record.key.into() })
    }

    /// The runs as scans.
    pub(crate) fn into_scans(self) -> Vec<Vec<Scan>> {
        self.collect(|index, record| Scan {
            index,
            time_ms: record.time_ms,
            key: record.key.into(),
            end: record.end.map(Into::into),
            rows: record.rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(operations: u64, key_len: usize, seed: u64) -> Vec<Vec<Arrived>> {
        let mut runs = Runs::new(RunsConfig { block_len: 10, block_bytes: 1_000, blocks_max: 4, seed });
        for index in 0..operations {
            let key = format!("{index:0key_len$}");
            runs.push(&Record { time_ms: None, key: key.as_bytes(), end: None, rows: None });
        }
        runs.into_arrived()
    }

    #[test]
    fn runs_are_consecutive_and_have_both_ends_of_the_stream() {
        for operations in 1..400 {
            for seed in 0..5 {
                let runs = runs(operations, 6, seed);
                let all: Vec<&Arrived> = runs.iter().flatten().collect();
                assert_eq!(all[0].index, 0);
                assert_eq!(all[all.len() - 1].index, operations - 1);
                assert!(
                    all.iter().all(|arrived| arrived.key[..] == *format!("{:06}", arrived.index).as_bytes())
                );
                for run in &runs {
                    assert!(run.windows(2).all(|pair| pair[0].index + 1 == pair[1].index));
                }
                // Runs that touch are one, and all is there while the blocks fit.
                assert!(runs.windows(2).all(|pair| pair[0][pair[0].len() - 1].index + 1 < pair[1][0].index));
                assert!(all.len() <= 70, "{}", all.len());
                if operations <= 50 {
                    assert_eq!(runs.len(), 1, "{operations} operations");
                }
                // The last run has a whole block, not only the rest of a division.
                let last = runs[runs.len() - 1].len() as u64;
                assert!(last >= operations.min(10), "{last} of {operations}");
            }
        }
    }

    #[test]
    fn long_keys_make_short_blocks() {
        let runs = runs(10_000, 900, 1);
        let bytes: usize = runs.iter().flatten().map(|arrived| arrived.key.len()).sum();
        assert!(bytes <= 7 * 1_000, "{bytes}");
        assert!(runs.len() > 3);
    }
}
