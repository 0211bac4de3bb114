//! From shares of the writes to capacity: what is needed, what a place takes, what is lost, and how bad that is.
//!
//! ```text
//! needed   stated writes a second; else the peak of the operations; else as many as need the whole cluster at its target
//! place    a part of the key space that one node serves and that no split divides in time; it takes `share` of the writes
//! bound    target of a node * min(N, 1 / share)
//! lost     1 - min(1, bound / needed)
//! ```

use crate::context::Context;
use crate::facts::Facts;
use crate::rule::Severity;

/// What the writes need and what nodes take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    /// Nodes of the cluster, at least 1.
    pub(super) nodes: f64,
    /// Writes per second needed.
    pub(super) needed_per_s: f64,
    /// Whether that is stated or measured.
    pub(super) known: bool,
    /// Writes per second of one node at its target.
    pub(super) target_per_s: f64,
    /// Writes per second of one node at its limit.
    pub(super) limit_per_s: f64,
}

impl Load {
    pub(super) fn of(facts: &Facts, context: &Context) -> Self {
        let nodes = f64::from(context.nodes.max(1));
        let usable = |rate: f64| (rate.is_finite() && rate > 0.0).then_some(rate);
        let limit_per_s = usable(context.capacity.writes_per_s).unwrap_or(1.0);
        let target_per_s = usable(context.capacity.one_node_writes_per_s()).unwrap_or(limit_per_s);
        let measured = facts.span.and_then(|span| usable(span.writes_per_s));
        let stated = context.writes_per_s.and_then(usable);
        let known = stated.or(measured);
        let needed_per_s = known.unwrap_or(nodes * target_per_s);
        Self { nodes, needed_per_s, known: known.is_some(), target_per_s, limit_per_s }
    }

    /// Nodes that the writes need at the target, not rounded, at most the cluster.
    pub(super) fn nodes_needed(&self) -> f64 {
        (self.needed_per_s / self.target_per_s).min(self.nodes)
    }

    /// The same in whole nodes, at least 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the cluster's nodes, which are a u32"
    )]
    pub(super) fn nodes_needed_whole(&self) -> u32 {
        self.nodes_needed().ceil().max(1.0) as u32
    }

    /// Whether one node takes all writes.
    pub(super) fn one_node_is_enough(&self) -> bool {
        self.nodes <= 1.0 || self.needed_per_s <= self.target_per_s
    }

    /// Nodes that can be busy at once if one place takes `share` of the writes.
    pub(super) fn nodes_used(&self, share: f64) -> f64 {
        if share > 0.0 { (1.0 / share).clamp(1.0, self.nodes) } else { self.nodes }
    }

    /// The share of the needed writes that cannot be served, 0 to 1. What the whole cluster cannot serve either is not counted.
    pub(super) fn lost(&self, share: f64) -> f64 {
        1.0 - (self.nodes_used(share) / self.nodes_needed()).min(1.0)
    }

    /// The same in nodes' worth of capacity.
    pub(super) fn nodes_lost(&self, share: f64) -> f64 {
        self.lost(share) * self.nodes_needed()
    }

    /// How bad it is that one place takes `share` of the writes.
    ///
    /// Nothing lost: a note. More than half lost, or a known load that passes the limit of the nodes in use: an error, since the design
    /// cannot carry it. Else a warning.
    pub(super) fn severity(&self, share: f64) -> Severity {
        let lost = self.lost(share);
        let over_limit = self.known && self.needed_per_s > self.nodes_used(share) * self.limit_per_s;
        // Below 5 % an estimate from a sample and a table that is even cannot be told apart.
        if lost < LOST_MIN || self.one_node_is_enough() {
            Severity::Note
        } else if lost > 0.5 || (over_limit && self.nodes_used(share) < self.nodes) {
            Severity::Error
        } else {
            Severity::Warning
        }
    }
}

/// The least share of the needed capacity whose loss is worth a warning.
const LOST_MIN: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Span;

    #[track_caller]
    fn check(nodes: u32, stated: Option<f64>, share: f64, expected: Severity) {
        let context = Context { nodes, writes_per_s: stated, ..Context::default() };
        let load = Load::of(&Facts::default(), &context);
        assert_eq!(load.severity(share), expected, "{load:?}");
        assert!((0.0..=f64::from(nodes)).contains(&load.nodes_lost(share)));
    }

    #[test]
    fn severity_is_capacity_lost() {
        check(10, None, 1.0, Severity::Error);
        check(10, None, 0.25, Severity::Error);
        check(10, None, 0.15, Severity::Warning);
        check(10, None, 0.1, Severity::Note);
        check(10, None, 0.0, Severity::Note);
        check(1, None, 1.0, Severity::Note);
    }

    #[test]
    fn one_node_takes_a_small_stream() {
        check(10, Some(9_800.0), 1.0, Severity::Note);
        check(10, Some(12_000.0), 1.0, Severity::Warning);
        check(10, Some(15_000.0), 1.0, Severity::Error);
        check(10, Some(15_000.0), 0.5, Severity::Note);
    }

    #[test]
    fn a_load_beyond_the_cluster_is_not_held_against_the_key() {
        check(2, Some(1e6), 0.0, Severity::Note);
        check(2, Some(1e6), 0.5, Severity::Note);
        check(2, Some(1e6), 1.0, Severity::Error);
    }

    #[test]
    fn rates_come_from_the_user_then_from_the_operations() {
        let facts = Facts { span: Some(Span { writes_per_s: 500.0, ..Span::default() }), ..Facts::default() };
        let load = |stated| Load::of(&facts, &Context { writes_per_s: stated, ..Context::default() });
        let shown = |load: Load| format!("{:.0} {}", load.needed_per_s, load.known);
        assert_eq!(shown(load(None)), "500 true");
        assert_eq!(shown(load(Some(7.0))), "7 true");
        assert_eq!(shown(load(Some(f64::NAN))), "500 true");
        assert_eq!(shown(Load::of(&Facts::default(), &Context::default())), "98000 false");
    }
}
