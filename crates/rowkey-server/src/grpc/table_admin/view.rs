//! A table as a message, in the view that is asked for.

use super::existing;
use crate::catalog::TableName;
use crate::shared::Shared;
use rowkey_bigtable::convert::{family_to_proto, granularity_to_proto};
use rowkey_proto::admin;
use rowkey_proto::admin::encryption_info::EncryptionType;
use rowkey_proto::admin::table::cluster_state::ReplicationState;
use rowkey_proto::admin::table::{ClusterState, View};
use rowkey_store::{FamilyConfig, TableConfig};
use tonic::Status;

/// What a table is in words of its schema.
pub(super) const SCHEMA: View = View::SchemaView;

/// The view of a request; `default` if it names none.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(super) fn of(view: i32, default: View) -> Result<View, Status> {
    match View::try_from(view) {
        Ok(View::Unspecified) => Ok(default),
        Ok(view) => Ok(view),
        Err(_) => Err(Status::invalid_argument(format!("view {view} of a table is not known"))),
    }
}

/// A table that exists. Blocks.
///
/// # Errors
///
/// `NOT_FOUND`, and those of the engine.
pub(super) fn table(shared: &Shared, name: &TableName, view: View) -> Result<admin::Table, Status> {
    let (_, config) = existing(shared, name)?;
    Ok(message(shared, name, &config, view))
}

/// The message of a table whose design is known.
pub(super) fn message(shared: &Shared, name: &TableName, config: &TableConfig, view: View) -> admin::Table {
    let mut table = match view {
        View::SchemaView | View::Full => schema(shared, name, config),
        _ => admin::Table::default(),
    };
    name.to_string().clone_into(&mut table.name);
    let (replication, encryption) = match view {
        View::ReplicationView => (true, false),
        View::EncryptionView => (false, true),
        View::Full => (true, true),
        View::Unspecified | View::NameOnly | View::SchemaView => return table,
    };
    for cluster in shared.catalog.clusters_of(&name.instance_name()) {
        let state = ClusterState {
            replication_state: if replication {
                ReplicationState::Ready
            } else {
                ReplicationState::StateNotKnown
            }
            .into(),
            encryption_info: if encryption { vec![encryption_info(&cluster)] } else { Vec::new() },
        };
        let id = cluster.name.rsplit('/').next().unwrap_or_default().to_owned();
        table.cluster_states.insert(id, state);
    }
    table
}

fn schema(shared: &Shared, name: &TableName, config: &TableConfig) -> admin::Table {
    let kept = shared.catalog.table_entry(name).map(|entry| entry.kept).unwrap_or_default();
    admin::Table {
        column_families: config
            .families
            .iter()
            .map(|family| (family.name.clone(), shown_family(family)))
            .collect(),
        granularity: granularity_to_proto(config.granularity).into(),
        deletion_protection: config.deletion_protection,
        ..kept
    }
}

/// The message of a family. It is never an empty one: the Node client cannot read a map whose values are left out, and prost leaves empty
/// ones out. A type without a kind says as much as none.
fn shown_family(family: &FamilyConfig) -> admin::ColumnFamily {
    let mut message = family_to_proto(family);
    if message == admin::ColumnFamily::default() {
        message.value_type = Some(admin::Type::default());
    }
    message
}

/// What would be said of a cluster's tables: nothing is encrypted here.
fn encryption_info(cluster: &admin::Cluster) -> admin::EncryptionInfo {
    match cluster.encryption_config.as_ref().filter(|config| !config.kms_key_name.is_empty()) {
        Some(config) => admin::EncryptionInfo {
            encryption_type: EncryptionType::CustomerManagedEncryption.into(),
            kms_key_version: format!("{}/cryptoKeyVersions/1", config.kms_key_name),
            encryption_status: None,
        },
        None => admin::EncryptionInfo {
            encryption_type: EncryptionType::GoogleDefaultEncryption.into(),
            ..admin::EncryptionInfo::default()
        },
    }
}
