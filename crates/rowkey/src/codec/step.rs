//! One field of a compiled codec, with the literal behind it.

use crate::escape::escaped;
use crate::schema::{FieldKind, Order};
use crate::{Error, Result, Value, encode};

pub(super) struct Step {
    pub(super) kind: FieldKind,
    pub(super) order: Order,
    /// The literal behind the field. May be empty.
    pub(super) literal: Box<[u8]>,
    /// The byte that ends the field: all bytes of it are greater. Only for kinds that need one.
    pub(super) delimiter: Option<u8>,
    /// The encodings that the field can have, sorted. Empty: any.
    pub(super) allowed: Box<[Box<[u8]>]>,
    /// Whether a run of hashed fields begins with this one.
    pub(super) opens_run: bool,
    /// Whether a run of hashed fields ends with this one.
    pub(super) closes_run: Close,
}

/// Where a run of hashed fields ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    No,
    BehindField,
    BehindLiteral,
}

impl Step {
    /// Appends the encoding of `value`, checked.
    #[inline]
    pub(super) fn encode(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        encode::encode(&self.kind, self.order, value, out)?;
        let encoded = &out[start..];
        if !self.allowed.is_empty() {
            if !is_allowed(&self.allowed, encoded) {
                return Err(self.not_allowed(value));
            }
        } else if let Some(delimiter) = self.delimiter
            && let Some(at) = encode::position_up_to(encoded, delimiter)
        {
            return Err(self.holds_delimiter(encoded, at, delimiter));
        }
        Ok(())
    }

    /// Appends what the encodings of all values that begin with `prefix` begin with.
    pub(super) fn encode_open(&self, prefix: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        encode::encode_open(&self.kind, self.order, prefix, out)?;
        if let Some(delimiter) = self.delimiter
            && let Some(at) = out[start..].iter().position(|&byte| byte <= delimiter)
        {
            return Err(self.holds_delimiter(&out[start..], at, delimiter));
        }
        Ok(())
    }

    /// Decodes the field at the front of `bytes` into `slot`. Returns how many bytes it is.
    #[inline]
    pub(super) fn decode<'k>(&self, bytes: &'k [u8], slot: &mut Value<'k>) -> Result<usize> {
        let width = encode::extent(&self.kind, self.order, bytes, self.delimiter)?;
        self.decode_checked(&bytes[..width], slot)?;
        Ok(width)
    }

    /// Decodes a field that is all of `bytes`.
    pub(super) fn decode_whole<'k>(&self, bytes: &'k [u8]) -> Result<Value<'k>> {
        if let Some(delimiter) = self.delimiter
            && let Some(at) = bytes.iter().position(|&byte| byte <= delimiter)
        {
            return Err(Error::malformed(
                at,
                format!("a byte at or below the delimiter `{}`", escaped(&[delimiter])),
            ));
        }
        let mut value = Value::Uint(0);
        self.decode_checked(bytes, &mut value)?;
        Ok(value)
    }

    #[inline]
    fn decode_checked<'k>(&self, encoded: &'k [u8], slot: &mut Value<'k>) -> Result<()> {
        encode::decode_into(&self.kind, self.order, encoded, slot)?;
        if !self.allowed.is_empty() && !is_allowed(&self.allowed, encoded) {
            return Err(self.foreign(encoded));
        }
        Ok(())
    }

    #[cold]
    fn foreign(&self, encoded: &[u8]) -> Error {
        let text = encode::decode(&self.kind, self.order, encoded)
            .map_or_else(|_| escaped(encoded).to_string(), |value| encode::format_value(&self.kind, &value));
        Error::malformed(0, format!("`{text}` is not one of the values of the schema"))
    }

    #[cold]
    fn not_allowed(&self, value: &Value<'_>) -> Error {
        let text = encode::format_value(&self.kind, value);
        let allowed = self.allowed.iter().take(10).map(|bytes| {
            encode::decode(&self.kind, self.order, bytes)
                .map_or_else(|_| escaped(bytes).to_string(), |value| encode::format_value(&self.kind, &value))
        });
        let mut allowed: Vec<String> = allowed.collect();
        if self.allowed.len() > 10 {
            allowed.push(format!("{} more", self.allowed.len() - 10));
        }
        Error::value(format!("`{text}` is not one of its values: {}", allowed.join(", ")))
    }

    #[cold]
    fn holds_delimiter(&self, encoded: &[u8], at: usize, delimiter: u8) -> Error {
        let bad = encoded[at];
        let literal = escaped(&self.literal);
        let problem = if bad == delimiter {
            "which ends the field in the key"
        } else {
            "which sorts below the literal that ends the field"
        };
        Error::value(format!(
            "`{}` contains `{}`, {problem} (`{literal}`): correct the value, or use another literal or `type = \"text\"`",
            escaped(encoded),
            escaped(&[bad])
        ))
    }
}

/// Appends a literal.
#[inline]
pub(super) fn push_literal(literal: &[u8], out: &mut Vec<u8>) {
    // Nearly every literal is one byte: a store instead of a call.
    match *literal {
        [] => {}
        [byte] => out.push(byte),
        _ => out.extend_from_slice(literal),
    }
}

/// Whether `encoded` is one of the sorted encodings `allowed`.
#[inline]
pub(super) fn is_allowed(allowed: &[Box<[u8]>], encoded: &[u8]) -> bool {
    // Short lists are searched faster from front to back.
    if allowed.len() <= 8 {
        allowed.iter().any(|allowed| **allowed == *encoded)
    } else {
        allowed.binary_search_by(|allowed| (**allowed).cmp(encoded)).is_ok()
    }
}
