//! Cuts and moves: what tablets are too large or too busy, where they are cut, and who gets them.

use super::balance::{BalanceGoal, moves_by_load};
use super::engine::{Blocked, Simulation, TABLETS_MAX};
use super::finder::Finder;
use super::settings::{Balancer, Cut, LoadRule, SizeRule, Watched};
use super::tablet::{Hot, Load, Tablet};
use rowkey_store::tablet;
use rowkey_store::{RowKey, RowRange};

/// Keys are kept of a tablet that fills fast from this part of its limit on, so that its middle is known when it is full.
const KEEP_FAST: f64 = 1.0 / 32.0;
/// And of one that fills slowly from here on.
const KEEP_SLOW: f64 = 0.5;
/// A tablet is watched from this part of the busy threshold on.
const WATCH: f64 = 0.5;
/// A tablet that gets so large a part of all operations fills fast.
const FAST_SHARE: f64 = 0.001;

impl Simulation {
    /// Cuts what is too large or too busy.
    pub(super) fn cut(&mut self, demand: f64) {
        let all: f64 = self.nodes.iter().map(|node| node.load.ops()).sum();
        let per = if all > 0.0 { demand / all } else { 0.0 };
        let touched = std::mem::take(&mut self.touched);
        for &id in &touched {
            self.look_at(id, per, all);
        }
        for &id in &touched {
            self.cut_by_size(id);
        }
        self.touched = touched;
        if let Some(rule) = self.settings.load {
            self.cut_by_load(&rule, per);
        }
    }

    /// Begins to keep keys of a tablet that may be cut.
    fn look_at(&mut self, id: u32, per: f64, all: f64) {
        let tablet = &self.tablets[id as usize];
        let load = tablet.load.get();
        if let Some(rule) = &self.settings.load
            && watched_value(rule, &load.scaled(per)) >= WATCH * rule.threshold
            && let Err(at) = self.watched.binary_search(&id)
        {
            self.watched.insert(at, id);
            self.tablets[id as usize].hot.get_or_insert_with(|| Box::new(Hot::new(true))).make_fast();
            return;
        }
        if tablet.hot.is_none() && !matches!(self.settings.size, SizeRule::Never) {
            let filled =
                tablet.bytes / self.settings.size.limit(self.nodes[tablet.node as usize].tablets as usize);
            let is_fast = load.ops() > FAST_SHARE * all;
            if filled >= if is_fast { KEEP_FAST } else { KEEP_SLOW } {
                self.tablets[id as usize].hot = Some(Box::new(Hot::new(is_fast)));
            }
        }
    }

    fn cut_by_size(&mut self, id: u32) {
        let tablet = &self.tablets[id as usize];
        let limit = self.settings.size.limit(self.nodes[tablet.node as usize].tablets as usize);
        if tablet.bytes <= limit || tablet.hot.is_none() || self.is_blocked(id) {
            return;
        }
        match self.settings.size {
            SizeRule::Never => {}
            SizeRule::Pieces { piece, pieces_max, every_s, .. } => {
                if self.second.is_multiple_of(every_s.max(1)) {
                    self.cut_pieces(id, piece, pieces_max, limit);
                }
            }
            SizeRule::Fixed { .. } | SizeRule::Increasing { .. } | SizeRule::Stepping { .. } => {
                let Some(hot) = &self.tablets[id as usize].hot else { return };
                let keys = hot.stored.keys.clone();
                if let Some(key) = self.middle(id, &keys) {
                    let behind = self.tablets[id as usize]
                        .hot
                        .as_ref()
                        .map_or(0.5, |hot| hot.stored.share_behind(&key));
                    self.split(id, &key, behind);
                }
            }
        }
    }

    /// Cuts pieces of a size off the front of a tablet.
    fn cut_pieces(&mut self, mut id: u32, piece: f64, pieces_max: u32, limit: f64) {
        for _ in 0..pieces_max {
            let tablet = &self.tablets[id as usize];
            let (bytes, Some(hot)) = (tablet.bytes, &tablet.hot) else { return };
            if bytes <= limit {
                return;
            }
            let mut keys = hot.stored.keys.clone();
            keys.sort_unstable();
            let start = self.index.start(id);
            let at = ((piece / bytes) * keys.len() as f64).ceil() as usize;
            let Some(key) = keys.iter().skip(at).find(|key| ***key > *start).cloned() else { return };
            let Some(behind) = self.split(id, &key, 1.0 - piece / bytes) else { return };
            id = behind;
        }
    }

