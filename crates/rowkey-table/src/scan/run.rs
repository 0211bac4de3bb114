//! A scan from request to rows: plan, clip by page token, merge, offset and limit.

use super::OnForeignKey;
use super::{Judge, Merge, MergeConfig, PageToken, Part, Position, Reading, Scope};
use crate::{Error, ErrorKind, KeyedRow, KeyedTable, Result, hash};
use rowkey::plan::{BucketPlan, Plan, ResultOrder, plan};
use rowkey::query::Query;
use rowkey::schema::{Part as KeyPart, SaltSource};
use rowkey::{Codec, KeySchema, UnsaltedKey, Value};
use rowkey_store::{RowKey, RowRange, RowSet, Selection, Snapshot};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a scan asks for.
#[derive(Debug, Clone)]
pub struct ScanRequest {
    /// Which rows. A scan of everything must be asked for by name: [`Query::full_scan`].
    pub query: Query,
    /// At most so many rows; `None`: all.
    pub rows_max: Option<u64>,
    /// Rows left out at the beginning, counted after the query's filter.
    pub offset: u64,
    /// Descending order: exactly the ascending result read backwards.
    pub reversed: bool,
    /// Which cells. A row of which no cell is selected does not exist for the scan.
    pub selection: Selection,
    /// Cells that garbage collection may take are left out.
    pub live: bool,
    /// Go on behind the page that gave this token ([`Scan::page_token`]).
    pub page_token: Option<String>,
    /// Rows in logical order. Without it they come as the buckets deliver them, and a slow bucket stalls no other.
    pub ordered: bool,
    /// Buckets read at the same time; 1: no threads are started; 0: as many as the engine says is good for it
    /// ([`rowkey_store::Engine::reads_at_once`]). Threads help where a read waits for somebody else. Where it only computes they cost more than they
    /// bring: on the embedded store, one thread merges 100 buckets in 1.2 times the time of one contiguous scan, and two threads
    /// take longer than one as soon as the cores have other work. With a deadline, 0 is at least 2: a thread must notice that a
    /// read does not come back.
    pub parallelism: usize,
    /// How long one chunk of a bucket may take; `None`: for ever.
    pub bucket_deadline: Option<Duration>,
    /// What happens to a key that does not conform to the schema.
    pub on_foreign_key: OnForeignKey,
    /// Rows that wait to be merged take about so many bytes at most (each bucket holds at least two rows).
    pub buffer_bytes_max: usize,
}

impl ScanRequest {
    /// All rows of the query in logical order, with all cells.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            rows_max: None,
            offset: 0,
            reversed: false,
            selection: Selection::default(),
            live: false,
            page_token: None,
            ordered: true,
            parallelism: 0,
            bucket_deadline: None,
            on_foreign_key: OnForeignKey::default(),
            buffer_bytes_max: 64 * 1024 * 1024,
        }
    }
}

/// What a scan did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanStats {
    /// Rows that the engine gave, those read ahead among them.
    pub rows_examined: u64,
    /// Rows that the scan returned.
    pub rows_returned: u64,
    /// Rows left out because their key does not conform ([`OnForeignKey::Skip`]).
    pub rows_foreign: u64,
    /// Ranges of stored keys in the plan.
    pub ranges: u64,
    /// Buckets in the plan.
    pub buckets: u64,
}

/// The rows of a scan. After an error nothing follows. Dropping it stops the threads that read ahead.
#[derive(Debug)]
pub struct Scan {
    merge: Option<Merge>,
    offset_left: u64,
    rows_left: Option<u64>,
    stats: ScanStats,
    /// Where the last returned row stands; `None` before the first row, behind the last one, and without order.
    last_key: Option<RowKey>,
    scope: Option<Scope>,
    tokens: TokenKeys,
}

/// What of a stored key goes into a page token.
#[derive(Debug, Clone)]
struct TokenKeys {
    codec: Codec,
    random_salt: bool,
}

impl KeyedTable {
    /// Begins a scan on a snapshot of its own.
    ///
    /// # Errors
    ///
    /// `Query` for a query that cannot be planned, or not in order; `Invalid` for a page token of another scan; those of the engine.
    /// Later errors come through the iterator.
    pub fn scan(&self, request: &ScanRequest) -> Result<Scan> {
        let snapshot = self.engine().snapshot(self.name())?;
        self.scan_snapshot(&snapshot, request)
    }

