//! The operations that the doctor looks at: of each of the last minutes the first ones, as they came, neighbours together. Where there are
//! no more than fit, that is all of them.

use super::buffer::{Event, Touch};
use rowkey_hotspot::{OpKind, Operation};
use std::collections::VecDeque;

/// Minutes that are kept, the open one included.
pub(super) const MINUTES: i64 = 15;

#[derive(Debug, Clone, Copy)]
struct Kept {
    time_ms: i64,
    rows: u64,
    bytes: u64,
    at: u32,
    key_len: u16,
    /// [`u16::MAX`]: no end.
    end_len: u16,
    kind: OpKind,
}

#[derive(Debug, Clone, Default)]
struct Minute {
    number: i64,
    kept: Vec<Kept>,
    bytes: Vec<u8>,
}

/// Operations of the last minutes.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    minutes: VecDeque<Minute>,
    /// Operations kept of one minute.
    kept_max: usize,
    /// Bytes of keys from which on no more of a minute are kept.
    bytes_max: usize,
    /// Operations that were seen and not kept.
    passed_over: bool,
}

impl Sample {
    pub(super) fn new(kept_max: usize) -> Self {
        Self { minutes: VecDeque::new(), kept_max, bytes_max: kept_max * 64, passed_over: false }
    }

    /// Offers the next operation.
    pub(super) fn offer(&mut self, time_ms: i64, event: &Event<'_>) {
        let number = time_ms.div_euclid(60_000);
        if self.minutes.back().is_none_or(|newest| newest.number < number) {
            self.minutes.push_back(Minute { number, ..Minute::default() });
            self.forget(number);
        }
        let Some(newest) = self.minutes.back_mut() else { return };
        if newest.kept.len() >= self.kept_max || newest.bytes.len() >= self.bytes_max {
            self.passed_over = true;
            return;
        }
        let kind = match event.touch {
            Touch::Write | Touch::ReadWrite => OpKind::Write,
            Touch::Delete => OpKind::Delete,
            Touch::Read => OpKind::Read,
            Touch::Scan => OpKind::Scan,
            Touch::Nothing => return,
        };
        let end = event.end.filter(|_| kind == OpKind::Scan);
        let at = u32::try_from(newest.bytes.len()).unwrap_or(u32::MAX);
        newest.bytes.extend_from_slice(event.key);
        newest.bytes.extend_from_slice(end.unwrap_or_default());
        let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap_or(0);
        newest.kept.push(Kept {
            time_ms,
            rows: event.rows,
            bytes: event.bytes,
            at,
            key_len: length(event.key),
            end_len: end.map_or(u16::MAX, length),
            kind,
        });
    }

    /// Gives up what is older than the minutes that are kept.
    pub(super) fn forget(&mut self, minute: i64) {
        while self.minutes.front().is_some_and(|oldest| oldest.number <= minute.saturating_sub(MINUTES)) {
            self.minutes.pop_front();
        }
    }

    /// Operations kept.
    pub(super) fn len(&self) -> usize {
        self.minutes.iter().map(|minute| minute.kept.len()).sum()
    }

    /// Whether every operation of these minutes is kept.
    #[cfg(test)]
    fn is_complete(&self) -> bool {
        !self.passed_over
    }

    /// All of them, in order of arrival.
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        self.minutes.iter().flat_map(|minute| {
            minute.kept.iter().map(|kept| {
                let behind = kept.at as usize + usize::from(kept.key_len);
                let end_len = if kept.end_len == u16::MAX { 0 } else { usize::from(kept.end_len) };
                Operation {
                    kind: kept.kind,
                    key: &minute.bytes[kept.at as usize..behind],
                    end: (kept.end_len != u16::MAX).then(|| &minute.bytes[behind..behind + end_len]),
                    time_ms: Some(kept.time_ms),
                    rows: Some(kept.rows),
                    bytes: Some(kept.bytes),
                }
            })
        })
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let of = |minute: &Minute| minute.kept.capacity() * size_of::<Kept>() + minute.bytes.capacity();
        self.minutes.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(touch: Touch, key: &'static [u8], end: Option<&'static [u8]>) -> Event<'static> {
        Event {
            table: 0,
            ended_us: 0,
            touch,
            key,
            end,
            last: None,
            is_reversed: false,
            rows: 1,
            bytes: 2,
            time_us: 3,
            counts: None,
        }
    }

    #[test]
    fn the_first_operations_of_each_minute_are_kept_for_a_quarter_of_an_hour() {
        let mut sample = Sample::new(3);
        for second in 0..20 * 60 {
            sample.offer(second * 1_000, &event(Touch::Write, b"k", None));
        }
        assert_eq!((sample.len(), sample.is_complete()), (45, false));
        let times: Vec<i64> = sample.operations().take(4).filter_map(|operation| operation.time_ms).collect();
        assert_eq!(times, [300_000, 301_000, 302_000, 360_000]);
        sample.forget(100);
        assert_eq!(sample.len(), 0);
    }

    #[test]
    fn operations_come_out_as_they_went_in() {
        let mut sample = Sample::new(10);
        sample.offer(5, &event(Touch::Scan, b"a", Some(b"b")));
        sample.offer(6, &event(Touch::Scan, b"c", None));
        sample.offer(7, &event(Touch::Read, b"d", Some(b"d\0")));
        sample.offer(8, &event(Touch::Delete, b"e", None));
        let shown: Vec<_> =
            sample.operations().map(|operation| (operation.kind, operation.key, operation.end)).collect();
        assert_eq!(
            shown,
            [
                (OpKind::Scan, &b"a"[..], Some(&b"b"[..])),
                (OpKind::Scan, &b"c"[..], None),
                (OpKind::Read, &b"d"[..], None),
                (OpKind::Delete, &b"e"[..], None)
            ]
        );
        assert!(sample.is_complete());
    }
}
