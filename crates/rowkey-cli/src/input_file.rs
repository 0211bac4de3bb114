//! Files that commands read: opened once, refused with the same words.

use crate::exit::Failure;
use anyhow::Result;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file opened for reading, and its length in bytes if it is a plain one.
///
/// # Errors
///
/// Bad data, if it cannot be read or is a folder.
pub(crate) fn open(file: &Path) -> Result<(File, Option<u64>)> {
    let shown = file.display();
    let failed = |error: io::Error| Failure::bad_data(format!("{shown}: cannot be read: {error}"));
    let opened = File::open(file).map_err(failed)?;
    let metadata = opened.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Failure::bad_data(format!("{shown} is a folder; give a file")));
    }
    let length = metadata.is_file().then_some(metadata.len());
    Ok((opened, length))
}
