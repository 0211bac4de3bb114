//! `rowkey tour`: a newcomer's first run: a hotspot found, cured, and the cure in use.
//!
//! Its stdout depends on `--seed` and `--keep` alone: times go to stderr. All but the summary of the hour is printed by the
//! commands themselves, run in the tour's folder.

mod fleet;
mod script;

use crate::exit::{Exit, Failure};
use crate::output::{Format, Style, styled};
use crate::rows::{RowPrinter, Shown};
use crate::session::Session;
use crate::store::{self, Access};
use crate::text;
use anyhow::{Context as _, Result};
use fleet::{Fleet, STEP_S, VEHICLES};
use rowkey::{Query, Time};
use rowkey_store::Engine;
use rowkey_table::{KeyedRow, KeyedTable, ScanRequest};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The first design: readings sort by time.
const FIRST_DESIGN: &str = include_str!("time-first.toml");
/// The vehicle that the tour looks at: some place in the fleet.
const SHOWN_VEHICLE: usize = 77;
/// Rows that are shown of the beginning and of the end of a long result.
const SHOWN_ROWS: usize = 3;
/// The load that the tour plans for, which no single node of Bigtable takes.
const WRITES_PER_S: &str = "50000";

/// One heading and what stands below it.
type Part<'a> = &'a dyn Fn(&mut Session) -> Result<()>;

/// Arguments of `rowkey tour`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey tour
  rowkey tour --keep demo      # leaves the schemas, the readings and the store in ./demo, to go on with")]
pub(crate) struct TourArgs {
    /// Another seed makes another fleet
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Keep what it makes in this folder, which must not exist or be empty
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
        prepare(folder)?;
        fs::canonicalize(folder)?
    } else {
        temporary = tempfile::tempdir()?;
        temporary.path().to_owned()
    };
    let back = std::env::current_dir().context("the folder that the tour starts in cannot be found")?;
    std::env::set_current_dir(&folder)?;
    let begun = Instant::now();
    let result = visit(args, session);
    // A folder that is somebody's current one cannot be removed everywhere.
    std::env::set_current_dir(back)?;
    if result.is_ok() {
        session.note(&format!("{:.1} s", begun.elapsed().as_secs_f64()));
    }
    result
}

fn prepare(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let failed = |error: std::io::Error| Failure::unavailable(format!("{shown}: cannot be used: {error}"));
    fs::create_dir_all(folder).map_err(failed)?;
    if fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Failure::usage(format!("{shown} is not empty; --keep takes a new or empty folder")));
    }
    Ok(())
}

/// The tour, in its folder.
fn visit(args: &TourArgs, session: &mut Session) -> Result<Exit> {
    "data".clone_into(&mut session.store);
    let vehicle = Fleet::new(args.seed).number(SHOWN_VEHICLE);
    let parts: [Part<'_>; 6] = [
        &|session| show_first_design(args.seed, session),
        &show_diagnosis,
        &show_both_under_load,
        &show_both_as_pictures,
        &|session| load(vehicle, session),
        &|session| ask(vehicle, session),
    ];
    for part in parts {
        part(session)?;
        // Whoever reads our output has seen enough.
        if session.out.is_broken() {
            return Ok(Exit::Done);
        }
    }
    show_next(args.keep.as_deref(), vehicle, session)?;
    Ok(Exit::Done)
}

fn heading(text: &str, session: &mut Session) -> Result<()> {
    let color = session.out.color;
    writeln!(session.out, "{}\n", styled(text, Style::Heading, color))?;
    Ok(())
}

fn show_first_design(seed: u64, session: &mut Session) -> Result<()> {
    heading("1. A fleet's readings, and the key that comes to mind first", session)?;
    let rows = write_readings(seed)?;
    fs::write("time-first.toml", FIRST_DESIGN)?;
    writeln!(
        session.out,
        "{} readings of {VEHICLES} vehicles, one every {} minutes for a day (seed {seed}), are in readings.csv. time-first.toml:\n",
        text::count(rows),
        STEP_S / 60,
    )?;
    show_file(FIRST_DESIGN, session)
}

fn show_file(content: &str, session: &mut Session) -> Result<()> {
    for line in content.lines() {
        writeln!(session.out, "{}", format!("    {line}").trim_end())?;
    }
    writeln!(session.out)?;
    Ok(())
}

/// Writes the fleet's day as CSV, and counts it.
fn write_readings(seed: u64) -> Result<u64> {
    let mut file = BufWriter::new(File::create("readings.csv")?);
    writeln!(file, "time,vehicle,metrics:speed,metrics:fuel")?;
    let mut rows = 0;
    for reading in Fleet::new(seed).into_readings() {
        let time = Time::from_seconds(reading.time_s);
        writeln!(file, "{time},{},{},{}", reading.vehicle, reading.speed, reading.fuel)?;
        rows += 1;
    }
    file.flush()?;
    Ok(rows)
}

