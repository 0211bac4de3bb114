//! Keeps the bytes of requests that have a filter beside their decoded form.
//!
//! Decoding drops what it does not know. That is right for fields which may be passed over, and wrong for filters: one that is passed
//! over lets everything through. So whoever finds a filter that says nothing looks at the bytes ([`Raw::check`]).

use bytes::Bytes;
use rowkey_bigtable::convert::{self, FilterField};
use rowkey_bigtable::status;
use rowkey_proto::data::RowFilter;
use std::convert::Infallible;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;
use tonic::{Extensions, Status};

/// The flag and the length before a message (the gRPC protocol over HTTP/2, `Length-Prefixed-Message`).
const PREFIX_BYTES: usize = 5;

/// A service whose requests with filters have a [`Raw`] among their extensions.
#[derive(Debug, Clone)]
pub(crate) struct Tap<S> {
    service: S,
    message_bytes_max: usize,
}

impl<S> Tap<S> {
    pub(crate) fn new(service: S, message_bytes_max: usize) -> Self {
        Self { service, message_bytes_max }
    }
}

/// The bytes of a request.
#[derive(Debug, Clone)]
pub(super) struct Raw(Bytes);

impl Raw {
    /// Refuses a filter that says nothing when decoded, while its bytes say something that this server does not know.
    pub(super) fn check(
        extensions: &Extensions,
        filter: Option<&RowFilter>,
        field: FilterField,
    ) -> Result<(), Status> {
        if !filter.is_some_and(convert::says_nothing) {
            return Ok(());
        }
        let Some(Self(bytes)) = extensions.get::<Self>() else { return Ok(()) };
        let message = bytes.get(PREFIX_BYTES..).unwrap_or_default();
        convert::unknown_filters(message, field).map_err(|error| status(&error))
    }
}

fn has_filter(path: &str) -> bool {
    path.ends_with("/ReadRows") || path.ends_with("/CheckAndMutateRow")
}

impl<S: NamedService> NamedService for Tap<S> {
    const NAME: &'static str = S::NAME;
}

type Answer = BoxFuture<http::Response<Body>, Infallible>;

impl<S> Service<http::Request<Body>> for Tap<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible, Future = Answer>,
    S: Clone + Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        if !has_filter(request.uri().path()) {
            return self.service.call(request);
        }
        let mut service = self.service.clone();
        let bytes_max = self.message_bytes_max + PREFIX_BYTES;
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            match axum::body::to_bytes(axum::body::Body::new(body), bytes_max).await {
                Ok(bytes) => {
                    parts.extensions.insert(Raw(bytes.clone()));
                    let body = Body::new(axum::body::Body::from(bytes));
                    service.call(http::Request::from_parts(parts, body)).await
                }
                Err(error) => {
                    Ok(Status::out_of_range(format!("the request cannot be read: {error}")).into_http())
                }
            }
        })
    }
}
