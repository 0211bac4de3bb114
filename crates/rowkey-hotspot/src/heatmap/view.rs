//! A view of the matrix: as many rows and columns as are wanted, all columns equally wide, sums exact.

use super::matrix::{Matrix, grouped};
use super::metric::{Metric, Values};
use super::row::Row;
use super::series::Entry;
use super::timeline::Axis;

/// What is to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewSpec {
    /// Rows at most, 1 to 65,536.
    pub rows_max: usize,
    /// Columns at most, 1 to 65,536.
    pub columns_max: usize,
    /// From this time on; `None`: from the beginning. Times are milliseconds, or operations where the axis is the order of arrival.
    pub from: Option<i64>,
    /// Up to this time, itself excluded; `None`: to the end.
    pub to: Option<i64>,
    /// From this key on.
    pub start: Vec<u8>,
    /// Up to this key, itself excluded; `None`: to the end.
    pub end: Option<Vec<u8>>,
    /// What is to be counted; empty: all that there is.
    pub metrics: Vec<Metric>,
}

impl Default for ViewSpec {
    fn default() -> Self {
        Self {
            rows_max: 1_000,
            columns_max: 1_000,
            from: None,
            to: None,
            start: Vec::new(),
            end: None,
            metrics: Vec::new(),
        }
    }
}

/// A range of keys: a row of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRow {
    /// Its first key: not always one that occurs, but as short as tells it from the row before.
    pub start: Box<[u8]>,
    /// A key of the row that did occur, cut to 1,024 bytes; `None`: none did.
    pub example: Option<Box<[u8]>>,
}

/// Rows of keys by columns of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// What the time axis counts.
    pub axis: Axis,
    /// The rows, ascending. A row ends where the next one begins.
    pub rows: Vec<ViewRow>,
    /// Where the last row ends; `None`: it has no end.
    pub end: Option<Box<[u8]>>,
    /// Where the first column begins: milliseconds, or operations.
    pub time_start: i64,
    /// How wide a column is, in milliseconds or operations, at least 1.
    pub time_step: i64,
    /// The number of columns.
    pub columns: usize,
    /// What is counted.
    pub metrics: Vec<Metric>,
    /// For each metric the sums of all cells, row by row: `values[metric][row * columns + column]`.
    pub values: Vec<Vec<u64>>,
    /// For each metric the sum of all cells of the matrix, in the view or not.
    pub totals: Vec<u64>,
}

/// Cells of a view at most, all metrics together: 256 MB.
const CELLS_MAX: usize = 32 << 20;

impl View {
    /// The key at which a row ends; `None`: it has no end.
    pub fn row_end(&self, row: usize) -> Option<&[u8]> {
        self.rows.get(row + 1).map(|next| &*next.start).or(self.end.as_deref())
    }

    /// The sum of a cell; 0 where there is none.
    pub fn at(&self, metric: usize, row: usize, column: usize) -> u64 {
        if column >= self.columns {
            return 0;
        }
        self.values
            .get(metric)
            .and_then(|cells| cells.get(row * self.columns + column))
            .copied()
            .unwrap_or_default()
    }

    /// The position of a metric among those of the view.
    pub fn metric(&self, metric: Metric) -> Option<usize> {
        self.metrics.iter().position(|&have| have == metric)
    }

    /// The sum of the view's cells.
    pub fn sum(&self, metric: usize) -> u64 {
        self.values.get(metric).map(|cells| cells.iter().sum()).unwrap_or_default()
    }

    /// The sums of the view's cells, in the order of [`Metric::ALL`].
    pub fn sums(&self) -> Values {
        let mut sums = Values::default();
        for (at, metric) in self.metrics.iter().enumerate() {
            sums[metric.index()] = self.sum(at);
        }
        sums
    }

    /// The sum of each row.
    pub fn row_sums(&self, metric: usize) -> Vec<u64> {
        let cells = self.values.get(metric).map(Vec::as_slice).unwrap_or_default();
        cells.chunks(self.columns.max(1)).map(|row| row.iter().sum()).collect()
    }

    /// The sum of each column.
    pub fn column_sums(&self, metric: usize) -> Vec<u64> {
        let mut sums = vec![0; self.columns];
        let cells = self.values.get(metric).map(Vec::as_slice).unwrap_or_default();
        for row in cells.chunks(self.columns.max(1)) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        sums
    }

