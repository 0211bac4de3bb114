//! The matrix: every operation is counted in the cell of its key range and time, in bounded memory for any length of time.
//!
//! Rows are cut where load comes and merged where it does not, so that each has about the same load: hot places get many rows, cold
//! ones few. A row is cut as soon as it has twice its part of all load, so a front that moves beyond the last key is visible from
//! its first thousandth on. Only what a row had counted until then is shared between its parts by estimate; sums over both are exact.
//! Time slots become wider as time passes ([`Resolution`]), by whole multiples: nothing is estimated there.
//!
//! It must never lose or invent a count: the sum of all cells is the sum of all that was added, for every metric.

use super::metric::{Metric, Values};
use super::row::{KEY_LEN_MAX, Row};
use super::series::add;
use super::timeline::{Axis, Resolution, Timeline, Widened};
use crate::operation::{OpKind, Operation};
use rowkey_store::seeded::Seeded;
use std::collections::BTreeMap;

/// How a matrix is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Rows at most, at least 16.
    pub rows_max: usize,
    /// How time is cut.
    pub resolution: Resolution,
    /// Bytes of memory at most, at least 1 MiB. Slots become wider when it would take more, rows fewer when that does not help.
    pub bytes_max: usize,
    /// Slots of the newest kind after which what was counted weighs half when rows are cut and merged. `None`: it always weighs the
    /// same.
    pub half_life: Option<i64>,
    /// For choosing sample keys: the same seed and input give the same matrix.
    pub seed: u64,
}

impl Default for Config {
    /// For files: 1,024 rows, even slots, 16 MiB.
    fn default() -> Self {
        Self {
            rows_max: 1_024,
            resolution: Resolution::even(),
            bytes_max: 16 << 20,
            half_life: None,
            seed: 1,
        }
    }
}

impl Config {
    /// For what runs on: narrow slots for the newest time, and rows that follow the load of the last days.
    pub fn live() -> Self {
        Self { resolution: Resolution::tiered(), half_life: Some(3 * 8_640), ..Self::default() }
    }
}

/// Times beyond count as this one, 73 million years from the epoch: arithmetic with times cannot overflow.
const TIME_MAX: i64 = 1 << 61;

/// Memory is counted after so many operations; between two counts it cannot grow by more than [`SLACK_BYTES`].
const CHECK_EVERY: u32 = 1_024;
const SLACK_BYTES: usize = 256 << 10;
/// The fewest rows and slots that are left when memory is short.
const ROWS_MIN: usize = 16;
const SLOTS_MIN: usize = 16;

/// Key space by time.
#[derive(Debug, Clone)]
pub struct Matrix {
    config: Config,
    axis: Option<Axis>,
    timeline: Timeline,
    pub(super) rows: Vec<Row>,
    /// Sums of each slot.
    pub(super) slots: BTreeMap<i64, Values>,
    totals: Values,
    weight: u64,
    operations: u64,
    last_time: i64,
    until_check: u32,
    halved_at: i64,
    bytes_peak: usize,
    seeded: Seeded,
}

impl Matrix {
    /// An empty matrix.
    pub fn new(config: Config) -> Self {
        let config = Config {
            rows_max: config.rows_max.clamp(ROWS_MIN, 1 << 16),
            bytes_max: config.bytes_max.max(1 << 20),
            ..config
        };
        Self {
            axis: None,
            timeline: Timeline::new(&config.resolution),
            rows: vec![Row::new(b"")],
            slots: BTreeMap::new(),
            totals: Values::default(),
            weight: 0,
            operations: 0,
            last_time: 0,
            until_check: CHECK_EVERY,
            halved_at: i64::MIN,
            bytes_peak: 0,
            seeded: Seeded::new(config.seed),
            config,
        }
    }

