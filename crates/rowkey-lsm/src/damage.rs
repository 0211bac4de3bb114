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

/// A file or folder in fjall's folder that cannot be opened.
pub(crate) fn in_folder(data: &Path) -> Option<PathBuf> {
    let keyspaces = folders(&data.join("keyspaces"));
    let tables = keyspaces.iter().flat_map(|keyspace| folders(&keyspace.join("tables")));
    let damaged_table = tables.into_iter().find(|table| !opens(|| opens_as_table(table)));
    damaged_table.or_else(|| keyspaces.into_iter().find(|keyspace| !opens(|| opens_as_tree(keyspace))))
}

fn opens(open: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or(false)
}

fn opens_as_table(path: &Path) -> bool {
    let cache = Arc::new(Cache::with_capacity_bytes(0));
    let table = Table::recover(path.to_owned(), Checksum::from_raw(0), 0, 0, cache, None, false, false);
    table.and_then(|table| table.scan()).is_ok_and(|mut pairs| pairs.all(|pair| pair.is_ok()))
}

fn opens_as_tree(path: &Path) -> bool {
    let numbers = SequenceNumberCounter::default;
    lsm_tree::Config::new(path, numbers(), numbers()).open().is_ok()
}

/// What is in a folder, by name; nothing if it cannot be read.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}
