//! The value of a pair: a fragment, which is what one mutation left in one family of one row.
//!
//! ```text
//! | format: u8 = 1 | mask count: n | mask ... | cell ... to the end |
//!
//! mask: | 0          |                                | first: u64 BE | last: u64 BE |   whole family
//!       | 1          | qualifier: n bytes with length | first: u64 BE | last: u64 BE |   one column
//! cell: | qualifier: n bytes with length | timestamp: u64 BE | value: n bytes with length |
//!
//! n and lengths: LEB128, at most 5 bytes. Times: microseconds since the epoch, at most 2^63 - 1; first..=last is closed.
//! Cells: by qualifier ascending, then timestamp descending, no two with both equal.
//! ```
//!
//! A mask hides cells of *older* fragments of the row, never those of its own fragment or of newer ones. Nothing here panics, whatever
//! the bytes are.

use bytes::Bytes;
use rowkey_store::{Error, ErrorKind, Result};

/// The one format that is written and read.
const FORMAT: u8 = 1;

/// Hides cells of older fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The column; `None`: all columns of the family.
    pub qualifier: Option<Bytes>,
    /// The first hidden time, in microseconds.
    pub first_us: i64,
    /// The last hidden time, in microseconds.
    pub last_us: i64,
}

impl Mask {
    /// Hides everything in the family.
    pub const FAMILY: Self = Self { qualifier: None, first_us: 0, last_us: i64::MAX };

    /// The bytes with which a fragment begins that hides all older ones.
    pub(crate) const FAMILY_HEAD: [u8; 19] =
        [FORMAT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

    /// Whether it hides a cell of an older fragment.
    pub fn hides(&self, qualifier: &[u8], timestamp_us: i64) -> bool {
        self.first_us <= timestamp_us
            && timestamp_us <= self.last_us
            && self.qualifier.as_ref().is_none_or(|masked| masked == qualifier)
    }
}

/// A cell within a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentCell {
    /// The qualifier.
    pub qualifier: Bytes,
    /// Microseconds since the epoch.
    pub timestamp_us: i64,
    /// The value.
    pub value: Bytes,
}

/// Writes a fragment. The cells must be in order (see the top of this file).
pub(crate) fn encode<'a>(
    masks: &[Mask],
    cells: impl IntoIterator<Item = (&'a [u8], i64, &'a [u8])>,
    bytes_about: usize,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes_about + 2);
    encode_into(masks, cells, &mut out);
    out
}

/// Appends a fragment. The cells must be in order.
pub(crate) fn encode_into<'a>(
    masks: &[Mask],
    cells: impl IntoIterator<Item = (&'a [u8], i64, &'a [u8])>,
    out: &mut Vec<u8>,
) {
    out.push(FORMAT);
    push_len(masks.len(), out);
    for mask in masks {
        match &mask.qualifier {
            None => out.push(0),
            Some(qualifier) => {
                out.push(1);
                push_bytes(qualifier, out);
            }
        }
        out.extend_from_slice(&mask.first_us.to_be_bytes());
        out.extend_from_slice(&mask.last_us.to_be_bytes());
    }
    for (qualifier, timestamp_us, value) in cells {
        push_bytes(qualifier, out);
        out.extend_from_slice(&timestamp_us.to_be_bytes());
        push_bytes(value, out);
    }
}

/// The bytes that a cell takes in a fragment, at most.
pub(crate) fn cell_bytes(qualifier: &[u8], value: &[u8]) -> usize {
    qualifier.len() + value.len() + 18
}

/// A fragment that is read: its masks, then its cells one by one.
#[derive(Debug)]
pub struct Fragment {
    bytes: Bytes,
    at: usize,
    /// Its masks.
    pub masks: Vec<Mask>,
}

impl Fragment {
    /// Reads the head of a fragment; the cells are checked as they are taken.
    ///
    /// # Errors
    ///
    /// `Corrupt`.
    pub fn decode(bytes: Bytes) -> Result<Self> {
        // The one case of nearly all fragments: no masks.
        if bytes.starts_with(&[FORMAT, 0]) {
            return Ok(Self { bytes, at: 2, masks: Vec::new() });
        }
        let mut fragment = Self { bytes, at: 0, masks: Vec::new() };
        let format = fragment.span(1)?;
        if fragment.bytes[format] != [FORMAT] {
            return Err(fragment.corrupt("its format is unknown"));
        }
        let count = fragment.len()?;
        // A mask takes at least 17 bytes: a count that cannot be true must not allocate.
        if count > fragment.bytes.len() / 17 {
            return Err(fragment.corrupt("it is shorter than its masks"));
        }
        let mut masks = Vec::with_capacity(count);
        for _ in 0..count {
            let kind = fragment.span(1)?;
            let qualifier = match fragment.bytes[kind] {
                [0] => None,
                [1] => Some(fragment.sized()?),
                _ => return Err(fragment.corrupt("the kind of a mask is unknown")),
            };
            let qualifier = qualifier.map(|range| fragment.bytes.slice(range));
            masks.push(Mask { qualifier, first_us: fragment.time()?, last_us: fragment.time()? });
        }
        fragment.masks = masks;
        Ok(fragment)
    }

    /// The bytes of the fragment.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes of the fragment, for good.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The next cell: the place of the qualifier, the time, the place of the value.
    pub(crate) fn next_place(&mut self) -> Option<Result<Place>> {
        (self.at < self.bytes.len()).then(|| {
            let qualifier = self.sized()?;
            let timestamp_us = self.time()?;
            let value = self.sized()?;
            Ok(Place { qualifier, timestamp_us, value })
        })
    }

