//! The collector as a whole: sums, samples, times, the same answer for the same input.

use rowkey_store::seeded::Seeded;

use super::super::{CollectConfig, Collector, spread_of};
use crate::facts::Facts;
use crate::operation::{OpKind, Operation};

/// A mixed stream: each key from `key`, kinds by chance, a millisecond per ten operations.
fn mixed(operations: u64, seed: u64, key: impl Fn(u64, &mut Seeded) -> Vec<u8>) -> Facts {
    let mut seeded = Seeded::new(4);
    let mut collector = Collector::new(CollectConfig { seed, ..CollectConfig::default() });
    for n in 0..operations {
        let kind = OpKind::ALL[[0, 0, 0, 0, 0, 1, 1, 2, 2, 3][seeded.below(10)]];
        let key = key(n, &mut seeded);
        let end = [&key[..], b"~"].concat();
        collector.observe(&Operation {
            kind,
            key: &key,
            end: (kind == OpKind::Scan).then_some(&end[..]),
            time_ms: i64::try_from(n / 10).ok(),
            rows: (kind == OpKind::Scan).then_some(3),
            bytes: Some(100),
        });
    }
    collector.finish()
}

fn text(n: u64, _: &mut Seeded) -> Vec<u8> {
    format!("row-{n:09}").into_bytes()
}

#[test]
fn sums_add_up_and_samples_hold_what_they_promise() {
    let facts = mixed(100_000, 1, text);
    let counts = facts.counts;
    assert_eq!(counts.writes + counts.reads + counts.scans + counts.deletes, 100_000);
    assert_eq!(counts.bytes_written, 100 * counts.writes);
    assert_eq!(counts.writes_with_bytes, counts.writes);
    assert_eq!(counts.bytes_read, 100 * (counts.reads + counts.scans));
    assert_eq!((counts.scanned_rows, counts.scans_with_rows), (3 * counts.scans, counts.scans));
    assert_eq!(counts.backwards, 0);
    assert_eq!((facts.lengths.p50, facts.lengths.max, facts.lengths.total), (13, 13, 13 * counts.writes));
    let span = facts.span.unwrap();
    assert_eq!((span.first_ms, span.last_ms), (0, 9_999));
    // 1,000 operations in 100 ms, half of them writes, a fifth reads and scans each.
    assert!((5_000.0..6_500.0).contains(&span.writes_per_s), "{span:?}");
    assert!((2_000.0..3_000.0).contains(&span.reads_per_s), "{span:?}");
    for (sample, seen) in
        [(&facts.written, counts.writes), (&facts.read, counts.reads), (&facts.deleted, counts.deletes)]
    {
        assert_eq!(sample.seen, seen);
        assert!(sample.uniform.len() as u64 >= seen.min(8_192), "{} of {seen}", sample.uniform.len());
        assert!(sample.uniform.windows(2).all(|pair| pair[0].index < pair[1].index));
        assert_eq!(sample.runs[0][0].index, 0);
        assert_eq!(sample.runs.last().and_then(|run| run.last()).unwrap().index, seen - 1);
    }
    assert_eq!(facts.scanned.seen, counts.scans);
    let scan = &facts.scanned.runs[0][0];
    assert_eq!(scan.end.as_deref(), Some(&[&scan.key[..], b"~"].concat()[..]));
    assert_eq!(scan.rows, Some(3));
}

#[test]
fn only_writes_count_as_writes() {
    let facts = mixed(40_000, 1, text);
    assert!((facts.writes.n_eff - 1.0).abs() < 1e-9);
    assert_eq!(
        facts.writes.windows,
        facts.counts.writes / 1_000 - 1 + u64::from(facts.counts.writes % 1_000 >= 500)
    );
    let reads = facts.counts.reads + facts.counts.scans;
    assert_eq!(facts.reads.windows, reads / 1_000 - 1 + u64::from(reads % 1_000 >= 500));
}

#[test]
fn the_same_stream_and_seed_give_the_same_facts_and_another_seed_nearly() {
    let random = |_: u64, seeded: &mut Seeded| format!("{:09}", seeded.below(1_000_000)).into_bytes();
    let shown = |seed| format!("{:?}", mixed(150_000, seed, random));
    assert_eq!(shown(1), shown(1));
    assert_ne!(shown(1), shown(2));
    let (one, other) = (mixed(150_000, 1, random), mixed(150_000, 2, random));
    assert_eq!(one.counts, other.counts);
    assert_eq!(one.heavy_writes, other.heavy_writes);
    assert_eq!(one.lengths, other.lengths);
    assert!((one.writes.n_eff / other.writes.n_eff - 1.0).abs() < 0.02);
}

