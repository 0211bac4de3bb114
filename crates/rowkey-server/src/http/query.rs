//! Values behind the `?` of an address. What is unknown, given twice or out of range is refused by its name.

use super::failure::Failure;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use rowkey::escape;
use rowkey_hotspot::heatmap::Metric;
use rowkey_store::RowRange;
use rowkey_store::limits::ROW_KEY_BYTES_MAX;
use std::ops::RangeInclusive;

/// What axum makes of a query.
pub(super) type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// Times in queries: 0 to about the year 11,000, in milliseconds since the epoch.
const TIME_MS: RangeInclusive<i64> = 0..=285_000_000_000_000;

/// The values of a query.
#[derive(Debug)]
pub(super) struct Values {
    pairs: Vec<(String, String)>,
}

impl Values {
    /// The values, if their names are among `known`.
    pub(super) fn new(pairs: Pairs, known: &[&str]) -> Result<Self, Failure> {
        let Query(pairs) =
            pairs.map_err(|error| Failure::invalid(format!("the query cannot be read: {error}")))?;
        for (at, (name, _)) in pairs.iter().enumerate() {
            let shown = escape::escaped(name.as_bytes());
            if !known.contains(&name.as_str()) {
                let known =
                    if known.is_empty() { "none".to_owned() } else { format!("`{}`", known.join("`, `")) };
                return Err(Failure::invalid(format!(
                    "`{shown}` is no parameter of this path; there are: {known}"
                )));
            }
            if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(Failure::invalid(format!("`{shown}` is given twice")));
            }
        }
        Ok(Self { pairs })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }

    /// An integer of a range.
    pub(super) fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let refused = || {
            Failure::invalid(format!("`{name}` must be an integer from {} to {}", range.start(), range.end()))
        };
        number.map(Some).ok_or_else(refused)
    }

    /// Milliseconds since the epoch.
    pub(super) fn time_ms(&self, name: &str) -> Result<Option<i64>, Failure> {
        self.integer(name, TIME_MS)
    }

    /// A key, escaped as Rowkey prints keys.
    pub(super) fn key(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.text(name)
            .map(|text| key(text).map_err(|error| Failure::invalid(format!("`{name}`: {error}"))))
            .transpose()
    }

    /// A range of keys: `start` and `end`.
    pub(super) fn range(&self) -> Result<RowRange, Failure> {
        let start = self.key("start")?.unwrap_or_default();
        let end = self.key("end")?;
        if end.as_ref().is_some_and(|end| *end <= start) {
            return Err(Failure::invalid("`end` must lie behind `start`"));
        }
        Ok(RowRange { start: start.into(), end: end.map(Into::into) })
    }

    /// A metric.
    pub(super) fn metric(&self) -> Result<Option<Metric>, Failure> {
        self.text("metric")
            .map(|text| text.parse().map_err(|error| Failure::invalid(format!("`metric`: {error}"))))
            .transpose()
    }
}

/// Reads an escaped key.
///
/// # Errors
///
/// What is wrong with it, for people.
pub(super) fn key(text: &str) -> Result<Vec<u8>, String> {
    // Percent-encoded bytes that are no UTF-8 have become this character.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err("this is no UTF-8: write other bytes as `\\xNN`".to_owned());
    }
    let key = escape::unescape(text).map_err(|error| error.to_string())?;
    if key.len() > ROW_KEY_BYTES_MAX {
        return Err(format!("the key has {} bytes; the limit is {ROW_KEY_BYTES_MAX}", key.len()));
    }
    Ok(key)
}
