//! What the golden scripts cannot say; the rest is in `testscripts/`.

use super::*;
use crate::{EngineExt, Mutation, RowRange};
use proptest::prelude::*;
use std::cmp::Reverse;

fn engine() -> MemoryEngine {
    MemoryEngine::new(Arc::new(crate::ManualClock::new(0)))
}

#[test]
fn a_stream_ends_at_its_limit_and_stays_ended() {
    let engine = engine();
    engine.create("t", &[("a", "never")]).unwrap();
    for key in ["r1", "r2", "r3"] {
        engine.set_cells("t", key.as_bytes(), &[("a", b"q", 0, b"v")]).unwrap();
    }
    let request = ReadRequest { rows: crate::RowSet::all(), rows_max: Some(2), ..ReadRequest::default() };
    let mut rows = engine.read_rows("t", &request).unwrap();
    assert_eq!(rows.by_ref().count(), 2);
    assert!(rows.next().is_none());
}

#[test]
fn readers_on_other_threads_see_whole_rows_only() {
    let engine = Arc::new(engine());
    engine.create("t", &[("a", "maxversions=1"), ("b", "maxversions=1")]).unwrap();
    let write = |n: i64| {
        let cells = ["a", "b"].map(|family| Mutation::set(family, "q", Timestamp::Micros(0), n.to_string()));
        engine.mutate_row("t", "row", cells.into()).unwrap();
    };
    write(0);
    std::thread::scope(|scope| {
        scope.spawn(|| (1..2000).for_each(write));
        for _ in 0..2000 {
            let row = engine.read_row("t", b"row").unwrap().unwrap();
            assert_eq!(row.cells[0].value, row.cells[1].value);
        }
    });
}

#[test]
fn what_tablets_hold_is_known_without_a_look_at_the_rows() {
    let engine = engine();
    let config = crate::TableConfig { split_points: vec!["m".into()], ..crate::TableConfig::default() };
    engine.create_table("t", &config).unwrap();
    let family = |name: &str, rule| crate::FamilyConfig {
        name: name.to_owned(),
        gc_rule: crate::gc::parse_rule(rule).unwrap(),
        value_type: crate::ValueType::Bytes,
    };
    let check = |cells: [u64; 2]| {
        let counted = engine.tablet_counters("t").unwrap();
        assert_eq!(counted, engine.tablets("t").unwrap());
        assert_eq!([counted[0].cells, counted[1].cells], cells);
    };
    let create = ["a", "b"].map(|name| crate::FamilyChange::Create(family(name, "maxversions=1")));
    engine.modify_families("t", &create).unwrap();
    check([0, 0]);
    engine
        .set_cells("t", b"a", &[("a", b"q", 0, b"1"), ("a", b"q", 1000, b"2"), ("b", b"q", 0, b"3")])
        .unwrap();
    engine.set_cells("t", b"z", &[("a", b"q", 0, b"long value"), ("b", b"q", 0, b"")]).unwrap();
    check([3, 2]);
    engine.set_cells("t", b"a", &[("a", b"q", 0, b"replaced")]).unwrap();
    check([3, 2]);
    engine.collect_garbage("t").unwrap();
    check([2, 2]);
    engine.split_tablet("t", &"b".into()).unwrap();
    check([2, 0]);
    engine.modify_families("t", &[crate::FamilyChange::Drop { family: "b".to_owned() }]).unwrap();
    check([1, 0]);
    engine.drop_rows("t", &DropScope::Prefix("a".into())).unwrap();
    check([0, 0]);
    let statistics = engine.statistics().unwrap();
    assert_eq!((statistics.tables, statistics.tablets, statistics.memtable_bytes), (1, 3, 12));
}

#[test]
fn what_is_counted_on_a_tablet_stays_with_its_first_part() {
    let engine = engine();
    engine.create("t", &[("a", "never")]).unwrap();
    engine.set_cells("t", b"r9", &[("a", b"q", 0, b"v")]).unwrap();
    engine.split_tablet("t", &"r5".into()).unwrap();
    let tablets = engine.tablets("t").unwrap();
    assert_eq!(tablets[1].range, RowRange { start: "r5".into(), end: None });
    assert_eq!((tablets[0].writes, tablets[0].cells, tablets[1].writes, tablets[1].cells), (1, 0, 0, 1));
}

/// A step on one of few cells of the aggregate families: an input, a state, or a delete.
#[derive(Debug, Clone)]
enum AggregateStep {
    Input(usize, u8, i64),
    State(usize, u8, i64),
    Nothing(usize, u8),
    DeleteCell(usize, u8),
    DeleteFamily(usize),
    DeleteRow,
}

