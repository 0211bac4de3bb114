//! What reading salted rows back in order costs: 100 buckets of 20,000 rows against the same rows in one piece.

use crate::support::{Random, clock, line, open, ratio};
use bytes::Bytes;
use rowkey::query::Query;
use rowkey::{KeySchema, Value};
use rowkey_store::{Durability, Mutation, RowMutation, Timestamp};
use rowkey_table::{CreateOptions, KeyedTable, ScanRequest};
use std::path::Path;
use std::time::Instant;

const ROWS: u64 = 2_000_000;

fn schema(salted: bool) -> KeySchema {
    let (layout, salt) = if salted {
        ("{salt}#{id}", "[key.salt]\nof = [\"id\"]\nbuckets = 100\nhash = \"modulo\"\n")
    } else {
        ("{id}", "")
    };
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\n{salt}\n\
         [key.fields]\nid = {{ type = \"uint\", digits = 10 }}\n[families]\nf = {{ gc = \"maxversions=1\" }}\n"
    );
    KeySchema::parse(&text).expect("a schema")
}

/// Rows of one column of 100 bytes, written in order of their ids.
fn fill(path: &Path, salted: bool) -> KeyedTable {
    let engine = open(path);
    let table = KeyedTable::create(engine.clone(), clock(), schema(salted), &CreateOptions::default())
        .expect("a table");
    let mut random = Random(3);
    let mut ids = 0..ROWS;
    loop {
        let batch: Vec<RowMutation> =
            ids.by_ref().take(1000).map(|id| row(&table, id, &mut random)).collect();
        if batch.is_empty() {
            break;
        }
        table.engine().mutate_rows("t", batch, Durability::Buffered).expect("a write");
    }
    table.engine().sync().expect("on disk");
    engine.compact("t").expect("compacted");
    table
}

fn row(table: &KeyedTable, id: u64, random: &mut Random) -> RowMutation {
    let mut value = vec![b'v'; 100];
    value[..50].fill_with(|| random.below(256) as u8);
    let cell = Mutation::SetCell {
        family: "f".to_owned(),
        qualifier: Bytes::from_static(b"q"),
        timestamp: Timestamp::Server,
        value: value.into(),
    };
    let key = table.codec().encode_key(&[Value::Uint(id)]).expect("an id");
    RowMutation { key: key.0.into(), mutations: vec![cell] }
}

/// Seconds of a scan that checks the order of what it gets.
fn scan(table: &KeyedTable, rows_max: Option<u64>, parallelism: usize) -> f64 {
    let request = ScanRequest { rows_max, parallelism, ..ScanRequest::new(Query::new().full_scan()) };
    let start = Instant::now();
    let mut expected = 0;
    for row in table.scan(&request).expect("a scan") {
        let row = row.expect("a row");
        assert_eq!(row.values[0], Value::Uint(expected));
        expected += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(expected, rows_max.unwrap_or(ROWS));
    seconds
}

/// Measures.
pub fn run(rounds: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let salted = fill(&folder.path().join("salted"), true);
    let plain = fill(&folder.path().join("plain"), false);
    let [mut merged, mut merged_alone, mut contiguous, mut first_salted, mut first_plain] =
        [const { Vec::new() }; 5];
    scan(&salted, None, 0);
    scan(&plain, None, 0);
    for _ in 0..rounds {
        merged.push(scan(&salted, None, 0));
        contiguous.push(scan(&plain, None, 0));
        merged_alone.push(scan(&salted, None, 1));
        for _ in 0..20 {
            first_salted.push(scan(&salted, Some(10), 0) * 1e6);
            first_plain.push(scan(&plain, Some(10), 0) * 1e6);
        }
    }
    println!("{ROWS} rows in order of their ids, {rounds} rounds in turn, warm");
    line("100 buckets, merged", &merged, "s");
    line("100 buckets, merged, on one thread", &merged_alone, "s");
    line("one contiguous scan", &contiguous, "s");
    ratio("merged / contiguous (goal: at most 1.3)", &merged, &contiguous);
    ratio("merged on one thread / contiguous", &merged_alone, &contiguous);
    line("the first 10 of 100 buckets", &first_salted, "us");
    line("the first 10 of one", &first_plain, "us");
    ratio("first 10: 100 buckets / one", &first_salted, &first_plain);
    println!();
}
