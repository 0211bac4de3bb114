//! Load recorded by tablet and by key range, in bounded memory, kept with the store.
//!
//! ```text
//! operations --observe--> buffer (by thread) --fold--> table: totals, tablets, map, frequent keys, sample for the doctor
//!                                                        | tick: split by load, placement on nodes, history to the store
//!                                                        v
//!                                                      ask: what the page, the services and the metrics show
//! ```
//!
//! Engine names of tables everywhere: see [`crate::catalog::Catalog`]. The server's own tables (`_rowkey...`) are not recorded. Nothing
//! recorded is ever lost but by the bounds that are written down here, and nothing here makes an operation fail.

mod answer;
mod ask;
mod buffer;
mod fold;
mod history;
mod hot;
mod keys;
mod sample;
mod save;
mod split;
mod table;
mod tablets;
#[cfg(test)]
mod tests;
mod tick;

pub(crate) use answer::*;

use crate::catalog::SYSTEM_TABLE;
use crate::options::Options;
use buffer::{Batch, Buffers};
use fold::Statistics;
use rowkey::Codec;
use rowkey_hotspot::sim::Settings;
use rowkey_store::wrap::Record;
use rowkey_store::{Clock, Engine, Result};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, RwLock};
use table::{Costs, Table};
use tick::Schedule;
use tokio::sync::Notify;

/// Bytes of memory that the record may take, about, whatever the number of tables. A fold may pass it by a few MiB for a moment.
const MEMORY_BYTES_MAX: usize = 256 << 20;

/// What was recorded.
#[derive(Debug)]
pub(crate) struct Load {
    /// Not the recorded one: what is done here is no load.
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    costs: Costs,
    memory_bytes_max: usize,
    buffers: Buffers,
    /// Batches that are full, and what tells the ticking task about them.
    full: Mutex<Vec<Batch>>,
    wake: Notify,
    /// Held by whoever folds. Taken before any other of these; `tables` before one table, and that before the rest.
    folding: Mutex<()>,
    tables: RwLock<BTreeMap<String, Arc<Mutex<Table>>>>,
    statistics: Mutex<Statistics>,
    /// Schemas that people gave, by table.
    given: Mutex<BTreeMap<String, Codec>>,
    /// Tablets of each node, as placed at the last look.
    tablets_of_node: Mutex<Vec<usize>>,
    counters: Mutex<Counters>,
    schedule: Mutex<Schedule>,
    memory_bytes: AtomicUsize,
}

/// What was done since the start.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    splits: u64,
    split_failures: u64,
    moves: u64,
    tables_shrunk: u64,
    saves: u64,
    save_failures: u64,
    rows_skipped: u64,
}

impl Load {
    /// Reads what was saved in the store.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn open(engine: &Arc<dyn Engine>, options: &Options) -> Result<Self> {
        Self::open_within(engine, options, MEMORY_BYTES_MAX)
    }

    fn open_within(engine: &Arc<dyn Engine>, options: &Options, memory_bytes_max: usize) -> Result<Self> {
        let nodes = options.nodes.clamp(1, rowkey_hotspot::heatmap::NODES_MAX);
        let settings = fold::settings(nodes);
        let given = options.schemas.iter().filter_map(|schema| {
            let codec = Codec::new(schema.clone()).ok()?;
            Some((schema.table.clone(), codec))
        });
        let load = Self {
            engine: Arc::clone(engine),
            clock: Arc::clone(&options.clock),
            costs: Costs::new(&settings),
            settings,
            memory_bytes_max,
            buffers: Buffers::default(),
            full: Mutex::default(),
            wake: Notify::new(),
            folding: Mutex::default(),
            tables: RwLock::default(),
            statistics: Mutex::default(),
            given: Mutex::new(given.collect()),
            tablets_of_node: Mutex::new(vec![0; nodes as usize]),
            counters: Mutex::default(),
            schedule: Mutex::default(),
            memory_bytes: AtomicUsize::new(0),
        };
        load.read_back()?;
        Ok(load)
    }

    /// Takes an operation that has ended. Quick: it runs on the thread of the operation.
    pub(crate) fn observe(&self, record: &Record) {
        if !record.operation.table.starts_with(SYSTEM_TABLE) {
            self.buffers.record(record, |batch| self.put_aside(batch));
        }
    }

    fn now_ms(&self) -> i64 {
        self.clock.now_us().div_euclid(1_000)
    }
}
