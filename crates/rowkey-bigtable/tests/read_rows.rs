//! The published cases of how chunks become rows, on our merger.

use rowkey_bigtable::merger::RowMerger;
use rowkey_proto::data::ReadRowsResponse;
use rowkey_proto::data::read_rows_response::CellChunk;
use rowkey_proto::data::read_rows_response::cell_chunk::RowStatus;

const CASES: &str = include_str!("read_rows.txt");

/// A chunk from its line.
fn chunk(line: &str) -> CellChunk {
    let mut chunk = CellChunk::default();
    for word in line.split_whitespace() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("key", key) => chunk.row_key = key.to_owned().into(),
            ("family", family) => chunk.family_name = Some(family.to_owned()),
            ("qualifier", qualifier) => chunk.qualifier = Some(qualifier.into()),
            ("time", time) => chunk.timestamp_micros = time.parse().expect("a time"),
            ("label", label) => chunk.labels.push(label.to_owned()),
            ("value", value) => chunk.value = value.to_owned().into(),
            ("size", size) => chunk.value_size = size.parse().expect("a size"),
            ("commit", _) => chunk.row_status = Some(RowStatus::CommitRow(true)),
            ("reset", _) => chunk.row_status = Some(RowStatus::ResetRow(true)),
            _ => panic!("`{word}` is no part of a chunk"),
        }
    }
    chunk
}

/// What a merger makes of chunks, all in one message or one in each, as lines of a case.
fn merge(chunks: Vec<CellChunk>, one_message: bool) -> Vec<String> {
    let mut messages: Vec<Vec<CellChunk>> = chunks.into_iter().map(|chunk| vec![chunk]).collect();
    if one_message {
        messages = vec![messages.concat()];
    }
    let mut merger = RowMerger::default();
    let mut rows = Vec::new();
    let pushed = messages.into_iter().try_for_each(|chunks| {
        merger.push(ReadRowsResponse { chunks, ..ReadRowsResponse::default() }, &mut rows)
    });
    let result = pushed.and_then(|()| merger.finish());
    let mut lines = Vec::new();
    for row in rows {
        let key = String::from_utf8_lossy(&row.key).into_owned();
        for cell in row.cells {
            let [qualifier, value] =
                [&cell.qualifier, &cell.value].map(|bytes| String::from_utf8_lossy(bytes));
            let labels = cell.labels.iter().fold(String::new(), |all, label| all + " " + label);
            lines.push(format!(
                "cell {key} {}:{qualifier} {} \"{value}\"{labels}",
                cell.family, cell.timestamp_us
            ));
        }
    }
    lines.extend(result.err().map(|_| "error".to_owned()));
    lines
}

#[test]
fn every_published_case_comes_to_its_rows_or_its_error() {
    let cases: Vec<&str> = CASES.split("\ncase ").skip(1).collect();
    assert_eq!(cases.len(), 48);
    for case in cases {
        let mut lines = case.lines().map(str::trim).filter(|line| !line.is_empty());
        let name = lines.next().expect("a name");
        let (chunks, expected): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("chunk"));
        let chunks: Vec<CellChunk> = chunks.iter().map(|line| chunk(&line["chunk".len()..])).collect();
        for one_message in [true, false] {
            assert_eq!(merge(chunks.clone(), one_message), expected, "{name}");
        }
    }
}

#[test]
fn rows_must_come_in_the_order_of_the_read() {
    let line = |key: &str| chunk(&format!("key={key} family=A qualifier=C commit"));
    let check = |reversed, keys: &[&str], good| {
        let chunks = keys.iter().map(|key| line(key)).collect();
        let mut merger = RowMerger::new(reversed);
        let result = merger.push(ReadRowsResponse { chunks, ..ReadRowsResponse::default() }, &mut Vec::new());
        assert_eq!(result.is_ok(), good, "{keys:?}");
    };
    check(false, &["a", "b"], true);
    check(false, &["b", "a"], false);
    check(true, &["b", "a"], true);
    check(true, &["a", "b"], false);
    check(true, &["a", "a"], false);
}

#[test]
fn a_scanned_key_counts_as_a_row_and_never_comes_within_one() {
    let message = |lines: &[&str], scanned: &'static str| ReadRowsResponse {
        chunks: lines.iter().map(|line| chunk(line)).collect(),
        last_scanned_row_key: scanned.into(),
        ..ReadRowsResponse::default()
    };
    let check = |messages: Vec<ReadRowsResponse>, last: &'static str| {
        let mut merger = RowMerger::default();
        let mut pushed = messages.into_iter().map(|message| merger.push(message, &mut Vec::new()));
        let good = pushed.all(|result| result.is_ok());
        drop(pushed);
        assert_eq!(if good { &merger.last_key()[..] } else { b"error" }, last.as_bytes());
    };
    check(vec![message(&["key=a family=A qualifier=C commit"], ""), message(&[], "c")], "c");
    check(vec![message(&[], "c"), message(&["key=d family=A qualifier=C commit"], "")], "d");
    check(vec![message(&[], "c"), message(&["key=b family=A qualifier=C commit"], "")], "error");
    check(vec![message(&["key=a family=A qualifier=C"], ""), message(&[], "c")], "error");
}

#[test]
fn sizes_that_do_not_add_up_are_errors() {
    let check = |lines: &[&str]| {
        let chunks = lines.iter().map(|line| chunk(line)).collect();
        assert_eq!(merge(chunks, true), ["error"], "{lines:?}");
    };
    check(&["key=a family=A qualifier=C value=v size=3", "value=v commit"]);
    check(&["key=a family=A qualifier=C value=v size=3", "value=vvv commit"]);
    check(&["key=a family=A qualifier=C value=v size=3", "value=v size=4", "value=v commit"]);
    check(&["key=a family=A qualifier=C value=v size=-3", "value=v commit"]);
    check(&["key=a family=A qualifier=C value=v size=2", "value=v time=5 commit"]);
}
