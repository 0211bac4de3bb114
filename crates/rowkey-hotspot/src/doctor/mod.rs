//! The whole examination: operations go in, a diagnosis comes out.
//!
//! ```
//! use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
//! use rowkey_hotspot::{Operation, Rule};
//!
//! let mut doctor = Doctor::new(DoctorOptions::default());
//! for number in 0..5_000 {
//!     doctor.observe(&Operation::write(format!("order/{number:09}").as_bytes()));
//! }
//! let diagnosis = doctor.finish();
//! assert_eq!(diagnosis.findings[0].rule, Rule::SequentialId);
//! ```

use crate::advice::even_share;
use crate::collect::{CollectConfig, Collector};
use crate::context::Context;
use crate::facts::{Facts, KeySample};
use crate::finding::{Bound, Diagnosis};
use crate::infer::{self, Hints};
use crate::layout::Layout;
use crate::operation::Operation;
use crate::rules::{self, Verdict};
use rowkey::Codec;

/// What an examination needs besides the operations.
#[derive(Debug, Clone, Default)]
pub struct DoctorOptions {
    /// What the sample is judged against.
    pub context: Context,
    /// The schema that the keys were made with, if it is known. Else the layout is inferred.
    pub schema: Option<Codec>,
    /// Chooses what is sampled. The same operations and seed give the same diagnosis.
    pub seed: u64,
}

/// Examines a stream of operations in one pass and bounded memory.
#[derive(Debug)]
pub struct Doctor {
    options: DoctorOptions,
    collector: Collector,
}

impl Doctor {
    /// A doctor who has seen nothing yet.
    pub fn new(options: DoctorOptions) -> Self {
        let collector = Collector::new(CollectConfig { seed: options.seed, ..CollectConfig::default() });
        Self { options, collector }
    }

    /// The next operation, in order of arrival.
    #[inline]
    pub fn observe(&mut self, operation: &Operation<'_>) {
        self.collector.observe(operation);
    }

    /// What is wrong with the keys.
    pub fn finish(self) -> Diagnosis {
        let facts = self.collector.finish();
        diagnose(facts, self.options.schema.as_ref(), &self.options.context)
    }
}

/// A diagnosis of what was collected.
pub fn diagnose(facts: Facts, schema: Option<&Codec>, context: &Context) -> Diagnosis {
    let layout = layout(&facts, schema);
    let Verdict { findings, passed, context, mut bound } = rules::judge(&facts, &layout, context);
    if let Some(buckets) = schema.and_then(Codec::bucket_count) {
        cap_by_buckets(&mut bound, buckets, facts.writes.n_eff, &context);
    }
    Diagnosis { findings, passed, facts, layout, context, bound }
}

/// Where the places written at once are the buckets, the busiest node has `ceil(buckets / nodes)` of them however well they are placed:
/// 16 buckets keep 10 nodes busy like 8.
fn cap_by_buckets(bound: &mut Bound, buckets: u32, n_eff: f64, context: &Context) {
    // More places than buckets: what follows the bucket spreads as well, and splits divide it.
    if n_eff > f64::from(buckets) * 1.25 {
        return;
    }
    let nodes = f64::from(context.nodes.max(1));
    let most = even_share(buckets, context.nodes) * nodes;
    if bound.nodes_used > most {
        bound.bound_per_s *= most / bound.nodes_used;
        bound.nodes_used = most;
    }
}

/// The layout of the keys written, else of those read or deleted.
fn layout(facts: &Facts, schema: Option<&Codec>) -> Layout {
    let sample: &KeySample = [&facts.written, &facts.read, &facts.deleted]
        .into_iter()
        .find(|sample| sample.seen > 0)
        .unwrap_or(&facts.written);
    match schema {
        Some(codec) => infer::from_schema(codec, sample),
        None => infer::infer(sample, &Hints::default()),
    }
}
