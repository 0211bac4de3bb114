//! `domain-not-reversed`: host names lead the key in reading order, so that the hosts of one domain are scattered.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::say;
use crate::layout::Meaning;
use crate::rule::{Rule, Severity};

/// Host names are what leads the key if so many values are (research, D4).
const HOSTS_MIN: f64 = 0.8;

/// Reversing brings rows together only where domains have several hosts; below this share of keys it would bring nothing.
const SHARED_MIN: f64 = 0.05;

/// The field with the host, if it leads: constant fields and buckets before it do not count.
fn host_field(shape: &Shape<'_>) -> Option<usize> {
    let index = (shape.lead..shape.fields.len())
        .find(|&index| !matches!(shape.fields[index].meaning, Meaning::Salt(_)))?;
    let field = shape.fields[index];
    let reading_order = matches!(field.meaning, Meaning::Domain { reversed: false });
    (reading_order && field.meaning_share >= HOSTS_MIN).then_some(index)
}

/// The host alone: without a scheme before it, and without port and path behind it.
fn host(value: &[u8]) -> &[u8] {
    let begin = value.windows(3).position(|at| at == b"://").map_or(0, |at| at + 3);
    let rest = &value[begin..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b':' | b'?')).unwrap_or(rest.len());
    &rest[..end]
}

/// The registrable domain of a host by the public suffix list.
fn domain(host: &[u8]) -> Option<&[u8]> {
    psl::domain(host).map(|domain| domain.as_bytes())
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    if case.layout.sampled < KEYS_MIN / 2 {
        return Outcome::Unchecked(case.no_order());
    }
    let Some((shape, index)) = case.shapes.iter().find_map(|shape| Some((shape, host_field(shape)?))) else {
        return Outcome::Clear("no host names in reading order lead the key".to_owned());
    };
    let mut hosts: BTreeMap<&[u8], BTreeSet<&[u8]>> = BTreeMap::new();
    let (mut keys, mut shared) = (0_u64, 0_u64);
    for row in case.rows_of(shape) {
        let host = row.fields.get(index).map_or(&[][..], |value| host(value));
        if let Some(domain) = domain(host) {
            hosts.entry(domain).or_default().insert(host);
        }
    }
    for row in case.rows_of(shape) {
        let host = row.fields.get(index).map_or(&[][..], |value| host(value));
        keys += 1;
        let several = domain(host).and_then(|domain| hosts.get(domain)).is_some_and(|hosts| hosts.len() > 1);
        // A host that is not the domain itself sorts away from it, even if it is the only one seen.
        let below = domain(host).is_some_and(|domain| domain.len() < host.len());
        shared += u64::from(several || below);
    }
    let field = shape.fields[index];
    let share = say::float(shared) / say::float(keys.max(1));
    let severity = if share >= SHARED_MIN { Severity::Warning } else { Severity::Note };
    let headline = format!(
        "`{}` holds host names in reading order: {} of the keys are hosts below a domain, scattered over the table",
        field.name,
        say::percent(share)
    );
    let draft = Draft::new(Rule::DomainNotReversed, severity, headline)
        .field(&field.name)
        .measured(
            "share of values that are host names",
            field.meaning_share,
            format!("from {HOSTS_MIN}"),
            keys,
            None,
        )
        .measured(
            "share of keys whose host is below a domain",
            share,
            format!("from {SHARED_MIN} for a warning"),
            keys,
            Some(share_error(share, keys)),
        )
        .measured("domains", say::length(hosts.len()), "", keys, None)
        .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref));
    Outcome::one(draft.advice(
        "Reverse the labels of the host (`com.example.www`), with a byte behind each that sorts below all bytes of hosts.",
        "the writes gain nothing; a large domain's rows come together, and split like any other range",
        "one domain with all its hosts becomes one range",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_cut_out_of_an_address() {
        let hosts = ["a.example.com", "https://a.example.com/p?q", "a.example.com:443", "a.example.com/p"];
        for text in hosts {
            assert_eq!(host(text.as_bytes()), b"a.example.com");
        }
        assert_eq!(host(b""), b"");
        assert_eq!(domain(b"a.b.co.uk").unwrap(), b"b.co.uk");
        assert_eq!(domain(b"com"), None);
    }
}
