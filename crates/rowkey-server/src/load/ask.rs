//! Answers: everything that was observed before a question is in its answer.

use super::answer::{HotKeys, HotTablet, Metrics, NodeLoad, SheetQuery, Sums, TableLoad, TabletLoad};
use super::hot::{MINUTE_MS, percent};
use super::table::Table;
use super::{Load, split};
use crate::catalog::SYSTEM_TABLE;
use crate::lock::lock;
use rowkey::Codec;
use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
use rowkey_hotspot::heatmap::{Config, Matrix, Metric, Nodes, Sheet, SheetOptions, ViewSpec};
use rowkey_hotspot::{Context, Diagnosis};
use rowkey_store::RowRange;
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A diagnosis is asked for anew after so long.
const DIAGNOSIS_MS: i64 = 30_000;
/// Tablets that metrics list.
const METRIC_TABLETS_MAX: usize = 1_000;
/// Rows and columns of a sheet at most.
const SHEET_MAX: usize = 1_000;

impl Load {
    /// Tables of which something was recorded, by name; not those that were deleted and can be had back, which are the server's own.
    pub(crate) fn tables(&self) -> Vec<TableLoad> {
        self.fold();
        let now_ms = self.now_ms();
        let of = |(name, table): (String, Arc<std::sync::Mutex<Table>>)| {
            let table = lock(&table);
            let mut minute = Sums::default();
            for tablet in table.tablets.all() {
                minute.add(&tablet.recent.minute(now_ms));
            }
            TableLoad {
                table: name,
                tablets: table.tablets.count(),
                totals: table.totals,
                minute,
                last_ms: table.last_ms,
            }
        };
        self.all().into_iter().filter(|(name, _)| !name.starts_with(SYSTEM_TABLE)).map(of).collect()
    }

    /// The tablets of a table, ascending, without gaps; empty if nothing was recorded of it.
    pub(crate) fn tablets(&self, table: &str) -> Vec<TabletLoad> {
        self.fold();
        let Some(table) = self.known(table) else { return Vec::new() };
        tablets(&lock(&table), self.now_ms())
    }

    /// All virtual nodes.
    pub(crate) fn nodes(&self) -> Vec<NodeLoad> {
        self.fold();
        let now_ms = self.now_ms();
        let empty = |node| NodeLoad { node, tablets: 0, minute: Sums::default(), share: 0.0 };
        let mut nodes: Vec<NodeLoad> = (0..self.settings.nodes).map(empty).collect();
        for (_, table) in self.all() {
            for tablet in lock(&table).tablets.all() {
                if let Some(node) = nodes.get_mut(tablet.node as usize) {
                    node.tablets += 1;
                    node.minute.add(&tablet.recent.minute(now_ms));
                }
            }
        }
        for node in &mut nodes {
            node.share = percent(node.minute.work_ns, MINUTE_MS) / 100.0;
        }
        nodes
    }

    /// Tablets that took at least 1 % of a node in some minute that begins in `from_ms..to_ms`, hottest first: at most one for each
    /// tablet and quarter of an hour, with its hottest minute, for at most 14 days back.
    pub(crate) fn hot_tablets(&self, table: &str, from_ms: i64, to_ms: i64) -> Vec<HotTablet> {
        self.fold();
        let Some(table) = self.known(table) else { return Vec::new() };
        let now_ms = self.now_ms();
        let table = lock(&table);
        // The last 60 seconds count as a minute, so that what begins to be hot is seen at once.
        let mut log = table.hot.clone();
        for (at, tablet) in table.tablets.all().iter().enumerate() {
            let work_ns = tablet.recent.minute(now_ms).work_ns;
            log.note(&table.tablets.range(at), tablet.node, now_ms - MINUTE_MS, now_ms, work_ns);
        }
        log.list(from_ms, to_ms)
    }

    /// The map of a table, with labels, the findings of [`Load::diagnosis`] at their places, and the nodes that serve its rows now.
    /// A table of which nothing was recorded has a map without columns. Takes up to some 100 ms, and a few seconds when the doctor looks
    /// anew: not for async threads.
    pub(crate) fn sheet(&self, table: &str, query: &SheetQuery) -> Sheet {
        let diagnosis = self.diagnosis(table);
        let schema = self.schema(table);
        let spec = ViewSpec {
            rows_max: query.rows.clamp(1, SHEET_MAX),
            columns_max: query.columns.clamp(1, SHEET_MAX),
            from: query.from_ms,
            to: query.to_ms,
            start: query.start.clone(),
            end: query.end.clone(),
            metrics: query.metrics.clone(),
        };
        let known = self.known(table);
        let known = known.as_ref().map(|table| lock(table));
        let detail = known.as_ref().and_then(|table| table.detail.as_ref());
        let view = match detail {
            Some(detail) => detail.matrix.view(&spec),
            None => Matrix::new(Config::live()).view(&spec),
        };
        let node_of = known.as_ref().map_or_else(Vec::new, |table| {
            let node = |key: &[u8]| table.tablets.all()[table.tablets.find(key)].node;
            view.rows.iter().map(|row| node(row.example.as_deref().unwrap_or(&row.start))).collect()
        });
        let given_up = known.is_some() && detail.is_none();
        drop(known);
        let mut notes = Vec::new();
        if given_up {
            notes.push("the map of this table was given up for room; its totals are kept".to_owned());
        }
        let options = SheetOptions {
            title: table.to_owned(),
            notes,
            codec: schema.as_ref(),
            nodes: 0,
            capacity: Some(self.settings.capacity.clone()),
            operations_per_s: None,
            findings: diagnosis.as_ref().map_or(&[], |diagnosis| &diagnosis.findings),
            ..SheetOptions::default()
        };
        let mut sheet = Sheet::new(view, &options);
        if !node_of.is_empty() {
            sheet.nodes = Some(Nodes { count: self.settings.nodes, of_row: node_of });
        }
        sheet
    }

