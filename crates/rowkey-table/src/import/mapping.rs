//! Which column goes where: into a key field, a cell, the cell timestamp, or nowhere.
//!
//! Without any rule, a column with the name of a key field is that field, a column named `family:qualifier` is that cell, and any
//! other column is a cell of the first family, its qualifier the name of the column.

use super::record::{ExportedRow, Fields};
use crate::{Error, Result};
use bytes::Bytes;
use rowkey::schema::TimeUnit;
use rowkey::{Codec, KeySchema, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rules from columns to fields and cells.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    /// Column by key field, where the names differ.
    pub fields: BTreeMap<String, String>,
    /// Family and qualifier by column.
    pub cells: BTreeMap<String, (String, String)>,
    /// Columns whose values are integers, stored as 8 bytes, big endian, as increments need them.
    pub integers: BTreeSet<String>,
    /// Values of key fields that stand in no column, by field.
    pub constant_fields: BTreeMap<String, String>,
    /// Cells that every row gets: family, qualifier, value.
    pub constant_cells: Vec<(String, String, String)>,
    /// What happens to the other columns.
    pub rest: RestColumns,
    /// The column that holds the cell timestamp; `None`: all cells get the time of the import.
    pub time: Option<TimeColumn>,
    /// Leaves cells out whose value is empty.
    pub skip_empty: bool,
}

/// What happens to a column that no rule names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RestColumns {
    /// A cell of the schema's first family.
    #[default]
    FirstFamily,
    /// A cell of this family.
    Family(String),
    /// Left out; the report names the columns.
    Ignore,
    /// An error, for files whose columns should all be known.
    Refuse,
}

/// A column of cell timestamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeColumn {
    /// The column; it may be a key field as well.
    pub column: String,
    /// The unit of plain numbers. RFC 3339 text is understood in any case.
    pub unit: TimeUnit,
}

impl Mapping {
    /// Adds a rule as people write it: `field=column` or `column=family:qualifier`. The second is meant if what follows the equals
    /// sign begins with a family of the schema and a colon.
    ///
    /// # Errors
    ///
    /// `Invalid` for a rule that names neither a field nor a family of the schema.
    pub fn add_rule(&mut self, rule: &str, schema: &KeySchema) -> Result<()> {
        let (left, right) = split_rule(rule)?;
        if let Some((family, qualifier)) = split_cell(right, schema) {
            let cell = (family.to_owned(), qualifier.to_owned());
            refuse_second(self.cells.insert(left.to_owned(), cell).is_some(), rule, "column", left)
        } else if schema.fields.iter().any(|field| field.name == left) {
            let earlier = self.fields.insert(left.to_owned(), right.to_owned());
            refuse_second(earlier.is_some(), rule, "key field", left)
        } else {
            Err(unknown_target(rule, left, schema))
        }
    }

    /// Adds a constant as people write it: `field=value` or `family:qualifier=value`.
    ///
    /// # Errors
    ///
    /// `Invalid` for a rule that names neither a field nor a family of the schema.
    pub fn add_constant(&mut self, rule: &str, schema: &KeySchema) -> Result<()> {
        let (left, right) = split_rule(rule)?;
        if let Some((family, qualifier)) = split_cell(left, schema) {
            self.constant_cells.push((family.to_owned(), qualifier.to_owned(), right.to_owned()));
            Ok(())
        } else if schema.fields.iter().any(|field| field.name == left) {
            let earlier = self.constant_fields.insert(left.to_owned(), right.to_owned());
            refuse_second(earlier.is_some(), rule, "key field", left)
        } else {
            Err(unknown_target(rule, left, schema))
        }
    }
}

fn split_rule(rule: &str) -> Result<(&str, &str)> {
    rule.split_once('=').ok_or_else(|| Error::invalid(format!("the rule `{rule}` lacks an equals sign")))
}

fn refuse_second(is_second: bool, rule: &str, what: &str, name: &str) -> Result<()> {
    if is_second {
        return Err(Error::invalid(format!(
            "the rule `{rule}` is a second one for the {what} `{name}`; leave one out"
        )));
    }
    Ok(())
}

