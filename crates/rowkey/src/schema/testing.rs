//! Generated schemas for tests: every kind of field, salt and layout that [`KeySchema::parse`] takes.

use super::{
    Binding, DeclaredQuery, Family, Field, FieldKind, Hash, IsoForm, KeySchema, Order, Part, Salt,
    SaltFormat, SaltSource, TimeUnit,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn unit() -> impl Strategy<Value = TimeUnit> {
    select(vec![TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos])
}

fn digits_of_today(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Seconds => 10,
        TimeUnit::Millis => 13,
        TimeUnit::Micros => 16,
        TimeUnit::Nanos => 19,
    }
}

fn kind() -> impl Strategy<Value = FieldKind> {
    prop_oneof![
        4 => Just(FieldKind::String),
        2 => (1_u8..=20).prop_map(|digits| FieldKind::Uint { digits }),
        1 => (1_u8..=20).prop_map(|digits| FieldKind::UintReversed { digits }),
        1 => (1_u8..=18).prop_map(|digits| FieldKind::Int { digits }),
        1 => (1_u16..=512).prop_map(|digits| FieldKind::Hex { digits }),
        2 => (unit(), 0_u8..=9).prop_map(|(unit, more)| FieldKind::EpochDigits {
            unit,
            digits: (digits_of_today(unit) + more).min(19),
        }),
        1 => (select(vec![IsoForm::Basic, IsoForm::Extended]), unit())
            .prop_map(|(form, unit)| FieldKind::Iso { form, unit }),
        1 => select(vec![IsoForm::DateBasic, IsoForm::DateExtended])
            .prop_map(|form| FieldKind::Iso { form, unit: TimeUnit::Seconds }),
        1 => select(vec![b',', b'.']).prop_map(|separator| FieldKind::Domain { separator }),
        1 => Just(FieldKind::UuidText),
        1 => select(vec![1_u8, 2, 4, 8]).prop_map(|bytes| FieldKind::BeUint { bytes }),
        1 => select(vec![1_u8, 2, 4, 8]).prop_map(|bytes| FieldKind::BeInt { bytes }),
        1 => Just(FieldKind::BeFloat),
        1 => Just(FieldKind::EscapedBytes),
        1 => Just(FieldKind::EscapedText),
        1 => (1_u16..=64).prop_map(|bytes| FieldKind::Fixed { bytes }),
        1 => unit().prop_map(|unit| FieldKind::BeTime { unit }),
        1 => Just(FieldKind::UuidBytes),
    ]
}

fn has_desc(kind: &FieldKind) -> bool {
    !matches!(
        kind,
        FieldKind::String
            | FieldKind::UintReversed { .. }
            | FieldKind::Hex { .. }
            | FieldKind::Iso { .. }
            | FieldKind::Domain { .. }
            | FieldKind::UuidText
    )
}

/// A field without its name.
pub(crate) fn field() -> impl Strategy<Value = Field> {
    (kind(), any::<bool>(), prop_oneof![2 => Just(Vec::new()), 1 => vec("[$-~é\u{1}]{0,6}", 1..5)]).prop_map(
        |(kind, desc, mut values)| {
            values.dedup();
            values.sort();
            values.dedup();
            // Only text has allowed values; `\u{1}` only where nothing but an escape ends the field.
            match kind {
                FieldKind::String => values.retain(|value| !value.contains('\u{1}')),
                FieldKind::EscapedText => {}
                _ => values.clear(),
            }
            let order = if desc && has_desc(&kind) { Order::Desc } else { Order::Asc };
            Field { name: String::new(), kind, order, values }
        },
    )
}

/// A literal that may stand behind every field: its first byte is below `$`, the lowest of the generated values.
fn literal() -> impl Strategy<Value = Vec<u8>> {
    (select(b"#\x00\"".to_vec()), vec(any::<u8>(), 0..3))
        .prop_map(|(first, rest)| [vec![first], rest].concat())
}

fn source() -> impl Strategy<Value = SaltSource> {
    let plain = vec![
        Hash::Xxh3,
        Hash::Crc32,
        Hash::Murmur3,
        Hash::Fnv1,
        Hash::Fnv1a,
        Hash::JavaString,
        Hash::Phoenix,
        Hash::HbaseWd,
        Hash::OpenTsdb,
        Hash::CockroachDb,
    ];
    prop_oneof![
        8 => select(plain).prop_map(SaltSource::Hash),
        1 => (5_u8..=16).prop_map(|digits| SaltSource::Hash(Hash::Md5Hex { digits })),
        1 => Just(SaltSource::Random),
        1 => (1_u8..=4, select(vec![Hash::Xxh3, Hash::Crc32, Hash::Md5Hex { digits: 16 }]))
            .prop_map(|(bytes, hash)| SaltSource::HashPrefix { hash, bytes }),
    ]
}

fn width_of(buckets: u32, base: u32) -> u8 {
    let digits = (buckets - 1).checked_ilog(base).map_or(1, |exponent| exponent + 1);
    u8::try_from(digits).expect("small")
}

