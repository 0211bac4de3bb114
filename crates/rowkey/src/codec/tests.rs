//! The codec as a whole: keys of several fields, literals, wrong keys, and the properties of random schemas.

use super::*;
use crate::Time;
use crate::schema::{Field, FieldKind, Hash, Order, Part, Salt, SaltFormat, SaltSource, TimeUnit};

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
