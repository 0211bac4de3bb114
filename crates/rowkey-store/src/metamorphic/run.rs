//! Runs steps on an engine.

use super::generate::{SNAPSHOTS, START_US};
use super::{Answer, Options, Step};
use crate::conformance::Harness;
use crate::seeded::Seeded;
use crate::{
    Clock, Durability, Engine, Error, FamilyChange, ManualClock, ReadRequest, Result, Row, RowKey, Selection,
    Snapshot,
};
use std::sync::Arc;

const TABLE: &str = "t";
/// Its name for a moment.
const OTHER: &str = "_rowkey.deleted.1";

/// The answers of an engine to the steps, one each.
pub fn run(seed: u64, steps: &[Step], options: Options, harness: &mut dyn Harness) -> Vec<Answer> {
    let clock = Arc::new(ManualClock::new(START_US));
    let engine = harness.open(Arc::clone(&clock) as Arc<dyn Clock>);
    let mut runner = Runner { engine, clock, snapshots: [const { None }; SNAPSHOTS], options };
    let mut answers = Vec::with_capacity(steps.len());
    for step in steps {
        if *step == Step::Reopen {
            runner.snapshots = [const { None }; SNAPSHOTS];
            runner.engine = harness.reopen(runner.engine);
            answers.push(Answer::Nothing);
        } else {
            let answer = runner.step(step);
            answers.push(answer.unwrap_or_else(|error| Answer::Results(vec![words(&Err(error))])));
        }
        harness.between(&runner.engine, choice(seed, step));
    }
    answers
}

/// A choice that stays with its step when others are left out, so that a list can be shortened.
fn choice(seed: u64, step: &Step) -> u64 {
    let text = format!("{step:?}");
    let hash = text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    Seeded::new(hash).any()
}

struct Runner {
    engine: Arc<dyn Engine>,
    clock: Arc<ManualClock>,
    snapshots: [Option<Arc<dyn Snapshot>>; SNAPSHOTS],
    options: Options,
}

impl Runner {
    fn step(&mut self, step: &Step) -> Result<Answer> {
        let engine = Arc::clone(&self.engine);
        match step {
            Step::Recreate(config) => {
                self.before_drop();
                if engine.list_tables()?.iter().any(|table| table == TABLE) {
                    engine.drop_table(TABLE)?;
                }
                engine.create_table(TABLE, config)?;
                Ok(Answer::Nothing)
            }
            Step::Mutate(rows) => {
                let results = engine.mutate_rows(TABLE, rows.clone(), Durability::Buffered)?;
                Ok(Answer::Results(results.iter().map(words).collect()))
            }
            Step::CheckAndMutate(request) => engine.check_and_mutate_row(TABLE, request).map(Answer::Matched),
            Step::ReadModifyWrite(key, rules, timestamp) => {
                let row = engine.read_modify_write_row(TABLE, key, rules, *timestamp)?;
                Ok(Answer::Rows(vec![row]))
            }
            Step::Read(place, request) => match place {
                None => read(&*engine.snapshot(TABLE)?, request),
                Some(place) => match &self.snapshots[*place % SNAPSHOTS] {
                    None => Ok(Answer::Nothing),
                    Some(snapshot) => read(&**snapshot, request),
                },
            },
            Step::Snapshot(place) => {
                self.snapshots[*place % SNAPSHOTS] = Some(engine.snapshot(TABLE)?);
                Ok(Answer::Nothing)
            }
            Step::Release(place) => {
                self.snapshots[*place % SNAPSHOTS] = None;
                Ok(Answer::Nothing)
            }
            Step::ModifyFamilies(changes) => self.modify_families(changes),
            Step::Split(at) => {
                self.before_drop();
                engine.split_tablet(TABLE, at).map(|()| Answer::Nothing)
            }
            Step::Rename => {
                engine.rename_table(TABLE, OTHER)?;
                let gone = engine.table_config(TABLE).map(drop);
                let results = [gone, engine.rename_table(OTHER, OTHER), engine.rename_table(OTHER, TABLE)];
                Ok(Answer::Results(results.iter().map(words).collect()))
            }
            Step::DropRows(scope) => {
                self.before_drop();
                engine.drop_rows(TABLE, scope).map(|()| Answer::Nothing)
            }
            Step::Garbage => garbage(&*engine, false),
            Step::Collect => {
                engine.collect_garbage(TABLE)?;
                garbage(&*engine, true)
            }
            Step::Describe => describe(&*engine),
            Step::Wait(wait_us) => {
                self.clock.set(self.clock.now_us() + wait_us);
                Ok(Answer::Nothing)
            }
            // The caller does it, as it has the harness.
            Step::Reopen => Ok(Answer::Nothing),
        }
    }

    fn before_drop(&mut self) {
        if !self.options.snapshots_outlive_drops {
            self.snapshots = [const { None }; SNAPSHOTS];
        }
    }

    fn modify_families(&mut self, changes: &[FamilyChange]) -> Result<Answer> {
        if changes.iter().any(|change| matches!(change, FamilyChange::SetGcRule { .. })) {
            self.engine.collect_garbage(TABLE)?;
        }
        if changes.iter().any(|change| matches!(change, FamilyChange::Drop { .. })) {
            self.before_drop();
        }
        self.engine.modify_families(TABLE, changes)?;
        Ok(Answer::Nothing)
    }
}

fn read(snapshot: &dyn Snapshot, request: &ReadRequest) -> Result<Answer> {
    let rows = |request: &ReadRequest| -> Result<Vec<Row>> { snapshot.read_rows(request)?.collect() };
    let asked = rows(request)?;
    if request.live {
        return Ok(Answer::Rows(asked));
    }
    let live = rows(&ReadRequest { live: true, ..request.clone() })?;
    let columns = request.selection.columns.clone();
    let held =
        rows(&ReadRequest { selection: Selection { columns, ..Selection::default() }, ..request.clone() })?;
    Ok(Answer::NotLive { live, asked, held })
}

fn garbage(engine: &dyn Engine, collected: bool) -> Result<Answer> {
    let reports = engine.garbage(TABLE)?;
    let none_left = !collected || reports.iter().all(|report| report.expired_cells == 0);
    let live = reports.into_iter().map(|report| (report.family, report.live_cells)).collect();
    Ok(Answer::Garbage(live, none_left))
}

fn describe(engine: &dyn Engine) -> Result<Answer> {
    let config = engine.table_config(TABLE)?;
    let tablets = engine.tablets(TABLE)?;
    let samples = engine.sample_row_keys(TABLE)?;
    let starts: Vec<RowKey> = tablets.iter().skip(1).map(|tablet| tablet.range.start.clone()).collect();
    let ends: Vec<RowKey> =
        tablets.iter().map(|tablet| tablet.range.end.clone().unwrap_or_default()).collect();
    let sampled: Vec<&RowKey> = samples.iter().map(|sample| &sample.key).collect();
    let consistent = starts == config.split_points
        && ends[..ends.len() - 1] == config.split_points[..]
        && ends.iter().all(|end| sampled.contains(&end))
        && sampled.last().is_some_and(|key| key.is_empty())
        && sampled[..sampled.len() - 1].is_sorted()
        && samples.is_sorted_by_key(|sample| sample.offset_bytes);
    Ok(Answer::Design(config, consistent))
}

fn words(result: &Result<(), Error>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}
