//! The rows of a request, prepared on the caller's thread so that the committer has little left to do: checked and encoded, all into
//! one piece of memory, which the log and the memtable then share. Cells that are allocated one by one here and freed there were
//! half of the cost of an import.

use crate::fragment;
use crate::key;
use crate::state::Table;
use bytes::Bytes;
use rowkey_store::{Mutation, Result, RowMutation, check};
use std::cmp::Reverse;
use std::ops::Range;

/// The rows of a request.
pub(crate) enum Prepared {
    /// All of them only set cells.
    Sets(Sets),
    /// Some must be read first.
    Mixed(Vec<RowMutation>),
}

/// Rows that only set cells, encoded.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    /// For each row of the request its place, or why it is refused.
    pub(crate) rows: Vec<Result<SetRow>>,
    bytes: Vec<u8>,
    fragments: Vec<(usize, Range<usize>)>,
}

/// A row in [`Sets`].
#[derive(Debug, Clone)]
pub(crate) struct SetRow {
    /// The index of its tablet.
    pub(crate) tablet: usize,
    key: Range<usize>,
    fragments: Range<usize>,
}

/// A cell: family, qualifier, time, value.
pub(crate) type CellParts<'a> = (usize, &'a [u8], i64, &'a [u8]);

impl Prepared {
    /// Prepares the rows of a request to a table.
    pub(crate) fn new(table: &Table, rows: &[RowMutation], now_us: i64) -> Self {
        let steps = || rows.iter().flat_map(|row| &row.mutations);
        if !steps().all(|step| matches!(step, Mutation::SetCell { .. })) {
            return Self::Mixed(rows.to_vec());
        }
        let bytes_about: usize =
            steps().map(step_bytes).sum::<usize>() + rows.iter().map(|row| row.key.len() + 16).sum::<usize>();
        let mut sets = Sets {
            rows: Vec::with_capacity(rows.len()),
            bytes: Vec::with_capacity(bytes_about),
            fragments: Vec::with_capacity(rows.len()),
        };
        let mut cells = Vec::new();
        for row in rows {
            let prepared = check::row_mutation(&table.name, &table.config, row)
                .and_then(|()| sets.push(table, row, now_us, &mut cells));
            sets.rows.push(prepared);
        }
        Self::Sets(sets)
    }
}

impl Sets {
    fn push<'a>(
        &mut self,
        table: &Table,
        row: &'a RowMutation,
        now_us: i64,
        cells: &mut Vec<CellParts<'a>>,
    ) -> Result<SetRow> {
        collect_cells(table, &row.mutations, now_us, cells)?;
        let key_start = self.bytes.len();
        key::push_row(&row.key, &mut self.bytes);
        // The sequence number, which the committer knows.
        self.bytes.extend_from_slice(&[0; 8]);
        let key = key_start..self.bytes.len();
        let first = self.fragments.len();
        encode_families(cells, &mut self.bytes, |family, range| self.fragments.push((family, range)));
        Ok(SetRow { tablet: table.tablet_of(&row.key), key, fragments: first..self.fragments.len() })
    }

    /// Writes the sequence numbers, from the one behind `last` on, one for each row that is not refused. Answers with the rows, the memory
    /// they lie in, and the last number.
    pub(crate) fn number(mut self, mut last: u64) -> (NumberedSets, Vec<Result<SetRow>>, u64) {
        for row in self.rows.iter().flatten() {
            last += 1;
            let place = row.key.end - 8..row.key.end;
            self.bytes[place].copy_from_slice(&key::sequence_bytes(last));
        }
        (NumberedSets { bytes: self.bytes.into(), fragments: self.fragments }, self.rows, last)
    }
}

/// The memory of [`Sets`], with sequence numbers.
pub(crate) struct NumberedSets {
    bytes: Bytes,
    fragments: Vec<(usize, Range<usize>)>,
}

impl NumberedSets {
    /// The key of a row's fragments.
    pub(crate) fn key(&self, row: &SetRow) -> Bytes {
        self.bytes.slice(row.key.clone())
    }

    /// The fragments of a row by family.
    pub(crate) fn fragments(&self, row: &SetRow) -> impl Iterator<Item = (usize, Bytes)> {
        let ranges = &self.fragments[row.fragments.clone()];
        ranges.iter().map(|(family, range)| (*family, self.bytes.slice(range.clone())))
    }
}

/// The cells that mutations set, in order.
fn collect_cells<'a>(
    table: &Table,
    mutations: &'a [Mutation],
    now_us: i64,
    cells: &mut Vec<CellParts<'a>>,
) -> Result<()> {
    cells.clear();
    let mut last: Option<(&str, usize)> = None;
    for mutation in mutations {
        let Mutation::SetCell { family, qualifier, timestamp, value } = mutation else { continue };
        let index = match last {
            Some((name, index)) if name == family => index,
            _ => check::family_index(&table.config, family)?,
        };
        last = Some((family, index));
        let timestamp_us = check::timestamp_us(*timestamp, table.config.granularity, now_us);
        cells.push((index, qualifier, timestamp_us, value));
    }
    Ok(())
}

/// Appends one fragment for each family of these cells and tells where it lies. Of equal cells the last counts.
pub(crate) fn encode_families(
    cells: &mut [CellParts<'_>],
    out: &mut Vec<u8>,
    mut tell: impl FnMut(usize, Range<usize>),
) {
    // Stable, so that of equal cells the one that is set last comes last.
    cells.sort_by(|a, b| (a.0, a.1, Reverse(a.2)).cmp(&(b.0, b.1, Reverse(b.2))));
    for of_family in cells.chunk_by(|a, b| a.0 == b.0) {
        let last_of_equals = of_family.iter().enumerate().filter_map(|(index, cell)| {
            let next = of_family.get(index + 1);
            next.is_none_or(|next| (next.1, next.2) != (cell.1, cell.2)).then_some((cell.1, cell.2, cell.3))
        });
        let start = out.len();
        fragment::encode_into(&[], last_of_equals, out);
        tell(of_family[0].0, start..out.len());
    }
}

fn step_bytes(step: &Mutation) -> usize {
    match step {
        Mutation::SetCell { qualifier, value, .. } => fragment::cell_bytes(qualifier, value) + 2,
        _ => 0,
    }
}
