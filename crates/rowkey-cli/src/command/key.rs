//! `rowkey key`: encode, decode, explain.

use crate::exit::{Exit, Failure};
use crate::json::Object;
use crate::output::Format;
use crate::records::{self, Datum, left, right};
use crate::session::Session;
use crate::{schema_file, text};
use anyhow::{Context as _, Result};
use rowkey::schema::{Salt, SaltSource};
use rowkey::{Codec, ROW_KEY_BYTES_MAX_BIGTABLE, ROW_KEY_BYTES_MAX_HBASE, Value, escape};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// The commands of `rowkey key`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum KeyCommand {
    /// Build a row key from field values
    #[command(after_help = "Example:
  rowkey key encode --schema telemetry.toml vehicle=42707 time=2026-09-15T12:00:00Z")]
    Encode {
        /// The schema file
        #[arg(short, long, value_name = "FILE")]
        schema: PathBuf,
        /// The bucket, for a salt that is chosen at random
        #[arg(long, value_name = "NUMBER")]
        bucket: Option<u32>,
        /// A value for every field
        #[arg(value_name = "FIELD=VALUE", required = true)]
        fields: Vec<String>,
    },
    /// Read row keys back into field values
    #[command(after_help = "Examples:
  rowkey key decode --schema telemetry.toml '07#8210526399#42707'
  rowkey key decode --schema telemetry.toml < keys.txt     # one key a line

A key that does not conform to the schema is reported with the field and the offset of its first wrong byte; exit 3.")]
    Decode {
        /// The schema file
        #[arg(short, long, value_name = "FILE")]
        schema: PathBuf,
        /// Row keys as they are printed (\xNN for bytes); without one, lines of stdin
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Show the parts of a row key: each with its bytes, its place and its meaning
    #[command(after_help = "Example:
  rowkey key explain --schema telemetry.toml '07#8210526399#42707'")]
    Explain {
        /// The schema file
        #[arg(short, long, value_name = "FILE")]
        schema: PathBuf,
        /// The row key as it is printed (\xNN for bytes)
        #[arg(value_name = "KEY")]
        key: String,
    },
}

/// Runs it.
pub(crate) fn run(command: &KeyCommand, session: &mut Session) -> Result<Exit> {
    match command {
        KeyCommand::Encode { schema, bucket, fields } => encode(schema, *bucket, fields, session),
        KeyCommand::Decode { schema, keys } => decode(schema, keys, session),
        KeyCommand::Explain { schema, key } => explain(&load(schema)?, &parse_key(key)?, session),
    }
}

fn load(file: &Path) -> Result<Codec> {
    Ok(Codec::new(schema_file::load(file)?)?)
}

fn parse_key(text: &str) -> Result<Vec<u8>> {
    escape::unescape(text).with_context(|| format!("key {text}"))
}

/// A value for every field, from `field=value` arguments in any order.
///
/// # Errors
///
/// Usage if a field is unknown, missing or given twice; the codec's own error if a value does not fit.
pub(crate) fn parse_fields(codec: &Codec, arguments: &[String]) -> Result<Vec<Value<'static>>> {
    let schema = codec.schema();
    let mut values: Vec<Option<Value<'static>>> = vec![None; schema.fields.len()];
    for argument in arguments {
        let Some((name, text)) = argument.split_once('=') else {
            return Err(Failure::usage(format!("`{argument}` is not FIELD=VALUE, as in `vehicle=4092`")));
        };
        let Some(field) = schema.field_index(name) else {
            let known: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "the schema has no field `{name}`; its fields are {}",
                known.join(", ")
            )));
        };
        if values[field].replace(codec.parse_value(field, text)?).is_some() {
            return Err(Failure::usage(format!("field `{name}` is given twice")));
        }
    }
    let missing: Vec<&str> = schema
        .fields
        .iter()
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|(field, _)| field.name.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(Failure::usage(format!(
            "a row key needs all of its fields; missing: {} (as in `{}=VALUE`)",
            missing.join(", "),
            missing[0]
        )));
    }
    Ok(values.into_iter().flatten().collect())
}

fn encode(schema: &Path, bucket: Option<u32>, fields: &[String], session: &mut Session) -> Result<Exit> {
    let codec = load(schema)?;
    let values = parse_fields(&codec, fields)?;
    let mut key = Vec::new();
    match bucket {
        Some(bucket) => codec.encode_in_bucket(bucket, &values, &mut key)?,
        None => match &codec.schema().salt {
            Some(Salt { source: SaltSource::Random, buckets, .. }) => {
                let last = buckets - 1;
                return Err(Failure::usage(format!(
                    "the salt is random, so the fields do not tell the bucket: choose one with --bucket, from 0 to {last}"
                )));
            }
            _ => codec.encode(&values, &mut key)?,
        },
    }
    warn_of_length(&key, session);
    match session.format {
        Format::Json => writeln!(session.out, "{}", Object::line("key").bytes("row_key", &key).end())?,
        Format::Text | Format::Csv => writeln!(session.out, "{}", escape::escaped(&key))?,
    }
    Ok(Exit::Done)
}

