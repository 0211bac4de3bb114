//! What the engine, its committer and its driver share.

use crate::options::Options;
use crate::state::{Published, Registry};
use arc_swap::ArcSwapOption;
use fjall::Database;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::xxh3_64;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: Arc<Path>,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    /// `None` once the store is closed: a published state holds keyspaces, and those hold fjall's lock.
    pub(crate) published: ArcSwapOption<Published>,
    /// For questions that need not wait for the committer; `None` once the store is closed.
    pub(crate) db: ArcSwapOption<OpenDatabase>,
    /// Set when the store is closed: reads look at it for each row.
    pub(crate) closed: AtomicBool,
}

/// The database, which cannot be printed.
pub(crate) struct OpenDatabase(pub(crate) Database);

impl std::fmt::Debug for OpenDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenDatabase")
    }
}

/// The file beside the log that holds the number of the last acknowledged group: what a log that lost its end cannot tell.
///
/// ```text
/// | group: u64 BE | xxh3 of it: u64 BE |
/// ```
///
/// It is written without a sync and may be behind; it must not be ahead of the store.
#[derive(Debug)]
pub(crate) struct SideFile(File);

impl SideFile {
    /// Opens it, or makes it.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        File::options().read(true).write(true).create(true).truncate(false).open(path).map(Self)
    }

    /// The number in it; `None` if there is none that can be trusted.
    pub(crate) fn read(&mut self) -> Option<u64> {
        let mut bytes = [0; 16];
        self.0.seek(SeekFrom::Start(0)).ok()?;
        self.0.read_exact(&mut bytes).ok()?;
        let (group, checksum) = bytes.split_at(8);
        (xxh3_64(group).to_be_bytes() == checksum).then(|| group.try_into().map(u64::from_be_bytes).ok())?
    }

    /// Writes the number. A failure is no failure of the write that is acknowledged: the file only helps to find losses.
    pub(crate) fn note(&mut self, group: u64) {
        let group = group.to_be_bytes();
        let bytes = [group, xxh3_64(&group).to_be_bytes()].concat();
        let _ = self.0.seek(SeekFrom::Start(0)).and_then(|_| self.0.write_all(&bytes));
    }
}
