//! Escapes of keys, as `rowkey::escape` prints them, on bytes: other than there, a line may hold bytes that are no UTF-8.

use memchr::memchr;

/// What is wrong with an escape: the words of `rowkey::escape::unescape`.
pub(super) const BAD_ESCAPE: &str =
    "a backslash must be followed by `\\` or by `x` and two hex digits, as in `\\x00`";

/// Replaces the content of `out` by `text` without its escapes.
///
/// # Errors
///
/// The offset of a backslash that is followed by neither a backslash nor `x` and two hex digits.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    out.clear();
    let mut at = 0;
    while let Some(length) = memchr(b'\\', &text[at..]) {
        out.extend_from_slice(&text[at..at + length]);
        at += length;
        let (byte, width) = read_escape(&text[at + 1..]).ok_or(at)?;
        out.push(byte);
        at += 1 + width;
    }
    out.extend_from_slice(&text[at..]);
    Ok(())
}

/// The byte that an escape stands for, and the length of what is behind the backslash.
pub(super) fn read_escape(behind: &[u8]) -> Option<(u8, usize)> {
    match *behind {
        [b'\\', ..] => Some((b'\\', 1)),
        [b'x', high, low, ..] => Some((hex_value(high)? << 4 | hex_value(low)?, 3)),
        _ => None,
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Whether all bytes are printable ASCII, `20` to `7e`: what `rowkey::escape` leaves as it is, and the backslash.
pub(super) fn is_printable(text: &[u8]) -> bool {
    // Without an early end, the compiler looks at 16 bytes at once.
    text.iter().fold(true, |all, byte| all & (byte.wrapping_sub(0x20) <= 0x7e - 0x20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_is_unescaped_as_rowkey_does(text in r"([a-c#]|\\\\|\\x[0-9a-fA-F]{2}|\\x?|é){0,12}") {
            let mut out = Vec::new();
            let ours = unescape(text.as_bytes(), &mut out);
            match rowkey::escape::unescape(&text) {
                Ok(bytes) => prop_assert_eq!((ours, out), (Ok(()), bytes)),
                Err(error) => {
                    let offset = ours.unwrap_err();
                    prop_assert_eq!(error.kind(), rowkey::ErrorKind::Malformed { offset });
                    prop_assert_eq!(error.message(), BAD_ESCAPE);
                }
            }
        }

        #[test]
        fn printable_is_what_escaping_leaves(bytes: Vec<u8>) {
            let same = bytes.iter().all(|byte| (0x20..=0x7e).contains(byte));
            prop_assert_eq!(is_printable(&bytes), same);
        }
    }
}
