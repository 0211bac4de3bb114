//! The map, the busiest keys, the doctor.

use super::failure::Failure;
use super::query::{Pairs, Values};
use super::table::{config, fields, shown};
use super::{App, json};
use crate::load::SheetQuery;
use axum::extract::{Path, State};
use axum::response::Response;
use rowkey_hotspot::heatmap::Metric;
use rowkey_hotspot::report::{self, Json, Redactor, Source};
use rowkey_store::{Error, ErrorKind};
use std::sync::Arc;

/// Rows and columns of a map.
const SIDE_MAX: i64 = 1_000;
/// The newest so many milliseconds at most: a year.
const LAST_MS_MAX: i64 = 366 * 86_400_000;
/// Columns after which no more empty ones are added.
const COLUMNS_MAX: usize = 2_000;

/// `GET /api/tables/T/heatmap`.
pub(super) async fn heatmap(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> Result<Response, Failure> {
    let values = Values::new(pairs, &["from", "to", "last", "start", "end", "rows", "columns", "metric"])?;
    let now = app.now_ms();
    let (mut from, mut to) = (values.time_ms("from")?, values.time_ms("to")?);
    if let Some(last) = values.integer("last", 1..=LAST_MS_MAX)? {
        if from.is_some() || to.is_some() {
            return Err(Failure::invalid("`last` stands for `from` and `to`: give it alone"));
        }
        (from, to) = (Some(now - last), Some(now));
    }
    if from.zip(to).is_some_and(|(from, to)| to <= from) {
        return Err(Failure::invalid("`to` must be later than `from`"));
    }
    let side = |name| -> Result<usize, Failure> {
        let side = values.integer(name, 1..=SIDE_MAX)?.unwrap_or(SIDE_MAX);
        Ok(usize::try_from(side).unwrap_or(1))
    };
    let range = values.range()?;
    let query = SheetQuery {
        from_ms: from,
        to_ms: to,
        start: range.start.to_vec(),
        end: range.end.map(|end| end.to_vec()),
        rows: side("rows")?,
        columns: side("columns")?,
        metrics: values.metric()?.into_iter().collect(),
    };
    let sheet = app.heavy(move |shared| {
        config(shared, &table)?;
        let mut sheet = shared.load.sheet(&table, &query);
        // Time in which nothing happened is a part of the picture.
        sheet.view.extend_to(to.unwrap_or(now).min(now), COLUMNS_MAX);
        let json = sheet.json().map_err(|error| Error::new(ErrorKind::Unavailable, error.to_string()))?;
        Ok(match json {
            Json::Object(mut members) => {
                members.push(("now", now.into()));
                Json::Object(members)
            }
            other => other,
        })
    });
    Ok(json(&sheet.await?))
}

/// `GET /api/tables/T/keys`.
pub(super) async fn keys(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> Result<Response, Failure> {
    let values = Values::new(pairs, &["start", "end", "metric"])?;
    let range = values.range()?;
    // Keys are counted by reads and by writes.
    let metric = match values.metric()?.unwrap_or(Metric::Writes) {
        Metric::Reads | Metric::BytesOut | Metric::Rows => Metric::Reads,
        Metric::Writes | Metric::BytesIn | Metric::TimeUs => Metric::Writes,
    };
    let answer = app.run(move |shared| {
        config(shared, &table)?;
        let codec = shared.load.schema(&table);
        let found = shared.load.hot_keys(&table, &range, metric);
        let keys = found.keys.iter().map(|hot| {
            Json::Object(vec![
                ("key", shown(&hot.key)),
                ("fields", Json::optional(codec.as_ref().and_then(|codec| fields(codec, &hot.key)))),
                ("count", hot.count.into()),
                ("error_max", hot.error_max.into()),
            ])
        });
        Ok(Json::Object(vec![
            ("type", "keys".into()),
            ("version", 1_u32.into()),
            ("table", table.as_str().into()),
            ("metric", metric.name().into()),
            ("since", found.since_ms.into()),
            ("operations", found.operations.into()),
            ("unlisted_max", found.unlisted_max.into()),
            ("keys", Json::list(keys)),
        ]))
    });
    Ok(json(&answer.await?))
}

/// `GET /api/tables/T/doctor`.
pub(super) async fn doctor(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let answer = app.heavy(move |shared| {
        config(shared, &table)?;
        let diagnosis = shared.load.diagnosis(&table).ok_or_else(|| {
            let message = "nothing was read or written in the last 15 minutes, or since the server was started: there is nothing \
                           to examine";
            Error::new(ErrorKind::NotFound, message)
        })?;
        let source = Source {
            input: Some(format!("table {table}, the last 15 minutes")),
            operations: diagnosis.facts.counts.writes + diagnosis.facts.counts.reads,
            ..Source::default()
        };
        Ok(report::json(&diagnosis, &source, Redactor::new(false)))
    });
    Ok(json(&answer.await?))
}