    /// Adds empty columns at the end until the view reaches `to` or has `columns_max`: time in which nothing happened, for a picture that
    /// runs on. A view without columns stays as it is.
    pub fn extend_to(&mut self, to: i64, columns_max: usize) {
        let length = to.saturating_sub(self.time_start);
        if self.columns == 0 || length <= 0 || self.time_step <= 0 {
            return;
        }
        let wanted = length.unsigned_abs().div_ceil(self.time_step.unsigned_abs());
        let columns = usize::try_from(wanted).unwrap_or(usize::MAX).min(columns_max);
        if columns <= self.columns {
            return;
        }
        for values in &mut self.values {
            let mut wider = vec![0; self.rows.len() * columns];
            for (to, from) in wider.chunks_mut(columns).zip(values.chunks(self.columns)) {
                to[..from.len()].copy_from_slice(from);
            }
            *values = wider;
        }
        self.columns = columns;
    }

    /// The rows that a range of keys touches; empty if it is empty or outside.
    pub fn rows_of(&self, start: &[u8], end: Option<&[u8]>) -> std::ops::Range<usize> {
        let first = self.rows.partition_point(|row| &*row.start <= start).saturating_sub(1);
        let last = end.map_or(self.rows.len(), |end| self.rows.partition_point(|row| &*row.start < end));
        let outside = self.end.as_deref().is_some_and(|view_end| start >= view_end)
            || end.is_some_and(|end| end <= start);
        if outside || last <= first { 0..0 } else { first..last }
    }
}

impl Matrix {
    /// A view. Rows with little load are merged first; a slot that is wider than a column is shared evenly among the columns that it
    /// covers, with the sum kept. Rows and slots at the edges of the ranges that were asked for are in it as a whole.
    pub fn view(&self, spec: &ViewSpec) -> View {
        let metrics = self.metrics_of(spec);
        let columns = self.columns_of(spec);
        let first = self.rows.partition_point(|row| *row.start <= *spec.start).saturating_sub(1);
        let last = match &spec.end {
            Some(end) => self.rows.partition_point(|row| *row.start < **end).max(first + 1),
            None => self.rows.len(),
        };
        let rows = &self.rows[first..last];
        let weights: Vec<u64> = rows.iter().map(|row| row.weight).collect();
        let cells_max = CELLS_MAX / metrics.len().max(1) / columns.count.max(1);
        let groups = grouped(&weights, spec.rows_max.clamp(1, 1 << 16).min(cells_max.max(1)));
        let mut view = View {
            axis: self.axis(),
            rows: Vec::with_capacity(groups.len()),
            end: self.rows.get(last).map(|row| row.start.clone()),
            time_start: columns.start,
            time_step: columns.step,
            columns: columns.count,
            values: vec![vec![0; groups.len() * columns.count]; metrics.len()],
            totals: metrics.iter().map(|metric| self.totals()[metric.index()]).collect(),
            metrics,
        };
        let mut rest = rows;
        for (group, length) in groups.into_iter().enumerate() {
            let (members, behind) = rest.split_at(length);
            rest = behind;
            view.rows.push(ViewRow {
                start: members[0].start.clone(),
                example: members.iter().find_map(|row| row.example()).map(Into::into),
            });
            for entry in members.iter().flat_map(Row::entries) {
                self.paint(&mut view, group * columns.count, &columns, &entry);
            }
        }
        view
    }

    fn metrics_of(&self, spec: &ViewSpec) -> Vec<Metric> {
        if spec.metrics.is_empty() {
            Metric::ALL.into_iter().filter(|metric| self.totals()[metric.index()] > 0).collect()
        } else {
            spec.metrics.clone()
        }
    }

