//! What was measured on a stream of operations, before anybody judges it. Numbers without an error are exact.

/// Everything measured.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// How many operations of each kind.
    pub counts: Counts,
    /// The operations' times, if at least 99 of 100 operations have one.
    pub span: Option<Span>,
    /// How the writes spread over the key space.
    pub writes: Spread,
    /// The same for point reads and the beginnings of scans.
    pub reads: Spread,
    /// Lengths of the keys written, or of all keys if none is.
    pub lengths: Lengths,
    /// The keys written most, most first. Every key with a share above `heavy_share_min` is among them.
    pub heavy_writes: Vec<HeavyKey>,
    /// The keys read most, by point reads and as the beginning of scans.
    pub heavy_reads: Vec<HeavyKey>,
    /// The guarantee of the two lists: a key with a greater share of its kind is listed.
    pub heavy_share_min: f64,
    /// Keys written.
    pub written: KeySample,
    /// Keys read by point reads.
    pub read: KeySample,
    /// Scans.
    pub scanned: ScanSample,
    /// Keys deleted.
    pub deleted: KeySample,
}

/// How many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Rows written.
    pub writes: u64,
    /// Point reads.
    pub reads: u64,
    /// Scans.
    pub scans: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Rows that scans touched, where they say so.
    pub scanned_rows: u64,
    /// Scans that say how many rows they touched.
    pub scans_with_rows: u64,
    /// Bytes written, where writes say so.
    pub bytes_written: u64,
    /// Writes that say how many bytes they have.
    pub writes_with_bytes: u64,
    /// Bytes that reads and scans answered, where they say so.
    pub bytes_read: u64,
    /// Operations whose time is before that of an earlier one.
    pub backwards: u64,
}

/// Times of the operations. Milliseconds since the epoch; rates are the highest of any 100 ms, times ten.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span {
    /// The earliest.
    pub first_ms: i64,
    /// The latest.
    pub last_ms: i64,
    /// Writes per second at the peak.
    pub writes_per_s: f64,
    /// Point reads per second at the peak.
    pub reads_per_s: f64,
    /// Scans per second at the peak.
    pub scans_per_s: f64,
}

/// How operations of one kind spread, measured in windows of 1,000 against 256 ranges of equal count, learned from the keys before
/// the window.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    /// Windows measured. 0: fewer than two keys.
    pub windows: u64,
    /// Operations in a window.
    pub window_len: u64,
    /// Ranges that the key space is cut into.
    pub ranges: u32,
    /// The effective number of places, unbiased inverse Simpson `W(W-1) / sum c(c-1)`, mean over the windows; at most `ranges` in
    /// expectation.
    pub n_eff: f64,
    /// Standard error of that mean, from the windows' own scatter; where there is one window, from its counts.
    pub n_eff_error: f64,
    /// The least of the plain estimator `W^2 / sum c^2` over the windows.
    pub n_eff_min: f64,
    /// The share of the fullest range, mean over the windows. Noisy: uniform traffic reads 1/94.
    pub largest_share: f64,
    /// The greatest of these shares.
    pub largest_share_max: f64,
    /// Entropy of the ranges' counts over the logarithm of their number, 0 to 1, mean.
    pub evenness: f64,
    /// The windows in order of time, at most 512; where there were more, each stands for several.
    pub series: Vec<WindowSpread>,
    /// How the hot range moves.
    pub front: Front,
    /// N_eff of the windows' keys cut to so many bytes, growing.
    pub by_depth: Vec<DepthSpread>,
}

/// One or several windows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WindowSpread {
    /// The index of its first operation among those of its kind.
    pub first: u64,
    /// Operations that it stands for.
    pub len: u64,
    /// The time of its first operation.
    pub time_ms: Option<i64>,
    /// Mean of [`Spread::n_eff`] over its windows.
    pub n_eff: f64,
    /// Least plain N_eff of its windows.
    pub n_eff_min: f64,
    /// Greatest share of one range.
    pub largest_share: f64,
    /// Mean position of its keys in the ranges learned before it, 0 (first range) to 1 (last range).
    pub centre: f64,
    /// The share of its keys above every key before the window.
    pub above: f64,
    /// The share of its keys below every key before the window.
    pub below: f64,
}

/// A moving hot range.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Front {
    /// Share of the operations above all keys before their window, mean over the windows but the first.
    pub above: f64,
    /// Share below all keys before their window.
    pub below: f64,
    /// How fast the hot range moves: keys above or below all earlier ones per window, in ranges of equal count of all keys. 256 over the
    /// number of windows if every key is such a one.
    pub ranges_per_window: f64,
    /// Kendall's rank correlation of key order and arrival, -1 to 1, from a sample.
    pub tau: f64,
    /// Share of neighbours in arrival whose keys ascend.
    pub ascending: f64,
}

/// N_eff at a depth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DepthSpread {
    /// Bytes of the key that count.
    pub bytes: usize,
    /// Effective number of different prefixes in a window, `W^2 / sum c^2`, mean over the windows of the runs; at most the window's length.
    pub n_eff: f64,
}

/// Lengths of keys in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lengths {
    /// Half are at most so long.
    pub p50: u64,
    /// 99 of 100 are at most so long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// Keys over 4,096 bytes, which Bigtable refuses.
    pub over_limit: u64,
    /// All keys' bytes.
    pub total: u64,
}

/// A key that occurs often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeavyKey {
    /// The row key.
    pub key: Box<[u8]>,
    /// At most so often.
    pub count: u64,
    /// The count is at most so much too high, never too low.
    pub error: u64,
}

/// A key and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Its index among the operations of its kind, from 0.
    pub index: u64,
    /// Its time, if it has one.
    pub time_ms: Option<i64>,
    /// The row key.
    pub key: Box<[u8]>,
}

/// Keys of one kind, for what needs whole keys. Complete while few, else drawn evenly.
#[derive(Debug, Clone, Default)]
pub struct KeySample {
    /// Keys that there were.
    pub seen: u64,
    /// Drawn evenly from all, in order of arrival: at least 8,192 where there are so many and they fit 4 MB (read and deleted: 1 MB).
    /// Their keys are cut at 4,096 bytes, as are those of `runs`.
    pub uniform: Vec<Arrived>,
    /// Stretches of consecutive keys, spread over the whole stream, the first and the last among them, in order of arrival.
    pub runs: Vec<Vec<Arrived>>,
}

impl KeySample {
    /// Whether `uniform` has every key that there was.
    pub fn is_complete(&self) -> bool {
        self.seen == self.uniform.len() as u64
    }
}

/// Scans, drawn evenly.
#[derive(Debug, Clone, Default)]
pub struct ScanSample {
    /// Scans that there were.
    pub seen: u64,
    /// Some of them, in order of arrival, in stretches as [`KeySample::runs`]: neighbours stay together.
    pub runs: Vec<Vec<Scan>>,
}

/// A scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// Its index among the scans.
    pub index: u64,
    /// Its time, if it has one.
    pub time_ms: Option<i64>,
    /// Its first key.
    pub key: Box<[u8]>,
    /// Where it ends.
    pub end: Option<Box<[u8]>>,
    /// Rows touched.
    pub rows: Option<u64>,
}
