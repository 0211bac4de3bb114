//! One second of service: what arrives at each node, what it can take, what waits and what is given up.

use super::engine::{Piece, Simulation};
use super::latency::Histogram;
use super::outcome::{NodeOutcome, Tick};
use super::settings::Clients;
use super::tablet::Load;
use std::collections::BTreeMap;

/// A node.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// The load of its tablets, as the average of the latest minutes.
    pub(super) load: Load,
    /// What waits: operations, and the node seconds that they need.
    queue: Load,
    /// Tablets that it serves.
    pub(super) tablets: u32,
    /// Of what arrived in this second, the part that was served; more than 1 while a queue shrinks.
    pub(super) taken: f64,
    /// Its utilisation in this second.
    pub(super) utilisation: f64,
    /// How long what it served in this second had waited, seconds.
    waited_s: f64,
    /// Operations served in this second.
    served: f64,
    served_in_all: f64,
    utilisation_sum: f64,
    utilisation_late: f64,
}

impl Node {
    pub(super) fn outcome(&self, seconds: u32, late_from: u32) -> NodeOutcome {
        let mean = |sum: f64, count: u32| sum / f64::from(count.max(1));
        NodeOutcome {
            utilisation: mean(self.utilisation_sum, seconds),
            utilisation_late: mean(self.utilisation_late, seconds.saturating_sub(late_from)),
            served: self.served_in_all,
            tablets: self.tablets,
            bytes: 0.0,
        }
    }

    /// Takes what arrives in a second, and what waited before; what has waited too long is given up. Operations given up.
    fn serve(&mut self, arrived: &Load, timeout_s: f64) -> f64 {
        let waiting = self.queue.work;
        let mut all = self.queue;
        all.add(arrived, 1.0);
        // A second of a node is one node second.
        let part = if all.work > 1.0 { 1.0 / all.work } else { 1.0 };
        let served = all.scaled(part);
        self.served = served.ops();
        self.taken = if arrived.ops() > 0.0 { served.ops() / arrived.ops() } else { 0.0 };
        self.queue = all.scaled(1.0 - part);
        let mut refused = 0.0;
        if self.queue.work > timeout_s {
            let kept = timeout_s / self.queue.work;
            refused = self.queue.ops() * (1.0 - kept);
            self.queue = self.queue.scaled(kept);
        }
        self.utilisation = all.work.min(1.0);
        self.waited_s = 0.5 * (waiting + self.queue.work);
        refused
    }
}

/// What was drawn in one second.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Operations.
    pub(super) drawn: f64,
    /// Touches of tablets.
    pub(super) pieces: f64,
    /// By the number of pieces of an operation: operations, and the milliseconds that the rows of a piece take, summed.
    scattered: BTreeMap<u32, (f64, f64)>,
}

impl Round {
    pub(super) fn begin(&mut self) {
        self.drawn = 0.0;
        self.pieces = 0.0;
        self.scattered.clear();
    }

    #[inline]
    pub(super) fn note(&mut self, piece: &Piece<'_>, row_s: f64) {
        self.drawn += piece.share;
        if piece.end.is_some() || piece.share < 1.0 {
            let pieces = (1.0 / piece.share.clamp(1e-9, 1.0)).round() as u32;
            let (operations, rows_ms) = self.scattered.entry(pieces).or_default();
            *operations += piece.share;
            *rows_ms += piece.rows.max(0.0) * row_s * 1e3 * piece.share;
        }
    }
}

