//! Before and after: the doctor over the sample as it is, and over the same sample through a proposal.

use super::Proposal;
use super::sample::Sample;
use crate::advice::query_cost_s;
use crate::context::Context;
use crate::doctor::{Doctor, DoctorOptions};
use crate::finding::Diagnosis;
use crate::operation::{OpKind, Operation};
use crate::rule::{Rule, Severity};
use rowkey::Codec;
use rowkey::schema::{Binding, DeclaredQuery, Part, SaltSource};

/// What a key design is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Effective number of places written at once.
    pub n_eff: f64,
    /// Nodes that the writes keep busy at once.
    pub nodes_used: f64,
    /// Writes per second that these take.
    pub writes_per_s: f64,
    /// Nodes' worth of capacity lost, by the worst finding.
    pub nodes_lost: f64,
    /// What was found, worst first.
    pub findings: Vec<(Rule, Severity)>,
}

impl Standing {
    fn of(diagnosis: &Diagnosis) -> Self {
        Self {
            n_eff: diagnosis.facts.writes.n_eff,
            nodes_used: diagnosis.bound.nodes_used,
            writes_per_s: diagnosis.bound.bound_per_s,
            nodes_lost: diagnosis.findings.iter().map(|finding| finding.nodes_lost).fold(0.0, f64::max),
            findings: diagnosis.findings.iter().map(|finding| (finding.rule, finding.severity)).collect(),
        }
    }

    /// The worst severity; `None` if nothing was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|(_, severity)| *severity).max()
    }
}

/// What a query costs under a key design.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryCost {
    /// The query.
    pub name: String,
    /// Ranges that it reads; `None`: the whole table.
    pub ranges: Option<u32>,
    /// Node milliseconds of one such query; `None`: as many as the table has rows.
    pub node_ms: Option<f64>,
}

/// A proposal beside what it replaces.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The sample as it is.
    pub before: Standing,
    /// The sample through the proposal.
    pub after: Standing,
    /// The whole diagnosis of the sample through the proposal.
    pub diagnosis: Diagnosis,
    /// What the proposal's queries cost through it.
    pub queries: Vec<QueryCost>,
}

impl Proposal {
    /// Runs the doctor over the sample of a diagnosis through this proposal, in its order of arrival.
    ///
    /// Only writes and point reads go through: scans are judged by the queries of the proposal. Where the diagnosis kept a part of the
    /// keys, stretches of consecutive ones go through, and the rate is the one that was measured on all.
    pub fn examine(&self, before: &Diagnosis, seed: u64) -> Examination {
        let diagnosis = self.diagnose(before, seed);
        Examination {
            before: Standing::of(before),
            after: Standing::of(&diagnosis),
            diagnosis,
            queries: query_costs(&self.codec, &before.context),
        }
    }

    pub(super) fn diagnose(&self, before: &Diagnosis, seed: u64) -> Diagnosis {
        let bound = &before.bound;
        let writes_per_s = bound.needed_is_known.then_some(bound.needed_per_s);
        let context = Context { writes_per_s, ..before.context.clone() };
        let options = DoctorOptions { context, schema: Some(self.codec.clone()), seed };
        let mut doctor = Doctor::new(options);
        let sample = Sample::new(before);
        for arrived in sample.stream() {
            if let Ok(key) = self.apply(&arrived.key) {
                let kind = if before.facts.written.seen > 0 { OpKind::Write } else { OpKind::Read };
                doctor.observe(&Operation { kind, ..Operation::write(&key) });
            }
        }
        doctor.finish()
    }
}

/// What the declared queries of a schema cost.
pub fn query_costs(codec: &Codec, context: &Context) -> Vec<QueryCost> {
    let schema = codec.schema();
    let cost = |query: &DeclaredQuery| {
        let ranges = ranges(codec, query);
        #[expect(clippy::cast_precision_loss, reason = "rows of a query are far below 2^53")]
        let rows = query.limit.or(query.rows).unwrap_or(100) as f64;
        let node_ms = ranges.map(|ranges| query_cost_s(ranges, rows, &context.capacity) * 1_000.0);
        QueryCost { name: query.name.clone(), ranges, node_ms }
    };
    schema.queries.iter().map(cost).collect()
}

/// Ranges that a query reads: one for each bucket that it cannot tell; `None` if its fields do not lead the key.
fn ranges(codec: &Codec, query: &DeclaredQuery) -> Option<u32> {
    let schema = codec.schema();
    let mut leads = false;
    for part in &schema.parts {
        let Part::Field(field) = part else { continue };
        let Some((_, binding)) = query.bound.iter().find(|(at, _)| at == field) else { break };
        leads = true;
        if !matches!(binding, Binding::Equal | Binding::In) {
            break;
        }
    }
    if !leads {
        return None;
    }
    let Some(salt) = &schema.salt else { return Some(1) };
    let given = |field: &usize| query.bound.contains(&(*field, Binding::Equal));
    if salt.source != SaltSource::Random && salt.of.iter().all(given) {
        return Some(1);
    }
    match salt.source {
        SaltSource::HashPrefix { .. } => None,
        _ => Some(salt.buckets),
    }
}
