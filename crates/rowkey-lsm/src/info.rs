//! What is told about tablets: sizes, counters, keys that cut a table into parts of about equal size.

use crate::key;
use crate::raw;
use crate::read::ReadError;
use crate::state::{Published, Shard, Space, Table, Tablet};
use bytes::Bytes;
use fjall::Readable as _;
use rowkey_store::{KeySample, Result, TabletInfo};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Smaller files give no sample of their own.
const SAMPLED_FILE_BYTES_MIN: u64 = 1 << 20;

/// Fragments of a shard up to which its tablets are told apart by reading them.
const READ_FRAGMENTS_MAX: usize = 200_000;

/// The tablets of a table.
///
/// # Errors
///
/// Those of reading.
pub(crate) fn tablets(path: &Path, published: &Published, table: &Table) -> Result<Vec<TabletInfo>> {
    let mut infos = Vec::with_capacity(table.tablets.len());
    for shard in table.shards() {
        let tablets = &table.tablets[shard.tablets.clone()];
        let shares = shares(path, published, &shard, tablets)?;
        for (tablet, (bytes, cells)) in tablets.iter().zip(shares) {
            let counters = &tablet.counters;
            infos.push(TabletInfo {
                range: tablet.range.clone(),
                bytes,
                cells,
                reads: counters.reads.load(Ordering::Relaxed),
                rows_read: counters.rows_read.load(Ordering::Relaxed),
                bytes_read: counters.bytes_read.load(Ordering::Relaxed),
                writes: counters.writes.load(Ordering::Relaxed),
                bytes_written: counters.bytes_written.load(Ordering::Relaxed),
            });
        }
    }
    Ok(infos)
}

/// The bytes and fragments of each tablet of a shard: exact for small shards, else a guess by what was written to each.
fn shares(
    path: &Path,
    published: &Published,
    shard: &Shard,
    tablets: &[Arc<Tablet>],
) -> Result<Vec<(u64, u64)>> {
    let bytes = bytes(&shard.spaces);
    let fragments: usize = shard.spaces.iter().map(|space| space.keyspace.approximate_len()).sum();
    if tablets.len() == 1 {
        return Ok(vec![(bytes, fragments as u64)]);
    }
    let mut weights: Vec<(u64, u64)> = vec![(1, 0); tablets.len()];
    if fragments <= READ_FRAGMENTS_MAX {
        for space in &shard.spaces {
            for (weight, tablet) in weights.iter_mut().zip(tablets) {
                let failed = |error: ReadError| error.into_error(path, [space]);
                let (bytes, fragments) = weigh(published, space, tablet).map_err(failed)?;
                weight.0 += bytes;
                weight.1 += fragments;
            }
        }
    } else {
        for (weight, tablet) in weights.iter_mut().zip(tablets) {
            weight.0 += tablet.counters.bytes_written.load(Ordering::Relaxed);
        }
    }
    let total: u128 = weights.iter().map(|weight| u128::from(weight.0)).sum();
    let share = |whole: u64, weight: u64| {
        u64::try_from(u128::from(whole) * u128::from(weight) / total).unwrap_or(whole)
    };
    let guess = fragments > READ_FRAGMENTS_MAX;
    Ok(weights
        .into_iter()
        .map(|(weight, exact)| {
            (share(bytes, weight), if guess { share(fragments as u64, weight) } else { exact })
        })
        .collect())
}

/// The bytes and the number of a tablet's fragments in one keyspace.
fn weigh(published: &Published, space: &Space, tablet: &Tablet) -> Result<(u64, u64), ReadError> {
    let (start, end) = key::range_bounds(&tablet.range);
    let pairs = match end {
        Some(end) => published.snapshot.range(&space.keyspace, start..end),
        None => published.snapshot.range(&space.keyspace, start..),
    };
    let mut sums = (0, 0);
    for pair in pairs {
        let (key, value) = pair.into_inner()?;
        sums.0 += (key.len() + value.len()) as u64;
        sums.1 += 1;
    }
    Ok(sums)
}

/// Bytes of the files and buffers of these keyspaces.
pub(crate) fn bytes(spaces: &[Space]) -> u64 {
    spaces.iter().map(space_bytes).sum()
}

/// Bytes of a keyspace's files and buffers, about.
pub(crate) fn space_bytes(space: &Space) -> u64 {
    space.keyspace.disk_space() + raw::memtable_bytes(&space.keyspace)
}

/// Key samples of a table: where its files and tablets begin.
pub(crate) fn samples(table: &Table) -> Vec<KeySample> {
    let mut pieces: Vec<(Bytes, u64)> = Vec::new();
    pieces.extend(table.tablets.iter().map(|tablet| (tablet.range.start.clone(), 0)));
    for shard in table.shards() {
        let start = || shard.range.start.clone();
        for space in &shard.spaces {
            pieces.push((start(), raw::memtable_bytes(&space.keyspace)));
            for facts in raw::tables(&space.keyspace) {
                if facts.bytes < SAMPLED_FILE_BYTES_MIN {
                    pieces.push((start(), facts.bytes));
                    continue;
                }
                let first = Bytes::from(facts.first_key);
                let row = key::split(&first).and_then(|(prefix, _)| key::row_of(first.slice(..prefix.len())));
                pieces.push((row.unwrap_or_else(|_| start()), facts.bytes));
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
