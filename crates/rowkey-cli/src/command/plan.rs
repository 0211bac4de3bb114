//! `rowkey plan`: which ranges of keys a query reads.

use crate::exit::{Exit, Failure};
use crate::schema_file;
use crate::session::Session;
use crate::store;
use anyhow::Result;
use rowkey::{Codec, Query};
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of `rowkey plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey plan --schema telemetry.toml 'tenant = acme and kind = truck and vehicle = 4092'
  rowkey plan --table telemetry 'time >= 2026-09-15T08:00:00Z and time < 2026-09-15T09:00:00Z'

The condition is the one of `rowkey scan --where`; see there.")]
pub(crate) struct PlanArgs {
    /// The schema file
    #[arg(short, long, value_name = "FILE", required_unless_present = "table", conflicts_with = "table")]
    schema: Option<PathBuf>,
    /// A table of the store, whose schema is taken
    #[arg(short, long, value_name = "NAME")]
    table: Option<String>,
    /// Read from the last row to the first
    #[arg(long)]
    reverse: bool,
    /// The query would read the whole table, and that is meant
    #[arg(long)]
    full_scan: bool,
    /// The condition
    #[arg(value_name = "CONDITION", default_value = "", hide_default_value = true)]
    condition: String,
}

/// Runs it.
pub(crate) fn run(args: &PlanArgs, session: &mut Session) -> Result<Exit> {
    let codec = match (&args.schema, &args.table) {
        (Some(file), _) => Codec::new(schema_file::load(file)?)?,
        (None, Some(table)) => store::open_table(session, table)?.codec().clone(),
        (None, None) => return Err(Failure::usage("give --schema FILE or --table NAME")),
    };
    let query = query(&codec, &args.condition, args.full_scan)?.reversed(args.reverse);
    let plan = rowkey::plan(&codec, &query)?;
    write!(session.out, "{plan}")?;
    Ok(Exit::Done)
}

/// The query of a condition; an empty one is a full scan, which must be asked for by name.
///
/// # Errors
///
/// The parser's own, which point at the character.
pub(crate) fn query(codec: &Codec, condition: &str, full_scan: bool) -> Result<Query> {
    let query = if condition.trim().is_empty() { Query::new() } else { Query::parse(codec, condition)? };
    Ok(if full_scan { query.full_scan() } else { query })
}