fn split_cell<'t>(text: &'t str, schema: &KeySchema) -> Option<(&'t str, &'t str)> {
    let (family, qualifier) = text.split_once(':')?;
    schema.families.iter().any(|known| known.name == family).then_some((family, qualifier))
}

fn unknown_target(rule: &str, left: &str, schema: &KeySchema) -> Error {
    Error::invalid(format!(
        "the rule `{rule}`: `{left}` is no key field of table `{}` ({}), and no family ({}) is named",
        schema.table,
        list(schema.fields.iter().map(|field| field.name.as_str())),
        list(schema.families.iter().map(|family| family.name.as_str())),
    ))
}

fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A row that can be written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) values: Vec<Value<'static>>,
    /// Only of a line of our own export, with a random salt.
    pub(crate) bucket: Option<u32>,
    pub(crate) cells: Vec<DraftCell>,
    /// From the time column.
    pub(crate) timestamp_us: Option<i64>,
}

/// A cell of a draft.
#[derive(Debug)]
pub(crate) struct DraftCell {
    pub(crate) column: Arc<CellColumn>,
    pub(crate) value: Bytes,
    /// Its own time, if it came with one.
    pub(crate) timestamp_us: Option<i64>,
}

/// Where a value goes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellColumn {
    pub(crate) family: String,
    pub(crate) qualifier: Bytes,
    /// The name of the column, if its values are integers.
    integer: Option<String>,
}

/// A mapping that fits a schema and, for CSV, a header.
#[derive(Debug)]
pub(crate) struct Mapper {
    codec: Codec,
    mapping: Mapping,
    /// How each key field is found, in the order of the layout.
    fields: Vec<FieldInput>,
    /// Of a CSV file: cells by position.
    columns: Vec<(usize, Arc<CellColumn>)>,
    time_position: Option<usize>,
    constants: Vec<(Arc<CellColumn>, Bytes)>,
    /// Reads the time column.
    times: Option<Codec>,
    /// Columns that were left out; of JSON lines, the first [`IGNORED_MAX`].
    pub(crate) ignored: Vec<String>,
    /// Of JSON lines: members that a rule names, and that no object had yet.
    pub(crate) never_met: BTreeSet<String>,
}

/// Names of members left out that are remembered, since every JSON object may have others.
const IGNORED_MAX: usize = 1000;

#[derive(Debug)]
enum FieldInput {
    Constant(Value<'static>),
    /// Name and, for CSV, position.
    Column(String, usize),
}

impl Mapper {
    /// Fits a mapping to a schema, and to the header of a CSV file; `None` for JSON lines.
    pub(crate) fn new(codec: &Codec, mapping: &Mapping, header: Option<&[String]>) -> Result<Self> {
        let schema = codec.schema();
        check_names(schema, mapping)?;
        let mut mapper = Self {
            codec: codec.clone(),
            mapping: mapping.clone(),
            fields: Vec::new(),
            columns: Vec::new(),
            time_position: None,
            constants: Vec::new(),
            times: mapping.time.as_ref().map(|time| time_codec(time.unit)).transpose()?,
            ignored: Vec::new(),
            never_met: BTreeSet::new(),
        };
        for (index, field) in schema.fields.iter().enumerate() {
            mapper.fields.push(field_input(codec, mapping, index, &field.name, header)?);
        }
        for (family, qualifier, value) in &mapping.constant_cells {
            let qualifier = Bytes::copy_from_slice(qualifier.as_bytes());
            let column = CellColumn { family: family.clone(), qualifier, integer: None };
            mapper.constants.push((Arc::new(column), Bytes::copy_from_slice(value.as_bytes())));
        }
        match header {
            Some(header) => mapper.fit_header(header)?,
            None => mapper.never_met.extend(mapping.cells.keys().chain(&mapping.integers).cloned()),
        }
        Ok(mapper)
    }

