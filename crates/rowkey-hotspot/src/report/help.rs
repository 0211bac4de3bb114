//! What each rule is about, in a few sentences: for reports that have no room for `docs/doctor.md`.

use crate::rule::Rule;

/// Why it matters, and what usually cures it.
pub fn help(rule: Rule) -> &'static str {
    HELP.iter().find(|(of, _)| *of == rule).map_or_else(|| rule.summary(), |(_, text)| text)
}

const HELP: &[(Rule, &str)] = &[
    (
        Rule::TimeFirst,
        "Rows are kept sorted by key, so rows of one moment land side by side: one tablet, and so one node, takes all writes, \
             and splitting does not help, since the next writes come behind the last split. Put what identifies the entity before the time; \
             if entities are too few, a bucket computed from a field.",
    ),
    (
        Rule::SequentialId,
        "An id that only grows (a counter, UUID version 7, ULID, snowflake) writes one moving place, as a time does. Put another \
             field or a hash of the id in front, reverse its digits or bits, or use random ids.",
    ),
    (
        Rule::UnpaddedNumber,
        "As text 10 sorts before 9, so ranges of numbers are not ranges of rows. Pad with zeros, or write big-endian bytes.",
    ),
    (
        Rule::DomainNotReversed,
        "Host names sort from left to right, so the hosts of one domain lie far apart. Reverse the labels: com.example.www.",
    ),
    (
        Rule::MonotoneSuffix,
        "Behind each value of the front field lies one moving end, and only so many places are written at once. Put more \
             fields that vary before the time, or a bucket inside the front field.",
    ),
    (
        Rule::PeriodRollover,
        "Within a period the writes spread; when it turns, all of them go to a place that was empty until then, on one tablet. Put \
             the period behind what spreads, or split before each turn.",
    ),
    (
        Rule::HotEntity,
        "One entity's rows lie together and take more than one node's share, so no split can relieve the node. Spread only that \
             entity, over a few buckets, or cache what is read.",
    ),
    (
        Rule::TooFewBuckets,
        "Each bucket is one place written at once; nodes beyond that number stay idle. Use more buckets than nodes.",
    ),
    (
        Rule::TooManyBuckets,
        "A range read visits every bucket, and each visit costs a seek. Use only as many buckets as the writes need.",
    ),
    (
        Rule::UnevenBuckets,
        "Buckets that are unused or overfull, or that follow the moment, do not spread. Compute the bucket from a hash of a field with \
             many values.",
    ),
    (
        Rule::SaltedRangeReads,
        "Every range read has to visit all buckets, and few writes gain from them. Leave the bucket out, or compute it from fields \
             that readers know.",
    ),
    (
        Rule::OpaqueKey,
        "Nobody can read a range of a digest, nor see what is hot. Put the fields that are asked for before a short hash.",
    ),
    (
        Rule::RewrittenRow,
        "One row lies on one node, whatever the key; each rewrite adds a version to read past. Write a row for each event or \
             period, or sum up before writing.",
    ),
    (
        Rule::LongKey,
        "The key is stored with every cell and sent with every row. Use ids for long texts, or a digest of what nobody reads ranges of.",
    ),
    (
        Rule::MixedFormats,
        "A range read assumes one layout and misses the rows of the other. Give each kind of row its own table or its own first word.",
    ),
    (
        Rule::NegativeTextNumber,
        "As text -5 sorts before -6 and the sign before all digits. Add an offset, or write the sign-flipped big-endian bytes.",
    ),
    (
        Rule::DelimiterInData,
        "A separator inside a field, or a byte that sorts below it, puts other rows between the rows of one value. Escape it, use a \
             separator below all data such as \\x00, or fix the width.",
    ),
    (
        Rule::MixedTimeUnits,
        "Seconds beside milliseconds sort thousands of years apart: ranges of time miss rows. Use one unit and width everywhere.",
    ),
    (
        Rule::LossyReverseTime,
        "A 64-bit number that went through floating point keeps 53 bits: rows of different times get one key and replace each \
             other. Subtract with integers.",
    ),
    (
        Rule::HexCaseMix,
        "Capitals sort before small letters, and a look-up in the other case finds nothing. Write one case.",
    ),
    (
        Rule::DeleteBehindFront,
        "A queue in a sorted table: readers begin at the old end and pass all deleted rows first. Remember how far it was read, or use \
             a table or partition for each period.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_sentences_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for rule in Rule::ALL {
            assert!(help(*rule).ends_with('.') && seen.insert(help(*rule)), "{rule}");
        }
    }
}
