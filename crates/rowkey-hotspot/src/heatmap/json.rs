//! A sheet as JSON, for the page and for scripts. The format is described in `docs/formats/heatmap.md`; it is the same for the page in a
//! file and for a server's answers.

use super::metric::Metric;
use super::series::push_leb128;
use super::sheet::Sheet;
use super::timeline::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::picture::svg;
use crate::report::Json;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;

impl Sheet {
    /// The sheet as JSON. Sums are exact.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if the sums cannot be packed, which none makes happen.
    pub fn json(&self) -> Result<Json> {
        let view = &self.view;
        let metrics: Result<Vec<Json>> =
            view.metrics.iter().enumerate().map(|(at, metric)| self.metric_json(at, *metric)).collect();
        let texts = |texts: &[String]| Json::list(texts.iter().map(|text| text.as_str().into()));
        let nodes = self.nodes.as_ref().map(|nodes| {
            let of_row = Json::list(nodes.of_row.iter().map(|&node| node.into()));
            Json::Object(vec![("count", nodes.count.into()), ("of_row", of_row)])
        });
        let capacity = self.capacity.as_ref().map(|capacity| {
            Json::Object(vec![
                ("name", capacity.name.as_str().into()),
                ("source", capacity.source.as_str().into()),
            ])
        });
        let axis = match view.axis {
            Axis::Time => "time",
            Axis::Arrival => "arrival",
        };
        Ok(Json::Object(vec![
            ("type", "heatmap".into()),
            ("version", 1_u32.into()),
            ("title", self.title.as_str().into()),
            ("notes", texts(&self.notes)),
            ("axis", axis.into()),
            ("time_start", view.time_start.into()),
            ("time_step", view.time_step.into()),
            ("columns", view.columns.into()),
            ("column_s", Json::optional(self.column_s)),
            ("rows", view.rows.len().into()),
            ("keys", texts(&self.keys)),
            ("examples", texts(&self.examples)),
            ("end", Json::optional(self.end.as_deref())),
            ("metrics", Json::Array(metrics?)),
            ("labels", self.labels_json()),
            ("nodes", Json::optional(nodes)),
            ("capacity", Json::optional(capacity)),
            ("findings", self.marks_json()),
        ]))
    }

    fn metric_json(&self, at: usize, metric: Metric) -> Result<Json> {
        Ok(Json::Object(vec![
            ("name", metric.name().into()),
            ("unit", metric.unit().into()),
            // As text: a number of JSON has 53 bits in most programs.
            ("sum", self.view.sum(at).to_string().into()),
            ("total", self.view.totals[at].to_string().into()),
            ("capacity_per_s", Json::optional(self.capacity_per_s(metric))),
            ("cells", packed(&self.view.values[at])?.into()),
        ]))
    }

    fn labels_json(&self) -> Json {
        let label = |label: &super::Label| {
            Json::Object(vec![
                ("from", label.rows.start.into()),
                ("to", label.rows.end.into()),
                ("text", label.text.as_str().into()),
            ])
        };
        Json::list(self.labels.iter().map(|level| Json::list(level.iter().map(label))))
    }

    fn marks_json(&self) -> Json {
        let advice = |advice: &crate::finding::Advice| {
            Json::Object(vec![
                ("action", advice.action.as_str().into()),
                ("gain", advice.gain.as_str().into()),
                ("cost", advice.cost.as_str().into()),
            ])
        };
        Json::list(self.marks.iter().map(|mark| {
            let rows = mark.rows.iter().map(|rows| Json::list([rows.start.into(), rows.end.into()]));
            Json::Object(vec![
                ("rule", mark.rule.into()),
                ("severity", mark.severity.name().into()),
                ("headline", mark.headline.as_str().into()),
                ("advice", Json::list(mark.advice.iter().map(advice))),
                ("rows", Json::list(rows)),
            ])
        }))
    }
}

/// Sums as LEB128, packed by zlib, in Base64.
fn packed(cells: &[u64]) -> Result<String> {
    let mut bytes = Vec::with_capacity(cells.len() + 1_024);
    for &cell in cells {
        push_leb128(&mut bytes, cell);
    }
    // A fast level: a page of a million cells is made in a fraction of a second, and the best level saves a tenth.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(3));
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let packed = packed.map_err(|error| {
        Error::new(ErrorKind::Io, format!("the heatmap cannot be packed: {error}")).with_source(error)
    })?;
    Ok(svg::base64(&packed))
}
