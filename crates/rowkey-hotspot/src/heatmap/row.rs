//! A row of the matrix: a range of keys, its sums over time, and a few of its keys, from which it knows where to be cut.

use super::metric::Values;
use super::series::{Entry, Series, add, merged, push_or_add};
use rowkey_store::seeded::Seeded;

/// Bytes of a key that count: longer keys are told apart by so many.
pub(super) const KEY_LEN_MAX: usize = 1_024;
/// Keys that a row remembers.
const SAMPLE_LEN_MAX: usize = 16;
/// Bytes of the keys that a row remembers.
const SAMPLE_BYTES_MAX: usize = 2_048;
/// Slots that a row keeps unpacked: operations that come a little late find theirs.
const TAIL_LEN_MAX: usize = 16;
/// Unpacked slots that stay when the others are packed.
const TAIL_LEN_KEPT: usize = 4;

/// A key that was seen, and when.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Its slot.
    pub(super) slot: i64,
    /// Its first bytes.
    pub(super) key: Box<[u8]>,
    /// What was counted with it.
    values: Values,
}

/// A row. Its range ends where the next row begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The first key.
    pub(super) start: Box<[u8]>,
    /// Operations counted, for deciding where to cut; halved as they grow old.
    pub(super) weight: u64,
    series: Series,
    tail: Vec<Entry>,
    sample: Vec<Seen>,
    sample_bytes: usize,
    seen: u64,
    /// Something was counted that the sample does not have.
    forgot: bool,
}

impl Row {
    pub(super) fn new(start: &[u8]) -> Self {
        Self { start: start.into(), ..Self::default() }
    }

