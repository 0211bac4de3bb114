//! Names and resources: which table of the engine a resource name means, and instances, clusters and app profiles.

#![expect(clippy::unnecessary_wraps, reason = "its content is the next change")]

use crate::options::Options;
use rowkey_store::{Engine, Result};
use std::sync::Arc;

/// The catalog of one store.
#[derive(Debug)]
pub(crate) struct Catalog {}

impl Catalog {
    /// Reads the catalog from the store.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn open(engine: &Arc<dyn Engine>, options: &Options) -> Result<Self> {
        let _ = (engine, options);
        Ok(Self {})
    }
}
