//! `CreateTable`, `UndeleteTable` and `ListTables`.

use super::settings;
use super::view;
use crate::catalog::{InstanceName, TableName};
use crate::grpc::operations::{self, bad_token, page_size};
use crate::shared::Shared;
use bytes::Bytes;
use rowkey_bigtable::convert::{family_from_proto, granularity_from_proto};
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::table::View;
use rowkey_proto::longrunning::Operation;
use rowkey_store::escape::escaped;
use rowkey_store::{FamilyConfig, Result as StoreResult, TableConfig};
use tonic::Status;

/// Tables of a page, unless fewer are asked for: all that an instance may have.
const PAGE_MAX: usize = 1_000;

/// Creates a table.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `ALREADY_EXISTS`, and those of the catalog.
pub(super) fn create(shared: &Shared, request: admin::CreateTableRequest) -> Result<admin::Table, Status> {
    let name = InstanceName::parse(&request.parent)?.table(&request.table_id)?;
    let table = request.table.unwrap_or_default();
    settings::check(&table)?;
    let mut families: Vec<(&String, &admin::ColumnFamily)> = table.column_families.iter().collect();
    families.sort_by_key(|(name, _)| *name);
    let families = families.into_iter().map(|(name, family)| family_from_proto(name, family));
    let config = TableConfig {
        families: families.collect::<StoreResult<Vec<FamilyConfig>>>().map_err(|error| status(&error))?,
        granularity: granularity_from_proto(table.granularity).map_err(|error| status(&error))?,
        split_points: split_points(request.initial_splits)?,
        deletion_protection: table.deletion_protection,
        ..TableConfig::default()
    };
    shared.catalog.create_table(&name, &config, settings::kept(table))?;
    Ok(view::message(shared, &name, &config, view::SCHEMA))
}

/// Brings back a table that was deleted.
///
/// # Errors
///
/// `ALREADY_EXISTS`, `NOT_FOUND`, and those of the catalog.
pub(super) fn undelete(shared: &Shared, request: &admin::UndeleteTableRequest) -> Result<Operation, Status> {
    let start_time = Some(operations::now(shared));
    let name = TableName::parse(&request.name)?;
    shared.catalog.undelete_table(&name, &|change| super::tell(shared, change))?;
    let end_time = Some(operations::now(shared));
    let metadata = admin::UndeleteTableMetadata { name: name.to_string(), start_time, end_time };
    let table = view::table(shared, &name, view::SCHEMA)?;
    let parent = name.instance_name().to_string();
    operations::done(shared, &parent, ("UndeleteTableMetadata", &metadata), ("Table", &table))
}

/// The split points in order, none of them empty or given twice.
fn split_points(splits: Vec<admin::create_table_request::Split>) -> Result<Vec<Bytes>, Status> {
    let mut points: Vec<Bytes> = splits.into_iter().map(|split| Bytes::from(split.key)).collect();
    points.sort();
    if points.first().is_some_and(Bytes::is_empty) {
        return Err(Status::invalid_argument(
            "initial_splits: a key is empty; each is the first row key of a tablet, and the first tablet needs none",
        ));
    }
    if let Some(pair) = points.windows(2).find(|pair| pair[0] == pair[1]) {
        let key = &pair[0][..pair[0].len().min(100)];
        return Err(Status::invalid_argument(format!(
            "initial_splits: key `{}` is given twice; give it once",
            escaped(key)
        )));
    }
    Ok(points)
}

/// Lists tables by name.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `NOT_FOUND` (instance), and those of the engine.
pub(super) fn list(
    shared: &Shared,
    request: &admin::ListTablesRequest,
) -> Result<admin::ListTablesResponse, Status> {
    let instance = InstanceName::parse(&request.parent)?;
    let view = view::of(request.view, View::NameOnly)?;
    let size = page_size(request.page_size, PAGE_MAX)?;
    let mut names = shared.catalog.list_tables(&instance)?;
    if !request.page_token.is_empty() {
        let after = instance.table(&request.page_token).map_err(|_| bad_token())?;
        names.retain(|name| *name > after);
    }
    let next = names.get(size).is_some().then(|| names[size - 1].table.clone());
    names.truncate(size);
    let tables = names.iter().filter_map(|name| listed(shared, name, view).transpose());
    Ok(admin::ListTablesResponse {
        tables: tables.collect::<Result<_, _>>()?,
        next_page_token: next.unwrap_or_default(),
    })
}

/// One table of a list; `None` if it was deleted meanwhile.
fn listed(shared: &Shared, name: &TableName, view: View) -> Result<Option<admin::Table>, Status> {
    if matches!(view, View::SchemaView | View::Full) {
        return match view::table(shared, name, view) {
            Err(status) if status.code() == tonic::Code::NotFound => Ok(None),
            table => table.map(Some),
        };
    }
    Ok(Some(view::message(shared, name, &TableConfig::default(), view)))
}
