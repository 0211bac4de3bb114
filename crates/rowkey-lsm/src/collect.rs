//! Garbage: counting it, and collecting it now.
//!
//! A collection of one keyspace:
//!
//! 1. Reads all rows and writes masks for those that a merge of files cannot trim by itself, because an older fragment has a newer cell.
//! 2. Writes the marker pair on the committer's thread. That fixes the time and the last sequence number that are sure to be seen, and
//!    keeps the highest number of the files from falling below it: fjall replays its log from there on, and must not bring
//!    back what is collected.
//! 3. Writes the memtable to a file and merges all files; the filter counts versions and drops masks.
//! 4. Writes the marker again, publishes a new snapshot and writes that memtable too: only now fjall deletes the old files.

use crate::committer::Committer;
use crate::error;
use crate::filter::{FullPass, with_full_pass};
use crate::fragment::FragmentCell;
use crate::handle::Handle;
use crate::key;
use crate::merge::merge;
use crate::meta;
use crate::raw;
use crate::read::{Cursor, ReadError};
use crate::shared::Shared;
use crate::state::{Published, Space, Table};
use crate::trim::{RowTrim, Scope, Tally};
use crate::write::RowWrite;
use bytes::Bytes;
use rowkey_store::{GarbageReport, GcRule, Result, RowRange, gc};
use std::collections::HashSet;
use std::sync::Arc;

/// Rows that are trimmed in one batch.
const ROWS_A_BATCH: usize = 1_000;

/// What a look at one keyspace found.
#[derive(Debug, Default, Clone)]
pub(crate) struct Census {
    pub(crate) live_cells: u64,
    pub(crate) live_bytes: u64,
    pub(crate) expired_cells: u64,
    pub(crate) expired_bytes: u64,
    /// Cells that are overwritten or deleted and still take space.
    pub(crate) dead_cells: u64,
    /// Whether there are such cells, or masks.
    pub(crate) has_dead: bool,
    /// Rows whose garbage a merge of files alone would not take.
    pub(crate) stubborn: Vec<Bytes>,
    /// Fragments that were looked at.
    pub(crate) fragments: u64,
}

impl Census {
    pub(crate) fn add(&mut self, other: Self) {
        self.live_cells += other.live_cells;
        self.live_bytes += other.live_bytes;
        self.expired_cells += other.expired_cells;
        self.expired_bytes += other.expired_bytes;
        self.dead_cells += other.dead_cells;
        self.has_dead |= other.has_dead;
        self.stubborn.extend(other.stubborn);
        self.fragments += other.fragments;
    }

