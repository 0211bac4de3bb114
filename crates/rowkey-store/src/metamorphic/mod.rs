//! One seeded list of operations, many engines and configurations, equal answers.
//!
//! [`check`] runs the list on the oracle (the memory engine) and on another engine. What must be equal:
//!
//! - **Live reads, conditional and read-modify writes, errors with their words, designs**: exactly.
//! - **Reads that are not live** may see expired cells or not, depending on whether the engine has collected them, at any time and in
//!   any order. Such a read is therefore answered thrice: live, which must be exactly equal; as asked, which must hold at least
//!   the live cells and at most what the oracle still holds; and everything in those rows and columns, which is what the oracle
//!   holds. Such reads have no limit of rows and no filter: those would depend on the expired cells.
//! - **Split points and samples**: the other engine may have more of them.
//! - **Counts of garbage**: the live cells; and nothing is expired right after a collection.
//!
//! Two rules keep that decidable, and every engine promises them: a delete from a column takes hidden cells along, and time never
//! goes back. A rule is changed only right after a collection, because a looser rule shows again what was not yet collected.

pub(crate) mod filters;
mod generate;
mod run;

pub use generate::generate;
pub use run::run;

use crate::conformance::Harness;
use crate::{
    CheckAndMutate, DropScope, FamilyChange, ReadModifyWrite, ReadRequest, Row, RowKey, RowMutation,
    TableConfig, Timestamp,
};

/// One operation on the one table.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Drops the table, if there is one, and creates it.
    Recreate(TableConfig),
    /// Writes rows.
    Mutate(Vec<RowMutation>),
    /// Writes a row if.
    CheckAndMutate(CheckAndMutate),
    /// Reads and writes a row.
    ReadModifyWrite(RowKey, Vec<ReadModifyWrite>, Timestamp),
    /// Reads now, or from the view in a place.
    Read(Option<usize>, ReadRequest),
    /// Takes a view and holds it in a place.
    Snapshot(usize),
    /// Lets a view go.
    Release(usize),
    /// Changes families; collects garbage first if a rule changes.
    ModifyFamilies(Vec<FamilyChange>),
    /// Cuts a tablet.
    Split(RowKey),
    /// Gives the table another name, looks for it under the old one, and takes that back.
    Rename,
    /// Drops rows.
    DropRows(DropScope),
    /// Counts garbage.
    Garbage,
    /// Collects garbage.
    Collect,
    /// Asks for the design, the tablets and the samples.
    Describe,
    /// Closes the engine and opens it again.
    Reopen,
    /// Lets time go on, by microseconds.
    Wait(i64),
}

/// What a step answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Nothing to compare.
    Nothing,
    /// Kinds and words of errors, or "ok", one per entry.
    Results(Vec<String>),
    /// Whether a predicate matched.
    Matched(bool),
    /// Rows that must be equal.
    Rows(Vec<Row>),
    /// The three answers to a read that is not live.
    NotLive {
        /// The rows without expired cells.
        live: Vec<Row>,
        /// As asked.
        asked: Vec<Row>,
        /// Everything that is held in those rows and columns.
        held: Vec<Row>,
    },
    /// Live cells by family, and whether no expired ones are left after a collection.
    Garbage(Vec<(String, u64)>, bool),
    /// The design, and whether tablets and samples agree with it.
    Design(TableConfig, bool),
}

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The number of steps.
    pub steps: usize,
    /// Whether views are still read after rows, families or tables were dropped, tablets cut, or the engine opened again. (After
    /// the last they never are.)
    pub snapshots_outlive_drops: bool,
    /// How often the list may be run again to shorten it after a failure. An engine that opens slowly wants few.
    pub tries_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 400, snapshots_outlive_drops: false, tries_max: 400 }
    }
}

