//! `delete-behind-front`: rows are deleted in about the order they were written, while reads start at the old end. A deleted row leaves a
//! mark until a compaction, and each read passes over all of them.

use std::collections::BTreeMap;

use super::case::{Case, KEYS_MIN};
use super::draft::{Draft, Outcome};
use super::say;
use crate::rule::{Rule, Severity};

/// Rows deleted for each row written; below, it is housekeeping.
const DELETED_MIN: f64 = 0.1;
/// Rank correlation of the order of deletes with the order of writes.
const TAU_MIN: f64 = 0.8;
/// Share of scans that pass over as many deleted rows as they return.
const SCANS_MIN: f64 = 0.5;

/// Kendall's tau of a sequence of numbers against their positions, over all pairs of at most 400, drawn at even distances.
fn tau(values: &[u64]) -> f64 {
    let step = values.len().div_ceil(400).max(1);
    let values: Vec<u64> = values.iter().copied().step_by(step).collect();
    let (mut up, mut down) = (0_u32, 0_u32);
    for (index, first) in values.iter().enumerate() {
        for second in &values[index + 1..] {
            up += u32::from(second > first);
            down += u32::from(second < first);
        }
    }
    if up + down == 0 { 0.0 } else { (f64::from(up) - f64::from(down)) / f64::from(up + down) }
}

/// How far the order of deletes is the order of writes, and from how many keys: of rows whose write was seen, else of their keys if keys
/// are written in order.
fn order(case: &Case<'_>) -> (f64, u64) {
    let written = &case.facts.written;
    let all = written.uniform.iter().chain(written.runs.iter().flatten());
    let writes: BTreeMap<&[u8], u64> = all.map(|arrived| (arrived.key.as_ref(), arrived.index)).collect();
    let deleted = &case.facts.deleted;
    let mut deletes: Vec<_> = deleted.uniform.iter().collect();
    deletes.sort_by_key(|arrived| arrived.index);
    let indexes: Vec<u64> =
        deletes.iter().filter_map(|arrived| writes.get(arrived.key.as_ref()).copied()).collect();
    if indexes.len() >= 30 {
        return (tau(&indexes), indexes.len() as u64);
    }
    let mut ranked: Vec<&[u8]> = deletes.iter().map(|arrived| arrived.key.as_ref()).collect();
    ranked.sort_unstable();
    let ranks: Vec<u64> = deletes
        .iter()
        .map(|arrived| ranked.partition_point(|key| *key < arrived.key.as_ref()) as u64)
        .collect();
    // Keys that are written in their order; reversed times turn both round.
    let direction = case.facts.writes.front.tau;
    (tau(&ranks) * direction.clamp(-1.0, 1.0), ranks.len() as u64)
}

/// The share of scans that pass over at least as many deleted rows as they return, which makes them twice as dear; if they do not say how
/// many they return, over any.
fn scans_into_deleted(case: &Case<'_>) -> (f64, u64) {
    let deletes = &case.facts.deleted;
    // Of more deletes than were kept, each mark stands for several.
    let kept = deletes.uniform.len().max(1) as u64;
    let each = deletes.seen.div_ceil(kept).max(1);
    let mut marks: BTreeMap<&[u8], i64> = BTreeMap::new();
    for arrived in deletes.uniform.iter().chain(deletes.runs.iter().flatten()) {
        let time = arrived.time_ms.unwrap_or(i64::MIN);
        let first = marks.entry(arrived.key.as_ref()).or_insert(time);
        *first = (*first).min(time);
    }
    let (mut scans, mut into) = (0_u64, 0_u64);
    for scan in case.facts.scanned.runs.iter().flatten() {
        let end = scan.end.as_deref();
        if end.is_some_and(|end| end <= scan.key.as_ref()) {
            continue;
        }
        scans += 1;
        let now = scan.time_ms.unwrap_or(i64::MAX);
        let inside = marks.range::<[u8], _>((
            std::ops::Bound::Included(scan.key.as_ref()),
            end.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded),
        ));
        let enough = usize::try_from(scan.rows.unwrap_or(1).max(1).div_ceil(each)).unwrap_or(usize::MAX);
        into += u64::from(inside.filter(|(_, time)| **time < now).take(enough).count() == enough);
    }
    (say::float(into) / say::float(scans.max(1)), scans)
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    let counts = &case.facts.counts;
    if counts.deletes == 0 {
        return Outcome::Unchecked("the input has no deletes".to_owned());
    }
    if counts.scans == 0 {
        return Outcome::Clear(format!(
            "{} deletes, but no range reads that would pass over them",
            say::float(counts.deletes)
        ));
    }
    if counts.deletes < KEYS_MIN / 2 {
        return Outcome::Clear(format!("only {} rows are deleted", say::float(counts.deletes)));
    }
    let per_write = say::float(counts.deletes) / say::float(counts.writes.max(1));
    let (tau, ranked) = order(case);
    let (into, scans) = scans_into_deleted(case);
    if per_write < DELETED_MIN || tau < TAU_MIN || into < SCANS_MIN {
        return Outcome::Clear(format!(
            "{} rows are deleted for each row written, their order agrees by {} with that of writing, {} of the scans pass over as many deleted rows as they return",
            say::number(per_write),
            say::number(tau),
            say::percent(into)
        ));
    }
    let headline = format!(
        "a queue: {} of the rows are deleted, in the order of writing, and {} of the scans pass over as many deleted rows as they return",
        say::percent(per_write.min(1.0)),
        say::percent(into)
    );
    let draft = Draft::new(Rule::DeleteBehindFront, Severity::Warning, headline)
        .measured(
            "rows deleted for each row written",
            per_write,
            format!("from {DELETED_MIN}"),
            counts.deletes,
            None,
        )
        .measured("rank correlation of deletes with writes", tau, format!("from {TAU_MIN}"), ranked, None)
        .measured(
            "share of scans that pass over as many deleted rows as they return",
            into,
            format!("from {SCANS_MIN}"),
            scans,
            None,
        )
        .examples(case.facts.deleted.uniform.iter().take(5).map(|arrived| arrived.key.as_ref()));
    Outcome::one(
        draft
            .advice(
                "Remember the last position and begin the scan there.",
                "the writes gain nothing",
                "a scan passes over live rows only",
            )
            .advice(
                "Or use several queues, or a table for each day that is dropped whole; a real queue is better still.",
                "several fronts instead of one",
                "a reader polls each queue",
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::tau;

    #[test]
    fn order_is_a_rank_correlation() {
        let check = |values: &[u64], expected: f64| assert!((tau(values) - expected).abs() < 1e-9);
        check(&(0..1_000).collect::<Vec<_>>(), 1.0);
        check(&(0..1_000).rev().collect::<Vec<_>>(), -1.0);
        check(&[], 0.0);
        check(&[5; 9], 0.0);
    }
}
