//! `--record`: what a command does to rows, appended to a file as JSON lines.

use crate::exit::Failure;
use anyhow::Result;
use rowkey_hotspot::input::record::Writer;
use rowkey_store::wrap::{Record, Recorded, Recorder};
use rowkey_store::{Clock, Engine};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The option of commands that read or write rows.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Recording")]
pub(crate) struct RecordArgs {
    /// Append each row written, deleted, read or scanned to this file, as JSON lines of operations
    #[arg(long, value_name = "FILE", env = "ROWKEY_RECORD", hide_env_values = true)]
    record: Option<PathBuf>,
}

impl RecordArgs {
    /// The file, if there is one: an empty variable is none.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.record.as_deref().filter(|file| !file.as_os_str().is_empty())
    }
}

/// A file that operations are appended to.
#[derive(Debug)]
pub(crate) struct Recording {
    file: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    writer: Writer<File>,
    /// Nothing is written after the first failure.
    failed: Option<io::Error>,
}

impl State {
    fn run(&mut self, write: impl FnOnce(&mut Writer<File>) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.writer).err();
        }
    }
}

impl Recording {
    /// Opens or makes the file.
    ///
    /// # Errors
    ///
    /// Bad data (exit 3) if it cannot be written.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        let opened = OpenOptions::new().create(true).append(true).open(file).map_err(|error| {
            Failure::bad_data(format!("--record {}: the file cannot be written: {error}", file.display()))
        })?;
        let state = State { writer: Writer::new(opened), failed: None };
        Ok(Self { file: file.to_owned(), state: Arc::new(Mutex::new(state)) })
    }

    /// The engine, with its operations recorded.
    pub(crate) fn around(&self, engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        let state = Arc::clone(&self.state);
        let tell = move |record: Record| {
            state.lock().unwrap_or_else(PoisonError::into_inner).run(|writer| writer.record(&record));
        };
        Arc::new(Recorded::new(engine, Recorder::new(clock, tell)))
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// Bad data (exit 3) if not everything could be written.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.run(Writer::flush);
        match &state.failed {
            None => Ok(()),
            Some(error) => Err(Failure::bad_data(format!(
                "--record {}: the command was done, but not all of its operations could be recorded: {error}",
                self.file.display()
            ))),
        }
    }
}
