//! `google.bigtable.admin.v2.BigtableTableAdmin`.

#![expect(dead_code, reason = "its content is the next change")]

use crate::shared::Shared;
use rowkey_proto::admin::bigtable_table_admin_server::BigtableTableAdmin;
use std::sync::Arc;

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

// What is not here answers UNIMPLEMENTED.
#[tonic::async_trait]
impl BigtableTableAdmin for TableAdminService {}
