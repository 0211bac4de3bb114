//! Bytes of both layouts.
//!
//! ```text
//! escape      : 00 -> 00 FF
//! row prefix  : | esc(row) | 00 01 |
//! cell key    : | row prefix | esc(qualifier) | 00 01 | NOT(ts XOR 2^63): u64 BE |     value: | kind: u8 | bytes |
//! fragment key: | row prefix | NOT(sequence): u64 BE |
//! fragment    : | flags: u8 | cell count: varint | ts: i64 LE, if SAME_TS | cells |
//! its cell    : | qualifier len: varint | qualifier | zigzag(ts - previous ts): varint, unless SAME_TS
//!               | value len: varint | value |
//! ```
//!
//! A decoder must never panic on damaged bytes; it returns `None`.

use crate::model::{Cell, Columns};
use bytes::Bytes;

/// All cells of the fragment have one timestamp, which stands in front.
const SAME_TS: u8 = 1;
/// Bytes of the inverted timestamp or sequence number at the end of a key.
pub const SUFFIX_LEN: usize = 8;
/// Bytes of a terminator.
pub const TERMINATOR_LEN: usize = 2;

/// Appends `part` escaped and terminated.
pub fn push_part(out: &mut Vec<u8>, part: &[u8]) {
    for &byte in part {
        out.push(byte);
        if byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 1]);
}

/// The bytes that all keys of `row` begin with.
pub fn row_prefix(row: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.len() + TERMINATOR_LEN);
    push_part(&mut out, row);
    out
}

/// The exclusive end of the range that starts at a terminated `prefix`.
pub fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    if let Some(last) = out.last_mut() {
        *last = 2; // The terminator ends in 01.
    }
    out
}

/// Length of the first part of `key` with its terminator.
pub fn part_len(key: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let zero = from + key.get(from..)?.iter().position(|&b| b == 0)?;
        match key.get(zero + 1)? {
            1 => return Some(zero + TERMINATOR_LEN),
            _ => from = zero + 2,
        }
    }
}

/// Undoes the escape; no copy if there is no zero byte.
pub fn unescape(part: Bytes) -> Bytes {
    if !part.contains(&0) {
        return part;
    }
    let mut out = Vec::with_capacity(part.len());
    let mut bytes = part.iter();
    while let Some(&byte) = bytes.next() {
        out.push(byte);
        if byte == 0 {
            bytes.next();
        }
    }
    Bytes::from(out)
}

/// Timestamp as it stands at the end of a cell key.
pub fn encode_ts(ts: i64) -> [u8; SUFFIX_LEN] {
    (!(ts.cast_unsigned() ^ (1 << 63))).to_be_bytes()
}

/// Timestamp of the cell with this key.
pub fn decode_ts(key: &[u8]) -> Option<i64> {
    let raw = u64::from_be_bytes(*key.last_chunk()?);
    Some((!raw ^ (1 << 63)).cast_signed())
}

/// Packs cells that are sorted by qualifier ascending, then timestamp descending.
pub fn encode_fragment<'a>(cells: impl Iterator<Item = (&'a [u8], i64, &'a [u8])> + Clone) -> Vec<u8> {
    let (mut count, mut size, mut same) = (0u64, 20, true);
    let first = cells.clone().next().map_or(0, |cell| cell.1);
    for (qualifier, ts, value) in cells.clone() {
        count += 1;
        size += qualifier.len() + value.len() + 14;
        same &= ts == first;
    }
    let mut out = Vec::with_capacity(size);
    out.push(if same { SAME_TS } else { 0 });
    push_varint(&mut out, count);
    if same {
        out.extend_from_slice(&first.to_le_bytes());
    }
    let mut previous = 0i64;
    for (qualifier, ts, value) in cells {
        push_varint(&mut out, qualifier.len() as u64);
        out.extend_from_slice(qualifier);
        if !same {
            push_varint(&mut out, zigzag(ts.wrapping_sub(previous)));
            previous = ts;
        }
        push_varint(&mut out, value.len() as u64);
        out.extend_from_slice(value);
    }
    out
}

/// Appends the wanted cells of a fragment to `cells`; their bytes stay where they are.
pub fn decode_fragment(fragment: &Bytes, columns: Columns<'_>, cells: &mut Vec<Cell>) -> Option<()> {
    let bytes: &[u8] = fragment;
    let mut reader = Reader { bytes, at: 0 };
    let same = reader.take(1)?.start;
    let same = bytes.get(same)? & SAME_TS != 0;
    let count = reader.varint()?;
    let mut ts = 0i64;
    if same {
        ts = i64::from_le_bytes(bytes.get(reader.take(8)?)?.try_into().ok()?);
    }
    if matches!(columns, Columns::All) {
        cells.reserve(usize::try_from(count).ok()?.min(bytes.len()));
    }
    for _ in 0..count {
        let qualifier = reader.part()?;
        if !same {
            ts = ts.wrapping_add(unzigzag(reader.varint()?));
        }
        let value = reader.part()?;
        if let Columns::One(wanted) = columns {
            match bytes.get(qualifier.clone())?.cmp(wanted) {
                std::cmp::Ordering::Less => continue,
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => break,
            }
        }
        cells.push(Cell { qualifier: fragment.slice(qualifier), ts, value: fragment.slice(value) });
    }
    Some(())
}

/// A position in bytes that may be damaged.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, len: usize) -> Option<std::ops::Range<usize>> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.bytes.len())?;
        let start = std::mem::replace(&mut self.at, end);
        Some(start..end)
    }

    fn part(&mut self) -> Option<std::ops::Range<usize>> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.take(len)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut out = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            out |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(out);
            }
        }
        None
    }
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
