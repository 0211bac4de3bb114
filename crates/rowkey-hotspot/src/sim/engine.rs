//! The model, second by second: operations are drawn, booked to tablets, served by nodes; then tablets are cut and moved.
//!
//! Loads are averages over drawn operations. An average over the last minutes is kept for each tablet; it is dropped for what this
//! second tells where the two differ by more than chance, so that a front which moves on is seen at once. All sums are kept in units
//! that grow (`gain`), which makes all of them older without touching them.

use super::index::{Index, Place};
use super::latency::Histogram;
use super::outcome::{NodeOutcome, Outcome, Tick, Totals};
use super::serve::{Node, Round};
use super::settings::{Balancer, Settings, Watched};
use super::tablet::{Load, Tablet};
use crate::operation::OpKind;
use crate::{Error, ErrorKind, Result};
use rowkey_store::seeded::Seeded;

/// A part of a drawn operation: one key, or one range of keys.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// What it does.
    pub kind: OpKind,
    /// The key, or the first key of a range.
    pub key: &'a [u8],
    /// The end of a range; empty: the end of the table. `None`: one row.
    pub end: Option<&'a [u8]>,
    /// Rows of a range.
    pub rows: f64,
    /// The part of an operation that this is: 1 divided by its pieces.
    pub share: f64,
    /// Reading ends after `rows`, so only the first tablet of a range is read.
    pub is_limited: bool,
}

impl<'a> Piece<'a> {
    /// A write of one row.
    pub fn write(key: &'a [u8]) -> Self {
        Self { kind: OpKind::Write, key, end: None, rows: 1.0, share: 1.0, is_limited: false }
    }
}

/// Writes that wait to be booked: their keys one behind the other, and where each ends with its share of an operation.
#[derive(Debug, Default)]
struct Pending {
    keys: Vec<u8>,
    writes: Vec<(usize, f64)>,
}

/// Writes booked at once.
const BATCH: usize = 512;

/// A tablet that serves nobody for a while.
#[derive(Debug, Clone)]
pub(super) struct Blocked {
    pub(super) tablet: u32,
    /// Seconds since the start.
    pub(super) until: f64,
    /// The node that will serve it then.
    pub(super) to: u32,
    /// What waits for it: writes, reads, node seconds.
    pub(super) held: Load,
}

/// A simulation under way.
#[derive(Debug)]
pub struct Simulation {
    pub(super) settings: Settings,
    pub(super) index: Index,
    pub(super) tablets: Vec<Tablet>,
    pub(super) nodes: Vec<Node>,
    pub(super) blocked: Vec<Blocked>,
    pub(super) rng: Seeded,
    pub(super) second: u32,
    /// The unit of sums: a draw of this second adds so much.
    pub(super) gain: f64,
    /// Tablets touched in this second.
    pub(super) touched: Vec<u32>,
    /// Writes of this second: tablet and operations.
    written: Vec<(u32, f32)>,
    /// Writes that are still to be booked.
    pending: Pending,
    /// Tablets that may be too busy, ascending.
    pub(super) watched: Vec<u32>,
    /// Tablets with so large a share that a second without them is no chance.
    heavy: Vec<u32>,
    /// Tablets over their limit.
    pub(super) capped: Vec<u32>,
    pub(super) round: Round,
    pub(super) splits: u32,
    pub(super) moves: u32,
    pub(super) edges: Vec<f64>,
    histogram: Histogram,
    ticks: Vec<Tick>,
    draws: u64,
    /// The second from which on means of the last quarter are taken.
    pub(super) late_from: u32,
}

/// The most nodes.
pub const NODES_MAX: u32 = 100_000;
/// The most tablets: a simulation that cuts more has wrong parameters.
pub const TABLETS_MAX: usize = 4_000_000;

