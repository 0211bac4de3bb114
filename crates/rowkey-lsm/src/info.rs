//! What is told about tablets: sizes, counters, keys that cut a table into parts of about equal size.

use crate::fragment::Fragment;
use crate::key;
use crate::raw::{self, TableFacts};
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

/// The tablets of a table. Reads the table whole: tablets share files, and what is told of them must be true.
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
            infos.push(TabletInfo { bytes, cells, ..counted(tablet) });
        }
    }
    Ok(infos)
}

/// The bytes and cells of each tablet of a shard. Bytes are the shard's files and buffers, shared out by what each tablet's pairs weigh.
fn shares(
    path: &Path,
    published: &Published,
    shard: &Shard,
    tablets: &[Arc<Tablet>],
) -> Result<Vec<(u64, u64)>> {
    let mut weights: Vec<(u64, u64)> = vec![(0, 0); tablets.len()];
    for space in &shard.spaces {
        for (weight, tablet) in weights.iter_mut().zip(tablets) {
            let failed = |error: ReadError| error.into_error(path, [space]);
            let (bytes, cells) = weigh(published, space, tablet).map_err(failed)?;
            weight.0 += bytes;
            weight.1 += cells;
        }
    }
    let whole = bytes(&shard.spaces);
    let total = weights.iter().map(|weight| weight.0).sum::<u64>().max(1);
    let share = |weight: u64| {
        u64::try_from(u128::from(whole) * u128::from(weight) / u128::from(total)).unwrap_or(whole)
    };
    Ok(weights.into_iter().map(|(weight, cells)| (share(weight), cells)).collect())
}

/// The bytes of a tablet's pairs in one keyspace, and the cells in them.
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
        let mut fragment = Fragment::decode(value.into())?;
        while fragment.next_place().transpose()?.is_some() {
            sums.1 += 1;
        }
    }
    Ok(sums)
}

/// The tablets of a table, without a look at any row: a file's bytes and pairs are shared out evenly over the tablets that it may have
/// rows of, and those of the buffers by what was written to each. A pair counts as a cell.
pub(crate) fn tablet_counters(table: &Table) -> Vec<TabletInfo> {
    let mut infos: Vec<TabletInfo> = table.tablets.iter().map(|tablet| counted(tablet)).collect();
    for shard in table.shards() {
        let of_shard = &mut infos[shard.tablets.clone()];
        for space in &shard.spaces {
            share_out(of_shard, raw::memtable_bytes(&space.keyspace), raw::memtable_pairs(&space.keyspace));
            for facts in raw::tables(&space.keyspace) {
                let holding = tablets_of_file(of_shard, &facts);
                let (bytes, cells) = (facts.bytes, facts.pairs);
                let count = holding.len().max(1) as u64;
                for info in &mut of_shard[holding] {
                    info.bytes += bytes / count;
                    info.cells += cells / count;
                }
            }
        }
    }
    infos
}

/// Shares out what is in a buffer by the bytes that were written to each tablet, evenly if there are none.
fn share_out(infos: &mut [TabletInfo], bytes: u64, cells: u64) {
    let written: u64 = infos.iter().map(|info| info.bytes_written).sum();
    let count = infos.len() as u64;
    for info in infos {
        let (part, whole) = if written == 0 { (1, count) } else { (info.bytes_written, written) };
        let share = |all: u64| {
            u64::try_from(u128::from(all) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(all)
        };
        info.bytes += share(bytes);
        info.cells += share(cells);
    }
}

/// The tablets that a file may have rows of: all from that of its first key to that of its last one.
fn tablets_of_file(infos: &[TabletInfo], facts: &TableFacts) -> std::ops::Range<usize> {
    let tablet_of = |key: &[u8]| {
        let key = Bytes::copy_from_slice(key);
        let row = key::split(&key).and_then(|(prefix, _)| key::row_of(key.slice(..prefix.len())));
        // The marker sorts before all rows.
        row.map_or(0, |row| infos.partition_point(|info| info.range.start <= row).saturating_sub(1))
    };
    let (first, last) = (tablet_of(&facts.first_key), tablet_of(&facts.last_key));
    first..(last + 1).max(first + 1).min(infos.len())
}

/// What a tablet counted.
fn counted(tablet: &Tablet) -> TabletInfo {
    let counters = &tablet.counters;
    TabletInfo {
        range: tablet.range.clone(),
        bytes: 0,
        cells: 0,
        reads: counters.reads.load(Ordering::Relaxed),
        rows_read: counters.rows_read.load(Ordering::Relaxed),
        bytes_read: counters.bytes_read.load(Ordering::Relaxed),
        writes: counters.writes.load(Ordering::Relaxed),
        bytes_written: counters.bytes_written.load(Ordering::Relaxed),
    }
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
