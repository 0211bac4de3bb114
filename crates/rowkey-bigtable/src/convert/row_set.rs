//! Row keys and ranges of row keys.

use super::{invalid, shown};
use bytes::{BufMut as _, Bytes, BytesMut};
use rowkey_proto::data;
use rowkey_proto::data::row_range::{EndKey, StartKey};
use rowkey_store::{Result, RowRange, RowSet};

/// The rows that a request names; the whole table if it names none.
///
/// # Errors
///
/// `Invalid`: an empty key, a range that ends before it begins.
pub fn row_set_from_proto(rows: Option<data::RowSet>) -> Result<RowSet> {
    let Some(rows) = rows.filter(|rows| !rows.row_keys.is_empty() || !rows.row_ranges.is_empty()) else {
        return Ok(RowSet::all());
    };
    if rows.row_keys.iter().any(Bytes::is_empty) {
        return Err(invalid("Row keys must be non-empty"));
    }
    let ranges: Vec<RowRange> =
        rows.row_ranges.into_iter().map(row_range_from_proto).collect::<Result<_>>()?;
    Ok(RowSet::new(rows.row_keys, ranges))
}

/// A range; what it leaves open, and an empty end, reach to the end of the table.
///
/// # Errors
///
/// `Invalid`: it ends before it begins. A range of one key that leaves that key out has no rows.
pub fn row_range_from_proto(range: data::RowRange) -> Result<RowRange> {
    let (start, start_open) = match range.start_key {
        None => (Bytes::new(), false),
        Some(StartKey::StartKeyClosed(key)) => (key, false),
        Some(StartKey::StartKeyOpen(key)) => (key, true),
    };
    let (end, end_open) = match range.end_key {
        None => (Bytes::new(), true),
        Some(EndKey::EndKeyOpen(key)) => (key, true),
        Some(EndKey::EndKeyClosed(key)) => (key, false),
    };
    if !end.is_empty() && start > end {
        return Err(invalid(format!(
            "the range of row keys from `{}` to `{}` ends before it begins; swap its ends",
            shown(&start),
            shown(&end)
        )));
    }
    Ok(RowRange {
        start: if start_open { behind(&start) } else { start },
        end: (!end.is_empty()).then(|| if end_open { end.clone() } else { behind(&end) }),
    })
}

/// The first key behind `key`.
fn behind(key: &[u8]) -> Bytes {
    let mut behind = BytesMut::with_capacity(key.len() + 1);
    behind.extend_from_slice(key);
    behind.put_u8(0);
    behind.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A range from text: `[` and `]` are closed sides, `(` and `)` open ones, `-` none.
    fn range(text: &'static str) -> data::RowRange {
        let (start, end) = text.split_once(' ').unwrap();
        let key = |key: &'static str| Bytes::from_static(key.as_bytes());
        let start_key = match start.split_at(1) {
            ("[", start) => Some(StartKey::StartKeyClosed(key(start))),
            ("(", start) => Some(StartKey::StartKeyOpen(key(start))),
            _ => None,
        };
        let end_key = match end.split_at(end.len() - 1) {
            (end, "]") => Some(EndKey::EndKeyClosed(key(end))),
            (end, ")") => Some(EndKey::EndKeyOpen(key(end))),
            _ => None,
        };
        data::RowRange { start_key, end_key }
    }

    fn rows(keys: &[&'static str], ranges: &[&'static str]) -> data::RowSet {
        let row_ranges = ranges.iter().map(|&text| range(text)).collect();
        data::RowSet { row_keys: keys.iter().map(|&key| key.into()).collect(), row_ranges }
    }

    /// Which of the keys a, b and c are in the set.
    fn check(keys: &[&'static str], ranges: &[&'static str], expected: &str) {
        let set = row_set_from_proto(Some(rows(keys, ranges))).unwrap();
        let found: String = ["a", "b", "c"].into_iter().filter(|key| set.contains(key.as_bytes())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sides_are_open_or_closed_or_left_out() {
        check(&[], &["[a c)"], "ab");
        check(&[], &["(a c]"], "bc");
        check(&[], &["- a]"], "a");
        check(&[], &["(a -"], "bc");
        check(&[], &["[ )"], "abc");
        check(&[], &["( ]"], "abc");
    }

    #[test]
    fn keys_and_ranges_are_united() {
        check(&["c", "c", "a"], &[], "ac");
        check(&["c"], &["[a a]"], "ac");
        check(&[], &[], "abc");
        assert_eq!(row_set_from_proto(None).unwrap(), RowSet::all());
    }

    #[test]
    fn one_key_with_an_open_side_is_no_row() {
        for text in ["[b b)", "(b b]", "(b b)"] {
            check(&[], &[text], "");
        }
        check(&[], &["[b b]"], "b");
    }

    #[test]
    fn empty_keys_and_inverted_ranges_are_refused() {
        let refused = |keys: &[&'static str], ranges: &[&'static str], words: &str| {
            let error = row_set_from_proto(Some(rows(keys, ranges))).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        };
        refused(&["a", ""], &[], "Row keys must be non-empty");
        refused(&[], &["[b a]"], "from `b` to `a`");
        refused(&[], &["[b\0 b)"], "swap its ends");
    }
}
