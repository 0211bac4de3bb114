//! What a compaction makes of a row's fragments: decided online, newest fragment first, as the compaction meets them.
//!
//! A compaction seldom sees all fragments of a row, and it may see an older one without the newer one. What it takes must therefore
//! be right whatever it does not see:
//!
//! - A cell that a seen mask or a seen newer cell hides is dead: it goes.
//! - **Partial** compactions keep all masks. What the rule takes leaves a mask behind, so that an unseen older cell of the same column
//!   and time cannot come back to life. The newest seen fragment of a row thus always leaves something, which keeps the highest
//!   sequence number of the files from falling (fjall replays its journal from that number on).
//! - Age decides each cell alone: it always holds. Versions are counted only if the keyspace is *settled*: then no unseen mask has hidden
//!   a counted cell while an older one lived on (see [`crate::state::Policy`]). Cells that are not seen make a count too small, which
//!   keeps too much, never too little.
//! - **Full** compactions (the driver's, with all files of the keyspace, up to a sequence number) see all there is: they count, and they
//!   drop the masks.
//!
//! An older fragment with a newer cell is met too late to count for the cells before it. A collection finds such rows by reading and
//! writes masks for them (`collect.rs`).

use crate::fragment::{self, Fragment, Mask, Place};
use crate::merge::Masks;
use bytes::Bytes;
use rowkey_store::{GcRule, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// How much of a row's fragments a compaction sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Some of them; versions must not be counted.
    Partial,
    /// Some of them; versions may be counted.
    PartialSettled,
    /// All up to this sequence number; fragments above are left alone.
    Full {
        /// The greatest sequence number that is surely seen.
        sequence_max: u64,
    },
}

/// What becomes of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Keep,
    Replace(Vec<u8>),
    Destroy,
}

/// What went so far, in cells.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Hidden by masks or overwritten.
    pub(crate) dead: u64,
    /// Taken by the rule.
    pub(crate) taken: u64,
}

/// One row, while its fragments pass.
#[derive(Debug)]
pub(crate) struct RowTrim {
    rule: Option<Arc<GcRule>>,
    now_us: i64,
    scope: Scope,
    masks: Masks,
    /// Ascending times of the seen living cells of each column.
    seen: HashMap<Bytes, Vec<i64>>,
    /// The last fragment and what was kept of it (`None`: all), until a further one makes it worth while to index it.
    last: Option<(Bytes, Option<Vec<Place>>)>,
    fragments: usize,
}

impl RowTrim {
    pub(crate) fn new(rule: Option<Arc<GcRule>>, now_us: i64, scope: Scope) -> Self {
        Self { rule, now_us, scope, masks: Masks::default(), seen: HashMap::new(), last: None, fragments: 0 }
    }

    /// The next older fragment.
    ///
    /// # Errors
    ///
    /// `Corrupt`; the fragment must be kept.
    pub(crate) fn next(&mut self, sequence: u64, value: &Bytes, tally: &mut Tally) -> Result<Outcome> {
        if matches!(self.scope, Scope::Full { sequence_max } if sequence > sequence_max) {
            return Ok(Outcome::Keep);
        }
        self.fragments += 1;
        if self.fragments == 1 && self.rule.is_none() && value.get(1) == Some(&0) {
            // Nothing can be taken from it: nothing is decoded until there is an older fragment.
            self.last = Some((value.clone(), None));
            return Ok(Outcome::Keep);
        }
        self.index_last()?;
        let mut fragment = Fragment::decode(value.clone())?;
        let own_masks = std::mem::take(&mut fragment.masks);
        let mut kept = Vec::new();
        let mut left = Vec::new();
        let mut column = Column::default();
        let mut gone = Tally::default();
        while let Some(place) = fragment.next_place().transpose()? {
            let qualifier = &value[place.qualifier.clone()];
            if column.qualifier != Some(qualifier) {
                column = Column { qualifier: Some(qualifier), living: 0, taken: false };
            }
            if self.is_dead(qualifier, place.timestamp_us) {
                gone.dead += 1;
                continue;
            }
            column.living += 1;
            if self.takes(&column, place.timestamp_us) {
                gone.taken += 1;
                if !column.taken {
                    left.push(self.mask_for(value, &place));
                    column.taken = true;
                }
            } else {
                kept.push(place);
            }
        }
        tally.dead += gone.dead;
        tally.taken += gone.taken;
        let changed = gone != Tally::default();
        Ok(self.finish(value, &own_masks, left, kept, changed))
    }

