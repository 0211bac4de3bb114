//! Encodes and decodes one key of five fields and a salt, with Rowkey and with the two order-preserving tuple codecs that
//! Rust has, in turn, and prints nanoseconds a key and ratios.
//!
//! ```text
//! cargo run --release -p codec [rounds]
//! ```
//!
//! The peers have no salt: an application computes it itself, here with the same hash (XXH3 of the vehicle's bytes), and puts it
//! in front as a byte. When they decode, nobody checks it; one more row says what that check costs the faster of them. Rowkey runs
//! with a text layout, which nobody has to decode to read, and with a binary layout, which is what the peers do; with each from
//! a list of values, as programs need that learn the schema when they run, and from a tuple, as the peers do. Every codec writes
//! into a buffer that is used again, and reads text without copying it.

use rowkey::schema::KeySchema;
use rowkey::{Codec, Time, Value};
use std::borrow::Cow;
use std::hint::black_box;
use std::time::Instant;
use twox_hash::XxHash3_64;

const KEYS: usize = 10_000;
const BUCKETS: u64 = 16;

const TEXT: &str = r#"
version = 1
table = "telemetry"
[key]
layout = "{salt}#{tenant}#{kind}#{vehicle}#{time}#{sensor}"
[key.salt]
of = ["vehicle"]
buckets = 16
[key.fields]
tenant = { type = "string" }
kind = { type = "string" }
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
sensor = { type = "uint", digits = 3 }
"#;

const BINARY: &str = r#"
version = 1
table = "telemetry"
[key]
layout = "{salt}{tenant}{kind}{vehicle}{time}{sensor}"
[key.salt]
of = ["vehicle"]
buckets = 16
format = "bytes"
[key.fields]
tenant = { type = "text" }
kind = { type = "text" }
vehicle = { type = "u32" }
time = { type = "timestamp", unit = "ms", encoding = "binary", order = "desc" }
sensor = { type = "u16" }
"#;

struct Reading {
    tenant: String,
    kind: &'static str,
    vehicle: u32,
    time_ms: u64,
    sensor: u16,
}

/// 10,000 readings of a fleet; the same in every run.
fn readings() -> Vec<Reading> {
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..KEYS)
        .map(|_| Reading {
            tenant: ["acme", "globex", "initech-logistics"][next(3) as usize].to_owned(),
            kind: ["truck", "van"][next(2) as usize],
            vehicle: next(100_000) as u32,
            time_ms: 1_790_000_000_000 + next(86_400_000),
            sensor: next(400) as u16,
        })
        .collect()
}

fn values(reading: &Reading) -> [Value<'_>; 5] {
    [
        Value::Text(Cow::Borrowed(&reading.tenant)),
        Value::Text(Cow::Borrowed(reading.kind)),
        Value::Uint(u64::from(reading.vehicle)),
        Value::Time(Time::from_millis(reading.time_ms as i64)),
        Value::Uint(u64::from(reading.sensor)),
    ]
}

fn salt(vehicle: u32) -> u8 {
    (XxHash3_64::oneshot(&vehicle.to_be_bytes()) % BUCKETS) as u8
}

type Tuple<'a> = (u8, Cow<'a, str>, Cow<'a, str>, u32, u64, u16);

fn storekey_tuple(reading: &Reading) -> (u8, &str, &str, u32, u64, u16) {
    (salt(reading.vehicle), &reading.tenant, reading.kind, reading.vehicle, !reading.time_ms, reading.sensor)
}

type FdbTuple<'a> = (u16, Cow<'a, str>, Cow<'a, str>, u32, i64, u16);

fn fdb_tuple(reading: &Reading) -> (u16, &str, &str, u32, i64, u16) {
    let (bucket, tenant, kind, vehicle, _, sensor) = storekey_tuple(reading);
    (u16::from(bucket), tenant, kind, vehicle, -(reading.time_ms as i64), sensor)
}

