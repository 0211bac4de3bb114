//! The codec: values to stored keys and back, compiled from a schema.
//!
//! ```text
//! | salt | lead | field 0 | literal | field 1 | literal | ... | field n | literal |
//! ```
//!
//! A salt comes first or not at all. Literals may be empty. A field of variable width that does not end by itself (`string`,
//! `domain`) ends at the literal behind it, below whose first byte and at which none of its bytes may be.

mod compile;
mod explain;
mod quick;
mod salted;
mod step;
mod typed;

pub(crate) use compile::design_error;
pub use explain::{Explanation, KeyPart};
pub use typed::KeyFields;

use crate::salt::SaltPlan;
use crate::schema::KeySchema;
use crate::{Error, Result, StoredKey, Value, encode};
use quick::{Eye, Pen, QuickPlan};
use salted::Marks;
use std::fmt;
use std::sync::Arc;
use step::Step;

/// Encodes and decodes the keys of one schema. Cheap to clone.
///
/// Fields are named by their index in [`KeySchema::fields`], which is their order in the key; so are values.
#[derive(Clone)]
pub struct Codec {
    inner: Arc<Inner>,
}

struct Inner {
    schema: KeySchema,
    salt: Option<SaltPlan>,
    /// The literal between the salt and the first field.
    lead: Box<[u8]>,
    /// One for each field.
    steps: Box<[Step]>,
    /// The short way, for codecs of common fields.
    quick: Option<QuickPlan>,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("schema", &self.inner.schema).finish_non_exhaustive()
    }
}

