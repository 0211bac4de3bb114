//! What can be asked of the recorded load. All times are milliseconds since the epoch.

use rowkey_hotspot::heatmap::Metric;
use rowkey_store::RowRange;

/// What was counted, exactly. Reads of several ranges count once for each range; conditional and read-modify-writes count as writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    /// Rows written or deleted.
    pub(crate) writes: u64,
    /// Point reads, and ranges that were scanned.
    pub(crate) reads: u64,
    /// Bytes of keys and values written.
    pub(crate) bytes_in: u64,
    /// Bytes of keys and values returned.
    pub(crate) bytes_out: u64,
    /// Rows returned.
    pub(crate) rows: u64,
    /// Microseconds that operations took, as this machine served them.
    pub(crate) time_us: u64,
    /// Nanoseconds that a node of the preset would work for it: what shares of nodes are made of.
    pub(crate) work_ns: u64,
}

impl Sums {
    /// Reads and writes.
    pub(crate) fn operations(&self) -> u64 {
        self.writes.saturating_add(self.reads)
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, more) in self.all_mut().into_iter().zip(other.all()) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Its numbers, in the order of [`Metric::ALL`] and then the work: the order in which they are kept.
    pub(super) fn all(&self) -> [u64; 7] {
        [self.writes, self.reads, self.bytes_in, self.bytes_out, self.rows, self.time_us, self.work_ns]
    }

    pub(super) fn all_mut(&mut self) -> [&mut u64; 7] {
        [
            &mut self.writes,
            &mut self.reads,
            &mut self.bytes_in,
            &mut self.bytes_out,
            &mut self.rows,
            &mut self.time_us,
            &mut self.work_ns,
        ]
    }
}

/// A table of which something was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableLoad {
    /// The engine's name of it.
    pub(crate) table: String,
    /// Its tablets.
    pub(crate) tablets: usize,
    /// All that was counted, also before the server was started as far as it was kept.
    pub(crate) totals: Sums,
    /// What was counted in the last 60 seconds.
    pub(crate) minute: Sums,
    /// When the last operation ended.
    pub(crate) last_ms: i64,
}

/// How a tablet stands with cuts by load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TabletState {
    /// Below the threshold.
    #[default]
    Quiet,
    /// Above the threshold, not yet for a minute, or cut less than a minute ago.
    Busy,
    /// Above the threshold, and cannot be cut: nearly all operations are on one row.
    OneRow,
    /// Above the threshold, and the table has as many tablets as cuts by load may make.
    TooMany,
}

impl TabletState {
    /// Its name in files, and for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::OneRow => "one-row",
            Self::TooMany => "too-many-tablets",
        }
    }
}

/// A tablet and its load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TabletLoad {
    /// Its row keys.
    pub(crate) range: RowRange,
    /// The virtual node that serves it, from 0.
    pub(crate) node: u32,
    /// What was counted in the last 60 seconds. Divided by 60: rates.
    pub(crate) minute: Sums,
    /// What was counted since the server was started, or since the tablet was cut off another one.
    pub(crate) totals: Sums,
    /// The share of one node's capacity that it took in the last 60 seconds; 1 is a whole node, more is possible.
    pub(crate) node_share: f64,
    /// How it stands with cuts by load.
    pub(crate) state: TabletState,
}

/// A virtual node and its load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeLoad {
    /// Its number, from 0.
    pub(crate) node: u32,
    /// Tablets that it serves, of all tables.
    pub(crate) tablets: usize,
    /// What was counted on those in the last 60 seconds.
    pub(crate) minute: Sums,
    /// The share of its capacity that this took; above 1: a real node would be overloaded.
    pub(crate) share: f64,
}

