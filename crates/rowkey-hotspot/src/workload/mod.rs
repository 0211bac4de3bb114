//! Operations generated from a key schema: which keys are written, and which ranges the declared queries read.
//!
//! A schema says how a key is built, not what its values are. So each field gets a [`Source`], by its type and name ([`default_sources`])
//! or as the user states. Keys go through the real codec, reads through the real planner. The same schema, options and seed give the
//! same operations.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates, shares and counts are far below 2^53, and what is cast is not negative"
)]

mod queries;
mod source;
#[cfg(test)]
mod tests;
mod zipf;

pub use queries::{ReadPart, ReadShape};
pub use zipf::Zipf;
pub(crate) use zipf::unit;

use crate::operation::{OpKind, Operation};
use crate::{Error, ErrorKind, Result};
use queries::Reader;
use rowkey::schema::SaltSource;
use rowkey::{Codec, Value};
use rowkey_store::seeded::Seeded;
use source::Drawer;
use std::collections::BTreeMap;

/// Where the values of a field come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source {
    /// The time at which the write arrives, plus or minus the jitter.
    Time,
    /// A number that grows by one with every write.
    Counter,
    /// One of so many entities, whose ids fill the width of the field evenly; a skew of 0 makes them equal, 1 is Zipf's law.
    Entity {
        /// How many, at least 1; texts have at most 65,536.
        count: u64,
        /// The exponent of their popularity.
        skew: f64,
    },
    /// One of the values that the schema declares, each as likely.
    Choice,
    /// Another value for every write, from the whole space.
    Random,
}

/// What the writes and reads are like.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadOptions {
    /// Decides every choice.
    pub seed: u64,
    /// The time of the first write, for callers that count from it: milliseconds since the epoch.
    pub start_ms: i64,
    /// Times in keys are those of arrival plus or minus so much: evenly spread.
    pub jitter_ms: u32,
    /// Different values of a field that names an entity.
    pub entities: u64,
    /// The popularity of entities: 0 all equal, 1 Zipf's law.
    pub skew: f64,
    /// Writes per second, against which the rates of the queries are weighed. 0: reads only.
    pub writes_per_s: f64,
    /// What the user knows better, by the name of the field.
    pub sources: BTreeMap<String, Source>,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            // 2026-09-15T00:00:00Z.
            start_ms: 1_789_430_400_000,
            jitter_ms: 50,
            entities: 10_000,
            skew: 0.0,
            writes_per_s: 1_000.0,
            sources: BTreeMap::new(),
        }
    }
}

/// Names that tell of a number that grows with every row.
const COUNTER_NAMES: &[&str] = &["seq", "sequence", "counter", "offset", "serial", "autoincrement", "lsn"];

/// Where the values of each field come from if nobody says: declared values are chosen from; times are those of arrival; numbers, texts
/// and domains name entities; digests, UUIDs and bytes name entities if a time follows them, else they are another for every row.
/// A number is a counter if its name says so (`seq`, `offset`, ...), and so is the last number of a key in which nothing else makes
/// rows differ.
pub fn default_sources(codec: &Codec, options: &WorkloadOptions) -> Vec<Source> {
    let fields = &codec.schema().fields;
    let entity = Source::Entity { count: options.entities, skew: options.skew };
    let last_time = fields.iter().rposition(|field| source::is_time(&field.kind));
    let mut sources: Vec<Source> = fields
        .iter()
        .enumerate()
        .map(|(at, field)| {
            if !field.values.is_empty() {
                Source::Choice
            } else if source::is_time(&field.kind) {
                Source::Time
            } else if source::is_number(&field.kind) {
                let is_counter = field
                    .name
                    .split('_')
                    .any(|word| COUNTER_NAMES.contains(&word.to_ascii_lowercase().as_str()));
                if is_counter { Source::Counter } else { entity }
            } else if source::is_bytes(&field.kind) && last_time.is_none_or(|time| time < at) {
                Source::Random
            } else {
                entity
            }
        })
        .collect();
    let tells_rows_apart =
        |source: &Source| matches!(source, Source::Time | Source::Counter | Source::Random);
    if !sources.iter().any(tells_rows_apart) {
        let numbers = |(field, source): (&rowkey::schema::Field, &Source)| {
            source::is_number(&field.kind) && *source != Source::Choice
        };
        if let Some(last) = fields.iter().zip(&sources).rposition(numbers) {
            sources[last] = Source::Counter;
        }
    }
    sources
}

