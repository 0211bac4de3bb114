//! Errors as statuses of gRPC.

use prost::Message as _;
use rowkey_proto::rpc;
use rowkey_store::{Error, ErrorKind};
use std::collections::HashMap;
use tonic::{Code, Status};

/// Bytes of a status' message: it travels in a header, and clients refuse headers of more than 8 KiB together.
const MESSAGE_BYTES_MAX: usize = 2_000;

/// The status of an error: its message, cut if it is very long, and the code of its kind.
pub fn status(error: &Error) -> Status {
    Status::new(code(error.kind()), message(error))
}

/// The status of an error as a message, for those who answer several errors in one response.
pub fn status_to_proto(error: &Error) -> rpc::Status {
    rpc::Status { code: code(error.kind()).into(), message: message(error), details: Vec::new() }
}

fn message(error: &Error) -> String {
    let mut message = error.to_string();
    if message.len() > MESSAGE_BYTES_MAX {
        let end = (0..=MESSAGE_BYTES_MAX).rev().find(|&end| message.is_char_boundary(end));
        message.truncate(end.unwrap_or_default());
        message.push_str("...");
    }
    message
}

/// The code of a kind of errors.
pub fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Invalid | ErrorKind::Limit => Code::InvalidArgument,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::Conflict => Code::FailedPrecondition,
        ErrorKind::Unsupported => Code::Unimplemented,
        ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::Corrupt => Code::DataLoss,
        ErrorKind::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorKind::Cancelled => Code::Cancelled,
        // Kinds that the store may get later. UNKNOWN is what clients do not repeat.
        _ => Code::Unknown,
    }
}

/// Bytes of a key that are shown in a message.
const KEY_SHOWN_BYTES_MAX: usize = 100;

/// The status for a row that is too large to be read: clients that skip such rows look for its reason and its metadata.
pub fn large_row(key: &[u8], bytes: u64, bytes_max: u64) -> Status {
    let shown = &key[..key.len().min(KEY_SHOWN_BYTES_MAX)];
    let message = format!(
        "row `{}` has {bytes} bytes; a read returns rows of at most {bytes_max} bytes: read it with a filter",
        rowkey_store::escape::escaped(shown)
    );
    let info = rpc::ErrorInfo {
        reason: "LargeRowReadError".to_owned(),
        domain: "bigtable.googleapis.com".to_owned(),
        metadata: HashMap::from([("rowKeyBase64Encoded".to_owned(), base64(key))]),
    };
    let details = rpc::Status {
        code: Code::FailedPrecondition.into(),
        message: message.clone(),
        details: vec![prost_types::Any {
            type_url: "type.googleapis.com/google.rpc.ErrorInfo".to_owned(),
            value: info.encode_to_vec(),
        }],
    };
    Status::with_details(Code::FailedPrecondition, message, details.encode_to_vec().into())
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| usize::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = ALPHABET[bits >> (18 - 6 * place) & 63];
            text.push(if place > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_codes_of_bigtable() {
        let check = |kind, code| {
            let status = status(&Error::new(kind, "what failed"));
            assert_eq!((status.code(), status.message()), (code, "what failed"));
        };
        check(ErrorKind::Invalid, Code::InvalidArgument);
        check(ErrorKind::Limit, Code::InvalidArgument);
        check(ErrorKind::NotFound, Code::NotFound);
        check(ErrorKind::AlreadyExists, Code::AlreadyExists);
        check(ErrorKind::Conflict, Code::FailedPrecondition);
        check(ErrorKind::Unsupported, Code::Unimplemented);
        check(ErrorKind::Unavailable, Code::Unavailable);
        check(ErrorKind::Corrupt, Code::DataLoss);
        check(ErrorKind::DeadlineExceeded, Code::DeadlineExceeded);
        check(ErrorKind::Cancelled, Code::Cancelled);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let error = Error::new(ErrorKind::Invalid, format!("a{}", "é".repeat(5_000)));
        let status = status(&error);
        assert!(status.message().ends_with("é..."));
        assert_eq!(status.message().len(), 1_999 + 3);
        assert_eq!(status_to_proto(&error).message, status.message());
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn a_large_row_says_so_in_its_details() {
        let status = large_row(b"foo", 300, 256);
        assert_eq!(status.code(), Code::FailedPrecondition);
        let details = rpc::Status::decode(status.details()).unwrap();
        assert_eq!(details.code, i32::from(Code::FailedPrecondition));
        let info = rpc::ErrorInfo::decode(&details.details[0].value[..]).unwrap();
        assert_eq!(info.reason, "LargeRowReadError");
        assert_eq!(info.metadata["rowKeyBase64Encoded"], "Zm9v");
    }
}
