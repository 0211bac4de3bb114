//! `rowkey get`: one row.

use crate::command::key::parse_fields;
use crate::command::scan::SelectArgs;
use crate::exit::Exit;
use crate::recording::RecordArgs;
use crate::rows::RowPrinter;
use crate::session::Session;
use crate::store;
use anyhow::Result;
use rowkey_table::GetOptions;

/// Arguments of `rowkey get`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey get telemetry vehicle=42707 time=2026-09-15T08:32:00Z
  rowkey get telemetry vehicle=42707 time=2026-09-15T08:32:00Z --versions all

Exit 1 if there is no such row.")]
pub(crate) struct GetArgs {
    /// The table
    #[arg(value_name = "TABLE")]
    table: String,
    /// A value for every field of the key
    #[arg(value_name = "FIELD=VALUE", required = true)]
    fields: Vec<String>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    record: RecordArgs,
}

/// Runs it.
pub(crate) fn run(args: &GetArgs, session: &mut Session) -> Result<Exit> {
    let table = store::open_table_recorded(session, &args.table, &args.record)?;
    let values = parse_fields(table.codec(), &args.fields)?;
    let options = GetOptions { selection: args.select.selection()?, live: args.select.live };
    let row = table.get(&values, &options)?;
    let Some(row) = row else {
        session.note("no such row");
        return Ok(Exit::No);
    };
    let mut printer = RowPrinter::new(table.codec().clone(), session.format, args.select.shown());
    printer.row(row, &mut session.out)?;
    printer.finish(&mut session.out)?;
    Ok(Exit::Done)
}
