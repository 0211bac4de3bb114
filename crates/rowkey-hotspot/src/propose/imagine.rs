//! A key schema judged without any data: operations as its queries and rates declare them, through the doctor.

use crate::Result;
use crate::context::Context;
use crate::doctor::{Doctor, DoctorOptions};
use crate::finding::Diagnosis;
use crate::operation::OpKind;
use crate::workload::{Generator, WorkloadOptions};
use rowkey::Codec;

/// Writes that are generated: sixty windows of 1,000, as the table of N_eff was measured with (research, section 2.2).
const WRITES: u64 = 60_000;

/// Operations that are generated at most, however much is read for each write.
const OPERATIONS_MAX: i64 = 400_000;

/// Time between operations, in milliseconds, as in that table. The operations are a sample of the stream over five minutes, not its first
/// second: within a second, delays of tens of milliseconds would look like spread.
const STEP_MS: i64 = 5;

/// A schema, and the operations that it was judged by.
#[derive(Debug, Clone)]
pub struct Imagined {
    /// What the doctor says of them.
    pub diagnosis: Diagnosis,
    /// What was assumed about the values of the fields, a sentence each.
    pub assumed: Vec<String>,
    /// Writes generated.
    pub writes: u64,
}

/// Judges a schema by operations generated from it: keys of its fields (times of arrival, numerous entities, declared values), reads of its
/// declared queries at their rates.
///
/// The writes come at the context's rate. Where it has none, they come as fast as the whole cluster takes them at its target, as for a
/// sample without times.
///
/// # Errors
///
/// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if no operations can be generated from the schema, as the generator says.
pub fn judge_schema(codec: &Codec, context: &Context, workload: &WorkloadOptions) -> Result<Imagined> {
    let stated = context.writes_per_s.filter(|rate| rate.is_finite() && *rate > 0.0);
    let cluster = f64::from(context.nodes.max(1)) * context.capacity.one_node_writes_per_s();
    let writes_per_s = stated.unwrap_or(cluster);
    let options = WorkloadOptions { writes_per_s, ..workload.clone() };
    let mut generator = Generator::new(codec, &options)?;
    let declared: f64 = generator.reads().map(|read| read.per_second).sum();
    let reads_per_s = context.reads_per_s.or((declared > 0.0).then_some(declared));
    let context = Context { writes_per_s: Some(writes_per_s), reads_per_s, ..context.clone() };
    let options = DoctorOptions { context, schema: Some(codec.clone()), seed: workload.seed };
    let mut doctor = Doctor::new(options);
    let (mut writes, mut operations) = (0_u64, 0_i64);
    while writes < WRITES && operations < OPERATIONS_MAX {
        let time_ms = workload.start_ms.saturating_add(operations.saturating_mul(STEP_MS));
        generator.next_operation(time_ms, &mut |operation| {
            writes += u64::from(operation.kind == OpKind::Write);
            doctor.observe(operation);
        })?;
        operations += 1;
    }
    let assumed = generator.notes().to_vec();
    Ok(Imagined { diagnosis: doctor.finish(), assumed, writes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Rule, Severity};

    fn judge(layout: &str, salt: &str, context: &Context) -> Vec<(Rule, Severity)> {
        let text = format!(
            "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\n{salt}\n[key.fields]\nvehicle = {{ type = \"uint\", digits = 5 }}\n\
             time = {{ type = \"timestamp\", unit = \"ms\", digits = 13 }}\n[[queries]]\nname = \"one vehicle\"\nwhere = \"vehicle, time range\"\n\
             rows = 100\nper_second = 50\n"
        );
        let codec = Codec::new(rowkey::KeySchema::parse(&text).unwrap()).unwrap();
        let imagined = judge_schema(&codec, context, &WorkloadOptions::default()).unwrap();
        assert!(imagined.writes >= WRITES);
        let severe = imagined.diagnosis.findings.iter().filter(|finding| finding.severity > Severity::Note);
        severe.map(|finding| (finding.rule, finding.severity)).collect()
    }

    #[test]
    fn a_schema_is_judged_without_data() {
        let cluster = Context::default();
        assert_eq!(judge("{vehicle}#{time}", "", &cluster), []);
        assert_eq!(
            judge("{time}#{vehicle}", "", &cluster).first(),
            Some(&(Rule::TimeFirst, Severity::Error))
        );
        let little = Context { writes_per_s: Some(500.0), ..Context::default() };
        assert_eq!(judge("{time}#{vehicle}", "", &little), []);
        let four = "[key.salt]\nof = [\"vehicle\"]\nbuckets = 4\n";
        assert_eq!(
            judge("{salt}#{time}#{vehicle}", four, &cluster).first().map(|first| first.0),
            Some(Rule::TooFewBuckets)
        );
    }
}
