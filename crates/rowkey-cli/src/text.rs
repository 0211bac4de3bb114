//! Small things of printing: sizes, escaped values, CSV fields.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A size for people: `17 B`, `1.2 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut unit = 0;
    let mut whole = bytes;
    // Tenths of the unit, by integers, so that the text is the same everywhere.
    while whole >= 1024 * 1024 && unit + 1 < UNITS.len() {
        whole /= 1024;
        unit += 1;
    }
    let tenths = (u128::from(whole) * 10 + 512) / 1024;
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A number for people: `321,206`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things for people: `1 cell`, `2 cells`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A value for people: UTF-8 as it is, but control characters and other bytes as `\xNN` and a backslash as `\\`, so that it can be
/// read back.
pub(crate) fn value(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A CSV field, quoted if it must be.
pub(crate) fn csv(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_for_people() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(5 << 30), "5.0 GiB");
        assert_eq!(count(7), "7");
        assert_eq!(count(321_206), "321,206");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn values_are_printed_so_that_they_can_be_read_back() {
        assert_eq!(value("a\\b\n\u{e9}".as_bytes()), "a\\\\b\\x0a\u{e9}");
        assert_eq!(value(b"\xff\x00x"), "\\xff\\x00x");
        assert_eq!(rowkey::escape::unescape(&value(b"\xff\x00x\\")).unwrap(), b"\xff\x00x\\");
    }

    #[test]
    fn csv_fields_are_quoted_only_if_they_must_be() {
        assert_eq!(csv("a b"), "a b");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
