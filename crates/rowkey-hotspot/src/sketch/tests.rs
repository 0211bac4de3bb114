//! What each sketch promises, held against exact answers on random and on unkind streams.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rowkey_store::seeded::Seeded;

use super::{EquiDepth, Ranges, Sample, SpaceSaving};

/// Everything that [`SpaceSaving`] promises.
fn check_heavy(keys: &[Vec<u8>], counters: usize) {
    let mut sketch = SpaceSaving::new(counters, 1 << 20);
    let mut exact: BTreeMap<&[u8], u64> = BTreeMap::new();
    for key in keys {
        sketch.observe(key);
        *exact.entry(key).or_default() += 1;
    }
    let total = keys.len() as u64;
    assert_eq!(sketch.total(), total);
    let bound = total / counters as u64;
    assert!(sketch.missed_max() <= bound, "missed {} of {total} with {counters}", sketch.missed_max());
    let (listed, unlisted_max) = sketch.list(usize::MAX);
    for heavy in &listed {
        let count = exact[heavy.key];
        assert!(heavy.count >= count, "{heavy:?} came {count} times");
        assert!(heavy.count - heavy.error <= count, "{heavy:?} came {count} times");
        assert!(heavy.error <= bound, "{heavy:?}, n/m is {bound}");
    }
    assert!(listed.windows(2).all(|pair| pair[0].count >= pair[1].count));
    // All that came more often than the promise are there, however short the list.
    for list_max in [0, 1, 3, usize::MAX] {
        let (listed, unlisted_max) = sketch.list(list_max);
        assert!(listed.len() <= list_max);
        for (key, count) in &exact {
            let there = listed.iter().any(|heavy| heavy.key == *key);
            assert!(
                there || *count <= unlisted_max,
                "{key:?} came {count} times, unlisted at most {unlisted_max}"
            );
        }
    }
    // What keys known to have come once hide is at most one above n/m.
    assert!(unlisted_max <= bound + 1, "{unlisted_max} with n/m {bound}");
    if exact.len() <= counters {
        assert_eq!(unlisted_max, 0);
        assert!(listed.iter().all(|heavy| heavy.error == 0 && heavy.count == exact[heavy.key]));
        assert_eq!(listed.len(), exact.len());
    }
}

proptest! {
    #[test]
    fn space_saving_keeps_its_promise(
        keys in prop::collection::vec(prop::collection::vec(0_u8..4, 0..4), 0..400),
        counters in 1_usize..40,
    ) {
        check_heavy(&keys, counters);
    }
}

#[test]
fn space_saving_keeps_its_promise_on_unkind_streams() {
    let mut seeded = Seeded::new(11);
    let number = |n: u64| n.to_be_bytes().to_vec();
    check_heavy(&(0..5_000).map(number).collect::<Vec<_>>(), 64);
    // One counter's worth of chance between keys that all come often.
    check_heavy(&(0..5_000).map(|n| number(if n % 2 == 0 { n % 126 } else { n })).collect::<Vec<_>>(), 64);
    // Turns: the frequent keys of one half do not come in the other.
    check_heavy(&(0..6_000).map(|n| number(n / 3_000 * 100 + n % 70)).collect::<Vec<_>>(), 64);
    let skewed = |_| number(u64::MAX / (1 + (seeded.any() >> 44)));
    check_heavy(&(0..20_000).map(skewed).collect::<Vec<_>>(), 100);
}

#[test]
fn long_keys_cost_counters_not_memory() {
    let mut sketch = SpaceSaving::new(1_024, 1 << 20);
    let mut seeded = Seeded::new(2);
    let key = |n: u64| [&[b'x'; 5_000][..4_000], &n.to_be_bytes()].concat();
    for n in 0..20_000_u64 {
        sketch.observe(&key(if n % 50 == 0 { 7 } else { seeded.any() }));
        // Short ones among them, so that the place of a short key is taken by a long one.
        sketch.observe(&(n % 5).to_be_bytes());
    }
    assert!((200..=267).contains(&sketch.counters()), "{}", sketch.counters());
    assert!(sketch.missed_max() <= sketch.total() / sketch.counters() as u64);
    let (listed, _) = sketch.list(10);
    let often = listed.iter().find(|heavy| heavy.key == key(7)).unwrap();
    assert!(often.count >= 400 && often.count - often.error <= 400, "{} {}", often.count, often.error);
    assert_eq!(listed.iter().filter(|heavy| heavy.key.len() == 8).count(), 5);
}

