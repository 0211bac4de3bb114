//! Waits before operations and rows.

use super::{Layer, Operation, Scope};
use crate::{Result, RowRange};
use std::fmt;
use std::time::Duration;

/// How to wait: `std::thread::sleep` in earnest, a counter in a test.
pub type Sleep = Box<dyn Fn(Duration) + Send + Sync>;

/// The layer that waits.
pub struct Throttle {
    /// Waited before each operation that touches the range.
    pub per_call: Duration,
    /// Waited before each row of a read that touches the range.
    pub per_row: Duration,
    /// Only these rows are slow: one tablet, or one bucket of salted keys.
    pub range: RowRange,
    /// How to wait.
    pub sleep: Sleep,
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Throttle");
        shown.field("per_call", &self.per_call).field("per_row", &self.per_row).field("range", &self.range);
        shown.finish_non_exhaustive()
    }
}

impl Throttle {
    fn wait(&self, operation: &Operation, time: Duration) {
        if !time.is_zero() && operation.scope.touches(&self.range) {
            (self.sleep)(time);
        }
    }
}

impl Layer for Throttle {
    fn adjective(&self) -> &'static str {
        "throttled"
    }

    fn before(&self, operation: &Operation) -> Result<()> {
        self.wait(operation, self.per_call);
        Ok(())
    }

    fn before_row(&self, operation: &Operation, _: u64) -> Result<()> {
        self.wait(operation, self.per_row);
        Ok(())
    }
}

impl Scope {
    /// Whether an operation may concern a row of `range`. One on the table as a whole always does.
    pub fn touches(&self, range: &RowRange) -> bool {
        match self {
            Self::Table => true,
            Self::Key(key) => range.contains(key),
            Self::Keys(keys) => keys.iter().any(|key| range.contains(key)),
            Self::Rows(rows) => rows.ranges().iter().any(|rows| rows.intersection(range).is_some()),
        }
    }
}
