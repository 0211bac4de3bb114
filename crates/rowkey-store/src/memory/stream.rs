//! The rows of one read, one after the other.

use super::table::{Cells, Tablets, stored_cells};
use crate::select::Selector;
use crate::{ReadRequest, Result, Row, RowKey, RowRange};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) struct Scan {
    rows: Arc<BTreeMap<RowKey, Arc<Cells>>>,
    families: Vec<u64>,
    tablets: Arc<Tablets>,
    selector: Selector,
    /// What is left to read, each part in one tablet; the next one is last.
    parts: Vec<(usize, RowRange)>,
    /// Whether the next part was counted as a read of its tablet.
    entered: bool,
    rows_left: u64,
    reversed: bool,
}

impl Scan {
    pub(super) fn new(
        rows: Arc<BTreeMap<RowKey, Arc<Cells>>>,
        families: Vec<u64>,
        tablets: Arc<Tablets>,
        selector: Selector,
        request: &ReadRequest,
    ) -> Self {
        let mut parts = tablets.map.parts(&selector.rows(&request.rows));
        if !request.reversed {
            parts.reverse();
        }
        let rows_left = request.rows_max.unwrap_or(u64::MAX);
        Self {
            rows,
            families,
            tablets,
            selector,
            parts,
            entered: false,
            rows_left,
            reversed: request.reversed,
        }
    }

    /// The next row of the store, whatever comes out of it, and its tablet.
    fn next_stored(&mut self) -> Option<(usize, RowKey, Arc<Cells>)> {
        while let Some((tablet, range)) = self.parts.last_mut() {
            if !self.entered {
                self.entered = true;
                self.tablets.counters[*tablet].reads.fetch_add(1, Ordering::Relaxed);
            }
            let end = range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            let mut found = self.rows.range::<RowKey, _>((Bound::Included(&range.start), end));
            let found = if self.reversed { found.next_back() } else { found.next() };
            if let Some((key, cells)) = found {
                let behind = RowRange::key(key);
                if self.reversed {
                    range.end = Some(behind.start);
                } else {
                    range.start = behind.end.unwrap_or_default();
                }
                let tablet = *tablet;
                let read = (tablet, key.clone(), Arc::clone(cells));
                if range.is_empty() {
                    self.next_part();
                }
                return Some(read);
            }
            self.next_part();
        }
        None
    }

    fn next_part(&mut self) {
        self.parts.pop();
        self.entered = false;
    }
}

impl Iterator for Scan {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows_left = self.rows_left.checked_sub(1)?;
        loop {
            let (tablet, key, cells) = self.next_stored()?;
            let row = match self.selector.row(key, stored_cells(&self.families, &cells)) {
                Ok(row) => row,
                Err(error) => {
                    self.rows_left = 0;
                    return Some(Err(error));
                }
            };
            if let Some(row) = row {
                let counters = &self.tablets.counters[tablet];
                counters.rows_read.fetch_add(1, Ordering::Relaxed);
                let cells: usize = row.cells.iter().map(|cell| cell.value.len()).sum();
                counters.bytes_read.fetch_add((row.key.len() + cells) as u64, Ordering::Relaxed);
                return Some(Ok(row));
            }
        }
    }
}
