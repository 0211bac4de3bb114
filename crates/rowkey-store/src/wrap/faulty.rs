//! Fails on purpose, repeatably.

use super::{Layer, Operation, OperationKind};
use crate::seeded::Seeded;
use crate::{Error, ErrorKind, Result, RowRange};
use std::sync::{Mutex, PoisonError};

/// When a fault strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// At every call.
    Always,
    /// At one call, counted from 1.
    Call(u64),
    /// At so many of 100 calls, chosen by a seed and the number of the call.
    Chance {
        /// The seed.
        seed: u64,
        /// Of 100 calls.
        per_hundred: usize,
    },
    /// In the stream of every read, after so many rows.
    AfterRows(u64),
}

/// A way to fail. Calls that do not match it do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which operations; `None`: all.
    pub operation: Option<OperationKind>,
    /// Operations that touch these rows: one tablet, or one bucket of salted keys.
    pub range: RowRange,
    /// When.
    pub when: When,
    /// The kind of error.
    pub kind: ErrorKind,
}

impl Fault {
    /// Every operation of this kind fails as unavailable.
    pub fn always(operation: OperationKind) -> Self {
        let (range, when) = (RowRange::all(), When::Always);
        Self { operation: Some(operation), range, when, kind: ErrorKind::Unavailable }
    }

    fn matches(&self, operation: &Operation) -> bool {
        self.operation.is_none_or(|kind| kind == operation.kind) && operation.scope.touches(&self.range)
    }

    fn error(&self, operation: &Operation) -> Error {
        let message =
            format!("a fault was injected into a {:?} on table `{}`", operation.kind, operation.table);
        Error::new(self.kind, message)
    }
}

/// The layer that fails. Each fault counts the calls that match it.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<(Fault, u64)>>);

impl Faults {
    /// These faults.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        let layer = Self::default();
        layer.set(faults);
        layer
    }

    /// Other faults from now on, counted from the start; none to heal the engine.
    pub fn set(&self, faults: impl IntoIterator<Item = Fault>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            faults.into_iter().map(|fault| (fault, 0)).collect();
    }
}

impl Layer for Faults {
    fn adjective(&self) -> &'static str {
        "faulty"
    }

    fn before(&self, operation: &Operation) -> Result<()> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut struck = Ok(());
        for (fault, calls) in faults.iter_mut().filter(|(fault, _)| fault.matches(operation)) {
            *calls += 1;
            let strikes = match fault.when {
                When::Always => true,
                When::Call(call) => *calls == call,
                When::Chance { seed, per_hundred } => {
                    Seeded::new(seed ^ calls.wrapping_mul(0x2545_f491_4f6c_dd1d)).chance(per_hundred)
                }
                When::AfterRows(_) => false,
            };
            if strikes && struck.is_ok() {
                struck = Err(fault.error(operation));
            }
        }
        struck
    }

    fn before_row(&self, operation: &Operation, rows: u64) -> Result<()> {
        let faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let struck =
            faults.iter().find(|(fault, _)| fault.when == When::AfterRows(rows) && fault.matches(operation));
        struck.map_or(Ok(()), |(fault, _)| Err(fault.error(operation)))
    }
}
