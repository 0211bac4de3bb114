//! Tables: part 2.9 of Bigtable's rules, and what its emulator gets wrong.

use super::*;
use rowkey_proto::admin::table::View;
use rowkey_proto::admin::table::cluster_state::ReplicationState;
use rowkey_store::EngineExt;

#[test]
fn a_table_is_created_as_it_was_asked_for_and_is_there_once() {
    on_every_engine(|client| {
        let wanted = admin::Table {
            granularity: admin::table::TimestampGranularity::Micros.into(),
            deletion_protection: true,
            change_stream_config: Some(admin::ChangeStreamConfig { retention_period: Some(days(3)) }),
            ..table(&["g", "f"])
        };
        let created = client.create(INSTANCE, "t", wanted.clone(), &["b", "a"]).unwrap();
        assert_eq!(created, wanted);
        assert_eq!(client.get(TABLE, View::Unspecified).unwrap(), wanted);
        let samples = client.engine.sample_row_keys("t").unwrap();
        let keys: Vec<&[u8]> = samples.iter().map(|sample| &sample.key[..]).collect();
        assert_eq!(keys, [&b"a"[..], b"b", b""]);
        refused(client.create(INSTANCE, "t", table(&[]), &[]), Code::AlreadyExists, TABLE);
        let plain = client.create(INSTANCE, "plain", table(&[]), &[]).unwrap();
        assert_eq!(plain.granularity, i32::from(admin::table::TimestampGranularity::Millis));
    });
}

#[test]
fn what_cannot_be_a_table_is_refused() {
    on_every_engine(|client| {
        let create = |id: &str, table, splits: &[&str], words| {
            refused(client.create(INSTANCE, id, table, splits), Code::InvalidArgument, words);
        };
        create("bad id!/x", table(&[]), &[], "cannot be the id of a table");
        create("", table(&[]), &[], "cannot be the id of a table");
        create(&"t".repeat(51), table(&[]), &[], "at most 50");
        create("t", table(&["bad id!/x"]), &[], "bad id!/x");
        create("t", table(&[""]), &[], "empty");
        create("t", table(&[]), &["a", ""], "a key is empty");
        create("t", table(&[]), &["a", "b", "a"], "`a` is given twice");
        create("_rowkey", table(&[]), &[], "the server's own");
        create("t", admin::Table { granularity: 9, ..table(&[]) }, &[], "granularity 9");
        let stream = |retention_period| admin::Table {
            change_stream_config: Some(admin::ChangeStreamConfig { retention_period }),
            ..table(&[])
        };
        create("t", stream(Some(days(8))), &[], "at least 1 and at most 7 days");
        create("t", stream(None), &[], "at least 1 and at most 7 days");
        let policy = admin::table::AutomatedBackupPolicy {
            retention_period: Some(days(2)),
            ..admin::table::AutomatedBackupPolicy::default()
        };
        let policy = admin::table::AutomatedBackupConfig::AutomatedBackupPolicy(policy);
        let backed_up = admin::Table { automated_backup_config: Some(policy), ..table(&[]) };
        create("t", backed_up, &[], "at least 3 and at most 90 days");
        let tiers = admin::TieredStorageConfig { infrequent_access: None };
        let tiered = admin::Table { tiered_storage_config: Some(tiers), ..table(&[]) };
        create("t", tiered, &[], "tiered_storage_config has no rule");
        let rule = admin::gc_rule::Rule::MaxNumVersions(0);
        let family = admin::ColumnFamily {
            gc_rule: Some(admin::GcRule { rule: Some(rule) }),
            ..admin::ColumnFamily::default()
        };
        let mut bad = table(&[]);
        bad.column_families.insert("f".to_owned(), family);
        create("t", bad, &[], "maxversions");
        refused(
            client.create("projects/p", "t", table(&[]), &[]),
            Code::InvalidArgument,
            "must be of the form",
        );
        let all = "projects/p/instances/-";
        refused(client.create(all, "t", table(&[]), &[]), Code::InvalidArgument, "`-` stands for all");
        assert_eq!(client.list(INSTANCE), [""; 0]);
    });
}