impl Simulation {
    /// A cluster whose table is cut at these points; order and duplicates do not matter.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if a parameter is out of its range; the message names it.
    pub fn new(settings: Settings, mut split_points: Vec<Vec<u8>>) -> Result<Self> {
        check(&settings)?;
        split_points.retain(|point| !point.is_empty());
        split_points.sort();
        split_points.dedup();
        if split_points.len() >= TABLETS_MAX {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("{} split points are too many", split_points.len()),
            ));
        }
        let mut rng = Seeded::new(settings.seed ^ 0x5eed_7ab1_e700_0000);
        let count = split_points.len() + 1;
        let nodes = settings.nodes as usize;
        let node_of: Vec<usize> = match settings.balancer {
            Balancer::Random => (0..count).map(|_| rng.below(nodes)).collect(),
            // Nothing is known of their loads yet: as many for each.
            Balancer::Even | Balancer::Count => rowkey_store::tablet::assign(&vec![0; count], nodes),
        };
        let bytes = settings.tablet_bytes;
        let tablets: Vec<Tablet> =
            node_of.iter().map(|&node| Tablet::new(u32::try_from(node).unwrap_or(0), bytes)).collect();
        let mut simulation = Self {
            index: Index::new(&split_points),
            nodes: vec![Node::default(); nodes],
            tablets,
            blocked: Vec::new(),
            rng,
            second: 0,
            gain: 1.0,
            touched: Vec::new(),
            written: Vec::new(),
            pending: Pending::default(),
            watched: Vec::new(),
            heavy: Vec::new(),
            capped: Vec::new(),
            round: Round::default(),
            splits: 0,
            moves: 0,
            edges: Histogram::edges(),
            histogram: Histogram::new(),
            ticks: Vec::new(),
            draws: 0,
            late_from: 0,
            settings,
        };
        for tablet in &simulation.tablets {
            simulation.nodes[tablet.node as usize].tablets += 1;
        }
        Ok(simulation)
    }

    /// The parameters.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Seconds simulated.
    pub fn seconds(&self) -> u32 {
        self.second
    }

    /// Tablets now.
    pub fn tablets(&self) -> usize {
        self.tablets.len()
    }

    /// Says how many seconds will come, so that nodes have means of the last quarter.
    pub fn expect_seconds(&mut self, seconds: u32) {
        self.late_from = seconds - seconds.div_ceil(4);
    }

    /// Begins a second. [`Simulation::book`] follows for each drawn operation, then [`Simulation::end_tick`].
    pub fn begin_tick(&mut self) {
        self.release();
        self.touched.clear();
        self.written.clear();
        self.round.begin();
        self.splits = 0;
        self.moves = 0;
        // Everything older counts less from here on.
        let memory = f64::from(self.settings.memory_s.max(1));
        self.gain *= memory / (memory - 1.0).max(1e-9);
        if self.gain > 1e9 {
            self.renew_units();
        }
    }

    /// Books one piece of a drawn operation. The shares of an operation's pieces add up to 1.
    pub fn book(&mut self, piece: &Piece<'_>) {
        self.round.note(piece, self.settings.row_s());
        if matches!(piece.kind, OpKind::Write | OpKind::Delete) {
            self.pending.keys.extend_from_slice(piece.key);
            self.pending.writes.push((self.pending.keys.len(), piece.share));
            if self.pending.writes.len() >= BATCH {
                self.book_pending();
            }
            return;
        }
        let place = self.index.find(piece.key);
        let seek = self.settings.read_s();
        let Some(end) = piece.end else {
            let load = Load { pieces: 1.0, writes: 0.0, reads: piece.share, work: seek };
            return self.book_at(place, piece, &load);
        };
        let rows_s = piece.rows * self.settings.row_s();
        let parts = if piece.is_limited { 1 } else { self.spanned(place, end) };
        let mut at = Some(place);
        for _ in 0..parts {
            let Some(here) = at else { break };
            let part = 1.0 / parts as f64;
            let load =
                Load { pieces: 1.0, writes: 0.0, reads: piece.share * part, work: seek + rows_s * part };
            self.book_at(here, piece, &load);
            at = self.index.next(here);
        }
    }

    /// Books the writes that wait. One after the other, each would wait for memory twice; in two short loops, many wait at once.
    fn book_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let first = self.written.len();
        let mut from = 0;
        for &(to, share) in &pending.writes {
            let place = self.index.find(&pending.keys[from..to]);
            #[expect(clippy::cast_possible_truncation, reason = "a share of an operation needs few digits")]
            self.written.push((self.index.tablet(place), share as f32));
            from = to;
        }
        let work = self.settings.write_s();
        let mut kept = Vec::new();
        for (at, &(id, share)) in self.written[first..].iter().enumerate() {
            let load = Load { pieces: 1.0, writes: share.into(), reads: 0.0, work };
            let tablet = &mut self.tablets[id as usize];
            if tablet.note(self.second, &load) {
                self.touched.push(id);
            }
            if tablet.hot.is_some() {
                kept.push(at);
            }
        }
        self.round.pieces += pending.writes.len() as f64;
        for at in kept {
            let from = at.checked_sub(1).map_or(0, |before| pending.writes[before].0);
            let key = &pending.keys[from..pending.writes[at].0];
            self.keep(self.written[first + at].0, key, None, true);
        }
        self.pending = pending;
        self.pending.keys.clear();
        self.pending.writes.clear();
    }

    /// Tablets from a place to the end of a range, as far as they are counted.
    fn spanned(&self, from: Place, end: &[u8]) -> usize {
        /// A range over more tablets is booked to the first of them.
        const SPANNED_MAX: usize = 256;
        let mut parts = 1;
        let mut place = from;
        while let Some(next) = self.index.next(place) {
            let is_behind = !end.is_empty() && self.index.start(self.index.tablet(next)) >= end;
            if is_behind || parts == SPANNED_MAX {
                break;
            }
            parts += 1;
            place = next;
        }
        parts
    }

    fn book_at(&mut self, place: Place, piece: &Piece<'_>, load: &Load) {
        let id = self.index.tablet(place);
        let tablet = &mut self.tablets[id as usize];
        if tablet.note(self.second, load) {
            self.touched.push(id);
        }
        self.round.pieces += load.pieces;
        if tablet.hot.is_some() {
            self.keep(id, piece.key, piece.end, false);
        }
    }

    /// Keeps a key of a tablet that may be cut.
    fn keep(&mut self, id: u32, key: &[u8], end: Option<&[u8]>, is_write: bool) {
        let Some(hot) = &mut self.tablets[id as usize].hot else { return };
        hot.note_request(key);
        if is_write {
            hot.stored.note(key, &mut self.rng);
        }
        if let Some(finder) = &mut hot.finder {
            let reads_only = self.settings.load.is_some_and(|rule| rule.watched == Watched::Reads);
            if !(is_write && reads_only) {
                finder.record(key, end, &mut self.rng);
            }
        }
    }

    /// Ends a second in which clients wanted to send so many operations, and tells what became of them.
    pub fn end_tick(&mut self, demand: f64) -> Tick {
        let demand = if demand.is_finite() { demand.max(0.0) } else { 0.0 };
        self.book_pending();
        self.draws += self.round.drawn.round() as u64;
        self.average();
        let mut tick = self.serve(demand);
        self.fill(tick.offered);
        self.cut(tick.demand);
        self.balance();
        tick.tablets = u32::try_from(self.tablets.len()).unwrap_or(u32::MAX);
        tick.splits = self.splits;
        tick.moves = self.moves;
        tick.time_s = f64::from(self.second) + 1.0;
        let latencies = self.latencies();
        tick.p50_ms = latencies.quantile_ms(0.5, &self.edges);
        tick.p99_ms = latencies.quantile_ms(0.99, &self.edges);
        self.histogram.merge(&latencies, 1.0);
        self.ticks.push(tick);
        self.second += 1;
        tick
    }

    /// Folds what was drawn in this second into the averages.
    fn average(&mut self) {
        let drawn = self.round.pieces;
        let all: f64 = self.nodes.iter().map(|node| node.load.pieces).sum();
        let per_unit = if all > 0.0 { drawn / all } else { 0.0 };
        let mut rest = all;
        let mut jumped = Vec::new();
        let mut jumped_drawn = 0.0;
        if per_unit > 0.0 {
            for &id in &self.touched {
                let tablet = &self.tablets[id as usize];
                let (fresh, load) = (tablet.fresh.get(), tablet.load.get());
                if is_no_chance(fresh.pieces, load.pieces * per_unit) {
                    jumped.push(id);
                    jumped_drawn += fresh.pieces;
                    rest -= load.pieces;
                }
            }
            let heavy = std::mem::take(&mut self.heavy);
            for &id in &heavy {
                let tablet = &self.tablets[id as usize];
                let load = tablet.load.get();
                if tablet.touched != self.second && is_no_chance(0.0, load.pieces * per_unit) {
                    rest -= load.pieces;
                    self.set_load(id, &Load::default());
                }
            }
            self.heavy = heavy;
        }
        if !jumped.is_empty() {
            self.follow(&jumped, jumped_drawn, rest.max(0.0), all);
        }
        let gain = self.gain;
        for &id in &self.touched {
            let tablet = &mut self.tablets[id as usize];
            let added = tablet.fresh.get().scaled(gain);
            tablet.load.add(&added);
            self.nodes[tablet.node as usize].load.add(&added, 1.0);
        }
        self.find_heavy((all + drawn * gain) * HEAVY_SHARE);
    }

    /// Gives tablets that differ from their average by more than chance the share that they have in this second; the others, together
    /// `rest`, keep theirs among themselves.
    fn follow(&mut self, jumped: &[u32], jumped_drawn: f64, rest: f64, all: f64) {
        /// Below this part of the draws, the others are as good as gone.
        const REST_MIN: f64 = 0.02;
        let drawn = self.round.pieces;
        let rest_drawn = (drawn - jumped_drawn).max(0.0);
        let unit = if rest_drawn < REST_MIN * drawn {
            for id in 0..self.tablets.len() {
                self.set_load(u32::try_from(id).unwrap_or(u32::MAX), &Load::default());
            }
            all / drawn
        } else if rest > 0.0 {
            rest / rest_drawn
        } else {
            all / drawn
        };
        for &id in jumped {
            let now = self.tablets[id as usize].fresh.get().scaled(unit);
            self.set_load(id, &now);
        }
    }

    fn set_load(&mut self, id: u32, load: &Load) {
        let tablet = &mut self.tablets[id as usize];
        let node = &mut self.nodes[tablet.node as usize];
        node.load.add(&tablet.load.get(), -1.0);
        tablet.load.set(load);
        node.load.add(&tablet.load.get(), 1.0);
    }

    /// Notes which tablets have so much that a second without them is no chance.
    fn find_heavy(&mut self, least: f64) {
        let mut heavy = std::mem::take(&mut self.heavy);
        heavy.extend(&self.touched);
        heavy.retain(|&id| self.tablets[id as usize].load.get().pieces >= least);
        heavy.sort_unstable();
        heavy.dedup();
        self.heavy = heavy;
    }

    /// Adds the bytes of what was written.
    fn fill(&mut self, offered: f64) {
        if self.round.drawn <= 0.0 || offered <= 0.0 {
            return;
        }
        let bytes = offered / self.round.drawn * self.settings.bytes_per_write;
        for &(id, share) in &self.written {
            let tablet = &mut self.tablets[id as usize];
            let taken = self.nodes[tablet.node as usize].taken;
            tablet.bytes += f64::from(share) * bytes * taken;
        }
    }

    /// Makes the units of sums small again, and sums of nodes exact.
    fn renew_units(&mut self) {
        for node in &mut self.nodes {
            node.load = Load::default();
        }
        for tablet in &mut self.tablets {
            let load = tablet.load.get().scaled(1.0 / self.gain);
            tablet.load.set(&load);
            self.nodes[tablet.node as usize].load.add(&load, 1.0);
        }
        self.gain = 1.0;
    }

    /// Ends the simulation.
    pub fn finish(self) -> Outcome {
        let mut nodes: Vec<NodeOutcome> =
            self.nodes.iter().map(|node| node.outcome(self.second, self.late_from)).collect();
        for tablet in &self.tablets {
            nodes[tablet.node as usize].bytes += tablet.bytes;
        }
        let mut outcome = Outcome { ticks: self.ticks, nodes, totals: Totals::default(), notes: Vec::new() };
        outcome.totals = totals(&outcome, &self.settings, self.draws);
        outcome.totals.largest_tablet_bytes =
            self.tablets.iter().map(|tablet| tablet.bytes).fold(0.0, f64::max);
        outcome.totals.p50_ms = self.histogram.quantile_ms(0.5, &self.edges);
        outcome.totals.p99_ms = self.histogram.quantile_ms(0.99, &self.edges);
        outcome
    }
}

