//! `google.bigtable.v2.Bigtable`: reads and writes.

#![expect(dead_code, reason = "its content is the next change")]

use crate::shared::Shared;
use rowkey_proto::data::bigtable_server::Bigtable;
use std::sync::Arc;

/// The service.
#[derive(Debug)]
pub(crate) struct DataService {
    shared: Arc<Shared>,
}

impl DataService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

// What is not here answers UNIMPLEMENTED.
#[tonic::async_trait]
impl Bigtable for DataService {}
