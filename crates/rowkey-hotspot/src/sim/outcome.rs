//! What a simulation tells.

/// One second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tick {
    /// Seconds since the start: the end of this one.
    pub time_s: f64,
    /// Operations that clients wanted to send.
    pub demand: f64,
    /// Operations that they sent: all they wanted in an open loop.
    pub offered: f64,
    /// Operations answered.
    pub served: f64,
    /// Operations given up: they waited too long, or passed a tablet's limit.
    pub refused: f64,
    /// Operations waiting at the end.
    pub backlog: f64,
    /// Median latency of what was answered, milliseconds.
    pub p50_ms: f64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// Tablets.
    pub tablets: u32,
    /// Tablets cut in this second.
    pub splits: u32,
    /// Tablets that began to move.
    pub moves: u32,
    /// Nodes used above 5 %.
    pub nodes_used: u32,
    /// The utilisation of the busiest node, 0 to 1.
    pub utilisation_max: f64,
    /// The mean over all nodes, 0 to 1.
    pub utilisation_mean: f64,
}

/// One node over the whole time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NodeOutcome {
    /// Mean utilisation, 0 to 1.
    pub utilisation: f64,
    /// Mean utilisation in the last quarter of the time.
    pub utilisation_late: f64,
    /// Operations answered.
    pub served: f64,
    /// Tablets at the end.
    pub tablets: u32,
    /// Bytes at the end.
    pub bytes: f64,
}

/// Sums and means over the whole time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Seconds simulated.
    pub seconds: u32,
    /// Operations that clients wanted to send.
    pub demand: f64,
    /// Operations sent: `served + refused + backlog`.
    pub offered: f64,
    /// Operations answered.
    pub served: f64,
    /// Operations given up.
    pub refused: f64,
    /// Operations waiting at the end.
    pub backlog: f64,
    /// Median latency, milliseconds.
    pub p50_ms: f64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// Operations answered per second, over the whole time.
    pub served_per_s: f64,
    /// The same over the last quarter of the time: what it settles at, if it does.
    pub late_served_per_s: f64,
    /// Median of the 99th percentiles in the last quarter, milliseconds.
    pub late_p99_ms: f64,
    /// Nodes used above 5 %, mean of the last quarter.
    pub late_nodes_used: f64,
    /// Utilisation of the busiest node over the mean, in the last quarter.
    pub late_max_over_mean: f64,
    /// Tablets at the end.
    pub tablets: u32,
    /// Bytes of the largest tablet at the end.
    pub largest_tablet_bytes: f64,
    /// Tablets cut.
    pub splits: u64,
    /// Tablets moved.
    pub moves: u64,
    /// Operations drawn.
    pub draws: u64,
    /// The relative standard error of one node's load that drawing makes, for a node with an even share.
    pub node_error: f64,
}

/// What a simulation tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Every second.
    pub ticks: Vec<Tick>,
    /// Every node.
    pub nodes: Vec<NodeOutcome>,
    /// Sums and means.
    pub totals: Totals,
    /// What was assumed or left out, in sentences.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The seconds of the last quarter, at least one if there is any.
    pub fn late(&self) -> &[Tick] {
        &self.ticks[self.ticks.len() - self.ticks.len().div_ceil(4)..]
    }
}
