//! One seeded list of operations on the memory engine and on this one, in many configurations, with what happens in the background
//! forced between any two steps. `ROWKEY_METAMORPHIC_SEEDS` sets the number of seeds of each configuration.

use crate::{folder, rounds};
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::conformance::Harness;
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Clock, Engine, ManualClock, metamorphic};
use std::sync::Arc;
use std::time::Duration;

struct Memory;

impl Harness for Memory {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new(clock))
    }
}

/// What happens between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    /// Merges files fully, now and then.
    Compactions,
    /// Collects, now and then.
    Collections,
}

struct Lsm {
    change: fn(&mut Options),
    between: Between,
    folder: Option<tempfile::TempDir>,
    clock: Arc<dyn Clock>,
    /// The engine behind the handle that the steps use.
    engine: Option<Arc<LsmEngine>>,
}

impl Lsm {
    fn new(change: fn(&mut Options), between: Between) -> Self {
        Self { change, between, folder: None, clock: Arc::new(ManualClock::new(0)), engine: None }
    }

    fn start(&mut self) -> Arc<dyn Engine> {
        let mut options = Options::tiny(Arc::clone(&self.clock));
        (self.change)(&mut options);
        let path = self.folder.as_ref().unwrap().path().join("store");
        let engine = Arc::new(LsmEngine::open(&path, options).unwrap());
        self.engine = Some(Arc::clone(&engine));
        engine
    }
}

impl Harness for Lsm {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        self.engine = None;
        self.folder = Some(folder());
        self.clock = clock;
        self.start()
    }

    fn reopen(&mut self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        self.engine = None;
        drop(engine);
        self.start()
    }

    fn between(&mut self, engine: &Arc<dyn Engine>, choice: u64) {
        let tables = engine.list_tables().unwrap();
        match self.between {
            Between::Compactions if choice.is_multiple_of(3) => {
                let engine = self.engine.as_ref().unwrap();
                for table in &tables {
                    engine.compact(table).unwrap();
                }
            }
            Between::Collections if choice.is_multiple_of(4) => {
                for table in &tables {
                    engine.collect_garbage(table).unwrap();
                }
            }
            _ => {}
        }
    }
}

fn check(first_seed: u64, change: fn(&mut Options), between: Between) {
    let mut lsm = Lsm::new(change, between);
    let options = metamorphic::Options {
        snapshots_outlive_drops: true,
        tries_max: 60,
        ..metamorphic::Options::default()
    };
    for seed in first_seed..first_seed + rounds("ROWKEY_METAMORPHIC_SEEDS", 4) {
        if let Err(difference) = metamorphic::check(seed, options, &mut Memory, &mut lsm) {
            panic!("{difference}");
        }
    }
}

#[test]
fn as_it_is() {
    check(1_000, |_| {}, Between::Nothing);
}

#[test]
fn with_one_memtable_for_each_few_writes() {
    check(2_000, |options| options.memtable_bytes = 200, Between::Nothing);
}

#[test]
fn with_all_files_merged_again_and_again() {
    check(3_000, |options| options.memtable_bytes = 400, Between::Compactions);
}

#[test]
fn with_collections_at_any_time() {
    check(4_000, |options| options.memtable_bytes = 400, Between::Collections);
}

#[test]
fn with_shards_of_a_few_rows() {
    check(5_000, |options| options.tablet_bytes_max = 8_000, Between::Compactions);
}

#[test]
fn with_collection_in_the_background() {
    let change = |options: &mut Options| {
        options.memtable_bytes = 400;
        options.worker_threads = 2;
        options.background_gc = true;
        options.background_gc_interval = Duration::from_millis(1);
    };
    check(6_000, change, Between::Nothing);
}
