//! A keyed table: a key schema over a table of an engine. The schema is kept with the table, so that nobody opens it with another.
//!
//! ```text
//! annotations of the table:   rowkey.schema       the schema as canonical TOML
//!                             rowkey.fingerprint  16 hex digits, covers all that changes stored bytes
//! ```

use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use rowkey::schema::{Diff, Verdict, diff};
use rowkey::{Codec, KeySchema, StoredKey};
use rowkey_store::{
    Clock, Engine, FamilyChange, FamilyConfig, Granularity, RowKey, TableConfig, ValueType, gc,
};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The annotation that holds the schema.
pub const SCHEMA_ANNOTATION: &str = "rowkey.schema";
/// The annotation that holds the fingerprint.
pub const FINGERPRINT_ANNOTATION: &str = "rowkey.fingerprint";

/// A table whose row keys follow a schema.
#[derive(Debug)]
pub struct KeyedTable {
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    codec: Codec,
    name: String,
    /// What differs between the schema kept with the table and the one that it was opened with.
    difference: Option<Diff>,
    /// State of the generator that chooses buckets of a random salt.
    pub(crate) random: AtomicU64,
}

/// What a new table is besides its schema.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// Where the table is cut from the beginning: stored keys, ascending.
    pub splits: Vec<StoredKey>,
    /// The granularity of cell timestamps, fixed for ever.
    pub granularity: Granularity,
    /// Refuses dropping the table and its families.
    pub deletion_protection: bool,
}

impl KeyedTable {
    /// Creates the table that the schema names, with its families.
    ///
    /// # Errors
    ///
    /// `AlreadyExists`; `Invalid` or `Limit` for a bad garbage-collection rule, family or split point.
    pub fn create(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        schema: KeySchema,
        options: &CreateOptions,
    ) -> Result<Self> {
        let config = TableConfig {
            families: family_configs(&schema)?,
            granularity: options.granularity,
            split_points: options.splits.iter().map(|key| RowKey::copy_from_slice(key.as_bytes())).collect(),
            deletion_protection: options.deletion_protection,
            annotations: annotations(&schema)
                .into_iter()
                .map(|(name, text)| (name.to_owned(), text))
                .collect(),
        };
        let codec = Codec::new(schema)?;
        let name = codec.schema().table.clone();
        engine.create_table(&name, &config)?;
        Ok(Self::new(engine, clock, codec, name, None))
    }

