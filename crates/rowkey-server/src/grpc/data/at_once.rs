//! Which reads run on the thread that asks.
//!
//! A read of a few rows takes microseconds, where the engine computes and seldom waits; to hand it to another thread and to be woken by it
//! takes longer than that. So such reads run at once. The disk can make one slow, or a row can be very large: then the next ones are
//! handed over again for a while, so that the threads that serve everybody are seldom held up, and for one read at a time.

use rowkey_store::{Engine, ReadRequest, RowRange};
use std::sync::atomic::{AtomicU32, Ordering};

/// Keys, or rows of a limit, up to which a read may run at once.
const ROWS_MAX: usize = 10;

/// What a read may take, in microseconds: a disk that is asked, not one that is waited for.
const SLOW_US: i64 = 1_000;

/// Reads that are handed over after a slow one.
const DOUBTS: u32 = 1_000;

/// Remembers whether reads have been slow.
#[derive(Debug)]
pub(super) struct AtOnce {
    computes: bool,
    doubts: AtomicU32,
}

impl AtOnce {
    pub(super) fn new(engine: &dyn Engine) -> Self {
        // Whoever wants several reads at the same time waits for a network.
        Self { computes: engine.reads_at_once() == 1, doubts: AtomicU32::new(0) }
    }

    /// Whether this read may run at once.
    pub(super) fn may(&self, request: &ReadRequest) -> bool {
        let calm = |doubts: u32| doubts.checked_sub(1);
        self.computes
            && looks_at_few_rows(request, ROWS_MAX)
            && self.doubts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, calm).is_err()
    }

    /// A read that ran at once has taken so long.
    pub(super) fn took(&self, micros: i64) {
        if micros > SLOW_US {
            self.doubts.store(DOUBTS, Ordering::Relaxed);
        }
    }
}

/// Whether a read looks at no more rows than this: single keys, or as many rows as it returns.
pub(super) fn looks_at_few_rows(request: &ReadRequest, rows_max: usize) -> bool {
    let ranges = request.rows.ranges();
    let one_key = |range: &RowRange| {
        let end = range.end.as_deref().and_then(|end| end.split_last());
        end.is_some_and(|(last, head)| *last == 0 && head == range.start)
    };
    let few_keys = ranges.len() <= rows_max && ranges.iter().all(one_key);
    let few_rows = request.rows_max.is_some_and(|rows| rows <= rows_max as u64);
    few_keys || few_rows && request.filter.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::memory::MemoryEngine;
    use rowkey_store::{Filter, ManualClock, RowSet};
    use std::sync::Arc;

    #[test]
    fn reads_of_keys_and_of_few_rows_look_at_few_rows() {
        let check = |request: ReadRequest, expected| assert_eq!(looks_at_few_rows(&request, 10), expected);
        let limited = |rows| ReadRequest { rows_max: Some(rows), ..ReadRequest::all() };
        check(ReadRequest::all(), false);
        check(limited(10), true);
        check(limited(11), false);
        check(ReadRequest { filter: Some(Filter::BlockAll), ..limited(10) }, false);
        check(ReadRequest::of(RowRange::key(b"k")), true);
        check(ReadRequest::of(RowRange::prefix(b"k")), false);
        let keys = |count: usize| RowSet::new((0..count).map(|n| format!("k{n:02}").into()), []);
        check(ReadRequest::of(keys(10)), true);
        check(ReadRequest::of(keys(11)), false);
    }

    #[test]
    fn after_a_slow_read_the_next_ones_are_handed_over() {
        let at_once = AtOnce::new(&MemoryEngine::new(Arc::new(ManualClock::new(0))));
        let read = ReadRequest::of(RowRange::key(b"k"));
        assert!(at_once.may(&read));
        at_once.took(SLOW_US);
        assert!(at_once.may(&read));
        at_once.took(SLOW_US + 1);
        assert_eq!((0..DOUBTS + 5).filter(|_| at_once.may(&read)).count(), 5);
        assert!(!at_once.may(&ReadRequest::all()));
    }
}
