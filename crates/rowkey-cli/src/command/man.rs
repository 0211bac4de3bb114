//! `rowkey man`: manual pages, one for each command.

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::session::Session;
use anyhow::Result;
use clap::CommandFactory as _;
use std::path::PathBuf;

/// Arguments of `rowkey man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  rowkey man ~/.local/share/man/man1 && man rowkey-scan")]
pub(crate) struct ManArgs {
    /// The folder to write into; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs it.
pub(crate) fn run(args: &ManArgs, session: &mut Session) -> Result<Exit> {
    let failed = |error: std::io::Error| {
        Failure::bad_data(format!("{}: cannot be written: {error}", args.folder.display()))
    };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(failed)?;
    session.note(&format!("manual pages are in {}", args.folder.display()));
    Ok(Exit::Done)
}
