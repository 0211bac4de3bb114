//! Wrappers do what they say and change nothing else.

use super::*;
use crate::conformance::{Harness, run_all};
use crate::memory::MemoryEngine;
use crate::{Clock, EngineExt, ManualClock, RowRange};
use std::sync::Mutex;
use std::time::Duration;

fn memory() -> MemoryEngine {
    let engine = MemoryEngine::new(Arc::new(ManualClock::new(0)));
    engine.create("t", &[("a", "never")]).unwrap();
    for key in ["a1", "a2", "b1", "b2"] {
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, b"value")]).unwrap();
    }
    engine
}

/// A harness that puts a layer around the memory engine.
struct Around<L>(fn() -> L);

impl<L: Layer + 'static> Harness for Around<L> {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new(clock));
        Arc::new(Wrapped::new(engine, (self.0)()))
    }
}

fn throttle(range: RowRange, sleep: Sleep) -> Throttle {
    Throttle { per_call: Duration::from_millis(5), per_row: Duration::from_millis(1), range, sleep }
}

#[test]
fn wrapped_engines_pass_all_scripts() {
    run_all(&mut Around(|| Recorder::new(Arc::new(ManualClock::new(0)), |_| ()))).unwrap();
    run_all(&mut Around(|| throttle(RowRange::all(), Box::new(|_| ())))).unwrap();
    run_all(&mut Around(|| Faults::new([]))).unwrap();
}

#[test]
fn every_row_written_and_every_read_is_recorded_with_its_size() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let clock = Arc::new(ManualClock::new(7));
    let clock_of_layer = Arc::clone(&clock) as Arc<dyn Clock>;
    let engine = Recorded::new(
        memory(),
        Recorder::new(clock_of_layer, move |record| sink.lock().unwrap().push(record)),
    );
    assert_eq!(engine.description(), "the store in memory, recorded");
    let row = |key: &'static str, family: &str| RowMutation {
        key: key.into(),
        mutations: vec![Mutation::set(family, "q", Timestamp::Micros(0), "xyz")],
    };
    engine.mutate_rows("t", vec![row("k", "a"), row("l", "nope")], Durability::Synced).unwrap();
    let mut rows = engine.read_rows("t", &ReadRequest::of(RowRange::prefix(b"a"))).unwrap();
    rows.next();
    clock.set(9);
    drop(rows);
    engine.read_row("u", b"x").unwrap_err();
    let records: Vec<Record> = std::mem::take(&mut *records.lock().unwrap());
    let short = |record: &Record| {
        let Outcome { rows, bytes, started_us, error, .. } = record.outcome;
        (record.operation.kind, rows, bytes, started_us, record.ended_us, error)
    };
    let shown: Vec<_> = records.iter().map(short).collect();
    assert_eq!(
        shown,
        [
            (OperationKind::Mutate, 1, 4, 7, 7, None),
            (OperationKind::Mutate, 0, 0, 7, 7, Some(ErrorKind::NotFound)),
            (OperationKind::Read, 1, 7, 7, 9, None),
        ]
    );
    assert_eq!(records[0].operation.scope, Scope::Key("k".into()));
    assert_eq!(records[2].operation.scope, Scope::Rows(RowRange::prefix(b"a").into()));
}

#[test]
fn a_record_tells_how_far_a_read_came() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let recorder = Recorder::new(Arc::new(ManualClock::new(7)), move |record: Record| {
        sink.lock().unwrap().push((record.outcome.last_key, record.outcome.reversed));
    });
    let engine = Recorded::new(memory(), recorder);
    let check = |rows_max, reversed, taken: usize, expected: Option<&'static str>| {
        let request = ReadRequest { rows_max, reversed, ..ReadRequest::all() };
        let mut rows = engine.read_rows("t", &request).unwrap();
        for _ in 0..taken {
            rows.next();
        }
        drop(rows);
        let recorded = records.lock().unwrap().pop().unwrap();
        assert_eq!(recorded, (expected.map(RowKey::from), reversed), "{request:?}, {taken} taken");
    };
    check(None, false, 5, None);
    check(None, false, 2, Some("a2"));
    check(None, true, 1, Some("b2"));
    check(Some(3), false, 9, Some("b1"));
    check(Some(3), true, 9, Some("a2"));
    check(Some(9), false, 9, None);
    check(None, false, 0, None);
}

