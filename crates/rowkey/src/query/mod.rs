//! What rows are wanted: conditions on fields, direction, and where to go on.
//!
//! A query is built by its methods, or read from text by [`Query::parse`]. It knows no schema: [`crate::plan::plan`] looks the fields
//! up, rounds and clips bounds to what each field can hold, and intersects conditions on the same field.

mod parse;
mod text;

use crate::{UnsaltedKey, Value};
use std::ops::Bound;

/// Which rows are wanted, and in which direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Conditions by field name; all have to hold. Several on one field intersect.
    pub conditions: Vec<(String, Condition)>,
    /// Only rows behind this one in the direction of the scan.
    pub after: Option<After>,
    /// Whether rows are wanted in descending key order.
    pub reversed: bool,
    /// Whether reading the whole table is meant.
    pub full_scan: bool,
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Equal to this value.
    Equal(Value<'static>),
    /// Equal to one of these values; none of them: no row.
    OneOf(Vec<Value<'static>>),
    /// Text, bytes, hex or UUID that begins with this. A UUID is cut between digits: `Value::Text` of its first digits.
    Prefix(Value<'static>),
    /// Between these bounds, in the order of the values, whatever the order of the field. Domains: in the order of their
    /// reversed labels.
    Between(Bound<Value<'static>>, Bound<Value<'static>>),
    /// This domain and all below it.
    SubdomainOf(String),
    /// All of these hold.
    AllOf(Vec<Condition>),
    /// At least one of these holds; none of them: no row.
    AnyOf(Vec<Condition>),
}

/// Where a scan goes on: behind this row, in the direction of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// The last row that was returned, without its salt.
    pub key: UnsaltedKey,
    /// Its bucket. Needed under a random salt alone, where several buckets may hold the same unsalted key. Rows are ordered by
    /// unsalted key and then by bucket, and a reversed scan mirrors both.
    pub bucket: Option<u32>,
}

impl Query {
    /// A query without conditions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition.
    #[must_use]
    pub fn with(mut self, field: &str, condition: Condition) -> Self {
        self.conditions.push((field.to_owned(), condition));
        self
    }

    /// The field equals this value.
    #[must_use]
    pub fn equal<'a>(self, field: &str, value: impl Into<Value<'a>>) -> Self {
        self.with(field, Condition::Equal(value.into().into_owned()))
    }

    /// The field equals one of these values.
    #[must_use]
    pub fn one_of<'a>(self, field: &str, values: impl IntoIterator<Item = Value<'a>>) -> Self {
        self.with(field, Condition::OneOf(values.into_iter().map(Value::into_owned).collect()))
    }

    /// The field begins with this.
    #[must_use]
    pub fn prefix<'a>(self, field: &str, prefix: impl Into<Value<'a>>) -> Self {
        self.with(field, Condition::Prefix(prefix.into().into_owned()))
    }

    /// The field lies between these bounds.
    #[must_use]
    pub fn between<'a>(self, field: &str, low: Bound<Value<'a>>, high: Bound<Value<'a>>) -> Self {
        self.with(field, Condition::Between(low.map(Value::into_owned), high.map(Value::into_owned)))
    }

    /// The field is this domain or one below it.
    #[must_use]
    pub fn subdomains_of(self, field: &str, domain: &str) -> Self {
        self.with(field, Condition::SubdomainOf(domain.to_owned()))
    }

    /// Only rows behind this one in the direction of the scan. `bucket` matters under a random salt alone.
    #[must_use]
    pub fn after(mut self, key: UnsaltedKey, bucket: Option<u32>) -> Self {
        self.after = Some(After { key, bucket });
        self
    }

    /// In descending key order, or not.
    #[must_use]
    pub fn reversed(mut self, reversed: bool) -> Self {
        self.reversed = reversed;
        self
    }

    /// Reading the whole table is meant.
    #[must_use]
    pub fn full_scan(mut self) -> Self {
        self.full_scan = true;
        self
    }
}
