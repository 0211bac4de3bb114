//! A reader never sees half a row, and a snapshot never changes: fjall's own snapshots can show half a batch when a flush ends at
//! the wrong moment, so this provokes flushes. `ROWKEY_TORN_READS` sets the number of reads.

use crate::{folder, rounds};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    Durability, Engine, EngineExt as _, ManualClock, Mutation, ReadRequest, RowMutation, RowRange, Timestamp,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const COLUMNS: u64 = 60;

fn row(table_families: &[&str], number: u64) -> RowMutation {
    let value = Bytes::copy_from_slice(&number.to_be_bytes());
    let set = |family: &str, column: u64| {
        let qualifier = Bytes::copy_from_slice(&column.to_be_bytes());
        Mutation::set(family, qualifier, Timestamp::Micros(1000), value.clone())
    };
    let mutations =
        table_families.iter().flat_map(|family| (0..COLUMNS).map(|column| set(family, column))).collect();
    RowMutation { key: "row".into(), mutations }
}

#[test]
fn no_read_sees_half_a_row() {
    let folder = folder();
    // Reads of the one row make one fragment of its many, or each would take longer than the one before.
    let options = Options {
        worker_threads: 2,
        background_gc: true,
        background_gc_interval: Duration::from_secs(3600),
        ..Options::tiny(Arc::new(ManualClock::new(1_000_000)))
    };
    let engine = LsmEngine::open(&folder.path().join("store"), options).unwrap();
    engine.create("t", &[("a", "maxversions=1"), ("b", "never")]).unwrap();
    engine.create("junk", &[("j", "never")]).unwrap();
    engine.mutate_all("t", vec![row(&["a", "b"], 0)], Durability::Buffered).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                engine.mutate_all("t", vec![row(&["a", "b"], number)], Durability::Buffered).unwrap();
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                engine.set_cells("junk", b"row", &[("j", b"q", 1000, &[1; 2000])]).unwrap();
            }
        });
        let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
        for _ in 0..rounds("ROWKEY_TORN_READS", 300) {
            let snapshot = engine.snapshot("t").unwrap();
            let read = || -> Vec<Bytes> {
                let rows: Vec<_> = snapshot.read_rows(&request).unwrap().map(Result::unwrap).collect();
                assert_eq!(rows.len(), 1);
                rows[0].cells.iter().map(|cell| cell.value.clone()).collect()
            };
            let values = read();
            let whole = values.len() == 2 * usize::try_from(COLUMNS).unwrap()
                && values.iter().all(|value| *value == values[0]);
            if !whole || read() != values {
                stop.store(true, Ordering::Relaxed);
                panic!("a snapshot saw half a row, or changed");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
