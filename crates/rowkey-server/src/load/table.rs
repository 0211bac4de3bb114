//! The record of one table: totals, tablets, and, as long as there is room for it, the map, the frequent keys and the doctor's sample.

use super::answer::Sums;
use super::buffer::{Event, Touch};
use super::history::{History, RangeSums, TabletSums};
use super::hot::{HotLog, MINUTE_MS, QUARTER_MS};
use super::keys::Frequent;
use super::sample::Sample;
use super::tablets::{Closed, Tablets};
use bytes::Bytes;
use rowkey::Codec;
use rowkey_hotspot::Diagnosis;
use rowkey_hotspot::heatmap::{Config, Matrix, Metric, Resolution, Values, ViewSpec};
use rowkey_hotspot::sim::Settings;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minutes that wait for being saved; what is older is given up, but for its sums.
const UNSAVED_MAX: usize = 60;
/// Times closer to now than this get narrow slots when history is read back.
const NARROW_MS: i64 = 2 * 3_600_000;
/// Width of the narrow slots of the map.
const SLOT_MS: i64 = 10_000;

/// What operations cost a node, in nanoseconds: the simulator's figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    pub(super) write: u64,
    pub(super) read: u64,
    /// Of 1,000 rows that a scan passes: one takes a few nanoseconds.
    pub(super) thousand_rows: u64,
}

impl Costs {
    pub(super) fn new(settings: &Settings) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below a second, and not negative"
        )]
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        Self {
            write: ns(settings.write_s()),
            read: ns(settings.read_s()),
            thousand_rows: ns(settings.row_s() * 1_000.0),
        }
    }

    /// What an event adds.
    fn sums(&self, event: &Event<'_>) -> Sums {
        let sums = Sums { time_us: event.time_us, ..Sums::default() };
        let written = Sums { writes: 1, bytes_in: event.bytes, ..sums };
        let read = Sums { reads: 1, bytes_out: event.bytes, rows: event.rows, ..sums };
        match event.touch {
            Touch::Nothing => Sums::default(),
            Touch::Write | Touch::Delete => Sums { work_ns: self.write, ..written },
            Touch::ReadWrite => Sums { work_ns: self.write + self.read, ..written },
            Touch::Read => Sums { work_ns: self.read, ..read },
            Touch::Scan => {
                let rows_ns = event.rows.saturating_mul(self.thousand_rows) / 1_000;
                Sums { work_ns: self.read.saturating_add(rows_ns), ..read }
            }
        }
    }
}

/// How much of a table is kept: follows from the room that it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of memory, about.
    bytes: usize,
}

impl Size {
    /// Of one of so many tables that share so much memory. Half of it is for what the others take more.
    pub(super) fn of(memory_bytes: usize, tables: usize) -> Self {
        Self { bytes: memory_bytes / 2 / tables.max(8) }
    }

    /// The least.
    pub(super) fn least() -> Self {
        Self { bytes: 0 }
    }

    fn rows_max(self) -> usize {
        (self.bytes >> 14).clamp(16, 1_024)
    }

    fn config(self) -> Config {
        // Old times of a table with few rows are kept coarser: slots take room as rows do.
        let resolution = if self.bytes < 1 << 20 {
            Resolution::Tiered { tiers: vec![(SLOT_MS, 60), (MINUTE_MS, 120), (QUARTER_MS, 96)] }
        } else {
            Resolution::Tiered { tiers: vec![(SLOT_MS, 360), (MINUTE_MS, 480), (QUARTER_MS, 1_344)] }
        };
        Config {
            rows_max: self.rows_max(),
            resolution,
            bytes_max: self.bytes.clamp(1 << 20, 16 << 20),
            ..Config::live()
        }
    }
}

/// What needs room.
#[derive(Debug, Clone)]
pub(super) struct Detail {
    pub(super) size: Size,
    pub(super) matrix: Matrix,
    pub(super) written: Frequent,
    pub(super) read: Frequent,
    pub(super) sample: Sample,
}

