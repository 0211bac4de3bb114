//! What a request is told that cannot be answered: a status and `{"error": {"code", "message", "request_id"}}`.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rowkey_hotspot::report::Json;
use rowkey_store::{Error, ErrorKind};

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The status.
    pub(super) status: StatusCode,
    /// A word for programs.
    pub(super) code: &'static str,
    /// What failed, and what to do.
    pub(super) message: String,
    /// The line of a schema that is wrong, from 1.
    pub(super) line: Option<usize>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), line: None }
    }

    /// The request is wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    /// It is not there.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// Another site may not do that.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// The path takes another method.
    pub(super) fn method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method",
            "this path takes another method; docs/formats/server.md says which",
        )
    }

    /// As JSON, with the request's id.
    pub(super) fn answer(&self, request_id: &str) -> Response {
        let error = Json::Object(vec![
            ("code", self.code.into()),
            ("message", self.message.as_str().into()),
            ("line", Json::optional(self.line)),
            ("request_id", request_id.into()),
        ]);
        let mut response = Response::new(Body::from(format!("{}\n", Json::Object(vec![("error", error)]))));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, const { HeaderValue::from_static("application/json") });
        response
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (status, code) = match error.kind() {
            ErrorKind::Invalid => (StatusCode::BAD_REQUEST, "invalid"),
            ErrorKind::Limit => (StatusCode::BAD_REQUEST, "limit"),
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not-found"),
            ErrorKind::AlreadyExists => (StatusCode::CONFLICT, "already-exists"),
            ErrorKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            ErrorKind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "unsupported"),
            ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            ErrorKind::DeadlineExceeded => (StatusCode::GATEWAY_TIMEOUT, "deadline-exceeded"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl IntoResponse for Failure {
    /// The guard around all routes makes the answer of it: it knows the request's id.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
