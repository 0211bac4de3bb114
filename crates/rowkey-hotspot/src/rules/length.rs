//! `long-key`: keys are stored with every cell and sent with every row.

use super::case::Case;
use super::draft::{Draft, Outcome};
use super::say;
use crate::rule::{Rule, Severity};

/// Bigtable refuses row keys above this many bytes (`google.bigtable.v2.Row.key`, 4 KiB).
const LIMIT: u64 = 4_096;
/// The longest per cent above this is a warning.
const LONG: u64 = 1_000;
/// And above this a note (research, D14).
const NOTE: u64 = 100;

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    let lengths = &case.facts.lengths;
    if lengths.max == 0 {
        return Outcome::Unchecked("there are no keys".to_owned());
    }
    let keys = case.facts.counts.writes.max(case.facts.written.seen);
    let (severity, threshold) = match lengths {
        _ if lengths.max > LIMIT => (Severity::Error, format!("above {LIMIT}, which Bigtable refuses")),
        _ if lengths.p99 > LONG => (Severity::Warning, format!("above {LONG}")),
        _ if lengths.p99 > NOTE => (Severity::Note, format!("above {NOTE}")),
        _ => {
            return Outcome::Clear(format!(
                "99 of 100 keys have at most {} bytes, the longest {}",
                lengths.p99, lengths.max
            ));
        }
    };
    let headline = if lengths.max > LIMIT {
        format!(
            "{} above {} bytes, the longest {}: Bigtable refuses them",
            say::count(lengths.over_limit.max(1), "key"),
            say::float(LIMIT),
            say::float(lengths.max)
        )
    } else {
        format!(
            "the longest per cent of the keys has more than {} bytes, half have more than {}",
            say::float(lengths.p99),
            say::float(lengths.p50)
        )
    };
    let mut draft = Draft::new(Rule::LongKey, severity, headline)
        .measured("99th percentile of the length, bytes", say::float(lengths.p99), threshold, keys, None)
        .measured("longest key, bytes", say::float(lengths.max), "", keys, None)
        .measured("median, bytes", say::float(lengths.p50), "", keys, None);
    let mut longest: Vec<&[u8]> = case.written.iter().map(|row| row.key).collect();
    longest.sort_by_key(|key| std::cmp::Reverse(key.len()));
    draft = draft.examples(longest.into_iter().take(3));
    if case.facts.counts.writes_with_bytes > 0 {
        let row =
            say::float(case.facts.counts.bytes_written) / say::float(case.facts.counts.writes_with_bytes);
        let key = say::float(lengths.total) / say::float(keys.max(1));
        draft = draft.measured(
            "share of a row's bytes that is its key",
            key / (key + row).max(1.0),
            "",
            keys,
            None,
        );
    }
    Outcome::one(draft.advice(
        "Keep a digest or a dictionary number of the long part in the key, and the part itself in a cell.",
        "each write sends fewer bytes",
        "rows no longer sort by the long part; a look-up computes the digest first",
    ))
}
