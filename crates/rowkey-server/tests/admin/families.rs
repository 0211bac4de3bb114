//! Changes of families: in order, all or nothing.

use super::*;
use rowkey_proto::admin::ColumnFamily;
use rowkey_proto::admin::gc_rule::Rule;
use rowkey_proto::admin::modify_column_families_request::Modification;
use rowkey_proto::admin::modify_column_families_request::modification::Mod;
use rowkey_proto::admin::table::View;
use rowkey_proto::admin::r#type::{self as types, Kind, aggregate};
use rowkey_store::EngineExt;

fn versions(versions: i32) -> ColumnFamily {
    ColumnFamily {
        gc_rule: Some(admin::GcRule { rule: Some(Rule::MaxNumVersions(versions)) }),
        ..ColumnFamily::default()
    }
}

fn sum() -> ColumnFamily {
    let input = Kind::Int64Type(types::Int64::default());
    let aggregate = types::Aggregate {
        input_type: Some(Box::new(admin::Type { kind: Some(input) })),
        aggregator: Some(aggregate::Aggregator::Sum(aggregate::Sum {})),
        ..types::Aggregate::default()
    };
    ColumnFamily {
        value_type: Some(admin::Type { kind: Some(Kind::AggregateType(Box::new(aggregate))) }),
        ..ColumnFamily::default()
    }
}

fn step(id: &str, change: Mod) -> Modification {
    Modification { id: id.to_owned(), r#mod: Some(change), update_mask: None }
}

fn masked(id: &str, change: Mod, paths: &[&str]) -> Modification {
    Modification { update_mask: Some(mask(paths)), ..step(id, change) }
}

fn modify(client: &Client, modifications: Vec<Modification>) -> Result<admin::Table, Status> {
    let request =
        admin::ModifyColumnFamiliesRequest { name: TABLE.to_owned(), modifications, ignore_warnings: false };
    client.call(client.tables.clone().modify_column_families(request))
}

/// The families and how many versions each keeps.
fn shown(table: &admin::Table) -> String {
    let mut families: Vec<String> = table
        .column_families
        .iter()
        .map(|(name, family)| match family.gc_rule.as_ref().and_then(|rule| rule.rule.as_ref()) {
            Some(Rule::MaxNumVersions(versions)) => format!("{name}:{versions}"),
            _ => name.clone(),
        })
        .collect();
    families.sort();
    families.join(" ")
}

#[test]
fn changes_apply_in_order() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let changed = modify(
            client,
            vec![
                step("a", Mod::Create(versions(1))),
                step("a", Mod::Update(versions(2))),
                step("b", Mod::Create(versions(1))),
                step("b", Mod::Drop(true)),
                step("f", Mod::Update(versions(3))),
            ],
        );
        let changed = changed.unwrap();
        assert_eq!((changed.name.as_str(), &*shown(&changed)), (TABLE, "a:2 f:3"));
        assert_eq!(changed.granularity, i32::from(admin::table::TimestampGranularity::Millis));
        assert_eq!(client.get(TABLE, View::Unspecified).unwrap(), changed);
        // No rule keeps cells for ever.
        assert_eq!(
            shown(&modify(client, vec![step("a", Mod::Update(ColumnFamily::default()))]).unwrap()),
            "a f:3"
        );
    });
}

#[test]
fn a_change_that_fails_changes_nothing() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let fails = |bad: Modification, code, words| {
            refused(modify(client, vec![step("a", Mod::Create(versions(1))), bad]), code, words);
            assert_eq!(shown(&client.get(TABLE, View::Unspecified).unwrap()), "f");
        };
        fails(step("x", Mod::Drop(true)), Code::NotFound, "family not found");
        fails(step("x", Mod::Update(versions(1))), Code::NotFound, "family not found");
        fails(masked("x", Mod::Update(versions(1)), &["value_type"]), Code::NotFound, "family not found");
        fails(step("f", Mod::Create(versions(1))), Code::AlreadyExists, "`f` exists already");
        fails(step("a", Mod::Create(versions(1))), Code::AlreadyExists, "`a` exists already");
        fails(step("bad id!", Mod::Create(versions(1))), Code::InvalidArgument, "bad id!");
        fails(step("f", Mod::Update(versions(0))), Code::InvalidArgument, "maxversions");
        fails(step("f", Mod::Drop(false)), Code::InvalidArgument, "drop is false");
        fails(
            Modification { id: "f".to_owned(), r#mod: None, update_mask: None },
            Code::InvalidArgument,
            "says nothing",
        );
        fails(masked("f", Mod::Update(versions(1)), &["*"]), Code::InvalidArgument, "update_mask has `*`");
        refused(modify(client, vec![]), Code::InvalidArgument, "no modifications");
    });
}

#[test]
fn a_protected_table_keeps_its_families() {
    on_every_engine(|client| {
        let protected = admin::Table { deletion_protection: true, ..table(&["f"]) };
        client.create(INSTANCE, "t", protected, &[]).unwrap();
        let changes = vec![step("a", Mod::Create(versions(1))), step("f", Mod::Drop(true))];
        refused(modify(client, changes), Code::FailedPrecondition, "protected");
        assert_eq!(shown(&client.get(TABLE, View::Unspecified).unwrap()), "f");
        modify(client, vec![step("a", Mod::Create(versions(1)))]).unwrap();
    });
}

#[test]
fn the_value_type_of_a_family_is_fixed() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        let created = modify(client, vec![step("s", Mod::Create(sum()))]).unwrap();
        assert!(created.column_families["s"].value_type.is_some());
        let fails = |id: &str, family: ColumnFamily, paths: &[&str]| {
            let update = masked(id, Mod::Update(family), paths);
            refused(modify(client, vec![update]), Code::InvalidArgument, "value type is fixed");
        };
        fails("s", ColumnFamily::default(), &["value_type"]);
        fails("f", sum(), &["value_type"]);
        fails("f", sum(), &["gc_rule", "value_type"]);
        // Without a mask, an update is about the rule alone.
        let updated = modify(client, vec![step("s", Mod::Update(versions(2)))]).unwrap();
        assert_eq!(shown(&updated), "f s:2");
        assert!(updated.column_families["s"].value_type.is_some());
        let same = masked("s", Mod::Update(sum()), &["value_type"]);
        assert_eq!(shown(&modify(client, vec![same]).unwrap()), "f s:2");
    });
}

#[test]
fn a_family_that_is_dropped_and_made_again_is_empty() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&["f"]), &[]).unwrap();
        client.engine.set_cells("t", b"k", &[("f", b"q", 1_000, b"v")]).unwrap();
        modify(client, vec![step("f", Mod::Drop(true)), step("f", Mod::Create(versions(1)))]).unwrap();
        assert_eq!(client.engine.read_row("t", b"k").unwrap(), None);
    });
}
