//! The answer to a `ReadRows`: a stream of messages that holds no thread while its client is slow.
//!
//! ```text
//! client asks -> a task on a blocking thread reads rows until a message is full, or for a moment -> message
//!                                 |
//!                 meanwhile the next one, and no more, is prepared
//! ```
//!
//! The engine's rows go into the blocking task and come back out of it, so between two messages nothing runs. A task whose filter
//! lets little through may take long: what it has found by then is sent as well, as both sides share the packer. When the client goes
//! away, the stream is dropped, and with it the scan, at the next row that it looks at. Clients that want to know are told from time to
//! time how far a scan has come that finds nothing, so that they can go on from there if the connection breaks.

use super::at_once::{AtOnce, looks_at_few_rows};
use crate::blocking;
use crate::grpc::respond;
use crate::lock::lock;
use crate::shared::Shared;
use rowkey_bigtable::chunks::Packer;
use rowkey_proto::data::{
    FullReadStatsView, ReadIterationStats, ReadRowsResponse, RequestLatencyStats, RequestStats, request_stats,
};
use rowkey_store::{ReadRequest, RowKey, RowStream, Watch};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_stream::Stream;
use tonic::Status;

/// The first rows come in small messages, so that they come at once; each is twice as large as the one before, up to the last size. From
/// there on larger ones gain nothing, and cost memory for each scan.
const MESSAGE_BYTES: std::ops::RangeInclusive<usize> = (16 << 10)..=(256 << 10);

/// How long rows wait for others of their message.
const GATHER: Duration = Duration::from_millis(5);

/// How long a task that finds nothing is left alone, at most, before it is asked again.
const PATIENCE_MAX: Duration = Duration::from_millis(320);

/// How long a task must have found nothing until the client is told how far it has come.
const PROGRESS_MIN: Duration = Duration::from_millis(160);

/// A message, or the end of the stream by an error.
type Item = Result<ReadRowsResponse, Status>;

/// A read that is to be done.
#[derive(Debug)]
pub(super) struct Plan {
    /// The engine's name of the table.
    pub(super) table: String,
    /// What is read.
    pub(super) request: ReadRequest,
    /// Whether a last message tells what the read looked at.
    pub(super) stats: bool,
    /// Whether the client wants to know how far a scan has come that finds nothing.
    pub(super) progress: bool,
    /// How long the client waits.
    pub(super) timeout: Option<Duration>,
}

/// Keys, or rows of a limit, up to which a read is quick.
const QUICK_ROWS_MAX: usize = 100;

