//! `rowkey tour`: a newcomer's first run.
//!
//! Its stdout depends on `--seed` and `--keep` alone: times go to stderr.

mod fleet;

use crate::command::key::explain;
use crate::exit::{Exit, Failure};
use crate::output::{Format, Style, styled};
use crate::rows::{RowPrinter, Shown};
use crate::session::Session;
use crate::store::{self, Access};
use crate::text;
use anyhow::Result;
use fleet::{DAY_S, DAY_START_S, Fleet, Reading, STEP_S, VEHICLES};
use rowkey::{Codec, KeySchema, Query, StoredKey, Time, Value, escape, splits};
use rowkey_store::{Durability, Engine, Mutation, RowMutation, Timestamp};
use rowkey_table::{CreateOptions, KeyedRow, KeyedTable, ScanRequest};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const SCHEMA: &str = include_str!("telemetry.toml");
/// The vehicle that the tour looks at: some place in the fleet.
const SHOWN_VEHICLE: usize = 77;
const BATCH_ROWS: usize = 2000;
const LAST_READINGS: u64 = 10;
/// Rows that are shown of the beginning and of the end of a long result.
const SHOWN_ROWS: usize = 3;

/// Arguments of `rowkey tour`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey tour
  rowkey tour --keep demo      # leaves the schema and the store in ./demo, to go on with")]
pub(crate) struct TourArgs {
    /// Another seed makes another fleet
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Keep the schema and the store in this folder, which must not exist or be empty
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Runs it.
pub(crate) fn run(args: &TourArgs, session: &mut Session) -> Result<Exit> {
    if session.format != Format::Text {
        return Err(Failure::usage("the tour is for people; it has no other format than text"));
    }
    // Removed when the tour ends, unless it is kept.
    let temporary;
    let folder = if let Some(folder) = &args.keep {
        prepare(folder)?
    } else {
        temporary = tempfile::tempdir()?;
        temporary.path()
    };
    std::fs::write(folder.join("telemetry.toml"), SCHEMA)?;
    let codec = Codec::new(KeySchema::parse(SCHEMA)?)?;
    show_schema(&codec, session)?;
    let engine = store::open_folder(&folder.join("data"), session, Access::Create)?;
    let table = load(engine, &codec, args.seed, session)?;
    let vehicle = Fleet::new(args.seed).number(SHOWN_VEHICLE);
    show_key(&codec, vehicle, session)?;
    ask_for_last_readings(&table, vehicle, session)?;
    ask_for_an_hour(&table, session)?;
    show_next(args.keep.as_deref(), vehicle, session)?;
    Ok(Exit::Done)
}

fn prepare(folder: &Path) -> Result<&Path> {
    let shown = folder.display();
    let failed = |error: std::io::Error| Failure::unavailable(format!("{shown}: cannot be used: {error}"));
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Failure::usage(format!("{shown} is not empty; --keep takes a new or empty folder")));
    }
    Ok(folder)
}

fn heading(text: &str, session: &mut Session) -> Result<()> {
    let color = session.out.color;
    writeln!(session.out, "{}\n", styled(text, Style::Heading, color))?;
    Ok(())
}

fn show_schema(codec: &Codec, session: &mut Session) -> Result<()> {
    heading("1. The key, declared once", session)?;
    for line in SCHEMA.lines() {
        writeln!(session.out, "{}", format!("    {line}").trim_end())?;
    }
    writeln!(
        session.out,
        "\nFingerprint {}: equal fingerprints, equal key bytes.\n",
        codec.schema().fingerprint()
    )?;
    Ok(())
}

/// Loads the fleet's day, and tells how it spread.
fn load(engine: Arc<dyn Engine>, codec: &Codec, seed: u64, session: &mut Session) -> Result<KeyedTable> {
    heading("2. A store of your own", session)?;
    let splits = splits::per_bucket(codec)?.points.into_iter().map(StoredKey).collect();
    let options = CreateOptions { splits, ..CreateOptions::default() };
    let table = KeyedTable::create(engine, Arc::clone(&session.clock), codec.schema().clone(), &options)?;
    let begun = Instant::now();
    let mut rows = 0_u64;
    let mut in_bucket = vec![0_u64; codec.bucket_count().map_or(1, |count| count as usize)];
    let mut batch = Vec::with_capacity(BATCH_ROWS);
    for reading in Fleet::new(seed).into_readings() {
        let values = [Value::Time(Time::from_seconds(reading.time_s)), Value::Uint(reading.vehicle)];
        if let Some(bucket) = codec.bucket(&values)? {
            in_bucket[bucket as usize] += 1;
        }
        batch.push(RowMutation { key: table.key_to_write(&values)?, mutations: cells_of(&reading) });
        rows += 1;
        if batch.len() == BATCH_ROWS {
            write(&table, &mut batch)?;
        }
    }
    write(&table, &mut batch)?;
    table.engine().sync()?;
    session.note(&format!("loaded in {:.1} s", begun.elapsed().as_secs_f64()));
    let spread = |rows: Option<&u64>| text::count(rows.copied().unwrap_or(0));
    writeln!(
        session.out,
        "{} readings of {VEHICLES} vehicles, one every {} minutes for a day (seed {seed}), are in an embedded store.\n\
         Each of the {} buckets is a tablet of its own: the fullest has {} rows, the emptiest {}.\n",
        text::count(rows),
        STEP_S / 60,
        in_bucket.len(),
        spread(in_bucket.iter().max()),
        spread(in_bucket.iter().min()),
    )?;
    Ok(table)
}

