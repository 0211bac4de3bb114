//! Opening: folders that are no store, formats, locks, damage.

use crate::{Random, folder};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{DropScope, Engine, EngineExt as _, Error, ErrorKind, ManualClock, ReadRequest, RowRange};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn options(create: bool) -> Options {
    Options { create, ..Options::tiny(Arc::new(ManualClock::new(1_000_000))) }
}

fn refused(path: &Path, create: bool, kind: ErrorKind, part: &str) {
    let error = LsmEngine::open(path, options(create)).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(text.contains(part) && text.contains(&path.display().to_string()), "{text}");
}

#[test]
fn what_is_no_store_is_refused_by_name() {
    let folder = folder();
    let missing = folder.path().join("missing");
    refused(&missing, false, ErrorKind::NotFound, "no store");
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    refused(&file, true, ErrorKind::Invalid, "is a file");
    refused(folder.path(), true, ErrorKind::Invalid, "other files");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    refused(&empty, false, ErrorKind::NotFound, "no store yet");
    drop(LsmEngine::open(&empty, options(true)).unwrap());
    drop(LsmEngine::open(&empty, options(false)).unwrap());
}

#[test]
fn one_process_has_a_store_open_and_closing_gives_it_free() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = LsmEngine::open(&path, options(true)).unwrap();
    refused(&path, true, ErrorKind::Conflict, "in use");
    engine.create("t", &[("f", "never")]).unwrap();
    engine.close();
    assert_eq!(engine.list_tables().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(
        engine.set_cells("t", b"r", &[("f", b"q", 0, b"")]).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    assert_eq!(engine.sync().unwrap_err().kind(), ErrorKind::Unavailable);
    let again = LsmEngine::open(&path, options(false)).unwrap();
    assert_eq!(again.list_tables().unwrap(), ["t"]);
}

#[test]
fn a_scan_that_is_held_past_closing_says_so() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = LsmEngine::open(&path, options(true)).unwrap();
    engine.create("t", &[("f", "never")]).unwrap();
    for row in [b"a", b"b", b"c"] {
        engine.set_cells("t", row, &[("f", b"q", 0, b"")]).unwrap();
    }
    let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    let snapshot = engine.snapshot("t").unwrap();
    let mut scan = snapshot.read_rows(&request).unwrap();
    scan.next().unwrap().unwrap();
    engine.close();
    let error = scan.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("is closed: open it again"), "{error}");
    assert!(scan.next().is_none());
    assert!(snapshot.read_rows(&request).is_err_and(|error| error.kind() == ErrorKind::Unavailable));
    refused(&path, false, ErrorKind::Conflict, "snapshots or scans of it are still held");
    drop((scan, snapshot));
    drop(LsmEngine::open(&path, options(false)).unwrap());
}

/// fjall takes the number of a keyspace that was deleted for a new one, and goes on numbering its own records from what its log holds: the
/// new keyspace was then as old as the deletion, and gone when the store was opened next.
#[test]
fn tables_made_and_dropped_in_many_sessions_stay_what_they_are() {
    for log_bytes_kept in [0, u64::MAX] {
        let folder = folder();
        let path = folder.path().join("store");
        let open = || LsmEngine::open(&path, Options { log_bytes_kept, ..options(true) }).unwrap();
        let families = [("f", "never"), ("g", "never"), ("h", "never")];
        for round in 0..6 {
            open().create("t", &families).unwrap();
            if round % 2 == 1 {
                open().set_cells("t", b"row", &[("f", b"q", round * 1000, b"")]).unwrap();
            }
            open().drop_table("t").unwrap();
        }
        open().create("t", &families).unwrap();
        for number in 0..3 {
            open().set_cells("t", b"row", &[("f", b"q", number * 1000, b"")]).unwrap();
        }
        let row = open().read_row("t", b"row").unwrap().unwrap();
        assert_eq!(row.cells.iter().map(|cell| cell.timestamp_us).collect::<Vec<_>>(), [2000, 1000, 0]);
    }
}