    /// Begins a scan on a snapshot of this table, for several scans of the same moment.
    ///
    /// # Errors
    ///
    /// Those of [`KeyedTable::scan`].
    pub fn scan_snapshot(&self, snapshot: &Arc<dyn Snapshot>, request: &ScanRequest) -> Result<Scan> {
        let (plan, scope) = self.plan_scan(request)?;
        let needed = request.rows_max.map(|rows| rows.saturating_add(request.offset));
        let stats = ScanStats {
            ranges: plan.buckets.iter().map(|bucket| bucket.ranges.len() as u64).sum(),
            buckets: plan.buckets.len() as u64,
            ..ScanStats::default()
        };
        let salt_width = self.codec().salt_width();
        let shared = shared_bytes(&plan, salt_width).max(leading_literal(self.schema()));
        let parts: Vec<Part> =
            plan.buckets.iter().map(part_of).filter(|part| !part.ranges.ranges().is_empty()).collect();
        let workers = workers(request, self.engine().reads_at_once(), parts.len());
        let reading = Reading {
            table: self.name().to_owned(),
            snapshot: Arc::clone(snapshot),
            selection: request.selection.clone(),
            live: request.live,
            reversed: plan.reversed,
            on_foreign_key: request.on_foreign_key,
            salt_width,
            shared,
            rows_max: needed,
            rows_exact: plan.residual.checks.is_empty() && request.on_foreign_key == OnForeignKey::Fail,
            clock: Arc::clone(self.clock()),
            deadline_us: request
                .bucket_deadline
                .map(|time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX)),
            cancelled: AtomicBool::new(false),
            judge: Box::new(PlanJudge { codec: self.codec().clone(), plan }),
        };
        let config =
            MergeConfig { ordered: request.ordered, workers, buffer_bytes_max: request.buffer_bytes_max };
        let merge = if needed == Some(0) || parts.is_empty() {
            None
        } else {
            Some(Merge::new(reading, parts, config)?)
        };
        let random_salt = self.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
        Ok(Scan {
            merge,
            offset_left: request.offset,
            rows_left: request.rows_max,
            stats,
            last_key: None,
            scope,
            tokens: TokenKeys { codec: self.codec().clone(), random_salt },
        })
    }

    /// The plan of a request, and the scope of its page tokens if it has an order.
    fn plan_scan(&self, request: &ScanRequest) -> Result<(Plan, Option<Scope>)> {
        let mut query = request.query.clone().reversed(request.reversed != request.query.reversed);
        let plan = plan(self.codec(), &query)?;
        if !request.ordered {
            if request.page_token.is_some() {
                return Err(Error::invalid(
                    "a page token needs an ordered scan; ask for order, or begin without a token",
                ));
            }
            return Ok((plan, None));
        }
        if let ResultOrder::Unordered { why } = &plan.order {
            return Err(Error::new(
                ErrorKind::Query,
                format!(
                    "table `{}`: the rows of this query cannot come in order: {why}; ask for them unordered",
                    self.name()
                ),
            ));
        }
        let scope = Scope {
            fingerprint: self.schema().fingerprint().0.to_le_bytes(),
            table: hash::fnv1a_64(&[self.name().as_bytes()]),
            query: plan_hash(&plan),
            descending: plan.reversed,
        };
        let Some(text) = &request.page_token else { return Ok((plan, Some(scope))) };
        let position = PageToken::decode(text, &scope)?;
        query = query.after(UnsaltedKey(position.unsalted), position.bucket);
        Ok((rowkey::plan::plan(self.codec(), &query)?, Some(scope)))
    }
}

impl Scan {
    /// What the scan did so far.
    pub fn stats(&self) -> ScanStats {
        let (rows_examined, rows_foreign) =
            self.merge.as_ref().map_or((self.stats.rows_examined, self.stats.rows_foreign), |merge| {
                (merge.examined(), merge.foreign())
            });
        ScanStats { rows_examined, rows_foreign, ..self.stats }
    }

    /// A token with which a later scan of the same request goes on behind the last returned row. `None` if there is none yet, if
    /// the scan came to its end, or if it has no order. The page behind the token may be empty.
    pub fn page_token(&self) -> Option<String> {
        let (Some(scope), Some(key)) = (&self.scope, &self.last_key) else { return None };
        let position = self.tokens.position(key).ok()?;
        Some(PageToken { scope: scope.clone(), position }.encode())
    }

    fn next_row(&mut self) -> Result<Option<KeyedRow>> {
        let Some(merge) = &mut self.merge else { return Ok(None) };
        if self.rows_left == Some(0) {
            return Ok(None);
        }
        while self.offset_left > 0 {
            if merge.next_row()?.is_none() {
                return Ok(None);
            }
            self.offset_left -= 1;
        }
        merge.next_row()
    }

    /// Stops the threads and keeps the counts.
    fn finish(&mut self) {
        self.stats = self.stats();
        self.merge = None;
    }
}

