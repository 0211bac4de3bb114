//! Any bytes as requests of the data API, decoded, converted and carried out on the engine in memory: nothing panics, rows come through
//! chunks as they were, and families come through messages as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;
use rowkey_bigtable::chunks::Packer;
use rowkey_bigtable::convert::{self, FilterField};
use rowkey_bigtable::merger::RowMerger;
use rowkey_proto::{admin, data};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{
    CheckAndMutate, ColumnSelection, Durability, Engine, EngineExt, FamilyConfig, Granularity, ManualClock,
    ReadRequest, Row, RowMutation, TableConfig, Timestamp, ValueType,
};
use std::sync::Arc;

// | what the bytes are: u8 | size of a message, in 16 bytes: u8 | bytes |
fuzz_target!(|input: &[u8]| {
    let [what, size, bytes @ ..] = input else { return };
    let message_bytes = usize::from(*size) * 16;
    match what % 7 {
        0 => read(bytes, message_bytes),
        1 => mutate(bytes),
        2 => check_and_mutate(bytes),
        3 => read_modify_write(bytes),
        4 => family(bytes),
        5 => merge(bytes),
        _ => sample(bytes),
    }
});

/// A table of a few rows.
fn engine() -> MemoryEngine {
    let engine = MemoryEngine::new(Arc::new(ManualClock::new(1_700_000_000_000_000)));
    let family = |name: &str, value_type| FamilyConfig { name: name.to_owned(), gc_rule: None, value_type };
    let families = vec![family("f", ValueType::Bytes), family("s", ValueType::IntSum)];
    engine.create_table("t", &TableConfig { families, ..TableConfig::default() }).expect("a table");
    let cells: [(&str, &[u8], i64, &[u8]); 3] =
        [("f", b"q", 2_000, b"new"), ("f", b"q", 1_000, b"old"), ("f", b"\xff", 0, &[7; 300])];
    for key in [&b"a"[..], b"b", b"\xff\x00"] {
        engine.set_cells("t", key, &cells).expect("a row");
    }
    engine
}

fn read(bytes: &[u8], message_bytes: usize) {
    let Ok(message) = data::ReadRowsRequest::decode(bytes) else { return };
    if message.filter.as_ref().is_some_and(convert::says_nothing) {
        let _ = convert::unknown_filters(bytes, FilterField::ReadRows);
    }
    let Ok(filter) = message.filter.map(convert::filter_from_proto).transpose() else { return };
    let Ok(rows) = convert::row_set_from_proto(message.rows) else { return };
    let rows_max = u64::try_from(message.rows_limit).ok();
    let request =
        ReadRequest { rows, filter, rows_max, reversed: message.reversed, ..ReadRequest::default() };
    let Ok(rows) = engine().read_all("t", &request) else { return };
    let mut packer = Packer::new(message_bytes);
    for row in rows.clone() {
        packer.push(row).expect("a small row");
    }
    let mut merger = RowMerger::new(request.reversed);
    let mut merged: Vec<Row> = Vec::new();
    while let Some(message) = packer.rest() {
        merger.push(message, &mut merged).expect("what is packed can be merged");
    }
    merger.finish().expect("the last row is complete");
    assert_eq!(merged, rows);
}

fn mutate(bytes: &[u8]) {
    let Ok(message) = data::MutateRowRequest::decode(bytes) else { return };
    let Ok(mutations) = convert::mutations_from_proto(message.mutations, Granularity::Millis) else { return };
    let rows = vec![RowMutation { key: message.row_key, mutations }];
    let _ = engine().mutate_rows("t", rows, Durability::Synced);
}

fn check_and_mutate(bytes: &[u8]) {
    let Ok(message) = data::CheckAndMutateRowRequest::decode(bytes) else { return };
    let _ = convert::unknown_filters(bytes, FilterField::CheckAndMutateRow);
    let Ok(predicate) = message.predicate_filter.map(convert::filter_from_proto).transpose() else { return };
    let steps = |mutations| convert::mutations_from_proto(mutations, Granularity::Micros);
    let (Ok(then), Ok(otherwise)) = (steps(message.true_mutations), steps(message.false_mutations)) else {
        return;
    };
    let (key, columns) = (message.row_key, ColumnSelection::All);
    let _ = engine().check_and_mutate_row("t", &CheckAndMutate { key, columns, predicate, then, otherwise });
}

fn read_modify_write(bytes: &[u8]) {
    let Ok(message) = data::ReadModifyWriteRowRequest::decode(bytes) else { return };
    let Ok(rules) = convert::read_modify_write_from_proto(message.rules) else { return };
    if let Ok(row) = engine().read_modify_write_row("t", &message.row_key, &rules, Timestamp::Server) {
        let _ = convert::row_to_proto(row);
    }
}

fn family(bytes: &[u8]) {
    let Ok(message) = admin::ColumnFamily::decode(bytes) else { return };
    let Ok(family) = convert::family_from_proto("f", &message) else { return };
    let again = convert::family_from_proto("f", &convert::family_to_proto(&family));
    assert_eq!(again.expect("what was accepted is accepted again"), family);
}

fn merge(bytes: &[u8]) {
    let Ok(message) = data::ReadRowsResponse::decode(bytes) else { return };
    let mut merger = RowMerger::default();
    let mut rows = Vec::new();
    let _ = merger.push(message, &mut rows);
    let _ = merger.finish();
    assert!(rows.windows(2).all(|pair| pair[0].key < pair[1].key));
}

fn sample(bytes: &[u8]) {
    let Ok(message) = data::SampleRowKeysRequest::decode(bytes) else { return };
    let Some(Ok(range)) = message.row_range.map(convert::row_range_from_proto) else { return };
    let samples = engine().sample_row_keys("t").expect("samples");
    let last = range.end.clone().unwrap_or_default();
    let messages = convert::key_samples_to_proto(samples, &range, last.clone());
    assert_eq!(messages.last().map(|sample| &sample.row_key), Some(&last));
}
