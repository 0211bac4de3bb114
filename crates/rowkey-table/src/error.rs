//! The one error type of this crate. A kind exists only where a caller acts differently.

use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong whatever the state of the table: correct it.
    Invalid,
    /// A value does not fit its field.
    Value,
    /// A query cannot be planned, or not in the order asked for.
    Query,
    /// A stored key does not conform to the schema at this byte offset: it is foreign, or the schema is wrong.
    Malformed {
        /// Offset of the first wrong byte in the stored key.
        offset: usize,
    },
    /// A limit of the key or the store is exceeded.
    Limit,
    /// The table or family does not exist.
    NotFound,
    /// The table exists already.
    AlreadyExists,
    /// Another schema than the table's, or a state of the store that forbids it.
    Conflict,
    /// The input of an import is wrong: correct the file or the mapping.
    Data,
    /// This engine or this key design cannot do it.
    Unsupported,
    /// The engine cannot answer now; retry later.
    Unavailable,
    /// A bucket did not answer in time.
    DeadlineExceeded,
    /// Bytes on disk are not what was written.
    Corrupt,
    /// The output of an export cannot be written: disk full, broken pipe.
    Output,
    /// The caller's progress function said stop.
    Cancelled,
}

/// What failed, on which table, bucket, key or file, and what to do.
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

    /// A request that is wrong whatever the state of the table.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Input that is wrong.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// The same error, caused by `source`.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same kind of error, its message behind `context` and a colon.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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

impl From<rowkey::Error> for Error {
    fn from(error: rowkey::Error) -> Self {
        let kind = match error.kind() {
            rowkey::ErrorKind::Value => ErrorKind::Value,
            rowkey::ErrorKind::Malformed { offset } => ErrorKind::Malformed { offset },
            rowkey::ErrorKind::Limit => ErrorKind::Limit,
            rowkey::ErrorKind::Query => ErrorKind::Query,
            rowkey::ErrorKind::Conflict => ErrorKind::Conflict,
            _ => ErrorKind::Invalid,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

impl From<rowkey_store::Error> for Error {
    fn from(error: rowkey_store::Error) -> Self {
        use rowkey_store::ErrorKind as Store;
        let kind = match error.kind() {
            Store::Limit => ErrorKind::Limit,
            Store::NotFound => ErrorKind::NotFound,
            Store::AlreadyExists => ErrorKind::AlreadyExists,
            Store::Conflict => ErrorKind::Conflict,
            Store::Unsupported => ErrorKind::Unsupported,
            Store::Unavailable => ErrorKind::Unavailable,
            Store::Corrupt => ErrorKind::Corrupt,
            Store::DeadlineExceeded => ErrorKind::DeadlineExceeded,
            Store::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::Invalid,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}
