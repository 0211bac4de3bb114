//! Opening a store: the folder, its lock, its format, its tables.
//!
//! ```text
//! ROWKEY-STORE   one line of text: the format version; written last when a store is made
//! LOCK           held while a process has the store open
//! ACKNOWLEDGED   the last acknowledged group (see `SideFile`)
//! data/          fjall's files: keyspace `meta` and one keyspace for each tablet and family
//! ```

use crate::admin;
use crate::damage;
use crate::error;
use crate::filter::GcFactory;
use crate::meta::{self, CountersRecord, MetaKey, TableRecord};
use crate::options::Options;
use crate::raw;
use crate::shared::SideFile;
use crate::spares::Spares;
use crate::state::{Registry, Space, Table, Tables, Tablet, space_name};
use bytes::Bytes;
use fjall::compaction::filter::Factory;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable as _};
use rowkey_store::{Error, ErrorKind, Result, RowRange};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORMAT_FILE: &str = "ROWKEY-STORE";
const FORMAT_TEXT: &str = "rowkey store, format 1\n";
const LOCK_FILE: &str = "LOCK";
const SIDE_FILE: &str = "ACKNOWLEDGED";
const DATA_FOLDER: &str = "data";
const META_KEYSPACE: &str = "meta";

/// A store that is open.
pub(crate) struct Opened {
    pub(crate) lock: File,
    pub(crate) db: Database,
    pub(crate) meta: Keyspace,
    pub(crate) registry: Arc<Registry>,
    pub(crate) tables: Tables,
    pub(crate) counters: CountersRecord,
    pub(crate) side: SideFile,
    /// Bytes of the log.
    pub(crate) log_bytes: u64,
    pub(crate) spares: Spares,
    pub(crate) warnings: Vec<String>,
}

/// Opens the store at `path`.
///
/// # Errors
///
/// `NotFound`, `Invalid` (no store), `Conflict` (in use), `Corrupt`, `Unavailable`.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened> {
    let is_new = look_at(path, options.create)?;
    let lock = lock(path)?;
    let data = path.join(DATA_FOLDER);
    if is_new && data.exists() {
        // A store that was being made when its process ended; nothing was acknowledged yet.
        fs::remove_dir_all(&data).map_err(|error| error::of_io(&data, "removing", error))?;
    }
    if !is_new {
        check_format(path)?;
        if let Some(missing) = damage::missing_in(&data) {
            return Err(missing_file(&missing));
        }
    }
    let registry = Arc::new(Registry::default());
    let db = open_fjall(path, &data, options, &registry)?;
    let failed = |error| error::of_fjall(path, "opening", error, None);
    let meta = db.keyspace(META_KEYSPACE, raw::new_keyspace).map_err(failed)?;
    if is_new {
        write_format(path).map_err(|error| error::of_io(path, "making", error))?;
    }
    let (tables, counters) = load(path, &db, &meta, &registry)?;
    let side_path = path.join(SIDE_FILE);
    let mut side = SideFile::open(&side_path).map_err(|error| error::of_io(&side_path, "opening", error))?;
    let (mut warnings, mut spares) = (Vec::new(), Spares::default());
    if let Some(group) = side.read().filter(|group| *group > counters.group) {
        // Keyspaces that no table names may be those of tables that the log has lost: they stay.
        warnings.push(format!(
            "the store at {}: writes were acknowledged up to group {group}, but its log ends at group {}: the last writes are lost, as \
             after damage to the log or a disk that does not keep what it says it does. Load what was written last once more",
            path.display(),
            counters.group
        ));
    } else {
        spares = delete_unnamed(&db, &meta, &registry, &tables, counters, options.spare_keyspaces);
    }
    let log_bytes = if is_new {
        0
    } else {
        logs(&data).iter().filter_map(|log| log.metadata().ok()).map(|log| log.len()).sum()
    };
    Ok(Opened { lock, db, meta, registry, tables, counters, side, log_bytes, spares, warnings })
}