    fn span(&mut self, len: usize) -> Result<std::ops::Range<usize>> {
        match self.at.checked_add(len) {
            Some(end) if end <= self.bytes.len() => {
                let range = self.at..end;
                self.at = end;
                Ok(range)
            }
            _ => Err(self.corrupt("it ends too early")),
        }
    }

    fn len(&mut self) -> Result<usize> {
        let mut number = 0u64;
        for (index, byte) in self.bytes[self.at..].iter().take(5).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.at += index + 1;
                return usize::try_from(number).map_err(|_| self.corrupt("a length is too great"));
            }
        }
        Err(self.corrupt("a length does not end"))
    }

    fn sized(&mut self) -> Result<std::ops::Range<usize>> {
        let len = self.len()?;
        self.span(len)
    }

    fn time(&mut self) -> Result<i64> {
        let range = self.span(8)?;
        let time = self.bytes[range].try_into().map_or(-1, i64::from_be_bytes);
        if time < 0 { Err(self.corrupt("a time is negative")) } else { Ok(time) }
    }

    fn corrupt(&self, what: &str) -> Error {
        let at = self.at;
        Error::new(ErrorKind::Corrupt, format!("a fragment is damaged at byte {at}: {what}"))
    }
}

impl Iterator for Fragment {
    type Item = Result<FragmentCell>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.next_place()?;
        Some(place.map(|place| FragmentCell {
            qualifier: self.bytes.slice(place.qualifier),
            timestamp_us: place.timestamp_us,
            value: self.bytes.slice(place.value),
        }))
    }
}

/// Where a cell lies in the bytes of its fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) qualifier: std::ops::Range<usize>,
    pub(crate) timestamp_us: i64,
    pub(crate) value: std::ops::Range<usize>,
}

/// Reads a whole fragment. What the fuzz target calls.
///
/// # Errors
///
/// `Corrupt` for bytes that no encoder wrote.
pub fn decode(bytes: Bytes) -> Result<(Vec<Mask>, Vec<FragmentCell>)> {
    let mut fragment = Fragment::decode(bytes)?;
    let masks = std::mem::take(&mut fragment.masks);
    let mut cells: Vec<FragmentCell> = Vec::new();
    while let Some(cell) = fragment.next().transpose()? {
        if let Some(last) = cells.last()
            && (&last.qualifier, cell.timestamp_us) >= (&cell.qualifier, last.timestamp_us)
        {
            return Err(fragment.corrupt("its cells are out of order"));
        }
        cells.push(cell);
    }
    Ok((masks, cells))
}

fn push_len(len: usize, out: &mut Vec<u8>) {
    let mut rest = len;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_len(bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn bytes(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn the_bytes_are_those_of_the_format_page() {
        let masks = [Mask { qualifier: Some(bytes("q")), first_us: 0, last_us: 5 }, Mask::FAMILY];
        let cells = [(&b"q"[..], 7, &b"v"[..])];
        let expected = b"\x01\x02\
            \x01\x01q\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\
            \x00\0\0\0\0\0\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff\
            \x01q\0\0\0\0\0\0\0\x07\x01v";
        assert_eq!(encode(&masks, cells, 0), expected);
        let (read_masks, read_cells) = decode(Bytes::from_static(expected)).unwrap();
        assert_eq!(read_masks, masks);
        assert_eq!(read_cells, [FragmentCell { qualifier: bytes("q"), timestamp_us: 7, value: bytes("v") }]);
    }

    #[test]
    fn a_fragment_that_hides_all_older_ones_is_known_by_its_head() {
        assert!(encode(&[Mask::FAMILY], [(&b"q"[..], 7, &b"v"[..])], 0).starts_with(&Mask::FAMILY_HEAD));
        assert_eq!(encode(&[Mask::FAMILY], [], 0), Mask::FAMILY_HEAD);
    }

    #[test]
    fn long_values_come_back() {
        for len in [0, 127, 128, 16_383, 16_384, 3_000_000] {
            let value = vec![7; len];
            let encoded = encode(&[], [(&b""[..], 0, &value[..])], 0);
            assert_eq!(decode(encoded.into()).unwrap().1[0].value, value);
        }
    }

    #[test]
    fn a_cut_or_changed_fragment_is_an_error_or_another_fragment_but_no_panic() {
        let masks = [Mask { qualifier: Some(bytes("qq")), first_us: 3, last_us: 5 }, Mask::FAMILY];
        let cells = [(&b"a"[..], 9, &b"one"[..]), (&b"a"[..], 7, &b""[..]), (&b"b"[..], 8, &b"three"[..])];
        let whole = encode(&masks, cells, 0);
        for len in 0..whole.len() {
            let _ = decode(Bytes::copy_from_slice(&whole[..len]));
        }
        let mut random = Random(1);
        for _ in 0..20_000 {
            let mut changed = whole.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(changed.len());
                changed[at] = random.next().to_le_bytes()[0];
            }
            let _ = decode(changed.into());
        }
    }

    #[test]
    fn cells_out_of_order_are_refused() {
        for cells in [
            [(&b"b"[..], 1, &b""[..]), (&b"a"[..], 1, &b""[..])],
            [(&b"a"[..], 1, &b""[..]), (&b"a"[..], 2, &b""[..])],
            [(&b"a"[..], 1, &b""[..]), (&b"a"[..], 1, &b""[..])],
        ] {
            assert_eq!(decode(encode(&[], cells, 0).into()).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
