//! Engines block; services must not. Every call of an engine goes through here.

use rowkey_store::{Error, ErrorKind, Result};

/// Runs `call` on a thread that may block.
///
/// # Errors
///
/// Those of `call`; `Unavailable` if the server is stopping, or if the call panicked, which is a fault of ours.
pub(crate) async fn run<T: Send + 'static>(call: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(call).await.unwrap_or_else(|error| {
        let what =
            if error.is_panic() { "failed inside the server" } else { "was given up: the server stops" };
        Err(Error::new(ErrorKind::Unavailable, format!("the request {what}")))
    })
}
