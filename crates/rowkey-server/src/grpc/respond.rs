//! Answers of all services: an error gets a request id, which is in its metadata and in the log, so that people can say which one they
//! mean.

use crate::shared::Shared;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::metadata::MetadataValue;
use tonic::server::NamedService;
use tonic::{Code, Status};

/// Where clients find the id of a request that failed.
const REQUEST_ID: &str = "x-request-id";

/// Errors of this process so far, which tells ids of one microsecond apart.
static FAILED: AtomicU64 = AtomicU64::new(0);

/// A service whose errors have request ids: those that are the whole answer. Who sends an error behind messages asks [`failed`].
#[derive(Debug, Clone)]
pub(crate) struct Named<S> {
    service: S,
    shared: Arc<Shared>,
}

impl<S> Named<S> {
    pub(crate) fn new(service: S, shared: &Arc<Shared>) -> Self {
        Self { service, shared: Arc::clone(shared) }
    }
}

/// Gives an error its request id, and logs it.
pub(crate) fn failed(shared: &Shared, method: &str, mut status: Status) -> Status {
    let id = name(shared, method, status.code(), status.message());
    if let Ok(id) = MetadataValue::try_from(id) {
        status.metadata_mut().insert(REQUEST_ID, id);
    }
    status
}

/// A new id, logged: as a warning if the error is ours, for debugging if it is the client's.
fn name(shared: &Shared, method: &str, code: Code, message: &str) -> String {
    let number = FAILED.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:x}-{number:x}", shared.options.clock.now_us());
    if matches!(code, Code::Internal | Code::Unknown | Code::Unavailable | Code::DataLoss) {
        tracing::warn!(request_id = %id, method, ?code, "{message}");
    } else {
        tracing::debug!(request_id = %id, method, ?code, "{message}");
    }
    id
}

/// Whether the request could not be decoded, as the framework says it: as a fault of the server, which clients repeat. It is theirs.
fn is_undecodable(status: &Status) -> bool {
    status.code() == Code::Internal && status.message().starts_with("failed to decode")
}

type Answer = BoxFuture<http::Response<Body>, Infallible>;

impl<S: NamedService> NamedService for Named<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Named<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible, Future = Answer>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = NamedAnswer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> NamedAnswer {
        let uri = request.uri().clone();
        NamedAnswer { answer: self.service.call(request), uri, shared: Arc::clone(&self.shared) }
    }
}

/// An answer whose error gets its id.
pub(crate) struct NamedAnswer {
    answer: Answer,
    uri: http::Uri,
    shared: Arc<Shared>,
}

impl Future for NamedAnswer {
    type Output = Result<http::Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(Ok(mut response)) = self.answer.as_mut().poll(context) else { return Poll::Pending };
        // An error without a message before it is in the headers.
        let status = Status::from_header_map(response.headers());
        if let Some(status) = status.filter(|status| status.code() != Code::Ok) {
            let code = if is_undecodable(&status) { Code::InvalidArgument } else { status.code() };
            response.headers_mut().insert(Status::GRPC_STATUS, http::HeaderValue::from(i32::from(code)));
            let id = name(&self.shared, self.uri.path(), code, status.message());
            if let Ok(id) = http::HeaderValue::try_from(id) {
                response.headers_mut().insert(REQUEST_ID, id);
            }
        }
        Poll::Ready(Ok(response))
    }
}