impl Detail {
    pub(super) fn new(size: Size) -> Self {
        let counters = (size.bytes >> 14).clamp(16, 512);
        Self {
            size,
            matrix: Matrix::new(size.config()),
            written: Frequent::new(counters),
            read: Frequent::new(counters),
            sample: Sample::new((size.bytes >> 12).clamp(32, 2_000)),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.matrix.bytes() + self.written.bytes() + self.read.bytes() + self.sample.bytes()
    }

    /// The same map in another size, and nothing else. No sum is lost.
    fn resized(&self, size: Size) -> Self {
        let mut other = Self::new(size);
        let view = self.matrix.view(&ViewSpec {
            rows_max: size.rows_max(),
            columns_max: 256,
            metrics: Metric::ALL.to_vec(),
            ..ViewSpec::default()
        });
        for column in 0..view.columns {
            let offset = view.time_step.saturating_mul(i64::try_from(column).unwrap_or(i64::MAX));
            for (at, row) in view.rows.iter().enumerate() {
                let mut values = Values::default();
                for (metric, value) in values.iter_mut().enumerate() {
                    *value = view.at(metric, at, column);
                }
                if values != Values::default() {
                    let key = row.example.as_deref().unwrap_or(&row.start);
                    other.matrix.add_all(view.time_start.saturating_add(offset), key, values);
                }
            }
        }
        other
    }
}

/// A minute that is not saved yet.
#[derive(Debug, Clone, Default)]
struct Unsaved {
    sums: Sums,
    tablets: Vec<Closed>,
}

/// The record of one table.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// All that was counted, what was read back included.
    pub(super) totals: Sums,
    /// When the last operation ended, in milliseconds.
    pub(super) last_ms: i64,
    pub(super) tablets: Tablets,
    pub(super) hot: HotLog,
    pub(super) detail: Option<Box<Detail>>,
    /// The schema that is kept with the table, as text and read.
    pub(super) schema_text: Option<Bytes>,
    pub(super) kept_schema: Option<Codec>,
    /// When the doctor was asked last, and the answer.
    pub(super) diagnosis: Option<(i64, Arc<Diagnosis>)>,
    /// Whether the engine was asked for its tablets.
    pub(super) is_known: bool,
    /// Its map was given up for room: from then on it is a small one.
    is_small: bool,
    /// By minute since the epoch.
    unsaved: BTreeMap<i64, Unsaved>,
    /// What ends before counts at this time: earlier minutes are saved already.
    saved_until_ms: i64,
}

impl Table {
    /// Counts an event.
    pub(super) fn count(&mut self, event: &Event<'_>, costs: &Costs, size: Size) {
        let time_ms = event.ended_us.div_euclid(1_000).max(self.saved_until_ms);
        let sums = costs.sums(event);
        self.totals.add(&sums);
        self.last_ms = self.last_ms.max(time_ms);
        self.unsaved.entry(time_ms.div_euclid(MINUTE_MS)).or_default().sums.add(&sums);
        let mut closed = Vec::new();
        self.count_tablets(time_ms, event, &sums, &mut closed);
        self.take(closed);
        let size = if self.is_small { Size::least() } else { size };
        let detail = self.detail.get_or_insert_with(|| Box::new(Detail::new(size)));
        let [values @ .., _] = sums.all();
        // A scan counts where it begins.
        let key = event.last.filter(|_| event.is_reversed).unwrap_or(event.key);
        detail.matrix.add_all(time_ms, key, values);
        detail.sample.offer(time_ms, event);
        match event.touch {
            Touch::Read | Touch::Scan if !key.is_empty() => detail.read.observe(time_ms, key),
            Touch::Write | Touch::Delete | Touch::ReadWrite => detail.written.observe(time_ms, key),
            _ => {}
        }
    }

    fn count_tablets(&mut self, time_ms: i64, event: &Event<'_>, sums: &Sums, closed: &mut Vec<Closed>) {
        if event.touch != Touch::Scan {
            self.tablets.add(time_ms, event.key, sums, closed);
            return;
        }
        let last = event.last.map(|last| [last, &[0]].concat());
        let read = match &last {
            // From the end down to the last row.
            Some(last) if event.is_reversed => (&last[..last.len() - 1], event.end),
            Some(last) => (event.key, Some(&last[..])),
            None => (event.key, event.end),
        };
        self.tablets.add_scan(time_ms, read, sums, closed);
    }

