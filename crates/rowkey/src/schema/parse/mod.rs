//! Text to [`KeySchema`]: a walk over the TOML document, in which every value still knows its place.

pub(super) mod attributes;
mod document;
pub(super) mod field;
mod layout;
mod purpose;
pub(super) mod salt;
mod structure;

use super::{Field, KeySchema, Part, Salt};
use crate::{Codec, Error, Result};
use document::{Source, Table, Text, suggest};
use layout::{Piece, RESERVED};
use toml::de::DeTable;

/// Bytes of a table name (`CreateTableRequest.table_id`; also `limits.rs` of `rowkey-store`).
const TABLE_NAME_BYTES_MAX: usize = 50;

impl KeySchema {
    /// Reads a schema file. `docs/schema.md` describes every key of it.
    ///
    /// ```
    /// let schema = rowkey::KeySchema::parse(
    ///     r##"
    ///     version = 1
    ///     table = "telemetry"
    ///     [key]
    ///     layout = "{salt}#{vehicle}#{time}"
    ///     [key.salt]
    ///     of = ["vehicle"]
    ///     buckets = 16
    ///     [key.fields]
    ///     vehicle = { type = "uint", digits = 5 }
    ///     time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
    ///     "##,
    /// )?;
    /// assert_eq!(schema.fields[1].name, "time");
    ///
    /// let error = rowkey::KeySchema::parse("version = 2").unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 11: `version` is 2; this release knows version 1 only");
    /// # Ok::<(), rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`](crate::ErrorKind::Schema) with line and column, and a message that says what to write instead: bad
    /// TOML, an unknown key, a value out of bounds, a field that is defined and not used or the reverse, and every design whose
    /// keys would not sort like their fields or could be read in two ways.
    pub fn parse(text: &str) -> Result<Self> {
        let source = Source(text);
        let document = DeTable::parse(text).map_err(|error| syntax_error(source, &error))?;
        let root = Table::root(source, document.get_ref());
        root.refuse_unknown(attributes::ROOT)?;
        check_version(&root)?;
        let table = table_name(&root)?;
        let key = root.table("key", "[key]".to_owned(), "a table: write [key]")?;
        let key = key.ok_or_else(|| root.missing("key", "[key] with a `layout` under it"))?;
        key.refuse_unknown(attributes::KEY)?;
        let (parts, fields, salt) = key_design(&key)?;
        let families = purpose::families(&root)?;
        let queries = purpose::queries(&root, &fields)?;
        let schema = Self { table, parts, fields, salt, families, queries };
        // What this walk has not refused, the codec may: an error then stands at the design as a whole.
        match Codec::new(schema.clone()) {
            Ok(_) => Ok(schema),
            Err(error) => Err(key.error(error.message())),
        }
    }
}

fn syntax_error(source: Source<'_>, error: &toml::de::Error) -> Error {
    // What the TOML parser says of a word without quotes.
    let unquoted =
        error.message().starts_with("invalid boolean") || error.message().contains("must be quoted");
    let hint = if unquoted { "; text stands in quotes" } else { "" };
    source.error(error.span().map_or(0, |span| span.start), format!("not TOML: {}{hint}", error.message()))
}

fn check_version(root: &Table<'_, '_>) -> Result<()> {
    match root.integer("version", i64::MIN..=i64::MAX)? {
        Some(1) => Ok(()),
        None => Err(root.missing("version", "version = 1")),
        Some(other) => {
            let message = format!("`version` is {other}; this release knows version 1 only");
            Err(root.error_at_value("version", message))
        }
    }
}

fn table_name(root: &Table<'_, '_>) -> Result<String> {
    let text = root.required_string("table", "table = \"telemetry\"")?;
    let name = text.value.as_str();
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let rest = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !(first && rest) {
        let message = format!(
            "{name:?} is no table name: take a letter, a digit or `_`, then letters, digits, `_`, `-` and `.`"
        );
        return Err(text.error(message));
    }
    if name.len() > TABLE_NAME_BYTES_MAX {
        let message = format!("the table name has {} bytes; at most {TABLE_NAME_BYTES_MAX}", name.len());
        return Err(text.error(message));
    }
    Ok(text.value)
}