/// Answers whether the folder is still to become a store.
fn look_at(path: &Path, create: bool) -> Result<bool> {
    let at = path.display();
    if path.join(FORMAT_FILE).exists() {
        return Ok(false);
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if !create {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("there is no store at {at}: create a table in it first, or correct the path"),
                ));
            }
            fs::create_dir_all(path).map_err(|error| error::of_io(path, "making the folder", error))?;
            return Ok(true);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("{at} is a file; a store is a folder: correct the path"),
            ));
        }
        Err(error) => return Err(error::of_io(path, "opening", error)),
    };
    if path.join(SIDE_FILE).exists() {
        // It is made behind the file of the format: this was a store, and must not be made anew over what it holds.
        return Err(missing_file(&path.join(FORMAT_FILE)));
    }
    let is_foreign = |name: &std::ffi::OsStr| name != LOCK_FILE && name != DATA_FOLDER;
    for entry in entries {
        let entry = entry.map_err(|error| error::of_io(path, "opening", error))?;
        if is_foreign(&entry.file_name()) {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!(
                    "the folder {at} is no store: it holds other files and no file {FORMAT_FILE}: correct the path"
                ),
            ));
        }
    }
    if create {
        return Ok(true);
    }
    Err(Error::new(
        ErrorKind::NotFound,
        format!("the folder {at} is no store yet: create a table in it first, or correct the path"),
    ))
}

fn lock(path: &Path) -> Result<File> {
    let lock_path = path.join(LOCK_FILE);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock_path)
        .map_err(|error| error::of_io(&lock_path, "locking", error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(error::in_use(path)),
        Err(TryLockError::Error(error)) => Err(error::of_io(&lock_path, "locking", error)),
    }
}

fn check_format(path: &Path) -> Result<()> {
    let format_path = path.join(FORMAT_FILE);
    let text = fs::read(&format_path).map_err(|error| error::of_io(&format_path, "reading", error))?;
    if text == FORMAT_TEXT.as_bytes() {
        return Ok(());
    }
    let shown: String =
        String::from_utf8_lossy(&text).lines().next().unwrap_or_default().chars().take(60).collect();
    let message = format!(
        "{} says \"{shown}\", which this program does not read; it reads \"{}\": use the program that wrote the store",
        format_path.display(),
        FORMAT_TEXT.trim_end()
    );
    Err(Error::new(ErrorKind::Corrupt, message))
}