#[test]
fn a_record_tells_deletes_from_writes_and_the_ranges_of_a_read_apart() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let clock = Arc::new(ManualClock::new(7));
    let engine =
        Recorded::new(memory(), Recorder::new(clock, move |record| sink.lock().unwrap().push(record)));
    let set = || Mutation::set("a", "q", Timestamp::Micros(0), "xyz");
    let gone = || Mutation::DeleteFromRow;
    let lists =
        [vec![gone()], vec![set(), gone()], vec![gone(), set()], vec![Mutation::delete_column("a", "q")]];
    let rows = lists.map(|mutations| RowMutation { key: "k".into(), mutations });
    engine.mutate_rows("t", rows.into(), Durability::Synced).unwrap();
    let check = |otherwise: Vec<Mutation>| {
        let (key, columns) = ("new".into(), crate::ColumnSelection::All);
        engine
            .check_and_mutate_row(
                "t",
                &CheckAndMutate { key, columns, predicate: None, then: vec![set()], otherwise },
            )
            .unwrap()
    };
    assert!(!check(vec![gone()]));
    let deletes: Vec<bool> = std::mem::take(&mut *records.lock().unwrap())
        .iter()
        .map(|record: &Record| record.outcome.deletes_row)
        .collect();
    assert_eq!(deletes, [true, true, false, false, true]);

    let ranges = RowSet::new([Bytes::from("a2"), Bytes::from("zz")], [RowRange::prefix(b"b")]);
    for reversed in [false, true] {
        engine.read_all("t", &ReadRequest { reversed, ..ReadRequest::of(ranges.clone()) }).unwrap();
    }
    engine.read_all("t", &ReadRequest::of(RowRange::prefix(b"a"))).unwrap();
    let records = records.lock().unwrap();
    let parts = [(1, 7), (2, 14), (0, 0)].map(|(rows, bytes)| Part { rows, bytes });
    assert_eq!(records[0].outcome.parts, parts);
    assert_eq!(records[1].outcome.parts, parts);
    assert_eq!((records[2].outcome.rows, &records[2].outcome.parts[..]), (2, &[][..]));
}

#[test]
fn only_the_slow_range_is_waited_for() {
    let waited = Arc::new(Mutex::new(Duration::ZERO));
    let sum = Arc::clone(&waited);
    let sleep = Box::new(move |time| *sum.lock().unwrap() += time);
    let engine = Throttled::new(memory(), throttle(RowRange::prefix(b"b"), sleep));
    assert_eq!(engine.read_all("t", &ReadRequest::of(RowRange::prefix(b"a"))).unwrap().len(), 2);
    assert_eq!(*waited.lock().unwrap(), Duration::ZERO);
    assert_eq!(engine.read_all("t", &ReadRequest::of(RowRange::prefix(b"b"))).unwrap().len(), 2);
    // One call, two rows, and the end.
    assert_eq!(*waited.lock().unwrap(), Duration::from_millis(8));
}

#[test]
fn faults_strike_where_and_when_they_should() {
    let read = |engine: &Faulty<MemoryEngine>, prefix: &[u8]| {
        engine.read_all("t", &ReadRequest::of(RowRange::prefix(prefix)))
    };
    let engine = Faulty::new(memory(), Faults::new([Fault::always(OperationKind::Mutate)]));
    let error = engine.set_cells("t", b"x", &[("a", b"q", 0, b"v")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("table `t`"), "{error}");
    assert!(engine.read_row("t", b"x").unwrap().is_none(), "nothing was written");

    // One bucket fails after its first row, the other does not.
    let fault = Fault {
        operation: Some(OperationKind::Read),
        range: RowRange::prefix(b"b"),
        when: When::AfterRows(1),
        kind: ErrorKind::Corrupt,
    };
    engine.layer().set([fault.clone()]);
    assert_eq!(read(&engine, b"a").unwrap().len(), 2);
    let mut rows = engine.read_rows("t", &ReadRequest::of(RowRange::prefix(b"b"))).unwrap();
    assert!(rows.next().unwrap().is_ok());
    assert_eq!(rows.next().unwrap().unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(rows.next().is_none(), "the stream has ended");

    engine.layer().set([Fault { when: When::Call(2), ..fault.clone() }]);
    let results = [read(&engine, b"b"), read(&engine, b"a"), read(&engine, b"b"), read(&engine, b"b")];
    assert_eq!(results.map(|result| result.is_ok()), [true, true, false, true]);

    let chance = Fault { when: When::Chance { seed: 1, per_hundred: 30 }, ..fault };
    let failures = || {
        engine.layer().set([chance.clone()]);
        (0..1000).map(|_| read(&engine, b"b").is_err()).collect::<Vec<bool>>()
    };
    let first = failures();
    assert_eq!(first, failures(), "the same calls fail again");
    let count = first.into_iter().filter(|failed| *failed).count();
    assert!((250..350).contains(&count), "{count}");
    engine.layer().set([]);
    assert!(read(&engine, b"b").is_ok());
}
