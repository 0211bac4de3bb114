//! Random schemas, rows and queries, and what their answer must be, worked out without any of the code under test but the encoding
//! of unsalted keys (whose order is tested where it is defined).
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]
#![expect(dead_code, reason = "each test file uses a part of this module")]

use rowkey::query::{Condition, Query};
use rowkey::{KeySchema, StoredKey, Time, Value};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::seeded::Seeded;
use rowkey_store::{Clock, Durability, Engine, ManualClock, Mutation, Timestamp};
use rowkey_table::{CreateOptions, KeyedTable};
use std::cmp::Ordering;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

/// Layouts with their fields, salt aside: text and binary, ascending and descending, fixed and variable width.
const DESIGNS: [(&str, &str); 6] = [
    (
        "{site}#{kind}#{unit}",
        "site = { type = \"string\" }\nkind = { type = \"string\", values = [\"car\", \"truck\", \"van\"] }\nunit = { type = \"uint\", digits = 3 }",
    ),
    (
        "{unit}#{time}",
        "unit = { type = \"uint\", digits = 2 }\ntime = { type = \"timestamp\", unit = \"ms\", digits = 13, order = \"desc\" }",
    ),
    (
        "{level}{name}{time}",
        "level = { type = \"i16\", order = \"desc\" }\nname = { type = \"text\" }\ntime = { type = \"timestamp\", unit = \"s\", encoding = \"binary\" }",
    ),
    (
        "{time}\\\\x00{site}",
        "time = { type = \"timestamp\", unit = \"s\", format = \"iso-basic\" }\nsite = { type = \"string\" }",
    ),
    (
        "{name}{level}",
        "name = { type = \"bytes\", order = \"desc\" }\nlevel = { type = \"int\", digits = 2 }",
    ),
    ("{unit}", "unit = { type = \"u8\" }"),
];

/// A schema of a random design with a random salt.
pub(crate) fn schema(seeded: &mut Seeded) -> KeySchema {
    let (layout, fields) = *seeded.one_of(&DESIGNS);
    let names: Vec<&str> = fields.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let name = *seeded.one_of(&names);
    let of: Vec<&str> = if seeded.chance(50) { vec![name] } else { names.clone() };
    let buckets = 1 + seeded.below(9);
    let salt = match seeded.below(6) {
        0 => None,
        1 => Some(format!("buckets = {buckets}\nhash = \"random\"")),
        2 => Some(format!("of = {of:?}\nhash = \"xxh3\"\nprefix_bytes = 1\nformat = \"bytes\"")),
        3 => Some(format!("of = {of:?}\nbuckets = {buckets}\nhash = \"murmur3\"\nformat = \"bytes\"")),
        _ => Some(format!("of = {of:?}\nbuckets = {buckets}\nhash = \"xxh3\"")),
    };
    parse(&match salt {
        None => format!("[key]\nlayout = \"{layout}\"\n[key.fields]\n{fields}"),
        Some(salt) => {
            format!("[key]\nlayout = \"{{salt}}{layout}\"\n[key.salt]\n{salt}\n[key.fields]\n{fields}")
        }
    })
}

/// A schema of table `t` from its key part, with the families `a` and `b`.
pub(crate) fn parse(key: &str) -> KeySchema {
    let text = format!(
        "version = 1\ntable = \"t\"\n{key}\n[families]\na = {{}}\nb = {{ gc = \"maxversions=2\" }}\n"
    );
    KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A random value of a field, out of few.
pub(crate) fn value(seeded: &mut Seeded, field: &str) -> Value<'static> {
    const TEXTS: [&str; 7] = ["a", "ab", "abc", "b", "ba", "c", "z"];
    match field {
        "site" | "name" => (*seeded.one_of(&TEXTS)).into(),
        "kind" => (*seeded.one_of(&["car", "truck", "van"])).into(),
        "unit" => Value::Uint(seeded.below(12) as u64),
        "level" => Value::Int(i64::try_from(seeded.below(9)).unwrap() - 4),
        "time" => Value::Time(Time::from_seconds(1_700_000_000 + i64::try_from(seeded.below(9)).unwrap())),
        other => panic!("{other}"),
    }
}

/// The same for a field of the schema, whose `name` may be text or bytes.
fn field_value(seeded: &mut Seeded, schema: &KeySchema, field: usize) -> Value<'static> {
    let value = value(seeded, &schema.fields[field].name);
    match value {
        Value::Text(text) if schema.fields[field].kind == rowkey::schema::FieldKind::EscapedBytes => {
            Value::Bytes(text.into_owned().into_bytes().into())
        }
        other => other,
    }
}

/// A row as the model has it.
#[derive(Debug, Clone)]
pub(crate) struct ModelRow {
    pub(crate) values: Vec<Value<'static>>,
    pub(crate) key: Vec<u8>,
    pub(crate) unsalted: Vec<u8>,
}

/// A table in memory with some rows, and the model of it in logical order.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) table: KeyedTable,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) rows: Vec<ModelRow>,
}

