//! Import against the bare LSM crate that gets the same pairs, in the same order, in batches of the same size.
//!
//! The pairs are read back from a store that the import wrote, with the LSM crate itself, and put into the order of their
//! sequence numbers (the last 8 bytes of a key, inverted). Nothing waits for the disk but the end of each run.

use crate::support::{Random, clock, line, median, open, ratio};
use bytes::Bytes;
use fjall::{Database, KeyspaceCreateOptions, PersistMode, Readable};
use rowkey::{KeySchema, Value};
use rowkey_store::{Durability, Engine, Mutation, RowMutation, Timestamp};
use rowkey_table::import::{ImportHooks, ImportOptions, InputFormat, Mapping};
use rowkey_table::{CreateOptions, KeyedTable};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

const BATCH: usize = 1000;

const SCHEMA: &str = r#"
version = 1
table = "telemetry"
[key]
layout = "{salt}#{vehicle}#{time}"
[key.salt]
of = ["vehicle"]
buckets = 16
[key.fields]
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
[families]
m = { gc = "maxversions=1" }
"#;

/// Measures.
pub fn run(rounds: usize, rows: usize) {
    let csv = csv(rows);
    let mut imports = Vec::new();
    let mut mutates = Vec::new();
    let mut bares = Vec::new();
    for _ in 0..rounds {
        let store = tempfile::tempdir().expect("a folder");
        imports.push(import(store.path(), &csv, rows));
        let pairs = pairs(store.path());
        assert_eq!(pairs.len(), rows, "one pair a row");
        bares.push(bare(&pairs));
        drop(pairs);
        mutates.push(mutate(rows));
    }
    println!("import of {rows} rows of 3 columns, {rounds} rounds in turn, buffered, one sync at the end");
    line("CSV import through the schema", &imports, "rows/s");
    line("mutate_rows, batches of 1,000", &mutates, "rows/s");
    line("bare LSM crate, the same pairs, batches of 1,000", &bares, "rows/s");
    ratio("CSV import / bare (goal: at least 0.7)", &imports, &bares);
    ratio("mutate_rows / bare", &mutates, &bares);
    println!("CSV: {:.1} MB/s\n", csv.len() as f64 / 1e6 * median(&imports) / rows as f64);
}

/// The readings of 500 vehicles in order of time.
fn readings(rows: usize) -> impl Iterator<Item = (u64, i64, [u64; 3])> {
    let mut random = Random(7);
    (0..rows).map(move |row| {
        let time_ms = 1_780_000_000_000 + (row as i64 / 500) * 1000;
        (row as u64 % 500, time_ms, [random.below(1200), random.below(1_000_000), random.below(100)])
    })
}

fn csv(rows: usize) -> String {
    let mut text = String::from("vehicle,time,speed,odometer,fuel\n");
    for (vehicle, time_ms, [speed, odometer, fuel]) in readings(rows) {
        writeln!(text, "{vehicle},{time_ms},{speed},{odometer},{fuel}").expect("a string takes all");
    }
    text
}

fn table(path: &Path) -> KeyedTable {
    let schema = KeySchema::parse(SCHEMA).expect("a schema");
    KeyedTable::create(open(path), clock(), schema, &CreateOptions::default()).expect("a new table")
}

fn import(path: &Path, csv: &str, rows: usize) -> f64 {
    let table = table(path);
    let options =
        ImportOptions { durability: Durability::Buffered, batch_rows: BATCH, ..ImportOptions::default() };
    let format = InputFormat::Csv { delimiter: b',' };
    let start = Instant::now();
    let report = table
        .import(csv.as_bytes(), format, &Mapping::default(), &options, ImportHooks::default())
        .expect("an import");
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(report.rows_written, rows as u64);
    rows as f64 / seconds
}

fn mutate(rows: usize) -> f64 {
    let store = tempfile::tempdir().expect("a folder");
    let table = table(store.path());
    let mut key = Vec::new();
    let set = |qualifier: &'static str, value: u64| Mutation::SetCell {
        family: "m".to_owned(),
        qualifier: Bytes::from_static(qualifier.as_bytes()),
        timestamp: Timestamp::Server,
        value: value.to_string().into(),
    };
    let start = Instant::now();
    let mut batch = Vec::with_capacity(BATCH);
    for (vehicle, time_ms, [speed, odometer, fuel]) in readings(rows) {
        let values = [Value::Uint(vehicle), Value::Time(rowkey::Time::from_millis(time_ms))];
        table.codec().encode(&values, &mut key).expect("a valid reading");
        let mutations = vec![set("speed", speed), set("odometer", odometer), set("fuel", fuel)];
        batch.push(RowMutation { key: Bytes::copy_from_slice(&key), mutations });
        if batch.len() == BATCH {
            write(&table, std::mem::replace(&mut batch, Vec::with_capacity(BATCH)));
        }
    }
    write(&table, batch);
    table.engine().sync().expect("on disk");
    rows as f64 / start.elapsed().as_secs_f64()
}

fn write(table: &KeyedTable, batch: Vec<RowMutation>) {
    let answers = table.engine().mutate_rows(table.name(), batch, Durability::Buffered).expect("a write");
    assert!(answers.iter().all(Result::is_ok));
}

/// All pairs of the data keyspaces of a store, in the order in which they were written.
fn pairs(store: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let folder = database(store).expect("the folder of the LSM crate");
    let db = Database::builder(&folder).open().expect("the store of the import");
    let snapshot = db.snapshot();
    let mut pairs = Vec::new();
    for name in db.list_keyspace_names() {
        let keyspace = db.keyspace(&name, KeyspaceCreateOptions::default).expect("a keyspace");
        for guard in snapshot.iter(&keyspace) {
            let (key, value) = guard.into_inner().expect("a pair");
            // Row keys of this schema hold no zero byte: the terminator tells data from what the store keeps for itself.
            if key.len() > 10 && key[key.len() - 10..key.len() - 8] == [0, 1] {
                pairs.push((key.to_vec(), value.to_vec()));
            }
        }
    }
    pairs.sort_by_key(|(key, _)| std::cmp::Reverse(key[key.len() - 8..].to_vec()));
    pairs
}

/// The folder below `store` that the LSM crate can open.
fn database(store: &Path) -> Option<std::path::PathBuf> {
    let mut folders = vec![store.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.join("keyspaces").is_dir() {
            return Some(folder);
        }
        for entry in std::fs::read_dir(&folder).ok()?.flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    None
}

fn bare(pairs: &[(Vec<u8>, Vec<u8>)]) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    // The settings of the store: cache, buffers, threads.
    let settings = rowkey_lsm::Options::default();
    let db = Database::builder(folder.path())
        .cache_size(settings.block_cache_bytes)
        .worker_threads(settings.worker_threads)
        .open()
        .expect("a new database");
    let options = || KeyspaceCreateOptions::default().max_memtable_size(settings.memtable_bytes);
    let keyspace = db.keyspace("data", options).expect("a keyspace");
    let start = Instant::now();
    for chunk in pairs.chunks(BATCH) {
        let mut batch = db.batch();
        for (key, value) in chunk {
            batch.insert(&keyspace, &key[..], &value[..]);
        }
        batch.commit().expect("a write");
    }
    db.persist(PersistMode::SyncAll).expect("on disk");
    pairs.len() as f64 / start.elapsed().as_secs_f64()
}
