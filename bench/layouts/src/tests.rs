//! Equal answers of both layouts, the codec, and what the engine promises about compaction filters.

use crate::cells::Cells;
use crate::codec::{decode_fragment, decode_ts, encode_fragment, encode_ts, part_len, row_prefix, unescape};
use crate::fragments::Fragments;
use crate::model::{Columns, Direction, Mutation, Row};
use crate::store::{Layout, Store, View};
use crate::workload::Rng;
use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, Readable, Slice};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// An empty folder that goes away at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("layouts-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn random_bytes(rng: &mut Rng, len_max: u64) -> Vec<u8> {
    let alphabet = [0, 1, 2, 0xFE, 0xFF, b'a'];
    (0..rng.below(len_max + 1)).map(|_| alphabet[rng.below(6) as usize]).collect()
}

#[test]
fn row_prefixes_sort_as_rows_do_and_decode_back() {
    let mut rng = Rng(1);
    for _ in 0..100_000 {
        let (a, b) = (random_bytes(&mut rng, 6), random_bytes(&mut rng, 6));
        let (x, y) = (row_prefix(&a), row_prefix(&b));
        assert_eq!(a.cmp(&b), x.cmp(&y), "{a:?} {b:?}");
        assert_eq!(part_len(&[&x[..], b"\0tail"].concat()), Some(x.len()));
        assert_eq!(*unescape(Bytes::copy_from_slice(&x[..x.len() - 2])), a[..]);
    }
}

#[test]
fn later_timestamps_sort_first() {
    for pair in [i64::MIN, -1, 0, 1, 1_790_000_000_000_000, i64::MAX].windows(2) {
        assert!(encode_ts(pair[0]) > encode_ts(pair[1]));
        assert_eq!(decode_ts(&encode_ts(pair[0])), Some(pair[0]));
    }
}

#[test]
fn fragments_decode_back_and_no_cut_or_flip_panics() {
    let mut rng = Rng(2);
    for _ in 0..200 {
        let mutation = random_mutation(&mut rng);
        let cells = mutation.cells.iter().map(|(q, ts, v)| (&q[..], *ts, &v[..]));
        let bytes = encode_fragment(cells);
        let mut decoded = Vec::new();
        assert_eq!(
            decode_fragment(&Bytes::copy_from_slice(&bytes[..]), Columns::All, &mut decoded),
            Some(())
        );
        let decoded: Vec<_> =
            decoded.iter().map(|c| (c.qualifier.to_vec(), c.ts, c.value.to_vec())).collect();
        assert_eq!(decoded, mutation.cells);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << rng.below(8);
            let _ = decode_fragment(&Bytes::from(flipped), Columns::All, &mut Vec::new());
            assert_eq!(
                decode_fragment(&Bytes::copy_from_slice(&bytes[..at]), Columns::All, &mut Vec::new()),
                None
            );
        }
    }
}

/// A mutation of a few cells, some with equal qualifiers and other timestamps.
fn random_mutation(rng: &mut Rng) -> Mutation {
    let row = [&[b'r'][..], &random_bytes(rng, 2)].concat();
    let mut cells: Vec<_> = (0..1 + rng.below(4))
        .map(|_| {
            let len = rng.below(40) as usize;
            (random_bytes(rng, 1), rng.below(6).cast_signed() - 2, vec![rng.next() as u8; len])
        })
        .collect();
    cells.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    cells.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
    Mutation { row, cells }
}

fn all_rows<L: Layout>(view: &View, direction: Direction) -> Vec<Row> {
    let mut rows = Vec::new();
    L::scan(view, Columns::All, direction, |row| rows.push(row)).unwrap();
    rows
}

#[test]
fn both_layouts_give_equal_rows_whatever_was_flushed_and_compacted() {
    for seed in 0..4 {
        let (dir_a, dir_f) = (Folder::new(&format!("a{seed}")), Folder::new(&format!("f{seed}")));
        let mut a = Store::<Cells>::open(&dir_a.0, Cells::filter_factory()).unwrap();
        let mut f = Store::<Fragments>::open(&dir_f.0, Fragments::filter_factory()).unwrap();
        let mut rng = Rng(seed);
        for step in 0..20 {
            for _ in 0..30 {
                let mutation = [random_mutation(&mut rng)];
                a.write(&mutation).unwrap();
                f.write(&mutation).unwrap();
            }
            let rows = all_rows::<Cells>(&a.view(), Direction::Forward);
            let old = f.view();
            assert_eq!(rows, all_rows::<Fragments>(&old, Direction::Forward), "seed {seed} step {step}");
            match rng.below(3) {
                0 => f.flush().unwrap(),
                1 => {
                    f.flush().unwrap();
                    f.major_compact().unwrap();
                    a.flush().unwrap();
                    a.major_compact().unwrap();
                }
                _ => {}
            }
            for view in [old, f.view()] {
                assert_eq!(rows, all_rows::<Fragments>(&view, Direction::Forward), "seed {seed} step {step}");
                let reverse: Vec<_> =
                    all_rows::<Fragments>(&view, Direction::Reverse).into_iter().rev().collect();
                assert_eq!(rows, reverse, "seed {seed} step {step}");
                for row in &rows {
                    assert_eq!(
                        Fragments::read_row(&view, &row.key, Columns::All).unwrap().as_ref(),
                        Some(row)
                    );
                    assert_eq!(
                        Cells::read_row(&a.view(), &row.key, Columns::All).unwrap().as_ref(),
                        Some(row)
                    );
                    let qualifier = &row.cells[row.cells.len() / 2].qualifier;
                    let one = Columns::One(qualifier);
                    let read = Fragments::read_row(&view, &row.key, one).unwrap();
                    assert_eq!(read, Cells::read_row(&a.view(), &row.key, one).unwrap());
                }
            }
        }
    }
}

