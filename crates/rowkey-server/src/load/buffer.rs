//! What operations leave behind on their own threads: a few dozen bytes each, until somebody folds them into the record.
//!
//! A thread writes into one of several shards, so that threads seldom wait for each other. What a full shard holds is handed out: memory is
//! bounded, and nothing is lost however fast operations come.

use crate::lock::lock;
use rowkey_store::wrap::{OperationKind, Outcome, Record, Scope};
use rowkey_store::{ErrorKind, RowRange};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Bytes of a key that count, as in the map (`rowkey_hotspot::heatmap`): longer keys are told apart by so many.
pub(super) const KEY_BYTES_MAX: usize = 1_024;
/// Shards: more than cores of most machines.
const SHARDS: usize = 16;
/// Events of a shard at most.
const EVENTS_MAX: usize = 8_192;
/// Bytes of keys of a shard from which on it is full.
const BYTES_MAX: usize = 1 << 20;

/// What an event did to its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// Nothing that is in the map: it failed, or was about no rows.
    Nothing,
    /// Wrote a row.
    Write,
    /// Deleted a row.
    Delete,
    /// Read a row and wrote it.
    ReadWrite,
    /// Read one row by its key.
    Read,
    /// Read a range.
    Scan,
}

/// An event as it lies in a batch.
#[derive(Debug, Clone, Copy)]
struct Entry {
    ended_us: i64,
    rows: u64,
    bytes: u64,
    time_us: u64,
    table: u32,
    at: u32,
    key_len: u16,
    end_len: u16,
    last_len: u16,
    touch: Touch,
    counts: Option<Counted>,
    is_reversed: bool,
}

/// An operation for the statistics of all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    /// Its place in [`KINDS`].
    pub(super) kind: u8,
    /// Its place in [`OUTCOMES`].
    pub(super) outcome: u8,
    /// How long all of it took.
    pub(super) took_us: u64,
}

/// No key.
const NONE: u16 = u16::MAX;

/// One touch of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    /// The number of its table in the batch.
    pub(super) table: usize,
    pub(super) ended_us: i64,
    pub(super) touch: Touch,
    pub(super) key: &'a [u8],
    /// The end of a scan; `None`: to the end of the table.
    pub(super) end: Option<&'a [u8]>,
    /// The last row that a scan returned, if it did not come to its end.
    pub(super) last: Option<&'a [u8]>,
    pub(super) is_reversed: bool,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) time_us: u64,
    /// Set for the first event of each operation.
    pub(super) counts: Option<Counted>,
}

/// Events, and the names of their tables.
#[derive(Debug, Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    tables: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tables that its events are about, by number.
    pub(super) fn tables(&self) -> &[Box<str>] {
        &self.tables
    }

    pub(super) fn ended_us(&self, at: usize) -> i64 {
        self.entries[at].ended_us
    }

    pub(super) fn get(&self, at: usize) -> Event<'_> {
        let entry = &self.entries[at];
        let mut from = entry.at as usize;
        let mut take = |len: u16| {
            let len = if len == NONE { 0 } else { usize::from(len) };
            from += len;
            &self.bytes[from - len..from]
        };
        let (key, end, last) = (take(entry.key_len), take(entry.end_len), take(entry.last_len));
        Event {
            table: entry.table as usize,
            ended_us: entry.ended_us,
            touch: entry.touch,
            key,
            end: (entry.end_len != NONE).then_some(end),
            last: (entry.last_len != NONE).then_some(last),
            is_reversed: entry.is_reversed,
            rows: entry.rows,
            bytes: entry.bytes,
            time_us: entry.time_us,
            counts: entry.counts,
        }
    }

    fn number(&mut self, table: &str) -> u32 {
        if let Some(&number) = self.numbers.get(table) {
            return number;
        }
        let number = u32::try_from(self.tables.len()).unwrap_or(u32::MAX);
        self.tables.push(table.into());
        self.numbers.insert(table.into(), number);
        number
    }

    fn keep(&mut self, key: Option<&[u8]>) -> u16 {
        let Some(key) = key else { return NONE };
        let key = &key[..key.len().min(KEY_BYTES_MAX)];
        self.bytes.extend_from_slice(key);
        u16::try_from(key.len()).unwrap_or(0)
    }

    fn push(&mut self, event: &Event<'_>, table: u32) {
        let at = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let (key_len, end_len) = (self.keep(Some(event.key)), self.keep(event.end));
        let last_len = self.keep(event.last);
        self.entries.push(Entry {
            ended_us: event.ended_us,
            rows: event.rows,
            bytes: event.bytes,
            time_us: event.time_us,
            table,
            at,
            key_len,
            end_len,
            last_len,
            touch: event.touch,
            counts: event.counts,
            is_reversed: event.is_reversed,
        });
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= EVENTS_MAX || self.bytes.len() >= BYTES_MAX
    }
}

/// All shards.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    shards: [Mutex<Batch>; SHARDS],
}