    /// Bytes of memory beyond the struct itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.start.len()
            + self.series.heap_bytes()
            + self.tail.capacity() * size_of::<Entry>()
            + self.sample.capacity() * size_of::<Seen>()
            + self.sample_bytes
    }

    /// Adds sums to a slot.
    pub(super) fn add(&mut self, slot: i64, values: &Values) {
        if let Some(entry) = self.tail.iter_mut().rev().find(|entry| entry.slot == slot) {
            add(&mut entry.values, values);
            return;
        }
        if self.tail.len() >= TAIL_LEN_MAX {
            self.pack(TAIL_LEN_KEPT);
        }
        self.tail.push(Entry { slot, values: *values });
    }

    /// Packs all but the newest `kept` slots.
    fn pack(&mut self, kept: usize) {
        self.tail.sort_unstable_by_key(|entry| entry.slot);
        let packed = self.tail.len().saturating_sub(kept);
        let older = self.tail.drain(..packed);
        if older
            .as_slice()
            .first()
            .is_none_or(|first| self.series.last().is_none_or(|last| last < first.slot))
        {
            for entry in older {
                self.series.push(&entry);
            }
        } else {
            let all = merged(self.series.entries(), older);
            self.series = Series::new(&all);
        }
    }

    /// All its slots, ascending.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut tail = self.tail.clone();
        tail.sort_unstable_by_key(|entry| entry.slot);
        merged(self.series.entries(), tail.into_iter())
    }

    fn set_entries(&mut self, entries: &[Entry]) {
        self.series = Series::new(entries);
        self.tail = Vec::new();
    }

    /// Gives every slot a new number; slots that get the same one are added up. Order is kept.
    pub(super) fn renumber(&mut self, number: impl Fn(i64) -> i64) {
        let mut all = Vec::new();
        for entry in self.entries() {
            push_or_add(&mut all, Entry { slot: number(entry.slot), values: entry.values });
        }
        self.set_entries(&all);
        for seen in &mut self.sample {
            seen.slot = number(seen.slot);
        }
    }

    /// Offers a key, and what was counted with it, to the sample (Algorithm R; Vitter, 1985).
    pub(super) fn see(&mut self, slot: i64, key: &[u8], values: &Values, seeded: &mut Seeded) {
        self.seen = self.seen.saturating_add(1);
        let kept = self.sample.len() < SAMPLE_LEN_MAX || seeded.any() % self.seen < SAMPLE_LEN_MAX as u64;
        if kept {
            if self.sample.len() == SAMPLE_LEN_MAX {
                self.forget(seeded.below(SAMPLE_LEN_MAX));
            }
            let key = key[..key.len().min(KEY_LEN_MAX)].into();
            self.remember(Seen { slot, key, values: *values }, seeded);
        }
        self.forgot |= !kept;
    }

    fn remember(&mut self, seen: Seen, seeded: &mut Seeded) {
        self.sample_bytes += seen.key.len();
        self.sample.push(seen);
        // The new key stays, so that the sample follows what comes.
        while self.sample_bytes > SAMPLE_BYTES_MAX && self.sample.len() > 1 {
            self.forget(seeded.below(self.sample.len() - 1));
        }
    }

    fn forget(&mut self, at: usize) {
        self.forgot = true;
        let seen = self.sample.swap_remove(at);
        self.sample_bytes -= seen.key.len();
    }

    /// The smallest key that it remembers.
    pub(super) fn example(&self) -> Option<&[u8]> {
        self.sample.iter().map(|seen| &*seen.key).min()
    }

    /// Cuts off the upper part at the key next to the middle of the sample. `None`: it has seen too few different keys.
    pub(super) fn split(&mut self) -> Option<Self> {
        if self.sample.len() < SAMPLE_LEN_MAX / 2 && self.sample_bytes < SAMPLE_BYTES_MAX / 2 {
            return None;
        }
        self.sample.sort_by(|a, b| a.key.cmp(&b.key).then(a.slot.cmp(&b.slot)));
        let middle = self.sample.len() / 2;
        let places = (1..self.sample.len()).filter(|&at| self.sample[at - 1].key != self.sample[at].key);
        let at = places.min_by_key(|&at| at.abs_diff(middle))?;
        let start = separator(&self.sample[at - 1].key, &self.sample[at].key);
        let upper = self.sample.split_off(at);
        let (below, above) = if self.forgot {
            Cut::new(&self.sample, &upper).all(&self.entries())
        } else {
            (counted(&self.sample), counted(&upper))
        };
        let bytes = |sample: &[Seen]| sample.iter().map(|seen| seen.key.len()).sum::<usize>();
        let upper_seen = proportion(self.seen, upper.len() as u64, (upper.len() + self.sample.len()) as u64);
        let upper_weight =
            proportion(self.weight, upper.len() as u64, (upper.len() + self.sample.len()) as u64);
        let above = Self {
            start,
            weight: upper_weight,
            series: Series::new(&above),
            tail: Vec::new(),
            sample_bytes: bytes(&upper),
            seen: upper_seen.max(upper.len() as u64),
            sample: upper,
            forgot: self.forgot,
        };
        self.set_entries(&below);
        self.weight -= upper_weight;
        self.sample_bytes = bytes(&self.sample);
        self.seen = (self.seen - upper_seen).max(self.sample.len() as u64);
        Some(above)
    }

    /// Takes in the row behind it.
    pub(super) fn absorb(&mut self, next: &Self, seeded: &mut Seeded) {
        let all = merged(self.entries().into_iter(), next.entries().into_iter());
        self.set_entries(&all);
        self.weight = self.weight.saturating_add(next.weight);
        // As many keys of each as it has seen its part of all.
        let seen = self.seen.saturating_add(next.seen);
        let mut pools = [std::mem::take(&mut self.sample), next.sample.clone()];
        self.sample_bytes = 0;
        while self.sample.len() < SAMPLE_LEN_MAX {
            let from_next = seeded.any() % seen.max(1) < next.seen;
            let pool = if pools[usize::from(from_next)].is_empty() {
                usize::from(!from_next)
            } else {
                usize::from(from_next)
            };
            if pools[pool].is_empty() {
                break;
            }
            let taken = seeded.below(pools[pool].len());
            let taken = pools[pool].swap_remove(taken);
            self.remember(taken, seeded);
        }
        self.seen = seen;
        self.forgot |= next.forgot || pools.iter().any(|pool| !pool.is_empty());
    }
}

/// What was counted with these keys, by slot.
fn counted(sample: &[Seen]) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        sample.iter().map(|seen| Entry { slot: seen.slot, values: seen.values }).collect();
    entries.sort_by_key(|entry| entry.slot);
    let mut added = Vec::with_capacity(entries.len());
    for entry in entries {
        push_or_add(&mut added, entry);
    }
    added
}

/// The shortest prefix of `above` that is greater than `below`, which is less than it.
fn separator(below: &[u8], above: &[u8]) -> Box<[u8]> {
    let common = below.iter().zip(above).take_while(|(a, b)| a == b).count();
    above[..(common + 1).min(above.len())].into()
}