/// A tablet that was hot in some quarter of an hour.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HotTablet {
    /// Its row keys then.
    pub(crate) range: RowRange,
    /// The virtual node that served it.
    pub(crate) node: u32,
    /// When its hottest minute began.
    pub(crate) start_ms: i64,
    /// When that minute ended, or now if it has not.
    pub(crate) end_ms: i64,
    /// Percent of one node's capacity that it took in that minute; above 100 is possible.
    pub(crate) node_cpu_percent: f64,
}

/// A row key that comes often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HotKey {
    /// The row key; its first 1,024 bytes.
    pub(crate) key: Vec<u8>,
    /// It came at most so often.
    pub(crate) count: u64,
    /// The count is at most so much too high, never too low.
    pub(crate) error_max: u64,
}

/// Row keys that come often.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HotKeys {
    /// At most 20, most first.
    pub(crate) keys: Vec<HotKey>,
    /// No key of the range that is not listed came more often.
    pub(crate) unlisted_max: u64,
    /// Operations of the kind in the whole table, over which was counted.
    pub(crate) operations: u64,
    /// From when on was counted: half an hour to an hour ago, or the start of the server.
    pub(crate) since_ms: i64,
}

/// Which part of the map is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SheetQuery {
    /// From this time on; `None`: all that there is.
    pub(crate) from_ms: Option<i64>,
    /// Up to this time, itself excluded.
    pub(crate) to_ms: Option<i64>,
    /// From this key on.
    pub(crate) start: Vec<u8>,
    /// Up to this key, itself excluded; `None`: to the end.
    pub(crate) end: Option<Vec<u8>>,
    /// Rows at most, 1 to 1,000.
    pub(crate) rows: usize,
    /// Columns at most, 1 to 1,000.
    pub(crate) columns: usize,
    /// Metrics; empty: all that were counted.
    pub(crate) metrics: Vec<Metric>,
}

impl Default for SheetQuery {
    fn default() -> Self {
        Self {
            from_ms: None,
            to_ms: None,
            start: Vec::new(),
            end: None,
            rows: 1_000,
            columns: 1_000,
            metrics: Vec::new(),
        }
    }
}

/// Upper bounds of the buckets of [`Latencies`], in microseconds; a last bucket has what is above.
pub(crate) const LATENCY_BOUNDS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Latencies of the engine's operations of one kind and outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Latencies {
    /// `mutate`, `check-and-mutate`, `read-modify-write`, `read`, `drop-rows`, `admin`, `maintenance`.
    pub(crate) kind: &'static str,
    /// `ok`, or the name of the error.
    pub(crate) outcome: &'static str,
    /// Operations. A batch of writes counts once for each row.
    pub(crate) count: u64,
    /// Microseconds that they took together.
    pub(crate) sum_us: u64,
    /// How many took at most so long, each on its own (not added up): for [`LATENCY_BOUNDS_US`], and what is above.
    pub(crate) buckets: [u64; LATENCY_BOUNDS_US.len() + 1],
}

/// Plain numbers for `/metrics`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Metrics {
    /// By kind and outcome, sorted; only those that occurred.
    pub(crate) operations: Vec<Latencies>,
    /// All nodes.
    pub(crate) nodes: Vec<NodeLoad>,
    /// The tablets of each table, at most 1,000 in all, the busiest of the last minute; sorted by table and key.
    pub(crate) tablets: Vec<(String, TabletLoad)>,
    /// Tables of which something was recorded.
    pub(crate) tables: usize,
    /// Cuts by load since the start.
    pub(crate) splits: u64,
    /// Cuts that the engine refused.
    pub(crate) split_failures: u64,
    /// Tablets moved to another node since the start.
    pub(crate) moves: u64,
    /// Bytes of memory that the record takes, about.
    pub(crate) memory_bytes: usize,
    /// Tables whose map was given up for room.
    pub(crate) tables_shrunk: u64,
    /// Rows of history written.
    pub(crate) saves: u64,
    /// Times that history could not be written; it is tried again.
    pub(crate) save_failures: u64,
    /// Rows of history that could not be read.
    pub(crate) rows_skipped: u64,
}
