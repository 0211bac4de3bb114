//! `/metrics`: what the server, its load and its store count, in the text format of Prometheus (`OpenMetrics`). The names are listed in
//! `docs/server.md`.

use crate::load::{LATENCY_BOUNDS_US, Metrics, Sums};
use crate::shared::Shared;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use rowkey_store::escape::escaped;
use rowkey_store::{Engine as _, Statistics};
use std::fmt;

/// The media type of [`render`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics as they are now. Reads no table; not for async threads.
pub(crate) fn render(shared: &Shared) -> String {
    // An engine without statistics has none to show.
    let numbers = Numbers { load: shared.load.metrics(), store: shared.engine.statistics().ok() };
    let mut registry = Registry::with_prefix("rowkey");
    registry.register_collector(Box::new(numbers));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

/// Which of the sums a metric has.
type Counted = fn(&Sums) -> u64;

#[derive(Debug)]
struct Numbers {
    load: Metrics,
    store: Option<Statistics>,
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        operations(&self.load, &mut encoder)?;
        nodes(&self.load, &mut encoder)?;
        tablets(&self.load, &mut encoder)?;
        recording(&self.load, &mut encoder)?;
        self.store.as_ref().map_or(Ok(()), |store| statistics(store, &mut encoder))
    }
}

fn operations(load: &Metrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Operations on rows and tables by kind and outcome, and how long the store took for them";
    let mut metric =
        encoder.encode_descriptor("operation_duration", help, Some(&Unit::Seconds), MetricType::Histogram)?;
    for latencies in &load.operations {
        let labels = [("kind", latencies.kind), ("outcome", latencies.outcome)];
        let bounds = LATENCY_BOUNDS_US.iter().map(|&bound| seconds(bound)).chain([f64::MAX]);
        let buckets: Vec<(f64, u64)> = bounds.zip(latencies.buckets).collect();
        let (sum, count) = (seconds(latencies.sum_us), latencies.count);
        metric.encode_family(&labels)?.encode_histogram::<[(&str, &str); 0]>(sum, count, &buckets, None)?;
    }
    Ok(())
}

fn nodes(load: &Metrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Share of a virtual node's capacity that the last minute took; above 1 it would be overloaded";
    let mut metric = encoder.encode_descriptor("node_load", help, Some(&Unit::Ratios), MetricType::Gauge)?;
    for node in &load.nodes {
        gauge(&mut metric, &[("node", node.node.to_string())], &node.share)?;
    }
    let mut metric =
        encoder.encode_descriptor("node_tablets", "Tablets on a virtual node", None, MetricType::Gauge)?;
    for node in &load.nodes {
        gauge(&mut metric, &[("node", node.node.to_string())], &node.tablets)?;
    }
    Ok(())
}

/// One metric for each of what is counted of a tablet.
fn tablets(load: &Metrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let labels = |at: usize| {
        let (table, tablet) = &load.tablets[at];
        // The encoder writes labels as they are; the format wants these two escaped.
        let start = escaped(&tablet.range.start).to_string().replace('\\', "\\\\").replace('"', "\\\"");
        [("table", table.clone()), ("start_key", start), ("node", tablet.node.to_string())]
    };
    let help = "Share of one node's capacity that a tablet took in the last minute";
    let mut metric =
        encoder.encode_descriptor("tablet_load", help, Some(&Unit::Ratios), MetricType::Gauge)?;
    for (at, (_, tablet)) in load.tablets.iter().enumerate() {
        gauge(&mut metric, &labels(at), &tablet.node_share)?;
    }
    let counted: [(&str, &str, Counted); 5] = [
        ("tablet_writes", "Rows written or deleted in a tablet", |sums| sums.writes),
        ("tablet_reads", "Point reads of a tablet, and ranges that were scanned in it", |sums| sums.reads),
        ("tablet_rows_read", "Rows returned from a tablet", |sums| sums.rows),
        ("tablet_written_bytes", "Bytes of keys and values written to a tablet", |sums| sums.bytes_in),
        ("tablet_read_bytes", "Bytes of keys and values returned from a tablet", |sums| sums.bytes_out),
    ];
    for (name, help, value) in counted {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (at, (_, tablet)) in load.tablets.iter().enumerate() {
            let labels = labels(at);
            let mut one = metric.encode_family(&labels)?;
            one.encode_counter::<[(&str, &str); 0], u64, f64>(&value(&tablet.totals), None)?;
        }
    }
    Ok(())
}

fn recording(load: &Metrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let gauges = [
        ("recorded_tables", "Tables whose load is recorded", load.tables as u64),
        ("recorded_bytes", "Memory that recorded load takes, about", load.memory_bytes as u64),
    ];
    let counters = [
        ("tablet_splits", "Tablets cut because of their load", load.splits),
        ("tablet_split_failures", "Cuts that the store refused", load.split_failures),
        ("tablet_moves", "Tablets moved to another virtual node", load.moves),
        ("recorded_tables_shrunk", "Tables whose map was given up for room", load.tables_shrunk),
        ("recorded_saves", "Rows of recorded load written to the store", load.saves),
        ("recorded_save_failures", "Times that recorded load could not be written", load.save_failures),
        ("recorded_rows_skipped", "Rows of recorded load that could not be read", load.rows_skipped),
    ];
    all(&gauges, &counters, encoder)
}

