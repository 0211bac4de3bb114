//! The codec as a whole: keys of several fields, literals, wrong keys, and the properties of random schemas.

use super::*;
use crate::schema::{Field, FieldKind, Hash, Order, Part, Salt, SaltFormat, SaltSource, TimeUnit};
use crate::testing::{codec_and_values, hex, host};
use crate::{ErrorKind, Time};
use proptest::prelude::*;
use std::cmp::Ordering;

fn field(name: &str, kind: FieldKind, order: Order) -> Field {
    Field { name: name.to_owned(), kind, order, values: Vec::new() }
}

fn schema(parts: Vec<Part>, fields: Vec<Field>, salt: Option<Salt>) -> KeySchema {
    KeySchema { table: "t".to_owned(), parts, fields, salt, families: Vec::new(), queries: Vec::new() }
}

fn telemetry() -> Codec {
    let mut kind = field("kind", FieldKind::String, Order::Asc);
    kind.values = vec!["truck".to_owned(), "van".to_owned()];
    let fields = vec![
        field("tenant", FieldKind::String, Order::Asc),
        kind,
        field("vehicle", FieldKind::Uint { digits: 5 }, Order::Asc),
        field("time", FieldKind::EpochDigits { unit: TimeUnit::Millis, digits: 13 }, Order::Desc),
    ];
    let hash = Part::Literal(b"#".to_vec());
    let parts = vec![
        Part::Salt,
        hash.clone(),
        Part::Field(0),
        hash.clone(),
        Part::Field(1),
        hash.clone(),
        Part::Field(2),
        hash,
        Part::Field(3),
    ];
    let salt = Salt {
        of: vec![2],
        source: SaltSource::Hash(Hash::Xxh3),
        format: SaltFormat::Digits { width: 2 },
        buckets: 16,
    };
    Codec::new(schema(parts, fields, Some(salt))).unwrap()
}

#[test]
fn a_telemetry_key_is_written_and_read() {
    let codec = telemetry();
    let values = [
        Value::from("acme"),
        Value::from("truck"),
        Value::Uint(4092),
        Value::Time(Time::from_millis(1_756_544_000_000)),
    ];
    let key = codec.encode_key(&values).unwrap();
    assert_eq!(&key.to_string()[2..], "#acme#truck#04092#8243455999999");
    let mut decoded = Vec::new();
    codec.decode(key.as_bytes(), &mut decoded).unwrap();
    assert_eq!(decoded, values);
}

/// A codec of the telemetry layout, with `field` and `literal` first.
fn wrong(key: &[u8]) -> String {
    telemetry().decode(key, &mut Vec::new()).unwrap_err().to_string()
}

#[test]
fn a_wrong_key_is_refused_with_field_and_offset() {
    let codec = telemetry();
    let values = ["acme", "truck", "4092", "2025-08-30T08:53:20Z"];
    let values: Vec<Value<'_>> =
        values.iter().enumerate().map(|(at, text)| codec.parse_value(at, text).unwrap()).collect();
    let key = codec.encode_key(&values).unwrap().to_string();
    let salt = &key[..2];
    let check = |rest: &str, message: &str| {
        let got = wrong(format!("{salt}{rest}").as_bytes());
        assert_eq!(got, message, "{rest}");
    };
    check("/acme#truck#04092#8243455999999", "offset 2: the literal `#` of the layout is missing here");
    check(
        "#acme#bus#04092#8243455999999",
        "offset 8: field `kind`: `bus` is not one of the values of the schema",
    );
    check("#acme#truck#0409x#8243455999999", "offset 18: field `vehicle`: not a digit");
    check("#acme#truck#4092#8243455999999", "offset 18: field `vehicle`: not a digit");
    check(
        "#acme#truck#04092#824345599999",
        "offset 32: field `time`: the key ends here; the field is 13 bytes wide and 12 are left",
    );
    check("#acme#truck#04092#82434559999990", "offset 33: one byte stands behind the last field");
    check("#ac!me#truck#04092#8243455999999", "offset 5: the literal `#` of the layout is missing here");
    check("#ac\u{fffd}me", "offset 10: the literal `#` of the layout is missing here");
    assert_eq!(wrong(b"1"), "offset 1: the key ends within its salt of 2 bytes");
    assert_eq!(wrong(b""), "offset 0: the key ends within its salt of 2 bytes");
    assert_eq!(
        wrong(b"07#a\xffb#truck#04092#8243455999999"),
        "offset 4: field `tenant`: not UTF-8, which this field is"
    );
}

