//! What single and bulk writes do, and what is refused.

use crate::client::{
    Client, TABLE, numbered, on_every_engine, on_memory, read_all, refused, set, step, table,
};
use bytes::Bytes;
use rowkey_proto::data::mutation::{
    AddToCell, DeleteFromColumn, DeleteFromFamily, DeleteFromRow, MergeToCell, Mutation as Kind, SetCell,
    TimestampOrigin,
};
use rowkey_proto::data::value::Kind as ValueKind;
use rowkey_proto::data::{
    Idempotency, MutateRowRequest, MutateRowsRequest, Mutation, ReadRowsRequest, TimestampRange, Value,
    mutate_rows_request,
};
use rowkey_server::Options;
use tonic::Code;

fn delete_column(qualifier: &str, times: Option<(i64, i64)>) -> Mutation {
    let time_range = times.map(|(start_timestamp_micros, end_timestamp_micros)| TimestampRange {
        start_timestamp_micros,
        end_timestamp_micros,
    });
    let column_qualifier = Bytes::from(qualifier.to_owned());
    step(Kind::DeleteFromColumn(DeleteFromColumn {
        family_name: "f".to_owned(),
        column_qualifier,
        time_range,
    }))
}

fn delete_family(family: &str) -> Mutation {
    step(Kind::DeleteFromFamily(DeleteFromFamily { family_name: family.to_owned() }))
}

fn delete_row() -> Mutation {
    step(Kind::DeleteFromRow(DeleteFromRow {}))
}

fn value(kind: ValueKind) -> Value {
    Value { kind: Some(kind), ..Value::default() }
}

fn add(family: &str, timestamp: i64, input: i64) -> Mutation {
    step(Kind::AddToCell(AddToCell {
        family_name: family.to_owned(),
        column_qualifier: Some(value(ValueKind::RawValue("q".into()))),
        timestamp: Some(value(ValueKind::RawTimestampMicros(timestamp))),
        input: Some(value(ValueKind::IntValue(input))),
    }))
}

fn merge(family: &str, input: Option<Value>) -> Mutation {
    step(Kind::MergeToCell(MergeToCell {
        family_name: family.to_owned(),
        column_qualifier: Some(value(ValueKind::RawValue("q".into()))),
        timestamp: Some(value(ValueKind::RawTimestampMicros(0))),
        input,
    }))
}

/// The integer in a family of the row `n`.
fn number(client: &Client, family: &str) -> i64 {
    let rows = client.read(read_all()).unwrap();
    let row = rows.iter().find(|row| row.key == "n").unwrap();
    let cell = row.cells.iter().find(|cell| *cell.family == *family).unwrap();
    i64::from_be_bytes(cell.value[..].try_into().unwrap())
}

#[test]
fn what_is_written_is_read() {
    on_every_engine(|client| {
        client.mutate("r1", vec![set("f", "q", 1_000, "v1"), set("f", "q", 2_000, "v2")]).unwrap();
        client.mutate("r2", vec![set("g", "q", 1_000, "w"), set("f", "", 0, "")]).unwrap();
        client.check_all("r1 f:q 2000 v2, f:q 1000 v1; r2 f: 0 , g:q 1000 w");
        client.mutate("r1", vec![set("f", "q", 2_000, "new")]).unwrap();
        client.mutate("r2", vec![delete_row(), set("f", "p", 0, "v")]).unwrap();
        client.check_all("r1 f:q 2000 new, f:q 1000 v1; r2 f:p 0 v");
    });
}

