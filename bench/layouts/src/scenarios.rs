//! The timed steps, generic over the layout. A step records a number and a checksum under the same name in both.

use crate::model::{Columns, Direction, Mutation, Result, Row};
use crate::store::{Layout, Store};
use crate::workload::{
    COLUMNS, ROWS, Rng, UPDATE_ROUNDS, WIDE_COLUMNS, WIDE_STEP, full_hash, light_sum, load_row, load_wide,
    permute, qualifier, row_key, update_row, wide_qualifier,
};
use std::path::Path;
use std::time::{Duration, Instant};

const POINT_READS: u64 = 50_000;
const WIDE_READS: u64 = 200;
const HOT_UPDATES: u64 = 10_000;
const HOT_READS: u64 = 200;
const BATCH_ROWS: u64 = 100;
const SCAN_REPEATS: usize = 3;

/// What one layout did in one run.
#[derive(Default)]
pub struct Report {
    /// Step, unit, number.
    pub numbers: Vec<(String, &'static str, f64)>,
    /// Step, checksum of what was read; must be equal in all layouts.
    pub checks: Vec<(String, u64)>,
}

impl Report {
    fn number(&mut self, step: impl Into<String>, unit: &'static str, number: f64) {
        self.numbers.push((step.into(), unit, number));
    }

