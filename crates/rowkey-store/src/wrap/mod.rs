//! Engines around engines: [`Recorded`] tells what is done, [`Throttled`] slows it down, [`Faulty`] makes it fail. Everything else
//! is forwarded as it is.
//!
//! All three are a [`Layer`] in the one [`Wrapped`] engine, which names each operation before and after it runs.

mod faulty;
mod recorded;
mod throttled;

pub use faulty::{Fault, Faults, When};
pub use recorded::{Record, Recorder};
pub use throttled::{Sleep, Throttle};

use crate::{
    CheckAndMutate, DropScope, Durability, Engine, ErrorKind, FamilyChange, GarbageReport, KeySample,
    Mutation, ReadModifyWrite, ReadRequest, Result, Row, RowKey, RowMutation, RowSet, RowStream, Snapshot,
    Statistics, TableConfig, TabletInfo, Timestamp,
};
use bytes::Bytes;
use std::sync::Arc;

/// An engine that tells what is done on it.
pub type Recorded<E> = Wrapped<E, Recorder>;
/// An engine that takes its time.
pub type Throttled<E> = Wrapped<E, Throttle>;
/// An engine that fails.
pub type Faulty<E> = Wrapped<E, Faults>;

/// What an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperationKind {
    /// Creates, drops, lists, describes or changes tables.
    Admin,
    /// [`Engine::mutate_rows`].
    Mutate,
    /// [`Engine::check_and_mutate_row`].
    CheckAndMutate,
    /// [`Engine::read_modify_write_row`].
    ReadModifyWrite,
    /// [`Snapshot::read_rows`], from the call to the end of its stream.
    Read,
    /// [`Engine::drop_rows`].
    DropRows,
    /// Counts or collects garbage, splits and lists tablets, samples keys, syncs.
    Maintenance,
}

/// The rows that an operation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// None in particular.
    Table,
    /// This row.
    Key(RowKey),
    /// These rows, in the order of the request.
    Keys(Vec<RowKey>),
    /// The rows of a read.
    Rows(RowSet),
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub kind: OperationKind,
    /// The table, empty where there is none.
    pub table: String,
    /// The rows.
    pub scope: Scope,
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Rows returned or written.
    pub rows: u64,
    /// Bytes of keys and values of those.
    pub bytes: u64,
    /// The row was deleted, and nothing was written in its place.
    pub deletes_row: bool,
    /// Of a read of several ranges: what came of each, in the order of [`RowSet::ranges`]. Else empty.
    pub parts: Vec<Part>,
    /// Of a read of one range that did not come to its end (a limit, an error, a reader that left): the key of the last row returned,
    /// beyond which nothing was read. Else `None`.
    pub last_key: Option<RowKey>,
    /// Whether a read returned rows in descending order.
    pub reversed: bool,
    /// The layer's time when it began.
    pub started_us: i64,
    /// Rows that were written together with this one, itself included: the time from beginning to end is that of all of them. 0 or 1: it
    /// was alone.
    pub batch_rows: u64,
    /// How it failed.
    pub error: Option<ErrorKind>,
}

/// What came of one range of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Rows returned.
    pub rows: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// What a wrapper does around operations.
pub trait Layer: Send + Sync + std::fmt::Debug {
    /// What is added to the description of the engine, as in "the store in memory, recorded".
    fn adjective(&self) -> &'static str;

    /// Before an operation. An error takes its place: nothing is done.
    ///
    /// # Errors
    ///
    /// Whatever the layer is for.
    fn before(&self, operation: &Operation) -> Result<()> {
        let _ = operation;
        Ok(())
    }

    /// Before a row of a read comes out, of which `rows` came already. An error takes its place and ends the stream.
    ///
    /// # Errors
    ///
    /// Whatever the layer is for.
    fn before_row(&self, operation: &Operation, rows: u64) -> Result<()> {
        let _ = (operation, rows);
        Ok(())
    }

    /// After an operation. Called once for each row of a [`OperationKind::Mutate`], and when the stream of a read ends or is dropped.
    fn after(&self, operation: &Operation, outcome: &Outcome) {
        let _ = (operation, outcome);
    }

    /// The layer's time, in microseconds.
    fn now_us(&self) -> i64 {
        0
    }
}

/// An engine inside a layer.
#[derive(Debug)]
pub struct Wrapped<E, L> {
    engine: E,
    layer: Arc<L>,
}

impl<E: Engine, L: Layer> Wrapped<E, L> {
    /// Puts a layer around an engine.
    pub fn new(engine: E, layer: L) -> Self {
        Self { engine, layer: Arc::new(layer) }
    }

    /// The engine inside.
    pub fn inner(&self) -> &E {
        &self.engine
    }

    /// The layer.
    pub fn layer(&self) -> &L {
        &self.layer
    }

    fn run<T>(
        &self,
        kind: OperationKind,
        table: &str,
        scope: Scope,
        run: impl FnOnce(&E) -> Result<T>,
        outcome: impl FnOnce(&T) -> Outcome,
    ) -> Result<T> {
        let operation = Operation { kind, table: table.to_owned(), scope };
        let started_us = self.layer.now_us();
        let result = self.layer.before(&operation).and_then(|()| run(&self.engine));
        let outcome = match &result {
            Ok(answer) => Outcome { started_us, ..outcome(answer) },
            Err(error) => Outcome { started_us, error: Some(error.kind()), ..Outcome::default() },
        };
        self.layer.after(&operation, &outcome);
        result
    }

