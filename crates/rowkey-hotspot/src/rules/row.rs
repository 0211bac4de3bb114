//! `rewritten-row`: the same complete key is written again and again.

use super::case::Case;
use super::draft::{Draft, Outcome, share_error, surely_above};
use super::say;
use crate::facts::HeavyKey;
use crate::finding::quote_value;
use crate::rule::{Rule, Severity};

/// A row counts from this share of all writes (corpus definition: about 2 %).
const SHARE_MIN: f64 = 0.02;

/// And from so many writes, whatever the share: in a small sample, a few repeated keys are a repeated batch.
const WRITES_MIN: u64 = 20;

/// How often a key surely occurred.
pub(super) fn at_least(heavy: &HeavyKey) -> u64 {
    heavy.count.saturating_sub(heavy.error)
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    let total = case.facts.counts.writes;
    if total < WRITES_MIN {
        return Outcome::Unchecked(format!(
            "too few keys: {} written, at least {WRITES_MIN} are needed",
            say::float(total)
        ));
    }
    let share = |heavy: &HeavyKey| say::float(at_least(heavy)) / say::float(total);
    let rows: Vec<&HeavyKey> = case
        .facts
        .heavy_writes
        .iter()
        .filter(|heavy| at_least(heavy) >= WRITES_MIN && share(heavy) >= SHARE_MIN)
        .collect();
    let Some(top) = rows.first() else {
        let most = case.facts.heavy_writes.first().map_or(0.0, share);
        return Outcome::Clear(format!(
            "no row takes {} of the writes; the most is {}",
            say::percent(SHARE_MIN),
            say::percent(most.max(1.0 / say::float(total)))
        ));
    };
    let together: f64 = rows.iter().map(|heavy| share(heavy)).sum();
    let headline = if rows.len() == 1 {
        format!(
            "{} is written again and again: {} of all writes",
            quote_value(&top.key),
            say::percent(together)
        )
    } else {
        format!(
            "{} rows are written again and again: {} of all writes, {} alone {}",
            rows.len(),
            say::percent(together),
            quote_value(&top.key),
            say::percent(share(top))
        )
    };
    let mut draft = Draft::new(Rule::RewrittenRow, Severity::Warning, headline);
    draft.share = share(top);
    draft.finding.nodes_lost = case.load.nodes_lost(draft.share);
    // A row cannot be split, and its versions pile up at any rate; what it takes of a node decides only between a warning and an error.
    if surely_above(draft.share, total) > 1.0 / case.load.nodes {
        draft.finding.severity = case.load.severity(draft.share).max(Severity::Warning);
    }
    for heavy in rows.iter().take(10) {
        draft = draft.measured(
            &format!("share of the writes on {}", quote_value(&heavy.key)),
            share(heavy),
            format!("from {SHARE_MIN}"),
            total,
            Some(share_error(share(heavy), total).max(say::float(heavy.error) / say::float(total))),
        );
    }
    let mut end = top.key.to_vec();
    end.push(0);
    draft.finding.places.push((top.key.to_vec(), Some(end)));
    draft = draft.examples(rows.iter().map(|heavy| heavy.key.as_ref()));
    draft = draft.advice(
        "Append a row per interval or writer, and add them up on reading.",
        "no row is written twice, and rows spread like any others",
        "a read becomes a short scan",
    );
    Outcome::one(draft.advice(
        "Or split each hot row into a few parts, by a hash of the writer.",
        &format!("{} parts bring the hottest below one node's share", (draft_parts(case, share(top)))),
        "a read fetches all parts; keep one version, else old ones pile up",
    ))
}

/// Parts that bring a row below one node's share of the writes, at least 2.
fn draft_parts(case: &Case<'_>, share: f64) -> String {
    say::number((share * case.load.nodes_needed()).ceil().max(2.0))
}
