//! Which tablet serves a key, among many tablets of which some are split all the time.
//!
//! ```text
//! tops    [ first of chunk 0 | first of chunk 1 | ... ]
//! chunk   [ 16 bytes of each start, behind what all starts share ] [ tablets ]      at most 256
//! ```
//!
//! A search looks at one line of `tops` and one chunk; whole keys are compared only where the 16 bytes are equal.

/// Some tablets in the order of their starts. Heads stand apart, so that a search loads nothing else.
#[derive(Debug, Clone, Default)]
struct Chunk {
    heads: Vec<u128>,
    tablets: Vec<u32>,
}

impl Chunk {
    fn insert(&mut self, at: usize, head: u128, tablet: u32) {
        self.heads.insert(at, head);
        self.tablets.insert(at, tablet);
    }

    fn split_off(&mut self, at: usize) -> Self {
        Self { heads: self.heads.split_off(at), tablets: self.tablets.split_off(at) }
    }

    /// The last that starts at or before a key, given by its head; the first if there is none.
    #[inline]
    fn find(&self, head: u128, key: &[u8], starts: &[Box<[u8]>]) -> usize {
        let mut behind = self.heads.partition_point(|&start| start <= head);
        // Where heads are equal, whole keys decide.
        while behind > 1
            && self.heads[behind - 1] == head
            && *starts[self.tablets[behind - 1] as usize] > *key
        {
            behind -= 1;
        }
        behind.saturating_sub(1)
    }
}

/// Where a tablet stands in the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    chunk: usize,
    at: usize,
}

/// Tablets in the order of their starts. The first starts with the empty key.
#[derive(Debug, Clone)]
pub(super) struct Index {
    tops: Chunk,
    chunks: Vec<Chunk>,
    /// What all starts but the empty one begin with.
    common: Vec<u8>,
    starts: Vec<Box<[u8]>>,
}

const CHUNK_MAX: usize = 256;

impl Index {
    /// Tablets 0, 1, ... cut at these keys, which are ascending, not empty and without duplicates.
    pub(super) fn new(split_points: &[Vec<u8>]) -> Self {
        let mut starts: Vec<Box<[u8]>> = vec![Box::default()];
        starts.extend(split_points.iter().map(|point| point.as_slice().into()));
        let mut index = Self { tops: Chunk::default(), chunks: Vec::new(), common: Vec::new(), starts };
        let order: Vec<u32> = (0..u32::try_from(index.starts.len()).unwrap_or(u32::MAX)).collect();
        index.build(&order);
        index
    }

    fn build(&mut self, order: &[u32]) {
        let mut common = self.starts.iter().filter(|start| !start.is_empty());
        let mut shared: Vec<u8> = common.next().map_or_else(Vec::new, |start| start.to_vec());
        for start in common {
            let same = shared.iter().zip(start).take_while(|(a, b)| a == b).count();
            shared.truncate(same);
        }
        self.common = shared;
        self.chunks.clear();
        self.tops = Chunk::default();
        for tablets in order.chunks(CHUNK_MAX / 2) {
            let heads: Vec<u128> = tablets.iter().map(|&tablet| self.head(tablet)).collect();
            self.tops.insert(self.chunks.len(), heads[0], tablets[0]);
            self.chunks.push(Chunk { heads, tablets: tablets.to_vec() });
        }
    }

    fn head(&self, tablet: u32) -> u128 {
        let start = &self.starts[tablet as usize];
        if start.is_empty() { 0 } else { head_of(&start[self.common.len()..]) }
    }

    /// The first key of a tablet.
    pub(super) fn start(&self, tablet: u32) -> &[u8] {
        &self.starts[tablet as usize]
    }

    /// The tablet at a place.
    pub(super) fn tablet(&self, place: Place) -> u32 {
        self.chunks[place.chunk].tablets[place.at]
    }

    /// The place behind this one.
    pub(super) fn next(&self, place: Place) -> Option<Place> {
        if place.at + 1 < self.chunks[place.chunk].tablets.len() {
            return Some(Place { at: place.at + 1, ..place });
        }
        (place.chunk + 1 < self.chunks.len()).then_some(Place { chunk: place.chunk + 1, at: 0 })
    }

