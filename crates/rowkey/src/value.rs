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
    /// Whole milliseconds since the epoch, rounded down; held at the limits of an `i64`, 292 million years away.
    #[inline]
    pub fn as_millis(self) -> i64 {
        self.floor(1_000_000)
    }

    /// Whole seconds since the epoch, rounded down.
    #[inline]
    pub fn as_seconds(self) -> i64 {
        self.floor(1_000_000_000)
    }

    /// Whole microseconds since the epoch, rounded down; held at the limits of an `i64`, 292,000 years away.
    #[inline]
    pub fn as_micros(self) -> i64 {
        self.floor(1_000)
    }

    #[inline]
    fn floor(self, unit: i64) -> i64 {
        // From 1677 to 2262, 64 bits do, whose division is ten times as fast.
        match i64::try_from(self.nanos) {
            Ok(nanos) => nanos.div_euclid(unit),
            Err(_) => self.floor_far(unit),
        }
    }

    #[cold]
    fn floor_far(self, unit: i64) -> i64 {
        let units = self.nanos.div_euclid(i128::from(unit));
        i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_to_units_and_held_at_the_limits() {
        let check = |nanos: i128, seconds: i64, millis: i64, micros: i64| {
            let time = Time { nanos };
            assert_eq!((time.as_seconds(), time.as_millis(), time.as_micros()), (seconds, millis, micros));
        };
        check(1_756_544_000_123_456_789, 1_756_544_000, 1_756_544_000_123, 1_756_544_000_123_456);
        check(-1, -1, -1, -1);
        check(0, 0, 0, 0);
        let far = i128::from(i64::MAX) + 1;
        check(far, 9_223_372_036, 9_223_372_036_854, 9_223_372_036_854_775);
        check(i128::MAX, i64::MAX, i64::MAX, i64::MAX);
        check(i128::MIN, i64::MIN, i64::MIN, i64::MIN);
        assert_eq!(Time::from_millis(-1_500).as_seconds(), -2);
    }
}
