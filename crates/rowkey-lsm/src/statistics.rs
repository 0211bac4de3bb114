//! Sizes and counts of the whole store, without waiting for the committer and without reading a table.

use crate::error;
use crate::handle::Handle;
use crate::raw;
use rowkey_store::{Result, Statistics};
use std::sync::atomic::Ordering;

/// See the top of this file.
///
/// # Errors
///
/// `Unavailable`.
pub(crate) fn statistics(handle: &Handle) -> Result<Statistics> {
    let shared = &handle.shared;
    let tables = std::sync::Arc::clone(&handle.published()?.tables);
    let db = shared.db.load_full().ok_or_else(|| error::closed(&shared.path))?;
    let facts = raw::facts(&db.0).map_err(|error| error::of_fjall(&shared.path, "reading", error, None))?;
    let mut statistics = Statistics {
        tables: tables.len() as u64,
        disk_bytes: facts.disk_bytes,
        log_bytes: facts.log_bytes,
        memtable_bytes: facts.memtable_bytes,
        files: facts.files,
        block_cache_bytes: facts.block_cache_bytes,
        block_cache_bytes_max: facts.block_cache_bytes_max,
        flushes_waiting: facts.flushes_waiting,
        compactions_running: facts.compactions_running,
        compactions_done: facts.compactions_done,
        compaction_time: facts.compaction_time,
        garbage_cells: shared.options.background_gc.then_some(0),
        ..Statistics::default()
    };
    for table in tables.values() {
        statistics.tablets += table.tablets.len() as u64;
        for space in table.shards().iter().flat_map(|shard| &shard.spaces) {
            statistics.files += raw::file_count(&space.keyspace);
            if let Some(garbage_cells) = &mut statistics.garbage_cells {
                *garbage_cells += space.policy.garbage_cells.load(Ordering::Relaxed);
            }
        }
    }
    (statistics.cells_collected, statistics.damaged_fragments) = shared.registry.totals();
    Ok(statistics)
}
