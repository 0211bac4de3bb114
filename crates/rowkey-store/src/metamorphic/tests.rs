//! The seeded lists, run on the memory engine and on one that collects at random.

use super::*;
use crate::memory::MemoryEngine;
use crate::{Clock, Durability, Engine, EngineExt, Mutation};
use std::collections::BTreeMap;
use std::sync::Arc;

const OPTIONS: Options = Options { steps: 400, snapshots_outlive_drops: true, tries_max: 400 };

struct Memory;

impl Harness for Memory {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new(clock))
    }
}

/// Collects garbage at any time, as compaction does.
struct Collecting;

impl Harness for Collecting {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new(clock))
    }

    fn between(&mut self, engine: &Arc<dyn Engine>, choice: u64) {
        if choice.is_multiple_of(3) {
            let _ = engine.collect_garbage("t");
        }
    }
}

/// Loses a cell now and then.
struct Losing;

impl Harness for Losing {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new(clock))
    }

    fn between(&mut self, engine: &Arc<dyn Engine>, choice: u64) {
        if choice.is_multiple_of(20) {
            let rows = engine.read_all("t", &ReadRequest::all()).unwrap();
            if let Some(row) = rows.first() {
                let loss = RowMutation { key: row.key.clone(), mutations: vec![Mutation::DeleteFromRow] };
                engine.mutate_all("t", vec![loss], Durability::Buffered).unwrap();
            }
        }
    }
}

#[test]
fn metamorphic_answers_do_not_depend_on_when_garbage_is_collected() {
    for seed in seeds(1, 200) {
        check(seed, OPTIONS, &mut Memory, &mut Collecting).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn a_lost_row_is_found_and_the_list_is_shortened() {
    let failure = check(1, OPTIONS, &mut Memory, &mut Losing).unwrap_err();
    assert!(failure.contains("ROWKEY_SEED=1 cargo test metamorphic"), "{failure}");
    let steps: usize =
        failure.lines().find_map(|line| line.split_once(" steps are enough")).unwrap().0.parse().unwrap();
    assert!(steps < 40, "{failure}");
}

#[test]
fn steps_are_repeatable_and_of_all_kinds_and_most_succeed() {
    assert_eq!(generate(7, 200), generate(7, 200));
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut good, mut bad, mut cells) = (0, 0, 0);
    for seed in 0..10 {
        let steps = generate(seed, 1000);
        for step in &steps {
            let name = format!("{step:?}").split(['(', '{', ' ']).next().unwrap().to_owned();
            *kinds.entry(name).or_default() += 1;
        }
        for answer in run(seed, &steps, OPTIONS, &mut Memory) {
            match answer {
                Answer::Results(results) => {
                    let fine = results.iter().filter(|result| *result == "ok").count();
                    good += fine;
                    bad += results.len() - fine;
                }
                Answer::Rows(rows) => cells += rows.iter().map(|row| row.cells.len()).sum::<usize>(),
                Answer::NotLive { asked, .. } => {
                    cells += asked.iter().map(|row| row.cells.len()).sum::<usize>();
                }
                _ => {}
            }
        }
    }
    assert_eq!(kinds.len(), 16, "{kinds:?}");
    assert!(good > 2 * bad && bad > 100 && cells > 10_000, "{good} good, {bad} bad, {cells} cells read");
}

#[test]
fn a_part_keeps_the_order_of_the_whole() {
    let row = |key: &'static str, values: &[&'static str]| Row {
        key: key.into(),
        cells: values
            .iter()
            .map(|value| crate::Cell {
                family: "a".into(),
                qualifier: "q".into(),
                timestamp_us: 0,
                value: (*value).into(),
                labels: vec![],
            })
            .collect(),
    };
    let whole = [row("r", &["1", "2", "3"]), row("s", &["1"])];
    assert!(is_part(&[], &whole));
    assert!(is_part(&[row("r", &["1", "3"])], &whole));
    assert!(is_part(&whole, &whole));
    assert!(!is_part(&[row("r", &["3", "1"])], &whole));
    assert!(!is_part(&[row("s", &["2"])], &whole));
}
