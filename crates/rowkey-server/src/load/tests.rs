//! The record as a whole: driven by hand, with a clock that stands still until it is set.

use super::hot::MINUTE_MS;
use super::*;
use crate::lock::lock;
use rowkey_hotspot::heatmap::{Metric, View};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::wrap::{
    Fault, Faults, Faulty, Operation, OperationKind, Outcome, Recorded, Recorder, Scope, When,
};
use rowkey_store::{
    Durability, EngineExt, ManualClock, Mutation, ReadRequest, RowKey, RowRange, RowSet, Timestamp,
};

/// Some time in 2026, at the beginning of an hour.
const START_MS: i64 = 1_790_000 * 1_000 * 1_000 - 1_790_000_000 * 1_000 % 3_600_000;
/// Work of a write where a node takes 100 writes a second.
const SLOW_NS: u64 = 10_000_000;

struct Rig {
    clock: Arc<ManualClock>,
    engine: Arc<dyn Engine>,
    options: Options,
    load: Load,
}

fn rig(engine: impl FnOnce(Arc<dyn Clock>) -> Arc<dyn Engine>, nodes: u32) -> Rig {
    let clock = Arc::new(ManualClock::new(START_MS * 1_000));
    let engine = engine(Arc::clone(&clock) as Arc<dyn Clock>);
    let options = Options { nodes, clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Options::default() };
    let load = Load::open(&engine, &options).unwrap();
    Rig { clock, engine, options, load }
}

fn memory(nodes: u32) -> Rig {
    rig(|clock| Arc::new(MemoryEngine::new(clock)), nodes)
}

impl Rig {
    fn at(&self, after_ms: i64) {
        self.clock.set((START_MS + after_ms) * 1_000);
    }

    /// The server is stopped and started again.
    fn again(&mut self) {
        self.load.save(&*self.engine).unwrap();
        self.load = Load::open(&self.engine, &self.options).unwrap();
    }

    fn create(&self, table: &str) {
        self.engine.create(table, &[("f", "never")]).unwrap();
    }

    fn write(&self, table: &str, key: &[u8]) {
        self.load.observe(&record(
            table,
            OperationKind::Mutate,
            Scope::Key(RowKey::copy_from_slice(key)),
            self.clock.now_us(),
        ));
    }

    fn view(&self, table: &str) -> View {
        self.load.sheet(table, &SheetQuery { metrics: Metric::ALL.to_vec(), ..SheetQuery::default() }).view
    }

    /// Writes so many keys a second for so many seconds, from a second on, with a tick each second.
    fn run(&self, table: &str, seconds: std::ops::Range<i64>, per_second: i64, key: impl Fn(i64) -> String) {
        for second in seconds {
            for number in 0..per_second {
                self.at(second * 1_000 + number * 1_000 / per_second);
                self.write(table, key(second * per_second + number).as_bytes());
            }
            self.at(second * 1_000 + 999);
            self.load.tick();
        }
    }
}

/// One row of 10 bytes, which took 5 us.
fn record(table: &str, kind: OperationKind, scope: Scope, ended_us: i64) -> Record {
    let outcome = Outcome { rows: 1, bytes: 10, started_us: ended_us - 5, ..Outcome::default() };
    Record { operation: Operation { kind, table: table.to_owned(), scope }, outcome, ended_us }
}

fn sums(view: &View) -> Vec<u64> {
    (0..view.metrics.len()).map(|metric| view.sum(metric)).collect()
}

#[test]
fn every_operation_of_every_thread_is_counted_once() {
    let rig = memory(4);
    rig.create("t");
    let (threads, each) = (8_u64, 20_000_u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let rig = &rig;
            scope.spawn(move || {
                for number in 0..each {
                    let key = RowKey::from(format!("{:03}#{thread}", number % 500));
                    let now_us = rig.clock.now_us() + i64::try_from(number).unwrap();
                    let (kind, scope) = match number % 4 {
                        0 => (OperationKind::Read, Scope::Rows(RowSet::new([key], []))),
                        1 => (OperationKind::Read, Scope::Rows(RowRange::prefix(&key).into())),
                        _ => (OperationKind::Mutate, Scope::Key(key)),
                    };
                    rig.load.observe(&record("t", kind, scope, now_us));
                }
            });
        }
        let load = &rig.load;
        scope.spawn(move || (0..20).for_each(|_| load.tick()));
    });
    let all = threads * each;
    let table = &rig.load.tables()[0];
    assert_eq!((table.table.as_str(), table.totals.writes, table.totals.reads), ("t", all / 2, all / 2));
    assert_eq!(table.totals.all()[..6], [all / 2, all / 2, all * 5, all * 5, all / 2, all * 5]);
    assert_eq!(sums(&rig.view("t")), table.totals.all()[..6]);
    assert_eq!(table.minute, table.totals);
    let operations = rig.load.metrics().operations;
    let counts: Vec<_> = operations.iter().map(|known| (known.kind, known.outcome, known.count)).collect();
    assert_eq!(counts, [("mutate", "ok", all / 2), ("read", "ok", all / 2)]);
    assert_eq!(operations[0].buckets[0], all / 2);
    assert_eq!(operations.iter().map(|known| known.sum_us).sum::<u64>(), all * 5);
}

