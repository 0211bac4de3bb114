//! Lines of a source, found at memory speed, in bounded memory however long a line is.

use super::unpack::Gauge;
use memchr::memchr;
use std::io::{self, Read};
use std::rc::Rc;

/// Bytes read at once.
const CHUNK_BYTES: usize = 128 * 1024;

/// Bytes at the beginning that tell what a source is. They are waited for, so that the answer does not depend on how a pipe divides them.
pub(super) const HEAD_BYTES: usize = 64 * 1024;

/// Bytes that are kept of a line that is too long.
const LONG_BYTES_KEPT: usize = 128;

/// A line, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'b> {
    /// Its bytes. A carriage return at the end is still there: see [`trim_cr`].
    Text(&'b [u8]),
    /// A line over the limit: how it begins, and its length.
    TooLong(&'b [u8], u64),
}

/// Reads lines.
pub(super) struct Lines<'r> {
    source: Box<dyn Read + 'r>,
    gauge: Rc<Gauge>,
    progress: &'r mut dyn FnMut(u64),
    line_bytes_max: usize,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// So many of those have no line feed.
    searched: usize,
    ended: bool,
    /// What happened behind the unread bytes.
    failed: Option<io::Error>,
    number: u64,
    /// How a line begins that is being skipped.
    long: Vec<u8>,
    skipping: bool,
    /// Whether the source began with a byte order mark of UTF-8.
    pub(super) bom: bool,
}

impl<'r> Lines<'r> {
    /// Reads the head of a source.
    pub(super) fn new(
        source: Box<dyn Read + 'r>,
        gauge: Rc<Gauge>,
        progress: &'r mut dyn FnMut(u64),
        line_bytes_max: usize,
    ) -> Self {
        let buffer = vec![0; CHUNK_BYTES];
        let mut lines = Self {
            source,
            gauge,
            progress,
            line_bytes_max,
            buffer,
            start: 0,
            end: 0,
            searched: 0,
            ended: false,
            failed: None,
            number: 0,
            long: Vec::new(),
            skipping: false,
            bom: false,
        };
        while lines.end < HEAD_BYTES && !lines.ended && lines.failed.is_none() {
            lines.failed = lines.fill().err();
        }
        if lines.unread().starts_with(b"\xef\xbb\xbf") {
            lines.bom = true;
            lines.start = 3;
        }
        lines
    }

    /// Bytes read and not yet given out as lines.
    pub(super) fn unread(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// A line with more bytes is too long.
    pub(super) fn line_bytes_max(&self) -> usize {
        self.line_bytes_max
    }

    /// Lines given out.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line. `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of the source, when all complete lines before them were given out.
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let from = self.start + self.searched;
            if let Some(length) = memchr(b'\n', &self.buffer[from..self.end]) {
                let (start, end) = (self.start, from + length);
                self.start = end + 1;
                self.searched = 0;
                self.number += 1;
                return Ok(Some(self.line(start, end)));
            }
            self.searched = self.end - self.start;
            if self.searched > self.line_bytes_max {
                return self.skip_long();
            }
            if self.ended {
                return Ok(self.last());
            }
            self.fill()?;
        }
    }

    /// After an error: how the piece of a line begins that it cut off, counted as a line. `None`: it struck between lines.
    pub(super) fn take_cut(&mut self) -> Option<Vec<u8>> {
        let cut = if self.skipping { &self.long } else { self.unread() };
        let cut = cut[..cut.len().min(LONG_BYTES_KEPT)].to_vec();
        self.start = self.end;
        self.searched = 0;
        self.skipping = false;
        self.number += u64::from(!cut.is_empty());
        (!cut.is_empty()).then_some(cut)
    }

    fn line(&self, start: usize, end: usize) -> Line<'_> {
        let text = &self.buffer[start..end];
        if text.len() > self.line_bytes_max {
            return Line::TooLong(&text[..text.len().min(LONG_BYTES_KEPT)], text.len() as u64);
        }
        Line::Text(text)
    }

    fn last(&mut self) -> Option<Line<'_>> {
        let (start, end) = (self.start, self.end);
        self.start = end;
        self.searched = 0;
        if start == end {
            return None;
        }
        self.number += 1;
        Some(self.line(start, end))
    }

    /// Reads on to the end of a line that is too long for the buffer, and forgets it.
    fn skip_long(&mut self) -> io::Result<Option<Line<'_>>> {
        self.long.clear();
        self.long.extend_from_slice(&self.buffer[self.start..][..self.searched.min(LONG_BYTES_KEPT)]);
        self.skipping = true;
        let mut length = self.searched as u64;
        loop {
            self.start = self.end;
            self.searched = 0;
            if !self.ended {
                self.fill()?;
            }
            let unread = self.unread();
            let found = memchr(b'\n', unread);
            length += found.unwrap_or(unread.len()) as u64;
            if found.is_some() || self.ended {
                self.start = found.map_or(self.end, |at| self.start + at + 1);
                self.skipping = false;
                self.number += 1;
                return Ok(Some(Line::TooLong(&self.long, length)));
            }
        }
    }

    /// Reads more behind the unread bytes, which move.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            // Twice as much, but not much more than the longest line.
            let length = (self.end * 2).min(self.line_bytes_max.saturating_add(CHUNK_BYTES));
            self.buffer.resize(length.max(self.end + CHUNK_BYTES), 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(length) => self.end += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            (self.progress)(self.gauge.bytes.get());
            return Ok(());
        }
    }
}

/// A line without the carriage return of its end.
#[inline]
pub(super) fn trim_cr(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}
