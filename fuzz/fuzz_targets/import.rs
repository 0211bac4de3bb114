//! Imports of any bytes as CSV and JSON lines, gzipped or not: no panic, and the counts add up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_store::ManualClock;
use rowkey_store::memory::MemoryEngine;
use rowkey_table::import::{ImportHooks, ImportOptions, InputFormat, Mapping};
use rowkey_table::{CreateOptions, KeyedTable};
use std::sync::Arc;

const SCHEMA: &str = r##"version = 1
table = "t"
[key]
layout = "{salt}#{a}#{b}"
[key.salt]
of = ["a"]
buckets = 4
[key.fields]
a = { type = "string" }
b = { type = "uint", digits = 3 }
[families]
f = {}
"##;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let clock = Arc::new(ManualClock::new(1_700_000_000_000_000));
    let engine = Arc::new(MemoryEngine::new(clock.clone()));
    let schema = rowkey::KeySchema::parse(SCHEMA).expect("a good schema");
    let table = KeyedTable::create(engine, clock, schema, &CreateOptions::default()).expect("a table");
    let format = if first % 2 == 0 { InputFormat::JsonLines } else { InputFormat::Csv { delimiter: b',' } };
    if let Ok(report) =
        table.import(text, format, &Mapping::default(), &ImportOptions::default(), ImportHooks::default())
    {
        assert!(report.adds_up(), "{report:?}");
    }
});