#[test]
fn a_time_first_writer_keeps_one_tablet_hot_however_often_it_is_cut() {
    let mut rig = memory(4);
    rig.load.costs.write = SLOW_NS;
    rig.create("t");
    // 1.2 nodes' worth of writes.
    rig.run("t", 0..620, 120, |number| format!("{number:012}"));
    let tablets = rig.load.tablets("t");
    assert!(tablets.len() > 4, "{}", tablets.len());
    assert_eq!(rig.engine.table_config("t").unwrap().split_points.len() + 1, tablets.len());
    assert_eq!(rig.load.metrics().splits, tablets.len() as u64 - 1);
    let last = tablets.last().unwrap();
    assert!(last.node_share > 1.0 && last.state.name() == "busy", "{last:?}");
    assert!(tablets.iter().rev().skip(1).all(|tablet| tablet.node_share < 0.3), "{tablets:?}");
    let busy = rig.load.nodes().iter().filter(|node| node.share > 0.4).count();
    assert_eq!(busy, 1, "moving tablets does not help: {:?}", rig.load.nodes());
    let (from, to) = (START_MS, START_MS + 3_600_000);
    let hot = rig.load.hot_tablets("t", from, to);
    assert!(
        hot[0].node_cpu_percent > 100.0 && hot.is_sorted_by(|a, b| a.node_cpu_percent >= b.node_cpu_percent)
    );
    assert!(rig.load.hot_tablets("t", from - 3_600_000, from).is_empty());
    let diagnosis = rig.load.diagnosis("t").unwrap();
    assert_eq!(diagnosis.findings[0].rule.name(), "sequential-id");
    assert_eq!(diagnosis.context.nodes, 4);
}

#[test]
fn a_salted_writer_is_cut_and_spread_over_the_nodes() {
    let mut rig = memory(4);
    rig.load.costs.write = SLOW_NS;
    rig.create("t");
    rig.run("t", 0..900, 120, |number| format!("{:02}#{number:012}", number * 7 % 16));
    let nodes = rig.load.nodes();
    assert!(nodes.iter().all(|node| (0.1..0.6).contains(&node.share)), "{nodes:?}");
    let metrics = rig.load.metrics();
    assert!(metrics.moves >= 2 && metrics.splits >= 2, "{metrics:?}");
    // Placement adds up: nodes, tablets and tables tell the same.
    let of = |parts: Vec<Sums>| parts.iter().fold(Sums::default(), |mut sum, part| (sum.add(part), sum).1);
    let minute = rig.load.tables()[0].minute;
    assert_eq!(of(nodes.iter().map(|node| node.minute).collect()), minute);
    assert_eq!(of(rig.load.tablets("t").iter().map(|tablet| tablet.minute).collect()), minute);
    assert_eq!(nodes.iter().map(|node| node.tablets).sum::<usize>(), rig.load.tablets("t").len());
    // The map shows each row on the node that serves it.
    let sheet = rig.load.sheet("t", &SheetQuery::default());
    let of_row = sheet.nodes.unwrap().of_row;
    let tablets = rig.load.tablets("t");
    for (row, node) in sheet.view.rows.iter().zip(of_row) {
        let key = row.example.as_deref().unwrap();
        let tablet = tablets.iter().find(|tablet| tablet.range.contains(key)).unwrap();
        assert_eq!(tablet.node, node);
    }
}

