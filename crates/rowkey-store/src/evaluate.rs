//! Filters, prepared for one read, and what they let through of one row.
//!
//! Cells stay where they are: a filter works on [`View`]s, eight bytes each, so that branches copy no cell. What the filter begins with
//! and what an engine or a [`crate::select::Gate`] can decide without it (row keys, families, times, versions) is taken off
//! its front: see [`Program::new`].

mod compile;
#[cfg(test)]
mod tests;

use crate::limits::FILTER_COPIES_MAX;
use crate::regex::Pattern;
use crate::seeded::Seeded;
use crate::select::{StoredCell, time_in};
use crate::{Error, ErrorKind, Result, RowKey, RowRange};
use bytes::Bytes;
use std::ops::{Bound, Range};

/// A filter for one table.
#[derive(Debug)]
pub(crate) struct Program {
    /// What rows must pass before their cells are looked at.
    rows: Vec<Step>,
    /// The only row keys that can pass, if the filter says so.
    pub(crate) range: Option<RowRange>,
    /// By family: whether a cell of it can come out.
    pub(crate) families: Vec<bool>,
    /// The only times that can come out.
    pub(crate) times_us: Option<Range<i64>>,
    /// The newest versions of a column that can come out.
    pub(crate) versions_max: Option<u32>,
    /// The rest.
    steps: Vec<Step>,
    /// Labels; a view has its index plus one.
    labels: Vec<String>,
}

#[derive(Debug)]
enum Step {
    Pass,
    Block,
    Chain(Vec<Step>),
    Interleave(Vec<Step>),
    /// Predicate, and what follows if it lets a cell through and if not.
    Condition(Box<[Step; 3]>),
    Sink,
    RowKey(Pattern),
    /// Which sample of the filter it is, and the hashes below which a row stays.
    RowSample(u64, u64),
    /// By family.
    Families(Vec<bool>),
    Qualifier(Pattern),
    /// The family; `None`: the table does not have it.
    Qualifiers(Option<usize>, Bounds),
    Times(Range<i64>),
    Value(Pattern),
    Values(Bounds),
    Bitmask(Bytes),
    SkipCells(usize),
    FirstCells(usize),
    NewestOfColumn(usize),
    Strip,
    /// Index plus one of a label.
    Label(u16),
}

#[derive(Debug)]
struct Bounds {
    start: Bound<Bytes>,
    end: Bound<Bytes>,
}

/// A cell that is on its way through a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Its index in the row.
    pub(crate) cell: u32,
    /// 0: none.
    label: u16,
    /// Whether its value was replaced by nothing.
    pub(crate) stripped: bool,
}

/// One evaluation.
struct Run<'a> {
    key: &'a RowKey,
    cells: &'a [StoredCell],
    /// What came to a sink.
    sunk: Vec<View>,
    /// Copies that may still be made.
    copies_left: usize,
}

impl Program {
    /// Whether a row can come out at all, going by its key.
    pub(crate) fn wants_row(&self, key: &RowKey) -> bool {
        self.rows.iter().all(|step| step.passes_row(key))
    }

    /// Whether some rows may be unwanted.
    pub(crate) fn decides_about_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether nothing is left to decide about cells.
    pub(crate) fn is_done(&self) -> bool {
        self.steps.is_empty()
    }

    /// The label of a view.
    pub(crate) fn label(&self, view: View) -> Option<&String> {
        self.labels.get(usize::from(view.label).checked_sub(1)?)
    }

    /// What comes out of a row, in order. Copies of a cell stand next to each other.
    ///
    /// # Errors
    ///
    /// `Limit`: too many copies.
    pub(crate) fn run(&self, key: &RowKey, cells: &[StoredCell]) -> Result<Vec<View>> {
        let Ok(count) = u32::try_from(cells.len()) else { return Err(too_many_cells(key)) };
        let views = (0..count).map(|cell| View { cell, label: 0, stripped: false }).collect();
        let copies_left = FILTER_COPIES_MAX.max(cells.len().saturating_mul(COPIES_OF_CELL_MAX));
        let mut run = Run { key, cells, sunk: Vec::new(), copies_left };
        let out = run.chain(&self.steps, views)?;
        if run.sunk.is_empty() {
            return Ok(out);
        }
        run.sunk.extend(out);
        run.sunk.sort_by_key(|view| view.cell);
        Ok(run.sunk)
    }
}

/// See [`FILTER_COPIES_MAX`].
const COPIES_OF_CELL_MAX: usize = 32;

fn too_many_cells(key: &RowKey) -> Error {
    let message = format!(
        "row `{}` has too many cells, or copies of them, for this filter: let fewer through before an interleave",
        crate::check::shown(key)
    );
    Error::new(ErrorKind::Limit, message)
}

impl Step {
    /// Of a filter that looks at row keys alone.
    fn passes_row(&self, key: &RowKey) -> bool {
        match self {
            Self::RowKey(pattern) => pattern.matches(key),
            Self::RowSample(which, below) => sampled(key, *which) < *below,
            Self::Block => false,
            _ => true,
        }
    }

