//! `google.bigtable.admin.v2.BigtableTableAdmin`.
//!
//! What is not here answers UNIMPLEMENTED: backups, authorized views, schema bundles, snapshots.

mod families;
mod rows;
mod settings;
mod table;
mod view;

use super::iam;
use crate::catalog::{TableChange, TableName};
use crate::shared::Shared;
use crate::{blocking, catalog};
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::bigtable_table_admin_server::BigtableTableAdmin;
use rowkey_proto::iam::{
    GetIamPolicyRequest, Policy, SetIamPolicyRequest, TestIamPermissionsRequest, TestIamPermissionsResponse,
};
use rowkey_proto::longrunning::Operation;
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub(crate) struct TableAdminService {
    shared: Arc<Shared>,
}

impl TableAdminService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

/// Runs `work`, which blocks, on a thread that may, and puts its answer into a response.
///
/// # Errors
///
/// Those of `work`; `UNAVAILABLE` if the server stops.
pub(super) async fn run<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Status> + Send + 'static,
) -> Result<Response<T>, Status> {
    let shared = Arc::clone(shared);
    let done = blocking::run(move || Ok(work(&shared))).await;
    done.unwrap_or_else(|error| Err(status(&error))).map(Response::new)
}

/// Tells those who keep something about a table of the engine what became of it.
pub(super) fn tell(shared: &Shared, change: TableChange) {
    match change {
        TableChange::Renamed { from, to } => shared.load.renamed(&from, &to),
        TableChange::Dropped(table) => shared.load.dropped(&table),
    }
}

#[tonic::async_trait]
impl BigtableTableAdmin for TableAdminService {
    async fn create_table(
        &self,
        request: Request<admin::CreateTableRequest>,
    ) -> Result<Response<admin::Table>, Status> {
        run(&self.shared, move |shared| table::create(shared, request.into_inner())).await
    }

    async fn list_tables(
        &self,
        request: Request<admin::ListTablesRequest>,
    ) -> Result<Response<admin::ListTablesResponse>, Status> {
        run(&self.shared, move |shared| table::list(shared, &request.into_inner())).await
    }

    async fn get_table(
        &self,
        request: Request<admin::GetTableRequest>,
    ) -> Result<Response<admin::Table>, Status> {
        run(&self.shared, move |shared| {
            let request = request.into_inner();
            view::table(shared, &TableName::parse(&request.name)?, view::of(request.view, view::SCHEMA)?)
        })
        .await
    }

    async fn update_table(
        &self,
        request: Request<admin::UpdateTableRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| settings::update(shared, request.into_inner())).await
    }

    async fn delete_table(
        &self,
        request: Request<admin::DeleteTableRequest>,
    ) -> Result<Response<()>, Status> {
        run(&self.shared, move |shared| {
            let name = TableName::parse(&request.into_inner().name)?;
            shared.catalog.delete_table(&name, &|change| tell(shared, change))
        })
        .await
    }

    async fn undelete_table(
        &self,
        request: Request<admin::UndeleteTableRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| table::undelete(shared, &request.into_inner())).await
    }

    async fn modify_column_families(
        &self,
        request: Request<admin::ModifyColumnFamiliesRequest>,
    ) -> Result<Response<admin::Table>, Status> {
        run(&self.shared, move |shared| families::modify(shared, &request.into_inner())).await
    }

    async fn drop_row_range(
        &self,
        request: Request<admin::DropRowRangeRequest>,
    ) -> Result<Response<()>, Status> {
        run(&self.shared, move |shared| rows::drop_range(shared, request.into_inner())).await
    }

    async fn generate_consistency_token(
        &self,
        request: Request<admin::GenerateConsistencyTokenRequest>,
    ) -> Result<Response<admin::GenerateConsistencyTokenResponse>, Status> {
        run(&self.shared, move |shared| rows::consistency_token(shared, &request.into_inner())).await
    }

    async fn check_consistency(
        &self,
        request: Request<admin::CheckConsistencyRequest>,
    ) -> Result<Response<admin::CheckConsistencyResponse>, Status> {
        run(&self.shared, move |shared| rows::check_consistency(shared, &request.into_inner())).await
    }

    async fn get_iam_policy(
        &self,
        request: Request<GetIamPolicyRequest>,
    ) -> Result<Response<Policy>, Status> {
        run(&self.shared, move |shared| iam::get(shared, &request.into_inner())).await
    }

    async fn set_iam_policy(
        &self,
        request: Request<SetIamPolicyRequest>,
    ) -> Result<Response<Policy>, Status> {
        run(&self.shared, move |shared| iam::set(shared, request.into_inner())).await
    }

    async fn test_iam_permissions(
        &self,
        request: Request<TestIamPermissionsRequest>,
    ) -> Result<Response<TestIamPermissionsResponse>, Status> {
        run(&self.shared, move |shared| iam::test(shared, request.into_inner())).await
    }
}

/// The engine's name of a table that exists.
///
/// # Errors
///
/// `NOT_FOUND`, and those of the engine.
fn existing(shared: &Shared, name: &TableName) -> Result<(String, rowkey_store::TableConfig), Status> {
    let engine = shared.catalog.resolve(name)?;
    match shared.engine.table_config(&engine) {
        Ok(config) => Ok((engine, config)),
        Err(error) if error.kind() == rowkey_store::ErrorKind::NotFound => Err(catalog::missing(name)),
        Err(error) => Err(status(&error)),
    }
}
