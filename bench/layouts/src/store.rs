//! One database with one keyspace, written by one thread.
//!
//! The writer opens a snapshot between two commits and readers get clones of it. Never read through the keyspace
//! itself: it sees batches in flight.

use crate::model::{Columns, Direction, Mutation, Result, Row};
use fjall::compaction::filter::Factory;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Iter, Keyspace, KeyspaceCreateOptions, Readable, Snapshot};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const MEMTABLE_BYTES: u64 = 64 << 20;
const CACHE_BYTES: u64 = 512 << 20;

/// How rows become pairs and pairs become rows.
pub trait Layout: Default {
    const NAME: &'static str;

    /// The compaction filter that keeps [`VERSIONS_MAX`](crate::model::VERSIONS_MAX) versions.
    fn filter_factory() -> Arc<dyn Factory>;

    /// Hands the pairs of one mutation to `sink`.
    fn encode(&mut self, mutation: &Mutation, sink: impl FnMut(Vec<u8>, Vec<u8>));

    /// Reads one row.
    ///
    /// # Errors
    ///
    /// If the engine fails or bytes are damaged.
    fn read_row(view: &View, row: &[u8], columns: Columns<'_>) -> Result<Option<Row>>;

    /// Visits all rows in order.
    ///
    /// # Errors
    ///
    /// If the engine fails or bytes are damaged.
    fn scan(view: &View, columns: Columns<'_>, direction: Direction, visit: impl FnMut(Row)) -> Result<()>;
}

/// One instant of the store.
pub struct View {
    snapshot: Snapshot,
    keyspace: Keyspace,
}

impl View {
    /// Pairs of a half-open key range.
    pub fn range(&self, start: &[u8], end: &[u8]) -> Iter {
        self.snapshot.range(&self.keyspace, start..end)
    }

    /// All pairs.
    pub fn iter(&self) -> Iter {
        self.snapshot.iter(&self.keyspace)
    }
}

/// An open store in one layout.
pub struct Store<L> {
    db: Database,
    keyspace: Keyspace,
    published: Snapshot,
    layout: L,
}

impl<L: Layout> Store<L> {
    /// Opens an empty folder.
    ///
    /// # Errors
    ///
    /// If the engine cannot open it.
    pub fn open(dir: &Path, factory: Arc<dyn Factory>) -> Result<Self> {
        let db = Database::builder(dir)
            .worker_threads(2)
            .cache_size(CACHE_BYTES)
            .with_compaction_filter_factories(Arc::new(move |_: &str| Some(Arc::clone(&factory))))
            .open()?;
        let keyspace = db.keyspace("family", || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES)
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        })?;
        let published = db.snapshot();
        Ok(Self { db, keyspace, published, layout: L::default() })
    }

    /// Commits mutations as one batch, without fsync, and publishes a snapshot.
    ///
    /// # Errors
    ///
    /// If the engine fails.
    pub fn write(&mut self, mutations: &[Mutation]) -> Result<()> {
        let mut batch = self.db.batch();
        for mutation in mutations {
            self.layout.encode(mutation, |key, value| batch.insert(&self.keyspace, key, value));
        }
        batch.commit()?;
        self.published = self.db.snapshot();
        Ok(())
    }

    /// The published instant.
    pub fn view(&self) -> View {
        View { snapshot: self.published.clone(), keyspace: self.keyspace.clone() }
    }

    /// Writes the memtable into a table.
    ///
    /// # Errors
    ///
    /// If the engine fails.
    pub fn flush(&mut self) -> Result<()> {
        self.keyspace.rotate_memtable_and_wait()?;
        self.published = self.db.snapshot();
        Ok(())
    }

    /// Waits until no background work is left.
    pub fn settle(&mut self) {
        let (mut calm, mut last) = (0, 0);
        while calm < 4 {
            std::thread::sleep(Duration::from_millis(50));
            let done = self.db.compactions_completed();
            let idle = self.db.active_compactions() == 0 && self.db.outstanding_flushes() == 0;
            calm = if idle && done == last { calm + 1 } else { 0 };
            last = done;
        }
        self.published = self.db.snapshot();
    }

    /// Rewrites all tables through the filter.
    ///
    /// # Errors
    ///
    /// If the engine fails.
    pub fn major_compact(&mut self) -> Result<()> {
        self.keyspace.major_compact()?;
        self.published = self.db.snapshot();
        Ok(())
    }

    /// Bytes of the live tables.
    pub fn table_bytes(&self) -> u64 {
        self.keyspace.disk_space()
    }

    /// Number of live tables.
    pub fn table_count(&self) -> usize {
        self.keyspace.table_count()
    }

    /// Number of live pairs.
    ///
    /// # Errors
    ///
    /// If the engine fails.
    pub fn pair_count(&self) -> Result<usize> {
        Ok(self.published.len(&self.keyspace)?)
    }
}