#[test]
fn deletes_take_what_they_name() {
    on_every_engine(|client| {
        let write = |key: &str| {
            let cells = [1_000, 2_000, 3_000].map(|time| set("f", "q", time, "v"));
            client.mutate(key, [&cells[..], &[set("g", "q", 0, "w")]].concat()).unwrap();
        };
        ["a", "b", "c", "d"].into_iter().for_each(write);
        client.mutate("a", vec![delete_column("q", Some((1_000, 3_000)))]).unwrap();
        client.mutate("b", vec![delete_column("q", Some((2_000, 0)))]).unwrap();
        client.mutate("c", vec![delete_column("q", None), delete_column("none", None)]).unwrap();
        client.mutate("d", vec![delete_family("f")]).unwrap();
        client.check_all("a f:q 3000 v, g:q 0 w; b f:q 1000 v, g:q 0 w; c g:q 0 w; d g:q 0 w");
        client.mutate("d", vec![delete_row()]).unwrap();
        client.mutate("not there", vec![delete_row()]).unwrap();
        client.check_all("a f:q 3000 v, g:q 0 w; b f:q 1000 v, g:q 0 w; c g:q 0 w");
        for times in [(2_000, 1_000), (2_000, 2_000), (-1, 5)] {
            let bad = client.mutate("a", vec![delete_column("q", Some(times))]);
            refused(bad, Code::InvalidArgument, "range of times");
        }
        refused(client.mutate("a", vec![delete_family("x")]), Code::NotFound, "column family not found");
    });
}

#[test]
fn a_write_that_is_refused_leaves_nothing() {
    on_every_engine(|client| {
        let not_found = "Requested column family not found";
        let half = vec![set("f", "q", 0, "v"), set("x", "q", 0, "v")];
        refused(client.mutate("r", half), Code::NotFound, not_found);
        refused(
            client.mutate("", vec![set("f", "q", 0, "v")]),
            Code::InvalidArgument,
            "Row keys must be non-empty",
        );
        refused(client.mutate("r", vec![]), Code::InvalidArgument, "No mutations provided");
        refused(client.mutate("r", vec![Mutation::default()]), Code::InvalidArgument, "does nothing");
        let mismatch = "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got 1";
        refused(client.mutate("r", vec![set("f", "q", 1, "v")]), Code::InvalidArgument, mismatch);
        refused(client.mutate("r", vec![set("f", "q", -2, "v")]), Code::InvalidArgument, "negative");
        refused(
            client.mutate("r", vec![set("sum", "q", 0, "v")]),
            Code::InvalidArgument,
            "Column family type mismatch",
        );
        client.check_all("");
    });
}

#[test]
fn limits_are_held() {
    on_memory(Options::default(), |client| {
        let invalid = Code::InvalidArgument;
        let long_key = "k".repeat(4_097);
        client.mutate(&long_key[1..], vec![set("f", "q", 0, "v")]).unwrap();
        refused(client.mutate(&long_key, vec![set("f", "q", 0, "v")]), invalid, "the limit is 4096");
        let long = "q".repeat(16 * 1024 + 1);
        client.mutate("r", vec![set("f", &long[1..], 0, "v")]).unwrap();
        refused(client.mutate("r", vec![set("f", &long, 0, "v")]), invalid, "the limit is 16384");
        let large = "v".repeat(100 * 1024 * 1024 + 1);
        refused(client.mutate("r", vec![set("f", "q", 0, &large)]), invalid, "the limit is 104857600");
        let many = vec![delete_row(); 100_001];
        client.mutate("r", many[1..].to_vec()).unwrap();
        refused(client.mutate("r", many.clone()), invalid, "the limit is 100000");
        let entries = vec![("a", many[..50_000].to_vec()), ("b", many[..50_001].to_vec())];
        refused(client.mutate_rows(entries), invalid, "the limit is 100000");
    });
}

#[test]
fn long_messages_and_keys_do_not_break_the_header_that_tells_of_them() {
    on_memory(Options::default(), |client| {
        let family = "é".repeat(100_000);
        let status = client.mutate("r", vec![set(&family, "q", 0, "v")]).unwrap_err();
        assert_eq!(status.code(), Code::NotFound);
        assert!(status.message().len() < 3_000);
    });
}

#[test]
fn the_servers_time_is_cut_to_the_granularity_of_the_table() {
    on_every_engine(|client| {
        client.mutate("r", vec![set("f", "q", -1, "v")]).unwrap();
        let time = client.read(read_all()).unwrap()[0].cells[0].timestamp_us;
        assert!(time > 1_600_000_000_000_000 && time % 1_000 == 0, "{time}");
    });
}

