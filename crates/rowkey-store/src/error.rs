//! The one error type of the store. A kind exists only where a caller acts differently.

use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong whatever the state of the store: correct it.
    Invalid,
    /// A limit is exceeded ([`crate::limits`]).
    Limit,
    /// The table or family does not exist.
    NotFound,
    /// It exists already.
    AlreadyExists,
    /// The state of the store forbids it: a value that is no counter, a protected table, a store that another process has open.
    Conflict,
    /// This engine cannot do it, and says so by name.
    Unsupported,
    /// The engine cannot answer now: disk full, network down, closing. Nothing was written; retry later.
    Unavailable,
    /// Bytes on disk are not what was written, or of an unknown version.
    Corrupt,
    /// The deadline of a read is over.
    DeadlineExceeded,
    /// The caller cancelled the read ([`crate::Watch::cancel`]).
    Cancelled,
}

/// What failed, on which table, key or file, and what to do.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error, caused by `source`.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The same kind of error, its message behind `context` and a colon.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
