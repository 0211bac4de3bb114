//! Tuples give the keys that values give.

use crate::codec::quick::tests::codec;
use crate::testing::hex;
use crate::{Codec, ErrorKind, KeyFields, Time, Value};
use std::borrow::Cow;
use std::fmt::Debug;

#[track_caller]
fn check<'k, T: KeyFields<'k> + PartialEq + Debug>(
    codec: &Codec,
    fields: &T,
    values: &[Value<'_>],
    key: &'k mut Vec<u8>,
) {
    codec.encode_tuple(fields, key).unwrap();
    assert_eq!(hex(key), hex(codec.encode_key(values).unwrap().as_bytes()));
    assert_eq!(codec.decode_tuple::<T>(key).as_ref(), Ok(fields));
}

#[test]
fn tuples_have_the_keys_of_their_values() {
    let time = Time::from_millis(1_756_544_000_123);
    let salt = "salt = { of = [\"b\"], buckets = 100 }";
    let text = codec(
        "{salt}#{a}#{b}#{c}",
        salt,
        "a = { type = \"string\", values = [\"truck\", \"van\"] }; b = { type = \"uint\", digits = 5 }; \
         c = { type = \"timestamp\", unit = \"ms\", digits = 13, order = \"desc\" }",
    );
    let values = [Value::from("van"), Value::Uint(77), Value::Time(time)];
    check(&text, &("van", 77u32, time), &values, &mut Vec::new());
    check(&text, &(Cow::from("van"), 77u8, time), &values, &mut Vec::new());
    let binary = codec(
        "{a}{b}{c}{d}{e}",
        "",
        "a = { type = \"text\" }; b = { type = \"i16\", order = \"desc\" }; c = { type = \"u64\" }; \
         d = { type = \"timestamp\", unit = \"us\", encoding = \"binary\" }; e = { type = \"text\" }",
    );
    let values =
        [Value::from("Ünder"), Value::Int(-3), Value::Uint(u64::MAX), Value::Time(time), Value::from("")];
    check(&binary, &("Ünder", -3i16, u64::MAX, time, ""), &values, &mut Vec::new());
    check(&binary, &("Ünder", -3i64, u64::MAX, time, Cow::from("")), &values, &mut Vec::new());
    let values = [Value::from("a\0b"), Value::Int(-3), Value::Uint(1), Value::Time(time), Value::from("x")];
    check(&binary, &(Cow::from("a\0b"), -3i64, 1u8, time, "x"), &values, &mut Vec::new());
}

#[test]
fn tuples_of_uncommon_fields_go_the_long_way() {
    let codec = codec(
        "{a}{b}{c}{d}",
        "",
        "a = { type = \"f64\" }; b = { type = \"uuid\" }; c = { type = \"fixed\", bytes = 2 }; \
         d = { type = \"bytes\", order = \"desc\" }",
    );
    let uuid = *b"0123456789abcdef";
    let values = [Value::Float(-1.5), Value::Uuid(uuid), Value::from(&b"xy"[..]), Value::from(&b"z"[..])];
    check(&codec, &(-1.5, uuid, &b"xy"[..], Cow::from(&b"z"[..])), &values, &mut Vec::new());
}

#[test]
fn a_tuple_that_does_not_fit_is_refused_with_its_field() {
    let codec = codec("{a}#{b}", "", "a = { type = \"string\" }; b = { type = \"uint\", digits = 5 }");
    let encode_error = |error: crate::Error| (error.kind(), error.to_string());
    let mut key = Vec::new();
    let (kind, message) = encode_error(codec.encode_tuple(&("a#", 5u8), &mut key).unwrap_err());
    assert_eq!(kind, ErrorKind::Value);
    assert!(message.contains("field `a`: `a#` contains `#`"), "{message}");
    let (_, message) = encode_error(codec.encode_tuple(&("a", 100_000u32), &mut key).unwrap_err());
    assert!(message.contains("field `b`: 100000 has more than 5 digits"), "{message}");
    let (_, message) = encode_error(codec.encode_tuple(&("a", 1u8, 2u8), &mut key).unwrap_err());
    assert!(message.contains("3 values for a key of 2 fields"), "{message}");
    codec.encode_tuple(&("a", 300i32), &mut key).unwrap();
    let (kind, message) = encode_error(codec.decode_tuple::<(&str, u8)>(&key).unwrap_err());
    assert_eq!(kind, ErrorKind::Value);
    assert!(
        message.contains("field `b`: the key holds an unsigned integer, `300`, which is no `u8`"),
        "{message}"
    );
    let (_, message) = encode_error(codec.decode_tuple::<(&str,)>(&key).unwrap_err());
    assert!(message.contains("1 values for a key of 2 fields") || message.contains("2 values"), "{message}");
    let (kind, _) = encode_error(codec.decode_tuple::<(&str, u8)>(b"a#0000x").unwrap_err());
    assert_eq!(kind, ErrorKind::Malformed { offset: 6 });
}
