//! Settings of a table that change nothing in the engine: they are checked, kept and shown. And `UpdateTable`, which changes them and
//! deletion protection.

use super::{existing, view};
use crate::catalog::{TableName, shown};
use crate::grpc::operations;
use crate::shared::Shared;
use prost_types::Duration;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::table::AutomatedBackupConfig;
use rowkey_proto::admin::tiered_storage_rule::Rule;
use rowkey_proto::admin::r#type::{Kind, Struct};
use rowkey_proto::longrunning::Operation;
use std::collections::BTreeSet;
use tonic::Status;

/// Seconds of a day.
const DAY_S: i64 = 24 * 60 * 60;
/// Days of the longest age of data that makes sense, 10,000 years: what a `google.protobuf.Duration` may be.
const AGE_DAYS_MAX: i64 = 3_652_500;

/// What is kept of a table's message.
pub(super) fn kept(table: admin::Table) -> admin::Table {
    admin::Table {
        change_stream_config: table.change_stream_config,
        automated_backup_config: table.automated_backup_config,
        tiered_storage_config: table.tiered_storage_config,
        row_key_schema: table.row_key_schema,
        ..admin::Table::default()
    }
}

/// Refuses settings that Bigtable refuses: the limits are those of `ChangeStreamConfig`, `AutomatedBackupPolicy`, `TieredStorageRule` and
/// `Table.row_key_schema`.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(super) fn check(table: &admin::Table) -> Result<(), Status> {
    if let Some(stream) = &table.change_stream_config {
        days("change_stream_config.retention_period", stream.retention_period, 1, 7)?;
    }
    if let Some(AutomatedBackupConfig::AutomatedBackupPolicy(policy)) = &table.automated_backup_config {
        days("automated_backup_policy.retention_period", policy.retention_period, 3, 90)?;
        if policy.frequency.is_some() {
            days("automated_backup_policy.frequency", policy.frequency, 1, 1)?;
        }
    }
    if let Some(tiers) = &table.tiered_storage_config {
        let rule = tiers.infrequent_access.and_then(|tier| tier.rule);
        let Some(Rule::IncludeIfOlderThan(age)) = rule else {
            return Err(Status::invalid_argument(
                "tiered_storage_config has no rule; leave it out to have one tier",
            ));
        };
        days("tiered_storage_config.infrequent_access.include_if_older_than", Some(age), 30, AGE_DAYS_MAX)?;
    }
    table.row_key_schema.as_ref().map_or(Ok(()), |schema| check_schema(schema, table))
}

fn days(what: &str, period: Option<Duration>, days_min: i64, days_max: i64) -> Result<(), Status> {
    let fits = period.is_some_and(|period| {
        let end_s = days_max * DAY_S;
        (days_min * DAY_S..=end_s).contains(&period.seconds)
            && (0..1_000_000_000).contains(&period.nanos)
            && (period.seconds < end_s || period.nanos == 0)
    });
    if fits {
        return Ok(());
    }
    let wanted = if days_min == days_max {
        format!("{days_min} day")
    } else {
        format!("at least {days_min} and at most {days_max} days")
    };
    Err(Status::invalid_argument(format!("{what} must be {wanted}")))
}

fn check_schema(schema: &Struct, table: &admin::Table) -> Result<(), Status> {
    let bad = |what: String| Err(Status::invalid_argument(format!("row_key_schema: {what}")));
    let mut names = BTreeSet::from(["_key", "_timestamp"]);
    names.extend(table.column_families.keys().map(String::as_str));
    if schema.fields.is_empty() {
        return bad("it has no fields".to_owned());
    }
    for field in &schema.fields {
        let name = field.field_name.as_str();
        if name.is_empty() {
            return bad("a field has no name".to_owned());
        }
        if !names.insert(name) {
            return bad(format!(
                "field `{}` has the name of another field, of a column family or of a reserved word",
                shown(name)
            ));
        }
        let scalar = match field.r#type.as_ref().and_then(|kind| kind.kind.as_ref()) {
            Some(Kind::ArrayType(_) | Kind::MapType(_) | Kind::AggregateType(_) | Kind::StructType(_))
            | None => false,
            Some(_) => true,
        };
        if !scalar {
            return bad(format!("field `{}` must have a type that is one value", shown(name)));
        }
    }
    Ok(())
}

