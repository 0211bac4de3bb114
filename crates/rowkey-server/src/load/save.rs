//! The history of load in the server's own table: one row for each table and minute, after some hours one for each quarter of an hour, for 14
//! days. `docs/formats/load.md`; what a value holds is in `history.rs`.
//!
//! ```text
//! row key: load/TABLE/15m/QUARTER   load/TABLE/1m/MINUTE      since the epoch, 12 digits
//! column:  load:v, its time is the beginning of the period
//! ```
//!
//! Minutes become a quarter of an hour in two steps, either of which may be the last before a crash: the quarter is written, then its
//! minutes are deleted. A minute whose quarter is there counts for nothing.

use super::Load;
use super::history::History;
use super::hot::{MINUTE_MS, QUARTER_MS};
use super::table::Table;
use crate::catalog::{LOAD_FAMILY, SYSTEM_TABLE, ensure_system_table};
use crate::lock::{lock, write};
use bytes::Bytes;
use rowkey_store::escape::escaped;
use rowkey_store::{
    ColumnSelection, DropScope, Durability, Engine, EngineExt, Mutation, ReadRequest, Result, Row,
    RowMutation, RowRange, Selection, Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The column.
const QUALIFIER: &[u8] = b"v";
/// Ranges that are kept of one minute, of all tables together, and of one.
const RANGES_MAX: usize = 4_096;
const RANGES_OF_TABLE: std::ops::RangeInclusive<usize> = 8..=256;
/// How long minutes are kept: a little longer than the map shows them.
const MINUTES_KEPT_MS: i64 = 11 * 3_600_000;
/// Rows that are written at once.
const BATCH_ROWS: usize = 500;

/// How long the period of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Quarter,
    Minute,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Self::Quarter => "15m",
            Self::Minute => "1m",
        }
    }

    fn minutes(self) -> i64 {
        match self {
            Self::Quarter => QUARTER_MS / MINUTE_MS,
            Self::Minute => 1,
        }
    }
}

/// Which table and period a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowName {
    table: String,
    tier: Tier,
    number: i64,
}

impl RowName {
    fn parse(key: &[u8]) -> Option<Self> {
        let rest = std::str::from_utf8(key).ok()?.strip_prefix("load/")?;
        let (rest, number) = rest.rsplit_once('/')?;
        let (table, tier) = rest.rsplit_once('/')?;
        let tier = [Tier::Quarter, Tier::Minute].into_iter().find(|known| known.name() == tier)?;
        let number = number.parse().ok().filter(|number| (0..1 << 40).contains(number))?;
        Some(Self { table: table.to_owned(), tier, number })
    }

    fn key(&self) -> String {
        format!("{}{:012}", tier_prefix(&self.table, self.tier), self.number)
    }

    fn row(&self, history: &History) -> RowMutation {
        let start_us = self.number.saturating_mul(self.tier.minutes()).saturating_mul(MINUTE_MS * 1_000);
        let set = Mutation::set(LOAD_FAMILY, QUALIFIER, Timestamp::Micros(start_us), history.encode());
        RowMutation { key: self.key().into(), mutations: vec![set] }
    }
}

fn table_prefix(table: &str) -> String {
    format!("load/{table}/")
}

fn tier_prefix(table: &str, tier: Tier) -> String {
    format!("{}{}/", table_prefix(table), tier.name())
}

