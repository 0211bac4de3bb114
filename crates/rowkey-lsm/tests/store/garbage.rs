//! Garbage collection: what it takes, what it gives back, and that nothing else changes.

use crate::folder;
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    Durability, Engine, EngineExt as _, FamilyChange, GarbageReport, ManualClock, Mutation, ReadRequest,
    RowMutation, RowRange, Timestamp, gc,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn files_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            bytes += files_bytes(&path);
        } else if path.extension().is_none_or(|extension| extension != "jnl") {
            bytes += entry.metadata().unwrap().len();
        }
    }
    bytes
}

/// Writes rows of 1 KiB each at this time.
fn fill(engine: &LsmEngine, rows: std::ops::Range<u32>, time_us: i64) {
    let value = Bytes::from((0..1024u32).map(|byte| (byte * byte % 251) as u8).collect::<Vec<_>>());
    let row = |row: u32| RowMutation {
        key: format!("{row:08}").into(),
        mutations: vec![Mutation::set(
            "f",
            Bytes::from_static(b"q"),
            Timestamp::Micros(time_us),
            value.clone(),
        )],
    };
    engine.mutate_all("t", rows.map(row).collect(), Durability::Buffered).unwrap();
}

fn totals(reports: &[GarbageReport]) -> (u64, u64) {
    (
        reports.iter().map(|report| report.live_cells).sum(),
        reports.iter().map(|report| report.expired_cells).sum(),
    )
}

#[test]
fn expired_cells_are_read_until_they_are_collected_and_then_give_their_space_back() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(10_000_000));
    let engine = LsmEngine::open(&folder.path().join("store"), Options::tiny(clock.clone())).unwrap();
    engine.create("t", &[("f", "maxage=5s")]).unwrap();
    fill(&engine, 0..2_000, 6_000_000);
    fill(&engine, 2_000..2_500, 9_000_000);
    let count = |live| {
        let request = ReadRequest { rows: RowRange::all().into(), live, ..ReadRequest::default() };
        engine.read_all("t", &request).unwrap().len()
    };
    engine.compact("t").unwrap();
    clock.set(12_000_000);
    assert_eq!((count(false), count(true)), (2_500, 500));
    assert_eq!(totals(&engine.garbage("t").unwrap()), (500, 2_000));
    let before = files_bytes(folder.path());
    assert_eq!(totals(&engine.collect_garbage("t").unwrap()), (500, 2_000));
    assert_eq!((count(false), count(true)), (500, 500));
    assert_eq!(totals(&engine.garbage("t").unwrap()), (500, 0));
    let after = files_bytes(folder.path());
    assert!(after * 3 < before, "{before} bytes before, {after} after");
}

#[test]
fn the_background_collects_when_more_than_a_quarter_is_expired() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(10_000_000));
    let options = Options {
        background_gc: true,
        background_gc_interval: Duration::from_millis(1),
        ..Options::tiny(clock.clone())
    };
    let engine = LsmEngine::open(&folder.path().join("store"), options).unwrap();
    engine.create("t", &[("f", "maxage=5s"), ("g", "maxversions=1")]).unwrap();
    fill(&engine, 0..100, 6_000_000);
    for time in 1..10 {
        engine.set_cells("t", b"x", &[("g", b"q", time * 1000, b"v")]).unwrap();
    }
    clock.set(12_000_000);
    while totals(&engine.garbage("t").unwrap()) != (1, 0) {
        std::thread::yield_now();
    }
}

#[test]
fn versions_written_out_of_order_are_collected_as_well() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(10_000_000));
    let engine = LsmEngine::open(&folder.path().join("store"), Options::tiny(clock)).unwrap();
    engine.create("t", &[("f", "maxversions=1")]).unwrap();
    for time in [5, 9, 3, 7, 1] {
        engine.set_cells("t", b"r", &[("f", b"q", time * 1000, b"v")]).unwrap();
        engine.set_cells("t", b"s", &[("f", b"q", (10 - time) * 1000, b"v")]).unwrap();
    }
    assert_eq!(totals(&engine.collect_garbage("t").unwrap()), (2, 8));
    assert_eq!(totals(&engine.garbage("t").unwrap()), (2, 0));
    let rows = engine
        .read_all("t", &ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() })
        .unwrap();
    assert_eq!(rows.iter().map(|row| row.cells[0].timestamp_us).collect::<Vec<_>>(), [9_000, 9_000]);
}

/// fjall replays its log from the highest number in the files on; a collection that took the newest pair must not let that number fall,
/// or what it took would come back when the store is opened.
#[test]
fn what_was_collected_does_not_come_back_from_the_log() {
    let folder = folder();
    let path = folder.path().join("store");
    let clock = Arc::new(ManualClock::new(10_000_000));
    let engine = LsmEngine::open(&path, Options::tiny(clock.clone())).unwrap();
    engine.create("t", &[("f", "maxversions=1")]).unwrap();
    engine.set_cells("t", b"r", &[("f", b"q", 5_000, b"newer")]).unwrap();
    engine.set_cells("t", b"r", &[("f", b"q", 1_000, b"late")]).unwrap();
    engine.collect_garbage("t").unwrap();
    let column = |times_us| Mutation::DeleteFromColumn {
        family: "f".into(),
        qualifier: Bytes::from_static(b"q"),
        times_us,
    };
    engine.mutate_row("t", "r", vec![column(Some(5_000..6_000))]).unwrap();
    assert_eq!(engine.read_row("t", b"r").unwrap(), None);
    drop(engine);
    let engine = LsmEngine::open(&path, Options::tiny(clock)).unwrap();
    assert_eq!(engine.read_row("t", b"r").unwrap(), None);
}

#[test]
fn a_looser_rule_keeps_what_the_tighter_one_would_take_next() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(10_000_000));
    let engine = LsmEngine::open(&folder.path().join("store"), Options::tiny(clock)).unwrap();
    engine.create("t", &[("f", "maxversions=1")]).unwrap();
    for time in [1, 2, 3] {
        engine.set_cells("t", b"r", &[("f", b"q", time * 1000, b"v")]).unwrap();
    }
    let rule =
        FamilyChange::SetGcRule { family: "f".into(), gc_rule: gc::parse_rule("maxversions=2").unwrap() };
    engine.modify_families("t", &[rule]).unwrap();
    engine.collect_garbage("t").unwrap();
    let row = engine.read_row("t", b"r").unwrap().unwrap();
    assert_eq!(row.cells.iter().map(|cell| cell.timestamp_us).collect::<Vec<_>>(), [3_000, 2_000]);
}
