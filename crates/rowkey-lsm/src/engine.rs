//! The engine as callers see it: requests go to the committer, reads go to the published state.

use crate::backup;
use crate::collect;
use crate::committer::{Committer, MutateAnswer, Request};
use crate::driver::Driver;
use crate::error;
use crate::handle::Handle;
use crate::info;
use crate::open::{self, Opened};
use crate::options::Options;
use crate::prepare::Prepared;
use crate::read::LsmSnapshot;
use crate::shared::{OpenDatabase, Shared};
use crate::state::Published;
use crate::statistics;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use rowkey_store::{
    CheckAndMutate, DropScope, Durability, Engine, FamilyChange, GarbageReport, KeySample, ReadModifyWrite,
    Result, Row, RowKey, RowMutation, Snapshot, Statistics, TableConfig, TabletInfo, Timestamp, check,
};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Requests that wait at most; callers wait for a place.
const QUEUE_MAX: usize = 1024;

/// The embedded store in one folder. One process at a time has it open; any number of threads use it.
///
/// ```
/// use rowkey_lsm::{LsmEngine, Options};
/// use rowkey_store::EngineExt as _;
///
/// let folder = tempfile::tempdir()?;
/// let engine = LsmEngine::open(&folder.path().join("data"), Options { create: true, ..Options::default() })?;
/// engine.create("readings", &[("m", "maxversions=1")])?;
/// engine.set_cells("readings", b"truck#7", &[("m", b"speed", 1_000, b"81")])?;
/// let row = engine.read_row("readings", b"truck#7")?.expect("it was written");
/// assert_eq!(row.cells[0].value, "81");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LsmEngine {
    handle: Handle,
    threads: Mutex<Threads>,
    warnings: Vec<String>,
}

#[derive(Debug, Default)]
struct Threads {
    committer: Option<JoinHandle<()>>,
    driver: Option<Driver>,
    lock: Option<File>,
}

impl LsmEngine {
    /// Opens the store at `path`, a folder.
    ///
    /// # Errors
    ///
    /// `NotFound`: there is none, and it is not to be created. `Invalid`: the folder holds something else. `Conflict`: another process
    /// has it open. `Corrupt`: a file is damaged or of another format version. `Unavailable`: no permission, no space.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let Opened { lock, db, meta, registry, tables, counters, side, log_bytes, spares, warnings } =
            open::open(path, &options)?;
        let tables = Arc::new(tables);
        let published =
            ArcSwapOption::from_pointee(Published { snapshot: db.snapshot(), tables: Arc::clone(&tables) });
        let shared = Arc::new(Shared {
            path: Arc::from(path),
            options,
            registry,
            published,
            db: ArcSwapOption::from_pointee(OpenDatabase(db.clone())),
            closed: AtomicBool::new(false),
        });
        let (queue, requests) = sync_channel(QUEUE_MAX);
        let mut committer = Committer::new(Arc::clone(&shared), db, meta, tables, counters, side, log_bytes);
        committer.spares = spares;
        let thread = std::thread::Builder::new()
            .name("rowkey-committer".to_owned())
            .spawn(move || committer.run(&requests))
            .map_err(|error| error::of_io(path, "starting a thread for", error))?;
        let handle = Handle { shared, queue };
        let background_gc = handle.shared.options.background_gc;
        let driver = background_gc.then(|| Driver::start(handle.clone()));
        let driver =
            driver.transpose().map_err(|error| error::of_io(path, "starting a thread for", error))?;
        let threads = Mutex::new(Threads { committer: Some(thread), driver, lock: Some(lock) });
        Ok(Self { handle, threads, warnings })
    }

    /// What was found on opening that somebody should know, such as acknowledged writes that the log lost.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The folder of the store.
    pub fn path(&self) -> &Path {
        &self.handle.shared.path
    }

    /// Writes what waits, puts it on disk, and gives the store free. Later requests are `Unavailable`, and so is the
    /// next row of a read that is under way. Snapshots and reads keep the store from being opened again until they are dropped.
    pub fn close(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = threads.driver.take() {
            driver.stop();
        }
        let _ = self.handle.queue.send(Request::Stop);
        if let Some(thread) = threads.committer.take() {
            let _ = thread.join();
        }
        self.handle.shared.closed.store(true, Ordering::Release);
        // The published state holds keyspaces, and those hold fjall's lock.
        self.handle.shared.published.store(None);
        self.handle.shared.db.store(None);
        if let Some(lock) = threads.lock.take() {
            // Not only closed: a child process that is just being started may hold the same file for a moment.
            let _ = lock.unlock();
        }
    }

    /// Merges all files of a table and collects its garbage on the way, whether it is worth while or not. For tests.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unavailable`, `Corrupt`.
    pub fn compact(&self, table: &str) -> Result<()> {
        let (_, table) = self.handle.table(table)?;
        for space in table.shards().iter().flat_map(|shard| &shard.spaces) {
            collect::collect_space(&self.handle, &table.name, space, &[])?;
        }
        Ok(())
    }

    /// Writes a table as one stream: its design and its rows at this moment, with checksums. See [`LsmEngine::restore`].
    ///
    /// # Errors
    ///
    /// `NotFound`; `Unavailable` if the output fails; `Corrupt`.
    pub fn backup(&self, table: &str, output: &mut dyn Write) -> Result<()> {
        backup::backup(&self.handle, table, output)
    }

    /// Makes a table from a stream of [`LsmEngine::backup`], all of it or nothing, and answers with its name.
    ///
    /// # Errors
    ///
    /// `AlreadyExists`; `Corrupt` with the offset at which the stream is damaged; `Unavailable` if the input fails.
    pub fn restore(&self, input: &mut dyn Read) -> Result<String> {
        backup::restore(&self.handle, input)
    }
}