    /// What the doctor says about the operations of the last 15 minutes (the first of each minute, where there were many), judged for as
    /// many nodes as the server has. At most a minute old. `None`: no operation was recorded in that time. Takes up to some seconds: not
    /// for async threads.
    pub(crate) fn diagnosis(&self, table: &str) -> Option<Arc<Diagnosis>> {
        self.fold();
        let schema = self.schema(table);
        let record = self.known(table)?;
        let now_ms = self.now_ms();
        let sample = {
            let mut table = lock(&record);
            if let Some((asked_ms, diagnosis)) = &mut table.diagnosis {
                if (0..DIAGNOSIS_MS).contains(&now_ms.saturating_sub(*asked_ms)) {
                    return Some(Arc::clone(diagnosis));
                }
                // Who asks meanwhile gets the old one.
                *asked_ms = now_ms;
            }
            let detail = table.detail.as_mut()?;
            detail.sample.forget(now_ms.div_euclid(MINUTE_MS));
            detail.sample.clone()
        };
        if sample.len() == 0 {
            return None;
        }
        let context = Context {
            nodes: self.settings.nodes,
            capacity: self.settings.capacity.clone(),
            ..Context::default()
        };
        let mut doctor = Doctor::new(DoctorOptions { context, schema, seed: 1 });
        for operation in sample.operations() {
            doctor.observe(&operation);
        }
        let diagnosis = Arc::new(doctor.finish());
        lock(&record).diagnosis = Some((now_ms, Arc::clone(&diagnosis)));
        Some(diagnosis)
    }

    /// The keys of a range that are read (`Metric::Reads`, `Metric::Rows`, `Metric::BytesOut`) or written (any other metric) most.
    pub(crate) fn hot_keys(&self, table: &str, range: &RowRange, metric: Metric) -> HotKeys {
        self.fold();
        let Some(table) = self.known(table) else { return HotKeys::default() };
        let now_ms = self.now_ms();
        let table = lock(&table);
        let Some(detail) = &table.detail else { return HotKeys::default() };
        match metric {
            Metric::Reads | Metric::Rows | Metric::BytesOut => detail.read.list(now_ms, range),
            Metric::Writes | Metric::BytesIn | Metric::TimeUs => detail.written.list(now_ms, range),
        }
    }

    /// The key schema of a table: the one that it was made with, else the one given at the start or by [`Load::set_schema`].
    pub(crate) fn schema(&self, table: &str) -> Option<Codec> {
        let kept = self.known(table).and_then(|table| lock(&table).kept_schema.clone());
        kept.or_else(|| lock(&self.given).get(table).cloned())
    }

    /// Reads the keys of a table by this schema, until the server stops; `None`: by the one that is kept with the table, if any.
    pub(crate) fn set_schema(&self, table: &str, schema: Option<Codec>) {
        match schema {
            Some(schema) => drop(lock(&self.given).insert(table.to_owned(), schema)),
            None => drop(lock(&self.given).remove(table)),
        }
        if let Some(table) = self.known(table) {
            lock(&table).diagnosis = None;
        }
    }

    /// Plain numbers.
    pub(crate) fn metrics(&self) -> Metrics {
        let nodes = self.nodes();
        let now_ms = self.now_ms();
        let mut all = Vec::new();
        let tables: Vec<_> =
            self.all().into_iter().filter(|(name, _)| !name.starts_with(SYSTEM_TABLE)).collect();
        for (name, table) in &tables {
            all.extend(tablets(&lock(table), now_ms).into_iter().map(|tablet| (name.clone(), tablet)));
        }
        all.sort_by_key(|(_, tablet)| Reverse(tablet.minute.work_ns));
        all.truncate(METRIC_TABLETS_MAX);
        all.sort_by(|a, b| (&a.0, &a.1.range.start).cmp(&(&b.0, &b.1.range.start)));
        let counters = *lock(&self.counters);
        Metrics {
            operations: lock(&self.statistics).all(),
            nodes,
            tablets: all,
            tables: tables.len(),
            splits: counters.splits,
            split_failures: counters.split_failures,
            moves: counters.moves,
            memory_bytes: self.memory_bytes.load(Ordering::Relaxed) + self.buffers.bytes(),
            tables_shrunk: counters.tables_shrunk,
            saves: counters.saves,
            save_failures: counters.save_failures,
            rows_skipped: counters.rows_skipped,
        }
    }
}

fn tablets(table: &Table, now_ms: i64) -> Vec<TabletLoad> {
    let of = |(at, tablet): (usize, &super::tablets::Tablet)| TabletLoad {
        range: table.tablets.range(at),
        node: tablet.node,
        minute: tablet.recent.minute(now_ms),
        totals: tablet.totals,
        node_share: split::share(tablet, now_ms),
        state: tablet.state,
    };
    table.tablets.all().iter().enumerate().map(of).collect()
}
