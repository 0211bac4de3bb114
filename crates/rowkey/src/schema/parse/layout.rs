//! The layout line: `{name}` is a part, everything else a literal.
//!
//! ```text
//! '{salt}#{a}\x00{{{b}'   ->   Salt, "#", a, 00 "{", b
//! ```
//!
//! `{{` and `}}` are braces, `\\` is a backslash, `\xNN` a byte. A character above ASCII is refused: in a TOML basic string
//! `"\xff"` means the character U+00FF, which is two bytes, and nobody would see the difference.

use super::document::{Text, list};
use crate::Result;

/// A part of the layout as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(Vec<u8>),
    /// A name in braces, and its offset in the layout.
    Name(String, usize),
}

const BYTE_HINT: &str =
    "write it as \\xNN in single quotes (a TOML literal string), as in layout = '{vehicle}\\xff{time}'";

/// Cuts a layout into its parts; neighbouring literals become one.
pub(super) fn pieces(layout: &Text<'_>) -> Result<Vec<Piece>> {
    let text = layout.value.as_str();
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push(rest.as_bytes()[0]);
            at += 2;
        } else if next == '{' {
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            let name = name(layout, at)?;
            let end = at + name.len() + 2;
            pieces.push(Piece::Name(name, at));
            at = end;
        } else if next == '}' {
            return Err(
                layout.error_at(at, "`}` closes nothing in `layout`; for a brace in the key write `}}`")
            );
        } else if next == '\\' {
            let (byte, len) = escaped_byte(layout, at)?;
            literal.push(byte);
            at += len;
        } else if next.is_ascii() {
            literal.push(rest.as_bytes()[0]);
            at += 1;
        } else {
            let message =
                format!("`layout` has the character `{next}`, which is more than one byte; {BYTE_HINT}");
            return Err(layout.error_at(at, message));
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

fn name(layout: &Text<'_>, at: usize) -> Result<String> {
    let rest = &layout.value[at + 1..];
    let name = match rest.find(['{', '}']) {
        Some(end) if rest[end..].starts_with('}') => &rest[..end],
        _ => {
            let message = "`{` is not closed in `layout`: write {name}, or `{{` for a brace in the key";
            return Err(layout.error_at(at, message));
        }
    };
    if !is_name(name) {
        return Err(layout.error_at(at, bad_name("layout", name)));
    }
    Ok(name.to_owned())
}

fn escaped_byte(layout: &Text<'_>, at: usize) -> Result<(u8, usize)> {
    let rest = &layout.value.as_bytes()[at + 1..];
    if rest.first() == Some(&b'\\') {
        return Ok((b'\\', 2));
    }
    let digits = rest.strip_prefix(b"x").and_then(|hex| hex.get(..2));
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let byte = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()).map(|byte| (byte, 4)).ok_or_else(|| {
        layout.error_at(at, "a backslash in `layout` must be followed by `x` and two hex digits, as in \\x00, or by a second one")
    })
}

/// Whether a field can have this name.
pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Words that mean something else in a layout or in the text of a query.
pub(super) const RESERVED: [&str; 6] = ["salt", "and", "or", "not", "in", "prefix"];

/// The message about a name that no field can have.
pub(super) fn bad_name(place: &str, name: &str) -> String {
    if name.is_empty() {
        return format!(
            "{{}} in `{place}` names no field: write its name between the braces, as in {{vehicle}}"
        );
    }
    if RESERVED.contains(&name) {
        return format!(
            "`{name}` cannot be a field in `{place}`: {} are reserved; take another name",
            list(&RESERVED)
        );
    }
    format!("`{name}` in `{place}` is not a name: take a letter or `_`, then letters, digits and `_`")
}
