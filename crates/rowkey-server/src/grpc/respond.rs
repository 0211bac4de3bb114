//! Answers of all services: an error gets a request id, which is in its metadata and in the log, so that people can say which one they
//! mean.

use crate::shared::Shared;
use std::sync::atomic::{AtomicU64, Ordering};
use tonic::metadata::MetadataValue;
use tonic::{Code, Response, Status};

/// Where clients find the id of a request that failed.
const REQUEST_ID: &str = "x-request-id";

/// Errors of this process so far, which tells ids of one microsecond apart.
static FAILED: AtomicU64 = AtomicU64::new(0);

/// The response of a call, or its error by [`failed`].
pub(crate) fn answer<T>(
    shared: &Shared,
    method: &'static str,
    result: Result<T, Status>,
) -> Result<Response<T>, Status> {
    result.map(Response::new).map_err(|status| failed(shared, method, status))
}

/// Gives an error its request id, and logs it: as a warning if it is ours, for debugging if it is the client's.
pub(crate) fn failed(shared: &Shared, method: &'static str, mut status: Status) -> Status {
    let number = FAILED.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:x}-{number:x}", shared.options.clock.now_us());
    let code = status.code();
    let ours = matches!(code, Code::Internal | Code::Unknown | Code::Unavailable | Code::DataLoss);
    if ours {
        tracing::warn!(request_id = %id, method, ?code, "{}", status.message());
    } else {
        tracing::debug!(request_id = %id, method, ?code, "{}", status.message());
    }
    if let Ok(id) = MetadataValue::try_from(id) {
        status.metadata_mut().insert(REQUEST_ID, id);
    }
    status
}