impl Load {
    /// Puts what was recorded into the store. For the end of a server; while it runs, that is done every minute. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn save(&self, engine: &dyn Engine) -> Result<()> {
        // The same one without its layers.
        let _ = engine;
        self.fold();
        self.save_minutes(self.now_ms(), true)
    }

    /// Saves the minutes that are over, and with `is_last` the open one as far as it is.
    pub(super) fn save_minutes(&self, now_ms: i64, is_last: bool) -> Result<()> {
        let open = now_ms.div_euclid(MINUTE_MS);
        let until = if is_last { open.saturating_add(1) } else { open };
        let tables = self.all();
        let active =
            tables.iter().filter(|(_, table)| !lock(table).minutes_to_save(until).is_empty()).count();
        let ranges_max = (RANGES_MAX / active.max(1)).clamp(*RANGES_OF_TABLE.start(), *RANGES_OF_TABLE.end());
        let entries_max = HOT_ENTRIES_MAX / tables.len().max(4);
        for group in tables.chunks(BATCH_ROWS / 4) {
            let mut rows = Vec::new();
            for (name, table) in group {
                let mut table = lock(table);
                table.close(now_ms);
                table.hot.forget(now_ms, entries_max);
                if let Some(detail) = &mut table.detail {
                    detail.sample.forget(open);
                }
                for number in table.minutes_to_save(until) {
                    let history = table.history(number, ranges_max);
                    rows.push(RowName { table: name.clone(), tier: Tier::Minute, number }.row(&history));
                }
                table.seal(open);
            }
            self.write(rows)?;
            for (_, table) in group {
                lock(table).saved(open);
            }
        }
        Ok(())
    }

    fn write(&self, rows: Vec<RowMutation>) -> Result<()> {
        let count = rows.len() as u64;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let batch = rows.by_ref().take(BATCH_ROWS).collect();
            self.engine.mutate_all(SYSTEM_TABLE, batch, Durability::Buffered)?;
        }
        lock(&self.counters).saves += count;
        Ok(())
    }

    /// Reads history back.
    pub(super) fn read_back(&self) -> Result<()> {
        ensure_system_table(&*self.engine)?;
        let there: BTreeSet<String> = self.engine.list_tables()?.into_iter().collect();
        let now_ms = self.now_ms();
        let mut gone: BTreeSet<String> = BTreeSet::new();
        let mut quarters: BTreeSet<i64> = BTreeSet::new();
        let mut current: Option<(String, Arc<Mutex<Table>>)> = None;
        for (name, value) in self.rows(&RowRange::prefix(b"load/"))? {
            if !there.contains(&name.table) {
                gone.insert(name.table);
                continue;
            }
            if current.as_ref().is_none_or(|(table, _)| *table != name.table) {
                quarters.clear();
                self.keep_within_memory();
                let table = self.table(&name.table);
                current = Some((name.table.clone(), table));
            }
            let Some((_, table)) = &current else { continue };
            match name.tier {
                Tier::Quarter => drop(quarters.insert(name.number)),
                Tier::Minute if quarters.contains(&quarter(name.number)) => continue,
                Tier::Minute => {}
            }
            if let Some(history) = self.decode(&name, &value) {
                let minutes = name.tier.minutes();
                let start = name.number.saturating_mul(minutes);
                lock(table).restore(start, minutes, &history, now_ms, self.size());
            }
        }
        self.keep_within_memory();
        for table in gone {
            self.drop_history(&table)?;
        }
        Ok(())
    }

    /// Rows of history that are not expired, in order. What is no such row is passed over.
    fn rows(&self, range: &RowRange) -> Result<Vec<(RowName, Bytes)>> {
        let columns = ColumnSelection::Only(vec![(LOAD_FAMILY.to_owned(), None)]);
        let selection = Selection { columns, versions_max: Some(1), times_us: None };
        let request = ReadRequest { selection, live: true, ..ReadRequest::of(range.clone()) };
        let mut found = Vec::new();
        for row in self.engine.read_rows(SYSTEM_TABLE, &request)? {
            let Row { key, mut cells } = row?;
            match (RowName::parse(&key), cells.pop()) {
                (Some(name), Some(cell)) => found.push((name, cell.value)),
                _ => self.skip(&key, "its key is not known"),
            }
        }
        Ok(found)
    }

    fn decode(&self, name: &RowName, value: &[u8]) -> Option<History> {
        History::decode(value).map_err(|error| self.skip(name.key().as_bytes(), &error)).ok()
    }

    fn skip(&self, key: &[u8], why: &str) {
        lock(&self.counters).rows_skipped += 1;
        tracing::warn!("the history of load in row `{}` is passed over: {why}", escaped(key));
    }

    /// Makes quarters of an hour of old minutes.
    pub(super) fn compact(&self, now_ms: i64) -> Result<()> {
        let first_kept = now_ms.saturating_sub(MINUTES_KEPT_MS).div_euclid(QUARTER_MS);
        for (table, _) in self.all() {
            let start = tier_prefix(&table, Tier::Minute);
            let first_kept_minute = first_kept.saturating_mul(Tier::Quarter.minutes()).max(0);
            let end = RowName { table: table.clone(), tier: Tier::Minute, number: first_kept_minute }.key();
            let range = RowRange { start: start.into(), end: Some(end.into()) };
            let mut merged: BTreeMap<i64, History> = BTreeMap::new();
            let mut old = Vec::new();
            for (name, value) in self.rows(&range)? {
                // What cannot be read stays until it expires: another version may read it.
                let Some(history) = self.decode(&name, &value) else { continue };
                let minute = name.number.rem_euclid(Tier::Quarter.minutes()).unsigned_abs();
                merged.entry(quarter(name.number)).or_default().merge(minute, history);
                old.push(RowMutation { key: name.key().into(), mutations: vec![Mutation::DeleteFromRow] });
            }
            let mut rows = Vec::new();
            for (number, mut history) in merged {
                let name = RowName { table: table.clone(), tier: Tier::Quarter, number };
                if self.engine.read_row(SYSTEM_TABLE, name.key().as_bytes())?.is_none() {
                    history.tidy(*RANGES_OF_TABLE.end());
                    rows.push(name.row(&history));
                }
            }
            self.write(rows)?;
            for batch in old.chunks(BATCH_ROWS) {
                self.engine.mutate_all(SYSTEM_TABLE, batch.to_vec(), Durability::Buffered)?;
            }
        }
        Ok(())
    }

    fn drop_history(&self, table: &str) -> Result<()> {
        self.engine.drop_rows(SYSTEM_TABLE, &DropScope::Prefix(table_prefix(table).into()))
    }

    /// To be called when a table has got another name: its record goes with it. Blocks.
    pub(crate) fn renamed(&self, from: &str, to: &str) {
        self.fold();
        {
            let mut tables = write(&self.tables);
            if let Some(table) = tables.remove(from) {
                tables.insert(to.to_owned(), table);
            }
        }
        let given = lock(&self.given).remove(from);
        if let Some(schema) = given {
            lock(&self.given).insert(to.to_owned(), schema);
        }
        let moved = self.rows(&RowRange::prefix(table_prefix(from).as_bytes())).and_then(|rows| {
            let rows = rows.into_iter().filter_map(|(name, value)| {
                let name = RowName { table: to.to_owned(), ..name };
                Some(name.row(&self.decode(&name, &value)?))
            });
            self.write(rows.collect())?;
            self.drop_history(from)
        });
        if let Err(error) = moved {
            tracing::warn!("the history of load of table `{from}`, now `{to}`, is incomplete: {error}");
        }
    }

    /// To be called when a table was dropped: its record is given up. Blocks.
    pub(crate) fn dropped(&self, table: &str) {
        self.fold();
        write(&self.tables).remove(table);
        lock(&self.given).remove(table);
        if let Err(error) = self.drop_history(table) {
            // Whoever starts the server next does it.
            tracing::warn!("the history of load of dropped table `{table}` stays for now: {error}");
        }
    }
}

/// Entries of the lists of hot tablets, of all tables together.
const HOT_ENTRIES_MAX: usize = 65_536;

/// The quarter of an hour of a minute.
fn quarter(minute: i64) -> i64 {
    minute.div_euclid(Tier::Quarter.minutes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rows_are_read_back_and_quarters_come_first() {
        let name = |tier, number| RowName { table: "a/b-1".to_owned(), tier, number };
        let (quarter, minute) = (name(Tier::Quarter, 7), name(Tier::Minute, 123_456));
        assert_eq!(quarter.key(), "load/a/b-1/15m/000000000007");
        assert!(quarter.key() < minute.key());
        for name in [quarter, minute] {
            assert_eq!(RowName::parse(name.key().as_bytes()), Some(name));
        }
        for wrong in [
            "load/t/2m/1",
            "load/t/1m/-1",
            "load/t/1m/",
            "load/1m/1x",
            "table/t",
            "load/t/1m/9999999999999999",
        ] {
            assert_eq!(RowName::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