    /// Opens a table with the schema that is kept with it, or with `expected` if the difference is safe.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Conflict` if no schema is kept with the table, or if `expected` differs from it in more than a safe way: the
    /// message contains the difference.
    pub fn open(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        name: &str,
        expected: Option<&KeySchema>,
    ) -> Result<Self> {
        let config = engine.table_config(name)?;
        let kept = kept_schema(name, &config)?;
        let (schema, difference) = match expected {
            None => (kept, None),
            Some(expected) if *expected == kept => (kept, None),
            Some(expected) => {
                let difference = diff(&kept, expected);
                if difference.verdict != Verdict::Safe {
                    let what = match difference.verdict {
                        Verdict::Forbidden => "forbidden",
                        _ => "possible only by migration to a new table",
                    };
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!(
                            "table `{name}` has another key schema, and the change is {what}; open it without a schema to use \
                             its own. The difference:\n{difference}"
                        ),
                    ));
                }
                (expected.clone(), Some(difference))
            }
        };
        Ok(Self::new(engine, clock, Codec::new(schema)?, name.to_owned(), difference))
    }

    /// Keeps a schema with a table that has none, such as one that another tool made. Its keys are not looked at: a scan says which
    /// do not conform. Families of the schema that the table lacks are created.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Conflict` if a schema is kept already; `Invalid` or `Limit` for a family or its rule.
    pub fn adopt(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>, schema: KeySchema) -> Result<Self> {
        let codec = Codec::new(schema)?;
        let name = codec.schema().table.clone();
        let config = engine.table_config(&name)?;
        if config.annotations.contains_key(SCHEMA_ANNOTATION) {
            let message = format!("table `{name}` has a key schema already; open it with that");
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let table = Self::new(engine, clock, codec, name, None);
        table.keep_schema(&config)?;
        Ok(table)
    }

    fn new(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        codec: Codec,
        name: String,
        difference: Option<Diff>,
    ) -> Self {
        let seed = u64::from_ne_bytes(clock.now_us().to_ne_bytes());
        Self { engine, clock, codec, name, difference, random: AtomicU64::new(seed) }
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schema's codec.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The schema.
    pub fn schema(&self) -> &KeySchema {
        self.codec.schema()
    }

    /// The engine that holds the table.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// The clock that deadlines and imports go by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// How the schema that the table was opened with differs from the one that is kept with it, always in a safe way.
    pub fn difference(&self) -> Option<&Diff> {
        self.difference.as_ref()
    }

    /// Keeps the schema that the table was opened with, creates the families that it adds and sets the rules that it changes. No family
    /// is ever dropped by this.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::modify_families`] and [`Engine::annotate_table`].
    pub fn update_schema(&mut self) -> Result<()> {
        let config = self.engine.table_config(&self.name)?;
        self.keep_schema(&config)?;
        self.difference = None;
        Ok(())
    }

    fn keep_schema(&self, config: &TableConfig) -> Result<()> {
        let changes = family_changes(&family_configs(self.schema())?, &config.families);
        if !changes.is_empty() {
            self.engine.modify_families(&self.name, &changes)?;
        }
        for (name, text) in annotations(self.schema()) {
            self.engine.annotate_table(&self.name, name, Some(text))?;
        }
        Ok(())
    }
}

/// The schema that is kept with a table.
///
/// # Errors
///
/// `Conflict` if there is none; `Corrupt` if it does not parse or does not have the fingerprint that is kept with it.
pub fn kept_schema(table: &str, config: &TableConfig) -> Result<KeySchema> {
    let Some(text) = config.annotations.get(SCHEMA_ANNOTATION) else {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("table `{table}` has no key schema: it was not made by rowkey; adopt it with one first"),
        ));
    };
    let damaged = |what: String| {
        Error::new(ErrorKind::Corrupt, format!("the key schema kept with table `{table}` {what}"))
    };
    let text = std::str::from_utf8(text).map_err(|error| damaged(format!("is no text: {error}")))?;
    let schema = KeySchema::parse(text).map_err(|error| damaged(format!("does not parse: {error}")))?;
    let fingerprint = schema.fingerprint().to_string();
    match config.annotations.get(FINGERPRINT_ANNOTATION) {
        Some(kept) if *kept == *fingerprint.as_bytes() => Ok(schema),
        kept => {
            let kept = kept.map_or("missing".into(), |kept| String::from_utf8_lossy(kept).into_owned());
            Err(damaged(format!("has the fingerprint {fingerprint}, but the one kept with it is {kept}")))
        }
    }
}

fn annotations(schema: &KeySchema) -> [(&'static str, Bytes); 2] {
    [
        (SCHEMA_ANNOTATION, schema.to_toml().into()),
        (FINGERPRINT_ANNOTATION, schema.fingerprint().to_string().into()),
    ]
}

fn family_configs(schema: &KeySchema) -> Result<Vec<FamilyConfig>> {
    let configs = schema.families.iter().map(|family| {
        let text = if family.gc.is_empty() { "never" } else { family.gc.as_str() };
        let gc_rule = gc::parse_rule(text)
            .map_err(|error| Error::from(error).context(format!("family `{}`, gc", family.name)))?;
        let value_type = match family.value_type.as_str() {
            "" | "bytes" => ValueType::Bytes,
            "intsum" => ValueType::IntSum,
            "intmin" => ValueType::IntMin,
            "intmax" => ValueType::IntMax,
            other => {
                return Err(Error::invalid(format!(
                    "family `{}` has the unknown type `{other}`",
                    family.name
                )));
            }
        };
        Ok(FamilyConfig { name: family.name.clone(), gc_rule, value_type })
    });
    configs.collect()
}

fn family_changes(wanted: &[FamilyConfig], present: &[FamilyConfig]) -> Vec<FamilyChange> {
    let change = |family: &FamilyConfig| match present.iter().find(|known| known.name == family.name) {
        None => Some(FamilyChange::Create(family.clone())),
        Some(known) if known.gc_rule != family.gc_rule => {
            Some(FamilyChange::SetGcRule { family: family.name.clone(), gc_rule: family.gc_rule.clone() })
        }
        Some(_) => None,
    };
    wanted.iter().filter_map(change).collect()
}
