//! What requests put into the open group, on the committer's thread. Reads that decide about writes see the published snapshot and, on
//! top of it, what the group already holds.

use crate::collect::hidden_from;
use crate::committer::{Answer, Committer, GROUP_BYTES_MAX, MutateAnswer, Reply};
use crate::damage;
use crate::fragment::{self, FragmentCell, Mask};
use crate::key;
use crate::merge::merge;
use crate::prepare::Prepared;
use crate::state::{Counters, Space, Table, Tablet};
use crate::write::{RowWrite, fold, fold_cells};
use bytes::Bytes;
use fjall::Readable as _;
use rowkey_store::select::{Selector, StoredCell, Wanted};
use rowkey_store::{
    Cell, CheckAndMutate, Durability, Mutation, ReadModifyWrite, Result, Row, RowKey, Timestamp, check,
    read_modify_write,
};
use std::sync::Arc;

/// Fragments of a row up to which the committer leaves them as they are.
const FRAGMENTS_MAX: usize = 16;

impl Committer {
    pub(crate) fn mutate(
        &mut self,
        prepared_for: &Arc<Table>,
        rows: Prepared,
        durability: Durability,
        reply: Reply<MutateAnswer>,
    ) {
        let table = match self.check_running().and_then(|()| self.table(&prepared_for.name)) {
            Ok(table) => table,
            Err(error) => return drop(reply.send(Err(error))),
        };
        match rows {
            Prepared::Sets(_) if !Arc::ptr_eq(&table, prepared_for) => {
                drop(reply.send(Ok(MutateAnswer::Stale)));
            }
            Prepared::Sets(sets) => {
                let (sets, rows, last) = sets.number(self.counters.sequence);
                self.counters.sequence = last;
                self.mutate_each(rows, durability, reply, |committer, row| {
                    let row = row?;
                    let tablet = &table.tablets[row.tablet];
                    let key = sets.key(&row);
                    let mut bytes = 0;
                    for (family, fragment) in sets.fragments(&row) {
                        bytes += (key.len() + fragment.len()) as u64;
                        committer.group.writes.push((tablet.spaces[family].clone(), key.clone(), fragment));
                    }
                    committer.count(tablet, bytes);
                    Ok(())
                });
            }
            Prepared::Mixed(rows) => self.mutate_each(rows, durability, reply, |committer, row| {
                check::row_mutation(&table.name, &table.config, &row)?;
                committer.apply(&table, &row.key, &row.mutations)
            }),
        }
    }

    /// Puts rows into the group one by one. A request that is too large for a group is committed in parts.
    fn mutate_each<R>(
        &mut self,
        rows: Vec<R>,
        durability: Durability,
        reply: Reply<MutateAnswer>,
        mut write: impl FnMut(&mut Self, R) -> Result<()>,
    ) {
        self.group.sync |= durability == Durability::Synced;
        let mut results: Vec<Result<()>> = Vec::with_capacity(rows.len());
        let mut from = 0;
        for row in rows {
            results.push(write(self, row));
            if self.group.bytes >= GROUP_BYTES_MAX {
                if !self.commit() {
                    self.fail(&mut results[from..]);
                }
                from = results.len();
                self.group.sync |= durability == Durability::Synced;
            }
        }
        self.group.answers.push(Answer::Mutate { results, from, reply });
    }

    fn count(&mut self, tablet: &Tablet, bytes: u64) {
        Counters::add(&tablet.counters.writes, 1);
        Counters::add(&tablet.counters.bytes_written, bytes);
        self.group.bytes += bytes;
    }

    /// Applies checked mutations of one row to the group.
    fn apply(&mut self, table: &Arc<Table>, row: &[u8], mutations: &[Mutation]) -> Result<()> {
        self.check_running()?;
        let write = self.fold(table, row, mutations)?;
        self.push(table, row, write);
        Ok(())
    }

    fn fold(&mut self, table: &Arc<Table>, row: &[u8], mutations: &[Mutation]) -> Result<RowWrite> {
        let tablet = Arc::clone(&table.tablets[table.tablet_of(row)]);
        let now_us = self.now_us();
        let write =
            fold(table, row, mutations, now_us, |family| self.read_family(&tablet.spaces[family], row))?;
        if write.unsettled.is_empty() {
            return Ok(write);
        }
        // The flag goes down before the clock is read for good: see `Policy`.
        for &family in &write.unsettled {
            let space = &tablet.spaces[family];
            if space.policy.is_settled() {
                self.group.unsettled.push(space.id);
            }
            space.policy.unsettle();
        }
        let now_us = self.now_us();
        fold(table, row, mutations, now_us, |family| self.read_family(&tablet.spaces[family], row))
    }

    /// Puts a row's fragments into the group, under the next sequence number.
    pub(crate) fn push(&mut self, table: &Table, row: &[u8], write: RowWrite) {
        let tablet = &table.tablets[table.tablet_of(row)];
        self.count(tablet, write.bytes);
        if write.fragments.is_empty() {
            return;
        }
        self.counters.sequence += 1;
        let key = key::fragment_key(&write.prefix, self.counters.sequence);
        for (family, fragment) in write.fragments {
            self.group.writes.push((tablet.spaces[family].clone(), key.clone(), fragment));
        }
    }

