//! Files that are there as a whole or not at all.

use crate::exit::Failure;
use anyhow::Result;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 256 * 1024;

/// Writes a file under its name with `.part` behind, and gives it its name when it is complete and on disk. What is there under that
/// name and is no file (a pipe, a device such as `/dev/null`) is written as it is; a link leads to what is written.
///
/// # Errors
///
/// If the file cannot be written, and whatever `fill` says; then nothing is left behind.
pub(crate) fn write<T>(file: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let known = fs::metadata(file).ok();
    if known.as_ref().is_some_and(|known| !known.is_file() && !known.is_dir()) {
        return fill_in_place(file, fill);
    }
    // Renaming would put a file in the place of a link.
    let real = known.and_then(|_| fs::canonicalize(file).ok()).unwrap_or_else(|| file.to_owned());
    let part = part_of(&real);
    let result = fill_part(&real, &part, file, fill);
    if result.is_err() {
        // It may not even have been created.
        let _ = fs::remove_file(&part);
    }
    result
}

fn fill_part<T>(
    file: &Path,
    part: &Path,
    shown: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let failed = |error| failed(shown, &error);
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, File::create(part).map_err(failed)?);
    let answer = fill(&mut writer)?;
    let written = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    written.sync_all().map_err(failed)?;
    fs::rename(part, file).map_err(failed)?;
    Ok(answer)
}

fn fill_in_place<T>(file: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let failed = |error| failed(file, &error);
    let opened = OpenOptions::new().write(true).open(file).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, opened);
    let answer = fill(&mut writer)?;
    writer.flush().map_err(failed)?;
    Ok(answer)
}

fn failed(file: &Path, error: &io::Error) -> anyhow::Error {
    Failure::bad_data(format!("{}: cannot be written: {error}", file.display()))
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

    /// A device was replaced by a file of its name, and so was a link.
    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt as _;
        let hello = |out: &mut dyn Write| Ok(out.write_all(b"hello")?);
        write(Path::new("/dev/null"), hello).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, hello).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"hello");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(write(folder.path(), hello).unwrap_err().to_string().contains("cannot be written"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
