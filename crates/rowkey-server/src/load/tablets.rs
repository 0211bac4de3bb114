//! The tablets of one table, as the engine has them, each with its load of the last minute and its place on a virtual node.
//!
//! Sums are exact. Where a tablet is cut, what it had counted is shared between its parts as its latest keys say; both add up to it.

use super::answer::{Sums, TabletState};
use rowkey_store::tablet::{self, TabletMap, WeightSample};
use rowkey_store::{RowKey, RowRange};

/// Milliseconds of a slot of [`Recent`], and the number of slots: together a minute.
const SLOT_MS: i64 = 5_000;
const SLOTS: usize = 12;
const SLOT_COUNT: i64 = 12;
/// A scan over more tablets than these is booked to the first of them, as in the simulator.
const SPANNED_MAX: usize = 256;
/// Keys remembered of a tablet that may be cut.
const KEYS_MAX: usize = 128;

/// Sums of the last 60 seconds (55 to 60), in slots of 5 seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    slots: [Sums; SLOTS],
    /// The number of the newest slot, since the epoch.
    newest: i64,
}

impl Recent {
    /// Adds to the slot of a time, or to the newest one if that is later.
    fn add(&mut self, time_ms: i64, sums: &Sums) {
        self.reach(time_ms.div_euclid(SLOT_MS));
        self.slots[place(self.newest)].add(sums);
    }

    fn reach(&mut self, slot: i64) {
        if slot <= self.newest {
            return;
        }
        let passed = slot.saturating_sub(self.newest);
        if passed >= SLOT_COUNT {
            self.slots = Default::default();
        } else {
            for at in self.newest + 1..=slot {
                self.slots[place(at)] = Sums::default();
            }
        }
        self.newest = slot;
    }

    /// The sums of the minute that ends now.
    pub(super) fn minute(&self, now_ms: i64) -> Sums {
        let oldest = now_ms.div_euclid(SLOT_MS).saturating_sub(SLOT_COUNT);
        let mut sums = Sums::default();
        for back in 0..SLOT_COUNT {
            let slot = self.newest.saturating_sub(back);
            if slot > oldest {
                sums.add(&self.slots[place(slot)]);
            }
        }
        sums
    }

    /// Gives away the part `behind / all`.
    fn cut(&mut self, behind: u64, all: u64) -> Self {
        let mut other = Self { newest: self.newest, ..Self::default() };
        for (own, other) in self.slots.iter_mut().zip(&mut other.slots) {
            *other = part_of(own, behind, all);
        }
        other
    }

    fn absorb(&mut self, other: &Self) {
        self.reach(other.newest);
        for back in 0..SLOT_COUNT {
            let slot = other.newest.saturating_sub(back);
            if slot > self.newest.saturating_sub(SLOT_COUNT) {
                self.slots[place(slot)].add(&other.slots[place(slot)]);
            }
        }
    }
}

fn place(slot: i64) -> usize {
    usize::try_from(slot.rem_euclid(SLOT_COUNT)).unwrap_or(0)
}

/// Takes the part `behind / all` out of sums, rounded down.
fn part_of(own: &mut Sums, behind: u64, all: u64) -> Sums {
    let mut other = Sums::default();
    for (own, other) in own.all_mut().into_iter().zip(other.all_mut()) {
        let part = u128::from(*own) * u128::from(behind) / u128::from(all.max(1));
        *other = u64::try_from(part).unwrap_or(*own).min(*own);
        *own -= *other;
    }
    other
}

/// One tablet.
#[derive(Debug, Clone, Default)]
pub(super) struct Tablet {
    /// The node that serves it.
    pub(super) node: u32,
    /// Its load of the last minute.
    pub(super) recent: Recent,
    /// What was counted since the server was started.
    pub(super) totals: Sums,
    /// The open minute (minutes since the epoch), and what was counted in it.
    pub(super) open: (i64, Sums),
    /// From when on it has been busy without a pause.
    pub(super) busy_since_ms: Option<i64>,
    /// It is not cut by load before this time.
    pub(super) rests_until_ms: i64,
    /// How it stands with cuts by load.
    pub(super) state: TabletState,
    /// The keys of its latest operations, once it may be cut: a ring.
    keys: Option<Box<Keys>>,
}

/// The latest keys.
#[derive(Debug, Clone, Default)]
struct Keys {
    keys: Vec<Box<[u8]>>,
    next: usize,
}

impl Keys {
    fn push(&mut self, key: &[u8]) {
        if self.keys.len() < KEYS_MAX {
            self.keys.push(key.into());
            return;
        }
        let slot = &mut self.keys[self.next];
        if slot.len() == key.len() {
            slot.copy_from_slice(key);
        } else {
            *slot = key.into();
        }
        self.next = (self.next + 1) % KEYS_MAX;
    }

    fn keep(&mut self, is_kept: impl Fn(&[u8]) -> bool) {
        self.keys.retain(|key| is_kept(key));
        self.next = 0;
    }
}

