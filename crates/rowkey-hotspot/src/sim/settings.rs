//! What is simulated: nodes, clients, split rules, balancers, and where each number comes from.

use super::finder::FinderRule;
use super::latency::Latency;
use crate::Capacity;

/// How clients behave when a node is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// They send at their rate whatever happens; what a node cannot take waits, and is refused when it has waited too long.
    Open,
    /// They wait for answers before they send more, in batches that go to all nodes: the slowest node sets the pace of all.
    Closed,
}

/// Who decides which node serves which tablet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balancer {
    /// By load: tablets move from the busiest node to the least busy one.
    Even,
    /// Every tablet is put on a random node and stays there.
    Random,
    /// By the number of tablets, whatever their load, as HBase does out of the box.
    Count,
}

/// When a tablet is cut because of its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeRule {
    /// Never.
    Never,
    /// In half, above so many bytes.
    Fixed {
        /// Bytes of a tablet.
        bytes: f64,
    },
    /// HBase's `IncreasingToUpperBound`: `min(max, tablets^3 * 2 * flush)` with the number of the table's tablets on that node.
    Increasing {
        /// Flush size in bytes.
        flush: f64,
        /// The largest limit in bytes.
        max: f64,
    },
    /// HBase's `Stepping`: `2 * flush` for the only tablet of a node, else `max`.
    Stepping {
        /// Flush size in bytes.
        flush: f64,
        /// The limit of others in bytes.
        max: f64,
    },
    /// `TiKV`: every so many seconds, pieces are cut off a tablet that is too large, up to a number.
    Pieces {
        /// A tablet above this is cut.
        bytes: f64,
        /// The size of a piece.
        piece: f64,
        /// Pieces at a time.
        pieces_max: u32,
        /// Seconds between two looks.
        every_s: u32,
    },
}

impl SizeRule {
    /// Above how many bytes a tablet is cut, on a node that serves so many of the table's tablets.
    pub fn limit(&self, tablets_on_node: usize) -> f64 {
        match *self {
            Self::Never => f64::INFINITY,
            Self::Fixed { bytes } | Self::Pieces { bytes, .. } => bytes,
            Self::Increasing { flush, max } => {
                ((tablets_on_node.max(1) as f64).powi(3) * 2.0 * flush).min(max)
            }
            Self::Stepping { flush, max } => {
                if tablets_on_node <= 1 {
                    (2.0 * flush).min(max)
                } else {
                    max
                }
            }
        }
    }
}

/// Which operations a load rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// All, in operations per second.
    Operations,
    /// Reads alone, in operations per second.
    Reads,
    /// All, in node seconds per second: the share of a node.
    Work,
}

/// How the cut of a busy tablet is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cut {
    /// At the middle of the latest requests.
    Middle,
    /// By a search that may find none.
    Search(FinderRule),
}

/// When a tablet is cut because of its load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadRule {
    /// What is measured.
    pub watched: Watched,
    /// Above this, it is busy.
    pub threshold: f64,
    /// Seconds that it must have been busy without a pause.
    pub sustained_s: u32,
    /// Seconds between two cuts of one tablet.
    pub pause_s: u32,
    /// How the cut is found.
    pub cut: Cut,
}

/// How the capacity of a node depends on their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Efficiency {
    /// It does not.
    Linear,
    /// As measured in the paper on Bigtable of 2006: per-server rates fall as servers are added. Rates between the measured sizes are
    /// interpolated on logarithmic scales.
    Paper2006,
}

/// Rows per second and server of the paper on Bigtable (OSDI 2006, figure 6), by the number of servers.
pub const PAPER_2006: [(f64, f64, f64); 4] =
    [(1.0, 8_850.0, 1_212.0), (50.0, 3_745.0, 593.0), (250.0, 3_425.0, 479.0), (500.0, 2_000.0, 241.0)];

/// Writes and reads per second of one server among `nodes`, from [`PAPER_2006`].
pub fn paper_2006(nodes: u32) -> (f64, f64) {
    let nodes = f64::from(nodes.max(1));
    let [.., last] = PAPER_2006;
    for pair in PAPER_2006.windows(2) {
        if let [a, b] = pair
            && nodes <= b.0
        {
            let part = (nodes / a.0).ln() / (b.0 / a.0).ln();
            let between = |from: f64, to: f64| from * (to / from).powf(part);
            return (between(a.1, b.1), between(a.2, b.2));
        }
    }
    (last.1, last.2)
}

/// Limits of one tablet, whatever its node could take: operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TabletLimits {
    /// Writes per second.
    pub writes_per_s: f64,
    /// Reads per second.
    pub reads_per_s: f64,
}

