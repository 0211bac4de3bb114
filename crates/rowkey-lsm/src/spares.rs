//! Keyspaces that no table names: kept for the next tables, or to be deleted. Making or deleting one costs fjall about 20 syncs, 25 ms on
//! an idle disk and several times that on a busy one, and a table has one for each family. So the committer avoids both while somebody waits:
//!
//! - **Fresh** ones, to which nothing was ever written, are made while the queue is empty.
//! - **Used** ones are those of small dropped tables: the batch that drops the table also removes its few pairs, as a drop of rows does. Each
//!   pair has a key of its own for ever, so nothing of the old table is ever seen under the new one. Versions are not counted in a used
//!   one before its next full compaction (see `Policy`), since its rule changes.
//! - **Doomed** ones, of larger tables, are deleted one by one while the queue is empty.
//!
//! A crash leaves all of them to the next opening, which keeps empty ones as spares and deletes the others.

use crate::committer::Committer;
use crate::error;
use crate::raw;
use crate::state::{Space, space_name};
use bytes::Bytes;
use fjall::{Database, Keyspace, Readable as _};
use rowkey_store::{GcRule, Result};
use std::sync::Arc;
use std::time::Duration;

/// How long the queue is empty before a chore is done: longer than a caller needs between two requests, shorter than people need.
pub(crate) const QUIET: Duration = Duration::from_millis(20);

/// Doomed keyspaces from which on they are deleted without waiting for quiet.
const DOOMED_MAX: usize = 64;
/// Used keyspaces that are kept.
const USED_MAX: usize = 16;
/// Pairs in a keyspace, removed ones included, up to which it is used again: a scan of the new table steps over them.
const USED_PAIRS_MAX: usize = 4_000;
/// Bytes in a keyspace up to which it is used again.
const USED_BYTES_MAX: u64 = 1 << 20;

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    fresh: Vec<Space>,
    used: Vec<Space>,
    doomed: Vec<Space>,
    /// Whether a keyspace was taken in this session, so that more will be wanted.
    wanted: bool,
}

/// Removals of all that is left in a keyspace.
pub(crate) type Removals = Vec<(Keyspace, Bytes, Option<Bytes>)>;

impl Spares {
    /// Keeps a keyspace of a store that is being opened if it is empty, and answers whether it does. No table may name it.
    pub(crate) fn adopt(&mut self, db: &Database, space: &Space, fresh_max: usize) -> bool {
        let keyspace = &space.keyspace;
        let pairs = keyspace.approximate_len();
        if pairs == 0 && keyspace.table_count() == 0 {
            let is_wanted = self.fresh.len() < fresh_max;
            self.fresh.extend(is_wanted.then(|| space.clone()));
            return is_wanted;
        }
        let is_empty = || db.snapshot().iter(keyspace).next().is_none();
        let is_wanted = fresh_max > 0 && self.used.len() < USED_MAX && pairs <= USED_PAIRS_MAX && is_empty();
        self.used.extend(is_wanted.then(|| space.clone()));
        is_wanted
    }
}

impl Committer {
    /// A keyspace to which nothing was ever written, and which nothing names yet.
    pub(crate) fn new_space(&mut self, rule: Option<&GcRule>, settled: bool) -> Result<Space> {
        self.spares.wanted = true;
        let space = match self.spares.fresh.pop() {
            Some(space) => space,
            None => self.make_space()?,
        };
        space.policy.rule.store(rule.cloned().map(Arc::new));
        space.policy.set_settled(settled);
        Ok(space)
    }

    /// An empty keyspace for a new family, which nothing names yet.
    pub(crate) fn family_space(&mut self, rule: Option<&GcRule>) -> Result<Space> {
        let Some(space) = self.spares.used.pop() else { return self.new_space(rule, true) };
        space.policy.rule.store(rule.cloned().map(Arc::new));
        Ok(space)
    }

