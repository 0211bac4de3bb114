//! `opaque-key`: the key is a bare digest or unprintable bytes, so that neither a range read nor a diagnosis can use it.

use super::case::{Case, Shape};
use super::draft::{Draft, Outcome};
use super::say;
use crate::layout::Meaning;
use crate::rule::{Rule, Severity};

/// A digest of so many bits or more does not tell its rows apart by a short prefix for spreading: it is the key.
const DIGEST_BITS: u32 = 64;

/// Whether nothing in a format can be read: its varying fields are digests or unknown bytes.
fn is_opaque(case: &Case<'_>, shape: &Shape<'_>) -> bool {
    let mut varying = shape.fields.iter().enumerate().filter(|(_, field)| field.distinct > 1);
    varying.all(|(index, field)| match &field.meaning {
        Meaning::Hash { bits, .. } => *bits >= DIGEST_BITS,
        Meaning::Binary => !printable(case.rows_of(shape).filter_map(|row| row.fields.get(index).copied())),
        _ => false,
    })
}

/// Whether half or more of the bytes are printable (research, D12).
fn printable<'v>(values: impl Iterator<Item = &'v [u8]>) -> bool {
    let (mut all, mut good) = (0, 0);
    for byte in values.take(1_000).flatten() {
        all += 1;
        good += usize::from(matches!(byte, b' '..=b'~'));
    }
    good * 2 >= all
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    if case.layout.sampled == 0 {
        return Outcome::Unchecked("there are no keys".to_owned());
    }
    if case.layout.from_schema {
        return Outcome::Clear("a schema says how the key is built".to_owned());
    }
    let opaque: Vec<&Shape<'_>> = case.shapes.iter().filter(|shape| is_opaque(case, shape)).collect();
    let mut share: f64 = opaque.iter().map(|shape| shape.format.share).sum();
    if case.layout.formats.is_empty() || case.layout.unexplained_share > 0.5 {
        let unprintable = case
            .written
            .iter()
            .filter(|row| row.format.is_none() && !printable(std::iter::once(row.key)))
            .count();
        share += say::length(unprintable) / say::length(case.written.len().max(1));
    }
    if share < 0.5 {
        return Outcome::Clear(format!("{} of the keys hold nothing that can be read", say::percent(share)));
    }
    let scans = case.range_reads();
    let bits = opaque.first().map(|shape| &shape.lead_field().meaning);
    let what = match bits {
        Some(Meaning::Hash { bits, .. }) => format!("bare digests of {bits} bits"),
        _ => "bytes that nothing can be read from".to_owned(),
    };
    let (severity, reads) = if scans > 0 {
        (
            Severity::Warning,
            format!("{} range reads pass over rows that have nothing in common", say::float(scans)),
        )
    } else {
        (Severity::Note, "no range read can use them, and none was seen".to_owned())
    };
    let headline = format!("{} of the keys are {what}: {reads}", say::percent(share));
    let mut draft = Draft::new(Rule::OpaqueKey, severity, headline)
        .measured("share of keys that cannot be read", share, "from 0.5", case.layout.sampled, None)
        .measured("range reads", say::float(scans), "", case.facts.counts.scans, None)
        .examples(case.written.iter().take(5).map(|row| row.key));
    if case.facts.counts.scans_with_rows > 0 {
        let rows = say::float(case.facts.counts.scanned_rows) / say::float(case.facts.counts.scans_with_rows);
        draft = draft.measured(
            "rows that a range read touches",
            rows,
            "",
            case.facts.counts.scans_with_rows,
            None,
        );
    }
    Outcome::one(draft.advice(
        "Hash only what must spread, into a short prefix, and keep the id and the time readable behind it.",
        "writes spread as they do now",
        "a range read of one id touches its rows only",
    ))
}
