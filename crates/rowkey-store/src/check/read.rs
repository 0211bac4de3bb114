//! Checks of reads and of filters. A filter is checked whole, before a row is looked at, so that a bad one fails on an empty table.

use super::{family_index, invalid, limit, shown};
use crate::limits::{FILTER_DEPTH_MAX, LABEL_BYTES_MAX};
use crate::{ColumnSelection, Error, ErrorKind, Filter, ReadRequest, Result, TableConfig};
use bytes::Bytes;
use std::ops::{Bound, Range};

/// Checks a read.
///
/// # Errors
///
/// `NotFound` (family), `Invalid`, `Limit`, `Unsupported` (a filter that cannot be evaluated yet).
pub fn read_request(table: &str, config: &TableConfig, request: &ReadRequest) -> Result<()> {
    let in_table = |error: Error| error.context(format!("Error while reading table '{table}' "));
    columns(config, &request.selection.columns).map_err(in_table)?;
    request.selection.times_us.as_ref().map_or(Ok(()), times).map_err(in_table)?;
    if request.selection.versions_max == Some(0) {
        return Err(in_table(invalid(
            "0 versions of each column are asked for; ask for at least 1, or leave it out",
        )));
    }
    request.filter.as_ref().map_or(Ok(()), filter).map_err(in_table)
}

pub(super) fn columns(config: &TableConfig, columns: &ColumnSelection) -> Result<()> {
    match columns {
        ColumnSelection::All => Ok(()),
        ColumnSelection::Only(families) => {
            families.iter().try_for_each(|(family, _)| family_index(config, family).map(drop))
        }
    }
}

/// Checks a filter tree.
///
/// # Errors
///
/// `Invalid`, `Limit`, `Unsupported`.
pub fn filter(filter: &Filter) -> Result<()> {
    check(filter, 1)
}

fn check(filter: &Filter, depth: usize) -> Result<()> {
    if depth > FILTER_DEPTH_MAX {
        return Err(limit(format!("the filter is nested deeper than {FILTER_DEPTH_MAX} levels: flatten it")));
    }
    let members = |name: &str, filters: &[Filter]| {
        if filters.len() < 2 {
            let message = format!("{name} of filters has {}; it must have at least 2", filters.len());
            return Err(invalid(message));
        }
        filters.iter().try_for_each(|filter| check(filter, depth + 1))
    };
    match filter {
        Filter::Chain(filters) => {
            if filters.iter().filter(|filter| matches!(filter, Filter::ApplyLabel(_))).count() > 1 {
                return Err(invalid("a chain of filters applies two labels; it may apply one"));
            }
            members("a chain", filters)
        }
        Filter::Interleave(filters) => members("an interleave", filters),
        Filter::Condition { predicate, then, otherwise } => {
            let branches = [Some(predicate), then.as_ref(), otherwise.as_ref()];
            branches.into_iter().flatten().try_for_each(|filter| check(filter, depth + 1))
        }
        Filter::QualifierRange { start, end, .. } => bounds("qualifiers", start, end),
        Filter::ValueRange { start, end } => bounds("values", start, end),
        Filter::TimestampRange(range) => times(range),
        Filter::ValueBitmask(mask) if mask.is_empty() => Err(invalid(
            "a bit mask for values is empty; it must have the length of the values that it is for",
        )),
        Filter::CellsPerRowLimit(0) => Err(invalid("a limit of 0 cells per row; the least is 1")),
        Filter::CellsPerColumnLimit(0) => Err(invalid("a limit of 0 cells per column; the least is 1")),
        Filter::PassAll
        | Filter::BlockAll
        | Filter::StripValue
        | Filter::ValueBitmask(_)
        | Filter::CellsPerRowOffset(_)
        | Filter::CellsPerRowLimit(_)
        | Filter::CellsPerColumnLimit(_) => Ok(()),
        Filter::ApplyLabel(text) => label(text),
        Filter::Sink => Err(unsupported("sink")),
        Filter::RowSample(_) => Err(unsupported("row sample")),
        Filter::RowKeyRegex(_) => Err(unsupported("row key regex")),
        Filter::FamilyRegex(_) => Err(unsupported("family name regex")),
        Filter::QualifierRegex(_) => Err(unsupported("column qualifier regex")),
        Filter::ValueRegex(_) => Err(unsupported("value regex")),
    }
}

fn unsupported(name: &str) -> Error {
    let message = format!(
        "the filter `{name}` is not supported yet; select families, columns, times and ranges, or filter what comes out"
    );
    Error::new(ErrorKind::Unsupported, message)
}

fn label(text: &str) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || !text.bytes().all(allowed) {
        return Err(invalid(format!("label `{text}`: a label has only lower-case letters, digits and `-`")));
    }
    if text.len() > LABEL_BYTES_MAX {
        return Err(limit(format!(
            "label `{text}` has {} characters; the limit is {LABEL_BYTES_MAX}: shorten it",
            text.len()
        )));
    }
    Ok(())
}

fn times(times: &Range<i64>) -> Result<()> {
    if times.start > times.end {
        return Err(invalid(format!(
            "the range of times {}..{} us ends before it begins; swap its ends",
            times.start, times.end
        )));
    }
    Ok(())
}

fn bounds(what: &str, start: &Bound<Bytes>, end: &Bound<Bytes>) -> Result<()> {
    let (Bound::Included(from) | Bound::Excluded(from)) = start else { return Ok(()) };
    let (Bound::Included(to) | Bound::Excluded(to)) = end else { return Ok(()) };
    if from > to {
        return Err(invalid(format!(
            "the range of {what} from `{}` to `{}` ends before it begins; swap its ends",
            shown(from),
            shown(to)
        )));
    }
    Ok(())
}
