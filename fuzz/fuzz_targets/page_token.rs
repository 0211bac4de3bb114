//! Page tokens: text that is no token of the scan is refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey::Query;
use rowkey_store::ManualClock;
use rowkey_store::memory::MemoryEngine;
use rowkey_table::{CreateOptions, KeyedTable, ScanRequest};
use std::sync::{Arc, LazyLock};

const SCHEMA: &str = r##"version = 1
table = "t"
[key]
layout = "{a}"
[key.fields]
a = { type = "string" }
[families]
f = {}
"##;

static TABLE: LazyLock<KeyedTable> = LazyLock::new(|| {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000_000));
    let engine = Arc::new(MemoryEngine::new(clock.clone()));
    let schema = rowkey::KeySchema::parse(SCHEMA).expect("a good schema");
    KeyedTable::create(engine, clock, schema, &CreateOptions::default()).expect("a table")
});

fuzz_target!(|text: &str| {
    let request =
        ScanRequest { page_token: Some(text.to_owned()), ..ScanRequest::new(Query::new().full_scan()) };
    if let Ok(scan) = TABLE.scan(&request) {
        assert!(scan.map(|row| row.expect("an empty table")).next().is_none());
    }
});
