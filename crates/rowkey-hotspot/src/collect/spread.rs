//! How a stream of keys spreads over the key space: windows against ranges of equal count, learned from the keys before.

use super::n_eff::{evenness, n_eff, n_eff_error, n_eff_plain};
use super::series::Series;
use crate::facts::{Front, Spread, WindowSpread};
use crate::sketch::{EquiDepth, Ranges, Sample, float, kept, tau_b};

/// How to measure a [`Spread`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpreadConfig {
    /// Operations in a window, at least 1.
    pub window_len: usize,
    /// Ranges of equal count, at least 1.
    pub ranges: u32,
    /// Keys kept for the ranges. Up to so many, the ranges are exact; at least `64 * ranges` keep the error of a mean of N_eff below 2 %.
    pub keys_max: usize,
    /// Bytes of keys kept.
    pub bytes_max: usize,
    /// Chooses which keys are kept.
    pub seed: u64,
}

impl Default for SpreadConfig {
    fn default() -> Self {
        Self { window_len: 1_000, ranges: 256, keys_max: 32_768, bytes_max: 4 << 20, seed: 0 }
    }
}

/// Measures a [`Spread`] in one pass.
///
/// The first window teaches the first ranges and is not measured. A last window that is short counts if it has at least half of the length.
/// A stream too short for one measured window is measured in windows of an eighth of it.
#[derive(Debug, Clone)]
pub struct SpreadMeter {
    config: SpreadConfig,
    learned: EquiDepth,
    ranges: Ranges,
    counts: Vec<u64>,
    /// Of the window that is open: its first key's index and time, its keys so far.
    first: u64,
    first_ms: Option<i64>,
    filled: usize,
    above: u64,
    below: u64,
    /// The greatest and least key of all, and of those before the window.
    greatest: Vec<u8>,
    least: Vec<u8>,
    greatest_before: Vec<u8>,
    least_before: Vec<u8>,
    previous: Vec<u8>,
    seen: u64,
    ascending: u64,
    new_keys: u64,
    totals: Totals,
    series: Series,
}

/// Sums over the windows measured.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    windows: u64,
    n_eff: f64,
    /// Sum of squared distances from the mean (Welford 1962).
    scatter: f64,
    n_eff_error: f64,
    n_eff_min: f64,
    largest_share: f64,
    largest_share_max: f64,
    evenness: f64,
    above: f64,
    below: f64,
}

impl SpreadMeter {
    /// A meter that has seen nothing.
    pub fn new(config: SpreadConfig) -> Self {
        let window_len = config.window_len.max(1);
        let config = SpreadConfig { window_len, ranges: config.ranges.clamp(1, 1 << 16), ..config };
        Self {
            config,
            learned: EquiDepth::new(config.seed, config.keys_max, config.bytes_max),
            ranges: Ranges::default(),
            counts: vec![0],
            first: 0,
            first_ms: None,
            filled: 0,
            above: 0,
            below: 0,
            greatest: Vec::new(),
            least: Vec::new(),
            greatest_before: Vec::new(),
            least_before: Vec::new(),
            previous: Vec::new(),
            seen: 0,
            ascending: 0,
            new_keys: 0,
            totals: Totals::default(),
            series: Series::default(),
        }
    }

    /// The next key of the stream. Bytes behind [`crate::sketch::KEY_KEPT_MAX`] do not count.
    #[inline]
    pub fn observe(&mut self, key: &[u8], time_ms: Option<i64>) {
        let key = kept(key);
        if self.filled == 0 {
            self.first = self.seen;
            self.first_ms = time_ms;
        }
        let range = self.ranges.find(key);
        self.counts[range] += 1;
        // Only the outermost ranges can have a key beyond all keys before the window.
        let nothing_before = self.first == 0;
        if range + 1 == self.counts.len() && (nothing_before || key > self.greatest_before.as_slice()) {
            self.above += 1;
            if self.seen == 0 || key > self.greatest.as_slice() {
                replace(&mut self.greatest, key);
            }
        }
        if range == 0 && (nothing_before || key < self.least_before.as_slice()) {
            self.below += 1;
            if self.seen == 0 || key < self.least.as_slice() {
                replace(&mut self.least, key);
            }
        }
        self.ascending += u64::from(self.seen > 0 && key > self.previous.as_slice());
        replace(&mut self.previous, key);
        self.learned.offer(key, time_ms);
        self.seen += 1;
        self.filled += 1;
        if self.filled == self.config.window_len {
            self.close();
        }
    }

    /// The keys kept: uniform, in order of arrival.
    pub fn sample(&self) -> &Sample {
        self.learned.sample()
    }

    /// Ends the window: measures it unless it is the first, and learns from it.
    fn close(&mut self) {
        if self.first > 0 {
            self.measure();
        }
        self.filled = 0;
        self.above = 0;
        self.below = 0;
        if self.learned.is_stale(self.config.ranges) {
            self.learned.cut(self.config.ranges, &mut self.ranges);
        }
        self.counts.clear();
        self.counts.resize(self.ranges.len(), 0);
        self.greatest_before.clone_from(&self.greatest);
        self.least_before.clone_from(&self.least);
    }