impl Iterator for Scan {
    type Item = Result<KeyedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_row() {
            Ok(Some(row)) => {
                self.stats.rows_returned += 1;
                self.last_key = Some(row.key.clone());
                self.rows_left = self.rows_left.map(|rows| rows - 1);
                if self.rows_left == Some(0) {
                    self.finish();
                }
                Some(Ok(row))
            }
            Ok(None) => {
                // Behind the limit, the token stays: more rows may follow. Behind the last row there is none.
                if self.merge.is_some() {
                    self.last_key = None;
                    self.finish();
                }
                None
            }
            Err(error) => {
                self.finish();
                Some(Err(error))
            }
        }
    }
}

impl std::iter::FusedIterator for Scan {}

impl TokenKeys {
    fn position(&self, key: &[u8]) -> Result<Position> {
        let (salt, unsalted) = self.codec.split_salt(key)?;
        let bucket = if self.random_salt { Some(self.codec.read_salt(salt)?) } else { None };
        Ok(Position { unsalted: unsalted.to_vec(), bucket })
    }
}

#[derive(Debug)]
struct PlanJudge {
    codec: Codec,
    plan: Plan,
}

impl Judge for PlanJudge {
    fn judge(&self, key: &[u8]) -> Result<Option<Vec<Value<'static>>>, rowkey::Error> {
        let mut values = Vec::with_capacity(self.codec.schema().fields.len());
        self.codec.decode(key, &mut values)?;
        if !self.plan.matches(&values) {
            return Ok(None);
        }
        Ok(Some(values.into_iter().map(Value::into_owned).collect()))
    }
}

fn part_of(bucket: &BucketPlan) -> Part {
    let ranges = bucket.ranges.iter().map(|range| RowRange {
        start: RowKey::copy_from_slice(&range.start),
        end: range.end.as_deref().map(RowKey::copy_from_slice),
    });
    Part { bucket: bucket.bucket, ranges: RowSet::new([], ranges) }
}

/// Bytes behind the salt that every key of the plan has in common: a key between two others shares what those share.
fn shared_bytes(plan: &Plan, salt_width: usize) -> usize {
    let unsalted = |key: &[u8]| key.get(salt_width..).unwrap_or_default().to_vec();
    let ranges = || plan.buckets.iter().flat_map(|bucket| &bucket.ranges);
    let Some(first) = ranges().next() else { return 0 };
    let first = unsalted(&first.start);
    let common = |key: &[u8]| first.iter().zip(unsalted(key)).take_while(|(a, b)| **a == *b).count();
    ranges().map(|range| range.end.as_deref().map_or(0, common).min(common(&range.start))).min().unwrap_or(0)
}

/// Bytes of the literal between the salt and the first field, which every key of the table has.
fn leading_literal(schema: &KeySchema) -> usize {
    let behind_salt = schema.parts.iter().skip_while(|part| **part == KeyPart::Salt);
    let literals = behind_salt.map_while(|part| match part {
        KeyPart::Literal(bytes) => Some(bytes.len()),
        _ => None,
    });
    literals.sum()
}

/// Threads of a scan. `of_engine` is what the engine asks for.
fn workers(request: &ScanRequest, of_engine: usize, buckets: usize) -> usize {
    let wanted = match (request.parallelism, request.bucket_deadline) {
        // Only another thread can notice that a read does not come back.
        (0, Some(_)) => of_engine.max(2),
        (0, None) => of_engine,
        (wanted, _) => wanted,
    };
    // One reader is the caller itself.
    if wanted <= 1 || buckets <= 1 { 0 } else { wanted.min(buckets) }
}

/// Names what a plan reads: its ranges, and the filter as it prints.
fn plan_hash(plan: &Plan) -> u64 {
    let residual = plan.residual.to_string();
    let mut parts: Vec<&[u8]> = vec![residual.as_bytes()];
    for bucket in &plan.buckets {
        for range in &bucket.ranges {
            parts.push(&range.start);
            parts.push(range.end.as_deref().unwrap_or_default());
        }
    }
    hash::fnv1a_64(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_only_where_they_help() {
        let request = |parallelism, deadline: bool| ScanRequest {
            parallelism,
            bucket_deadline: deadline.then_some(Duration::from_secs(1)),
            ..ScanRequest::new(Query::new())
        };
        let of_embedded = 1;
        assert_eq!(workers(&request(0, false), of_embedded, 100), 0);
        assert_eq!(workers(&request(0, true), of_embedded, 100), 2);
        assert_eq!(workers(&request(0, false), 16, 100), 16);
        assert_eq!(workers(&request(0, false), 16, 4), 4);
        assert_eq!(workers(&request(0, false), 16, 1), 0);
        assert_eq!(workers(&request(1, true), 16, 100), 0);
        assert_eq!(workers(&request(3, false), of_embedded, 100), 3);
    }
}
