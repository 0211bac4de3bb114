//! Ctrl-C: the first one asks the command to finish its batch and report; the second one ends the process at once.
//! A command that waits for its stdin hears of it too.

use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

const CHUNK_BYTES: usize = 64 * 1024;
/// How often a wait for input looks whether Ctrl-C was pressed.
const POLL: Duration = Duration::from_millis(50);

/// Whether Ctrl-C was pressed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to watch for Ctrl-C and SIGTERM. Commands that never ask are ended by the signal as usual, so only those that ask call this.
    ///
    /// # Errors
    ///
    /// If the system refuses a signal handler.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // In this order: the second signal finds the flag set, and ends the process.
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Input that may be long in coming: once Ctrl-C was pressed and nothing comes, reading fails instead of waiting.
#[derive(Debug)]
pub(crate) struct Interruptible {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Cursor<Vec<u8>>,
    interrupt: Interrupt,
}

impl Interruptible {
    /// Reads `input` in a thread of its own, which ends with the input or with the process.
    pub(crate) fn new(mut input: impl Read + Send + 'static, interrupt: Interrupt) -> Self {
        let (sender, chunks) = sync_channel(4);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let read = match input.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(length) => {
                        chunk.truncate(length);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = read.is_err();
                if sender.send(read).is_err() || failed {
                    return;
                }
            }
        });
        Self { chunks, chunk: Cursor::default(), interrupt }
    }
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.chunk.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            match self.chunks.recv_timeout(POLL) {
                Ok(chunk) => self.chunk = Cursor::new(chunk?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_set() => {
                    return Err(io::Error::other("interrupted while waiting for it"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Output that fails once Ctrl-C was pressed: ends work that asks nobody while it runs.
#[derive(Debug)]
pub(crate) struct InterruptibleWrite<W> {
    output: W,
    interrupt: Interrupt,
}

impl<W: Write> InterruptibleWrite<W> {
    /// Writes to `output`.
    pub(crate) fn new(output: W, interrupt: Interrupt) -> Self {
        Self { output, interrupt }
    }
}

impl<W: Write> Write for InterruptibleWrite<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interrupt.is_set() {
            return Err(io::Error::other("interrupted"));
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one line, then nothing, without an end.
    struct Slow(Option<&'static [u8]>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(line) = self.0.take() else {
                loop {
                    std::thread::park();
                }
            };
            buffer[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }

    #[test]
    fn input_that_does_not_come_is_given_up_at_ctrl_c() {
        let interrupt = Interrupt::default();
        let mut input = Interruptible::new(Slow(Some(b"a,b")), interrupt.clone());
        interrupt.0.store(true, Ordering::Relaxed);
        let mut read = Vec::new();
        assert!(input.read_to_end(&mut read).unwrap_err().to_string().contains("interrupted"));
        assert_eq!(read, b"a,b");
    }

    #[test]
    fn output_fails_after_ctrl_c() {
        let interrupt = Interrupt::default();
        let mut out = InterruptibleWrite::new(Vec::new(), interrupt.clone());
        out.write_all(b"a").unwrap();
        interrupt.0.store(true, Ordering::Relaxed);
        assert!(out.write_all(b"b").is_err());
        assert_eq!(out.output, b"a");
    }

    #[test]
    fn input_comes_as_it_is() {
        let long = b"0123456789".repeat(50_000);
        let mut read = Vec::new();
        Interruptible::new(Cursor::new(long.clone()), Interrupt::default()).read_to_end(&mut read).unwrap();
        assert_eq!(read, long);
    }
}