impl Buffers {
    /// Writes an operation down. `full` gets what must be folded now.
    pub(super) fn record(&self, record: &Record, full: impl Fn(Batch)) {
        let mut writer = Writer { shard: lock(&self.shards[shard()]), taken: Vec::new() };
        write(record, &mut writer);
        let Writer { shard, taken } = writer;
        // Whoever folds takes all shards.
        drop(shard);
        for batch in taken {
            full(batch);
        }
    }

    /// Takes out all that was written.
    pub(super) fn drain(&self) -> Vec<Batch> {
        let taken = self.shards.iter().map(|shard| std::mem::take(&mut *lock(shard)));
        taken.filter(|batch| !batch.is_empty()).collect()
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let of = |shard: &Mutex<Batch>| {
            let batch = lock(shard);
            batch.entries.capacity() * size_of::<Entry>() + batch.bytes.capacity()
        };
        self.shards.iter().map(of).sum()
    }
}

/// The shard of this thread.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    OWN.with(|own| {
        if own.get() == usize::MAX {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        own.get()
    })
}

/// A locked shard, and batches that it was too small for.
struct Writer<'a> {
    shard: MutexGuard<'a, Batch>,
    taken: Vec<Batch>,
}

impl Writer<'_> {
    fn push(&mut self, table: &str, event: &Event<'_>) {
        let number = self.shard.number(table);
        self.shard.push(event, number);
        if self.shard.is_full() {
            self.taken.push(std::mem::take(&mut *self.shard));
        }
    }
}

/// An operation as one event for each range that it read, or for its one row.
fn write(record: &Record, writer: &mut Writer<'_>) {
    let (operation, outcome) = (&record.operation, &record.outcome);
    let took_us = record.ended_us.saturating_sub(outcome.started_us).max(0).unsigned_abs();
    let nothing = Event {
        table: 0,
        ended_us: record.ended_us,
        touch: Touch::Nothing,
        key: &[],
        end: None,
        last: None,
        is_reversed: outcome.reversed,
        rows: 0,
        bytes: 0,
        // A batch took its time once: each of its rows gets its part, rounded up so that it does not vanish.
        time_us: took_us.div_ceil(outcome.batch_rows.max(1)),
        counts: Some(Counted {
            kind: kind_number(operation.kind),
            outcome: outcome_number(outcome.error),
            took_us,
        }),
    };
    let touch = touch(operation.kind, outcome);
    match &operation.scope {
        Scope::Key(key) if touch != Touch::Nothing => {
            let event = Event { touch, key, rows: outcome.rows, bytes: outcome.bytes, ..nothing };
            writer.push(&operation.table, &event);
        }
        Scope::Rows(rows) if touch != Touch::Nothing && !rows.ranges().is_empty() => {
            let ranges = rows.ranges();
            let count = ranges.len() as u64;
            for (at, range) in (0..).zip(ranges) {
                let part = usize::try_from(at).ok().and_then(|at| outcome.parts.get(at));
                let (rows, bytes) =
                    part.map_or((outcome.rows, outcome.bytes), |part| (part.rows, part.bytes));
                let event = Event {
                    touch: if is_one_row(range) { Touch::Read } else { Touch::Scan },
                    key: &range.start,
                    end: range.end.as_deref(),
                    last: outcome.last_key.as_deref().filter(|_| count == 1),
                    rows,
                    bytes,
                    // The parts add up to the whole.
                    time_us: took_us / count + u64::from(at < took_us % count),
                    counts: nothing.counts.filter(|_| at == 0),
                    ..nothing
                };
                writer.push(&operation.table, &event);
            }
        }
        _ => writer.push("", &nothing),
    }
}

/// Whether a range has one key and no other: it ends at the next key that there can be.
fn is_one_row(range: &RowRange) -> bool {
    range.end.as_ref().is_some_and(|end| end.strip_suffix(&[0]).is_some_and(|key| key == range.start))
        && !range.start.is_empty()
}

fn touch(kind: OperationKind, outcome: &Outcome) -> Touch {
    match kind {
        // What was read before it ended was read, however it ended.
        OperationKind::Read if outcome.error.is_none() || outcome.rows > 0 => Touch::Scan,
        _ if outcome.error.is_some() => Touch::Nothing,
        OperationKind::Mutate if outcome.deletes_row => Touch::Delete,
        OperationKind::Mutate => Touch::Write,
        OperationKind::CheckAndMutate | OperationKind::ReadModifyWrite => Touch::ReadWrite,
        _ => Touch::Nothing,
    }
}

/// Names of kinds of operations, by [`Counted::kind`].
pub(super) const KINDS: [&str; 8] =
    ["admin", "check-and-mutate", "drop-rows", "maintenance", "mutate", "other", "read", "read-modify-write"];

fn kind_number(kind: OperationKind) -> u8 {
    match kind {
        OperationKind::Admin => 0,
        OperationKind::CheckAndMutate => 1,
        OperationKind::DropRows => 2,
        OperationKind::Maintenance => 3,
        OperationKind::Mutate => 4,
        OperationKind::Read => 6,
        OperationKind::ReadModifyWrite => 7,
        // A kind that is new in the store.
        _ => 5,
    }
}