    /// The cells of a row's family, those of the open group included. If they lie in many fragments, these are made one: a counter
    /// would have to merge more of them with each step.
    pub(crate) fn read_family(&mut self, space: &Space, row: &[u8]) -> Result<Vec<FragmentCell>> {
        self.group.index_writes();
        let (start, end) = key::row_bounds(row);
        let in_group = self.group.index.get(&(space.id, start.clone().into()));
        let newer = in_group.into_iter().flat_map(|fragments| fragments.iter().rev().cloned().map(Ok));
        let path = &self.shared.path;
        let older = self.snapshot.range(&space.keyspace, start.clone()..end).map(|guard| {
            let value = guard.value().map(Bytes::from);
            value.map_err(|error| damage::read_error(path, error, [&space.keyspace]))
        });
        let (cells, fragments) = merge(newer.chain(older))?;
        if fragments > FRAGMENTS_MAX {
            self.make_one(space, &start, &cells);
        }
        Ok(cells)
    }

    /// Writes what lives of a row's family as one fragment that hides all older ones.
    fn make_one(&mut self, space: &Space, prefix: &[u8], cells: &[FragmentCell]) {
        let rule = space.policy.rule.load_full();
        let now_us = self.now_us();
        let columns = cells.chunk_by(|a, b| a.qualifier == b.qualifier);
        let living = columns.flat_map(|column| &column[..hidden_from(rule.as_ref(), column, now_us)]);
        let living = living.map(|cell| (&cell.qualifier[..], cell.timestamp_us, &cell.value[..]));
        let fragment = fragment::encode(&[Mask::FAMILY], living, 0);
        self.counters.sequence += 1;
        self.group.bytes += (prefix.len() + fragment.len()) as u64;
        let key = key::fragment_key(prefix, self.counters.sequence);
        self.group.writes.push((space.clone(), key, fragment.into()));
    }

    /// Makes one of a row's fragments in these families, if they are many.
    pub(crate) fn tidy_row(&mut self, table: &str, row: &[u8], families: &[usize]) -> Result<()> {
        let table = self.table(table)?;
        let tablet = Arc::clone(&table.tablets[table.tablet_of(row)]);
        for space in families.iter().filter_map(|family| tablet.spaces.get(*family)) {
            self.read_family(space, row)?;
        }
        self.commit_or_fail()
    }

    pub(crate) fn check_and_mutate(&mut self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        let table = self.table(table)?;
        check::check_and_mutate(&table.name, &table.config, request)?;
        let predicate = request.predicate.as_ref();
        let selector =
            Selector::of_predicate(&table.name, &table.config, &request.columns, predicate, self.now_us())?;
        let tablet = Arc::clone(&table.tablets[table.tablet_of(&request.key)]);
        let mut cells = Vec::new();
        for (family, space) in tablet.spaces.iter().enumerate() {
            if selector.wanted(family) != Wanted::Nothing {
                let of_family = self.read_family(space, &request.key)?;
                cells.extend(of_family.into_iter().map(|cell| stored(family, cell)));
            }
        }
        let matched = selector.row(request.key.clone(), cells)?.is_some();
        let mutations = if matched { &request.then } else { &request.otherwise };
        self.apply(&table, &request.key, mutations)?;
        self.group.sync = true;
        Ok(matched)
    }

    pub(crate) fn read_modify_write(
        &mut self,
        table: &str,
        row: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row> {
        self.check_running()?;
        let table = self.table(table)?;
        let tablet = Arc::clone(&table.tablets[table.tablet_of(row)]);
        let now_us = self.now_us();
        let newest = |family: usize, qualifier: &Bytes| {
            let cells = self.read_family(&tablet.spaces[family], row)?;
            // The newest one is alive unless the rule takes it for its age.
            let rule = table.config.families[family].gc_rule.as_ref();
            let cell = cells.into_iter().find(|cell| cell.qualifier == *qualifier);
            let cell = cell.filter(|cell| !rule.is_some_and(|rule| rule.takes(1, cell.timestamp_us, now_us)));
            Ok(cell.map(|cell| (cell.timestamp_us, cell.value)))
        };
        let cells =
            read_modify_write::new_cells(&table.name, &table.config, row, rules, timestamp, now_us, newest)?;
        let parts =
            cells.iter().map(|cell| (cell.family, &cell.qualifier[..], cell.timestamp_us, &cell.value[..]));
        let write = fold_cells(row, parts.collect());
        self.push(&table, row, write);
        self.group.sync = true;
        let cells = cells.into_iter().map(|cell| Cell {
            family: Arc::from(table.config.families[cell.family].name.as_str()),
            qualifier: cell.qualifier,
            timestamp_us: cell.timestamp_us,
            value: cell.value,
            labels: Vec::new(),
        });
        Ok(Row { key: row.clone(), cells: cells.collect() })
    }
}

fn stored(family: usize, cell: FragmentCell) -> StoredCell {
    StoredCell { family, qualifier: cell.qualifier, timestamp_us: cell.timestamp_us, value: cell.value }
}
