//! The engine in memory: the oracle that other engines are compared with. It is written to be obviously right, not fast.
//!
//! Garbage goes only when it is collected by name, or with a delete (the rule of [`crate::Mutation::DeleteFromColumn`]). Nothing
//! survives the process, so that both kinds of [`Durability`] are the same here.

mod stream;
mod table;

use crate::check;
use crate::{
    CheckAndMutate, Clock, DropScope, Durability, Engine, FamilyChange, GarbageReport, KeySample,
    ReadModifyWrite, ReadRequest, Result, Row, RowKey, RowMutation, RowStream, Snapshot, Statistics,
    TableConfig, TabletInfo, Timestamp,
};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use table::Table;

/// Tables in memory.
///
/// ```
/// use rowkey_store::{Engine, EngineExt, ManualClock, memory::MemoryEngine};
/// use std::sync::Arc;
///
/// let engine = MemoryEngine::new(Arc::new(ManualClock::new(0)));
/// engine.create("telemetry", &[("metrics", "maxversions=1")])?;
/// engine.set_cells("telemetry", b"truck#07", &[("metrics", b"speed", 1_000, b"82")])?;
/// let row = engine.read_row("telemetry", b"truck#07")?.expect("it was written");
/// assert_eq!(row.cells[0].value, "82");
/// # Ok::<(), rowkey_store::Error>(())
/// ```
#[derive(Debug)]
pub struct MemoryEngine {
    clock: Arc<dyn Clock>,
    tables: RwLock<BTreeMap<String, Table>>,
}

impl MemoryEngine {
    /// An engine without tables.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tables: RwLock::default() }
    }

    fn with<T>(&self, table: &str, look: impl FnOnce(&Table) -> T) -> Result<T> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(table).map(look).ok_or_else(|| check::table_missing(table))
    }

    fn change<T>(&self, table: &str, change: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        // A panic under the lock could only come from a broken invariant of this module, and rows change by whole rows.
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        change(tables.get_mut(table).ok_or_else(|| check::table_missing(table))?)
    }
}

impl Engine for MemoryEngine {
    fn description(&self) -> String {
        "the store in memory".to_owned()
    }

    fn create_table(&self, table: &str, config: &TableConfig) -> Result<()> {
        let config = check::new_table(table, config)?;
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.contains_key(table) {
            return Err(check::table_exists(table));
        }
        tables.insert(table.to_owned(), Table::new(table, config));
        Ok(())
    }

    fn drop_table(&self, table: &str) -> Result<()> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let known = tables.get(table).ok_or_else(|| check::table_missing(table))?;
        check::drop_table(table, &known.config())?;
        tables.remove(table);
        Ok(())
    }

    fn rename_table(&self, from: &str, to: &str) -> Result<()> {
        check::new_name(to)?;
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.contains_key(from) && tables.contains_key(to) {
            return Err(check::table_exists(to));
        }
        let mut table = tables.remove(from).ok_or_else(|| check::table_missing(from))?;
        table.rename(to);
        tables.insert(to.to_owned(), table);
        Ok(())
    }

    fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.tables.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect())
    }

    fn table_config(&self, table: &str) -> Result<TableConfig> {
        self.with(table, Table::config)
    }

    fn modify_families(&self, table: &str, changes: &[FamilyChange]) -> Result<TableConfig> {
        self.change(table, |known| {
            known.modify_families(changes)?;
            Ok(known.config())
        })
    }

    fn annotate_table(&self, table: &str, name: &str, content: Option<Bytes>) -> Result<()> {
        self.change(table, |known| {
            check::annotation(table, name, content.as_ref())?;
            known.annotate(name, content);
            Ok(())
        })
    }

    fn protect_table(&self, table: &str, protected: bool) -> Result<()> {
        self.change(table, |known| {
            known.protect(protected);
            Ok(())
        })
    }

    fn mutate_rows(&self, table: &str, rows: Vec<RowMutation>, _: Durability) -> Result<Vec<Result<()>>> {
        self.change(table, |known| {
            check::mutate_rows(table, &rows)?;
            let now_us = self.clock.now_us();
            Ok(rows.iter().map(|row| known.mutate(row, now_us)).collect())
        })
    }

    fn check_and_mutate_row(&self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        self.change(table, |known| known.check_and_mutate(request, self.clock.now_us()))
    }

    fn read_modify_write_row(
        &self,
        table: &str,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row> {
        self.change(table, |known| known.read_modify_write(key, rules, timestamp, self.clock.now_us()))
    }

    fn snapshot(&self, table: &str) -> Result<Arc<dyn Snapshot>> {
        self.with(table, |known| {
            let snapshot = MemorySnapshot { table: known.clone(), clock: Arc::clone(&self.clock) };
            Arc::new(snapshot) as Arc<dyn Snapshot>
        })
    }

    fn drop_rows(&self, table: &str, scope: &DropScope) -> Result<()> {
        self.change(table, |known| {
            check::drop_scope(table, scope)?;
            known.drop_rows(scope);
            Ok(())
        })
    }

    fn sample_row_keys(&self, table: &str) -> Result<Vec<KeySample>> {
        self.with(table, Table::sample_row_keys)
    }

    fn tablets(&self, table: &str) -> Result<Vec<TabletInfo>> {
        self.with(table, Table::tablets)
    }

    fn tablet_counters(&self, table: &str) -> Result<Vec<TabletInfo>> {
        self.with(table, Table::tablet_counters)
    }

    fn split_tablet(&self, table: &str, at: &RowKey) -> Result<()> {
        self.change(table, |known| {
            check::split_point(table, at)?;
            known.split(at);
            Ok(())
        })
    }

    fn garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        self.with(table, |known| known.garbage(self.clock.now_us()))
    }

    fn collect_garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        self.change(table, |known| Ok(known.collect_garbage(self.clock.now_us())))
    }

    fn statistics(&self) -> Result<Statistics> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let tablets = || tables.values().flat_map(Table::tablet_counters);
        Ok(Statistics {
            tables: tables.len() as u64,
            tablets: tablets().count() as u64,
            memtable_bytes: tablets().map(|tablet| tablet.bytes).sum(),
            ..Statistics::default()
        })
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// A copy of a table: rows and counters are shared until they change.
#[derive(Debug)]
struct MemorySnapshot {
    table: Table,
    clock: Arc<dyn Clock>,
}

impl Snapshot for MemorySnapshot {
    fn read_rows(&self, request: &ReadRequest) -> Result<RowStream> {
        self.table.read_rows(request, self.clock.now_us())
    }
}

#[cfg(test)]
mod tests;
