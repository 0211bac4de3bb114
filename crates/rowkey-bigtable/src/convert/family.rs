//! Families: garbage-collection rules, value types, granularity of timestamps.

use super::{invalid, unsupported};
use prost::Message as _;
use prost_types::Duration as ProtoDuration;
use rowkey_proto::admin;
use rowkey_proto::admin::gc_rule::{Intersection, Rule, Union};
use rowkey_proto::admin::table::TimestampGranularity;
use rowkey_proto::admin::r#type::{self as types, Kind, aggregate::Aggregator, int64};
use rowkey_store::limits::GC_RULE_BYTES_MAX;
use rowkey_store::{Error, ErrorKind, FamilyConfig, GcRule, Granularity, Result, ValueType, gc};
use std::time::Duration;

/// A family of this name.
///
/// # Errors
///
/// Those of [`gc_rule_from_proto`] and [`value_type_from_proto`]. The name is checked by the engine.
pub fn family_from_proto(name: &str, family: &admin::ColumnFamily) -> Result<FamilyConfig> {
    let in_family = |error: Error| error.context(format!("family `{name}`"));
    let gc_rule = family.gc_rule.as_ref().map(gc_rule_from_proto).transpose().map_err(in_family)?.flatten();
    let value_type = value_type_from_proto(family.value_type.as_ref()).map_err(in_family)?;
    Ok(FamilyConfig { name: name.to_owned(), gc_rule, value_type })
}

/// The message of a family, which has no name of its own.
pub fn family_to_proto(family: &FamilyConfig) -> admin::ColumnFamily {
    admin::ColumnFamily {
        gc_rule: family.gc_rule.as_ref().map(gc_rule_to_proto),
        value_type: value_type_to_proto(family.value_type),
    }
}