#[test]
fn keys_beyond_4_kib_are_told_apart() {
    let mut sketch = SpaceSaving::new(4, 1 << 20);
    for end in [b"a", b"b", b"a"] {
        sketch.observe(&[&[b'x'; 5_000][..], end].concat());
    }
    let (listed, unlisted_max) = sketch.list(9);
    assert_eq!(listed.iter().map(|heavy| heavy.count).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(unlisted_max, 0);
}

#[test]
fn a_sample_is_complete_until_its_room_is_used() {
    for (keys, key_len, complete) in
        [(0, 8, true), (100, 8, true), (101, 8, false), (60, 1_000, true), (70, 1_000, false)]
    {
        let mut sample = Sample::new(3, 100, 1 << 16);
        for n in 0..keys {
            sample.offer(format!("{n:0key_len$}").as_bytes(), Some(n));
        }
        let indices: Vec<u64> = sample.iter().map(|sampled| sampled.index).collect();
        assert!(indices.is_sorted());
        assert_eq!(sample.weight() == 1, complete, "{keys} keys of {key_len} bytes");
        assert_eq!(indices.len() as u64 == sample.seen(), complete);
        for sampled in sample.iter() {
            assert_eq!(sampled.key, format!("{:0key_len$}", sampled.index).as_bytes());
            assert_eq!(sampled.time_ms, i64::try_from(sampled.index).ok());
        }
    }
}

#[test]
fn sample_times_weight_is_the_stream() {
    let mut sample = Sample::new(9, 128, 1 << 20);
    for n in 0..100_000_u64 {
        sample.offer(&n.to_be_bytes(), None);
        let stands_for = sample.len() as u64 * sample.weight();
        // Each whole block has one; the open one has one or none.
        assert!(stands_for.abs_diff(n + 1) <= sample.weight(), "{stands_for} for {}", n + 1);
        assert!(sample.len() <= 128 && (n < 64 || sample.len() >= 64), "{}", sample.len());
    }
}

#[test]
fn order_is_the_sorted_sample_after_every_merge() {
    let mut seeded = Seeded::new(8);
    let mut learned = EquiDepth::new(1, 256, 1 << 20);
    for _ in 0..3_000 {
        learned.offer(format!("key-{}", seeded.below(500)).as_bytes(), None);
        if seeded.chance(5) {
            let order = learned.order().to_vec();
            let sample = learned.sample();
            let mut expected: Vec<u32> = (0..u32::try_from(sample.len()).unwrap()).collect();
            expected.sort_by_key(|position| sample.key(*position as usize));
            assert_eq!(order, expected);
        }
    }
}

#[test]
fn ranks_are_within_their_stated_error() {
    // Three orders of arrival: by chance, ascending, and ascending in 50 places at once.
    let orders: [fn(u64, &mut Seeded) -> u64; 3] =
        [|_, seeded| seeded.any() >> 44, |n, _| n, |n, seeded| ((seeded.below(50) as u64) << 40) + n];
    for (number, order) in orders.into_iter().enumerate() {
        let mut seeded = Seeded::new(77);
        let mut learned = EquiDepth::new(5, 4_096, 1 << 20);
        let mut keys: Vec<u64> = (0..300_000).map(|n| order(n, &mut seeded)).collect();
        for key in &keys {
            learned.offer(&key.to_be_bytes(), None);
        }
        keys.sort_unstable();
        let kept = f64::from(u32::try_from(learned.sample().len()).unwrap());
        assert!(kept >= 2_048.0);
        let mut ranges = Ranges::default();
        learned.cut(256, &mut ranges);
        assert_eq!(ranges.len(), 256);
        let mut before = 0;
        let mut squares = 0.0;
        for part in 1..256_u32 {
            let bound = u64::from_be_bytes(ranges.bound(part as usize - 1).try_into().unwrap());
            let rank = keys.partition_point(|key| *key < bound);
            let share = |count: usize| f64::from(u32::try_from(count).unwrap()) / 300_000.0;
            // Five standard errors for 255 looks at a rank.
            let error = (share(rank) - f64::from(part) / 256.0).abs();
            assert!(
                error <= 5.0 * 0.5 / kept.sqrt(),
                "order {number}: rank of bound {part} is off by {error}"
            );
            squares += (share(rank - before) * 256.0 - 1.0).powi(2) / 255.0;
            before = rank;
        }
        // The relative error of a range's share: at most sqrt(b/m), up to chance.
        assert!(
            squares.sqrt() <= 1.15 * (256.0 / kept).sqrt(),
            "order {number}: shares are off by {}",
            squares.sqrt()
        );
    }
}
