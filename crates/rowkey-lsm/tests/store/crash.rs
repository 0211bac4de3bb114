//! SIGKILL while writing: no acknowledged write is lost, no row is half there, no change of tables is half done, and nothing that was
//! added to an aggregate cell counts twice.
//! `ROWKEY_CRASH_ROUNDS` sets the number of rounds.

use crate::{Random, folder, rounds};
use bytes::Bytes;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::{
    DropScope, Durability, Engine, EngineExt as _, FamilyChange, FamilyConfig, ManualClock, Mutation,
    ReadRequest, Row, RowMutation, RowRange, Timestamp, ValueType, aggregate,
};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Where the child finds its store, and that it is the child.
const FOLDER_VARIABLE: &str = "ROWKEY_CRASH_FOLDER";

const ROWS: u64 = 40;
/// The row of an aggregate family in which each step adds one to two cells.
const TOTAL: &str = "total";
/// A table that is dropped and made again.
const OTHER: &str = "other";
/// What the table is called for a moment.
const AWAY: &str = "_rowkey.deleted.1";

fn open(path: &Path) -> LsmEngine {
    LsmEngine::open(path, Options::tiny(Arc::new(ManualClock::new(1_000_000)))).unwrap()
}

fn set(family: &str, number: u64) -> Mutation {
    let time = Timestamp::Micros(i64::try_from(number).unwrap() * 1000);
    Mutation::set(family, Bytes::from_static(b"q"), time, Bytes::from(number.to_string()))
}

fn add_one(qualifier: &str) -> Mutation {
    Mutation::add("sum", qualifier.to_owned(), Timestamp::Micros(0), 1)
}

/// The one table has one of two names, and gets the first.
fn take_name_back(engine: &LsmEngine) {
    let mut tables = engine.list_tables().unwrap();
    tables.retain(|table| table != OTHER);
    assert_eq!(tables.len(), 1, "{tables:?}");
    if tables[0] == AWAY {
        engine.rename_table(AWAY, "t").unwrap();
    }
}

/// Step `number` of the child. It acknowledges each by printing its number.
fn step(engine: &LsmEngine, number: u64) {
    let durability = if number.is_multiple_of(3) { Durability::Buffered } else { Durability::Synced };
    let key = format!("r{:02}", number % ROWS);
    let mut mutations = vec![set("a", number), set("b", number)];
    if number.is_multiple_of(5) {
        mutations.insert(0, Mutation::DeleteFromRow);
    }
    let rows = vec![
        RowMutation { key: key.into(), mutations },
        RowMutation { key: format!("d{number}").into(), mutations: vec![set("a", number), set("b", number)] },
        RowMutation { key: TOTAL.into(), mutations: ["n", "m"].map(add_one).into() },
    ];
    engine.mutate_all("t", rows, durability).unwrap();
    if number.is_multiple_of(4) {
        another_table(engine, number);
    }
    match number % 50 {
        10 => engine.drop_rows("t", &DropScope::Prefix(Bytes::from_static(b"d"))).unwrap(),
        20 => engine.split_tablet("t", &Bytes::from(format!("r{:02}", number / 50 % ROWS))).unwrap(),
        30 => drop(engine.collect_garbage("t").unwrap()),
        40 => engine.annotate_table("t", "step", Some(Bytes::from(number.to_string()))).unwrap(),
        45 => {
            engine.rename_table("t", AWAY).unwrap();
            engine.rename_table(AWAY, "t").unwrap();
        }
        _ => {}
    }
}

/// Drops the other table, if there is one, and makes it anew with one row: it gets the files of the former one.
fn another_table(engine: &LsmEngine, number: u64) {
    if engine.list_tables().unwrap().iter().any(|table| table == OTHER) {
        engine.drop_table(OTHER).unwrap();
    }
    let families = [("a", "never"), ("b", "maxversions=1")];
    engine.create(OTHER, &families[..=usize::from(number.is_multiple_of(8))]).unwrap();
    let row = RowMutation { key: number.to_string().into(), mutations: vec![set("a", number)] };
    let durability = if number.is_multiple_of(3) { Durability::Buffered } else { Durability::Synced };
    engine.mutate_all(OTHER, vec![row], durability).unwrap();
}

/// The other table has at most its one row.
fn check_other(engine: &LsmEngine) {
    if engine.list_tables().unwrap().iter().any(|table| table == OTHER) {
        let rows = engine.read_all(OTHER, &ReadRequest::all()).unwrap();
        assert!(rows.len() <= 1, "rows of a dropped table: {rows:?}");
        assert!(rows.iter().all(|row| row.cells.len() == 1 && row.key == row.cells[0].value), "{rows:?}");
    }
}