type Encode<'a> = dyn Fn(&[Reading], &mut Vec<u8>) -> u64 + 'a;
type Decode<'a> = dyn Fn(&[Vec<u8>]) -> u64 + 'a;

/// One codec: how it writes a reading into a buffer, and how it reads it back to a checksum.
struct Peer<'a> {
    name: &'static str,
    encode: Box<Encode<'a>>,
    decode: Box<Decode<'a>>,
    keys: Vec<Vec<u8>>,
}

fn rowkey_peer<'a>(name: &'static str, codec: &'a Codec, readings: &[Reading]) -> Peer<'a> {
    let keys = readings
        .iter()
        .map(|reading| codec.encode_key(&values(reading)).expect("a valid reading").0)
        .collect();
    let encode = |readings: &[Reading], out: &mut Vec<u8>| {
        let mut bytes = 0;
        for reading in readings {
            codec.encode(&values(reading), out).expect("a valid reading");
            bytes += black_box(&out[..]).len() as u64;
        }
        bytes
    };
    let decode = |keys: &[Vec<u8>]| {
        let mut sum = 0u64;
        let mut values = Vec::with_capacity(5);
        for key in keys {
            codec.decode(key, &mut values).expect("a key of its own");
            let (Value::Uint(vehicle), Value::Time(time), Value::Uint(sensor)) =
                (&values[2], &values[3], &values[4])
            else {
                panic!("types of the schema")
            };
            sum = sum.wrapping_add(vehicle ^ time.as_millis() as u64 ^ sensor);
            black_box(&values);
            values.clear();
        }
        sum
    };
    Peer { name, encode: Box::new(encode), decode: Box::new(decode), keys }
}

type Typed<'k> = (&'k str, &'k str, u32, Time, u16);

fn typed(reading: &Reading) -> Typed<'_> {
    let time = Time::from_millis(reading.time_ms as i64);
    (&reading.tenant, reading.kind, reading.vehicle, time, reading.sensor)
}

fn tuple_peer<'a>(name: &'static str, codec: &'a Codec, readings: &[Reading]) -> Peer<'a> {
    let mut keys = vec![Vec::new(); readings.len()];
    for (reading, key) in readings.iter().zip(&mut keys) {
        codec.encode_tuple(&typed(reading), key).expect("a valid reading");
        *key = key.to_vec();
    }
    let encode = |readings: &[Reading], out: &mut Vec<u8>| {
        let mut bytes = 0;
        for reading in readings {
            codec.encode_tuple(&typed(reading), out).expect("a valid reading");
            bytes += black_box(&out[..]).len() as u64;
        }
        bytes
    };
    let decode = |keys: &[Vec<u8>]| {
        let mut sum = 0u64;
        for key in keys {
            let tuple: Typed<'_> = codec.decode_tuple(key).expect("a key of its own");
            sum = sum.wrapping_add(u64::from(tuple.2) ^ tuple.3.as_millis() as u64 ^ u64::from(tuple.4));
            black_box(&tuple);
        }
        sum
    };
    Peer { name, encode: Box::new(encode), decode: Box::new(decode), keys }
}

