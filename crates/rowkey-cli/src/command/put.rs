//! `rowkey put`: cells of one row.

use crate::command::key::parse_fields;
use crate::command::scan::time_us;
use crate::exit::{Exit, Failure};
use crate::recording::RecordArgs;
use crate::session::Session;
use crate::store;
use anyhow::Result;
use bytes::Bytes;
use rowkey::escape;
use rowkey_store::{Durability, Mutation, Timestamp};

/// Arguments of `rowkey put`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  rowkey put telemetry vehicle=42707 time=2026-09-15 --set metrics:speed=81 --set metrics:fuel=0.53

The cells of one call are written together or not at all, and are on disk when the command ends. Bytes are written as \\xNN, a \
backslash as \\\\.")]
pub(crate) struct PutArgs {
    /// The table
    #[arg(value_name = "TABLE")]
    table: String,
    /// A value for every field of the key
    #[arg(value_name = "FIELD=VALUE", required = true)]
    fields: Vec<String>,
    /// A cell to write; can be given several times
    #[arg(short = 'c', long = "set", value_name = "FAMILY:QUALIFIER=VALUE", required = true)]
    cells: Vec<String>,
    /// The time of the cells instead of now
    #[arg(long, value_name = "TIME")]
    timestamp: Option<String>,
    #[command(flatten)]
    record: RecordArgs,
}

/// Runs it.
pub(crate) fn run(args: &PutArgs, session: &mut Session) -> Result<Exit> {
    let timestamp = match &args.timestamp {
        Some(text) => Timestamp::Micros(time_us(text)?),
        None => Timestamp::Server,
    };
    let mutations = args.cells.iter().map(|cell| parse_cell(cell, timestamp)).collect::<Result<Vec<_>>>()?;
    for (at, cell) in args.cells.iter().enumerate() {
        let column = |cell: &str| cell.split_once('=').map(|(column, _)| column.to_owned());
        if let Some(twice) =
            column(cell).filter(|_| args.cells[..at].iter().any(|earlier| column(earlier) == column(cell)))
        {
            return Err(Failure::usage(format!(
                "the cell `{twice}` is set twice; it can have one value at one time"
            )));
        }
    }
    let table = store::open_table_recorded(session, &args.table, &args.record)?;
    let values = parse_fields(table.codec(), &args.fields)?;
    table.put(&values, mutations, Durability::Synced)?;
    Ok(Exit::Done)
}

fn parse_cell(text: &str, timestamp: Timestamp) -> Result<Mutation> {
    let parts = text.split_once('=').and_then(|(column, value)| Some((column.split_once(':')?, value)));
    let Some(((family, qualifier), value)) = parts else {
        return Err(Failure::usage(format!(
            "`{text}` is not FAMILY:QUALIFIER=VALUE, as in `--set metrics:speed=81`"
        )));
    };
    Ok(Mutation::SetCell {
        family: family.to_owned(),
        qualifier: Bytes::from(escape::unescape(qualifier)?),
        timestamp,
        value: Bytes::from(escape::unescape(value)?),
    })
}
