//! The commands, one file each. A command is thin: what is worth testing alone belongs to another crate.

pub(crate) mod completions;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod heatmap;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod put;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod splits;
pub(crate) mod table;
pub(crate) mod tour;

use crate::cli::Command;
use crate::exit::{Exit, Failure};
use crate::session::Session;
use anyhow::Result;

/// Runs a command.
///
/// # Errors
///
/// What the command failed with; [`crate::exit::code`] tells the exit code.
pub(crate) fn run(command: Command, session: &mut Session) -> Result<Exit> {
    if session.sarif && !matches!(command, Command::Doctor(_)) {
        return Err(Failure::usage(
            "SARIF is for findings, which only `rowkey doctor` has; use text, json or csv",
        ));
    }
    match command {
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Tour(args) => tour::run(&args, session),
        Command::Heatmap(args) => heatmap::run(&args, session),
        Command::Schema(command) => schema::run(&command, session),
        Command::Key(command) => key::run(&command, session),
        Command::Splits(args) => splits::run(&args, session),
        Command::Simulate(args) => simulate::run(&args, session),
        Command::Plan(args) => plan::run(&args, session),
        Command::Table(command) => table::run(&command, session),
        Command::Serve(args) => serve::run(&args, session),
        Command::Import(args) => import::run(&args, session),
        Command::Export(args) => export::run(&args, session),
        Command::Scan(args) => scan::run(&args, session),
        Command::Get(args) => get::run(&args, session),
        Command::Put(args) => put::run(&args, session),
        Command::Delete(args) => delete::run(&args, session),
        Command::Completions(args) => completions::run(&args, session),
        Command::Man(args) => man::run(&args, session),
    }
}
