//! Backup and restore: the same rows, all or nothing, damage by offset.

use crate::{Random, folder};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{Engine, EngineExt as _, ErrorKind, ManualClock, Mutation, ReadRequest, Row, RowRange};
use std::path::Path;
use std::sync::Arc;

fn open(path: &Path) -> LsmEngine {
    LsmEngine::open(path, Options::tiny(Arc::new(ManualClock::new(1_000_000)))).unwrap()
}

fn all(engine: &LsmEngine) -> Vec<Row> {
    let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    engine.read_all("t", &request).unwrap()
}

/// A store with a table of two families, overwritten and deleted cells, two tablets and an annotation.
fn filled(path: &Path) -> LsmEngine {
    let engine = open(path);
    engine.create("t", &[("a", "maxversions=2"), ("b", "never")]).unwrap();
    let mut random = Random(11);
    for _ in 0..400 {
        let row = format!("row{}\0", random.below(100));
        let value = vec![7; usize::try_from(random.below(2_000)).unwrap()];
        let time = 1000 * i64::try_from(random.below(5)).unwrap();
        engine.set_cells("t", row.as_bytes(), &[("a", b"q", time, &value), ("b", b"", time, b"x")]).unwrap();
    }
    engine.mutate_row("t", "row7\0", vec![Mutation::DeleteFromRow]).unwrap();
    engine.split_tablet("t", &Bytes::from_static(b"row5")).unwrap();
    engine.annotate_table("t", "note", Some(Bytes::from_static(b"kept"))).unwrap();
    engine
}

fn backup(engine: &LsmEngine) -> Vec<u8> {
    let mut stream = Vec::new();
    engine.backup("t", &mut stream).unwrap();
    stream
}

#[test]
fn a_restored_table_is_the_same_and_can_be_written() {
    let folder = folder();
    let source = filled(&folder.path().join("source"));
    let target = open(&folder.path().join("target"));
    let stream = backup(&source);
    assert_eq!(target.restore(&mut &stream[..]).unwrap(), "t");
    assert_eq!(all(&target), all(&source));
    assert_eq!(target.table_config("t").unwrap(), source.table_config("t").unwrap());
    assert_eq!(target.restore(&mut &stream[..]).unwrap_err().kind(), ErrorKind::AlreadyExists);
    target.mutate_row("t", "row8\0", vec![Mutation::DeleteFromRow]).unwrap();
    drop(target);
    let target = open(&folder.path().join("target"));
    assert_eq!(all(&target).len() + 1, all(&source).len());
}

#[test]
fn a_damaged_backup_restores_nothing_and_says_where() {
    let folder = folder();
    let stream = backup(&filled(&folder.path().join("source")));
    let target = open(&folder.path().join("target"));
    let refused = |stream: &[u8]| {
        let error = target.restore(&mut &stream[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(target.list_tables().unwrap().is_empty());
        error.to_string()
    };
    let mut random = Random(2);
    for _ in 0..60 {
        let len = usize::try_from(random.below(stream.len() as u64)).unwrap();
        let _ = refused(&stream[..len]);
        let mut changed = stream.clone();
        changed[len] ^= 1 << random.below(8);
        let _ = refused(&changed);
    }
    assert!(refused(&stream[..stream.len() - 1]).contains(&format!("at byte {}", stream.len() - 8)));
    assert!(refused(b"a,b,c\n1,2,3\n").contains("no backup"));
    assert_eq!(target.restore(&mut &stream[..]).unwrap(), "t");
}
