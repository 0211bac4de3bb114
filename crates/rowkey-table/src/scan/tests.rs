//! Merging, laziness, deadlines and cancelling, on made-up snapshots: no schema, no engine.

use super::source::{Judge, Part, Reading};
use super::{Merge, MergeConfig, OnForeignKey};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use proptest::prelude::*;
use rowkey::Value;
use rowkey_store::{Cell, ManualClock, ReadRequest, Row, RowRange, RowSet, RowStream, Selection, Snapshot};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Sorted stored keys; two digits of salt, then the unsalted key. Counts the rows that it gives.
#[derive(Debug, Default)]
struct Keys {
    sorted: Vec<Vec<u8>>,
    given: Arc<AtomicU64>,
    open: Arc<AtomicU64>,
    trouble: Option<Trouble>,
}

/// What happens when a row of this bucket is read.
#[derive(Debug, Clone)]
struct Trouble {
    bucket: u8,
    kind: TroubleKind,
}

#[derive(Debug, Clone)]
enum TroubleKind {
    Fails,
    Panics,
    /// Takes so many microseconds of the clock.
    Slow(Arc<ManualClock>, i64),
    /// Hangs until something is sent, and says that it hangs.
    Hangs(Sender<()>, Arc<Mutex<Receiver<()>>>),
}

struct Stream {
    rows: std::vec::IntoIter<Vec<u8>>,
    given: Arc<AtomicU64>,
    open: Arc<AtomicU64>,
    trouble: Option<Trouble>,
}

impl Snapshot for Keys {
    fn read_rows(&self, request: &ReadRequest) -> rowkey_store::Result<RowStream> {
        let mut keys: Vec<Vec<u8>> =
            self.sorted.iter().filter(|key| request.rows.contains(key)).cloned().collect();
        if request.reversed {
            keys.reverse();
        }
        keys.truncate(request.rows_max.map_or(usize::MAX, |rows| usize::try_from(rows).unwrap()));
        self.open.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Stream {
            rows: keys.into_iter(),
            given: Arc::clone(&self.given),
            open: Arc::clone(&self.open),
            trouble: self.trouble.clone(),
        }))
    }
}

impl Iterator for Stream {
    type Item = rowkey_store::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.rows.next()?;
        self.given.fetch_add(1, Ordering::SeqCst);
        if let Some(trouble) =
            self.trouble.as_ref().filter(|trouble| key.starts_with(salt(trouble.bucket).as_bytes()))
        {
            match &trouble.kind {
                TroubleKind::Fails => {
                    return Some(Err(rowkey_store::Error::new(
                        rowkey_store::ErrorKind::Corrupt,
                        "a block is damaged",
                    )));
                }
                TroubleKind::Panics => panic!("made up"),
                TroubleKind::Slow(clock, micros) => clock.set(rowkey_store::Clock::now_us(&**clock) + micros),
                TroubleKind::Hangs(says, released) => {
                    says.send(()).unwrap();
                    released.lock().unwrap().recv().unwrap();
                }
            }
        }
        let cell = Cell {
            family: "f".into(),
            qualifier: Bytes::new(),
            timestamp_us: 0,
            value: Bytes::new(),
            labels: Vec::new(),
        };
        Some(Ok(Row { key: key.into(), cells: vec![cell] }))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Takes all keys but those that end with `!`, which it calls foreign, and those that end with `?`, which the filter leaves out.
#[derive(Debug)]
struct ByEnd;

impl Judge for ByEnd {
    fn judge(&self, key: &[u8]) -> Result<Option<Vec<Value<'static>>>, rowkey::Error> {
        match key.last() {
            Some(b'!') => Err(rowkey::Error::malformed(2, "made up").in_field("name")),
            Some(b'?') => Ok(None),
            _ => Ok(Some(Vec::new())),
        }
    }
}

fn salt(bucket: u8) -> String {
    format!("{bucket:02}")
}

struct Setup {
    keys: Keys,
    clock: Arc<ManualClock>,
    rows_max: Option<u64>,
    reversed: bool,
    deadline_us: Option<i64>,
    on_foreign_key: OnForeignKey,
}

impl Setup {
    fn new(keys: impl IntoIterator<Item = (u8, String)>) -> Self {
        let mut keys: Vec<Vec<u8>> =
            keys.into_iter().map(|(bucket, key)| (salt(bucket) + &key).into_bytes()).collect();
        keys.sort();
        Self {
            keys: Keys { sorted: keys, ..Keys::default() },
            clock: Arc::new(ManualClock::new(1_000_000)),
            rows_max: None,
            reversed: false,
            deadline_us: None,
            on_foreign_key: OnForeignKey::Fail,
        }
    }

