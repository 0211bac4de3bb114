//! Opening: folders that are no store, formats, locks, damage.

use crate::{Random, folder};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{Engine, EngineExt as _, Error, ErrorKind, ManualClock, ReadRequest, RowRange};
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
    drop(LsmEngine::open(&path, options(true)).unwrap());
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

#[test]
fn damage_is_reported_and_never_read_as_data() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = LsmEngine::open(&path, options(true)).unwrap();
    engine.create("t", &[("f", "never")]).unwrap();
    for number in 0..300u32 {
        let value = Bytes::from(number.to_string().repeat(20));
        engine.set_cells("t", format!("{number:05}").as_bytes(), &[("f", b"q", 0, &value)]).unwrap();
    }
    engine.compact("t").unwrap();
    drop(engine);
    let whole = read(&path).unwrap();
    let mut random = Random(4);
    let mut reported = 0;
    for file in files(&path) {
        for change in 0..6 {
            let trial = folder.path().join("trial");
            copy(&path, &trial);
            let target = trial.join(file.strip_prefix(&path).unwrap());
            let mut bytes = fs::read(&target).unwrap();
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1) as u64;
            match change {
                0 => bytes.truncate(usize::try_from(used / 2).unwrap()),
                1 => bytes.clear(),
                _ if used > 0 => bytes[usize::try_from(random.below(used)).unwrap()] ^= 1 << random.below(8),
                _ => {}
            }
            fs::write(&target, bytes).unwrap();
            let name = target.strip_prefix(&trial).unwrap().display().to_string();
            match read(&trial) {
                Err(error) => {
                    let expected = [ErrorKind::Corrupt, ErrorKind::Unavailable, ErrorKind::NotFound];
                    assert!(expected.contains(&error.kind()), "{name}, change {change}: {error}");
                    assert!(error.to_string().contains(&trial.display().to_string()), "{error}");
                    if name.contains("/tables/") {
                        assert!(error.to_string().contains(&name), "{name}, change {change}: {error}");
                    }
                    reported += 1;
                }
                // Damage that nothing depends on, or an older state of the log.
                Ok(rows) => assert!(rows.iter().all(|row| whole.contains(row)), "{name}, change {change}"),
            }
            fs::remove_dir_all(&trial).unwrap();
        }
    }
    assert!(reported > 10, "{reported}");
}
