//! What readers share: tables, tablets and keyspaces as they are at one moment, together with the snapshot of that moment.
//!
//! Only the committer makes new states; everybody else clones the published one. So what is read and how it is to be understood
//! always belong together, also while tables change.

use arc_swap::ArcSwapOption;
use fjall::Keyspace;
use rowkey_store::tablet::TabletMap;
use rowkey_store::{GcRule, RowRange, TableConfig};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All tables by name.
pub(crate) type Tables = BTreeMap<String, Arc<Table>>;

/// A state that is published.
pub(crate) struct Published {
    /// The data.
    pub(crate) snapshot: fjall::Snapshot,
    /// How to read it.
    pub(crate) tables: Arc<Tables>,
}

impl std::fmt::Debug for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Published").field("tables", &self.tables).finish_non_exhaustive()
    }
}

/// A table as it is at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its design. The split points are those of `tablets`.
    pub(crate) config: TableConfig,
    /// Ascending, without gaps, at least one.
    pub(crate) tablets: Vec<Arc<Tablet>>,
}

impl Table {
    /// A table of one shard.
    pub(crate) fn new(name: &str, config: TableConfig, spaces: &[Space]) -> Self {
        let ranges = TabletMap::new(config.split_points.clone());
        let tablet = |range| Arc::new(Tablet { range, spaces: spaces.to_vec(), counters: Arc::default() });
        Self { name: name.to_owned(), tablets: ranges.ranges().map(tablet).collect(), config }
    }

    /// The index of the tablet that serves a row.
    pub(crate) fn tablet_of(&self, key: &[u8]) -> usize {
        self.tablets.partition_point(|tablet| tablet.range.start <= key) - 1
    }

    /// The indices of the tablets that a range of rows touches.
    pub(crate) fn tablets_of(&self, range: &RowRange) -> std::ops::Range<usize> {
        let end = match &range.end {
            None => self.tablets.len(),
            Some(end) => self.tablets.partition_point(|tablet| tablet.range.start < *end),
        };
        self.tablet_of(&range.start).min(end)..end
    }

    /// Its shards, ascending.
    pub(crate) fn shards(&self) -> Vec<Shard> {
        let mut shards: Vec<Shard> = Vec::new();
        for (index, tablet) in self.tablets.iter().enumerate() {
            match shards.last_mut() {
                Some(last)
                    if last
                        .spaces
                        .iter()
                        .map(|space| space.id)
                        .eq(tablet.spaces.iter().map(|space| space.id)) =>
                {
                    last.tablets.end = index + 1;
                    last.range.end.clone_from(&tablet.range.end);
                }
                _ => shards.push(Shard {
                    tablets: index..index + 1,
                    range: tablet.range.clone(),
                    spaces: tablet.spaces.clone(),
                }),
            }
        }
        shards
    }

    /// The tablets of a shard, in other keyspaces.
    pub(crate) fn move_shard(&mut self, shard: &Shard, spaces: &[Space]) {
        for tablet in &mut self.tablets[shard.tablets.clone()] {
            let (range, counters) = (tablet.range.clone(), Arc::clone(&tablet.counters));
            *tablet = Arc::new(Tablet { range, spaces: spaces.to_vec(), counters });
        }
    }

    /// Sets the split points of the design from the tablets.
    pub(crate) fn note_split_points(&mut self) {
        self.config.split_points =
            self.tablets.iter().skip(1).map(|tablet| tablet.range.start.clone()).collect();
    }
}

/// Neighbouring tablets that share their keyspaces. A keyspace costs several syncs to make, and a buffer in memory: a table that is
/// cut into a hundred tablets at creation has one shard, and shards are cut only when they grow large.
#[derive(Debug, Clone)]
pub(crate) struct Shard {
    /// Indices of its tablets.
    pub(crate) tablets: std::ops::Range<usize>,
    /// The rows of all of them.
    pub(crate) range: RowRange,
    /// By index of the family.
    pub(crate) spaces: Vec<Space>,
}

