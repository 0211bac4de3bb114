//! What keeps "byte order = field order" and one reading of every key: fields of variable width and what follows them.
//!
//! A field of variable width ends at the first byte of the literal behind it. The key sorts like its fields, and has one
//! reading only, if all bytes of the field are above that byte.

use crate::escape::escaped;
use crate::schema::{Field, FieldKind, Part};

/// Why the fields cannot stand like this, and which field is meant.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: usize,
    pub(super) message: String,
}

/// Checks every field of variable width against what follows it.
pub(super) fn check(parts: &[Part], fields: &[Field]) -> Result<(), Fault> {
    for (at, part) in parts.iter().enumerate() {
        let Part::Field(index) = part else { continue };
        let field = &fields[*index];
        if !matches!(field.kind, FieldKind::String | FieldKind::Domain { .. }) {
            continue;
        }
        let message = match parts.get(at + 1) {
            None | Some(Part::Salt) => continue,
            Some(Part::Literal(literal)) => match field.kind {
                FieldKind::Domain { separator } => domain_before(&field.name, separator, literal),
                _ => text_before(field, literal),
            },
            Some(Part::Field(next)) => touching(field, &fields[*next]),
        };
        if let Some(message) = message {
            return Err(Fault { field: *index, message });
        }
    }
    Ok(())
}

/// A text field of variable width that touches the next field.
fn touching(field: &Field, next: &Field) -> Option<String> {
    let name = &field.name;
    if field.values.is_empty() || matches!(field.kind, FieldKind::Domain { .. }) {
        return Some(format!(
            "`{name}` has no fixed width, so nobody can tell where `{next}` begins: put a literal between them, as in \
             {{{name}}}#{{{next}}}",
            next = next.name
        ));
    }
    let pairs = field.values.iter().flat_map(|short| field.values.iter().map(move |long| (short, long)));
    for (short, long) in pairs {
        if short != long && long.starts_with(short.as_str()) {
            return Some(format!(
                "the value \"{short}\" of `{name}` begins the value \"{long}\", and no literal ends it: put one behind it, as in \
                 {{{name}}}#{{{next}}}",
                next = next.name
            ));
        }
    }
    None
}

fn text_before(field: &Field, literal: &[u8]) -> Option<String> {
    let name = &field.name;
    let (text, first) = (escaped(literal), literal[0]);
    if let Some((value, byte)) = lowest_byte(&field.values).filter(|(_, byte)| *byte <= first) {
        return Some(format!(
            "the value \"{value}\" of `{name}` has the byte {:?}, which is not above the literal `{text}` behind it: the field would \
             end there, and keys would not sort like the field; take a literal below every value, as `#` or `\\x00`",
            char::from(byte)
        ));
    }
    (field.values.is_empty() && first >= b'z').then(|| {
        format!(
            "`{name}` ends at the literal `{text}`, so it could hold bytes above it only, and no letter or digit is; take a literal \
             below them, as `#` or `\\x00`"
        )
    })
}

fn lowest_byte(values: &[String]) -> Option<(&String, u8)> {
    values.iter().filter_map(|value| Some((value, value.bytes().min()?))).min_by_key(|(_, byte)| *byte)
}

fn domain_before(name: &str, separator: u8, literal: &[u8]) -> Option<String> {
    // A host is made of letters, digits, `-` (the lowest of them) and the separator.
    let lowest = separator.min(b'-');
    (literal[0] >= lowest).then(|| {
        let text = escaped(literal);
        let end = match separator {
            0 => "a domain with the separator \\x00 can only be the last field: move it, or take separator = \",\"".to_owned(),
            _ => format!("take a literal below `{}`, as `#` or `\\x00`", char::from(lowest)),
        };
        format!("`{name}` ends at the literal `{text}`, which is not below the bytes of a domain: {end}")
    })
}