impl Simulation {
    /// Serves one second.
    pub(super) fn serve(&mut self, demand: f64) -> Tick {
        let all: f64 = self.nodes.iter().map(|node| node.load.ops()).sum();
        let per = if all > 0.0 { demand / all } else { 0.0 };
        let sent = match self.settings.clients {
            Clients::Open => 1.0,
            Clients::Closed => self.pace(per),
        };
        let per = per * sent;
        let mut arriving: Vec<Load> = self.nodes.iter().map(|node| node.load.scaled(per)).collect();
        let mut tick =
            Tick { demand, offered: if all > 0.0 { demand * sent } else { 0.0 }, ..Tick::default() };
        tick.refused += self.refuse_beyond_limits(per, &mut arriving);
        if self.settings.clients == Clients::Open {
            self.hold_back(per, &mut arriving);
        }
        let is_late = self.second >= self.late_from;
        for (node, arrived) in self.nodes.iter_mut().zip(&arriving) {
            tick.refused += node.serve(arrived, self.settings.timeout_s);
            tick.served += node.served;
            tick.backlog += node.queue.ops();
            tick.nodes_used += u32::from(node.utilisation > 0.05);
            tick.utilisation_max = tick.utilisation_max.max(node.utilisation);
            tick.utilisation_mean += node.utilisation;
            node.served_in_all += node.served;
            node.utilisation_sum += node.utilisation;
            node.utilisation_late += if is_late { node.utilisation } else { 0.0 };
        }
        tick.backlog += self.blocked.iter().map(|blocked| blocked.held.ops()).sum::<f64>();
        tick.utilisation_mean /= self.nodes.len().max(1) as f64;
        tick
    }

    /// The part of their rate at which closed-loop clients send: the slowest node sets it, and a batch that meets a tablet which serves
    /// nobody waits.
    fn pace(&self, per: f64) -> f64 {
        let slowest = self.nodes.iter().map(|node| node.load.work * per).fold(0.0, f64::max);
        let mut pace = if slowest > 1.0 { 1.0 / slowest } else { 1.0 };
        let all: f64 = self.nodes.iter().map(|node| node.load.ops()).sum();
        for blocked in &self.blocked {
            let share = self.tablets[blocked.tablet as usize].load.get().ops() / all.max(f64::MIN_POSITIVE);
            let meets = 1.0 - (1.0 - share.clamp(0.0, 1.0)).powf(self.settings.batch_rows);
            pace *= 1.0 - meets * self.blocked_part(blocked.until);
        }
        pace
    }

    /// The part of this second in which a tablet serves nobody.
    fn blocked_part(&self, until: f64) -> f64 {
        (until - f64::from(self.second)).clamp(0.0, 1.0)
    }

    /// What arrives for tablets that serve nobody waits for them.
    fn hold_back(&mut self, per: f64, arriving: &mut [Load]) {
        let mut blocked = std::mem::take(&mut self.blocked);
        for blocked in &mut blocked {
            let tablet = &self.tablets[blocked.tablet as usize];
            let part = self.blocked_part(blocked.until);
            let arriving = &mut arriving[tablet.node as usize];
            let mut held = tablet.load.get().scaled(per * part);
            if held.ops() > arriving.ops().max(0.0) {
                // What passed a limit was refused already.
                held = held.scaled(arriving.ops().max(0.0) / held.ops());
            }
            arriving.add(&held, -1.0);
            blocked.held.add(&held, 1.0);
        }
        self.blocked = blocked;
    }

    /// Refuses what passes the limit of a tablet. Operations refused.
    fn refuse_beyond_limits(&mut self, per: f64, arriving: &mut [Load]) -> f64 {
        let Some(limits) = self.settings.tablet_limits else { return 0.0 };
        let mut refused = 0.0;
        let tablets = &self.tablets;
        // Those that got something in this second; a tablet is limited from its first second on.
        for &id in &self.touched {
            let load = tablets[id as usize].load.get().scaled(per);
            if (load.writes > limits.writes_per_s || load.reads > limits.reads_per_s)
                && let Err(at) = self.capped.binary_search(&id)
            {
                self.capped.insert(at, id);
            }
        }
        self.capped.retain(|&id| {
            let tablet = &tablets[id as usize];
            let load = tablet.load.get().scaled(per);
            let writes = (load.writes - limits.writes_per_s).max(0.0);
            let reads = (load.reads - limits.reads_per_s).max(0.0);
            if load.ops() <= 0.0 || writes + reads <= 0.0 {
                return false;
            }
            let part = (writes + reads) / load.ops();
            let excess = Load { pieces: load.pieces * part, writes, reads, work: load.work * part };
            arriving[tablet.node as usize].add(&excess, -1.0);
            refused += writes + reads;
            true
        });
        refused
    }

