//! Peak rates: the highest number of operations in any 100 ms, whatever order they come in.

use std::collections::VecDeque;

use crate::sketch::float;

/// Kinds whose rates are told apart: writes, point reads, scans.
const KINDS: usize = 3;

/// Operations that come within so many milliseconds of the latest one are put in order; later ones are not.
const HORIZON_MS: i64 = 8_192;

/// A window of so many milliseconds.
const PEAK_MS: i64 = 100;

/// A clock that stays behind for so many operations is believed, and counting begins anew there.
const LATE_MAX: u32 = 64;

/// Counts per millisecond over the last 8 seconds, so that disorder of some seconds does not change an answer.
#[derive(Debug, Clone)]
pub(crate) struct PeakRates {
    /// Counts of the milliseconds of the horizon, at `time mod HORIZON_MS`.
    counts: Vec<[u32; KINDS]>,
    /// A bit for each that is not zero.
    used: Vec<u64>,
    /// The latest time; `None` before the first.
    latest: Option<i64>,
    late: u32,
    /// The milliseconds of the last window that passed, their sums, and the highest sums.
    window: VecDeque<(i64, [u32; KINDS])>,
    sums: [u64; KINDS],
    peaks: [u64; KINDS],
}

impl PeakRates {
    pub(crate) fn new() -> Self {
        let slots = slot(HORIZON_MS - 1) + 1;
        Self {
            counts: vec![[0; KINDS]; slots],
            used: vec![0; slots / 64],
            latest: None,
            late: 0,
            window: VecDeque::new(),
            sums: [0; KINDS],
            peaks: [0; KINDS],
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, time_ms: i64, kind: usize) {
        // Far from the ends of the numbers, so that differences do not overflow.
        let time = time_ms.clamp(i64::MIN / 4, i64::MAX / 4);
        let latest = *self.latest.get_or_insert(time);
        if time > latest {
            self.advance(latest, time);
        } else if time <= latest - HORIZON_MS {
            self.late += 1;
            if self.late < LATE_MAX {
                return;
            }
            self.advance(latest, latest + HORIZON_MS);
            self.close_window();
            self.latest = Some(time);
        }
        self.late = 0;
        let at = slot(time);
        self.used[at / 64] |= 1 << (at % 64);
        let count = &mut self.counts[at][kind];
        *count = count.saturating_add(1);
    }

    /// Passes the milliseconds that leave the horizon.
    fn advance(&mut self, latest: i64, time: i64) {
        self.latest = Some(time);
        let first = latest - HORIZON_MS + 1;
        let end = (time - HORIZON_MS + 1).min(latest + 1);
        let mut at = first;
        while at < end {
            let place = slot(at);
            let rest = self.used[place / 64] >> (place % 64);
            if rest == 0 {
                // On to the next word of 64.
                at += 64 - i64::try_from(place % 64).unwrap_or_default();
                continue;
            }
            at += i64::from(rest.trailing_zeros());
            if at < end {
                self.pass(at);
                at += 1;
            }
        }
    }

    /// A millisecond whose count will not change any more.
    fn pass(&mut self, time: i64) {
        let place = slot(time);
        self.used[place / 64] &= !(1 << (place % 64));
        let counts = std::mem::take(&mut self.counts[place]);
        while let Some((oldest, gone)) = self.window.front().copied() {
            if oldest > time - PEAK_MS {
                break;
            }
            for (sum, gone) in self.sums.iter_mut().zip(gone) {
                *sum -= u64::from(gone);
            }
            self.window.pop_front();
        }
        self.window.push_back((time, counts));
        for ((sum, peak), count) in self.sums.iter_mut().zip(&mut self.peaks).zip(counts) {
            *sum += u64::from(count);
            *peak = (*peak).max(*sum);
        }
    }

    fn close_window(&mut self) {
        self.window.clear();
        self.sums = [0; KINDS];
    }

    /// Operations per second at the peak of each kind.
    pub(crate) fn finish(mut self) -> [f64; KINDS] {
        if let Some(latest) = self.latest {
            self.advance(latest, latest + HORIZON_MS);
        }
        self.peaks.map(|peak| float(peak) * 10.0)
    }
}

fn slot(time: i64) -> usize {
    usize::try_from(time.rem_euclid(HORIZON_MS)).expect("a remainder is not negative")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(times: &[i64], expected: f64) {
        let mut rates = PeakRates::new();
        for time in times {
            rates.observe(*time, 0);
        }
        assert_eq!(rates.finish().map(f64::to_bits), [expected, 0.0, 0.0].map(f64::to_bits), "{times:?}");
    }

    #[test]
    fn a_window_is_100_ms_long() {
        check(&[], 0.0);
        check(&[5], 10.0);
        check(&[0, 99], 20.0);
        check(&[0, 100], 10.0);
        check(&[-50, 49, 50, 149], 20.0);
        check(&[0, 50, 99, 149, 150], 30.0);
        check(&[7; 1_000], 10_000.0);
    }

    #[test]
    fn disorder_gaps_and_ends_of_time_are_no_trouble() {
        check(&[5_000, 0, 99, 5_099], 20.0);
        check(&[0, 1_000_000_000_000, 1_000_000_000_050], 20.0);
        check(&[i64::MIN, i64::MAX, i64::MAX, i64::MIN], 20.0);
        // One stray time far ahead, then 1,000 at the old time: all but the first 63 of them count.
        let mut times = vec![0, 1_000_000_000];
        times.extend([10; 1_000]);
        check(&times, 9_370.0);
    }

    proptest! {
        #[test]
        fn within_the_horizon_it_equals_counting_every_window(
            steps in prop::collection::vec((0_i64..400, -2_000_i64..=0), 1..200),
            start in -10_000_i64..10_000,
        ) {
            let mut time = start;
            let times: Vec<i64> = steps.iter().map(|(step, jitter)| { time += step; time + jitter }).collect();
            let within = |first: i64| times.iter().filter(|time| (first..first + 100).contains(*time)).count();
            let expected = times.iter().map(|time| within(*time)).max().unwrap_or_default();
            check(&times, f64::from(u32::try_from(expected).unwrap()) * 10.0);
        }
    }
}
