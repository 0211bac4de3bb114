//! Tables and their schemas, single rows, page tokens, and scans over engines that fail.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use rowkey::query::Query;
use rowkey::{KeySchema, StoredKey, Value};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::wrap::{Fault, Faults, Faulty, OperationKind, When};
use rowkey_store::{
    Clock, ColumnSelection, Durability, Engine, EngineExt as _, GcRule, ManualClock, Mutation, RowRange,
    Selection, Timestamp,
};
use rowkey_table::{
    CreateOptions, Error, ErrorKind, FINGERPRINT_ANNOTATION, GetOptions, KeyedTable, OnForeignKey,
    SCHEMA_ANNOTATION, ScanRequest,
};
use std::sync::Arc;

fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::new(1_700_000_000_000_000))
}

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new(clock()))
}

fn schema(buckets: u32, hash: &str, families: &str) -> KeySchema {
    let of = if hash == "random" { "" } else { "of = [\"unit\"]\n" };
    let text = format!(
        "version = 1\ntable = \"fleet\"\n[key]\nlayout = \"{{salt}}#{{kind}}#{{unit}}\"\n[key.salt]\n{of}buckets = {buckets}\n\
         hash = \"{hash}\"\n[key.fields]\nkind = {{ type = \"string\" }}\nunit = {{ type = \"uint\", digits = 3 }}\n[families]\n{families}\n"
    );
    KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn fleet() -> KeySchema {
    schema(8, "xxh3", "m = { gc = \"maxage=7d || maxversions=2\" }")
}

fn create(engine: &Arc<dyn Engine>, schema: KeySchema) -> KeyedTable {
    KeyedTable::create(Arc::clone(engine), clock(), schema, &CreateOptions::default()).unwrap()
}

fn open(engine: &Arc<dyn Engine>, expected: Option<&KeySchema>) -> rowkey_table::Result<KeyedTable> {
    KeyedTable::open(Arc::clone(engine), clock(), "fleet", expected)
}

fn set(qualifier: &'static str, value: &'static str) -> Vec<Mutation> {
    vec![Mutation::set("m", qualifier, Timestamp::Server, value)]
}

fn key(kind: &'static str, unit: u64) -> [Value<'static>; 2] {
    [kind.into(), Value::Uint(unit)]
}

fn fill(table: &KeyedTable, units: u64) {
    for unit in 0..units {
        table.put(&key("van", unit), set("v", "x"), Durability::Buffered).unwrap();
    }
}

fn units(rows: impl Iterator<Item = rowkey_table::Result<rowkey_table::KeyedRow>>) -> Vec<u64> {
    let unit = |row: rowkey_table::Result<rowkey_table::KeyedRow>| match row.unwrap().values[1] {
        Value::Uint(unit) => unit,
        ref other => panic!("{other:?}"),
    };
    rows.map(unit).collect()
}

fn everything() -> ScanRequest {
    ScanRequest::new(Query::new().full_scan())
}

fn check_error(error: &Error, kind: ErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{error}\nlacks {part}");
    }
}