    /// Where the view's columns lie: they begin at a slot, and each is a whole number of narrowest slots wide.
    fn columns_of(&self, spec: &ViewSpec) -> Columns {
        let timeline = self.timeline();
        let unit = timeline.unit();
        let known = self.slots.first_key_value().zip(self.slots.last_key_value());
        let Some(((&first, _), (&last, _))) = known else {
            return Columns { start: spec.from.unwrap_or_default(), step: unit, count: 0 };
        };
        let from = spec.from.map_or(first, |from| timeline.slot(from).max(first));
        let end_of = |slot: i64| slot.saturating_add(timeline.step(slot));
        let to =
            spec.to.map_or(end_of(last), |to| end_of(timeline.slot(to.saturating_sub(1))).min(end_of(last)));
        let length = if to > from { to.abs_diff(from) } else { 0 };
        let least = length.div_ceil(spec.columns_max.clamp(1, 1 << 16) as u64).max(1);
        let step = i64::try_from(least).unwrap_or(i64::MAX).saturating_mul(unit);
        let step = if self.axis() == Axis::Time { round_step(step, unit) } else { step };
        let columns = length.div_ceil(step.unsigned_abs() / unit.unsigned_abs().max(1));
        Columns {
            start: from.saturating_mul(unit),
            step,
            count: usize::try_from(columns).unwrap_or_default(),
        }
    }

    /// Adds a slot's sums to the columns that it covers, evenly; what is left over goes to the first ones.
    fn paint(&self, view: &mut View, row: usize, columns: &Columns, entry: &Entry) {
        let timeline = self.timeline();
        let (unit, length) = (timeline.unit(), timeline.step(entry.slot));
        let step = columns.step / unit;
        let offset = entry.slot.saturating_sub(columns.start.div_euclid(unit));
        let begins = offset.div_euclid(step);
        let ends = offset.saturating_add(length - 1).div_euclid(step);
        let width = ends.abs_diff(begins).saturating_add(1);
        // Of the columns that it covers, those of the view.
        let seen =
            begins.max(0)..ends.saturating_add(1).min(i64::try_from(columns.count).unwrap_or(i64::MAX));
        for (cells, metric) in view.values.iter_mut().zip(&view.metrics) {
            let value = entry.values[metric.index()];
            if value == 0 {
                continue;
            }
            for column in seen.clone() {
                let part = value / width + u64::from(column.abs_diff(begins) < value % width);
                cells[row + usize::try_from(column).unwrap_or_default()] += part;
            }
        }
    }
}

/// A width that people can name: the least one that is not below `step` and is a multiple of `unit`, both in milliseconds.
fn round_step(step: i64, unit: i64) -> i64 {
    const DIGITS: [i64; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30];
    const UNITS: [i64; 7] = [1, 10, 100, 1_000, 60_000, 3_600_000, 86_400_000];
    let widths = UNITS.into_iter().flat_map(|unit| DIGITS.into_iter().map(move |digit| digit * unit));
    // At most a quarter wider than needed; else what is needed.
    let good = widths.filter(|&width| width >= step && width - step <= step / 4 && width % unit == 0).min();
    good.unwrap_or(step)
}

/// Columns of a view.
#[derive(Debug, Clone, Copy)]
struct Columns {
    start: i64,
    step: i64,
    count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_that_runs_on_gets_empty_columns() {
        let mut matrix = Matrix::new(crate::heatmap::Config::default());
        for time in 0..10 {
            matrix.add(time, b"a", Metric::Writes, 1);
            matrix.add(time, b"b", Metric::Writes, 2);
        }
        let before = matrix.view(&ViewSpec::default());
        let check = |to: i64, columns_max: usize, expected: usize| {
            let mut view = before.clone();
            view.extend_to(to, columns_max);
            assert_eq!(view.columns, expected, "{to}");
            assert_eq!(view.values[0].len(), expected * view.rows.len());
            assert_eq!(view.row_sums(0), before.row_sums(0), "{to}");
            assert_eq!(view.column_sums(0)[..10], before.column_sums(0), "{to}");
        };
        check(10, 100, 10);
        check(-5, 100, 10);
        check(15, 100, 15);
        check(i64::MAX, 30, 30);
        let mut empty = Matrix::new(crate::heatmap::Config::default()).view(&ViewSpec::default());
        empty.extend_to(50, 100);
        assert_eq!(empty.columns, 0);
    }

    #[test]
    fn columns_are_as_wide_as_people_count_time() {
        for (step, unit, expected) in [
            (599, 1, 600),
            (1_001, 1, 1_200),
            (3_600, 100, 4_000),
            (7 * 60_000, 60_000, 8 * 60_000),
            (13 * 60_000, 60_000, 15 * 60_000),
            (13, 7, 13),
            (400 * 86_400_000, 86_400_000, 400 * 86_400_000),
            (1, 1, 1),
        ] {
            assert_eq!(round_step(step, unit), expected, "{step} of {unit}");
        }
    }
}
