//! What the server logs, on stderr: lines for people, or JSON lines.

use clap::ValueEnum;
use std::io;
use tracing::Level;

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// An object a line.
    Json,
}

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogLevel {
    /// What needs somebody.
    Error,
    /// What somebody should know.
    #[default]
    Warn,
    /// What happened: tables made, tablets cut.
    Info,
    /// Every request.
    Debug,
}

/// Begins to log, for the rest of the process.
pub(crate) fn start(format: LogFormat, level: LogLevel, ansi: bool) {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
    };
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    // A second server of this process, which there is none of, would log as the first one does.
    let _ = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(lines.with_ansi(ansi).finish()),
        LogFormat::Json => tracing::subscriber::set_global_default(lines.json().flatten_event(true).finish()),
    };
}