fn check_restart(mut rig: Rig) {
    rig.create("t");
    rig.create("gone");
    rig.run("t", 0..200, 5, |number| format!("{:02}", number % 50));
    rig.run("gone", 200..201, 5, |number| format!("{number}"));
    let (before, totals) = (rig.view("t"), rig.load.tables()[1].totals);
    assert_eq!(totals.writes, 1_000);
    rig.engine.drop_table("gone").unwrap();
    for round in 0..3 {
        rig.again();
        let tables = rig.load.tables();
        assert_eq!(tables.len(), 1, "round {round}");
        assert_eq!(tables[0].totals, totals, "round {round}");
        assert_eq!(sums(&rig.view("t")), sums(&before), "round {round}");
    }
    // What comes in the minute that was open goes on in it.
    rig.run("t", 202..300, 5, |number| format!("{:02}", number % 50));
    rig.again();
    assert_eq!(rig.load.tables()[0].totals.writes, 1_490);
    let view = rig.view("t");
    let shown = |view: &View| {
        let minutes = usize::try_from(MINUTE_MS / view.time_step).unwrap();
        let sums = view.column_sums(view.metric(Metric::Writes).unwrap());
        sums.chunks(minutes).map(|minute| minute.iter().sum()).collect::<Vec<u64>>()
    };
    assert_eq!(shown(&view), [300, 300, 300, 290, 300]);
    // Half of the rows of the map, by key.
    let half = SheetQuery { start: b"25".to_vec(), ..SheetQuery::default() };
    let sheet = rig.load.sheet("t", &half);
    let writes = sheet.view.sum(sheet.view.metric(Metric::Writes).unwrap());
    assert!((650..850).contains(&writes), "{writes}");
}

#[test]
fn a_restart_keeps_the_map_in_memory() {
    check_restart(memory(3));
}

#[test]
fn a_restart_keeps_the_map_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    check_restart(rig(
        |clock| {
            let options = rowkey_lsm::Options { create: true, clock, ..rowkey_lsm::Options::default() };
            Arc::new(rowkey_lsm::LsmEngine::open(folder.path(), options).unwrap())
        },
        3,
    ));
}

#[test]
fn old_minutes_become_quarters_of_an_hour_and_expire_after_14_days() {
    let mut rig = memory(3);
    rig.create("t");
    for minute in 0..60 {
        rig.at(minute * MINUTE_MS);
        rig.write("t", format!("{minute:02}").as_bytes());
        rig.load.tick();
    }
    rig.at(20 * 3_600_000);
    rig.load.tick();
    let rows = |rig: &Rig| {
        let request = ReadRequest { live: true, ..ReadRequest::of(RowRange::prefix(b"load/")) };
        rig.engine.read_all("_rowkey", &request).unwrap().len()
    };
    assert_eq!(rows(&rig), 4);
    rig.again();
    assert_eq!(rig.load.tables()[0].totals.writes, 60);
    assert_eq!(rig.view("t").sum(0), 60);
    rig.at(13 * 86_400_000);
    rig.again();
    assert_eq!(rig.load.tables()[0].totals.writes, 60);
    rig.at(15 * 86_400_000);
    rig.again();
    assert_eq!((rows(&rig), rig.load.tables().len()), (0, 0));
}

#[test]
fn history_that_cannot_be_read_is_passed_over_and_counted() {
    let mut rig = memory(3);
    rig.create("t");
    rig.run("t", 0..120, 5, |number| format!("{number}"));
    rig.load.save(&*rig.engine).unwrap();
    let minute = (START_MS / MINUTE_MS).to_string();
    for (key, value) in [
        (format!("load/t/1m/{minute:0>12}"), &b"\x09newer"[..]),
        ("load/t/1m/000000000001".to_owned(), b"\x01\x05"),
        ("load/t/what/000000000001".to_owned(), b"\x01\x00\x00"),
    ] {
        let time = Timestamp::Micros(rig.clock.now_us() / 1_000 * 1_000);
        rig.engine.mutate_row("_rowkey", key, vec![Mutation::set("load", "v", time, value)]).unwrap();
    }
    rig.load = Load::open(&rig.engine, &rig.options).unwrap();
    assert_eq!(rig.load.metrics().rows_skipped, 3);
    assert_eq!(rig.load.tables()[0].totals.writes, 300);
}

#[test]
fn a_save_that_fails_disturbs_nobody_and_is_tried_again() {
    let faults = |when| Faults::new([Fault { when, ..Fault::always(OperationKind::Mutate) }]);
    let rig = rig(
        |clock| {
            let memory: Arc<dyn Engine> = Arc::new(MemoryEngine::new(clock));
            Arc::new(Faulty::new(memory, faults(When::Call(1))))
        },
        3,
    );
    rig.create("t");
    rig.run("t", 0..65, 5, |number| format!("{number}"));
    let metrics = rig.load.metrics();
    assert_eq!((metrics.save_failures, metrics.saves), (1, 0));
    rig.run("t", 65..80, 5, |number| format!("{number}"));
    assert_eq!(rig.load.metrics().saves, 1);
    rig.load.save(&*rig.engine).unwrap();
    let again = Load::open(&rig.engine, &rig.options).unwrap();
    assert_eq!(again.tables()[0].totals.writes, 400);
}