    /// Counts an operation. If the first one has no time, the time axis is the order of arrival, and all times are left aside; if it
    /// has one, operations without a time count at the time of the last one that had one. A scan counts where it begins.
    pub fn observe(&mut self, operation: &Operation<'_>) {
        let first = if operation.time_ms.is_some() { Axis::Time } else { Axis::Arrival };
        let time = match *self.axis.get_or_insert(first) {
            Axis::Time => operation.time_ms.unwrap_or(self.last_time),
            Axis::Arrival => i64::try_from(self.operations).unwrap_or(i64::MAX),
        };
        let mut values = Values::default();
        let bytes = operation.bytes.unwrap_or_default();
        match operation.kind {
            OpKind::Write | OpKind::Delete => {
                values[Metric::Writes.index()] = 1;
                values[Metric::BytesIn.index()] = bytes;
            }
            OpKind::Read | OpKind::Scan => {
                values[Metric::Reads.index()] = 1;
                values[Metric::BytesOut.index()] = bytes;
                values[Metric::Rows.index()] = operation.rows.unwrap_or_default();
            }
        }
        self.count(time, operation.key, values);
    }

    /// Adds to one metric of the cell of a key and a time in milliseconds. Where rows are cut follows from reads and writes alone.
    pub fn add(&mut self, time_ms: i64, key: &[u8], metric: Metric, amount: u64) {
        self.axis.get_or_insert(Axis::Time);
        let mut values = Values::default();
        values[metric.index()] = amount;
        self.count(time_ms, key, values);
    }

    /// The same for all metrics at once: one operation, or many that were counted elsewhere.
    pub fn add_all(&mut self, time_ms: i64, key: &[u8], amounts: Values) {
        self.axis.get_or_insert(Axis::Time);
        self.count(time_ms, key, amounts);
    }

    /// What the time axis counts.
    pub fn axis(&self) -> Axis {
        self.axis.unwrap_or(Axis::Time)
    }

    /// Calls of [`Matrix::observe`] and [`Matrix::add`].
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The sum of all that was added, which is the sum of all cells. What would take a total beyond 64 bits is cut off at that.
    pub fn totals(&self) -> Values {
        self.totals
    }

    /// Rows at the moment.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Slots in use at the moment.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of memory that it takes now, counted from what its parts have allocated.
    pub fn bytes(&self) -> usize {
        // A map's entry takes its key and value, and a share of half-filled nodes.
        let slots = self.slots.len() * 2 * (size_of::<i64>() + size_of::<Values>());
        let rows: usize = self.rows.iter().map(Row::heap_bytes).sum();
        size_of::<Self>() + slots + self.rows.capacity() * size_of::<Row>() + rows
    }

    /// The most that [`Matrix::bytes`] has been when it was counted.
    pub fn bytes_peak(&self) -> usize {
        self.bytes_peak.max(self.bytes())
    }

    pub(super) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn count(&mut self, time: i64, key: &[u8], mut values: Values) {
        self.operations = self.operations.saturating_add(1);
        let time = time.clamp(-TIME_MAX, TIME_MAX);
        self.last_time = time;
        for (value, total) in values.iter_mut().zip(&mut self.totals) {
            *value = (*value).min(u64::MAX - *total);
            *total += *value;
        }
        let mut slot = self.timeline.slot(time);
        if let Some(widened) = self.timeline.reach(slot) {
            self.widen(widened);
            slot = self.timeline.slot(time);
        }
        add(self.slots.entry(slot).or_default(), &values);
        if self.slots.len() > self.timeline.slots_max() {
            self.widen_once();
            slot = self.timeline.slot(time);
        }
        let load: u64 =
            Metric::ALL.iter().filter(|metric| metric.is_load()).map(|metric| values[metric.index()]).sum();
        let at = self.find(key);
        let row = &mut self.rows[at];
        row.add(slot, &values);
        row.see(slot, key, &values, &mut self.seeded);
        row.weight = row.weight.saturating_add(load);
        self.weight = self.weight.saturating_add(load);
        if row.weight > self.split_weight() {
            self.split(at);
        }
        self.until_check -= 1;
        if self.until_check == 0 {
            self.until_check = CHECK_EVERY;
            self.forget_old(slot);
            self.keep_within_bytes();
        }
    }

    fn find(&self, key: &[u8]) -> usize {
        let key = &key[..key.len().min(KEY_LEN_MAX)];
        self.rows.partition_point(|row| &*row.start <= key).saturating_sub(1)
    }