impl Drop for LsmEngine {
    fn drop(&mut self) {
        self.close();
    }
}

impl Engine for LsmEngine {
    fn description(&self) -> String {
        format!("the embedded store at {}", self.handle.shared.path.display())
    }

    fn create_table(&self, table: &str, config: &TableConfig) -> Result<()> {
        let (table, config) = (table.to_owned(), config.clone());
        self.handle.run(move |committer| committer.create_table(&table, &config))
    }

    fn drop_table(&self, table: &str) -> Result<()> {
        let table = table.to_owned();
        self.handle.run(move |committer| committer.drop_table(&table))
    }

    fn rename_table(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.handle.run(move |committer| committer.rename_table(&from, &to))
    }

    fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.handle.published()?.tables.keys().cloned().collect())
    }

    fn table_config(&self, table: &str) -> Result<TableConfig> {
        Ok(self.handle.table(table)?.1.config.clone())
    }

    fn modify_families(&self, table: &str, changes: &[FamilyChange]) -> Result<TableConfig> {
        let (table, changes) = (table.to_owned(), changes.to_vec());
        self.handle.run(move |committer| committer.modify_families(&table, &changes))
    }

    fn annotate_table(&self, table: &str, name: &str, content: Option<Bytes>) -> Result<()> {
        let (table, name) = (table.to_owned(), name.to_owned());
        self.handle.run(move |committer| committer.annotate_table(&table, &name, content))
    }

    fn protect_table(&self, table: &str, protected: bool) -> Result<()> {
        let table = table.to_owned();
        self.handle.run(move |committer| committer.protect_table(&table, protected))
    }

    fn mutate_rows(
        &self,
        table: &str,
        rows: Vec<RowMutation>,
        durability: Durability,
    ) -> Result<Vec<Result<()>>> {
        loop {
            let (_, table) = self.handle.table(table)?;
            check::mutate_rows(&table.name, &rows)?;
            let rows = Prepared::new(&table, &rows, self.handle.shared.options.clock.now_us());
            match self.handle.ask(|reply| Request::Mutate { table, rows, durability, reply })? {
                MutateAnswer::Done(results) => return Ok(results),
                MutateAnswer::Stale => {}
            }
        }
    }

    fn check_and_mutate_row(&self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        let (table, request) = (table.to_owned(), request.clone());
        self.handle.ask(|reply| Request::CheckAndMutate { table, request, reply })
    }

    fn read_modify_write_row(
        &self,
        table: &str,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row> {
        let (table, key, rules) = (table.to_owned(), key.clone(), rules.to_vec());
        self.handle.ask(|reply| Request::ReadModifyWrite { table, key, rules, timestamp, reply })
    }

    fn snapshot(&self, table: &str) -> Result<Arc<dyn Snapshot>> {
        let (published, table) = self.handle.table(table)?;
        Ok(Arc::new(LsmSnapshot { published, table, handle: self.handle.clone() }))
    }

    fn drop_rows(&self, table: &str, scope: &DropScope) -> Result<()> {
        let (table, scope) = (table.to_owned(), scope.clone());
        self.handle.run(move |committer| committer.drop_rows(&table, &scope))
    }

    fn sample_row_keys(&self, table: &str) -> Result<Vec<KeySample>> {
        Ok(info::samples(&self.handle.table(table)?.1))
    }

    fn tablets(&self, table: &str) -> Result<Vec<TabletInfo>> {
        let (published, table) = self.handle.table(table)?;
        info::tablets(&self.handle.shared.path, &published, &table)
    }

    fn tablet_counters(&self, table: &str) -> Result<Vec<TabletInfo>> {
        Ok(info::tablet_counters(&self.handle.table(table)?.1))
    }

    fn split_tablet(&self, table: &str, at: &RowKey) -> Result<()> {
        let (table, at) = (table.to_owned(), at.clone());
        self.handle.run(move |committer| committer.split_tablet(&table, &at))
    }

    fn garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        let (published, table) = self.handle.table(table)?;
        collect::count(&self.handle.shared, &published, &table)
    }

    fn collect_garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        collect::collect(&self.handle, table)
    }

    fn statistics(&self) -> Result<Statistics> {
        statistics::statistics(&self.handle)
    }

    fn sync(&self) -> Result<()> {
        self.handle.ask(|reply| Request::Sync { reply })
    }
}
