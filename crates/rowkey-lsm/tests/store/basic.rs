//! The engine from outside: what is written is read, also after the store was opened again.

use crate::{Random, folder};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    ColumnSelection, DropScope, Durability, Engine, EngineExt as _, ErrorKind, FamilyChange, ManualClock,
    Mutation, ReadModifyWrite, ReadRequest, RowMutation, RowRange, Selection, Timestamp,
};
use std::path::Path;
use std::sync::Arc;

fn open(path: &Path) -> LsmEngine {
    LsmEngine::open(path, Options::tiny(Arc::new(ManualClock::new(1_000_000)))).unwrap()
}

fn shown(engine: &LsmEngine, request: &ReadRequest) -> Vec<String> {
    let rows = engine.read_all("t", request).unwrap();
    let cell = |cell: &rowkey_store::Cell| {
        format!(
            "{}:{}@{}={}",
            cell.family,
            cell.qualifier.escape_ascii(),
            cell.timestamp_us,
            cell.value.escape_ascii()
        )
    };
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row.cells.iter().map(cell).collect();
            format!("{} {}", row.key.escape_ascii(), cells.join(" "))
        })
        .collect()
}

#[test]
fn rows_come_back_in_order_forward_and_reverse_and_after_a_reopen() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    engine.create("t", &[("b", "never"), ("a", "never")]).unwrap();
    engine
        .set_cells("t", b"k2", &[("a", b"q", 2000, b"2"), ("a", b"q", 1000, b"1"), ("b", b"", 1000, b"x")])
        .unwrap();
    engine.set_cells("t", b"k\x00", &[("b", b"z", 1000, b"")]).unwrap();
    engine.set_cells("t", b"k2", &[("a", b"q", 1000, b"one"), ("a", b"p", 1000, b"p")]).unwrap();
    let all = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    let expected = ["k\\x00 b:z@1000=", "k2 a:p@1000=p a:q@2000=2 a:q@1000=one b:@1000=x"];
    assert_eq!(shown(&engine, &all), expected);
    engine.split_tablet("t", &Bytes::from_static(b"k1")).unwrap();
    assert_eq!(shown(&engine, &all), expected);
    drop(engine);
    let engine = open(&path);
    assert_eq!(shown(&engine, &all), expected);
    assert_eq!(engine.table_config("t").unwrap().split_points, [Bytes::from_static(b"k1")]);
    let reversed = ReadRequest { reversed: true, rows_max: Some(1), ..all.clone() };
    assert_eq!(shown(&engine, &reversed), expected[1..]);
    let only = ColumnSelection::Only(vec![("a".to_owned(), Some(vec![Bytes::from_static(b"q")]))]);
    let newest = Selection { columns: only, versions_max: Some(1), ..Selection::default() };
    let newest = ReadRequest { selection: newest, ..all.clone() };
    assert_eq!(shown(&engine, &newest), ["k2 a:q@2000=2"]);
    engine.drop_rows("t", &DropScope::Prefix(Bytes::from_static(b"k2"))).unwrap();
    assert_eq!(shown(&engine, &all), expected[..1]);
    engine.drop_table("t").unwrap();
    assert_eq!(engine.snapshot("t").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn steps_of_a_row_apply_in_order_and_those_of_a_group_see_each_other() {
    let folder = folder();
    let engine = open(&folder.path().join("store"));
    engine.create("t", &[("f", "maxversions=1")]).unwrap();
    let set = |time, value: &'static str| {
        Mutation::set(
            "f",
            Bytes::from_static(b"q"),
            Timestamp::Micros(time),
            Bytes::from_static(value.as_bytes()),
        )
    };
    let delete = |times_us| Mutation::DeleteFromColumn {
        family: "f".to_owned(),
        qualifier: Bytes::from_static(b"q"),
        times_us,
    };
    let rows = vec![
        RowMutation { key: "r".into(), mutations: vec![set(1000, "old"), set(5000, "new")] },
        RowMutation { key: "r".into(), mutations: vec![delete(Some(5000..6000)), set(2000, "late")] },
        RowMutation { key: "s".into(), mutations: vec![set(1000, "gone"), Mutation::DeleteFromRow] },
    ];
    engine.mutate_all("t", rows, Durability::Buffered).unwrap();
    let all = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    // The old cell was hidden by the new one when that was deleted, so it went with it.
    assert_eq!(shown(&engine, &all), ["r f:q@2000=late"]);
    let append = ReadModifyWrite::Append { family: "f".into(), qualifier: "q".into(), suffix: "r".into() };
    engine.read_modify_write_row("t", &"r".into(), &[append], Timestamp::Micros(1000)).unwrap();
    assert_eq!(shown(&engine, &all), ["r f:q@2000=later"]);
    engine.modify_families("t", &[FamilyChange::Drop { family: "f".into() }]).unwrap();
    assert!(shown(&engine, &all).is_empty());
}

