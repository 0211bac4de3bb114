//! Which table a request is about.

use crate::catalog::{InstanceName, TableName};
use crate::shared::Shared;
use tonic::Status;

/// The names in a request, of which exactly one must be set.
#[derive(Debug, Default)]
pub(super) struct Target {
    /// `projects/P/instances/I/tables/T`.
    pub(super) table: String,
    /// A view's name, under that of its table.
    pub(super) authorized_view: String,
    /// `projects/P/instances/I/materializedViews/V`.
    pub(super) materialized_view: String,
}

impl Target {
    pub(super) fn of(table: String, authorized_view: String) -> Self {
        Self { table, authorized_view, materialized_view: String::new() }
    }

    /// The engine's name of the table.
    pub(super) fn resolve(&self, shared: &Shared) -> Result<String, Status> {
        let names = [&self.table, &self.authorized_view, &self.materialized_view];
        if names.iter().filter(|name| !name.is_empty()).count() != 1 {
            return Err(Status::invalid_argument(
                "exactly one of table_name, authorized_view_name and materialized_view_name must be set",
            ));
        }
        if self.table.is_empty() {
            return Err(Status::unimplemented("views are not served yet; name the table itself"));
        }
        shared.catalog.resolve(&TableName::parse(&self.table)?)
    }
}

/// Checks the name of an instance, and that it may be used.
pub(super) fn instance(shared: &Shared, name: &str) -> Result<(), Status> {
    shared.catalog.instance_may_be_used(&InstanceName::parse(name)?)
}
