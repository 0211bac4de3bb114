//! What an engine tells of itself, for those who watch it.

use std::time::Duration;

/// Sizes and counts of a whole store at one moment, cheap to ask for: no table is read. Counts begin when the store is opened. What an
/// engine has none of is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Tables, those of layers above included.
    pub tables: u64,
    /// Tablets of all tables.
    pub tablets: u64,
    /// Bytes of all files, those of the log included.
    pub disk_bytes: u64,
    /// Bytes of the log: what the next opening after a crash would have to replay.
    pub log_bytes: u64,
    /// Bytes of writes in memory that are in the log, but not in any other file yet.
    pub memtable_bytes: u64,
    /// Files, those of the log included.
    pub files: u64,
    /// Bytes of blocks that are kept in memory for reads.
    pub block_cache_bytes: u64,
    /// Bytes that those may take.
    pub block_cache_bytes_max: u64,
    /// Memtables that wait to be written to a file.
    pub flushes_waiting: u64,
    /// Merges of files that run now.
    pub compactions_running: u64,
    /// Merges of files that ended.
    pub compactions_done: u64,
    /// Time that merges of files took, of all threads.
    pub compaction_time: Duration,
    /// Cells that garbage collection took, while files were merged.
    pub cells_collected: u64,
    /// Stored pieces that garbage collection could not read, and kept.
    pub damaged_fragments: u64,
    /// Cells that garbage collection could take, as estimated when it last looked. `None`: it does not look by itself.
    pub garbage_cells: Option<u64>,
}
