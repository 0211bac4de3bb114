//! What the benchmarks share: stores in temporary folders, medians, and lines of figures.

use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{Clock, ManualClock};
use std::path::Path;
use std::sync::Arc;

/// Where time stands still, so that every run writes the same bytes.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::new(1_790_000_000_000_000))
}

/// A store with the settings that users get, garbage collection in the background left out.
pub fn open(path: &Path) -> Arc<LsmEngine> {
    let options = Options { create: true, clock: clock(), background_gc: false, ..Options::default() };
    Arc::new(LsmEngine::open(path, options).expect("a new store"))
}

/// A small generator of repeatable numbers.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The middle one of the figures.
pub fn median(figures: &[f64]) -> f64 {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Prints one figure with its spread.
pub fn line(name: &str, figures: &[f64], unit: &str) {
    let smallest = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = figures.iter().copied().fold(0.0, f64::max);
    println!("{name:<58}{:>14.1} {unit:<8} ({smallest:.1} to {largest:.1})", median(figures));
}

/// Prints a ratio of medians.
pub fn ratio(name: &str, ours: &[f64], theirs: &[f64]) {
    println!("{name:<58}{:>14.2}", median(ours) / median(theirs));
}