    fn make_space(&mut self) -> Result<Space> {
        self.skip_numbers()?;
        // One that exists is a spare, or was kept because the log may have held the table that named it.
        let id = loop {
            self.counters.space += 1;
            if !self.db.keyspace_exists(&space_name(self.counters.space)) {
                break self.counters.space;
            }
        };
        let name = space_name(id);
        let policy = self.shared.registry.policy(&name);
        let keyspace = self
            .db
            .keyspace(&name, raw::new_keyspace)
            .map_err(|error| error::of_fjall(&self.shared.path, "making files in", error, None))?;
        Ok(Space { id, keyspace, policy })
    }

    /// Of keyspaces that the next batch leaves without a table: those that can be used again, what that batch must remove in them, and the
    /// others.
    pub(crate) fn usable_again(&self, spaces: Vec<Space>) -> (Vec<Space>, Removals, Vec<Space>) {
        let (mut usable, mut removals, mut others) = (Vec::new(), Removals::new(), Vec::new());
        for space in spaces {
            let room = self.spares.used.len() + usable.len() < USED_MAX;
            match if room { self.few_pairs(&space) } else { None } {
                Some(pairs) => {
                    removals.extend(pairs);
                    usable.push(space);
                }
                None => others.push(space),
            }
        }
        (usable, removals, others)
    }

    /// Removals of all pairs of a keyspace that is small, has no files, and is to be kept.
    fn few_pairs(&self, space: &Space) -> Option<Removals> {
        let keyspace = &space.keyspace;
        let is_small = self.shared.options.spare_keyspaces > 0
            && keyspace.table_count() == 0
            && keyspace.sealed_memtable_count() == 0
            && keyspace.approximate_len() <= USED_PAIRS_MAX / 2
            && raw::memtable_bytes(keyspace) <= USED_BYTES_MAX;
        let pairs = || self.snapshot.iter(keyspace);
        is_small
            .then(|| pairs().map(|pair| Some((keyspace.clone(), pair.key().ok()?.into(), None))).collect())
            .flatten()
    }

    /// Keeps emptied keyspaces for the next tables.
    pub(crate) fn keep_spaces(&mut self, spaces: Vec<Space>) {
        self.spares.used.extend(spaces);
    }

    /// Deletes keyspaces that no table names. A failure leaves files that the next opening deletes.
    pub(crate) fn delete_spaces(&mut self, spaces: Vec<Space>) {
        if spaces.is_empty() || self.skip_numbers().is_err() {
            return;
        }
        for space in spaces {
            self.shared.registry.forget(&space_name(space.id));
            let _ = self.db.delete_keyspace(space.keyspace);
        }
    }

    /// Deletes keyspaces that no table names any more, in a quiet moment.
    pub(crate) fn doom_spaces(&mut self, spaces: Vec<Space>) {
        self.spares.doomed.extend(spaces);
        let doomed_max = if self.shared.options.spare_keyspaces > 0 { DOOMED_MAX } else { 0 };
        let too_many = self.spares.doomed.len().saturating_sub(doomed_max);
        let oldest = self.spares.doomed.drain(..too_many).collect();
        self.delete_spaces(oldest);
    }

    /// Whether there is something to do in a quiet moment.
    pub(crate) fn has_chores(&self) -> bool {
        !self.spares.doomed.is_empty() || self.wants_spares()
    }

    fn wants_spares(&self) -> bool {
        let ready = self.spares.fresh.len() + self.spares.used.len();
        self.spares.wanted && ready < self.shared.options.spare_keyspaces
    }

    /// Does one thing that can wait, but not for ever.
    pub(crate) fn do_chore(&mut self) {
        if self.check_running().is_err() {
            self.spares = Spares::default();
        } else if self.wants_spares() {
            match self.make_space() {
                Ok(space) => self.spares.fresh.push(space),
                // The next table meets it as well, and says why.
                Err(_) => self.spares.wanted = false,
            }
        } else if let Some(space) = self.spares.doomed.pop() {
            self.delete_spaces(vec![space]);
        }
    }

    /// Deletes what is doomed, before the store is closed.
    pub(crate) fn delete_doomed(&mut self) {
        let doomed = std::mem::take(&mut self.spares.doomed);
        self.delete_spaces(doomed);
    }
}