#[test]
fn the_rules_of_a_new_table_collect_garbage() {
    on_every_engine(|client| {
        let rule = admin::gc_rule::Rule::MaxNumVersions(1);
        let family = admin::ColumnFamily {
            gc_rule: Some(admin::GcRule { rule: Some(rule) }),
            ..admin::ColumnFamily::default()
        };
        let mut kept = table(&[]);
        kept.column_families.insert("f".to_owned(), family);
        client.create(INSTANCE, "t", kept, &[]).unwrap();
        for time_us in [1_000, 2_000, 3_000] {
            client.engine.set_cells("t", b"k", &[("f", b"q", time_us, b"v")]).unwrap();
        }
        let taken = client.engine.collect_garbage("t").unwrap();
        assert_eq!((taken[0].live_cells, taken[0].expired_cells), (1, 2));
        assert_eq!(client.engine.read_row("t", b"k").unwrap().unwrap().cells.len(), 1);
    });
}

#[test]
fn each_view_shows_its_fields() {
    on_memory(Options::default(), |client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let check = |view, has_schema, replication, encrypted| {
            let found = client.get(TABLE, view).unwrap();
            assert_eq!(found.name, TABLE);
            assert_eq!(found.column_families.contains_key("f"), has_schema);
            assert_eq!(found.granularity != 0, has_schema);
            let state = found.cluster_states.get("local-cluster");
            assert_eq!(state.map(admin::table::ClusterState::replication_state), replication);
            assert_eq!(state.is_some_and(|state| !state.encryption_info.is_empty()), encrypted);
        };
        let unknown = Some(ReplicationState::StateNotKnown);
        let ready = Some(ReplicationState::Ready);
        check(View::NameOnly, false, None, false);
        check(View::SchemaView, true, None, false);
        check(View::ReplicationView, false, ready, false);
        check(View::EncryptionView, false, unknown, true);
        check(View::Full, true, ready, true);
        refused(client.get("projects/p/instances/i/tables/x", View::NameOnly), Code::NotFound, "tables/x");
        let request = admin::GetTableRequest { name: TABLE.to_owned(), view: 99 };
        refused(client.call(client.tables.clone().get_table(request)), Code::InvalidArgument, "view 99");
    });
}

#[test]
fn tables_are_listed_in_pages() {
    on_memory(Options::default(), |client| {
        for id in ["c", "a", "b"] {
            client.create(INSTANCE, id, table(&["f"]), &[]).unwrap();
        }
        client.create("projects/p/instances/j", "d", table(&[]), &[]).unwrap();
        client.engine.create("of-the-command-line", &[]).unwrap();
        let page = |page_size, page_token: &str, view: View| {
            let request = admin::ListTablesRequest {
                parent: INSTANCE.to_owned(),
                view: view.into(),
                page_size,
                page_token: page_token.to_owned(),
            };
            client.call(client.tables.clone().list_tables(request))
        };
        let ids = |page: &admin::ListTablesResponse| {
            page.tables.iter().map(|table| last(&table.name).to_owned()).collect::<Vec<_>>()
        };
        let first = page(3, "", View::Unspecified).unwrap();
        assert_eq!(ids(&first), ["a", "b", "c"]);
        assert!(first.tables.iter().all(|table| table.column_families.is_empty()), "names only by default");
        let second = page(3, &first.next_page_token, View::Full).unwrap();
        assert_eq!(ids(&second), ["of-the-command-line"]);
        assert_eq!(second.next_page_token, "");
        assert_eq!(page(4, "", View::Unspecified).unwrap().next_page_token, "");
        let full = page(0, "", View::Full).unwrap();
        assert!(full.tables[0].column_families.contains_key("f"));
        refused(page(-1, "", View::Unspecified), Code::InvalidArgument, "must not be negative");
        refused(page(0, "no token!", View::Unspecified), Code::InvalidArgument, "page_token");
    });
}