#[test]
fn a_counter_stays_quick_and_right() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    engine.create("t", &[("f", "maxversions=1")]).unwrap();
    let add = ReadModifyWrite::Increment { family: "f".into(), qualifier: "n".into(), amount: 1 };
    for step in 0..3_000 {
        engine
            .read_modify_write_row(
                "t",
                &"r".into(),
                std::slice::from_ref(&add),
                Timestamp::Micros(step * 1000),
            )
            .unwrap();
    }
    let all = ReadRequest { rows: RowRange::all().into(), ..ReadRequest::default() };
    let value = |engine: &LsmEngine, reversed| {
        let rows = engine.read_all("t", &ReadRequest { reversed, live: true, ..all.clone() }).unwrap();
        assert_eq!(rows.len(), 1);
        u64::from_be_bytes(rows[0].cells[0].value[..].try_into().unwrap())
    };
    assert_eq!((value(&engine, false), value(&engine, true)), (3_000, 3_000));
    // Versions that the rule takes were not carried along.
    let held = engine.read_row("t", b"r").unwrap().unwrap().cells.len();
    assert!(held < 20, "{held}");
    drop(engine);
    assert_eq!(value(&open(&path), false), 3_000);
}

/// Families are separate files: where those of one are damaged, the other is read as if nothing had happened, so a read of it touches none
/// of them.
#[test]
fn reading_one_family_reads_no_block_of_another() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    engine.create("t", &[("large", "never"), ("small", "never")]).unwrap();
    let mut random = Random(9);
    let noise = |random: &mut Random| (0..110).flat_map(|_| random.next().to_le_bytes()).collect::<Bytes>();
    let rows = (0..2_000u32).map(|row| RowMutation {
        key: format!("{row:05}").into(),
        mutations: vec![
            Mutation::set("large", Bytes::from_static(b"q"), Timestamp::Micros(0), noise(&mut random)),
            Mutation::set("small", Bytes::from_static(b"q"), Timestamp::Micros(0), Bytes::from_static(b"x")),
        ],
    });
    engine.mutate_all("t", rows.collect(), Durability::Buffered).unwrap();
    engine.compact("t").unwrap();
    drop(engine);
    check_bytes_read(&path);
    // The keyspace of the first family: damage where its cells are, of which nothing is read on opening.
    for entry in std::fs::read_dir(path.join("data/keyspaces/2/tables")).unwrap() {
        let file = entry.unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        if bytes.len() > 1 << 20 {
            let quarter = bytes.len() / 4;
            bytes[..quarter].iter_mut().for_each(|byte| *byte ^= 0xff);
            std::fs::write(&file, bytes).unwrap();
        }
    }
    let engine = open(&path);
    assert_eq!(engine.read_all("t", &of_family("small")).unwrap().len(), 2_000);
    let error = engine.read_all("t", &of_family("large")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("data/keyspaces/2/tables/"), "{error}");
}

fn of_family(family: &str) -> ReadRequest {
    let columns = ColumnSelection::Only(vec![(family.to_owned(), None)]);
    let selection = Selection { columns, ..Selection::default() };
    ReadRequest { rows: RowRange::all().into(), selection, ..ReadRequest::default() }
}