/// All parameters of a simulation. [`Settings::preset`] gives the published ones; every field may be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The name of the preset.
    pub preset: &'static str,
    /// Decides every choice that is not the workload's.
    pub seed: u64,
    /// Nodes, at least 1.
    pub nodes: u32,
    /// What one node takes.
    pub capacity: Capacity,
    /// How capacity depends on the number of nodes.
    pub efficiency: Efficiency,
    /// How clients behave.
    pub clients: Clients,
    /// Rows of one batch of a closed-loop client: it waits for all of them.
    pub batch_rows: f64,
    /// Who places tablets.
    pub balancer: Balancer,
    /// Seconds between two looks of the balancer.
    pub balance_every_s: u32,
    /// The share of nodes that may get or give a tablet at one look: at least one moves.
    pub moves_share: f64,
    /// Latency from load.
    pub latency: Latency,
    /// When size cuts.
    pub size: SizeRule,
    /// When load cuts.
    pub load: Option<LoadRule>,
    /// Seconds during which a tablet that is cut serves nobody.
    pub split_pause_s: f64,
    /// Seconds during which a tablet that moves serves nobody.
    pub move_pause_s: f64,
    /// Operations that have waited so long are given up.
    pub timeout_s: f64,
    /// Bytes that a write adds.
    pub bytes_per_write: f64,
    /// Bytes in every tablet at the start.
    pub tablet_bytes: f64,
    /// A limit for each tablet.
    pub tablet_limits: Option<TabletLimits>,
    /// Operations drawn each second of the simulation; `None`: 2,000 or two for each node, whichever is more.
    pub samples: Option<u32>,
    /// Loads are averages over about so many seconds, unless a change is too large to be chance.
    pub memory_s: u32,
}

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

/// Latency of Bigtable on SSD: fitted to 12 points of Google's published `PerfKit` runs of 2021, residual about 22 %.
const BIGTABLE: Latency = Latency::Fit { p50_ms: 4.4, base_ms: 7.0, b_ms: 6.3 };

