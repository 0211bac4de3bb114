//! Tables that were deleted: set aside for 7 days under a name of the server's own, so that they can be undeleted.
//!
//! Those whose time is over are dropped when the catalog is opened, and whenever a table is deleted or undeleted.

use super::name::TableName;
use super::rows::{Columns, Rows, SYSTEM_TABLE};
use super::shelf::corrupt;
use super::tables::{self, TableEntry};
use bytes::Bytes;
use rowkey_store::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of deleted tables.
const PREFIX: &str = "deleted/";
/// How long they are kept, 7 days (`UndeleteTable`).
const KEPT_US: i64 = 7 * 24 * 60 * 60 * 1_000_000;
/// Deleted tables that are kept, the newest; ours. Test suites that create and delete tables all day must not fill the disk.
const KEPT_MAX: usize = 100;
/// The column of the client's name.
const NAME: &str = "name";
/// The column of the time of deletion, in microseconds since the epoch.
const TIME: &str = "time_us";

/// A table that was deleted.
#[derive(Debug, Clone)]
pub(super) struct Deleted {
    pub(super) name: TableName,
    /// As it was; the engine's name is the one before.
    pub(super) entry: TableEntry,
    pub(super) time_us: i64,
}

/// Deleted tables by number, which ascends.
#[derive(Debug, Default)]
pub(super) struct DeletedTables {
    by_number: BTreeMap<u64, Deleted>,
}

impl DeletedTables {
    /// Reads the rows, and removes those whose table is not there.
    pub(super) fn open(rows: &Rows, engine_tables: &BTreeSet<String>) -> Result<Self> {
        let mut by_number = BTreeMap::new();
        let mut stale = Vec::new();
        for (number, columns) in rows.scan(PREFIX)? {
            let key = format!("{PREFIX}{number}");
            let number = number.parse().map_err(|_| corrupt(&key, "its key has no number"))?;
            if engine_tables.contains(&engine_name(number)) {
                by_number.insert(number, read(&key, columns)?);
            } else {
                stale.push(key);
            }
        }
        rows.remove(stale.iter().map(String::as_str))?;
        Ok(Self { by_number })
    }

    /// A number that is free.
    pub(super) fn next(&self) -> u64 {
        self.by_number.last_key_value().map_or(1, |(last, _)| last.saturating_add(1))
    }

    pub(super) fn insert(&mut self, number: u64, deleted: Deleted) {
        self.by_number.insert(number, deleted);
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.by_number.remove(&number);
    }

    /// The newest one of this name.
    pub(super) fn find(&self, name: &TableName) -> Option<(u64, Deleted)> {
        let mut newest = self.by_number.iter().rev().filter(|(_, deleted)| deleted.name == *name);
        newest.next().map(|(number, deleted)| (*number, deleted.clone()))
    }

    /// Those whose time is over, and the oldest ones beyond the number that is kept.
    pub(super) fn due(&self, now_us: i64) -> Vec<u64> {
        let many = self.by_number.len().saturating_sub(KEPT_MAX);
        let due =
            self.by_number.iter().enumerate().filter(|(nth, (_, deleted))| {
                *nth < many || deleted.time_us.saturating_add(KEPT_US) <= now_us
            });
        due.map(|(_, (number, _))| *number).collect()
    }
}

/// The engine's name of a deleted table.
pub(super) fn engine_name(number: u64) -> String {
    format!("{SYSTEM_TABLE}.deleted.{number}")
}

/// The row key of a deleted table.
pub(super) fn row_key(number: u64) -> String {
    format!("{PREFIX}{number:020}")
}

/// The columns of its row.
pub(super) fn columns(deleted: &Deleted) -> Vec<(&'static str, Bytes)> {
    let mut columns = Vec::from(tables::columns(&deleted.entry));
    columns.push((NAME, Bytes::from(deleted.name.to_string())));
    columns.push((TIME, Bytes::from(deleted.time_us.to_string())));
    columns
}

fn read(key: &str, mut columns: Columns) -> Result<Deleted> {
    let mut text = |column| {
        let content = columns.remove(column).and_then(|content| String::from_utf8(content.into()).ok());
        content.ok_or_else(|| corrupt(key, "a column is missing"))
    };
    let (name, time_us) = (text(NAME)?, text(TIME)?);
    let name = TableName::parse(&name).map_err(|_| corrupt(key, "it has no name of a table"))?;
    let time_us = time_us.parse().map_err(|_| corrupt(key, "it has no time"))?;
    Ok(Deleted { name, entry: tables::read(key, columns)?, time_us })
}
