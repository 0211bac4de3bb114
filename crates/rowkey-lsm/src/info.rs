//! What is told about tablets: sizes, counters, keys that cut a table into parts of about equal size.

use crate::raw;
use crate::state::{Space, Table, Tablet};
use bytes::Bytes;
use rowkey_store::{KeySample, TabletInfo};
use std::sync::atomic::Ordering;

/// Smaller files give no sample of their own.
const SAMPLED_FILE_BYTES_MIN: u64 = 1 << 20;

/// The tablets of a table.
pub(crate) fn tablets(table: &Table) -> Vec<TabletInfo> {
    let info = |tablet: &std::sync::Arc<Tablet>| {
        let counters = &tablet.counters;
        TabletInfo {
            range: tablet.range.clone(),
            bytes: bytes(tablet),
            cells: tablet.spaces.iter().map(|space| space.keyspace.approximate_len() as u64).sum(),
            reads: counters.reads.load(Ordering::Relaxed),
            rows_read: counters.rows_read.load(Ordering::Relaxed),
            bytes_read: counters.bytes_read.load(Ordering::Relaxed),
            writes: counters.writes.load(Ordering::Relaxed),
            bytes_written: counters.bytes_written.load(Ordering::Relaxed),
        }
    };
    table.tablets.iter().map(info).collect()
}

/// Bytes of a tablet's files and buffers, about.
pub(crate) fn bytes(tablet: &Tablet) -> u64 {
    tablet.spaces.iter().map(space_bytes).sum()
}

/// Bytes of a keyspace's files and buffers, about.
pub(crate) fn space_bytes(space: &Space) -> u64 {
    space.keyspace.disk_space() + raw::memtable_bytes(&space.keyspace)
}

/// Key samples of a table: where its files and tablets begin.
pub(crate) fn samples(table: &Table) -> Vec<KeySample> {
    let mut pieces: Vec<(Bytes, u64)> = Vec::new();
    for tablet in &table.tablets {
        pieces.push((tablet.range.start.clone(), 0));
        for space in &tablet.spaces {
            pieces.push((tablet.range.start.clone(), raw::memtable_bytes(&space.keyspace)));
            for facts in raw::tables(&space.keyspace) {
                if facts.bytes < SAMPLED_FILE_BYTES_MIN {
                    pieces.push((tablet.range.start.clone(), facts.bytes));
                    continue;
                }
                let first = Bytes::from(facts.first_key);
                let row = crate::key::split(&first)
                    .and_then(|(prefix, _)| crate::key::row_of(&first.slice(..prefix.len())));
                pieces.push((row.unwrap_or_else(|_| tablet.range.start.clone()), facts.bytes));
            }
        }
    }
    pieces.sort();
    let mut samples: Vec<KeySample> = Vec::new();
    let mut offset_bytes = 0;
    for (key, bytes) in pieces {
        if !key.is_empty() && samples.last().is_none_or(|last| last.key != key) {
            samples.push(KeySample { key, offset_bytes });
        }
        offset_bytes += bytes;
    }
    samples.push(KeySample { key: Bytes::new(), offset_bytes });
    samples
}
