//! Executions of declared queries: a schema says which fields a query binds; the values are those of rows written lately.

use super::{Generator, WorkloadOptions};
use rowkey::range::after;
use rowkey::schema::{Binding, DeclaredQuery, Field, SaltSource};
use rowkey::{Codec, Query, Time, Value};
use rowkey_store::seeded::Seeded;
use std::ops::Bound;

/// A query that is read at a rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadShape {
    /// The name of the query.
    pub name: String,
    /// Executions per second.
    pub per_second: f64,
    /// Rows that one execution returns, in all.
    pub rows: f64,
    /// Whether it reads one row by its complete key.
    pub is_point: bool,
    /// Whether reading ends after so many rows, so that only the beginning of each range is read.
    pub is_limited: bool,
}

/// One range that an execution reads; the row of a key if it has no end.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPart {
    /// The first key.
    pub start: Vec<u8>,
    /// The key at which a range ends, itself not read; empty: the end of the table. `None`: one row.
    pub end: Option<Vec<u8>>,
    /// Rows read in it: those of the execution in equal parts.
    pub rows: f64,
}

/// A query, and some of its executions.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub(super) shape: ReadShape,
    query: DeclaredQuery,
    window_ms: f64,
    pool: Vec<Vec<ReadPart>>,
    executions: u64,
}

/// Executions kept.
const POOL: usize = 64;
/// One execution in so many is planned anew.
const PLAN_EVERY: u64 = 16;
/// Rows of a range read of which nothing is known.
const ROWS_ASSUMED: f64 = 100.0;
/// The range of time of a query that does not say how many rows it returns: an hour.
const WINDOW_MS_ASSUMED: f64 = 3_600_000.0;
/// No longer range of time is asked for: 365 days.
const WINDOW_MS_MAX: f64 = 31_536_000_000.0;
/// Values of a field that is bound by `in`.
const IN_VALUES: usize = 3;

/// The queries that have a rate, and what was assumed of them or left out.
pub(super) fn readers(generator: &Generator, options: &WorkloadOptions) -> (Vec<Reader>, Vec<String>) {
    let mut readers = Vec::new();
    let mut notes = Vec::new();
    let fields = &generator.codec.schema().fields;
    for query in &generator.codec.schema().queries {
        let name = &query.name;
        let Some(per_second) = query.per_second.filter(|rate| rate.is_finite() && *rate > 0.0) else {
            notes.push(format!("query \"{name}\" has no rate (per_second), so it is not read"));
            continue;
        };
        let is_point = query.bound.len() == fields.len()
            && query.bound.iter().all(|(_, binding)| *binding == Binding::Equal);
        let ranged_time = query.bound.iter().any(|&(field, binding)| {
            binding == Binding::Range && super::source::is_time(&fields[field].kind)
        });
        let wanted = query.limit.or(query.rows).map(|rows| rows as f64);
        if query.bound.is_empty() && wanted.is_none() {
            notes.push(format!("query \"{name}\" reads the whole table and does not say how many rows that is (`rows`), so it is not read"));
            continue;
        }
        // Rows of the table that arrive per second and meet what is bound to one value.
        let same = query.bound.iter().filter(|(_, binding)| *binding == Binding::Equal);
        let share: f64 = same
            .filter_map(|&(field, _)| generator.drawers.get(field)?.distinct())
            .map(|count| 1.0 / count as f64)
            .product();
        let matching_per_s = options.writes_per_s * share;
        let window_ms = match query.rows {
            Some(rows) if matching_per_s > 0.0 => {
                (rows as f64 / matching_per_s * 1e3).clamp(1.0, WINDOW_MS_MAX)
            }
            _ => WINDOW_MS_ASSUMED,
        };
        let rows = match (is_point, wanted, ranged_time) {
            (true, ..) => 1.0,
            (_, Some(rows), _) => rows,
            (_, None, true) => {
                let rows = (matching_per_s * window_ms / 1e3).max(1.0);
                notes.push(format!("query \"{name}\" is taken to read one hour: {rows:.0} rows"));
                rows
            }
            (_, None, false) => {
                notes.push(format!(
                    "query \"{name}\" does not say how many rows it returns; {ROWS_ASSUMED:.0} are assumed"
                ));
                ROWS_ASSUMED
            }
        };
        let shape =
            ReadShape { name: name.clone(), per_second, rows, is_point, is_limited: query.limit.is_some() };
        readers.push(Reader { shape, query: query.clone(), window_ms, pool: Vec::new(), executions: 0 });
    }
    (readers, notes)
}

