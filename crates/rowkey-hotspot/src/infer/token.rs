//! Tokens of a key: bytes that separate, and spans that must not be separated although they hold such bytes.

use super::calendar;

/// Bytes of a key that are looked at for its structure; what stands behind them only counts as text.
pub(super) const LOOKED_AT: usize = 512;

/// Bytes that may separate fields, those that people choose first in front. Within one key the earlier ones bind less: `_` separates
/// fields of which each may hold `-`.
pub(super) const DELIMITERS: &[u8] = b"\x00\x1f#|~;$\\&/=!:, \t@_-.+*^";

/// The rank of a delimiter, 0 the first; `None` for other bytes.
pub(super) fn rank(byte: u8) -> Option<usize> {
    DELIMITERS.iter().position(|delimiter| *delimiter == byte)
}

/// Whether a byte may separate fields.
pub(super) fn is_delimiter(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric() && rank(byte).is_some()
}

/// What a token is, as far as its form alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    Empty,
    /// Decimal digits, at most 14 of them.
    Digits,
    /// 15 digits or more.
    LongDigits,
    /// A sign and digits, or a decimal point among digits.
    Signed,
    /// Hex digits, letters among them, at least 6.
    Hex,
    /// A digest or id in hex of this width.
    LongHex(u16),
    /// A UUID, by its version; 0: its variant is not that of RFC 9562.
    Uuid(u8),
    Ulid,
    Ksuid,
    /// Calendar text with separators.
    Time,
    Address,
    /// Any other text.
    Word,
    /// Not text.
    Binary,
}

/// Whether `text` is a UUID with hyphens.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The length of an IPv4 address that `text` begins with.
pub(super) fn ipv4_len(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        let len = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).take(4).count();
        let value = text[at..at + len].iter().fold(0u32, |sum, byte| sum * 10 + u32::from(byte - b'0'));
        if len == 0 || len > 3 || value > 255 {
            return None;
        }
        at += len;
        if part < 3 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
    }
    let ends = text.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
    ends.then_some(at)
}

/// Whether `text` is an IPv6 address: groups of hex digits between colons, one run of zeros left out, an IPv4 address at the end.
pub(super) fn is_ipv6(text: &[u8]) -> bool {
    if !(3..=45).contains(&text.len()) || !text.contains(&b':') {
        return false;
    }
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
}

/// Whether `text` is a MAC address: six pairs of hex digits between colons or hyphens.
fn is_mac(text: &[u8]) -> bool {
    let separator = text.get(2).copied().filter(|byte| matches!(byte, b':' | b'-'));
    text.len() == 17
        && text.iter().enumerate().all(|(at, byte)| match at % 3 {
            2 => Some(*byte) == separator,
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The span that begins at `at` and must stay whole, and whether it is a time. `None`: none begins there.
pub(super) fn protected(key: &[u8], at: usize) -> Option<(usize, Class)> {
    let first = *key.get(at)?;
    if !first.is_ascii_hexdigit() || at > 0 && key[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let rest = &key[at..];
    if let Some(uuid) = rest.get(..36).filter(|uuid| is_uuid(uuid))
        && rest.get(36).is_none_or(|byte| !byte.is_ascii_alphanumeric())
    {
        return Some((uuid.len(), Class::Uuid(0)));
    }
    if rest.get(..17).is_some_and(is_mac) && rest.get(17).is_none_or(|byte| !byte.is_ascii_alphanumeric()) {
        return Some((17, Class::Address));
    }
    if !first.is_ascii_digit() {
        return None;
    }
    if let Some(stamp) = calendar::extended(rest) {
        return Some((stamp.len, Class::Time));
    }
    ipv4_len(rest).map(|len| (len, Class::Address))
}

/// Places of the delimiters of a key that lie outside protected spans.
pub(super) fn delimiters_of(key: &[u8], out: &mut Vec<(u32, u8)>) {
    out.clear();
    let key = &key[..key.len().min(LOOKED_AT)];
    let mut at = 0;
    while at < key.len() {
        if let Some((len, _)) = protected(key, at) {
            at += len;
            continue;
        }
        if is_delimiter(key[at]) {
            out.push((u32::try_from(at).unwrap_or(u32::MAX), key[at]));
        }
        at += 1;
    }
}

/// Whether `text` is an integer or a decimal number with a sign or a point.
pub(super) fn is_signed(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let whole = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 {
        return false;
    }
    match unsigned.get(whole) {
        None => unsigned.len() < text.len(),
        Some(b'.') => unsigned.len() > whole + 1 && unsigned[whole + 1..].iter().all(u8::is_ascii_digit),
        Some(_) => false,
    }
}

/// Whether `text` is a ULID by its form: 26 Crockford digits, the first at most 7.
pub(super) fn is_ulid(text: &[u8]) -> bool {
    text.len() == 26
        && text[0].is_ascii_digit()
        && text[0] <= b'7'
        && text.iter().all(|byte| crockford(*byte).is_some())
}

/// The value of a Crockford base-32 digit.
pub(super) fn crockford(byte: u8) -> Option<u8> {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let byte = byte.to_ascii_uppercase();
    DIGITS.iter().position(|digit| *digit == byte).and_then(|value| u8::try_from(value).ok())
}

/// Whether `bytes` are readable text: UTF-8 without control bytes.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    if bytes.is_ascii() {
        return bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
    }
    std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control))
}

/// What a token is by its form.
pub(super) fn class(token: &[u8]) -> Class {
    if token.is_empty() {
        return Class::Empty;
    }
    let digits = token.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == token.len() {
        return if digits < 15 { Class::Digits } else { Class::LongDigits };
    }
    if is_uuid(token) {
        return Class::Uuid(super::ids::uuid_version(token).unwrap_or(0));
    }
    if digits > 0 && token.iter().all(u8::is_ascii_hexdigit) && token.len() >= 6 {
        return match token.len() {
            16 | 20 | 24 | 28 | 32 | 40 | 48 | 56 | 64 | 96 | 128 => {
                Class::LongHex(u16::try_from(token.len()).unwrap_or(u16::MAX))
            }
            _ => Class::Hex,
        };
    }
    if is_signed(token) {
        return Class::Signed;
    }
    if is_ulid(token) && digits > 1 {
        return Class::Ulid;
    }
    if token.len() == 27 && digits > 0 && token.iter().all(u8::is_ascii_alphanumeric) && has_both_cases(token)
    {
        return Class::Ksuid;
    }
    if calendar::extended(token).is_some_and(|stamp| stamp.len == token.len()) {
        return Class::Time;
    }
    if ipv4_len(token) == Some(token.len()) || is_ipv6(token) || is_mac(token) {
        return Class::Address;
    }
    if is_text(token) { Class::Word } else { Class::Binary }
}

fn has_both_cases(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_uppercase) && token.iter().any(u8::is_ascii_lowercase)
}

impl Class {
    /// Whether the form is so special that values of another form are of another kind.
    pub(super) fn is_strong(self) -> bool {
        // Addresses stand for hosts whose names are not known.
        !matches!(
            self,
            Self::Empty | Self::Digits | Self::Signed | Self::Hex | Self::Word | Self::Binary | Self::Address
        )
    }
}
