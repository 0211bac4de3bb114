//! `uneven-buckets`: the bucket in front does not spread the writes.

use std::collections::{BTreeMap, BTreeSet};

use super::advise;
use super::case::{Case, KEYS_MIN, Row, Shape, cut, grows};
use super::draft::{Draft, Outcome, share_error, surely_above};
use super::places::places;
use super::say;
use crate::finding::quote_value;
use crate::layout::{Meaning, Segment};
use crate::rule::{Rule, Severity};

/// A bucket is far above the mean if it has more than so many times the mean. Buckets computed from a few dozen entities differ by half of
/// the mean by chance alone, which costs little and is no fault of the hash.
const OVER_MEAN: f64 = 2.0;

/// Neighbours in arrival, up to so far apart, make a moment.
const MOMENT: usize = 8;

/// The bucket in front of the most frequent format that has one.
pub(super) struct Buckets<'a> {
    /// The index of the format among the case's shapes.
    pub(super) shape: usize,
    /// Values and keys under each, the largest first, equals by value.
    counts: Vec<(&'a [u8], u64)>,
    /// Keys counted.
    pub(super) total: u64,
    /// Size of the set of buckets, used or not, without values outside it.
    pub(super) set: usize,
    /// Values outside the set, and keys under each.
    outside: Vec<(&'a [u8], u64)>,
}

impl<'a> Buckets<'a> {
    /// The values.
    pub(super) fn values(&self) -> BTreeSet<&'a [u8]> {
        self.counts.iter().map(|&(value, _)| value).collect()
    }

    fn share(&self, count: u64) -> f64 {
        say::float(count) / say::float(self.total.max(1))
    }

    fn largest(&self) -> f64 {
        self.counts.first().map_or(0.0, |&(_, count)| self.share(count))
    }

    /// Probability that two keys drawn at random are in one bucket.
    fn same(&self) -> f64 {
        self.counts.iter().map(|&(_, count)| self.share(count)).map(|share| share * share).sum()
    }
}

/// Finds the bucket in front of keys.
///
/// The layout knows buckets that are even or that a common hash explains. Two more are told here: numbers from 0 without a gap, however
/// uneven, for things are numbered from 1 or with gaps; and numbers with gaps that a field of few values decides, for hashing few values
/// leaves gaps.
pub(super) fn find<'a>(shapes: &[Shape<'a>], written: &[Row<'a>]) -> Option<Buckets<'a>> {
    shapes.iter().enumerate().find_map(|(index, shape)| {
        let rows = written.iter().filter(|row| row.format == Some(shape.index));
        let mut counts: BTreeMap<&'a [u8], u64> = BTreeMap::new();
        for value in rows.clone().filter_map(|row| row.fields.get(shape.lead)) {
            *counts.entry(value).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let total: u64 = counts.iter().map(|&(_, count)| count).sum();
        let (outside, run) = outside(&counts, total);
        let inside = counts.len() - outside.len();
        let set = match &shape.lead_field().meaning {
            Meaning::Salt(salt) if salt.from.is_some() || !is_named(shape) => {
                run.unwrap_or(inside.max(salt.buckets as usize))
            }
            meaning
                if may_be_bucket(meaning) && shape.fields.len() > shape.lead + 1 && !is_lettered(shape) =>
            {
                numbered(shape, &counts, run).or_else(|| computed(shape, &rows, &counts))?
            }
            _ => return None,
        };
        Some(Buckets { shape: index, counts, total, set, outside })
    })
}

/// What the layout may say of a bucket that it does not know as one.
fn may_be_bucket(meaning: &Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Number { grows: false, .. }
            | Meaning::Enumeration
            | Meaning::Text
            | Meaning::Binary
            | Meaning::Hash { bits: 0..=16, .. }
    )
}

/// Whether a word stands before the number, as in `sensor-3`: a thing with a name. Words for a bucket itself do not count, nor what another
/// field's delimiter ends.
fn is_named(shape: &Shape<'_>) -> bool {
    let word = word_before(shape);
    word.len() > 1
        && ![&b"bucket"[..], b"shard", b"salt", b"part", b"partition", b"slot"].contains(&word.as_slice())
}

/// Whether any letter stands before the number.
fn is_lettered(shape: &Shape<'_>) -> bool {
    !word_before(shape).is_empty()
}

/// The letters before the first field that varies, in small ones; what another field's delimiter ends does not count.
fn word_before(shape: &Shape<'_>) -> Vec<u8> {
    let mut fields = 0;
    let mut before: &[u8] = &[];
    let mut behind: &[u8] = &[];
    for segment in &shape.format.segments {
        match segment {
            Segment::Literal(bytes) if fields == shape.lead => before = bytes,
            Segment::Literal(bytes) if fields == shape.lead + 1 => behind = bytes,
            Segment::Literal(_) => {}
            Segment::Field(_) => fields += 1,
        }
    }
    let Some((last, rest)) = before.split_last() else { return Vec::new() };
    let word = if last.is_ascii_alphabetic() {
        before
    } else if Some(last) == behind.first() {
        return Vec::new();
    } else {
        rest
    };
    let begin = word.iter().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |at| at + 1);
    word[begin..].to_ascii_lowercase()
}

