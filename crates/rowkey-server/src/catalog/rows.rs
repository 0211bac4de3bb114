//! The server's own table: `_rowkey`, one row a resource.
//!
//! ```text
//! row key                 family   columns
//! table/P/I/T             catalog  engine: the engine's table, shared, message: what the engine has no place for (admin.v2.Table)
//! deleted/N               catalog  engine: its name before, name: P/I/T, owned, time_us, message
//! KIND/RESOURCE NAME      catalog  message: the resource (instance, cluster, profile, policy, operation)
//! load/...                load     the history of load, not kept here
//! ```
//!
//! A row is written whole, on disk before the answer. Nothing here decides what rows mean.

use bytes::Bytes;
use rowkey_store::{
    ColumnSelection, Durability, Engine, EngineExt, ErrorKind, FamilyChange, FamilyConfig, GcRule, Mutation,
    ReadRequest, Result, RowMutation, RowRange, Selection, TableConfig, Timestamp, ValueType,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The server's own table. Tables whose name begins like this belong to the server: no request sees them.
pub(crate) const SYSTEM_TABLE: &str = "_rowkey";
/// The family of the catalog.
const CATALOG_FAMILY: &str = "catalog";
/// The family in which the history of load is kept for 14 days, in rows that begin with `load/` (`docs/formats/load.md`).
pub(crate) const LOAD_FAMILY: &str = "load";

/// Columns of one row, by qualifier.
pub(super) type Columns = BTreeMap<String, Bytes>;

/// Creates the server's own table, or what it lacks.
///
/// # Errors
///
/// Those of the engine.
pub(crate) fn ensure_system_table(engine: &dyn Engine) -> Result<()> {
    let newest = GcRule::MaxVersions(1);
    let for_14_days = GcRule::Union(vec![GcRule::MaxAge(Duration::from_secs(14 * 86_400)), newest.clone()]);
    let families = [(CATALOG_FAMILY, newest), (LOAD_FAMILY, for_14_days)].map(|(name, rule)| FamilyConfig {
        name: name.to_owned(),
        gc_rule: Some(rule),
        value_type: ValueType::Bytes,
    });
    match engine.table_config(SYSTEM_TABLE) {
        Ok(config) => {
            let lacks = |family: &FamilyConfig| config.families.iter().all(|known| known.name != family.name);
            let changes: Vec<FamilyChange> =
                families.into_iter().filter(lacks).map(FamilyChange::Create).collect();
            if changes.is_empty() {
                return Ok(());
            }
            engine.modify_families(SYSTEM_TABLE, &changes).map(drop)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let config = TableConfig { families: families.into(), ..TableConfig::default() };
            engine.create_table(SYSTEM_TABLE, &config)
        }
        Err(error) => Err(error),
    }
}

/// Rows of the catalog.
#[derive(Debug)]
pub(super) struct Rows {
    engine: Arc<dyn Engine>,
}

impl Rows {
    /// Opens the table, and creates it if it is not there.
    pub(super) fn open(engine: Arc<dyn Engine>) -> Result<Self> {
        ensure_system_table(&*engine)?;
        Ok(Self { engine })
    }

    /// The engine.
    pub(super) fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// All rows whose key begins with `prefix`, ascending, without it. What is not UTF-8 is not ours and is passed over.
    pub(super) fn scan(&self, prefix: &str) -> Result<Vec<(String, Columns)>> {
        let selection = Selection {
            columns: ColumnSelection::Only(vec![(CATALOG_FAMILY.to_owned(), None)]),
            versions_max: Some(1),
            times_us: None,
        };
        let request = ReadRequest { selection, ..ReadRequest::of(RowRange::prefix(prefix.as_bytes())) };
        let mut found = Vec::new();
        for row in self.engine.read_rows(SYSTEM_TABLE, &request)? {
            let row = row?;
            let Some(rest) = std::str::from_utf8(&row.key).ok().and_then(|key| key.strip_prefix(prefix))
            else {
                continue;
            };
            let columns = row.cells.iter().filter_map(|cell| {
                let qualifier = std::str::from_utf8(&cell.qualifier).ok()?;
                Some((qualifier.to_owned(), cell.value.clone()))
            });
            found.push((rest.to_owned(), columns.collect()));
        }
        Ok(found)
    }

    /// Writes a row; nothing that it had before stays.
    pub(super) fn put(&self, key: &str, columns: &[(&str, Bytes)]) -> Result<()> {
        // All cells have one time, so that a clock that went back does not hide what is written now.
        let cells = columns.iter().map(|(qualifier, value)| {
            let qualifier = Bytes::copy_from_slice(qualifier.as_bytes());
            Mutation::set(CATALOG_FAMILY, qualifier, Timestamp::Micros(0), value.clone())
        });
        let mutations = std::iter::once(Mutation::DeleteFromRow).chain(cells).collect();
        self.write(vec![row(key, mutations)])
    }

    /// Removes rows.
    pub(super) fn remove<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let rows: Vec<RowMutation> =
            keys.into_iter().map(|key| row(key, vec![Mutation::DeleteFromRow])).collect();
        if rows.is_empty() { Ok(()) } else { self.write(rows) }
    }

    fn write(&self, rows: Vec<RowMutation>) -> Result<()> {
        self.engine.mutate_all(SYSTEM_TABLE, rows, Durability::Synced)
    }
}

fn row(key: &str, mutations: Vec<Mutation>) -> RowMutation {
    RowMutation { key: Bytes::copy_from_slice(key.as_bytes()), mutations }
}
