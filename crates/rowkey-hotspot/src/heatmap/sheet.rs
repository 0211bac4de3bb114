//! A view with all that is shown around it: names of keys, findings in their places, nodes, capacity. Pictures and JSON are made of it.

use super::label::{Label, labels};
use super::metric::Metric;
use super::timeline::Axis;
use super::view::View;
use crate::context::Capacity;
use crate::finding::{Advice, Finding};
use crate::report::Redactor;
use crate::rule::Severity;
use rowkey::Codec;
use rowkey_store::tablet;
use std::ops::Range;

/// Nodes that a sheet places its rows on at most.
pub const NODES_MAX: u32 = 1_000;

/// What is shown around a view.
#[derive(Debug, Clone, Default)]
pub struct SheetOptions<'a> {
    /// What stands above: the name of the file or table.
    pub title: String,
    /// Remarks below: what the reader must know about the data.
    pub notes: Vec<String>,
    /// The schema that the keys were made with: names of rows are then fields.
    pub codec: Option<&'a Codec>,
    /// Nodes to place the ranges on, at most 1,000; 0: none.
    pub nodes: u32,
    /// What one node takes. `None`: there are no absolute colours.
    pub capacity: Option<Capacity>,
    /// Operations per second, where the time axis is the order of arrival and the rate is known otherwise.
    pub operations_per_s: Option<f64>,
    /// Findings, drawn where they are.
    pub findings: &'a [Finding],
    /// Shows values, or their classes.
    pub redactor: Redactor,
}

/// A view with its surroundings.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// What stands above.
    pub title: String,
    /// Remarks.
    pub notes: Vec<String>,
    /// The sums.
    pub view: View,
    /// The first key of each row, as shown.
    pub keys: Vec<String>,
    /// A key of each row that occurred, as shown; empty: none did.
    pub examples: Vec<String>,
    /// Where the last row ends, as shown.
    pub end: Option<String>,
    /// Prefixes that rows share, coarse first.
    pub labels: Vec<Vec<Label>>,
    /// Findings.
    pub marks: Vec<Mark>,
    /// Nodes, and the node of each row.
    pub nodes: Option<Nodes>,
    /// What one node takes.
    pub capacity: Option<Capacity>,
    /// Seconds that a column lasts, if known.
    pub column_s: Option<f64>,
}

/// Rows placed on nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// How many there are.
    pub count: u32,
    /// The node of each row, from 0.
    pub of_row: Vec<u32>,
}

/// A finding, and the rows it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The name of its rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, a sentence.
    pub headline: String,
    /// What to do.
    pub advice: Vec<Advice>,
    /// The rows; empty: it is about the whole table.
    pub rows: Vec<Range<usize>>,
}

impl Sheet {
    /// Puts a view and its surroundings together.
    pub fn new(view: View, options: &SheetOptions<'_>) -> Self {
        let redactor = options.redactor;
        let show = |key: &[u8]| redactor.key(key);
        let seconds = match view.axis {
            Axis::Time => Some(millis_as_seconds(view.time_step)),
            Axis::Arrival => options
                .operations_per_s
                .filter(|rate| rate.is_finite() && *rate > 0.0)
                .map(|rate| millis_as_seconds(view.time_step) * 1_000.0 / rate),
        };
        Self {
            title: options.title.clone(),
            notes: options.notes.clone(),
            keys: view.rows.iter().map(|row| show(&row.start)).collect(),
            examples: view
                .rows
                .iter()
                .map(|row| row.example.as_deref().map(show).unwrap_or_default())
                .collect(),
            end: view.end.as_deref().map(show),
            labels: labels(&view, options.codec, redactor),
            marks: options.findings.iter().map(|finding| mark(&view, finding, redactor)).collect(),
            nodes: nodes(&view, options.nodes.min(NODES_MAX)),
            capacity: options.capacity.clone(),
            column_s: seconds,
            view,
        }
    }

    /// Units of a metric that one node takes per second; `None`: not known.
    pub fn capacity_per_s(&self, metric: Metric) -> Option<f64> {
        let capacity = self.capacity.as_ref()?;
        match metric {
            Metric::Writes => Some(capacity.writes_per_s),
            Metric::Reads => Some(capacity.reads_per_s),
            Metric::Rows => Some(capacity.scanned_rows_per_s),
            // A second of a node is a million microseconds.
            Metric::TimeUs => Some(1e6),
            // A write and a scanned row are of about 1 KB.
            Metric::BytesIn => Some(capacity.writes_per_s * 1e3),
            Metric::BytesOut => Some(capacity.scanned_rows_per_s * 1e3),
        }
    }

    /// The sums of each node, `nodes * columns`, node by node; empty if there are no nodes.
    pub fn node_sums(&self, metric: usize) -> Vec<u64> {
        let Some(nodes) = &self.nodes else { return Vec::new() };
        let columns = self.view.columns;
        let mut sums = vec![0; nodes.count as usize * columns];
        for (row, &node) in nodes.of_row.iter().enumerate() {
            for column in 0..columns {
                sums[node as usize * columns + column] += self.view.at(metric, row, column);
            }
        }
        sums
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a width on an axis; 53 bits of milliseconds are 285,000 years"
)]
fn millis_as_seconds(millis: i64) -> f64 {
    millis as f64 / 1_000.0
}

fn mark(view: &View, finding: &Finding, redactor: Redactor) -> Mark {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut places: Vec<Range<usize>> = finding
        .places
        .iter()
        .map(|(start, end)| view.rows_of(start, end.as_deref()))
        .filter(|rows| !rows.is_empty())
        .collect();
    places.sort_by_key(|rows| (rows.start, rows.end));
    for place in places {
        match rows.last_mut().filter(|last| last.end >= place.start) {
            Some(last) => last.end = last.end.max(place.end),
            None => rows.push(place),
        }
    }
    if rows.contains(&(0..view.rows.len())) {
        rows.clear();
    }
    let text = |text: &String| redactor.text(text);
    let advice = finding
        .advice
        .iter()
        .map(|advice| Advice {
            action: text(&advice.action),
            gain: text(&advice.gain),
            cost: text(&advice.cost),
        })
        .collect();
    Mark {
        rule: finding.rule.name(),
        severity: finding.severity,
        headline: text(&finding.headline),
        advice,
        rows,
    }
}

/// Places rows on nodes by their load, as a balancer would that knows all of it: see [`tablet::assign`].
fn nodes(view: &View, count: u32) -> Option<Nodes> {
    if count == 0 {
        return None;
    }
    let mut loads = vec![0_u64; view.rows.len()];
    for (at, metric) in view.metrics.iter().enumerate() {
        if metric.is_load() {
            for (load, sum) in loads.iter_mut().zip(view.row_sums(at)) {
                *load = load.saturating_add(sum);
            }
        }
    }
    let of_row = tablet::assign(&loads, count as usize);
    Some(Nodes {
        count,
        of_row: of_row.into_iter().map(|node| u32::try_from(node).unwrap_or_default()).collect(),
    })
}
