//! Checks of reads and of filters. A filter is checked whole, before a row is looked at, so that a bad one fails on an empty table.

use super::{family_index, invalid, limit, shown};
use crate::limits::{FILTER_DEPTH_MAX, FILTER_REGEX_STATES_MAX, LABEL_BYTES_MAX};
use crate::{ColumnSelection, Error, Filter, ReadRequest, Result, TableConfig, regex};
use bytes::Bytes;
use std::ops::{Bound, Range};

/// Checks a read.
///
/// # Errors
///
/// `NotFound` (family), `Invalid`, `Limit`.
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
/// `Invalid`, `Limit`.
pub fn filter(filter: &Filter) -> Result<()> {
    let mut states = 0;
    check(filter, 1, &mut states).map(drop)
}

/// What a part of a filter has somewhere inside.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    label: bool,
    sink: bool,
}

impl Inside {
    fn or(self, other: Self) -> Self {
        Self { label: self.label || other.label, sink: self.sink || other.sink }
    }
}

fn check(filter: &Filter, depth: usize, states: &mut u32) -> Result<Inside> {
    if depth > FILTER_DEPTH_MAX {
        return Err(limit(format!("the filter is nested deeper than {FILTER_DEPTH_MAX} levels: flatten it")));
    }
    match filter {
        Filter::Chain(filters) => {
            let members = members("a chain", filters, depth, states)?;
            if members.iter().filter(|inside| inside.label).count() > 1 {
                return Err(invalid(
                    "a chain of filters applies two labels, in itself or inside of its members; it may apply one",
                ));
            }
            Ok(members.into_iter().fold(Inside::default(), Inside::or))
        }
        Filter::Interleave(filters) => {
            let members = members("an interleave", filters, depth, states)?;
            Ok(members.into_iter().fold(Inside::default(), Inside::or))
        }
        Filter::Condition { predicate, then, otherwise } => {
            let branches = [Some(predicate), then.as_ref(), otherwise.as_ref()];
            let inside = branches.into_iter().flatten().try_fold(Inside::default(), |inside, filter| {
                check(filter, depth + 1, states).map(|branch| inside.or(branch))
            })?;
            if inside.sink {
                return Err(invalid(
                    "a sink inside of a condition; it cannot stand in its predicate or in one of its branches",
                ));
            }
            Ok(inside)
        }
        Filter::Sink => Ok(Inside { sink: true, ..Inside::default() }),
        Filter::ApplyLabel(text) => label(text).map(|()| Inside { label: true, ..Inside::default() }),
        filter => single(filter, states).map(|()| Inside::default()),
    }
}

fn members(name: &str, filters: &[Filter], depth: usize, states: &mut u32) -> Result<Vec<Inside>> {
    if filters.len() < 2 {
        let message = format!("{name} of filters has {}; it must have at least 2", filters.len());
        return Err(invalid(message));
    }
    filters.iter().map(|filter| check(filter, depth + 1, states)).collect()
}

/// A filter that has none inside.
fn single(filter: &Filter, states: &mut u32) -> Result<()> {
    match filter {
        Filter::QualifierRange { family, .. } if family.is_empty() => {
            Err(invalid("a range of qualifiers without a family; name the one whose columns are meant"))
        }
        Filter::QualifierRange { start, end, .. } => bounds("qualifiers", start, end),
        Filter::ValueRange { start, end } => bounds("values", start, end),
        Filter::TimestampRange(range) => times(range),
        Filter::ValueBitmask(mask) if mask.is_empty() => Err(invalid(
            "a bit mask for values is empty; it must have the length of the values that it is for",
        )),
        Filter::CellsPerRowLimit(0) => Err(invalid("a limit of 0 cells per row; the least is 1")),
        Filter::CellsPerColumnLimit(0) => Err(invalid("a limit of 0 cells per column; the least is 1")),
        Filter::RowSample(share) if *share > 0.0 && *share < 1.0 => Ok(()),
        Filter::RowSample(share) => {
            Err(invalid(format!("a sample of {share} of the rows; it must be more than 0 and less than 1")))
        }
        Filter::RowKeyRegex(pattern) if pattern.is_empty() => {
            Err(invalid("an empty pattern for row keys, which are never empty; leave the filter out"))
        }
        Filter::FamilyRegex(pattern) if pattern.contains(':') => Err(invalid(format!(
            "the pattern `{}` for families has a `:`, which Bigtable does not allow there",
            shown(pattern.as_bytes())
        ))),
        Filter::RowKeyRegex(pattern) => self::pattern("row keys", pattern, states),
        Filter::FamilyRegex(pattern) => self::pattern("families", pattern.as_bytes(), states),
        Filter::QualifierRegex(pattern) => self::pattern("qualifiers", pattern, states),
        Filter::ValueRegex(pattern) => self::pattern("values", pattern, states),
        _ => Ok(()),
    }
}

/// Checks a pattern and counts its states.
fn pattern(what: &str, pattern: &[u8], states: &mut u32) -> Result<()> {
    let translation =
        regex::translate(pattern).map_err(|error| error.context(format!("filter of {what}")))?;
    *states = states.saturating_add(translation.states);
    if *states > FILTER_REGEX_STATES_MAX {
        return Err(limit(format!(
            "the patterns of the filter have more than {FILTER_REGEX_STATES_MAX} states together: shorten them"
        )));
    }
    Ok(())
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
