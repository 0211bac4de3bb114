//! Errors of the LSM crate in the words of the store: where, what, and what to do.

use rowkey_store::{Error, ErrorKind};
use std::io;
use std::path::Path;

/// Whether an error of fjall says that bytes are not what was written.
pub(crate) fn is_damage(error: &fjall::Error) -> bool {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => {
            // Seeking before the start of a file that was cut is invalid input to the system.
            use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof};
            matches!(error.kind(), UnexpectedEof | InvalidData | InvalidInput | NotFound)
        }
        fjall::Error::Poisoned | fjall::Error::Locked => false,
        _ => true,
    }
}

/// What fjall reports about the store at `path`, while it was doing something ("writing"). The damaged file, if it is known.
pub(crate) fn of_fjall(path: &Path, doing: &str, error: fjall::Error, file: Option<&Path>) -> Error {
    let at = path.display();
    if is_damage(&error) {
        let what = match file {
            Some(file) => format!("{} is damaged", file.display()),
            None => "a file in it is damaged".to_owned(),
        };
        let message = format!(
            "{doing} the store at {at}: {what} ({error}): restore its table from a backup, or copy what can be read into a new store"
        );
        return Error::new(ErrorKind::Corrupt, message).with_source(error);
    }
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => {
            of_io(path, doing, error)
        }
        fjall::Error::Locked => still_held(path),
        _ => stopped(path, "a background write failed; most likely the disk is full"),
    }
}

/// What the system reports about a file or folder.
pub(crate) fn of_io(path: &Path, doing: &str, error: io::Error) -> Error {
    let at = path.display();
    let (kind, advice) = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (ErrorKind::Unavailable, "the disk is full: free space, then open the store again")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            ErrorKind::Unavailable,
            "the folder must be writable, for reading too (it holds the lock and the log): change its permissions or copy it",
        ),
        io::ErrorKind::NotFound => {
            (ErrorKind::Corrupt, "a file of the store is missing: restore it from a backup")
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            (ErrorKind::Corrupt, "a file of the store is cut or damaged: restore it from a backup")
        }
        _ => (ErrorKind::Unavailable, "check the disk, then open the store again"),
    };
    Error::new(kind, format!("{doing} {at}: {error}; {advice}")).with_source(error)
}

/// The store has stopped writing after an error.
pub(crate) fn stopped(path: &Path, reason: &str) -> Error {
    let at = path.display();
    let message = format!(
        "the store at {at} takes no writes since one of them failed ({reason}); what is in it can be read: free space or repair the \
         disk, then open the store again"
    );
    Error::new(ErrorKind::Unavailable, message)
}

/// The store is closed.
pub(crate) fn closed(path: &Path) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the store at {} is closed: open it again", path.display()))
}

/// Another process has the store.
pub(crate) fn in_use(path: &Path) -> Error {
    let at = path.display();
    let message = format!(
        "the store at {at} is in use: one process at a time may open it. Stop the other one (`lsof {at}/LOCK` shows it), or \
         let it serve this request"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// No other process has the store, yet its files are in use.
fn still_held(path: &Path) -> Error {
    let at = path.display();
    let message = format!(
        "the store at {at} was closed, but snapshots or scans of it are still held by this process: drop them, then open it again"
    );
    Error::new(ErrorKind::Conflict, message)
}