    /// The middle of some keys of a tablet, as a store would cut there.
    fn middle(&self, id: u32, keys: &[Box<[u8]>]) -> Option<Vec<u8>> {
        let samples = tablet::samples(keys.iter().map(|key| &**key));
        let start = self.index.start(id);
        let end =
            self.index.next(self.index.find(start)).map(|next| self.index.start(self.index.tablet(next)));
        let range = RowRange { start: RowKey::copy_from_slice(start), end: end.map(RowKey::copy_from_slice) };
        tablet::choose_split(&range, &samples, 0).map(|key| key.to_vec())
    }

    fn cut_by_load(&mut self, rule: &LoadRule, per: f64) {
        let watched = std::mem::take(&mut self.watched);
        let mut still = Vec::with_capacity(watched.len());
        let mut cuts = Vec::new();
        for id in watched {
            let second = self.second;
            let tablet = &mut self.tablets[id as usize];
            // What a store measures is what it serves.
            let taken = self.nodes[tablet.node as usize].taken.min(1.0);
            let value = watched_value(rule, &tablet.load.get().scaled(per)) * taken;
            let Some(hot) = &mut tablet.hot else { continue };
            if value >= rule.threshold {
                hot.busy_s += 1;
                if let (Cut::Search(finder), None) = (rule.cut, &hot.finder) {
                    hot.finder = Some(Finder::new(finder));
                }
            } else {
                hot.busy_s = 0;
                hot.finder = None;
            }
            if hot.busy_s >= rule.sustained_s && second >= hot.rests_until {
                cuts.push(id);
            }
            if value >= 0.5 * WATCH * rule.threshold {
                still.push(id);
            }
        }
        self.watched = still;
        for id in cuts {
            self.cut_busy(id, rule);
        }
    }

    fn cut_busy(&mut self, id: u32, rule: &LoadRule) {
        let Some(hot) = &self.tablets[id as usize].hot else { return };
        if self.is_blocked(id) {
            return;
        }
        let key = match rule.cut {
            Cut::Middle => self.middle(id, &hot.recent),
            Cut::Search(_) => hot.finder.as_ref().and_then(Finder::cut).map(<[u8]>::to_vec),
        };
        let Some(key) = key else { return };
        let stored = &hot.stored;
        let behind =
            if stored.keys.is_empty() { hot.requests_behind(&key) } else { stored.share_behind(&key) };
        let rests_until = self.second + rule.pause_s;
        let new = self.split(id, &key, behind);
        for id in [Some(id), new].into_iter().flatten() {
            if let Some(hot) = &mut self.tablets[id as usize].hot {
                hot.rests_until = rests_until;
            }
            if let Err(at) = self.watched.binary_search(&id) {
                self.watched.insert(at, id);
            }
        }
    }

    fn is_blocked(&self, id: u32) -> bool {
        self.blocked.iter().any(|blocked| blocked.tablet == id)
    }

    /// Cuts a tablet; the part `bytes_behind` of its bytes goes to the new one, which stays on the same node.
    fn split(&mut self, id: u32, key: &[u8], bytes_behind: f64) -> Option<u32> {
        if self.tablets.len() >= TABLETS_MAX || self.index.tablet(self.index.find(key)) != id {
            return None;
        }
        let new = self.index.split(key)?;
        let tablet = &mut self.tablets[id as usize];
        let mut behind = Tablet::new(tablet.node, tablet.bytes * bytes_behind);
        tablet.bytes *= 1.0 - bytes_behind;
        let load = tablet.load.get();
        let share = tablet.hot.as_ref().map_or(0.5, |hot| hot.requests_behind(key));
        behind.load.set(&load.scaled(share));
        tablet.load.set(&load.scaled(1.0 - share));
        if let Some(hot) = &mut tablet.hot {
            hot.finder = None;
            hot.busy_s = 0;
            let mut other = hot.clone();
            hot.keep(|at| at < key);
            other.keep(|at| at >= key);
            behind.hot = Some(other);
        }
        let node = tablet.node;
        self.tablets.push(behind);
        self.nodes[node as usize].tablets += 1;
        self.splits += 1;
        let until = f64::from(self.second) + 1.0 + self.settings.split_pause_s;
        for tablet in [id, new] {
            if self.settings.split_pause_s > 0.0 {
                self.blocked.push(Blocked { tablet, until, to: node, held: Load::default() });
            }
        }
        if self.settings.balancer == Balancer::Random {
            let to = u32::try_from(self.rng.below(self.nodes.len())).unwrap_or(0);
            self.blocked.retain(|blocked| blocked.tablet != new);
            self.begin_move(new, to);
        }
        Some(new)
    }

