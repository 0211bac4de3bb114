//! Keys that fit every schema, operations at their rates.

use super::*;
use rowkey::KeySchema;

fn codec(text: &str) -> Codec {
    Codec::new(KeySchema::parse(text).unwrap()).unwrap()
}

fn with_key(layout: &str, rest: &str) -> String {
    format!("version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}\"\n{rest}")
}

fn keys(schema: &str, options: &WorkloadOptions, count: usize) -> Vec<Vec<u8>> {
    let mut generator = Generator::new(&codec(schema), options).unwrap();
    let mut keys = Vec::new();
    for at in 0..count {
        let mut key = Vec::new();
        generator.next_write(options.start_ms + i64::try_from(at).unwrap(), &mut key).unwrap();
        keys.push(key);
    }
    keys
}

const FLEET: &str = r#"
version = 1
table = "fleet"
[key]
layout = "{salt}#{tenant}#{kind}#{vehicle}#{time}"
[key.salt]
of = ["vehicle"]
buckets = 16
hash = "xxh3"
[key.fields]
tenant = { type = "string" }
kind = { type = "string", values = ["truck", "van"] }
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
[[queries]]
name = "last readings of a vehicle"
where = "tenant, kind, vehicle"
limit = 10
per_second = 200
[[queries]]
name = "one hour"
where = "time range"
rows = 320
per_second = 100
[[queries]]
name = "one reading"
where = "tenant, kind, vehicle, time"
per_second = 100
[[queries]]
name = "sometimes"
where = "tenant"
"#;

