//! Hex digits and UUIDs in text, lower case only.
//!
//! ```text
//! hex, 5 digits      0a bc de  ->  "abcde"          an odd width leaves out the upper half of the first byte, which is 0
//! uuid               00112233-4455-6677-8899-aabbccddeeff
//! ```

use crate::{Error, Result};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Where the hyphens of a UUID stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The length of a UUID in text.
pub(crate) const UUID_TEXT_BYTES: usize = 36;

/// The value of a lower-case hex digit.
#[inline]
pub(crate) fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Appends two digits for each byte.
#[inline]
pub(crate) fn push(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Appends `digits` digits: the bytes are `digits / 2`, rounded up, and the upper half of the first is 0 if `digits` is odd.
pub(crate) fn encode(bytes: &[u8], digits: u16, out: &mut Vec<u8>) -> Result<()> {
    let digits = usize::from(digits);
    if bytes.len() != digits.div_ceil(2) {
        let expected = digits.div_ceil(2);
        let message =
            format!("{} bytes; {digits} hex digits hold exactly {expected}: widen the field", bytes.len());
        return Err(Error::value(message));
    }
    if digits % 2 == 0 {
        push(bytes, out);
        return Ok(());
    }
    let Some((&first, rest)) = bytes.split_first() else { return Ok(()) };
    if first > 15 {
        let message =
            format!("the first byte, {first:#04x}, does not fit into the first of {digits} hex digits");
        return Err(Error::value(message));
    }
    out.push(DIGITS[usize::from(first)]);
    push(rest, out);
    Ok(())
}

/// The bytes of lower-case digits; an odd first digit is a byte of its own.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len().div_ceil(2));
    let odd = text.len() % 2;
    for (at, &digit) in text.iter().enumerate() {
        let Some(value) = value(digit) else {
            return Err(Error::malformed(at, "not a lower-case hex digit"));
        };
        match decoded.last_mut() {
            Some(last) if at % 2 != odd => *last = *last << 4 | value,
            _ => decoded.push(value),
        }
    }
    Ok(decoded)
}

/// Appends the 36 characters of a UUID.
pub(crate) fn encode_uuid(uuid: &[u8; 16], out: &mut Vec<u8>) {
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        push(&[*byte], out);
    }
}

/// Reads the 36 characters of a UUID in lower case.
pub(crate) fn decode_uuid(text: &[u8]) -> Result<[u8; 16]> {
    if text.len() != UUID_TEXT_BYTES {
        return Err(Error::malformed(text.len().min(UUID_TEXT_BYTES), "a UUID is 36 characters long"));
    }
    let mut uuid = [0u8; 16];
    let mut digit_at = 0;
    for (at, &byte) in text.iter().enumerate() {
        if HYPHENS.contains(&at) {
            if byte != b'-' {
                return Err(Error::malformed(at, "a UUID has `-` here"));
            }
            continue;
        }
        let Some(value) = value(byte) else {
            return Err(Error::malformed(at, "not a lower-case hex digit of a UUID"));
        };
        uuid[digit_at / 2] = uuid[digit_at / 2] << 4 | value;
        digit_at += 1;
    }
    Ok(uuid)
}
