//! The contract of an engine: few methods, each one operation. Conveniences for callers are in `EngineExt`.
//!
//! Every call is synchronous and may block; an engine over a network blocks on its own runtime. Every engine promises:
//!
//! 1. Rows come in row-key order. One row's mutations apply together, across families, or not at all.
//! 2. What was acknowledged is seen by every later read of any thread, and survives a crash as its [`Durability`] says.
//! 3. Requests are checked against [`crate::limits`] and the table's families before anything is written.
//! 4. What an engine cannot do it refuses by name ([`crate::ErrorKind::Unsupported`]).

use crate::{
    CheckAndMutate, Error, ErrorKind, FamilyChange, ReadRequest, Result, Row, RowKey, RowMutation, RowRange,
    Statistics, TableConfig, Timestamp,
};
use bytes::Bytes;
use std::sync::Arc;

/// The rows of a read, lazily. Dropping it cancels the read.
pub type RowStream = Box<dyn Iterator<Item = Result<Row>> + Send>;

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When it is on disk (group commit).
    #[default]
    Synced,
    /// When it is in the operating system's buffers or the process: a crash may lose the last writes, never a part of one. For bulk
    /// loads, which [`Engine::sync`] ends.
    Buffered,
}

/// Which rows [`Engine::drop_rows`] drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropScope {
    /// All rows.
    All,
    /// The rows whose key begins with this, which is not empty.
    Prefix(Bytes),
}

/// One row-key sample: about `offset_bytes` lie before `key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySample {
    /// The key; empty at the end of the table.
    pub key: RowKey,
    /// Bytes before it, not decreasing.
    pub offset_bytes: u64,
}

/// A tablet and what was counted on it since the store was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TabletInfo {
    /// The row keys that it serves.
    pub range: RowRange,
    /// Bytes of its files and buffers, about.
    pub bytes: u64,
    /// Cells that it stores: replaced and expired ones that no compaction has taken yet count as well.
    pub cells: u64,
    /// Reads that reached it.
    pub reads: u64,
    /// Rows returned from it.
    pub rows_read: u64,
    /// Bytes of keys and values returned from it.
    pub bytes_read: u64,
    /// Row mutations applied to it.
    pub writes: u64,
    /// Bytes of keys and values written to it.
    pub bytes_written: u64,
}

/// What garbage collection found or took in one family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GarbageReport {
    /// The family.
    pub family: String,
    /// Cells that are kept.
    pub live_cells: u64,
    /// Bytes of keys and values of those.
    pub live_bytes: u64,
    /// Cells that a rule may take: expired, not yet reclaimed. After a collection: those that it took.
    pub expired_cells: u64,
    /// Bytes of keys and values of those.
    pub expired_bytes: u64,
}

/// One rule of a read-modify-write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadModifyWrite {
    /// Appends to the newest value of a column; missing counts as empty.
    Append {
        /// The family.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// What to append.
        suffix: Bytes,
    },
    /// Adds to the newest value of a column, a big-endian 64-bit integer; missing counts as 0.
    Increment {
        /// The family.
        family: String,
        /// The qualifier.
        qualifier: Bytes,
        /// What to add, wrapping.
        amount: i64,
    },
}

/// Rows in a store.
pub trait Engine: Send + Sync + std::fmt::Debug {
    /// What people call this engine, as in "the embedded store at ./data".
    fn description(&self) -> String;

    /// How many reads of one snapshot are best kept going at the same time, at least 1: a hint for scans that gather several ranges.
    ///
    /// 1 for an engine whose reads compute and seldom wait, as those in this process do: the caller's thread is as fast as two, and
    /// leaves the other cores to others. An engine whose reads wait for a network says more, whatever the number of cores.
    fn reads_at_once(&self) -> usize {
        1
    }

    /// Creates a table.
    ///
    /// # Errors
    ///
    /// `AlreadyExists`; `Invalid` or `Limit` for a bad name, rule or split point.
    fn create_table(&self, table: &str, config: &TableConfig) -> Result<()>;

