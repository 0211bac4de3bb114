//! What is answered: rows as one message, samples of row keys.

use bytes::Bytes;
use rowkey_proto::data;
use rowkey_store::{KeySample, Row, RowRange};

/// A row as one message, its cells grouped by family and column.
pub fn row_to_proto(row: Row) -> data::Row {
    let mut families: Vec<data::Family> = Vec::new();
    for cell in row.cells {
        if families.last().is_none_or(|family| *family.name != *cell.family) {
            families.push(data::Family { name: (*cell.family).to_owned(), columns: Vec::new() });
        }
        let Some(family) = families.last_mut() else { continue };
        if family.columns.last().is_none_or(|column| column.qualifier != cell.qualifier) {
            family.columns.push(data::Column { qualifier: cell.qualifier, cells: Vec::new() });
        }
        if let Some(column) = family.columns.last_mut() {
            let (timestamp_micros, value, labels) = (cell.timestamp_us, cell.value, cell.labels);
            column.cells.push(data::Cell { timestamp_micros, value, labels });
        }
    }
    data::Row { key: row.key, families }
}

/// Samples as messages. With a range, `last_key` is its end as the request named it (empty: the end of the table), which is always the
/// last sample; those outside of it are left out.
pub fn key_samples_to_proto(
    samples: Vec<KeySample>,
    range: &RowRange,
    last_key: Bytes,
) -> Vec<data::SampleRowKeysResponse> {
    let mut messages = Vec::new();
    let mut end_offset = 0;
    for KeySample { key, offset_bytes } in samples {
        end_offset = i64::try_from(offset_bytes).unwrap_or(i64::MAX);
        let behind_range = key.is_empty() || !last_key.is_empty() && key >= last_key;
        if behind_range {
            break;
        }
        if key > range.start {
            messages.push(data::SampleRowKeysResponse { row_key: key, offset_bytes: end_offset });
        }
    }
    messages.push(data::SampleRowKeysResponse { row_key: last_key, offset_bytes: end_offset });
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::Cell;

    #[test]
    fn cells_are_grouped_by_family_and_column() {
        let cell = |family: &str, qualifier: &'static str, timestamp_us| Cell {
            family: family.into(),
            qualifier: qualifier.into(),
            timestamp_us,
            value: "v".into(),
            labels: Vec::new(),
        };
        let cells = vec![cell("a", "q", 2), cell("a", "q", 1), cell("a", "r", 1), cell("b", "r", 1)];
        let message = row_to_proto(Row { key: "k".into(), cells });
        let shape: Vec<_> = message
            .families
            .iter()
            .map(|family| {
                (&family.name[..], family.columns.iter().map(|column| column.cells.len()).collect())
            })
            .collect();
        assert_eq!(shape, [("a", vec![2, 1]), ("b", vec![1])]);
    }

    #[test]
    fn samples_end_where_their_range_ends() {
        let check = |start: &'static str, end: &'static str, expected: &[(&str, i64)]| {
            let samples = [("b", 10), ("d", 20), ("", 30)]
                .map(|(key, offset_bytes)| KeySample { key: key.into(), offset_bytes });
            let range = RowRange { start: start.into(), end: (!end.is_empty()).then(|| end.into()) };
            let found: Vec<(Bytes, i64)> = key_samples_to_proto(samples.into(), &range, end.into())
                .into_iter()
                .map(|sample| (sample.row_key, sample.offset_bytes))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|&(key, offset)| (Bytes::copy_from_slice(key.as_bytes()), offset))
                .collect();
            assert_eq!(found, expected);
        };
        check("", "", &[("b", 10), ("d", 20), ("", 30)]);
        check("b", "", &[("d", 20), ("", 30)]);
        check("a", "c", &[("b", 10), ("c", 20)]);
        check("a", "b", &[("b", 10)]);
        check("x", "z", &[("z", 30)]);
    }
}