/// Changes the fields of the mask.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `NOT_FOUND`; `UNIMPLEMENTED` for `column_families`. Then nothing is changed.
pub(super) fn update(shared: &Shared, request: admin::UpdateTableRequest) -> Result<Operation, Status> {
    let start_time = Some(operations::now(shared));
    let wanted = request.table.ok_or_else(|| Status::invalid_argument("no table is given"))?;
    let name = TableName::parse(&wanted.name)?;
    let paths = request.update_mask.unwrap_or_default().paths;
    if paths.is_empty() {
        return Err(Status::invalid_argument("update_mask is empty; name the fields to update"));
    }
    let (engine, config) = existing(shared, &name)?;
    let families = config.families.iter().map(|family| (family.name.clone(), admin::ColumnFamily::default()));
    let families = families.collect();
    shared.catalog.keep(&name, |kept| {
        let before = kept.row_key_schema.clone();
        paths.iter().try_for_each(|path| take(path, &wanted, kept))?;
        schema_change(before.as_ref(), kept.row_key_schema.as_ref(), request.ignore_warnings)?;
        check(&admin::Table { column_families: families, ..kept.clone() })
    })?;
    if paths.iter().any(|path| path == "deletion_protection") {
        shared.engine.protect_table(&engine, wanted.deletion_protection).map_err(|error| status(&error))?;
    }
    let metadata = admin::UpdateTableMetadata {
        name: name.to_string(),
        start_time,
        end_time: Some(operations::now(shared)),
    };
    let table = view::table(shared, &name, view::SCHEMA)?;
    let parent = name.instance_name().to_string();
    operations::done(shared, &parent, ("UpdateTableMetadata", &metadata), ("Table", &table))
}

/// Takes one field of the mask over. Deletion protection is the engine's.
fn take(path: &str, wanted: &admin::Table, kept: &mut admin::Table) -> Result<(), Status> {
    match path {
        "deletion_protection" => {}
        "change_stream_config" => kept.change_stream_config = wanted.change_stream_config,
        "change_stream_config.retention_period" => {
            let period = wanted.change_stream_config.and_then(|stream| stream.retention_period);
            kept.change_stream_config.get_or_insert_default().retention_period = period;
        }
        "row_key_schema" => kept.row_key_schema.clone_from(&wanted.row_key_schema),
        "tiered_storage_config" => kept.tiered_storage_config = wanted.tiered_storage_config,
        "automated_backup_config" | "automated_backup_policy" => {
            kept.automated_backup_config.clone_from(&wanted.automated_backup_config);
        }
        "automated_backup_policy.retention_period"
        | "automated_backup_policy.frequency"
        | "automated_backup_policy.locations" => take_of_policy(path, wanted, kept),
        "column_families" => {
            return Err(Status::unimplemented(
                "update_mask has `column_families`; change families with ModifyColumnFamilies",
            ));
        }
        path => {
            return Err(Status::invalid_argument(format!(
                "update_mask has `{}`; change_stream_config, deletion_protection, row_key_schema, automated_backup_policy and \
                 tiered_storage_config can be updated",
                shown(path)
            )));
        }
    }
    Ok(())
}

fn take_of_policy(path: &str, wanted: &admin::Table, kept: &mut admin::Table) {
    let policy = |table: &admin::Table| match &table.automated_backup_config {
        Some(AutomatedBackupConfig::AutomatedBackupPolicy(policy)) => policy.clone(),
        None => admin::table::AutomatedBackupPolicy::default(),
    };
    let (wanted, mut changed) = (policy(wanted), policy(kept));
    if path.ends_with(".retention_period") {
        changed.retention_period = wanted.retention_period;
    } else if path.ends_with(".frequency") {
        changed.frequency = wanted.frequency;
    } else {
        changed.locations = wanted.locations;
    }
    kept.automated_backup_config = Some(AutomatedBackupConfig::AutomatedBackupPolicy(changed));
}

/// A key schema can be added, or removed by those who ignore warnings; never changed (`Table.row_key_schema`).
fn schema_change(
    before: Option<&Struct>,
    after: Option<&Struct>,
    ignore_warnings: bool,
) -> Result<(), Status> {
    match (before, after) {
        (Some(before), Some(after)) if before != after => Err(Status::invalid_argument(
            "row_key_schema: a schema cannot be changed; remove it and set another",
        )),
        (Some(_), None) if !ignore_warnings => Err(Status::invalid_argument(
            "row_key_schema: removing a schema may break those who read with it; set ignore_warnings to remove it",
        )),
        _ => Ok(()),
    }
}
