//! A plan as text: what `rowkey plan` prints.

use super::{BucketPlan, Plan, ResultOrder};
use crate::escape::escaped;
use crate::range::KeyRange;
use std::fmt;

/// Ranges printed before the rest is only counted.
const RANGES_SHOWN: usize = 6;
/// Notes printed before the rest is only counted.
const NOTES_SHOWN: usize = 3;
/// Characters of the query, and of the check, before the rest is only counted.
const TEXT_SHOWN: usize = 1_000;
/// Buckets listed before the rest is only counted.
const BUCKETS_SHOWN: usize = 10;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = if self.query.is_empty() { "everything" } else { &self.query };
        writeln!(f, "query     {}", Shortened(query))?;
        for note in self.notes.iter().take(NOTES_SHOWN) {
            writeln!(f, "note      {note}")?;
        }
        if self.notes.len() > NOTES_SHOWN {
            writeln!(f, "          ... and {} more", self.notes.len() - NOTES_SHOWN)?;
        }
        if self.is_empty() {
            return writeln!(f, "ranges    none: nothing is read");
        }
        self.show_buckets(f)?;
        self.show_ranges(f)?;
        writeln!(f, "check     {}", Shortened(&self.residual.to_string()))?;
        let direction = if self.reversed { "descending" } else { "ascending" };
        match &self.order {
            ResultOrder::Logical if self.buckets.len() > 1 => {
                writeln!(
                    f,
                    "order     {direction}, {} buckets merged by the key behind the salt",
                    self.buckets.len()
                )?;
            }
            ResultOrder::Logical => writeln!(f, "order     {direction} by key")?,
            ResultOrder::Unordered { why } => writeln!(f, "order     none: {why}")?,
        }
        self.show_cost(f)
    }
}

impl Plan {
    fn show_buckets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.buckets.iter().all(|bucket| bucket.salt.is_empty()) {
            return Ok(());
        }
        let is_hashed = self.buckets.iter().all(|bucket| bucket.bucket.is_none());
        let what = if is_hashed { "prefixes" } else { "buckets " };
        write!(f, "{what}  {}", self.buckets.len())?;
        match self.cost.buckets_total {
            Some(total) if self.buckets.len() >= total as usize => write!(f, ", all")?,
            Some(total) => write!(f, " of {total}")?,
            None => {}
        }
        for (at, bucket) in self.buckets.iter().take(BUCKETS_SHOWN).enumerate() {
            let joint = if at == 0 { ": " } else { ", " };
            write!(f, "{joint}{}", escaped(&bucket.salt))?;
        }
        show_rest(f, self.buckets.len(), BUCKETS_SHOWN, ", ")?;
        writeln!(f)
    }

    fn show_ranges(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ranges    {}{}",
            self.cost.ranges,
            if self.is_full_scan { ", the whole table" } else { "" }
        )?;
        let all = self.buckets.iter().flat_map(|BucketPlan { ranges, .. }| ranges);
        for range in all.take(RANGES_SHOWN) {
            writeln!(f, "          {}", ShownRange(range))?;
        }
        if self.cost.ranges > RANGES_SHOWN {
            write!(f, "        ")?;
            show_rest(f, self.cost.ranges, RANGES_SHOWN, "  ")?;
            writeln!(f)?;
        }
        Ok(())
    }

    fn show_cost(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeks = self.cost.seeks;
        write!(f, "cost      {seeks} seek{}, ", if seeks == 1 { "" } else { "s" })?;
        match self.cost.rows_examined_per_row {
            Some(_) => writeln!(f, "and every row read is a result"),
            None => writeln!(f, "and rows read for each result: unknown, since the check drops some"),
        }
    }
}

fn show_rest(f: &mut fmt::Formatter<'_>, count: usize, shown: usize, joint: &str) -> fmt::Result {
    if count > shown { write!(f, "{joint}... and {} more", count - shown) } else { Ok(()) }
}

/// Text of which a long one is cut: a list of thousands of values tells nobody anything.
struct Shortened<'a>(&'a str);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(TEXT_SHOWN) {
            Some((end, _)) => {
                let rest = self.0[end..].chars().count();
                write!(f, "{}... and {rest} more characters", &self.0[..end])
            }
            None => f.write_str(self.0),
        }
    }
}

/// `start .. end`, or the key alone.
struct ShownRange<'a>(&'a KeyRange);

impl fmt::Display for ShownRange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeyRange { start, end } = self.0;
        match end {
            Some(end) if end.split_last() == Some((&0, start)) => {
                let name = if start.is_empty() { "the empty key" } else { "" };
                return write!(f, "{name}{} alone", escaped(start));
            }
            _ if start.is_empty() => f.write_str("start of the table .. ")?,
            _ => write!(f, "{} .. ", escaped(start))?,
        }
        match end {
            Some(end) => write!(f, "{}", escaped(end)),
            None => f.write_str("end of the table"),
        }
    }
}
