//! Aggregate cells while everything happens at once: what many writers add comes together, nothing is lost and nothing counts twice.
//! `ROWKEY_BUSY_STEPS` sets the number of steps of each writer.

use crate::{Random, folder, rounds};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    CheckAndMutate, ColumnSelection, Durability, Engine, EngineExt as _, FamilyConfig, ManualClock, Mutation,
    ReadRequest, RowMutation, TableConfig, Timestamp, ValueType, aggregate, gc,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const FAMILIES: [(&str, ValueType, &str); 4] = [
    ("max", ValueType::IntMax, "never"),
    ("min", ValueType::IntMin, "never"),
    ("sum", ValueType::IntSum, "never"),
    // One cell a column, so that the rule takes none.
    ("sum1", ValueType::IntSum, "maxversions=1"),
];

fn open(path: &Path) -> LsmEngine {
    let options = Options {
        memtable_bytes: 2 << 10,
        tablet_bytes_max: 64 << 10,
        background_gc: true,
        background_gc_interval: Duration::from_millis(1),
        ..Options::tiny(Arc::new(ManualClock::new(10_000_000)))
    };
    LsmEngine::open(path, options).unwrap()
}

fn create(engine: &LsmEngine) {
    let family = |(name, value_type, rule): (&str, ValueType, &str)| FamilyConfig {
        name: name.to_owned(),
        gc_rule: gc::parse_rule(rule).unwrap(),
        value_type,
    };
    let families = FAMILIES.map(family).into();
    engine.create_table("t", &TableConfig { families, ..TableConfig::default() }).unwrap();
}

/// All inputs that came to a cell, by row and family.
type Inputs = BTreeMap<(Bytes, usize), Vec<i64>>;

/// A row's inputs, some as states, in one list of mutations or in two entries.
fn add(random: &mut Random, inputs: &mut Inputs) -> Vec<RowMutation> {
    let key = Bytes::from(format!("r{}", random.below(5)));
    let count = 1 + random.below(6);
    let mutations: Vec<Mutation> = (0..count)
        .map(|_| {
            let family = usize::try_from(random.below(4)).unwrap();
            let input = if random.below(10) == 0 {
                i64::from_be_bytes(random.next().to_be_bytes())
            } else {
                i64::try_from(random.below(2_000)).unwrap() - 1_000
            };
            inputs.entry((key.clone(), family)).or_default().push(input);
            let (family, qualifier) = (FAMILIES[family].0.to_owned(), Bytes::from_static(b"q"));
            let timestamp = Timestamp::Micros(0);
            if random.below(2) == 0 {
                Mutation::AddToCell { family, qualifier, timestamp, input }
            } else {
                let state = Bytes::copy_from_slice(&input.to_be_bytes());
                Mutation::MergeToCell { family, qualifier, timestamp, state }
            }
        })
        .collect();
    let parts = mutations.chunks(3);
    parts.map(|part| RowMutation { key: key.clone(), mutations: part.to_vec() }).collect()
}

fn write(engine: &LsmEngine, seed: u64, steps: u64) -> Inputs {
    let mut random = Random(seed);
    let mut inputs = Inputs::new();
    for step in 0..steps {
        let rows: Vec<RowMutation> =
            (0..=random.below(3)).flat_map(|_| add(&mut random, &mut inputs)).collect();
        if step % 8 == 0 {
            for row in rows {
                let request = CheckAndMutate {
                    key: row.key,
                    columns: ColumnSelection::All,
                    predicate: None,
                    then: row.mutations.clone(),
                    otherwise: row.mutations,
                };
                engine.check_and_mutate_row("t", &request).unwrap();
            }
        } else {
            let durability = if step % 4 == 0 { Durability::Synced } else { Durability::Buffered };
            engine.mutate_all("t", rows, durability).unwrap();
        }
    }
    inputs
}

fn check(engine: &LsmEngine, inputs: &Inputs) {
    let rows = engine.read_all("t", &ReadRequest { live: true, ..ReadRequest::all() }).unwrap();
    let cells = rows.iter().flat_map(|row| row.cells.iter().map(|cell| (row.key.clone(), cell)));
    let found: BTreeMap<(Bytes, usize), i64> = cells
        .map(|(key, cell)| {
            let family = FAMILIES.iter().position(|family| family.0 == &*cell.family).unwrap();
            ((key, family), aggregate::number(&cell.value).unwrap())
        })
        .collect();
    let expected = inputs.iter().map(|((key, family), inputs)| {
        let state = match FAMILIES[*family].1 {
            ValueType::IntMin => *inputs.iter().min().unwrap(),
            ValueType::IntMax => *inputs.iter().max().unwrap(),
            _ => inputs.iter().fold(0i64, |sum, input| sum.wrapping_add(*input)),
        };
        ((key.clone(), *family), state)
    });
    assert_eq!(found, expected.collect());
}

#[test]
fn what_many_writers_add_comes_together() {
    let folder = folder();
    let path = folder.path().join("store");
    let mut engine = open(&path);
    create(&engine);
    let mut all = Inputs::new();
    for round in 0..2 {
        let stop = AtomicBool::new(false);
        let steps = rounds("ROWKEY_BUSY_STEPS", 1_000) / 4;
        std::thread::scope(|scope| {
            let engine = &engine;
            let writers: Vec<_> =
                (0..4).map(|writer| scope.spawn(move || write(engine, 10 * round + writer, steps))).collect();
            let disturber = scope.spawn(|| {
                for at in (0..6).cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                    engine.split_tablet("t", &Bytes::from(format!("r{at}"))).unwrap();
                    engine.compact("t").unwrap();
                    engine.collect_garbage("t").unwrap();
                }
            });
            for writer in writers {
                for (cell, inputs) in writer.join().unwrap() {
                    all.entry(cell).or_default().extend(inputs);
                }
            }
            stop.store(true, Ordering::Relaxed);
            disturber.join().unwrap();
        });
        check(&engine, &all);
        drop(engine);
        engine = open(&path);
        check(&engine, &all);
    }
}

#[test]
fn a_cell_that_is_added_to_again_and_again_stays_small() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    create(&engine);
    for _ in 0..2_000 {
        let row = RowMutation {
            key: "r".into(),
            mutations: vec![Mutation::add("sum", "q", Timestamp::Micros(0), 2)],
        };
        engine.mutate_all("t", vec![row], Durability::Buffered).unwrap();
    }
    let tablets = engine.tablets("t").unwrap();
    assert!(tablets[0].cells < 1_000, "{tablets:?}");
    let row = engine.read_row("t", b"r").unwrap().unwrap();
    assert_eq!(row.cells.len(), 1);
    assert_eq!(aggregate::number(&row.cells[0].value), Some(4_000));
}