/// The stream.
pub(super) struct Scan {
    shared: Arc<Shared>,
    packed: Arc<Mutex<Packed>>,
    watch: Arc<Watch>,
    /// The rows, while no task has them.
    reading: Option<Reading>,
    /// The task, while one runs.
    filling: Option<Pin<Box<dyn Future<Output = rowkey_store::Result<Filled>> + Send>>>,
    /// Why there are no more rows; `None`: there may be more.
    end: Option<Result<(), Status>>,
    /// What was polled too early.
    ready: Option<Item>,
    over: bool,
    stats: bool,
    progress: bool,
    /// Set if it runs on the thread that asks.
    at_once: Option<Arc<AtOnce>>,
    begun_us: i64,
    patience: Duration,
    /// When to look at what a task has found; `None`: it is quick in any case.
    tick: Option<Pin<Box<Sleep>>>,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// What a task works on.
struct Reading {
    shared: Arc<Shared>,
    source: Source,
    packed: Arc<Mutex<Packed>>,
}

enum Source {
    Planned { table: String, request: Box<ReadRequest> },
    Open(RowStream),
}

/// What came out of a task.
struct Filled {
    reading: Reading,
    end: Option<Result<(), Status>>,
}

/// Rows on their way to the client.
struct Packed {
    packer: Packer,
    message_bytes: usize,
    rows: i64,
    cells: i64,
    reversed: bool,
    /// The key up to which the client knows what comes out; empty: nothing yet.
    told: RowKey,
}

impl Scan {
    /// Prepares a read; it begins when the stream is first asked.
    pub(super) fn new(shared: &Arc<Shared>, at_once: &Arc<AtOnce>, mut plan: Plan) -> Self {
        let quick = looks_at_few_rows(&plan.request, QUICK_ROWS_MAX);
        let (at_once, reversed) =
            (at_once.may(&plan.request).then(|| Arc::clone(at_once)), plan.request.reversed);
        let message_bytes_max = shared.options.message_bytes_max;
        let message_bytes = *MESSAGE_BYTES.start();
        let packer = Packer::new(message_bytes_max).closing_at(message_bytes);
        let packed = Arc::new(Mutex::new(Packed {
            packer,
            message_bytes,
            rows: 0,
            cells: 0,
            reversed,
            told: RowKey::new(),
        }));
        let watch = Watch::new();
        plan.request.watch = Some(Arc::clone(&watch));
        let reading = Reading {
            shared: Arc::clone(shared),
            source: Source::Planned { table: plan.table, request: Box::new(plan.request) },
            packed: Arc::clone(&packed),
        };
        Self {
            shared: Arc::clone(shared),
            packed,
            watch,
            reading: Some(reading),
            filling: None,
            end: None,
            ready: None,
            over: false,
            stats: plan.stats,
            progress: plan.progress,
            at_once,
            begun_us: shared.options.clock.now_us(),
            patience: GATHER,
            // A timer costs more than a row.
            tick: (!quick).then(|| Box::pin(sleep(GATHER))),
            deadline: plan.timeout.map(|timeout| Box::pin(sleep(timeout))),
        }
    }

    /// Waits a moment for the first message: a short answer is then sent in one piece.
    pub(super) async fn begun(mut self) -> Self {
        let quick = self.tick.is_none();
        let first = poll_fn(|context| Pin::new(&mut self).poll_next(context));
        self.ready = if quick { first.await } else { timeout(GATHER, first).await.ok().flatten() };
        self
    }

    /// Starts a task that reads on, or reads.
    fn start(&mut self, context: &mut Context<'_>) {
        let Some(reading) = self.reading.take() else { return };
        if let Some(at_once) = &self.at_once {
            let filled = reading.fill();
            at_once.took(self.shared.options.clock.now_us().saturating_sub(self.begun_us));
            return self.filled(Ok(filled));
        }
        let mut filling: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(blocking::run(move || Ok(reading.fill())));
        self.patience = GATHER;
        if let Some(tick) = &mut self.tick {
            tick.as_mut().reset(Instant::now() + self.patience);
        }
        // It runs from the first poll on.
        match filling.as_mut().poll(context) {
            Poll::Ready(filled) => self.filled(filled),
            Poll::Pending => self.filling = Some(filling),
        }
    }

    fn filled(&mut self, filled: rowkey_store::Result<Filled>) {
        match filled {
            Ok(Filled { reading, end: None }) => self.reading = Some(reading),
            Ok(Filled { end, .. }) => self.end = end,
            Err(error) => self.end = Some(Err(rowkey_bigtable::status(&error))),
        }
    }

    /// What a task that still runs has found, when it was given enough time.
    fn poll_found(&mut self, context: &mut Context<'_>) -> Poll<Item> {
        let Some(tick) = &mut self.tick else { return Poll::Pending };
        while tick.as_mut().poll(context).is_ready() {
            let message =
                lock(&self.packed).found(&self.watch, self.progress && self.patience >= PROGRESS_MIN);
            let rows = message.as_ref().is_some_and(|message| !message.chunks.is_empty());
            self.patience = if rows { GATHER } else { PATIENCE_MAX.min(self.patience * 2) };
            tick.as_mut().reset(Instant::now() + self.patience);
            if let Some(message) = message {
                return Poll::Ready(Ok(message));
            }
        }
        Poll::Pending
    }