#[test]
fn the_same_seed_gives_the_same_keys_and_another_seed_others() {
    let of = |seed| keys(FLEET, &WorkloadOptions { seed, ..WorkloadOptions::default() }, 500);
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

#[test]
fn generated_keys_decode_to_what_the_fields_are() {
    let codec = codec(FLEET);
    let options = WorkloadOptions { entities: 100, jitter_ms: 20, ..WorkloadOptions::default() };
    let mut vehicles = std::collections::BTreeSet::new();
    for (at, key) in keys(FLEET, &options, 3_000).iter().enumerate() {
        let mut values = Vec::new();
        codec.decode(key, &mut values).unwrap();
        let [Value::Text(_), Value::Text(kind), Value::Uint(vehicle), Value::Time(time)] = &values[..] else {
            panic!("{values:?}");
        };
        assert!(kind == "truck" || kind == "van");
        vehicles.insert(*vehicle);
        let late = time.as_millis() - options.start_ms - i64::try_from(at).unwrap();
        assert!(late.abs() <= 20, "{late}");
    }
    // A hundred vehicles, ids spread over five digits.
    assert_eq!(vehicles.len(), 100);
    assert!(vehicles.iter().all(|vehicle| vehicle % 1_000 == 0));
}

#[test]
fn sources_follow_type_and_name() {
    use Source::{Choice, Counter, Entity, Random, Time};
    let options = WorkloadOptions::default();
    let entity = Entity { count: options.entities, skew: options.skew };
    let check = |layout: &str, fields: &str, expected: &[Source]| {
        let codec = codec(&with_key(layout, &format!("[key.fields]\n{fields}")));
        assert_eq!(default_sources(&codec, &options), expected, "{layout}");
    };
    let time = "time = { type = \"timestamp\", unit = \"ms\", digits = 13 }\n";
    let id = "id = { type = \"uint\", digits = 10 }\n";
    let uuid = "u = { type = \"uuid\" }\n";
    check("{id}#{time}", &format!("{id}{time}"), &[entity, Time]);
    check("{id}", id, &[Counter]);
    check("{u}#{time}", &format!("{uuid}{time}"), &[entity, Time]);
    check("{time}#{u}", &format!("{uuid}{time}"), &[Time, Random]);
    check("{u}", uuid, &[Random]);
    check("{id}#{u}", &format!("{id}{uuid}"), &[entity, Random]);
    check("{log_seq}#{time}", &format!("log_seq = {{ type = \"u64\" }}\n{time}"), &[Counter, Time]);
    check("{name}", "name = { type = \"string\", values = [\"a\", \"b\"] }\n", &[Choice]);
    check("{name}", "name = { type = \"string\" }\n", &[entity]);
}

#[test]
fn every_type_and_delimiter_gets_values_that_fit() {
    let types = [
        "\"string\"",
        "\"uint\", digits = 1",
        "\"uint\", digits = 20",
        "\"uint\", digits = 7, reverse = true",
        "\"int\", digits = 4",
        "\"hex\", digits = 5",
        "\"timestamp\", unit = \"s\", digits = 10",
        "\"timestamp\", unit = \"ns\", digits = 19, order = \"desc\"",
        "\"timestamp\", format = \"iso-basic\"",
        "\"timestamp\", format = \"date-extended\"",
        "\"domain\"",
        "\"uuid\"",
        "\"u8\"",
        "\"i64\"",
        "\"f64\"",
        "\"bytes\"",
        "\"text\"",
        "\"fixed\", bytes = 3",
        "\"timestamp\", encoding = \"binary\", unit = \"us\"",
        "\"uuid\", encoding = \"binary\"",
    ];
    let mut made = 0;
    for kind in types {
        for delimiter in ["#", ":", "|", "~"] {
            let schema = with_key(
                &format!("{{a}}{delimiter}{{z}}"),
                &format!("[key.fields]\na = {{ type = {kind} }}\nz = {{ type = \"u8\" }}\n"),
            );
            // Not every type may stand before every delimiter; that is for the schema to say.
            let Ok(parsed) = KeySchema::parse(&schema) else { continue };
            let generator = Generator::new(&Codec::new(parsed).unwrap(), &WorkloadOptions::default());
            match generator {
                Ok(mut generator) => {
                    let mut key = Vec::new();
                    generator.next_write(1_789_430_400_000, &mut key).unwrap();
                    made += 1;
                }
                Err(error) => assert!(kind == "\"domain\"", "{kind} before {delimiter}: {error}"),
            }
        }
    }
    assert!(made > 60, "{made}");
}

#[test]
fn a_random_salt_uses_all_of_its_buckets() {
    let schema = with_key(
        "{salt}{time}",
        "[key.salt]\nbuckets = 8\nhash = \"random\"\n[key.fields]\ntime = { type = \"timestamp\", unit = \"ms\", digits = 13 }\n",
    );
    let keys = keys(&schema, &WorkloadOptions::default(), 400);
    let buckets: std::collections::BTreeSet<u8> = keys.iter().map(|key| key[0]).collect();
    assert_eq!(buckets.len(), 8);
}

#[test]
fn operations_come_as_often_as_their_rates_say() {
    let options = WorkloadOptions { writes_per_s: 600.0, entities: 50, ..WorkloadOptions::default() };
    let mut generator = Generator::new(&codec(FLEET), &options).unwrap();
    assert!((generator.operations_per_s() - 1_000.0).abs() < 1e-9);
    let (mut writes, mut reads, mut scans) = (0, 0, 0);
    let mut hour = 0;
    for at in 0..10_000 {
        let mut ranges = 0;
        generator
            .next_operation(options.start_ms + at, &mut |op| {
                ranges += 1;
                match op.kind {
                    OpKind::Write => writes += 1,
                    OpKind::Read => reads += 1,
                    _ => {
                        scans += 1;
                        assert!(op.end.unwrap() > op.key || op.end.unwrap().is_empty());
                    }
                }
            })
            .unwrap();
        // One range for each bucket and combination of the fields in front.
        hour += i32::from(ranges >= 16);
    }
    assert!((5_800..6_200).contains(&writes), "{writes}");
    assert!((900..1_100).contains(&reads), "{reads}");
    assert!((900..1_100).contains(&hour), "{hour}");
    assert!(scans > 2_000 + 15 * hour, "{scans}");
    assert!(generator.notes().iter().any(|note| note.contains("sometimes")));
}

#[test]
fn a_query_of_one_vehicle_reads_one_bucket_and_its_limit() {
    let mut generator = Generator::new(&codec(FLEET), &WorkloadOptions::default()).unwrap();
    let parts = generator.next_read(0, 0).to_vec();
    assert_eq!(parts.len(), 1);
    assert!((parts[0].rows - 10.0).abs() < 1e-12);
    assert!(parts[0].end.is_some());
    let parts = generator.next_read(2, 0).to_vec();
    assert_eq!((parts.len(), parts[0].end.is_none()), (1, true));
    assert!(generator.next_read(99, 0).is_empty());
}

#[test]
fn what_does_not_fit_is_named() {
    let check = |schema: &str, options: WorkloadOptions, expected: &str| {
        let error = Generator::new(&codec(schema), &options).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let with = |name: &str, source| WorkloadOptions {
        sources: BTreeMap::from([(name.to_owned(), source)]),
        ..WorkloadOptions::default()
    };
    check(FLEET, with("nothing", Source::Time), "`nothing` is no field");
    check(FLEET, with("vehicle", Source::Time), "field `vehicle` of type uint cannot be the time");
    check(FLEET, with("tenant", Source::Counter), "cannot be a counter");
    check(FLEET, with("vehicle", Source::Choice), "declares no values");
    check(FLEET, WorkloadOptions { writes_per_s: f64::NAN, ..WorkloadOptions::default() }, "no rate");
    let short =
        with_key("{time}", "[key.fields]\ntime = { type = \"timestamp\", unit = \"ms\", digits = 13 }\n");
    check(&short, WorkloadOptions { start_ms: -10_000, ..WorkloadOptions::default() }, "field `time`");
}

#[test]
fn a_counter_grows_by_its_step() {
    let schema = with_key("{seq}", "[key.fields]\nseq = { type = \"uint\", digits = 6 }\n");
    let mut generator = Generator::new(&codec(&schema), &WorkloadOptions::default()).unwrap();
    generator.set_step(2.5);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut key = Vec::new();
        generator.next_write(0, &mut key).unwrap();
        seen.push(String::from_utf8(key).unwrap());
    }
    assert_eq!(seen, ["100000", "100002", "100005"]);
}
