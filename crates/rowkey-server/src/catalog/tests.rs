//! Names that survive restarts and crashes.

use super::rows::SYSTEM_TABLE;
use super::*;
use rowkey_proto::longrunning;
use rowkey_store::memory::MemoryEngine;
use rowkey_store::wrap::{Layer, Operation, Wrapped};
use rowkey_store::{EngineExt, Error, ErrorKind, ManualClock, TableConfig};
use std::sync::atomic::{AtomicI64, Ordering};
use tonic::Code;

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new(Arc::new(ManualClock::new(1_000_000))))
}

fn open(engine: &Arc<dyn Engine>) -> Catalog {
    Catalog::open(engine, &Options::default()).unwrap()
}

fn name(instance: &str, table: &str) -> TableName {
    TableName { project: "p".to_owned(), instance: instance.to_owned(), table: table.to_owned() }
}

fn create(catalog: &Catalog, instance: &str, table: &str) -> Result<(), Status> {
    catalog.create_table(&name(instance, table), &TableConfig::default(), admin::Table::default())
}

fn listed(catalog: &Catalog, instance: &str) -> Vec<String> {
    let tables = catalog.list_tables(&name(instance, "").instance_name()).unwrap();
    tables.into_iter().map(|name| name.table).collect()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Status>, code: Code, words: &str) {
    let status = result.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(words), "{status}");
}

/// Stands for a process that is killed after so many calls of the engine.
#[derive(Debug)]
struct Dies {
    calls_left: AtomicI64,
}

impl Layer for Dies {
    fn adjective(&self) -> &'static str {
        "mortal"
    }

    fn before(&self, _: &Operation) -> Result<()> {
        match self.calls_left.fetch_sub(1, Ordering::SeqCst) {
            1.. => Ok(()),
            _ => Err(Error::new(ErrorKind::Unavailable, "the process was killed")),
        }
    }
}

#[test]
fn two_instances_have_a_table_of_one_name_each() {
    let engine = engine();
    let catalog = open(&engine);
    create(&catalog, "i", "t").unwrap();
    create(&catalog, "j", "t").unwrap();
    refused(create(&catalog, "j", "t"), Code::AlreadyExists, "exists already");
    create(&catalog, "k", "t-2").unwrap();
    let check = |catalog: &Catalog| {
        let resolve = |instance, table| catalog.resolve(&name(instance, table)).unwrap();
        assert_eq!([resolve("i", "t"), resolve("j", "t"), resolve("k", "t-2")], ["t", "t-2", "t-2-2"]);
        refused(catalog.resolve(&name("k", "t")), Code::NotFound, "projects/p/instances/k/tables/t");
        assert_eq!(listed(catalog, "i"), ["t"]);
        assert_eq!(listed(catalog, "k"), ["t-2"]);
    };
    check(&catalog);
    check(&open(&engine));
    assert_eq!(engine.list_tables().unwrap(), [SYSTEM_TABLE, "t", "t-2", "t-2-2"]);
    let used: Vec<String> =
        catalog.instances_of("p").into_iter().map(|instance| instance.display_name).collect();
    assert_eq!(used, ["i", "j", "k"]);
}

#[test]
fn a_long_name_is_cut_for_the_engine() {
    let long = "t".repeat(50);
    let engine = engine();
    let catalog = open(&engine);
    create(&catalog, "i", &long).unwrap();
    create(&catalog, "j", &long).unwrap();
    assert_eq!(catalog.resolve(&name("j", &long)).unwrap(), format!("{}-2", "t".repeat(48)));
}

#[test]
fn a_table_of_the_command_line_is_seen_by_all_until_it_is_deleted() {
    let engine = engine();
    engine.create("shared", &[("f", "never")]).unwrap();
    let catalog = open(&engine);
    assert_eq!(listed(&catalog, "i"), ["shared"]);
    assert_eq!(catalog.resolve(&name("j", "shared")).unwrap(), "shared");
    refused(create(&catalog, "i", "shared"), Code::AlreadyExists, "exists already");
    catalog
        .keep(&name("i", "shared"), |table| {
            table.change_stream_config = Some(admin::ChangeStreamConfig::default());
            Ok(())
        })
        .unwrap();
    let catalog = open(&engine);
    assert!(catalog.table_entry(&name("i", "shared")).unwrap().kept.change_stream_config.is_some());
    assert_eq!(listed(&catalog, "j"), ["shared"], "what is kept of it does not make it one instance's");
    catalog.delete_table(&name("j", "shared"), &|_| {}).unwrap();
    assert_eq!(listed(&catalog, "i"), [""; 0]);
    refused(catalog.delete_table(&name("i", "shared"), &|_| {}), Code::NotFound, "shared");
}

#[test]
fn the_servers_own_tables_are_nobodys() {
    let catalog = open(&engine());
    refused(catalog.resolve(&name("i", SYSTEM_TABLE)), Code::NotFound, "does not exist");
    refused(create(&catalog, "i", "_rowkey.x"), Code::InvalidArgument, "the server's own");
    assert_eq!(listed(&catalog, "i"), [""; 0]);
}