    fn merge(self, buckets: u8, config: MergeConfig) -> Result<Merge> {
        let reading = Reading {
            table: "t".to_owned(),
            snapshot: Arc::new(self.keys),
            judge: Box::new(ByEnd),
            selection: Selection::default(),
            live: false,
            reversed: self.reversed,
            on_foreign_key: self.on_foreign_key,
            salt_width: 2,
            shared: 0,
            rows_max: self.rows_max,
            rows_exact: false,
            clock: self.clock,
            deadline_us: self.deadline_us,
            cancelled: AtomicBool::new(false),
        };
        let part = |bucket| Part {
            bucket: Some(u32::from(bucket)),
            ranges: RowSet::from(RowRange::prefix(salt(bucket).as_bytes())),
        };
        Merge::new(reading, (0..buckets).map(part).collect(), config)
    }
}

const ORDERED: MergeConfig = MergeConfig { ordered: true, workers: 2, buffer_bytes_max: 1 << 20 };

fn collect(merge: &mut Merge) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    while let Some(row) = merge.next_row()? {
        keys.push(String::from_utf8(row.key.to_vec()).unwrap());
    }
    Ok(keys)
}

fn rows(buckets: u8, each: u32) -> impl Iterator<Item = (u8, String)> {
    (0..buckets).flat_map(move |bucket| (0..each).map(move |row| (bucket, format!("{row:06}"))))
}

#[test]
fn ten_rows_of_a_hundred_buckets_read_little_more_than_a_hundred() {
    for workers in [0, 2] {
        let mut setup = Setup::new(rows(100, 1000));
        setup.rows_max = Some(10);
        let given = Arc::clone(&setup.keys.given);
        let mut merge = setup.merge(100, MergeConfig { workers, ..ORDERED }).unwrap();
        for _ in 0..10 {
            merge.next_row().unwrap().unwrap();
        }
        drop(merge);
        let given = given.load(Ordering::SeqCst);
        assert!(given < 150, "{given} rows were read with {workers} workers");
    }
}

#[test]
fn memory_is_bounded_by_the_chunks() {
    let setup = Setup::new(rows(20, 2000));
    let given = Arc::clone(&setup.keys.given);
    let mut merge = setup.merge(20, MergeConfig { buffer_bytes_max: 20 * 2 * 1000, ..ORDERED }).unwrap();
    for returned in 1..=20_000 {
        merge.next_row().unwrap().unwrap();
        let waiting = given.load(Ordering::SeqCst) - returned;
        // A row takes about 200 bytes, so a chunk of 1,000 bytes ends with its fifth or sixth row.
        assert!(waiting <= 20 * 2 * 8, "{waiting} rows wait");
    }
}

#[test]
fn dropping_stops_the_threads_and_closes_the_streams() {
    let setup = Setup::new(rows(10, 10_000));
    let (given, open) = (Arc::clone(&setup.keys.given), Arc::clone(&setup.keys.open));
    let mut merge = setup.merge(10, ORDERED).unwrap();
    merge.next_row().unwrap().unwrap();
    assert_eq!(open.load(Ordering::SeqCst), 10);
    drop(merge);
    assert_eq!(open.load(Ordering::SeqCst), 0);
    assert!(given.load(Ordering::SeqCst) < 2000);
}

fn check_trouble(
    kind: &TroubleKind,
    deadline_us: Option<i64>,
    clock: Option<&Arc<ManualClock>>,
    workers_max: usize,
    expected: (ErrorKind, &str),
) {
    for (ordered, workers) in [(true, 0), (true, workers_max), (false, 0), (false, workers_max)] {
        let mut setup = Setup::new(rows(8, 100));
        setup.keys.trouble = Some(Trouble { bucket: 5, kind: kind.clone() });
        setup.deadline_us = deadline_us;
        if let Some(clock) = clock {
            setup.clock = Arc::clone(clock);
        }
        let config = MergeConfig { ordered, workers, ..ORDERED };
        let result = setup.merge(8, config).and_then(|mut merge| collect(&mut merge));
        let error = result.expect_err("never a short result");
        assert_eq!(error.kind(), expected.0);
        let message = error.to_string();
        assert!(message.contains("table `t`, bucket 5, range `05`..`06`"), "{message}");
        assert!(message.contains(expected.1), "{message}");
    }
}

