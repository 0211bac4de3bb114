//! Commands run as a user would type them: what the tour shows is what the commands print.

use crate::cli::Cli;
use crate::command;
use crate::exit::{Exit, Failure};
use crate::output::{Style, styled};
use crate::session::Session;
use anyhow::Result;
use clap::Parser as _;
use std::io::Write as _;

/// Prints a command line and runs it, in the folder that we are in.
pub(super) fn run(words: &[&str], session: &mut Session) -> Result<Exit> {
    let color = session.out.color;
    let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    writeln!(session.out, "{}", styled(&format!("$ rowkey {}", line.join(" ")), Style::Heading, color))?;
    let arguments = std::iter::once("rowkey").chain(words.iter().copied());
    // A line of ours that cannot be read is a fault of ours; it is reported like any other.
    let cli = Cli::try_parse_from(arguments).map_err(|error| Failure::usage(error.to_string()))?;
    let exit = command::run(cli.command, session)?;
    writeln!(session.out)?;
    Ok(exit)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
