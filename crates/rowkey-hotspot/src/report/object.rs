//! JSON whose members keep the order in which they are put, so that `"type"` comes first.

use std::fmt;

/// A JSON value. `Display` writes it on one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// Any other number. What JSON has no number for (infinity) is `null`.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Json>),
    /// Members in order.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// A measured number, rounded to six significant digits: no more are known, and the last bits of a logarithm differ from machine
    /// to machine.
    pub fn measured(number: f64) -> Self {
        Self::Number(format!("{number:.5e}").parse().unwrap_or(number))
    }

    /// Bytes, as everywhere in Rowkey's JSON: `{"text": ...}` if they are UTF-8, else `{"base64": ...}` (RFC 4648, padded).
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Object(vec![match std::str::from_utf8(bytes) {
            Ok(text) => ("text", text.into()),
            Err(_) => ("base64", base64(bytes).into()),
        }])
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Array(items.into_iter().collect())
    }

    /// The value or `null`.
    pub fn optional(value: Option<impl Into<Self>>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Number(number) if number.is_finite() => write!(f, "{number}"),
            Self::Null | Self::Number(_) => f.write_str("null"),
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    let name = serde_json::Value::from(*name);
                    write!(f, "{}{name}:{value}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        // No machine has a usize of more than 127 bits.
        Self::Integer(i128::try_from(number).unwrap_or(i128::MAX))
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::measured(number)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            // Six bits are below 64.
            let six_bits = (group >> (18 - 6 * digit) & 63) as usize;
            out.push(if digit <= chunk.len() { char::from(DIGITS[six_bits]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: impl Into<Json>, expected: &str) {
        let value = value.into();
        assert_eq!(value.to_string(), expected);
        assert!(serde_json::from_str::<serde_json::Value>(&value.to_string()).is_ok(), "{value}");
    }

    #[test]
    fn members_keep_their_order_and_texts_are_escaped() {
        check(Json::Object(vec![("z", 1_u64.into()), ("a", "\"\n".into())]), r#"{"z":1,"a":"\"\n"}"#);
        check(Json::list([Json::Null, true.into(), (-7_i64).into()]), "[null,true,-7]");
        check(u64::MAX, "18446744073709551615");
    }

    #[test]
    fn measured_numbers_have_six_digits_and_what_is_no_number_is_null() {
        check(1.0, "1");
        check(203.777_777_777, "203.778");
        check(0.000_012_345_678, "0.0000123457");
        check(f64::NAN, "null");
        check(f64::INFINITY, "null");
    }

    #[test]
    fn bytes_are_text_or_base64_with_the_vectors_of_rfc_4648() {
        check(Json::bytes(b"a\\b"), r#"{"text":"a\\b"}"#);
        check(Json::bytes(b"\xff\x00x"), r#"{"base64":"/wB4"}"#);
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
