//! A row's fragments made into its cells of one family.
//!
//! Fragments come newest first. A mask hides cells of older fragments only; of two cells with equal column and time the one in the
//! newer fragment counts. So a write with an old timestamp after a delete stays visible.

use crate::fragment::{Fragment, FragmentCell, Mask};
use bytes::Bytes;
use rowkey_store::Result;
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

/// The cells of a family of a row, by qualifier, then newest first.
///
/// # Errors
///
/// `Corrupt`.
pub(crate) fn merge(fragments: impl IntoIterator<Item = Result<Bytes>>) -> Result<Vec<FragmentCell>> {
    let mut fragments = fragments.into_iter();
    let Some(newest) = fragments.next() else { return Ok(Vec::new()) };
    let mut newest = Fragment::decode(newest?)?;
    let mut masks = Masks::default();
    for mask in newest.masks.drain(..) {
        masks.add(&mask);
    }
    let mut cells = newest.collect::<Result<Vec<_>>>()?;
    let mut several = false;
    for fragment in fragments {
        if masks.hide_all() {
            break;
        }
        let mut fragment = Fragment::decode(fragment?)?;
        let own_masks = std::mem::take(&mut fragment.masks);
        for cell in fragment {
            let cell = cell?;
            if !masks.hides(&cell.qualifier, cell.timestamp_us) {
                cells.push(cell);
                several = true;
            }
        }
        for mask in &own_masks {
            masks.add(mask);
        }
    }
    if several {
        // Stable: of equal cells the newest fragment's stays first, and only that is kept.
        cells.sort_by(|a, b| a.qualifier.cmp(&b.qualifier).then(b.timestamp_us.cmp(&a.timestamp_us)));
        cells.dedup_by(|later, first| {
            later.timestamp_us == first.timestamp_us && later.qualifier == first.qualifier
        });
    }
    Ok(cells)
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
        let merged = merge(fragments.into_iter().map(Ok)).unwrap();
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
