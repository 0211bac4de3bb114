//! Random schemas, rows and queries over small domains, so that rows meet bounds, and bounds meet the ends of fields.

use crate::codec::Codec;
use crate::query::{Condition, Query};
use crate::schema::{
    Field, FieldKind, Hash, IsoForm, KeySchema, Order, Part, Salt, SaltFormat, SaltSource, TimeUnit,
};
use crate::{Time, Value};
use std::ops::Bound;

/// Splitmix64: a tiny generator whose whole state is its seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A schema, and for each field the values that rows are made of.
pub(super) struct World {
    pub(super) codec: Codec,
    pub(super) domains: Vec<Vec<Value<'static>>>,
}

const TEXTS: [&str; 16] =
    ["", "$", "a", "a$", "a!", "a b", "ab", "ab\0", "b", "b~", "ba", "}", "~", "é", "é\0", "\u{10ffff}"];
const HOSTS: [&str; 12] =
    ["", "localhost", "b", "a.b", "x.a.b", "b-x", "b0", "a.b-x", "b:80", "a.b/p", "192.168.0.1", "a.b?q"];

fn bytes(all: &[&[u8]]) -> Vec<Value<'static>> {
    all.iter().map(|bytes| Value::Bytes(bytes.to_vec().into())).collect()
}

fn numbers(all: &[i64]) -> Vec<Value<'static>> {
    all.iter().map(|&number| u64::try_from(number).map_or(Value::Int(number), Value::Uint)).collect()
}

fn times(all: &[i128]) -> Vec<Value<'static>> {
    all.iter().map(|&nanos| Value::Time(Time { nanos })).collect()
}

fn uuid(first: u8, last: u8) -> Value<'static> {
    let mut bytes = [0; 16];
    bytes[0] = first;
    bytes[4] = last;
    bytes[15] = last;
    Value::Uuid(bytes)
}

/// Values of a kind: what rows may have, what bounds may be, and more than the field can hold.
fn values(kind: &FieldKind) -> Vec<Value<'static>> {
    match kind {
        FieldKind::String | FieldKind::EscapedText => {
            TEXTS.iter().map(|text| Value::from(*text).into_owned()).collect()
        }
        FieldKind::Domain { .. } => HOSTS.iter().map(|text| Value::from(*text).into_owned()).collect(),
        FieldKind::Uint { digits: 20 } | FieldKind::BeUint { bytes: 8 } => {
            let mut all = numbers(&[0, 1, 2, 500, i64::MAX, -1]);
            all.extend([Value::Uint(u64::MAX), Value::Uint(u64::MAX - 1)]);
            all
        }
        FieldKind::Uint { .. } | FieldKind::UintReversed { .. } => {
            numbers(&[0, 1, 2, 3, 8, 9, 10, 12, 21, 98, 99, 100, -1])
        }
        FieldKind::Int { .. } => numbers(&[-100, -99, -10, -9, -8, -1, 0, 1, 8, 9, 10, 99, 100]),
        FieldKind::BeUint { .. } => numbers(&[0, 1, 2, 127, 128, 254, 255, 256, -1]),
        FieldKind::BeInt { bytes: 8 } => numbers(&[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
        FieldKind::BeInt { .. } => numbers(&[-129, -128, -127, -1, 0, 1, 126, 127, 128]),
        FieldKind::BeFloat => {
            let floats = [f64::NEG_INFINITY, f64::MIN, -1.5, -0.0, 0.0, 1.5, f64::MAX, f64::INFINITY];
            floats.into_iter().map(Value::Float).collect()
        }
        FieldKind::Hex { digits } if digits % 2 == 1 => {
            bytes(&[b"\x00", b"\x01", b"\x0e", b"\x0f", b"\x00\x00", b"\x0f\xff", b"\x0a\xbc", b"\x10"])
        }
        FieldKind::Hex { .. } | FieldKind::Fixed { .. } => bytes(&[
            b"",
            b"\0",
            b"\x01",
            b"\xff",
            b"\0\0",
            b"\0\x01",
            b"ab",
            b"a\xff",
            b"\xff\0",
            b"\xff\xff",
            b"abc",
        ]),
        FieldKind::EscapedBytes => bytes(&[
            b"",
            b"\0",
            b"\0\0",
            b"\0\x01",
            b"\0\xff",
            b"a",
            b"a\0",
            b"a\xff",
            b"ab",
            b"\xff",
            b"\xff\xff",
        ]),
        FieldKind::EpochDigits { .. } | FieldKind::BeTime { .. } | FieldKind::Iso { .. } => time_values(kind),
        FieldKind::UuidText | FieldKind::UuidBytes => {
            vec![uuid(0, 0), uuid(0, 1), uuid(1, 0), uuid(0x1f, 0xff), uuid(0xff, 0), uuid(0xff, 0xff)]
        }
    }
}

fn time_values(kind: &FieldKind) -> Vec<Value<'static>> {
    const S: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * S;
    match kind {
        FieldKind::EpochDigits { .. } => {
            times(&[-1, 0, 1, S, S + 1, 2 * S, 8 * S, 9 * S, 9 * S + 1, 10 * S, 98 * S, 99 * S, 100 * S])
        }
        FieldKind::BeTime { .. } => times(&[
            -(1 << 40) * DAY,
            -S,
            -1,
            0,
            1,
            1_000_000,
            1_500_000,
            S,
            i128::from(i64::MAX),
            i128::from(i64::MIN),
            i128::from(i64::MAX) / 1_000 * S,
            (1 << 60) * DAY,
        ]),
        _ => times(&[
            -62_167_219_201 * S,
            -62_167_219_200 * S,
            -1,
            0,
            1,
            1_000_000,
            DAY - 1,
            DAY,
            DAY + 1,
            2 * DAY,
            253_402_300_800 * S - DAY,
            253_402_300_800 * S - 1_000_000,
            253_402_300_800 * S,
        ]),
    }
}