#[test]
fn a_value_that_holds_its_delimiter_is_refused() {
    let codec = telemetry();
    let check = |value: &str, message: &str| {
        let mut out = b"kept".to_vec();
        let error = codec.encode_field(0, &Value::from(value), &mut out).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(out, b"kept");
    };
    check(
        "ac#me",
        "field `tenant`: `ac#me` contains `#`, which ends the field in the key (`#`): correct the value, or use another literal or \
         `type = \"text\"`",
    );
    check(
        "ac me",
        "field `tenant`: `ac me` contains ` `, which sorts below the literal that ends the field (`#`): correct the value, or use \
         another literal or `type = \"text\"`",
    );
    let mut out = Vec::new();
    let error = codec.encode_field(1, &Value::from("bus"), &mut out).unwrap_err();
    assert_eq!(error.to_string(), "field `kind`: `bus` is not one of its values: truck, van");
}

#[test]
fn a_key_is_explained_as_far_as_it_can_be_read() {
    let codec = telemetry();
    let explanation = codec.explain(b"99#acme#truck#0409");
    let parts: Vec<(&str, &str)> =
        explanation.parts.iter().map(|part| (part.name.as_str(), part.text.as_str())).collect();
    let expected = [
        ("salt", "99"),
        ("literal", "#"),
        ("tenant", "acme"),
        ("literal", "#"),
        ("kind", "truck"),
        ("literal", "#"),
    ];
    assert_eq!(parts, expected);
    assert_eq!(explanation.parts[2].range, 3..7);
    assert_eq!(explanation.error.unwrap().field(), Some("vehicle"));
    let explanation = codec.explain(b"99#acme#truck#04092#8243455999999");
    assert_eq!(explanation.parts.len(), 9);
    assert_eq!(explanation.parts[8].text, "2025-08-30T08:53:20Z");
    assert!(explanation.error.unwrap().message().contains("bucket 99 does not exist"));
}

#[test]
fn schemas_built_by_hand_are_checked() {
    let text = || field("a", FieldKind::String, Order::Asc);
    let number = || field("b", FieldKind::Uint { digits: 5 }, Order::Asc);
    let check = |parts: &[Part], fields: Vec<Field>, salt: Option<Salt>, message: &str| {
        let error = Codec::new(schema(parts.to_vec(), fields, salt)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    };
    let salt = |of: &[usize], format, buckets| {
        Some(Salt { of: of.to_vec(), source: SaltSource::Hash(Hash::Xxh3), format, buckets })
    };
    let digits = |width| SaltFormat::Digits { width };
    let both = [Part::Field(0), Part::Field(1)];
    check(&both, vec![text(), number()], None, "put a literal behind it");
    check(&[Part::Field(1), Part::Field(0)], vec![text(), number()], None, "in the order of the layout");
    check(&[Part::Field(0)], vec![text(), number()], None, "every declared field once");
    check(&[], vec![], None, "at least one");
    check(&[Part::Field(0), Part::Salt], vec![text()], salt(&[0], digits(2), 16), "stands first");
    check(&[Part::Field(0)], vec![text()], salt(&[0], digits(2), 16), "stands first");
    check(&[Part::Salt, Part::Field(0)], vec![text()], None, "is declared");
    check(&[Part::Salt, Part::Field(0)], vec![text()], salt(&[0], digits(1), 16), "cannot hold 16 buckets");
    check(&[Part::Salt, Part::Field(0)], vec![text()], salt(&[0], digits(2), 0), "1 to 65536 buckets");
    check(&[Part::Salt, Part::Field(0)], vec![text()], salt(&[1], digits(2), 16), "fields of the layout");
    check(&[Part::Salt, Part::Field(0)], vec![text()], salt(&[], digits(2), 16), "at least one field");
    check(
        &[Part::Field(0)],
        vec![field("a", FieldKind::Uint { digits: 21 }, Order::Asc)],
        None,
        "1 to 20 wide",
    );
    check(
        &[Part::Field(0)],
        vec![field("a", FieldKind::BeInt { bytes: 3 }, Order::Asc)],
        None,
        "1, 2, 4 or 8",
    );
    check(&[Part::Field(0)], vec![field("a", FieldKind::String, Order::Desc)], None, "ascending only");
    let mut one_of = number();
    one_of.values = vec!["123456".to_owned()];
    check(&[Part::Field(0)], vec![one_of], None, "the value `123456`");
}

/// The order of two values of a field, as a reader of the schema expects it. For hosts and reversed digits: that of their encodings,
/// which other tests look at.
fn compare(codec: &Codec, at: usize, left: &Value<'_>, right: &Value<'_>) -> Ordering {
    let field = &codec.schema().fields[at];
    let order = match (left, right) {
        _ if !field.kind.is_ordered() || matches!(field.kind, FieldKind::Domain { .. }) => {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            codec.encode_field(at, left, &mut a).unwrap();
            codec.encode_field(at, right, &mut b).unwrap();
            a.cmp(&b)
        }
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Uint(left), Value::Uint(right)) => left.cmp(right),
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => left.total_cmp(right),
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        (Value::Uuid(left), Value::Uuid(right)) => left.cmp(right),
        _ => panic!("values of two types"),
    };
    if field.order == Order::Desc { order.reverse() } else { order }
}