#[test]
fn timestamps_of_the_clients_own_making_are_cut_others_must_fit() {
    on_every_engine(|client| {
        let write = |table_id: &str, origin: TimestampOrigin| {
            let mut mutation = set("f", "q", 1_234, "v");
            mutation.timestamp_origin = origin.into();
            let (table_name, mutations) = (table(table_id), vec![mutation]);
            client.mutate_by(MutateRowRequest {
                table_name,
                row_key: "r".into(),
                mutations,
                ..Default::default()
            })
        };
        refused(write("t", TimestampOrigin::UserSpecified), Code::InvalidArgument, "granularity mismatch");
        write("t", TimestampOrigin::ClientAutoGenerated).unwrap();
        client.check_all("r f:q 1000 v");
        write("micros", TimestampOrigin::ClientAutoGenerated).unwrap();
        client.check(ReadRowsRequest { table_name: table("micros"), ..read_all() }, "r f:q 1234 v");
    });
}

#[test]
fn aggregates_add_up() {
    on_every_engine(|client| {
        for input in [5, 3, 9, 4] {
            let steps = ["max", "min", "sum"].map(|family| add(family, 0, input));
            client.mutate("n", steps.into()).unwrap();
        }
        assert_eq!(["max", "min", "sum"].map(|family| number(client, family)), [9, 3, 21]);
        client.mutate("n", vec![merge("sum", Some(value(ValueKind::IntValue(-1))))]).unwrap();
        client
            .mutate(
                "n",
                vec![merge("sum", Some(value(ValueKind::RawValue(10_i64.to_be_bytes().to_vec().into()))))],
            )
            .unwrap();
        client.mutate("n", vec![merge("sum", None)]).unwrap();
        assert_eq!(number(client, "sum"), 30);
        let bad = |mutation, words| refused(client.mutate("n", vec![mutation]), Code::InvalidArgument, words);
        bad(add("f", 0, 1), "Column family type mismatch");
        bad(add("sum", 1, 1), "Timestamp granularity mismatch");
        bad(merge("sum", Some(value(ValueKind::RawValue("1234567".into())))), "7 bytes");
        bad(merge("sum", Some(value(ValueKind::BoolValue(true)))), "`int_value`");
        let Some(Kind::AddToCell(mut typed)) = add("sum", 0, 1).mutation else { panic!("it adds") };
        typed.input = Some(value(ValueKind::RawValue("12345678".into())));
        bad(step(Kind::AddToCell(typed)), "`int_value`");
        refused(client.mutate("n", vec![add("x", 0, 1)]), Code::NotFound, "column family not found");
    });
}

#[test]
fn each_entry_of_a_bulk_write_has_its_own_result() {
    on_every_engine(|client| {
        let entries = vec![
            ("a", vec![set("f", "q", 0, "v")]),
            ("b", vec![set("f", "q", 0, "v"), set("x", "q", 0, "v")]),
            ("c", vec![]),
            ("", vec![set("f", "q", 0, "v")]),
            ("d", vec![set("f", "q", 7, "v")]),
            ("e", vec![Mutation::default()]),
            ("a", vec![set("f", "q", 1_000, "later")]),
            ("f", vec![set("sum", "q", 0, "v")]),
        ];
        let results = client.mutate_rows(entries).unwrap();
        let check = |index: usize, code, words: &str| {
            let (found, message) = &results[index];
            assert_eq!(*found, code, "{index}: {message}");
            assert!(message.contains(words), "{index}: {message}");
        };
        check(0, Code::Ok, "");
        check(1, Code::NotFound, "Requested column family not found");
        check(2, Code::InvalidArgument, "No mutations provided");
        check(3, Code::InvalidArgument, "Row keys must be non-empty");
        check(4, Code::InvalidArgument, "Timestamp granularity mismatch");
        check(5, Code::InvalidArgument, "does nothing");
        check(6, Code::Ok, "");
        check(7, Code::InvalidArgument, "Column family type mismatch");
        client.check_all("a f:q 1000 later, f:q 0 v");
    });
}