impl Reader {
    pub(super) fn next(
        &mut self,
        codec: &Codec,
        rng: &mut Seeded,
        written: &[Vec<Value<'static>>],
        time_ms: i64,
    ) -> &[ReadPart] {
        let fresh = self.executions.is_multiple_of(PLAN_EVERY) || self.pool.len() < 8 || self.is_quick(codec);
        self.executions += 1;
        let at = if fresh {
            let parts = self.plan(codec, rng, written, time_ms);
            if self.pool.len() < POOL {
                self.pool.push(parts);
                self.pool.len() - 1
            } else {
                let at = rng.below(POOL);
                self.pool[at] = parts;
                at
            }
        } else {
            rng.below(self.pool.len())
        };
        self.pool.get(at).map_or(&[], Vec::as_slice)
    }

    /// A row by its complete key needs no plan, unless its bucket is unknown.
    fn is_quick(&self, codec: &Codec) -> bool {
        let is_random = codec.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
        self.shape.is_point && !is_random
    }

    fn plan(
        &self,
        codec: &Codec,
        rng: &mut Seeded,
        written: &[Vec<Value<'static>>],
        time_ms: i64,
    ) -> Vec<ReadPart> {
        if written.is_empty() {
            return Vec::new();
        }
        let row = &written[rng.below(written.len())];
        if self.is_quick(codec) {
            let mut key = Vec::new();
            return match codec.encode(row, &mut key) {
                Ok(()) => vec![ReadPart { start: key, end: None, rows: 1.0 }],
                Err(_) => Vec::new(),
            };
        }
        let mut query = Query::new().reversed(self.query.reverse);
        for &(field, binding) in &self.query.bound {
            let (Some(of), Some(value)) = (codec.schema().fields.get(field), row.get(field)) else {
                continue;
            };
            query = self.bind(query, of, binding, value, time_ms, || {
                written[rng.below(written.len())][field].clone()
            });
        }
        // Whether a query reads too much is for `rowkey plan` to say; here it is read as it was declared.
        let Ok(plan) = rowkey::plan(codec, &query.full_scan()) else { return Vec::new() };
        let ranges: Vec<_> = plan.buckets.into_iter().flat_map(|bucket| bucket.ranges).collect();
        let rows = self.shape.rows / ranges.len().max(1) as f64;
        let part = |range: rowkey::range::KeyRange| {
            let is_row =
                self.shape.is_point && range.end.as_ref().is_some_and(|end| *end == after(&range.start));
            ReadPart { end: (!is_row).then(|| range.end.unwrap_or_default()), start: range.start, rows }
        };
        ranges.into_iter().map(part).collect()
    }

    fn bind(
        &self,
        query: Query,
        field: &Field,
        binding: Binding,
        value: &Value<'static>,
        time_ms: i64,
        mut other: impl FnMut() -> Value<'static>,
    ) -> Query {
        let name = field.name.as_str();
        match (binding, value) {
            (Binding::Equal, _) => query.equal(name, value.clone()),
            (Binding::In, _) => {
                let mut values = vec![value.clone()];
                values.extend((1..IN_VALUES).map(|_| other()));
                query.one_of(name, values)
            }
            (Binding::Prefix, Value::Text(text)) => {
                let half: String = text.chars().take(text.chars().count().div_ceil(2)).collect();
                query.prefix(name, Value::Text(half.into()))
            }
            (Binding::Prefix, Value::Bytes(bytes)) => {
                query.prefix(name, Value::Bytes(bytes[..bytes.len().div_ceil(2)].to_vec().into()))
            }
            (Binding::Range, Value::Time(_)) => {
                // The latest data are what people look at.
                let start = time_ms.saturating_sub(self.window_ms as i64);
                let [start, end] = [start, time_ms].map(|ms| Value::Time(Time::from_millis(ms)));
                query.between(name, Bound::Included(start), Bound::Excluded(end))
            }
            (Binding::Range | Binding::Prefix, _) => {
                query.between(name, Bound::Included(value.clone()), Bound::Unbounded)
            }
        }
    }
}