impl Fixture {
    /// A table of a random schema with up to so many random rows, cut at random keys.
    pub(crate) fn random(seeded: &mut Seeded, rows_max: usize) -> Self {
        let schema = schema(seeded);
        let clock = Arc::new(ManualClock::new(1_700_000_000_000_000));
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new(Arc::clone(&clock) as Arc<dyn Clock>));
        let mut splits: Vec<StoredKey> = (0..seeded.below(5))
            .map(|_| {
                StoredKey(
                    vec![u8::try_from(1 + seeded.below(255)).unwrap(), b'5'][..=seeded.below(2)].to_vec(),
                )
            })
            .collect();
        splits.sort();
        splits.dedup();
        let options = CreateOptions { splits, ..CreateOptions::default() };
        let table =
            KeyedTable::create(engine, Arc::clone(&clock) as Arc<dyn Clock>, schema, &options).unwrap();
        let mut fixture = Self { table, clock, rows: Vec::new() };
        for _ in 0..seeded.below(rows_max + 1) {
            let schema = fixture.table.schema().clone();
            let values: Vec<_> =
                (0..schema.fields.len()).map(|field| field_value(seeded, &schema, field)).collect();
            fixture.put(values);
        }
        fixture.rows.sort_by(|x, y| (&x.unsalted, &x.key).cmp(&(&y.unsalted, &y.key)));
        fixture
    }

    fn put(&mut self, values: Vec<Value<'static>>) {
        let key = self.table.key_to_write(&values).unwrap();
        let mut unsalted = Vec::new();
        self.table.codec().encode_unsalted(&values, &mut unsalted).unwrap();
        let value = format!("{values:?}");
        let mutation = Mutation::set("a", "q", Timestamp::Micros(0), value);
        let row = rowkey_store::RowMutation { key: key.clone(), mutations: vec![mutation] };
        let results = self.table.engine().mutate_rows("t", vec![row], Durability::Buffered).unwrap();
        for result in results {
            result.unwrap();
        }
        if !self.rows.iter().any(|row| row.key == key) {
            self.rows.push(ModelRow { values, key: key.to_vec(), unsalted });
        }
    }

    /// A random query; about half of its values occur in the table.
    pub(crate) fn query(&self, seeded: &mut Seeded) -> Query {
        let schema = self.table.schema();
        let mut query = Query::new().full_scan();
        for (index, field) in schema.fields.iter().enumerate() {
            if seeded.chance(45) {
                continue;
            }
            let mut any = || field_value(seeded, schema, index);
            let (low, high) = (any(), any());
            let condition = match seeded.below(5) {
                0 | 1 => Condition::Equal(low),
                2 => Condition::OneOf(vec![low, high]),
                3 if matches!(low, Value::Text(_)) && field.values.is_empty() => Condition::Prefix(low),
                _ => {
                    let bound = |seeded: &mut Seeded, value| match seeded.below(5) {
                        0 => Bound::Unbounded,
                        1 | 2 => Bound::Included(value),
                        _ => Bound::Excluded(value),
                    };
                    Condition::Between(bound(seeded, low), bound(seeded, high))
                }
            };
            query = query.with(&field.name, condition);
        }
        query
    }

    /// What a query must give, in ascending order.
    pub(crate) fn answer(&self, query: &Query) -> Vec<ModelRow> {
        let schema = self.table.schema();
        let matches = |row: &&ModelRow| {
            query
                .conditions
                .iter()
                .all(|(field, condition)| holds(condition, &row.values[schema.field_index(field).unwrap()]))
        };
        self.rows.iter().filter(matches).cloned().collect()
    }
}

fn holds(condition: &Condition, value: &Value<'_>) -> bool {
    match condition {
        Condition::Equal(wanted) => compare(value, wanted) == Ordering::Equal,
        Condition::OneOf(wanted) => wanted.iter().any(|wanted| compare(value, wanted) == Ordering::Equal),
        Condition::Prefix(prefix) => match (value, prefix) {
            (Value::Text(text), Value::Text(prefix)) => text.starts_with(&**prefix),
            other => panic!("{other:?}"),
        },
        Condition::Between(low, high) => {
            (match low {
                Bound::Unbounded => true,
                Bound::Included(low) => compare(value, low) != Ordering::Less,
                Bound::Excluded(low) => compare(value, low) == Ordering::Greater,
            }) && (match high {
                Bound::Unbounded => true,
                Bound::Included(high) => compare(value, high) != Ordering::Greater,
                Bound::Excluded(high) => compare(value, high) == Ordering::Less,
            })
        }
        other => panic!("{other:?}"),
    }
}

fn compare(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Uint(a), Value::Uint(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        other => panic!("{other:?}"),
    }
}

/// A file of the shared real data; says loudly if it is missing.
pub(crate) fn data_file(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ROWKEY_TEST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is missing; set ROWKEY_TEST_DATA to the folder that holds it", path.display());
    None
}