/// What the parent starts: not a test of its own, so it does nothing without the variable.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER_VARIABLE) else { return };
    let engine = open(Path::new(&folder));
    if engine.list_tables().unwrap().is_empty() {
        engine.create("t", &[("a", "maxversions=1"), ("b", "maxversions=1")]).unwrap();
        let sum = FamilyConfig { name: "sum".into(), gc_rule: None, value_type: ValueType::IntSum };
        engine.modify_families("t", &[FamilyChange::Create(sum)]).unwrap();
    }
    take_name_back(&engine);
    // The last step once more: its rows may have been written, and what else it does not.
    let first = last_step(&engine).unwrap_or(0);
    let mut out = std::io::stdout();
    for number in first.. {
        step(&engine, number);
        // Nobody reads any more once the parent is about to kill this process.
        if writeln!(out, "ack {number}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn rows(engine: &LsmEngine) -> Vec<Row> {
    let request = ReadRequest { rows: RowRange::all().into(), live: true, ..ReadRequest::default() };
    let mut rows = engine.read_all("t", &request).unwrap();
    rows.retain(|row| row.key != TOTAL);
    rows
}

fn number(row: &Row) -> u64 {
    std::str::from_utf8(&row.cells[0].value).unwrap().parse().unwrap()
}

fn last_step(engine: &LsmEngine) -> Option<u64> {
    rows(engine).iter().filter(|row| row.key[0] == b'r').map(number).max()
}

/// Checks the store against the last step that was acknowledged.
fn check(engine: &LsmEngine, acknowledged: u64) {
    let rows = rows(engine);
    for row in &rows {
        let families: Vec<&str> = row.cells.iter().map(|cell| &*cell.family).collect();
        assert_eq!(families, ["a", "b"], "half a row: {row:?}");
        assert_eq!(row.cells[0].value, row.cells[1].value, "half a row: {row:?}");
    }
    let last = last_step(engine).unwrap();
    assert!(last >= acknowledged, "acknowledged {acknowledged}, found {last}");
    for back in 0..ROWS.min(last + 1) {
        let step = last - back;
        let key = format!("r{:02}", step % ROWS);
        let row =
            rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{key} of step {step} is lost"));
        assert_eq!(number(row), step);
    }
    // The last finished drop of rows took those before it; the step behind may have dropped its own.
    let dropped_at = (0..=acknowledged).rev().find(|step| step % 50 == 10);
    let left = rows.iter().filter(|row| row.key[0] == b'd').map(number).collect::<Vec<_>>();
    assert!(left.iter().all(|step| dropped_at.is_none_or(|dropped_at| *step > dropped_at)), "{left:?}");
    let dropped_later = (acknowledged + 1..=last).any(|step| step % 50 == 10);
    let expected = dropped_at.map_or(0, |step| step + 1)..=last;
    assert!(dropped_later || expected.clone().all(|step| left.contains(&step)), "{expected:?}: {left:?}");
    let config = engine.table_config("t").unwrap();
    assert_eq!(config.split_points.len() + 1, engine.tablets("t").unwrap().len());
}

/// Checks the cells to which each step added one: those that were acknowledged, and in each round at most one that was under way.
fn check_total(engine: &LsmEngine, acknowledged: u64, rounds: u64) {
    let row = engine.read_row("t", TOTAL.as_bytes()).unwrap().unwrap();
    let totals = row.cells.iter().map(|cell| aggregate::number(&cell.value).unwrap()).collect::<Vec<_>>();
    assert!(totals.len() == 2 && totals[0] == totals[1], "half a row: {totals:?}");
    let total = u64::try_from(totals[0]).unwrap();
    let expected = acknowledged..=acknowledged + rounds;
    assert!(expected.contains(&total), "{total} was added up, {expected:?} steps were done");
}

/// The step that a line acknowledges. In front of the first one stands the name of the child's test.
fn step_of(line: &str) -> Option<u64> {
    line.split_once("ack ").and_then(|(_, step)| step.parse().ok())
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    let mut random = Random(7);
    let folder = folder();
    let path = folder.path().join("store");
    let mut steps_acknowledged = 0;
    for round in 0..rounds("ROWKEY_CRASH_ROUNDS", 20) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
            .env(FOLDER_VARIABLE, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut acknowledged = None;
        let count = usize::try_from(1 + random.below(120)).unwrap();
        let acks = lines.by_ref().filter_map(|line| step_of(&line));
        acks.take(count).for_each(|step: u64| {
            acknowledged = Some(step);
            steps_acknowledged += 1;
        });
        child.kill().unwrap();
        child.wait().unwrap();
        // What was on its way when the process died was acknowledged as well.
        for line in lines {
            // The last line may be cut.
            let step = step_of(&line).filter(|step| acknowledged.is_none_or(|last| last + 1 == *step));
            acknowledged = step.or(acknowledged);
            steps_acknowledged += u64::from(step.is_some());
        }
        let engine = open(&path);
        assert!(engine.warnings().is_empty(), "{:?}", engine.warnings());
        take_name_back(&engine);
        check_other(&engine);
        check_total(&engine, steps_acknowledged, round + 1);
        check(&engine, acknowledged.unwrap_or_else(|| panic!("round {round}: the child wrote nothing")));
    }
}
