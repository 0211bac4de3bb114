//! Reading one column of ten: all ten in one family, against that one in a family of its own.

use crate::support::{Random, line, open, ratio};
use bytes::Bytes;
use rowkey_store::{
    ColumnSelection, Durability, Engine, FamilyConfig, Mutation, ReadRequest, RowMutation, RowSet, Selection,
    TableConfig, Timestamp, ValueType,
};
use std::time::Instant;

const ROWS: usize = 200_000;

fn family(name: &str) -> FamilyConfig {
    FamilyConfig { name: name.to_owned(), gc_rule: None, value_type: ValueType::Bytes }
}

/// Ten columns of 100 bytes; the last one is in family `own` of table `two`.
fn fill(engine: &dyn Engine) {
    let families = vec![family("f"), family("own")];
    for table in ["one", "two"] {
        engine
            .create_table(table, &TableConfig { families: families.clone(), ..TableConfig::default() })
            .expect("a table");
    }
    let mut random = Random(11);
    for from in (0..ROWS).step_by(1000) {
        let mut batches = [Vec::new(), Vec::new()];
        for id in from..from + 1000 {
            let key = Bytes::from(format!("row-{id:08}"));
            let mut rows = [Vec::new(), Vec::new()];
            for column in 0..10 {
                let mut value = vec![b'v'; 100];
                value[..50].fill_with(|| random.below(256) as u8);
                let value = Bytes::from(value);
                for (table, mutations) in rows.iter_mut().enumerate() {
                    mutations.push(Mutation::SetCell {
                        family: if table == 1 && column == 9 { "own" } else { "f" }.to_owned(),
                        qualifier: format!("q{column}").into(),
                        timestamp: Timestamp::Server,
                        value: value.clone(),
                    });
                }
            }
            for (batch, mutations) in batches.iter_mut().zip(rows) {
                batch.push(RowMutation { key: key.clone(), mutations });
            }
        }
        for (table, batch) in ["one", "two"].into_iter().zip(batches) {
            engine.mutate_rows(table, batch, Durability::Buffered).expect("a write");
        }
    }
    engine.sync().expect("on disk");
}

/// Rows a second.
fn scan(engine: &dyn Engine, table: &str, columns: ColumnSelection, cells: usize) -> f64 {
    let request = ReadRequest {
        rows: RowSet::all(),
        selection: Selection { columns, ..Selection::default() },
        ..ReadRequest::default()
    };
    let start = Instant::now();
    let mut rows = 0;
    for row in engine.snapshot(table).expect("a table").read_rows(&request).expect("a read") {
        assert_eq!(row.expect("a row").cells.len(), cells);
        rows += 1;
    }
    assert_eq!(rows, ROWS);
    ROWS as f64 / start.elapsed().as_secs_f64()
}

/// Measures.
pub fn run(rounds: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    fill(&*engine);
    engine.compact("one").expect("compacted");
    engine.compact("two").expect("compacted");
    let only = |family: &str| {
        ColumnSelection::Only(vec![(family.to_owned(), Some(vec![Bytes::from_static(b"q9")]))])
    };
    let [mut all, mut same, mut own] = [const { Vec::new() }; 3];
    for round in 0..=rounds {
        let figures = [
            scan(&*engine, "one", ColumnSelection::All, 10),
            scan(&*engine, "one", only("f"), 1),
            scan(&*engine, "two", only("own"), 1),
        ];
        if round > 0 {
            all.push(figures[0]);
            same.push(figures[1]);
            own.push(figures[2]);
        }
    }
    println!("scans of {ROWS} rows of 10 columns of 100 bytes, {rounds} rounds in turn, warm");
    line("all ten columns", &all, "rows/s");
    line("one of ten, same family", &same, "rows/s");
    line("one of ten, a family of its own", &own, "rows/s");
    ratio("same family / all ten", &same, &all);
    ratio("own family / same family", &own, &same);
}