#[test]
fn the_schema_and_its_families_are_kept_with_the_table() {
    let engine = engine();
    let options = CreateOptions { splits: vec![StoredKey(b"3".to_vec())], ..CreateOptions::default() };
    KeyedTable::create(Arc::clone(&engine), clock(), fleet(), &options).unwrap();
    let config = engine.table_config("fleet").unwrap();
    assert_eq!(config.split_points, ["3"]);
    let days = GcRule::MaxAge(std::time::Duration::from_secs(7 * 86_400));
    assert_eq!(config.families[0].gc_rule, Some(GcRule::Union(vec![days, GcRule::MaxVersions(2)])));
    let table = open(&engine, None).unwrap();
    assert_eq!(table.schema(), &fleet());
    assert!(open(&engine, Some(&fleet())).unwrap().difference().is_none());
    let error = KeyedTable::create(engine, clock(), fleet(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let error =
        KeyedTable::create(self::engine(), clock(), schema(8, "xxh3", "m = { gc = \"maxage=x\" }"), &options);
    check_error(&error.unwrap_err(), ErrorKind::Invalid, &["family `m`, gc"]);
}

#[test]
fn another_schema_is_refused_with_the_difference() {
    let engine = engine();
    create(&engine, fleet());
    let error = open(&engine, Some(&schema(16, "xxh3", "m = {}"))).unwrap_err();
    check_error(&error, ErrorKind::Conflict, &["table `fleet`", "by migration", "mod 8", "mod 16"]);
    let other = KeySchema::parse(&fleet().to_toml().replace("digits = 3", "digits = 2")).unwrap();
    check_error(&open(&engine, Some(&other)).unwrap_err(), ErrorKind::Conflict, &["by migration", "digits"]);
}

#[test]
fn a_safe_change_is_taken_and_kept_on_demand() {
    let engine = engine();
    create(&engine, fleet());
    let wider = schema(8, "xxh3", "m = { gc = \"maxversions=1\" }\nn = {}");
    let mut table = open(&engine, Some(&wider)).unwrap();
    assert!(table.difference().is_some());
    assert_eq!(open(&engine, None).unwrap().schema(), &fleet());
    table.update_schema().unwrap();
    assert!(table.difference().is_none());
    assert_eq!(open(&engine, None).unwrap().schema(), &wider);
    let families = engine.table_config("fleet").unwrap().families;
    assert_eq!(families[0].gc_rule, Some(GcRule::MaxVersions(1)));
    assert_eq!(families[1].name, "n");
}

#[test]
fn tables_without_a_schema_are_adopted_and_damaged_schemas_found() {
    let engine = engine();
    engine.create("fleet", &[("m", "never")]).unwrap();
    check_error(&open(&engine, None).unwrap_err(), ErrorKind::Conflict, &["no key schema", "adopt"]);
    KeyedTable::adopt(Arc::clone(&engine), clock(), fleet()).unwrap();
    assert_eq!(open(&engine, None).unwrap().schema(), &fleet());
    let error = KeyedTable::adopt(Arc::clone(&engine), clock(), fleet()).unwrap_err();
    check_error(&error, ErrorKind::Conflict, &["has a key schema already"]);
    engine.annotate_table("fleet", FINGERPRINT_ANNOTATION, Some("0".into())).unwrap();
    check_error(&open(&engine, None).unwrap_err(), ErrorKind::Corrupt, &["the one kept with it is 0"]);
    engine.annotate_table("fleet", SCHEMA_ANNOTATION, Some("version = 7".into())).unwrap();
    check_error(&open(&engine, None).unwrap_err(), ErrorKind::Corrupt, &["does not parse: line 1"]);
    check_error(
        &KeyedTable::open(engine, clock(), "nothing", None).unwrap_err(),
        ErrorKind::NotFound,
        &["nothing"],
    );
}

#[test]
fn rows_are_put_read_and_deleted_by_their_values() {
    let table = create(&engine(), fleet());
    table.put(&key("van", 7), set("v", "1"), Durability::Synced).unwrap();
    table.put(&key("van", 7), set("w", "2"), Durability::Synced).unwrap();
    let row = table.get(&key("van", 7), &GetOptions::default()).unwrap().unwrap();
    assert_eq!(row.values, key("van", 7));
    assert_eq!((row.value("m", b"v").unwrap(), row.value("m", b"x")), (&"1".into(), None));
    let columns = ColumnSelection::Only(vec![("m".to_owned(), Some(vec!["w".into()]))]);
    let selection = Selection { columns, ..Selection::default() };
    let row = table.get(&key("van", 7), &GetOptions { selection, live: true }).unwrap().unwrap();
    assert_eq!(row.cells.len(), 1);
    table.delete(&key("van", 7), Durability::Synced).unwrap();
    assert!(table.get(&key("van", 7), &GetOptions::default()).unwrap().is_none());
    let error = table.put(&key("van", 1000), set("v", "1"), Durability::Synced).unwrap_err();
    check_error(&error, ErrorKind::Value, &["field `unit`"]);
    let error =
        table.put(&key("van", 1), vec![Mutation::set("x", "q", Timestamp::Server, "")], Durability::Synced);
    check_error(&error.unwrap_err(), ErrorKind::NotFound, &["x"]);
}

#[test]
fn a_random_salt_is_looked_for_in_every_bucket() {
    let table = create(&engine(), schema(8, "random", "m = {}"));
    for _ in 0..20 {
        table.put(&key("van", 7), set("v", "1"), Durability::Synced).unwrap();
    }
    let rows = table.get_all(&key("van", 7), &GetOptions::default()).unwrap();
    assert!(rows.len() > 1 && rows.is_sorted_by(|a, b| a.key < b.key));
    let error = table.get(&key("van", 7), &GetOptions::default()).unwrap_err();
    check_error(&error, ErrorKind::Conflict, &["random salt chose several buckets"]);
    assert_eq!(units(table.scan(&everything()).unwrap()), vec![7; rows.len()]);
    table.delete(&key("van", 7), Durability::Synced).unwrap();
    assert!(table.get(&key("van", 7), &GetOptions::default()).unwrap().is_none());
}

#[test]
fn a_scan_reads_one_moment() {
    let table = create(&engine(), fleet());
    fill(&table, 100);
    let mut scan = table.scan(&everything()).unwrap();
    scan.next().unwrap().unwrap();
    table.delete(&key("van", 99), Durability::Synced).unwrap();
    table.put(&key("van", 500), set("v", "1"), Durability::Synced).unwrap();
    assert_eq!(units(&mut scan), (1..100).collect::<Vec<_>>());
    let stats = scan.stats();
    assert_eq!((stats.rows_returned, stats.rows_examined, stats.buckets, stats.ranges), (100, 100, 8, 8));
}

#[test]
fn a_page_token_belongs_to_its_table_schema_query_and_direction() {
    let engine = engine();
    let table = create(&engine, fleet());
    fill(&table, 50);
    let mut request = ScanRequest { rows_max: Some(20), ..everything() };
    let mut scan = table.scan(&request).unwrap();
    assert_eq!(scan.page_token(), None);
    assert_eq!(units(&mut scan), (0..20).collect::<Vec<_>>());
    request.page_token = Some(scan.page_token().unwrap());
    // Another handle on the table, as after a restart; and rows that came between are seen if they lie behind.
    let table = open(&engine, None).unwrap();
    table.put(&key("van", 21), set("w", "1"), Durability::Synced).unwrap();
    assert_eq!(units(table.scan(&request).unwrap()), (20..40).collect::<Vec<_>>());
    let refused = |request: &ScanRequest, what: &str| {
        check_error(&table.scan(request).unwrap_err(), ErrorKind::Invalid, &[what]);
    };
    refused(&ScanRequest { reversed: true, ..request.clone() }, "other direction");
    refused(&ScanRequest { ordered: false, ..request.clone() }, "needs an ordered scan");
    refused(&ScanRequest { query: Query::new().equal("kind", "van"), ..request.clone() }, "another query");
    let other = create(&self::engine(), schema(4, "xxh3", "m = {}"));
    let error = other.scan(&request).unwrap_err();
    check_error(&error, ErrorKind::Invalid, &["another key schema of this table"]);
    refused(&ScanRequest { page_token: Some("x".to_owned()), ..request.clone() }, "page token is");
}

#[test]
fn a_full_scan_must_be_asked_for_by_name() {
    let table = create(&engine(), fleet());
    let error = table.scan(&ScanRequest::new(Query::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Query);
}

#[test]
fn a_failing_bucket_is_named_and_rows_before_it_are_no_result() {
    let engine = Arc::new(Faulty::new(MemoryEngine::new(clock()), Faults::default()));
    let shared: Arc<dyn Engine> = Arc::clone(&engine) as Arc<dyn Engine>;
    let table = create(&shared, fleet());
    fill(&table, 200);
    for when in [When::Always, When::AfterRows(3)] {
        engine.layer().set([Fault {
            range: RowRange::prefix(b"5#"),
            when: when.clone(),
            ..Fault::always(OperationKind::Read)
        }]);
        for ordered in [true, false] {
            for parallelism in [1, 4] {
                let request = ScanRequest { ordered, parallelism, ..everything() };
                let result: rowkey_table::Result<Vec<_>> = table.scan(&request).and_then(Iterator::collect);
                let error = result.expect_err("never a short result");
                let range = "bucket 5, range `5#`..`5$`";
                check_error(&error, ErrorKind::Unavailable, &["table `fleet`", range, "injected"]);
            }
        }
    }
    engine.layer().set([]);
    assert_eq!(units(table.scan(&everything()).unwrap()).len(), 200);
}

#[test]
fn a_foreign_key_fails_the_scan_or_is_counted() {
    let engine = engine();
    let table = create(&engine, fleet());
    fill(&table, 10);
    // A plausible key in the wrong bucket, as a bulk load that forgot the salt writes it.
    let right = table.key_to_write(&key("van", 3)).unwrap();
    let wrong = [if right[0] == b'0' { b"1" } else { b"0" }, &right[1..]].concat();
    engine.set_cells("fleet", &wrong, &[("m", b"v", 1000, b"x")]).unwrap();
    let result: rowkey_table::Result<Vec<_>> = table.scan(&everything()).and_then(Iterator::collect);
    let shown = format!("`{}`", String::from_utf8(wrong).unwrap());
    let error = result.unwrap_err();
    check_error(&error, ErrorKind::Malformed { offset: 0 }, &["table `fleet`", &shown, "offset 0"]);
    let mut scan = table.scan(&ScanRequest { on_foreign_key: OnForeignKey::Skip, ..everything() }).unwrap();
    assert_eq!(units(&mut scan), (0..10).collect::<Vec<_>>());
    assert_eq!(scan.stats().rows_foreign, 1);
}