fn statistics(store: &Statistics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let gauges = [
        ("store_tables", "Tables, those of the server included", store.tables),
        ("store_tablets", "Tablets of all tables", store.tablets),
        ("store_disk_bytes", "Bytes of all files", store.disk_bytes),
        ("store_log_bytes", "Bytes of the log, which opening after a crash replays", store.log_bytes),
        ("store_memtable_bytes", "Bytes of writes in memory", store.memtable_bytes),
        ("store_files", "Files", store.files),
        ("store_block_cache_bytes", "Bytes of blocks kept for reads", store.block_cache_bytes),
        ("store_block_cache_limit_bytes", "Bytes that those may take", store.block_cache_bytes_max),
        ("store_flushes_waiting", "Memtables that wait to become files", store.flushes_waiting),
        ("store_compactions_running", "Merges of files that run now", store.compactions_running),
    ];
    let counters = [
        ("store_compactions", "Merges of files that ended", store.compactions_done),
        ("store_cells_collected", "Cells that garbage collection took", store.cells_collected),
        (
            "store_damaged_fragments",
            "Stored pieces that could not be read, and were kept",
            store.damaged_fragments,
        ),
    ];
    all(&gauges, &counters, encoder)?;
    let help = "Time that merges of files took";
    let mut metric =
        encoder.encode_descriptor("store_compaction", help, Some(&Unit::Seconds), MetricType::Counter)?;
    metric.encode_counter::<[(&str, &str); 0], f64, f64>(&store.compaction_time.as_secs_f64(), None)?;
    // Nobody has looked: no number is better than a wrong one.
    store.garbage_cells.map_or(Ok(()), |cells| {
        all(
            &[("store_garbage_cells", "Cells that garbage collection could take, estimated", cells)],
            &[],
            encoder,
        )
    })
}

/// Plain numbers, each of its own name.
fn all(
    gauges: &[(&str, &str, u64)],
    counters: &[(&str, &str, u64)],
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    for (name, help, value) in gauges {
        encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(value)?;
    }
    for (name, help, value) in counters {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        metric.encode_counter::<[(&str, &str); 0], u64, f64>(value, None)?;
    }
    Ok(())
}

fn gauge(
    metric: &mut MetricEncoder<'_>,
    labels: &impl EncodeLabelSet,
    value: &impl EncodeGaugeValue,
) -> fmt::Result {
    metric.encode_family(labels)?.encode_gauge(value)
}

#[expect(clippy::cast_precision_loss, reason = "a time of more than 285 years is rounded")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Latencies, NodeLoad, TabletLoad};
    use rowkey_store::RowRange;

    fn text(load: Metrics, store: Option<Statistics>) -> String {
        let mut registry = Registry::with_prefix("rowkey");
        registry.register_collector(Box::new(Numbers { load, store }));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    }

    #[test]
    fn every_number_is_there_with_its_labels() {
        let mut buckets = [0; LATENCY_BOUNDS_US.len() + 1];
        buckets[0] = 3;
        buckets[LATENCY_BOUNDS_US.len()] = 1;
        let latencies = Latencies { kind: "read", outcome: "ok", count: 4, sum_us: 1_500_000, buckets };
        let totals = Sums { writes: 7, bytes_in: 70, ..Sums::default() };
        let tablet = TabletLoad {
            range: RowRange { start: b"a\x00\"".as_slice().to_vec().into(), end: None },
            node: 1,
            minute: Sums::default(),
            totals,
            node_share: 0.25,
            state: crate::load::TabletState::default(),
        };
        let node = NodeLoad { node: 1, tablets: 2, minute: Sums::default(), share: 0.5 };
        let load = Metrics {
            operations: vec![latencies],
            nodes: vec![node],
            tablets: vec![("t".to_owned(), tablet)],
            splits: 5,
            ..Metrics::default()
        };
        let store = Statistics { disk_bytes: 123, garbage_cells: Some(9), ..Statistics::default() };
        let text = text(load, Some(store));
        for line in [
            "rowkey_operation_duration_seconds_sum{kind=\"read\",outcome=\"ok\"} 1.5",
            "rowkey_operation_duration_seconds_count{kind=\"read\",outcome=\"ok\"} 4",
            "rowkey_operation_duration_seconds_bucket{le=\"0.0001\",kind=\"read\",outcome=\"ok\"} 3",
            "rowkey_operation_duration_seconds_bucket{le=\"+Inf\",kind=\"read\",outcome=\"ok\"} 4",
            "rowkey_node_load_ratios{node=\"1\"} 0.5",
            "rowkey_node_tablets{node=\"1\"} 2",
            "rowkey_tablet_load_ratios{table=\"t\",start_key=\"a\\\\x00\\\"\",node=\"1\"} 0.25",
            "rowkey_tablet_writes_total{table=\"t\",start_key=\"a\\\\x00\\\"\",node=\"1\"} 7",
            "rowkey_tablet_splits_total 5",
            "rowkey_store_disk_bytes 123",
            "rowkey_store_garbage_cells 9",
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in:\n{text}");
        }
    }

    #[test]
    fn what_nobody_knows_is_left_out() {
        let text = text(Metrics::default(), Some(Statistics::default()));
        assert!(text.contains("rowkey_store_disk_bytes 0"));
        assert!(!text.contains("garbage_cells"), "{text}");
    }
}
