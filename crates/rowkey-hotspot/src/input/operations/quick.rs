//! The quick way through a line of JSON: one flat object of printable ASCII, in one pass, without an allocation.
//!
//! What is not of this form, or is wrong, is left to the JSON parser, which knows why. So this accepts less than JSON, never more:
//! `None` means "ask the parser", not "malformed".

use super::super::escape::{is_printable, read_escape};
use super::super::report::Tally;
use super::{Members, Parsed, kind_of};
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// Members of other names that a line may have.
const OTHERS_MAX: usize = 8;
/// Digits of a number that fits 64 bits in any case.
const DIGITS_MAX: usize = 18;

/// Reads plain lines.
#[derive(Debug, Default)]
pub(super) struct Quick {
    key: Vec<u8>,
    end: Vec<u8>,
}

impl Quick {
    /// The operation of a plain line. Notes members of other names.
    #[inline]
    pub(super) fn parse<'k>(&'k mut self, line: &'k [u8], tally: &mut Tally<'_>) -> Option<Parsed<'k>> {
        let mut cursor = Cursor { rest: line };
        let mut members = Members::default();
        let mut others: [&[u8]; OTHERS_MAX] = [b""; OTHERS_MAX];
        let mut others_count = 0;
        let (mut key, mut end, mut table) = (None, None, None);
        cursor.take(b'{')?;
        loop {
            let name = cursor.plain_text()?;
            cursor.take(b':')?;
            // A name that comes twice is the parser's.
            match name {
                b"time_ms" if members.time_ms.is_none() => {
                    members.time_ms = Some(i64::try_from(cursor.number()?).ok()?);
                }
                b"op" if members.kind.is_none() => members.kind = Some(kind_of(cursor.plain_text()?)?),
                b"key" if key.is_none() => key = Some(cursor.escaped_text(&mut self.key)?),
                b"end" if end.is_none() => end = Some(cursor.escaped_text(&mut self.end)?),
                b"rows" if members.rows.is_none() => members.rows = Some(cursor.number()?),
                b"bytes" if members.bytes.is_none() => members.bytes = Some(cursor.number()?),
                b"table" if table.is_none() => table = Some(as_str(cursor.plain_text()?)?),
                b"time_ms" | b"op" | b"key" | b"end" | b"rows" | b"bytes" | b"table" => return None,
                _ => {
                    *others.get_mut(others_count)? = name;
                    others_count += 1;
                    cursor.skip_value()?;
                }
            }
            if cursor.take(b',').is_none() {
                break;
            }
        }
        cursor.take(b'}')?;
        cursor.space();
        if !cursor.rest.is_empty() {
            return None;
        }
        members.key = key.map(|text| text.bytes(&self.key));
        members.end = end.map(|text| text.bytes(&self.end));
        let operation = members.operation().ok()?;
        for name in &others[..others_count] {
            tally.ignore(as_str(name)?);
        }
        Some(Parsed { operation, table: table.map(Cow::Borrowed), raw: false })
    }
}

/// Printable ASCII as text.
fn as_str(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text).ok()
}

/// Where the bytes of a key are.
enum Text<'t> {
    /// In the line.
    Piece(&'t [u8]),
    /// Where it was unescaped to.
    Unescaped,
}

impl<'t> Text<'t> {
    fn bytes(self, unescaped: &'t [u8]) -> &'t [u8] {
        match self {
            Self::Piece(text) => text,
            Self::Unescaped => unescaped,
        }
    }
}

/// What is left of a line.
struct Cursor<'t> {
    rest: &'t [u8],
}

impl<'t> Cursor<'t> {
    /// Skips JSON's white space.
    #[inline]
    fn space(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes this byte, with space before it.
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        self.space();
        let (first, rest) = self.rest.split_first()?;
        (*first == byte).then(|| self.rest = rest)
    }

    /// A string of printable ASCII without a backslash.
    #[inline]
    fn plain_text(&mut self) -> Option<&'t [u8]> {
        self.take(b'"')?;
        let length = memchr(b'"', self.rest)?;
        let text = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        (is_printable(text) && memchr(b'\\', text).is_none()).then_some(text)
    }

    /// A key. One with an escape is put into `out`.
    #[inline]
    fn escaped_text(&mut self, out: &mut Vec<u8>) -> Option<Text<'t>> {
        self.take(b'"')?;
        let length = memchr2(b'"', b'\\', self.rest)?;
        if self.rest[length] == b'"' {
            let text = &self.rest[..length];
            self.rest = &self.rest[length + 1..];
            return is_printable(text).then_some(Text::Piece(text));
        }
        out.clear();
        loop {
            let length = memchr2(b'"', b'\\', self.rest)?;
            let text = &self.rest[..length];
            if !is_printable(text) {
                return None;
            }
            out.extend_from_slice(text);
            let ends = self.rest[length] == b'"';
            self.rest = &self.rest[length + 1..];
            if ends {
                return Some(Text::Unescaped);
            }
            out.push(self.escape()?);
        }
    }

    /// What stands behind a backslash in a key: a quote, or an escape of keys, whose backslashes JSON doubles.
    fn escape(&mut self) -> Option<u8> {
        match self.rest {
            [b'"', rest @ ..] => {
                self.rest = rest;
                Some(b'"')
            }
            [b'\\', b'\\', b'\\', rest @ ..] => {
                self.rest = rest;
                Some(b'\\')
            }
            [b'\\', behind @ ..] if behind.first() == Some(&b'x') => {
                let (byte, width) = read_escape(behind)?;
                self.rest = &behind[width..];
                Some(byte)
            }
            _ => None,
        }
    }

    /// A whole number from 0 that fits 63 bits.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        self.space();
        let digits = self.digits()?;
        if matches!(self.rest, [b'.' | b'e' | b'E', ..]) || digits.len() > DIGITS_MAX {
            return None;
        }
        Some(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
    }

    /// Digits, without zeros that lead.
    #[inline]
    fn digits(&mut self) -> Option<&'t [u8]> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        match digits {
            [] | [b'0', _, ..] => None,
            digits => Some(digits),
        }
    }

    /// Skips a value of a member that is not known: text, a number, or a word.
    fn skip_value(&mut self) -> Option<()> {
        self.space();
        match self.rest {
            [b'"', ..] => self.plain_text().map(|_| ()),
            [b't', b'r', b'u', b'e', rest @ ..]
            | [b'f', b'a', b'l', b's', b'e', rest @ ..]
            | [b'n', b'u', b'l', b'l', rest @ ..] => {
                self.rest = rest;
                Some(())
            }
            _ => self.skip_number(),
        }
    }

    /// Skips a number without an exponent.
    fn skip_number(&mut self) -> Option<()> {
        if let [b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        let whole = self.digits()?.len();
        let mut fraction = 0;
        if let [b'.', rest @ ..] = self.rest {
            fraction = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if fraction == 0 {
                return None;
            }
            self.rest = &rest[fraction..];
        }
        let too_long = whole + fraction > 2 * DIGITS_MAX;
        (!too_long && !matches!(self.rest, [b'e' | b'E', ..])).then_some(())
    }
}