fn key_design(key: &Table<'_, '_>) -> Result<(Vec<Part>, Vec<Field>, Option<Salt>)> {
    let layout = key.required_string("layout", "layout = \"{vehicle}#{time}\"")?;
    if layout.value.is_empty() {
        return Err(
            layout.error("`layout` is empty: write the fields in their order, as in \"{vehicle}#{time}\"")
        );
    }
    let pieces = layout::pieces(&layout)?;
    let salt_table = key.table("salt", "[key.salt]".to_owned(), "a table: write [key.salt]")?;
    check_salt_place(&layout, &pieces, salt_table.as_ref())?;
    let names = field_names(&layout, &pieces)?;
    let fields_table = key.table("fields", "[key.fields]".to_owned(), "a table: write [key.fields]")?;
    let fields_table =
        fields_table.ok_or_else(|| key.missing("fields", "[key.fields] with a line for each field"))?;
    check_names(&layout, &names, &fields_table)?;
    let fields: Vec<Field> =
        names.iter().map(|(name, _)| one_field(&fields_table, name)).collect::<Result<_>>()?;
    let parts = parts(pieces, &fields);
    structure::check(&parts, &fields)
        .map_err(|fault| layout.error_at(names[fault.field].1, fault.message))?;
    let salt = match salt_table {
        None => None,
        Some(table) => {
            table.refuse_unknown(attributes::SALT)?;
            Some(salt::parse(&table, &parts, &fields)?)
        }
    };
    Ok((parts, fields, salt))
}

fn check_salt_place(layout: &Text<'_>, pieces: &[Piece], table: Option<&Table<'_, '_>>) -> Result<()> {
    let mut salts = pieces.iter().enumerate().filter_map(|(index, piece)| match piece {
        Piece::Name(name, at) if name == "salt" => Some((index, *at)),
        _ => None,
    });
    match (salts.next(), table) {
        (None, None) => Ok(()),
        (None, Some(table)) => {
            Err(table.error("[key.salt] is not used: begin `layout` with {salt}, or remove [key.salt]"))
        }
        (Some((_, at)), None) => Err(layout.error_at(
            at,
            "`layout` has {salt} but there is no [key.salt]: add it, with of = [\"...\"] and buckets = 16",
        )),
        (Some((0, _)), Some(_)) => match salts.next() {
            None => Ok(()),
            Some((_, at)) => Err(layout.error_at(at, "{salt} stands twice in `layout`; remove one")),
        },
        (Some((_, at)), Some(_)) => Err(layout.error_at(
            at,
            "{salt} must come first in `layout`: behind anything else it does not spread the writes over the table",
        )),
    }
}

fn field_names(layout: &Text<'_>, pieces: &[Piece]) -> Result<Vec<(String, usize)>> {
    let mut names: Vec<(String, usize)> = Vec::new();
    for piece in pieces {
        let Piece::Name(name, at) = piece else { continue };
        if name == "salt" {
            continue;
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(layout.error_at(*at, layout::bad_name("layout", name)));
        }
        if names.iter().any(|(earlier, _)| earlier == name) {
            return Err(layout.error_at(*at, format!("field `{name}` stands twice in `layout`; remove one")));
        }
        names.push((name.clone(), *at));
    }
    if names.is_empty() {
        return Err(layout
            .error("`layout` has no field, so all rows would have one key: add a field, as in {vehicle}"));
    }
    Ok(names)
}

/// Every name of the layout is defined, and every definition is used.
fn check_names(layout: &Text<'_>, names: &[(String, usize)], table: &Table<'_, '_>) -> Result<()> {
    let defined = table.keys();
    let used: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    for (name, at) in names {
        if !table.has(name) {
            let unused: Vec<&str> = defined.iter().filter(|name| !used.contains(name)).copied().collect();
            let hint = match suggest(name, &unused) {
                hint if hint.starts_with("did") => hint,
                _ => format!("add {name} = {{ type = \"string\" }}"),
            };
            return Err(
                layout.error_at(*at, format!("field `{name}` is not defined in [key.fields]; {hint}"))
            );
        }
    }
    match defined.into_iter().find(|name| !used.contains(name)) {
        None => Ok(()),
        Some(name) if RESERVED.contains(&name) => {
            Err(table.error_at(name, layout::bad_name("[key.fields]", name)))
        }
        Some(name) => {
            let message =
                format!("field `{name}` is not in the layout: add {{{name}}} to `layout`, or remove it here");
            Err(table.error_at(name, message))
        }
    }
}

fn one_field(fields: &Table<'_, '_>, name: &str) -> Result<Field> {
    let example = "a table, as in { type = \"string\" }";
    let table = fields.table(name, format!("field `{name}`"), example)?.expect("the names were checked");
    field::parse(name, &table)
}

fn parts(pieces: Vec<Piece>, fields: &[Field]) -> Vec<Part> {
    let part = |piece| match piece {
        Piece::Literal(bytes) => Part::Literal(bytes),
        Piece::Name(name, _) => {
            fields.iter().position(|field| field.name == name).map_or(Part::Salt, Part::Field)
        }
    };
    pieces.into_iter().map(part).collect()
}
