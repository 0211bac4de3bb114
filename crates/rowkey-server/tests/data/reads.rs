//! Which rows a read returns, and samples of row keys.

use crate::client::{Client, TABLE, numbered, on_every_engine, on_memory, read_all, refused, set, table};
use bytes::Bytes;
use rowkey_proto::data::read_rows_request::RequestStatsView;
use rowkey_proto::data::request_stats::StatsView;
use rowkey_proto::data::row_filter::Filter;
use rowkey_proto::data::row_range::{EndKey, StartKey};
use rowkey_proto::data::{
    FullReadStatsView, PingAndWarmRequest, ReadRowsRequest, RowFilter, RowRange, RowSet, SampleRowKeysRequest,
};
use rowkey_server::Options;
use tonic::Code;

/// A range from text: `[` and `]` are closed sides, `(` and `)` open ones, `-` none.
fn range(text: &str) -> RowRange {
    let (start, end) = text.split_once(' ').unwrap();
    let start_key = match start.split_at(1) {
        ("[", start) => Some(StartKey::StartKeyClosed(Bytes::from(start.to_owned()))),
        ("(", start) => Some(StartKey::StartKeyOpen(Bytes::from(start.to_owned()))),
        _ => None,
    };
    let end_key = match end.split_at(end.len() - 1) {
        (end, "]") => Some(EndKey::EndKeyClosed(Bytes::from(end.to_owned()))),
        (end, ")") => Some(EndKey::EndKeyOpen(Bytes::from(end.to_owned()))),
        _ => None,
    };
    RowRange { start_key, end_key }
}

fn rows(keys: &[&str], ranges: &[&str]) -> RowSet {
    let row_keys = keys.iter().map(|key| Bytes::from((*key).to_owned())).collect();
    RowSet { row_keys, row_ranges: ranges.iter().map(|text| range(text)).collect() }
}

/// Writes a row of one cell for each key.
fn write(client: &Client, keys: &[&str]) {
    let entries = keys.iter().map(|&key| (key, vec![set("f", "q", 0, "v")])).collect();
    assert!(client.mutate_rows(entries).unwrap().iter().all(|(code, _)| *code == Code::Ok));
}

