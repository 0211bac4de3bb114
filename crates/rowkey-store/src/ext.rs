//! What callers like to write, in terms of the few methods of [`Engine`].

use crate::{
    Durability, Engine, FamilyConfig, Mutation, ReadRequest, Result, Row, RowKey, RowMutation, RowRange,
    RowStream, TableConfig, Timestamp, ValueType, gc,
};
use bytes::Bytes;

/// Conveniences on every engine.
pub trait EngineExt: Engine {
    /// Creates a table of these families, each with its garbage-collection rule as text (`never`, `maxversions=1`).
    ///
    /// # Errors
    ///
    /// Those of [`Engine::create_table`] and [`gc::parse_rule`].
    fn create(&self, table: &str, families: &[(&str, &str)]) -> Result<()> {
        let families = families.iter().map(|(name, rule)| {
            let gc_rule = gc::parse_rule(rule)?;
            Ok(FamilyConfig { name: (*name).to_owned(), gc_rule, value_type: ValueType::Bytes })
        });
        let config = TableConfig { families: families.collect::<Result<_>>()?, ..TableConfig::default() };
        self.create_table(table, &config)
    }

    /// Applies the mutations of one row, acknowledged when they are on disk.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::mutate_rows`], and of the row.
    fn mutate_row(&self, table: &str, key: impl Into<RowKey>, mutations: Vec<Mutation>) -> Result<()> {
        self.mutate_all(table, vec![RowMutation { key: key.into(), mutations }], Durability::Synced)
    }

    /// Applies mutations and answers with the first error of any row. Rows before and behind it are written.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::mutate_rows`], and of the rows.
    fn mutate_all(&self, table: &str, rows: Vec<RowMutation>, durability: Durability) -> Result<()> {
        self.mutate_rows(table, rows, durability)?.into_iter().collect()
    }

    /// Writes cells of one row: family, qualifier, microseconds, value.
    ///
    /// # Errors
    ///
    /// Those of [`EngineExt::mutate_row`].
    fn set_cells(&self, table: &str, key: &[u8], cells: &[(&str, &[u8], i64, &[u8])]) -> Result<()> {
        let mutations = cells.iter().map(|&(family, qualifier, timestamp_us, value)| {
            let (qualifier, value) = (Bytes::copy_from_slice(qualifier), Bytes::copy_from_slice(value));
            Mutation::set(family, qualifier, Timestamp::Micros(timestamp_us), value)
        });
        let row = RowMutation { key: RowKey::copy_from_slice(key), mutations: mutations.collect() };
        self.mutate_all(table, vec![row], Durability::Synced)
    }

    /// Reads rows from a snapshot of their own.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::snapshot`] and [`crate::Snapshot::read_rows`].
    fn read_rows(&self, table: &str, request: &ReadRequest) -> Result<RowStream> {
        self.snapshot(table)?.read_rows(request)
    }

    /// Reads rows into memory.
    ///
    /// # Errors
    ///
    /// Those of [`EngineExt::read_rows`], and of the stream.
    fn read_all(&self, table: &str, request: &ReadRequest) -> Result<Vec<Row>> {
        self.read_rows(table, request)?.collect()
    }

    /// Reads one row whole, `None` if it has no cell.
    ///
    /// # Errors
    ///
    /// Those of [`EngineExt::read_rows`], and of the stream.
    fn read_row(&self, table: &str, key: &[u8]) -> Result<Option<Row>> {
        self.read_rows(table, &ReadRequest::of(RowRange::key(key)))?.next().transpose()
    }
}

impl<E: Engine + ?Sized> EngineExt for E {}
