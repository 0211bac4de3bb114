//! One field's values in order of arrival, and what is counted on them.

use std::collections::HashMap;

use crate::collect;
use crate::layout::FieldOrder;

/// Windows in which the spread of a field is measured have so many keys, fewer in small samples.
const WINDOW: usize = 1_000;

/// Ranges of equal count, learned from the keys before a window.
const RANGES: usize = 256;

/// A group of keys with the same parts in front needs so many keys for its order to count.
const GROUP_MIN: usize = 8;

/// Values of a field.
#[derive(Debug)]
pub(super) struct Column<'k> {
    /// In order of arrival.
    pub(super) values: Vec<&'k [u8]>,
    /// The different ones, ascending.
    pub(super) distinct: Vec<&'k [u8]>,
    /// How often each of these occurs.
    pub(super) counts: Vec<u32>,
    /// For each value its index among the different ones.
    pub(super) ranks: Vec<u32>,
}

impl<'k> Column<'k> {
    pub(super) fn new(values: Vec<&'k [u8]>) -> Self {
        let mut order: Vec<u32> = (0..u32::try_from(values.len()).unwrap_or(u32::MAX)).collect();
        order.sort_by_key(|at| values[*at as usize]);
        let mut ranks = vec![0; values.len()];
        let mut distinct: Vec<&'k [u8]> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        for at in order {
            let value = values[at as usize];
            if distinct.last() != Some(&value) {
                distinct.push(value);
                counts.push(0);
            }
            if let Some(count) = counts.last_mut() {
                *count += 1;
            }
            ranks[at as usize] = u32::try_from(distinct.len() - 1).unwrap_or(u32::MAX);
        }
        Self { values, distinct, counts, ranks }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The most frequent value and its share, the first in byte order among equals.
    pub(super) fn top(&self) -> (&'k [u8], f64) {
        let best = self.counts.iter().enumerate().max_by_key(|(at, count)| (**count, std::cmp::Reverse(*at)));
        match best {
            Some((at, count)) => (self.distinct[at], f64::from(*count) / len_f64(self.len())),
            None => (&[], 0.0),
        }
    }

    /// Entropy in bits.
    pub(super) fn entropy_bits(&self) -> f64 {
        let total = len_f64(self.len());
        let bits: f64 = self
            .counts
            .iter()
            .map(|count| f64::from(*count) / total)
            .map(|share| -share * share.log2())
            .sum();
        bits.max(0.0)
    }

    /// The share of values that fit, each different one looked at once.
    pub(super) fn share(&self, fits: impl Fn(&[u8]) -> bool) -> f64 {
        let fitting: u64 = self
            .distinct
            .iter()
            .zip(&self.counts)
            .filter(|(value, _)| fits(value))
            .map(|(_, count)| u64::from(*count))
            .sum();
        if self.values.is_empty() { 0.0 } else { u64_f64(fitting) / len_f64(self.len()) }
    }

    /// The share of different values that fit, at most 1,024 of them looked at.
    pub(super) fn share_of_distinct(&self, fits: impl Fn(&[u8]) -> bool) -> f64 {
        let step = self.distinct.len().div_ceil(1_024).max(1);
        let looked_at = self.distinct.len().div_ceil(step);
        let fitting = self.distinct.iter().step_by(step).filter(|value| fits(value)).count();
        if looked_at == 0 { 0.0 } else { len_f64(fitting) / len_f64(looked_at) }
    }