const AGGREGATES: [(&str, crate::ValueType); 3] =
    [("max", crate::ValueType::IntMax), ("min", crate::ValueType::IntMin), ("sum", crate::ValueType::IntSum)];

impl AggregateStep {
    fn mutation(&self) -> Mutation {
        let name = |family: usize| AGGREGATES[family].0.to_owned();
        let time = |time: u8| Timestamp::Micros(i64::from(time) * 1000);
        let merge = |family: usize, at: u8, state: Bytes| Mutation::MergeToCell {
            family: name(family),
            qualifier: "q".into(),
            timestamp: time(at),
            state,
        };
        match *self {
            Self::Input(family, at, input) => Mutation::add(name(family), "q", time(at), input),
            Self::State(family, at, input) => merge(family, at, Bytes::copy_from_slice(&input.to_be_bytes())),
            Self::Nothing(family, at) => merge(family, at, Bytes::new()),
            Self::DeleteCell(family, at) => {
                let start = i64::from(at) * 1000;
                let times_us = Some(start..start + 1);
                Mutation::DeleteFromColumn { family: name(family), qualifier: "q".into(), times_us }
            }
            Self::DeleteFamily(family) => Mutation::DeleteFromFamily { family: name(family) },
            Self::DeleteRow => Mutation::DeleteFromRow,
        }
    }

    /// Keeps the inputs that no delete has taken.
    fn apply(&self, inputs: &mut BTreeMap<(usize, Reverse<u8>), Vec<i64>>) {
        match *self {
            Self::Input(family, at, input) | Self::State(family, at, input) => {
                inputs.entry((family, Reverse(at))).or_default().push(input);
            }
            Self::Nothing(..) => {}
            Self::DeleteCell(family, at) => drop(inputs.remove(&(family, Reverse(at)))),
            Self::DeleteFamily(family) => inputs.retain(|place, _| place.0 != family),
            Self::DeleteRow => inputs.clear(),
        }
    }
}

fn aggregate_step() -> impl Strategy<Value = AggregateStep> {
    let place = || (0..AGGREGATES.len(), 0..3u8);
    let input = || prop_oneof![-9..9i64, any::<i64>()];
    prop_oneof![
        6 => (place(), input()).prop_map(|((family, at), input)| AggregateStep::Input(family, at, input)),
        4 => (place(), input()).prop_map(|((family, at), input)| AggregateStep::State(family, at, input)),
        1 => place().prop_map(|(family, at)| AggregateStep::Nothing(family, at)),
        2 => place().prop_map(|(family, at)| AggregateStep::DeleteCell(family, at)),
        1 => (0..AGGREGATES.len()).prop_map(AggregateStep::DeleteFamily),
        1 => Just(AggregateStep::DeleteRow),
    ]
}

proptest! {
    #[test]
    fn an_aggregate_cell_is_the_aggregate_of_its_inputs(
        lists in prop::collection::vec(prop::collection::vec(aggregate_step(), 1..6), 0..8),
    ) {
        let engine = engine();
        let families = AGGREGATES.map(|(name, value_type)| crate::FamilyConfig {
            name: name.to_owned(),
            gc_rule: None,
            value_type,
        });
        let config = crate::TableConfig { families: families.into(), ..crate::TableConfig::default() };
        engine.create_table("t", &config).unwrap();
        let mut inputs = BTreeMap::new();
        for list in &lists {
            for step in list {
                step.apply(&mut inputs);
            }
            engine.mutate_row("t", "r", list.iter().map(AggregateStep::mutation).collect()).unwrap();
        }
        let expected: Vec<(&str, i64, i64)> = inputs
            .iter()
            .map(|((family, Reverse(at)), inputs)| {
                let (name, value_type) = AGGREGATES[*family];
                let state = match value_type {
                    crate::ValueType::IntMax => *inputs.iter().max().unwrap(),
                    crate::ValueType::IntMin => *inputs.iter().min().unwrap(),
                    _ => inputs.iter().fold(0i64, |sum, input| sum.wrapping_add(*input)),
                };
                (name, i64::from(*at) * 1000, state)
            })
            .collect();
        let row = engine.read_row("t", b"r").unwrap();
        let cells = row.iter().flat_map(|row| &row.cells);
        let found: Vec<(&str, i64, i64)> = cells
            .map(|cell| (&*cell.family, cell.timestamp_us, crate::aggregate::number(&cell.value).unwrap()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