fn show_diagnosis(session: &mut Session) -> Result<()> {
    heading("2. Before production: what is wrong with it, and the cure", session)?;
    let words = ["doctor", "readings.csv", "--schema", "time-first.toml", "--writes-per-s", WRITES_PER_S];
    script::run(&[&words[..], &["--propose", "telemetry.toml"]].concat(), session)?;
    writeln!(session.out, "telemetry.toml, as proposed:\n")?;
    show_file(&fs::read_to_string("telemetry.toml")?, session)
}

fn show_both_under_load(session: &mut Session) -> Result<()> {
    heading("3. Both designs on ten nodes", session)?;
    let words = ["simulate", "--schema", "time-first.toml", "--versus", "telemetry.toml"];
    script::run(&[&words[..], &["--rate", WRITES_PER_S, "--duration", "5m"]].concat(), session)?;
    Ok(())
}

fn show_both_as_pictures(session: &mut Session) -> Result<()> {
    heading("4. The same writes as pictures: time to the right, keys downwards", session)?;
    for schema in ["time-first.toml", "telemetry.toml"] {
        let words = ["heatmap", "readings.csv", "--schema", schema, "--no-findings"];
        script::run(&[&words[..], &["--rows", "16", "--columns", "72"]].concat(), session)?;
    }
    Ok(())
}

fn load(vehicle: u64, session: &mut Session) -> Result<()> {
    heading("5. The good design in a store of your own", session)?;
    script::run(&["table", "create", "--schema", "telemetry.toml"], session)?;
    script::run(&["import", "telemetry", "readings.csv"], session)?;
    let condition = format!("vehicle = {vehicle}");
    script::run(&["plan", "--table", "telemetry", &condition], session)?;
    Ok(())
}

fn ask(vehicle: u64, session: &mut Session) -> Result<()> {
    heading("6. The last ten readings of a vehicle, and one hour of the fleet in order", session)?;
    let condition = format!("vehicle = {vehicle}");
    script::run(&["scan", "telemetry", "--where", &condition, "--limit", "10", "--reverse"], session)?;
    ask_for_an_hour(session)
}

fn ask_for_an_hour(session: &mut Session) -> Result<()> {
    let condition = "time >= 2026-09-15T08:00:00Z and time < 2026-09-15T09:00:00Z";
    let engine: Arc<dyn Engine> = store::open_folder(Path::new("data"), session, Access::Existing)?;
    let table = KeyedTable::open(engine, Arc::clone(&session.clock), "telemetry", None)?;
    let query = Query::parse(table.codec(), condition)?;
    let rows = table.scan(&ScanRequest::new(query))?.collect::<rowkey_table::Result<Vec<KeyedRow>>>()?;
    let logical = |row: &KeyedRow| row.key.get(table.codec().salt_width()..).map(<[u8]>::to_vec);
    let in_order = rows.is_sorted_by_key(logical);
    let total = rows.len();
    writeln!(session.out, "$ rowkey scan telemetry --where '{condition}'")?;
    let mut printer =
        RowPrinter::new(table.codec().clone(), Format::Text, Shown { keys: true, cells: false });
    for row in rows.into_iter().take(SHOWN_ROWS) {
        printer.row(row, &mut session.out)?;
    }
    printer.finish(&mut session.out)?;
    writeln!(
        session.out,
        "...\n{} rows, {}.\n",
        text::count(total as u64),
        if in_order { "in the order of the key behind the salt" } else { "out of order: please report this" }
    )?;
    Ok(())
}

fn show_next(kept: Option<&Path>, vehicle: u64, session: &mut Session) -> Result<()> {
    heading("Next", session)?;
    let Some(folder) = kept else {
        writeln!(
            session.out,
            "rowkey tour --keep demo              the same, but the schemas, the readings and the store stay in ./demo\n\
             rowkey doctor FILE                   your own keys, or a log of operations\n\
             rowkey heatmap FILE -o heat.html     a page to zoom into\n\
             rowkey schema show FILE              what a schema means: widths, order, limits, warnings\n\
             rowkey splits --schema FILE          where to cut the table, for cbt, gcloud or the HBase shell\n\
             rowkey help                          all commands"
        )?;
        return Ok(());
    };
    let folder = folder.display();
    writeln!(
        session.out,
        "export ROWKEY_STORE={folder}/data\n\
         rowkey heatmap {folder}/readings.csv --schema {folder}/time-first.toml -o {folder}/before.html\n\
         rowkey heatmap {folder}/readings.csv --schema {folder}/telemetry.toml -o {folder}/after.html\n\
         rowkey schema show {folder}/telemetry.toml\n\
         rowkey table describe telemetry\n\
         rowkey scan telemetry --where 'vehicle = {vehicle}' --limit 5 --format json\n\
         rowkey export telemetry --where 'vehicle = {vehicle}' --format csv"
    )?;
    Ok(())
}
