//! The one error type of this crate. A kind exists only where a caller acts differently.

use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The schema file is wrong: correct it. `line` and `column` count from 1.
    Schema {
        /// Line in the schema file.
        line: usize,
        /// Column in that line, in characters.
        column: usize,
    },
    /// A field value cannot be encoded: correct the value, or widen the field.
    Value,
    /// A stored key does not conform to the schema at this byte offset: it is foreign, or the schema is wrong.
    Malformed {
        /// Offset of the first wrong byte in the stored key.
        offset: usize,
    },
    /// A limit is exceeded: a key too long, a plan of too many ranges.
    Limit,
    /// A query is wrong: unknown field, wrong type, or a full scan that was not asked for by name.
    Query,
    /// Two schemas do not fit each other.
    Conflict,
}

/// What failed, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    field: Option<String>,
}

impl Error {
    /// An error of this kind. The message is one sentence or two: what failed, on what, what to do.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), field: None }
    }

    /// A value that cannot be encoded.
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    /// A stored key that does not conform, at `offset` bytes from its start.
    pub fn malformed(offset: usize, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed { offset }, message)
    }

    /// A query that cannot be planned.
    pub fn query(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Query, message)
    }

    /// The same error, about this field. The innermost name wins.
    #[must_use]
    pub fn in_field(mut self, field: &str) -> Self {
        self.field.get_or_insert_with(|| field.to_owned());
        self
    }

    /// The same error, with an offset counted from `bytes` bytes further ahead.
    #[must_use]
    pub(crate) fn behind(mut self, bytes: usize) -> Self {
        if let ErrorKind::Malformed { offset } = &mut self.kind {
            *offset += bytes;
        }
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The field it is about, where there is one.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The message without field, line or offset.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Schema { line, column } => write!(f, "line {line}, column {column}: ")?,
            ErrorKind::Malformed { offset } => write!(f, "offset {offset}: ")?,
            _ => {}
        }
        if let Some(field) = &self.field {
            write!(f, "field `{field}`: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