/// Encodes, in bucket 0 where the salt is random. `None`: a value that this hash cannot take.
fn encoded(codec: &Codec, values: &[Value<'_>]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let random = codec.schema().salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random);
    if random {
        codec.encode_in_bucket(0, values, &mut out).unwrap();
        return Some(out);
    }
    match codec.encode(values, &mut out) {
        Ok(()) => Some(out),
        Err(error) if error.message().contains("greatest INT8") => None,
        Err(error) => panic!("{error}: {values:?}"),
    }
}

/// A key that decodes is the key of what it decodes to; one that does not is refused at an offset within it.
fn check_decoded(codec: &Codec, key: &[u8]) {
    let mut values = Vec::new();
    match codec.decode(key, &mut values) {
        Ok(()) => {
            let mut again = Vec::new();
            let (salt, _) = codec.split_salt(key).unwrap();
            match codec.schema().salt.as_ref().map(|salt| salt.source) {
                Some(SaltSource::Random) => {
                    codec.encode_in_bucket(codec.read_salt(salt).unwrap(), &values, &mut again).unwrap();
                }
                _ => codec.encode(&values, &mut again).unwrap_or_else(|error| panic!("{error}: {values:?}")),
            }
            assert_eq!(hex(&again), hex(key), "{values:?}");
        }
        Err(error) => {
            let ErrorKind::Malformed { offset } = error.kind() else { panic!("{error:?}") };
            assert!(offset <= key.len(), "{error}: {}", hex(key));
        }
    }
    codec.explain(key);
    for (at, _) in codec.schema().fields.iter().enumerate() {
        if let Ok(value) = codec.decode_field(at, key) {
            let mut again = Vec::new();
            codec.encode_field(at, &value, &mut again).unwrap();
            assert_eq!(hex(&again), hex(key), "{value:?}");
        }
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Set(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    Cut(usize),
    Flip(usize, u8),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        any::<(usize, u8)>().prop_map(|(at, byte)| Mutation::Set(at, byte)),
        any::<(usize, u8)>().prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        any::<usize>().prop_map(Mutation::Remove),
        any::<usize>().prop_map(Mutation::Cut),
        (any::<usize>(), 0u8..8).prop_map(|(at, bit)| Mutation::Flip(at, 1 << bit)),
    ]
}

fn mutate(key: &mut Vec<u8>, mutation: &Mutation) {
    let len = key.len();
    match *mutation {
        Mutation::Set(at, byte) if len > 0 => key[at % len] = byte,
        Mutation::Insert(at, byte) => key.insert(at % (len + 1), byte),
        Mutation::Remove(at) if len > 0 => drop(key.remove(at % len)),
        Mutation::Cut(at) if len > 0 => key.truncate(at % len),
        Mutation::Flip(at, bit) if len > 0 => key[at % len] ^= bit,
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn keys_sort_as_their_values((codec, keys) in codec_and_values(2)) {
        let [left, right] = keys.as_slice() else { panic!("two") };
        let expected = (0..left.len())
            .map(|at| compare(&codec, at, &left[at], &right[at]))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        codec.encode_unsalted(left, &mut a).unwrap();
        codec.encode_unsalted(right, &mut b).unwrap();
        prop_assert_eq!(a.cmp(&b), expected, "{} {}", hex(&a), hex(&b));
    }

    #[test]
    fn a_key_decodes_to_its_values_and_its_bucket((codec, keys) in codec_and_values(1)) {
        let values = &keys[0];
        if let Some(key) = encoded(&codec, values) {
            let mut decoded = Vec::new();
            codec.decode(&key, &mut decoded).unwrap();
            for (at, value) in values.iter().enumerate() {
                let normal = codec.normal_value(at, value).unwrap();
                prop_assert_eq!(&decoded[at], &normal);
                let text = codec.format_value(at, &normal);
                prop_assert_eq!(codec.parse_value(at, &text), Ok(normal), "{}", text);
            }
            check_decoded(&codec, &key);
            let (salt, unsalted) = codec.split_salt(&key).unwrap();
            codec.decode_unsalted(unsalted, &mut decoded).unwrap();
            if let Some(bucket) = codec.bucket(values).unwrap() {
                let count = codec.bucket_count().unwrap();
                prop_assert!(bucket < count || codec.stray_bucket() == Some(bucket));
                prop_assert_eq!(codec.read_salt(salt), Ok(bucket));
                let mut out = Vec::new();
                codec.encode_in_bucket(bucket, values, &mut out).unwrap();
                prop_assert_eq!(&out, &key);
                let of = &codec.schema().salt.as_ref().unwrap().of;
                let salt_values: Vec<Value<'_>> = of.iter().map(|&at| values[at].clone()).collect();
                prop_assert_eq!(codec.bucket_of(&salt_values), Ok(Some(bucket)));
            }
            if let Some(prefix) = codec.hash_prefix(values).unwrap() {
                prop_assert_eq!(prefix, salt);
            }
        }
    }

    #[test]
    fn a_changed_key_is_another_key_or_refused(
        (codec, keys) in codec_and_values(1),
        mutations in proptest::collection::vec(mutation(), 1..3),
    ) {
        if let Some(mut key) = encoded(&codec, &keys[0]) {
            for mutation in &mutations {
                mutate(&mut key, mutation);
                check_decoded(&codec, &key);
            }
        }
    }

    #[test]
    fn random_bytes_are_decoded_without_panic(
        (codec, _) in codec_and_values(0),
        key in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'0'), Just(b'#'), Just(0)], 0..40),
    ) {
        check_decoded(&codec, &key);
    }

    #[test]
    fn widths_and_bytes_are_those_of_the_kind((codec, keys) in codec_and_values(1)) {
        for (at, (value, field)) in keys[0].iter().zip(&codec.schema().fields).enumerate() {
            let mut out = Vec::new();
            codec.encode_field(at, value, &mut out).unwrap();
            if let Some(width) = codec.field_width(at) {
                prop_assert_eq!(out.len(), width);
            }
            prop_assert!(out.iter().all(|byte| (field.kind.min_byte()..=field.kind.max_byte()).contains(byte)));
        }
    }

    #[test]
    fn prefixes_of_values_are_prefixes_of_keys((codec, keys) in codec_and_values(1), cut in 0usize..8) {
        for (at, value) in keys[0].iter().enumerate() {
            let prefix = match (value, &codec.schema().fields[at].kind) {
                (_, FieldKind::Domain { .. } | FieldKind::Hex { .. }) => continue,
                (Value::Text(text), _) => Value::from(text.chars().take(cut).collect::<String>().as_str()).into_owned(),
                (Value::Bytes(bytes), _) => Value::from(&bytes[..cut.min(bytes.len())]).into_owned(),
                _ => continue,
            };
            let (mut whole, mut open) = (Vec::new(), Vec::new());
            codec.encode_field(at, value, &mut whole).unwrap();
            codec.encode_field_prefix(at, &prefix, &mut open).unwrap();
            prop_assert!(whole.starts_with(&open));
        }
    }

    #[test]
    fn hosts_sort_by_their_labels_and_subtrees_are_prefixes(left in host(), right in host(), zero: bool) {
        let separator = if zero { 0 } else { b',' };
        let codec = Codec::new(schema(
            vec![Part::Field(0)],
            vec![field("host", FieldKind::Domain { separator }, Order::Asc)],
            None,
        ))
        .unwrap();
        let normal = |text: &str| match codec.parse_value(0, text).unwrap() {
            Value::Text(text) => text.into_owned(),
            _ => panic!("text"),
        };
        let labels = |text: &str| -> Vec<String> {
            let text = normal(text);
            let address = text.starts_with('[') || text.parse::<std::net::Ipv4Addr>().is_ok();
            if address { vec![text] } else { text.rsplit('.').filter(|label| !label.is_empty()).map(str::to_owned).collect() }
        };
        let key = |text: &str| codec.encode_key(&[Value::from(text)]).unwrap().0;
        prop_assert_eq!(key(&left).cmp(&key(&right)), labels(&left).cmp(&labels(&right)));
        let mut subtree = Vec::new();
        codec.encode_field_prefix(0, &Value::from(left.as_str()), &mut subtree).unwrap();
        prop_assert_eq!(key(&right).starts_with(&subtree), labels(&right).starts_with(&labels(&left)));
    }

    #[test]
    fn any_text_is_a_host_in_normal_form_or_refused(text: String, separator in proptest::sample::select(vec![b',', b'.', 0])) {
        let codec = Codec::new(schema(
            vec![Part::Field(0)],
            vec![field("host", FieldKind::Domain { separator }, Order::Asc)],
            None,
        ))
        .unwrap();
        if let Ok(value) = codec.parse_value(0, &text) {
            prop_assert_eq!(codec.normal_value(0, &value), Ok(value));
        }
        check_decoded(&codec, text.as_bytes());
    }

    #[test]
    fn any_text_is_parsed_without_panic((codec, _) in codec_and_values(0), text: String) {
        for at in 0..codec.schema().fields.len() {
            if let Ok(value) = codec.parse_value(at, &text) {
                prop_assert_eq!(codec.parse_value(at, &codec.format_value(at, &value)), Ok(value));
            }
        }
    }
}

