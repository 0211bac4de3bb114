//! A row's fragments made into its cells of one family.
//!
//! Fragments come newest first. A mask hides cells of older fragments only; of two cells with equal column and time the one in the
//! newer fragment counts. So a write with an old timestamp after a delete stays visible.

use crate::fragment::{Fragment, FragmentCell, Mask, Place};
use bytes::Bytes;
use rowkey_store::Result;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What the masks of newer fragments hide, as disjoint closed ranges of time.
#[derive(Debug, Default, Clone)]
pub(crate) struct Masks {
    family: Ranges,
    columns: BTreeMap<Bytes, Ranges>,
}

/// Ascending, disjoint, closed ranges of time.
#[derive(Debug, Default, Clone)]
struct Ranges(Vec<(i64, i64)>);

impl Masks {
    /// Adds a mask.
    pub(crate) fn add(&mut self, mask: &Mask) {
        match &mask.qualifier {
            None => self.family.add(mask.first_us, mask.last_us),
            Some(qualifier) => {
                self.columns.entry(qualifier.clone()).or_default().add(mask.first_us, mask.last_us);
            }
        }
    }

    /// Whether a cell of an older fragment is hidden.
    pub(crate) fn hides(&self, qualifier: &[u8], timestamp_us: i64) -> bool {
        self.family.contain(timestamp_us)
            || (!self.columns.is_empty()
                && self.columns.get(qualifier).is_some_and(|ranges| ranges.contain(timestamp_us)))
    }

    /// Whether the whole range of a mask is hidden already.
    pub(crate) fn cover(&self, mask: &Mask) -> bool {
        self.family.cover(mask.first_us, mask.last_us)
            || mask
                .qualifier
                .as_ref()
                .and_then(|qualifier| self.columns.get(qualifier))
                .is_some_and(|ranges| ranges.cover(mask.first_us, mask.last_us))
    }

    /// Whether nothing is hidden.
    pub(crate) fn is_empty(&self) -> bool {
        self.family.0.is_empty() && self.columns.is_empty()
    }

    /// Whether all older cells are hidden.
    pub(crate) fn hide_all(&self) -> bool {
        self.family.cover(0, i64::MAX)
    }
}

impl Ranges {
    fn add(&mut self, first: i64, last: i64) {
        if first > last {
            return;
        }
        // The ranges that it overlaps or touches become one with it.
        let from = self.0.partition_point(|range| range.1.saturating_add(1) < first);
        let to = self.0.partition_point(|range| range.0 <= last.saturating_add(1)).max(from);
        let merged = self.0[from..to]
            .iter()
            .fold((first, last), |(start, end), range| (start.min(range.0), end.max(range.1)));
        self.0.splice(from..to, [merged]);
    }

    fn contain(&self, time: i64) -> bool {
        self.cover(time, time)
    }

    fn cover(&self, first: i64, last: i64) -> bool {
        let behind = self.0.partition_point(|range| range.0 <= first);
        behind > 0 && last <= self.0[behind - 1].1
    }
}

/// The cells of a family of a row, by qualifier, then newest first, and how many fragments were looked at for them.
///
/// # Errors
///
/// `Corrupt`.
pub(crate) fn merge(
    fragments: impl IntoIterator<Item = Result<Bytes>>,
) -> Result<(Vec<FragmentCell>, usize)> {
    let mut masks = Masks::default();
    let mut runs = Runs::default();
    for bytes in fragments {
        if masks.hide_all() {
            break;
        }
        let bytes = bytes?;
        let mut fragment = Fragment::decode(bytes.clone())?;
        let own_masks = std::mem::take(&mut fragment.masks);
        let mut cells = Vec::new();
        while let Some(place) = fragment.next_place().transpose()? {
            if masks.is_empty() || !masks.hides(&bytes[place.qualifier.clone()], place.timestamp_us) {
                cells.push((runs.fragments.len(), place));
            }
        }
        runs.push(bytes, cells);
        for mask in &own_masks {
            masks.add(mask);
        }
    }
    let looked_at = runs.fragments.len();
    Ok((runs.finish(), looked_at))
}

/// A cell by the index of its fragment and its place in it: nothing is copied before it is sure that the cell comes out.
type Placed = (usize, Place);

/// Sorted runs of cells, newer ones first, merged two by two while they grow: a row that is overwritten again and again stays small,
/// and one with many small fragments is not shifted for each.
#[derive(Debug, Default)]
struct Runs {
    fragments: Vec<Bytes>,
    /// How many fragments, as a power of two, and their cells.
    runs: Vec<(u32, Vec<Placed>)>,
}