    /// Takes minutes of tablets that are over.
    fn take(&mut self, closed: Vec<Closed>) {
        for closed in closed {
            let start_ms = closed.minute.saturating_mul(MINUTE_MS);
            self.hot.note(
                &closed.range,
                closed.node,
                start_ms,
                start_ms.saturating_add(MINUTE_MS),
                closed.sums.work_ns,
            );
            let minute = closed.minute.max(self.saved_until_ms.div_euclid(MINUTE_MS));
            self.unsaved.entry(minute).or_default().tablets.push(closed);
        }
    }

    /// Closes the minutes of tablets that are over.
    pub(super) fn close(&mut self, now_ms: i64) {
        let mut closed = Vec::new();
        self.tablets.close_all(now_ms.div_euclid(MINUTE_MS), &mut closed);
        self.take(closed);
        // If saving fails for long, old minutes become one.
        while self.unsaved.len() > UNSAVED_MAX {
            let Some((_, oldest)) = self.unsaved.pop_first() else { break };
            if let Some(mut next) = self.unsaved.first_entry() {
                next.get_mut().sums.add(&oldest.sums);
            }
        }
    }

    /// The minutes that are to be saved: those before `minute`, all of which something was counted in.
    pub(super) fn minutes_to_save(&self, minute: i64) -> Vec<i64> {
        self.unsaved.range(..minute).map(|(&minute, _)| minute).collect()
    }

    /// What is to be kept of a minute, with at most so many ranges.
    pub(super) fn history(&self, minute: i64, ranges_max: usize) -> History {
        let Some(unsaved) = self.unsaved.get(&minute) else { return History::default() };
        let mut history =
            History { ranges: self.ranges(minute, &unsaved.sums, ranges_max), tablets: Vec::new() };
        let mut tablets: Vec<Closed> = unsaved.tablets.clone();
        for (at, tablet) in self.tablets.all().iter().enumerate() {
            if tablet.open.0 == minute && tablet.open.1 != Sums::default() {
                let (range, node) = (self.tablets.range(at), tablet.node);
                tablets.push(Closed { minute, range, node, sums: tablet.open.1 });
            }
        }
        history.tablets = tablets
            .into_iter()
            .map(|closed| TabletSums {
                range: closed.range,
                node: closed.node,
                peak_minute: 0,
                peak_work_ns: closed.sums.work_ns,
                sums: closed.sums,
            })
            .collect();
        history.tidy(ranges_max);
        history
    }

    /// The ranges of a minute. They add up to `sums`, without work.
    fn ranges(&self, minute: i64, sums: &Sums, ranges_max: usize) -> Vec<RangeSums> {
        let sums = Sums { work_ns: 0, ..*sums };
        let whole = || vec![RangeSums { key: Vec::new(), sums }];
        let Some(detail) = &self.detail else { return whole() };
        let from = minute.saturating_mul(MINUTE_MS);
        let view = detail.matrix.view(&ViewSpec {
            rows_max: ranges_max,
            columns_max: 1,
            from: Some(from),
            to: Some(from.saturating_add(MINUTE_MS)),
            metrics: Metric::ALL.to_vec(),
            ..ViewSpec::default()
        });
        let of_rows: Vec<Vec<u64>> = (0..view.metrics.len()).map(|metric| view.row_sums(metric)).collect();
        let mut ranges: Vec<RangeSums> = Vec::new();
        let mut all = Sums::default();
        for (at, row) in view.rows.iter().enumerate() {
            let mut sums = Sums::default();
            for (to, of_rows) in sums.all_mut().into_iter().zip(&of_rows) {
                *to = of_rows.get(at).copied().unwrap_or_default();
            }
            all.add(&sums);
            if sums != Sums::default() {
                let key = row.example.as_deref().unwrap_or(&row.start).to_vec();
                ranges.push(RangeSums { key, sums });
            }
        }
        // The map may have been given up, or begun, within the minute, or have slots that are wider than it.
        let mut missing = sums;
        for (missing, known) in missing.all_mut().into_iter().zip(all.all()) {
            let Some(rest) = missing.checked_sub(known) else { return whole() };
            *missing = rest;
        }
        if missing != Sums::default() {
            match ranges.first_mut() {
                Some(first) => first.sums.add(&missing),
                None => ranges.push(RangeSums { key: Vec::new(), sums: missing }),
            }
        }
        ranges
    }