#[test]
fn a_strict_server_wants_instances() {
    let engine = engine();
    let options = Options { strict_instances: true, ..Options::default() };
    let catalog = Catalog::open(&engine, &options).unwrap();
    refused(create(&catalog, "i", "t"), Code::NotFound, "instance `projects/p/instances/i` does not exist");
    let created = admin::Instance {
        create_time: Some(prost_types::Timestamp::default()),
        ..admin::Instance::default()
    };
    catalog.instances.put("projects/p/instances/i", created).unwrap();
    create(&catalog, "i", "t").unwrap();
    refused(catalog.resolve(&name("j", "t")), Code::NotFound, "instance");
}

#[test]
fn an_instance_has_so_many_tables_and_no_more() {
    let catalog = open(&engine());
    for number in 0..1_000 {
        create(&catalog, "i", &format!("t{number}")).unwrap();
    }
    refused(create(&catalog, "i", "more"), Code::ResourceExhausted, "the limit is 1000");
    create(&catalog, "j", "more").unwrap();
}

#[test]
fn what_the_engine_refuses_leaves_no_trace() {
    let engine = engine();
    let catalog = open(&engine);
    let config = TableConfig { split_points: vec!["".into()], ..TableConfig::default() };
    let created = catalog.create_table(&name("i", "t"), &config, admin::Table::default());
    refused(created, Code::InvalidArgument, "split point is empty");
    assert_eq!(open(&engine).own_tables().len(), 0);
    create(&catalog, "i", "t").unwrap();
}

#[test]
fn a_table_dropped_behind_the_servers_back_can_be_created_anew() {
    let engine = engine();
    let catalog = open(&engine);
    create(&catalog, "i", "t").unwrap();
    engine.drop_table("t").unwrap();
    create(&catalog, "i", "t").unwrap();
    assert_eq!(open(&engine).resolve(&name("i", "t")).unwrap(), "t");
}

#[test]
fn a_deleted_table_comes_back_with_its_rows() {
    let engine = engine();
    let catalog = open(&engine);
    create(&catalog, "i", "t").unwrap();
    let family = rowkey_store::FamilyChange::Create(rowkey_store::FamilyConfig {
        name: "f".to_owned(),
        gc_rule: None,
        value_type: rowkey_store::ValueType::Bytes,
    });
    engine.modify_families("t", &[family]).unwrap();
    engine.set_cells("t", b"k", &[("f", b"q", 1_000, b"v")]).unwrap();
    catalog.delete_table(&name("i", "t"), &|_| {}).unwrap();
    assert_eq!(listed(&catalog, "i"), [""; 0]);
    refused(catalog.undelete_table(&name("j", "t"), &|_| {}), Code::NotFound, "no deleted table");
    // Somebody else takes the engine's name meanwhile.
    let catalog = open(&engine);
    create(&catalog, "j", "t").unwrap();
    catalog.undelete_table(&name("i", "t"), &|_| {}).unwrap();
    refused(catalog.undelete_table(&name("i", "t"), &|_| {}), Code::AlreadyExists, "exists already");
    let restored = catalog.resolve(&name("i", "t")).unwrap();
    assert_eq!(restored, "t-2");
    assert_eq!(engine.read_row(&restored, b"k").unwrap().unwrap().cells[0].value, "v");
    assert_eq!(engine.list_tables().unwrap(), [SYSTEM_TABLE, "t", "t-2"]);
}

#[test]
fn a_deleted_table_is_kept_for_seven_days() {
    const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;
    let engine = engine();
    let clock = Arc::new(ManualClock::new(0));
    let shared: Arc<dyn Clock> = clock.clone();
    let options = Options { clock: shared, ..Options::default() };
    let catalog = Catalog::open(&engine, &options).unwrap();
    create(&catalog, "i", "t").unwrap();
    catalog.delete_table(&name("i", "t"), &|_| {}).unwrap();
    clock.set(7 * DAY_US - 1);
    catalog.sweep(&|_| {}).unwrap();
    assert_eq!(engine.list_tables().unwrap(), [SYSTEM_TABLE, "_rowkey.deleted.1"]);
    clock.set(7 * DAY_US);
    refused(catalog.undelete_table(&name("i", "t"), &|_| {}), Code::NotFound, "no deleted table");
    assert_eq!(engine.list_tables().unwrap(), [SYSTEM_TABLE]);
}

#[test]
fn so_many_deleted_tables_are_kept_and_no_more() {
    let engine = engine();
    let catalog = open(&engine);
    for number in 0..110 {
        create(&catalog, "i", &format!("t{number}")).unwrap();
        catalog.delete_table(&name("i", &format!("t{number}")), &|_| {}).unwrap();
    }
    catalog.sweep(&|_| {}).unwrap();
    assert_eq!(engine.list_tables().unwrap().len(), 1 + 100);
    refused(catalog.undelete_table(&name("i", "t9"), &|_| {}), Code::NotFound, "no deleted table");
    catalog.undelete_table(&name("i", "t10"), &|_| {}).unwrap();
}