impl Runs {
    fn push(&mut self, fragment: Bytes, cells: Vec<Placed>) {
        self.fragments.push(fragment);
        self.runs.push((0, cells));
        while let [.., (newer, _), (older, _)] = self.runs[..]
            && newer == older
        {
            self.merge_last();
        }
    }

    /// Makes one run of the last two.
    fn merge_last(&mut self) {
        let (Some((_, older)), Some((power, newer))) = (self.runs.pop(), self.runs.pop()) else { return };
        let mut merged = Vec::with_capacity(newer.len().max(older.len()));
        let (mut newer, mut older) = (newer.into_iter().peekable(), older.into_iter().peekable());
        while let (Some(a), Some(b)) = (newer.peek(), older.peek()) {
            match self.compare(a, b) {
                Ordering::Less => merged.extend(newer.next()),
                Ordering::Greater => merged.extend(older.next()),
                Ordering::Equal => {
                    // The newer fragment's cell counts.
                    merged.extend(newer.next());
                    let _ = older.next();
                }
            }
        }
        merged.extend(newer);
        merged.extend(older);
        self.runs.push((power + 1, merged));
    }

    fn compare(&self, a: &Placed, b: &Placed) -> Ordering {
        let qualifier = |cell: &Placed| &self.fragments[cell.0][cell.1.qualifier.clone()];
        qualifier(a).cmp(qualifier(b)).then(b.1.timestamp_us.cmp(&a.1.timestamp_us))
    }

    fn finish(mut self) -> Vec<FragmentCell> {
        while self.runs.len() > 1 {
            self.merge_last();
        }
        let cells = self.runs.pop().map_or_else(Vec::new, |(_, cells)| cells);
        let cell = |(index, place): Placed| {
            let bytes = &self.fragments[index];
            FragmentCell {
                qualifier: bytes.slice(place.qualifier),
                timestamp_us: place.timestamp_us,
                value: bytes.slice(place.value),
            }
        };
        cells.into_iter().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fragment::encode;
    use crate::random::Random;

    #[test]
    fn ranges_hold_what_was_added() {
        let mut random = Random(5);
        for _ in 0..2_000 {
            let mut ranges = Ranges::default();
            let mut held = [false; 24];
            for _ in 0..random.below(8) {
                let first = random.time(20);
                let last = first + random.time(5);
                ranges.add(first, last);
                (0..)
                    .zip(&mut held)
                    .filter(|(time, _)| (first..=last).contains(time))
                    .for_each(|(_, held)| *held = true);
            }
            for (time, from) in (0..24).zip(0..) {
                assert_eq!(ranges.contain(time), held[from]);
                for (end, to) in (time..24).zip(from..) {
                    assert_eq!(ranges.cover(time, end), held[from..=to].iter().all(|held| *held));
                }
            }
            assert!(ranges.0.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
        let mut ranges = Ranges::default();
        ranges.add(5, i64::MAX);
        ranges.add(0, 4);
        assert_eq!(ranges.0, [(0, i64::MAX)]);
    }

    fn fragment(masks: &[Mask], cells: &[(&str, i64, &str)]) -> Bytes {
        let cells =
            cells.iter().map(|(qualifier, time, value)| (qualifier.as_bytes(), *time, value.as_bytes()));
        encode(masks, cells, 0).into()
    }

    fn check(fragments: Vec<Bytes>, expected: &[(&str, i64, &str)]) {
        let merged = merge(fragments.into_iter().map(Ok)).unwrap().0;
        let shown: Vec<_> = merged
            .iter()
            .map(|cell| {
                (
                    std::str::from_utf8(&cell.qualifier).unwrap(),
                    cell.timestamp_us,
                    std::str::from_utf8(&cell.value).unwrap(),
                )
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_newest_fragment_wins_and_masks_hide_only_older_ones() {
        let column =
            |first_us, last_us| Mask { qualifier: Some(Bytes::from_static(b"b")), first_us, last_us };
        check(vec![], &[]);
        check(
            vec![
                fragment(&[], &[("b", 2, "new")]),
                fragment(&[], &[("a", 1, "x"), ("b", 3, "z"), ("b", 2, "old")]),
            ],
            &[("a", 1, "x"), ("b", 3, "z"), ("b", 2, "new")],
        );
        check(
            vec![
                fragment(&[column(2, 3)], &[("b", 2, "later")]),
                fragment(&[], &[("b", 4, "4"), ("b", 3, "3"), ("b", 2, "2")]),
            ],
            &[("b", 4, "4"), ("b", 2, "later")],
        );
        check(
            vec![
                fragment(&[], &[("c", 1, "")]),
                fragment(&[Mask::FAMILY], &[("a", 1, "stays")]),
                fragment(&[], &[("a", 9, "")]),
            ],
            &[("a", 1, "stays"), ("c", 1, "")],
        );
    }
}