/// With `checks_salt`, decoding recomputes the salt, as Rowkey always does.
fn storekey_peer(name: &'static str, checks_salt: bool, readings: &[Reading]) -> Peer<'static> {
    let keys = readings
        .iter()
        .map(|reading| storekey::encode_vec(&storekey_tuple(reading)).expect("encodes"))
        .collect();
    let encode = |readings: &[Reading], out: &mut Vec<u8>| {
        let mut bytes = 0;
        for reading in readings {
            out.clear();
            storekey::encode(&mut *out, &storekey_tuple(reading)).expect("encodes");
            bytes += black_box(&out[..]).len() as u64;
        }
        bytes
    };
    let decode = move |keys: &[Vec<u8>]| {
        let mut sum = 0u64;
        for key in keys {
            let tuple: Tuple<'_> = storekey::decode_borrow(key).expect("a key of its own");
            if checks_salt {
                assert_eq!(tuple.0, salt(tuple.3), "another salt than that of the vehicle");
            }
            sum = sum.wrapping_add(u64::from(tuple.3) ^ !tuple.4 ^ u64::from(tuple.5));
            black_box(&tuple);
        }
        sum
    };
    Peer { name, encode: Box::new(encode), decode: Box::new(decode), keys }
}

fn fdb_peer(readings: &[Reading]) -> Peer<'static> {
    let keys = readings.iter().map(|reading| foundationdb_tuple::pack(&fdb_tuple(reading))).collect();
    let encode = |readings: &[Reading], out: &mut Vec<u8>| {
        let mut bytes = 0;
        for reading in readings {
            out.clear();
            foundationdb_tuple::pack_into(&fdb_tuple(reading), out);
            bytes += black_box(&out[..]).len() as u64;
        }
        bytes
    };
    let decode = |keys: &[Vec<u8>]| {
        let mut sum = 0u64;
        for key in keys {
            let tuple: FdbTuple<'_> = foundationdb_tuple::unpack(key).expect("a key of its own");
            sum = sum.wrapping_add(u64::from(tuple.3) ^ tuple.4.unsigned_abs() ^ u64::from(tuple.5));
            black_box(&tuple);
        }
        sum
    };
    Peer { name: "foundationdb-tuple 0.11.0", encode: Box::new(encode), decode: Box::new(decode), keys }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(31, |text| text.parse().expect("a number of rounds"));
    let readings = readings();
    let text = Codec::new(KeySchema::parse(TEXT).expect("a schema")).expect("a codec");
    let binary = Codec::new(KeySchema::parse(BINARY).expect("a schema")).expect("a codec");
    let peers = [
        rowkey_peer("rowkey, text layout", &text, &readings),
        rowkey_peer("rowkey, binary layout", &binary, &readings),
        tuple_peer("rowkey, text, tuples", &text, &readings),
        tuple_peer("rowkey, binary, tuples", &binary, &readings),
        storekey_peer("storekey 0.11.0", false, &readings),
        fdb_peer(&readings),
        storekey_peer("storekey, salt checked", true, &readings),
    ];
    let expected = (peers[0].decode)(&peers[0].keys);
    for peer in &peers {
        assert_eq!((peer.decode)(&peer.keys), expected, "{} reads other values than it wrote", peer.name);
    }
    let mut times = vec![(Vec::new(), Vec::new()); peers.len()];
    let mut out = Vec::with_capacity(256);
    for _ in 0..rounds {
        for (peer, (encodes, decodes)) in peers.iter().zip(&mut times) {
            let start = Instant::now();
            black_box((peer.encode)(&readings, &mut out));
            encodes.push(start.elapsed().as_nanos() as f64 / KEYS as f64);
            let start = Instant::now();
            black_box((peer.decode)(&peer.keys));
            decodes.push(start.elapsed().as_nanos() as f64 / KEYS as f64);
        }
    }
    let medians: Vec<(f64, f64)> =
        times.into_iter().map(|(encodes, decodes)| (median(encodes), median(decodes))).collect();
    println!("medians of {rounds} rounds of {KEYS} keys, the codecs in turn");
    println!("{:<28}{:>12}{:>12}{:>10}", "", "encode, ns", "decode, ns", "bytes");
    for (peer, (encode, decode)) in peers.iter().zip(&medians) {
        let bytes = peer.keys.iter().map(Vec::len).sum::<usize>() as f64 / KEYS as f64;
        println!("{:<28}{encode:>12.1}{decode:>12.1}{bytes:>10.1}", peer.name);
    }
    let best = |figure: fn(&(f64, f64)) -> f64| figure(&medians[4]).min(figure(&medians[5]));
    for ours in 0..4 {
        println!(
            "{}: encodes {:.2} times, decodes {:.2} times as fast as the faster peer",
            peers[ours].name,
            best(|figures| figures.0) / medians[ours].0,
            best(|figures| figures.1) / medians[ours].1,
        );
    }
}