    /// Drops a table and its rows.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Conflict` if it is protected.
    fn drop_table(&self, table: &str) -> Result<()>;

    /// Gives a table another name, all or nothing: its rows, design, tablets and what was counted on them stay. Protected tables as well.
    /// Reads that are under way on the old name go on.
    ///
    /// # Errors
    ///
    /// `NotFound`; `AlreadyExists` if there is a table `to`; `Invalid` or `Limit` for a bad name.
    fn rename_table(&self, from: &str, to: &str) -> Result<()>;

    /// The names of all tables, ascending.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    fn list_tables(&self) -> Result<Vec<String>>;

    /// The design of a table, its split points as they are now.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    fn table_config(&self, table: &str) -> Result<TableConfig>;

    /// Changes families, all or none, and answers with the new design.
    ///
    /// # Errors
    ///
    /// `NotFound`, `AlreadyExists`, `Conflict` (protected table), `Invalid`, `Limit`.
    fn modify_families(&self, table: &str, changes: &[FamilyChange]) -> Result<TableConfig>;

    /// Sets or removes one annotation of a table.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn annotate_table(&self, table: &str, name: &str, content: Option<Bytes>) -> Result<()>;

    /// Switches deletion protection.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn protect_table(&self, table: &str, protected: bool) -> Result<()>;

    /// Applies mutations. Each row is atomic; the rows are independent of each other, and two entries of one row apply in order.
    /// The answer has one result per entry, in order.
    ///
    /// # Errors
    ///
    /// `NotFound` for the table; `Unavailable` if nothing at all was written. What is wrong with one entry is in its result.
    fn mutate_rows(
        &self,
        table: &str,
        rows: Vec<RowMutation>,
        durability: Durability,
    ) -> Result<Vec<Result<()>>>;

    /// Reads a row and writes it, as one step. Answers whether the predicate matched. The predicate sees live cells only, so that the
    /// answer does not depend on when garbage was collected.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::mutate_rows`], and of its entry.
    fn check_and_mutate_row(&self, table: &str, request: &CheckAndMutate) -> Result<bool>;

