//! Rows are packed and put together again.

use super::*;
use crate::merger::RowMerger;
use proptest::prelude::*;
use prost::Message as _;

fn cell(family: &str, qualifier: &'static str, timestamp_us: i64, value: impl Into<Bytes>) -> Cell {
    Cell {
        family: family.into(),
        qualifier: qualifier.into(),
        timestamp_us,
        value: value.into(),
        labels: vec![],
    }
}

fn row(key: &'static str, cells: Vec<Cell>) -> Row {
    Row { key: key.into(), cells }
}

fn packed(rows: &[Row], message_bytes_max: usize) -> Vec<ReadRowsResponse> {
    let mut packer = Packer::new(message_bytes_max);
    let mut messages = Vec::new();
    for row in rows {
        packer.push(row.clone()).unwrap();
        messages.extend(std::iter::from_fn(|| packer.full()));
    }
    messages.extend(std::iter::from_fn(|| packer.rest()));
    messages
}

fn merged(messages: Vec<ReadRowsResponse>, reversed: bool) -> Vec<Row> {
    let mut merger = RowMerger::new(reversed);
    let mut rows = Vec::new();
    for message in messages {
        merger.push(message, &mut rows).unwrap();
    }
    merger.finish().unwrap();
    rows
}

/// The values of a message's chunks with what is said about them, one character each: `r` row key, `f` family, `q` qualifier,
/// `+` more of the value comes, `.` commit.
fn shape(message: &ReadRowsResponse) -> String {
    let chunk = |chunk: &CellChunk| {
        let marks = [
            (!chunk.row_key.is_empty(), 'r'),
            (chunk.family_name.is_some(), 'f'),
            (chunk.qualifier.is_some(), 'q'),
            (chunk.value_size > 0, '+'),
            (chunk.row_status.is_some(), '.'),
        ];
        marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect::<String>()
    };
    message.chunks.iter().map(chunk).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_as_before_is_left_out() {
    let cells = vec![
        cell("a", "q", 2, "v"),
        cell("a", "q", 1, "v"),
        cell("a", "r", 1, "v"),
        cell("b", "r", 1, "v"),
        cell("b", "r", 0, ""),
    ];
    let messages = packed(&[row("k", cells), row("l", vec![cell("b", "r", 1, "v")])], 10_000);
    assert_eq!(messages.iter().map(shape).collect::<Vec<_>>(), ["rfq  q fq . rfq."]);
}

#[test]
fn messages_end_between_rows() {
    let rows: Vec<Row> =
        ["a", "b", "c", "d", "e"].map(|key| row(key, vec![cell("f", "q", 1, vec![7; 100])])).into();
    let messages = packed(&rows, 400);
    assert_eq!(messages.iter().map(shape).collect::<Vec<_>>(), ["rfq. rfq.", "rfq. rfq.", "rfq."]);
    assert_eq!(merged(messages, false), rows);
}

#[test]
fn a_row_above_the_cap_has_its_messages_for_itself() {
    let small = |key| row(key, vec![cell("f", "q", 1, "v")]);
    let large =
        row("b", vec![cell("f", "q", 1, vec![7; 1_000]), cell("f", "q", 0, "v"), cell("g", "q", 0, "")]);
    let rows = [small("a"), large, small("c")];
    let messages = packed(&rows, 600);
    assert_eq!(messages.iter().map(shape).collect::<Vec<_>>(), ["rfq.", "rfq+", " ", "fq.", "rfq."]);
    assert!(messages.iter().all(|message| message.encoded_len() <= 600));
    assert_eq!(merged(messages, false), rows);
}

#[test]
fn labels_and_timestamps_come_with_the_first_part_of_a_value() {
    let mut large = cell("f", "q", 5, vec![7; 1_000]);
    large.labels = vec!["found".into()];
    let rows = [row("a", vec![large])];
    let messages = packed(&rows, 400);
    let chunks: Vec<_> = messages.iter().flat_map(|message| &message.chunks).collect();
    let heads: Vec<_> =
        chunks.iter().map(|chunk| (chunk.timestamp_micros, chunk.labels.len(), chunk.value_size)).collect();
    assert_eq!(heads, [(5, 1, 1_000), (0, 0, 1_000), (0, 0, 1_000), (0, 0, 0)]);
    assert_eq!(merged(messages, false), rows);
}

#[test]
fn a_row_that_nobody_can_read_is_refused_by_name() {
    let mut packer = Packer::new(1_000).with_row_bytes_max(100);
    packer.push(row("a", vec![cell("f", "q", 1, "v")])).unwrap();
    let status = packer.push(row("b", vec![cell("f", "q", 1, vec![0; 98])])).unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    assert!(status.message().contains("row `b` has 101 bytes"), "{status}");
    assert_eq!(shape(&packer.rest().unwrap()), "rfq.");
    packer.push(row("c", vec![cell("f", "q", 1, vec![0; 97])])).unwrap();
}

#[test]
fn small_messages_may_be_asked_for_without_cutting_rows() {
    let mut packer = Packer::new(2_000).closing_at(300);
    let mut shapes = Vec::new();
    for len in [10, 10, 1_000, 10, 3_000] {
        packer.push(row("k", vec![cell("f", "q", 1, vec![7; len])])).unwrap();
        shapes.extend(std::iter::from_fn(|| packer.full()).map(|message| shape(&message)));
    }
    assert!(packer.rest().is_none());
    assert_eq!(shapes, ["rfq. rfq.", "rfq.", "rfq.", "rfq+", "."]);
}

#[test]
fn values_are_not_copied() {
    let value = Bytes::from(vec![7; 1_000]);
    let messages = packed(&[row("a", vec![cell("f", "q", 1, value.clone())])], 600);
    assert_eq!(messages[0].chunks[0].value.as_ptr(), value.as_ptr());
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let labels = prop::collection::vec("[a-z]{1,3}", 0..2);
    let value = prop_oneof![3 => 0..20usize, 1 => 0..900usize].prop_map(|len| vec![7; len]);
    let cell = ("[ab]?", prop::collection::vec(0u8..3, 0..3), 0i64..3, value, labels).prop_map(
        |(family, qualifier, timestamp_us, value, labels)| Cell {
            family: family.as_str().into(),
            qualifier: qualifier.into(),
            timestamp_us,
            value: value.into(),
            labels,
        },
    );
    let cells = prop::collection::vec(cell, 1..5);
    prop::collection::btree_map(prop::collection::vec(0u8..3, 1..4), cells, 0..6)
        .prop_map(|rows| rows.into_iter().map(|(key, cells)| Row { key: key.into(), cells }).collect())
}

proptest! {
    #[test]
    fn what_is_packed_is_merged_to_the_same_rows(mut rows in rows(), cap in 1usize..2_000, reversed: bool) {
        if reversed {
            rows.reverse();
        }
        let messages = packed(&rows, cap);
        for message in &messages {
            let committed = message.chunks.last().is_some_and(|chunk| chunk.row_status.is_some());
            prop_assert!(message.encoded_len() <= cap.max(200), "{} bytes", message.encoded_len());
            // A message ends with its row, unless it holds nothing but a part of one.
            prop_assert!(committed || message.chunks.iter().all(|chunk| chunk.row_status.is_none()));
        }
        prop_assert_eq!(merged(messages, reversed), rows);
    }
}
