//! N_eff by depth: how many different beginnings of so many bytes a window has.

use crate::facts::{Arrived, DepthSpread, Scan};
use crate::sketch::float;

/// Deepest depth looked at: the longest key of Bigtable.
const DEPTH_MAX: usize = 4_096;

/// Every depth up to here is looked at, then each multiple of 16.
const EVERY_MAX: usize = 128;

/// A depth is listed where N_eff is by so much above the one listed before, and at its last change.
const STEP: f64 = 1.01;

/// What has a key.
pub(crate) trait Keyed {
    fn key(&self) -> &[u8];
}

impl Keyed for Arrived {
    fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Keyed for Scan {
    fn key(&self) -> &[u8] {
        &self.key
    }
}

/// Effective number of different prefixes, `W^2 / sum c^2`, in windows of up to `window_len` neighbours, by the prefix's length; mean over the
/// windows, weighted by their keys. Exact for these windows.
pub(crate) fn by_depth<T: Keyed>(runs: &[Vec<T>], window_len: usize) -> Vec<DepthSpread> {
    let chunks = runs.iter().flat_map(|run| run.chunks(window_len.max(1)));
    // The rest of a division says little; it counts only if there is nothing else.
    let whole: Vec<&[T]> = chunks.clone().filter(|chunk| 2 * chunk.len() >= window_len).collect();
    let windows: Vec<&[T]> = if whole.is_empty() { chunks.collect() } else { whole };
    let keys: usize = windows.iter().map(|window| window.len()).sum();
    if keys == 0 {
        return Vec::new();
    }
    let shared: Vec<Vec<usize>> = windows.iter().map(|window| shared_with_next(window)).collect();
    let deepest = shared.iter().flatten().copied().max().unwrap_or_default().min(DEPTH_MAX - 1) + 1;
    let mut listed: Vec<DepthSpread> = Vec::new();
    let mut skipped: Option<DepthSpread> = None;
    for bytes in (1..=deepest).filter(|bytes| *bytes <= EVERY_MAX || bytes % 16 == 0 || *bytes == deepest) {
        let weighted: f64 =
            shared.iter().map(|shared| prefixes(shared, bytes) * float(shared.len() as u64 + 1)).sum();
        let depth = DepthSpread { bytes, n_eff: weighted / float(keys as u64) };
        if listed.last().is_none_or(|last| depth.n_eff >= last.n_eff * STEP) {
            listed.push(depth);
            skipped = None;
        } else if skipped.as_ref().or(listed.last()).is_some_and(|last| depth.n_eff > last.n_eff) {
            skipped = Some(depth);
        }
    }
    listed.extend(skipped);
    listed
}

/// Bytes that each key of the window, sorted, shares with the next; equal keys share more than any key has.
fn shared_with_next<T: Keyed>(window: &[T]) -> Vec<usize> {
    let mut keys: Vec<&[u8]> = window.iter().map(Keyed::key).collect();
    keys.sort_unstable();
    keys.windows(2)
        .map(|pair| {
            let common = pair[0].iter().zip(pair[1]).take_while(|(left, right)| left == right).count();
            if pair[0].len() == pair[1].len() && common == pair[0].len() { usize::MAX } else { common }
        })
        .collect()
}

/// Plain N_eff of the prefixes of so many bytes.
fn prefixes(shared: &[usize], bytes: usize) -> f64 {
    let (mut run, mut squares) = (1_u64, 0_u64);
    for common in shared {
        if *common >= bytes {
            run += 1;
        } else {
            squares += run * run;
            run = 1;
        }
    }
    squares += run * run;
    let total = float(shared.len() as u64 + 1);
    total * total / float(squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[&str], expected: &[(usize, f64)]) {
        let arrived =
            |(index, key): (u64, &&str)| Arrived { index, time_ms: None, key: key.as_bytes().into() };
        let run: Vec<Arrived> = (0..).zip(keys).map(arrived).collect();
        let found: Vec<(usize, f64)> =
            by_depth(&[run], 1_000).iter().map(|depth| (depth.bytes, depth.n_eff)).collect();
        assert_eq!(found, expected, "{keys:?}");
    }

    #[test]
    fn the_depth_that_tells_keys_apart_is_listed() {
        check(&[], &[]);
        check(&["a"], &[(1, 1.0)]);
        check(&["k", "k", "k", "k"], &[(1, 1.0)]);
        check(&["a1", "b1", "a2", "b2"], &[(1, 2.0), (2, 4.0)]);
        check(&["x#1", "x#2"], &[(1, 1.0), (3, 2.0)]);
        check(&["x", "x#2"], &[(1, 1.0), (2, 2.0)]);
    }
}