#[test]
fn a_failing_bucket_is_an_error_that_names_it() {
    check_trouble(&TroubleKind::Fails, None, None, 2, (ErrorKind::Corrupt, "damaged"));
    check_trouble(&TroubleKind::Panics, None, None, 2, (ErrorKind::Unavailable, "panicked"));
}

#[test]
fn a_slow_bucket_is_an_error_that_names_it() {
    let clock = Arc::new(ManualClock::new(5));
    let slow = TroubleKind::Slow(Arc::clone(&clock), 60_000);
    // All share one clock: a second worker could be reading another bucket when it jumps, and that one would be late too.
    check_trouble(&slow, Some(50_000), Some(&clock), 1, (ErrorKind::DeadlineExceeded, "within 50 ms"));
}

#[test]
fn a_hanging_bucket_is_an_error_and_nobody_waits_for_it() {
    let (says, hangs) = channel();
    let (release, released) = channel();
    let mut setup = Setup::new(rows(8, 100));
    let kind = TroubleKind::Hangs(says, Arc::new(Mutex::new(released)));
    setup.keys.trouble = Some(Trouble { bucket: 5, kind });
    setup.deadline_us = Some(50_000);
    let clock = Arc::clone(&setup.clock);
    let open = Arc::clone(&setup.keys.open);
    let advance = std::thread::spawn(move || {
        hangs.recv().unwrap();
        clock.set(2_000_000);
    });
    let result = setup.merge(8, ORDERED).and_then(|mut merge| collect(&mut merge));
    let error = result.expect_err("never a short result");
    advance.join().unwrap();
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
    assert!(error.to_string().contains("bucket 5"), "{error}");
    // The merge is gone while the read still hangs; at most the other thread is busy as well.
    assert!(open.load(Ordering::SeqCst) <= 2);
    release.send(()).unwrap();
}

#[test]
fn a_foreign_key_is_an_error_or_counted() {
    let keys = || [(0, "a".to_owned()), (0, "b!".to_owned()), (1, "c".to_owned())];
    let check = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Malformed { offset: 2 });
        let message = error.to_string();
        for part in ["table `t`", "`00b!`", "field `name`", "offset 2"] {
            assert!(message.contains(part), "{message}");
        }
    };
    check(Setup::new(keys()).merge(2, ORDERED).and_then(|mut merge| collect(&mut merge)).unwrap_err());
    let mut setup = Setup::new(keys());
    setup.on_foreign_key = OnForeignKey::Skip;
    let mut merge = setup.merge(2, ORDERED).unwrap();
    assert_eq!(collect(&mut merge).unwrap(), ["00a", "01c"]);
    assert_eq!((merge.foreign(), merge.examined()), (1, 3));
}

#[test]
fn a_filter_that_lets_nothing_through_ends() {
    let setup = Setup::new((0..3).flat_map(|bucket| (0..9000).map(move |row| (bucket, format!("{row}?")))));
    let mut merge = setup.merge(3, ORDERED).unwrap();
    assert_eq!(collect(&mut merge).unwrap(), [""; 0]);
    assert_eq!(merge.examined(), 27_000);
}

proptest! {
    #[test]
    fn merges_are_sorted_by_unsalted_key_then_bucket(
        keys in prop::collection::btree_set((0u8..6, "[ab]{0,3}[a?]"), 0..200),
        reversed: bool,
        ordered: bool,
        workers in 0usize..4,
        buffer_bytes_max in 1usize..20_000,
    ) {
        let mut expected: Vec<(String, u8)> = keys.iter().map(|(bucket, key)| (key.clone(), *bucket)).collect();
        expected.retain(|(key, _)| !key.ends_with('?'));
        expected.sort();
        if reversed {
            expected.reverse();
        }
        let mut expected: Vec<String> = expected.into_iter().map(|(key, bucket)| salt(bucket) + &key).collect();
        let mut setup = Setup::new(keys);
        setup.reversed = reversed;
        let mut merge = setup.merge(6, MergeConfig { ordered, workers, buffer_bytes_max }).unwrap();
        let mut found = collect(&mut merge).unwrap();
        if !ordered {
            found.sort();
            expected.sort();
        }
        prop_assert_eq!(found, expected);
    }
}