    /// The place of the tablet that serves `key`.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Place {
        let common = self.common.len();
        if key.len() < common || key[..common] != self.common[..] {
            let is_before = key < &self.common[..];
            let chunk = if is_before { 0 } else { self.chunks.len() - 1 };
            let at = if is_before { 0 } else { self.chunks[chunk].tablets.len() - 1 };
            return Place { chunk, at };
        }
        let head = head_of(&key[common..]);
        let chunk = self.tops.find(head, key, &self.starts);
        let at = self.chunks[chunk].find(head, key, &self.starts);
        Place { chunk, at }
    }

    /// Cuts a tablet at `key`. The new tablet, which is behind it; `None` if it is cut there already or the key is empty.
    pub(super) fn split(&mut self, key: &[u8]) -> Option<u32> {
        let place = self.find(key);
        if key.is_empty() || *self.starts[self.tablet(place) as usize] == *key {
            return None;
        }
        let tablet = u32::try_from(self.starts.len()).ok()?;
        self.starts.push(key.into());
        let is_first = self.starts.len() == 2;
        if is_first || !key.starts_with(&self.common) {
            let mut order: Vec<u32> = self.chunks.iter().flat_map(|chunk| &chunk.tablets).copied().collect();
            let before =
                self.chunks[..place.chunk].iter().map(|chunk| chunk.tablets.len()).sum::<usize>() + place.at;
            order.insert(before + 1, tablet);
            self.build(&order);
            return Some(tablet);
        }
        let head = self.head(tablet);
        self.chunks[place.chunk].insert(place.at + 1, head, tablet);
        if self.chunks[place.chunk].tablets.len() > CHUNK_MAX {
            let behind = self.chunks[place.chunk].split_off(CHUNK_MAX / 2);
            self.tops.insert(place.chunk + 1, behind.heads[0], behind.tablets[0]);
            self.chunks.insert(place.chunk + 1, behind);
        }
        Some(tablet)
    }
}

#[inline]
fn head_of(bytes: &[u8]) -> u128 {
    if let Some(head) = bytes.first_chunk::<16>() {
        return u128::from_be_bytes(*head);
    }
    let mut head = [0; 16];
    head[..bytes.len()].copy_from_slice(bytes);
    u128::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rowkey_store::tablet::TabletMap;

    #[test]
    fn many_splits_keep_the_order() {
        let mut index = Index::new(&[]);
        let mut points = Vec::new();
        let mut rng = rowkey_store::seeded::Seeded::new(3);
        for _ in 0..3_000 {
            let key = format!("shared prefix#{:05}", rng.below(100_000)).into_bytes();
            if index.split(&key).is_some() {
                points.push(key);
            }
        }
        let map = TabletMap::new(points.iter().cloned().map(Into::into).collect());
        for _ in 0..3_000 {
            let key = format!("shared prefix#{:05}", rng.below(100_000)).into_bytes();
            let place = index.find(&key);
            assert_eq!(index.start(index.tablet(place)), &map.range(map.find(&key)).start[..]);
            let behind = index.next(place).map(|place| index.start(index.tablet(place)).to_vec());
            assert_eq!(behind, map.range(map.find(&key)).end.map(|end| end.to_vec()));
        }
    }

    proptest! {
        #[test]
        fn it_finds_what_a_tablet_map_finds(
            points in prop::collection::vec(prop::collection::vec(0u8..3, 0..20), 0..8),
            splits in prop::collection::vec(prop::collection::vec(0u8..3, 0..20), 0..8),
            keys in prop::collection::vec(prop::collection::vec(0u8..3, 0..20), 1..8),
        ) {
            let mut map = TabletMap::new(points.into_iter().map(Into::into).collect());
            let points: Vec<Vec<u8>> = map.split_points().iter().map(|point| point.to_vec()).collect();
            let mut index = Index::new(&points);
            for split in splits {
                let expected = map.split(&split.clone().into()).is_some();
                prop_assert_eq!(index.split(&split).is_some(), expected);
            }
            prop_assert_eq!(index.starts.len(), map.count());
            for key in keys {
                let found = index.tablet(index.find(&key));
                prop_assert_eq!(index.start(found), &map.range(map.find(&key)).start[..]);
            }
        }
    }
}