    /// From now on nothing is counted before `minute`: what is before it is about to be saved.
    pub(super) fn seal(&mut self, minute: i64) {
        self.saved_until_ms = self.saved_until_ms.max(minute.saturating_mul(MINUTE_MS));
    }

    /// Notes that all minutes before `minute` are saved.
    pub(super) fn saved(&mut self, minute: i64) {
        self.unsaved = self.unsaved.split_off(&minute);
    }

    /// Takes back what was kept of a period of so many minutes. The minute of `now_ms` is still to be saved.
    pub(super) fn restore(
        &mut self,
        start_minute: i64,
        minutes: i64,
        history: &History,
        now_ms: i64,
        size: Size,
    ) {
        let open = now_ms.div_euclid(MINUTE_MS);
        let start_ms = start_minute.saturating_mul(MINUTE_MS);
        let sums = history.sums();
        self.totals.add(&sums);
        let behind_ms = start_ms.saturating_add(minutes.saturating_mul(MINUTE_MS));
        self.last_ms = self.last_ms.max(behind_ms.min(open.saturating_mul(MINUTE_MS)));
        for tablet in &history.tablets {
            self.totals.work_ns = self.totals.work_ns.saturating_add(tablet.sums.work_ns);
            let peak = i64::try_from(tablet.peak_minute).unwrap_or(0).min(minutes - 1).max(0);
            let peak_ms = start_ms.saturating_add(peak.saturating_mul(MINUTE_MS));
            let peak_end_ms = peak_ms.saturating_add(MINUTE_MS);
            self.hot.note(&tablet.range, tablet.node, peak_ms, peak_end_ms, tablet.peak_work_ns);
        }
        let slots = if minutes == 1 && open.saturating_mul(MINUTE_MS).saturating_sub(start_ms) < NARROW_MS {
            // Not into the future: a server may be started again in the minute in which it stopped.
            (now_ms.saturating_sub(start_ms) / SLOT_MS + 1).clamp(1, MINUTE_MS / SLOT_MS)
        } else {
            1
        };
        let detail = self.detail.get_or_insert_with(|| Box::new(Detail::new(size)));
        for slot in 0..slots {
            for range in &history.ranges {
                let [mut values @ .., _] = range.sums.all();
                for value in &mut values {
                    let (slots, slot) = (slots.unsigned_abs(), slot.unsigned_abs());
                    *value = *value / slots + u64::from(slot < *value % slots);
                }
                if values != Values::default() {
                    let time_ms = start_ms.saturating_add(slot.saturating_mul(SLOT_MS));
                    detail.matrix.add_all(time_ms, &range.key, values);
                }
            }
        }
        if start_minute >= open {
            let unsaved = self.unsaved.entry(start_minute).or_default();
            unsaved.sums.add(&sums);
            unsaved.tablets.extend(history.tablets.iter().map(|tablet| Closed {
                minute: start_minute,
                range: tablet.range.clone(),
                node: tablet.node,
                sums: tablet.sums,
            }));
        }
        self.seal(open);
    }

    /// Gives up what can be given up: first all but a coarse map, then that as well. Whether there was something.
    pub(super) fn shrink(&mut self) -> bool {
        self.diagnosis = None;
        self.is_small = true;
        match self.detail.take() {
            None => false,
            Some(detail) => {
                if detail.size != Size::least() {
                    self.detail = Some(Box::new(detail.resized(Size::least())));
                }
                true
            }
        }
    }

    /// There is room again: a table whose map was given up for room, and which was used since `since_ms`, gets a larger one. Whether it
    /// did.
    pub(super) fn grow(&mut self, since_ms: i64, size: Size) -> bool {
        let grows = self.is_small && self.last_ms >= since_ms;
        if grows {
            self.is_small = false;
            self.detail = self.detail.as_ref().map(|detail| Box::new(detail.resized(size)));
        }
        grows
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let detail = self.detail.as_ref().map_or(0, |detail| size_of::<Detail>() + detail.bytes());
        let unsaved = |unsaved: &Unsaved| unsaved.tablets.capacity() * size_of::<Closed>() + 128;
        size_of::<Self>()
            + detail
            + self.tablets.bytes()
            + self.hot.bytes()
            + self.unsaved.values().map(unsaved).sum::<usize>()
    }
}