#[test]
fn a_bulk_write_as_a_whole_needs_entries_and_a_table() {
    on_memory(Options::default(), |client| {
        refused(client.mutate_rows(vec![]), Code::InvalidArgument, "No mutations provided");
        let by_table = |table_name: &str, view: &str| {
            let entry = mutate_rows_request::Entry {
                row_key: "r".into(),
                mutations: vec![set("f", "q", 0, "v")],
                idempotency: None,
            };
            let (table_name, authorized_view_name) = (table_name.to_owned(), view.to_owned());
            client.mutate_rows_by(MutateRowsRequest {
                table_name,
                authorized_view_name,
                entries: vec![entry],
                ..Default::default()
            })
        };
        refused(by_table(&table("missing"), ""), Code::NotFound, "missing");
        refused(by_table("", ""), Code::InvalidArgument, "exactly one");
        refused(by_table(TABLE, &format!("{TABLE}/authorizedViews/v")), Code::InvalidArgument, "exactly one");
        refused(by_table("", &format!("{TABLE}/authorizedViews/v")), Code::Unimplemented, "views");
        refused(by_table("t", ""), Code::InvalidArgument, "is not a name of this kind");
    });
}

#[test]
fn many_rows_at_once_are_all_there() {
    on_every_engine(|client| {
        let keys: Vec<String> = (0..20_000).map(numbered).collect();
        let entries = keys.iter().map(|key| (key.as_str(), vec![set("f", "q", 0, key)])).collect();
        let results = client.mutate_rows(entries).unwrap();
        assert!(results.iter().all(|(code, _)| *code == Code::Ok));
        let rows = client.read(read_all()).unwrap();
        assert_eq!(
            rows.iter().map(|row| &row.cells[0].value).collect::<Vec<_>>(),
            keys.iter().collect::<Vec<_>>()
        );
    });
}

#[test]
fn binary_keys_and_values_come_back_as_they_were() {
    on_every_engine(|client| {
        let bytes: Bytes = (0..=255).collect::<Vec<u8>>().into();
        let set = SetCell {
            family_name: "f".to_owned(),
            column_qualifier: bytes.clone(),
            timestamp_micros: i64::MAX - i64::MAX % 1_000,
            value: bytes.clone(),
        };
        let (table_name, row_key, mutations) =
            (TABLE.to_owned(), bytes.clone(), vec![step(Kind::SetCell(set))]);
        client.mutate_by(MutateRowRequest { table_name, row_key, mutations, ..Default::default() }).unwrap();
        let rows = client.read(read_all()).unwrap();
        let cell = &rows[0].cells[0];
        assert_eq!([&rows[0].key, &cell.qualifier, &cell.value], [&bytes; 3]);
        assert_eq!(cell.timestamp_us, i64::MAX - i64::MAX % 1_000);
    });
}

#[test]
fn what_is_added_with_a_token_is_added_once() {
    on_every_engine(|client| {
        let add = |key: &'static str, token: &'static str, input| {
            let idempotency = Some(Idempotency { token: token.into(), start_time: None });
            let (table_name, mutations) = (TABLE.to_owned(), vec![add("sum", 0, input)]);
            client.mutate_by(MutateRowRequest {
                table_name,
                row_key: key.into(),
                mutations,
                idempotency,
                ..Default::default()
            })
        };
        add("n", "token-01", 5).unwrap();
        add("n", "token-01", 5).unwrap();
        add("m", "token-01", 7).unwrap();
        assert_eq!(number(client, "sum"), 5);
        add("n", "token-02", 5).unwrap();
        assert_eq!(number(client, "sum"), 10);
        refused(add("n", "short", 5), Code::InvalidArgument, "8 to 1024");
        let entry = |key: &'static str| mutate_rows_request::Entry {
            row_key: key.into(),
            mutations: vec![self::add("sum", 0, 1)],
            idempotency: Some(Idempotency { token: "token-02".into(), start_time: None }),
        };
        let entries = vec![entry("n"), entry("o"), entry("n")];
        let request = MutateRowsRequest { table_name: TABLE.to_owned(), entries, ..Default::default() };
        let results = client.mutate_rows_by(request).unwrap();
        assert!(results.iter().all(|(code, _)| *code == Code::Ok));
        assert_eq!(number(client, "sum"), 10);
        assert_eq!(client.read(read_all()).unwrap().len(), 3);
    });
}
