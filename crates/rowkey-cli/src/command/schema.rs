//! `rowkey schema`: check, show, diff, fingerprint, export.

use crate::exit::{Exit, Failure};
use crate::json::{self, Object};
use crate::output::Format;
use crate::session::Session;
use crate::{schema_file, text};
use anyhow::Result;
use rowkey::schema::{self, Description, Diff, Verdict, Warning, Width};
use rowkey::{Codec, KeySchema};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The commands of `rowkey schema`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SchemaCommand {
    /// Check a schema: errors with their line, warnings with their reason
    #[command(after_help = "Example:
  rowkey schema check telemetry.toml

A schema with warnings passes (exit 0) unless --deny-warnings is given (exit 1); a schema with an error does not (exit 3).")]
    Check {
        /// The schema file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Exit with 1 if there are warnings
        #[arg(long)]
        deny_warnings: bool,
    },
    /// Explain a schema: the layout with its widths, an example key, what sorts how, limits, warnings
    #[command(after_help = "Example:
  rowkey schema show telemetry.toml")]
    Show {
        /// The schema file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Compare two schemas: safe, needs a migration, or forbidden
    #[command(after_help = "Example:
  rowkey schema diff old.toml new.toml

Exit 0 if a table of the old schema can be used with the new one as it is, 1 if not.")]
    Diff {
        /// The schema that the table has
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The schema that it should get
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
    /// Print the fingerprint: equal fingerprints mean equal key bytes
    #[command(after_help = "Example:
  rowkey schema fingerprint telemetry.toml")]
    Fingerprint {
        /// The schema file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the JSON Schema of schema files, for editors; or a schema in its canonical form
    #[command(after_help = "Examples:
  rowkey schema export json-schema > rowkey.schema.json   # for editors
  rowkey schema export toml telemetry.toml   # the canonical form")]
    Export {
        /// What to print
        what: Exported,
        /// The schema file, for `toml`
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// What `rowkey schema export` prints.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Exported {
    /// The JSON Schema of all schema files
    JsonSchema,
    /// One schema in its canonical form
    Toml,
}

/// Runs it.
pub(crate) fn run(command: &SchemaCommand, session: &mut Session) -> Result<Exit> {
    match command {
        SchemaCommand::Check { file, deny_warnings } => check(file, *deny_warnings, session),
        SchemaCommand::Show { file } => show(file, session),
        SchemaCommand::Diff { old, new } => diff(old, new, session),
        SchemaCommand::Fingerprint { file } => fingerprint(file, session),
        SchemaCommand::Export { what, file } => export(*what, file.as_deref(), session),
    }
}

fn check(file: &Path, deny_warnings: bool, session: &mut Session) -> Result<Exit> {
    let schema = schema_file::load(file)?;
    // Compiling finds what parsing does not.
    let codec = Codec::new(schema)?;
    let warnings = codec.schema().warnings();
    let fingerprint = codec.schema().fingerprint().to_string();
    if session.format == Format::Json {
        let line = Object::line("check")
            .text("table", &codec.schema().table)
            .text("fingerprint", &fingerprint)
            .raw("warnings", &warnings_json(&warnings));
        writeln!(session.out, "{}", line.end())?;
    } else {
        warn_all(codec.schema(), session);
        let counted = match warnings.len() {
            0 => "no warnings".to_owned(),
            some => text::counted(some as u64, "warning"),
        };
        writeln!(
            session.out,
            "{}: good schema of table `{}`, {counted}",
            file.display(),
            codec.schema().table
        )?;
    }
    Ok(if deny_warnings && !warnings.is_empty() { Exit::No } else { Exit::Done })
}

/// Prints a schema's warnings to stderr.
pub(crate) fn warn_all(schema: &KeySchema, session: &Session) {
    for warning in schema.warnings() {
        session.warn(&warning.to_string());
    }
}

fn show(file: &Path, session: &mut Session) -> Result<Exit> {
    let codec = Codec::new(schema_file::load(file)?)?;
    let description = codec.schema().describe(&codec);
    if session.format == Format::Json {
        writeln!(session.out, "{}", description_json(&description))?;
    } else {
        writeln!(session.out, "{}", description.to_string().trim_end())?;
    }
    Ok(Exit::Done)
}

fn description_json(description: &Description) -> String {
    let number = |number: Option<usize>| serde_json::Value::from(number).to_string();
    let width = |width: Width| Object::new().number("min", width.min).raw("max", &number(width.max)).end();
    let names = |names: &[String]| json::array(names.iter().map(|name| json::quote(name)));
    let parts = description.parts.iter().map(|part| {
        Object::new()
            .text("name", &part.name)
            .text("kind", &part.kind)
            .raw("offset", &number(part.offset))
            .raw("bytes", &width(part.width))
            .text("example", &part.example)
            .text("value", &part.value)
            .end()
    });
    let queries = description.queries.iter().map(|query| {
        Object::new()
            .text("name", &query.name)
            .text("bound", &query.bound)
            .raw("buckets", &serde_json::Value::from(query.buckets).to_string())
            .raw("cut_by", &names(&query.cut_by))
            .raw("tried", &names(&query.tried))
            .raw("checked", &names(&query.checked))
            .end()
    });
    let example = description.example.as_ref().map_or_else(|| "null".to_owned(), |key| json::bytes(&key.0));
    Object::line("schema")
        .text("table", &description.table)
        .text("layout", &description.layout)
        .text("fingerprint", &description.fingerprint.to_string())
        .raw("example", &example)
        .raw("parts", &json::array(parts))
        .text("order", &description.order)
        .raw("key_bytes", &width(description.key_width))
        .number("salt_bytes_per_million_rows", description.salt_bytes_per_million_rows)
        .raw("warnings", &warnings_json(&description.warnings))
        .raw("queries", &json::array(queries))
        .end()
}

fn warnings_json(warnings: &[Warning]) -> String {
    json::array(
        warnings.iter().map(|warning| {
            Object::new().text("topic", warning.topic).text("message", &warning.message).end()
        }),
    )
}

fn diff(old: &Path, new: &Path, session: &mut Session) -> Result<Exit> {
    let (old, new) = (schema_file::load(old)?, schema_file::load(new)?);
    let diff = schema::diff(&old, &new);
    if session.format == Format::Json {
        writeln!(session.out, "{}", diff_json(&diff))?;
    } else {
        writeln!(session.out, "{}", diff.to_string().trim_end())?;
    }
    Ok(if diff.verdict == Verdict::Safe { Exit::Done } else { Exit::No })
}

fn diff_json(diff: &Diff) -> String {
    let share = |share: Option<f64>| serde_json::Value::from(share).to_string();
    let changes = diff.changes.iter().map(|change| {
        Object::new()
            .text("verdict", &change.verdict.to_string())
            .text("what", &change.what)
            .text("why", &change.why)
            .end()
    });
    Object::line("diff")
        .text("verdict", &diff.verdict.to_string())
        .text("old", &diff.old.to_string())
        .text("new", &diff.new.to_string())
        .raw("moved_share", &share(diff.moved_share))
        .raw("rewritten_share", &share(diff.rewritten_share))
        .number("salt_bytes_per_million_rows", diff.salt_bytes_per_million_rows)
        .raw("changes", &json::array(changes))
        .end()
}

fn fingerprint(file: &Path, session: &mut Session) -> Result<Exit> {
    let fingerprint = schema_file::load(file)?.fingerprint();
    match session.format {
        Format::Json => {
            let line = Object::line("fingerprint").text("fingerprint", &fingerprint.to_string());
            writeln!(session.out, "{}", line.end())?;
        }
        Format::Text | Format::Csv => writeln!(session.out, "{fingerprint}")?,
    }
    Ok(Exit::Done)
}

fn export(what: Exported, file: Option<&Path>, session: &mut Session) -> Result<Exit> {
    match (what, file) {
        (Exported::JsonSchema, None) => write!(session.out, "{}", schema::json_schema())?,
        (Exported::Toml, Some(file)) => write!(session.out, "{}", schema_file::load(file)?.to_toml())?,
        (Exported::JsonSchema, Some(_)) => {
            return Err(Failure::usage("`json-schema` is the same for all schemas and takes no FILE"));
        }
        (Exported::Toml, None) => return Err(Failure::usage("`toml` needs the schema FILE to print")),
    }
    Ok(Exit::Done)
}