/// A range of rows: what is counted by itself, and the smallest thing that can have keyspaces of its own.
#[derive(Debug, Clone)]
pub(crate) struct Tablet {
    pub(crate) range: RowRange,
    /// Those of its shard, by index of the family.
    pub(crate) spaces: Vec<Space>,
    pub(crate) counters: Arc<Counters>,
}

/// What a tablet counts since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) reads: AtomicU64,
    pub(crate) rows_read: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

/// The keyspace of one family in one shard.
#[derive(Clone)]
pub(crate) struct Space {
    pub(crate) id: u64,
    pub(crate) keyspace: Keyspace,
    pub(crate) policy: Arc<Policy>,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The name of a keyspace in fjall.
pub(crate) fn space_name(id: u64) -> String {
    format!("d{id}")
}

/// What the compaction filter of a keyspace goes by.
///
/// `settled`: since the last full compaction the rule has not changed, and no delete has left alive a cell that is older than one
/// that it deleted. Only then may versions be counted in a part of the files: every counted cell is alive, or the cells older than
/// it are dead as well. It is cleared before such a delete or change is written, and a filter reads the clock before it reads the flag:
/// so what a filter takes is hidden at the moment of any delete that it does not know, and that delete covers it.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    pub(crate) rule: ArcSwapOption<GcRule>,
    settled: AtomicBool,
    /// Counts the events that unsettle, so that a full compaction can tell whether one came meanwhile.
    unsettled_count: AtomicU64,
    /// Fragments that could not be read, and were kept.
    pub(crate) damaged: AtomicU64,
    /// Cells that compactions took because of the rule.
    pub(crate) taken: AtomicU64,
    /// Cells that a collection could take, as estimated when the driver looked.
    pub(crate) garbage_cells: AtomicU64,
    /// Whether something was written since the driver looked.
    pub(crate) touched: AtomicBool,
}

impl Policy {
    pub(crate) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::SeqCst)
    }

    pub(crate) fn set_settled(&self, settled: bool) {
        self.settled.store(settled, Ordering::SeqCst);
    }

    /// Notes an event; call it before the event is written.
    pub(crate) fn unsettle(&self) {
        self.settled.store(false, Ordering::SeqCst);
        self.unsettled_count.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes a write.
    pub(crate) fn touch(&self) {
        if !self.touched.load(Ordering::Relaxed) {
            self.touched.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn unsettled_count(&self) -> u64 {
        self.unsettled_count.load(Ordering::SeqCst)
    }
}

/// The policies of all keyspaces by name. fjall asks for a keyspace's filter when it opens the keyspace, which on opening a store is
/// before its tables are known: such a policy takes nothing until it is told its rule.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<Policies>);

#[derive(Debug, Default)]
struct Policies {
    known: HashMap<String, Arc<Policy>>,
    /// What those counted that are forgotten.
    taken: u64,
    damaged: u64,
}

impl Registry {
    /// The policy of a keyspace.
    pub(crate) fn policy(&self, keyspace: &str) -> Arc<Policy> {
        let mut policies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(policies.known.entry(keyspace.to_owned()).or_default())
    }

    /// Forgets a keyspace that is deleted.
    pub(crate) fn forget(&self, keyspace: &str) {
        let mut policies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(policy) = policies.known.remove(keyspace) {
            policies.taken += policy.taken.load(Ordering::Relaxed);
            policies.damaged += policy.damaged.load(Ordering::Relaxed);
        }
    }

    /// Cells that compactions took because of rules, and fragments that could not be read, of all keyspaces since the store was opened.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let policies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        policies.known.values().fold((policies.taken, policies.damaged), |(taken, damaged), policy| {
            (taken + policy.taken.load(Ordering::Relaxed), damaged + policy.damaged.load(Ordering::Relaxed))
        })
    }
}