    fn admin<T>(&self, table: &str, run: impl FnOnce(&E) -> Result<T>) -> Result<T> {
        self.run(OperationKind::Admin, table, Scope::Table, run, |_| Outcome::default())
    }

    fn maintain<T>(&self, table: &str, run: impl FnOnce(&E) -> Result<T>) -> Result<T> {
        self.run(OperationKind::Maintenance, table, Scope::Table, run, |_| Outcome::default())
    }
}

impl<E: Engine, L: Layer + 'static> Engine for Wrapped<E, L> {
    fn description(&self) -> String {
        format!("{}, {}", self.engine.description(), self.layer.adjective())
    }

    fn reads_at_once(&self) -> usize {
        self.engine.reads_at_once()
    }

    fn create_table(&self, table: &str, config: &TableConfig) -> Result<()> {
        self.admin(table, |engine| engine.create_table(table, config))
    }

    fn drop_table(&self, table: &str) -> Result<()> {
        self.admin(table, |engine| engine.drop_table(table))
    }

    fn rename_table(&self, from: &str, to: &str) -> Result<()> {
        self.admin(from, |engine| engine.rename_table(from, to))
    }

    fn list_tables(&self) -> Result<Vec<String>> {
        self.admin("", Engine::list_tables)
    }

    fn table_config(&self, table: &str) -> Result<TableConfig> {
        self.admin(table, |engine| engine.table_config(table))
    }

    fn modify_families(&self, table: &str, changes: &[FamilyChange]) -> Result<TableConfig> {
        self.admin(table, |engine| engine.modify_families(table, changes))
    }

    fn annotate_table(&self, table: &str, name: &str, content: Option<Bytes>) -> Result<()> {
        self.admin(table, |engine| engine.annotate_table(table, name, content))
    }

    fn protect_table(&self, table: &str, protected: bool) -> Result<()> {
        self.admin(table, |engine| engine.protect_table(table, protected))
    }

    fn mutate_rows(
        &self,
        table: &str,
        rows: Vec<RowMutation>,
        durability: Durability,
    ) -> Result<Vec<Result<()>>> {
        let keys: Vec<RowKey> = rows.iter().map(|row| row.key.clone()).collect();
        let outcomes: Vec<Outcome> = rows.iter().map(|row| written(row.key.len(), &row.mutations)).collect();
        let started_us = self.layer.now_us();
        let mut operation = Operation {
            kind: OperationKind::Mutate,
            table: table.to_owned(),
            scope: Scope::Keys(keys.clone()),
        };
        let results =
            (self.layer.before(&operation)).and_then(|()| self.engine.mutate_rows(table, rows, durability));
        match &results {
            Err(error) => {
                let outcome = Outcome { started_us, error: Some(error.kind()), ..Outcome::default() };
                self.layer.after(&operation, &outcome);
            }
            Ok(results) => {
                let batch_rows = results.len() as u64;
                for ((key, outcome), result) in keys.into_iter().zip(outcomes).zip(results) {
                    operation.scope = Scope::Key(key);
                    let outcome = match result {
                        Ok(()) => Outcome { started_us, batch_rows, ..outcome },
                        Err(error) => Outcome {
                            started_us,
                            batch_rows,
                            error: Some(error.kind()),
                            ..Outcome::default()
                        },
                    };
                    self.layer.after(&operation, &outcome);
                }
            }
        }
        results
    }

    fn check_and_mutate_row(&self, table: &str, request: &CheckAndMutate) -> Result<bool> {
        let scope = Scope::Key(request.key.clone());
        let outcome = |matched: &bool| {
            written(request.key.len(), if *matched { &request.then } else { &request.otherwise })
        };
        let run = |engine: &E| engine.check_and_mutate_row(table, request);
        self.run(OperationKind::CheckAndMutate, table, scope, run, outcome)
    }

    fn read_modify_write_row(
        &self,
        table: &str,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
    ) -> Result<Row> {
        let scope = Scope::Key(key.clone());
        let run = |engine: &E| engine.read_modify_write_row(table, key, rules, timestamp);
        let outcome = |row: &Row| Outcome { rows: 1, bytes: row_bytes(row), ..Outcome::default() };
        self.run(OperationKind::ReadModifyWrite, table, scope, run, outcome)
    }

    fn snapshot(&self, table: &str) -> Result<Arc<dyn Snapshot>> {
        let snapshot = self.engine.snapshot(table)?;
        Ok(Arc::new(WrappedSnapshot { snapshot, layer: Arc::clone(&self.layer), table: table.to_owned() }))
    }

    fn drop_rows(&self, table: &str, scope: &DropScope) -> Result<()> {
        let run = |engine: &E| engine.drop_rows(table, scope);
        self.run(OperationKind::DropRows, table, Scope::Table, run, |()| Outcome::default())
    }

    fn sample_row_keys(&self, table: &str) -> Result<Vec<KeySample>> {
        self.maintain(table, |engine| engine.sample_row_keys(table))
    }

    fn tablets(&self, table: &str) -> Result<Vec<TabletInfo>> {
        self.maintain(table, |engine| engine.tablets(table))
    }

    fn tablet_counters(&self, table: &str) -> Result<Vec<TabletInfo>> {
        self.maintain(table, |engine| engine.tablet_counters(table))
    }

    fn split_tablet(&self, table: &str, at: &RowKey) -> Result<()> {
        self.maintain(table, |engine| engine.split_tablet(table, at))
    }

    fn garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        self.maintain(table, |engine| engine.garbage(table))
    }

    fn collect_garbage(&self, table: &str) -> Result<Vec<GarbageReport>> {
        self.maintain(table, |engine| engine.collect_garbage(table))
    }

    fn statistics(&self) -> Result<Statistics> {
        self.maintain("", Engine::statistics)
    }

    fn sync(&self) -> Result<()> {
        self.maintain("", Engine::sync)
    }
}