    /// Whether one cell passes, by itself; `None`: that depends on others, or is none of a row's cells alone.
    fn passes(&self, run: &Run<'_>, view: View) -> Option<bool> {
        let cell = &run.cells[view.cell as usize];
        let value = || if view.stripped { &b""[..] } else { &cell.value[..] };
        Some(match self {
            Self::Pass | Self::Strip | Self::Label(_) => true,
            Self::Families(families) => families.get(cell.family).copied().unwrap_or_default(),
            Self::Qualifier(pattern) => pattern.matches(&cell.qualifier),
            Self::Qualifiers(family, bounds) => {
                *family == Some(cell.family) && bounds.contain(&cell.qualifier)
            }
            Self::Times(times) => time_in(times, cell.timestamp_us),
            Self::Value(pattern) => pattern.matches(value()),
            Self::Values(bounds) => bounds.contain(value()),
            Self::Bitmask(mask) => masked(mask, value()),
            _ => return None,
        })
    }
}

impl Run<'_> {
    fn chain(&mut self, steps: &[Step], mut views: Vec<View>) -> Result<Vec<View>> {
        for step in steps {
            if views.is_empty() {
                break;
            }
            views = self.step(step, views)?;
        }
        Ok(views)
    }

    fn step(&mut self, step: &Step, mut views: Vec<View>) -> Result<Vec<View>> {
        match step {
            Step::Pass => {}
            Step::Block => views.clear(),
            Step::Chain(steps) => return self.chain(steps, views),
            Step::Interleave(steps) => return self.interleave(steps, views),
            Step::Condition(branches) => {
                let [predicate, then, otherwise] = &**branches;
                let branch = if self.any(predicate, &views)? { then } else { otherwise };
                return self.step(branch, views);
            }
            Step::Sink => self.sunk.append(&mut views),
            Step::RowKey(_) | Step::RowSample(..) => {
                if !step.passes_row(self.key) {
                    views.clear();
                }
            }
            Step::SkipCells(count) => {
                views.drain(..views.len().min(*count));
            }
            Step::FirstCells(count) => views.truncate(*count),
            Step::NewestOfColumn(count) => self.newest_of_columns(*count, &mut views),
            Step::Strip => views.iter_mut().for_each(|view| view.stripped = true),
            Step::Label(label) => views.iter_mut().for_each(|view| view.label = *label),
            _ => views.retain(|view| step.passes(self, *view).unwrap_or_default()),
        }
        Ok(views)
    }

    fn interleave(&mut self, steps: &[Step], views: Vec<View>) -> Result<Vec<View>> {
        let Some((last, others)) = steps.split_last() else { return Ok(Vec::new()) };
        let mut merged = Vec::new();
        for step in others {
            self.copy(views.len())?;
            merged.append(&mut self.step(step, views.clone())?);
        }
        merged.append(&mut self.step(last, views)?);
        // Stable: copies of one cell stay in the order of the filters.
        merged.sort_by_key(|view| view.cell);
        Ok(merged)
    }

    fn copy(&mut self, views: usize) -> Result<()> {
        let left = self.copies_left.checked_sub(views).ok_or_else(|| too_many_cells(self.key))?;
        self.copies_left = left;
        Ok(())
    }

    /// Whether a predicate, which has no sink, lets a cell through.
    fn any(&mut self, step: &Step, views: &[View]) -> Result<bool> {
        if views.is_empty() {
            return Ok(false);
        }
        Ok(match step {
            Step::Chain(steps) => !self.chain(steps, views.to_vec())?.is_empty(),
            Step::Interleave(steps) => {
                for step in steps {
                    if self.any(step, views)? {
                        return Ok(true);
                    }
                }
                false
            }
            Step::Condition(branches) => {
                let [predicate, then, otherwise] = &**branches;
                let branch = if self.any(predicate, views)? { then } else { otherwise };
                self.any(branch, views)?
            }
            Step::Block | Step::Sink => false,
            Step::RowKey(_) | Step::RowSample(..) => step.passes_row(self.key),
            Step::SkipCells(count) => views.len() > *count,
            Step::FirstCells(count) | Step::NewestOfColumn(count) => *count > 0,
            _ => views.iter().any(|view| step.passes(self, *view).unwrap_or_default()),
        })
    }

    fn newest_of_columns(&self, count: usize, views: &mut Vec<View>) {
        let mut column: Option<&StoredCell> = None;
        let mut seen = 0;
        views.retain(|view| {
            let cell = &self.cells[view.cell as usize];
            if column.is_none_or(|known| known.family != cell.family || known.qualifier != cell.qualifier) {
                seen = 0;
            }
            column = Some(cell);
            seen += 1;
            seen <= count
        });
    }
}

impl Bounds {
    fn contain(&self, bytes: &[u8]) -> bool {
        let from = match &self.start {
            Bound::Included(from) => bytes >= &from[..],
            Bound::Excluded(from) => bytes > &from[..],
            Bound::Unbounded => true,
        };
        let to = match &self.end {
            Bound::Included(to) => bytes <= &to[..],
            Bound::Excluded(to) => bytes < &to[..],
            Bound::Unbounded => true,
        };
        from && to
    }
}

fn masked(mask: &[u8], value: &[u8]) -> bool {
    mask.len() == value.len() && mask.iter().zip(value).all(|(mask, byte)| byte & mask == *mask)
}

/// The number by which a row is in a sample or not: the same row and sample always have the same one. FNV-1a, mixed.
fn sampled(key: &[u8], which: u64) -> u64 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325 ^ which, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Seeded::new(hash).any()
}
