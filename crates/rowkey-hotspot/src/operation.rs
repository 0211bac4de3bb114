//! One operation on a table, as a log or a recorder tells it.

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Wrote a row.
    Write,
    /// Read a row by its complete key.
    Read,
    /// Read a range of rows.
    Scan,
    /// Deleted a row.
    Delete,
}

impl OpKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Write, Self::Read, Self::Scan, Self::Delete];

    /// Its name in files: `write`, `read`, `scan`, `delete`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Scan => "scan",
            Self::Delete => "delete",
        }
    }
}

/// An operation, in the order in which operations arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    /// What it did.
    pub kind: OpKind,
    /// The row key, or the first key of a scan.
    pub key: &'a [u8],
    /// The key at which a scan ends, itself not read. `None`: not a scan, or not known.
    pub end: Option<&'a [u8]>,
    /// When it arrived, in milliseconds since the epoch, if known.
    pub time_ms: Option<i64>,
    /// Rows touched, if known.
    pub rows: Option<u64>,
    /// Bytes written or answered, if known.
    pub bytes: Option<u64>,
}

impl<'a> Operation<'a> {
    /// A write of which nothing but the key is known.
    pub fn write(key: &'a [u8]) -> Self {
        Self { kind: OpKind::Write, key, end: None, time_ms: None, rows: None, bytes: None }
    }
}
