//! Writes that read before: conditions, increments and appends.

use crate::client::{Client, TABLE, on_every_engine, read_all, refused, set};
use bytes::Bytes;
use rowkey_proto::data::read_modify_write_rule::Rule;
use rowkey_proto::data::row_filter::Filter;
use rowkey_proto::data::value_range::{EndValue, StartValue};
use rowkey_proto::data::{CheckAndMutateRowRequest, Mutation, ReadModifyWriteRule, RowFilter, ValueRange};
use tonic::{Code, Status};

/// Writes `yes` or `no` to the row `r`, depending on a filter.
fn decide(client: &Client, filter: Option<Filter>) -> Result<bool, Status> {
    let predicate_filter = filter.map(|filter| RowFilter { filter: Some(filter) });
    let written = |value: &str| vec![set("g", "answer", 0, value)];
    check(client, "r", predicate_filter, written("yes"), written("no"))
}

fn check(
    client: &Client,
    key: &str,
    predicate_filter: Option<RowFilter>,
    true_mutations: Vec<Mutation>,
    false_mutations: Vec<Mutation>,
) -> Result<bool, Status> {
    client.check_and_mutate(CheckAndMutateRowRequest {
        table_name: TABLE.to_owned(),
        row_key: Bytes::from(key.to_owned()),
        predicate_filter,
        true_mutations,
        false_mutations,
        ..CheckAndMutateRowRequest::default()
    })
}

fn value_is(value: &str) -> Filter {
    let value = Bytes::from(value.to_owned());
    let start_value = Some(StartValue::StartValueClosed(value.clone()));
    let end_value = Some(EndValue::EndValueClosed(value));
    Filter::ValueRangeFilter(ValueRange { start_value, end_value })
}

fn increment(qualifier: &str, amount: i64) -> ReadModifyWriteRule {
    rule("f", qualifier, Rule::IncrementAmount(amount))
}

fn append(qualifier: &str, suffix: &str) -> ReadModifyWriteRule {
    rule("f", qualifier, Rule::AppendValue(Bytes::from(suffix.to_owned())))
}

fn rule(family: &str, qualifier: &str, rule: Rule) -> ReadModifyWriteRule {
    let (family_name, column_qualifier) = (family.to_owned(), Bytes::from(qualifier.to_owned()));
    ReadModifyWriteRule { family_name, column_qualifier, rule: Some(rule) }
}

#[test]
fn a_condition_is_met_by_any_cell_that_passes() {
    on_every_engine(|client| {
        assert!(!decide(client, None).unwrap());
        client.check_all("r g:answer 0 no");
        assert!(decide(client, None).unwrap());
        client.mutate("r", vec![set("f", "q", 0, "v")]).unwrap();
        assert!(decide(client, Some(value_is("v"))).unwrap());
        client.check_all("r f:q 0 v, g:answer 0 yes");
        assert!(!decide(client, Some(value_is("w"))).unwrap());
        assert!(!decide(client, Some(Filter::BlockAllFilter(true))).unwrap());
        client.check_all("r f:q 0 v, g:answer 0 no");
    });
}

#[test]
fn one_branch_may_be_empty_but_not_both() {
    on_every_engine(|client| {
        let branch = || vec![set("f", "q", 0, "v")];
        assert!(!check(client, "r", None, branch(), vec![]).unwrap());
        client.check_all("");
        assert!(!check(client, "r", None, vec![], branch()).unwrap());
        client.check_all("r f:q 0 v");
        let invalid = Code::InvalidArgument;
        refused(check(client, "r", None, vec![], vec![]), invalid, "No mutations provided");
        refused(check(client, "", None, branch(), vec![]), invalid, "Row keys must be non-empty");
        let missing = vec![set("x", "q", 0, "v")];
        refused(
            check(client, "r", None, branch(), missing.clone()),
            Code::NotFound,
            "column family not found",
        );
        refused(check(client, "r", None, missing, branch()), Code::NotFound, "column family not found");
        refused(decide(client, Some(Filter::PassAllFilter(false))), invalid, "`pass_all_filter` is false");
        client.check_all("r f:q 0 v");
    });
}

#[test]
fn increments_and_appends_build_on_each_other() {
    on_every_engine(|client| {
        let first = client.read_modify_write("r", vec![increment("n", 5), append("text", "a")]).unwrap();
        assert_eq!(first, r"f:n \x00\x00\x00\x00\x00\x00\x00\x05, f:text a");
        let rules = vec![increment("n", -7), append("text", "b"), append("text", "c")];
        let second = client.read_modify_write("r", rules).unwrap();
        assert_eq!(second, r"f:n \xff\xff\xff\xff\xff\xff\xff\xfe, f:text abc");
    });
}

#[test]
fn a_new_cell_is_never_older_than_the_newest() {
    on_every_engine(|client| {
        let future = 9_000_000_000_000_000;
        client.mutate("r", vec![set("f", "text", future, "a")]).unwrap();
        client.read_modify_write("r", vec![append("text", "b")]).unwrap();
        client.check_all(&format!("r f:text {future} ab"));
    });
}

#[test]
fn rules_that_are_refused_change_nothing() {
    on_every_engine(|client| {
        client.mutate("r", vec![set("f", "text", 0, "abc")]).unwrap();
        let bad = |key: &str, rules, code, words| refused(client.read_modify_write(key, rules), code, words);
        let words = "The increment operation can only be performed on 64-bit values";
        bad("r", vec![increment("n", 1), increment("text", 1)], Code::FailedPrecondition, words);
        let missing = rule("x", "q", Rule::IncrementAmount(1));
        bad("r", vec![increment("n", 1), missing], Code::NotFound, "column family not found");
        bad("r", vec![], Code::InvalidArgument, "No rules provided");
        bad("", vec![increment("n", 1)], Code::InvalidArgument, "Row keys must be non-empty");
        let sum = rule("sum", "q", Rule::IncrementAmount(1));
        bad("r", vec![sum], Code::InvalidArgument, "Column family type mismatch");
        let none = ReadModifyWriteRule { rule: None, ..increment("n", 1) };
        bad("r", vec![none], Code::InvalidArgument, "neither appends nor increments");
        client.check_all("r f:text 0 abc");
    });
}

#[test]
fn no_increment_is_lost_among_many_clients() {
    on_every_engine(|client| {
        const CLIENTS: i64 = 16;
        const TIMES: i64 = 20;
        let increments = |mut data: rowkey_proto::data::bigtable_client::BigtableClient<_>| async move {
            for _ in 0..TIMES {
                let request = rowkey_proto::data::ReadModifyWriteRowRequest {
                    table_name: TABLE.to_owned(),
                    row_key: "r".into(),
                    rules: vec![increment("n", 1)],
                    ..Default::default()
                };
                data.read_modify_write_row(request).await.unwrap();
            }
        };
        let tasks: Vec<_> =
            (0..CLIENTS).map(|_| client.runtime.spawn(increments(client.data.clone()))).collect();
        for task in tasks {
            client.runtime.block_on(task).unwrap();
        }
        let rows = client.read(read_all()).unwrap();
        assert_eq!(rows[0].cells[0].value, (CLIENTS * TIMES).to_be_bytes()[..]);
    });
}
