//! Typed field values: what goes into a key and comes out of it.

use std::borrow::Cow;

/// One field of a logical key. Borrowed from the key where its bytes allow.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Text: `string`, `domain`, and text of other types before it is parsed.
    Text(Cow<'a, str>),
    /// Raw bytes: `bytes`, `fixed`, `hex`.
    Bytes(Cow<'a, [u8]>),
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Int(i64),
    /// A 64-bit float, never NaN.
    Float(f64),
    /// A point in time.
    Time(Time),
    /// The 16 bytes of a UUID, in the order in which they are printed.
    Uuid([u8; 16]),
}

impl Value<'_> {
    /// What it is, for messages: `text`, `bytes`, `an unsigned integer` and so on.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::Uint(_) => "an unsigned integer",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Time(_) => "a time",
            Value::Uuid(_) => "a UUID",
        }
    }

    /// The same value, borrowed from nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Value::Uint(number) => Value::Uint(number),
            Value::Int(number) => Value::Int(number),
            Value::Float(number) => Value::Float(number),
            Value::Time(time) => Value::Time(time),
            Value::Uuid(bytes) => Value::Uuid(bytes),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Uint(number)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl From<Time> for Value<'_> {
    fn from(time: Time) -> Self {
        Value::Time(time)
    }
}

/// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds left out. 128 bits hold every year from -9999 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Nanoseconds since the epoch, negative before it.
    pub nanos: i128,
}

impl Time {
    /// From seconds since the epoch.
    pub fn from_seconds(seconds: i64) -> Self {
        Self { nanos: i128::from(seconds) * 1_000_000_000 }
    }

    /// From milliseconds since the epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self { nanos: i128::from(millis) * 1_000_000 }
    }

    /// From microseconds since the epoch.
    pub fn from_micros(micros: i64) -> Self {
        Self { nanos: i128::from(micros) * 1_000 }
    }
}