/// A table that is made gets what a dropped one left, and none of its rows; its rules are its own.
#[test]
fn tables_that_come_and_go_share_files_and_nothing_else() {
    let folder = folder();
    let path = folder.path().join("store");
    let folders = || std::fs::read_dir(path.join("data/keyspaces")).unwrap().count();
    let mut most = 0;
    for session in 0..4i64 {
        let engine = LsmEngine::open(&path, options(true)).unwrap();
        for table in 0..40i64 {
            let name = format!("t{session}-{table}");
            let families = [("a", if table % 2 == 0 { "maxversions=1" } else { "never" }), ("b", "never")];
            engine.create(&name, &families[..=usize::from(table % 3 == 0)]).unwrap();
            assert_eq!(engine.read_all(&name, &ReadRequest::all()).unwrap(), [], "{name}");
            for time in [1_000, 2_000] {
                let time = time + 10_000 * (40 - table);
                engine.set_cells(&name, b"row", &[("a", b"q", time, name.as_bytes())]).unwrap();
            }
            if table % 8 == 7 {
                engine.compact(&name).unwrap();
            }
            let rows = engine.read_all(&name, &ReadRequest { live: true, ..ReadRequest::all() }).unwrap();
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0].cells.len(), if table % 2 == 0 { 1 } else { 2 }, "{name}");
            assert!(rows[0].cells.iter().all(|cell| cell.value == name), "{rows:?}");
            // One of each session stays.
            if table != 20 {
                engine.drop_table(&name).unwrap();
            }
        }
        drop(engine);
        most = most.max(folders());
    }
    assert!(most < 40, "{most} keyspaces for 4 tables");
    let engine = LsmEngine::open(&path, options(true)).unwrap();
    for session in 0..4 {
        let name = format!("t{session}-20");
        let rows = engine.read_all(&name, &ReadRequest { live: true, ..ReadRequest::all() }).unwrap();
        assert_eq!((rows.len(), rows[0].cells.len()), (1, 1));
        assert_eq!(rows[0].cells[0].value, name);
    }
    assert_eq!(engine.list_tables().unwrap().len(), 4);
}

#[test]
fn a_long_log_is_emptied_on_closing_and_a_short_one_is_kept() {
    let folder = folder();
    let path = folder.path().join("store");
    let open = || LsmEngine::open(&path, Options { log_bytes_kept: 8 << 10, ..options(true) }).unwrap();
    let log_bytes = || -> u64 {
        let logs = files(&path).into_iter().filter(|file| file.extension().is_some_and(|name| name == "jnl"));
        logs.map(|log| log.metadata().unwrap().len()).sum()
    };
    open().create("t", &[("f", "never"), ("g", "never")]).unwrap();
    for round in 0..10u8 {
        let engine = open();
        engine.set_cells("t", &[round, 0], &[("f", b"q", 0, b"short")]).unwrap();
        drop(engine);
        drop(open());
        assert!(log_bytes() > 0);
        let engine = open();
        engine.set_cells("t", &[round, 1], &[("f", b"q", 0, &[7; 9 << 10])]).unwrap();
        engine.drop_rows("t", &DropScope::Prefix(Bytes::copy_from_slice(&[round, 0]))).unwrap();
        drop(engine);
        assert_eq!(log_bytes(), 0);
    }
    let rows = read(&path).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.key[..].to_vec()).collect::<Vec<_>>(),
        (0..10).map(|round| vec![round, 1]).collect::<Vec<_>>()
    );
}

#[test]
fn another_format_is_refused_with_both_versions() {
    let folder = folder();
    let path = folder.path().join("store");
    drop(LsmEngine::open(&path, options(true)).unwrap());
    fs::write(path.join("ROWKEY-STORE"), "rowkey store, format 2\n").unwrap();
    refused(&path, true, ErrorKind::Corrupt, "format 2");
    fs::write(path.join("ROWKEY-STORE"), [0xff; 3000]).unwrap();
    refused(&path, true, ErrorKind::Corrupt, "format 1");
}

#[test]
fn a_store_that_was_being_made_is_made_again() {
    let folder = folder();
    let path = folder.path().join("store");
    drop(LsmEngine::open(&path, options(true)).unwrap());
    fs::remove_file(path.join("ROWKEY-STORE")).unwrap();
    fs::remove_file(path.join("ACKNOWLEDGED")).unwrap();
    drop(LsmEngine::open(&path, options(true)).unwrap());
}

/// The folder was taken for a store that was being made, and all of its data was removed.
#[test]
fn a_store_without_its_format_is_not_made_anew_over_its_data() {
    let folder = folder();
    let path = folder.path().join("store");
    filled(&path, 1);
    let format = fs::read(path.join("ROWKEY-STORE")).unwrap();
    fs::remove_file(path.join("ROWKEY-STORE")).unwrap();
    refused(&path, true, ErrorKind::Corrupt, "ROWKEY-STORE is missing");
    refused(&path, false, ErrorKind::Corrupt, "ROWKEY-STORE is missing");
    fs::write(path.join("ROWKEY-STORE"), format).unwrap();
    assert_eq!(read(&path).unwrap().len(), 310);
}

#[test]
fn a_log_that_lost_its_end_is_reported() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = LsmEngine::open(&path, options(true)).unwrap();
    engine.create("t", &[("f", "never")]).unwrap();
    for number in 0..20 {
        engine.set_cells("t", b"r", &[("f", b"q", number * 1000, b"value")]).unwrap();
    }
    drop(engine);
    let journal =
        files(&path).into_iter().find(|file| file.extension().is_some_and(|extension| extension == "jnl"));
    let journal = journal.unwrap();
    let mut bytes = fs::read(&journal).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[end - 300..].fill(0);
    fs::write(&journal, bytes).unwrap();
    let engine = LsmEngine::open(&path, options(false)).unwrap();
    assert!(engine.warnings()[0].contains("the last writes are lost"), "{:?}", engine.warnings());
    let row = engine.read_row("t", b"r").unwrap().unwrap();
    assert!((5..20).contains(&row.cells.len()), "{}", row.cells.len());
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            let _ = fs::copy(source, target).unwrap();
        }
    }
}