impl Codec {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`](crate::ErrorKind::Schema) if the schema was not made by `KeySchema::parse` and breaks a rule of the layout:
    /// field of variable width without a delimiter, salt that is not first, width out of range, value that cannot be encoded.
    pub fn new(schema: KeySchema) -> Result<Codec> {
        compile::compile(schema).map(|inner| Codec { inner: Arc::new(inner) })
    }

    /// The schema.
    pub fn schema(&self) -> &KeySchema {
        &self.inner.schema
    }

    /// Replaces the content of `out` by the stored key of `values`, one for each field. Allocates nothing once `out` is large enough,
    /// unless a domain has to be brought into lower case or ASCII, the salt is a hash prefix or that of `CockroachDB`, or it hashes fields that
    /// stand apart and are longer than 256 bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](crate::ErrorKind::Value), naming the field: a value of another type, too wide, not among the allowed ones,
    /// or holding its delimiter. Also for a random salt, which needs [`Codec::encode_in_bucket`].
    #[inline]
    pub fn encode(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        if self.encode_quick(self.inner.salt.as_ref(), values, out).is_some() {
            return Ok(());
        }
        self.encode_any(values, out)
    }

    #[inline]
    fn encode_quick(&self, salt: Option<&SaltPlan>, values: &[Value<'_>], out: &mut Vec<u8>) -> Option<()> {
        let plan = self.inner.quick.as_ref()?;
        if values.len() != plan.steps.len() {
            return None;
        }
        quick::in_window(out, |window| {
            let mut pen = Pen::new(plan, salt.map_or(0, |salt| salt.width), window)?;
            for (step, value) in plan.steps.iter().zip(values) {
                pen.step(step, |window, at| quick::put_value(step.quick, value, window, at))?;
            }
            pen.finish(plan, salt)
        })
    }

    /// Encodes whatever can be.
    fn encode_any(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        let mut marks = Marks::default();
        self.encode_behind(self.salt_width(), values, out, &mut marks)?;
        match &self.inner.salt {
            Some(salt) => self.fill_salt(salt, &marks, values, out),
            None => Ok(()),
        }
    }

    /// The stored key of `values`.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn encode_key(&self, values: &[Value<'_>]) -> Result<StoredKey> {
        let mut out = Vec::new();
        self.encode(values, &mut out)?;
        Ok(StoredKey(out))
    }

    /// Replaces the content of `out` by the key without its salt.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn encode_unsalted(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        if self.encode_quick(None, values, out).is_some() {
            return Ok(());
        }
        self.encode_behind(0, values, out, &mut Marks::default())
    }

    /// Leaves `space` bytes for the salt and encodes the rest.
    #[inline]
    fn encode_behind(
        &self,
        space: usize,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
        marks: &mut Marks,
    ) -> Result<()> {
        let Inner { schema, lead, steps, .. } = &*self.inner;
        if values.len() != steps.len() {
            return Err(wrong_count(values.len(), steps.len()));
        }
        out.clear();
        if space <= 8 {
            out.extend_from_slice(&[0; 8]);
            out.truncate(space);
        } else {
            out.resize(space, 0);
        }
        step::push_literal(lead, out);
        for (at, (step, value)) in steps.iter().zip(values).enumerate() {
            marks.before(step, out.len());
            step.encode(value, out).map_err(|error| error.in_field(&schema.fields[at].name))?;
            marks.behind_field(step, out.len());
            step::push_literal(&step.literal, out);
            marks.behind_literal(step, out.len());
        }
        Ok(())
    }

    /// Replaces `values` by those of a stored key, in field order, borrowed from it where its bytes allow. Checks everything: literals,
    /// widths, alphabets, allowed values, and that the salt is the one of the values.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) with the offset in `key`, naming the field. `values` are then of no use.
    #[inline]
    pub fn decode<'k>(&self, key: &'k [u8], values: &mut Vec<Value<'k>>) -> Result<()> {
        if self.decode_quick(self.inner.salt.as_ref(), key, values).is_some() {
            return Ok(());
        }
        self.decode_any(key, values)
    }

    #[inline]
    fn decode_quick<'k>(
        &self,
        salt: Option<&SaltPlan>,
        key: &'k [u8],
        values: &mut Vec<Value<'k>>,
    ) -> Option<()> {
        let plan = self.inner.quick.as_ref()?;
        values.clear();
        values.reserve(plan.steps.len());
        let mut eye = Eye::new(plan, salt.map_or(0, |salt| salt.width), key)?;
        for step in &plan.steps {
            eye.step(step, |key, at| Some(((), quick::take_value(step.quick, key, at, values)?)))?;
        }
        eye.finish(plan, salt)
    }

    /// Decodes whatever can be, and says what is wrong with anything else.
    fn decode_any<'k>(&self, key: &'k [u8], values: &mut Vec<Value<'k>>) -> Result<()> {
        let space = self.salt_width();
        let mut marks = Marks::default();
        self.decode_behind(space, key, values, &mut marks)?;
        match &self.inner.salt {
            Some(salt) => self.check_salt(salt, &marks, values, key),
            None => Ok(()),
        }
    }

    /// Replaces `values` by those of a key without its salt.
    ///
    /// # Errors
    ///
    /// As [`Codec::decode`]; offsets count from the start of `key`.
    pub fn decode_unsalted<'k>(&self, key: &'k [u8], values: &mut Vec<Value<'k>>) -> Result<()> {
        if self.decode_quick(None, key, values).is_some() {
            return Ok(());
        }
        self.decode_behind(0, key, values, &mut Marks::default())
    }

    #[inline]
    fn decode_behind<'k>(
        &self,
        space: usize,
        key: &'k [u8],
        values: &mut Vec<Value<'k>>,
        marks: &mut Marks,
    ) -> Result<()> {
        let Inner { schema, lead, steps, .. } = &*self.inner;
        values.resize(steps.len(), Value::Uint(0));
        if key.len() < space {
            return Err(Error::malformed(
                key.len(),
                format!("the key ends within its salt of {space} bytes"),
            ));
        }
        let mut at = space;
        check_literal(key, at, lead)?;
        at += lead.len();
        for (index, (step, slot)) in steps.iter().zip(values).enumerate() {
            marks.before(step, at);
            at += step
                .decode(&key[at..], slot)
                .map_err(|error| error.behind(at).in_field(&schema.fields[index].name))?;
            marks.behind_field(step, at);
            check_literal(key, at, &step.literal)?;
            at += step.literal.len();
            marks.behind_literal(step, at);
        }
        if at < key.len() {
            let message = match key.len() - at {
                1 => "one byte stands behind the last field".to_owned(),
                more => format!("{more} bytes stand behind the last field"),
            };
            return Err(Error::malformed(at, message));
        }
        Ok(())
    }

    /// Appends the encoding of one field, without the literal behind it.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`]; `out` is then as it was.
    pub fn encode_field(&self, field: usize, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let step = self.step(field)?;
        step.encode(value, out).map_err(|error| {
            out.truncate(start);
            error.in_field(self.name(field))
        })
    }

    /// Appends what the encodings of all values of a field begin with that begin with `prefix`: text for `string` and `text`, bytes for
    /// `bytes` and `fixed`, hex digits as text for `hex`, a host for `domain` (its subtree; with separator `.` the subtree is not all
    /// that begins so).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) for other kinds, or if the prefix holds the field's delimiter.
    pub fn encode_field_prefix(&self, field: usize, prefix: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let step = self.step(field)?;
        step.encode_open(prefix, out).map_err(|error| {
            out.truncate(start);
            error.in_field(self.name(field))
        })
    }

    /// Decodes exactly the bytes of one field.
    ///
    /// # Errors
    ///
    /// As [`Codec::decode`]; offsets count from the start of `bytes`.
    pub fn decode_field<'k>(&self, field: usize, bytes: &'k [u8]) -> Result<Value<'k>> {
        let step = self.step(field)?;
        step.decode_whole(bytes).map_err(|error| error.in_field(self.name(field)))
    }

    /// The value as it comes back from a key: `Int(5)` of a `uint` is `Uint(5)`, a host is in lower case.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn normal_value(&self, field: usize, value: &Value<'_>) -> Result<Value<'static>> {
        let mut bytes = Vec::new();
        self.encode_field(field, value, &mut bytes)?;
        self.decode_field(field, &bytes).map(Value::into_owned)
    }

    /// The width of a field in bytes; `None` if it varies.
    pub fn field_width(&self, field: usize) -> Option<usize> {
        self.inner.schema.fields.get(field)?.kind.fixed_width()
    }

    /// Reads a value as people and CSV files write it: decimal numbers; RFC 3339 with a zone, dates (midnight UTC) or numbers of the
    /// field's unit since the epoch for times; hex digits; UUIDs; hosts, brought to normal form; bytes as `\xNN`. Whether it fits into
    /// the field is checked when it is encoded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](crate::ErrorKind::Value), naming the field.
    pub fn parse_value(&self, field: usize, text: &str) -> Result<Value<'static>> {
        let kind = &self.step(field)?.kind;
        encode::parse_value(kind, text).map_err(|error| error.in_field(self.name(field)))
    }

    /// Prints a value so that [`Codec::parse_value`] reads it back.
    pub fn format_value(&self, field: usize, value: &Value<'_>) -> String {
        match self.step(field) {
            Ok(step) => encode::format_value(&step.kind, value),
            Err(_) => format!("{value:?}"),
        }
    }

    fn step(&self, field: usize) -> Result<&Step> {
        let steps = &self.inner.steps;
        steps
            .get(field)
            .ok_or_else(|| Error::value(format!("there is no field {field}: the schema has {}", steps.len())))
    }

    fn name(&self, field: usize) -> &str {
        self.inner.schema.fields.get(field).map_or("?", |field| &field.name)
    }
}

#[cold]
fn wrong_count(got: usize, expected: usize) -> Error {
    Error::value(format!("{got} values for a key of {expected} fields"))
}

#[inline]
fn check_literal(key: &[u8], at: usize, literal: &[u8]) -> Result<()> {
    // A call to compare no bytes or one is slow, and very slow where the empty literal is a dangling pointer.
    let same = match literal {
        [] => true,
        [byte] => key.get(at) == Some(byte),
        _ => key[at..].starts_with(literal),
    };
    if same { Ok(()) } else { Err(wrong_literal(key, at, literal)) }
}

#[cold]
fn wrong_literal(key: &[u8], at: usize, literal: &[u8]) -> Error {
    let same = key[at..].iter().zip(literal).take_while(|(got, expected)| got == expected).count();
    let literal = crate::escape::escaped(literal);
    Error::malformed(at + same, format!("the literal `{literal}` of the layout is missing here"))
}

#[cfg(test)]
mod tests;