/// A tablet with so large a share is missed if it is not drawn for a second.
const HEAVY_SHARE: f64 = 1.0 / 256.0;

/// Whether a count differs from what was expected by more than six standard deviations: by the deviance of the Poisson distribution,
/// which is right for small counts too.
fn is_no_chance(count: f64, expected: f64) -> bool {
    let expected = expected.max(1e-9);
    let log = if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    2.0 * (log - (count - expected)) > 36.0
}

fn totals(outcome: &Outcome, settings: &Settings, draws: u64) -> Totals {
    let ticks = &outcome.ticks;
    let sum = |of: fn(&Tick) -> f64| ticks.iter().map(of).sum::<f64>();
    let late = outcome.late();
    let seconds = ticks.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Tick) -> f64| late.iter().map(of).sum::<f64>() / late.len().max(1) as f64;
    let mut late_p99: Vec<f64> = late.iter().map(|tick| tick.p99_ms).collect();
    late_p99.sort_by(f64::total_cmp);
    let utilisation = mean(&|tick| tick.utilisation_mean);
    // A weight that decays by 1 - 1/memory a second holds as much as 2 * memory - 1 seconds.
    let held = (2.0 * f64::from(settings.memory_s.max(1)) - 1.0).min(seconds);
    let effective = (draws as f64 / seconds * held).max(1.0);
    let nodes = f64::from(settings.nodes);
    Totals {
        seconds: u32::try_from(ticks.len()).unwrap_or(u32::MAX),
        demand: sum(|tick| tick.demand),
        offered: sum(|tick| tick.offered),
        served: sum(|tick| tick.served),
        refused: sum(|tick| tick.refused),
        backlog: ticks.last().map_or(0.0, |tick| tick.backlog),
        served_per_s: sum(|tick| tick.served) / seconds,
        late_served_per_s: mean(&|tick| tick.served),
        late_p99_ms: late_p99.get(late_p99.len() / 2).copied().unwrap_or(0.0),
        late_nodes_used: mean(&|tick| f64::from(tick.nodes_used)),
        late_max_over_mean: if utilisation > 0.0 {
            mean(&|tick| tick.utilisation_max) / utilisation
        } else {
            0.0
        },
        tablets: ticks.last().map_or(0, |tick| tick.tablets),
        splits: ticks.iter().map(|tick| u64::from(tick.splits)).sum(),
        moves: ticks.iter().map(|tick| u64::from(tick.moves)).sum(),
        draws,
        node_error: ((nodes - 1.0).max(0.0) / effective).sqrt(),
        ..Totals::default()
    }
}

