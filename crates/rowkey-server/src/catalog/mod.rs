//! Names and resources: which table of the engine a resource name means, and instances, clusters, app profiles and policies.
//!
//! Everything is in the server's own table (`rows.rs`), so it works over any engine and survives restarts. Reading is from memory; what
//! changes something blocks, until it is on disk, and is called through [`crate::blocking`].

mod deleted;
mod instances;
mod name;
mod operations;
mod rows;
mod shelf;
mod table_changes;
mod tables;

#[cfg(test)]
mod tests;

pub(crate) use name::{
    InstanceName, TableName, check_app_profile_id, check_cluster_id, check_instance_id, ids, ids_or_all,
    shown,
};
pub(crate) use rows::{LOAD_FAMILY, SYSTEM_TABLE, ensure_system_table};
pub(crate) use table_changes::TableChange;
pub(crate) use tables::TableEntry;

use crate::lock::{lock, read, write};
use crate::options::Options;
use deleted::DeletedTables;
use rowkey_bigtable::status;
use rowkey_proto::{admin, iam};
use rowkey_store::{Clock, Engine, Result};
use rows::Rows;
use shelf::Shelf;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use tables::Tables;
use tonic::Status;

/// The catalog of one store.
#[derive(Debug)]
pub(crate) struct Catalog {
    rows: Arc<Rows>,
    strict_instances: bool,
    nodes: u32,
    clock: Arc<dyn Clock>,
    tables: RwLock<Tables>,
    deleted: Mutex<DeletedTables>,
    /// Held by whoever changes something: what is looked at before a change is still so when it is made.
    changing: Mutex<()>,
    /// Instances that were created.
    pub(crate) instances: Shelf<admin::Instance>,
    /// Clusters that were created.
    pub(crate) clusters: Shelf<admin::Cluster>,
    /// App profiles that were created.
    pub(crate) app_profiles: Shelf<admin::AppProfile>,
    /// Policies, by the resource that they are about.
    pub(crate) policies: Shelf<iam::Policy>,
    /// Operations that were handed out.
    pub(crate) operations: operations::Operations,
}

impl Catalog {
    /// Reads the catalog from the store, and heals what a crash left half done.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn open(engine: &Arc<dyn Engine>, options: &Options) -> Result<Self> {
        let rows = Arc::new(Rows::open(Arc::clone(engine))?);
        let engine_tables: BTreeSet<String> = engine.list_tables()?.into_iter().collect();
        let tables = Tables::open(&rows, &engine_tables)?;
        let deleted = DeletedTables::open(&rows, &engine_tables)?;
        let catalog = Self {
            strict_instances: options.strict_instances,
            nodes: options.nodes,
            clock: Arc::clone(&options.clock),
            tables: RwLock::new(tables),
            deleted: Mutex::new(deleted),
            changing: Mutex::default(),
            instances: Shelf::open(&rows, "instance/")?,
            clusters: Shelf::open(&rows, "cluster/")?,
            app_profiles: Shelf::open(&rows, "app_profile/")?,
            policies: Shelf::open(&rows, "policy/")?,
            operations: operations::Operations::open(&rows)?,
            rows,
        };
        catalog.heal_instances()?;
        // Nobody listens yet: what is recorded of them ages.
        catalog.sweep(&|_| {})?;
        Ok(catalog)
    }

    /// The engine's name of a table. The engine says whether it is there: its `NotFound` is the right answer.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the engine's table of that name belongs to another instance or to the server, or the instance does not exist.
    pub(crate) fn resolve(&self, name: &TableName) -> Result<String, Status> {
        let engine = self.read(|tables| tables.resolve(name).map(str::to_owned));
        if self.strict_instances {
            self.instance_may_be_used(&name.instance_name())?;
        }
        engine.ok_or_else(|| missing(name))
    }

    /// The tables that an instance sees, by name. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the engine; `NOT_FOUND` for the instance.
    pub(crate) fn list_tables(&self, instance: &InstanceName) -> Result<Vec<TableName>, Status> {
        self.instance_may_be_used(instance)?;
        let engine_tables = self.engine_tables()?;
        Ok(self.read(|tables| tables.list(instance, &engine_tables)))
    }

    /// What is known about a table; `None` for one that the command line made, and of which nothing is kept.
    pub(crate) fn table_entry(&self, name: &TableName) -> Option<TableEntry> {
        self.read(|tables| tables.get(name).cloned())
    }

    /// All tables that clients created, by name, with the engine's names. Others are the command line's: see them in the engine's list.
    pub(crate) fn own_tables(&self) -> BTreeMap<TableName, String> {
        self.read(Tables::all)
    }

    /// Waits for its turn to change something.
    pub(crate) fn change(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }

    fn engine(&self) -> &dyn Engine {
        &**self.rows.engine()
    }

    fn engine_tables(&self) -> Result<Vec<String>, Status> {
        self.engine().list_tables().map_err(|error| status(&error))
    }

    fn read<T>(&self, look: impl FnOnce(&Tables) -> T) -> T {
        look(&read(&self.tables))
    }

    fn write(&self, change: impl FnOnce(&mut Tables)) {
        change(&mut write(&self.tables));
    }
}

/// The status for a table that does not exist.
pub(crate) fn missing(name: &TableName) -> Status {
    Status::not_found(format!(
        "table `{name}` does not exist; create it, or see the list of tables for the right name"
    ))
}