    fn fit_header(&mut self, header: &[String]) -> Result<()> {
        let named = self.mapping.cells.keys().chain(&self.mapping.integers);
        let named = named.chain(self.mapping.time.iter().map(|time| &time.column));
        for column in named {
            if !header.contains(column) {
                return Err(missing_column(header, &format!("a rule names the column `{column}`")));
            }
        }
        for (position, name) in header.iter().enumerate() {
            match self.target(name).map_err(Error::invalid)? {
                Some(target) => self.columns.push((position, Arc::new(target))),
                None if self.is_used(name) => {}
                None => self.ignored.push(name.clone()),
            }
        }
        let columns = self.columns.iter().map(|(position, cell)| (&**cell, header[*position].as_str()));
        let constants = self.constants.iter().map(|(cell, _)| (&**cell, "a constant"));
        refuse_same_cell(columns.chain(constants)).map_err(Error::invalid)?;
        self.time_position =
            self.mapping.time.as_ref().and_then(|time| header.iter().position(|name| *name == time.column));
        if self.columns.is_empty() && self.constants.is_empty() {
            let message = "no column is left for a cell, and a row without cells cannot be stored; map a column with \
                           `column=family:qualifier`, or give a constant with `family:qualifier=value`";
            return Err(Error::invalid(message));
        }
        Ok(())
    }

    /// Whether a column is a key field or the time.
    fn is_used(&self, name: &str) -> bool {
        let is_field = |input: &FieldInput| matches!(input, FieldInput::Column(column, _) if column == name);
        self.fields.iter().any(is_field) || self.mapping.time.as_ref().is_some_and(|time| time.column == name)
    }

    /// The cell that a column becomes, if any.
    fn target(&self, name: &str) -> Result<Option<CellColumn>, String> {
        let schema = self.codec.schema();
        let integer = self.mapping.integers.get(name);
        let cell = |family: &str, qualifier: &str| {
            let qualifier = Bytes::copy_from_slice(qualifier.as_bytes());
            Ok(Some(CellColumn { family: family.to_owned(), qualifier, integer: integer.cloned() }))
        };
        if let Some((family, qualifier)) = self.mapping.cells.get(name) {
            return cell(family, qualifier);
        }
        if self.is_used(name) {
            return Ok(None);
        }
        if let Some((family, qualifier)) = split_cell(name, schema) {
            return cell(family, qualifier);
        }
        match &self.mapping.rest {
            RestColumns::Ignore => Ok(None),
            RestColumns::Refuse => Err(format!("no rule says where the column `{name}` goes")),
            RestColumns::Family(family) => cell(family, name),
            RestColumns::FirstFamily => {
                let family = schema.families.first().ok_or_else(|| {
                    format!(
                        "the schema of table `{}` declares no family for the column `{name}`",
                        schema.table
                    )
                })?;
                cell(&family.name, name)
            }
        }
    }

    /// The row that a record says, or what is wrong with it.
    pub(crate) fn draft(&mut self, fields: Fields) -> Result<Draft, String> {
        match fields {
            Fields::Row(record) => self.draft_record(&record),
            Fields::Object(object) => self.draft_object(&object),
            Fields::Exported(row) => self.draft_exported(row),
        }
    }

    fn draft_record(&self, record: &csv::ByteRecord) -> Result<Draft, String> {
        let column = |position: usize| record.get(position).unwrap_or_default();
        let mut draft = Draft { values: Vec::with_capacity(self.fields.len()), ..Draft::default() };
        for (field, input) in self.fields.iter().enumerate() {
            draft.values.push(match input {
                FieldInput::Constant(value) => value.clone(),
                FieldInput::Column(name, position) => self.field_value(field, name, column(*position))?,
            });
        }
        draft.cells.reserve(self.columns.len() + self.constants.len());
        for (position, target) in &self.columns {
            self.push_cell(&mut draft, target, column(*position))?;
        }
        if let (Some(time), Some(position)) = (&self.mapping.time, self.time_position) {
            draft.timestamp_us = Some(self.timestamp(&time.column, column(position))?);
        }
        self.finish(draft)
    }

