//! Tables of clients and of the engine: which is which, and how they come and go.
//!
//! Two things are written for each change, a row of the catalog and a table of the engine, and the process may end between the two. The
//! order makes one rule enough to heal it when the catalog is opened: *a row whose table is not there is removed*.
//!
//! ```text
//! create    row table/P/I/T, then the table
//! delete    row deleted/N, then the table gets the name _rowkey.deleted.N, then row table/P/I/T goes
//! undelete  row table/P/I/T, then the table gets its name, then row deleted/N goes
//! sweep     the table, then row deleted/N
//! ```

use super::name::{InstanceName, TableName};
use super::rows::{Columns, Rows, SYSTEM_TABLE};
use super::shelf::{MESSAGE, corrupt, decode};
use bytes::Bytes;
use prost::Message as _;
use rowkey_proto::admin;
use rowkey_store::Result;
use rowkey_store::limits::TABLE_NAME_BYTES_MAX;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Rows of tables.
pub(super) const TABLE_ROWS: &str = "table/";
/// The column of the engine's table.
const ENGINE: &str = "engine";
/// The column that says whether every instance sees the table: `1` or `0`.
const SHARED: &str = "shared";

/// What the catalog knows about one table.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableEntry {
    /// The engine's name of it.
    pub(crate) engine: String,
    /// The command line made it: every instance sees it. The row is there because something is kept of it.
    pub(crate) shared: bool,
    /// What the engine has no place for: change stream, automated backups, key schema, tiers. Nothing else is set.
    pub(crate) kept: admin::Table,
}

/// The tables of the rows.
#[derive(Debug, Default)]
pub(super) struct Tables {
    by_name: HashMap<TableName, TableEntry>,
    /// Tables of the engine that belong to one of them.
    owned: HashSet<String>,
}

impl Tables {
    /// Reads the rows, and removes those whose table is not there.
    pub(super) fn open(rows: &Rows, engine_tables: &BTreeSet<String>) -> Result<Self> {
        let mut tables = Self::default();
        let mut stale = Vec::new();
        for (rest, columns) in rows.scan(TABLE_ROWS)? {
            let key = format!("{TABLE_ROWS}{rest}");
            let name = parse(&key, &rest)?;
            let entry = read(&key, columns)?;
            if engine_tables.contains(&entry.engine) {
                tables.insert(name, entry);
            } else {
                stale.push(key);
            }
        }
        rows.remove(stale.iter().map(String::as_str))?;
        Ok(tables)
    }

    pub(super) fn insert(&mut self, name: TableName, entry: TableEntry) {
        let engine = (!entry.shared).then(|| entry.engine.clone());
        let before = self.by_name.insert(name, entry);
        if let Some(before) = before.filter(|before| !before.shared) {
            self.owned.remove(&before.engine);
        }
        self.owned.extend(engine);
    }

    pub(super) fn remove(&mut self, name: &TableName) {
        if let Some(before) = self.by_name.remove(name).filter(|before| !before.shared) {
            self.owned.remove(&before.engine);
        }
    }

    pub(super) fn get(&self, name: &TableName) -> Option<&TableEntry> {
        self.by_name.get(name)
    }

    /// The engine's name of a table, whether or not the engine has it. `None`: it has one of that name, but for others.
    pub(super) fn resolve<'a>(&'a self, name: &'a TableName) -> Option<&'a str> {
        match self.by_name.get(name) {
            Some(entry) => Some(&entry.engine),
            None => self.is_shared(&name.table).then_some(&name.table),
        }
    }

    /// Whether a table of the engine belongs to a client, or has until a moment ago.
    pub(super) fn is_owned(&self, engine: &str) -> bool {
        self.owned.contains(engine)
    }

    /// Whether a table of the engine belongs to no client: the command line made it, and every instance sees it.
    pub(super) fn is_shared(&self, engine: &str) -> bool {
        !engine.starts_with(SYSTEM_TABLE) && !self.owned.contains(engine)
    }

    /// The tables that clients created in an instance, in no order.
    pub(super) fn own(&self, instance: &InstanceName) -> impl Iterator<Item = &TableName> {
        let own = self.by_name.iter().filter(|(name, entry)| {
            !entry.shared && name.project == instance.project && name.instance == instance.instance
        });
        own.map(|(name, _)| name)
    }

    /// The names whose rows are about this table of the engine.
    pub(super) fn names_of(&self, engine: &str) -> BTreeSet<TableName> {
        let found = self.by_name.iter().filter(|(_, entry)| entry.engine == engine);
        found.map(|(name, _)| name.clone()).collect()
    }

    /// The tables of an instance, by name. `engine_tables` are all of the engine.
    pub(super) fn list(&self, instance: &InstanceName, engine_tables: &[String]) -> Vec<TableName> {
        let of_instance =
            |name: &&TableName| name.project == instance.project && name.instance == instance.instance;
        let mut found: BTreeSet<TableName> = self.by_name.keys().filter(of_instance).cloned().collect();
        let shared = engine_tables.iter().filter(|engine| self.is_shared(engine));
        found.extend(shared.filter_map(|engine| instance.table(engine).ok()));
        found.into_iter().collect()
    }

    /// All tables that clients created, by name, with the engine's names.
    pub(super) fn all(&self) -> BTreeMap<TableName, String> {
        let own = self.by_name.iter().filter(|(_, entry)| !entry.shared);
        own.map(|(name, entry)| (name.clone(), entry.engine.clone())).collect()
    }
}

/// The row key of a table.
pub(super) fn row_key(name: &TableName) -> String {
    format!("{TABLE_ROWS}{}/{}/{}", name.project, name.instance, name.table)
}

/// The columns of a table's row.
pub(super) fn columns(entry: &TableEntry) -> [(&'static str, Bytes); 3] {
    [
        (SHARED, Bytes::from_static(if entry.shared { b"1" } else { b"0" })),
        (ENGINE, Bytes::copy_from_slice(entry.engine.as_bytes())),
        (MESSAGE, Bytes::from(entry.kept.encode_to_vec())),
    ]
}

/// What a table's row says.
pub(super) fn read(key: &str, mut columns: Columns) -> Result<TableEntry> {
    let engine = text(key, columns.remove(ENGINE))?;
    let shared = columns.remove(SHARED).is_some_and(|shared| *shared == b"1"[..]);
    Ok(TableEntry { engine, shared, kept: decode(key, columns.remove(MESSAGE))? })
}

fn parse(key: &str, name: &str) -> Result<TableName> {
    let mut ids = name.split('/').map(str::to_owned);
    match (ids.next(), ids.next(), ids.next(), ids.next()) {
        (Some(project), Some(instance), Some(table), None) => Ok(TableName { project, instance, table }),
        _ => Err(corrupt(key, "its key is not that of a table")),
    }
}

fn text(key: &str, content: Option<Bytes>) -> Result<String> {
    let content = content.ok_or_else(|| corrupt(key, "a column is missing"))?;
    String::from_utf8(content.into()).map_err(|_| corrupt(key, "a name is not UTF-8"))
}

/// A name for a table of the engine: `table`, or with the first number behind it that makes it free. Cut to what a name may have.
pub(super) fn free_name(table: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2u64..).map(|number| {
        let suffix = format!("-{number}");
        let room = TABLE_NAME_BYTES_MAX.saturating_sub(suffix.len());
        // Ids of tables are ASCII.
        format!("{}{suffix}", table.get(..room).unwrap_or(table))
    });
    std::iter::once(table.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .expect("a store has fewer tables than there are numbers")
}
