//! The bytes of a source, unpacked: gzip and zstd are told by their first bytes. Never seeks.

use super::Compression;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::Cell;
use std::error::Error as StdError;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// Bytes asked of the source at once.
const SOURCE_BYTES: usize = 64 * 1024;

/// The first bytes that tell gzip (RFC 1952, 2.3.1) and zstd (RFC 8878, 3.1.1; skippable frames 3.1.2).
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// The greatest window of a zstd frame, 128 MiB: what the `zstd` tool unpacks without being asked for more. A frame takes as much memory
/// as its window says: 8 MiB at most up to level 19.
const ZSTD_WINDOW_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// What is known of a source while something else reads it.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    /// Bytes read, as they are in the source.
    pub(super) bytes: Cell<u64>,
    /// The source failed, not what unpacks it.
    pub(super) failed: Cell<bool>,
}

/// The unpacked bytes of a source.
///
/// # Errors
///
/// Those of the source.
pub(super) fn open<'r>(
    source: impl Read + 'r,
    gauge: &Rc<Gauge>,
) -> io::Result<(Compression, Box<dyn Read + 'r>)> {
    let mut source = Gauged { source, gauge: Rc::clone(gauge) };
    let mut start = Vec::with_capacity(ZSTD.len());
    (&mut source).take(ZSTD.len() as u64).read_to_end(&mut start)?;
    let compression = compression_of(&start);
    let whole = Cursor::new(start).chain(source);
    let buffered = |whole| BufReader::with_capacity(SOURCE_BYTES, whole);
    Ok(match compression {
        Compression::None => (compression, Box::new(whole)),
        Compression::Gzip => (compression, Box::new(MultiGzDecoder::new(buffered(whole)))),
        Compression::Zstd => (compression, Box::new(ZstdFrames::new(buffered(whole)))),
    })
}

/// How something is packed that begins with these bytes.
pub(super) fn compression_of(start: &[u8]) -> Compression {
    let skippable = start.len() == 4 && start[1..] == ZSTD_SKIPPABLE && (0x50..=0x5f).contains(&start[0]);
    if start.starts_with(&GZIP) {
        Compression::Gzip
    } else if start.starts_with(&ZSTD) || skippable {
        Compression::Zstd
    } else {
        Compression::None
    }
}

struct Gauged<R> {
    source: R,
    gauge: Rc<Gauge>,
}

impl<R: Read> Read for Gauged<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.source.read(buffer);
        match &result {
            Ok(length) => self.gauge.bytes.set(self.gauge.bytes.get() + *length as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.gauge.failed.set(true),
        }
        result
    }
}

/// The content of zstd frames, one behind the other. Skippable frames are skipped, checksums are checked.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Between the header of a frame and the last byte of its content.
    within: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        Self { source, decoder, within: false }
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.within = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let skipped = io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                if skipped < u64::from(length) {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(zstd_failed(&error)),
        }
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.within = false;
        let wanted = self.decoder.get_checksum_from_data();
        if wanted.is_some() && wanted != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a frame is wrong"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin_frame()?;
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            } else if self.decoder.is_finished() {
                self.end_frame()?;
            } else {
                let blocks = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, blocks).map_err(|error| zstd_failed(&error))?;
            }
        }
    }
}

fn zstd_failed(error: &FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<io::Error>() {
            return io::Error::new(inner.kind(), inner.to_string());
        }
        cause = inner.source();
    }
    let message = match error {
        FrameDecoderError::WindowSizeTooBig { requested, max } => {
            let mib = 1024 * 1024;
            format!("it needs a window of {} MiB, the limit is {} MiB", requested.div_ceil(mib), max / mib)
        }
        FrameDecoderError::DictNotProvided { dict_id } => {
            format!("it was packed with dictionary {dict_id}, which is not in the file")
        }
        FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_)) => {
            "what follows a frame is no frame".to_owned()
        }
        _ => error.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidData, message)
}
