//! A progress bar on stderr: only if stderr is a terminal, and only once the work has lasted a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

const QUIET_FOR: Duration = Duration::from_secs(1);

/// A progress bar that shows itself late.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: bool,
}

impl Progress {
    /// `total`: how much there is to do, if known; `unit`: bytes or rows.
    pub(crate) fn new(what: &str, total: Option<u64>, unit: Unit) -> Self {
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let template = match (unit, total.is_some()) {
            (Unit::Bytes, true) => "{prefix} {wide_bar} {bytes}/{total_bytes} {msg} {eta}",
            (Unit::Bytes, false) => "{prefix} {spinner} {bytes} {msg}",
            (Unit::Seconds, _) => "{prefix} {wide_bar} {human_pos}/{human_len} s {msg} {eta}",
            (Unit::Rows, true) => "{prefix} {wide_bar} {human_pos}/{human_len} rows {msg} {eta}",
            (Unit::Rows, false) => "{prefix} {spinner} {human_pos} rows {msg}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        Self { bar, begun: Instant::now(), shown: false }
    }

    /// How far it is.
    pub(crate) fn set(&mut self, position: u64) {
        self.show_if_late();
        self.bar.set_position(position);
    }

    fn show_if_late(&mut self) {
        if !self.shown && self.begun.elapsed() >= QUIET_FOR {
            self.shown = true;
            if std::io::stderr().is_terminal() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What a progress bar counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes of a file.
    Bytes,
    /// Rows.
    Rows,
    /// Seconds that are simulated.
    Seconds,
}