    /// The end of the stream: an error, or what the read looked at, or nothing.
    fn last(&mut self, end: Result<(), Status>) -> Option<Item> {
        self.over = true;
        match end {
            Err(status) => Some(Err(respond::failed(&self.shared, "ReadRows", status))),
            Ok(()) if self.stats => Some(Ok(self.request_stats())),
            Ok(()) => None,
        }
    }

    fn request_stats(&self) -> ReadRowsResponse {
        let packed = lock(&self.packed);
        let read_iteration_stats = ReadIterationStats {
            rows_seen_count: i64::try_from(self.watch.rows_seen()).unwrap_or(i64::MAX),
            rows_returned_count: packed.rows,
            cells_seen_count: i64::try_from(self.watch.cells_seen()).unwrap_or(i64::MAX),
            cells_returned_count: packed.cells,
        };
        let micros = self.shared.options.clock.now_us().saturating_sub(self.begun_us).max(0);
        let latency = prost_types::Duration {
            seconds: micros / 1_000_000,
            // Below a thousand million.
            nanos: i32::try_from(micros % 1_000_000 * 1_000).unwrap_or_default(),
        };
        let view = FullReadStatsView {
            read_iteration_stats: Some(read_iteration_stats),
            request_latency_stats: Some(RequestLatencyStats { frontend_server_latency: Some(latency) }),
        };
        let stats_view = Some(request_stats::StatsView::FullReadStatsView(view));
        ReadRowsResponse { request_stats: Some(RequestStats { stats_view }), ..ReadRowsResponse::default() }
    }
}

impl Stream for Scan {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let scan = &mut *self;
        if let Some(item) = scan.ready.take() {
            return Poll::Ready(Some(item));
        }
        if scan.over {
            return Poll::Ready(None);
        }
        if scan.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
            scan.watch.cancel();
            let late =
                Status::deadline_exceeded("the deadline of the read is over; what came before it is good");
            return Poll::Ready(scan.last(Err(late)));
        }
        loop {
            if let Some(filling) = &mut scan.filling {
                match filling.as_mut().poll(context) {
                    Poll::Ready(filled) => {
                        scan.filling = None;
                        scan.filled(filled);
                    }
                    Poll::Pending => return scan.poll_found(context).map(Some),
                }
            }
            let (message, more) = lock(&scan.packed).next();
            if message.is_none()
                && let Some(end) = scan.end.take()
            {
                return Poll::Ready(scan.last(end));
            }
            if !more {
                // The next message is prepared while this one is sent. It may be there already: look again.
                scan.start(context);
            }
            if let Some(message) = message {
                return Poll::Ready(Some(Ok(message)));
            }
        }
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.watch.cancel();
    }
}

impl Reading {
    /// Reads until a message is full, or for a moment.
    fn fill(mut self) -> Filled {
        let end = self.read();
        let end = match end {
            Ok(true) => None,
            Ok(false) => Some(Ok(())),
            Err(status) => Some(Err(status)),
        };
        Filled { reading: self, end }
    }

    /// Whether there may be more.
    fn read(&mut self) -> Result<bool, Status> {
        let clock = &self.shared.options.clock;
        let gather_us = i64::try_from(GATHER.as_micros()).unwrap_or(i64::MAX);
        let until_us = clock.now_us().saturating_add(gather_us);
        if let Source::Planned { table, request } = &self.source {
            let snapshot = self.shared.engine.snapshot(table);
            let rows = snapshot.and_then(|snapshot| snapshot.read_rows(request));
            self.source = Source::Open(rows.map_err(|error| rowkey_bigtable::status(&error))?);
        }
        let Source::Open(rows) = &mut self.source else { return Ok(false) };
        loop {
            let Some(row) = rows.next() else { return Ok(false) };
            let row = row.map_err(|error| rowkey_bigtable::status(&error))?;
            let full = lock(&self.packed).push(row)?;
            if full || clock.now_us() >= until_us {
                return Ok(true);
            }
        }
    }
}