fn write_format(path: &Path) -> std::io::Result<()> {
    let part = path.join("ROWKEY-STORE.part");
    let mut file = File::create(&part)?;
    file.write_all(FORMAT_TEXT.as_bytes())?;
    file.sync_all()?;
    fs::rename(&part, path.join(FORMAT_FILE))?;
    // The name is on disk once the folder is.
    if let Ok(folder) = File::open(path) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn missing_file(path: &Path) -> Error {
    let message =
        format!("{} is missing: restore the store from a copy, or its tables from backups", path.display());
    Error::new(ErrorKind::Corrupt, message)
}

fn open_fjall(path: &Path, data: &Path, options: &Options, registry: &Arc<Registry>) -> Result<Database> {
    let (registry, clock) = (Arc::clone(registry), Arc::clone(&options.clock));
    let factories = move |keyspace: &str| -> Option<Arc<dyn Factory>> {
        (keyspace != META_KEYSPACE).then(|| {
            Arc::new(GcFactory::new(registry.policy(keyspace), Arc::clone(&clock))) as Arc<dyn Factory>
        })
    };
    let builder = Database::builder(data)
        .cache_size(options.block_cache_bytes)
        .worker_threads(options.worker_threads.max(1))
        .with_compaction_filter_factories(Arc::new(factories));
    // fjall trusts its own records of keyspaces so much that damage there is a panic.
    match catch_unwind(AssertUnwindSafe(|| builder.open())) {
        Ok(Ok(db)) => Ok(db),
        Ok(Err(error)) => {
            let file = match error {
                // Which part of the log it is fjall does not say; it seldom has more than one.
                fjall::Error::JournalRecovery(_) => logs(data).pop(),
                _ => error::is_damage(&error).then(|| damage::in_folder(data)).flatten(),
            };
            Err(error::of_fjall(path, "opening", error, file.as_deref()))
        }
        Err(_) => {
            let message = format!(
                "opening the store at {}: the records in {} are damaged: restore the store from a copy, or its tables from backups",
                path.display(),
                data.join("keyspaces").join("0").display()
            );
            Err(Error::new(ErrorKind::Corrupt, message))
        }
    }
}

/// Reads the records and deletes keyspaces that no table names.
fn load(
    path: &Path,
    db: &Database,
    meta: &Keyspace,
    registry: &Registry,
) -> Result<(Tables, CountersRecord)> {
    let mut records: BTreeMap<String, TableRecord> = BTreeMap::new();
    let mut settled: HashMap<u64, bool> = HashMap::new();
    let mut counters = CountersRecord::default();
    let at = |error: Error| error.context(format_args!("opening the store at {}", path.display()));
    for pair in db.snapshot().iter(meta) {
        let (key, value) =
            pair.into_inner().map_err(|error| error::of_fjall(path, "opening", error, None))?;
        match meta::parse_key(&key).map_err(at)? {
            MetaKey::Table(name) => drop(records.insert(name, meta::decode_table(&value).map_err(at)?)),
            MetaKey::Space(id) => drop(settled.insert(id, meta::decode_space(&value).map_err(at)?)),
            MetaKey::Counters => counters = meta::decode_counters(&value).map_err(at)?,
        }
    }
    let mut tables = Tables::new();
    for (name, record) in records {
        let TableRecord { config, spaces } = record;
        let starts = std::iter::once(Bytes::new()).chain(config.split_points.iter().cloned());
        let ends = config.split_points.iter().cloned().map(Some).chain([None]);
        let mut tablets = Vec::new();
        for ((start, end), ids) in starts.zip(ends).zip(spaces) {
            let mut spaces = Vec::new();
            for (family, id) in config.families.iter().zip(ids) {
                let keyspace_name = space_name(id);
                if !db.keyspace_exists(&keyspace_name) {
                    return Err(admin::missing_space(path, &name, id));
                }
                let keyspace = db
                    .keyspace(&keyspace_name, KeyspaceCreateOptions::default)
                    .map_err(|error| error::of_fjall(path, "opening", error, None))?;
                let policy = registry.policy(&keyspace_name);
                policy.rule.store(family.gc_rule.clone().map(Arc::new));
                policy.set_settled(settled.get(&id).copied().unwrap_or(false));
                policy.touch();
                spaces.push(Space { id, keyspace, policy });
            }
            let counters = admin::no_counters();
            tablets.push(Arc::new(Tablet { range: RowRange { start, end }, spaces, counters }));
        }
        tables.insert(name.clone(), Arc::new(Table { name, config, tablets }));
    }
    Ok((tables, counters))
}

/// Deletes keyspaces that no table names: a crash left them behind. Answers with those that are kept as spares.
fn delete_unnamed(
    db: &Database,
    meta: &Keyspace,
    registry: &Registry,
    tables: &Tables,
    counters: CountersRecord,
    spares_max: usize,
) -> Spares {
    let tablets = tables.values().flat_map(|table| &table.tablets);
    let mut named: HashSet<String> =
        tablets.flat_map(|tablet| &tablet.spaces).map(|space| space_name(space.id)).collect();
    named.insert(META_KEYSPACE.to_owned());
    let mut names = db.list_keyspace_names();
    names.retain(|name| !named.contains(&**name));
    let mut spares = Spares::default();
    names.retain(|name| {
        let space = unnamed_space(db, registry, name);
        !space.is_some_and(|space| spares.adopt(db, &space, spares_max))
    });
    if names.is_empty() {
        return spares;
    }
    raw::skip_numbers(db);
    let mut batch = db.batch().durability(Some(PersistMode::SyncData));
    batch.insert(meta, meta::COUNTERS_KEY, meta::encode_counters(counters));
    if batch.commit().is_err() {
        // The next write says why.
        return spares;
    }
    for name in names {
        if let Ok(keyspace) = db.keyspace(&name, KeyspaceCreateOptions::default) {
            registry.forget(&name);
            let _ = db.delete_keyspace(keyspace);
        }
    }
    spares
}

/// A keyspace that no table names.
fn unnamed_space(db: &Database, registry: &Registry, name: &str) -> Option<Space> {
    let id = name.strip_prefix('d')?.parse().ok().filter(|id| space_name(*id) == name)?;
    let keyspace = db.keyspace(name, KeyspaceCreateOptions::default).ok()?;
    Some(Space { id, keyspace, policy: registry.policy(name) })
}

/// The files of the log.
fn logs(data: &Path) -> Vec<PathBuf> {
    let mut files = damage::entries(data);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jnl"));
    files
}

/// Empties the log of the store at `path`, all of which must be in tables. The files stay: fjall finds its numbers only if there is one.
pub(crate) fn empty_logs(path: &Path) -> Result<()> {
    for log in logs(&path.join(DATA_FOLDER)) {
        let emptied = File::options().write(true).open(&log).and_then(|file| {
            file.set_len(0)?;
            file.sync_all()
        });
        emptied.map_err(|error| error::of_io(&log, "emptying", error))?;
    }
    Ok(())
}
