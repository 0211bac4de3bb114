//! Opening the store that `--store` names.

use crate::exit::Failure;
use crate::recording::{RecordArgs, Recording};
use crate::session::Session;
use anyhow::Result;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{Engine, ErrorKind};
use rowkey_table::KeyedTable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a store that does not exist is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It must be there.
    Existing,
    /// It is made if it is not there.
    Create,
}

/// Opens the store of this session.
///
/// # Errors
///
/// Unavailable (exit 4) if it is not there, in use, or of a kind that is not built yet; bad data (exit 3) if it is damaged.
pub(crate) fn open(session: &Session, access: Access) -> Result<Arc<LsmEngine>> {
    let folder = folder(&session.store)?;
    open_folder(&folder, session, access)
}

/// Opens the embedded store in a folder.
///
/// # Errors
///
/// As [`open`].
pub(crate) fn open_folder(folder: &Path, session: &Session, access: Access) -> Result<Arc<LsmEngine>> {
    let shown = folder.display();
    if access == Access::Existing && !folder.exists() {
        return Err(Failure::unavailable(format!(
            "there is no store at {shown}; `rowkey table create` makes one, and --store names another"
        )));
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::unavailable(format!(
            "{shown} is a file; a store is a folder, as in --store ./data"
        )));
    }
    if access == Access::Create {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::unavailable(format!("the folder {shown} cannot be made: {error}; --store names another"))
        })?;
    }
    let options =
        Options { create: access == Access::Create, clock: Arc::clone(&session.clock), ..Options::default() };
    match LsmEngine::open(folder, options) {
        Ok(engine) => {
            for warning in engine.warnings() {
                session.warn_of_loss(warning);
            }
            Ok(Arc::new(engine))
        }
        // Another process has it, or the disk says no: nothing is wrong with the data.
        Err(error) if error.kind() == ErrorKind::Conflict => Err(Failure::unavailable(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Opens a table of this session's store.
///
/// # Errors
///
/// As [`open`]; bad data (exit 3) if there is no such table, or it was not made from a key schema.
pub(crate) fn open_table(session: &Session, table: &str) -> Result<KeyedTable> {
    let engine: Arc<dyn Engine> = open(session, Access::Existing)?;
    Ok(KeyedTable::open(engine, Arc::clone(&session.clock), table, None)?)
}

/// Opens a table of this session's store, with what is done to its rows recorded, if that was asked for.
///
/// # Errors
///
/// As [`open_table`]; bad data (exit 3) if the file to record to cannot be written.
pub(crate) fn open_table_recorded(session: &Session, table: &str, record: &RecordArgs) -> Result<KeyedTable> {
    let Some(file) = record.file() else { return open_table(session, table) };
    let engine = open(session, Access::Existing)?;
    let recording = session.keep(Recording::open(file)?);
    let engine = recording.around(engine, Arc::clone(&session.clock));
    Ok(KeyedTable::open(engine, Arc::clone(&session.clock), table, None)?)
}

fn folder(store: &str) -> Result<PathBuf> {
    if store.is_empty() {
        return Err(Failure::usage("--store is empty; give the folder of a store, as in --store ./data"));
    }
    for (scheme, engine) in [("bigtable:", "the Bigtable engine"), ("hbase:", "the HBase engine")] {
        if store.starts_with(scheme) {
            return Err(Failure::unavailable(format!(
                "--store {store}: not built yet: {engine}; for now a store is a folder, as in --store ./data"
            )));
        }
    }
    if let Some((scheme, _)) = store.split_once("://") {
        return Err(Failure::usage(format!(
            "--store {store}: no engine is called `{scheme}`; a store is a folder, as in --store ./data"
        )));
    }
    Ok(PathBuf::from(store))
}
