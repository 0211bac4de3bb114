//! `google.bigtable.admin.v2.BigtableInstanceAdmin`: what people name their instances, clusters and app profiles. It is kept and shown; one
//! process serves everything.
//!
//! What is not here answers UNIMPLEMENTED: logical and materialized views.

mod app_profiles;
mod clusters;
mod hot_tablets;
mod instances;

use super::iam;
use super::table_admin::run;
use crate::shared::Shared;
use rowkey_proto::admin;
use rowkey_proto::admin::bigtable_instance_admin_server::BigtableInstanceAdmin;
use rowkey_proto::iam::{
    GetIamPolicyRequest, Policy, SetIamPolicyRequest, TestIamPermissionsRequest, TestIamPermissionsResponse,
};
use rowkey_proto::longrunning::Operation;
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub(crate) struct InstanceAdminService {
    shared: Arc<Shared>,
}

impl InstanceAdminService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

#[tonic::async_trait]
impl BigtableInstanceAdmin for InstanceAdminService {
    async fn create_instance(
        &self,
        request: Request<admin::CreateInstanceRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| instances::create(shared, request.into_inner())).await
    }

    async fn get_instance(
        &self,
        request: Request<admin::GetInstanceRequest>,
    ) -> Result<Response<admin::Instance>, Status> {
        run(&self.shared, move |shared| instances::get(shared, &request.into_inner())).await
    }

    async fn list_instances(
        &self,
        request: Request<admin::ListInstancesRequest>,
    ) -> Result<Response<admin::ListInstancesResponse>, Status> {
        run(&self.shared, move |shared| instances::list(shared, &request.into_inner())).await
    }

    async fn update_instance(
        &self,
        request: Request<admin::Instance>,
    ) -> Result<Response<admin::Instance>, Status> {
        run(&self.shared, move |shared| instances::update(shared, &request.into_inner())).await
    }

    async fn partial_update_instance(
        &self,
        request: Request<admin::PartialUpdateInstanceRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| instances::partial_update(shared, request.into_inner())).await
    }

    async fn delete_instance(
        &self,
        request: Request<admin::DeleteInstanceRequest>,
    ) -> Result<Response<()>, Status> {
        run(&self.shared, move |shared| instances::delete(shared, &request.into_inner())).await
    }

    async fn create_cluster(
        &self,
        request: Request<admin::CreateClusterRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| clusters::create(shared, request.into_inner())).await
    }

    async fn get_cluster(
        &self,
        request: Request<admin::GetClusterRequest>,
    ) -> Result<Response<admin::Cluster>, Status> {
        run(&self.shared, move |shared| clusters::get(shared, &request.into_inner())).await
    }

    async fn list_clusters(
        &self,
        request: Request<admin::ListClustersRequest>,
    ) -> Result<Response<admin::ListClustersResponse>, Status> {
        run(&self.shared, move |shared| clusters::list(shared, &request.into_inner())).await
    }

    async fn update_cluster(&self, request: Request<admin::Cluster>) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| clusters::update(shared, request.into_inner())).await
    }

    async fn partial_update_cluster(
        &self,
        request: Request<admin::PartialUpdateClusterRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| clusters::partial_update(shared, request.into_inner())).await
    }

    async fn delete_cluster(
        &self,
        request: Request<admin::DeleteClusterRequest>,
    ) -> Result<Response<()>, Status> {
        run(&self.shared, move |shared| clusters::delete(shared, &request.into_inner())).await
    }

    async fn create_app_profile(
        &self,
        request: Request<admin::CreateAppProfileRequest>,
    ) -> Result<Response<admin::AppProfile>, Status> {
        run(&self.shared, move |shared| app_profiles::create(shared, request.into_inner())).await
    }

    async fn get_app_profile(
        &self,
        request: Request<admin::GetAppProfileRequest>,
    ) -> Result<Response<admin::AppProfile>, Status> {
        run(&self.shared, move |shared| app_profiles::get(shared, &request.into_inner())).await
    }

    async fn list_app_profiles(
        &self,
        request: Request<admin::ListAppProfilesRequest>,
    ) -> Result<Response<admin::ListAppProfilesResponse>, Status> {
        run(&self.shared, move |shared| app_profiles::list(shared, &request.into_inner())).await
    }

    async fn update_app_profile(
        &self,
        request: Request<admin::UpdateAppProfileRequest>,
    ) -> Result<Response<Operation>, Status> {
        run(&self.shared, move |shared| app_profiles::update(shared, request.into_inner())).await
    }

    async fn delete_app_profile(
        &self,
        request: Request<admin::DeleteAppProfileRequest>,
    ) -> Result<Response<()>, Status> {
        run(&self.shared, move |shared| app_profiles::delete(shared, &request.into_inner())).await
    }

    async fn list_hot_tablets(
        &self,
        request: Request<admin::ListHotTabletsRequest>,
    ) -> Result<Response<admin::ListHotTabletsResponse>, Status> {
        run(&self.shared, move |shared| hot_tablets::list(shared, &request.into_inner())).await
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
