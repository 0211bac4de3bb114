//! `google.bigtable.admin.v2.BigtableInstanceAdmin`.

#![expect(dead_code, reason = "its content is the next change")]

use crate::shared::Shared;
use rowkey_proto::admin::bigtable_instance_admin_server::BigtableInstanceAdmin;
use std::sync::Arc;

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

// What is not here answers UNIMPLEMENTED.
#[tonic::async_trait]
impl BigtableInstanceAdmin for InstanceAdminService {}