const UNITS: [TimeUnit; 3] = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Nanos];

fn kind(dice: &mut Dice) -> FieldKind {
    match dice.below(20) {
        0..=2 => FieldKind::String,
        3 => FieldKind::Uint { digits: *dice.pick(&[1, 2, 2, 20]) },
        4 => FieldKind::UintReversed { digits: 2 },
        5 => FieldKind::Int { digits: *dice.pick(&[1, 2]) },
        6 => FieldKind::Hex { digits: *dice.pick(&[1, 2, 3, 4]) },
        7 => FieldKind::EpochDigits { unit: *dice.pick(&UNITS), digits: *dice.pick(&[1, 2, 13]) },
        8 => {
            let form = *dice.pick(&[IsoForm::DateBasic, IsoForm::DateExtended]);
            FieldKind::Iso { form, unit: TimeUnit::Seconds }
        }
        9 => FieldKind::Iso {
            form: *dice.pick(&[IsoForm::Basic, IsoForm::Extended]),
            unit: *dice.pick(&UNITS),
        },
        10 | 11 => FieldKind::Domain { separator: *dice.pick(b",.\0") },
        12 if dice.one_in(2) => FieldKind::UuidText,
        12 => FieldKind::UuidBytes,
        13 => FieldKind::BeUint { bytes: *dice.pick(&[1, 1, 2, 8]) },
        14 => FieldKind::BeInt { bytes: *dice.pick(&[1, 8]) },
        15 => FieldKind::BeFloat,
        16 => FieldKind::EscapedBytes,
        17 => FieldKind::EscapedText,
        18 => FieldKind::Fixed { bytes: *dice.pick(&[1, 2]) },
        _ => FieldKind::BeTime { unit: *dice.pick(&UNITS) },
    }
}

fn salt(dice: &mut Dice, fields: usize) -> Salt {
    let hash = *dice.pick(&[
        Hash::Xxh3,
        Hash::Md5Hex { digits: 4 },
        Hash::Crc32,
        Hash::Murmur3,
        Hash::Fnv1,
        Hash::Fnv1a,
        Hash::JavaString,
        Hash::Phoenix,
        Hash::HbaseWd,
        Hash::OpenTsdb,
        Hash::CockroachDb,
    ]);
    let source = match dice.below(8) {
        0 => SaltSource::Random,
        1 => SaltSource::HashPrefix { hash: Hash::Xxh3, bytes: *dice.pick(&[1, 2]) },
        2 => SaltSource::Modulo,
        _ => SaltSource::Hash(hash),
    };
    let mut of: Vec<usize> = (0..fields).filter(|_| dice.one_in(2)).collect();
    if of.is_empty() || matches!(source, SaltSource::Modulo) {
        of = vec![dice.below(fields)];
    }
    if matches!(source, SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd)) && dice.one_in(2) {
        of = (0..fields).collect();
    }
    let mut buckets = *dice.pick(&[1, 2, 3, 4, 10, 11, 256]);
    let mut format = match dice.below(3) {
        0 => SaltFormat::Digits { width: 3 },
        1 => SaltFormat::Hex { width: 2 },
        _ => SaltFormat::Bytes { width: 1 },
    };
    match source {
        SaltSource::Random => of.clear(),
        SaltSource::HashPrefix { bytes, .. } => {
            buckets = 0;
            format = if dice.one_in(2) {
                SaltFormat::Hex { width: 2 * bytes }
            } else {
                SaltFormat::Bytes { width: bytes }
            };
        }
        SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd | Hash::OpenTsdb) => {
            format = SaltFormat::Bytes { width: 1 }
        }
        _ => {}
    }
    Salt { of, source, format, buckets }
}

