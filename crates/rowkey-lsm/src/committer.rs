//! The one thread that writes. It takes all requests that wait, puts what they write into one batch (a *group*), commits it, opens a
//! snapshot, publishes it together with the tables of that moment, and only then answers.
//!
//! That is the group commit that fjall has not; it makes "acknowledged" mean "seen by the next read"; and it keeps readers from
//! fjall's own `snapshot()`, which can show half a batch if a flush ends at the wrong moment. Reads that decide about writes (deletes,
//! conditional writes, read-modify-write) happen here as well, in the order of the queue, so they need no locks.

use crate::collect::hidden_from;
use crate::damage;
use crate::error;
use crate::fragment::{self, FragmentCell, Mask};
use crate::key;
use crate::merge::merge;
use crate::meta::{self, CountersRecord};
use crate::prepare::Prepared;
use crate::raw;
use crate::shared::{Shared, SideFile};
use crate::state::{Counters, Published, Space, Table, Tables, Tablet};
use crate::write::{RowWrite, fold, fold_cells};
use bytes::Bytes;
use fjall::{Database, Keyspace, PersistMode, Readable as _};
use rowkey_store::select::{Selector, StoredCell};
use rowkey_store::{
    Cell, CheckAndMutate, Durability, Error, Mutation, ReadModifyWrite, Result, Row, RowKey, Timestamp,
    check, read_modify_write,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

/// Bytes of keys and values from which on a group is committed, whoever waits.
const GROUP_BYTES_MAX: u64 = 8 << 20;

/// Fragments of a row up to which the committer leaves them as they are.
const FRAGMENTS_MAX: usize = 16;

/// Where an answer goes. Nobody may be there any more.
pub(crate) type Reply<T> = SyncSender<Result<T>>;

/// What becomes of the rows of a request.
pub(crate) enum MutateAnswer {
    /// They were done, one by one.
    Done(Vec<Result<()>>),
    /// The table has changed since they were prepared: prepare them again.
    Stale,
}

/// Something to do on the committer's thread.
pub(crate) type Job = Box<dyn FnOnce(&mut Committer) + Send>;

/// What waits in the queue.
pub(crate) enum Request {
    Mutate {
        table: Arc<Table>,
        rows: Prepared,
        durability: Durability,
        reply: Reply<MutateAnswer>,
    },
    CheckAndMutate {
        table: String,
        request: CheckAndMutate,
        reply: Reply<bool>,
    },
    ReadModifyWrite {
        table: String,
        key: RowKey,
        rules: Vec<ReadModifyWrite>,
        timestamp: Timestamp,
        reply: Reply<Row>,
    },
    Sync {
        reply: Reply<()>,
    },
    Run(Job),
    Stop,
}

/// An answer that waits for the commit of its group.
enum Answer {
    /// Results from this index on are of this group.
    Mutate {
        results: Vec<Result<()>>,
        from: usize,
        reply: Reply<MutateAnswer>,
    },
    CheckAndMutate {
        matched: bool,
        reply: Reply<bool>,
    },
    ReadModifyWrite {
        row: Row,
        reply: Reply<Row>,
    },
    Sync {
        reply: Reply<()>,
    },
}

#[derive(Default)]
struct Group {
    writes: Vec<(Space, Bytes, Bytes)>,
    bytes: u64,
    sync: bool,
    /// Keyspaces that are no longer settled.
    unsettled: Vec<u64>,
    answers: Vec<Answer>,
    /// The fragments in `writes` by keyspace and row, oldest first, and how many of `writes` are in it: made when a request
    /// must read a row.
    index: HashMap<(u64, Bytes), Vec<Bytes>>,
    indexed: usize,
}

/// See the top of this file.
pub(crate) struct Committer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) db: Database,
    pub(crate) meta: Keyspace,
    pub(crate) tables: Arc<Tables>,
    pub(crate) counters: CountersRecord,
    pub(crate) side: SideFile,
    group: Group,
    /// What is published.
    pub(crate) snapshot: fjall::Snapshot,
    /// Why the store takes no more writes.
    stopped: Option<String>,
    /// Bytes written since tablets were looked at.
    pub(crate) bytes_since_look: u64,
}