/// Logical keys that were written lately, for reads to ask for.
const REMEMBERED: usize = 1_024;
/// One write in so many is remembered.
const REMEMBER_EVERY: u64 = 8;

/// Generates operations.
#[derive(Debug, Clone)]
pub struct Generator {
    codec: Codec,
    drawers: Vec<Drawer>,
    /// Buckets to choose from, for a random salt.
    random_buckets: Option<usize>,
    rng: Seeded,
    writes: u64,
    /// Where counters stand: grows by `step` with each write.
    counted: f64,
    step: f64,
    written: Vec<Vec<Value<'static>>>,
    readers: Vec<Reader>,
    writes_per_s: f64,
    notes: Vec<String>,
}

impl Generator {
    /// A generator for a schema.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if a source is stated for a field that does not exist or cannot hold it, if a rate is no number of at
    /// least 0, or if no key can be made; the message names the field.
    pub fn new(codec: &Codec, options: &WorkloadOptions) -> Result<Self> {
        let conflict = |message: String| Err(Error::new(ErrorKind::Conflict, message));
        if !(options.writes_per_s.is_finite() && options.writes_per_s >= 0.0) {
            return conflict(format!("{} is no rate of writes", options.writes_per_s));
        }
        let mut sources = default_sources(codec, options);
        let fields = &codec.schema().fields;
        for (name, &source) in &options.sources {
            match fields.iter().position(|field| field.name == *name) {
                Some(at) => sources[at] = source,
                None => return conflict(format!("`{name}` is no field of the key")),
            }
        }
        let drawers = sources.iter().enumerate().map(|(at, &source)| Drawer::new(codec, at, source, options));
        let random_buckets = match &codec.schema().salt {
            Some(salt) if salt.source == SaltSource::Random => Some(salt.buckets as usize),
            _ => None,
        };
        let mut generator = Self {
            codec: codec.clone(),
            drawers: drawers.collect::<Result<_>>()?,
            random_buckets,
            rng: Seeded::new(options.seed),
            writes: 0,
            counted: 0.0,
            step: 1.0,
            written: Vec::new(),
            readers: Vec::new(),
            writes_per_s: options.writes_per_s,
            notes: Vec::new(),
        };
        // Reads can ask for rows before the first is written, and a schema that no key fits is told at once.
        let mut key = Vec::new();
        for _ in 0..64 {
            let values = generator.values(options.start_ms);
            generator.encode(&values, &mut key)?;
            generator.remember(values);
        }
        (generator.readers, generator.notes) = queries::readers(&generator, options);
        Ok(generator)
    }

    /// The codec that makes the keys.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// What was assumed or left out, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Counters grow by so much with each generated write: for a sample in which each stands for many.
    pub fn set_step(&mut self, writes: f64) {
        self.step = if writes.is_finite() { writes.max(0.0) } else { 1.0 };
    }

    /// Replaces the content of `out` by the stored key of the next write, which arrives at `time_ms` since the epoch.
    ///
    /// # Errors
    ///
    /// If a value does not fit into its field: a time beyond its digits.
    #[inline]
    pub fn next_write(&mut self, time_ms: i64, out: &mut Vec<u8>) -> Result<()> {
        let counted = self.counted as u64;
        self.counted += self.step;
        self.writes += 1;
        let remember = self.writes.is_multiple_of(REMEMBER_EVERY) && !self.readers.is_empty();
        let Self { codec, drawers, random_buckets, rng, .. } = self;
        let fields = &codec.schema().fields;
        let mut values = Vec::with_capacity(fields.len());
        for (drawer, field) in drawers.iter().zip(fields) {
            values.push(drawer.draw(rng, &field.kind, time_ms, counted));
        }
        let encoded = match *random_buckets {
            Some(buckets) => {
                codec.encode_in_bucket(u32::try_from(rng.below(buckets)).unwrap_or(0), &values, out)
            }
            None => codec.encode(&values, out),
        };
        encoded.map_err(|error| Self::unfit(&error))?;
        if remember {
            let values = values.into_iter().map(Value::into_owned).collect();
            self.remember(values);
        }
        Ok(())
    }

