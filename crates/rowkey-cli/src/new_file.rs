//! Files that are there as a whole or not at all.

use crate::exit::Failure;
use anyhow::Result;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file under its name with `.part` behind, and gives it its name when it is complete and on disk.
///
/// # Errors
///
/// If the file cannot be written, and whatever `fill` says; then nothing is left behind.
pub(crate) fn write<T>(file: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let part = part_of(file);
    let result = fill_part(file, &part, fill);
    if result.is_err() {
        // It may not even have been created.
        let _ = fs::remove_file(&part);
    }
    result
}

fn fill_part<T>(file: &Path, part: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let failed =
        |error: io::Error| Failure::bad_data(format!("{}: cannot be written: {error}", file.display()));
    let mut writer = BufWriter::with_capacity(256 * 1024, File::create(part).map_err(failed)?);
    let answer = fill(&mut writer)?;
    let written = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    written.sync_all().map_err(failed)?;
    fs::rename(part, file).map_err(failed)?;
    Ok(answer)
}

fn part_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_fails_half_way_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let result: Result<()> = write(&file, |out| {
            out.write_all(b"half")?;
            Err(Failure::bad_data("no"))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&file, |out| Ok(out.write_all(b"whole")?)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"whole");
    }
}
