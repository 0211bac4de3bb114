//! Stdout: buffered, and a reader that goes away (`| head`) is noted instead of reported.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// For people: tables.
    #[default]
    Text,
    /// For programs: JSON lines, one object a line, each with a "type".
    Json,
    /// For spreadsheets: CSV with a header line.
    Csv,
}

/// What `--format` takes: the formats of every command, and one of `rowkey doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// For people: tables.
    #[default]
    Text,
    /// For programs: JSON lines.
    Json,
    /// For spreadsheets.
    Csv,
    /// For continuous integration: SARIF 2.1.0. Only the doctor has findings.
    Sarif,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On terminals, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether to colour what goes to a stream that is a terminal or not.
    pub(crate) fn applies(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                is_terminal && !refused && !dumb
            }
        }
    }
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Headings.
    Heading,
    /// `error:`.
    Error,
    /// `warning:`.
    Warning,
    /// Worth knowing.
    Note,
    /// As it should be.
    Good,
    /// What explains the rest.
    Faint,
}

/// `text`, coloured if `color`.
pub(crate) fn styled(text: &str, style: Style, color: bool) -> String {
    let code = match style {
        Style::Heading => "1",
        Style::Error => "1;31",
        Style::Warning => "1;33",
        Style::Note => "36",
        Style::Good => "1;32",
        Style::Faint => "2",
    };
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Stdout.
#[derive(Debug)]
pub(crate) struct Output {
    writer: BufWriter<Stdout>,
    broken: bool,
    /// Whether what is written may have colour.
    pub(crate) color: bool,
    /// Columns of the terminal that it goes to; `None` if it is none.
    pub(crate) columns: Option<usize>,
}

impl Output {
    /// Stdout, coloured as `color` says.
    pub(crate) fn new(color: Color) -> Self {
        let stdout = io::stdout();
        let color = color.applies(stdout.is_terminal());
        let columns = terminal_size::terminal_size_of(&stdout).map(|(width, _)| width.0.into());
        Self { writer: BufWriter::with_capacity(64 * 1024, stdout), broken: false, color, columns }
    }

    /// Whether the reader of our output has gone away.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    ///
    /// If stdout cannot be written.
    pub(crate) fn flush_all(&mut self) -> anyhow::Result<()> {
        Ok(self.flush()?)
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            self.broken |= error.kind() == io::ErrorKind::BrokenPipe;
            io::Error::new(error.kind(), format!("stdout cannot be written: {error}"))
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.flush();
        self.note(result)
    }
}
