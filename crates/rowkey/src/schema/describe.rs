//! What `rowkey schema show` prints: the key, byte by byte, and what follows from its design.

mod example;
mod query;
pub(super) mod text;

use super::warnings::is_time;
use super::{FieldKind, Fingerprint, KeySchema, Order, Part, SaltSource, Warning, Width};
use crate::{Codec, StoredKey};

/// A schema explained: as data, and by `Display` as text.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The name of the table.
    pub table: String,
    /// The layout line.
    pub layout: String,
    /// The parts of the key, in order.
    pub parts: Vec<PartDescription>,
    /// A key of made-up values, the same every time.
    pub example: Option<StoredKey>,
    /// What sorts how, in a sentence.
    pub order: String,
    /// Bytes of a whole key.
    pub key_width: Width,
    /// Bytes of salt in a million rows.
    pub salt_bytes_per_million_rows: u64,
    /// The fingerprint of the design.
    pub fingerprint: Fingerprint,
    /// What should be thought about again.
    pub warnings: Vec<Warning>,
    /// What each declared query reads.
    pub queries: Vec<QueryDescription>,
}

/// One part of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDescription {
    /// `salt`, `literal`, or the name of the field.
    pub name: String,
    /// Its type and encoding, as the schema says it; empty for a literal.
    pub kind: String,
    /// Where it begins in the key, if that is the same in every key.
    pub offset: Option<usize>,
    /// Its bytes.
    pub width: Width,
    /// Its bytes in the example key, escaped.
    pub example: String,
    /// Its value in the example key, if the bytes do not say it.
    pub value: String,
}

/// What a declared query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryDescription {
    /// Its name.
    pub name: String,
    /// What it binds, as in the schema.
    pub bound: String,
    /// Buckets it visits at most: one if the salt is known, else all. `None`: the salt is a hash prefix and not known.
    pub buckets: Option<u32>,
    /// Fields from the front of the key that are bound, so that the range is cut by them.
    pub cut_by: Vec<String>,
    /// Fields of few declared values before the last of these, which the query leaves open: each value is tried.
    pub tried: Vec<String>,
    /// Fields that are bound and do not cut the range: every row of it is read and checked.
    pub checked: Vec<String>,
}

impl KeySchema {
    /// Explains the schema. `codec` is the one of this schema; it makes the example key.
    pub fn describe(&self, codec: &Codec) -> Description {
        let example = example::key(self, codec);
        let explained = example.as_ref().map(|key| codec.explain(key.as_bytes()).parts).unwrap_or_default();
        let mut offset = Some(0);
        let mut parts = Vec::with_capacity(self.parts.len());
        for (index, part) in self.parts.iter().enumerate() {
            let width = self.part_width(part);
            let (name, kind) = self.name_and_kind(part);
            let shown = explained.get(index).zip(example.as_ref());
            let bytes = shown.and_then(|(part, key)| key.as_bytes().get(part.range.clone()));
            let bytes = bytes.map(|bytes| crate::escape::escaped(bytes).to_string()).unwrap_or_default();
            let value =
                shown.map(|(part, _)| part.text.clone()).filter(|text| *text != bytes).unwrap_or_default();
            parts.push(PartDescription { name, kind, offset, width, example: bytes, value });
            offset = offset.zip(width.exact()).map(|(offset, width)| offset + width);
        }
        Description {
            table: self.table.clone(),
            layout: self.layout(),
            parts,
            example,
            order: self.order_sentence(),
            key_width: self.key_width(),
            salt_bytes_per_million_rows: u64::try_from(self.salt_bytes())
                .unwrap_or(u64::MAX)
                .saturating_mul(1_000_000),
            fingerprint: self.fingerprint(),
            warnings: self.warnings(),
            queries: self.queries.iter().map(|query| self.describe_query(query)).collect(),
        }
    }

    fn name_and_kind(&self, part: &Part) -> (String, String) {
        match part {
            Part::Salt => {
                let kind = self.salt.as_ref().map(|salt| self.salt_text(salt)).unwrap_or_default();
                ("salt".to_owned(), kind)
            }
            Part::Literal(_) => ("literal".to_owned(), String::new()),
            Part::Field(index) => {
                let field = &self.fields[*index];
                (field.name.clone(), super::print::field_words(field))
            }
        }
    }

    fn order_sentence(&self) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|field| format!("{} ({})", field.name, order_words(&field.kind, field.order)))
            .collect();
        let fields = fields.join(", then ");
        match self.salt.as_ref().map(|salt| (salt.source, salt.buckets)) {
            None => format!("Rows sort by {fields}."),
            Some((SaltSource::HashPrefix { .. }, _)) => format!(
                "Rows sort by a hash first, so only those with one hash stand together; these sort by {fields}."
            ),
            Some((_, 1)) => format!("Rows sort by {fields}, all in one bucket."),
            Some((_, buckets)) => format!(
                "In each of the {buckets} buckets rows sort by {fields}; a merge of the buckets gives that order for all rows."
            ),
        }
    }
}

fn order_words(kind: &FieldKind, order: Order) -> &'static str {
    match (kind, order) {
        (FieldKind::UintReversed { .. }, _) => "by its reversed digits: no order to scan by",
        (FieldKind::Domain { .. }, _) => "by domain, the top level first",
        (FieldKind::String, _) | (FieldKind::EscapedText, Order::Asc) => "as text",
        (FieldKind::EscapedText, Order::Desc) => "as text, greatest first",
        (time, Order::Asc) if is_time(time) => "oldest first",
        (time, Order::Desc) if is_time(time) => "newest first",
        (
            FieldKind::Hex { .. }
            | FieldKind::EscapedBytes
            | FieldKind::Fixed { .. }
            | FieldKind::UuidText
            | FieldKind::UuidBytes,
            order,
        ) => match order {
            Order::Asc => "by its bytes",
            Order::Desc => "by its bytes, greatest first",
        },
        (_, Order::Asc) => "smallest first",
        (_, Order::Desc) => "greatest first",
    }
}
