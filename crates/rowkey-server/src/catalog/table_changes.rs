//! Creates, deletes and undeletes tables. What is written in which order, and why, is said in `tables.rs`.

use super::deleted::{self, Deleted};
use super::name::{InstanceName, TableName};
use super::rows::SYSTEM_TABLE;
use super::tables::{self, TableEntry};
use super::{Catalog, missing};
use crate::lock::lock;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_store::{ErrorKind, Result, TableConfig, check};
use tonic::Status;

/// Tables of one instance (quota page of Bigtable's documentation).
const TABLES_MAX: usize = 1_000;

/// What became of a table of the engine, for those who keep something about it under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TableChange {
    /// It has another name.
    Renamed {
        /// The name before.
        from: String,
        /// The name now.
        to: String,
    },
    /// It is no more.
    Dropped(String),
}

/// Is told what became of tables.
pub(crate) type Told<'a> = &'a dyn Fn(TableChange);

impl Catalog {
    /// Creates a table. `kept` is what the engine has no place for. Blocks.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`; `NOT_FOUND` for the instance; `RESOURCE_EXHAUSTED` above 1,000 tables of an instance; those of the engine.
    pub(crate) fn create_table(
        &self,
        name: &TableName,
        config: &TableConfig,
        kept: admin::Table,
    ) -> Result<(), Status> {
        let _changing = self.change();
        let instance = name.instance_name();
        self.instance_may_be_used(&instance)?;
        let engine_tables = self.engine_tables()?;
        let engine = self.name_for_new(name, &engine_tables)?;
        self.check_count(&instance)?;
        check::new_table(&engine, config).map_err(|error| status(&error))?;
        self.note_use(&instance).map_err(|error| status(&error))?;
        let entry = TableEntry { engine, shared: false, kept };
        let key = tables::row_key(name);
        self.rows.put(&key, &tables::columns(&entry)).map_err(|error| status(&error))?;
        if let Err(error) = self.engine().create_table(&entry.engine, config) {
            // If this fails as well, the row is removed when the catalog is opened.
            let _ = self.rows.remove([key.as_str()]);
            return Err(status(&error));
        }
        self.write(|tables| tables.insert(name.clone(), entry));
        Ok(())
    }

    /// Changes what is kept of a table. Blocks.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, and those of the engine.
    pub(crate) fn keep(
        &self,
        name: &TableName,
        change: impl FnOnce(&mut admin::Table) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let _changing = self.change();
        let engine = self.resolve(name)?;
        let shared = TableEntry { engine, shared: true, ..TableEntry::default() };
        let mut entry = self.table_entry(name).unwrap_or(shared);
        let before = entry.kept.clone();
        change(&mut entry.kept)?;
        if entry.kept == before {
            return Ok(());
        }
        self.rows.put(&tables::row_key(name), &tables::columns(&entry)).map_err(|error| status(&error))?;
        self.write(|tables| tables.insert(name.clone(), entry));
        Ok(())
    }

    /// Deletes a table, which is not protected, and its policy. It is set aside for 7 days, where the engine can. Blocks.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`; `FAILED_PRECONDITION` if it is protected; those of the engine.
    pub(crate) fn delete_table(&self, name: &TableName, told: Told<'_>) -> Result<(), Status> {
        let _changing = self.change();
        self.delete(name, true, told)?;
        if let Err(error) = self.sweep(told) {
            tracing::warn!(
                "deleted tables whose time is over could not be dropped; they are tried again: {error}"
            );
        }
        Ok(())
    }