    /// The load of a row that is to be cut: above twice the even part of what four fifths of the rows would have, so that halves are
    /// no smaller than that part and cannot become too many.
    fn split_weight(&self) -> u64 {
        let rows = (self.config.rows_max * 4 / 5) as u64;
        (self.weight / rows).saturating_mul(2).max(8)
    }

    fn split(&mut self, at: usize) {
        let Some(upper) = self.rows[at].split() else { return };
        self.rows.insert(at + 1, upper);
        if self.rows.len() > self.config.rows_max {
            self.merge_rows(self.config.rows_max * 4 / 5);
        }
    }

    /// Merges neighbours with the least load until there are at most `rows` rows.
    fn merge_rows(&mut self, rows: usize) {
        let groups = grouped(&self.rows.iter().map(|row| row.weight).collect::<Vec<_>>(), rows);
        let mut merged: Vec<Row> = Vec::with_capacity(self.config.rows_max + 1);
        let mut old = std::mem::take(&mut self.rows).into_iter();
        for length in groups {
            let Some(mut first) = old.next() else { break };
            for next in old.by_ref().take(length - 1) {
                first.absorb(&next, &mut self.seeded);
            }
            merged.push(first);
        }
        self.rows = merged;
    }

    /// Makes slots wider, if they can be.
    fn widen_once(&mut self) -> bool {
        let widened = self.timeline.widen();
        if let Some(widened) = widened {
            self.widen(widened);
        }
        widened.is_some()
    }

    fn widen(&mut self, widened: Widened) {
        let timeline = &self.timeline;
        let number = |slot: i64| timeline.round(slot.div_euclid(widened.ratio));
        let mut slots: BTreeMap<i64, Values> = BTreeMap::new();
        for (slot, values) in &self.slots {
            add(slots.entry(number(*slot)).or_default(), values);
        }
        self.slots = slots;
        for row in &mut self.rows {
            row.renumber(number);
        }
        self.halved_at = self.halved_at.div_euclid(widened.ratio);
    }

    fn forget_old(&mut self, slot: i64) {
        let Some(half_life) = self.config.half_life else { return };
        if self.halved_at == i64::MIN {
            self.halved_at = slot;
        }
        if slot.saturating_sub(self.halved_at) < half_life.max(1) {
            return;
        }
        self.halved_at = slot;
        self.weight = 0;
        for row in &mut self.rows {
            row.weight /= 2;
            self.weight = self.weight.saturating_add(row.weight);
        }
    }

    fn keep_within_bytes(&mut self) {
        loop {
            let bytes = self.bytes();
            if bytes + SLACK_BYTES <= self.config.bytes_max {
                self.bytes_peak = self.bytes_peak.max(bytes);
                return;
            }
            if self.slots.len() > SLOTS_MIN && self.widen_once() {
                continue;
            }
            if self.rows.len() <= ROWS_MIN {
                return;
            }
            self.config.rows_max = (self.config.rows_max / 2).max(ROWS_MIN);
            self.merge_rows(self.config.rows_max * 4 / 5);
        }
    }
}

/// Neighbours that belong together, so that there are at most `groups_max` groups and their weights are about even: the length of
/// each group. The least weight that makes few enough groups is found by halving.
pub(super) fn grouped(weights: &[u64], groups_max: usize) -> Vec<usize> {
    let cut = |limit: u64| {
        let mut lengths: Vec<usize> = Vec::new();
        let mut sum = 0_u64;
        for &weight in weights {
            match lengths.last_mut() {
                Some(length) if sum.saturating_add(weight) <= limit => {
                    *length += 1;
                    sum = sum.saturating_add(weight);
                }
                _ => {
                    lengths.push(1);
                    sum = weight;
                }
            }
        }
        lengths
    };
    if weights.len() <= groups_max {
        return vec![1; weights.len()];
    }
    let (mut low, mut high) = (0_u64, weights.iter().fold(0_u64, |sum, &weight| sum.saturating_add(weight)));
    while low < high {
        let middle = low + (high - low) / 2;
        if cut(middle).len() <= groups_max.max(1) { high = middle } else { low = middle + 1 }
    }
    cut(high)
}

#[cfg(test)]
mod tests;
