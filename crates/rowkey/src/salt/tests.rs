//! Hashes and salts against the vectors of `crates/rowkey/vectors`, and the properties of every salt.

use super::*;
use crate::escape::unescape;
use crate::testing::{for_each_vector, hex};
use crate::{Codec, KeySchema, Value};

#[test]
fn every_hash_is_found_by_its_name() {
    for hash in Hash::ALL {
        assert_eq!(Hash::from_name(hash.name()), Some(hash));
    }
    assert_eq!(Hash::from_name("sha1"), None);
}

#[test]
fn hashes_have_their_published_values() {
    for_each_vector(include_str!("../../vectors/hashes.tsv"), |name, columns| {
        let [kind, input, expected] = columns else { panic!("{name}: three columns") };
        let input = unescape(input).unwrap();
        let text = str::from_utf8(&input);
        let got = match *kind {
            "xxh3" => format!("{:016x}", hash::xxh3(&input)),
            "md5" => hex(&hash::md5(&input)),
            "crc32" => format!("{:08x}", hash::crc32(&input)),
            "murmur3" => format!("{:08x}", hash::murmur3(&input)),
            "fnv1" => format!("{:08x}", hash::fnv1(&input)),
            "fnv1a" => format!("{:08x}", hash::fnv1a(&input)),
            "polynomial" => format!("{:08x}", hash::java_bytes(&input)),
            "java-string" => format!("{:08x}", hash::java_string(text.unwrap())),
            other => panic!("{name}: unknown hash {other}"),
        };
        assert_eq!(got, *expected, "{name} {kind}");
    });
}

#[test]
fn the_leading_hex_digits_are_those_of_the_printed_md5() {
    let digest = hex(&hash::md5(b"42_12"));
    for digits in 1..=16u8 {
        let printed = u64::from_str_radix(&digest[..usize::from(digits)], 16).unwrap();
        assert_eq!(hash::md5_hex(b"42_12", digits), printed);
    }
}

#[test]
fn cockroachdb_encodes_keys_as_its_own_tests_say() {
    for_each_vector(include_str!("../../vectors/cockroachdb.tsv"), |name, columns| {
        let [kind, input, expected] = columns else { panic!("{name}: three columns") };
        let bytes = unescape(input).unwrap();
        let value = match *kind {
            "int" => Value::Int(input.parse().unwrap()),
            _ => Value::from(bytes.as_slice()),
        };
        let mut out = Vec::new();
        cockroach::encode_one(&value, &mut out).unwrap();
        assert_eq!(hex(&out), *expected, "{name} {input}");
    });
}

/// A codec from the columns of `salts.tsv`.
fn codec(layout: &str, fields: &str, salt: &str) -> Codec {
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\nsalt = {{ {salt} }}\nfields = {{ {fields} }}\n"
    );
    Codec::new(KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

#[test]
fn keys_have_the_salts_of_the_peers() {
    for_each_vector(include_str!("../../vectors/salts.tsv"), |name, columns| {
        let [layout, fields, salt, values, expected] = columns else { panic!("{name}: five columns") };
        let codec = codec(layout, fields, salt);
        let texts = values.split('|');
        let values: Vec<Value<'_>> =
            texts.enumerate().map(|(at, text)| codec.parse_value(at, text).unwrap()).collect();
        let key = codec.encode_key(&values).unwrap();
        assert_eq!(hex(key.as_bytes()), *expected, "{name}");
        let mut decoded = Vec::new();
        codec.decode(key.as_bytes(), &mut decoded).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decoded, values, "{name}");
        let (salt, unsalted) = codec.split_salt(key.as_bytes()).unwrap();
        let mut again = Vec::new();
        match codec.bucket(&values).unwrap() {
            Some(bucket) => codec.write_salt(bucket, &mut again),
            None => again = codec.hash_prefix(&values).unwrap().unwrap(),
        }
        assert_eq!(hex(&again), hex(salt), "{name}");
        codec.encode_unsalted(&values, &mut again).unwrap();
        assert_eq!(hex(&again), hex(unsalted), "{name}");
    });
}

#[test]
fn the_bucket_of_hbasewd_outside_its_set_is_known_and_read() {
    let check = |buckets: u32, stray: Option<u32>| {
        let salt = format!("of = [\"k\"], hash = \"hbasewd\", buckets = {buckets}");
        let codec = codec("{salt}{k}", "k = { type = \"fixed\", bytes = 6 }", &salt);
        assert_eq!(codec.stray_bucket(), stray, "{buckets}");
        if let Some(stray) = stray {
            let byte = [u8::try_from(stray).unwrap()];
            assert_eq!(codec.read_salt(&byte), Ok(stray));
            assert!(codec.read_salt(&[byte[0] - 1]).is_err());
        }
    };
    check(3, Some(0xfe));
    check(5, Some(0xfd));
    check(10, Some(0xf8));
    // 2^31 is a multiple of a power of two, and modulo 255 the byte falls inside.
    check(16, None);
    check(256, None);
    check(255, None);
}

#[test]
fn a_salt_of_another_bucket_is_refused_with_both() {
    let codec = codec(
        "{salt}#{k}",
        "k = { type = \"uint\", digits = 7 }",
        "of = [\"k\"], hash = \"modulo\", buckets = 10",
    );
    let error = codec.decode(b"7#1420008", &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "offset 0: the salt is `7`, and that of these values is `8`");
    let error = codec.decode(b"x#1420008", &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "offset 0: the salt is not a digit here");
    let mut out = Vec::new();
    let error = codec.encode_in_bucket(7, &[Value::Uint(1_420_008)], &mut out).unwrap_err();
    assert_eq!(error.to_string(), "bucket 7 was asked for, and these values are in 8");
}

#[test]
fn a_random_salt_is_given_by_the_writer_and_any_bucket_is_read() {
    let codec = codec("{salt}#{k}", "k = { type = \"string\" }", "hash = \"random\", buckets = 20");
    let values = [Value::from("a")];
    let mut out = Vec::new();
    assert!(codec.encode(&values, &mut out).is_err());
    codec.encode_in_bucket(7, &values, &mut out).unwrap();
    assert_eq!(out, b"07#a");
    let mut decoded = Vec::new();
    codec.decode(&out, &mut decoded).unwrap();
    assert!(codec.decode(b"20#a", &mut decoded).is_err());
    assert_eq!(codec.bucket(&values), Ok(None));
    assert!(codec.encode_in_bucket(20, &values, &mut out).is_err());
}

#[test]
fn weak_hashes_are_named_and_the_default_is_not_one() {
    use crate::schema::SaltSource;
    let weakness = |hash, buckets| SaltSource::Hash(hash).weakness(buckets);
    for buckets in [2, 10, 16, 31, 65_536] {
        assert_eq!(weakness(Hash::Xxh3, buckets), None);
        assert!(weakness(Hash::Phoenix, buckets).is_some());
    }
    assert_eq!(weakness(Hash::Md5Hex { digits: 4 }, 50), None);
    assert!(weakness(Hash::Md5Hex { digits: 2 }, 50).unwrap().contains("6 to 5"));
    assert!(weakness(Hash::Md5Hex { digits: 1 }, 50).unwrap().contains("16 values"));
}