impl Packed {
    /// Takes a row. Whether a message is full.
    fn push(&mut self, row: rowkey_store::Row) -> Result<bool, Status> {
        let cells = i64::try_from(row.cells.len()).unwrap_or(i64::MAX);
        self.told = row.key.clone();
        self.packer.push(row)?;
        self.rows += 1;
        self.cells = self.cells.saturating_add(cells);
        Ok(self.packer.has_full())
    }

    /// What a task that still runs has found; if nothing, and `progress` is wanted, the key up to which nothing comes out.
    ///
    /// The key is asked for while nothing waits here: so every row before it was sent already.
    fn found(&mut self, watch: &Watch, progress: bool) -> Option<ReadRowsResponse> {
        let message = self.packer.rest();
        if message.is_some() || !progress {
            return message;
        }
        let key = watch.last_key();
        let ahead = self.told.is_empty() || if self.reversed { key < self.told } else { key > self.told };
        if key.is_empty() || !ahead {
            return None;
        }
        self.told = key.clone();
        Some(ReadRowsResponse { last_scanned_row_key: key, ..ReadRowsResponse::default() })
    }

    /// The next message, when no task runs, and whether there is another one.
    fn next(&mut self) -> (Option<ReadRowsResponse>, bool) {
        let message = self.packer.rest();
        if message.is_some() {
            self.message_bytes = (*MESSAGE_BYTES.end()).min(self.message_bytes * 2);
            self.packer.close_at(self.message_bytes);
        }
        (message, self.packer.has_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::memory::MemoryEngine;
    use rowkey_store::{Cell, EngineExt as _, Filter, ManualClock, Row, RowSet};

    fn packed(reversed: bool) -> Packed {
        let (message_bytes, told) = (*MESSAGE_BYTES.start(), RowKey::new());
        Packed { packer: Packer::new(10_000), message_bytes, rows: 0, cells: 0, reversed, told }
    }

    /// A watch of a read that has looked at all of 200 rows, of which nothing came out.
    fn watch(reversed: bool) -> Arc<Watch> {
        let engine = MemoryEngine::new(Arc::new(ManualClock::new(0)));
        engine.create("t", &[("f", "never")]).unwrap();
        for number in 0..200 {
            engine.set_cells("t", format!("k{number:03}").as_bytes(), &[("f", b"q", 0, b"v")]).unwrap();
        }
        let watch = Watch::new();
        let filter = Some(Filter::ValueRegex("none".into()));
        let request = ReadRequest {
            filter,
            reversed,
            watch: Some(Arc::clone(&watch)),
            ..ReadRequest::of(RowSet::all())
        };
        assert_eq!(engine.read_rows("t", &request).unwrap().count(), 0);
        watch
    }

    fn row(key: &'static str) -> Row {
        let (family, qualifier, value) = ("f".into(), "q".into(), "v".into());
        Row {
            key: key.into(),
            cells: vec![Cell { family, qualifier, timestamp_us: 0, value, labels: vec![] }],
        }
    }

    #[test]
    fn a_scan_that_finds_nothing_says_how_far_it_is_once() {
        for reversed in [false, true] {
            let (mut packed, watch) = (packed(reversed), watch(reversed));
            assert!(packed.found(&watch, false).is_none());
            let message = packed.found(&watch, true).unwrap();
            assert_eq!(message.last_scanned_row_key, watch.last_key());
            assert!(message.chunks.is_empty());
            assert!(packed.found(&watch, true).is_none());
        }
    }

    #[test]
    fn rows_go_before_progress_and_progress_never_goes_back() {
        let (mut packed, watch) = (packed(false), watch(false));
        packed.push(row("k199x")).unwrap();
        assert_eq!(packed.found(&watch, true).unwrap().chunks.len(), 1);
        assert!(packed.found(&watch, true).is_none(), "the row is behind what was looked at");
    }
}