/// What a filter was asked, and whether the run went into the last level.
type Log = Arc<Mutex<Vec<(Slice, bool)>>>;

/// Destroys keys that start with `d`, removes `x`, replaces values of `r`, and notes every call.
struct NotingFactory(Log);

impl Factory for NotingFactory {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(NotingFilter(Arc::clone(&self.0)))
    }
}

struct NotingFilter(Log);

impl CompactionFilter for NotingFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, context: &Context) -> CompactionFilterResult {
        self.0.lock().unwrap().push((item.key().clone(), context.is_last_level));
        Ok(match item.key().first() {
            Some(b'd') => Verdict::Destroy,
            Some(b'x') => Verdict::Remove,
            Some(b'r') => Verdict::ReplaceValue("new".into()),
            _ => Verdict::Keep,
        })
    }
}

fn noting_database(dir: &Folder, log: &Log) -> (Database, Keyspace) {
    let factory: Arc<dyn Factory> = Arc::new(NotingFactory(Arc::clone(log)));
    let db = Database::builder(&dir.0)
        .with_compaction_filter_factories(Arc::new(move |name: &str| {
            (name == "filtered").then(|| Arc::clone(&factory))
        }))
        .open()
        .unwrap();
    let keyspace = db.keyspace("filtered", KeyspaceCreateOptions::default).unwrap();
    (db, keyspace)
}

#[test]
fn the_filter_sees_each_write_once_key_once_and_old_snapshots_keep_what_it_drops() {
    let (dir, log) = (Folder::new("noting"), Log::default());
    let (db, keyspace) = noting_database(&dir, &log);
    // Three overlapping tables, so the keys of one run come from several of them.
    for table in 0..3 {
        for i in 0..1000 {
            let first = [b'd', b'k', b'r'][i % 3] as char;
            keyspace.insert(format!("{first}{i:04}-{table}"), "old").unwrap();
        }
        keyspace.rotate_memtable_and_wait().unwrap();
    }
    let old = db.snapshot();
    let pairs = |snapshot: &fjall::Snapshot| -> Vec<_> {
        snapshot.iter(&keyspace).map(|pair| pair.into_inner().unwrap()).collect()
    };
    let before = pairs(&old);
    assert_eq!(before.len(), 3000);
    keyspace.major_compact().unwrap();
    assert!(pairs(&old) == before, "the old snapshot changed");
    let after = pairs(&db.snapshot());
    assert_eq!(after.len(), 3000 - 3 * 334);
    assert!(after.iter().all(|(key, value)| *value == if key[0] == b'r' { "new" } else { "old" }));

    let log = log.lock().unwrap();
    assert!(log.iter().all(|(_, last_level)| *last_level));
    assert!(log.is_sorted_by(|a, b| a.0 < b.0), "an item came twice or out of order");
    assert_eq!(log.len(), 3000);
}

/// The engine compares the journal with the highest sequence number that is left in tables. When a filter has
/// dropped the newest pairs, the journal is replayed and they are back. So a filter may only drop what the reader
/// hides anyway; it must not be the only thing that deletes.
#[test]
fn dropped_pairs_come_back_from_the_journal_when_another_keyspace_keeps_it() {
    let (dir, log) = (Folder::new("replay"), Log::default());
    {
        let (db, keyspace) = noting_database(&dir, &log);
        let other = db.keyspace("other", KeyspaceCreateOptions::default).unwrap();
        keyspace.insert("k", "old").unwrap();
        keyspace.insert("d", "old").unwrap();
        keyspace.insert("x", "old").unwrap();
        other.insert("unflushed", "").unwrap();
        keyspace.rotate_memtable_and_wait().unwrap();
        keyspace.major_compact().unwrap();
        assert_eq!(db.snapshot().len(&keyspace).unwrap(), 1);
    }
    let (db, keyspace) = noting_database(&dir, &log);
    assert_eq!(db.snapshot().len(&keyspace).unwrap(), 3);
}