fn write(table: &KeyedTable, batch: &mut Vec<RowMutation>) -> Result<()> {
    let rows = std::mem::take(batch);
    for result in table.engine().mutate_rows(table.name(), rows, Durability::Buffered)? {
        result?;
    }
    Ok(())
}

fn cells_of(reading: &Reading) -> Vec<Mutation> {
    let timestamp = Timestamp::Micros(reading.time_s * 1_000_000);
    [("speed", reading.speed), ("fuel", reading.fuel)]
        .into_iter()
        .map(|(qualifier, number)| Mutation::SetCell {
            family: "metrics".to_owned(),
            qualifier: qualifier.into(),
            timestamp,
            value: number.to_string().into(),
        })
        .collect()
}

fn show_key(codec: &Codec, vehicle: u64, session: &mut Session) -> Result<()> {
    heading("3. The bytes of one key", session)?;
    let noon = Time::from_seconds(DAY_START_S + DAY_S / 2);
    let key = codec.encode_key(&[Value::Time(noon), Value::Uint(vehicle)])?;
    command(
        "rowkey key explain --schema telemetry.toml",
        &format!("'{}'", escape::escaped(&key.0)),
        session,
    )?;
    explain(codec, &key.0, session)?;
    writeln!(session.out)?;
    Ok(())
}

fn command(front: &str, rest: &str, session: &mut Session) -> Result<()> {
    writeln!(session.out, "$ {front} {rest}")?;
    Ok(())
}

fn ask_for_last_readings(table: &KeyedTable, vehicle: u64, session: &mut Session) -> Result<()> {
    heading("4. The last ten readings of a vehicle: one bucket", session)?;
    let condition = format!("vehicle = {vehicle}");
    show_plan(table, &condition, session)?;
    command("rowkey scan telemetry", &format!("--where '{condition}' --limit {LAST_READINGS}"), session)?;
    let query = Query::parse(table.codec(), &condition)?;
    let rows = read(table, &ScanRequest { rows_max: Some(LAST_READINGS), ..ScanRequest::new(query) })?;
    print_rows(table.codec(), rows, session)?;
    writeln!(
        session.out,
        "\nNewest first, so the scan stops after the tenth. The vehicles that share its bucket are read along with it: more\n\
         buckets make this question cheaper, and the next one dearer.\n"
    )?;
    Ok(())
}

fn ask_for_an_hour(table: &KeyedTable, session: &mut Session) -> Result<()> {
    heading("5. One hour of the whole fleet: all buckets, merged back into order", session)?;
    let condition = "time >= 2026-09-15T08:00:00Z and time < 2026-09-15T09:00:00Z";
    show_plan(table, condition, session)?;
    command("rowkey scan telemetry", &format!("--where '{condition}'"), session)?;
    let query = Query::parse(table.codec(), condition)?;
    let rows = read(table, &ScanRequest::new(query))?;
    let order = |row: &KeyedRow| row.key.get(table.codec().salt_width()..).map(<[u8]>::to_vec);
    let in_order = rows.is_sorted_by_key(order);
    let total = rows.len();
    let last = rows[total.saturating_sub(SHOWN_ROWS)..].to_vec();
    let first = rows.into_iter().take(SHOWN_ROWS).collect();
    print_rows(table.codec(), first, session)?;
    writeln!(session.out, "...")?;
    print_rows(table.codec(), last, session)?;
    writeln!(
        session.out,
        "\n{} rows, {}.\n",
        text::count(total as u64),
        if in_order {
            "newest first, as if there were no buckets"
        } else {
            "out of order: please report this"
        }
    )?;
    Ok(())
}

fn show_plan(table: &KeyedTable, condition: &str, session: &mut Session) -> Result<()> {
    command("rowkey plan --table telemetry", &format!("'{condition}'"), session)?;
    let query = Query::parse(table.codec(), condition)?;
    let plan = rowkey::plan(table.codec(), &query)?;
    writeln!(session.out, "{}\n", plan.to_string().trim_end())?;
    Ok(())
}

fn read(table: &KeyedTable, request: &ScanRequest) -> Result<Vec<KeyedRow>> {
    Ok(table.scan(request)?.collect::<rowkey_table::Result<Vec<_>>>()?)
}

fn print_rows(codec: &Codec, rows: Vec<KeyedRow>, session: &mut Session) -> Result<()> {
    let shown = Shown { keys: true, cells: false };
    let mut printer = RowPrinter::new(codec.clone(), Format::Text, shown);
    for row in rows {
        printer.row(row, &mut session.out)?;
    }
    printer.finish(&mut session.out)
}

fn show_next(kept: Option<&Path>, vehicle: u64, session: &mut Session) -> Result<()> {
    heading("Next", session)?;
    let Some(folder) = kept else {
        writeln!(
            session.out,
            "rowkey tour --keep demo              the same, but the schema and the store stay in ./demo\n\
             rowkey schema show FILE              what a schema means: widths, order, limits, warnings\n\
             rowkey table create --schema FILE    a table of your own\n\
             rowkey import TABLE FILE             your rows, from CSV or JSON lines\n\
             rowkey help                          all commands"
        )?;
        return Ok(());
    };
    let folder = folder.display();
    writeln!(
        session.out,
        "export ROWKEY_STORE={folder}/data\n\
         rowkey schema show {folder}/telemetry.toml\n\
         rowkey table describe telemetry\n\
         rowkey scan telemetry --where 'vehicle = {vehicle}' --limit 5 --format json\n\
         rowkey splits --schema {folder}/telemetry.toml --per-bucket --for cbt\n\
         rowkey export telemetry --where 'vehicle = {vehicle}' --format csv"
    )?;
    Ok(())
}
