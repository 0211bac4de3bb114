//! The command line's grammar. Help, completions and man pages come from here.

use crate::command;
use crate::output::{Color, FormatArg};
use clap::{Args, Parser, Subcommand};

const ABOUT: &str = "Design row keys, and use them, for Bigtable, HBase and an embedded store.";

const LONG_ABOUT: &str = "\
Design row keys, and use them, for Bigtable, HBase and an embedded store.

A wide-column store keeps rows sorted by one key. Which fields go into that key, in which order and encoding, decides whether writes \
spread over all machines or hit one of them, and which questions are cheap. Rowkey takes the design from one file, the key schema, \
and does the rest: it builds the keys, plans the reads, cuts the table, and keeps the rows in a store of its own.

New here? Run `rowkey tour`: it takes a few seconds and leaves nothing behind.";

const AFTER_HELP: &str = "\
Exit codes:
  0  done, or the answer is yes
  1  the answer is no: findings, differences, no such row
  2  the command line is wrong
  3  the data is wrong: a schema, a key, a file
  4  the store cannot be reached: in use, no such folder, disk full

Results go to stdout; progress, warnings and errors go to stderr. With --format json each line is an object with a \"type\"; bytes are \
{\"text\": ...} if they are UTF-8, else {\"base64\": ...}.
Row keys are printed with bytes other than printable ASCII as \\xNN and a backslash as \\\\; they are read the same way.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "rowkey", version, about = ABOUT, long_about = LONG_ABOUT, after_help = AFTER_HELP)]
#[command(max_term_width = 110, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct GlobalArgs {
    /// Where the tables are: the folder of an embedded store
    #[arg(long, global = true, value_name = "FOLDER", env = "ROWKEY_STORE", default_value = "./data")]
    pub(crate) store: String,
    /// How results are printed: text for people, json (lines) or csv for programs, sarif for findings of the doctor
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub(crate) format: FormatArg,
    /// Colour: auto (on terminals, unless `NO_COLOR` is set), always, never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
    /// Only warnings and errors on stderr, no remarks
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See it work: a hotspot found, its cure, both under load and as pictures, and the cure in a store
    Tour(command::tour::TourArgs),
    /// Find what is wrong with row keys before production: why, how bad, and what to do
    Doctor(command::doctor::DoctorArgs),
    /// Draw key space by time: where in the table the load is, and how it moves
    Heatmap(command::heatmap::HeatmapArgs),
    /// Check, explain and compare key schemas, the files that declare a row key
    #[command(subcommand)]
    Schema(command::schema::SchemaCommand),
    /// Build, read and explain single row keys
    #[command(subcommand)]
    Key(command::key::KeyCommand),
    /// Run a key design on tablets and nodes before there are any, or two designs side by side
    Simulate(command::simulate::SimulateArgs),
    /// Print the keys at which to cut a new table into tablets (in HBase: regions)
    Splits(command::splits::SplitsArgs),
    /// Show which ranges of keys a query reads, and what that costs
    Plan(command::plan::PlanArgs),
    /// Create, list, describe, drop, back up and restore tables
    #[command(subcommand)]
    Table(command::table::TableCommand),
    /// Serve the Bigtable API over a store, with a live map of the load
    Serve(command::serve::ServeArgs),
    /// Load CSV or JSON lines into a table
    Import(command::import::ImportArgs),
    /// Write a table's rows as CSV or JSON lines
    Export(command::export::ExportArgs),
    /// Read the rows of a query, in key order
    Scan(command::scan::ScanArgs),
    /// Read one row
    Get(command::get::GetArgs),
    /// Write cells of one row
    Put(command::put::PutArgs),
    /// Delete one row, or a family or column of it
    Delete(command::delete::DeleteArgs),
    /// Print a completion script for a shell
    Completions(command::completions::CompletionsArgs),
    /// Write the manual pages into a folder
    Man(command::man::ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_grammar_has_no_contradictions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command, path: &str) {
            for command in command.get_subcommands() {
                let path = format!("{path} {}", command.get_name());
                if command.has_subcommands() {
                    check(command, &path);
                    continue;
                }
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&format!("  {path}")), "{path}: no example: {help}");
            }
        }
        check(&Cli::command(), "rowkey");
    }
}
