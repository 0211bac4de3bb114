//! `rowkey delete`: one row, or a family or column of it.

use crate::command::key::parse_fields;
use crate::exit::{Exit, Failure};
use crate::recording::RecordArgs;
use crate::session::Session;
use crate::store;
use anyhow::Result;
use bytes::Bytes;
use rowkey::escape;
use rowkey_store::{Durability, Mutation};

/// Arguments of `rowkey delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey delete telemetry vehicle=42707 time=2026-09-15T08:32:00Z
  rowkey delete telemetry vehicle=42707 time=2026-09-15T08:32:00Z --column metrics:speed

Deleting what is not there is no error.")]
pub(crate) struct DeleteArgs {
    /// The table
    #[arg(value_name = "TABLE")]
    table: String,
    /// A value for every field of the key
    #[arg(value_name = "FIELD=VALUE", required = true)]
    fields: Vec<String>,
    /// Only the cells of this family; can be given several times
    #[arg(long, value_name = "FAMILY")]
    family: Vec<String>,
    /// Only the cells of this column; can be given several times
    #[arg(long, value_name = "FAMILY:QUALIFIER")]
    column: Vec<String>,
    #[command(flatten)]
    record: RecordArgs,
}

/// Runs it.
pub(crate) fn run(args: &DeleteArgs, session: &mut Session) -> Result<Exit> {
    let mut mutations: Vec<Mutation> =
        args.family.iter().map(|family| Mutation::DeleteFromFamily { family: family.clone() }).collect();
    for column in &args.column {
        let Some((family, qualifier)) = column.split_once(':') else {
            return Err(Failure::usage(format!(
                "`{column}` is not FAMILY:QUALIFIER; a whole family is deleted with --family {column}"
            )));
        };
        mutations.push(Mutation::DeleteFromColumn {
            family: family.to_owned(),
            qualifier: Bytes::from(escape::unescape(qualifier)?),
            times_us: None,
        });
    }
    let table = store::open_table_recorded(session, &args.table, &args.record)?;
    let values = parse_fields(table.codec(), &args.fields)?;
    if mutations.is_empty() {
        table.delete(&values, Durability::Synced)?;
    } else {
        table.put(&values, mutations, Durability::Synced)?;
    }
    Ok(Exit::Done)
}
