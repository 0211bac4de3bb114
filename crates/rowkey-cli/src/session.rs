//! What every command is given: where the store is, how to print, the clock.

use crate::cli::GlobalArgs;
use crate::exit::Exit;
use crate::output::{Color, Format, FormatArg, Output, Style, styled};
use crate::recording::Recording;
use anyhow::Result;
use rowkey_store::{Clock, SystemClock};
use std::cell::{Cell, OnceCell};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    /// `--store`, as given.
    pub(crate) store: String,
    /// `--format`; JSON if that is SARIF.
    pub(crate) format: Format,
    /// Whether `--format` is SARIF, which only the doctor prints.
    pub(crate) sarif: bool,
    /// Stdout.
    pub(crate) out: Output,
    /// The clock of the machine.
    pub(crate) clock: Arc<dyn Clock>,
    quiet: bool,
    store_is_lossy: Cell<bool>,
    recording: OnceCell<Recording>,
    color: Color,
}

impl Session {
    /// From the options that every command has.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        Self {
            store: global.store.clone(),
            format: match global.format {
                FormatArg::Text => Format::Text,
                FormatArg::Json | FormatArg::Sarif => Format::Json,
                FormatArg::Csv => Format::Csv,
            },
            sarif: global.format == FormatArg::Sarif,
            out: Output::new(global.color),
            clock: Arc::new(SystemClock),
            quiet: global.quiet,
            store_is_lossy: Cell::new(false),
            recording: OnceCell::new(),
            color: global.color,
        }
    }

    /// Keeps what must be finished when the command has ended: the operations recorded. There is one recording a run.
    pub(crate) fn keep(&self, recording: Recording) -> &Recording {
        self.recording.get_or_init(|| recording)
    }

    /// Writes what is left of the operations recorded.
    ///
    /// # Errors
    ///
    /// If that failed, now or before.
    pub(crate) fn finish_recording(&self) -> Result<()> {
        self.recording.get().map_or(Ok(()), Recording::finish)
    }

    /// Whether what goes to stderr is coloured.
    pub(crate) fn colours_stderr(&self) -> bool {
        self.color.applies(io::stderr().is_terminal())
    }

    /// Prints a warning to stderr.
    pub(crate) fn warn(&self, message: &str) {
        self.tell(Style::Warning, "warning:", message);
    }

    /// Prints a warning that the store lost data: the command goes on with what is there, and its exit code is that of bad data.
    pub(crate) fn warn_of_loss(&self, message: &str) {
        self.store_is_lossy.set(true);
        self.warn(message);
    }

    /// The exit code of a command that ended so: a result from a store that lost data is never passed off as a good one.
    pub(crate) fn exit_code(&self, exit: Exit) -> ExitCode {
        if exit == Exit::Done && self.store_is_lossy.get() { ExitCode::from(3) } else { exit.into() }
    }

    /// Prints a finding that is an error, where the command goes on.
    pub(crate) fn problem(&self, message: &str) {
        self.tell(Style::Error, "error:", message);
    }

    /// Prints a remark to stderr: what was done, when the result itself says nothing.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            // Stderr that cannot be written leaves nobody to tell.
            let _ = writeln!(io::stderr().lock(), "{message}");
        }
    }

    /// Prints an error and its causes to stderr.
    pub(crate) fn report(&self, error: &anyhow::Error) {
        let mut message = String::new();
        for cause in error.chain() {
            let text = cause.to_string();
            // Many errors repeat their cause in their own words.
            if message.contains(&text) {
                continue;
            }
            if !message.is_empty() {
                message.push_str(": ");
            }
            message.push_str(&text);
        }
        self.tell(Style::Error, "error:", &message);
    }

    fn tell(&self, style: Style, label: &str, message: &str) {
        let mut stderr = io::stderr().lock();
        let color = self.color.applies(stderr.is_terminal());
        let _ = writeln!(stderr, "{} {message}", styled(label, style, color));
    }
}
