//! A finding while it is made.

use super::case::Case;
use super::say;
use crate::finding::{Advice, Evidence, Finding};
use crate::rule::{Rule, Severity};

/// Example keys of a finding, at most.
const EXAMPLES_MAX: usize = 10;

/// What became of a rule.
pub(super) enum Outcome {
    /// It fired.
    Found(Vec<Draft>),
    /// It looked and found nothing: what was seen.
    Clear(String),
    /// It could not look: why.
    Unchecked(String),
}

impl Outcome {
    pub(super) fn one(draft: Draft) -> Self {
        Self::Found(vec![draft])
    }
}

/// A finding and the share of the writes that one place takes by it; 0 where it is not about places.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) finding: Finding,
    pub(super) share: f64,
}

impl Draft {
    /// A finding of a severity of its own.
    pub(super) fn new(rule: Rule, severity: Severity, headline: impl Into<String>) -> Self {
        let finding = Finding {
            rule,
            severity,
            headline: headline.into(),
            field: None,
            evidence: Vec::new(),
            nodes_lost: 0.0,
            examples: Vec::new(),
            places: Vec::new(),
            advice: Vec::new(),
        };
        Self { finding, share: 0.0 }
    }

    /// A finding that one place takes `share` of the writes: its severity is the capacity lost.
    pub(super) fn of_share(case: &Case<'_>, rule: Rule, share: f64, headline: impl Into<String>) -> Self {
        let load = &case.load;
        let mut draft = Self::new(rule, load.severity(share), headline);
        draft.share = share;
        draft.finding.nodes_lost = load.nodes_lost(share);
        let note = if load.one_node_is_enough() {
            format!(
                "; one node takes {} writes/s and the peak is {}, so nothing is lost",
                say::number(load.target_per_s),
                say::number(load.needed_per_s)
            )
        } else {
            format!(
                "; it keeps at most {} of {} busy",
                say::number(load.nodes_used(share)),
                say::count(u64::from(case.context.nodes), "node")
            )
        };
        draft.finding.headline.push_str(&note);
        draft
    }

    pub(super) fn field(mut self, name: &str) -> Self {
        self.finding.field = Some(name.to_owned());
        self
    }

    /// A measurement with its threshold.
    pub(super) fn measured(
        mut self,
        what: &str,
        measured: f64,
        threshold: impl Into<String>,
        sample: u64,
        error: Option<f64>,
    ) -> Self {
        let evidence =
            Evidence { what: what.to_owned(), measured, threshold: threshold.into(), sample, error };
        self.finding.evidence.push(evidence);
        self
    }

    pub(super) fn examples<'k>(mut self, keys: impl IntoIterator<Item = &'k [u8]>) -> Self {
        let free = EXAMPLES_MAX.saturating_sub(self.finding.examples.len());
        self.finding.examples.extend(keys.into_iter().take(free).map(Box::from));
        self
    }

    /// All keys that begin with `prefix`.
    pub(super) fn place(mut self, prefix: &[u8]) -> Self {
        self.finding.places.push((prefix.to_vec(), successor(prefix)));
        self
    }

    /// Whether a way out is named already.
    pub(super) fn has_advice(&self) -> bool {
        !self.finding.advice.is_empty()
    }

    pub(super) fn advice(mut self, action: &str, gain: &str, cost: &str) -> Self {
        let advice = Advice { action: action.to_owned(), gain: gain.to_owned(), cost: cost.to_owned() };
        self.finding.advice.push(advice);
        self
    }
}

/// The first key behind all keys that begin with `prefix`; `None`: there is none.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut next = prefix[..=end].to_vec();
    next[end] += 1;
    Some(next)
}

/// Standard error of a share measured on `n` keys.
pub(super) fn share_error(share: f64, n: u64) -> f64 {
    if n == 0 { 1.0 } else { (share * (1.0 - share) / say::float(n)).max(0.0).sqrt() }
}

/// A share that is surely not below this: three standard errors below what was measured, by Wilson's interval, which holds for
/// few keys too. One chance in 700 that a share is below it; rules look at the greatest of many shares.
pub(super) fn surely_above(share: f64, n: u64) -> f64 {
    const Z: f64 = 3.0;
    if n == 0 {
        return 0.0;
    }
    let n = say::float(n);
    let centre = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).max(0.0).sqrt();
    ((centre - half) / (1.0 + Z * Z / n)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_the_first_key_behind_it() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(successor(b"\xff"), None);
        assert_eq!(successor(b""), None);
    }

    #[test]
    fn a_share_of_few_keys_is_known_badly() {
        assert!(surely_above(0.5, 10) < 0.2);
        assert!(surely_above(0.5, 100_000) > 0.49);
        assert!(surely_above(0.5, 0) <= 0.0);
        assert!(surely_above(1.0, 20) > 0.6);
    }
}
