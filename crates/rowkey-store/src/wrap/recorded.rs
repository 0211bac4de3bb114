//! Tells a callback about every operation when it has ended.

use super::{Layer, Operation, Outcome};
use crate::Clock;
use std::fmt;
use std::sync::Arc;

/// An operation that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it was.
    pub operation: Operation,
    /// What came of it.
    pub outcome: Outcome,
    /// When it ended, in microseconds since the epoch; [`Outcome::started_us`] is when it began.
    pub ended_us: i64,
}

/// The layer that records.
pub struct Recorder {
    clock: Arc<dyn Clock>,
    callback: Box<dyn Fn(Record) + Send + Sync>,
}

impl Recorder {
    /// Calls `callback` on the thread of each operation, when it has ended: it should be quick.
    pub fn new(clock: Arc<dyn Clock>, callback: impl Fn(Record) + Send + Sync + 'static) -> Self {
        Self { clock, callback: Box::new(callback) }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Layer for Recorder {
    fn adjective(&self) -> &'static str {
        "recorded"
    }

    fn after(&self, operation: &Operation, outcome: &Outcome) {
        let record =
            Record { operation: operation.clone(), outcome: outcome.clone(), ended_us: self.clock.now_us() };
        (self.callback)(record);
    }

    fn now_us(&self) -> i64 {
        self.clock.now_us()
    }
}