    fn is_dead(&self, qualifier: &[u8], timestamp_us: i64) -> bool {
        self.masks.hides(qualifier, timestamp_us)
            || self.seen.get(qualifier).is_some_and(|times| times.binary_search(&timestamp_us).is_ok())
    }

    fn takes(&self, column: &Column<'_>, timestamp_us: i64) -> bool {
        let Some(rule) = &self.rule else { return false };
        let nth = match self.scope {
            // What is taken as the newest is taken for its age.
            Scope::Partial => 1,
            Scope::PartialSettled | Scope::Full { .. } => {
                let seen = column.qualifier.and_then(|qualifier| self.seen.get(qualifier));
                let newer =
                    seen.map_or(0, |times| times.len() - times.partition_point(|time| *time <= timestamp_us));
                column.living + newer as u64
            }
        };
        rule.takes(nth, timestamp_us, self.now_us)
    }

    /// What a taken cell leaves behind, the newest of its column that is taken: rules are monotone, so all older ones go as well.
    fn mask_for(&self, value: &Bytes, place: &Place) -> Mask {
        let by_age = self.rule.as_ref().is_some_and(|rule| rule.takes(1, place.timestamp_us, self.now_us));
        let qualifier = (!by_age).then(|| value.slice(place.qualifier.clone()));
        Mask { qualifier, first_us: 0, last_us: place.timestamp_us }
    }

    fn finish(
        &mut self,
        value: &Bytes,
        own_masks: &[Mask],
        left: Vec<Mask>,
        kept: Vec<Place>,
        changed: bool,
    ) -> Outcome {
        let full = matches!(self.scope, Scope::Full { .. });
        let own_count = own_masks.len();
        let mut masks: Vec<Mask> = if full {
            Vec::new()
        } else {
            own_masks.iter().filter(|mask| !self.masks.cover(mask)).cloned().collect()
        };
        let changed = changed || masks.len() != own_count;
        for mask in own_masks {
            self.masks.add(mask);
        }
        if !full {
            // Widest first, so that one mask of the family stands for those of many columns.
            let mut left = left;
            left.sort_by_key(|mask| (mask.qualifier.is_some(), std::cmp::Reverse(mask.last_us)));
            for mask in left {
                if !self.masks.cover(&mask) {
                    self.masks.add(&mask);
                    masks.push(mask);
                }
            }
        }
        let outcome = if !changed {
            Outcome::Keep
        } else if !kept.is_empty() || !masks.is_empty() {
            let cells = kept.iter().map(|place| {
                (&value[place.qualifier.clone()], place.timestamp_us, &value[place.value.clone()])
            });
            Outcome::Replace(fragment::encode(&masks, cells, value.len()))
        } else if full || self.fragments > 1 {
            Outcome::Destroy
        } else {
            Outcome::Keep
        };
        self.last = Some((value.clone(), Some(kept)));
        outcome
    }

    fn index_last(&mut self) -> Result<()> {
        let Some((value, kept)) = self.last.take() else { return Ok(()) };
        let kept = if let Some(kept) = kept {
            kept
        } else {
            let mut fragment = Fragment::decode(value.clone())?;
            std::iter::from_fn(|| fragment.next_place()).collect::<Result<_>>()?
        };
        for place in kept {
            let times = self.seen.entry(value.slice(place.qualifier)).or_default();
            if let Err(at) = times.binary_search(&place.timestamp_us) {
                times.insert(at, place.timestamp_us);
            }
        }
        Ok(())
    }
}

/// The column of the cell that is looked at.
#[derive(Debug, Default)]
struct Column<'v> {
    qualifier: Option<&'v [u8]>,
    /// Its living cells so far, in this fragment.
    living: u64,
    /// Whether the rule took one, and all that follow.
    taken: bool,
}

#[cfg(test)]
mod tests;
