//! Exit codes: 0 done or yes, 1 the answer is no, 2 usage, 3 bad data, 4 engine unavailable, 130 interrupted.

use std::fmt;
use std::process::ExitCode;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or the answer is yes.
    Done,
    /// The answer is no: findings, differences, no such row.
    No,
    /// Ctrl-C: what was begun is finished and reported, the rest is not done.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::No => ExitCode::from(1),
            Exit::Interrupted => ExitCode::from(130),
        }
    }
}

/// An error of this crate's own, with its exit code. Errors of other crates are judged by their kind.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The command line asks for something that makes no sense (2).
    pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
        Self { code: 2, message: message.into() }.into()
    }

    /// What was read is wrong (3).
    pub(crate) fn bad_data(message: impl Into<String>) -> anyhow::Error {
        Self { code: 3, message: message.into() }.into()
    }

    /// The store cannot be reached (4).
    pub(crate) fn unavailable(message: impl Into<String>) -> anyhow::Error {
        Self { code: 4, message: message.into() }.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The exit code of an error: that of the outermost cause that has one.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of).unwrap_or(3)
}

fn code_of(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return Some(failure.code);
    }
    if let Some(error) = cause.downcast_ref::<rowkey::Error>() {
        return Some(match error.kind() {
            rowkey::ErrorKind::Query => 2,
            _ => 3,
        });
    }
    if let Some(error) = cause.downcast_ref::<rowkey_table::Error>() {
        return Some(code_of_table(error));
    }
    if let Some(error) = cause.downcast_ref::<rowkey_hotspot::Error>() {
        return Some(match error.kind() {
            rowkey_hotspot::ErrorKind::Conflict => 2,
            _ => 3,
        });
    }
    if let Some(error) = cause.downcast_ref::<rowkey_store::Error>() {
        return Some(code_of_store(error.kind()));
    }
    None
}

fn code_of_table(error: &rowkey_table::Error) -> u8 {
    use rowkey_table::ErrorKind;
    match error.kind() {
        ErrorKind::Query | ErrorKind::Invalid => 2,
        // What a key design cannot do should not be asked for; what an engine cannot do needs another engine.
        ErrorKind::Unsupported if std::error::Error::source(error).is_none() => 2,
        ErrorKind::Unavailable | ErrorKind::Unsupported | ErrorKind::DeadlineExceeded => 4,
        _ => 3,
    }
}

fn code_of_store(kind: rowkey_store::ErrorKind) -> u8 {
    use rowkey_store::ErrorKind;
    match kind {
        ErrorKind::Unavailable | ErrorKind::Unsupported | ErrorKind::DeadlineExceeded => 4,
        _ => 3,
    }
}
