//! Garbage collection in the background. fjall merges files when new ones overlap them; files that nothing new overlaps it leaves
//! alone for ever, expired or not. So a thread looks at a sample of each keyspace once in a while, and collects where more than a quarter of
//! the sampled cells are expired, overwritten or deleted.

use crate::collect::{Census, collect_space, take_census};
use crate::handle::Handle;
use crate::key;
use crate::raw;
use crate::state::{Published, Shard, Space};
use bytes::Bytes;
use rowkey_store::{GcRule, Result, RowRange};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

/// Fragments of a keyspace up to which all rows are looked at.
const READ_FRAGMENTS_MAX: usize = 20_000;

/// Rows that are looked at from the start of each file of a larger keyspace.
const ROWS_A_FILE: usize = 256;

/// The thread.
#[derive(Debug)]
pub(crate) struct Driver {
    /// Dropped to stop it.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Driver {
    /// Starts it.
    pub(crate) fn start(handle: Handle) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let thread =
            std::thread::Builder::new().name("rowkey-gc".to_owned()).spawn(move || run(&handle, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Stops it when it has finished what it is at.
    pub(crate) fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

fn run(handle: &Handle, stopped: &Receiver<()>) {
    let interval = handle.shared.options.background_gc_interval;
    while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        let Ok(published) = handle.published() else { return };
        let tables = Arc::clone(&published.tables);
        // A state that is held keeps files that are merged meanwhile.
        drop(published);
        for (name, table) in &*tables {
            for shard in table.shards() {
                for space in &shard.spaces {
                    if stopped.try_recv() == Err(TryRecvError::Disconnected) {
                        return;
                    }
                    // An error here is one that reads and writes meet as well, and report.
                    let _ = look_after(handle, name, &shard, space);
                }
            }
        }
    }
}

/// Collects in a keyspace if a sample says that it is worth while.
fn look_after(handle: &Handle, table: &str, shard: &Shard, space: &Space) -> Result<()> {
    let rule = space.policy.rule.load_full();
    let touched = space.policy.touched.swap(false, Ordering::Relaxed);
    if !touched && !rule.is_some_and(|rule| depends_on_time(&rule)) {
        return Ok(());
    }
    let published = handle.published()?;
    let sample = sample(handle, &published, shard, space)?;
    let garbage_cells = sample.garbage_cells(space.keyspace.approximate_len() as u64);
    space.policy.garbage_cells.store(garbage_cells, Ordering::Relaxed);
    if !sample.is_worth_while() {
        return Ok(());
    }
    let census = take_census(&handle.shared, &published.snapshot, space, &shard.range, usize::MAX)?;
    drop(published);
    if census.is_worth_while() {
        collect_space(handle, table, space, &census.stubborn)?;
        space.policy.garbage_cells.store(0, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether cells expire without a write.
fn depends_on_time(rule: &GcRule) -> bool {
    match rule {
        GcRule::MaxVersions(_) => false,
        GcRule::MaxAge(_) => true,
        GcRule::Union(rules) | GcRule::Intersection(rules) => rules.iter().any(depends_on_time),
    }
}

fn sample(handle: &Handle, published: &Published, shard: &Shard, space: &Space) -> Result<Census> {
    let (shared, snapshot) = (&handle.shared, &published.snapshot);
    if space.keyspace.approximate_len() <= READ_FRAGMENTS_MAX {
        return take_census(shared, snapshot, space, &shard.range, usize::MAX);
    }
    let mut census = Census::default();
    for facts in raw::tables(&space.keyspace) {
        let first = Bytes::from(facts.first_key);
        // The first pair may be the marker, which is no row: then from the beginning.
        let start = key::split(&first)
            .and_then(|(prefix, _)| key::row_of(first.slice(..prefix.len())))
            .unwrap_or_else(|_| shard.range.start.clone());
        let range = RowRange { start, end: shard.range.end.clone() };
        census.add(take_census(shared, snapshot, space, &range, ROWS_A_FILE)?);
    }
    Ok(census)
}
