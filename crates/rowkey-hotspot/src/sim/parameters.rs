//! Every parameter of a simulation with its value and where that comes from.

use super::latency::Latency;
use super::settings::{Balancer, Clients, Cut, Efficiency, Settings, SizeRule, Watched};

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What it is.
    pub name: &'static str,
    /// Its value with its unit.
    pub value: String,
    /// Where that comes from. Begins with `published`, `derived`, `assumption` or `known`.
    pub source: &'static str,
}

const PUBLISHED_BIGTABLE: &str = "published: cloud.google.com/bigtable/docs/performance, rows of 1 KB";
const ASSUMED: &str = "assumption: not published";
const ASSUMED_HARDWARE: &str = "assumption: depends on the hardware; measure yours";

impl Settings {
    /// Every parameter with its value and source. A value that was changed from its preset still shows the preset's source.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut list = Vec::new();
        let mut add = |name, value: String, source| list.push(Parameter { name, value, source });
        let per_s = |seconds: f64| format!("{:.0}/s", 1.0 / seconds);
        let node = self.node_source();
        add("writes of one node", per_s(self.write_s()), node);
        add("point reads of one node", per_s(self.read_s()), node);
        add("rows that a scan passes on one node", per_s(self.row_s()), node);
        add("seek of a scan", format!("{:.1} us", self.read_s() * 1e6), "derived: as one point read");
        add("latency", self.latency_text(), self.latency_source());
        add("tablet cut by size", self.size_text(), self.size_source());
        add("tablet cut by load", self.load_text(), self.load_source());
        if let Some(limits) = self.tablet_limits {
            let value = format!("{:.0} writes/s, {:.0} reads/s", limits.writes_per_s, limits.reads_per_s);
            add(
                "limit of one tablet",
                value,
                "published: AWS database blog, DynamoDB partitions, part 3: 3,000 read and 1,000 write units",
            );
        }
        let balancer = match self.balancer {
            Balancer::Even => "even: by load",
            Balancer::Random => "random: never moved",
            Balancer::Count => "count: by number of tablets",
        };
        let period = format!(
            "{balancer}, every {} s, {:.0} % of the nodes at a time",
            self.balance_every_s,
            self.moves_share * 100.0
        );
        add("balancer", period, self.balancer_source());
        add(
            "a cut tablet serves nobody for",
            format!("{} s", self.split_pause_s),
            "assumption: 1 to 5 s on HBase, less on Bigtable",
        );
        add(
            "a moving tablet serves nobody for",
            format!("{} s", self.move_pause_s),
            "assumption: 1 to 10 s on HBase, less on Bigtable",
        );
        add("an operation is given up after", format!("{} s", self.timeout_s), ASSUMED);
        let clients = match self.clients {
            Clients::Open => "open loop".to_owned(),
            Clients::Closed => format!("closed loop, batches of {:.0} rows", self.batch_rows),
        };
        add("clients", clients, "assumption: as you choose");
        add(
            "bytes of a write",
            format!("{:.0}", self.bytes_per_write),
            "assumption: the row size of the published rates",
        );
        add(
            "operations drawn",
            format!("{} a second", self.samples()),
            "assumption: decides the sampling error",
        );
        add("memory of loads", format!("{} s", self.memory_s), "assumption: decides the sampling error");
        list
    }

    fn node_source(&self) -> &'static str {
        match self.preset {
            "bigtable-ssd" | "bigtable-hdd" => PUBLISHED_BIGTABLE,
            "bigtable-2006" => {
                "published: Chang et al., Bigtable, OSDI 2006, figure 6; rates fall with the number of servers"
            }
            "perfkit-2021" => {
                "published: older editions of cloud.google.com/bigtable/docs/performance, 10,000/s"
            }
            "dynamodb" => "assumption: nodes are invisible, the limit is that of a partition",
            _ => ASSUMED_HARDWARE,
        }
    }

    fn latency_text(&self) -> String {
        match self.latency {
            Latency::Fit { p50_ms, base_ms, b_ms } => {
                format!("p50 {p50_ms} ms, p99 {base_ms} + {b_ms} * rho / (1 - rho) ms")
            }
            Latency::Mm1 => "M/M/1".to_owned(),
            Latency::Mmc { servers } => format!("M/M/{servers}"),
        }
    }

    fn latency_source(&self) -> &'static str {
        match (self.latency, self.preset) {
            (Latency::Mm1 | Latency::Mmc { .. }, _) => "known: queues in closed form, as a reference",
            (_, "bigtable-ssd" | "perfkit-2021") => {
                "derived: fitted to 12 points of Google's PerfKit runs of 2021, residual 22 %; rho is one node's here, the fit's is the average"
            }
            (_, "bigtable-hdd") => {
                "assumption: 200 ms reads and 50 ms writes of an old edition of the performance page, with the same form"
            }
            _ => "assumption: the form of Bigtable's fit",
        }
    }

    fn size_text(&self) -> String {
        match self.size {
            SizeRule::Never => "never".to_owned(),
            SizeRule::Fixed { bytes } => format!("above {:.0} MB", bytes / 1e6),
            SizeRule::Increasing { flush, max } => {
                format!("above min({:.0} MB, tablets^3 * {:.0} MB)", max / 1e6, 2.0 * flush / 1e6)
            }
            SizeRule::Stepping { flush, max } => {
                format!(
                    "above {:.0} MB, if it is the only one of its node {:.0} MB",
                    max / 1e6,
                    2.0 * flush / 1e6
                )
            }
            SizeRule::Pieces { bytes, piece, pieces_max, every_s } => {
                format!(
                    "above {:.0} MB, every {every_s} s up to {pieces_max} pieces of {:.0} MB",
                    bytes / 1e6,
                    piece / 1e6
                )
            }
        }
    }

    fn size_source(&self) -> &'static str {
        match self.preset {
            "hbase" => "published: HBase's SteppingSplitPolicy and defaults, flush 128 MiB, 10 GiB at most",
            "tikv" => "published: tikv 8e964719 and issue 9785",
            "cockroachdb" => "known: 512 MiB by default",
            "dynamodb" => "known: 10 GB a partition",
            _ => {
                "published: tablets of 100 to 200 MB (OSDI 2006); today's rule of Cloud Bigtable is not published, so an assumption"
            }
        }
    }

    fn load_text(&self) -> String {
        let Some(rule) = &self.load else { return "never".to_owned() };
        let what = match rule.watched {
            Watched::Operations => format!("{:.0} operations/s", rule.threshold),
            Watched::Reads => format!("{:.0} reads/s", rule.threshold),
            Watched::Work => format!("{:.0} % of a node", rule.threshold * 100.0),
        };
        let cut = match rule.cut {
            Cut::Middle => "at the middle of the requests".to_owned(),
            Cut::Search(finder) => {
                format!("where {} sampled keys balance within {}", finder.candidates, finder.imbalance_max)
            }
        };
        format!("above {what} for {} s, {cut}, at most every {} s", rule.sustained_s, rule.pause_s)
    }

    fn load_source(&self) -> &'static str {
        match self.preset {
            "hbase" => "published: HBase's default policies look at size only",
            "tikv" => "published: tikv 8e964719; writes do not count",
            "cockroachdb" => {
                "published: the load-based split decider's documented behaviour: 2,500 QPS, 10 s, 20 samples, one a minute"
            }
            "dynamodb" => {
                "assumption: \"split for heat\" after sustained load (AWS database blog); times are not published"
            }
            _ => "assumption: Cloud Bigtable's rule is not published",
        }
    }

    fn balancer_source(&self) -> &'static str {
        match self.preset {
            "hbase" => {
                "published: StochasticLoadBalancer weighs tablet count 500 against requests 5; known: every 5 minutes"
            }
            _ => {
                "assumption: the period is not published; 20 minutes at most to use new nodes (Bigtable's overview page)"
            }
        }
    }
}

impl Efficiency {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Paper2006 => "as in the paper of 2006",
        }
    }
}
