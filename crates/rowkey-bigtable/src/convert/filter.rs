//! Filters.

use super::{invalid, mutation};
use bytes::Bytes;
use prost::Message as _;
use rowkey_proto::data;
use rowkey_proto::data::column_range::{EndQualifier, StartQualifier};
use rowkey_proto::data::row_filter::Filter as Kind;
use rowkey_proto::data::value_range::{EndValue, StartValue};
use rowkey_store::limits::{FILTER_BYTES_MAX, FILTER_DEPTH_MAX};
use rowkey_store::{Error, ErrorKind, Filter, Result};
use std::ops::Bound;

/// A filter tree. A filter that says nothing lets everything through; whether it really says nothing, or something that this server
/// does not know, is asked of the request's bytes with [`super::unknown_filters`], if [`says_nothing`].
///
/// # Errors
///
/// `Limit`: the message is too long or too deep. `Invalid`: what no table would accept. The rest is checked with
/// [`rowkey_store::check::filter`].
pub fn filter_from_proto(filter: data::RowFilter) -> Result<Filter> {
    if filter.encoded_len() > FILTER_BYTES_MAX {
        let message = format!("Row filter exceeds maximum size of {FILTER_BYTES_MAX} bytes");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    node(filter, 1)
}

/// Whether a filter, or a part of it, has no member that is known.
pub fn says_nothing(filter: &data::RowFilter) -> bool {
    match &filter.filter {
        None => true,
        Some(Kind::Chain(chain)) => chain.filters.iter().any(says_nothing),
        Some(Kind::Interleave(interleave)) => interleave.filters.iter().any(says_nothing),
        Some(Kind::Condition(condition)) => {
            let parts = [&condition.predicate_filter, &condition.true_filter, &condition.false_filter];
            parts.into_iter().flatten().any(|filter| says_nothing(filter))
        }
        Some(_) => false,
    }
}

fn node(filter: data::RowFilter, depth: usize) -> Result<Filter> {
    if depth > FILTER_DEPTH_MAX {
        let message = format!("the filter is nested deeper than {FILTER_DEPTH_MAX} levels: flatten it");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let all = |filters: Vec<data::RowFilter>| {
        filters.into_iter().map(|filter| node(filter, depth + 1)).collect::<Result<Vec<_>>>()
    };
    Ok(match filter.filter {
        None => Filter::PassAll,
        Some(Kind::PassAllFilter(yes)) => must_be_true("pass_all_filter", yes, Filter::PassAll)?,
        Some(Kind::BlockAllFilter(yes)) => must_be_true("block_all_filter", yes, Filter::BlockAll)?,
        Some(Kind::Sink(yes)) => must_be_true("sink", yes, Filter::Sink)?,
        Some(Kind::StripValueTransformer(yes)) => {
            must_be_true("strip_value_transformer", yes, Filter::StripValue)?
        }
        Some(Kind::Chain(chain)) => Filter::Chain(all(chain.filters)?),
        Some(Kind::Interleave(interleave)) => Filter::Interleave(all(interleave.filters)?),
        Some(Kind::Condition(condition)) => self::condition(*condition, depth)?,
        Some(Kind::RowKeyRegexFilter(pattern)) => Filter::RowKeyRegex(pattern),
        Some(Kind::RowSampleFilter(probability)) => Filter::RowSample(probability),
        Some(Kind::FamilyNameRegexFilter(pattern)) => Filter::FamilyRegex(pattern),
        Some(Kind::ColumnQualifierRegexFilter(pattern)) => Filter::QualifierRegex(pattern),
        Some(Kind::ColumnRangeFilter(range)) => column_range(range)?,
        Some(Kind::TimestampRangeFilter(range)) => {
            mutation::times(range).map_or(Filter::PassAll, Filter::TimestampRange)
        }
        Some(Kind::ValueRegexFilter(pattern)) => Filter::ValueRegex(pattern),
        Some(Kind::ValueRangeFilter(range)) => value_range(range),
        Some(Kind::ValueBitmaskFilter(bitmask)) => Filter::ValueBitmask(bitmask.mask),
        Some(Kind::CellsPerRowOffsetFilter(cells)) => {
            Filter::CellsPerRowOffset(count("cells_per_row_offset_filter", cells)?)
        }
        Some(Kind::CellsPerRowLimitFilter(cells)) => {
            Filter::CellsPerRowLimit(count("cells_per_row_limit_filter", cells)?)
        }
        Some(Kind::CellsPerColumnLimitFilter(cells)) => {
            Filter::CellsPerColumnLimit(count("cells_per_column_limit_filter", cells)?)
        }
        Some(Kind::ApplyLabelTransformer(label)) => Filter::ApplyLabel(label),
    })
}

fn condition(condition: data::row_filter::Condition, depth: usize) -> Result<Filter> {
    let branch = |filter: Option<Box<data::RowFilter>>| {
        filter.map(|filter| node(*filter, depth + 1).map(Box::new)).transpose()
    };
    // A predicate that is left out is one that says nothing.
    let predicate = branch(condition.predicate_filter)?.unwrap_or_else(|| Box::new(Filter::PassAll));
    Ok(Filter::Condition {
        predicate,
        then: branch(condition.true_filter)?,
        otherwise: branch(condition.false_filter)?,
    })
}

fn must_be_true(name: &str, yes: bool, filter: Filter) -> Result<Filter> {
    if !yes {
        return Err(invalid(format!("the filter `{name}` is false; it must be true, or be left out")));
    }
    Ok(filter)
}

fn count(name: &str, cells: i32) -> Result<u32> {
    u32::try_from(cells)
        .map_err(|_| invalid(format!("the filter `{name}` has {cells} cells; it must not be negative")))
}

fn column_range(range: data::ColumnRange) -> Result<Filter> {
    if range.family_name.is_empty() {
        return Err(invalid("the filter `column_range_filter` has no family; it must name one"));
    }
    let start = match range.start_qualifier {
        None => Bound::Unbounded,
        Some(StartQualifier::StartQualifierClosed(start)) => Bound::Included(start),
        Some(StartQualifier::StartQualifierOpen(start)) => Bound::Excluded(start),
    };
    let end = match range.end_qualifier {
        None => Bound::Unbounded,
        Some(EndQualifier::EndQualifierClosed(end)) => Bound::Included(end),
        Some(EndQualifier::EndQualifierOpen(end)) => Bound::Excluded(end),
    };
    Ok(Filter::QualifierRange { family: range.family_name, start, end })
}

fn value_range(range: data::ValueRange) -> Filter {
    let start: Bound<Bytes> = match range.start_value {
        None => Bound::Unbounded,
        Some(StartValue::StartValueClosed(start)) => Bound::Included(start),
        Some(StartValue::StartValueOpen(start)) => Bound::Excluded(start),
    };
    let end = match range.end_value {
        None => Bound::Unbounded,
        Some(EndValue::EndValueClosed(end)) => Bound::Included(end),
        Some(EndValue::EndValueOpen(end)) => Bound::Excluded(end),
    };
    Filter::ValueRange { start, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_proto::data::row_filter::{Chain, Condition};

    fn filter(kind: Kind) -> data::RowFilter {
        data::RowFilter { filter: Some(kind) }
    }

    fn check(kind: Kind, expected: Result<Filter, &str>) {
        match (filter_from_proto(filter(kind)), expected) {
            (Ok(filter), Ok(expected)) => assert_eq!(filter, expected),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (result, expected) => panic!("{result:?} is not {expected:?}"),
        }
    }

    #[test]
    fn switches_must_be_on() {
        check(Kind::PassAllFilter(true), Ok(Filter::PassAll));
        check(Kind::BlockAllFilter(true), Ok(Filter::BlockAll));
        check(Kind::Sink(true), Ok(Filter::Sink));
        check(Kind::StripValueTransformer(true), Ok(Filter::StripValue));
        check(Kind::PassAllFilter(false), Err("`pass_all_filter` is false"));
        check(Kind::BlockAllFilter(false), Err("`block_all_filter` is false"));
        check(Kind::Sink(false), Err("`sink` is false"));
        check(Kind::StripValueTransformer(false), Err("`strip_value_transformer` is false"));
    }

    #[test]
    fn counts_must_not_be_negative() {
        check(Kind::CellsPerRowOffsetFilter(0), Ok(Filter::CellsPerRowOffset(0)));
        check(Kind::CellsPerRowLimitFilter(2), Ok(Filter::CellsPerRowLimit(2)));
        check(Kind::CellsPerColumnLimitFilter(3), Ok(Filter::CellsPerColumnLimit(3)));
        check(Kind::CellsPerRowOffsetFilter(-1), Err("must not be negative"));
        check(Kind::CellsPerRowLimitFilter(-1), Err("must not be negative"));
        check(Kind::CellsPerColumnLimitFilter(i32::MIN), Err("must not be negative"));
    }

    #[test]
    fn ranges_keep_their_sides() {
        let column = |family: &str| data::ColumnRange {
            family_name: family.into(),
            start_qualifier: Some(StartQualifier::StartQualifierOpen("a".into())),
            end_qualifier: Some(EndQualifier::EndQualifierClosed("b".into())),
        };
        let (start, end) = (Bound::Excluded("a".into()), Bound::Included("b".into()));
        check(
            Kind::ColumnRangeFilter(column("f")),
            Ok(Filter::QualifierRange { family: "f".into(), start, end }),
        );
        check(Kind::ColumnRangeFilter(column("")), Err("has no family"));
        let value =
            data::ValueRange { start_value: Some(StartValue::StartValueClosed("a".into())), end_value: None };
        let start = Bound::Included("a".into());
        check(Kind::ValueRangeFilter(value), Ok(Filter::ValueRange { start, end: Bound::Unbounded }));
        let times = |start_timestamp_micros, end_timestamp_micros| {
            Kind::TimestampRangeFilter(data::TimestampRange { start_timestamp_micros, end_timestamp_micros })
        };
        check(times(5, 0), Ok(Filter::TimestampRange(5..i64::MAX)));
        check(times(0, 0), Ok(Filter::PassAll));
        check(times(0, 5), Ok(Filter::TimestampRange(0..5)));
    }

    #[test]
    fn a_missing_branch_is_not_a_branch_that_says_nothing() {
        let block = || Some(Box::new(filter(Kind::BlockAllFilter(true))));
        let message =
            Condition { predicate_filter: block(), true_filter: None, false_filter: Some(Box::default()) };
        let predicate = Box::new(Filter::BlockAll);
        let expected =
            Filter::Condition { predicate, then: None, otherwise: Some(Box::new(Filter::PassAll)) };
        check(Kind::Condition(Box::new(message)), Ok(expected));
    }

    #[test]
    fn long_and_deep_filters_are_refused() {
        let long = Bytes::from(vec![b'a'; FILTER_BYTES_MAX]);
        check(
            Kind::ValueRegexFilter(long.slice(..FILTER_BYTES_MAX - 4)),
            Ok(Filter::ValueRegex(long.slice(4..))),
        );
        check(Kind::ValueRegexFilter(long), Err("Row filter exceeds maximum size of 20480 bytes"));
        let nested = |levels| {
            let chain = |inner, _| filter(Kind::Chain(Chain { filters: vec![inner] }));
            (1..levels).fold(filter(Kind::PassAllFilter(true)), chain)
        };
        filter_from_proto(nested(FILTER_DEPTH_MAX)).unwrap();
        let error = filter_from_proto(nested(FILTER_DEPTH_MAX + 1)).unwrap_err();
        assert!(error.to_string().contains("deeper than 20"), "{error}");
    }

    #[test]
    fn what_says_nothing_is_found_at_any_depth() {
        assert!(says_nothing(&data::RowFilter::default()));
        assert!(!says_nothing(&filter(Kind::PassAllFilter(true))));
        let chain = vec![filter(Kind::PassAllFilter(true)), data::RowFilter::default()];
        assert!(says_nothing(&filter(Kind::Chain(Chain { filters: chain }))));
        let condition = Condition { false_filter: Some(Box::default()), ..Condition::default() };
        assert!(says_nothing(&filter(Kind::Condition(Box::new(condition)))));
    }
}
