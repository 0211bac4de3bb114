//! Load recorded by tablet and by key range, in bounded memory, kept with the store.
//!
//! Engine names of tables everywhere: see [`crate::catalog::Catalog`]. The server's own tables (`_rowkey...`) are not recorded.

#![expect(
    dead_code,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "its content and its callers are the next changes"
)]

mod answer;

#[expect(unused_imports, reason = "the page and the services use them next")]
pub(crate) use answer::{
    HotKey, HotKeys, HotTablet, LATENCY_BOUNDS_US, Latencies, Metrics, NodeLoad, SheetQuery, Sums, TableLoad,
    TabletLoad, TabletState,
};

use crate::options::Options;
use crate::shared::Shared;
use rowkey::Codec;
use rowkey_hotspot::Diagnosis;
use rowkey_hotspot::heatmap::{Config, Matrix, Metric, Sheet, SheetOptions, ViewSpec};
use rowkey_store::wrap::Record;
use rowkey_store::{Engine, Result, RowRange};
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

    /// Puts what was recorded into the store. For the end of a server; while it runs, that is done every minute.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn save(&self, engine: &dyn Engine) -> Result<()> {
        let _ = engine;
        Ok(())
    }

    /// Tables of which something was recorded, by name.
    pub(crate) fn tables(&self) -> Vec<TableLoad> {
        Vec::new()
    }

    /// The tablets of a table, ascending, without gaps; empty if nothing was recorded of it.
    pub(crate) fn tablets(&self, table: &str) -> Vec<TabletLoad> {
        let _ = table;
        Vec::new()
    }

    /// All virtual nodes.
    pub(crate) fn nodes(&self) -> Vec<NodeLoad> {
        Vec::new()
    }

    /// Tablets that took at least 1 % of a node in some minute that begins in `from_ms..to_ms`, hottest first: at most one for each
    /// tablet and quarter of an hour, for at most 14 days back.
    pub(crate) fn hot_tablets(&self, table: &str, from_ms: i64, to_ms: i64) -> Vec<HotTablet> {
        let _ = (table, from_ms, to_ms);
        Vec::new()
    }

    /// The map of a table, with labels, the findings of [`Load::diagnosis`] at their places, and the nodes that serve its rows now.
    /// A table of which nothing was recorded has a map without columns. Takes up to some 100 ms: not for async threads.
    pub(crate) fn sheet(&self, table: &str, query: &SheetQuery) -> Sheet {
        let spec = ViewSpec {
            rows_max: query.rows.clamp(1, 1_000),
            columns_max: query.columns.clamp(1, 1_000),
            from: query.from_ms,
            to: query.to_ms,
            start: query.start.clone(),
            end: query.end.clone(),
            metrics: query.metrics.clone(),
        };
        let options = SheetOptions { title: table.to_owned(), ..SheetOptions::default() };
        Sheet::new(Matrix::new(Config::live()).view(&spec), &options)
    }

    /// What the doctor says about the operations of the last 15 minutes (a sample of those, where there were many), judged for as many
    /// nodes as the server has. At most 30 seconds old. `None`: no operation was recorded in that time. Takes up to some seconds: not for
    /// async threads.
    pub(crate) fn diagnosis(&self, table: &str) -> Option<Arc<Diagnosis>> {
        let _ = table;
        None
    }

    /// The keys of a range that are read (`Metric::Reads`) or written (any other metric) most.
    pub(crate) fn hot_keys(&self, table: &str, range: &RowRange, metric: Metric) -> HotKeys {
        let _ = (table, range, metric);
        HotKeys::default()
    }

    /// The key schema of a table: the one given by [`Load::set_schema`], else the one that is kept with the table.
    pub(crate) fn schema(&self, table: &str) -> Option<Codec> {
        let _ = table;
        None
    }

    /// Reads the keys of a table by this schema, until the server stops; `None`: by the one that is kept with the table, if any.
    pub(crate) fn set_schema(&self, table: &str, schema: Option<Codec>) {
        let _ = (table, schema);
    }

    /// To be called when a table has got another name: its record goes with it.
    pub(crate) fn renamed(&self, from: &str, to: &str) {
        let _ = (from, to);
    }

    /// To be called when a table was dropped: its record is given up.
    pub(crate) fn dropped(&self, table: &str) {
        let _ = table;
    }

    /// Plain numbers.
    pub(crate) fn metrics(&self) -> Metrics {
        Metrics::default()
    }
}
