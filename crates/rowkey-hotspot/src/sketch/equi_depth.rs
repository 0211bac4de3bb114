//! Equal-count ranges of all keys so far: a uniform sample, kept sorted.

use super::{Ranges, Sample, short};

/// A sorted uniform sample of a stream of keys, to cut the stream into ranges of equal count.
///
/// Exact while the [`Sample`] is complete. From then on, with `m` sampled keys, the share of all keys below a sampled key is known with a
/// standard error of at most `0.5 / sqrt(m)`, and the share of a range of `1/b` of the keys with a relative one of at most `sqrt(b / m)`:
/// stratified sampling is never worse than simple sampling, of which these are the errors.
#[derive(Debug, Clone)]
pub struct EquiDepth {
    sample: Sample,
    /// Positions in the sample, by key; the first `order.len()` positions are in it.
    order: Vec<u32>,
    halvings: u32,
    pending: Vec<u32>,
}

impl EquiDepth {
    /// An empty one with the room of [`Sample::new`].
    pub fn new(seed: u64, keys_max: usize, bytes_max: usize) -> Self {
        let sample = Sample::new(seed, keys_max, bytes_max);
        Self { sample, order: Vec::new(), halvings: 0, pending: Vec::new() }
    }

    /// Offers the next key of the stream.
    #[inline]
    pub fn offer(&mut self, key: &[u8], time_ms: Option<i64>) {
        self.sample.offer(key, time_ms);
    }

    /// The sample, in order of arrival.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The sample alone.
    pub fn into_sample(self) -> Sample {
        self.sample
    }

    /// Whether keys came since the last [`EquiDepth::cut`]: any while the sample is complete, then as many as an eighth of one of `ranges`.
    pub fn is_stale(&self, ranges: u32) -> bool {
        let sorted = if self.halvings == self.sample.halvings() { self.order.len() } else { 0 };
        let came = self.sample.len() - sorted;
        let complete = self.sample.weight() == 1;
        came > 0 && (complete || came.saturating_mul(8 * ranges as usize) >= self.sample.len())
    }

    /// Sorts what came since the last time into the rest.
    fn sort(&mut self) {
        if self.halvings != self.sample.halvings() {
            self.halvings = self.sample.halvings();
            self.order.clear();
        }
        let sorted = self.order.len();
        let sample = &self.sample;
        self.pending.clear();
        self.pending.extend(short(sorted)..short(sample.len()));
        sort_by_key(sample, &mut self.pending);
        // From the greatest down: each moves what is greater than it to its final place.
        self.order.extend_from_slice(&self.pending);
        let mut end = sorted;
        for (below, new) in self.pending.iter().enumerate().rev() {
            let key = sample.key(*new as usize);
            let place = self.order[..end].partition_point(|old| sample.key(*old as usize) <= key);
            self.order.copy_within(place..end, place + below + 1);
            self.order[place + below] = *new;
            end = place;
        }
    }

    /// All positions in the sample, sorted by key, equal keys by arrival.
    pub fn order(&mut self) -> &[u32] {
        self.sort();
        &self.order
    }

    /// Cuts all keys so far into so many ranges of equal count. Equal cuts are one: there are fewer ranges if a key repeats often or keys are few.
    pub fn cut(&mut self, ranges: u32, into: &mut Ranges) {
        self.sort();
        let count = self.order.len();
        let parts = ranges.max(1) as usize;
        into.learn((1..parts).filter(|_| count > 0).map(|part| {
            // Below 2^26 keys and 2^32 parts: no overflow in 64 bits.
            self.sample.key(self.order[part * count / parts] as usize)
        }));
    }
}

/// Sorts positions by key, equal keys by position. Compares 8 bytes behind what all share before it compares keys.
fn sort_by_key(sample: &Sample, positions: &mut [u32]) {
    let Some((first, rest)) = positions.split_first() else { return };
    let first = sample.key(*first as usize);
    let mut shared = first.len();
    for position in rest {
        let key = sample.key(*position as usize);
        shared = first[..shared].iter().zip(key).take_while(|(left, right)| left == right).count();
    }
    let head = |position: u32| {
        let key = &sample.key(position as usize)[shared..];
        let mut bytes = [0; 8];
        let len = key.len().min(8);
        bytes[..len].copy_from_slice(&key[..len]);
        u64::from_be_bytes(bytes)
    };
    let mut heads: Vec<(u64, u32)> = positions.iter().map(|position| (head(*position), *position)).collect();
    heads.sort_unstable_by(|left, right| {
        left.0
            .cmp(&right.0)
            .then_with(|| sample.key(left.1 as usize).cmp(sample.key(right.1 as usize)))
            .then(left.1.cmp(&right.1))
    });
    for (position, (_, sorted)) in positions.iter_mut().zip(heads) {
        *position = sorted;
    }
}