    fn draft_object(&mut self, object: &BTreeMap<String, Bytes>) -> Result<Draft, String> {
        let member = |name: &str| object.get(name).ok_or_else(|| format!("the member `{name}` is missing"));
        let mut draft = Draft::default();
        for (field, input) in self.fields.iter().enumerate() {
            draft.values.push(match input {
                FieldInput::Constant(value) => value.clone(),
                FieldInput::Column(name, _) => self.field_value(field, name, member(name)?)?,
            });
        }
        let mut names = Vec::with_capacity(object.len());
        for (name, text) in object {
            if let Some(target) = self.target(name)? {
                let target = Arc::new(target);
                self.push_cell(&mut draft, &target, text)?;
                names.push((target, name.as_str()));
            } else if !self.is_used(name) && !self.ignored.contains(name) && self.ignored.len() < IGNORED_MAX
            {
                self.ignored.push(name.clone());
            }
            self.never_met.remove(name);
        }
        let constants = self.constants.iter().map(|(cell, _)| (&**cell, "a constant"));
        refuse_same_cell(names.iter().map(|(cell, name)| (&**cell, *name)).chain(constants))?;
        if let Some(time) = &self.mapping.time {
            draft.timestamp_us = Some(self.timestamp(&time.column, member(&time.column)?)?);
        }
        self.finish(draft)
    }

    fn draft_exported(&self, row: ExportedRow) -> Result<Draft, String> {
        let schema = self.codec.schema();
        let mut draft = Draft { bucket: row.bucket, ..Draft::default() };
        for (index, field) in schema.fields.iter().enumerate() {
            let text =
                row.key.get(&field.name).ok_or_else(|| format!("key field `{}` is missing", field.name))?;
            draft.values.push(self.field_value(index, &field.name, text.as_bytes())?);
        }
        if let Some(name) =
            row.key.keys().find(|name| !schema.fields.iter().any(|field| field.name == **name))
        {
            return Err(format!("the schema has no key field `{name}`"));
        }
        for cell in row.cells {
            let column = CellColumn { family: cell.family, qualifier: cell.qualifier, integer: None };
            let timestamp_us = Some(cell.timestamp_us);
            draft.cells.push(DraftCell { column: Arc::new(column), value: cell.value, timestamp_us });
        }
        if draft.cells.is_empty() { Err("no cell".to_owned()) } else { Ok(draft) }
    }

    fn finish(&self, mut draft: Draft) -> Result<Draft, String> {
        for (column, value) in &self.constants {
            let cell = DraftCell { column: Arc::clone(column), value: value.clone(), timestamp_us: None };
            draft.cells.push(cell);
        }
        if draft.cells.is_empty() { Err("no value for any cell".to_owned()) } else { Ok(draft) }
    }

    fn field_value(&self, field: usize, column: &str, text: &[u8]) -> Result<Value<'static>, String> {
        let text = utf8(column, text)?;
        self.codec.parse_value(field, text).map_err(|error| error.to_string())
    }

    fn push_cell(&self, draft: &mut Draft, column: &Arc<CellColumn>, text: &[u8]) -> Result<(), String> {
        if text.is_empty() && self.mapping.skip_empty {
            return Ok(());
        }
        let value = if let Some(name) = &column.integer {
            let number: i64 = utf8(name, text)?
                .trim()
                .parse()
                .map_err(|_| format!("column `{name}`: `{}` is no 64-bit integer", text.escape_ascii()))?;
            Bytes::copy_from_slice(&number.to_be_bytes())
        } else {
            Bytes::copy_from_slice(text)
        };
        draft.cells.push(DraftCell { column: Arc::clone(column), value, timestamp_us: None });
        Ok(())
    }

    fn timestamp(&self, column: &str, text: &[u8]) -> Result<i64, String> {
        let times = self.times.as_ref().expect("a time column comes with its codec");
        let value = times.parse_value(0, utf8(column, text)?);
        let value = value.map_err(|error| format!("time column `{column}`: {}", error.message()))?;
        let Value::Time(time) = value else { return Err(format!("time column `{column}`: no time")) };
        if time.nanos < 0 {
            return Err(format!("time column `{column}`: a cell cannot be older than 1970"));
        }
        i64::try_from(time.nanos / 1000).map_err(|_| {
            format!(
                "time column `{column}`: `{}` is too late for a cell; is its unit right?",
                text.escape_ascii()
            )
        })
    }
}