/// A key that a schema makes need not be one that a store takes.
fn warn_of_length(key: &[u8], session: &Session) {
    let (bigtable, hbase) = (ROW_KEY_BYTES_MAX_BIGTABLE, ROW_KEY_BYTES_MAX_HBASE);
    if key.is_empty() {
        session.warn("the key is empty, and no store takes an empty row key");
    } else if key.len() > hbase {
        session.warn(&format!("the key has {} bytes; HBase takes {hbase}, Bigtable {bigtable}", key.len()));
    } else if key.len() > bigtable {
        session.warn(&format!("the key has {} bytes; Bigtable takes {bigtable}", key.len()));
    }
}

fn decode(schema: &Path, keys: &[String], session: &mut Session) -> Result<Exit> {
    let codec = load(schema)?;
    if session.format == Format::Csv {
        let names: Vec<&str> = codec.schema().fields.iter().map(|field| field.name.as_str()).collect();
        writeln!(session.out, "{}", names.join(","))?;
    }
    if !keys.is_empty() {
        for key in keys {
            let bytes = parse_key(key)?;
            decode_one(&codec, &bytes, session).with_context(|| format!("key {key}"))?;
        }
        return Ok(Exit::Done);
    }
    if io::stdin().is_terminal() {
        return Err(Failure::usage("give a KEY, or keys on stdin, one a line"));
    }
    for (line, key) in io::stdin().lock().lines().enumerate() {
        let place = format!("stdin, line {}", line + 1);
        let key = key.with_context(|| place.clone())?;
        let bytes = escape::unescape(&key).with_context(|| place.clone())?;
        decode_one(&codec, &bytes, session).with_context(|| format!("{place}: key {key}"))?;
    }
    Ok(Exit::Done)
}

fn decode_one(codec: &Codec, key: &[u8], session: &mut Session) -> Result<()> {
    let mut values = Vec::new();
    codec.decode(key, &mut values)?;
    let shown = values.iter().enumerate().map(|(field, value)| codec.format_value(field, value));
    let names = codec.schema().fields.iter().map(|field| field.name.as_str());
    let line = match session.format {
        Format::Text => {
            let pairs: Vec<String> = names.zip(shown).map(|(name, text)| format!("{name}={text}")).collect();
            pairs.join(" ")
        }
        Format::Csv => {
            let fields: Vec<String> = shown.map(|field| text::csv(&field).into_owned()).collect();
            fields.join(",")
        }
        Format::Json => {
            Object::line("key").bytes("row_key", key).raw("key", &fields_json(codec, &values)).end()
        }
    };
    writeln!(session.out, "{line}")?;
    Ok(())
}

/// The greatest integer that every JSON reader keeps exactly, 2^53 - 1. Greater ones are written as strings, as in an export.
const JSON_INTEGER_MAX: u64 = (1 << 53) - 1;

/// Field values as a JSON object: numbers as numbers, everything else as it is written in a query.
pub(crate) fn fields_json(codec: &Codec, values: &[Value<'_>]) -> String {
    let fields = codec.schema().fields.iter().zip(values).enumerate();
    fields
        .fold(Object::new(), |object, (index, (field, value))| match value {
            Value::Uint(number) if *number <= JSON_INTEGER_MAX => object.number(&field.name, number),
            Value::Int(number) if number.unsigned_abs() <= JSON_INTEGER_MAX => {
                object.number(&field.name, number)
            }
            _ => object.text(&field.name, &codec.format_value(index, value)),
        })
        .end()
}

/// Prints the parts of a key, as far as it conforms.
///
/// # Errors
///
/// If the key does not conform: the error says where. If stdout cannot be written.
pub(crate) fn explain(codec: &Codec, key: &[u8], session: &mut Session) -> Result<Exit> {
    let columns = [right("offset"), right("bytes"), left("part"), left("stored"), left("meaning")];
    let explanation = codec.explain(key);
    let rows: Vec<Vec<Datum>> = explanation
        .parts
        .into_iter()
        .map(|part| {
            vec![
                Datum::Count(part.range.start as u64),
                Datum::Count(part.range.len() as u64),
                Datum::Text(part.name),
                Datum::Key(key[part.range].to_vec()),
                Datum::Text(part.text),
            ]
        })
        .collect();
    records::print(&mut session.out, session.format, "part", &columns, &rows)?;
    explanation.error.map_or(Ok(Exit::Done), |error| Err(error.into()))
}
