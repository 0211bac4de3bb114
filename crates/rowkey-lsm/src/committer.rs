//! The one thread that writes. It takes all requests that wait, puts what they write into one batch (a *group*), commits it, opens a
//! snapshot, publishes it together with the tables of that moment, and only then answers.
//!
//! That is the group commit that fjall has not; it makes "acknowledged" mean "seen by the next read"; and it keeps readers from
//! fjall's own `snapshot()`, which can show half a batch if a flush ends at the wrong moment. Reads that decide about writes (deletes,
//! conditional writes, read-modify-write) happen here as well, in the order of the queue, so they need no locks.

use crate::error;
use crate::meta::{self, CountersRecord};
use crate::open;
use crate::prepare::Prepared;
use crate::raw;
use crate::shared::{Shared, SideFile};
use crate::spares::{QUIET, Spares};
use crate::state::{Published, Space, Table, Tables};
use bytes::Bytes;
use fjall::{Database, Keyspace, PersistMode};
use rowkey_store::{
    CheckAndMutate, Durability, Error, ReadModifyWrite, Result, Row, RowKey, Timestamp, check,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};

/// Bytes of keys and values from which on a group is committed, whoever waits.
pub(crate) const GROUP_BYTES_MAX: u64 = 8 << 20;

/// Bytes of records in memory from which on they are written to a file.
const META_MEMTABLE_BYTES: u64 = 1 << 20;

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
pub(crate) enum Answer {
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
pub(crate) struct Group {
    pub(crate) writes: Vec<(Space, Bytes, Bytes)>,
    pub(crate) bytes: u64,
    pub(crate) sync: bool,
    /// Keyspaces that are no longer settled.
    pub(crate) unsettled: Vec<u64>,
    pub(crate) answers: Vec<Answer>,
    /// The fragments in `writes` by keyspace and row, oldest first, and how many of `writes` are in it: made when a request
    /// must read a row.
    pub(crate) index: HashMap<(u64, Bytes), Vec<Bytes>>,
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
    pub(crate) group: Group,
    /// What is published.
    pub(crate) snapshot: fjall::Snapshot,
    /// Why the store takes no more writes.
    stopped: Option<String>,
    /// Bytes written since tablets were looked at.
    pub(crate) bytes_since_look: u64,
    /// The last group of the session before.
    group_on_opening: u64,
    /// Bytes of the log, about.
    log_bytes: u64,
    /// Keyspaces that no table names.
    pub(crate) spares: Spares,
    /// Whether numbers were skipped in this session (see [`raw::skip_numbers`]), and that is on disk.
    skipped_numbers: bool,
}

impl Committer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        db: Database,
        meta: Keyspace,
        tables: Arc<Tables>,
        counters: CountersRecord,
        side: SideFile,
        log_bytes: u64,
    ) -> Self {
        let snapshot = db.snapshot();
        Self {
            shared,
            db,
            meta,
            tables,
            group_on_opening: counters.group,
            counters,
            side,
            group: Group::default(),
            snapshot,
            stopped: None,
            bytes_since_look: 0,
            log_bytes,
            spares: Spares::default(),
            skipped_numbers: false,
        }
    }

    /// Works until it is told to stop or nobody is left to ask.
    pub(crate) fn run(mut self, queue: &Receiver<Request>) {
        let mut open = true;
        while open {
            let Some(mut request) = self.next_request(queue) else { break };
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

    /// Waits for a request, and does what can wait while there is none. `None`: nobody is left to ask.
    fn next_request(&mut self, queue: &Receiver<Request>) -> Option<Request> {
        while self.has_chores() {
            match queue.recv_timeout(QUIET) {
                Ok(request) => return Some(request),
                Err(RecvTimeoutError::Timeout) => self.do_chore(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        queue.recv().ok()
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

    pub(crate) fn now_us(&self) -> i64 {
        self.shared.options.clock.now_us()
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
        self.log_bytes += group.bytes;
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
        let mut touched: Vec<Keyspace> = Vec::new();
        for (keyspace, key, value) in pairs {
            if !touched.iter().any(|other| other.id() == keyspace.id()) {
                touched.push(keyspace.clone());
            }
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
        for keyspace in touched {
            // What keeps it from being sealed keeps the next group from being committed, which says so.
            let _ = raw::seal_if_full(&keyspace, self.shared.options.memtable_bytes);
        }
        let _ = raw::seal_if_full(&self.meta, META_MEMTABLE_BYTES);
        Ok(())
    }

    /// To be called before keyspaces are made or deleted.
    pub(crate) fn skip_numbers(&mut self) -> Result<()> {
        if !self.skipped_numbers {
            raw::skip_numbers(&self.db);
            self.commit_pairs(Vec::new(), Vec::new(), true)?;
            self.skipped_numbers = true;
        }
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

    pub(crate) fn check_running(&self) -> Result<()> {
        if self.stopped.is_some() { Err(self.stopped_error()) } else { Ok(()) }
    }

    /// What was to be written is not.
    pub(crate) fn fail(&self, results: &mut [Result<()>]) {
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
        // A store that was only read is left alone, what was found on opening it included.
        if self.stopped.is_none() && self.counters.group != self.group_on_opening {
            self.delete_doomed();
            // Buffered writes of a store that is closed in order are not lost either.
            let _ = self.persist();
            if self.log_bytes >= self.shared.options.log_bytes_kept {
                // A failure costs the next opening the time to replay the log, nothing else.
                let _ = self.empty_log();
            }
        }
    }

    /// Writes what is in memory to files, and empties the log, which then holds nothing else.
    fn empty_log(&mut self) -> Result<()> {
        // The record of this commit has the highest number of all, deletions of keyspaces included, and is in a file from here on.
        self.commit_pairs(Vec::new(), Vec::new(), true)?;
        let path = &self.shared.path;
        let is_flushed =
            raw::flush_all(&self.db).map_err(|error| error::of_fjall(path, "writing", error, None))?;
        if is_flushed {
            open::empty_logs(path)?;
        }
        Ok(())
    }
}

impl Group {
    pub(crate) fn index_writes(&mut self) {
        for (space, key, value) in &self.writes[self.indexed..] {
            let prefix = key.slice(..key.len() - 8);
            self.index.entry((space.id, prefix)).or_default().push(value.clone());
        }
        self.indexed = self.writes.len();
    }
}