#[test]
fn the_collector_measures_what_spread_of_measures() {
    let mut seeded = Seeded::new(3);
    let keys: Vec<Vec<u8>> =
        (0..20_000).map(|n| format!("{:02}#{n}", seeded.below(20)).into_bytes()).collect();
    let mut collector = Collector::new(CollectConfig::default());
    for key in &keys {
        collector.observe(&Operation::write(key));
    }
    let facts = collector.finish();
    let spread = spread_of(keys.iter().map(Vec::as_slice), 1_000, 256);
    assert!((facts.writes.n_eff - spread.n_eff).abs() < 1e-9, "the ranges are exact, so seeds do not matter");
    assert!(facts.written.is_complete());
    assert!(facts.span.is_none());
    // 20 salts show at the second byte.
    let depths: Vec<usize> = facts.writes.by_depth.iter().map(|depth| depth.bytes).collect();
    assert_eq!(depths[..2], [1, 2]);
    assert!((facts.writes.by_depth[1].n_eff - 20.0).abs() < 1.0, "{:?}", facts.writes.by_depth[1]);
    assert_eq!(facts.writes.by_depth.last().map(|depth| depth.n_eff), Some(1_000.0));
}

#[test]
fn nothing_one_key_and_equal_keys_are_no_trouble() {
    let facts = Collector::new(CollectConfig::default()).finish();
    assert_eq!((facts.writes.windows, facts.heavy_writes.len(), facts.written.runs.len()), (0, 0, 0));
    assert_eq!(facts.heavy_share_min.to_bits(), 0.0_f64.to_bits());

    let facts = mixed(1, 1, |_, _| Vec::new());
    assert_eq!(facts.lengths.max, 0);

    for len in [1, 4_096, 9_000] {
        let facts = mixed(30_000, 1, |_, _| vec![b'k'; len]);
        assert!((facts.writes.n_eff - 1.0).abs() < 1e-9);
        assert_eq!(facts.heavy_writes.len(), 1);
        assert_eq!((facts.heavy_writes[0].count, facts.heavy_writes[0].error), (facts.counts.writes, 0));
        assert_eq!(facts.lengths.over_limit, if len > 4_096 { facts.counts.writes } else { 0 });
        assert_eq!(facts.writes.by_depth.len(), 1);
    }
}

#[test]
fn long_keys_fit_the_memory_of_their_samples() {
    let facts =
        mixed(30_000, 1, |_, seeded| [vec![b'x'; 4_080], seeded.any().to_be_bytes().to_vec()].concat());
    let bytes = |sample: &crate::facts::KeySample| {
        let uniform: usize = sample.uniform.iter().map(|arrived| arrived.key.len()).sum();
        let runs: usize = sample.runs.iter().flatten().map(|arrived| arrived.key.len()).sum();
        uniform + runs
    };
    assert!(bytes(&facts.written) <= (4 << 20) + 19 * (128 << 10), "{}", bytes(&facts.written));
    assert!(bytes(&facts.read) <= (1 << 20) + 11 * (64 << 10), "{}", bytes(&facts.read));
    assert!(facts.written.uniform.len() >= 512);
}

#[test]
fn times_that_are_missing_leave_no_rates() {
    let collected = |missing: u64| {
        let mut collector = Collector::new(CollectConfig::default());
        for n in 0..1_000_u64 {
            let time_ms = (n >= missing).then_some(7);
            collector.observe(&Operation { time_ms, ..Operation::write(b"k") });
        }
        collector.finish().span
    };
    assert!(collected(11).is_none());
    assert_eq!(collected(10).map(|span| span.writes_per_s.to_bits()), Some(9_900.0_f64.to_bits()));
}

#[test]
fn counts_lengths_rates_and_few_heavy_keys_do_not_depend_on_order() {
    let mut seeded = Seeded::new(6);
    let mut operations: Vec<(OpKind, String, i64)> = (0..5_000)
        .map(|n| (OpKind::ALL[seeded.below(4)], "k".repeat(1 + seeded.below(200)), n / 3))
        .collect();
    let collected = |operations: &[(OpKind, String, i64)]| {
        let mut collector = Collector::new(CollectConfig::default());
        for (kind, key, time) in operations {
            let plain = Operation::write(key.as_bytes());
            collector.observe(&Operation { kind: *kind, time_ms: Some(*time), ..plain });
        }
        let facts = collector.finish();
        assert_eq!(facts.heavy_share_min.to_bits(), 0.0_f64.to_bits(), "200 keys are all listed");
        let counts = crate::facts::Counts { backwards: 0, ..facts.counts };
        format!(
            "{counts:?} {:?} {:?} {:?}",
            facts.lengths,
            facts.span,
            (facts.heavy_writes, facts.heavy_reads)
        )
    };
    let before = collected(&operations);
    for last in (1..operations.len()).rev() {
        operations.swap(last, seeded.below(last + 1));
    }
    assert_eq!(collected(&operations), before);
}
