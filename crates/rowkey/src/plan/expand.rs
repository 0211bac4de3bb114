//! From choices to ranges of unsalted keys: a walk over the points of each level, and the intervals of the last one.

use super::RANGES_MAX;
use super::axis::Axis;
use super::choice::{Choices, Point, Points};
use super::cut;
use super::groups::Combination;
use super::set::{FieldSet, joined_numbers, merged_ranges};
use crate::codec::Codec;
use crate::range::KeyRange;
use crate::schema::Order;
use crate::{Error, ErrorKind, Result};

/// What a walk needs to know.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) codec: &'a Codec,
    pub(super) choices: &'a Choices,
    /// How many fields the ranges express. All but the last of them are points.
    pub(super) levels: usize,
    /// The indexes of the salt inputs, ascending.
    pub(super) salt_of: &'a [usize],
}

impl Walk<'_> {
    /// The ranges of unsalted keys, ascending, disjoint and not touching. Only of these combinations of salt inputs, if they are known.
    pub(super) fn ranges(&self, combinations: Option<&[Combination]>) -> Result<Vec<KeyRange>> {
        let mut ranges = Vec::new();
        let mut prefix = self.choices.slots.first().map(|slot| slot.before.clone()).unwrap_or_default();
        if self.levels == 0 {
            ranges.push(KeyRange::prefix(&prefix));
            return Ok(ranges);
        }
        self.descend(0, &mut prefix, combinations, &mut ranges)?;
        ranges.sort_unstable_by(|a, b| a.start.cmp(&b.start));
        Ok(merged_ranges(ranges))
    }

    fn descend(
        &self,
        level: usize,
        prefix: &mut Vec<u8>,
        combinations: Option<&[Combination]>,
        out: &mut Vec<KeyRange>,
    ) -> Result<()> {
        let points = self.choices.fields[level].points.as_ref();
        // Which of the combinations' columns this field is.
        let column = combinations.and_then(|_| self.salt_of.iter().position(|&field| field == level));
        if level + 1 == self.levels {
            match points {
                Some(points) => self.last_points(level, points, prefix, column.zip(combinations), out)?,
                None => self.last_intervals(level, prefix, out)?,
            }
            return if out.len() > RANGES_MAX { Err(self.too_many(1)) } else { Ok(()) };
        }
        let points = points.expect("every level but the last is points");
        let length = prefix.len();
        for (at, point) in points.list.iter().enumerate() {
            let below = match column.zip(combinations) {
                Some((column, combinations)) => {
                    // Ascending, and equal in the columns before this one.
                    let start = combinations.partition_point(|combination| combination[column] < at);
                    let end = combinations.partition_point(|combination| combination[column] <= at);
                    if start == end {
                        continue;
                    }
                    Some(&combinations[start..end])
                }
                None => combinations,
            };
            prefix.extend_from_slice(&point.bytes);
            prefix.extend_from_slice(&self.choices.slots[level].behind);
            self.descend(level + 1, prefix, below, out)?;
            prefix.truncate(length);
        }
        Ok(())
    }

    /// Points of consecutive ranks become one range. Of a known bucket: from its first point to its last in that range, since those
    /// between are in other buckets.
    fn last_points(
        &self,
        level: usize,
        points: &Points,
        prefix: &[u8],
        filter: Option<(usize, &[Combination])>,
        out: &mut Vec<KeyRange>,
    ) -> Result<()> {
        let is_allowed = |at: usize| match filter {
            Some((column, combinations)) => {
                combinations.binary_search_by(|combination| combination[column].cmp(&at)).is_ok()
            }
            None => true,
        };
        let mut first = 0;
        while first < points.list.len() {
            let mut last = first;
            while last + 1 < points.list.len() && points.list[last].rank + 1 == points.list[last + 1].rank {
                last += 1;
            }
            let low = (first..=last).find(|&at| is_allowed(at));
            let high = (first..=last).rev().find(|&at| is_allowed(at));
            if let Some((low, high)) = low.zip(high) {
                out.push(self.run(level, prefix, &points.list[low], &points.list[high])?);
            }
            first = last + 1;
        }
        Ok(())
    }

    /// The range from one point to another without a value in between that is not wanted.
    fn run(&self, level: usize, prefix: &[u8], first: &Point, last: &Point) -> Result<KeyRange> {
        let slot = &self.choices.slots[level];
        let field = &self.codec.schema().fields[level];
        if let Axis::Numbers(axis) = Axis::of(&field.kind)
            && field.values.is_empty()
            && field.kind.is_ordered()
            && first.rank != last.rank
        {
            // The ranks of numbers are their positions, negated if descending.
            let interval =
                if field.order == Order::Desc { (-last.rank, -first.rank) } else { (first.rank, last.rank) };
            return cut::of_numbers(self.codec, level, &axis, prefix, interval, slot);
        }
        let start = cut::of_component(prefix, &first.bytes, slot).start;
        let end = cut::of_component(prefix, &last.bytes, slot).end;
        Ok(KeyRange { start, end })
    }

    fn last_intervals(&self, level: usize, prefix: &[u8], out: &mut Vec<KeyRange>) -> Result<()> {
        let slot = &self.choices.slots[level];
        let field = &self.codec.schema().fields[level];
        match (&self.choices.fields[level].set, Axis::of(&field.kind)) {
            (Some(FieldSet::Numbers(intervals)), Axis::Numbers(axis)) => {
                for interval in joined_numbers(intervals) {
                    out.push(cut::of_numbers(self.codec, level, &axis, prefix, interval, slot)?);
                }
            }
            (Some(FieldSet::Strings(intervals)), _) => {
                out.extend(
                    intervals.iter().filter_map(|interval| cut::of_strings(field, prefix, interval, slot)),
                );
            }
            _ => unreachable!("the last level is bound"),
        }
        Ok(())
    }

    /// The error of a plan of too many ranges: names the field that multiplies most.
    pub(super) fn too_many(&self, buckets: usize) -> Error {
        let names = self.codec.schema().fields.iter().map(|field| field.name.as_str());
        let counts = self.choices.fields.iter().take(self.levels).map(|choice| match &choice.points {
            Some(points) => points.list.len(),
            None => choice.ranges(),
        });
        let factors: Vec<(&str, usize)> = names.zip(counts).filter(|(_, count)| *count > 1).collect();
        let most = factors.iter().max_by_key(|(_, count)| *count);
        let (what, advice) = match most {
            Some((name, count)) if *count >= buckets => (
                format!("field `{name}`, with {count} values, multiplies most"),
                format!("ask for fewer values of `{name}` at a time"),
            ),
            _ => (
                format!("the {buckets} buckets multiply most"),
                "bind every field that the salt is made of, or use fewer buckets".to_owned(),
            ),
        };
        let mut product: Vec<String> =
            factors.iter().map(|(name, count)| format!("{count} of `{name}`")).collect();
        if buckets > 1 {
            product.push(format!("{buckets} buckets"));
        }
        let message =
            format!("the plan has more than {RANGES_MAX} ranges ({}): {what}; {advice}", product.join(" x "));
        Error::new(ErrorKind::Limit, message)
    }
}