    /// Cells that can go in a keyspace of so many fragments, if the rest of it is as this part.
    pub(crate) fn garbage_cells(&self, fragments: u64) -> u64 {
        let can_go = u128::from(self.expired_cells + self.dead_cells);
        let all = can_go * u128::from(fragments) / u128::from(self.fragments.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Whether more than a quarter of the cells can go.
    pub(crate) fn is_worth_while(&self) -> bool {
        let can_go = self.expired_cells + self.dead_cells;
        can_go * 4 > can_go + self.live_cells
    }
}

/// Counts what a collection would keep and take now.
pub(crate) fn count(shared: &Shared, published: &Published, table: &Table) -> Result<Vec<GarbageReport>> {
    let mut reports = Vec::new();
    for family in 0..table.config.families.len() {
        let mut census = Census::default();
        for shard in table.shards() {
            census.add(take_census(
                shared,
                &published.snapshot,
                &shard.spaces[family],
                &shard.range,
                usize::MAX,
            )?);
        }
        reports.push(report(table, family, &census));
    }
    Ok(reports)
}

fn report(table: &Table, family: usize, census: &Census) -> GarbageReport {
    GarbageReport {
        family: table.config.families[family].name.clone(),
        live_cells: census.live_cells,
        live_bytes: census.live_bytes,
        expired_cells: census.expired_cells,
        expired_bytes: census.expired_bytes,
    }
}

/// Looks at the first rows of a range in one keyspace.
pub(crate) fn take_census(
    shared: &Shared,
    snapshot: &fjall::Snapshot,
    space: &Space,
    range: &RowRange,
    rows_max: usize,
) -> Result<Census> {
    let rule = space.policy.rule.load_full();
    let now_us = shared.options.clock.now_us();
    let mut census = Census::default();
    let mut cursor = Cursor::open(snapshot, space, range, 0, false);
    let mut look = || -> Result<bool, ReadError> {
        cursor.fill()?;
        let Some(row) = cursor.row.take() else { return Ok(false) };
        let prefix = row.prefix.clone();
        let fragments: Vec<Bytes> = row.newest_first().collect::<Result<_>>()?;
        census.look_at(&prefix, &fragments, rule.as_ref(), now_us)?;
        Ok(true)
    };
    for _ in 0..rows_max {
        if !look().map_err(|error| error.into_error(&shared.path, [space]))? {
            break;
        }
    }
    Ok(census)
}

impl Census {
    fn look_at(
        &mut self,
        prefix: &Bytes,
        fragments: &[Bytes],
        rule: Option<&Arc<GcRule>>,
        now_us: i64,
    ) -> Result<()> {
        self.fragments += fragments.len() as u64;
        let (cells, _) = merge(fragments.iter().cloned().map(Ok))?;
        let key_bytes = key::row_of(prefix.clone())?.len();
        let mut expired = 0;
        for column in cells.chunk_by(|a, b| a.qualifier == b.qualifier) {
            let from = hidden_from(rule, column, now_us);
            for (index, cell) in column.iter().enumerate() {
                let bytes = (key_bytes + cell.qualifier.len() + cell.value.len()) as u64;
                if index >= from {
                    expired += 1;
                    self.expired_bytes += bytes;
                } else {
                    self.live_cells += 1;
                    self.live_bytes += bytes;
                }
            }
        }
        self.expired_cells += expired;
        if fragments.len() == 1 {
            self.has_dead |= fragments[0].get(1) != Some(&0);
            return Ok(());
        }
        // What a merge of files would do.
        let mut trim = RowTrim::new(rule.cloned(), now_us, Scope::Full { sequence_max: u64::MAX });
        let mut tally = Tally::default();
        for fragment in fragments {
            let _ = trim.next(0, fragment, &mut tally)?;
            self.has_dead |= fragment.get(1) != Some(&0);
        }
        self.dead_cells += tally.dead;
        self.has_dead |= tally.dead > 0;
        if tally.taken < expired {
            self.stubborn.push(key::row_of(prefix.clone())?);
        }
        Ok(())
    }
}

/// The index of the first hidden cell of a column; its length if there is none.
pub(crate) fn hidden_from(rule: Option<&Arc<GcRule>>, column: &[FragmentCell], now_us: i64) -> usize {
    let times = column.iter().map(|cell| cell.timestamp_us);
    gc::hidden_from(rule.map(|rule| &**rule), times, now_us).unwrap_or(column.len())
}

/// Collects the garbage of a table now, and answers what was taken.
pub(crate) fn collect(handle: &Handle, name: &str) -> Result<Vec<GarbageReport>> {
    let (published, table) = handle.table(name)?;
    let reports = count(&handle.shared, &published, &table)?;
    // A state that is held keeps the files that are merged meanwhile.
    drop(published);
    let mut done = HashSet::new();
    // A shard that is cut meanwhile has new keyspaces, which are still to be done.
    while let Some((space, range)) = next_space(handle, name, &done)? {
        done.insert(space.id);
        let published = handle.published()?;
        let found = take_census(&handle.shared, &published.snapshot, &space, &range, usize::MAX)?;
        drop(published);
        if found.expired_cells > 0 || found.has_dead {
            collect_space(handle, name, &space, &found.stubborn)?;
        }
    }
    Ok(reports)
}

/// A keyspace of the table as it is now that is not done, and its rows.
fn next_space(handle: &Handle, name: &str, done: &HashSet<u64>) -> Result<Option<(Space, RowRange)>> {
    let (_, table) = handle.table(name)?;
    let all = table.shards().into_iter().flat_map(|shard| {
        let range = shard.range;
        shard.spaces.into_iter().map(move |space| (space, range.clone()))
    });
    Ok(all.into_iter().find(|(space, _)| !done.contains(&space.id)))
}

/// Collects in one keyspace, as the top of this file says.
pub(crate) fn collect_space(handle: &Handle, table: &str, space: &Space, stubborn: &[Bytes]) -> Result<()> {
    for rows in stubborn.chunks(ROWS_A_BATCH) {
        let (table, id, rows) = (table.to_owned(), space.id, rows.to_vec());
        handle.run(move |committer| committer.mask_garbage(&table, id, &rows))?;
    }
    let (name, id) = (table.to_owned(), space.id);
    let Some((pass, unsettled)) = handle.run(move |committer| committer.begin_pass(&name, id))? else {
        return Ok(());
    };
    let failed = |error| error::of_fjall(&handle.shared.path, "collecting garbage in", error, None);
    handle.flush(space)?;
    with_full_pass(pass, || raw::compact_all(&space.keyspace)).map_err(failed)?;
    let (name, id) = (table.to_owned(), space.id);
    handle.run(move |committer| committer.end_pass(&name, id, unsettled))?;
    handle.flush(space)
}

impl Committer {
    fn space(&self, table: &str, id: u64) -> Option<Space> {
        let table = self.tables.get(table)?;
        table.tablets.iter().flat_map(|tablet| &tablet.spaces).find(|space| space.id == id).cloned()
    }

    /// Writes masks over what the rule hides in these rows.
    fn mask_garbage(&mut self, table: &str, id: u64, rows: &[Bytes]) -> Result<()> {
        let (Some(space), Ok(table)) = (self.space(table, id), self.table(table)) else { return Ok(()) };
        let rule = space.policy.rule.load_full();
        for row in rows {
            let tablet = &table.tablets[table.tablet_of(row)];
            let Some(family) = tablet.spaces.iter().position(|of_row| of_row.id == id) else { continue };
            let now_us = self.shared.options.clock.now_us();
            let cells = self.read_family(&space, row)?;
            let columns = cells.chunk_by(|a, b| a.qualifier == b.qualifier);
            let hidden = columns.filter_map(|column| column.get(hidden_from(rule.as_ref(), column, now_us)));
            let hidden = hidden.map(|cell| (cell.qualifier.clone(), cell.timestamp_us)).collect::<Vec<_>>();
            self.push(&table, row, RowWrite::masks(row, family, &hidden));
        }
        self.commit_or_fail()
    }

    /// Fixes what a full pass is sure to see; `None` if the keyspace is gone.
    fn begin_pass(&mut self, table: &str, id: u64) -> Result<Option<(FullPass, u64)>> {
        let Some(space) = self.space(table, id) else { return Ok(None) };
        let unsettled = space.policy.unsettled_count();
        let pass =
            FullPass { sequence_max: self.counters.sequence, now_us: self.shared.options.clock.now_us() };
        self.mark(&space, Vec::new())?;
        Ok(Some((pass, unsettled)))
    }

    /// Notes that a full pass is over: the keyspace is settled if nothing has unsettled it meanwhile.
    fn end_pass(&mut self, table: &str, id: u64, unsettled: u64) -> Result<()> {
        let Some(space) = self.space(table, id) else { return Ok(()) };
        let mut records = Vec::new();
        if space.policy.unsettled_count() == unsettled && !space.policy.is_settled() {
            records.push((meta::space_key(id), Some(meta::encode_space(true))));
        }
        let settles = !records.is_empty();
        self.mark(&space, records)?;
        if settles {
            space.policy.set_settled(true);
        }
        Ok(())
    }

    fn mark(&mut self, space: &Space, records: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Result<()> {
        let sequence = self.counters.sequence.to_be_bytes();
        let marker = (
            space.keyspace.clone(),
            Bytes::from_static(&key::MARKER),
            Some(Bytes::copy_from_slice(&sequence)),
        );
        self.commit_pairs(records, vec![marker], false)
    }
}
