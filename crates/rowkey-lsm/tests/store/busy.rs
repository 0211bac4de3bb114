//! Everything at once: writers, readers, splits, drops, collections, changes of families, snapshots and a clock that goes back, while
//! each writer keeps a model of its own rows. `ROWKEY_BUSY_STEPS` sets the number of steps of each writer.

use crate::{Random, folder, rounds};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    DropScope, Durability, Engine, EngineExt as _, ErrorKind, FamilyChange, FamilyConfig, ManualClock,
    Mutation, ReadRequest, RowMutation, RowRange, Timestamp, ValueType, gc,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const WRITERS: u64 = 3;

fn open(path: &Path, clock: &Arc<ManualClock>) -> LsmEngine {
    let options = Options {
        worker_threads: 2,
        memtable_bytes: 2 << 10,
        tablet_bytes_max: 64 << 10,
        background_gc: true,
        background_gc_interval: Duration::from_millis(1),
        ..Options::tiny(Arc::clone(clock) as _)
    };
    LsmEngine::open(path, options).unwrap()
}

fn set(family: &str, number: u64) -> Mutation {
    let value = Bytes::from(number.to_string().repeat(10));
    Mutation::set(family, Bytes::from_static(b"q"), Timestamp::Micros(1_000), value)
}

/// What a writer has been told is in its rows: the number in families `a` and `b`.
type Model = BTreeMap<Bytes, u64>;

fn write(engine: &LsmEngine, writer: u64, steps: u64, model: &mut Model) {
    let mut random = Random(100 + writer);
    for number in 0..steps {
        // Rows of all writers are neighbours.
        let key = |row: u64| Bytes::from(format!("{row:03}/{writer}"));
        let row = key(random.below(200));
        match random.below(20) {
            0 => {
                engine.mutate_row("t", row.clone(), vec![Mutation::DeleteFromRow]).unwrap();
                model.remove(&row);
            }
            1 => {
                let column = |family: &str| Mutation::DeleteFromColumn {
                    family: family.into(),
                    qualifier: Bytes::from_static(b"q"),
                    times_us: None,
                };
                let mutations = vec![column("a"), column("b"), set("a", number), set("b", number)];
                engine.mutate_row("t", row.clone(), mutations).unwrap();
                model.insert(row, number);
            }
            2 => {
                let prefix = Bytes::from(format!("w{writer}"));
                let extra =
                    RowMutation { key: [&prefix[..], b"x"].concat().into(), mutations: vec![set("a", 1)] };
                engine.mutate_all("t", vec![extra], Durability::Buffered).unwrap();
                engine.drop_rows("t", &DropScope::Prefix(prefix.clone())).unwrap();
                assert_eq!(engine.read_row("t", &[&prefix[..], b"x"].concat()).unwrap(), None);
            }
            _ => {
                let rows = (0..=random.below(7)).map(|_| key(random.below(200))).collect::<Vec<_>>();
                let durability = if random.below(4) == 0 { Durability::Synced } else { Durability::Buffered };
                let mutation = |row: &Bytes| RowMutation {
                    key: row.clone(),
                    mutations: vec![set("a", number), set("b", number)],
                };
                engine.mutate_all("t", rows.iter().map(mutation).collect(), durability).unwrap();
                model.extend(rows.into_iter().map(|row| (row, number)));
            }
        }
        // A writer reads what it wrote.
        let row = key(random.below(200));
        let read = engine.read_row("t", &row).unwrap().map(|row| row.cells[0].value.clone());
        let expected = model.get(&row).map(|number| Bytes::from(number.to_string().repeat(10)));
        assert_eq!(read, expected, "writer {writer}, step {number}, row {row:?}");
    }
}

fn check(engine: &LsmEngine, models: &[Model]) {
    let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    let mut rows = engine.read_all("t", &request).unwrap();
    rows.retain(|row| row.cells.iter().any(|cell| &*cell.family == "a"));
    let expected: BTreeMap<Bytes, u64> =
        models.iter().flatten().map(|(row, number)| (row.clone(), *number)).collect();
    let found: BTreeMap<Bytes, u64> = rows
        .iter()
        .map(|row| {
            let values: Vec<_> =
                row.cells.iter().filter(|cell| &*cell.family != "c").map(|cell| &cell.value).collect();
            assert_eq!(values.len(), 2, "{row:?}");
            assert_eq!(values[0], values[1], "{row:?}");
            let text = std::str::from_utf8(values[0]).unwrap();
            (row.key.clone(), text[..text.len() / 10].parse().unwrap())
        })
        .collect();
    assert_eq!(found, expected);
}

