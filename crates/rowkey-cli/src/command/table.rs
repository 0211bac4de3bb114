//! `rowkey table`: create, list, describe, drop, gc, tablets, backup, restore.

use crate::command::schema::warn_all;
use crate::command::splits::{self, CutArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt::{Interrupt, InterruptibleWrite};
use crate::json::{self, Object};
use crate::output::Format;
use crate::records::{self, Datum, left, right};
use crate::session::Session;
use crate::store::{self, Access};
use crate::{new_file, schema_file, text};
use anyhow::Result;
use rowkey::{Codec, StoredKey};
use rowkey_server::SERVER_TABLES;
use rowkey_store::{Engine, GarbageReport, gc};
use rowkey_table::{CreateOptions, FINGERPRINT_ANNOTATION, KeyedTable};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The commands of `rowkey table`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum TableCommand {
    /// Create a table from a key schema; the store is made if it does not exist
    #[command(after_help = "Examples:
  rowkey table create --schema telemetry.toml
  rowkey table create --schema telemetry.toml --per-bucket

The schema is kept with the table, and commands on the table take it from there.")]
    Create {
        /// The schema file
        #[arg(short, long, value_name = "FILE")]
        schema: PathBuf,
        #[command(flatten)]
        cuts: CutArgs,
    },
    /// Give a table a changed schema, if that changes no key: new families, other rules, other queries
    #[command(after_help = "Example:
  rowkey table update --schema telemetry.toml

A schema under which the table's keys would be other bytes is refused (exit 3), with the difference: see `rowkey schema diff`.
No family is ever dropped by this.")]
    Update {
        /// The schema file, which names the table
        #[arg(short, long, value_name = "FILE")]
        schema: PathBuf,
    },
    /// List the tables of the store
    #[command(after_help = "Example:
  rowkey table list")]
    List,
    /// Describe a table: families and their garbage, tablets, schema
    #[command(after_help = "Example:
  rowkey table describe telemetry

\"expired\" counts cells that a garbage-collection rule may take and that are not yet reclaimed. They can still be read, unless \
--live is given, until `rowkey table gc` or the store's own collection takes them.")]
    Describe {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
    },
    /// Drop a table and all of its rows
    #[command(after_help = "Example:
  rowkey table drop telemetry --yes")]
    Drop {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Collect garbage now: take the cells that the families' rules allow to take
    #[command(after_help = "Example:
  rowkey table gc telemetry")]
    Gc {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
    },
    /// List the tablets of a table, and what was counted on each since the store was opened
    #[command(after_help = "Example:
  rowkey table tablets telemetry")]
    Tablets {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
    },
    /// Write a table, with its schema and split points, into one file
    #[command(after_help = "Example:
  rowkey table backup telemetry telemetry.backup")]
    Backup {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
        /// The file to write, which must not exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Make a table again from a file of `rowkey table backup`
    #[command(after_help = "Example:
  rowkey table restore telemetry.backup --store ./other")]
    Restore {
        /// The file to read
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Runs it.
pub(crate) fn run(command: &TableCommand, session: &mut Session) -> Result<Exit> {
    match command {
        TableCommand::Create { schema, cuts } => create(schema, cuts, session),
        TableCommand::Update { schema } => update(schema, session),
        TableCommand::List => list(session),
        TableCommand::Describe { table } => describe(table, session),
        TableCommand::Drop { table, yes } => drop_table(table, *yes, session),
        TableCommand::Gc { table } => gc(table, session),
        TableCommand::Tablets { table } => tablets(table, session),
        TableCommand::Backup { table, file } => backup(table, file, session),
        TableCommand::Restore { file } => restore(file, session),
    }
}

fn create(file: &Path, cuts: &CutArgs, session: &mut Session) -> Result<Exit> {
    let codec = Codec::new(schema_file::load(file)?)?;
    let cuts = splits::cuts(&codec, cuts, session)?.unwrap_or_default();
    if cuts.refused {
        return Err(Failure::bad_data("the table was not created: see what is wrong with its split points"));
    }
    warn_all(codec.schema(), session);
    if codec.schema().families.is_empty() {
        session.warn(
            "the schema declares no family, so the table can hold no cell: add one under [families], then `rowkey table update`",
        );
    }
    let tablets = cuts.points.len() + 1;
    let engine = store::open(session, Access::Create)?;
    let splits = cuts.points.into_iter().map(StoredKey).collect();
    let options = CreateOptions { splits, ..CreateOptions::default() };
    let table = KeyedTable::create(engine, Arc::clone(&session.clock), codec.schema().clone(), &options)?;
    session.note(&format!(
        "table `{}` created with {}, schema {}",
        table.name(),
        text::counted(tablets as u64, "tablet"),
        table.codec().schema().fingerprint()
    ));
    Ok(Exit::Done)
}

fn update(file: &Path, session: &mut Session) -> Result<Exit> {
    let schema = schema_file::load(file)?;
    let engine: Arc<dyn Engine> = store::open(session, Access::Existing)?;
    let name = schema.table.clone();
    let mut table = KeyedTable::open(engine, Arc::clone(&session.clock), &name, Some(&schema))?;
    let Some(difference) = table.difference().map(ToString::to_string) else {
        session.note(&format!("table `{name}` has this schema already"));
        return Ok(Exit::Done);
    };
    table.update_schema()?;
    session.note(&format!("table `{name}` updated; what differs:\n{}", difference.trim_end()));
    Ok(Exit::Done)
}

fn list(session: &mut Session) -> Result<Exit> {
    let engine = store::open(session, Access::Existing)?;
    let mut rows = Vec::new();
    // Tables of the server itself are nobody's to read or write.
    for name in engine.list_tables()?.into_iter().filter(|name| !name.starts_with(SERVER_TABLES)) {
        let config = engine.table_config(&name)?;
        let fingerprint = config.annotations.get(FINGERPRINT_ANNOTATION);
        rows.push(vec![
            Datum::Text(name),
            Datum::Count(config.families.len() as u64),
            Datum::Count(config.split_points.len() as u64 + 1),
            fingerprint.map_or(Datum::None, |text| Datum::Text(String::from_utf8_lossy(text).into_owned())),
        ]);
    }
    let columns = [left("table"), right("families"), right("tablets"), left("schema")];
    records::print(&mut session.out, session.format, "table", &columns, &rows)?;
    Ok(Exit::Done)
}

fn describe(name: &str, session: &mut Session) -> Result<Exit> {
    let engine = store::open(session, Access::Existing)?;
    let config = engine.table_config(name)?;
    let garbage = engine.garbage(name)?;
    let tablets = config.split_points.len() + 1;
    let fingerprint =
        config.annotations.get(FINGERPRINT_ANNOTATION).map(|text| String::from_utf8_lossy(text).into_owned());
    let families: Vec<Vec<Datum>> = config
        .families
        .iter()
        .map(|family| {
            let rule = gc::format_rule(family.gc_rule.as_ref());
            let found = garbage.iter().find(|found| found.family == family.name).cloned().unwrap_or_default();
            vec![
                Datum::Text(family.name.clone()),
                Datum::Text(rule),
                Datum::Count(found.live_cells),
                Datum::Size(found.live_bytes),
                Datum::Count(found.expired_cells),
                Datum::Size(found.expired_bytes),
            ]
        })
        .collect();
    let columns = [
        left("family"),
        left("gc"),
        right("cells"),
        right("bytes"),
        right("expired cells"),
        right("expired bytes"),
    ];
    if session.format == Format::Text {
        writeln!(session.out, "table    {name}")?;
        writeln!(session.out, "store    {}", engine.description())?;
        writeln!(session.out, "schema   {}", fingerprint.as_deref().unwrap_or("none"))?;
        writeln!(session.out, "tablets  {tablets}\n")?;
        records::print(&mut session.out, session.format, "family", &columns, &families)?;
        tell_expired(&garbage, session)?;
        return Ok(Exit::Done);
    }
    if session.format == Format::Json {
        let fingerprint = fingerprint.map_or_else(|| "null".to_owned(), |text| json::quote(&text));
        let line =
            Object::line("table").text("table", name).raw("schema", &fingerprint).number("tablets", tablets);
        writeln!(session.out, "{}", line.end())?;
    }
    records::print(&mut session.out, session.format, "family", &columns, &families)?;
    Ok(Exit::Done)
}

fn tell_expired(garbage: &[GarbageReport], session: &mut Session) -> Result<()> {
    let cells: u64 = garbage.iter().map(|found| found.expired_cells).sum();
    let bytes: u64 = garbage.iter().map(|found| found.expired_bytes).sum();
    if cells > 0 {
        writeln!(
            session.out,
            "\nexpired, not yet reclaimed: {}, {}; `rowkey table gc` takes them now",
            text::counted(cells, "cell"),
            text::size(bytes)
        )?;
    }
    Ok(())
}

fn drop_table(name: &str, yes: bool, session: &mut Session) -> Result<Exit> {
    let engine = store::open(session, Access::Existing)?;
    // An unknown table is an error before any question.
    engine.table_config(name)?;
    if !yes {
        if !io::stdin().is_terminal() {
            return Err(Failure::usage(format!(
                "dropping table `{name}` deletes all of its rows; there is no terminal to ask at, so say --yes"
            )));
        }
        write!(io::stderr(), "Drop table `{name}` and all of its rows? Type its name to confirm: ")?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if answer.trim() != name {
            session.note("not dropped");
            return Ok(Exit::No);
        }
    }
    engine.drop_table(name)?;
    session.note(&format!("table `{name}` dropped"));
    Ok(Exit::Done)
}

fn gc(name: &str, session: &mut Session) -> Result<Exit> {
    let engine = store::open(session, Access::Existing)?;
    let taken = engine.collect_garbage(name)?;
    let rows: Vec<Vec<Datum>> = taken
        .into_iter()
        .map(|report| {
            vec![
                Datum::Text(report.family),
                Datum::Count(report.live_cells),
                Datum::Size(report.live_bytes),
                Datum::Count(report.expired_cells),
                Datum::Size(report.expired_bytes),
            ]
        })
        .collect();
    let columns = [
        left("family"),
        right("kept cells"),
        right("kept bytes"),
        right("taken cells"),
        right("taken bytes"),
    ];
    records::print(&mut session.out, session.format, "garbage", &columns, &rows)?;
    Ok(Exit::Done)
}

fn tablets(name: &str, session: &mut Session) -> Result<Exit> {
    let engine = store::open(session, Access::Existing)?;
    let rows: Vec<Vec<Datum>> = engine
        .tablets(name)?
        .into_iter()
        .map(|tablet| {
            vec![
                Datum::Key(tablet.range.start.to_vec()),
                tablet.range.end.map_or(Datum::None, |end| Datum::Key(end.to_vec())),
                Datum::Count(tablet.cells),
                Datum::Size(tablet.bytes),
                Datum::Count(tablet.reads),
                Datum::Count(tablet.rows_read),
                Datum::Count(tablet.writes),
            ]
        })
        .collect();
    let columns = [
        left("start"),
        left("end"),
        right("cells"),
        right("bytes"),
        right("reads"),
        right("rows read"),
        right("writes"),
    ];
    records::print(&mut session.out, session.format, "tablet", &columns, &rows)?;
    Ok(Exit::Done)
}

fn backup(name: &str, file: &Path, session: &mut Session) -> Result<Exit> {
    let shown = file.display();
    let engine = store::open(session, Access::Existing)?;
    engine.table_config(name)?;
    if file.exists() {
        return Err(Failure::usage(format!("{shown} exists already; name a new file")));
    }
    let interrupt = Interrupt::watch()?;
    let written = new_file::write(file, |out| {
        let mut out = InterruptibleWrite::new(out, interrupt.clone());
        Ok(engine.backup(name, &mut out)?)
    });
    if written.is_err() && interrupt.is_set() {
        session.note(&format!("interrupted: there is no backup in {shown}"));
        return Ok(Exit::Interrupted);
    }
    written?;
    let written = std::fs::metadata(file)?.len();
    session.note(&format!("table `{name}` is in {shown}, {}", text::size(written)));
    Ok(Exit::Done)
}

fn restore(file: &Path, session: &mut Session) -> Result<Exit> {
    let shown = file.display();
    let failed = |error: io::Error| Failure::bad_data(format!("{shown}: cannot be read: {error}"));
    let mut reader = BufReader::new(File::open(file).map_err(failed)?);
    let engine = store::open(session, Access::Create)?;
    let name = engine.restore(&mut reader)?;
    session.note(&format!("table `{name}` restored from {shown}"));
    let rest = io::copy(&mut reader, &mut io::sink()).map_err(failed)?;
    if rest > 0 {
        session.warn(&format!(
            "{shown} goes on behind the end of the backup: {rest} bytes were not read. A backup holds one table; is it two files in one?"
        ));
    }
    Ok(Exit::Done)
}