#[test]
fn an_update_changes_what_its_mask_names_and_nothing_else() {
    on_every_engine(|client| {
        let protected = admin::Table { deletion_protection: true, ..table(&["f"]) };
        client.create(INSTANCE, "t", protected, &[]).unwrap();
        let stream = admin::Table {
            change_stream_config: Some(admin::ChangeStreamConfig { retention_period: Some(days(1)) }),
            ..table(&[])
        };
        let operation = client.update(stream.clone(), &["change_stream_config"]).unwrap();
        let updated: admin::Table = response(&operation, "Table");
        assert!(updated.deletion_protection, "the emulator switches it off here");
        assert_eq!(updated.change_stream_config, stream.change_stream_config);
        assert!(updated.column_families.contains_key("f"));
        assert_eq!(client.get(TABLE, View::Unspecified).unwrap(), updated);
        refused(client.delete(TABLE), Code::FailedPrecondition, "protected");

        client.update(table(&[]), &["deletion_protection"]).unwrap();
        client.update(table(&[]), &["change_stream_config"]).unwrap();
        let plain = client.get(TABLE, View::Unspecified).unwrap();
        assert_eq!((plain.deletion_protection, plain.change_stream_config), (false, None));

        refused(client.update(stream.clone(), &[]), Code::InvalidArgument, "update_mask is empty");
        refused(client.update(stream.clone(), &["*"]), Code::InvalidArgument, "update_mask has `*`");
        refused(
            client.update(stream.clone(), &["column_families"]),
            Code::Unimplemented,
            "ModifyColumnFamilies",
        );
        let missing = admin::Table { name: format!("{INSTANCE}/tables/x"), ..stream };
        refused(client.update(missing, &["change_stream_config"]), Code::NotFound, "tables/x");
        let long = admin::Table {
            change_stream_config: Some(admin::ChangeStreamConfig { retention_period: Some(days(9)) }),
            ..table(&[])
        };
        let paths = ["deletion_protection", "change_stream_config.retention_period"];
        refused(client.update(long, &paths), Code::InvalidArgument, "at most 7 days");
        assert_eq!(client.get(TABLE, View::Unspecified).unwrap(), plain);
    });
}

#[test]
fn a_key_schema_can_be_added_and_removed_but_not_changed() {
    use rowkey_proto::admin::r#type::{self as types, Kind};
    let schema = |name: &str, kind| {
        let kind = Some(admin::Type { kind: Some(kind) });
        let field = types::r#struct::Field { field_name: name.to_owned(), r#type: kind };
        admin::Table {
            row_key_schema: Some(types::Struct { fields: vec![field], ..types::Struct::default() }),
            ..table(&[])
        }
    };
    let text = || Kind::StringType(types::String::default());
    on_memory(Options::default(), |client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let update = |table, words| {
            refused(client.update(table, &["row_key_schema"]), Code::InvalidArgument, words);
        };
        update(schema("f", text()), "of a column family");
        update(schema("_key", text()), "reserved word");
        update(schema("", text()), "no name");
        update(schema("a", Kind::StructType(types::Struct::default())), "one value");
        client.update(schema("a", text()), &["row_key_schema"]).unwrap();
        update(schema("b", text()), "cannot be changed");
        update(table(&[]), "ignore_warnings");
        let request = admin::UpdateTableRequest {
            table: Some(table(&[])),
            update_mask: Some(mask(&["row_key_schema"])),
            ignore_warnings: true,
        };
        client.call(client.tables.clone().update_table(request)).unwrap();
        assert_eq!(client.get(TABLE, View::Full).unwrap().row_key_schema, None);
    });
}

#[test]
fn a_deleted_table_is_gone_until_it_is_undeleted() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &["m"]).unwrap();
        client.engine.set_cells("t", b"k", &[("f", b"q", 1_000, b"v")]).unwrap();
        client.delete(TABLE).unwrap();
        refused(client.get(TABLE, View::NameOnly), Code::NotFound, TABLE);
        refused(client.delete(TABLE), Code::NotFound, TABLE);
        assert_eq!(client.list(INSTANCE), [""; 0]);
        let undelete = || {
            let request = admin::UndeleteTableRequest { name: TABLE.to_owned() };
            client.call(client.tables.clone().undelete_table(request))
        };
        let operation = undelete().unwrap();
        let restored: admin::Table = response(&operation, "Table");
        assert!(restored.column_families.contains_key("f"));
        assert_eq!(client.engine.read_row("t", b"k").unwrap().unwrap().cells[0].value, "v");
        assert_eq!(client.engine.sample_row_keys("t").unwrap().len(), 2);
        refused(undelete(), Code::AlreadyExists, TABLE);
        client.delete(TABLE).unwrap();
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        refused(undelete(), Code::AlreadyExists, TABLE);
    });
}

