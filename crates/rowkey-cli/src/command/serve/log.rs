//! What the server logs, on stderr: lines for people, or JSON lines.

use clap::ValueEnum;
use std::io;
use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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
    /// Every request that failed, with its id.
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
    // What libraries have to say below that, such as every frame of HTTP/2, is for their authors.
    let ours = Targets::new().with_default(level.min(Level::WARN)).with_target("rowkey", level);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    // A second server of this process, which there is none of, would log as the first one does.
    let _ = match format {
        LogFormat::Text => {
            tracing_subscriber::registry().with(lines.with_ansi(ansi).with_filter(ours)).try_init()
        }
        LogFormat::Json => {
            tracing_subscriber::registry().with(lines.json().flatten_event(true).with_filter(ours)).try_init()
        }
    };
}
