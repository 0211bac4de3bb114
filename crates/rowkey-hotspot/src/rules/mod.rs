//! The doctor's rules: each looks at the same facts and layout, and says what it found or why it found nothing.
//!
//! Triggers, thresholds, where they come from, and counter-checks are in `docs/doctor.md`, "How each rule decides".

mod advise;
mod buckets;
mod case;
mod delimiter;
mod domain;
mod draft;
mod entity;
mod fanout;
mod formats;
mod front;
mod length;
mod load;
mod opaque;
mod places;
mod queue;
mod reverse;
mod rollover;
mod row;
mod say;
mod suffix;
mod text;
mod verdict;

#[cfg(test)]
mod tests;

pub use verdict::Verdict;

use crate::context::Context;
use crate::facts::Facts;
use crate::layout::Layout;
use crate::rule::Rule;
use case::Case;
use draft::Outcome;

/// Judges what was measured. A pure function: the same facts, layout and context give the same verdict.
pub fn judge(facts: &Facts, layout: &Layout, context: &Context) -> Verdict {
    let case = Case::new(facts, layout, context);
    let outcomes = Rule::ALL.iter().map(|&rule| (rule, look(rule, &case))).collect();
    verdict::weigh(&case, outcomes)
}

fn look(rule: Rule, case: &Case<'_>) -> Outcome {
    match rule {
        Rule::TimeFirst => front::time_first(case),
        Rule::SequentialId => front::sequential_id(case),
        Rule::UnpaddedNumber => text::unpadded(case),
        Rule::DomainNotReversed => domain::judge(case),
        Rule::MonotoneSuffix => suffix::monotone_suffix(case),
        Rule::PeriodRollover => rollover::judge(case),
        Rule::HotEntity => entity::judge(case),
        Rule::TooFewBuckets => suffix::too_few_buckets(case),
        Rule::TooManyBuckets => fanout::too_many(case),
        Rule::UnevenBuckets => buckets::uneven(case),
        Rule::SaltedRangeReads => fanout::salted_reads(case),
        Rule::OpaqueKey => opaque::judge(case),
        Rule::RewrittenRow => row::judge(case),
        Rule::LongKey => length::judge(case),
        Rule::MixedFormats => formats::formats(case),
        Rule::NegativeTextNumber => text::negative(case),
        Rule::DelimiterInData => delimiter::judge(case),
        Rule::MixedTimeUnits => formats::time_units(case),
        Rule::LossyReverseTime => reverse::judge(case),
        Rule::HexCaseMix => text::hex_case(case),
        Rule::DeleteBehindFront => queue::judge(case),
    }
}
