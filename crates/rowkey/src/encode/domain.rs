//! Hosts with their labels reversed, so that the hosts of one domain are neighbours. Port and path stay behind the host.
//!
//! ```text
//! Mail.Google.com:8080/inbox
//!   separator `.`     com.google.mail:8080/inbox        between labels
//!   separator `,`     com,google,mail,:8080/inbox       after every label; likewise \x00
//! 192.168.0.1         192.168.0.1                       IP literals are one label, not reversed
//! [2001:DB8::1]:80    [2001:db8::1],:80
//! ```
//!
//! With `,` or `\x00` the subtree of a domain is one contiguous range, since both sort below every byte of a label. With `.` it is
//! not: `com.example-shop` sorts between `com.example` and `com.example.www`.

use crate::{Error, Result};
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What stands between labels; any other separator stands after each.
const BETWEEN: u8 = b'.';

/// A host in reading order, lower-case ASCII, and what follows it.
struct Parts<'a> {
    host: Cow<'a, str>,
    /// Empty, or begins with `:`, `/`, `?` or `#`.
    rest: &'a str,
}

/// The text as `decode` gives it back: the host in lower-case ASCII, scheme and trailing dot dropped.
pub(crate) fn normalise(text: &str) -> Result<String> {
    let Parts { host, rest } = split(text)?;
    Ok(format!("{host}{rest}"))
}

/// Appends the host with its labels reversed, then port and path.
pub(crate) fn encode(separator: u8, text: &str, out: &mut Vec<u8>) -> Result<()> {
    let Parts { host, rest } = split(text)?;
    push_host(separator, &host, out);
    out.extend_from_slice(rest.as_bytes());
    Ok(())
}

fn push_host(separator: u8, host: &str, out: &mut Vec<u8>) {
    if host.is_empty() {
        return;
    }
    if is_literal(host) {
        out.extend_from_slice(host.as_bytes());
    } else {
        for (at, label) in host.rsplit('.').enumerate() {
            if at > 0 {
                out.push(separator);
            }
            out.extend_from_slice(label.as_bytes());
        }
    }
    if separator != BETWEEN {
        out.push(separator);
    }
}

/// Whether a normalised host is an IP address, which has no labels.
fn is_literal(host: &str) -> bool {
    host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok()
}

/// Reads an encoding back into reading order.
pub(crate) fn decode(separator: u8, bytes: &[u8]) -> Result<Cow<'_, str>> {
    let text = str::from_utf8(bytes)
        .map_err(|error| Error::malformed(error.valid_up_to(), "not UTF-8, which a domain field is"))?;
    let host_end = host_end(text);
    let (reversed, rest) = text.split_at(host_end);
    check_port(rest).map_err(|message| Error::malformed(host_end, message))?;
    if separator == BETWEEN && (is_literal(reversed) || !reversed.contains('.')) {
        check_host(reversed)?;
        return Ok(Cow::Borrowed(text));
    }
    let mut host = String::with_capacity(text.len());
    if !reversed.is_empty() {
        let labels = if separator == BETWEEN {
            reversed
        } else {
            let stripped = reversed.strip_suffix(char::from(separator));
            stripped
                .ok_or_else(|| Error::malformed(host_end, "a separator must stand after the last label"))?
        };
        if labels.is_empty() {
            return Err(Error::malformed(0, "an empty host has no label to stand a separator behind"));
        }
        for (at, label) in labels.rsplit(char::from(separator)).enumerate() {
            // Only an IPv4 address that is the whole host has dots inside.
            if label.contains('.') && label.len() != labels.len() {
                return Err(Error::malformed(0, "a label contains a dot"));
            }
            if at > 0 {
                host.push('.');
            }
            host.push_str(label);
        }
        let literal = labels.contains('.') && separator != BETWEEN || labels.starts_with('[');
        if is_literal(&host) != literal {
            return Err(Error::malformed(0, "an IP address must stand unreversed, as one label"));
        }
    }
    check_host(&host)?;
    host.push_str(rest);
    Ok(Cow::Owned(host))
}

