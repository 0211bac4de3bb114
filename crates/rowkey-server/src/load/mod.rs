//! Load recorded by tablet and by key range.

#![expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "its content is the next change")]

use crate::options::Options;
use crate::shared::Shared;
use rowkey_store::wrap::Record;
use rowkey_store::{Engine, Result};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What was recorded.
#[derive(Debug)]
pub(crate) struct Load {}

impl Load {
    /// Reads what was saved in the store.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn open(engine: &Arc<dyn Engine>, options: &Options) -> Result<Self> {
        let _ = (engine, options);
        Ok(Self {})
    }

    /// Takes an operation that has ended. Quick: it runs on the thread of the operation.
    pub(crate) fn observe(&self, record: &Record) {
        let _ = record;
    }

    /// Starts what runs by the clock: splits, placement, saving.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        services: &mut JoinSet<Result<()>>,
        runtime: &Handle,
        stopping: &watch::Receiver<bool>,
    ) {
        let _ = (shared, services, runtime, stopping);
    }

    /// Puts what was recorded into the store.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn save(&self, engine: &dyn Engine) -> Result<()> {
        let _ = engine;
        Ok(())
    }
}