/// `part / whole` of a value, rounded down.
fn proportion(value: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(value) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// How what a row has counted is shared when it is cut.
#[derive(Debug, PartialEq, Eq)]
enum Share {
    /// The lower keys came first (a front that moves up), or last: all before this slot belongs to one side, all behind it to the
    /// other, and the slot itself is shared.
    ByTime { turn: i64, lower_first: bool },
    /// In proportion to the sample.
    BySample,
}

/// A cut's proportions.
#[derive(Debug)]
struct Cut {
    kind: Share,
    lower: u64,
    all: u64,
    /// What rounding kept back from the lower part so far, in parts of `all`: small sums add up to their share.
    carried: Values,
}

/// The first and last slot of a sample, its most deviating members left out: one in eight at either end, so that jitter and late
/// data do not hide a front.
fn times(sample: &[Seen]) -> (i64, i64) {
    let mut slots: Vec<i64> = sample.iter().map(|seen| seen.slot).collect();
    slots.sort_unstable();
    let cut = slots.len() / 8;
    let last = slots.len().saturating_sub(1 + cut);
    (slots.get(cut).copied().unwrap_or_default(), slots.get(last).copied().unwrap_or_default())
}

impl Cut {
    fn new(lower: &[Seen], upper: &[Seen]) -> Self {
        let (low, high) = (times(lower), times(upper));
        let all = (lower.len() + upper.len()) as u64;
        let kind = if low.1 <= high.0 && low.0 < high.1 {
            Share::ByTime { turn: low.1 + (high.0 - low.1) / 2, lower_first: true }
        } else if high.1 <= low.0 && high.0 < low.1 {
            Share::ByTime { turn: high.1 + (low.0 - high.1) / 2, lower_first: false }
        } else {
            Share::BySample
        };
        Self { kind, lower: lower.len() as u64, all, carried: Values::default() }
    }

    /// The two parts of all slots.
    fn all(mut self, entries: &[Entry]) -> (Vec<Entry>, Vec<Entry>) {
        let (mut below, mut above) = (Vec::new(), Vec::new());
        for entry in entries {
            let (left, right) = self.cut(entry);
            below.extend(left);
            above.extend(right);
        }
        (below, above)
    }

    /// The lower part's share of sums.
    fn shared(&mut self, values: &Values) -> Values {
        let mut lower = *values;
        for (value, carried) in lower.iter_mut().zip(&mut self.carried) {
            let whole = u128::from(*value) * u128::from(self.lower) + u128::from(*carried);
            let all = u128::from(self.all.max(1));
            *carried = u64::try_from(whole % all).unwrap_or_default();
            // The carry may make it one more than there is.
            *value = u64::try_from(whole / all).unwrap_or(u64::MAX).min(*value);
        }
        lower
    }

    /// The two parts of a slot's sums. They add up to it.
    fn cut(&mut self, entry: &Entry) -> (Option<Entry>, Option<Entry>) {
        let lower = match self.kind {
            Share::ByTime { turn, lower_first } if entry.slot != turn => {
                if (entry.slot < turn) == lower_first { entry.values } else { Values::default() }
            }
            _ => self.shared(&entry.values),
        };
        let mut upper = entry.values;
        for (upper, lower) in upper.iter_mut().zip(lower) {
            *upper -= lower;
        }
        let some = |values: Values| {
            values.iter().any(|&value| value > 0).then_some(Entry { slot: entry.slot, values })
        };
        (some(lower), some(upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(keys: &[(i64, &str)]) -> Row {
        let mut row = Row::new(b"");
        let mut seeded = Seeded::new(1);
        for &(slot, key) in keys {
            row.add(slot, &[1, 0, 0, 0, 0, 0]);
            row.see(slot, key.as_bytes(), &[1, 0, 0, 0, 0, 0], &mut seeded);
            row.weight += 1;
        }
        row
    }

    fn shown(row: &Row) -> Vec<(i64, u64)> {
        row.entries().iter().map(|entry| (entry.slot, entry.values[0])).collect()
    }

    #[test]
    fn a_moving_front_is_cut_in_time_as_well() {
        let keys: Vec<String> = (0..12).map(|at| format!("k{at:02}")).collect();
        let up: Vec<(i64, &str)> = (0..).zip(&keys).map(|(at, key)| (at, key.as_str())).collect();
        let mut lower = row(&up);
        let upper = lower.split().unwrap();
        assert_eq!(&*upper.start, b"k06");
        assert_eq!(shown(&lower).iter().map(|slot| slot.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(shown(&upper).len() + shown(&lower).len(), 12);
        assert_eq!((lower.weight, upper.weight), (6, 6));
        // The other way round.
        let down: Vec<(i64, &str)> = up.iter().map(|&(slot, key)| (11 - slot, key)).collect();
        let mut lower = row(&down);
        let upper = lower.split().unwrap();
        assert!(shown(&lower)[0].0 > shown(&upper)[0].0);
    }

    #[test]
    fn mixed_traffic_is_cut_in_proportion_and_nothing_is_lost() {
        let mut lower =
            row(&[(1, "a"), (1, "b"), (1, "x"), (2, "a"), (2, "y"), (2, "b"), (3, "z"), (3, "a"), (3, "x")]);
        let upper = lower.split().unwrap();
        let (below, above) = (shown(&lower), shown(&upper));
        assert_eq!(below.iter().chain(&above).map(|slot| slot.1).sum::<u64>(), 9);
        assert_eq!(below.iter().map(|slot| slot.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(above.iter().map(|slot| slot.0).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn few_operations_are_cut_exactly_and_many_in_proportion() {
        let few = [(1, "a"), (2, "a"), (2, "b"), (2, "b"), (5, "c"), (1, "d"), (3, "d"), (3, "e"), (9, "e")];
        let mut lower = row(&few);
        let upper = lower.split().unwrap();
        assert_eq!(&*upper.start, b"c");
        assert_eq!(shown(&lower), [(1, 1), (2, 3)]);
        assert_eq!(shown(&upper), [(1, 1), (3, 2), (5, 1), (9, 1)]);
        // One operation a slot: what rounding takes from a part comes back to it in a later slot.
        let many: Vec<(i64, &str)> = (0..400).zip(["a", "b", "y", "z"].into_iter().cycle()).collect();
        let mut lower = row(&many);
        let upper = lower.split().unwrap();
        let (below, above) = (shown(&lower).len(), shown(&upper).len());
        assert_eq!(below + above, 400);
        assert!((80..320).contains(&below), "{below}");
    }

    #[test]
    fn one_key_cannot_be_cut_and_a_hot_key_is_cut_free() {
        let mut single = row(&[(1, "same"); 20]);
        assert!(single.split().is_none());
        let mut hot =
            row(&[(1, "a"), (1, "k"), (1, "k"), (1, "k"), (1, "k"), (1, "k"), (1, "k"), (1, "m"), (1, "z")]);
        let mut upper = hot.split().unwrap();
        assert_eq!(&*upper.start, b"k");
        let above = upper.split().unwrap();
        assert_eq!(&*above.start, b"m");
        assert!(row(&[(1, "a"), (2, "b")]).split().is_none(), "two keys are no sample");
    }

    #[test]
    fn late_operations_find_their_slot_and_merging_two_rows_adds_up() {
        let mut row = Row::new(b"");
        for slot in (0..100).chain((0..100).rev()).chain([50, 3, 50]) {
            row.add(slot, &[1, 0, 7, 0, 0, 0]);
        }
        let entries = row.entries();
        assert_eq!(entries.len(), 100);
        assert_eq!((entries[50].values[0], entries[3].values[0], entries[4].values[2]), (4, 3, 14));
        let mut other = Row::new(b"x");
        other.add(50, &[1, 0, 0, 0, 0, 0]);
        other.see(50, b"xx", &[1, 0, 0, 0, 0, 0], &mut Seeded::new(1));
        row.absorb(&other, &mut Seeded::new(1));
        assert_eq!(row.entries()[50].values[0], 5);
        assert_eq!(row.example(), Some(&b"xx"[..]));
        row.renumber(|slot| slot / 50);
        assert_eq!(shown(&row), [(0, 101), (1, 103)]);
    }

    #[test]
    fn long_keys_take_no_more_than_their_share_of_memory() {
        let mut row = Row::new(b"");
        let mut seeded = Seeded::new(7);
        for at in 0..1_000 {
            let key = format!("{at:05}{}", "x".repeat(9_000));
            row.see(at, key.as_bytes(), &[1, 0, 0, 0, 0, 0], &mut seeded);
        }
        assert!(row.sample_bytes <= SAMPLE_BYTES_MAX);
        assert!(row.split().is_some());
        assert_eq!(&*separator(b"ab", b"abc"), b"abc");
        assert_eq!(&*separator(b"abx", b"acyz"), b"ac");
    }
}