    /// How the values' byte order follows arrival.
    pub(super) fn order(&self) -> FieldOrder {
        order(&self.ranks)
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "samples have far fewer than 2^52 keys")]
pub(super) fn len_f64(len: usize) -> f64 {
    len as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts of samples stay far below 2^52")]
pub(super) fn u64_f64(count: u64) -> f64 {
    count as f64
}

/// The order of values given by their ranks, in order of arrival.
pub(super) fn order(ranks: &[u32]) -> FieldOrder {
    let (n_eff, n_eff_min) = spread(ranks);
    FieldOrder { tau: tau(ranks), ascending: ascending(ranks), n_eff, n_eff_min }
}

/// The same among the members of each group, weighted by keys.
pub(super) fn order_within(ranks: &[u32], groups: &[u32]) -> FieldOrder {
    let mut members: Vec<Vec<u32>> = Vec::new();
    for (rank, group) in ranks.iter().zip(groups) {
        let group = *group as usize;
        if group >= members.len() {
            members.resize_with(group + 1, Vec::new);
        }
        members[group].push(*rank);
    }
    let mut sum = FieldOrder::default();
    let (mut ordered, mut spread_over) = (0.0, 0.0);
    for ranks in members.iter().filter(|ranks| ranks.len() >= GROUP_MIN) {
        let weight = len_f64(ranks.len());
        sum.tau += weight * tau(ranks);
        sum.ascending += weight * ascending(ranks);
        ordered += weight;
        let (n_eff, n_eff_min) = spread(&dense(ranks));
        if n_eff > 0.0 {
            sum.n_eff += weight * n_eff;
            sum.n_eff_min += weight * n_eff_min;
            spread_over += weight;
        }
    }
    let mean = |sum: f64, over: f64| if over > 0.0 { sum / over } else { 0.0 };
    FieldOrder {
        tau: mean(sum.tau, ordered),
        ascending: mean(sum.ascending, ordered),
        n_eff: mean(sum.n_eff, spread_over),
        n_eff_min: mean(sum.n_eff_min, spread_over),
    }
}

/// The same order in numbers from 0 without gaps.
fn dense(ranks: &[u32]) -> Vec<u32> {
    let mut sorted: Vec<u32> = ranks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    ranks
        .iter()
        .map(|rank| u32::try_from(sorted.partition_point(|other| other < rank)).unwrap_or(u32::MAX))
        .collect()
}

/// Kendall's tau-b against arrival, by counting inversions in a merge sort (Knight 1966). 0 if all are equal.
pub(super) fn tau<T: Ord + Copy>(values: &[T]) -> f64 {
    let pairs = |count: usize| u64_f64((count as u64) * (count as u64).saturating_sub(1) / 2);
    let all = pairs(values.len());
    let mut sorted = values.to_vec();
    let mut buffer = values.to_vec();
    let inversions = u64_f64(inversions(&mut sorted, &mut buffer));
    let ties: f64 = sorted.chunk_by(|one, other| one == other).map(|equal| pairs(equal.len())).sum();
    let untied = all - ties;
    if untied <= 0.0 { 0.0 } else { (untied - 2.0 * inversions) / (untied * all).sqrt() }
}

/// Sorts, and counts pairs that were in the wrong order.
fn inversions<T: Ord + Copy>(values: &mut [T], buffer: &mut [T]) -> u64 {
    let len = values.len();
    if len < 2 {
        return 0;
    }
    let middle = len / 2;
    let mut count = {
        let (left, right) = values.split_at_mut(middle);
        let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
        inversions(left, left_buffer) + inversions(right, right_buffer)
    };
    let (mut left, mut right) = (0, middle);
    for slot in buffer.iter_mut() {
        if left < middle && (right >= len || values[left] <= values[right]) {
            *slot = values[left];
            left += 1;
        } else {
            *slot = values[right];
            right += 1;
            count += (middle - left) as u64;
        }
    }
    values.copy_from_slice(buffer);
    count
}

/// The share of neighbours that do not descend.
fn ascending(ranks: &[u32]) -> f64 {
    if ranks.len() < 2 {
        return 0.0;
    }
    let up = ranks.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    len_f64(up) / len_f64(ranks.len() - 1)
}

/// The effective number of places, mean and least over the windows; 0 where there are too few keys. As `collect` measures whole keys, on
/// ranks, which is faster. Ranks are dense: none above the number of keys.
fn spread(ranks: &[u32]) -> (f64, f64) {
    let window = WINDOW.min(ranks.len() / 4);
    if window < 16 {
        return (0.0, 0.0);
    }
    let places = ranks.iter().max().map_or(0, |rank| *rank as usize + 1);
    let mut earlier = vec![0u32; places];
    let mut range_of = vec![0u32; places];
    let (mut sum, mut least, mut windows) = (0.0, f64::INFINITY, 0.0);
    for (at, keys) in ranks.chunks_exact(window).enumerate() {
        if at > 0 {
            cut_into_ranges(&earlier, at * window, &mut range_of);
            let mut counts = [0u64; RANGES];
            for rank in keys {
                counts[range_of[*rank as usize] as usize] += 1;
            }
            sum += collect::n_eff(&counts);
            least = least.min(collect::n_eff_plain(&counts));
            windows += 1.0;
        }
        for rank in keys {
            earlier[*rank as usize] += 1;
        }
    }
    if windows > 0.0 { (sum / windows, least) } else { (0.0, 0.0) }
}

/// For each rank its range, where the earlier keys are cut into [`RANGES`] of equal count: a range begins at the key with the index
/// `i n / ranges`, `i` from 1; equal beginnings are one range.
fn cut_into_ranges(earlier: &[u32], total: usize, range_of: &mut [u32]) {
    let mut before = 0usize;
    let mut next = 1usize;
    let mut range = 0u32;
    for (slot, count) in range_of.iter_mut().zip(earlier) {
        before += *count as usize;
        let mut begins = false;
        while next < RANGES && next * total / RANGES < before {
            begins = true;
            next += 1;
        }
        range += u32::from(begins);
        *slot = range;
    }
}

/// For each key the number of its group: keys are in one group if these slices are equal.
pub(super) fn groups<'k>(parts: impl Iterator<Item = &'k [u8]>) -> Vec<u32> {
    // Numbers go by first occurrence, so that the map's order does not matter.
    let mut numbers: HashMap<&[u8], u32> = HashMap::new();
    parts
        .map(|part| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(part).or_insert(next)
        })
        .collect()
}