    fn measure(&mut self) {
        let counts = &self.counts;
        let len = self.filled as u64;
        let fullest = counts.iter().copied().max().unwrap_or_default();
        let last = float(counts.len() as u64 - 1).max(1.0);
        let places: f64 = (0_u64..).zip(counts).map(|(range, count)| float(range) * float(*count)).sum();
        let window = WindowSpread {
            first: self.first,
            len,
            time_ms: self.first_ms,
            n_eff: n_eff(counts),
            n_eff_min: n_eff_plain(counts),
            largest_share: float(fullest) / float(len),
            centre: places / float(len) / last,
            above: float(self.above) / float(len),
            below: float(self.below) / float(len),
        };
        self.new_keys += self.above + self.below;
        self.totals.add(&window, evenness(counts), n_eff_error(counts));
        self.series.push(window);
    }

    /// What was measured. `by_depth` is left empty: it needs whole windows of keys.
    pub fn finish(mut self) -> (Spread, Sample) {
        if self.filled > 0 && 2 * self.filled >= self.config.window_len {
            self.close();
        }
        if self.totals.windows == 0 && self.sample().len() >= 2 {
            return (self.short(), self.learned.into_sample());
        }
        let front = self.front();
        let window_len = self.config.window_len as u64;
        let spread = self.totals.spread(window_len, self.config.ranges, self.series.finish(), front);
        (spread, self.learned.into_sample())
    }

    /// A stream that has no measured window, in shorter ones.
    fn short(&mut self) -> Spread {
        let ascending = self.front().ascending;
        let sample = self.sample();
        let window_len = (sample.len() / 8).max(2.min(sample.len() / 2));
        let mut meter = Self::new(SpreadConfig { window_len, ..self.config });
        for sampled in sample.iter() {
            meter.observe(sampled.key, sampled.time_ms);
        }
        let (mut spread, _) = meter.finish();
        // Where the sample is thinned, neighbours in it are none in the stream.
        spread.front.ascending = ascending;
        spread
    }

    fn front(&mut self) -> Front {
        let windows = float(self.totals.windows).max(1.0);
        let per_range = float(self.seen) / float(u64::from(self.config.ranges));
        Front {
            above: self.totals.above / windows,
            below: self.totals.below / windows,
            ranges_per_window: if self.seen == 0 { 0.0 } else { float(self.new_keys) / per_range / windows },
            tau: tau_b(&mut self.ranks()).tau,
            ascending: float(self.ascending) / float(self.seen.saturating_sub(1)).max(1.0),
        }
    }

    /// The rank of each sampled key, in order of arrival; equal keys have one rank.
    fn ranks(&mut self) -> Vec<u32> {
        let order = self.learned.order().to_vec();
        let sample = self.sample();
        let mut ranks = vec![0; sample.len()];
        let mut rank = 0;
        let mut before: Option<&[u8]> = None;
        for position in order {
            let position = position as usize;
            let key = sample.key(position);
            if before.is_some_and(|before| before != key) {
                rank += 1;
            }
            before = Some(key);
            ranks[position] = rank;
        }
        ranks
    }
}

impl Totals {
    fn add(&mut self, window: &WindowSpread, evenness: f64, error: f64) {
        self.windows += 1;
        let distance = window.n_eff - self.n_eff;
        self.n_eff += distance / float(self.windows);
        self.scatter += distance * (window.n_eff - self.n_eff);
        self.n_eff_error = error;
        self.n_eff_min =
            if self.windows == 1 { window.n_eff_min } else { self.n_eff_min.min(window.n_eff_min) };
        self.largest_share += window.largest_share;
        self.largest_share_max = self.largest_share_max.max(window.largest_share);
        self.evenness += evenness;
        self.above += window.above;
        self.below += window.below;
    }

    fn spread(&self, window_len: u64, ranges: u32, series: Vec<WindowSpread>, front: Front) -> Spread {
        let windows = float(self.windows).max(1.0);
        Spread {
            windows: self.windows,
            window_len,
            ranges,
            n_eff: self.n_eff,
            n_eff_error: match self.windows {
                // One window has no scatter: its own error.
                0 | 1 => self.n_eff_error,
                _ => (self.scatter / (windows - 1.0) / windows).sqrt(),
            },
            n_eff_min: self.n_eff_min,
            largest_share: self.largest_share / windows,
            largest_share_max: self.largest_share_max,
            evenness: self.evenness / windows,
            series,
            front,
            by_depth: Vec::new(),
        }
    }
}

fn replace(place: &mut Vec<u8>, key: &[u8]) {
    place.clear();
    place.extend_from_slice(key);
}

/// The [`Spread`] of any sequence of byte strings, in order of arrival: one field's values, the keys below one prefix.
///
/// `window` and `ranges` as in [`SpreadConfig`]: 1,000 and 256 for what is called N_eff. `by_depth` is empty.
///
/// ```
/// let keys: Vec<String> = (0..5_000).map(|n| format!("{n:08}")).collect();
/// let spread = rowkey_hotspot::collect::spread_of(keys.iter().map(String::as_bytes), 1_000, 256);
/// assert_eq!(spread.n_eff, 1.0);
/// assert_eq!(spread.windows, 4);
/// ```
pub fn spread_of<'k>(keys: impl IntoIterator<Item = &'k [u8]>, window: usize, ranges: u32) -> Spread {
    let mut meter = SpreadMeter::new(SpreadConfig { window_len: window, ranges, ..SpreadConfig::default() });
    for key in keys {
        meter.observe(key, None);
    }
    meter.finish().0
}