/// A rule; `None` if the message says nothing, which keeps cells for ever. Ages are cut to whole microseconds.
///
/// # Errors
///
/// `Limit`: more than [`GC_RULE_BYTES_MAX`] bytes encoded. `Invalid`: an empty part, and what [`gc::check_rule`] refuses.
pub fn gc_rule_from_proto(rule: &admin::GcRule) -> Result<Option<GcRule>> {
    let bytes = rule.encoded_len();
    if bytes > GC_RULE_BYTES_MAX {
        let message = format!(
            "the garbage-collection rule takes {bytes} bytes as a message; the limit is {GC_RULE_BYTES_MAX}: use fewer parts"
        );
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let Some(rule) = &rule.rule else { return Ok(None) };
    let rule = gc_node(rule)?;
    gc::check_rule(&rule)?;
    Ok(Some(rule))
}

/// The message of a rule.
pub fn gc_rule_to_proto(rule: &GcRule) -> admin::GcRule {
    let rule = match rule {
        GcRule::MaxVersions(versions) => Rule::MaxNumVersions(i32::try_from(*versions).unwrap_or(i32::MAX)),
        GcRule::MaxAge(age) => Rule::MaxAge(ProtoDuration {
            seconds: i64::try_from(age.as_secs()).unwrap_or(i64::MAX),
            // Below a thousand million.
            nanos: i32::try_from(age.subsec_nanos()).unwrap_or_default(),
        }),
        GcRule::Union(rules) => Rule::Union(Union { rules: rules.iter().map(gc_rule_to_proto).collect() }),
        GcRule::Intersection(rules) => {
            Rule::Intersection(Intersection { rules: rules.iter().map(gc_rule_to_proto).collect() })
        }
    };
    admin::GcRule { rule: Some(rule) }
}

fn gc_node(rule: &Rule) -> Result<GcRule> {
    match rule {
        Rule::MaxNumVersions(versions) => u32::try_from(*versions).map(GcRule::MaxVersions).map_err(|_| {
            invalid(format!("max_num_versions of a garbage-collection rule is {versions}; the least is 1"))
        }),
        Rule::MaxAge(age) => Ok(GcRule::MaxAge(duration(*age)?)),
        Rule::Union(union) => Ok(GcRule::Union(gc_parts(&union.rules)?)),
        Rule::Intersection(intersection) => Ok(GcRule::Intersection(gc_parts(&intersection.rules)?)),
    }
}

fn gc_parts(rules: &[admin::GcRule]) -> Result<Vec<GcRule>> {
    let part = |rule: &admin::GcRule| match &rule.rule {
        Some(rule) => gc_node(rule),
        None => Err(invalid(
            "a part of a garbage-collection rule is empty, or of a kind that this server does not know; leave it out",
        )),
    };
    rules.iter().map(part).collect()
}

fn duration(age: ProtoDuration) -> Result<Duration> {
    let bad = || {
        invalid(format!(
            "max_age of a garbage-collection rule is {} s and {} ns; it must be at least 1 ms, and nanoseconds below 1,000,000,000",
            age.seconds, age.nanos
        ))
    };
    let seconds = u64::try_from(age.seconds).map_err(|_| bad())?;
    let nanos = u32::try_from(age.nanos).ok().filter(|nanos| *nanos < 1_000_000_000).ok_or_else(bad)?;
    Ok(Duration::new(seconds, nanos - nanos % 1_000))
}

/// What the values of a family are; no message, an empty one and raw bytes are all bytes.
///
/// # Errors
///
/// `Invalid`: an aggregate of something else than 64-bit integers, big-endian. `Unsupported`: other types, which cannot be kept, and
/// unique counts.
pub fn value_type_from_proto(value_type: Option<&admin::Type>) -> Result<ValueType> {
    match value_type.and_then(|value_type| value_type.kind.as_ref()) {
        None | Some(Kind::BytesType(_)) => Ok(ValueType::Bytes),
        Some(Kind::AggregateType(aggregate)) => aggregate_type(aggregate),
        Some(_) => Err(unsupported(
            "a value type other than bytes and aggregates is not served; leave it out: values are bytes then",
        )),
    }
}

/// The message of a value type; `None` for bytes.
pub fn value_type_to_proto(value_type: ValueType) -> Option<admin::Type> {
    let aggregator = match value_type {
        ValueType::IntSum => Aggregator::Sum(types::aggregate::Sum {}),
        ValueType::IntMin => Aggregator::Min(types::aggregate::Min {}),
        ValueType::IntMax => Aggregator::Max(types::aggregate::Max {}),
        _ => return None,
    };
    let int64 = || {
        let big_endian =
            int64::encoding::Encoding::BigEndianBytes(int64::encoding::BigEndianBytes::default());
        let encoding = Some(int64::Encoding { encoding: Some(big_endian) });
        Some(Box::new(admin::Type { kind: Some(Kind::Int64Type(types::Int64 { encoding })) }))
    };
    let aggregate =
        types::Aggregate { input_type: int64(), state_type: int64(), aggregator: Some(aggregator) };
    Some(admin::Type { kind: Some(Kind::AggregateType(Box::new(aggregate))) })
}

fn aggregate_type(aggregate: &types::Aggregate) -> Result<ValueType> {
    let value_type = match &aggregate.aggregator {
        Some(Aggregator::Sum(_)) => ValueType::IntSum,
        Some(Aggregator::Min(_)) => ValueType::IntMin,
        Some(Aggregator::Max(_)) => ValueType::IntMax,
        Some(Aggregator::HllppUniqueCount(_)) => {
            return Err(unsupported(
                "unique counts (HyperLogLog++) are not served, as their state is not documented; use sum, min or max",
            ));
        }
        None => return Err(invalid("an aggregate type has no aggregator; it must be sum, min or max")),
    };
    match aggregate.input_type.as_ref().and_then(|input| input.kind.as_ref()) {
        Some(Kind::Int64Type(int64)) if big_endian(*int64) => Ok(value_type),
        _ => Err(invalid("the input of an aggregate must be of type int64, encoded big-endian")),
    }
}

/// Big-endian, also where nothing is said.
fn big_endian(int64: types::Int64) -> bool {
    let encoding = int64.encoding.as_ref().and_then(|encoding| encoding.encoding.as_ref());
    !matches!(encoding, Some(int64::encoding::Encoding::OrderedCodeBytes(_)))
}

/// The granularity of timestamps of a new table; unspecified is milliseconds.
///
/// # Errors
///
/// `Invalid`: a number that stands for none.
pub fn granularity_from_proto(granularity: i32) -> Result<Granularity> {
    match TimestampGranularity::try_from(granularity) {
        Ok(TimestampGranularity::Unspecified | TimestampGranularity::Millis) => Ok(Granularity::Millis),
        Ok(TimestampGranularity::Micros) => Ok(Granularity::Micros),
        Err(_) => Err(invalid(format!(
            "granularity {granularity} of timestamps is not known; use MILLIS or MICROS"
        ))),
    }
}

/// The message's word for a granularity.
pub fn granularity_to_proto(granularity: Granularity) -> TimestampGranularity {
    match granularity {
        Granularity::Millis => TimestampGranularity::Millis,
        Granularity::Micros => TimestampGranularity::Micros,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(rule: Rule) -> admin::GcRule {
        admin::GcRule { rule: Some(rule) }
    }

    fn age(seconds: i64, nanos: i32) -> admin::GcRule {
        rule(Rule::MaxAge(ProtoDuration { seconds, nanos }))
    }

    /// Reads a rule, writes it as text, and as a message again.
    fn check(message: &admin::GcRule, text: &str) {
        let read = gc_rule_from_proto(message).unwrap().unwrap();
        assert_eq!(gc::format_rule(Some(&read)), text);
        assert_eq!(gc_rule_from_proto(&gc_rule_to_proto(&read)).unwrap(), Some(read));
    }

    fn refused<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, words: &str) {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }

    #[test]
    fn rules_come_through_both_ways() {
        let parts = vec![rule(Rule::MaxNumVersions(2)), age(3_600, 0)];
        check(&parts[0], "maxversions=2");
        check(&age(0, 1_500_999), "maxage=1500us");
        check(&rule(Rule::Union(Union { rules: parts.clone() })), "maxversions=2 || maxage=1h");
        let nested = rule(Rule::Intersection(Intersection { rules: parts.clone() }));
        let nested = rule(Rule::Union(Union { rules: vec![nested, age(60, 0)] }));
        assert_eq!(gc_rule_to_proto(&gc_rule_from_proto(&nested).unwrap().unwrap()), nested);
        assert_eq!(gc_rule_from_proto(&admin::GcRule { rule: None }).unwrap(), None);
    }

    #[test]
    fn bad_rules_are_refused() {
        let bad = |message, kind, words| refused(gc_rule_from_proto(&message), kind, words);
        bad(rule(Rule::MaxNumVersions(0)), ErrorKind::Invalid, "maxversions=1");
        bad(rule(Rule::MaxNumVersions(-1)), ErrorKind::Invalid, "the least is 1");
        bad(age(0, 999_999), ErrorKind::Invalid, "maxage=1ms");
        bad(age(-1, 0), ErrorKind::Invalid, "at least 1 ms");
        bad(age(0, 1_000_000_000), ErrorKind::Invalid, "below 1,000,000,000");
        bad(age(i64::MAX, 0), ErrorKind::Invalid, "longer than timestamps reach");
        bad(rule(Rule::Union(Union::default())), ErrorKind::Invalid, "is empty");
        let hole = vec![admin::GcRule { rule: None }, age(60, 0)];
        bad(rule(Rule::Intersection(Intersection { rules: hole })), ErrorKind::Invalid, "is empty");
        let many = vec![age(60, 0); 100];
        bad(rule(Rule::Union(Union { rules: many })), ErrorKind::Limit, "the limit is 500");
    }

    #[test]
    fn value_types_come_through_both_ways() {
        for value_type in [ValueType::Bytes, ValueType::IntSum, ValueType::IntMin, ValueType::IntMax] {
            let message = value_type_to_proto(value_type);
            assert_eq!(value_type_from_proto(message.as_ref()).unwrap(), value_type);
        }
        let bytes = admin::Type { kind: Some(Kind::BytesType(types::Bytes::default())) };
        assert_eq!(value_type_from_proto(Some(&bytes)).unwrap(), ValueType::Bytes);
    }

    #[test]
    fn value_types_that_cannot_be_kept_are_refused() {
        let bad = |kind, error, words| {
            refused(value_type_from_proto(Some(&admin::Type { kind: Some(kind) })), error, words);
        };
        bad(Kind::StringType(types::String::default()), ErrorKind::Unsupported, "other than bytes");
        let aggregate = |aggregator, input: Option<Kind>| {
            let input_type = input.map(|kind| Box::new(admin::Type { kind: Some(kind) }));
            Kind::AggregateType(Box::new(types::Aggregate { input_type, state_type: None, aggregator }))
        };
        let sum = Some(Aggregator::Sum(types::aggregate::Sum {}));
        let count = Aggregator::HllppUniqueCount(types::aggregate::HyperLogLogPlusPlusUniqueCount {});
        let ordered = int64::encoding::Encoding::OrderedCodeBytes(int64::encoding::OrderedCodeBytes {});
        let ordered = types::Int64 { encoding: Some(int64::Encoding { encoding: Some(ordered) }) };
        let text = Kind::StringType(types::String::default());
        bad(aggregate(Some(count), None), ErrorKind::Unsupported, "HyperLogLog++");
        bad(
            aggregate(None, Some(Kind::Int64Type(types::Int64::default()))),
            ErrorKind::Invalid,
            "no aggregator",
        );
        bad(aggregate(sum, None), ErrorKind::Invalid, "must be of type int64");
        bad(aggregate(sum, Some(text)), ErrorKind::Invalid, "must be of type int64");
        bad(aggregate(sum, Some(Kind::Int64Type(ordered))), ErrorKind::Invalid, "big-endian");
    }

    #[test]
    fn families_and_granularities_come_through_both_ways() {
        let message = admin::ColumnFamily { gc_rule: Some(age(60, 0)), value_type: None };
        let family = family_from_proto("f", &message).unwrap();
        assert_eq!(family_to_proto(&family), message);
        let bad = admin::ColumnFamily { gc_rule: Some(age(0, 0)), value_type: None };
        refused(family_from_proto("f", &bad), ErrorKind::Invalid, "family `f`: maxage=0us is too short");
        for granularity in [Granularity::Millis, Granularity::Micros] {
            assert_eq!(
                granularity_from_proto(granularity_to_proto(granularity).into()).unwrap(),
                granularity
            );
        }
        assert_eq!(granularity_from_proto(0).unwrap(), Granularity::Millis);
        refused(granularity_from_proto(7), ErrorKind::Invalid, "granularity 7");
    }
}
