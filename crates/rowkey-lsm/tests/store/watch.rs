//! Reads that are watched from another thread, and what a filter spares.

use crate::folder;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{Engine as _, EngineExt as _, ErrorKind, Filter, ManualClock, ReadRequest, Watch};
use std::sync::Arc;

fn engine(path: &std::path::Path, rows: u32) -> LsmEngine {
    let engine = LsmEngine::open(path, Options::tiny(Arc::new(ManualClock::new(0)))).unwrap();
    engine.create("t", &[("a", "never"), ("b", "never")]).unwrap();
    for row in 0..rows {
        let key = format!("r{row:03}");
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, b"v"), ("b", b"q", 0, b"v")]).unwrap();
    }
    engine
}

fn watched(filter: Option<Filter>) -> (Arc<Watch>, ReadRequest) {
    let watch = Watch::new();
    let request = ReadRequest { filter, watch: Some(Arc::clone(&watch)), ..ReadRequest::all() };
    (watch, request)
}

#[test]
fn rows_and_cells_are_counted_before_the_filter() {
    let folder = folder();
    let engine = engine(&folder.path().join("store"), 100);
    let check = |filter: Option<Filter>, reversed: bool, returned: usize, rows: u64, cells: u64| {
        let (watch, request) = watched(filter);
        let request = ReadRequest { reversed, ..request };
        assert_eq!(engine.read_all("t", &request).unwrap().len(), returned, "{request:?}");
        assert_eq!((watch.rows_seen(), watch.cells_seen()), (rows, cells), "{request:?}");
    };
    check(None, false, 100, 100, 200);
    for reversed in [false, true] {
        check(Some(Filter::ValueRegex("x".into())), reversed, 0, 100, 200);
        // Of the rows whose key does not match no cell is looked at.
        check(Some(Filter::RowKeyRegex(".*7".into())), reversed, 10, 100, 20);
        // Of the others not even the key, where the pattern says how one begins.
        check(Some(Filter::RowKeyRegex("r09\\C+".into())), reversed, 10, 10, 20);
        check(Some(Filter::RowKeyRegex("r042".into())), reversed, 1, 1, 2);
        check(Some(Filter::FamilyRegex("b".into())), reversed, 100, 100, 100);
    }
}

#[test]
fn a_cancelled_read_ends_at_the_next_row_examined() {
    let folder = folder();
    let engine = engine(&folder.path().join("store"), 20);
    for filter in [None, Some(Filter::StripValue)] {
        let (watch, request) = watched(filter);
        let mut rows = engine.snapshot("t").unwrap().read_rows(&request).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().key, "r000");
        watch.cancel();
        assert_eq!(rows.next().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(rows.next().is_none());
        assert_eq!(watch.rows_seen(), 2);
    }
    let (watch, request) = watched(Some(Filter::BlockAll));
    watch.cancel();
    assert_eq!(engine.read_all("t", &request).unwrap_err().kind(), ErrorKind::Cancelled);
}
