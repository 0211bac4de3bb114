//! The page, its JSON, metrics.

use crate::server::unavailable;
use crate::shared::Shared;
use axum::Router;
use axum::routing::get;
use rowkey_store::Result;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Serves until `stopping` becomes true.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    mut stopping: watch::Receiver<bool>,
) -> Result<()> {
    let app: Router = Router::new().route("/healthz", get(|| async { "ok\n" })).with_state(shared);
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            let _ = stopping.wait_for(|stop| *stop).await;
        })
        .await
        .map_err(|error| unavailable("the HTTP service failed", error))
}