impl Tablet {
    /// From now on its keys are remembered, or no longer.
    pub(super) fn watch(&mut self, is_watched: bool) {
        if !is_watched {
            self.keys = None;
        } else if self.keys.is_none() {
            self.keys = Some(Box::default());
        }
    }

    /// The keys of its latest operations, each with how often it came: where to cut it.
    pub(super) fn samples(&self) -> Vec<WeightSample> {
        tablet::samples(self.keys.iter().flat_map(|keys| keys.keys.iter().map(|key| &**key)))
    }

    /// Cuts off what lies at and behind `key`.
    fn cut(&mut self, key: &[u8]) -> Self {
        let (behind, all) = match &self.keys {
            Some(keys) if !keys.keys.is_empty() => {
                (keys.keys.iter().filter(|known| ***known >= *key).count() as u64, keys.keys.len() as u64)
            }
            _ => (1, 2),
        };
        let mut keys = self.keys.clone();
        if let (Some(lower), Some(upper)) = (&mut self.keys, &mut keys) {
            lower.keep(|known| known < key);
            upper.keep(|known| known >= key);
        }
        Self {
            node: self.node,
            recent: self.recent.cut(behind, all),
            totals: part_of(&mut self.totals, behind, all),
            open: (self.open.0, part_of(&mut self.open.1, behind, all)),
            busy_since_ms: self.busy_since_ms,
            rests_until_ms: self.rests_until_ms,
            state: self.state,
            keys,
        }
    }

    fn absorb(&mut self, next: &Self) {
        self.recent.absorb(&next.recent);
        self.totals.add(&next.totals);
        self.open.0 = self.open.0.max(next.open.0);
        self.open.1.add(&next.open.1);
    }
}

/// A minute of one tablet that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Closed {
    /// Minutes since the epoch.
    pub(super) minute: i64,
    pub(super) range: RowRange,
    pub(super) node: u32,
    pub(super) sums: Sums,
}

/// All tablets of a table.
#[derive(Debug, Clone)]
pub(super) struct Tablets {
    map: TabletMap,
    tablets: Vec<Tablet>,
}

impl Default for Tablets {
    fn default() -> Self {
        Self { map: TabletMap::default(), tablets: vec![Tablet::default()] }
    }
}

impl Tablets {
    pub(super) fn count(&self) -> usize {
        self.tablets.len()
    }

    pub(super) fn range(&self, tablet: usize) -> RowRange {
        self.map.range(tablet)
    }

    pub(super) fn find(&self, key: &[u8]) -> usize {
        self.map.find(key)
    }

    pub(super) fn all(&self) -> &[Tablet] {
        &self.tablets
    }

    pub(super) fn all_mut(&mut self) -> &mut [Tablet] {
        &mut self.tablets
    }

    /// Has the engine's tablets from now on. Whether they are others than before.
    pub(super) fn refresh(&mut self, split_points: &[RowKey]) -> bool {
        if self.map.split_points() == split_points {
            return false;
        }
        let wanted = TabletMap::new(split_points.to_vec());
        let mut at = 0;
        let mut points: Vec<RowKey> = self.map.split_points().to_vec();
        while at < points.len() {
            if wanted.split_points().binary_search(&points[at]).is_ok() {
                at += 1;
                continue;
            }
            points.remove(at);
            let gone = self.tablets.remove(at + 1);
            self.tablets[at].absorb(&gone);
        }
        self.map = TabletMap::new(points);
        for point in wanted.split_points() {
            if let Some(tablet) = self.map.split(point) {
                let behind = self.tablets[tablet].cut(point);
                self.tablets.insert(tablet + 1, behind);
            }
        }
        true
    }

    /// Counts an operation on one key.
    pub(super) fn add(&mut self, time_ms: i64, key: &[u8], sums: &Sums, closed: &mut Vec<Closed>) {
        let tablet = self.map.find(key);
        self.add_to(tablet, time_ms, key, sums, closed);
    }

    /// Counts a scan of `start..end`: shared evenly by the tablets that it read.
    pub(super) fn add_scan(
        &mut self,
        time_ms: i64,
        (start, end): (&[u8], Option<&[u8]>),
        sums: &Sums,
        closed: &mut Vec<Closed>,
    ) {
        let first = self.map.find(start);
        // The end is not read: a scan that ends where a tablet begins does not reach it.
        let behind = end.map_or(self.tablets.len(), |end| {
            self.map.split_points().partition_point(|point| &point[..] < end) + 1
        });
        let behind = behind.clamp(first + 1, first + SPANNED_MAX);
        let mut rest = *sums;
        for tablet in first..behind {
            let part = part_of(&mut rest, 1, (behind - tablet) as u64);
            let key = if tablet == first { start } else { &[] };
            let key = if key.is_empty() { self.start(tablet).to_vec() } else { key.to_vec() };
            self.add_to(tablet, time_ms, &key, &part, closed);
        }
    }

    /// The first key of a tablet.
    fn start(&self, tablet: usize) -> &[u8] {
        tablet.checked_sub(1).and_then(|before| self.map.split_points().get(before)).map_or(&[], |key| key)
    }