#[test]
fn rows_are_dropped_by_prefix_or_all_and_never_by_mistake() {
    use rowkey_proto::admin::drop_row_range_request::Target;
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let keys = || {
            let rows = client.engine.read_all("t", &rowkey_store::ReadRequest::all()).unwrap();
            rows.iter().map(|row| String::from_utf8_lossy(&row.key).into_owned()).collect::<Vec<_>>()
        };
        for key in ["a1", "a2", "b1"] {
            client.engine.set_cells("t", key.as_bytes(), &[("f", b"q", 1_000, b"v")]).unwrap();
        }
        let drop_rows = |name: &str, target| {
            let request = admin::DropRowRangeRequest { name: name.to_owned(), target };
            client.call(client.tables.clone().drop_row_range(request))
        };
        let prefix = |prefix: &str| Some(Target::RowKeyPrefix(prefix.into()));
        refused(drop_rows(TABLE, prefix("")), Code::InvalidArgument, "row_key_prefix is empty");
        refused(drop_rows(TABLE, None), Code::InvalidArgument, "no target");
        drop_rows(TABLE, Some(Target::DeleteAllDataFromTable(false))).unwrap();
        assert_eq!(keys(), ["a1", "a2", "b1"]);
        drop_rows(TABLE, prefix("a")).unwrap();
        assert_eq!(keys(), ["b1"]);
        drop_rows(TABLE, prefix("x")).unwrap();
        drop_rows(TABLE, Some(Target::DeleteAllDataFromTable(true))).unwrap();
        assert_eq!(keys(), [""; 0]);
        let missing = format!("{INSTANCE}/tables/x");
        refused(drop_rows(&missing, prefix("a")), Code::NotFound, "tables/x");
        refused(drop_rows(&missing, Some(Target::DeleteAllDataFromTable(false))), Code::NotFound, "tables/x");
    });
}

#[test]
fn a_consistency_token_is_good_for_its_table() {
    on_memory(Options::default(), |client| {
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        client.create(INSTANCE, "u", table(&[]), &[]).unwrap();
        let request = admin::GenerateConsistencyTokenRequest { name: TABLE.to_owned() };
        let token =
            client.call(client.tables.clone().generate_consistency_token(request)).unwrap().consistency_token;
        let check = |table: &str, token: &str| {
            let request = admin::CheckConsistencyRequest {
                name: format!("{INSTANCE}/tables/{table}"),
                consistency_token: token.to_owned(),
                mode: None,
            };
            client.call(client.tables.clone().check_consistency(request)).map(|answer| answer.consistent)
        };
        assert!(check("t", &token).unwrap());
        refused(check("u", &token), Code::InvalidArgument, "not generated for table");
        refused(check("t", "dummy-token"), Code::InvalidArgument, "not generated for table");
        refused(check("x", &token), Code::NotFound, "tables/x");
    });
}

#[test]
fn what_is_not_served_says_so() {
    on_memory(Options::default(), |client| {
        let backups = client.call(client.tables.clone().list_backups(admin::ListBackupsRequest::default()));
        assert_eq!(backups.unwrap_err().code(), Code::Unimplemented);
        let snapshots =
            client.call(client.tables.clone().list_snapshots(admin::ListSnapshotsRequest::default()));
        assert_eq!(snapshots.unwrap_err().code(), Code::Unimplemented);
        let views = admin::ListMaterializedViewsRequest::default();
        let views = client.call(client.instances.clone().list_materialized_views(views));
        assert_eq!(views.unwrap_err().code(), Code::Unimplemented);
    });
}
