//! Key schemas that are given for looking at a table: its keys are then shown as fields. The table does not change.
//!
//! A schema that was given is kept in an annotation of the table, beside the one of a table that was made from a schema, which goes first.

use super::action::{Body, body};
use super::failure::Failure;
use super::query::{Pairs, Values};
use super::table::config;
use super::{App, json as answer_json};
use crate::load::SheetQuery;
use crate::shared::Shared;
use axum::extract::{Path, State};
use axum::response::Response;
use rowkey::{Codec, KeySchema, escape};
use rowkey_hotspot::heatmap::Metric;
use rowkey_hotspot::report::Json;
use rowkey_store::{Error, ErrorKind, Result, RowRange, TableConfig};
use rowkey_table::SCHEMA_ANNOTATION;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The annotation that holds a schema which is only looked through.
const VIEW_ANNOTATION: &str = "rowkey.view_schema";

/// Gives the load the schemas that were kept. What cannot be read is left out: the page says then that there is none.
pub(super) async fn restore(app: &App) {
    let restored = app.run(|shared| {
        for table in shared.engine.list_tables()? {
            let Ok(config) = shared.engine.table_config(&table) else { continue };
            let kept =
                config.annotations.get(VIEW_ANNOTATION).and_then(|text| std::str::from_utf8(text).ok());
            if config.annotations.contains_key(SCHEMA_ANNOTATION) {
                continue;
            }
            if let Some(codec) = kept.and_then(|text| codec(text).ok()) {
                shared.load.set_schema(&table, Some(codec));
            }
        }
        Ok(())
    });
    if let Err(failure) = restored.await {
        tracing::warn!(error = failure.message, "kept key schemas cannot be read");
    }
}

fn codec(text: &str) -> rowkey::Result<Codec> {
    KeySchema::parse(text).and_then(Codec::new)
}

/// The schema of a table for its design; null if there is none.
pub(super) fn json(shared: &Shared, table: &str, config: &TableConfig) -> Json {
    let schema = |codec: Codec| {
        let source = if config.annotations.contains_key(SCHEMA_ANNOTATION) { "table" } else { "given" };
        Json::Object(vec![
            ("source", source.into()),
            ("layout", codec.schema().layout().into()),
            ("fingerprint", codec.schema().fingerprint().to_string().into()),
            ("toml", codec.schema().to_toml().into()),
        ])
    };
    Json::optional(shared.load.schema(table).map(schema))
}

/// `PUT /api/tables/T/schema`: the body is the schema in TOML.
pub(super) async fn give(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
    sent: Body,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let sent = body(sent)?;
    let text = std::str::from_utf8(&sent).map_err(|_| Failure::invalid("the schema is no UTF-8 text"))?;
    let codec =
        codec(text).map_err(|error| Failure { line: line(&error), ..Failure::invalid(error.to_string()) })?;
    let answer = app.heavy(move |shared| {
        refuse_if_kept(&table, &config(shared, &table)?)?;
        let answer = tried(shared, &table, &codec);
        keep(shared, &table, Some(codec.schema().to_toml()))?;
        shared.load.set_schema(&table, Some(codec));
        Ok(answer)
    });
    Ok(answer_json(&answer.await?))
}

/// `DELETE /api/tables/T/schema`.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let answer = app.run(move |shared| {
        refuse_if_kept(&table, &config(shared, &table)?)?;
        keep(shared, &table, None)?;
        shared.load.set_schema(&table, None);
        Ok(Json::Object(vec![("type", "schema".into()), ("version", 1_u32.into()), ("table", table.into())]))
    });
    Ok(answer_json(&answer.await?))
}

fn line(error: &rowkey::Error) -> Option<usize> {
    match error.kind() {
        rowkey::ErrorKind::Schema { line, .. } => Some(line),
        _ => None,
    }
}

fn refuse_if_kept(table: &str, config: &TableConfig) -> Result<()> {
    if config.annotations.contains_key(SCHEMA_ANNOTATION) {
        let message =
            format!("table `{table}` keeps the schema that it was made with, and is shown through that");
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    Ok(())
}

/// Keeps the schema with the table. An engine that cannot shows it until the server stops.
fn keep(shared: &Shared, table: &str, toml: Option<String>) -> Result<()> {
    match shared.engine.annotate_table(table, VIEW_ANNOTATION, toml.map(Into::into)) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
        kept => kept,
    }
}

/// Tries a schema on keys that were read or written: how many follow it, and the first that does not.
fn tried(shared: &Shared, table: &str, codec: &Codec) -> Json {
    let sheet = shared.load.sheet(table, &SheetQuery { columns: 1, ..SheetQuery::default() });
    // A scan is recorded where it began, which need not be the key of a row: the keys written most are added, and no key is none.
    let written = shared.load.hot_keys(table, &RowRange::all(), Metric::Writes);
    let examples = sheet.view.rows.iter().filter_map(|row| row.example.as_deref());
    let keys: BTreeSet<&[u8]> =
        examples.chain(written.keys.iter().map(|hot| &hot.key[..])).filter(|key| !key.is_empty()).collect();
    let (mut checked, mut decoded, mut failure) = (0_u64, 0_u64, None);
    for key in keys {
        checked += 1;
        match codec.explain(key).error {
            None => decoded += 1,
            Some(error) if failure.is_none() => {
                failure = Some(Json::Object(vec![
                    ("key", escape::escaped(key).to_string().into()),
                    ("message", error.to_string().into()),
                ]));
            }
            Some(_) => {}
        }
    }
    Json::Object(vec![
        ("type", "schema".into()),
        ("version", 1_u32.into()),
        ("table", table.into()),
        ("layout", codec.schema().layout().into()),
        ("checked", checked.into()),
        ("decoded", decoded.into()),
        ("first_failure", Json::optional(failure)),
    ])
}