    fn check(&mut self, step: impl Into<String>, sum: u64) {
        self.checks.push((step.into(), sum));
    }
}

/// Runs everything in two fresh folders below `dir`.
///
/// # Errors
///
/// If the engine fails or bytes are damaged.
pub fn run<L: Layout>(dir: &Path) -> Result<Report> {
    let mut report = Report::default();
    narrow::<L>(&dir.join("narrow"), &mut report)?;
    wide::<L>(&dir.join("wide"), &mut report)?;
    hot::<L>(&dir.join("hot"), &mut report)?;
    Ok(report)
}

fn narrow<L: Layout>(dir: &Path, report: &mut Report) -> Result<()> {
    let mut store = Store::<L>::open(dir, L::filter_factory())?;
    let batches = ROWS / BATCH_ROWS;
    let load = |i| load_row(permute(i, ROWS, 0));
    let (commit, total) =
        write_all(&mut store, batches, |b| (b * BATCH_ROWS..(b + 1) * BATCH_ROWS).map(load).collect())?;
    report.number("load, 10 cells a row", "rows/s", rate(ROWS, commit));
    report.number("load and flush", "rows/s", rate(ROWS, total));
    store.major_compact()?;
    report.number("disk, loaded", "MB", megabytes(store.table_bytes()));
    clean_reads(&store, report)?;

    let updates = ROWS * UPDATE_ROUNDS;
    let update = |i| update_row(permute(i % ROWS, ROWS, 1 + i / ROWS), 1 + i / ROWS);
    let (commit, total) = write_all(&mut store, updates / BATCH_ROWS, |b| {
        (b * BATCH_ROWS..(b + 1) * BATCH_ROWS).map(update).collect()
    })?;
    report.number("write 1 column, blind", "rows/s", rate(updates, commit));
    report.number("write 1 column and flush", "rows/s", rate(updates, total));

    let before = updated_reads(&store, "updated x3", report)?;
    let start = Instant::now();
    store.major_compact()?;
    report.number("major compact", "s", start.elapsed().as_secs_f64());
    let after = updated_reads(&store, "compacted", report)?;
    assert_eq!(before, after, "{}: compaction changed an answer", L::NAME);
    Ok(())
}

/// Reads of a table whose rows were written once and are in the last level.
fn clean_reads<L: Layout>(store: &Store<L>, report: &mut Report) -> Result<()> {
    let wanted = qualifier(COLUMNS / 2);
    let one = Columns::One(&wanted);
    verify(store, "loaded", report)?;
    point_reads(store, "point 1 of 10", one, row_key, report)?;
    point_reads(store, "point all 10", Columns::All, row_key, report)?;
    let absent = |i| [row_key(i), b"!".to_vec()].concat();
    point_reads(store, "point absent row", Columns::All, absent, report)?;
    scans(store, "scan all 10", Columns::All, Direction::Forward, report)?;
    scans(store, "scan 1 of 10", one, Direction::Forward, report)?;
    scans(store, "scan reverse", Columns::All, Direction::Reverse, report)
}

/// Reads of a table whose rows were written several times; returns a hash of all rows.
fn updated_reads<L: Layout>(store: &Store<L>, state: &str, report: &mut Report) -> Result<u64> {
    report.number(format!("{state}: disk"), "MB", megabytes(store.table_bytes()));
    report.number(format!("{state}: tables"), "tables", store.table_count() as f64);
    report.number(format!("{state}: pairs"), "pairs", store.pair_count()? as f64);
    let hash = verify(store, state, report)?;
    let wanted = qualifier(COLUMNS / 2);
    point_reads(store, &format!("{state}: point 1"), Columns::One(&wanted), row_key, report)?;
    point_reads(store, &format!("{state}: point all"), Columns::All, row_key, report)?;
    scans(store, &format!("{state}: scan all"), Columns::All, Direction::Forward, report)?;
    scans(store, &format!("{state}: scan 1"), Columns::One(&wanted), Direction::Forward, report)?;
    Ok(hash)
}

fn wide<L: Layout>(dir: &Path, report: &mut Report) -> Result<()> {
    let mut store = Store::<L>::open(dir, L::filter_factory())?;
    let (commit, _) = write_all(&mut store, WIDE_COLUMNS / WIDE_STEP, |step| vec![load_wide(step)])?;
    report.number("wide: load, 100 cells a mutation", "cells/s", rate(WIDE_COLUMNS, commit));
    store.major_compact()?;
    let view = store.view();
    let key = row_key(0);
    let mut sum = 0u64;
    let mut read_one = |i| -> Result<()> {
        let wanted = wide_qualifier(permute(i, WIDE_COLUMNS, 7));
        let row = L::read_row(&view, &key, Columns::One(&wanted))?.ok_or("column is missing")?;
        sum = sum.wrapping_add(full_hash(&row));
        Ok(())
    };
    (0..WIDE_READS / 10).try_for_each(&mut read_one)?;
    let start = Instant::now();
    (0..WIDE_READS).try_for_each(&mut read_one)?;
    report.number("wide: point 1 of 100,000", "reads/s", rate(WIDE_READS, start.elapsed()));
    report.check("wide: point 1 of 100,000", sum);
    let mut times = Vec::new();
    for _ in 0..SCAN_REPEATS {
        let start = Instant::now();
        let row = L::read_row(&view, &key, Columns::All)?.ok_or("row is missing")?;
        times.push(start.elapsed());
        assert_eq!(row.cells.len() as u64, WIDE_COLUMNS, "{}: cells of the wide row", L::NAME);
        report.check("wide: whole row", full_hash(&row));
    }
    times.sort_unstable();
    report.number("wide: whole row", "cells/s", rate(WIDE_COLUMNS, times[SCAN_REPEATS / 2]));
    Ok(())
}

/// One narrow row that is updated again and again, read before and after compaction.
///
/// Layout A walks over hidden versions in a whole-row read; it could seek over them.
fn hot<L: Layout>(dir: &Path, report: &mut Report) -> Result<()> {
    let mut store = Store::<L>::open(dir, L::filter_factory())?;
    store.write(&[load_row(0)])?;
    let update = |i| update_row(0, 1 + i);
    write_all(&mut store, HOT_UPDATES / BATCH_ROWS, |b| {
        (b * BATCH_ROWS..(b + 1) * BATCH_ROWS).map(update).collect()
    })?;
    let wanted = qualifier(COLUMNS / 2);
    for state in ["before", "after"] {
        let view = store.view();
        for (name, columns) in [("1", Columns::One(&wanted)), ("all", Columns::All)] {
            let step = format!("hot row of 10,000 updates, {state} compaction: point {name}");
            let mut sum = 0u64;
            let start = Instant::now();
            for _ in 0..HOT_READS {
                let row = L::read_row(&view, &row_key(0), columns)?.ok_or("row is missing")?;
                sum = sum.wrapping_mul(31).wrapping_add(light_sum(&row));
            }
            report.number(&step, "reads/s", rate(HOT_READS, start.elapsed()));
            report.check(&step, sum);
        }
        drop(view);
        store.major_compact()?;
    }
    Ok(())
}

/// Commits batches; returns the time inside commits, and that time with the flush at the end.
fn write_all<L: Layout>(
    store: &mut Store<L>,
    batches: u64,
    batch: impl Fn(u64) -> Vec<Mutation>,
) -> Result<(Duration, Duration)> {
    let mut commit = Duration::ZERO;
    for b in 0..batches {
        let mutations = batch(b);
        let start = Instant::now();
        store.write(&mutations)?;
        commit += start.elapsed();
    }
    let start = Instant::now();
    store.flush()?;
    let total = commit + start.elapsed();
    store.settle();
    Ok((commit, total))
}

fn point_reads<L: Layout>(
    store: &Store<L>,
    step: &str,
    columns: Columns<'_>,
    key: impl Fn(u64) -> Vec<u8>,
    report: &mut Report,
) -> Result<()> {
    let view = store.view();
    let pass = |reads: u64| -> Result<u64> {
        let mut rng = Rng(42);
        let mut sum = 0u64;
        for _ in 0..reads {
            let row = L::read_row(&view, &key(rng.below(ROWS)), columns)?;
            sum = sum.wrapping_mul(31).wrapping_add(row.as_ref().map_or(1, light_sum));
        }
        Ok(sum)
    };
    pass(POINT_READS / 5)?;
    let start = Instant::now();
    let sum = pass(POINT_READS)?;
    report.number(step, "rows/s", rate(POINT_READS, start.elapsed()));
    report.check(step, sum);
    Ok(())
}

fn scans<L: Layout>(
    store: &Store<L>,
    step: &str,
    columns: Columns<'_>,
    direction: Direction,
    report: &mut Report,
) -> Result<()> {
    let view = store.view();
    let mut times = Vec::new();
    for _ in 0..SCAN_REPEATS {
        let (mut rows, mut sum) = (0, 0u64);
        let start = Instant::now();
        L::scan(&view, columns, direction, |row| {
            rows += 1;
            sum = sum.wrapping_mul(31).wrapping_add(light_sum(&row));
        })?;
        times.push(start.elapsed());
        assert_eq!(rows, ROWS, "{}: rows of {step}", L::NAME);
        report.check(step, sum);
    }
    times.sort_unstable();
    report.number(step, "rows/s", rate(ROWS, times[SCAN_REPEATS / 2]));
    Ok(())
}

/// Reads every row forward, in reverse and, some of them, by key; every byte counts. Also warms the cache.
fn verify<L: Layout>(store: &Store<L>, state: &str, report: &mut Report) -> Result<u64> {
    let view = store.view();
    let mut forward: Vec<(u64, Vec<u8>)> = Vec::new();
    let note = |rows: &mut Vec<(u64, Vec<u8>)>, row: &Row| rows.push((full_hash(row), row.key.to_vec()));
    L::scan(&view, Columns::All, Direction::Forward, |row| note(&mut forward, &row))?;
    let mut reverse = Vec::new();
    L::scan(&view, Columns::All, Direction::Reverse, |row| note(&mut reverse, &row))?;
    reverse.reverse();
    assert!(forward == reverse, "{}: {state}: reverse scan differs", L::NAME);
    for (hash, key) in forward.iter().step_by(97) {
        let row = L::read_row(&view, key, Columns::All)?.ok_or("row is missing")?;
        assert_eq!(*hash, full_hash(&row), "{}: {state}: point read differs", L::NAME);
    }
    let hash = forward.iter().fold(0u64, |sum, (hash, _)| sum.wrapping_mul(31).wrapping_add(*hash));
    report.check(format!("{state}: all rows"), hash);
    Ok(hash)
}

fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