/// Of two columns that become one cell of one time, the last one would win, and nobody would know of the other.
fn refuse_same_cell<'c>(cells: impl Iterator<Item = (&'c CellColumn, &'c str)>) -> Result<(), String> {
    let mut cells: Vec<_> = cells.map(|(cell, from)| ((&cell.family, &cell.qualifier), from)).collect();
    cells.sort_unstable();
    let Some(same) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
    let (((family, qualifier), one), (_, other)) = (same[0], same[1]);
    Err(format!(
        "`{one}` and `{other}` are both the cell `{family}:{}`; map one of them to another one",
        String::from_utf8_lossy(qualifier)
    ))
}

fn utf8<'t>(column: &str, text: &'t [u8]) -> Result<&'t str, String> {
    std::str::from_utf8(text)
        .map_err(|error| format!("column `{column}`: not UTF-8 at byte {}", error.valid_up_to()))
}

fn check_names(schema: &KeySchema, mapping: &Mapping) -> Result<()> {
    let rest = match &mapping.rest {
        RestColumns::Family(family) => Some(family),
        _ => None,
    };
    let constants = mapping.constant_cells.iter().map(|(family, ..)| family);
    let families = mapping.cells.values().map(|(family, _)| family).chain(constants).chain(rest);
    for name in families {
        match schema.families.iter().find(|family| family.name == *name) {
            Some(family) if family.value_type == "bytes" => {}
            Some(family) => {
                return Err(Error::new(
                    crate::ErrorKind::Unsupported,
                    format!(
                        "family `{name}` is an aggregate ({}); import writes plain cells",
                        family.value_type
                    ),
                ));
            }
            None => {
                let known = list(schema.families.iter().map(|family| family.name.as_str()));
                return Err(Error::invalid(format!("the schema has no family `{name}`; it has {known}")));
            }
        }
    }
    for name in mapping.fields.keys().chain(mapping.constant_fields.keys()) {
        if !schema.fields.iter().any(|field| field.name == *name) {
            let known = list(schema.fields.iter().map(|field| field.name.as_str()));
            return Err(Error::invalid(format!("the schema has no key field `{name}`; it has {known}")));
        }
    }
    Ok(())
}

fn field_input(
    codec: &Codec,
    mapping: &Mapping,
    index: usize,
    name: &str,
    header: Option<&[String]>,
) -> Result<FieldInput> {
    if let Some(text) = mapping.constant_fields.get(name) {
        let value = codec.parse_value(index, text);
        return value
            .map(FieldInput::Constant)
            .map_err(|error| Error::from(error).context("the constant of a key field"));
    }
    let column = mapping.fields.get(name).map_or(name, String::as_str);
    let Some(header) = header else { return Ok(FieldInput::Column(column.to_owned(), 0)) };
    match header.iter().position(|known| known == column) {
        Some(position) => Ok(FieldInput::Column(column.to_owned(), position)),
        None if column == name => {
            let what = format!(
                "key field `{name}` has no column of its name; map one with `{name}=COLUMN`, or give a constant"
            );
            Err(missing_column(header, &what))
        }
        None => {
            Err(missing_column(header, &format!("key field `{name}` is mapped to the column `{column}`")))
        }
    }
}

fn missing_column(header: &[String], what: &str) -> Error {
    Error::data(format!("{what}; the header has {}", list(header.iter().map(String::as_str))))
}

/// A codec with one field of the time's type: what a cell timestamp looks like is what a key field may look like.
fn time_codec(unit: TimeUnit) -> Result<Codec> {
    let unit = match unit {
        TimeUnit::Seconds => "s",
        TimeUnit::Millis => "ms",
        TimeUnit::Micros => "us",
        TimeUnit::Nanos => "ns",
    };
    let schema = KeySchema::parse(&format!(
        "version = 1\ntable = \"times\"\n[key]\nlayout = \"{{time}}\"\n[key.fields]\n\
         time = {{ type = \"timestamp\", unit = \"{unit}\", encoding = \"binary\" }}\n"
    ))?;
    Ok(Codec::new(schema)?)
}
