//! What no key schema cures, and what to do instead.

use super::old::Old;
use crate::finding::Diagnosis;
use crate::rule::Rule;

/// Why nothing is proposed for a root cause; `None`: something can be.
pub(super) fn root(rule: Rule, old: &Old, diagnosis: &Diagnosis) -> Option<String> {
    let text = match rule {
        Rule::RewrittenRow => {
            "No key schema spreads one row: it is served by one node, and every write adds a version. Append a row for each interval and \
             writer and add them up on reading, or split each hot counter into parts."
        }
        Rule::DeleteBehindFront => {
            "No key schema cures a queue: reads begin in what was deleted, wherever the rows stand. Remember the last position and scan \
             from there, use several queues and tables that are dropped whole, or a real queue."
        }
        Rule::OpaqueKey => {
            "The keys are digests, and nothing in them says what they are of: the parts of the key have to come from the writer. Put the \
             fields that reads ask for into the key, readable, and hash only what must spread into a short prefix."
        }
        Rule::MixedFormats if old.is_whole() => {
            "Two layouts in one table have no schema in common. Finish the migration from one to the other, or give each a table; then \
             propose again from a sample of one."
        }
        Rule::HotEntity if is_one_row(diagnosis) => {
            "One row is hot by itself, and no key spreads a row. Cache it if it is read; if it is written, split it into parts that are \
             added up on reading."
        }
        Rule::TimeFirst
        | Rule::SequentialId
        | Rule::MonotoneSuffix
        | Rule::PeriodRollover
        | Rule::HotEntity
        | Rule::MixedFormats => return None,
        _ if old.is_whole() => {
            "The keys have no layout in common that could be written down as fields. Propose again from a sample with one layout, or with \
             a schema."
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Whether the hottest row takes more than a node's share by itself, by what is certain of its count.
fn is_one_row(diagnosis: &Diagnosis) -> bool {
    let facts = &diagnosis.facts;
    let nodes = u64::from(diagnosis.context.nodes.max(1));
    let hot = |heavy: &[crate::facts::HeavyKey], all: u64| {
        heavy
            .first()
            .is_some_and(|key| all > 1 && (key.count - key.error.min(key.count)).saturating_mul(nodes) > all)
    };
    hot(&facts.heavy_writes, facts.counts.writes) || hot(&facts.heavy_reads, facts.counts.reads)
}

/// Whether a finding stays in the sample however its keys are written.
pub(super) fn stays(rule: Rule) -> bool {
    !rest(&[rule]).is_empty()
}

/// What is left of the other findings.
pub(super) fn rest(rules: &[Rule]) -> Vec<String> {
    let text = |rule: &Rule| match rule {
        Rule::RewrittenRow => {
            Some("rows that are rewritten stay hot: append a row for each interval and writer instead.")
        }
        Rule::DeleteBehindFront => Some(
            "reads that begin in what was deleted stay slow: remember the last position and scan from there.",
        ),
        Rule::OpaqueKey => Some("a digest stays unreadable: put the fields that reads ask for into the key."),
        Rule::MixedFormats => {
            Some("writers of other formats have to change: keys of theirs do not fit or stand as they are.")
        }
        Rule::MixedTimeUnits => Some(
            "writers that count in another unit have to convert: a schema refuses what does not fit its digits, not what means another unit.",
        ),
        Rule::LossyReverseTime => Some("digits that old keys have lost do not come back."),
        Rule::HexCaseMix => Some("rows under capitals have to be rewritten once."),
        _ => None,
    };
    rules.iter().filter_map(text).map(str::to_owned).collect()
}
