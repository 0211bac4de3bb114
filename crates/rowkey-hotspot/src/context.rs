//! What a sample is judged against: nodes, their capacity, the rates, and what only the user can know.

/// What one node can take. Each preset says where its numbers come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// The name of the preset, or `custom`.
    pub name: String,
    /// Writes of about 1 KB that one node takes, per second.
    pub writes_per_s: f64,
    /// Point reads of about 1 KB, per second.
    pub reads_per_s: f64,
    /// Rows of about 1 KB that a scan passes, per second.
    pub scanned_rows_per_s: f64,
    /// The share of a node that is used on purpose, 0 to 1.
    pub target: f64,
    /// Where the numbers come from.
    pub source: String,
}

impl Capacity {
    /// Names that [`Capacity::preset`] knows.
    pub const PRESETS: &'static [&'static str] = &["bigtable-ssd", "bigtable-hdd", "hbase"];

    /// A preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        let (writes_per_s, reads_per_s, scanned_rows_per_s, source) = match name {
            "bigtable-ssd" => (
                14_000.0,
                17_000.0,
                220_000.0,
                "cloud.google.com/bigtable/docs/performance, SSD: 14,000 writes or 17,000 reads of 1 KB, or 220 MB scanned, a node and second",
            ),
            "bigtable-hdd" => (
                10_000.0,
                500.0,
                180_000.0,
                "cloud.google.com/bigtable/docs/performance, HDD: 10,000 writes or 500 reads of 1 KB, or 180 MB scanned, a node and second",
            ),
            "hbase" => (
                10_000.0,
                10_000.0,
                100_000.0,
                "an assumption: HBase depends on its hardware; give --node-writes-per-s and its like from your own measurements",
            ),
            _ => return None,
        };
        // 70 % average CPU: Google's monitoring page, single-cluster routing.
        Some(Self {
            name: name.to_owned(),
            writes_per_s,
            reads_per_s,
            scanned_rows_per_s,
            target: 0.7,
            source: source.to_owned(),
        })
    }

    /// Node seconds of one seek of a scan: a point read's, derived from the published figures.
    pub fn seek_s(&self) -> f64 {
        1.0 / self.reads_per_s
    }

    /// Scanned rows that cost as much as one seek: 12.9 for `bigtable-ssd`.
    pub fn rows_per_seek(&self) -> f64 {
        self.scanned_rows_per_s / self.reads_per_s
    }

    /// Writes per second below which one node takes the whole stream: 9,800 for `bigtable-ssd`.
    pub fn one_node_writes_per_s(&self) -> f64 {
        self.writes_per_s * self.target
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self::preset("bigtable-ssd").expect("it is a preset")
    }
}

/// What the user states, because no sample can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Declared {
    /// `--bulk-load`: a load that happens once, sorted on purpose.
    pub bulk_load: bool,
    /// `--point-reads`: rows are only ever read by the complete key.
    pub point_reads: bool,
}

/// What a sample is judged against.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Nodes of the cluster, at least 1.
    pub nodes: u32,
    /// What one node takes.
    pub capacity: Capacity,
    /// Writes per second at the peak. `None`: from the operations' times if there are any, else as many as need the whole cluster.
    pub writes_per_s: Option<f64>,
    /// Range reads per second. `None`: from the operations, else from the schema's queries, else none are assumed.
    pub reads_per_s: Option<f64>,
    /// Rows that a range read returns. `None`: as above; 100 where nothing is known.
    pub rows_per_read: Option<f64>,
    /// What the user states.
    pub declared: Declared,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            nodes: 10,
            capacity: Capacity::default(),
            writes_per_s: None,
            reads_per_s: None,
            rows_per_read: None,
            declared: Declared::default(),
        }
    }
}
