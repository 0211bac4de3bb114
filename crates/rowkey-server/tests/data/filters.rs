//! Filters, one after the other, and what of them is refused.

use crate::client::{Client, on_every_engine, on_memory, read_all, refused, set};
use bytes::Bytes;
use rowkey_proto::data::column_range::{EndQualifier, StartQualifier};
use rowkey_proto::data::row_filter::{Chain, Condition, Filter, Interleave};
use rowkey_proto::data::value_range::{EndValue, StartValue};
use rowkey_proto::data::{ColumnRange, ReadRowsRequest, RowFilter, TimestampRange, ValueBitmask, ValueRange};
use rowkey_server::Options;
use tonic::{Code, Status};

fn filter(filter: Filter) -> RowFilter {
    RowFilter { filter: Some(filter) }
}

fn chain(filters: Vec<Filter>) -> Filter {
    Filter::Chain(Chain { filters: filters.into_iter().map(filter).collect() })
}

fn interleave(filters: Vec<Filter>) -> Filter {
    Filter::Interleave(Interleave { filters: filters.into_iter().map(filter).collect() })
}

fn condition(predicate: Filter, then: Option<Filter>, otherwise: Option<Filter>) -> Filter {
    let part = |part: Option<Filter>| part.map(|part| Box::new(filter(part)));
    Filter::Condition(Box::new(Condition {
        predicate_filter: part(Some(predicate)),
        true_filter: part(then),
        false_filter: part(otherwise),
    }))
}

fn label(label: &str) -> Filter {
    Filter::ApplyLabelTransformer(label.to_owned())
}

fn family(pattern: &str) -> Filter {
    Filter::FamilyNameRegexFilter(pattern.to_owned())
}

fn bytes(text: &str) -> Bytes {
    Bytes::from(text.to_owned())
}

fn qualifier(pattern: &str) -> Filter {
    Filter::ColumnQualifierRegexFilter(bytes(pattern))
}

fn value(pattern: &str) -> Filter {
    Filter::ValueRegexFilter(bytes(pattern))
}

fn key(pattern: &str) -> Filter {
    Filter::RowKeyRegexFilter(bytes(pattern))
}

fn values(start: &str, end: &str) -> Filter {
    let start_value = Some(StartValue::StartValueClosed(bytes(start)));
    let end_value = Some(EndValue::EndValueOpen(bytes(end)));
    Filter::ValueRangeFilter(ValueRange { start_value, end_value })
}

fn columns(family: &str, start: &str, end: &str) -> Filter {
    let start_qualifier = Some(StartQualifier::StartQualifierOpen(bytes(start)));
    let end_qualifier = Some(EndQualifier::EndQualifierClosed(bytes(end)));
    Filter::ColumnRangeFilter(ColumnRange { family_name: family.to_owned(), start_qualifier, end_qualifier })
}

fn times(start_timestamp_micros: i64, end_timestamp_micros: i64) -> Filter {
    Filter::TimestampRangeFilter(TimestampRange { start_timestamp_micros, end_timestamp_micros })
}

fn bitmask(mask: &[u8]) -> Filter {
    Filter::ValueBitmaskFilter(ValueBitmask { mask: Bytes::copy_from_slice(mask) })
}

/// Two rows: `r1` with three columns, one of which has two versions, and `r2` with one cell.
fn write(client: &Client) {
    let cells =
        [("f", "a", 1_000, "1"), ("f", "a", 2_000, "2"), ("f", "b", 1_000, "3"), ("g", "a", 1_000, "4")];
    client
        .mutate("r1", cells.map(|(family, name, time, value)| set(family, name, time, value)).into())
        .unwrap();
    client.mutate("r2", vec![set("g", "b", 1_000, "5")]).unwrap();
}

fn request(rule: Filter) -> ReadRowsRequest {
    ReadRowsRequest { filter: Some(filter(rule)), ..read_all() }
}

fn check(client: &Client, rule: Filter, expected: &str) {
    client.check(request(rule), expected);
}