/// Opens the store and reads all of it.
fn read(path: &Path) -> Result<Vec<rowkey_store::Row>, Error> {
    let engine = LsmEngine::open(path, options(false))?;
    let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    let mut rows = Vec::new();
    for table in engine.list_tables()? {
        rows.extend(engine.read_all(&table, &request)?);
    }
    Ok(rows)
}

/// The files of tables that the lost log had named were deleted as leftovers of a crash.
#[test]
fn files_stay_when_the_log_that_names_them_is_lost() {
    let folder = folder();
    let path = folder.path().join("store");
    let open = || LsmEngine::open(&path, Options { log_bytes_kept: u64::MAX, ..options(true) }).unwrap();
    let engine = open();
    engine.create("t", &[("f", "never")]).unwrap();
    engine.set_cells("t", b"r", &[("f", b"q", 0, b"value")]).unwrap();
    engine.compact("t").unwrap();
    drop(engine);
    let log = path.join("data/0.jnl");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, b"").unwrap();
    for _ in 0..2 {
        let engine = open();
        assert!(engine.warnings()[0].contains("the last writes are lost"), "{:?}", engine.warnings());
        assert!(engine.list_tables().unwrap().is_empty());
    }
    fs::write(&log, bytes).unwrap();
    let engine = open();
    assert!(engine.warnings().is_empty());
    assert_eq!(engine.read_row("t", b"r").unwrap().unwrap().cells[0].value, "value");
}

/// A store with rows in files and in the log, the same in size whatever the seed is.
fn filled(path: &Path, seed: u32) {
    let engine = LsmEngine::open(path, options(true)).unwrap();
    engine.create("t", &[("f", "never")]).unwrap();
    let write = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let value = Bytes::from((10_000 + seed * 1_000 + number).to_string().repeat(20));
            engine.set_cells("t", format!("{number:05}").as_bytes(), &[("f", b"q", 0, &value)]).unwrap();
        }
    };
    write(0..300);
    engine.compact("t").unwrap();
    write(300..310);
}

/// What can happen to a file.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Halved,
    Emptied,
    Zeroed,
    Deleted,
    /// The file of the same name of another store.
    Swapped,
    BitFlipped,
}

fn harm(target: &Path, other: &Path, harm: Harm, random: &mut Random) {
    let mut bytes = fs::read(target).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    match harm {
        Harm::Halved => bytes.truncate(used / 2),
        Harm::Emptied => bytes.clear(),
        Harm::Zeroed => bytes[..used].fill(0),
        Harm::Deleted => return fs::remove_file(target).unwrap(),
        Harm::Swapped => bytes = fs::read(other).unwrap_or_default(),
        Harm::BitFlipped if used > 0 => {
            bytes[usize::try_from(random.below(used as u64)).unwrap()] ^= 1 << random.below(8);
        }
        Harm::BitFlipped => {}
    }
    fs::write(target, bytes).unwrap();
}

#[test]
fn damage_is_reported_and_never_read_as_data() {
    use Harm::{BitFlipped, Deleted, Emptied, Halved, Swapped, Zeroed};
    let folder = folder();
    let (path, other) = (folder.path().join("store"), folder.path().join("other"));
    filled(&path, 1);
    filled(&other, 2);
    let whole = read(&path).unwrap();
    let mut random = Random(4);
    let mut reported = 0;
    for file in files(&path) {
        for change in
            [Halved, Emptied, Zeroed, Deleted, Swapped, BitFlipped, BitFlipped, BitFlipped, BitFlipped]
        {
            let trial = folder.path().join("trial");
            copy(&path, &trial);
            let name = file.strip_prefix(&path).unwrap();
            let target = trial.join(name);
            harm(&target, &other.join(name), change, &mut random);
            let name = name.display().to_string();
            match read(&trial) {
                Err(error) => {
                    let expected = [ErrorKind::Corrupt, ErrorKind::Unavailable, ErrorKind::NotFound];
                    assert!(expected.contains(&error.kind()), "{name}, {change:?}: {error}");
                    assert!(error.to_string().contains(&trial.display().to_string()), "{error}");
                    if name.contains("/tables/") {
                        // A table that is missing is known by its keyspace only.
                        let missing = name.split_once("/tables/").unwrap().0;
                        let name = if matches!(change, Deleted) { missing } else { &name };
                        assert!(error.to_string().contains(name), "{name}, {change:?}: {error}");
                    }
                    reported += 1;
                }
                // A whole table or log of another store is not told from the store's own, see `docs/formats/store.md`.
                Ok(_)
                    if matches!(change, Swapped) && (name.contains("/tables/") || name.contains(".jnl")) => {}
                // Damage that nothing depends on, or an older state of the log.
                Ok(rows) => assert!(rows.iter().all(|row| whole.contains(row)), "{name}, {change:?}"),
            }
            fs::remove_dir_all(&trial).unwrap();
        }
    }
    assert!(reported > 50, "{reported}");
}