    fn begin_move(&mut self, id: u32, to: u32) {
        self.moves += 1;
        if self.settings.move_pause_s > 0.0 {
            let until = f64::from(self.second) + 1.0 + self.settings.move_pause_s;
            self.blocked.push(Blocked { tablet: id, until, to, held: Load::default() });
        } else {
            self.hand_over(id, to);
        }
    }

    /// Moves tablets, if it is time for it.
    pub(super) fn balance(&mut self) {
        let every = self.settings.balance_every_s.max(1);
        if !(self.second + 1).is_multiple_of(every) {
            return;
        }
        let moves = (self.nodes.len() as f64 * self.settings.moves_share).ceil().max(1.0) as usize;
        match self.settings.balancer {
            Balancer::Random => {}
            Balancer::Even => self.balance_load(moves),
            Balancer::Count => self.balance_count(moves),
        }
    }

    fn balance_load(&mut self, moves: usize) {
        /// Differences below this part of the mean load are left alone.
        const SLACK: f64 = 0.05;
        let nodes = self.nodes.len();
        let sum: f64 = self.nodes.iter().map(|node| node.load.work).sum();
        let pieces: f64 = self.nodes.iter().map(|node| node.load.pieces).sum();
        if sum <= 0.0 || nodes < 2 {
            return;
        }
        let mean = sum / nodes as f64;
        // What chance alone does to the load of a node: a sum of this gain counts 1 / gain draws.
        let chance = 3.0 * (nodes as f64 * self.gain / pieces.max(1.0)).sqrt();
        let slack = mean * SLACK.max(chance.min(1.0));
        let heaviest = self.nodes.iter().map(|node| node.load.work).fold(0.0, f64::max);
        if heaviest <= mean + slack {
            return;
        }
        // Whole numbers for the shared decision: a million to the mean node.
        let unit = 1e6 / mean;
        let load = |tablet: &Tablet| (tablet.load.get().work * unit).max(0.0).round() as u64;
        let loads: Vec<u64> = self.tablets.iter().map(load).collect();
        let node_of: Vec<u32> = self.tablets.iter().map(|tablet| tablet.node).collect();
        let goal = BalanceGoal {
            moves_max: moves,
            slack: (slack * unit).round() as u64,
            even_max: ((mean + slack) * unit) as u64,
        };
        for moved in moves_by_load(&loads, &node_of, nodes, &goal) {
            let id = u32::try_from(moved.tablet).unwrap_or(u32::MAX);
            if !self.is_blocked(id) {
                self.begin_move(id, u32::try_from(moved.to).unwrap_or(0));
            }
        }
    }

    fn balance_count(&mut self, moves: usize) {
        let mut of_node: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (id, tablet) in self.tablets.iter().enumerate() {
            of_node[tablet.node as usize].push(u32::try_from(id).unwrap_or(u32::MAX));
        }
        for _ in 0..moves.max(1) * 16 {
            let most = (0..of_node.len()).max_by_key(|&node| (of_node[node].len(), std::cmp::Reverse(node)));
            let least = (0..of_node.len()).min_by_key(|&node| (of_node[node].len(), node));
            let (Some(most), Some(least)) = (most, least) else { return };
            if of_node[most].len() <= of_node[least].len() + 1 {
                return;
            }
            let at = self.rng.below(of_node[most].len());
            let id = of_node[most].swap_remove(at);
            of_node[least].push(id);
            if !self.is_blocked(id) {
                self.begin_move(id, u32::try_from(least).unwrap_or(0));
            }
        }
    }
}

fn watched_value(rule: &LoadRule, rates: &Load) -> f64 {
    match rule.watched {
        Watched::Operations => rates.ops(),
        Watched::Reads => rates.reads,
        Watched::Work => rates.work,
    }
}
