//! Bytes as text: printable ASCII stands for itself, a backslash is `\\`, any other byte is `\xNN`.
//!
//! Must agree with `rowkey::escape`: the two crates do not know each other.

use crate::{Error, ErrorKind, Result};
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
/// [`ErrorKind::Invalid`] at a backslash that is followed by neither a backslash nor `x` and two hex digits.
pub fn unescape(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = if first == b'\\' { escape(behind, text)? } else { (first, behind) };
        out.push(byte);
        rest = behind;
    }
    Ok(out)
}

/// The byte that an escape stands for, and what comes behind it.
fn escape<'a>(behind: &'a [u8], text: &str) -> Result<(u8, &'a [u8])> {
    let escape = match behind {
        [b'\\', behind @ ..] => Some((b'\\', behind)),
        [b'x', high, low, behind @ ..] => hex_byte(*high, *low).map(|byte| (byte, behind)),
        _ => None,
    };
    escape.ok_or_else(|| {
        let message = format!(
            "`{text}`: a backslash must be followed by `\\` or by `x` and two hex digits, as in `\\x00`"
        );
        Error::new(ErrorKind::Invalid, message)
    })
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lone_backslash_is_an_error() {
        assert!(unescape("ab\\q").is_err());
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
