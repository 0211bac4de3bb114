//! Bytes of any length that end by themselves: 00 is written as `00 ff`, the end as `00 01`.
//!
//! ```text
//! a 00 b     61 00 ff 62 00 01
//! the same descending (every byte complemented):   9e ff 00 9d ff fe
//! ```
//!
//! The end sorts below an escaped zero, so that "a" sorts before "a\0". The same escape as `00` in Google's ordered code and
//! `CockroachDB`; unlike ordered code, ff stands for itself.

use crate::{Error, Result};
use std::borrow::Cow;

/// Appends `bytes`, escaped, and the end mark.
#[inline]
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    encode_open(bytes, out);
    out.extend_from_slice(&[0, 1]);
}

/// Appends `bytes`, escaped, without the end mark: what the encodings of all values that begin with `bytes` begin with.
#[inline]
pub(crate) fn encode_open(bytes: &[u8], out: &mut Vec<u8>) {
    if super::position_up_to(bytes, 0).is_none() {
        super::bytes::append(bytes, out);
        return;
    }
    for piece in bytes.split_inclusive(|&byte| byte == 0) {
        out.extend_from_slice(piece);
        if piece.last() == Some(&0) {
            out.push(0xff);
        }
    }
}

/// The length of the encoding that `bytes` begins with, its end mark included. `flip` is 0, or ff for a complemented one.
pub(crate) fn extent(bytes: &[u8], flip: u8) -> Result<usize> {
    let mut at = 0;
    let first = |bytes: &[u8]| match flip {
        0 => super::position_up_to(bytes, 0),
        _ => bytes.iter().position(|&byte| byte == flip),
    };
    while let Some(zero) = first(&bytes[at..]) {
        at += zero;
        match bytes.get(at + 1).map(|byte| byte ^ flip) {
            Some(1) => return Ok(at + 2),
            Some(0xff) => at += 2,
            Some(_) => return Err(Error::malformed(at + 1, "a zero byte must be escaped or end the field")),
            None => break,
        }
    }
    Err(Error::malformed(bytes.len(), "the key ends before the end mark of the field"))
}

/// The content of one whole ascending encoding in which nothing is escaped.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> Option<&[u8]> {
    let content = bytes.strip_suffix(&[0, 1])?;
    super::position_up_to(content, 0).is_none().then_some(content)
}

/// Decodes one whole encoding, borrowing where nothing is escaped or complemented.
pub(crate) fn decode(bytes: &[u8], flip: u8) -> Result<Cow<'_, [u8]>> {
    let end = extent(bytes, flip)?;
    if end < bytes.len() {
        return Err(Error::malformed(end, "bytes stand behind the end mark of the field"));
    }
    let content = &bytes[..end - 2];
    if flip == 0 && !content.contains(&0) {
        return Ok(Cow::Borrowed(content));
    }
    let mut decoded = Vec::with_capacity(content.len());
    let mut at = 0;
    while let Some(&byte) = content.get(at) {
        decoded.push(byte ^ flip);
        // `extent` has seen that ff follows every zero here.
        at += if byte ^ flip == 0 { 2 } else { 1 };
    }
    Ok(Cow::Owned(decoded))
}
