//! A key taken apart as far as it can be: for people.

use super::{Codec, check_literal};
use crate::escape::escaped;
use crate::{Error, Value, encode};
use std::ops::Range;

/// One part of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    /// `salt`, `literal`, or the name of the field.
    pub name: String,
    /// Where it is in the stored key.
    pub range: Range<usize>,
    /// What it says: bucket, escaped literal, or value.
    pub text: String,
}

/// A key taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What could be read, from the front.
    pub parts: Vec<KeyPart>,
    /// Why the rest could not, or why the salt is wrong.
    pub error: Option<Error>,
}

impl Codec {
    /// Takes a stored key apart as far as it conforms, and says where and why it does not.
    pub fn explain(&self, key: &[u8]) -> Explanation {
        let mut parts = Vec::new();
        let error = match self.explain_into(key, &mut parts) {
            Ok(()) => self.decode(key, &mut Vec::new()).err(),
            Err(error) => Some(error),
        };
        Explanation { parts, error }
    }

    fn explain_into(&self, key: &[u8], parts: &mut Vec<KeyPart>) -> crate::Result<()> {
        let part =
            |name: &str, range: Range<usize>, text: String| KeyPart { name: name.to_owned(), range, text };
        let (salt, _) = self.split_salt(key)?;
        let mut at = salt.len();
        if self.schema().salt.is_some() {
            let text = match self.read_salt(salt) {
                Ok(bucket) => format!("bucket {bucket}"),
                Err(_) => escaped(salt).to_string(),
            };
            parts.push(part("salt", 0..at, text));
        }
        let literal = |at: &mut usize, literal: &[u8], parts: &mut Vec<KeyPart>| {
            check_literal(key, *at, literal)?;
            let end = *at + literal.len();
            if !literal.is_empty() {
                parts.push(part("literal", *at..end, escaped(literal).to_string()));
            }
            *at = end;
            Ok(())
        };
        literal(&mut at, &self.inner.lead, parts)?;
        for (step, field) in self.inner.steps.iter().zip(&self.schema().fields) {
            let mut value = Value::Uint(0);
            let width = step
                .decode(&key[at..], &mut value)
                .map_err(|error| error.behind(at).in_field(&field.name))?;
            let text = encode::format_value(&step.kind, &value);
            parts.push(part(&field.name, at..at + width, text));
            at += width;
            literal(&mut at, &step.literal, parts)?;
        }
        Ok(())
    }
}
