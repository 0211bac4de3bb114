//! How a store is opened.

use rowkey_store::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

/// Options of [`crate::LsmEngine::open`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Makes the folder and an empty store in it if there is none.
    pub create: bool,
    /// Tells server timestamps and what is expired.
    pub clock: Arc<dyn Clock>,
    /// Bytes of blocks that are kept in memory for reads, for all tables.
    pub block_cache_bytes: u64,
    /// Bytes of writes that a tablet collects in memory for each family before it writes a file.
    pub memtable_bytes: u64,
    /// A store that is closed with a longer log writes its buffers to files and empties the log, so that the next opening need not
    /// replay it.
    pub log_bytes_kept: u64,
    /// Threads that write files and merge them, at least 1.
    pub worker_threads: usize,
    /// A tablet is cut in two when its files and buffers hold more than this.
    pub tablet_bytes_max: u64,
    /// Empty keyspaces that are kept ready for the next tables, made while nobody writes: a table needs one for each family, and making one
    /// takes 25 ms or more on a disk. 0: each is made when it is needed, deleted when it is not, and never used again.
    pub spare_keyspaces: usize,
    /// Looks for expired cells in the background and collects them where they are more than a quarter.
    pub background_gc: bool,
    /// How often it looks.
    pub background_gc_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: false,
            clock: Arc::new(SystemClock),
            block_cache_bytes: 256 << 20,
            memtable_bytes: 16 << 20,
            // Replaying this much takes about as long as writing the files.
            log_bytes_kept: 4 << 20,
            worker_threads: 2,
            // Merging a whole tablet, which a collection does, takes about 20 s for this much.
            tablet_bytes_max: 1 << 30,
            spare_keyspaces: 4,
            background_gc: true,
            background_gc_interval: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// For tests: small buffers, so that files and merges come early, and nothing in the background.
    pub fn tiny(clock: Arc<dyn Clock>) -> Self {
        Self {
            create: true,
            clock,
            block_cache_bytes: 1 << 20,
            memtable_bytes: 4 << 10,
            log_bytes_kept: 16 << 10,
            worker_threads: 1,
            tablet_bytes_max: 1 << 30,
            spare_keyspaces: 2,
            background_gc: false,
            background_gc_interval: Duration::from_millis(5),
        }
    }
}