#[test]
fn single_filters_choose_cells() {
    on_every_engine(|client| {
        write(client);
        let all = "r1 f:a 2000 2, f:a 1000 1, f:b 1000 3, g:a 1000 4; r2 g:b 1000 5";
        check(client, Filter::PassAllFilter(true), all);
        check(client, Filter::BlockAllFilter(true), "");
        check(client, key("r2|x"), "r2 g:b 1000 5");
        check(client, key("r"), "");
        check(client, family("g"), "r1 g:a 1000 4; r2 g:b 1000 5");
        check(client, qualifier("a"), "r1 f:a 2000 2, f:a 1000 1, g:a 1000 4");
        check(client, value("[13]"), "r1 f:a 1000 1, f:b 1000 3");
        check(client, value("|5"), "r2 g:b 1000 5");
        check(client, columns("f", "a", "b"), "r1 f:b 1000 3");
        check(client, values("2", "4"), "r1 f:a 2000 2, f:b 1000 3");
        check(client, times(1_001, 0), "r1 f:a 2000 2");
        check(client, times(0, 2_000), "r1 f:a 1000 1, f:b 1000 3, g:a 1000 4; r2 g:b 1000 5");
        check(client, bitmask(&[0b0011_0101]), "r2 g:b 1000 5");
        check(
            client,
            Filter::CellsPerColumnLimitFilter(1),
            "r1 f:a 2000 2, f:b 1000 3, g:a 1000 4; r2 g:b 1000 5",
        );
        check(client, Filter::CellsPerRowLimitFilter(2), "r1 f:a 2000 2, f:a 1000 1; r2 g:b 1000 5");
        check(client, Filter::CellsPerRowOffsetFilter(3), "r1 g:a 1000 4");
        check(
            client,
            Filter::StripValueTransformer(true),
            "r1 f:a 2000 , f:a 1000 , f:b 1000 , g:a 1000 ; r2 g:b 1000 ",
        );
        check(client, chain(vec![family("g"), label("found")]), "r1 g:a 1000 4 found; r2 g:b 1000 5 found");
    });
}

#[test]
fn filters_are_put_together() {
    on_every_engine(|client| {
        write(client);
        check(client, chain(vec![family("f"), Filter::CellsPerRowLimitFilter(1)]), "r1 f:a 2000 2");
        let twice = interleave(vec![value("5"), chain(vec![value("5"), label("x")])]);
        check(client, twice, "r2 g:b 1000 5, g:b 1000 5 x");
        check(
            client,
            condition(value("1"), Some(value("3")), Some(label("none"))),
            "r1 f:b 1000 3; r2 g:b 1000 5 none",
        );
        check(client, condition(value("1"), None, Some(Filter::PassAllFilter(true))), "r2 g:b 1000 5");
        // As the API's own example: the sink's cells come out labelled, whatever follows.
        let sink = chain(vec![
            interleave(vec![value("2"), chain(vec![value("1"), label("kept"), Filter::Sink(true)])]),
            value("none"),
        ]);
        check(client, sink, "r1 f:a 1000 1 kept");
    });
}

#[test]
fn the_order_of_cells_is_always_the_same() {
    on_every_engine(|client| {
        write(client);
        for _ in 0..10 {
            check(
                client,
                chain(vec![key("r1"), Filter::CellsPerRowOffsetFilter(2)]),
                "r1 f:b 1000 3, g:a 1000 4",
            );
        }
    });
}

#[test]
fn bad_filters_are_refused_before_a_row_is_looked_at() {
    on_memory(Options::default(), |client| {
        let bad = |rule, words| refused(client.read(request(rule)), Code::InvalidArgument, words);
        bad(Filter::PassAllFilter(false), "`pass_all_filter` is false");
        bad(Filter::BlockAllFilter(false), "`block_all_filter` is false");
        bad(Filter::StripValueTransformer(false), "`strip_value_transformer` is false");
        bad(Filter::Sink(false), "`sink` is false");
        bad(chain(vec![]), "at least 2");
        bad(chain(vec![family("f")]), "at least 2");
        bad(interleave(vec![family("f")]), "at least 2");
        bad(condition(Filter::Sink(true), None, None), "sink");
        bad(condition(family("f"), Some(Filter::Sink(true)), None), "sink");
        bad(key(""), "empty pattern");
        bad(key("("), "row keys");
        bad(family("a:b"), "`:`");
        bad(columns("", "a", "b"), "has no family");
        bad(columns("f", "b", "a"), "ends before it begins");
        bad(values("2", "1"), "ends before it begins");
        bad(times(2, 1), "ends before it begins");
        bad(bitmask(&[]), "empty");
        bad(Filter::CellsPerColumnLimitFilter(0), "the least is 1");
        bad(Filter::CellsPerRowLimitFilter(0), "the least is 1");
        bad(Filter::CellsPerRowLimitFilter(-1), "must not be negative");
        bad(Filter::CellsPerRowOffsetFilter(-1), "must not be negative");
        bad(Filter::RowSampleFilter(0.0), "more than 0 and less than 1");
        bad(Filter::RowSampleFilter(1.0), "more than 0 and less than 1");
        bad(Filter::RowSampleFilter(f64::NAN), "more than 0 and less than 1");
        bad(label("UP_1x"), "lower-case");
        bad(label("abcdefghijklmnop"), "the limit is 15");
        bad(chain(vec![label("a"), label("b")]), "two labels");
        bad(value(&"a".repeat(20_480)), "Row filter exceeds maximum size of 20480 bytes");
        let deep = (0..20)
            .fold(Filter::PassAllFilter(true), |inner, _| chain(vec![inner, Filter::PassAllFilter(true)]));
        bad(deep, "deeper than 20");
    });
}

#[test]
fn a_filter_that_lets_nothing_through_gives_no_row() {
    on_memory(Options::default(), |client| {
        write(client);
        let nothing: Result<Vec<_>, Status> = client.read(request(value("none")));
        assert!(nothing.unwrap().is_empty());
    });
}