/// A schema that the codec takes.
pub(super) fn world(dice: &mut Dice) -> World {
    loop {
        let count = 1 + dice.below(4);
        if let Some(world) = try_world(dice, count, kind) {
            return world;
        }
    }
}

/// A schema whose keys can be listed, and all of them: stored, sorted.
pub(super) fn small_world(dice: &mut Dice) -> (World, Vec<Vec<u8>>) {
    let small = |dice: &mut Dice| match dice.below(5) {
        0 => FieldKind::Uint { digits: 1 },
        1 => FieldKind::UintReversed { digits: 1 },
        2 => FieldKind::Int { digits: 1 },
        3 => FieldKind::Hex { digits: 1 },
        _ => FieldKind::String,
    };
    loop {
        let count = 1 + dice.below(3);
        let Some(mut world) = try_world(dice, count, small) else { continue };
        let codec = &world.codec;
        let mut values = Vec::new();
        for (index, field) in codec.schema().fields.iter().enumerate() {
            let all: Vec<Value<'static>> = match field.kind {
                _ if !field.values.is_empty() => {
                    field.values.iter().map(|text| codec.parse_value(index, text).unwrap()).collect()
                }
                FieldKind::Hex { .. } => (0..16u8).map(|digit| Value::Bytes(vec![digit].into())).collect(),
                FieldKind::String => Vec::new(),
                _ => numbers(&(-9..10).collect::<Vec<_>>()),
            };
            let holds = |value: &Value<'_>| codec.encode_field(index, value, &mut Vec::new()).is_ok();
            values.push(all.into_iter().filter(holds).collect::<Vec<_>>());
        }
        if values.iter().any(Vec::is_empty) {
            continue;
        }
        let keys = all_keys(codec, &values);
        world.domains = values;
        return (world, keys);
    }
}

fn all_keys(codec: &Codec, domains: &[Vec<Value<'static>>]) -> Vec<Vec<u8>> {
    let mut rows: Vec<Vec<Value<'static>>> = vec![Vec::new()];
    for domain in domains {
        let longer = rows
            .iter()
            .flat_map(|row| domain.iter().map(|value| [&row[..], std::slice::from_ref(value)].concat()));
        rows = longer.collect();
    }
    let random = codec.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
    let mut keys = Vec::new();
    for row in rows {
        let mut key = Vec::new();
        if random {
            for bucket in 0..codec.bucket_count().unwrap() {
                codec.encode_in_bucket(bucket, &row, &mut key).unwrap();
                keys.push(key.clone());
            }
        } else if codec.encode(&row, &mut key).is_ok() {
            keys.push(key);
        }
    }
    keys.sort();
    keys
}

fn try_world(dice: &mut Dice, count: usize, kind: impl Fn(&mut Dice) -> FieldKind) -> Option<World> {
    let mut fields = Vec::new();
    for index in 0..count {
        let kind = kind(dice);
        let order = if kind.can_descend() && dice.one_in(2) { Order::Desc } else { Order::Asc };
        let mut declared = Vec::new();
        if dice.one_in(4) {
            for _ in 0..=dice.below(4) {
                let value = dice.pick(&values(&kind)).clone();
                declared.push(crate::encode::format_value(&kind, &value));
            }
            declared.sort();
            declared.dedup();
        }
        fields.push(Field { name: format!("f{index}"), kind, order, values: declared });
    }
    let salt = dice.one_in(2).then(|| salt(dice, count));
    let mut parts = Vec::new();
    if salt.is_some() {
        parts.push(Part::Salt);
    }
    if dice.one_in(3) {
        parts.push(Part::Literal(dice.pick(&[&b"#"[..], b"t/", b"\xff"]).to_vec()));
    }
    for (index, field) in fields.iter().enumerate() {
        parts.push(Part::Field(index));
        let is_last = index + 1 == count;
        if field.kind.needs_delimiter() && !is_last || dice.one_in(if is_last { 6 } else { 2 }) {
            parts.push(Part::Literal(dice.pick(&[&b"#"[..], b"#", b"\0", b"##", b"|", b"\xff"]).to_vec()));
        }
    }
    let schema =
        KeySchema { table: "t".to_owned(), parts, fields, salt, families: Vec::new(), queries: Vec::new() };
    let codec = Codec::new(schema).ok()?;
    let domains = (0..count).map(|index| domain(dice, &codec, index)).collect();
    Some(World { codec, domains })
}

/// A few values that a field holds: the same ones in several rows are likely.
fn domain(dice: &mut Dice, codec: &Codec, index: usize) -> Vec<Value<'static>> {
    let field = &codec.schema().fields[index];
    let mut all = values(&field.kind);
    all.extend(field.values.iter().filter_map(|text| codec.parse_value(index, text).ok()));
    all.retain(|value| codec.encode_field(index, value, &mut Vec::new()).is_ok());
    if all.is_empty() { Vec::new() } else { (0..6).map(|_| dice.pick(&all).clone()).collect() }
}

