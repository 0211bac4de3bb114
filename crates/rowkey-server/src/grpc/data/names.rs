//! Which table a request is about.

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
        table(shared, &self.table)
    }
}

fn table(_: &Shared, name: &str) -> Result<String, Status> {
    match name.split('/').collect::<Vec<_>>()[..] {
        ["projects", _, "instances", _, "tables", table] => Ok(table.to_owned()),
        _ => Err(Status::invalid_argument(format!(
            "table name `{name}` is not of the form projects/P/instances/I/tables/T"
        ))),
    }
}

/// Checks the name of an instance.
pub(super) fn instance(_: &Shared, name: &str) -> Result<(), Status> {
    if let ["projects", _, "instances", _] = name.split('/').collect::<Vec<_>>()[..] {
        return Ok(());
    }
    Err(Status::invalid_argument(format!("instance name `{name}` is not of the form projects/P/instances/I")))
}