#[derive(Debug)]
struct WrappedSnapshot<L> {
    snapshot: Arc<dyn Snapshot>,
    layer: Arc<L>,
    table: String,
}

impl<L: Layer + 'static> Snapshot for WrappedSnapshot<L> {
    fn read_rows(&self, request: &ReadRequest) -> Result<RowStream> {
        let scope = Scope::Rows(request.rows.clone());
        let operation = Operation { kind: OperationKind::Read, table: self.table.clone(), scope };
        let ranges = request.rows.ranges().len();
        let parts = if ranges > 1 { vec![Part::default(); ranges] } else { Vec::new() };
        let outcome = Outcome {
            parts,
            reversed: request.reversed,
            started_us: self.layer.now_us(),
            ..Outcome::default()
        };
        let rows = self.layer.before(&operation).and_then(|()| self.snapshot.read_rows(request));
        match rows {
            Ok(rows) => {
                let layer = Arc::clone(&self.layer);
                let rows_max = request.rows_max.unwrap_or(u64::MAX);
                Ok(Box::new(WrappedStream { rows: Some(rows), layer, operation, outcome, rows_max }))
            }
            Err(error) => {
                self.layer.after(&operation, &Outcome { error: Some(error.kind()), ..outcome });
                Err(error)
            }
        }
    }
}

struct WrappedStream<L: Layer> {
    /// `None` once the stream has ended.
    rows: Option<RowStream>,
    layer: Arc<L>,
    operation: Operation,
    outcome: Outcome,
    rows_max: u64,
}

impl<L: Layer> WrappedStream<L> {
    fn count(&mut self, row: &Row) {
        let bytes = row_bytes(row);
        self.outcome.rows += 1;
        self.outcome.bytes += bytes;
        if self.outcome.parts.is_empty() {
            self.outcome.last_key = Some(row.key.clone());
        } else if let Scope::Rows(rows) = &self.operation.scope {
            let behind = rows.ranges().partition_point(|range| range.start <= *row.key);
            if let Some(part) = behind.checked_sub(1).and_then(|at| self.outcome.parts.get_mut(at)) {
                part.rows += 1;
                part.bytes += bytes;
            }
        }
    }

    fn end(&mut self, error: Option<ErrorKind>) {
        if self.rows.take().is_some() {
            self.outcome.error = error;
            self.layer.after(&self.operation, &self.outcome);
        }
    }
}

impl<L: Layer> Iterator for WrappedStream<L> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows.as_mut()?;
        let next = match self.layer.before_row(&self.operation, self.outcome.rows) {
            Ok(()) => rows.next(),
            Err(error) => Some(Err(error)),
        };
        match &next {
            Some(Ok(row)) => self.count(row),
            Some(Err(error)) => self.end(Some(error.kind())),
            None => {
                if self.outcome.rows < self.rows_max {
                    self.outcome.last_key = None;
                }
                self.end(None);
            }
        }
        next
    }
}

impl<L: Layer> Drop for WrappedStream<L> {
    fn drop(&mut self) {
        self.end(None);
    }
}

fn row_bytes(row: &Row) -> u64 {
    let values: usize = row.cells.iter().map(|cell| cell.value.len()).sum();
    (row.key.len() + values) as u64
}

/// What comes of the mutations of a row when they are taken.
fn written(key_len: usize, mutations: &[Mutation]) -> Outcome {
    let last = mutations.iter().rposition(|mutation| matches!(mutation, Mutation::DeleteFromRow));
    let behind = last.map(|at| &mutations[at + 1..]);
    let writes = |mutation: &Mutation| {
        matches!(
            mutation,
            Mutation::SetCell { .. } | Mutation::AddToCell { .. } | Mutation::MergeToCell { .. }
        )
    };
    let deletes_row = behind.is_some_and(|behind| !behind.iter().any(writes));
    let values = mutations.iter().map(Mutation::value_bytes).sum::<u64>();
    Outcome { rows: 1, bytes: key_len as u64 + values, deletes_row, ..Outcome::default() }
}

#[cfg(test)]
mod tests;
