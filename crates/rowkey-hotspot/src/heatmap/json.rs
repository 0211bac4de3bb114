//! A sheet as JSON, for the page and for scripts. The format is described in `docs/formats/heatmap.md`; it is the same for the page in a
//! file and for a server's answers.

use super::metric::Metric;
use super::series::push_leb128;
use super::sheet::Sheet;
use super::timeline::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::picture::svg;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use std::io::Write as _;

impl Sheet {
    /// The sheet as JSON. Sums are exact.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if the sums cannot be packed, which none makes happen.
    pub fn json(&self) -> Result<Value> {
        let view = &self.view;
        let metrics: Result<Vec<Value>> =
            view.metrics.iter().enumerate().map(|(at, metric)| self.metric_json(at, *metric)).collect();
        let nodes = self.nodes.as_ref().map(|nodes| json!({ "count": nodes.count, "of_row": nodes.of_row }));
        let capacity = self
            .capacity
            .as_ref()
            .map(|capacity| json!({ "name": capacity.name, "source": capacity.source }));
        Ok(json!({
            "type": "heatmap",
            "version": 1,
            "title": self.title,
            "notes": self.notes,
            "axis": match view.axis { Axis::Time => "time", Axis::Arrival => "arrival" },
            "time_start": view.time_start,
            "time_step": view.time_step,
            "columns": view.columns,
            "column_s": self.column_s,
            "rows": view.rows.len(),
            "keys": self.keys,
            "examples": self.examples,
            "end": self.end,
            "metrics": metrics?,
            "labels": self.labels_json(),
            "nodes": nodes,
            "capacity": capacity,
            "findings": self.marks_json(),
        }))
    }

    fn metric_json(&self, at: usize, metric: Metric) -> Result<Value> {
        Ok(json!({
            "name": metric.name(),
            "unit": metric.unit(),
            // As text: a number of JSON has 53 bits in most programs.
            "sum": self.view.sum(at).to_string(),
            "total": self.view.totals[at].to_string(),
            "capacity_per_s": self.capacity_per_s(metric),
            "cells": packed(&self.view.values[at])?,
        }))
    }

    fn labels_json(&self) -> Vec<Vec<Value>> {
        let level = |labels: &Vec<super::Label>| {
            labels
                .iter()
                .map(|label| json!({ "from": label.rows.start, "to": label.rows.end, "text": label.text }))
                .collect()
        };
        self.labels.iter().map(level).collect()
    }

    fn marks_json(&self) -> Vec<Value> {
        let mark = |mark: &super::Mark| {
            let advice: Vec<Value> = mark
                .advice
                .iter()
                .map(|advice| json!({ "action": advice.action, "gain": advice.gain, "cost": advice.cost }))
                .collect();
            let rows: Vec<[usize; 2]> = mark.rows.iter().map(|rows| [rows.start, rows.end]).collect();
            json!({
                "rule": mark.rule,
                "severity": mark.severity.name(),
                "headline": mark.headline,
                "advice": advice,
                "rows": rows,
            })
        };
        self.marks.iter().map(mark).collect()
    }
}

/// Sums as LEB128, packed by zlib, in Base64.
fn packed(cells: &[u64]) -> Result<String> {
    let mut bytes = Vec::with_capacity(cells.len() + 1_024);
    for &cell in cells {
        push_leb128(&mut bytes, cell);
    }
    // The fastest level: a page of a million cells is made in a fraction of a second, and the best level saves a tenth.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(3));
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let packed = packed.map_err(|error| {
        Error::new(ErrorKind::Io, format!("the heatmap cannot be packed: {error}")).with_source(error)
    })?;
    Ok(svg::base64(&packed))
}