/// Of 2,000 rows with 880 bytes in one family and one byte in the other: what this thread reads from files for each, as Linux counts.
#[expect(clippy::print_stderr, reason = "a check that is left out is left out loudly")]
fn check_bytes_read(path: &Path) {
    let read_so_far = || {
        let counters = std::fs::read_to_string("/proc/thread-self/io").ok()?;
        counters.strip_prefix("rchar: ")?.lines().next()?.parse::<u64>().ok()
    };
    if read_so_far().is_none() {
        eprintln!("SKIPPED 1 check: this system does not count the bytes that a thread reads");
        return;
    }
    let engine = open(path);
    let bytes_of = |family: &str| {
        let before = read_so_far().unwrap();
        assert_eq!(engine.read_all("t", &of_family(family)).unwrap().len(), 2_000);
        read_so_far().unwrap() - before
    };
    let (small, large) = (bytes_of("small"), bytes_of("large"));
    assert!(small < 200_000, "{small} bytes read for the small family");
    assert!(large > 2_000 * 880, "{large} bytes read for the large family");
}

/// Each try of a split that met damage left a copy behind.
#[test]
fn a_split_that_cannot_read_leaves_nothing_behind() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    engine.create("t", &[("a", "never"), ("b", "never")]).unwrap();
    let mut random = Random(9);
    for row in 0..200u8 {
        let noise: Vec<u8> = (0..50).flat_map(|_| random.next().to_le_bytes()).collect();
        engine.set_cells("t", &[row], &[("a", b"q", 0, &noise), ("b", b"q", 0, &noise[..200])]).unwrap();
    }
    engine.compact("t").unwrap();
    drop(engine);
    let folders = || std::fs::read_dir(path.join("data/keyspaces")).unwrap().count();
    let before = folders();
    for entry in std::fs::read_dir(path.join("data/keyspaces/3/tables")).unwrap() {
        let file = entry.unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        // Cells, of which nothing is read on opening; small files are mostly index.
        if bytes.len() > 10_000 {
            bytes[..2_000].iter_mut().for_each(|byte| *byte ^= 0xff);
            std::fs::write(&file, bytes).unwrap();
        }
    }
    let options = Options {
        tablet_bytes_max: 8_000,
        spare_keyspaces: 0,
        ..Options::tiny(Arc::new(ManualClock::new(1_000_000)))
    };
    let engine = LsmEngine::open(&path, options).unwrap();
    for step in 0..20 {
        engine.set_cells("t", b"r", &[("a", b"q", step * 1000, &[1; 600])]).unwrap();
    }
    engine.sync().unwrap();
    assert!(engine.table_config("t").unwrap().split_points.is_empty());
    assert_eq!(folders(), before);
}

/// Tablets share files: their numbers were once guesses, equal for all of them in every new process.
#[test]
fn what_is_told_of_tablets_is_counted_and_not_guessed() {
    let folder = folder();
    let engine = open(folder.path());
    engine.create("t", &[("a", "never"), ("b", "never")]).unwrap();
    for key in [&b"f"[..], b"m"] {
        engine.split_tablet("t", &Bytes::copy_from_slice(key)).unwrap();
    }
    for row in 0..30u8 {
        let key = [if row < 20 { b'a' } else { b'z' }, row];
        engine
            .set_cells("t", &key, &[("a", b"1", 0, b"x"), ("a", b"2", 0, b"y"), ("b", b"1", 0, b"z")])
            .unwrap();
    }
    let counted = |engine: &LsmEngine| {
        engine.tablets("t").unwrap().iter().map(|tablet| tablet.cells).collect::<Vec<_>>()
    };
    assert_eq!(counted(&engine), [60, 0, 30]);
    drop(engine);
    let engine = open(folder.path());
    assert_eq!(counted(&engine), [60, 0, 30]);
    let tablets = engine.tablets("t").unwrap();
    assert!(tablets[0].bytes > tablets[2].bytes && tablets[1].bytes == 0, "{tablets:?}");
}