fn check(settings: &Settings) -> Result<()> {
    let refuse = |what: &str, why: &str| Err(Error::new(ErrorKind::Conflict, format!("{what}: {why}")));
    if settings.nodes == 0 {
        return refuse("nodes", "a cluster has at least one");
    }
    if settings.nodes > NODES_MAX {
        return refuse("nodes", &format!("{} are too many; the most is {NODES_MAX}", settings.nodes));
    }
    let capacity = &settings.capacity;
    let positive = [
        ("writes per second of a node", capacity.writes_per_s),
        ("reads per second of a node", capacity.reads_per_s),
        ("scanned rows per second of a node", capacity.scanned_rows_per_s),
        ("timeout in seconds", settings.timeout_s),
        ("rows of a batch", settings.batch_rows),
    ];
    for (what, value) in positive {
        if !(value.is_finite() && value > 0.0) {
            return refuse(what, &format!("{value} is not above 0"));
        }
    }
    let not_negative = [
        ("bytes of a write", settings.bytes_per_write),
        ("bytes of a tablet at the start", settings.tablet_bytes),
        ("pause of a split", settings.split_pause_s),
        ("pause of a move", settings.move_pause_s),
        ("share of nodes that moves", settings.moves_share),
    ];
    for (what, value) in not_negative {
        if !(value.is_finite() && value >= 0.0) {
            return refuse(what, &format!("{value} is below 0 or no number"));
        }
    }
    Ok(())
}