/// The size of a set of at least eight numbers from 0 without a gap, in no order of arrival, of which most are even.
///
/// A hash gives most buckets equal counts, whatever a few of them have more; sizes of real things differ by far more than twice. Negative
/// numbers belong to a remainder with its sign, which gives 0 twice what others have; degrees and prices do not.
fn numbered(shape: &Shape<'_>, counts: &[(&[u8], u64)], run: Option<usize>) -> Option<usize> {
    const SET_MIN: usize = 8;
    let field = shape.lead_field();
    let total: u64 = counts.iter().map(|&(_, count)| count).sum();
    let numbers = numbers(counts);
    let (begin, length, keys) = longest_run(&numbers);
    let dense = begin == 0 && keys == total && length >= SET_MIN;
    let set = run.filter(|&run| begin == 0 && run >= SET_MIN).or(dense.then_some(length))?;
    let median = counts.get(set.min(counts.len()) / 2)?.1;
    let even =
        counts.iter().take(set).filter(|(_, count)| *count <= 2 * median && 2 * count >= median).count();
    let zero = numbers.get(&0).copied().unwrap_or(0);
    let signed = numbers.range(..0).next().is_none() || 2 * zero >= 3 * median;
    let ordered = field.order.tau.abs() >= 0.3;
    (counts.len() <= 1_024 && !ordered && signed && even * 4 >= set * 3).then_some(set)
}

/// The size of a set of numbers of one width with gaps, of which a field of few values decides which is used.
///
/// Such a field has more values than there are numbers, and they are about as many as that many values leave of the set when they are
/// hashed. Codes of real things have gaps whatever decides them.
fn computed<'r, 'a: 'r>(
    shape: &Shape<'_>,
    rows: &(impl Iterator<Item = &'r Row<'a>> + Clone),
    counts: &[(&[u8], u64)],
) -> Option<usize> {
    let numbers = numbers(counts);
    let greatest = usize::try_from(*numbers.keys().next_back()?).ok()?;
    let fixed = shape.lead_field().is_fixed_width() && shape.lead_field().width_min >= 2;
    if !fixed
        || numbers.len() != counts.len()
        || counts.len() < 2
        || greatest < counts.len()
        || greatest >= 1_024
    {
        return None;
    }
    let set = say::length(greatest + 1);
    let decides = (shape.lead + 1..shape.fields.len()).any(|field| {
        let mut decided: BTreeMap<&[u8], (&[u8], u64)> = BTreeMap::new();
        let (mut all, mut agree) = (0_u64, 0_u64);
        for row in rows.clone() {
            let (Some(bucket), Some(value)) = (row.fields.get(shape.lead), row.fields.get(field)) else {
                continue;
            };
            let known = decided.entry(value).or_insert((bucket, 0));
            all += 1;
            agree += u64::from(known.0 == *bucket);
        }
        let inputs = say::length(decided.len());
        let used = set * (1.0 - (1.0 - 1.0 / set).powf(inputs));
        let as_hashed = (say::length(counts.len()) - used).abs() <= 2.0 * used.sqrt().max(1.0);
        decided.len() > counts.len()
            && all >= 10 * decided.len() as u64
            && agree * 100 >= all * 99
            && as_hashed
    });
    decides.then_some(greatest + 1)
}

