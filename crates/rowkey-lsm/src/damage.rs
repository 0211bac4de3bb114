//! Which file is damaged: fjall says only that one is.

use crate::error;
use fjall::{AbstractTree as _, Keyspace};
use lsm_tree::{Cache, Checksum, SequenceNumberCounter, Table};
use rowkey_store::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The error for a read from these keyspaces of the store at `path`. Reads their files if one of them must be damaged.
pub(crate) fn read_error<'a>(
    path: &Path,
    error: fjall::Error,
    keyspaces: impl IntoIterator<Item = &'a Keyspace>,
) -> Error {
    let file = error::is_damage(&error).then(|| keyspaces.into_iter().find_map(table_of)).flatten();
    error::of_fjall(path, "reading", error, file.as_deref())
}

/// A file of the keyspace whose bytes are not those that were written.
fn table_of(keyspace: &Keyspace) -> Option<PathBuf> {
    let version = keyspace.tree.current_version();
    let mut tables = version.iter_tables();
    tables.find_map(|table| {
        let is_whole =
            std::fs::read(&*table.path).is_ok_and(|bytes| xxh3_128(&bytes) == table.checksum().into_u128());
        (!is_whole).then(|| table.path.to_path_buf())
    })
}

/// A file that must be in fjall's folder and is not. fjall itself would begin anew without it, and delete what it belongs to.
pub(crate) fn missing_in(data: &Path) -> Option<PathBuf> {
    let version = data.join("version");
    if !version.exists() {
        return Some(version);
    }
    if !entries(data).iter().any(|file| file.extension().is_some_and(|extension| extension == "jnl")) {
        return Some(data.join("0.jnl"));
    }
    let keyspaces = data.join("keyspaces");
    let records = keyspaces.join("0").join("current");
    if !records.exists() {
        return Some(records);
    }
    let without: Vec<PathBuf> = entries(&keyspaces)
        .into_iter()
        .filter(|folder| !entries(&folder.join("tables")).is_empty() && !folder.join("current").exists())
        .collect();
    // A crash while a keyspace is deleted leaves such a folder as well, but no name.
    without.into_iter().find(|folder| has_name(&keyspaces, folder)).map(|folder| folder.join("current"))
}

/// Whether fjall's records name the keyspace in this folder: `n` and its id are the key of its name.
fn has_name(keyspaces: &Path, folder: &Path) -> bool {
    let id = folder.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
    let key = |id: u64| [&b"n"[..], &id.to_be_bytes()].concat();
    let numbers = SequenceNumberCounter::default;
    opens(|| {
        let records = lsm_tree::Config::new(keyspaces.join("0"), numbers(), numbers()).open();
        id.is_some_and(|id| {
            records.is_ok_and(|records| records.get(key(id), u64::MAX).is_ok_and(|name| name.is_some()))
        })
    })
}

/// A file or folder in fjall's folder that cannot be opened.
pub(crate) fn in_folder(data: &Path) -> Option<PathBuf> {
    let keyspaces = entries(&data.join("keyspaces"));
    let tables = keyspaces.iter().flat_map(|keyspace| entries(&keyspace.join("tables")));
    let damaged_table = tables.into_iter().find(|table| !opens(|| opens_as_table(table)));
    damaged_table.or_else(|| keyspaces.into_iter().find(|keyspace| !opens(|| opens_as_tree(keyspace))))
}

fn opens(open: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or(false)
}

fn opens_as_table(path: &Path) -> bool {
    let cache = Arc::new(Cache::with_capacity_bytes(0));
    // Filter and index are read as well.
    let table = Table::recover(path.to_owned(), Checksum::from_raw(0), 0, 0, cache, None, true, true);
    table.and_then(|table| table.scan()).is_ok_and(|mut pairs| pairs.all(|pair| pair.is_ok()))
}

fn opens_as_tree(path: &Path) -> bool {
    let numbers = SequenceNumberCounter::default;
    lsm_tree::Config::new(path, numbers(), numbers()).open().is_ok()
}

/// What is in a folder, by name; nothing if it cannot be read.
pub(crate) fn entries(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}
