//! From what single rules found to a verdict: what the user declared, what follows from what, and what comes first.

use super::case::Case;
use super::draft::{Draft, Outcome};
use super::say;
use crate::context::Context;
use crate::finding::{Bound, Finding, Passed};
use crate::rule::{Rule, Severity};

/// What the rules say about a sample.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Findings, what matters most first.
    pub findings: Vec<Finding>,
    /// Rules that found nothing, and why.
    pub passed: Vec<Passed>,
    /// The context with all that was assumed filled in.
    pub context: Context,
    /// How much of the cluster the writes can use.
    pub bound: Bound,
}

/// `(cause, consequence)`: where both are found, the consequence becomes a note, for the cure of the cause cures it.
const FOLLOWS: &[(Rule, Rule)] = &[
    // Values that were rounded collide: rows are rewritten, and numbers have odd widths.
    (Rule::LossyReverseTime, Rule::RewrittenRow),
    // An entity that is mostly one row.
    (Rule::RewrittenRow, Rule::HotEntity),
    // A bucket that does not spread leaves few places in front of what follows arrival.
    (Rule::UnevenBuckets, Rule::MonotoneSuffix),
    (Rule::UnevenBuckets, Rule::HotEntity),
    (Rule::TooFewBuckets, Rule::MonotoneSuffix),
    (Rule::TimeFirst, Rule::PeriodRollover),
    (Rule::TimeFirst, Rule::MonotoneSuffix),
    (Rule::SequentialId, Rule::MonotoneSuffix),
    (Rule::MonotoneSuffix, Rule::HotEntity),
    // The same buckets, told twice.
    (Rule::SaltedRangeReads, Rule::TooManyBuckets),
    // Another unit, case or sign looks like another format or width.
    (Rule::MixedTimeUnits, Rule::MixedFormats),
    (Rule::MixedTimeUnits, Rule::UnpaddedNumber),
    (Rule::HexCaseMix, Rule::MixedFormats),
    (Rule::NegativeTextNumber, Rule::MixedFormats),
    (Rule::NegativeTextNumber, Rule::UnpaddedNumber),
    (Rule::DelimiterInData, Rule::MixedFormats),
];

/// Rules that read the order of arrival as the order of production: `--bulk-load` says that it is not.
const OF_ARRIVAL: &[Rule] = &[
    Rule::TimeFirst,
    Rule::SequentialId,
    Rule::MonotoneSuffix,
    Rule::PeriodRollover,
    Rule::TooFewBuckets,
    Rule::HotEntity,
];

/// Rules about ranges of keys, which nobody reads under `--point-reads`.
const OF_RANGES: &[Rule] = &[
    Rule::UnpaddedNumber,
    Rule::NegativeTextNumber,
    Rule::DelimiterInData,
    Rule::DomainNotReversed,
    Rule::OpaqueKey,
    Rule::TooManyBuckets,
];

/// What a rule is about, which orders findings of one severity: lost data, lost capacity, reads that come back wrong, cost.
fn class(rule: Rule) -> u8 {
    match rule {
        Rule::LossyReverseTime => 0,
        Rule::TimeFirst
        | Rule::SequentialId
        | Rule::MonotoneSuffix
        | Rule::PeriodRollover
        | Rule::HotEntity
        | Rule::TooFewBuckets
        | Rule::UnevenBuckets
        | Rule::RewrittenRow => 1,
        Rule::DeleteBehindFront | Rule::SaltedRangeReads | Rule::TooManyBuckets => 2,
        Rule::MixedTimeUnits
        | Rule::HexCaseMix
        | Rule::NegativeTextNumber
        | Rule::DelimiterInData
        | Rule::UnpaddedNumber => 3,
        Rule::OpaqueKey | Rule::DomainNotReversed | Rule::LongKey => 4,
        Rule::MixedFormats => 5,
    }
}

pub(super) fn weigh(case: &Case<'_>, outcomes: Vec<(Rule, Outcome)>) -> Verdict {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut passed = Vec::new();
    for (rule, outcome) in outcomes {
        match outcome {
            Outcome::Found(found) => drafts.extend(found),
            Outcome::Clear(why) => passed.push(Passed { rule, checked: true, why }),
            Outcome::Unchecked(why) => passed.push(Passed { rule, checked: false, why }),
        }
    }
    declared(case, &mut drafts);
    consequences(&mut drafts);
    drafts.sort_by(|a, b| {
        let (first, second) = (&a.finding, &b.finding);
        second
            .severity
            .cmp(&first.severity)
            .then(class(first.rule).cmp(&class(second.rule)))
            .then(second.nodes_lost.total_cmp(&first.nodes_lost))
            .then(first.rule.cmp(&second.rule))
    });
    let bound = bound(case, &drafts);
    let findings = drafts.into_iter().map(|draft| draft.finding).collect();
    Verdict { findings, passed, context: filled(case), bound }
}

fn lower(draft: &mut Draft, why: &str) {
    if draft.finding.severity > Severity::Note {
        draft.finding.severity = Severity::Note;
        draft.finding.headline.push_str("; ");
        draft.finding.headline.push_str(why);
    }
}

fn declared(case: &Case<'_>, drafts: &mut [Draft]) {
    let declared = case.context.declared;
    for draft in drafts {
        let rule = draft.finding.rule;
        if declared.bulk_load && OF_ARRIVAL.contains(&rule) {
            lower(draft, "only a note, since this is a bulk load, sorted on purpose");
            draft.finding.nodes_lost = 0.0;
            draft.share = 0.0;
        } else if case.sorted && OF_ARRIVAL.contains(&rule) {
            lower(draft, "only a note, since the keys come sorted, which says nothing about arrival");
            draft.finding.nodes_lost = 0.0;
            draft.share = 0.0;
        }
        if declared.point_reads && OF_RANGES.contains(&rule) {
            lower(draft, "only a note, since rows are only read by the complete key");
        }
    }
}

fn consequences(drafts: &mut [Draft]) {
    for &(cause, consequence) in FOLLOWS {
        // A note explains nothing away that is worse than itself.
        let Some(severity) = drafts
            .iter()
            .filter(|draft| draft.finding.rule == cause)
            .map(|draft| draft.finding.severity)
            .max()
        else {
            continue;
        };
        for draft in drafts.iter_mut() {
            if draft.finding.rule == consequence && severity > Severity::Note {
                lower(draft, &format!("it follows from `{cause}`"));
            }
        }
    }
}

fn bound(case: &Case<'_>, drafts: &[Draft]) -> Bound {
    let load = &case.load;
    // A turn of a period passes; what lasts decides.
    let lasting = drafts.iter().filter(|draft| draft.finding.rule != Rule::PeriodRollover);
    let nodes_used = lasting.map(|draft| load.nodes_used(draft.share)).fold(load.nodes, f64::min);
    Bound {
        needed_per_s: load.needed_per_s,
        needed_is_known: load.known,
        nodes_used,
        bound_per_s: nodes_used * load.target_per_s,
    }
}

/// The context with what was measured or assumed.
fn filled(case: &Case<'_>) -> Context {
    let counts = &case.facts.counts;
    let measured = (counts.scans_with_rows > 0)
        .then(|| say::float(counts.scanned_rows) / say::float(counts.scans_with_rows));
    Context {
        writes_per_s: Some(case.load.needed_per_s),
        reads_per_s: case.context.reads_per_s.or(Some(case.facts.span.map_or(0.0, |span| span.scans_per_s))),
        rows_per_read: case.context.rows_per_read.or(measured).or(Some(100.0)),
        ..case.context.clone()
    }
}
