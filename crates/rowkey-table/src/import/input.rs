//! Bytes of an import: unpacks gzip, refuses what is no text, and keeps the text of the record at hand for the reject file.

use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, Read};

/// Bytes looked at to tell text from something else.
const PEEK_BYTES: usize = 1024;
/// Bytes waited for: more than any mark of a kind of file has. A pipe may be long in bringing more.
const PEEK_BYTES_MIN: usize = 16;

/// A record longer than this is taken for a quote that is never closed, 64 MiB.
pub(crate) const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The text of a file: unpacked if it begins like gzip, as it is otherwise.
///
/// # Errors
///
/// `Data` for a file that is binary, UTF-16, or packed in another way; `Unavailable` if it cannot be read.
pub fn open_text<'r>(mut reader: impl Read + 'r) -> Result<Box<dyn Read + 'r>> {
    let start = peek(&mut reader).map_err(|error| read_failed(&error))?;
    if !start.starts_with(&[0x1f, 0x8b]) {
        check_is_text(&start)?;
        return Ok(Box::new(Cursor::new(start).chain(reader)));
    }
    let mut unpacked = MultiGzDecoder::new(Cursor::new(start).chain(reader));
    let start = peek(&mut unpacked).map_err(|error| read_failed(&error))?;
    check_is_text(&start)?;
    Ok(Box::new(Cursor::new(start).chain(unpacked)))
}

fn peek(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = vec![0; PEEK_BYTES];
    let mut length = 0;
    while length < PEEK_BYTES_MIN {
        match reader.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    start.truncate(length);
    Ok(start)
}

/// The error of input that could not be read.
pub(crate) fn read_failed(error: &io::Error) -> Error {
    Error::data(format!("the input cannot be read: {error}"))
}

fn check_is_text(start: &[u8]) -> Result<()> {
    const PACKED: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive (or a spreadsheet); unpack it or save it as CSV"),
        (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it and pipe it in"),
        (b"BZh", "packed with bzip2; unpack it and pipe it in"),
        (b"\xfd7zXZ\x00", "packed with xz; unpack it and pipe it in"),
        (b"PAR1", "a Parquet file; convert it to CSV or JSON lines"),
        (b"\x1f\x8b", "packed with gzip twice; unpack it once"),
    ];
    if let Some((_, what)) = PACKED.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Err(Error::data(format!("the input is {what}")));
    }
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err(Error::data("the input is UTF-16; convert it to UTF-8"));
    }
    // In the first line alone: values of our own CSV export may hold any byte.
    let first_line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if let Some(at) = first_line.iter().position(|&byte| byte == 0) {
        let message = format!("the input is no text: byte {at} is 00. Expected CSV or JSON lines in UTF-8");
        return Err(Error::data(message));
    }
    Ok(())
}

/// Passes bytes on and remembers them until they are released: the CSV reader does not tell the text of a record.
#[derive(Debug)]
pub(crate) struct Remembering<R> {
    inner: R,
    window: Vec<u8>,
    window_start: u64,
}

impl<R: Read> Remembering<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, window: Vec::new(), window_start: 0 }
    }

    /// The bytes between two offsets that were not released.
    pub(crate) fn text(&self, start: u64, end: u64) -> &[u8] {
        let at = |offset: u64| {
            usize::try_from(offset.saturating_sub(self.window_start))
                .unwrap_or(usize::MAX)
                .min(self.window.len())
        };
        &self.window[at(start)..at(end)]
    }

    /// Forgets what lies before this offset, when that is worth the copy.
    pub(crate) fn release(&mut self, offset: u64) {
        let length = usize::try_from(offset.saturating_sub(self.window_start)).unwrap_or(usize::MAX);
        let length = length.min(self.window.len());
        if length > self.window.len() / 2 {
            self.window.drain(..length);
            self.window_start += length as u64;
        }
    }

    /// Bytes read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.window_start + self.window.len() as u64
    }
}

impl<R: Read> Read for Remembering<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.window.len() > RECORD_BYTES_MAX {
            let message = "a record is longer than 64 MiB; is a quote never closed?";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let length = self.inner.read(buffer)?;
        self.window.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    fn read(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        open_text(bytes)?.read_to_end(&mut out).map_err(|error| read_failed(&error))?;
        Ok(out)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_told_by_its_first_bytes_and_members_follow_each_other() {
        let long = b"a,b\n".repeat(1000);
        assert_eq!(read(&long).unwrap(), long);
        assert_eq!(read(&gzip(&long)).unwrap(), long);
        assert_eq!(read(&[gzip(b"a\n"), gzip(b"b\n")].concat()).unwrap(), b"a\nb\n");
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn what_is_no_text_is_refused_by_name() {
        let check = |bytes: &[u8], what: &str| {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        check(b"PK\x03\x04....", "zip");
        check(b"\xff\xfea\x00", "UTF-16");
        check(b"abc\x00", "byte 3 is 00");
        check(&gzip(&gzip(b"a")), "twice");
        check(&gzip(b"abc")[..15], "cannot be read");
    }
}