/// A bucket's number: a byte, decimal or hex digits.
fn value_of(text: &[u8], hex: bool) -> Option<i64> {
    match text {
        [byte] if !byte.is_ascii_alphanumeric() => Some(i64::from(*byte)),
        _ => i64::from_str_radix(std::str::from_utf8(text).ok()?, if hex { 16 } else { 10 }).ok(),
    }
}

/// The values that are numbers, and keys under each.
fn numbers(counts: &[(&[u8], u64)]) -> BTreeMap<i64, u64> {
    let hex = is_hex(counts);
    let mut numbers = BTreeMap::new();
    for &(text, count) in counts {
        if let Some(number) = value_of(text, hex) {
            *numbers.entry(number).or_default() += count;
        }
    }
    numbers
}

fn is_hex(counts: &[(&[u8], u64)]) -> bool {
    counts.iter().any(|(text, _)| {
        text.iter().any(|byte| matches!(byte, b'a'..=b'f' | b'A'..=b'F')) && value_of(text, true).is_some()
    })
}

/// The numbers from 0 up without a gap that hold most keys: the first, how many, and their keys.
fn longest_run(numbers: &BTreeMap<i64, u64>) -> (i64, usize, u64) {
    let (mut begin, mut length, mut keys) = (0, 0_usize, 0);
    let mut best = (0, 0, 0);
    for (&number, &count) in numbers.range(0..) {
        let next = i64::try_from(length).ok().and_then(|length| length.checked_add(begin));
        if length == 0 || next != Some(number) {
            (begin, length, keys) = (number, 0, 0);
        }
        length += 1;
        keys += count;
        if keys > best.2 {
            best = (begin, length, keys);
        }
    }
    best
}

