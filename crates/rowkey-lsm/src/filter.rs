//! The compaction filter: garbage collection while fjall merges files.
//!
//! It must never fail and never panic, since that stops the database: a fragment that cannot be read is kept and counted.

use crate::key;
use crate::state::Policy;
use crate::trim::{Outcome, RowTrim, Scope, Tally};
use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use rowkey_store::{Clock, GcRule};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A full compaction, which the driver runs on its own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FullPass {
    /// The last sequence number that is surely in the files.
    pub(crate) sequence_max: u64,
    /// The time at which that number was the last one.
    pub(crate) now_us: i64,
}

thread_local! {
    // fjall's merge of all files runs on the thread that asks for it, and no other does meanwhile. So only filters made
    // on this thread see all files; its own workers' filters never do.
    static FULL_PASS: Cell<Option<FullPass>> = const { Cell::new(None) };
}

/// Runs a merge of all files of one keyspace; filters made on this thread meanwhile know that they see everything.
pub(crate) fn with_full_pass<T>(pass: FullPass, compact: impl FnOnce() -> T) -> T {
    FULL_PASS.set(Some(pass));
    let result = compact();
    FULL_PASS.set(None);
    result
}

/// Makes the filters of one keyspace.
pub(crate) struct GcFactory {
    // Filters are made anew for each compaction and hold nothing across a panic.
    inner: AssertUnwindSafe<(Arc<Policy>, Arc<dyn Clock>)>,
}

impl GcFactory {
    pub(crate) fn new(policy: Arc<Policy>, clock: Arc<dyn Clock>) -> Self {
        Self { inner: AssertUnwindSafe((policy, clock)) }
    }
}

impl Factory for GcFactory {
    fn name(&self) -> &'static str {
        "rowkey-gc"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        let (policy, clock) = &self.inner.0;
        let rule = policy.rule.load_full();
        let (scope, now_us) = if let Some(pass) = FULL_PASS.get() {
            (Scope::Full { sequence_max: pass.sequence_max }, pass.now_us)
        } else {
            // The clock first, then the flag: see `Policy`.
            let now_us = clock.now_us();
            (if policy.is_settled() { Scope::PartialSettled } else { Scope::Partial }, now_us)
        };
        Box::new(GcFilter {
            policy: Arc::clone(policy),
            rule,
            scope,
            now_us,
            prefix: Bytes::new(),
            row: None,
            tally: Tally::default(),
        })
    }
}

struct GcFilter {
    policy: Arc<Policy>,
    rule: Option<Arc<GcRule>>,
    scope: Scope,
    now_us: i64,
    /// The row that passes.
    prefix: Bytes,
    row: Option<RowTrim>,
    tally: Tally,
}

impl CompactionFilter for GcFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        let key: Bytes = item.key().clone().into();
        let Ok((prefix, sequence)) = key::split(&key) else {
            if key[..] != key::MARKER {
                self.policy.damaged.fetch_add(1, Ordering::Relaxed);
            }
            return Ok(Verdict::Keep);
        };
        if prefix != &self.prefix[..] || self.row.is_none() {
            self.prefix = key.slice(..prefix.len());
            self.row = None;
        }
        let row = self.row.get_or_insert_with(|| RowTrim::new(self.rule.clone(), self.now_us, self.scope));
        let value: Bytes = item.value()?.into();
        Ok(match row.next(sequence, &value, &mut self.tally) {
            Ok(Outcome::Keep) => Verdict::Keep,
            Ok(Outcome::Replace(value)) => Verdict::ReplaceValue(value.into()),
            // Each key is written once, so nothing older can come back.
            Ok(Outcome::Destroy) => Verdict::Destroy,
            Err(_) => {
                self.policy.damaged.fetch_add(1, Ordering::Relaxed);
                Verdict::Keep
            }
        })
    }

    fn finish(self: Box<Self>) {
        self.policy.taken.fetch_add(self.tally.taken, Ordering::Relaxed);
    }
}
