//! Tablets that were hot: of each tablet and quarter of an hour its hottest minute, for 14 days (`ListHotTablets` reaches so far back).

use super::answer::HotTablet;
use bytes::Bytes;
use rowkey_store::RowRange;
use std::collections::BTreeMap;

/// A minute, and a quarter of an hour, in milliseconds.
pub(super) const MINUTE_MS: i64 = 60_000;
pub(super) const QUARTER_MS: i64 = 15 * MINUTE_MS;
/// How far back it is known.
pub(super) const KEPT_MS: i64 = 14 * 86_400_000;
/// Percent of a node from which on a tablet is listed.
const PERCENT_MIN: f64 = 1.0;

/// The hottest minutes of a table's tablets.
#[derive(Debug, Clone, Default)]
pub(super) struct HotLog {
    /// By quarter of an hour since the epoch, and tablet.
    entries: BTreeMap<(i64, Bytes, Option<Bytes>), HotTablet>,
    key_bytes: usize,
}

impl HotLog {
    /// Notes a minute of a tablet; `work_ns` is what a node would have worked for it.
    pub(super) fn note(&mut self, range: &RowRange, node: u32, start_ms: i64, end_ms: i64, work_ns: u64) {
        let percent = percent(work_ns, MINUTE_MS);
        if percent < PERCENT_MIN {
            return;
        }
        let hot = HotTablet { range: range.clone(), node, start_ms, end_ms, node_cpu_percent: percent };
        let key = (start_ms.div_euclid(QUARTER_MS), range.start.clone(), range.end.clone());
        match self.entries.get_mut(&key) {
            Some(known) if known.node_cpu_percent >= percent => {}
            Some(known) => *known = hot,
            None => {
                self.key_bytes += key_bytes(range);
                self.entries.insert(key, hot);
            }
        }
    }

    /// Forgets what is too old, and the oldest above so many.
    pub(super) fn forget(&mut self, now_ms: i64, entries_max: usize) {
        let oldest = now_ms.saturating_sub(KEPT_MS).div_euclid(QUARTER_MS);
        while let Some(((quarter, ..), _)) = self.entries.first_key_value() {
            if *quarter >= oldest && self.entries.len() <= entries_max {
                break;
            }
            if let Some((_, gone)) = self.entries.pop_first() {
                self.key_bytes = self.key_bytes.saturating_sub(key_bytes(&gone.range));
            }
        }
    }

    /// Those whose minute begins in `from_ms..to_ms`, hottest first.
    pub(super) fn list(&self, from_ms: i64, to_ms: i64) -> Vec<HotTablet> {
        let from = (from_ms.div_euclid(QUARTER_MS), Bytes::new(), None);
        let quarters = self
            .entries
            .range(from..)
            .take_while(|((quarter, ..), _)| quarter.saturating_mul(QUARTER_MS) < to_ms);
        let mut hot: Vec<HotTablet> = quarters
            .map(|(_, hot)| hot.clone())
            .filter(|hot| (from_ms..to_ms).contains(&hot.start_ms))
            .collect();
        hot.sort_by(|a, b| {
            b.node_cpu_percent
                .total_cmp(&a.node_cpu_percent)
                .then_with(|| (b.start_ms, &a.range.start).cmp(&(a.start_ms, &b.range.start)))
        });
        hot
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * (size_of::<HotTablet>() + size_of::<(i64, Bytes, Option<Bytes>)>() + 32)
            + self.key_bytes
    }
}

fn key_bytes(range: &RowRange) -> usize {
    range.start.len() + range.end.as_ref().map_or(0, Bytes::len)
}

/// Percent of one node that so much work in so long a time takes.
#[expect(clippy::cast_precision_loss, reason = "work of a minute is far below 2^53 ns")]
pub(super) fn percent(work_ns: u64, length_ms: i64) -> f64 {
    work_ns as f64 / (length_ms.max(1) as f64 * 1e6) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tablet_is_listed_once_a_quarter_of_an_hour_with_its_hottest_minute() {
        let mut log = HotLog::default();
        let note = |log: &mut HotLog, key: &'static [u8], minute: i64, percent: u64| {
            let range = RowRange::key(key);
            let start = minute * MINUTE_MS;
            log.note(&range, 0, start, start + MINUTE_MS, percent * 600_000_000);
        };
        for (key, minute, percent) in
            [(b"a", 0, 10), (b"a", 7, 80), (b"a", 14, 30), (b"b", 3, 50), (b"a", 15, 60), (b"c", 4, 0)]
        {
            note(&mut log, key, minute, percent);
        }
        let check = |log: &HotLog, from: i64, to: i64, expected: &[(&str, i64, f64)]| {
            let listed: Vec<(String, i64, f64)> = log
                .list(from * MINUTE_MS, to * MINUTE_MS)
                .into_iter()
                .map(|hot| {
                    let key = String::from_utf8_lossy(&hot.range.start).into_owned();
                    (key, hot.start_ms / MINUTE_MS, hot.node_cpu_percent.round())
                })
                .collect();
            let expected: Vec<(String, i64, f64)> =
                expected.iter().map(|&(key, minute, percent)| (key.to_owned(), minute, percent)).collect();
            assert_eq!(listed, expected, "{from}..{to}");
        };
        check(&log, 0, 100, &[("a", 7, 80.0), ("a", 15, 60.0), ("b", 3, 50.0)]);
        check(&log, 0, 15, &[("a", 7, 80.0), ("b", 3, 50.0)]);
        check(&log, 8, 100, &[("a", 15, 60.0)]);
        check(&log, 5, 5, &[]);
        check(&log, 9, 5, &[]);
        log.forget(KEPT_MS + QUARTER_MS, 100);
        check(&log, 0, 100, &[("a", 15, 60.0)]);
        log.forget(0, 0);
        assert_eq!((log.list(0, i64::MAX).len(), log.bytes()), (0, 0));
    }
}
