//! `google.longrunning.Operations`: everything is done at once, and its operation can be asked for.

#![expect(dead_code, reason = "its content is the next change")]

use crate::shared::Shared;
use rowkey_proto::longrunning::operations_server::Operations;
use std::sync::Arc;

/// The service.
#[derive(Debug)]
pub(crate) struct OperationsService {
    shared: Arc<Shared>,
}

impl OperationsService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

// What is not here answers UNIMPLEMENTED.
#[tonic::async_trait]
impl Operations for OperationsService {}