/// What a server asks every few seconds answers from what is in memory: of a damaged file nothing is noticed.
#[test]
fn counters_and_samples_of_tablets_read_no_row() {
    let folder = folder();
    let path = folder.path().join("store");
    let engine = open(&path);
    engine.create("t", &[("a", "never")]).unwrap();
    for key in [&b"g"[..], b"p"] {
        engine.split_tablet("t", &Bytes::copy_from_slice(key)).unwrap();
    }
    let mut random = Random(9);
    for row in 0..300u32 {
        let key = format!("{}{row}", if row < 100 { 'a' } else { 'z' });
        let noise: Vec<u8> = (0..50).flat_map(|_| random.next().to_le_bytes()).collect();
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, &noise)]).unwrap();
    }
    let check = |tablets: &[rowkey_store::TabletInfo]| {
        let cells: u64 = tablets.iter().map(|tablet| tablet.cells).sum();
        assert!((290..=302).contains(&cells), "{tablets:?}");
        assert!(tablets.iter().map(|tablet| tablet.bytes).sum::<u64>() > 300 * 400, "{tablets:?}");
    };
    let counted = engine.tablet_counters("t").unwrap();
    check(&counted);
    let exact = engine.tablets("t").unwrap();
    let facts = |tablets: Vec<rowkey_store::TabletInfo>| {
        tablets
            .into_iter()
            .map(|tablet| (tablet.range, tablet.writes, tablet.bytes_written))
            .collect::<Vec<_>>()
    };
    assert_eq!(facts(counted), facts(exact));
    engine.compact("t").unwrap();
    check(&engine.tablet_counters("t").unwrap());
    drop(engine);
    for entry in std::fs::read_dir(path.join("data/keyspaces/2/tables")).unwrap() {
        let file = entry.unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        if bytes.len() > 10_000 {
            bytes[..2_000].iter_mut().for_each(|byte| *byte ^= 0xff);
            std::fs::write(&file, bytes).unwrap();
        }
    }
    let engine = open(&path);
    let tablets = engine.tablet_counters("t").unwrap();
    check(&tablets);
    assert_eq!(tablets.len(), 3);
    let samples = engine.sample_row_keys("t").unwrap();
    assert!(samples.iter().any(|sample| sample.key == "g") && samples.iter().any(|sample| sample.key == "p"));
    assert_eq!(engine.tablets("t").unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn statistics_tell_of_the_whole_store_until_it_is_closed() {
    let folder = folder();
    let engine = open(&folder.path().join("store"));
    let empty = engine.statistics().unwrap();
    assert_eq!((empty.tables, empty.tablets, empty.cells_collected), (0, 0, 0));
    assert_eq!((empty.block_cache_bytes_max, empty.garbage_cells), (1 << 20, None));
    engine.create("t", &[("a", "maxversions=1"), ("b", "never")]).unwrap();
    engine.create("u", &[("a", "never")]).unwrap();
    engine.split_tablet("t", &"m".into()).unwrap();
    for step in 0..10 {
        engine.set_cells("t", b"r", &[("a", b"q", step * 1000, &[1; 100])]).unwrap();
    }
    let written = engine.statistics().unwrap();
    assert_eq!((written.tables, written.tablets), (2, 3));
    assert!(written.memtable_bytes > 1_000 && written.log_bytes > 1_000, "{written:?}");
    assert!(written.disk_bytes >= written.log_bytes && written.files > 0, "{written:?}");
    engine.collect_garbage("t").unwrap();
    let collected = engine.statistics().unwrap();
    assert_eq!((collected.cells_collected, collected.damaged_fragments), (9, 0));
    assert!(collected.compactions_done >= written.compactions_done, "{collected:?}");
    assert!(collected.files > written.files, "{collected:?}");
    engine.drop_table("t").unwrap();
    assert_eq!(engine.statistics().unwrap().cells_collected, 9, "what was counted stays");
    engine.close();
    assert_eq!(engine.statistics().unwrap_err().kind(), ErrorKind::Unavailable);
}