    /// As [`Catalog::delete_table`], for those who hold the lock; `set_aside` or not.
    pub(super) fn delete(&self, name: &TableName, set_aside: bool, told: Told<'_>) -> Result<(), Status> {
        let engine = self.resolve(name)?;
        match self.engine().table_config(&engine) {
            Ok(config) => check::drop_table(&name.table, &config).map_err(|error| status(&error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.forget(&engine)?;
                return Err(missing(name));
            }
            Err(error) => return Err(status(&error)),
        }
        if !set_aside || !self.set_aside(name, &engine, told).map_err(|error| status(&error))? {
            self.engine().drop_table(&engine).map_err(|error| status(&error))?;
            told(TableChange::Dropped(engine.clone()));
        }
        self.forget(&engine)?;
        let policy = name.to_string();
        if self.policies.has(&policy) {
            self.policies.remove(&[policy]).map_err(|error| status(&error))?;
        }
        Ok(())
    }

    /// Gives a table the name of a deleted one. Answers whether the engine can.
    fn set_aside(&self, name: &TableName, engine: &str, told: Told<'_>) -> Result<bool> {
        let shared = TableEntry { engine: engine.to_owned(), shared: true, ..TableEntry::default() };
        let entry = self.table_entry(name).unwrap_or(shared);
        let deleted = Deleted { name: name.clone(), entry, time_us: self.clock.now_us() };
        let number = self.deleted(|tables| tables.next());
        let key = deleted::row_key(number);
        self.rows.put(&key, &deleted::columns(&deleted))?;
        let to = deleted::engine_name(number);
        match self.engine().rename_table(engine, &to) {
            Ok(()) => {
                self.deleted(|tables| tables.insert(number, deleted));
                told(TableChange::Renamed { from: engine.to_owned(), to });
                Ok(true)
            }
            Err(error) => {
                self.rows.remove([key.as_str()])?;
                if error.kind() == ErrorKind::Unsupported { Ok(false) } else { Err(error) }
            }
        }
    }

    /// Removes the rows about a table of the engine that is gone.
    fn forget(&self, engine: &str) -> Result<(), Status> {
        let names = self.read(|tables| tables.names_of(engine));
        let keys: Vec<String> = names.iter().map(tables::row_key).collect();
        self.rows.remove(keys.iter().map(String::as_str)).map_err(|error| status(&error))?;
        self.write(|tables| names.iter().for_each(|name| tables.remove(name)));
        Ok(())
    }

    /// Brings back the newest deleted table of this name. Blocks.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS` if the name is taken; `NOT_FOUND` if none was deleted in the last 7 days; those of the engine.
    pub(crate) fn undelete_table(&self, name: &TableName, told: Told<'_>) -> Result<(), Status> {
        let _changing = self.change();
        self.sweep(told).map_err(|error| status(&error))?;
        let instance = name.instance_name();
        self.instance_may_be_used(&instance)?;
        self.check_count(&instance)?;
        let engine_tables = self.engine_tables()?;
        let free = self.name_for_new(name, &engine_tables)?;
        let Some((number, deleted)) = self.deleted(|tables| tables.find(name)) else {
            return Err(Status::not_found(format!(
                "no deleted table `{name}` is kept; deleted tables are kept for 7 days, at most 100 of them"
            )));
        };
        let shared = deleted.entry.shared && free == name.table;
        let entry = TableEntry { engine: free, shared, ..deleted.entry };
        let key = tables::row_key(name);
        self.rows.put(&key, &tables::columns(&entry)).map_err(|error| status(&error))?;
        let from = deleted::engine_name(number);
        if let Err(error) = self.engine().rename_table(&from, &entry.engine) {
            // If this fails as well, the row is removed when the catalog is opened.
            let _ = self.rows.remove([key.as_str()]);
            return Err(status(&error));
        }
        told(TableChange::Renamed { from, to: entry.engine.clone() });
        self.write(|tables| tables.insert(name.clone(), entry));
        self.deleted(|tables| tables.remove(number));
        self.rows.remove([deleted::row_key(number).as_str()]).map_err(|error| status(&error))
    }

    /// Drops deleted tables whose time is over. Blocks.
    pub(super) fn sweep(&self, told: Told<'_>) -> Result<()> {
        for number in self.deleted(|tables| tables.due(self.clock.now_us())) {
            let table = deleted::engine_name(number);
            match self.engine().drop_table(&table) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => told(TableChange::Dropped(table)),
            }
            self.rows.remove([deleted::row_key(number).as_str()])?;
            self.deleted(|tables| tables.remove(number));
        }
        Ok(())
    }

    /// A free name of the engine for a new table.
    fn name_for_new(&self, name: &TableName, engine_tables: &[String]) -> Result<String, Status> {
        let is_there = |engine: &str| engine_tables.iter().any(|table| table == engine);
        if name.table.starts_with(SYSTEM_TABLE) {
            return Err(Status::invalid_argument(format!(
                "table ids that begin with `{SYSTEM_TABLE}` are the server's own; take another for `{name}`"
            )));
        }
        self.read(|tables| {
            if tables.resolve(name).is_some_and(is_there) {
                return Err(Status::already_exists(format!(
                    "table `{name}` exists already; delete it first, or take another id"
                )));
            }
            Ok(tables::free_name(&name.table, |engine| {
                let is_of_others = tables.is_owned(engine) && tables.resolve(name) != Some(engine);
                is_there(engine) || is_of_others
            }))
        })
    }

    /// Refuses one more table in an instance that is full.
    fn check_count(&self, instance: &InstanceName) -> Result<(), Status> {
        let others = self.read(|tables| tables.own(instance).count());
        if others >= TABLES_MAX {
            return Err(Status::resource_exhausted(format!(
                "instance `{instance}` has {others} tables; the limit is {TABLES_MAX}: delete some first"
            )));
        }
        Ok(())
    }

    fn deleted<T>(&self, look: impl FnOnce(&mut deleted::DeletedTables) -> T) -> T {
        look(&mut lock(&self.deleted))
    }
}