    /// Passes the next operation to `sink`: a write, or a read of a declared query, each as often as its rate says. A range read is one
    /// operation for each range of its plan, so one for each bucket. Without rates: a write.
    ///
    /// # Errors
    ///
    /// As [`Generator::next_write`].
    pub fn next_operation(&mut self, time_ms: i64, sink: &mut dyn FnMut(&Operation<'_>)) -> Result<()> {
        let Some(query) = self.choose() else {
            let mut key = Vec::new();
            self.next_write(time_ms, &mut key)?;
            sink(&Operation { time_ms: Some(time_ms), ..Operation::write(&key) });
            return Ok(());
        };
        for part in self.next_read(query, time_ms) {
            let is_scan = part.end.is_some();
            sink(&Operation {
                kind: if is_scan { OpKind::Scan } else { OpKind::Read },
                key: &part.start,
                end: part.end.as_deref(),
                time_ms: Some(time_ms),
                rows: Some(part.rows.round().max(0.0) as u64),
                bytes: None,
            });
        }
        Ok(())
    }

    /// What the next operation is: `None` a write, else the number of a query in [`Generator::reads`], as often as the rates say.
    #[inline]
    pub fn choose(&mut self) -> Option<usize> {
        if self.readers.is_empty() {
            return None;
        }
        let total = self.operations_per_s();
        let mut left = unit(&mut self.rng) * total - self.writes_per_s;
        if left < 0.0 || total <= 0.0 {
            return None;
        }
        for (at, reader) in self.readers.iter().enumerate() {
            left -= reader.shape.per_second;
            if left < 0.0 {
                return Some(at);
            }
        }
        self.readers.len().checked_sub(1)
    }

    /// Writes and queries per second.
    pub fn operations_per_s(&self) -> f64 {
        self.writes_per_s + self.readers.iter().map(|reader| reader.shape.per_second).sum::<f64>()
    }

    /// Writes per second, as the options say.
    pub fn writes_per_s(&self) -> f64 {
        self.writes_per_s
    }

    /// The declared queries that are read, with their rates: those that have one.
    pub fn reads(&self) -> impl Iterator<Item = &ReadShape> {
        self.readers.iter().map(|reader| &reader.shape)
    }

    /// The ranges of one execution of a query, below the number of [`Generator::reads`]. Plans are made for one execution in 16; the
    /// others repeat one of the last 64.
    pub fn next_read(&mut self, query: usize, time_ms: i64) -> &[ReadPart] {
        let Self { codec, rng, written, readers, .. } = self;
        match readers.get_mut(query) {
            Some(reader) => reader.next(codec, rng, written, time_ms),
            None => &[],
        }
    }

    /// One value for each field, as the next write would have them.
    fn values(&mut self, time_ms: i64) -> Vec<Value<'static>> {
        let Self { codec, drawers, rng, counted, .. } = self;
        let drawn = drawers.iter().zip(&codec.schema().fields);
        drawn
            .map(|(drawer, field)| drawer.draw(rng, &field.kind, time_ms, *counted as u64).into_owned())
            .collect()
    }

    fn encode(&mut self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        let encoded = match self.random_buckets {
            Some(_) => self.codec.encode_in_bucket(0, values, out),
            None => self.codec.encode(values, out),
        };
        encoded.map_err(|error| Self::unfit(&error))
    }

    #[cold]
    fn unfit(error: &rowkey::Error) -> Error {
        let of = error.field().map_or_else(String::new, |field| format!("field `{field}`: "));
        Error::new(
            ErrorKind::Conflict,
            format!("no key can be generated for this schema: {of}{}", error.message()),
        )
    }

    fn remember(&mut self, values: Vec<Value<'static>>) {
        if self.written.len() < REMEMBERED {
            self.written.push(values);
        } else {
            let at = self.rng.below(REMEMBERED);
            self.written[at] = values;
        }
    }
}
