//! `rowkey plan`: which ranges of keys a query reads.

use crate::exit::{Exit, Failure};
use crate::json::{self, Object};
use crate::output::Format;
use crate::session::Session;
use crate::{schema_file, store, text};
use anyhow::Result;
use rowkey::escape::escaped;
use rowkey::plan::{Plan, ResultOrder};
use rowkey::{Codec, Query};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Arguments of `rowkey plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey plan --schema telemetry.toml 'vehicle = 42707'
  rowkey plan --table telemetry 'time >= 2026-09-15T08:00:00Z and time < 2026-09-15T09:00:00Z'

The condition is the one of `rowkey scan --where`; see there.
Text shows the first ranges; --format json and csv print all of them. In JSON, an object of type \"plan\" comes first, then one of type \
\"range\" for each; an \"end\" of null is the end of the table.")]
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
    match session.format {
        Format::Text => write!(session.out, "{plan}")?,
        Format::Json => print_json(&plan, &mut session.out)?,
        Format::Csv => print_csv(&plan, &mut session.out)?,
    }
    Ok(Exit::Done)
}

/// The plan but for its ranges, then a line for each range, in the order in which they are read.
fn print_json(plan: &Plan, out: &mut impl io::Write) -> io::Result<()> {
    let (order, why) = match &plan.order {
        ResultOrder::Unordered { why } => ("none", json::quote(why)),
        _ => ("key", "null".to_owned()),
    };
    let checks = plan.residual.checks.iter();
    let checks =
        checks.map(|check| Object::new().text("field", &check.field).text("where", &check.text).end());
    let number = |number: Option<u32>| serde_json::Value::from(number).to_string();
    let line = Object::line("plan")
        .text("where", &plan.query)
        .raw("notes", &json::array(plan.notes.iter().map(|note| json::quote(note))))
        .number("buckets", plan.cost.buckets)
        .raw("buckets_total", &number(plan.cost.buckets_total))
        .number("ranges", plan.cost.ranges)
        .number("seeks", plan.cost.seeks)
        .raw("rows_read_per_result", &serde_json::Value::from(plan.cost.rows_examined_per_row).to_string())
        .number("full_scan", plan.is_full_scan)
        .raw("checks", &json::array(checks))
        .text("order", order)
        .raw("order_why", &why)
        .number("reversed", plan.reversed);
    writeln!(out, "{}", line.end())?;
    for bucket in &plan.buckets {
        for range in &bucket.ranges {
            let end = range.end.as_ref().map_or_else(|| "null".to_owned(), |end| json::bytes(end));
            let line = Object::line("range")
                .raw("bucket", &number(bucket.bucket))
                .bytes("salt", &bucket.salt)
                .bytes("start", &range.start)
                .raw("end", &end);
            writeln!(out, "{}", line.end())?;
        }
    }
    Ok(())
}

fn print_csv(plan: &Plan, out: &mut impl io::Write) -> io::Result<()> {
    writeln!(out, "bucket,salt,start,end")?;
    for bucket in &plan.buckets {
        let number = bucket.bucket.map_or_else(String::new, |bucket| bucket.to_string());
        for range in &bucket.ranges {
            let keys = [&bucket.salt, &range.start, range.end.as_ref().unwrap_or(&Vec::new())]
                .map(|key| text::csv(&escaped(key).to_string()).into_owned());
            writeln!(out, "{number},{}", keys.join(","))?;
        }
    }
    Ok(())
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
