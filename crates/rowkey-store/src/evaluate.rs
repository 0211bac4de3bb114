//! Evaluates a checked filter on the cells of one row. What [`crate::check::filter`] refuses lets nothing through here.

use crate::select::time_in;
use crate::{Cell, Filter};
use bytes::Bytes;
use std::cmp::Reverse;
use std::ops::Bound;

/// A cell and the place of its family in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) family: usize,
    pub(crate) cell: Cell,
}

/// The cells that come out, in the order of a row.
pub(crate) fn evaluate(filter: &Filter, mut cells: Vec<Placed>) -> Vec<Placed> {
    match filter {
        Filter::PassAll => {}
        Filter::Chain(filters) => return filters.iter().fold(cells, |cells, filter| evaluate(filter, cells)),
        Filter::Interleave(filters) => return interleave(filters, &cells),
        Filter::Condition { predicate, then, otherwise } => {
            let matched = !evaluate(predicate, cells.clone()).is_empty();
            let branch = if matched { then } else { otherwise };
            return branch.as_ref().map_or_else(Vec::new, |filter| evaluate(filter, cells));
        }
        Filter::QualifierRange { family, start, end } => {
            cells.retain(|Placed { cell, .. }| {
                *cell.family == **family && in_bounds(start, end, &cell.qualifier)
            });
        }
        Filter::TimestampRange(times) => cells.retain(|placed| time_in(times, placed.cell.timestamp_us)),
        Filter::ValueRange { start, end } => {
            cells.retain(|placed| in_bounds(start, end, &placed.cell.value));
        }
        Filter::ValueBitmask(mask) => cells.retain(|placed| masked(mask, &placed.cell.value)),
        Filter::CellsPerRowOffset(count) => {
            cells.drain(..cells.len().min(*count as usize));
        }
        Filter::CellsPerRowLimit(count) => cells.truncate(*count as usize),
        Filter::CellsPerColumnLimit(count) => newest_of_columns(*count, &mut cells),
        Filter::StripValue => {
            for placed in &mut cells {
                placed.cell.value = Bytes::new();
            }
        }
        Filter::ApplyLabel(label) => {
            for placed in &mut cells {
                placed.cell.labels.push(label.clone());
            }
        }
        // Refused by `check::filter` before a row is read, all but the first.
        Filter::BlockAll
        | Filter::Sink
        | Filter::RowKeyRegex(_)
        | Filter::RowSample(_)
        | Filter::FamilyRegex(_)
        | Filter::QualifierRegex(_)
        | Filter::ValueRegex(_) => cells.clear(),
    }
    cells
}

fn interleave(filters: &[Filter], cells: &[Placed]) -> Vec<Placed> {
    let mut merged: Vec<Placed> =
        filters.iter().flat_map(|filter| evaluate(filter, cells.to_vec())).collect();
    // Stable: copies of one cell stay in the order of the filters.
    merged.sort_by(|a, b| {
        let (older, newer) = (Reverse(a.cell.timestamp_us), Reverse(b.cell.timestamp_us));
        (a.family, &a.cell.qualifier, older).cmp(&(b.family, &b.cell.qualifier, newer))
    });
    merged
}

fn newest_of_columns(count: u32, cells: &mut Vec<Placed>) {
    let mut column: Option<(usize, Bytes)> = None;
    let mut seen = 0;
    cells.retain(|Placed { family, cell }| {
        if column.as_ref().is_none_or(|(known, qualifier)| known != family || *qualifier != cell.qualifier) {
            column = Some((*family, cell.qualifier.clone()));
            seen = 0;
        }
        seen += 1;
        seen <= count
    });
}

fn masked(mask: &[u8], value: &[u8]) -> bool {
    mask.len() == value.len() && mask.iter().zip(value).all(|(mask, byte)| byte & mask == *mask)
}

fn in_bounds(start: &Bound<Bytes>, end: &Bound<Bytes>, bytes: &Bytes) -> bool {
    let from = match start {
        Bound::Included(from) => bytes >= from,
        Bound::Excluded(from) => bytes > from,
        Bound::Unbounded => true,
    };
    let to = match end {
        Bound::Included(to) => bytes <= to,
        Bound::Excluded(to) => bytes < to,
        Bound::Unbounded => true,
    };
    from && to
}