    fn add_to(&mut self, at: usize, time_ms: i64, key: &[u8], sums: &Sums, closed: &mut Vec<Closed>) {
        self.close(at, time_ms.div_euclid(60_000), closed);
        let tablet = &mut self.tablets[at];
        tablet.recent.add(time_ms, sums);
        tablet.totals.add(sums);
        tablet.open.1.add(sums);
        if let Some(keys) = &mut tablet.keys {
            keys.push(key);
        }
    }

    /// Closes the open minute of a tablet if it is before `minute`.
    fn close(&mut self, at: usize, minute: i64, closed: &mut Vec<Closed>) {
        let tablet = &mut self.tablets[at];
        if tablet.open.0 >= minute {
            return;
        }
        let (was, sums) = std::mem::replace(&mut tablet.open, (minute, Sums::default()));
        if sums != Sums::default() {
            let node = tablet.node;
            closed.push(Closed { minute: was, range: self.map.range(at), node, sums });
        }
    }

    /// Closes all open minutes before `minute`.
    pub(super) fn close_all(&mut self, minute: i64, closed: &mut Vec<Closed>) {
        for at in 0..self.tablets.len() {
            self.close(at, minute, closed);
        }
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let keys = |tablet: &Tablet| {
            tablet.keys.as_ref().map_or(0, |keys| keys.keys.iter().map(|key| key.len() + 16).sum::<usize>())
        };
        let points: usize =
            self.map.split_points().iter().map(|point| point.len() + size_of::<RowKey>()).sum();
        points + self.tablets.capacity() * size_of::<Tablet>() + self.tablets.iter().map(keys).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(writes: u64) -> Sums {
        Sums { writes, work_ns: writes * 100, ..Sums::default() }
    }

    fn points(keys: &[&'static str]) -> Vec<RowKey> {
        keys.iter().map(|key| RowKey::from(*key)).collect()
    }

    fn writes(tablets: &Tablets) -> Vec<u64> {
        tablets.all().iter().map(|tablet| tablet.totals.writes).collect()
    }

    #[test]
    fn a_minute_is_forgotten_slot_by_slot() {
        let mut recent = Recent::default();
        for second in 0..60 {
            recent.add(second * 1_000, &sums(1));
        }
        assert_eq!(recent.minute(59_999).writes, 60);
        assert_eq!(recent.minute(60_000).writes, 55);
        assert_eq!(recent.minute(90_000).writes, 25);
        assert_eq!(recent.minute(115_000).writes, 0);
        recent.add(300_000, &sums(7));
        // What comes late counts as the newest.
        recent.add(20_000, &sums(1));
        assert_eq!(recent.minute(300_000).writes, 8);
    }

    #[test]
    fn cuts_and_merges_lose_nothing() {
        let mut tablets = Tablets::default();
        let mut closed = Vec::new();
        tablets.all_mut()[0].watch(true);
        for (number, key) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
            tablets.add(1_000, key.as_bytes(), &sums(number as u64 + 1), &mut closed);
        }
        assert!(tablets.refresh(&points(&["c"])));
        assert!(!tablets.refresh(&points(&["c"])));
        // Three of five keys lie behind: three fifths of 15.
        assert_eq!(writes(&tablets), [6, 9]);
        let minute: u64 = tablets.all().iter().map(|tablet| tablet.recent.minute(1_000).writes).sum();
        assert_eq!(minute, 15);
        tablets.add(2_000, b"c", &sums(1), &mut closed);
        assert_eq!(writes(&tablets), [6, 10]);
        assert!(tablets.refresh(&points(&["b", "d"])));
        assert_eq!(writes(&tablets).iter().sum::<u64>(), 16);
        assert!(tablets.refresh(&[]));
        assert_eq!((writes(&tablets), tablets.all()[0].recent.minute(2_000).writes), (vec![16], 16));
        tablets.close_all(1, &mut closed);
        assert_eq!((closed.len(), closed[0].minute, closed[0].sums.writes), (1, 0, 16));
    }

    #[test]
    fn a_scan_is_shared_by_the_tablets_that_it_read() {
        let mut tablets = Tablets::default();
        let mut closed = Vec::new();
        tablets.refresh(&points(&["b", "d", "f"]));
        let check = |tablets: &mut Tablets, range: (&[u8], Option<&[u8]>), expected: [u64; 4]| {
            let before = writes(tablets);
            tablets.add_scan(0, range, &sums(10), &mut Vec::new());
            let added: Vec<u64> =
                writes(tablets).iter().zip(before).map(|(now, before)| now - before).collect();
            assert_eq!(added, expected, "{range:?}");
        };
        check(&mut tablets, (b"", None), [2, 2, 3, 3]);
        check(&mut tablets, (b"a", Some(b"b")), [10, 0, 0, 0]);
        check(&mut tablets, (b"a", Some(b"c")), [5, 5, 0, 0]);
        check(&mut tablets, (b"c", Some(b"f")), [0, 5, 5, 0]);
        check(&mut tablets, (b"x", Some(b"a")), [0, 0, 0, 10]);
        tablets.close_all(1, &mut closed);
        assert_eq!(closed.len(), 4);
    }
}
