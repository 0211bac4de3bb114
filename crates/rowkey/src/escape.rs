//! Row keys as text: printable ASCII stands for itself, a backslash is `\\`, any other byte is `\xNN`.
//!
//! What is printed can be read back: `unescape(escaped(k)) == k` for every `k`.

use crate::{Error, Result};
use std::fmt::{self, Write as _};

/// Shows `bytes` escaped, without allocating.
pub fn escaped(bytes: &[u8]) -> Escaped<'_> {
    Escaped(bytes)
}

/// See [`escaped`].
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(&'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &byte in self.0 {
            match byte {
                b'\\' => f.write_str("\\\\")?,
                0x20..=0x7e => f.write_char(char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

/// Reads escaped text back. A character above ASCII stands for its UTF-8 bytes.
///
/// # Errors
///
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) at a backslash that is followed by neither a backslash nor `x` and two
/// hex digits.
pub fn unescape(text: &str) -> Result<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match bytes.get(at + 1..) {
            Some([b'\\', ..]) => {
                out.push(b'\\');
                at += 2;
            }
            Some([b'x', high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex_value(*high) << 4 | hex_value(*low));
                at += 4;
            }
            _ => {
                let message =
                    "a backslash must be followed by `\\` or by `x` and two hex digits, as in `\\x00`";
                return Err(Error::malformed(at, message));
            }
        }
    }
    Ok(out)
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn printable_ascii_stands_for_itself_and_the_rest_is_escaped() {
        assert_eq!(escaped(b"07#a b\\\x00\xff").to_string(), "07#a b\\\\\\x00\\xff");
    }

    #[test]
    fn a_lone_backslash_is_an_error_at_its_offset() {
        let error = unescape("ab\\q").unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Malformed { offset: 2 });
        assert!(unescape("\\x0").is_err());
        assert!(unescape("\\").is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_can_be_read_back(bytes: Vec<u8>) {
            prop_assert_eq!(unescape(&escaped(&bytes).to_string()).unwrap(), bytes);
        }
    }
}