    /// Reads the newest live cells of columns and writes new ones, as one step. Answers with the new cells of the changed columns.
    /// A new cell has the greater of `timestamp` and the newest cell's own.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::mutate_rows`]; `Conflict` for an increment of what is not 8 bytes.
    fn read_modify_write_row(
        &self,
        table: &str,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row>;

    /// A view of one table at this moment, for as many reads as one scan needs. Hold it no longer than the scan.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unavailable`.
    fn snapshot(&self, table: &str) -> Result<Arc<dyn Snapshot>>;

    /// Drops rows without reading them to the caller: all at once for readers.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Invalid` for an empty prefix.
    fn drop_rows(&self, table: &str, scope: &DropScope) -> Result<()>;

    /// Keys that cut the table into parts of about equal size, ascending; the last one is empty, the end of the table.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    fn sample_row_keys(&self, table: &str) -> Result<Vec<KeySample>>;

    /// The tablets of a table, ascending, without gaps.
    ///
    /// May read the table whole, to tell the truth about its parts.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn tablets(&self, table: &str) -> Result<Vec<TabletInfo>>;

    /// The tablets of a table as in [`Engine::tablets`], for those who ask often: `bytes` and `cells` are about right, what was counted is
    /// exact, and no row is read.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn tablet_counters(&self, table: &str) -> Result<Vec<TabletInfo>>;

    /// Cuts a tablet at `at`. Nothing happens if there is a split point already. What was counted on it stays with its first part.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Invalid` (empty key), `Unsupported`.
    fn split_tablet(&self, table: &str, at: &RowKey) -> Result<()>;

    /// Counts what garbage collection would keep and take now, by family.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn garbage(&self, table: &str) -> Result<Vec<GarbageReport>>;

    /// Collects garbage now and answers what it took.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Unsupported`.
    fn collect_garbage(&self, table: &str) -> Result<Vec<GarbageReport>>;

    /// Sizes and counts of the whole store. Cheap: no table is read.
    ///
    /// # Errors
    ///
    /// `Unsupported`, which is the default; `Unavailable`.
    fn statistics(&self) -> Result<Statistics> {
        let message = format!("{} has no statistics", self.description());
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Puts all acknowledged writes on disk.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    fn sync(&self) -> Result<()>;
}

/// A table at one moment: its rows, its families and their rules. What is `live` is decided at the moment of each read. An engine that has no such thing (Bigtable, `HBase`) reads at the moment of each call, and says so.
pub trait Snapshot: Send + Sync + std::fmt::Debug {
    /// Reads rows.
    ///
    /// # Errors
    ///
    /// `NotFound` for a family, `Invalid`, `Unsupported`; later errors come through the stream, which then ends.
    fn read_rows(&self, request: &ReadRequest) -> Result<RowStream>;
}

/// A shared engine is an engine: so wrappers can be put around one.
impl<E: Engine + ?Sized> Engine for Arc<E> {
    fn description(&self) -> String {
        (**self).description()
    }

    fn reads_at_once(&self) -> usize {
        (**self).reads_at_once()
    }

    fn create_table(&self, table: &str, config: &TableConfig) -> Result<()> {
        (**self).create_table(table, config)
    }

    fn drop_table(&self, table: &str) -> Result<()> {
        (**self).drop_table(table)
    }

    fn rename_table(&self, from: &str, to: &str) -> Result<()> {
        (**self).rename_table(from, to)
    }

    fn list_tables(&self) -> Result<Vec<String>> {
        (**self).list_tables()
    }

    fn table_config(&self, table: &str) -> Result<TableConfig> {
        (**self).table_config(table)
    }

    fn modify_families(&self, table: &str, changes: &[FamilyChange]) -> Result<TableConfig> {
        (**self).modify_families(table, changes)
    }

    fn annotate_table(&self, table: &str, name: &str, content: Option<Bytes>) -> Result<()> {
        (**self).annotate_table(table, name, content)
    }

    fn protect_table(&self, table: &str, protected: bool) -> Result<()> {
        (**self).protect_table(table, protected)
    }

    fn mutate_rows(
        &self,
        table: &str,
        rows: Vec<RowMutation>,
        durability: Durability,
    ) -> Result<Vec<Result<()>>> {
        (**self).mutate_rows(table, rows, durability)
    }

    fn check_and_mutate_row(&self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        (**self).check_and_mutate_row(table, request)
    }

    fn read_modify_write_row(
        &self,
        table: &str,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row> {
        (**self).read_modify_write_row(table, key, rules, timestamp)
    }

    fn snapshot(&self, table: &str) -> Result<Arc<dyn Snapshot>> {
        (**self).snapshot(table)
    }

    fn drop_rows(&self, table: &str, scope: &DropScope) -> Result<()> {
        (**self).drop_rows(table, scope)
    }

    fn sample_row_keys(&self, table: &str) -> Result<Vec<KeySample>> {
        (**self).sample_row_keys(table)
    }

    fn tablets(&self, table: &str) -> Result<Vec<TabletInfo>> {
        (**self).tablets(table)
    }

    fn tablet_counters(&self, table: &str) -> Result<Vec<TabletInfo>> {
        (**self).tablet_counters(table)
    }

    fn split_tablet(&self, table: &str, at: &RowKey) -> Result<()> {
        (**self).split_tablet(table, at)
    }

    fn garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        (**self).garbage(table)
    }

    fn collect_garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        (**self).collect_garbage(table)
    }

    fn statistics(&self) -> Result<Statistics> {
        (**self).statistics()
    }

    fn sync(&self) -> Result<()> {
        (**self).sync()
    }
}
