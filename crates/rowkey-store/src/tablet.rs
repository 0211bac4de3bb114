//! Tablets, decided: where a table is cut, which tablet serves a key, where to cut next, and which node serves which tablet.
//! Pure; engines and the simulator act on the answers.

use crate::{RowKey, RowRange, RowSet};
use bytes::Bytes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The tablets of a table, ascending, without gaps: `[..a) [a..b) ... [z..)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TabletMap {
    split_points: Vec<RowKey>,
}

impl TabletMap {
    /// Tablets cut at these keys; order and duplicates do not matter, empty keys cut nothing.
    pub fn new(mut split_points: Vec<RowKey>) -> Self {
        split_points.retain(|point| !point.is_empty());
        split_points.sort();
        split_points.dedup();
        Self { split_points }
    }

    /// The keys at which it is cut, ascending: the first keys of all tablets but the first.
    pub fn split_points(&self) -> &[RowKey] {
        &self.split_points
    }

    /// The number of tablets, at least 1.
    pub fn count(&self) -> usize {
        self.split_points.len() + 1
    }

    /// The tablet that serves `key`.
    pub fn find(&self, key: &[u8]) -> usize {
        self.split_points.partition_point(|point| &point[..] <= key)
    }

    /// The row keys of a tablet, which is below [`TabletMap::count`].
    pub fn range(&self, tablet: usize) -> RowRange {
        let start = tablet.checked_sub(1).map_or_else(Bytes::new, |before| self.split_points[before].clone());
        RowRange { start, end: self.split_points.get(tablet).cloned() }
    }

    /// The row keys of all tablets, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = RowRange> {
        (0..self.count()).map(|tablet| self.range(tablet))
    }

    /// The parts of `rows`, ascending, each with the one tablet that serves it.
    pub fn parts(&self, rows: &RowSet) -> Vec<(usize, RowRange)> {
        let mut parts = Vec::new();
        for wanted in rows.ranges() {
            for tablet in self.find(&wanted.start)..self.count() {
                match self.range(tablet).intersection(wanted) {
                    Some(part) => parts.push((tablet, part)),
                    None => break,
                }
            }
        }
        parts
    }

    /// Cuts at `at`. Answers with the tablet that was cut; the new one is behind it. `None`: it is cut there already, or `at` is
    /// empty.
    pub fn split(&mut self, at: &RowKey) -> Option<usize> {
        if at.is_empty() {
            return None;
        }
        let tablet = self.split_points.binary_search(at).err()?;
        self.split_points.insert(tablet, at.clone());
        Some(tablet)
    }
}

/// A row key, and the weight of the rows from it up to the next sample: bytes to cut by size, operations to cut by load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightSample {
    /// The key of a row.
    pub key: RowKey,
    /// What lies between it and the next sample.
    pub weight: u64,
}

/// Row keys as samples, each with how often it comes.
pub fn samples<'k>(keys: impl IntoIterator<Item = &'k [u8]>) -> Vec<WeightSample> {
    let mut sorted: Vec<&[u8]> = keys.into_iter().collect();
    sorted.sort_unstable();
    let mut samples: Vec<WeightSample> = Vec::with_capacity(sorted.len());
    for key in sorted {
        match samples.last_mut() {
            Some(last) if last.key[..] == *key => last.weight += 1,
            _ => samples.push(WeightSample { key: RowKey::copy_from_slice(key), weight: 1 }),
        }
    }
    samples
}

/// Where to cut a tablet that weighs more than `weight_max`: at the sample that comes nearest to halves. Samples are ascending.
/// `None`: it is light enough, or it cannot be cut because all is in one row.
pub fn choose_split(tablet: &RowRange, samples: &[WeightSample], weight_max: u64) -> Option<RowKey> {
    let total: u64 = samples.iter().map(|sample| sample.weight).sum();
    if total <= weight_max {
        return None;
    }
    let mut before = 0;
    let mut best: Option<(u64, &RowKey)> = None;
    for sample in samples {
        let unevenness = before.max(total - before);
        let cuts = before > 0 && sample.key > tablet.start && tablet.contains(&sample.key);
        if cuts && best.is_none_or(|(least, _)| unevenness < least) {
            best = Some((unevenness, &sample.key));
        }
        before += sample.weight;
    }
    best.map(|(_, key)| key.clone())
}

/// Assigns tablets to nodes so that the loads of nodes come close to each other: the heaviest first, each to the node with the
/// least load so far. The heaviest node has at most 4/3 of what the best assignment gives it (Graham 1969). Answers with the node
/// of each tablet.
pub fn assign(loads: &[u64], nodes: usize) -> Vec<usize> {
    let mut node_of = vec![0; loads.len()];
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by_key(|&tablet| (Reverse(loads[tablet]), tablet));
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = (0..nodes).map(|node| Reverse((0, node))).collect();
    for tablet in order {
        let Some(Reverse((load, node))) = queue.pop() else { break };
        node_of[tablet] = node;
        // A tablet without load still counts as one, so that idle tablets are spread as well.
        queue.push(Reverse((load.saturating_add(loads[tablet].max(1)), node)));
    }
    node_of
}

/// A tablet that changes its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The tablet.
    pub tablet: usize,
    /// The node that serves it.
    pub from: usize,
    /// The node that will.
    pub to: usize,
}

/// The one move that lowers the load of the heaviest node most, if it lowers it by more than `slack`; moving a tablet costs its
/// caches, so small differences are left alone. `node_of` has the node of each tablet, below `nodes`.
pub fn rebalance(loads: &[u64], node_of: &[usize], nodes: usize, slack: u64) -> Option<Move> {
    let mut sums = vec![0u64; nodes];
    for (load, &node) in loads.iter().zip(node_of) {
        sums[node] = sums[node].saturating_add(*load);
    }
    let (from, &heaviest) = sums.iter().enumerate().max_by_key(|&(node, sum)| (sum, Reverse(node)))?;
    let (to, &lightest) = sums.iter().enumerate().min_by_key(|&(node, sum)| (sum, node))?;
    let after = |load: u64| (heaviest - load).max(lightest.saturating_add(load));
    let candidates = (0..loads.len().min(node_of.len())).filter(|&tablet| node_of[tablet] == from);
    let tablet = candidates.min_by_key(|&tablet| (after(loads[tablet]), tablet))?;
    (after(loads[tablet]).saturating_add(slack) < heaviest).then_some(Move { tablet, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(points: &[&'static str]) -> TabletMap {
        TabletMap::new(points.iter().map(|point| RowKey::from(*point)).collect())
    }

    fn samples(weights: &[(&'static str, u64)]) -> Vec<WeightSample> {
        weights.iter().map(|&(key, weight)| WeightSample { key: key.into(), weight }).collect()
    }

    #[test]
    fn a_key_on_a_split_point_is_served_behind_it() {
        let tablets = map(&["m", "c", "m", ""]);
        assert_eq!(tablets.count(), 3);
        assert_eq!(
            ["", "b", "c", "cc", "m", "z"].map(|key| tablets.find(key.as_bytes())),
            [0, 0, 1, 1, 2, 2]
        );
        let rows = RowSet::new(["a".into()], [RowRange { start: "b".into(), end: Some("m".into()) }]);
        let parts = tablets.parts(&rows);
        assert_eq!(parts.iter().map(|(tablet, _)| *tablet).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(parts[2].1, RowRange { start: "c".into(), end: Some("m".into()) });
    }

    #[test]
    fn a_split_cuts_one_tablet_and_only_once() {
        let mut tablets = map(&["m"]);
        assert_eq!(tablets.split(&"x".into()), Some(1));
        assert_eq!(tablets.split(&"x".into()), None);
        assert_eq!(tablets.split(&"".into()), None);
        assert_eq!(tablets, map(&["m", "x"]));
    }

    #[test]
    fn a_tablet_is_cut_near_the_half_of_its_weight_and_never_at_its_start() {
        let check = |weights: &[(&'static str, u64)], max, expected: Option<&'static str>| {
            let tablet = RowRange { start: "b".into(), end: Some("y".into()) };
            assert_eq!(choose_split(&tablet, &samples(weights), max), expected.map(RowKey::from));
        };
        check(&[("b", 10), ("d", 10), ("f", 10), ("h", 10)], 39, Some("f"));
        check(&[("b", 10), ("d", 10), ("f", 10), ("h", 10)], 40, None);
        check(&[("b", 1), ("d", 90)], 50, Some("d"));
        check(&[("b", 90), ("d", 1)], 50, Some("d"));
        check(&[("b", 90)], 50, None);
        check(&[("d", 90)], 50, None);
        check(&[("b", 0), ("d", 90)], 50, None);
        check(&[("a", 50), ("b", 50), ("y", 50)], 50, None);
        check(&[], 0, None);
    }

    #[test]
    fn tablets_are_assigned_heaviest_first() {
        assert_eq!(assign(&[5, 4, 3, 3, 3], 2), [0, 1, 1, 0, 1]);
        assert_eq!(assign(&[0, 0, 0, 0], 2), [0, 1, 0, 1]);
        assert_eq!(assign(&[1, 2], 0), [0, 0]);
    }

    #[test]
    fn a_move_must_be_worth_it() {
        let better = Move { tablet: 1, from: 0, to: 1 };
        assert_eq!(rebalance(&[6, 4, 1], &[0, 0, 1], 2, 2), Some(better));
        assert_eq!(rebalance(&[6, 4, 1], &[0, 0, 1], 2, 4), None);
        assert_eq!(rebalance(&[10, 1], &[0, 1], 2, 0), None, "one hot tablet is not cured by moving it");
        assert_eq!(rebalance(&[], &[], 0, 0), None);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_set_are_the_set_and_lie_in_their_tablets(
            points in prop::collection::vec(prop::collection::vec(0u8..3, 0..3), 0..5),
            ranges in prop::collection::vec((prop::collection::vec(0u8..3, 0..3), prop::option::of(prop::collection::vec(0u8..3, 0..3))), 0..4),
            key in prop::collection::vec(0u8..3, 0..4),
        ) {
            let tablets = TabletMap::new(points.into_iter().map(Into::into).collect());
            let ranges = ranges.into_iter().map(|(start, end)| RowRange { start: start.into(), end: end.map(Into::into) });
            let rows = RowSet::new([], ranges);
            let holding: Vec<usize> =
                tablets.parts(&rows).into_iter().filter(|(_, part)| part.contains(&key)).map(|(tablet, _)| tablet).collect();
            let expected = if rows.contains(&key) { vec![tablets.find(&key)] } else { vec![] };
            prop_assert_eq!(holding, expected);
            prop_assert!(tablets.range(tablets.find(&key)).contains(&key));
            prop_assert_eq!(tablets.ranges().filter(|range| range.contains(&key)).count(), 1);
        }
    }
}
