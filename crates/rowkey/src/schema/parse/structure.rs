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
        if !field.kind.needs_delimiter() {
            continue;
        }
        let message = match parts.get(at + 1) {
            None | Some(Part::Salt) => continue,
            Some(Part::Literal(literal)) => match field.kind {
                FieldKind::Domain { separator } => domain_before(&field.name, separator, literal),
                _ => text_before(field, literal),
            },
            Some(Part::Field(next)) => Some(touching(field, &fields[*next])),
        };
        if let Some(message) = message {
            return Err(Fault { field: *index, message });
        }
    }
    Ok(())
}

/// A field of variable width that touches the next field.
fn touching(field: &Field, next: &Field) -> String {
    let (name, next) = (&field.name, &next.name);
    format!(
        "`{name}` has no fixed width, so nobody can tell where `{next}` begins: put a literal between them, as in {{{name}}}#{{{next}}}"
    )
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
    let text = escaped(literal);
    match separator {
        _ if literal[0] < lowest => None,
        0 => Some(format!(
            "`{name}` is followed by the literal `{text}`, but a domain whose separator is \\x00 can only be the last field: move it, or \
             take separator = \",\""
        )),
        _ => Some(format!(
            "`{name}` ends at the literal `{text}`, which is not below the bytes of a domain; take one below `{}`, as `#` or `\\x00`",
            char::from(lowest)
        )),
    }
}
