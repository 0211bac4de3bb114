//! Host names, mail addresses, paths.

/// Names that resolve in one network only or nowhere (RFC 2606, RFC 6761, RFC 6762, RFC 8375, and ICANN's reservation of `internal`).
const PRIVATE_SUFFIXES: &[&str] = &[
    "local",
    "localhost",
    "internal",
    "lan",
    "home",
    "corp",
    "test",
    "example",
    "invalid",
    "localdomain",
    "arpa",
];

/// Whether `text` has the form of a host name with at least two labels, a port behind it allowed.
pub(super) fn looks_like_host(text: &[u8]) -> bool {
    let host = without_port(text);
    let labels = |separator: u8| {
        let count = host.split(|byte| *byte == separator).count();
        count >= 2 && host.split(|byte| *byte == separator).all(is_label)
    };
    host.len() <= 253 && (labels(b'.') || labels(b','))
}

/// Whether all bytes of `text` may stand in a host name or the port behind it.
pub(super) fn has_host_bytes(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,:".contains(byte))
}

fn is_label(label: &[u8]) -> bool {
    (1..=63).contains(&label.len())
        && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && label[0] != b'-'
}

fn without_port(text: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', text) else { return text };
    let port = &text[colon + 1..];
    if (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit) { &text[..colon] } else { text }
}

/// Whether a host name ends with a known suffix, the labels in reading order.
pub(super) fn has_known_suffix(host: &[u8]) -> bool {
    let host = without_port(host).to_ascii_lowercase();
    let host = host.strip_suffix(b".").unwrap_or(&host);
    if !looks_like_host(host)
        || host.split(|byte| *byte == b'.').all(|label| label.iter().all(u8::is_ascii_digit))
    {
        return false;
    }
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    PRIVATE_SUFFIXES.iter().any(|suffix| suffix.as_bytes() == last)
        || psl::suffix(host).is_some_and(|suffix| suffix.is_known())
}

/// Endings of files that are top-level domains too.
const FILE_ENDINGS: &[&str] = &[
    "ai", "app", "bz", "cc", "dev", "in", "md", "ml", "mm", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip",
];

/// Whether a name of two parts may be a file's: `main.py`.
pub(super) fn may_be_file(name: &[u8]) -> bool {
    let mut labels = name.rsplitn(2, |byte| *byte == b'.');
    let ending = labels.next().unwrap_or_default();
    let is_ending = FILE_ENDINGS.iter().any(|other| other.as_bytes() == ending);
    is_ending && labels.next().is_some_and(|rest| !rest.contains(&b'.'))
}

/// The host with its labels turned round; labels may be separated, or each ended, by `.` or `,`.
pub(super) fn turned(host: &[u8]) -> Vec<u8> {
    let host = without_port(host);
    let separator = if host.contains(&b',') { b',' } else { b'.' };
    let host = host.strip_suffix(&[separator]).unwrap_or(host);
    let labels: Vec<&[u8]> = host.split(|byte| *byte == separator).rev().collect();
    labels.join(&b'.')
}

/// Whether `text` has the form of a mail address.
pub(super) fn is_email(text: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', text) else { return false };
    let (user, host) = (&text[..at], &text[at + 1..]);
    let takes = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-'".contains(byte);
    !user.is_empty() && user.iter().all(takes) && host.contains(&b'.') && looks_like_host(host)
}

/// Whether `text` begins as a URL does.
pub(super) fn is_url(text: &[u8]) -> bool {
    let Some(colon) = memchr::memmem::find(text, b"://") else { return false };
    (2..=12).contains(&colon)
        && text[..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'+')
}