    /// Makes available what is to be so by now.
    pub(super) fn release(&mut self) {
        if self.blocked.is_empty() {
            return;
        }
        let now = f64::from(self.second);
        let blocked = std::mem::take(&mut self.blocked);
        for blocked in blocked {
            if blocked.until > now {
                self.blocked.push(blocked);
                continue;
            }
            self.hand_over(blocked.tablet, blocked.to);
            let node = self.tablets[blocked.tablet as usize].node as usize;
            self.nodes[node].queue.add(&blocked.held, 1.0);
        }
    }

    /// Gives a tablet to a node.
    pub(super) fn hand_over(&mut self, id: u32, to: u32) {
        let tablet = &mut self.tablets[id as usize];
        let load = tablet.load.get();
        let from = std::mem::replace(&mut tablet.node, to);
        let giver = &mut self.nodes[from as usize];
        giver.load.add(&load, -1.0);
        giver.tablets = giver.tablets.saturating_sub(1);
        let taker = &mut self.nodes[to as usize];
        taker.load.add(&load, 1.0);
        taker.tablets += 1;
    }

    /// The latencies of what was served in this second, by operation: an operation of several pieces takes as long as the slowest.
    pub(super) fn latencies(&self) -> Histogram {
        /// Nodes whose latency differs by less than 10 % or so are taken together.
        const STEPS: f64 = 10.0;
        // By utilisation and wait: operations, and the sums of utilisation, wait and capacity by operation.
        let mut groups: BTreeMap<(i64, i64), [f64; 4]> = BTreeMap::new();
        for node in &self.nodes {
            if node.served <= 0.0 {
                continue;
            }
            let spare = (1.0 - node.utilisation).max(0.01);
            let waited_ms = node.waited_s * 1e3;
            let group =
                ((-spare.ln() * STEPS).round() as i64, ((1.0 + waited_ms).ln() * STEPS).round() as i64);
            let capacity = if node.load.work > 0.0 {
                node.load.ops() / node.load.work
            } else {
                self.settings.capacity.writes_per_s
            };
            let sums = groups.entry(group).or_default();
            for (sum, value) in sums.iter_mut().zip([1.0, node.utilisation, waited_ms, capacity]) {
                *sum += value * node.served;
            }
        }
        let served: f64 = groups.values().map(|[served, ..]| served).sum();
        let mut histogram = Histogram::new();
        if served <= 0.0 {
            return histogram;
        }
        let mut piece = vec![0.0; self.edges.len()];
        for [weight, utilisation, waited_ms, capacity] in groups.values() {
            let [utilisation, waited_ms, capacity] =
                [utilisation, waited_ms, capacity].map(|sum| sum / weight);
            for (sum, &edge) in piece.iter_mut().zip(&self.edges) {
                *sum += weight / served * self.settings.latency.cdf(edge - waited_ms, utilisation, capacity);
            }
        }
        let drawn = self.round.drawn.max(f64::MIN_POSITIVE);
        let scattered: f64 = self.round.scattered.values().map(|(operations, _)| operations).sum();
        histogram.add(&piece, served * (1.0 - scattered / drawn).max(0.0));
        for (&pieces, &(operations, rows_ms)) in &self.round.scattered {
            let delay = rows_ms / operations.max(f64::MIN_POSITIVE);
            let power = f64::from(pieces);
            let slowest: Vec<f64> = self
                .edges
                .iter()
                .map(|&edge| Histogram::at(&piece, &self.edges, edge - delay).powf(power))
                .collect();
            histogram.add(&slowest, served * operations / drawn);
        }
        histogram
    }
}