/// The keys of a read, joined.
fn keys(client: &Client, request: ReadRowsRequest) -> String {
    let rows = client.read(request).unwrap();
    rows.iter().map(|row| String::from_utf8_lossy(&row.key)).collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_and_ranges_are_united_in_order() {
    on_every_engine(|client| {
        write(client, &["a", "b", "c", "d"]);
        let check = |key_list: &[&str], ranges: &[&str], expected: &str| {
            let mut request = ReadRowsRequest { rows: Some(rows(key_list, ranges)), ..read_all() };
            assert_eq!(keys(client, request.clone()), expected);
            request.reversed = true;
            let reversed: Vec<&str> = expected.split(' ').rev().collect();
            assert_eq!(keys(client, request), reversed.join(" "));
        };
        check(&[], &[], "a b c d");
        check(&["c", "a", "c", "not there"], &[], "a c");
        check(&["d"], &["[a b]", "(a c)"], "a b d");
        check(&[], &["[b d)"], "b c");
        check(&[], &["(b -"], "c d");
        check(&[], &["- b]"], "a b");
        check(&[], &["[c )"], "c d");
        check(&[], &["[b b)"], "");
        check(&[], &["(b b]"], "");
        check(&[], &["[b b]"], "b");
    });
}

#[test]
fn bad_row_sets_and_limits_are_refused() {
    on_memory(Options::default(), |client| {
        let check = |request, code, words| refused(client.read(request), code, words);
        let of = |rows| ReadRowsRequest { rows: Some(rows), ..read_all() };
        check(of(rows(&["a", ""], &[])), Code::InvalidArgument, "Row keys must be non-empty");
        check(of(rows(&[], &["[b a]"])), Code::InvalidArgument, "ends before it begins");
        check(
            ReadRowsRequest { rows_limit: -1, ..read_all() },
            Code::InvalidArgument,
            "must not be negative",
        );
        check(ReadRowsRequest { table_name: table("missing"), ..read_all() }, Code::NotFound, "missing");
        check(
            ReadRowsRequest { table_name: String::new(), ..read_all() },
            Code::InvalidArgument,
            "exactly one",
        );
        let both =
            ReadRowsRequest { authorized_view_name: format!("{TABLE}/authorizedViews/v"), ..read_all() };
        check(both, Code::InvalidArgument, "exactly one");
        let materialized_view_name = "projects/p/instances/i/materializedViews/v".to_owned();
        let view = ReadRowsRequest { table_name: String::new(), materialized_view_name, ..read_all() };
        check(view, Code::Unimplemented, "views are not served");
    });
}

#[test]
fn a_limit_counts_rows_that_come_out() {
    on_every_engine(|client| {
        write(client, &["a", "b"]);
        client.mutate("c", vec![set("g", "q", 0, "w")]).unwrap();
        client.mutate("d", vec![set("g", "q", 0, "w")]).unwrap();
        let limited = |rows_limit, filter: Option<Filter>, reversed| {
            let filter = filter.map(|filter| RowFilter { filter: Some(filter) });
            keys(client, ReadRowsRequest { rows_limit, filter, reversed, ..read_all() })
        };
        assert_eq!(limited(0, None, false), "a b c d");
        assert_eq!(limited(3, None, false), "a b c");
        assert_eq!(limited(3, None, true), "d c b");
        assert_eq!(limited(100, None, false), "a b c d");
        let in_g = Filter::ColumnRangeFilter(rowkey_proto::data::ColumnRange {
            family_name: "g".to_owned(),
            ..Default::default()
        });
        assert_eq!(limited(1, Some(in_g.clone()), false), "c");
        assert_eq!(limited(1, Some(in_g), true), "d");
    });
}

#[test]
fn stats_come_last_and_also_when_nothing_matched() {
    on_every_engine(|client| {
        write(client, &["a", "b", "c"]);
        let stats = |rows: Option<RowSet>, filter| {
            let view = RequestStatsView::RequestStatsFull.into();
            let filter = Some(RowFilter { filter: Some(filter) });
            let request = ReadRowsRequest { rows, filter, request_stats_view: view, ..read_all() };
            let mut messages = client.messages(request).unwrap();
            let last = messages.pop().unwrap();
            assert!(last.chunks.is_empty());
            assert!(messages.iter().all(|message| message.request_stats.is_none()));
            let Some(StatsView::FullReadStatsView(FullReadStatsView {
                read_iteration_stats,
                request_latency_stats,
            })) = last.request_stats.unwrap().stats_view
            else {
                panic!("no stats")
            };
            assert!(request_latency_stats.unwrap().frontend_server_latency.is_some());
            read_iteration_stats.unwrap()
        };
        let pass = || Filter::PassAllFilter(true);
        let all = stats(None, pass());
        assert_eq!((all.rows_seen_count, all.rows_returned_count), (3, 3));
        assert_eq!((all.cells_seen_count, all.cells_returned_count), (3, 3));
        let nothing = stats(Some(rows(&["x"], &[])), pass());
        assert_eq!(
            (nothing.rows_seen_count, nothing.rows_returned_count, nothing.cells_returned_count),
            (0, 0, 0)
        );
        let plain = client.messages(read_all()).unwrap();
        assert!(plain.iter().all(|message| message.request_stats.is_none()));
    });
}

#[test]
fn samples_are_the_ends_of_the_tablets_and_the_end_of_the_table() {
    on_every_engine(|client| {
        let check = |row_range: Option<&str>, expected: &[&str]| {
            let row_range = row_range.map(range);
            let request = SampleRowKeysRequest { table_name: table("cut"), row_range, ..Default::default() };
            let samples = client.samples(request).unwrap();
            let found: Vec<_> =
                samples.iter().map(|sample| String::from_utf8_lossy(&sample.row_key)).collect();
            assert_eq!(found, expected);
            assert!(samples.windows(2).all(|pair| pair[0].offset_bytes <= pair[1].offset_bytes));
        };
        check(None, &["c", "m", ""]);
        check(Some("[a d)"), &["c", "d"]);
        check(Some("[d -"), &["m", ""]);
        check(Some("[d e)"), &["e"]);
        let request = SampleRowKeysRequest { table_name: TABLE.to_owned(), ..Default::default() };
        assert_eq!(client.samples(request.clone()).unwrap().len(), 1, "no row, no sample but the end");
        client.mutate("a", vec![set("f", "q", 0, "v")]).unwrap();
        client.mutate("z", vec![set("f", "q", 0, "v")]).unwrap();
        let samples = client.samples(request).unwrap();
        assert_eq!(samples.iter().map(|sample| &sample.row_key[..]).collect::<Vec<_>>(), [&b"z"[..], b""]);
        let missing = SampleRowKeysRequest { table_name: table("missing"), ..Default::default() };
        refused(client.samples(missing), Code::NotFound, "missing");
    });
}

#[test]
fn warming_up_needs_the_name_of_an_instance() {
    on_memory(Options::default(), |client| {
        let ping = |name: &str| {
            let request = PingAndWarmRequest { name: name.to_owned(), ..Default::default() };
            client.runtime.block_on(client.data.clone().ping_and_warm(request))
        };
        ping("projects/p/instances/i").unwrap();
        refused(ping("projects/p"), Code::InvalidArgument, "is not a name of this kind");
    });
}

#[test]
fn what_is_not_served_says_so() {
    on_memory(Options::default(), |client| {
        let mut data = client.data.clone();
        let prepare =
            client.runtime.block_on(data.prepare_query(rowkey_proto::data::PrepareQueryRequest::default()));
        assert_eq!(prepare.unwrap_err().code(), Code::Unimplemented);
        let change = client
            .runtime
            .block_on(data.read_change_stream(rowkey_proto::data::ReadChangeStreamRequest::default()));
        assert_eq!(change.unwrap_err().code(), Code::Unimplemented);
        write(client, &["a"]);
    });
}

#[test]
fn a_long_table_comes_whole_in_both_directions() {
    on_every_engine(|client| {
        let all: Vec<String> = (0..5_000).map(numbered).collect();
        write(client, &all.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(keys(client, read_all()), all.join(" "));
        let reversed: Vec<String> = all.iter().rev().cloned().collect();
        assert_eq!(keys(client, ReadRowsRequest { reversed: true, ..read_all() }), reversed.join(" "));
    });
}
