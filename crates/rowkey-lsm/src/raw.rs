//! The parts of fjall that its documentation hides, all in one place: they may change with any release, which is why its version is
//! pinned exactly. Also the limits that keep its own waits from lasting for ever.

use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use std::time::Duration;

/// Whether the database still takes writes: after a failed write to its log it never does again.
pub(crate) fn takes_writes(db: &Database) -> bool {
    db.persist(PersistMode::Buffer).is_ok()
}

/// Whether a write should wait: fjall itself waits from 4 sealed memtables or 30 runs on, and then without an end if its workers
/// have died (on a full disk, say). Below these limits it never waits, so that the caller can look for that.
pub(crate) fn is_behind(keyspace: &Keyspace) -> bool {
    keyspace.sealed_memtable_count() >= 2 || keyspace.tree.l0_run_count() >= 24
}

/// Writes the memtable to a table and waits for it.
///
/// # Errors
///
/// Those of fjall; `Poisoned` if its workers have died.
pub(crate) fn flush(db: &Database, keyspace: &Keyspace) -> fjall::Result<()> {
    keyspace.rotate_memtable()?;
    wait_for_tables(db, keyspace)
}

/// Options of a new keyspace. fjall never asks its workers to seal its memtable, see [`seal_if_full`].
pub(crate) fn new_keyspace() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default().max_memtable_size(u64::MAX)
}

/// Seals the memtable if it holds more than this, and has it written to a table.
///
/// fjall asks its workers to do that, once for each batch that finds the memtable full. While they merge files its queue of 1,000
/// messages fills with that, and then each of them seals a memtable and waits for a place in the queue that they alone empty: for ever.
/// So the committer does it, and the workers never wait for themselves.
pub(crate) fn seal_if_full(keyspace: &Keyspace, bytes_max: u64) -> fjall::Result<()> {
    if keyspace.tree.active_memtable().size() > bytes_max {
        keyspace.rotate_memtable()?;
    }
    Ok(())
}

/// Writes all memtables to tables, by all workers at once, and answers whether nothing was left in memory, so that the log holds
/// nothing that the tables do not.
///
/// # Errors
///
/// Those of [`flush`].
pub(crate) fn flush_all(db: &Database) -> fjall::Result<bool> {
    let names = db.list_keyspace_names();
    let keyspaces = names.iter().map(|name| db.keyspace(name, KeyspaceCreateOptions::default));
    let keyspaces = keyspaces.collect::<fjall::Result<Vec<_>>>()?;
    for keyspace in &keyspaces {
        keyspace.rotate_memtable()?;
    }
    for keyspace in &keyspaces {
        wait_for_tables(db, keyspace)?;
    }
    Ok(keyspaces.iter().all(|keyspace| keyspace.tree.active_memtable().is_empty()))
}

fn wait_for_tables(db: &Database, keyspace: &Keyspace) -> fjall::Result<()> {
    while keyspace.sealed_memtable_count() > 0 {
        if !takes_writes(db) {
            return Err(fjall::Error::Poisoned);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Numbers that a session gives to keyspaces between two of its commits, at most.
const NUMBERS_SKIPPED: u64 = 1 << 20;

/// Makes the database number on from far above the highest number that it recovered. It recovers it from the log and the tables, but
/// not from its own record of keyspaces: a keyspace made under the id of a deleted one would then be as old as the deletion, or older, and
/// be gone when the store is opened next.
pub(crate) fn skip_numbers(db: &Database) {
    db.supervisor.seqno.fetch_max(db.seqno() + NUMBERS_SKIPPED);
}

/// Merges all tables of a keyspace on this thread; the filter sees all pairs that are in tables. Others of the keyspace's compactions
/// wait.
pub(crate) fn compact_all(keyspace: &Keyspace) -> fjall::Result<()> {
    keyspace.major_compact()
}

/// Bytes in memory that are not in a table yet.
pub(crate) fn memtable_bytes(keyspace: &Keyspace) -> u64 {
    keyspace.tree.active_memtable().size()
}

/// Pairs in memory that are not in a table yet.
pub(crate) fn memtable_pairs(keyspace: &Keyspace) -> u64 {
    keyspace.tree.active_memtable().len() as u64
}

/// What a database tells of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) disk_bytes: u64,
    pub(crate) log_bytes: u64,
    pub(crate) memtable_bytes: u64,
    /// Files of the log.
    pub(crate) files: u64,
    pub(crate) block_cache_bytes: u64,
    pub(crate) block_cache_bytes_max: u64,
    pub(crate) flushes_waiting: u64,
    pub(crate) compactions_running: u64,
    pub(crate) compactions_done: u64,
    pub(crate) compaction_time: Duration,
}

/// What a database tells of itself.
///
/// # Errors
///
/// Those of fjall.
pub(crate) fn facts(db: &Database) -> fjall::Result<Facts> {
    Ok(Facts {
        disk_bytes: db.disk_space()?,
        log_bytes: db.journal_disk_space()?,
        memtable_bytes: db.write_buffer_size(),
        files: db.journal_count() as u64,
        block_cache_bytes: db.cache_size(),
        block_cache_bytes_max: db.cache_capacity(),
        flushes_waiting: db.outstanding_flushes() as u64,
        compactions_running: db.active_compactions() as u64,
        compactions_done: db.compactions_completed() as u64,
        compaction_time: db.time_compacting(),
    })
}

/// The number of a keyspace's tables, a file each.
pub(crate) fn file_count(keyspace: &Keyspace) -> u64 {
    keyspace.table_count() as u64
}

/// A table of a keyspace.
#[derive(Debug, Clone)]
pub(crate) struct TableFacts {
    /// Its first key.
    pub(crate) first_key: Vec<u8>,
    /// Its last key.
    pub(crate) last_key: Vec<u8>,
    /// Its pairs.
    pub(crate) pairs: u64,
    /// Bytes of its file.
    pub(crate) bytes: u64,
}

/// The tables of a keyspace, in no order.
pub(crate) fn tables(keyspace: &Keyspace) -> Vec<TableFacts> {
    let version = keyspace.tree.current_version();
    version
        .iter_tables()
        .map(|table| TableFacts {
            first_key: table.metadata.key_range.min().to_vec(),
            last_key: table.metadata.key_range.max().to_vec(),
            pairs: table.metadata.item_count,
            bytes: table.metadata.file_size,
        })
        .collect()
}
