//! What a developer does to a table from the page: garbage, splits.

use super::failure::Failure;
use super::query::{self, Pairs, Values};
use super::table::config;
use super::{App, json};
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use rowkey_hotspot::report::Json;
use rowkey_store::GarbageReport;
use std::sync::Arc;

/// A request's body.
pub(super) type Body = Result<Bytes, BytesRejection>;

/// The body, if it is not too large.
pub(super) fn body(body: Body) -> Result<Bytes, Failure> {
    body.map_err(|error| {
        let code = if error.status() == StatusCode::PAYLOAD_TOO_LARGE { "limit" } else { "invalid" };
        Failure::new(error.status(), code, format!("the body cannot be taken: {error}"))
    })
}

/// `GET /api/tables/T/garbage`.
pub(super) async fn garbage(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let answer = app.heavy(move |shared| {
        config(shared, &table)?;
        Ok(garbage_json("garbage", &table, &shared.engine.garbage(&table)?))
    });
    Ok(json(&answer.await?))
}

/// `POST /api/tables/T/collect`.
pub(super) async fn collect(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let answer = app.heavy(move |shared| {
        config(shared, &table)?;
        Ok(garbage_json("collected", &table, &shared.engine.collect_garbage(&table)?))
    });
    Ok(json(&answer.await?))
}

fn garbage_json(kind: &str, table: &str, families: &[GarbageReport]) -> Json {
    let family = |report: &GarbageReport| {
        Json::Object(vec![
            ("family", report.family.as_str().into()),
            ("live_cells", report.live_cells.into()),
            ("live_bytes", report.live_bytes.into()),
            ("expired_cells", report.expired_cells.into()),
            ("expired_bytes", report.expired_bytes.into()),
        ])
    };
    Json::Object(vec![
        ("type", kind.into()),
        ("version", 1_u32.into()),
        ("table", table.into()),
        ("families", Json::list(families.iter().map(family))),
    ])
}

/// `POST /api/tables/T/split` with `{"at": "KEY"}`.
pub(super) async fn split(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
    sent: Body,
) -> Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let at = split_key(&body(sent)?)?;
    let answer = app.run(move |shared| {
        config(shared, &table)?;
        let (shown, at) = (super::table::shown(&at), at.into());
        shared.engine.split_tablet(&table, &at)?;
        Ok(Json::Object(vec![
            ("type", "split".into()),
            ("version", 1_u32.into()),
            ("table", table.as_str().into()),
            ("at", shown),
        ]))
    });
    Ok(json(&answer.await?))
}

fn split_key(sent: &[u8]) -> Result<Vec<u8>, Failure> {
    let form = "the body must be `{\"at\": \"KEY\"}`, the key escaped as in `a#07\\\\x00`";
    let sent: serde_json::Value =
        serde_json::from_slice(sent).map_err(|error| Failure::invalid(format!("{form}: {error}")))?;
    let members = sent.as_object().filter(|members| members.len() == 1);
    let at = members.and_then(|members| members.get("at")).and_then(|at| at.as_str());
    let at = at.ok_or_else(|| Failure::invalid(form))?;
    query::key(at).map_err(|error| Failure::invalid(format!("`at`: {error}")))
}
