//! `--redact`: values become their classes, so that a report can be shown to people who may not see the keys.
//!
//! ```text
//! digit -> 9   capital -> A   small letter -> a   control byte -> \x00   byte above ASCII -> \xff   other ASCII stays
//! ```
//!
//! Lengths stay, punctuation and so delimiters stay, and the order of the classes is that of the bytes. What is left says how a key is built
//! and nothing of what it holds: hex digits, names and numbers of one length look alike.

use crate::finding::{VALUE_BEGIN, VALUE_END};
use rowkey::escape;
use std::borrow::Cow;

/// Shows values as they are, or as classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redactor {
    redacts: bool,
}

impl Redactor {
    /// Redacts if `redacts`, else shows values as they are.
    pub fn new(redacts: bool) -> Self {
        Self { redacts }
    }

    /// Whether values are replaced.
    pub fn redacts(self) -> bool {
        self.redacts
    }

    /// A key or a part of one, as it may be shown.
    pub fn bytes(self, value: &[u8]) -> Cow<'_, [u8]> {
        if self.redacts {
            Cow::Owned(value.iter().copied().map(class).collect())
        } else {
            Cow::Borrowed(value)
        }
    }

    /// The same, escaped as Rowkey prints keys.
    pub fn key(self, value: &[u8]) -> String {
        escape::escaped(&self.bytes(value)).to_string()
    }

    /// A text of the input that need not be a key, such as a malformed line: every character becomes its class.
    pub fn line(self, line: &str) -> String {
        if self.redacts { line.chars().map(class_of_character).collect() } else { line.to_owned() }
    }

    /// A text of a finding: marked values (see [`crate::finding::quote_value`]) in backquotes, as they may be shown.
    pub fn text(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, marked)) = rest.split_once(VALUE_BEGIN) {
            // A mark without an end marks all that follows.
            let (value, after) = marked.split_once(VALUE_END).unwrap_or((marked, ""));
            out.push_str(before);
            out.push('`');
            match escape::unescape(value) {
                Ok(bytes) => out.push_str(&self.key(&bytes)),
                Err(_) => out.push_str(&self.line(value)),
            }
            out.push('`');
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'9',
        b'A'..=b'Z' => b'A',
        b'a'..=b'z' => b'a',
        0x00..=0x1f | 0x7f => 0x00,
        0x80..=0xff => 0xff,
        _ => byte,
    }
}

fn class_of_character(character: char) -> char {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() => char::from(class(byte)),
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::quote_value;

    #[test]
    fn values_become_classes_of_the_same_length() {
        let check = |value: &[u8], expected: &[u8]| {
            let redacted = Redactor::new(true).bytes(value).into_owned();
            assert_eq!(redacted, expected);
            assert_eq!(redacted.len(), value.len());
        };
        check(b"07#Acme#2026-09-15", b"99#Aaaa#9999-99-99");
        check(b"\x01\x7fZ\xc3\xbc", b"\x00\x00A\xff\xff");
        check(b"", b"");
    }

    #[test]
    fn classes_sort_as_their_bytes_but_for_punctuation_between_them() {
        let classes = [b'\x05', b'7', b'Q', b'q', 0xc3].map(class);
        assert!(classes.is_sorted());
    }

    #[test]
    fn texts_lose_what_is_marked_and_nothing_else() {
        let text = format!(
            "all keys begin with {}, 12 of 40 with {}",
            quote_value(b"user/7\x00"),
            quote_value(b"x")
        );
        assert_eq!(Redactor::new(true).text(&text), "all keys begin with `aaaa/9\\x00`, 12 of 40 with `a`");
        assert_eq!(Redactor::new(false).text(&text), "all keys begin with `user/7\\x00`, 12 of 40 with `x`");
        assert_eq!(Redactor::new(true).text("open \u{ab}secret"), "open `aaaaaa`");
        assert_eq!(Redactor::new(true).text("none"), "none");
    }

    #[test]
    fn a_long_value_is_cut_before_it_is_marked() {
        let text = Redactor::new(true).text(&quote_value(&[b'\\'; 100]));
        assert_eq!(text, format!("`{}...`", "\\\\".repeat(30)));
    }

    #[test]
    fn malformed_lines_become_classes_too() {
        assert_eq!(Redactor::new(true).line("{\"key\": \"B\u{fc}ro\\x41\""), "{\"aaa\": \"A?aa\\a99\"");
    }
}