fn salt(fields: usize) -> impl Strategy<Value = Salt> {
    let of = proptest::sample::subsequence((0..fields).collect::<Vec<_>>(), 1..=fields);
    (of, source(), 1_u32..=65_536, 0_u8..3, 0_u8..2).prop_map(|(of, source, buckets, format, extra)| {
        let one_byte = matches!(source, SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd));
        let buckets = match source {
            SaltSource::HashPrefix { .. } => 0,
            _ if one_byte => buckets.clamp(1, 256),
            SaltSource::Hash(Hash::CockroachDb) => buckets.clamp(2, 2048),
            _ => buckets,
        };
        let format = match (source, format) {
            (SaltSource::HashPrefix { bytes, .. }, 0) => SaltFormat::Hex { width: 2 * bytes },
            (SaltSource::HashPrefix { bytes, .. }, _) => SaltFormat::Bytes { width: bytes },
            (SaltSource::Hash(Hash::OpenTsdb), _) => {
                SaltFormat::Bytes { width: width_of(buckets, 256) + extra }
            }
            _ if one_byte => SaltFormat::Bytes { width: 1 },
            (_, 0) => SaltFormat::Bytes { width: width_of(buckets, 256) },
            (_, 1) => SaltFormat::Hex { width: width_of(buckets, 16) + extra },
            _ => SaltFormat::Digits { width: width_of(buckets, 10) + extra },
        };
        let of = if source == SaltSource::Random { Vec::new() } else { of };
        Salt { of, source, format, buckets }
    })
}

/// Two hashes do not take every type: then it is the default one.
fn keep_to_known_types(salt: &mut Salt, fields: &[Field]) {
    let kinds = || salt.of.iter().map(|index| &fields[*index].kind);
    let taken = match salt.source {
        // One field: a literal between two might not be text.
        SaltSource::Hash(Hash::JavaString) => salt.of.len() == 1 && kinds().all(FieldKind::is_text),
        SaltSource::Hash(Hash::CockroachDb) => kinds().all(crate::salt::cockroach::knows),
        _ => true,
    };
    if !taken {
        salt.source = SaltSource::Hash(Hash::Xxh3);
    }
}

fn family() -> impl Strategy<Value = Family> {
    let gc = select(vec!["", "maxversions=1", "maxage=7d || maxversions=1", "never"]);
    ("[-_.a-zA-Z0-9]{1,8}", gc, select(vec!["bytes", "intsum", "intmin", "intmax"])).prop_map(
        |(name, gc, value_type)| Family { name, gc: gc.to_owned(), value_type: value_type.to_owned() },
    )
}

fn query(fields: Vec<Field>) -> impl Strategy<Value = DeclaredQuery> {
    let bound = proptest::sample::subsequence((0..fields.len()).collect::<Vec<_>>(), 0..=fields.len());
    let amounts = (proptest::option::of(1_u64..1_000_000), proptest::option::of(0.0_f64..1e9), any::<bool>());
    ("\\PC{0,12}", bound, vec(0_u8..3, 8), amounts).prop_map(
        move |(name, bound, words, (amount, rate, reverse))| {
            let binding = |(index, word): (usize, u8)| match word {
                0 => (index, Binding::Equal),
                1 => (index, Binding::In),
                _ if matches!(fields[index].kind, FieldKind::UintReversed { .. }) => (index, Binding::In),
                _ => (index, Binding::Range),
            };
            DeclaredQuery {
                name: format!("q {name}"),
                bound: bound.into_iter().zip(words).map(binding).collect(),
                limit: amount.filter(|amount| amount % 2 == 0),
                per_second: rate,
                rows: amount.filter(|amount| amount % 2 == 1),
                reverse,
            }
        },
    )
}

/// Puts parts together: a literal behind every field that needs one, and where the dice say so.
fn assemble(fields: &[Field], literals: &[Option<Vec<u8>>], salted: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    if salted {
        parts.push(Part::Salt);
        parts.extend(literals[fields.len()].clone().map(Part::Literal));
    }
    for (index, field) in fields.iter().enumerate() {
        parts.push(Part::Field(index));
        let variable = matches!(field.kind, FieldKind::String | FieldKind::Domain { .. });
        match literals[index].clone() {
            Some(literal) => parts.push(Part::Literal(literal)),
            None if variable && index + 1 < fields.len() => parts.push(Part::Literal(vec![b'#'])),
            None => {}
        }
    }
    parts
}

/// A schema that `parse` takes, with one to five fields.
pub(crate) fn schema() -> impl Strategy<Value = KeySchema> {
    let key = vec(field(), 1..=5).prop_flat_map(|mut fields| {
        for (index, field) in fields.iter_mut().enumerate() {
            field.name = format!("f{index}");
        }
        let count = fields.len();
        let queries = vec(query(fields.clone()), 0..3);
        let literals = vec(proptest::option::of(literal()), count + 1);
        (Just(fields), literals, proptest::option::of(salt(count)), queries)
    });
    let schema = ("[_a-zA-Z0-9][-_.a-zA-Z0-9]{0,20}", key, vec(family(), 0..3)).prop_map(
        |(table, (fields, literals, mut salt, mut queries), mut families)| {
            if let Some(salt) = &mut salt {
                keep_to_known_types(salt, &fields);
            }
            let parts = assemble(&fields, &literals, salt.is_some());
            for (index, query) in queries.iter_mut().enumerate() {
                query.name = format!("{} {index}", query.name);
            }
            for (index, family) in families.iter_mut().enumerate() {
                family.name = format!("{}{index}", family.name);
            }
            KeySchema { table, parts, fields, salt, families, queries }
        },
    );
    // `java-string` over a literal that is not text.
    schema.prop_filter("a salt that the codec refuses", |schema| crate::Codec::new(schema.clone()).is_ok())
}
