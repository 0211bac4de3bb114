//! Junk, and keys that are nearly something: nothing panics, and shares add up.

use rowkey::{Codec, KeySchema};
use rowkey_store::seeded::Seeded;

use super::sample;
use crate::facts::KeySample;
use crate::infer::{Hints, from_schema, infer, split};
use crate::layout::{FieldFacts, Format, Layout, Meaning};

#[track_caller]
fn check_sums(sample: &KeySample, layout: &Layout) {
    let explained: f64 = layout.formats.iter().map(|format| format.share).sum();
    assert!((0.0..=1.000_001).contains(&(explained + layout.unexplained_share)), "\n{layout}");
    for format in &layout.formats {
        let cut = sample.uniform.iter().filter(|arrived| split(format, &arrived.key).is_some()).count();
        assert!(cut > 0, "no key is split by its own format\n{format}");
        for field in format.fields() {
            let shares = [field.meaning_share, field.chance, field.top_share, field.order.ascending];
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{field}");
            assert!(
                field.order.tau.abs() <= 1.0 && field.order.n_eff.is_finite() && field.entropy_bits >= 0.0,
                "{field}"
            );
        }
    }
}

/// Pieces that keys are made of, some of them broken.
fn piece(seeded: &mut Seeded) -> Vec<u8> {
    let pieces: [&[u8]; 24] = [
        b"2024-05-02",
        b"2024-13-99",
        b"2024-05-02T10:30:00.123Z",
        b"20240502",
        b"1714644000",
        b"1714644000123",
        b"9223370322210775792",
        b"99999999999999999999",
        b"-12.5",
        b"acct",
        b"www.example.com",
        b"10.0.0.1",
        b"550e8400-e29b-41d4-a716-446655440000",
        b"01HV5VZ5393Y9N5FZYFJT7ZS13",
        b"deadbeef",
        b"",
        b"\xff\xfe",
        b"\x00\x00\x01\x8f",
        b"a b",
        b"https://x.y/z?q=1",
        b"caf\xc3\xa9",
        b"00",
        b"0",
        b"2024-W53",
    ];
    pieces[seeded.below(pieces.len())].to_vec()
}

fn key(seeded: &mut Seeded, parts: usize) -> Vec<u8> {
    let mut key = Vec::new();
    for _ in 0..parts {
        key.extend(piece(seeded));
        key.push(*seeded.one_of(b"#:|/_-.\x00, @=~"));
    }
    for _ in 0..seeded.below(3) {
        let at = seeded.below(key.len() + 1);
        key.insert(at, u8::try_from(seeded.below(256)).unwrap());
    }
    key
}

#[test]
fn no_junk_makes_it_panic() {
    for seed in 0..150 {
        let mut seeded = Seeded::new(seed);
        let (count, parts) = ([1, 2, 7, 40, 300][seeded.below(5)], 1 + seeded.below(5));
        let keys: Vec<Vec<u8>> = match seed % 3 {
            0 => (0..count).map(|_| key(&mut seeded, parts)).collect(),
            1 => {
                let shape = seeded.any();
                (0..count)
                    .map(|_| [key(&mut Seeded::new(shape), parts), key(&mut seeded, 1)].concat())
                    .collect()
            }
            _ => {
                let len = seeded.below(40);
                (0..count)
                    .map(|_| (0..len).map(|_| u8::try_from(seeded.below(256)).unwrap()).collect())
                    .collect()
            }
        };
        let sample = sample(keys);
        let layout = infer(&sample, &Hints::default());
        check_sums(&sample, &layout);
    }
}

#[test]
fn equal_keys_are_one_format_without_surprise() {
    let keys = sample((0..500).map(|_| b"cnt#global#views".to_vec()));
    let layout = infer(&keys, &Hints::default());
    assert_eq!(layout.formats.len(), 1);
    check_sums(&keys, &layout);
}

#[test]
fn long_keys_take_no_long_time() {
    let mut seeded = Seeded::new(3);
    let long = |seeded: &mut Seeded| -> Vec<u8> { (0..4_096).map(|_| *seeded.one_of(b"#-/.:ab0")).collect() };
    let keys = sample((0..600).map(|_| long(&mut seeded)));
    let layout = infer(&keys, &Hints::default());
    check_sums(&keys, &layout);
}

#[test]
fn the_same_sample_gives_the_same_layout() {
    let mut seeded = Seeded::new(9);
    let keys = sample((0..400).map(|_| key(&mut seeded, 3)));
    let [one, other] = [0, 1].map(|_| format!("{:?}", infer(&keys, &Hints::default())));
    assert_eq!(one, other);
}

fn named<'l>(layout: &'l Layout, name: &str) -> Option<&'l FieldFacts> {
    layout.formats.iter().flat_map(Format::fields).find(|field| field.name == name)
}

const SCHEMA: &str = r#"version = 1
table = "telemetry"
[key]
layout = "{salt}#{tenant}#{vehicle}#{time}"
[key.salt]
of = ["vehicle"]
buckets = 16
[key.fields]
tenant = { type = "string", values = ["acme", "globex"] }
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
"#;

#[test]
fn a_schema_tells_names_and_kinds() {
    let codec = Codec::new(KeySchema::parse(SCHEMA).unwrap()).unwrap();
    let mut seeded = Seeded::new(4);
    let mut keys = Vec::new();
    for index in 0..2_000i64 {
        let values = [
            rowkey::Value::from(*seeded.one_of(&["acme", "globex"])),
            rowkey::Value::Uint(seeded.any() % 3_000),
            rowkey::Value::Time(rowkey::Time::from_millis(1_714_644_000_000 + index)),
        ];
        let mut out = Vec::new();
        codec.encode(&values, &mut out).unwrap();
        keys.push(out);
    }
    keys.push(b"no such key".to_vec());
    let layout = from_schema(&codec, &sample(keys));
    assert!(layout.from_schema);
    assert_eq!(super::outline(&layout), "{salt 16}#{words}#{padded number}#{time ms reversed}", "\n{layout}");
    let time = named(&layout, "time").unwrap();
    assert!(time.order.tau < -0.99, "{time}");
    let Meaning::Salt(salt) = &named(&layout, "salt").unwrap().meaning else { panic!("a salt") };
    assert_eq!(salt.from.as_ref().unwrap().formula, "xxh3(vehicle) mod 16");
    assert!((layout.unexplained_share - 1.0 / 2_001.0).abs() < 1e-9);
}

#[test]
fn a_schema_without_keys_has_its_fields_all_the_same() {
    let codec = Codec::new(KeySchema::parse(SCHEMA).unwrap()).unwrap();
    let layout = from_schema(&codec, &KeySample::default());
    assert_eq!(layout.formats[0].fields().count(), 4);
}