/// Values outside the set of buckets, and the size of the set if some are.
///
/// The set shows where numbers without a gap hold nearly all keys: what is not among them, or is negative, is outside.
fn outside<'a>(counts: &[(&'a [u8], u64)], total: u64) -> (Vec<(&'a [u8], u64)>, Option<usize>) {
    let hex = is_hex(counts);
    let numbers = numbers(counts);
    let (begin, length, keys) = longest_run(&numbers);
    let is_outside = |text: &[u8]| {
        value_of(text, hex).is_none_or(|number| {
            number < begin || i64::try_from(length).is_ok_and(|length| number - begin >= length)
        })
    };
    let outside: Vec<_> = counts.iter().copied().filter(|(text, _)| is_outside(text)).collect();
    // Half of the keys under negative numbers is the usual remainder of signed numbers; otherwise the set holds four keys of five.
    let negative: u64 = numbers.range(..0).map(|(_, count)| count).sum();
    let holds = keys.saturating_add(negative).saturating_mul(5) >= total.saturating_mul(4);
    if length >= 3 && begin <= 1 && holds && !outside.is_empty() {
        (outside, Some(length))
    } else {
        (Vec::new(), None)
    }
}

pub(super) fn uneven(case: &Case<'_>) -> Outcome {
    let Some(stats) = &case.bucket else {
        return Outcome::Clear("the key has no bucket in front".to_owned());
    };
    if stats.total < KEYS_MIN {
        return Outcome::Unchecked(format!(
            "too few keys: {} with a bucket, at least {KEYS_MIN} are needed",
            say::float(stats.total)
        ));
    }
    let drafts = [over_mean(case, stats), unused(case, stats), moment(case, stats), stray(case, stats)];
    let mut drafts: Vec<Draft> = drafts.into_iter().flatten().collect();
    // One finding: the worst says it, the others add what they measured.
    drafts.sort_by(|a, b| {
        (b.finding.severity, b.share)
            .partial_cmp(&(a.finding.severity, a.share))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut drafts = drafts.into_iter();
    let Some(mut first) = drafts.next() else {
        return Outcome::Clear(format!(
            "{} buckets, all of them used, the fullest has {} of the keys, {} times the mean",
            stats.set,
            say::percent(stats.largest()),
            say::number(stats.largest() * say::length(stats.set))
        ));
    };
    for other in drafts {
        first.finding.evidence.extend(other.finding.evidence);
    }
    Outcome::one(advise::even(case, &case.shapes[stats.shape], first))
}

/// The share of the writes that one place takes in the fullest bucket: what is behind the bucket may spread its rows over many.
fn place_share(case: &Case<'_>, stats: &Buckets<'_>) -> f64 {
    let shape = &case.shapes[stats.shape];
    let fullest = stats.counts.first().map(|&(value, _)| value);
    let keys: Vec<&[u8]> = case
        .rows_of(shape)
        .filter(|row| row.fields.get(shape.lead).copied() == fullest)
        .map(|row| row.key)
        .collect();
    stats.largest() / places(&keys).map_or(1.0, |places| places.n_eff.max(1.0))
}

/// Values far above the mean.
fn over_mean(case: &Case<'_>, stats: &Buckets<'_>) -> Option<Draft> {
    let (value, count) = *stats.counts.first()?;
    let (share, mean) = (stats.share(count), 1.0 / say::length(stats.set.max(1)));
    if stats.set < 2 || surely_above(share, stats.total) <= mean || share < OVER_MEAN * mean {
        return None;
    }
    let headline = format!(
        "bucket {} has {} of the keys, {} times the mean of {} buckets",
        quote_value(value),
        say::percent(share),
        say::number(share / mean),
        stats.set
    );
    let shape = &case.shapes[stats.shape];
    let field = shape.lead_field();
    let of_value = case.rows_of(shape).filter(|row| row.fields.get(shape.lead) == Some(&value));
    let draft = Draft::of_share(case, Rule::UnevenBuckets, place_share(case, stats), headline)
        .field(&field.name)
        .measured(
            "share of the fullest bucket",
            share,
            format!("above {OVER_MEAN} times the mean, {}", say::percent(mean)),
            stats.total,
            Some(share_error(share, stats.total)),
        )
        .examples(of_value.take(5).map(|row| row.key));
    Some(match case.rows_of(shape).find(|row| row.fields.get(shape.lead) == Some(&value)) {
        Some(row) => draft.place(row.prefix(shape.lead).unwrap_or(value)),
        None => draft,
    })
}

/// Values that nothing is written to.
fn unused(case: &Case<'_>, stats: &Buckets<'_>) -> Option<Draft> {
    let used = stats.counts.len() - stats.outside.len();
    let missing = stats.set.saturating_sub(used);
    let set = say::length(stats.set);
    let shape = &case.shapes[stats.shape];
    // The chance that even buckets leave any one of them empty.
    let by_chance = set * (-say::float(stats.total) / set).exp();
    if missing == 0 || by_chance > 1e-4 {
        return None;
    }
    let headline = format!("{missing} of {} buckets are not used", stats.set);
    let share = place_share(case, stats);
    let draft = Draft::of_share(case, Rule::UnevenBuckets, share, headline).field(&shape.lead_field().name);
    Some(
        draft
            .measured("buckets without a key", say::length(missing), "above 0", stats.total, None)
            .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref)),
    )
}

/// All writes of a moment in one bucket: the bucket follows the time.
fn moment(case: &Case<'_>, stats: &Buckets<'_>) -> Option<Draft> {
    if case.context.declared.bulk_load || case.sorted {
        return None;
    }
    let shape = &case.shapes[stats.shape];
    // Fields that tell one writer from another: rows of one batch agree in them and may well share a bucket.
    let who: Vec<usize> = (0..shape.fields.len())
        .filter(|&index| index != shape.lead && !grows(&shape.fields[index].meaning))
        .filter(|&index| shape.fields[index].distinct > 1)
        .collect();
    let (mut pairs, mut same) = (0_u64, 0_u64);
    for run in &case.facts.written.runs {
        let rows = cut(case.layout, run);
        for (index, row) in rows.iter().enumerate() {
            for other in rows.iter().skip(index + 1).take(MOMENT) {
                let both = row.format == Some(shape.index) && other.format == Some(shape.index);
                if !both || who.iter().any(|&field| row.fields.get(field) == other.fields.get(field)) {
                    continue;
                }
                pairs += 1;
                same += u64::from(row.fields.get(shape.lead) == other.fields.get(shape.lead));
            }
        }
    }
    if pairs < KEYS_MIN {
        return None;
    }
    let share = say::float(same) / say::float(pairs);
    let places = 1.0 / share.max(1e-9);
    let expected = 1.0 / stats.same().max(1e-9);
    // Pairs overlap, so a stretch of 8 keys counts once.
    let surely = surely_above(share, pairs / MOMENT as u64);
    if places >= expected / 2.0 || surely <= 2.0 * stats.same() || places >= case.load.nodes / 2.0 {
        return None;
    }
    let headline = format!(
        "writes of one moment share a bucket: {} buckets are written at once, though {} are used over time",
        say::number(places),
        say::number(expected)
    );
    Some(
        Draft::of_share(case, Rule::UnevenBuckets, share, headline)
            .field(&shape.lead_field().name)
            .measured(
                "chance that two writes close in time share a bucket",
                share,
                format!("above {}, twice that of any two writes", say::percent(2.0 * stats.same())),
                pairs,
                Some(share_error(share, pairs / MOMENT as u64)),
            )
            .examples(case.facts.written.runs.iter().flatten().take(8).map(|arrived| arrived.key.as_ref())),
    )
}

/// Rows under values outside the set: who reads all buckets of the set never sees them.
fn stray(case: &Case<'_>, stats: &Buckets<'_>) -> Option<Draft> {
    let keys: u64 = stats.outside.iter().map(|&(_, count)| count).sum();
    let share = stats.share(keys);
    // A handful of malformed keys is no second set.
    if keys < 5 || share < 0.001 {
        return None;
    }
    let values: Vec<_> = stats.outside.iter().take(3).map(|(value, _)| quote_value(value)).collect();
    let headline = format!(
        "{} of the keys are under {} outside the {} buckets, such as {}: who reads all buckets misses them",
        say::percent(share),
        say::count(stats.outside.len() as u64, "value"),
        stats.set,
        values.join(", ")
    );
    let shape = &case.shapes[stats.shape];
    let is_outside = |value: &[u8]| stats.outside.iter().any(|(outside, _)| *outside == value);
    let rows =
        case.rows_of(shape).filter(|row| row.fields.get(shape.lead).is_some_and(|value| is_outside(value)));
    Some(
        Draft::new(Rule::UnevenBuckets, Severity::Warning, headline)
            .field(&shape.lead_field().name)
            .measured(
                "share of keys outside the set of buckets",
                share,
                "above 0.001",
                stats.total,
                Some(share_error(share, stats.total)),
            )
            .examples(rows.take(5).map(|row| row.key)),
    )
}

#[cfg(test)]
mod tests {
    use super::outside;

    #[track_caller]
    fn check(values: &[(&str, u64)], expected: &[&str]) {
        let counts: Vec<(&[u8], u64)> =
            values.iter().map(|&(text, count)| (text.as_bytes(), count)).collect();
        let total = values.iter().map(|(_, count)| count).sum();
        let found: Vec<_> = outside(&counts, total).0.into_iter().map(|(text, _)| text).collect();
        assert_eq!(found, expected.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_without_a_gap_are_the_set_and_others_are_outside() {
        check(&[("00", 9), ("01", 9), ("02", 9), ("03", 9)], &[]);
        check(&[("00", 90), ("01", 90), ("02", 90), ("03", 90), ("99", 7)], &["99"]);
        check(
            &[("0", 90), ("1", 45), ("2", 45), ("3", 45), ("-1", 45), ("-2", 45), ("-3", 45)],
            &["-1", "-2", "-3"],
        );
        check(&[("0", 90), ("1", 90), ("2", 90), ("null", 7)], &["null"]);
        check(&[("0a", 90), ("09", 90), ("08", 90), ("0b", 90)], &[]);
    }

    #[test]
    fn values_with_gaps_everywhere_are_no_set() {
        check(&[("11", 4_887), ("15", 1_925), ("05", 803), ("03", 381)], &[]);
        check(&[], &[]);
    }
}
