//! Reads what stands for one byte, or for a set of bytes: escapes and classes.

use super::class::{self, ByteSet};
use super::parse::Parser;
use crate::Result;

impl Parser<'_> {
    /// `\d`, `\pL` and the like, behind the backslash.
    pub(super) fn named_set(&mut self, from: usize) -> Result<Option<ByteSet>> {
        let Some(&letter) = self.rest().first() else { return Ok(None) };
        if let Some(set) = class::perl(letter.to_ascii_lowercase()) {
            self.at += 1;
            return Ok(Some(self.signed(set, letter.is_ascii_uppercase())));
        }
        if !matches!(letter, b'p' | b'P') {
            return Ok(None);
        }
        self.at += 1;
        let mut name = self.rest().get(..1).unwrap_or_default();
        self.at += name.len();
        if name == b"{" {
            let len = self.rest().iter().position(|byte| *byte == b'}');
            let Some(len) = len else { return self.refuse(from, "a `{` that is not closed") };
            name = &self.rest()[..len];
            self.at += len + 1;
        }
        let stripped = name.strip_prefix(b"^");
        let Some(set) = class::unicode(stripped.unwrap_or(name)) else {
            return self.refuse(
                from,
                "not a Unicode property that is known here; a byte has one of the general categories (as in \\pL, \\p{Lu}), or Latin, Common",
            );
        };
        Ok(Some(self.signed(set, (letter == b'P') != stripped.is_some())))
    }

    fn signed(&self, set: ByteSet, negated: bool) -> ByteSet {
        let set = if self.flags.fold { set.folded() } else { set };
        if negated { set.negated() } else { set }
    }

    /// One byte, behind a backslash, in a class or not.
    pub(super) fn escaped_byte(&mut self, from: usize) -> Result<u8> {
        let Some(&letter) = self.rest().first() else {
            return self.refuse(from, "a backslash at the end; write `\\\\` for the character");
        };
        self.at += 1;
        let octal = |byte: &u8| matches!(byte, b'0'..=b'7');
        match letter {
            b'1'..=b'7' if !self.rest().first().is_some_and(octal) => self.refuse(
                from,
                "a reference to a group is not in RE2; write two or three octal digits for a byte",
            ),
            b'0'..=b'7' => {
                let more = self.rest().iter().take(2).take_while(|byte| octal(byte)).count();
                let digits = self.rest()[..more]
                    .iter()
                    .fold(u32::from(letter - b'0'), |code, digit| code * 8 + u32::from(digit - b'0'));
                self.at += more;
                match u8::try_from(digits) {
                    Ok(byte) => Ok(byte),
                    Err(_) => self.refuse(from, "octal above \\377 is no byte"),
                }
            }
            b'x' => self.hex(from),
            b'a' => Ok(0x07),
            b'f' => Ok(0x0c),
            b'n' => Ok(b'\n'),
            b'r' => Ok(b'\r'),
            b't' => Ok(b'\t'),
            b'v' => Ok(0x0b),
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Ok(letter),
            _ => self.refuse(from, "not an escape of RE2"),
        }
    }

    /// `ff` or `{ff}` behind `\x`.
    fn hex(&mut self, from: usize) -> Result<u8> {
        let value = |byte: u8| char::from(byte).to_digit(16);
        if !self.take(b"{") {
            if let [high, low, ..] = self.rest()
                && let (Some(high), Some(low)) = (value(*high), value(*low))
            {
                self.at += 2;
                return Ok(u8::try_from(high * 16 + low).unwrap_or(u8::MAX));
            }
            return self.refuse(from, "two hex digits must follow `\\x`, as in \\x0a");
        }
        let mut code = 0_u8;
        let mut digits = 0;
        while let Some(digit) = self.rest().first().and_then(|byte| value(*byte)) {
            let next = u32::from(code) * 16 + digit;
            let Ok(next) = u8::try_from(next) else {
                return self.refuse(from, "above \\x{ff}, which is no byte");
            };
            code = next;
            digits += 1;
            self.at += 1;
        }
        if digits == 0 || !self.take(b"}") {
            return self.refuse(from, "hex digits and a `}` must follow `\\x{`");
        }
        Ok(code)
    }

    /// Behind `[`.
    pub(super) fn class(&mut self, from: usize) -> Result<ByteSet> {
        let negated = self.take(b"^");
        let mut set = ByteSet::default();
        let mut first = true;
        loop {
            let Some(&byte) = self.rest().first() else {
                return self.refuse(from, "a `[` that is not closed; write `\\[` for the character");
            };
            if byte == b']' && !first {
                break;
            }
            first = false;
            let at = self.at;
            if let Some(named) = self.posix_set(at)? {
                set = set.union(named);
                continue;
            }
            if self.take(b"\\") {
                if let Some(named) = self.named_set(at)? {
                    set = set.union(named);
                    continue;
                }
                self.at = at;
            }
            let low = self.class_byte(from)?;
            let mut high = low;
            // A `-` before the end of the class stands for itself.
            if let [b'-', behind, ..] = self.rest()
                && *behind != b']'
            {
                self.at += 1;
                high = self.class_byte(from)?;
            }
            if high < low {
                return self.refuse(at, "a range in a class ends before it begins; swap its ends");
            }
            let mut range = ByteSet::default();
            range.add(low..=high);
            set = set.union(if self.flags.fold { range.folded() } else { range });
        }
        self.at += 1;
        Ok(if negated { set.negated() } else { set })
    }

    fn class_byte(&mut self, from: usize) -> Result<u8> {
        let Some(&byte) = self.rest().first() else { return self.refuse(from, "a `[` that is not closed") };
        let at = self.at;
        self.at += 1;
        if byte == b'\\' { self.escaped_byte(at) } else { Ok(byte) }
    }

    /// `[:alpha:]` or `[:^alpha:]` in a class.
    fn posix_set(&mut self, from: usize) -> Result<Option<ByteSet>> {
        let Some(inside) = self.rest().strip_prefix(b"[:") else { return Ok(None) };
        // As RE2 does it: whatever stands before the next `:]`, however far it is, is the name.
        let Some(len) = inside.windows(2).position(|two| two == b":]") else { return Ok(None) };
        let name = &inside[..len];
        let stripped = name.strip_prefix(b"^");
        let Some(set) = class::posix(stripped.unwrap_or(name)) else {
            return self.refuse(from, "not a class of POSIX; one is [:alpha:]");
        };
        self.at += len + 4;
        Ok(Some(self.signed(set, stripped.is_some())))
    }
}
