//! What the golden scripts cannot say; the rest is in `testscripts/`.

use super::*;
use crate::{EngineExt, Mutation, RowRange};

fn engine() -> MemoryEngine {
    MemoryEngine::new(Arc::new(crate::ManualClock::new(0)))
}

#[test]
fn a_stream_ends_at_its_limit_and_stays_ended() {
    let engine = engine();
    engine.create("t", &[("a", "never")]).unwrap();
    for key in ["r1", "r2", "r3"] {
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, b"v")]).unwrap();
    }
    let request = ReadRequest { rows: crate::RowSet::all(), rows_max: Some(2), ..ReadRequest::default() };
    let mut rows = engine.read_rows("t", &request).unwrap();
    assert_eq!(rows.by_ref().count(), 2);
    assert!(rows.next().is_none());
}

#[test]
fn readers_on_other_threads_see_whole_rows_only() {
    let engine = Arc::new(engine());
    engine.create("t", &[("a", "maxversions=1"), ("b", "maxversions=1")]).unwrap();
    let write = |n: i64| {
        let cells = ["a", "b"].map(|family| Mutation::set(family, "q", Timestamp::Micros(0), n.to_string()));
        engine.mutate_row("t", "row", cells.into()).unwrap();
    };
    write(0);
    std::thread::scope(|scope| {
        scope.spawn(|| (1..2000).for_each(write));
        for _ in 0..2000 {
            let row = engine.read_row("t", b"row").unwrap().unwrap();
            assert_eq!(row.cells[0].value, row.cells[1].value);
        }
    });
}

#[test]
fn what_is_counted_on_a_tablet_stays_with_its_first_part() {
    let engine = engine();
    engine.create("t", &[("a", "never")]).unwrap();
    engine.set_cells("t", b"r9", &[("a", b"q", 0, b"v")]).unwrap();
    engine.split_tablet("t", &"r5".into()).unwrap();
    let tablets = engine.tablets("t").unwrap();
    assert_eq!(tablets[1].range, RowRange { start: "r5".into(), end: None });
    assert_eq!((tablets[0].writes, tablets[0].cells, tablets[1].writes, tablets[1].cells), (1, 0, 0, 1));
}