/// A condition on a field.
pub(super) fn condition(
    dice: &mut Dice,
    kind: &FieldKind,
    domain: &[Value<'static>],
    depth: usize,
) -> Condition {
    let mut all = values(kind);
    all.extend(domain.iter().cycle().take(2 * all.len()).cloned());
    let bound = |dice: &mut Dice| match dice.below(6) {
        0 | 5 => Bound::Unbounded,
        1 | 2 => Bound::Included(dice.pick(&all).clone()),
        _ => Bound::Excluded(dice.pick(&all).clone()),
    };
    match dice.below(if depth == 0 { 11 } else { 9 }) {
        0 | 1 => Condition::Equal(dice.pick(&all).clone()),
        2 | 3 => Condition::OneOf((0..dice.below(5)).map(|_| dice.pick(&all).clone()).collect()),
        4 if has_prefix(kind) => Condition::Prefix(prefix(dice, kind, &all)),
        4 if matches!(kind, FieldKind::Domain { .. }) => {
            Condition::SubdomainOf((*dice.pick(&["b", "a.b", "b-x", "", "192.168.0.1", "zz"])).to_owned())
        }
        4..=8 => {
            let low = bound(dice);
            Condition::Between(low, bound(dice))
        }
        9 => Condition::AllOf((0..dice.below(3)).map(|_| condition(dice, kind, domain, depth + 1)).collect()),
        _ => Condition::AnyOf((0..dice.below(4)).map(|_| condition(dice, kind, domain, depth + 1)).collect()),
    }
}

fn has_prefix(kind: &FieldKind) -> bool {
    !matches!(kind, FieldKind::Domain { .. })
        && matches!(super::super::axis::Axis::of(kind), super::super::axis::Axis::Strings)
}

fn prefix(dice: &mut Dice, kind: &FieldKind, all: &[Value<'static>]) -> Value<'static> {
    match kind {
        FieldKind::Hex { .. } | FieldKind::UuidText | FieldKind::UuidBytes => {
            Value::Text((*dice.pick(&["", "0", "f", "ff", "0f", "1", "00000000", "f0", "0a"])).into())
        }
        _ => dice.pick(all).clone(),
    }
}

/// A query on some of the fields.
pub(super) fn query(dice: &mut Dice, world: &World) -> Query {
    let mut query = Query::new().reversed(dice.one_in(2));
    query.full_scan = dice.one_in(2);
    for (field, domain) in world.codec.schema().fields.iter().zip(&world.domains) {
        let bound = if dice.one_in(2) { 0 } else { 1 + usize::from(dice.one_in(8)) };
        for _ in 0..bound {
            query = query.with(&field.name, condition(dice, &field.kind, domain, 0));
        }
    }
    query
}

/// Distinct stored keys with their buckets, sorted.
pub(super) fn rows(dice: &mut Dice, world: &World, count: usize) -> Vec<Vec<u8>> {
    let codec = &world.codec;
    let random = codec.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
    let mut keys = Vec::with_capacity(count);
    for _ in 0..count {
        if world.domains.iter().any(Vec::is_empty) {
            break;
        }
        let values: Vec<Value<'static>> =
            world.domains.iter().map(|domain| dice.pick(domain).clone()).collect();
        let mut key = Vec::new();
        let encoded = match codec.bucket_count() {
            Some(buckets) if random => codec.encode_in_bucket(
                u32::try_from(dice.below(buckets as usize)).unwrap(),
                &values,
                &mut key,
            ),
            _ => codec.encode(&values, &mut key),
        };
        if encoded.is_ok() {
            keys.push(key);
        }
    }
    keys.sort();
    keys.dedup();
    keys
}
