//! A tablet in the simulation: its load as counted, its bytes, and, once it may be cut, samples of its keys.

use super::finder::Finder;
use rowkey_store::seeded::Seeded;

/// What drawn operations put on something: sums over draws, older ones counting less.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Load {
    /// Draws that touched it.
    pub(super) pieces: f64,
    /// Writes and deletes.
    pub(super) writes: f64,
    /// Reads and scans; a scan over several tablets counts in parts.
    pub(super) reads: f64,
    /// Node seconds.
    pub(super) work: f64,
}

impl Load {
    pub(super) fn ops(&self) -> f64 {
        self.writes + self.reads
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        self.pieces += other.pieces * factor;
        self.writes += other.writes * factor;
        self.reads += other.reads * factor;
        self.work += other.work * factor;
    }

    pub(super) fn scaled(mut self, factor: f64) -> Self {
        let before = self;
        self.add(&before, factor - 1.0);
        self
    }
}

/// [`Load`] of one of many tablets: half the memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SmallLoad {
    pieces: f32,
    writes: f32,
    reads: f32,
    work: f32,
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits are more than a sample tells")]
impl SmallLoad {
    #[inline]
    pub(super) fn add(&mut self, other: &Load) {
        self.pieces += other.pieces as f32;
        self.writes += other.writes as f32;
        self.reads += other.reads as f32;
        self.work += other.work as f32;
    }

    #[inline]
    pub(super) fn get(&self) -> Load {
        Load {
            pieces: self.pieces.into(),
            writes: self.writes.into(),
            reads: self.reads.into(),
            work: self.work.into(),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, load: &Load) {
        *self = Self::default();
        self.add(load);
    }
}

/// A tablet. In one line of the processor's cache, since draws touch tablets in no order.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Tablet {
    /// The node that serves it.
    pub(super) node: u32,
    /// The second in which it was touched last.
    pub(super) touched: u32,
    /// Its load, as the average of the latest minutes.
    pub(super) load: SmallLoad,
    /// What was drawn for it in this second.
    pub(super) fresh: SmallLoad,
    /// Bytes stored.
    pub(super) bytes: f64,
    /// What is kept of it once it may be cut.
    pub(super) hot: Option<Box<Hot>>,
}

impl Tablet {
    pub(super) fn new(node: u32, bytes: f64) -> Self {
        Self {
            node,
            touched: u32::MAX,
            load: SmallLoad::default(),
            fresh: SmallLoad::default(),
            bytes,
            hot: None,
        }
    }

    /// Counts what was drawn in this second. Whether it is the first of it.
    #[inline]
    pub(super) fn note(&mut self, second: u32, load: &Load) -> bool {
        if self.touched == second {
            self.fresh.add(load);
            return false;
        }
        self.touched = second;
        self.fresh.set(load);
        true
    }
}

/// Keys of a tablet that may be cut, and how far its cut is.
#[derive(Debug, Clone)]
pub(super) struct Hot {
    /// A sample of the keys written to it.
    pub(super) stored: Reservoir,
    /// The keys of the latest requests, a ring.
    pub(super) recent: Vec<Box<[u8]>>,
    next: usize,
    /// Seconds for which it has been busy without a pause.
    pub(super) busy_s: u32,
    /// It is not cut by load before this second.
    pub(super) rests_until: u32,
    /// A search for a cut.
    pub(super) finder: Option<Finder>,
}

/// Requests remembered.
const RECENT: usize = 32;
/// Keys sampled of a tablet that fills fast.
const STORED: usize = 64;
/// Keys sampled of one that fills slowly, of which there may be many.
const STORED_SLOW: usize = 8;

impl Hot {
    pub(super) fn new(is_fast: bool) -> Self {
        let stored =
            Reservoir { keys: Vec::new(), seen: 0, most: if is_fast { STORED } else { STORED_SLOW } };
        Self { stored, recent: Vec::new(), next: 0, busy_s: 0, rests_until: 0, finder: None }
    }

    /// Whether requests are remembered: not of tablets that fill slowly, of which there may be many.
    fn is_fast(&self) -> bool {
        self.stored.most == STORED
    }

    /// From now on, requests are remembered.
    pub(super) fn make_fast(&mut self) {
        self.stored.most = STORED;
    }

    pub(super) fn note_request(&mut self, key: &[u8]) {
        if !self.is_fast() {
            return;
        }
        if self.recent.len() < RECENT {
            self.recent.push(key.into());
            return;
        }
        // In place: keys of a tablet have much the same length.
        replace(&mut self.recent[self.next], key);
        self.next = (self.next + 1) % RECENT;
    }

    /// Keeps what is on one side of a cut.
    pub(super) fn keep(&mut self, mut is_kept: impl FnMut(&[u8]) -> bool) {
        self.stored.keep(&mut is_kept);
        self.recent.retain(|key| is_kept(key));
        self.next = 0;
    }

    /// The share of the latest requests at or behind `cut`, or of all writes if they are not remembered; one half where nothing is
    /// known.
    pub(super) fn requests_behind(&self, cut: &[u8]) -> f64 {
        share_behind(if self.recent.is_empty() { &self.stored.keys } else { &self.recent }, cut)
    }
}

fn replace(slot: &mut Box<[u8]>, key: &[u8]) {
    if slot.len() == key.len() {
        slot.copy_from_slice(key);
    } else {
        *slot = key.into();
    }
}

fn share_behind(keys: &[Box<[u8]>], cut: &[u8]) -> f64 {
    if keys.is_empty() {
        return 0.5;
    }
    keys.iter().filter(|key| ***key >= *cut).count() as f64 / keys.len() as f64
}

/// A uniform sample of the keys that were written (Vitter's algorithm R).
#[derive(Debug, Clone)]
pub(super) struct Reservoir {
    pub(super) keys: Vec<Box<[u8]>>,
    seen: usize,
    most: usize,
}

impl Reservoir {
    pub(super) fn note(&mut self, key: &[u8], rng: &mut Seeded) {
        self.seen += 1;
        if self.keys.len() < self.most {
            self.keys.push(key.into());
            return;
        }
        let at = rng.below(self.seen);
        if let Some(slot) = self.keys.get_mut(at) {
            replace(slot, key);
        }
    }

    pub(super) fn share_behind(&self, cut: &[u8]) -> f64 {
        share_behind(&self.keys, cut)
    }

    /// Keeps the keys on one side of a cut, which then stand for as many of those seen.
    pub(super) fn keep(&mut self, mut is_kept: impl FnMut(&[u8]) -> bool) {
        let before = self.keys.len().max(1);
        self.keys.retain(|key| is_kept(key));
        self.seen = self.seen * self.keys.len() / before;
    }
}
