//! `rowkey completions`: a completion script for a shell.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::session::Session;
use anyhow::Result;
use clap::CommandFactory as _;
use std::io::Write as _;

/// Arguments of `rowkey completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey completions bash > ~/.local/share/bash-completion/completions/rowkey
  rowkey completions zsh  > ~/.zfunc/_rowkey      # with ~/.zfunc in fpath
  rowkey completions fish > ~/.config/fish/completions/rowkey.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Runs it.
pub(crate) fn run(args: &CompletionsArgs, session: &mut Session) -> Result<Exit> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rowkey", &mut script);
    session.out.write_all(&script)?;
    Ok(Exit::Done)
}
