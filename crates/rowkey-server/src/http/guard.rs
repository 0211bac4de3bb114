//! Around every request: who may ask, ids of requests, headers that keep the page to itself.
//!
//! The server listens where browsers can reach it, so pages of other sites can send requests to it. They cannot read answers (nothing allows
//! them to), but must not change anything either, and a name of theirs that leads here (DNS rebinding) must not make them this site.

use super::App;
use super::failure::Failure;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A request that changes something has this header. A page of another site cannot send it: browsers ask first, and nothing here allows it.
pub(super) const REQUEST_HEADER: &str = "x-rowkey-request";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Checks a request, lets it through, and completes its answer.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let number = app.requests.fetch_add(1, Ordering::Relaxed) + 1;
    let id = format!("http-{number}");
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    // What watches the server asks by any name; it tells no secret and changes nothing.
    let open = path == "/healthz";
    let checked = if open { Ok(()) } else { check(&method, request.headers()) };
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(failure) => axum::response::IntoResponse::into_response(failure),
    };
    // What axum refuses by itself, such as a path that is no UTF-8, is told in the same form.
    let status = response.status();
    let bare = status.is_client_error() || status.is_server_error();
    let failure = response.extensions_mut().remove::<Failure>().or_else(|| {
        bare.then(|| {
            Failure::new(status, "invalid", "the request cannot be read: is its path UTF-8, percent-encoded?")
        })
    });
    if let Some(failure) = failure {
        response = failure.answer(&id);
        tracing::info!(
            request_id = id,
            %method,
            path,
            status = failure.status.as_u16(),
            error = failure.message,
            "request refused"
        );
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// Whether a request may be answered.
fn check(method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(&HOST).ok_or_else(|| Failure::invalid("the request names no host"))?;
    if !is_local_name(host_of(host)) {
        return Err(Failure::forbidden(format!(
            "this server is not `{host}`: ask it by its address, by `localhost`, or by a name without dots"
        )));
    }
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let of_another = Failure::forbidden("pages of other sites must not change anything here");
    if text(&ORIGIN).is_some_and(|origin| origin.split_once("://").is_none_or(|(_, rest)| rest != host)) {
        return Err(of_another);
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if text(&site).is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(of_another);
    }
    if !headers.contains_key(REQUEST_HEADER) {
        return Err(Failure::forbidden(format!(
            "a request that changes something needs the header `{REQUEST_HEADER}`, with any value"
        )));
    }
    Ok(())
}

/// The name or address of a host, without its port.
fn host_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(address, _)| address);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Whether nobody can point this name here from outside: an address, or a name that no public server answers for.
fn is_local_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.parse::<IpAddr>().is_ok()
        || name.parse::<Ipv6Addr>().is_ok()
        || name == "localhost"
        || name.ends_with(".localhost")
        || name.ends_with(".internal")
        || (!name.is_empty() && !name.contains('.') && !name.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_host(host: &str, expected: bool) {
        assert_eq!(is_local_name(host_of(host)), expected, "{host}");
    }

    #[test]
    fn only_names_that_nobody_can_point_here_are_answered() {
        for host in [
            "127.0.0.1:8087",
            "[::1]:8087",
            "localhost",
            "LOCALHOST:1",
            "10.0.0.7",
            "rowkey:8087",
            "a.localhost",
            "host.docker.internal:80",
        ] {
            check_host(host, true);
        }
        for host in [
            "evil.example",
            "evil.example:8087",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "",
            ":8087",
            "[evil.example]:1",
        ] {
            check_host(host, false);
        }
    }

    fn check_write(headers: &[(&'static str, &'static str)], expected: bool) {
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("127.0.0.1:8087"));
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        assert_eq!(check(&Method::POST, &map).is_ok(), expected, "{headers:?}");
        assert!(check(&Method::GET, &map).is_ok(), "reading");
    }

    #[test]
    fn what_changes_something_must_come_from_this_page_or_from_a_program() {
        check_write(&[("x-rowkey-request", "1")], true);
        check_write(&[("x-rowkey-request", "1"), ("origin", "http://127.0.0.1:8087")], true);
        check_write(&[], false);
        check_write(&[("origin", "http://127.0.0.1:8087")], false);
        check_write(&[("x-rowkey-request", "1"), ("origin", "http://evil.example")], false);
        check_write(&[("x-rowkey-request", "1"), ("origin", "http://127.0.0.1:9999")], false);
        check_write(&[("x-rowkey-request", "1"), ("origin", "null")], false);
        check_write(&[("x-rowkey-request", "1"), ("sec-fetch-site", "cross-site")], false);
        check_write(&[("x-rowkey-request", "1"), ("sec-fetch-site", "same-origin")], true);
    }
}