#[test]
fn an_instance_goes_with_its_tables_unless_one_is_protected() {
    let engine = engine();
    let catalog = open(&engine);
    create(&catalog, "i", "a").unwrap();
    create(&catalog, "i", "b").unwrap();
    create(&catalog, "j", "c").unwrap();
    let instance = name("i", "").instance_name();
    catalog.policies.put("projects/p/instances/i/tables/a", iam::Policy::default()).unwrap();
    engine.protect_table("b", true).unwrap();
    refused(catalog.delete_instance(&instance, &|_| {}), Code::FailedPrecondition, "protected table, `b`");
    assert_eq!(listed(&catalog, "i"), ["a", "b"]);
    engine.protect_table("b", false).unwrap();
    catalog.delete_instance(&instance, &|_| {}).unwrap();
    refused(catalog.delete_instance(&instance, &|_| {}), Code::NotFound, "does not exist");
    let catalog = open(&engine);
    assert_eq!(engine.list_tables().unwrap(), [SYSTEM_TABLE, "c"]);
    assert_eq!(catalog.clusters.names("").len() + catalog.policies.names("").len(), 0);
}

#[test]
fn what_an_instance_that_does_not_exist_left_is_removed() {
    let engine = engine();
    let catalog = open(&engine);
    catalog.clusters.put("projects/p/instances/i/clusters/c", admin::Cluster::default()).unwrap();
    catalog.instances.put("projects/p/instances/j", admin::Instance::default()).unwrap();
    catalog.clusters.put("projects/p/instances/j/clusters/c", admin::Cluster::default()).unwrap();
    assert_eq!(open(&engine).clusters.names(""), ["projects/p/instances/j/clusters/c"]);
}

#[test]
fn operations_are_kept_and_numbered() {
    let engine = engine();
    let catalog = open(&engine);
    let add = |catalog: &Catalog, parent: &str, now_us| {
        catalog.operations.add(parent, now_us, longrunning::Operation::default()).unwrap().name
    };
    assert_eq!(add(&catalog, "projects/p", 7), "operations/projects/p/operations/7");
    assert_eq!(add(&catalog, "projects/p", 7), "operations/projects/p/operations/8");
    assert_eq!(add(&catalog, "projects/q", 3), "operations/projects/q/operations/9");
    let catalog = open(&engine);
    assert_eq!(add(&catalog, "projects/p", 0), "operations/projects/p/operations/10");
    let list = |prefix, after, count| -> Vec<u64> {
        catalog.operations.list(prefix, after, count).into_iter().map(|(number, _)| number).collect()
    };
    assert_eq!(list("operations/projects/p/", None, 2), [10, 8]);
    assert_eq!(list("operations/projects/p/", Some(8), 2), [7]);
    assert!(catalog.operations.get("operations/projects/p/operations/9").is_none());
    assert!(!catalog.operations.remove("operations/projects/p/operations/9").unwrap());
    assert!(catalog.operations.remove("operations/projects/q/operations/9").unwrap());
    assert!(catalog.operations.get("operations/projects/q/operations/9").is_none());
}

#[test]
fn no_table_is_lost_or_doubled_whenever_the_process_is_killed() {
    for calls in 0.. {
        let survivor = engine();
        create(&open(&survivor), "j", "t").unwrap();
        let dies = Dies { calls_left: AtomicI64::new(calls) };
        let mortal: Arc<dyn Engine> = Arc::new(Wrapped::new(Arc::clone(&survivor), dies));
        let lived = Catalog::open(&mortal, &Options::default()).is_ok_and(|catalog| {
            create(&catalog, "i", "t").is_ok()
                && catalog.delete_table(&name("i", "t"), &|_| {}).is_ok()
                && catalog.undelete_table(&name("i", "t"), &|_| {}).is_ok()
                && catalog.delete_table(&name("i", "t"), &|_| {}).is_ok()
        });
        let healed = open(&survivor);
        let tables = survivor.list_tables().unwrap();
        let engine_names: BTreeSet<String> = healed.own_tables().into_values().collect();
        let is_known = |table: &String| {
            let number = table.strip_prefix("_rowkey.deleted.").and_then(|number| number.parse().ok());
            let is_deleted = number.is_some_and(|number| deleted_numbers(&healed).contains(&number));
            table == SYSTEM_TABLE || is_deleted || engine_names.contains(table)
        };
        assert!(tables.iter().all(is_known), "after {calls} calls: {tables:?}");
        assert!(engine_names.iter().all(|name| tables.contains(name)), "after {calls} calls");
        assert_eq!(
            deleted_numbers(&healed).len() + engine_names.len() + 1,
            tables.len(),
            "after {calls} calls"
        );
        assert_eq!(listed(&healed, "j"), ["t"], "after {calls} calls");
        let created = create(&healed, "i", "t").is_ok();
        assert_eq!(created, engine_names.len() == 1, "after {calls} calls");
        if lived {
            assert!(calls > 20, "the test killed nobody");
            return;
        }
    }
}

fn deleted_numbers(catalog: &Catalog) -> Vec<u64> {
    // All are due at the end of time.
    catalog.deleted.lock().unwrap().due(i64::MAX)
}
