//! Reads that are watched.

use super::*;
use crate::memory::MemoryEngine;
use crate::{Engine as _, EngineExt as _, ErrorKind, ManualClock};

fn engine(rows: u32) -> MemoryEngine {
    let engine = MemoryEngine::new(Arc::new(ManualClock::new(0)));
    engine.create("t", &[("a", "never"), ("b", "never")]).unwrap();
    for row in 0..rows {
        let key = format!("r{row:04}");
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, b"v"), ("b", b"q", 0, b"v")]).unwrap();
    }
    engine
}

fn watched(filter: Filter) -> (Arc<Watch>, ReadRequest) {
    let watch = Watch::new();
    let request = ReadRequest { filter: Some(filter), watch: Some(Arc::clone(&watch)), ..ReadRequest::all() };
    (watch, request)
}

#[test]
fn rows_and_cells_are_counted_before_the_filter() {
    let engine = engine(200);
    let check = |filter: Filter, returned: usize, rows: u64, cells: u64| {
        let (watch, request) = watched(filter);
        assert_eq!(engine.read_all("t", &request).unwrap().len(), returned);
        assert_eq!((watch.rows_seen(), watch.cells_seen()), (rows, cells), "{request:?}");
    };
    check(Filter::PassAll, 200, 200, 400);
    check(Filter::CellsPerRowLimit(1), 200, 200, 400);
    check(Filter::ValueRegex("x".into()), 0, 200, 400);
    check(Filter::RowKeyRegex(".*7".into()), 20, 200, 40);
    check(Filter::RowKeyRegex("r019.".into()), 10, 10, 20);
    check(Filter::FamilyRegex("b".into()), 200, 200, 200);
}

#[test]
fn a_read_that_lets_nothing_through_tells_how_far_it_came() {
    let (watch, request) = watched(Filter::ValueRegex("x".into()));
    assert_eq!(watch.last_key(), "");
    assert!(engine(200).read_all("t", &request).unwrap().is_empty());
    assert_eq!(watch.last_key(), "r0191");
}

#[test]
fn a_cancelled_read_ends_at_the_next_row() {
    let engine = engine(10);
    let (watch, request) = watched(Filter::PassAll);
    let mut rows = engine.snapshot("t").unwrap().read_rows(&request).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().key, "r0000");
    watch.cancel();
    let error = rows.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.to_string().contains("cancelled before row `r0001`"), "{error}");
    assert!(rows.next().is_none());
    // Also if nothing comes out.
    let (watch, request) = watched(Filter::BlockAll);
    watch.cancel();
    assert_eq!(engine.read_all("t", &request).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(watch.rows_seen(), 1);
}