#[test]
fn a_thousand_tables_stay_within_the_bound_and_keep_their_totals() {
    let mut rig = memory(3);
    let bound = 24 << 20;
    rig.load = Load::open_within(&rig.engine, &rig.options, bound).unwrap();
    for table in 0..1_000 {
        rig.create(&format!("t{table:04}"));
    }
    for round in 0..40 {
        for table in 0..1_000 {
            for number in 0..5 {
                rig.at(round * 20_000 + number);
                rig.write(&format!("t{table:04}"), format!("{}#{number}", round * 7 % 40).as_bytes());
            }
        }
        rig.load.tick();
        let metrics = rig.load.metrics();
        assert!(metrics.memory_bytes < bound + (20 << 20), "{} in round {round}", metrics.memory_bytes);
    }
    let tables = rig.load.tables();
    assert_eq!(tables.len(), 1_000);
    assert!(tables.iter().all(|table| table.totals.writes == 200));
    assert!(rig.load.metrics().tables_shrunk > 0);
    // A busy table beside them has its map.
    rig.create("busy");
    rig.run("busy", 900..960, 20, |number| format!("{:03}", number * 7 % 600));
    assert_eq!(rig.view("busy").sum(0), 1_200);
    rig.again();
    assert_eq!(rig.load.tables().iter().map(|table| table.totals.writes).sum::<u64>(), 201_200);
}

#[test]
fn scans_count_where_they_read_and_the_servers_own_tables_do_not() {
    let rig = memory(3);
    let load = Arc::new(Load::open(&rig.engine, &rig.options).unwrap());
    let observer = Arc::clone(&load);
    let recorder = Recorder::new(Arc::clone(&rig.options.clock), move |record| observer.observe(&record));
    let engine = Recorded::new(Arc::clone(&rig.engine), recorder);
    engine.create("t", &[("f", "never")]).unwrap();
    for key in ["a", "b", "c", "d", "e"] {
        engine.set_cells("t", key.as_bytes(), &[("f", b"q", 0, b"value")]).unwrap();
    }
    for point in ["c", "e"] {
        engine.split_tablet("t", &point.into()).unwrap();
    }
    load.refresh();
    let rows = |load: &Load| -> Vec<(u64, u64)> {
        load.tablets("t").iter().map(|tablet| (tablet.totals.reads, tablet.totals.rows)).collect()
    };
    let check = |request: &ReadRequest, expected: &[(u64, u64)]| {
        let before = rows(&load);
        engine.read_all("t", request).unwrap();
        let added: Vec<(u64, u64)> = rows(&load)
            .iter()
            .zip(before)
            .map(|(now, before)| (now.0 - before.0, now.1 - before.1))
            .collect();
        assert_eq!(added, expected, "{request:?}");
    };
    let all = ReadRequest::all();
    check(&ReadRequest { rows_max: Some(2), ..all.clone() }, &[(1, 2), (0, 0), (0, 0)]);
    check(&ReadRequest { rows_max: Some(3), ..all.clone() }, &[(0, 1), (1, 2), (0, 0)]);
    check(&ReadRequest { rows_max: Some(1), reversed: true, ..all.clone() }, &[(0, 0), (0, 0), (1, 1)]);
    check(&all, &[(0, 1), (0, 2), (1, 2)]);
    check(&ReadRequest::of(RowSet::new(["a".into(), "e".into()], [])), &[(1, 1), (0, 0), (1, 1)]);
    engine.create("_rowkey_other", &[("f", "never")]).unwrap();
    engine.mutate_row("_rowkey_other", "k", vec![Mutation::set("f", "q", Timestamp::Server, "v")]).unwrap();
    engine.read_row("nowhere", b"k").unwrap_err();
    let mutation = Mutation::set("nope", "q", Timestamp::Server, "v");
    let rows = vec![rowkey_store::RowMutation { key: "k".into(), mutations: vec![mutation] }];
    assert!(engine.mutate_rows("t", rows, Durability::Synced).unwrap()[0].is_err());
    let names: Vec<String> = load.tables().into_iter().map(|table| table.table).collect();
    assert_eq!(names, ["t"]);
    assert_eq!(load.tables()[0].totals.writes, 5);
    let failed: Vec<_> =
        load.metrics().operations.into_iter().filter(|known| known.outcome != "ok").collect();
    assert_eq!((failed.len(), failed[0].kind, failed[0].outcome), (1, "mutate", "not-found"));
}

