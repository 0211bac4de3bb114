//! Garbage collection, decided: which cells of a column a rule takes. Pure; reads, compaction and deletes all ask here, so that
//! an answer never depends on when compaction ran.
//!
//! Rules are monotone: an older cell of a column is taken whenever a newer one is. So the hidden cells of a column, newest first,
//! are always its tail.

mod text;

pub use text::{format_rule, parse_rule};

use crate::limits::GC_RULE_BYTES_MAX;
use crate::{Error, ErrorKind, GcRule, Result};
use std::time::Duration;

impl GcRule {
    /// Whether the rule takes a cell: the `nth_newest` of its column (from 1), at this time, when it is `now_us`.
    ///
    /// Evaluated on the whole column, also inside a union or an intersection. A cell is older than `maxage` if its timestamp is
    /// less than now minus the age.
    pub fn takes(&self, nth_newest: u64, timestamp_us: i64, now_us: i64) -> bool {
        match self {
            Self::MaxVersions(versions) => nth_newest > u64::from(*versions),
            Self::MaxAge(age) => timestamp_us < now_us.saturating_sub(micros(*age)),
            Self::Union(rules) => rules.iter().any(|rule| rule.takes(nth_newest, timestamp_us, now_us)),
            // An empty intersection, which `check_rule` refuses, takes nothing rather than everything.
            Self::Intersection(rules) => {
                !rules.is_empty() && rules.iter().all(|rule| rule.takes(nth_newest, timestamp_us, now_us))
            }
        }
    }
}

/// The index of the first cell that `rule` hides in a column, its timestamps newest first; all behind it are hidden as well.
/// `None`: nothing is hidden.
pub fn hidden_from(
    rule: Option<&GcRule>,
    timestamps_us: impl IntoIterator<Item = i64>,
    now_us: i64,
) -> Option<usize> {
    let rule = rule?;
    (1..).zip(timestamps_us).position(|(nth, timestamp_us)| rule.takes(nth, timestamp_us, now_us))
}

/// Refuses rules that Bigtable refuses, and those that would surprise.
///
/// # Errors
///
/// `Invalid`: no versions, more than `i32::MAX` versions, an age below 1 ms or above 292,000 years, a union or intersection
/// without rules. `Limit`: more than [`GC_RULE_BYTES_MAX`] bytes as a protobuf message.
pub fn check_rule(rule: &GcRule) -> Result<()> {
    check_node(rule, 0)?;
    let bytes = encoded_len(rule);
    if bytes > GC_RULE_BYTES_MAX {
        let message = format!(
            "the garbage-collection rule takes {bytes} bytes as a message; the limit is {GC_RULE_BYTES_MAX}: use fewer parts"
        );
        return Err(Error::new(ErrorKind::Limit, message));
    }
    Ok(())
}

/// Levels of unions and intersections. 500 bytes hold no more than 125; this guards the stack before those are counted.
const DEPTH_MAX: usize = 128;

fn check_node(rule: &GcRule, depth: usize) -> Result<()> {
    let invalid = |message: String| Err(Error::new(ErrorKind::Invalid, message));
    match rule {
        _ if depth > DEPTH_MAX => {
            let message = format!(
                "the garbage-collection rule is nested deeper than {DEPTH_MAX} levels: use fewer parentheses"
            );
            Err(Error::new(ErrorKind::Limit, message))
        }
        GcRule::MaxVersions(0) => {
            invalid("maxversions=0 would take every cell; the least is maxversions=1".to_owned())
        }
        GcRule::MaxVersions(versions) if i32::try_from(*versions).is_err() => {
            invalid(format!("maxversions={versions} is above the greatest, {}", i32::MAX))
        }
        GcRule::MaxAge(age) if *age < Duration::from_millis(1) => {
            invalid(format!("maxage={}us is too short; the least is maxage=1ms", age.as_micros()))
        }
        GcRule::MaxAge(age) if i64::try_from(age.as_micros()).is_err() => invalid(format!(
            "maxage={}s is longer than timestamps reach; leave it out to keep cells",
            age.as_secs()
        )),
        GcRule::MaxVersions(_) | GcRule::MaxAge(_) => Ok(()),
        GcRule::Union(rules) | GcRule::Intersection(rules) => {
            if rules.is_empty() {
                return invalid(
                    "a union or intersection of garbage-collection rules is empty; leave the rule out to keep cells"
                        .to_owned(),
                );
            }
            rules.iter().try_for_each(|rule| check_node(rule, depth + 1))
        }
    }
}

/// The age in whole microseconds, as Bigtable cuts it.
fn micros(age: Duration) -> i64 {
    i64::try_from(age.as_micros()).unwrap_or(i64::MAX)
}

/// Bytes of the rule as a `google.bigtable.admin.v2.GcRule` message, which the limit is about.
fn encoded_len(rule: &GcRule) -> usize {
    match rule {
        GcRule::MaxVersions(versions) => 1 + varint_len(u64::from(*versions)),
        GcRule::MaxAge(age) => {
            let part = |number: u64| if number == 0 { 0 } else { 1 + varint_len(number) };
            with_header(part(age.as_secs()) + part(u64::from(age.subsec_nanos())))
        }
        GcRule::Union(rules) | GcRule::Intersection(rules) => {
            with_header(rules.iter().map(|rule| with_header(encoded_len(rule))).sum())
        }
    }
}

/// A field of `len` bytes behind its tag and length.
fn with_header(len: usize) -> usize {
    1 + varint_len(len as u64) + len
}

fn varint_len(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests;