impl Committer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        db: Database,
        meta: Keyspace,
        tables: Arc<Tables>,
        counters: CountersRecord,
        side: SideFile,
    ) -> Self {
        let snapshot = db.snapshot();
        Self {
            shared,
            db,
            meta,
            tables,
            counters,
            side,
            group: Group::default(),
            snapshot,
            stopped: None,
            bytes_since_look: 0,
        }
    }

    /// Works until it is told to stop or nobody is left to ask.
    pub(crate) fn run(mut self, queue: &Receiver<Request>) {
        let mut open = true;
        while open {
            let Ok(mut request) = queue.recv() else { break };
            loop {
                open = self.take(request);
                if !open || self.group.bytes >= GROUP_BYTES_MAX {
                    break;
                }
                match queue.try_recv() {
                    Ok(next) => request = next,
                    Err(_) => break,
                }
            }
            self.commit();
            self.split_large_shards();
        }
        self.close();
    }

    /// Answers whether to go on.
    fn take(&mut self, request: Request) -> bool {
        match request {
            Request::Mutate { table, rows, durability, reply } => {
                self.mutate(&table, rows, durability, reply);
            }
            Request::CheckAndMutate { table, request, reply } => {
                match self.check_and_mutate(&table, &request) {
                    Ok(matched) => self.group.answers.push(Answer::CheckAndMutate { matched, reply }),
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            Request::ReadModifyWrite { table, key, rules, timestamp, reply } => {
                match self.read_modify_write(&table, &key, &rules, timestamp) {
                    Ok(row) => self.group.answers.push(Answer::ReadModifyWrite { row, reply }),
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            Request::Sync { reply } => {
                self.group.sync = true;
                self.group.answers.push(Answer::Sync { reply });
            }
            Request::Run(job) => {
                self.commit();
                job(self);
            }
            Request::Stop => return false,
        }
        true
    }

    pub(crate) fn table(&self, table: &str) -> Result<Arc<Table>> {
        self.tables.get(table).cloned().ok_or_else(|| check::table_missing(table))
    }

    fn now_us(&self) -> i64 {
        self.shared.options.clock.now_us()
    }

    fn mutate(
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

    fn check_and_mutate(&mut self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        let table = self.table(table)?;
        check::check_and_mutate(&table.name, &table.config, request)?;
        let predicate = request.predicate.as_ref();
        let selector =
            Selector::of_predicate(&table.name, &table.config, &request.columns, predicate, self.now_us())?;
        let tablet = Arc::clone(&table.tablets[table.tablet_of(&request.key)]);
        let mut cells = Vec::new();
        for (family, space) in tablet.spaces.iter().enumerate() {
            if selector.wanted(family) != rowkey_store::select::Wanted::Nothing {
                let of_family = self.read_family(space, &request.key)?;
                cells.extend(of_family.into_iter().map(|cell| stored(family, cell)));
            }
        }
        let matched = selector.row(request.key.clone(), cells).is_some();
        let mutations = if matched { &request.then } else { &request.otherwise };
        self.apply(&table, &request.key, mutations)?;
        self.group.sync = true;
        Ok(matched)
    }

    fn read_modify_write(
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

    /// Commits what was pushed.
    pub(crate) fn commit_or_fail(&mut self) -> Result<()> {
        if self.commit() { Ok(()) } else { Err(self.stopped_error()) }
    }

    /// Commits the open group, publishes, answers. Says whether it is written.
    pub(crate) fn commit(&mut self) -> bool {
        let mut group = std::mem::take(&mut self.group);
        let answers = std::mem::take(&mut group.answers);
        let outcome = if group.writes.is_empty() && group.unsettled.is_empty() {
            if group.sync { self.persist() } else { Ok(()) }
        } else {
            self.commit_writes(group)
        };
        let written = outcome.is_ok();
        for answer in answers {
            self.answer(answer, written);
        }
        written
    }

    fn commit_writes(&mut self, group: Group) -> Result<()> {
        self.check_running()?;
        self.wait_for_workers(&group)?;
        self.bytes_since_look += group.bytes;
        let records =
            group.unsettled.iter().map(|id| (meta::space_key(*id), Some(meta::encode_space(false))));
        let records = records.collect::<Vec<_>>();
        let pairs = group.writes.into_iter().map(|(space, key, value)| {
            space.policy.touch();
            (space.keyspace, key, Some(value))
        });
        self.commit_pairs(records, pairs.collect(), group.sync)
    }

    /// Commits records and pairs as one batch and publishes the result. A value of `None` removes.
    pub(crate) fn commit_pairs(
        &mut self,
        records: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        pairs: Vec<(Keyspace, Bytes, Option<Bytes>)>,
        sync: bool,
    ) -> Result<()> {
        self.check_running()?;
        self.counters.group += 1;
        let mode = if sync { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.db.batch().durability(Some(mode));
        for (keyspace, key, value) in pairs {
            match value {
                Some(value) => batch.insert(&keyspace, key, value),
                None => batch.remove(&keyspace, key),
            }
        }
        for (key, value) in records {
            match value {
                Some(value) => batch.insert(&self.meta, key, value),
                None => batch.remove(&self.meta, key),
            }
        }
        batch.insert(&self.meta, meta::COUNTERS_KEY, meta::encode_counters(self.counters));
        if let Err(error) = batch.commit() {
            return Err(self.stop(error));
        }
        if sync {
            self.side.note(self.counters.group);
        }
        self.publish();
        Ok(())
    }

    /// Shows readers what is committed.
    pub(crate) fn publish(&mut self) {
        self.snapshot = self.db.snapshot();
        let published = Published { snapshot: self.snapshot.clone(), tables: Arc::clone(&self.tables) };
        self.shared.published.store(Some(Arc::new(published)));
    }

    fn persist(&mut self) -> Result<()> {
        match self.db.persist(PersistMode::SyncData) {
            Ok(()) => {
                self.side.note(self.counters.group);
                Ok(())
            }
            Err(error) => Err(self.stop(error)),
        }
    }

    /// A write failed: fjall takes no more of them, so nothing here does.
    fn stop(&mut self, error: fjall::Error) -> Error {
        let error = error::of_fjall(&self.shared.path, "writing", error, None);
        let reason = std::error::Error::source(&error).map_or_else(
            || "a background write failed; most likely the disk is full".to_owned(),
            ToString::to_string,
        );
        self.stopped.get_or_insert(reason);
        error
    }

    /// Waits while files are written more slowly than memory fills.
    fn wait_for_workers(&mut self, group: &Group) -> Result<()> {
        let mut last = None;
        for (space, _, _) in &group.writes {
            if last == Some(space.id) {
                continue;
            }
            last = Some(space.id);
            let mut waited = 0u32;
            while raw::is_behind(&space.keyspace) {
                waited += 1;
                if waited.is_multiple_of(16) && !raw::takes_writes(&self.db) {
                    return Err(self.stop(fjall::Error::Poisoned));
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        Ok(())
    }

    fn stopped_error(&self) -> Error {
        error::stopped(&self.shared.path, self.stopped.as_deref().unwrap_or("for an unknown reason"))
    }

    fn check_running(&self) -> Result<()> {
        if self.stopped.is_some() { Err(self.stopped_error()) } else { Ok(()) }
    }

    /// What was to be written is not.
    fn fail(&self, results: &mut [Result<()>]) {
        for result in results.iter_mut().filter(|result| result.is_ok()) {
            *result = Err(self.stopped_error());
        }
    }

    fn answer(&self, answer: Answer, written: bool) {
        match answer {
            Answer::Mutate { mut results, from, reply } => {
                if !written {
                    self.fail(&mut results[from..]);
                }
                drop(reply.send(Ok(MutateAnswer::Done(results))));
            }
            Answer::CheckAndMutate { matched, reply } => self.send(&reply, written, matched),
            Answer::ReadModifyWrite { row, reply } => self.send(&reply, written, row),
            Answer::Sync { reply } => self.send(&reply, written, ()),
        }
    }

    fn send<T>(&self, reply: &Reply<T>, written: bool, answer: T) {
        drop(reply.send(if written { Ok(answer) } else { Err(self.stopped_error()) }));
    }

    fn close(mut self) {
        self.commit();
        if self.stopped.is_none() {
            // Buffered writes of a store that is closed in order are not lost either.
            let _ = self.persist();
        }
    }
}

impl Group {
    fn index_writes(&mut self) {
        for (space, key, value) in &self.writes[self.indexed..] {
            let prefix = key.slice(..key.len() - 8);
            self.index.entry((space.id, prefix)).or_default().push(value.clone());
        }
        self.indexed = self.writes.len();
    }
}

fn stored(family: usize, cell: FragmentCell) -> StoredCell {
    StoredCell { family, qualifier: cell.qualifier, timestamp_us: cell.timestamp_us, value: cell.value }
}
