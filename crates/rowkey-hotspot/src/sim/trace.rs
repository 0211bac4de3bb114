//! Recorded operations, kept small: of a long record, every second, fourth, ... operation.

use crate::operation::{OpKind, Operation};

/// How a record is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TraceOptions {
    /// Operations per second, on average. `None`: as recorded; without times, what fills 70 % of the nodes with writes.
    pub rate_per_s: Option<f64>,
    /// Seconds. `None`: as recorded; without times 600, over which the operations are spread evenly.
    pub seconds: Option<u32>,
}

/// Operations in the order in which they arrived.
#[derive(Debug, Clone)]
pub struct Trace {
    bytes: Vec<u8>,
    operations: Vec<Recorded>,
    most: usize,
    stride: u64,
    seen: u64,
    timeless: u64,
}

#[derive(Debug, Clone, Copy)]
struct Recorded {
    kind: OpKind,
    at: usize,
    key_len: u32,
    /// Length of the end; `u32::MAX`: none.
    end_len: u32,
    rows: f32,
    time_ms: i64,
}

/// Operations kept by default: about 100 MB with keys of 40 bytes.
pub(super) const KEPT: usize = 1_000_000;

impl Default for Trace {
    fn default() -> Self {
        Self::new(KEPT)
    }
}

impl Trace {
    /// An empty record that keeps at most so many operations.
    pub fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), operations: Vec::new(), most: most.max(2), stride: 1, seen: 0, timeless: 0 }
    }

    /// Adds the next operation.
    pub fn push(&mut self, operation: &Operation<'_>) {
        let is_kept = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        self.timeless += u64::from(operation.time_ms.is_none());
        if !is_kept {
            return;
        }
        if self.operations.len() == self.most {
            self.thin();
            // The one at hand is an odd one of the new stride, or not.
            if !(self.seen - 1).is_multiple_of(self.stride) {
                return;
            }
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(operation.key);
        let end = operation.end.unwrap_or_default();
        self.bytes.extend_from_slice(end);
        let short = |len: usize| u32::try_from(len).unwrap_or(u32::MAX - 1);
        self.operations.push(Recorded {
            kind: operation.kind,
            at,
            key_len: short(operation.key.len()),
            end_len: if operation.end.is_some() { short(end.len()) } else { u32::MAX },
            #[expect(clippy::cast_possible_truncation, reason = "seven digits of rows are enough")]
            rows: operation.rows.map_or(1.0, |rows| rows as f64) as f32,
            time_ms: operation.time_ms.unwrap_or(0),
        });
    }

    fn thin(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() / 2);
        let mut kept = Vec::with_capacity(self.most);
        for recorded in self.operations.iter().step_by(2) {
            let mut recorded = *recorded;
            let len = recorded.len();
            let from = recorded.at;
            recorded.at = bytes.len();
            bytes.extend_from_slice(&self.bytes[from..from + len]);
            kept.push(recorded);
        }
        self.bytes = bytes;
        self.operations = kept;
        self.stride *= 2;
    }

    /// Operations kept.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Operations that were added.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// For how many each kept one stands.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Whether all of them have times.
    pub fn is_timed(&self) -> bool {
        self.timeless == 0 && !self.is_empty()
    }

    /// The keys of the first operations, as they arrived or, once replayed, in the order of their times.
    pub fn first_keys(&self, count: usize) -> impl Iterator<Item = &[u8]> {
        self.operations
            .iter()
            .take(count)
            .map(|recorded| &self.bytes[recorded.at..recorded.at + recorded.key_len as usize])
    }

    /// In order of time, those of one time in the order of arrival.
    pub(super) fn sort_by_time(&mut self) {
        self.operations.sort_by_key(|recorded| recorded.time_ms);
    }

    /// The first and the last time, if they are sorted.
    pub(super) fn span_ms(&self) -> (i64, i64) {
        let time = |recorded: Option<&Recorded>| recorded.map_or(0, |recorded| recorded.time_ms);
        (time(self.operations.first()), time(self.operations.last()))
    }

    /// Operation number `at`, and its time.
    pub(super) fn get(&self, at: usize) -> Option<(Operation<'_>, i64)> {
        let recorded = self.operations.get(at)?;
        let behind = recorded.at + recorded.key_len as usize;
        let key = &self.bytes[recorded.at..behind];
        let end =
            (recorded.end_len != u32::MAX).then(|| &self.bytes[behind..behind + recorded.end_len as usize]);
        let operation = Operation {
            kind: recorded.kind,
            key,
            end,
            time_ms: Some(recorded.time_ms),
            rows: Some(recorded.rows.max(0.0) as u64),
            bytes: None,
        };
        Some((operation, recorded.time_ms))
    }
}

impl Recorded {
    fn len(&self) -> usize {
        self.key_len as usize + if self.end_len == u32::MAX { 0 } else { self.end_len as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_record_is_thinned_evenly() {
        let mut trace = Trace::new(8);
        for number in 0..50u8 {
            let key = [number];
            let end = [number, 1];
            let operation = Operation {
                kind: OpKind::Scan,
                end: Some(&end),
                time_ms: Some(number.into()),
                rows: Some(9),
                ..Operation::write(&key)
            };
            trace.push(&operation);
        }
        assert_eq!((trace.seen(), trace.stride(), trace.is_timed()), (50, 8, true));
        let kept: Vec<u8> = (0..trace.len()).map(|at| trace.get(at).unwrap().0.key[0]).collect();
        assert_eq!(kept, [0, 8, 16, 24, 32, 40, 48]);
        assert_eq!(trace.first_keys(2).collect::<Vec<_>>(), [[0], [8]]);
        let (operation, time_ms) = trace.get(1).unwrap();
        assert_eq!((operation.end, operation.rows, time_ms), (Some(&[8, 1][..]), Some(9), 8));
    }

    #[test]
    fn one_operation_without_a_time_makes_all_timeless() {
        let mut trace = Trace::default();
        assert!(trace.is_empty() && !trace.is_timed());
        trace.push(&Operation { time_ms: Some(1), ..Operation::write(b"a") });
        assert!(trace.is_timed());
        trace.push(&Operation::write(b"b"));
        assert!(!trace.is_timed());
    }
}
