//! The short way gives what the long way gives, or nothing.

use super::*;
use crate::codec::Codec;
use crate::schema::testing::schema;
use crate::schema::{Field, KeySchema};
use crate::testing::{hex, values};
use proptest::prelude::*;
use proptest::sample::select;

fn kind() -> impl Strategy<Value = FieldKind> {
    let unit = || select(vec![TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos]);
    let bytes = || select(vec![1u8, 2, 4, 8]);
    prop_oneof![
        Just(FieldKind::String),
        Just(FieldKind::EscapedText),
        (1u8..=16).prop_map(|digits| FieldKind::Uint { digits }),
        (unit(), 1u8..=16).prop_map(|(unit, digits)| FieldKind::EpochDigits { unit, digits }),
        bytes().prop_map(|bytes| FieldKind::BeUint { bytes }),
        bytes().prop_map(|bytes| FieldKind::BeInt { bytes }),
        unit().prop_map(|unit| FieldKind::BeTime { unit }),
    ]
}

/// A random schema whose fields have been replaced by common ones, if it still is a schema and has a plan; and values for two keys.
fn case() -> impl Strategy<Value = (Codec, Vec<Vec<Value<'static>>>)> {
    let codec = (schema(), proptest::collection::vec((kind(), any::<bool>()), 5), any::<bool>());
    let codec = codec.prop_filter_map("no plan", |(mut schema, kinds, default_hash)| {
        for (field, (kind, desc)) in schema.fields.iter_mut().zip(kinds) {
            let order = if desc && kind.can_descend() { Order::Desc } else { Order::Asc };
            let values = if kind == field.kind { std::mem::take(&mut field.values) } else { Vec::new() };
            *field = Field { name: std::mem::take(&mut field.name), kind, order, values };
        }
        if let (true, Some(salt)) = (default_hash, &mut schema.salt) {
            salt.source = SaltSource::Hash(Hash::Xxh3);
        }
        Codec::new(schema).ok().filter(|codec| codec.inner.quick.is_some())
    });
    codec.prop_flat_map(|codec| {
        let keys = proptest::collection::vec(values(codec.schema()), 2);
        (Just(codec), keys)
    })
}

fn check_encode(codec: &Codec, values: &[Value<'_>]) {
    let (mut short, mut long) = (Vec::new(), Vec::new());
    let salt = codec.inner.salt.as_ref();
    if codec.encode_quick(salt, values, &mut short).is_some() {
        codec.encode_any(values, &mut long).unwrap_or_else(|error| panic!("{error}: {values:?}"));
        assert_eq!(hex(&short), hex(&long), "{values:?}");
    }
}

fn check_decode(codec: &Codec, key: &[u8]) {
    let (mut short, mut long) = (Vec::new(), Vec::new());
    if codec.decode_quick(codec.inner.salt.as_ref(), key, &mut short).is_some() {
        codec.decode_any(key, &mut long).unwrap_or_else(|error| panic!("{error}: {}", hex(key)));
        assert_eq!(short, long, "{}", hex(key));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_short_way_and_the_long_way_agree(
        (codec, keys) in case(),
        at: usize,
        byte: u8,
        swap: bool,
    ) {
        for values in &keys {
            check_encode(&codec, values);
            let mut key = Vec::new();
            // Some hashes refuse some values.
            if codec.encode_any(values, &mut key).is_ok() {
                check_decode(&codec, &key);
                let at = at % key.len().max(1);
                check_decode(&codec, &key[..at.min(key.len())]);
                if let Some(changed) = key.get_mut(at) {
                    *changed = byte;
                }
                check_decode(&codec, &key);
                key.push(byte);
                check_decode(&codec, &key);
            }
        }
        // Values of another type, too wide, or with delimiters.
        let mut mixed = keys[0].clone();
        let at = at % mixed.len();
        mixed[at] = match (swap, &mixed[at]) {
            (true, _) => keys[1][mixed.len() - 1 - at].clone(),
            (false, Value::Text(text)) => Value::Text(format!("{text}{}", char::from(byte & 0x7f)).into()),
            (false, Value::Uint(number)) => Value::Uint(number.wrapping_mul(11)),
            (false, Value::Time(time)) => Value::Time(Time { nanos: time.nanos.wrapping_mul(11) + i128::from(byte) }),
            (false, value) => value.clone(),
        };
        check_encode(&codec, &mixed);
    }
}

/// A codec of this layout and these fields.
pub(in crate::codec) fn codec(layout: &str, salt: &str, fields: &str) -> Codec {
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\n{salt}\n[key.fields]\n{}\n",
        fields.replace("; ", "\n")
    );
    Codec::new(KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

#[test]
fn common_keys_go_the_short_way_into_the_buffer_that_is_there() {
    let salt = "salt = { of = [\"vehicle\"], buckets = 16 }";
    let fields = "tenant = { type = \"string\" }; vehicle = { type = \"uint\", digits = 5 }; \
                  time = { type = \"timestamp\", unit = \"ms\", digits = 13, order = \"desc\" }";
    let codec = codec("{salt}#{tenant}#{vehicle}#{time}", salt, fields);
    let values = [Value::from("acme"), Value::Uint(4092), Value::Time(Time::from_millis(1_756_544_000_000))];
    let mut out = Vec::with_capacity(256);
    let (place, capacity) = (out.as_ptr(), out.capacity());
    for _ in 0..3 {
        assert!(codec.encode_quick(codec.inner.salt.as_ref(), &values, &mut out).is_some());
        assert_eq!(&out[2..], b"#acme#04092#8243455999999");
        codec.encode_any(&values, &mut out).unwrap();
        assert_eq!((out.as_ptr(), out.capacity()), (place, capacity), "nothing is allocated");
    }
    let mut decoded = Vec::new();
    assert!(codec.decode_quick(codec.inner.salt.as_ref(), &out, &mut decoded).is_some());
    assert_eq!(decoded, values);
}