impl Settings {
    /// Names that [`Settings::preset`] knows.
    pub const PRESETS: &'static [&'static str] = &[
        "bigtable-ssd",
        "bigtable-hdd",
        "hbase",
        "cockroachdb",
        "tikv",
        "dynamodb",
        "bigtable-2006",
        "perfkit-2021",
    ];

    /// A preset by its name; [`Settings::parameters`] says where its numbers come from.
    pub fn preset(name: &str) -> Option<Self> {
        let base = Self::bigtable();
        let capacity =
            |writes_per_s: f64, reads_per_s: f64, scanned_rows_per_s: f64, name: &str, source: &str| {
                Capacity {
                    name: name.to_owned(),
                    writes_per_s,
                    reads_per_s,
                    scanned_rows_per_s,
                    target: 0.7,
                    source: source.to_owned(),
                }
            };
        Some(match name {
            "bigtable-ssd" => base,
            "bigtable-hdd" => Self {
                preset: "bigtable-hdd",
                capacity: Capacity::preset("bigtable-hdd")?,
                latency: Latency::Fit { p50_ms: 50.0, base_ms: 200.0, b_ms: 180.0 },
                ..base
            },
            "hbase" => Self::hbase(),
            "cockroachdb" => Self::cockroachdb(),
            "tikv" => Self::tikv(),
            "dynamodb" => Self::dynamodb(),
            "bigtable-2006" => Self {
                preset: "bigtable-2006",
                capacity: capacity(8_850.0, 1_212.0, 15_385.0, "bigtable-2006", PAPER),
                efficiency: Efficiency::Paper2006,
                ..base
            },
            "perfkit-2021" => Self {
                preset: "perfkit-2021",
                capacity: capacity(10_000.0, 10_000.0, 220_000.0, "perfkit-2021", PERFKIT),
                ..base
            },
            _ => return None,
        })
    }

    fn bigtable() -> Self {
        Self {
            preset: "bigtable-ssd",
            seed: 1,
            nodes: 10,
            capacity: Capacity::default(),
            efficiency: Efficiency::Linear,
            clients: Clients::Open,
            batch_rows: 100.0,
            balancer: Balancer::Even,
            balance_every_s: 60,
            moves_share: 0.1,
            latency: BIGTABLE,
            size: SizeRule::Fixed { bytes: 200.0 * MB },
            load: Some(LoadRule {
                watched: Watched::Work,
                threshold: 0.5,
                sustained_s: 60,
                pause_s: 60,
                cut: Cut::Middle,
            }),
            split_pause_s: 0.5,
            move_pause_s: 1.0,
            timeout_s: 10.0,
            bytes_per_write: 1_000.0,
            tablet_bytes: 0.0,
            tablet_limits: None,
            samples: None,
            memory_s: 120,
        }
    }

    fn hbase() -> Self {
        Self {
            preset: "hbase",
            capacity: Capacity::preset("hbase").unwrap_or_default(),
            balancer: Balancer::Count,
            balance_every_s: 300,
            moves_share: 1.0,
            latency: Latency::Fit { p50_ms: 3.0, base_ms: 10.0, b_ms: 10.0 },
            size: SizeRule::Stepping { flush: 128.0 * MIB, max: 10.0 * GIB },
            load: None,
            split_pause_s: 2.0,
            move_pause_s: 3.0,
            ..Self::bigtable()
        }
    }

    fn cockroachdb() -> Self {
        let finder = FinderRule { candidates: 20, counts_min: 100, imbalance_max: 0.25, spanning_max: 0.5 };
        Self {
            preset: "cockroachdb",
            capacity: Capacity {
                name: "cockroachdb".to_owned(),
                source: ASSUMED.to_owned(),
                ..Capacity::preset("hbase").unwrap_or_default()
            },
            size: SizeRule::Fixed { bytes: 512.0 * MIB },
            load: Some(LoadRule {
                watched: Watched::Operations,
                threshold: 2_500.0,
                sustained_s: 10,
                pause_s: 60,
                cut: Cut::Search(finder),
            }),
            ..Self::bigtable()
        }
    }

    fn tikv() -> Self {
        let finder = FinderRule { candidates: 20, counts_min: 100, imbalance_max: 0.8, spanning_max: 0.5 };
        Self {
            preset: "tikv",
            capacity: Capacity {
                name: "tikv".to_owned(),
                source: ASSUMED.to_owned(),
                ..Capacity::preset("hbase").unwrap_or_default()
            },
            size: SizeRule::Pieces { bytes: 256.0 * MIB, piece: 96.0 * MIB, pieces_max: 10, every_s: 10 },
            load: Some(LoadRule {
                watched: Watched::Reads,
                threshold: 3_000.0,
                sustained_s: 10,
                pause_s: 10,
                cut: Cut::Search(finder),
            }),
            ..Self::bigtable()
        }
    }

    fn dynamodb() -> Self {
        Self {
            preset: "dynamodb",
            capacity: Capacity {
                name: "dynamodb".to_owned(),
                writes_per_s: 100_000.0,
                reads_per_s: 300_000.0,
                scanned_rows_per_s: 3_000_000.0,
                target: 1.0,
                source: "an assumption: nodes are invisible; the limit is that of a partition".to_owned(),
            },
            size: SizeRule::Fixed { bytes: 10.0 * GIB },
            load: Some(LoadRule {
                watched: Watched::Operations,
                threshold: 900.0,
                sustained_s: 300,
                pause_s: 300,
                cut: Cut::Middle,
            }),
            tablet_limits: Some(TabletLimits { writes_per_s: 1_000.0, reads_per_s: 3_000.0 }),
            ..Self::bigtable()
        }
    }

    /// Node seconds of one write, with the efficiency of this number of nodes.
    pub fn write_s(&self) -> f64 {
        match self.efficiency {
            Efficiency::Linear => 1.0 / self.capacity.writes_per_s,
            Efficiency::Paper2006 => 1.0 / paper_2006(self.nodes).0,
        }
    }

    /// Node seconds of one point read, or of one seek of a scan.
    pub fn read_s(&self) -> f64 {
        match self.efficiency {
            Efficiency::Linear => 1.0 / self.capacity.reads_per_s,
            Efficiency::Paper2006 => 1.0 / paper_2006(self.nodes).1,
        }
    }

    /// Node seconds of one row that a scan passes.
    pub fn row_s(&self) -> f64 {
        1.0 / self.capacity.scanned_rows_per_s
    }

    /// Operations drawn each second of the simulation.
    pub fn samples(&self) -> u32 {
        self.samples.unwrap_or(self.nodes.saturating_mul(2).max(2_000)).max(1)
    }
}

const PAPER: &str = "Chang et al., Bigtable, OSDI 2006, figure 6: rows of 1,000 bytes per second and server; scans 15,385 on one server";
const PERFKIT: &str = "the node of 2021: 10,000 reads or writes a second (older editions of cloud.google.com/bigtable/docs/performance)";
const ASSUMED: &str =
    "an assumption: depends on the hardware; give --node-writes-per-s from your own measurements";

impl Default for Settings {
    fn default() -> Self {
        Self::bigtable()
    }
}
