//! What all services share.

use crate::catalog::Catalog;
use crate::load::Load;
use crate::options::Options;
use rowkey_store::Engine;
use std::sync::Arc;

/// One for each server.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The engine; what is done on it is recorded in `load`.
    pub(crate) engine: Arc<dyn Engine>,
    /// Names and resources.
    pub(crate) catalog: Catalog,
    /// What was recorded.
    pub(crate) load: Arc<Load>,
    /// How the server was started.
    pub(crate) options: Options,
}
