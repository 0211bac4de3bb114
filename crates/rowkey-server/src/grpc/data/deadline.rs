//! The deadline of a request, as its client tells it.

use std::time::Duration;
use tonic::metadata::MetadataMap;

/// How long the client waits; `None`: for ever, or it says something that cannot be read, which counts as nothing.
pub(super) fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    parse(metadata.get("grpc-timeout")?.to_str().ok()?)
}

/// At most 8 digits and a unit (the gRPC protocol over HTTP/2, `Timeout`).
fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3_600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_a_number_and_a_unit() {
        let check = |text, expected_us: Option<u64>| {
            assert_eq!(parse(text), expected_us.map(Duration::from_micros), "{text}");
        };
        check("2H", Some(7_200_000_000));
        check("3M", Some(180_000_000));
        check("4S", Some(4_000_000));
        check("250m", Some(250_000));
        check("99999999u", Some(99_999_999));
        check("1000n", Some(1));
        for bad in ["", "5", "S", "-5S", "5x", "999999999S", "5é", "+5S"] {
            check(bad, None);
        }
    }
}
