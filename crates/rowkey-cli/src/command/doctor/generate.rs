//! Operations made up from a schema, where there is no data yet.

use anyhow::Result;
use rowkey::Codec;
use rowkey::schema::Binding;
use rowkey_hotspot::workload::{Generator, ReadShape, WorkloadOptions};
use rowkey_hotspot::{Context, OpKind, Operation};

/// Writes made up. A hundred windows tell N_eff to about a per cent.
const WRITES: u32 = 100_000;
/// The time they stand for: two turns of a day, so that keys which begin with a day show what happens then.
const SPAN_MS: i64 = 2 * 86_400_000;

/// What a schema says of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DeclaredReads {
    /// Range reads per second that buckets make dearer, of all queries with a rate.
    pub(super) per_second: f64,
    /// Rows of one of them, on average.
    pub(super) rows: f64,
}

/// The range reads that the queries of a schema declare and that buckets make dearer, if any has a rate. A query that gives the fields of
/// the salt reads one bucket; where there is no salt yet, one that gives any field can be served by a salt of that.
///
/// # Errors
///
/// If no key can be made from the schema.
pub(super) fn declared_reads(codec: &Codec, seed: u64) -> Result<Option<DeclaredReads>> {
    let generator = Generator::new(codec, &WorkloadOptions { seed, ..WorkloadOptions::default() })?;
    let scatters = |read: &&ReadShape| {
        let schema = codec.schema();
        let Some(query) = schema.queries.iter().find(|query| query.name == read.name) else { return true };
        let gives = |field: usize| query.bound.contains(&(field, Binding::Equal));
        match &schema.salt {
            Some(salt) => salt.of.is_empty() || !salt.of.iter().all(|field| gives(*field)),
            None => !(0..schema.fields.len()).any(gives),
        }
    };
    let ranges: Vec<&ReadShape> = generator.reads().filter(|read| !read.is_point).filter(scatters).collect();
    let per_second: f64 = ranges.iter().map(|read| read.per_second).sum();
    if per_second <= 0.0 {
        return Ok(None);
    }
    let rows = ranges.iter().map(|read| read.per_second * read.rows).sum::<f64>() / per_second;
    Ok(Some(DeclaredReads { per_second, rows }))
}

/// Passes made-up operations to `sink`, until it asks to stop, and answers what was assumed, in sentences. The rates are in `context`, so the
/// operations have no times of their own.
///
/// # Errors
///
/// If no key can be made from the schema.
pub(super) fn operations(
    codec: &Codec,
    context: &Context,
    seed: u64,
    sink: &mut dyn FnMut(&Operation<'_>) -> bool,
) -> Result<Vec<String>> {
    let one_node = context.capacity.one_node_writes_per_s();
    let writes_per_s = context.writes_per_s.unwrap_or(f64::from(context.nodes) * one_node);
    let options = WorkloadOptions { seed, writes_per_s, ..WorkloadOptions::default() };
    let mut generator = Generator::new(codec, &options)?;
    // Each write stands for this many.
    let seconds = SPAN_MS / 1_000;
    generator
        .set_step(writes_per_s * f64::from(u32::try_from(seconds).unwrap_or(u32::MAX)) / f64::from(WRITES));
    let mut writes = 0;
    let mut goes_on = true;
    while writes < WRITES && goes_on {
        let time_ms = options.start_ms + i64::from(writes) * SPAN_MS / i64::from(WRITES);
        generator.next_operation(time_ms, &mut |operation| {
            writes += u32::from(operation.kind == OpKind::Write);
            goes_on &= sink(&Operation { time_ms: None, ..*operation });
        })?;
        // Reads alone would never end.
        if writes_per_s <= 0.0 {
            writes += 1;
        }
    }
    Ok(generator.notes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey::KeySchema;

    /// Buckets follow from the vehicle; each query has its fields and a rate.
    fn with_queries(queries: &[(&str, u32)]) -> Codec {
        let mut text = include_str!("../../../tests/cli/files/telemetry.toml").to_owned();
        for (fields, per_second) in queries {
            let table =
                format!("name = \"{fields}\"\nwhere = \"{fields}\"\nlimit = 10\nper_second = {per_second}");
            text.extend(["\n[[queries]]\n", &table, "\n"]);
        }
        Codec::new(KeySchema::parse(&text).unwrap()).unwrap()
    }

    fn codec() -> Codec {
        with_queries(&[("tenant, vehicle", 200)])
    }

    #[test]
    fn the_declared_reads_are_those_with_a_rate_that_visit_many_buckets() {
        let check = |queries: &[(&str, u32)], expected: Option<f64>| {
            let found = declared_reads(&with_queries(queries), 1).unwrap();
            assert_eq!(found, expected.map(|per_second| DeclaredReads { per_second, rows: 10.0 }));
        };
        check(&[("tenant, vehicle", 200)], None);
        check(&[("tenant", 30)], Some(30.0));
        check(&[("tenant, vehicle", 200), ("tenant", 30)], Some(30.0));
    }

    #[test]
    fn so_many_writes_are_made_up_and_the_same_for_the_same_seed() {
        let run = |seed: u64, stop_after: usize| {
            let mut keys = Vec::new();
            operations(&codec(), &Context::default(), seed, &mut |operation| {
                if operation.kind == OpKind::Write {
                    keys.push(operation.key.to_vec());
                }
                keys.len() < stop_after
            })
            .unwrap();
            keys
        };
        let keys = run(1, usize::MAX);
        assert_eq!(keys.len(), 100_000);
        assert_eq!(run(1, 50), keys[..50]);
        assert_ne!(run(2, 50), keys[..50]);
    }

    #[test]
    fn a_load_without_writes_ends_too() {
        let context = Context { writes_per_s: Some(0.0), ..Context::default() };
        let mut reads = 0;
        operations(&codec(), &context, 1, &mut |operation| {
            reads += u32::from(operation.kind != OpKind::Write);
            true
        })
        .unwrap();
        assert!(reads > 0);
    }
}