/// Checks that a host read from a key is what `split` would make of it.
fn check_host(host: &str) -> Result<()> {
    let normal = normalise_host(host).map_err(|error| Error::malformed(0, error.message()))?;
    if normal != host {
        let message = format!("the host `{host}` is not in normal form, which is `{normal}`");
        return Err(Error::malformed(0, message));
    }
    Ok(())
}

/// Where the host ends in text without a scheme: before port, path, query or fragment.
fn host_end(text: &str) -> usize {
    let ends = |from: usize| text[from..].find([':', '/', '?', '#']).map_or(text.len(), |found| from + found);
    match text.strip_prefix('[').and_then(|inner| inner.find(']')) {
        Some(close) => ends(close + 2),
        None => ends(0),
    }
}

fn split(text: &str) -> Result<Parts<'_>> {
    let text = without_scheme(text);
    let authority_end = text.find(['/', '?', '#']).unwrap_or(text.len());
    if text[..authority_end].contains('@') {
        return Err(Error::value(
            "a user name or password stands before the host: remove it, keys are not secret",
        ));
    }
    let (host, rest) = text.split_at(host_end(text));
    check_port(rest).map_err(Error::value)?;
    Ok(Parts { host: normalise_host(host)?, rest })
}

fn without_scheme(text: &str) -> &str {
    match text.split_once("://") {
        Some((scheme, rest))
            if scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
        {
            rest
        }
        _ => text,
    }
}

/// `rest` is empty or begins with `:`, `/`, `?` or `#`, unless the host is a bracketed address with text stuck to it.
fn check_port(rest: &str) -> Result<(), String> {
    let Some(port) = rest.strip_prefix(':') else { return Ok(()) };
    let port = port.split(['/', '?', '#']).next().unwrap_or_default();
    let digits = !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = port == "0" || !port.starts_with('0');
    if digits && canonical && port.parse::<u16>().is_ok() {
        return Ok(());
    }
    Err(format!("`{port}` is not a port (0 to 65535); an IPv6 address must stand in brackets"))
}

fn normalise_host(host: &str) -> Result<Cow<'_, str>> {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
        let address =
            address.ok_or_else(|| Error::value(format!("`{host}` is not an IPv6 address in brackets")))?;
        let text = format!("[{address}]");
        return Ok(if text == host { Cow::Borrowed(host) } else { Cow::Owned(text) });
    }
    let plain = host.is_ascii() && !has_punycode(host);
    let ascii = if plain {
        lower_case(host)
    } else {
        idna::domain_to_ascii_cow(host.as_bytes(), idna::AsciiDenyList::URL)
            .map_err(|_| Error::value(format!("`{host}` is not a valid international host name (IDNA)")))?
    };
    let ascii = match ascii {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_suffix('.').unwrap_or(text)),
        Cow::Owned(mut text) => {
            text.truncate(text.strip_suffix('.').map_or(text.len(), str::len));
            Cow::Owned(text)
        }
    };
    check_labels(&ascii)?;
    Ok(ascii)
}

fn lower_case(host: &str) -> Cow<'_, str> {
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

fn has_punycode(host: &str) -> bool {
    host.split('.').any(|label| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--")))
}

fn check_labels(host: &str) -> Result<()> {
    if host.is_empty() {
        return Ok(());
    }
    for label in host.split('.') {
        if label.is_empty() {
            return Err(Error::value(format!("the host `{host}` has an empty label")));
        }
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if let Some(bad) = label.bytes().find(|&byte| !allowed(byte)) {
            let bad = char::from(bad).escape_default();
            return Err(Error::value(format!(
                "the host `{host}` contains `{bad}`: letters, digits, `-` and `_` are allowed"
            )));
        }
    }
    Ok(())
}
