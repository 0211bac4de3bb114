//! The command line of Rowkey: the one place that chooses an engine, prints, or exits.
//!
//! Results go to stdout, the rest to stderr. Exit codes are in [`exit`]; every command has a file in [`command`].

mod cli;
mod command;
mod exit;
mod input_file;
mod interrupt;
mod json;
mod new_file;
mod output;
mod progress;
mod recording;
mod records;
mod rows;
mod schema_file;
mod session;
mod store;
mod text;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse_from(command::serve::launcher::rewritten(std::env::args_os()));
    let mut session = session::Session::new(&cli.global);
    let result = command::run(cli.command, &mut session);
    // Results that came before a failure are shown before its message.
    let flushed = session.out.flush_all();
    let recorded = session.finish_recording();
    let result = result.and_then(|exit| flushed.and(recorded).map(|()| exit));
    // Whoever reads our output has seen enough: `rowkey scan t | head` is no failure.
    if session.out.is_broken() {
        return exit::Exit::Done.into();
    }
    match result {
        Ok(exit) => session.exit_code(exit),
        Err(error) => {
            session.report(&error);
            ExitCode::from(exit::code(&error))
        }
    }
}