fn disturb(engine: &LsmEngine, clock: &ManualClock, stop: &AtomicBool) {
    let mut random = Random(1);
    let mut time = 10_000_000;
    while !stop.load(Ordering::Relaxed) {
        match random.below(8) {
            0 => {
                let at = Bytes::from(format!("{:03}", random.below(200)));
                engine.split_tablet("t", &at).unwrap();
            }
            1 => drop(engine.collect_garbage("t").unwrap()),
            2 => engine.compact("t").unwrap(),
            3 => {
                let versions = format!("maxversions={}", 1 + random.below(3));
                let rule = gc::parse_rule(&versions).unwrap();
                let family = if random.below(2) == 0 { "a" } else { "b" }.into();
                engine.modify_families("t", &[FamilyChange::SetGcRule { family, gc_rule: rule }]).unwrap();
            }
            4 => {
                let has_c =
                    engine.table_config("t").unwrap().families.iter().any(|family| family.name == "c");
                let family = "c".to_owned();
                let change = if has_c {
                    FamilyChange::Drop { family }
                } else {
                    FamilyChange::Create(FamilyConfig {
                        name: family,
                        gc_rule: None,
                        value_type: ValueType::Bytes,
                    })
                };
                engine.modify_families("t", &[change]).unwrap();
            }
            5 => {
                engine.create("other", &[("f", "maxage=1s")]).unwrap();
                let value = [7; 3000];
                for row in 0..20u8 {
                    engine.set_cells("other", &[b'r', row], &[("f", b"q", time, &value)]).unwrap();
                }
                let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
                let snapshot = engine.snapshot("other").unwrap();
                let mut scan = snapshot.read_rows(&request).unwrap();
                let _ = scan.next().unwrap().unwrap();
                engine.drop_table("other").unwrap();
                assert_eq!(scan.map(Result::unwrap).count(), 19);
                assert_eq!(snapshot.read_rows(&request).unwrap().map(Result::unwrap).count(), 20);
            }
            6 => {
                // Also backwards.
                time = 10_000_000 + i64::try_from(random.below(5_000) * 1_000).unwrap();
                clock.set(time);
            }
            _ => {
                let mut stream = Vec::new();
                engine.backup("t", &mut stream).unwrap();
            }
        }
    }
}

fn scan(engine: &LsmEngine, stop: &AtomicBool) {
    let mut random = Random(2);
    while !stop.load(Ordering::Relaxed) {
        let reversed = random.below(2) == 0;
        let request = ReadRequest { rows: RowRange::all().into(), reversed, ..ReadRequest::default() };
        let snapshot = engine.snapshot("t").unwrap();
        let read = || snapshot.read_rows(&request).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        let first = read();
        let is_ordered = first.windows(2).all(|pair| (pair[0].key < pair[1].key) != reversed);
        assert!(is_ordered, "rows out of order");
        for row in first.iter().filter(|row| row.key[0] != b'w') {
            let values: Vec<_> =
                row.cells.iter().filter(|cell| &*cell.family != "c").map(|cell| &cell.value).collect();
            assert!(values.len() == 2 && values[0] == values[1], "half a row: {row:?}");
        }
        assert!(first == read(), "a snapshot changed");
    }
}

/// fjall's workers once waited for each other for ever here, both with a memtable to hand on and their own queue full.
#[test]
fn nothing_is_lost_and_nothing_comes_back_while_everything_happens_at_once() {
    let folder = folder();
    let path = folder.path().join("store");
    let clock = Arc::new(ManualClock::new(10_000_000));
    let mut models = vec![Model::new(); usize::try_from(WRITERS).unwrap()];
    let mut engine = open(&path, &clock);
    engine.create("t", &[("a", "maxversions=1"), ("b", "maxversions=2")]).unwrap();
    for _ in 0..2 {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..)
                .zip(&mut models)
                .map(|(writer, model)| {
                    let engine = &engine;
                    scope.spawn(move || write(engine, writer, rounds("ROWKEY_BUSY_STEPS", 1_000), model))
                })
                .collect();
            let others =
                [scope.spawn(|| disturb(&engine, &clock, &stop)), scope.spawn(|| scan(&engine, &stop))];
            let results: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            stop.store(true, Ordering::Relaxed);
            let others = others.map(std::thread::ScopedJoinHandle::join);
            assert!(results.iter().chain(&others).all(Result::is_ok), "see above");
        });
        check(&engine, &models);
        drop(engine);
        engine = open(&path, &clock);
        check(&engine, &models);
    }
}

#[test]
fn closing_while_busy_answers_everybody() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(10_000_000));
    for round in 0..10u64 {
        let path = folder.path().join(round.to_string());
        let engine = open(&path, &clock);
        engine.create("t", &[("a", "maxversions=1"), ("b", "never")]).unwrap();
        let acknowledged = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4u64)
                .map(|writer| {
                    let engine = &engine;
                    scope.spawn(move || {
                        for number in 0.. {
                            let key = format!("{writer}/{number:06}");
                            let row = RowMutation {
                                key: key.into(),
                                mutations: vec![set("a", number), set("b", number)],
                            };
                            if let Err(error) = engine.mutate_all("t", vec![row], Durability::Buffered) {
                                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                                return number;
                            }
                        }
                        0
                    })
                })
                .collect();
            scope.spawn(|| while engine.collect_garbage("t").is_ok() {});
            // At another point of the work each time.
            while engine.tablets("t").unwrap()[0].writes < 20 + round * 40 {
                std::thread::yield_now();
            }
            engine.close();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum::<u64>()
        });
        drop(engine);
        let engine = open(&path, &clock);
        let request = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
        let rows = engine.read_all("t", &request).unwrap().len() as u64;
        assert!((acknowledged..=acknowledged + 4).contains(&rows), "{acknowledged}, {rows}");
    }
}