/// Runs the steps of a seed on both engines and compares their answers.
///
/// # Errors
///
/// The first difference, the seed, the command that runs it again, and a shorter list of steps that still differs.
pub fn check(
    seed: u64,
    options: Options,
    oracle: &mut dyn Harness,
    other: &mut dyn Harness,
) -> Result<(), String> {
    let steps = generate(seed, options.steps);
    let mut differs = |steps: &[Step]| {
        let expected = run(seed, steps, options, oracle);
        let actual = run(seed, steps, options, other);
        difference(&expected, &actual)
    };
    let Some((index, first)) = differs(&steps) else { return Ok(()) };
    let mut short: Vec<Step> = steps[..=index].to_vec();
    let mut last = first.clone();
    shorten(&mut short, options.tries_max, |steps| {
        differs(steps).is_some_and(|(_, found)| {
            last = found;
            true
        })
    });
    let list: Vec<String> = short.iter().map(|step| format!("  {step:?}")).collect();
    Err(format!(
        "seed {seed}, step {index}: {first}\nrun it again: ROWKEY_SEED={seed} cargo test metamorphic\n{} steps are enough: {last}\n{}",
        short.len(),
        list.join("\n")
    ))
}

/// The seeds of a test: `count` of them from `first` on, or the one in the environment variable `ROWKEY_SEED`.
pub fn seeds(first: u64, count: u64) -> Vec<u64> {
    match std::env::var("ROWKEY_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (first..first + count).collect(),
    }
}

/// The first step whose answers may not differ as they do, and how they differ.
pub fn difference(expected: &[Answer], actual: &[Answer]) -> Option<(usize, String)> {
    let mut pairs = expected.iter().zip(actual).enumerate();
    pairs.find_map(|(index, (expected, actual))| compare(expected, actual).err().map(|what| (index, what)))
}

/// Compares two answers to one step.
///
/// # Errors
///
/// How they differ.
pub fn compare(expected: &Answer, actual: &Answer) -> Result<(), String> {
    let differ = |what: &str, expected: &dyn std::fmt::Debug, actual: &dyn std::fmt::Debug| {
        Err(format!("{what} differ\nexpected: {expected:?}\nbut it was: {actual:?}"))
    };
    match (expected, actual) {
        (Answer::NotLive { live: expected, held, .. }, Answer::NotLive { live, asked, .. }) => {
            if expected != live {
                return differ("live cells of a read", expected, live);
            }
            if !is_part(live, asked) {
                return differ("a read lacks live cells; they", live, asked);
            }
            if !is_part(asked, held) {
                return differ("a read has cells that are not there; they", held, asked);
            }
            Ok(())
        }
        (Answer::Design(expected, _), Answer::Design(actual, consistent)) => {
            if !consistent {
                return Err("tablets, samples and split points do not agree with each other".to_owned());
            }
            let all_there = expected.split_points.iter().all(|point| actual.split_points.contains(point));
            let same = TableConfig { split_points: Vec::new(), ..expected.clone() }
                == TableConfig { split_points: Vec::new(), ..actual.clone() };
            if all_there && same { Ok(()) } else { differ("designs", expected, actual) }
        }
        _ if expected == actual => Ok(()),
        _ => differ("answers", expected, actual),
    }
}

/// Whether the cells of `part` are all in `whole`, in the same order.
fn is_part(part: &[Row], whole: &[Row]) -> bool {
    let cells = |rows: &[Row]| -> Vec<(RowKey, crate::Cell)> {
        rows.iter().flat_map(|row| row.cells.iter().map(|cell| (row.key.clone(), cell.clone()))).collect()
    };
    let mut whole = cells(whole).into_iter();
    cells(part).into_iter().all(|cell| whole.any(|other| other == cell))
}

/// Leaves out steps as long as `fails` stays true, large parts first, then single ones. The first stays: it creates the table.
fn shorten(steps: &mut Vec<Step>, tries_max: usize, mut fails: impl FnMut(&[Step]) -> bool) {
    let mut tries = 0;
    let mut part = steps.len() / 2;
    while part > 0 {
        let mut at = 1;
        while at < steps.len() && tries < tries_max {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + part).min(steps.len()));
            tries += 1;
            if fails(&fewer) {
                *steps = fewer;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
}

#[cfg(test)]
mod tests;
