//! The windows of a stream of any length, as a series of bounded length: neighbours are joined when it is full.

use crate::facts::WindowSpread;
use crate::sketch::float;

/// Most entries of a series.
pub(crate) const SERIES_MAX: usize = 512;

/// Windows in order, each entry standing for the same number of them.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    entries: Vec<WindowSpread>,
    /// Windows an entry stands for.
    stride: u64,
    /// Windows in the last entry, 1 to `stride`.
    filled: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { entries: Vec::new(), stride: 1, filled: 1 }
    }
}

impl Series {
    pub(crate) fn push(&mut self, window: WindowSpread) {
        if let Some(last) = self.entries.last_mut()
            && self.filled < self.stride
        {
            *last = joined(*last, self.filled, window, 1);
            self.filled += 1;
            return;
        }
        if self.entries.len() == SERIES_MAX {
            // All are full, and their number is even.
            let pairs = self.entries.chunks_exact(2);
            self.entries = pairs.map(|pair| joined(pair[0], 1, pair[1], 1)).collect();
            self.stride *= 2;
        }
        self.entries.push(window);
        self.filled = 1;
    }

    pub(crate) fn finish(self) -> Vec<WindowSpread> {
        self.entries
    }
}

/// Two neighbours as one: means weighted, least of the least, greatest of the greatest.
fn joined(left: WindowSpread, left_weight: u64, right: WindowSpread, right_weight: u64) -> WindowSpread {
    let (left_part, right_part) = (float(left_weight), float(right_weight));
    let mean = |left: f64, right: f64| (left * left_part + right * right_part) / (left_part + right_part);
    WindowSpread {
        first: left.first,
        len: left.len + right.len,
        time_ms: left.time_ms,
        n_eff: mean(left.n_eff, right.n_eff),
        n_eff_min: left.n_eff_min.min(right.n_eff_min),
        largest_share: left.largest_share.max(right.largest_share),
        centre: mean(left.centre, right.centre),
        above: mean(left.above, right.above),
        below: mean(left.below, right.below),
    }
}
