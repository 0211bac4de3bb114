//! Keys of the keyspaces: one for each fragment of a row, the newest fragment of a row first.
//!
//! ```text
//! | esc(row key) | 00 01 | NOT(sequence): u64 BE |      esc: byte 00 -> 00 FF, every other byte as it is
//! ```
//!
//! `00 01` is less than any continuation of a longer row key (`00 FF` or a byte above 00), so keyspaces are in row-key order, and no
//! encoded row key with its terminator is the beginning of another one. Nothing here panics, whatever the bytes are.

use bytes::Bytes;
use rowkey_store::{Error, ErrorKind, Result, RowRange};

/// Behind every encoded row key.
const TERMINATOR: [u8; 2] = [0x00, 0x01];

/// Bytes behind the encoded row key: the terminator and the sequence number.
const TAIL_BYTES: usize = 10;

/// A key that no row has and that sorts before all of them: the mark that a collection leaves (see `collect.rs`).
pub(crate) const MARKER: [u8; 2] = [0x00, 0x00];

/// Appends the encoded row key and its terminator.
pub(crate) fn push_row(row: &[u8], out: &mut Vec<u8>) {
    let mut rest = row;
    while let Some(zero) = rest.iter().position(|&byte| byte == 0) {
        out.extend_from_slice(&rest[..zero]);
        out.extend_from_slice(&[0x00, 0xff]);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&TERMINATOR);
}

/// The encoded row key with its terminator: what the keys of all of its fragments begin with.
pub(crate) fn row_prefix(row: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.len() + TAIL_BYTES);
    push_row(row, &mut out);
    out
}

/// The key of a fragment, from the row's prefix.
pub(crate) fn fragment_key(prefix: &[u8], sequence: u64) -> Bytes {
    let mut out = Vec::with_capacity(prefix.len() + 8);
    out.extend_from_slice(prefix);
    out.extend_from_slice(&sequence_bytes(sequence));
    out.into()
}

/// The end of a fragment's key: newer ones sort first.
pub(crate) fn sequence_bytes(sequence: u64) -> [u8; 8] {
    (!sequence).to_be_bytes()
}

/// Splits a fragment's key into the row's prefix (terminator included) and the sequence number.
///
/// # Errors
///
/// `Corrupt` if the terminator is not where it must be.
pub(crate) fn split(key: &[u8]) -> Result<(&[u8], u64)> {
    if let Some((prefix, sequence)) = key.split_last_chunk::<8>()
        && prefix.len() > TERMINATOR.len()
        && prefix.ends_with(&TERMINATOR)
    {
        return Ok((prefix, !u64::from_be_bytes(*sequence)));
    }
    Err(malformed(key))
}

/// Decodes a row's prefix, as [`split`] gives it. Copies and counts nothing if the row key holds no zero byte.
///
/// # Errors
///
/// `Corrupt` for an escape that cannot have been written.
pub(crate) fn row_of(mut prefix: Bytes) -> Result<Bytes> {
    let Some(escaped) = prefix.strip_suffix(&TERMINATOR) else { return Err(malformed(&prefix)) };
    if !escaped.contains(&0) {
        prefix.truncate(prefix.len() - TERMINATOR.len());
        return Ok(prefix);
    }
    let mut row = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(zero) = rest.iter().position(|&byte| byte == 0) {
        if rest.get(zero + 1) != Some(&0xff) {
            return Err(malformed(&prefix));
        }
        row.extend_from_slice(&rest[..=zero]);
        rest = &rest[zero + 2..];
    }
    row.extend_from_slice(rest);
    Ok(row.into())
}

/// The fragments of one row: start, and end that is out.
pub(crate) fn row_bounds(row: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let start = row_prefix(row);
    let end = behind(&start);
    (start, end)
}

/// The first key behind the fragments of a row, from its prefix.
pub(crate) fn behind(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        // The last byte of the terminator, 01.
        *last += 1;
    }
    end
}

/// The fragments of a range of rows: start, and end that is out. Leaves the [`MARKER`] out.
pub(crate) fn range_bounds(range: &RowRange) -> (Vec<u8>, Option<Vec<u8>>) {
    (row_prefix(&range.start), range.end.as_ref().map(|end| row_prefix(end)))
}

fn malformed(key: &[u8]) -> Error {
    let shown = key.escape_ascii();
    Error::new(
        ErrorKind::Corrupt,
        format!("`{shown}` is no key of a fragment: restore the store from a backup"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHABET: [u8; 6] = [0x00, 0x01, 0x02, 0xfe, 0xff, b'a'];

    /// All byte strings of at most `len_max` bytes over the alphabet in which escapes and terminators are written.
    fn strings(len_max: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..len_max {
            let to = all.len();
            for at in from..to {
                for byte in ALPHABET {
                    let mut longer = all[at].clone();
                    longer.push(byte);
                    all.push(longer);
                }
            }
            from = to;
        }
        all
    }

    #[test]
    fn the_order_of_keys_is_the_order_of_rows_then_newest_first() {
        let mut rows = strings(4);
        rows.sort();
        let keys: Vec<Bytes> = rows
            .iter()
            .flat_map(|row| {
                [u64::MAX, 256, 255, 1, 0].map(|sequence| fragment_key(&row_prefix(row), sequence))
            })
            .collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn what_is_encoded_comes_back() {
        for row in strings(4).into_iter().filter(|row| !row.is_empty()) {
            let key = fragment_key(&row_prefix(&row), 7);
            let (prefix, sequence) = split(&key).unwrap();
            assert_eq!(sequence, 7);
            assert_eq!(row_of(key.slice(..prefix.len())).unwrap(), row);
        }
    }

    #[test]
    fn bounds_hold_exactly_the_rows_of_their_range() {
        let rows = strings(2);
        for start in &rows {
            let (from, to) = row_bounds(start);
            for end in &rows {
                let range = RowRange { start: start.clone().into(), end: Some(end.clone().into()) };
                let (start_bound, end_bound) = range_bounds(&range);
                let end_bound = end_bound.unwrap();
                for row in rows.iter().filter(|row| !row.is_empty()) {
                    let key = fragment_key(&row_prefix(row), 3).to_vec();
                    assert_eq!(key >= start_bound && key < end_bound, range.contains(row));
                    assert_eq!(key >= from && key < to, row == start);
                }
            }
        }
        assert!(MARKER.to_vec() < range_bounds(&RowRange::all()).0);
    }

    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic() {
        for bytes in strings(5) {
            let _ = split(&bytes);
            let _ = row_of(bytes.into());
        }
        assert_eq!(
            split(b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff").unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
}