/// Names of outcomes, by [`Counted::outcome`].
pub(super) const OUTCOMES: [&str; 12] = [
    "already-exists",
    "cancelled",
    "conflict",
    "corrupt",
    "deadline-exceeded",
    "invalid",
    "limit",
    "not-found",
    "ok",
    "other-error",
    "unavailable",
    "unsupported",
];

fn outcome_number(error: Option<ErrorKind>) -> u8 {
    match error {
        None => 8,
        Some(ErrorKind::AlreadyExists) => 0,
        Some(ErrorKind::Cancelled) => 1,
        Some(ErrorKind::Conflict) => 2,
        Some(ErrorKind::Corrupt) => 3,
        Some(ErrorKind::DeadlineExceeded) => 4,
        Some(ErrorKind::Invalid) => 5,
        Some(ErrorKind::Limit) => 6,
        Some(ErrorKind::NotFound) => 7,
        Some(ErrorKind::Unavailable) => 10,
        Some(ErrorKind::Unsupported) => 11,
        // A kind that is new in the store.
        Some(_) => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use rowkey_store::RowSet;
    use rowkey_store::wrap::{Operation, Part};

    fn record(kind: OperationKind, scope: Scope, outcome: Outcome) -> Record {
        let operation = Operation { kind, table: "t".to_owned(), scope };
        Record { operation, outcome, ended_us: 1_000 }
    }

    fn events(record: &Record) -> Vec<String> {
        let buffers = Buffers::default();
        buffers.record(record, |_| ());
        let mut shown = Vec::new();
        for batch in buffers.drain() {
            for at in 0..batch.len() {
                let event = batch.get(at);
                shown.push(format!(
                    "{} {:?} {:?}..{:?} last {:?} rows {} bytes {} us {} counts {}",
                    batch.tables()[event.table],
                    event.touch,
                    String::from_utf8_lossy(event.key),
                    event.end.map(String::from_utf8_lossy),
                    event.last.map(String::from_utf8_lossy),
                    event.rows,
                    event.bytes,
                    event.time_us,
                    event.counts.is_some(),
                ));
            }
        }
        shown
    }

    #[test]
    fn a_read_of_several_ranges_is_one_event_for_each_and_their_times_add_up() {
        let rows = RowSet::new([Bytes::from("k")], [RowRange::prefix(b"m")]);
        let parts = vec![Part { rows: 1, bytes: 5 }, Part { rows: 4, bytes: 9 }];
        let outcome = Outcome { rows: 5, bytes: 14, parts, started_us: 993, ..Outcome::default() };
        assert_eq!(
            events(&record(OperationKind::Read, Scope::Rows(rows), outcome)),
            [
                "t Read \"k\"..Some(\"k\\0\") last None rows 1 bytes 5 us 4 counts true",
                "t Scan \"m\"..Some(\"n\") last None rows 4 bytes 9 us 3 counts false"
            ]
        );
    }

    #[test]
    fn rows_that_were_written_together_share_their_time() {
        let outcome = Outcome { rows: 1, bytes: 5, started_us: 993, batch_rows: 4, ..Outcome::default() };
        assert_eq!(
            events(&record(OperationKind::Mutate, Scope::Key("k".into()), outcome)),
            ["t Write \"k\"..None last None rows 1 bytes 5 us 2 counts true"]
        );
    }

    #[test]
    fn what_failed_counts_but_touches_nothing() {
        let failed = Outcome { error: Some(ErrorKind::NotFound), started_us: 999, ..Outcome::default() };
        let nothing = [" Nothing \"\"..None last None rows 0 bytes 0 us 1 counts true"];
        assert_eq!(events(&record(OperationKind::Mutate, Scope::Key("k".into()), failed.clone())), nothing);
        assert_eq!(events(&record(OperationKind::Read, Scope::Rows(RowSet::all()), failed.clone())), nothing);
        let late = Outcome { rows: 3, bytes: 30, last_key: Some("c".into()), ..failed };
        assert_eq!(
            events(&record(OperationKind::Read, Scope::Rows(RowSet::all()), late)),
            ["t Scan \"\"..None last Some(\"c\") rows 3 bytes 30 us 1 counts true"]
        );
    }

    #[test]
    fn a_full_shard_is_handed_out_and_nothing_is_lost() {
        let buffers = Buffers::default();
        let handed_out = std::sync::Mutex::new(0);
        let keys = (0..20_000u32).map(|number| Bytes::copy_from_slice(&number.to_be_bytes()));
        let outcome = Outcome { rows: 1, ..Outcome::default() };
        let record = record(OperationKind::Read, Scope::Rows(RowSet::new(keys, [])), outcome);
        buffers.record(&record, |batch| *handed_out.lock().unwrap() += batch.len());
        let left: usize = buffers.drain().iter().map(Batch::len).sum();
        assert_eq!(*handed_out.lock().unwrap() + left, record_ranges(&record));
        assert!(left < EVENTS_MAX);
    }

    fn record_ranges(record: &Record) -> usize {
        match &record.operation.scope {
            Scope::Rows(rows) => rows.ranges().len(),
            _ => 1,
        }
    }
}
