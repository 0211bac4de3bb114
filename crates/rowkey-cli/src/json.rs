//! JSON lines: one object a line, `"type"` first, members in the order in which they are put.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// One JSON object, written member by member.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    /// `{"type": kind`.
    pub(crate) fn line(kind: &str) -> Self {
        Self::new().text("type", kind)
    }

    /// `{`.
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(mut self, name: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        let _ = write!(self.0, "{}:{json}", quote(name));
        self
    }

    /// A text.
    pub(crate) fn text(self, name: &str, text: &str) -> Self {
        let json = quote(text);
        self.raw(name, &json)
    }

    /// A number.
    pub(crate) fn number(self, name: &str, number: impl std::fmt::Display) -> Self {
        let json = number.to_string();
        self.raw(name, &json)
    }

    /// Bytes, as `{"text": ...}` if they are UTF-8, else as `{"base64": ...}`.
    pub(crate) fn bytes(self, name: &str, bytes: &[u8]) -> Self {
        let json = self::bytes(bytes);
        self.raw(name, &json)
    }

    /// The finished object.
    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Bytes, as `{"text": ...}` if they are UTF-8, else as `{"base64": ...}`.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{{\"text\":{}}}", quote(text)),
        Err(_) => format!("{{\"base64\":\"{}\"}}", STANDARD.encode(bytes)),
    }
}

/// A JSON array of what is JSON already.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}
