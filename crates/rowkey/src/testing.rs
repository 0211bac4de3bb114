//! Helpers of this crate's tests: files of vectors, and random values for the fields of any schema.

use crate::schema::{Field, FieldKind, IsoForm, KeySchema, Part, TimeUnit};
use crate::{Codec, Time, Value};
use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write as _;

/// Calls `check` with the name and the other columns of every line of a file of vectors.
pub(crate) fn for_each_vector(file: &str, mut check: impl FnMut(&str, &[&str])) {
    let mut lines = 0;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap();
        let columns: Vec<&str> = columns.collect();
        check(name, &columns);
        lines += 1;
    }
    assert!(lines > 0, "a file of vectors has lines");
}

/// Lower-case hex digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// A digit-sized number with its extremes.
fn number(max: u64) -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(max), Just(max - max / 3), 0..=max, 0..=max.min(20)]
}

fn signed(min: i64, max: i64) -> impl Strategy<Value = i64> {
    prop_oneof![Just(min), Just(max), Just(0), Just(-1), min..=max, min.max(-20)..=max.min(20)]
}

fn bytes(len: impl Into<SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0u8), Just(1u8), Just(0xffu8), any::<u8>()], len)
}

fn time(units: impl Strategy<Value = i128> + 'static, unit: TimeUnit) -> BoxedStrategy<Value<'static>> {
    units.prop_map(move |units| Value::Time(Time { nanos: units * i128::from(unit.nanos()) })).boxed()
}

/// Seconds from 0000-01-01 to 9999-12-31.
const FOUR_DIGIT_YEARS: std::ops::Range<i128> = -62_167_219_200..253_402_300_800;

fn iso(form: IsoForm, unit: TimeUnit) -> BoxedStrategy<Value<'static>> {
    let (from, to) = (FOUR_DIGIT_YEARS.start, FOUR_DIGIT_YEARS.end);
    let (per_unit, unit) = match form {
        IsoForm::DateBasic | IsoForm::DateExtended => (86_400, TimeUnit::Seconds),
        IsoForm::Basic | IsoForm::Extended => (1, unit),
    };
    let fractions = i128::from(1_000_000_000 / unit.nanos());
    let (from, to) = (from / per_unit * fractions, to / per_unit * fractions);
    let units = prop_oneof![Just(from), Just(to - 1), Just(0), Just(-1), from..to, -40i128..40];
    time(units.prop_map(move |units| units * per_unit), unit)
}

/// A host without port and path.
pub(crate) fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => vec("[a-z0-9_-]{1,4}", 0..5).prop_map(|labels| labels.join(".")),
        2 => vec("(com|example|example-shop|www|a|1)", 1..4).prop_map(|labels| labels.join(".")),
        1 => any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        1 => any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
        1 => vec("(bücher|straße|例え|Ünder_|xn--bcher-kva)", 1..3).prop_map(|labels| labels.join(".")),
    ]
    .prop_filter("punycode made by chance", |host| !host.contains("xn--") || host.contains("xn--bcher-kva"))
}

/// A value that a field can hold. The field is the last of its key unless `delimited`; a delimiter is below `$`.
pub(crate) fn value(field: &Field, delimited: bool) -> BoxedStrategy<Value<'static>> {
    if !field.values.is_empty() {
        return select(field.values.clone()).prop_map(|text| Value::Text(text.into())).boxed();
    }
    let text = |text: String| Value::Text(text.into());
    match field.kind {
        FieldKind::String if delimited => "[$-~éß例\u{10ffff}]{0,6}".prop_map(text).boxed(),
        FieldKind::String | FieldKind::EscapedText => {
            prop_oneof!["[\u{0}\u{1}a-c \u{ff}]{0,6}", any::<String>()].prop_map(text).boxed()
        }
        FieldKind::Uint { digits } | FieldKind::UintReversed { digits } => {
            number(10u64.checked_pow(u32::from(digits)).map_or(u64::MAX, |power| power - 1))
                .prop_map(Value::Uint)
                .boxed()
        }
        FieldKind::Int { digits } => {
            let max = 10i64.pow(u32::from(digits)) - 1;
            signed(-max, max).prop_map(Value::Int).boxed()
        }
        FieldKind::Hex { digits } => {
            let odd = digits % 2 == 1;
            bytes(usize::from(digits).div_ceil(2))
                .prop_map(move |mut bytes| {
                    if odd {
                        bytes[0] &= 15;
                    }
                    Value::Bytes(bytes.into())
                })
                .boxed()
        }
        FieldKind::EpochDigits { unit, digits } => {
            time(number(10u64.pow(u32::from(digits)) - 1).prop_map(i128::from), unit)
        }
        FieldKind::Iso { form, unit } => iso(form, unit),
        FieldKind::Domain { .. } => {
            (host(), prop_oneof![2 => Just(String::new()), 1 => "(:[1-9][0-9]{0,3})?(/[$-~é]{0,4})?"])
                .prop_map(|(host, rest)| Value::Text(format!("{host}{rest}").into()))
                .boxed()
        }
        FieldKind::UuidText | FieldKind::UuidBytes => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        FieldKind::BeUint { bytes } => {
            number(u64::MAX >> (64 - 8 * u32::from(bytes))).prop_map(Value::Uint).boxed()
        }
        FieldKind::BeInt { bytes } => {
            let unused = 64 - 8 * u32::from(bytes);
            signed(i64::MIN >> unused, i64::MAX >> unused).prop_map(Value::Int).boxed()
        }
        FieldKind::BeFloat => prop_oneof![
            select(vec![
                f64::NEG_INFINITY,
                f64::MIN,
                -1.0,
                -f64::MIN_POSITIVE,
                -5e-324,
                -0.0,
                0.0,
                5e-324,
                1.0,
                f64::MAX,
                f64::INFINITY
            ]),
            any::<f64>().prop_filter("no order", |float| !float.is_nan()),
        ]
        .prop_map(Value::Float)
        .boxed(),
        FieldKind::EscapedBytes => bytes(0..6).prop_map(|bytes| Value::Bytes(bytes.into())).boxed(),
        FieldKind::Fixed { bytes: width } => {
            bytes(usize::from(width)).prop_map(|bytes| Value::Bytes(bytes.into())).boxed()
        }
        FieldKind::BeTime { unit } => time(signed(i64::MIN, i64::MAX).prop_map(i128::from), unit),
    }
}

/// The values of one key.
pub(crate) fn values(schema: &KeySchema) -> BoxedStrategy<Vec<Value<'static>>> {
    let followed = |at: usize| {
        let mut parts = schema.parts.iter().skip_while(|part| **part != Part::Field(at));
        parts.nth(1).is_some()
    };
    let each = schema.fields.iter().enumerate().map(|(at, field)| value(field, followed(at)));
    each.collect::<Vec<_>>().boxed()
}

/// A codec of a random schema, and `count` keys' values for it.
pub(crate) fn codec_and_values(count: usize) -> impl Strategy<Value = (Codec, Vec<Vec<Value<'static>>>)> {
    let codec = crate::schema::testing::schema()
        .prop_filter_map("a hash that does not take these fields", |schema| Codec::new(schema).ok());
    codec.prop_flat_map(move |codec| {
        let values = values(codec.schema());
        (Just(codec), vec(values, count))
    })
}
