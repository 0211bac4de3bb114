//! The page, its JSON, metrics. The format of every answer is described in `docs/formats/server.md`.
//!
//! Nothing here blocks: engines are called through [`blocking::run`]. No answer is for another site (`guard.rs`).

mod action;
mod failure;
mod guard;
mod heat;
mod page;
mod query;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use crate::blocking;
use crate::metrics;
use crate::server::unavailable;
use crate::shared::Shared;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post, put};
use failure::Failure;
use rowkey_hotspot::report::Json;
use rowkey_store::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// Bytes of a request's body: a key schema has some hundred.
const BODY_BYTES_MAX: usize = 256 << 10;
/// Maps and diagnoses that are made at the same time: each may take a core and 50 MB.
const HEAVY_MAX: usize = 3;

/// What all requests share.
#[derive(Debug)]
struct App {
    shared: Arc<Shared>,
    /// Requests so far, for their ids.
    requests: AtomicU64,
    heavy: Semaphore,
}

impl App {
    fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared, requests: AtomicU64::new(0), heavy: Semaphore::new(HEAVY_MAX) })
    }

    /// Now, in milliseconds since the epoch.
    fn now_ms(&self) -> i64 {
        self.shared.options.clock.now_us() / 1_000
    }

    /// Runs what takes long, a few at a time.
    async fn heavy<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        // It is never closed; if it were, more would run at a time.
        let _permit = self.heavy.acquire().await.ok();
        self.run(call).await
    }

    /// Runs what may block.
    async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let shared = Arc::clone(&self.shared);
        Ok(blocking::run(move || call(&shared)).await?)
    }
}

/// Serves until `stopping` becomes true.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    mut stopping: watch::Receiver<bool>,
) -> Result<()> {
    let app = App::new(shared);
    schema::restore(&app).await;
    axum::serve(listener, router(app))
        .with_graceful_shutdown(async move {
            let _ = stopping.wait_for(|stop| *stop).await;
        })
        .await
        .map_err(|error| unavailable("the HTTP service failed", error))
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(numbers))
        .route("/api/nodes", get(table::nodes))
        .route("/api/tables", get(table::tables))
        .route("/api/tables/{table}", get(table::design))
        .route("/api/tables/{table}/tablets", get(table::tablets))
        .route("/api/tables/{table}/heatmap", get(heat::heatmap))
        .route("/api/tables/{table}/keys", get(heat::keys))
        .route("/api/tables/{table}/doctor", get(heat::doctor))
        .route("/api/tables/{table}/garbage", get(action::garbage))
        .route("/api/tables/{table}/collect", post(action::collect))
        .route("/api/tables/{table}/split", post(action::split))
        .route("/api/tables/{table}/schema", put(schema::give).delete(schema::remove))
        .fallback(|| async {
            Failure::not_found("there is nothing at this path; docs/formats/server.md lists what there is")
        })
        .method_not_allowed_fallback(|| async { Failure::method() })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}

/// What Prometheus collects.
async fn numbers(State(app): State<Arc<App>>) -> Response {
    let text = app.run(|shared| Ok(metrics::render(shared))).await;
    let text = match text {
        Ok(text) => text,
        Err(failure) => return failure.answer("metrics"),
    };
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, const { HeaderValue::from_static(metrics::CONTENT_TYPE) });
    response
}

/// An answer.
fn json(json: &Json) -> Response {
    let mut response = Response::new(Body::from(format!("{json}\n")));
    response.headers_mut().insert(CONTENT_TYPE, const { HeaderValue::from_static("application/json") });
    response
}