#[test]
fn a_record_goes_with_its_table_and_with_its_name() {
    let mut rig = memory(3);
    rig.create("a");
    rig.create("b");
    rig.run("a", 0..70, 5, |number| format!("{number}"));
    rig.run("b", 70..75, 5, |number| format!("{number}"));
    rig.load.dropped("b");
    rig.engine.drop_table("b").unwrap();
    // As if renamed.
    rig.engine.drop_table("a").unwrap();
    rig.create("c");
    rig.load.renamed("a", "c");
    rig.again();
    let tables = rig.load.tables();
    assert_eq!(tables.len(), 1);
    assert_eq!((tables[0].table.as_str(), tables[0].totals.writes), ("c", 350));
    // Dropped by somebody else.
    rig.engine.drop_table("c").unwrap();
    rig.at(120_000);
    rig.load.tick();
    assert!(rig.load.tables().is_empty());
}

#[test]
fn hot_keys_of_a_range_are_listed_with_their_bounds() {
    let rig = memory(3);
    rig.create("t");
    rig.run(
        "t",
        0..10,
        50,
        |number| if number % 2 == 0 { "b#hot".to_owned() } else { format!("a#{}", number % 9) },
    );
    let all = rig.load.hot_keys("t", &RowRange::all(), Metric::Writes);
    assert_eq!(
        (all.keys[0].key.as_slice(), all.keys[0].count, all.keys[0].error_max),
        (&b"b#hot"[..], 250, 0)
    );
    assert_eq!((all.operations, all.unlisted_max, all.since_ms), (500, 0, START_MS));
    let some = rig.load.hot_keys("t", &RowRange::prefix(b"a#"), Metric::BytesIn);
    assert_eq!(some.keys.iter().map(|key| key.count).sum::<u64>(), 250);
    assert!(rig.load.hot_keys("t", &RowRange::all(), Metric::Reads).keys.is_empty());
    assert!(rig.load.hot_keys("nowhere", &RowRange::all(), Metric::Reads).keys.is_empty());
    assert_eq!(rig.load.sheet("nowhere", &SheetQuery::default()).view.columns, 0);
    assert!(rig.load.diagnosis("nowhere").is_none());
}

const SCHEMA: &str = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{tenant}#{vehicle}\"\n[key.fields]\ntenant = { type = \"string\" }\nvehicle = { type = \"uint\", digits = 3 }\n[families]\nf = { gc = \"never\" }\n";

#[test]
fn a_schema_names_the_rows_whether_given_or_kept_with_the_table() {
    let rig = memory(3);
    rig.create("t");
    rig.run("t", 0..10, 50, |number| {
        format!("{}#{:03}", if number % 2 == 0 { "acme" } else { "bolt" }, number % 300)
    });
    let label = |load: &Load| load.sheet("t", &SheetQuery::default()).labels[0][0].text.clone();
    assert_eq!(label(&rig.load), "acme#");
    let schema = rowkey::KeySchema::parse(SCHEMA).unwrap();
    rig.load.set_schema("t", Some(Codec::new(schema.clone()).unwrap()));
    assert_eq!(label(&rig.load), "tenant=acme");
    rig.load.set_schema("t", None);
    assert_eq!(label(&rig.load), "acme#");
    let clock = Arc::clone(&rig.options.clock);
    rowkey_table::KeyedTable::adopt(Arc::clone(&rig.engine), clock, schema.clone()).unwrap();
    rig.at(60_000);
    rig.load.tick();
    assert_eq!(label(&rig.load), "tenant=acme");
    let options = Options { schemas: vec![schema], ..rig.options.clone() };
    let load = Load::open(&rig.engine, &options).unwrap();
    assert!(load.schema("t").is_some() && load.schema("u").is_none());
}

#[test]
fn a_table_whose_map_was_given_up_gets_a_larger_one_when_there_is_room() {
    let mut rig = memory(3);
    rig.load = Load::open_within(&rig.engine, &rig.options, 8 << 20).unwrap();
    rig.create("t");
    rig.run("t", 0..30, 60, |number| format!("{:03}", number * 7 % 600));
    let rows = |rig: &Rig| rig.view("t").rows.len();
    let before = rows(&rig);
    lock(&rig.load.known("t").unwrap()).shrink();
    assert!(rows(&rig) <= 16);
    assert_eq!(rig.view("t").sum(0), 1_800);
    rig.run("t", 30..90, 60, |number| format!("{:03}", number * 7 % 600));
    assert!(rows(&rig) > 16 && before > 16);
    assert_eq!(rig.view("t").sum(0), 5_400);
}
