//! The page: one text, with the heatmap's own script and style in it. It asks nobody but this server.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;
use rowkey_hotspot::heatmap::{MAP_JS, PAGE_CSS, Page};
use std::sync::LazyLock;

const FRAME: &str = include_str!("page/server.html");

/// The page and its content policy.
static PAGE: LazyLock<(String, HeaderValue)> = LazyLock::new(|| {
    let script = format!("{MAP_JS}\n{}", include_str!("page/server.js"));
    let style = format!("{PAGE_CSS}{}", include_str!("page/server.css"));
    let page = Page { frame: FRAME, title: "Rowkey", style: &style, script: &script, data: "", asks: true };
    let policy = format!("{}; frame-ancestors 'none'", page.policy());
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    (page.html(), policy)
});

/// `GET /`.
pub(super) async fn page() -> Response {
    let (page, policy) = &*PAGE;
    let mut response = Response::new(Body::from(page.as_str()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
    response
}