#[test]
fn a_hash_of_fields_that_stand_apart_does_not_depend_on_where_they_are_put_together() {
    // Short inputs are put together on the stack, long ones are not.
    let fields = ["a", "b", "c"].map(|name| field(name, FieldKind::String, Order::Asc));
    let sharp = || Part::Literal(b"#".to_vec());
    let parts = [Part::Salt, sharp(), Part::Field(0), sharp(), Part::Field(1), sharp(), Part::Field(2)];
    let salt = Salt {
        of: vec![0, 2],
        source: SaltSource::Hash(Hash::Xxh3),
        format: SaltFormat::Hex { width: 4 },
        buckets: 65_536,
    };
    let codec = Codec::new(schema(parts.to_vec(), fields.to_vec(), Some(salt))).unwrap();
    for length in [0, 1, 253, 254, 255, 256, 1_000] {
        let long = "x".repeat(length);
        let values = [Value::from(long.as_str()), Value::from("b"), Value::from("y")];
        let key = codec.encode_key(&values).unwrap();
        let bucket = crate::salt::hash::xxh3(format!("{long}#y").as_bytes()) % 65_536;
        assert!(key.as_bytes().starts_with(format!("{bucket:04x}#").as_bytes()), "{length}: {key}");
        codec.decode(key.as_bytes(), &mut Vec::new()).unwrap();
    }
}
