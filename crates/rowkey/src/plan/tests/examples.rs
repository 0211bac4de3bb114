//! Right values that articles often print wrong, and the text of plans and errors.

use crate::codec::Codec;
use crate::plan::{Plan, plan};
use crate::query::Query;
use crate::{KeySchema, UnsaltedKey, Value};

fn codec(text: &str) -> Codec {
    Codec::new(KeySchema::parse(text).unwrap()).unwrap()
}

fn fleet() -> Codec {
    codec(
        r#"
        version = 1
        table = "telemetry"
        [key]
        layout = "{salt}#{kind}#{vehicle}#{time}"
        [key.salt]
        of = ["vehicle"]
        buckets = 16
        [key.fields]
        kind = { type = "string", values = ["truck", "van", "bus"] }
        vehicle = { type = "uint", digits = 5 }
        time = { type = "timestamp", format = "iso-basic", unit = "s" }
        "#,
    )
}

fn unsalted() -> Codec {
    codec(
        r#"
        version = 1
        table = "telemetry"
        [key]
        layout = "{region}#{fleet}#{vehicle}#{time}"
        [key.fields]
        region = { type = "string" }
        fleet = { type = "string" }
        vehicle = { type = "uint", digits = 5 }
        time = { type = "timestamp", format = "iso-basic", unit = "s" }
        "#,
    )
}

fn planned(codec: &Codec, text: &str) -> Plan {
    plan(codec, &Query::parse(codec, text).unwrap()).unwrap()
}

fn check(codec: &Codec, text: &str, expected: &[&str]) {
    let plan = planned(codec, text);
    let ranges = plan.buckets.iter().flat_map(|bucket| &bucket.ranges);
    let ranges: Vec<String> = ranges.map(ToString::to_string).collect();
    assert_eq!(ranges, expected, "{text}");
}

fn refused(codec: &Codec, text: &str) -> String {
    match Query::parse(codec, text).and_then(|query| plan(codec, &query)) {
        Ok(plan) => panic!("{text} is planned:\n{plan}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_day_of_a_vehicle_ends_before_the_first_second_of_the_next() {
    let expected = &["[us-east#fleet_01#04092#20260915T000000Z, us-east#fleet_01#04092#20260916T000000Z)"];
    let vehicle = "region = us-east and fleet = fleet_01 and vehicle = 4092";
    check(&unsalted(), &format!("{vehicle} and time >= 2026-09-15 and time < 2026-09-16"), expected);
    // Whoever ends the day at its last second gets the same, not one second less.
    check(&unsalted(), &format!("{vehicle} and time between 2026-09-15 and 2026-09-15T23:59:59Z"), expected);
    // Bounds finer than a second are rounded to the right side.
    check(
        &unsalted(),
        &format!("{vehicle} and time > 2026-09-14T23:59:59.5Z and time <= 2026-09-15T23:59:59.999Z"),
        expected,
    );
}

#[test]
fn the_end_of_a_prefix_is_its_successor() {
    check(&unsalted(), "region = us-east and fleet = fleet_01", &["[us-east#fleet_01#, us-east#fleet_01$)"]);
    check(&unsalted(), "region = us-east and fleet prefix fleet_", &["[us-east#fleet_#, us-east#fleet`#)"]);
    check(&unsalted(), "region = us-east", &["[us-east#, us-east$)"]);
    check(&unsalted(), "region prefix us-", &["[us-#, us.#)"]);
}

#[test]
fn neighbouring_numbers_are_one_range() {
    let fleet = "region = a and fleet = b";
    check(
        &unsalted(),
        &format!("{fleet} and vehicle in (5, 3, 4, 9)"),
        &["[a#b#00003#, a#b#00006#)", "[a#b#00009#, a#b#00009$)"],
    );
    check(&unsalted(), &format!("{fleet} and vehicle >= 99998"), &["[a#b#99998#, a#b$)"]);
    check(&unsalted(), &format!("{fleet} and vehicle <= 1"), &["[a#b#, a#b#00002#)"]);
    // Bounds beyond what five digits hold.
    check(&unsalted(), &format!("{fleet} and vehicle < 123456 and vehicle > -7"), &["[a#b#, a#b$)"]);
    check(
        &unsalted(),
        &format!("{fleet} and (vehicle < 2 or vehicle > 99998)"),
        &["[a#b#, a#b#00002#)", "[a#b#99999#, a#b#99999$)"],
    );
}

#[test]
fn all_fields_given_are_one_key() {
    check(
        &unsalted(),
        "region = a and fleet = b and vehicle = 7 and time = 2026-09-15",
        &["[a#b#00007#20260915T000000Z, a#b#00007#20260915T000000Z\\x00)"],
    );
    let codec = fleet();
    let values = [Value::from("van"), Value::Uint(7), codec.parse_value(2, "2026-09-15").unwrap()];
    let key = codec.encode_key(&values).unwrap();
    check(&codec, "kind = van and vehicle = 7 and time = 2026-09-15", &[&format!("[{key}, {key}\\x00)")]);
}

#[test]
fn a_field_of_few_values_is_tried_value_by_value() {
    let codec = fleet();
    let plan = planned(&codec, "vehicle = 4092 and time >= 2026-09-15 and time < 2026-09-16");
    let [bucket] = &plan.buckets[..] else { panic!("one vehicle is in one bucket: {plan}") };
    let salt = format!("{:02}", bucket.bucket.unwrap());
    let expected: Vec<String> = ["bus", "truck", "van"]
        .iter()
        .map(|kind| format!("[{salt}#{kind}#04092#20260915T000000Z, {salt}#{kind}#04092#20260916T000000Z)"))
        .collect();
    let ranges: Vec<String> = bucket.ranges.iter().map(ToString::to_string).collect();
    assert_eq!(ranges, expected);
    assert!(plan.residual.checks.is_empty());
    // All kinds in between are wanted: one range.
    let plan = planned(&codec, "kind in (bus, truck)");
    assert_eq!(plan.buckets[3].ranges.len(), 1);
    assert_eq!(plan.buckets[3].ranges[0].to_string(), "[03#bus#, 03#truck$)");
    assert_eq!(plan.cost.buckets, 16);
}

#[test]
fn only_the_buckets_of_the_values_are_read() {
    let codec = fleet();
    let plan = planned(&codec, "kind = van and vehicle in (1, 2, 3)");
    let own = |bucket: u32| {
        let mut vehicles =
            (1..=3u64).filter(|&vehicle| codec.bucket_of(&[Value::Uint(vehicle)]).unwrap() == Some(bucket));
        vehicles.next().is_some()
    };
    assert_eq!(plan.buckets.len(), (0..16).filter(|&bucket| own(bucket)).count());
    assert!(plan.buckets.iter().all(|bucket| own(bucket.bucket.unwrap())));
}

#[test]
fn contradictions_and_values_that_no_row_has_are_empty_plans() {
    // The delimiter ends the field, so no value begins with more than what stands before it.
    check(&unsalted(), "region prefix 'a#'", &[]);
    let empty = |text: &str, note: &str| {
        let plan = planned(&unsalted(), text);
        assert!(plan.is_empty(), "{text}: {plan}");
        assert!(plan.notes.iter().any(|n| n.contains(note)), "{text}: {:?}", plan.notes);
    };
    empty("region = a and region = b", "no value of `region` meets the conditions");
    empty("region = a and vehicle > 5 and vehicle < 6", "no value of `vehicle`");
    empty("vehicle = 123456", "more than 5 digits");
    empty("region = 'a#b'", "region");
    empty("vehicle = 99999999999999999999999", "no value of `vehicle`");
    let plan = planned(&fleet(), "kind = tram");
    assert!(plan.notes[0].contains("truck"), "{:?}", plan.notes);
}

#[test]
fn going_on_after_a_key_starts_right_behind_it() {
    let codec = unsalted();
    let query = Query::new().equal("region", "a");
    let key = UnsaltedKey(b"a#b#00007#20260915T000000Z".to_vec());
    let forwards = plan(&codec, &query.clone().after(key.clone(), None)).unwrap();
    assert_eq!(forwards.buckets[0].ranges[0].to_string(), "[a#b#00007#20260915T000000Z\\x00, a$)");
    let backwards = plan(&codec, &query.reversed(true).after(key, None)).unwrap();
    assert_eq!(backwards.buckets[0].ranges[0].to_string(), "[a#, a#b#00007#20260915T000000Z)");
}

#[test]
fn a_full_scan_is_asked_for_by_name() {
    // Conditions that every key meets are no bounds, whatever they look like.
    let numbers = codec(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{salt}#{n}#{m}\"\n[key.salt]\nof = [\"m\"]\nbuckets = 4\n[key.fields]\n\
         n = { type = \"uint\", digits = 5 }\nm = { type = \"uint\", digits = 5 }\n",
    );
    let shown = refused(&numbers, "n >= 0");
    assert!(
        shown.contains("what it says of `n` holds for every key; bind `n` to a narrower range"),
        "{shown}"
    );
    assert!(refused(&numbers, "n < 100000 and m > 7").contains("`n` holds for every key"));
    assert!(!planned(&numbers, "n >= 1").is_full_scan);
    assert!(!planned(&numbers, "n >= 0 and m = 5").is_full_scan);
    let wanted = plan(&numbers, &Query::parse(&numbers, "n >= 0").unwrap().full_scan()).unwrap();
    assert!(wanted.is_full_scan);
    let codec = unsalted();
    let error = refused(&codec, "vehicle = 7");
    assert!(error.contains("it binds `vehicle`, but `region` stands before it in the key"), "{error}");
    assert!(refused(&codec, "").contains("it binds no field"));
    // Kinds are few and would be tried; it is the vehicle that is missing.
    assert!(refused(&fleet(), "time >= 2026-09-15").contains("`vehicle` stands before it"));
    let plan = plan(&codec, &Query::new().full_scan()).unwrap();
    assert!(plan.is_full_scan);
    assert_eq!(plan.buckets[0].ranges[0].to_string(), "[, end)");
    // A bucket ends with its salt: rows of other tables in the same store are not read.
    let plan = super::super::plan(&fleet(), &Query::new().full_scan()).unwrap();
    assert_eq!(plan.buckets[15].ranges[0].to_string(), "[15#, 15$)");
}

#[test]
fn too_many_ranges_are_refused_by_the_field_that_multiplies() {
    let list = |n: usize| (0..n).map(|i| (2 * i).to_string()).collect::<Vec<_>>().join(", ");
    let names = (0..300).map(|i| format!("f{i}")).collect::<Vec<_>>().join(", ");
    let error =
        refused(&unsalted(), &format!("region = a and fleet in ({names}) and vehicle in ({})", list(400)));
    assert!(error.contains("field `vehicle`, with 400 values, multiplies most"), "{error}");
    assert!(error.contains("300 of `fleet` x 400 of `vehicle`"), "{error}");
}

#[test]
fn domains_of_one_owner_are_neighbours() {
    let codec = codec(
        r#"
        version = 1
        table = "pages"
        [key]
        layout = "{host}"
        [key.fields]
        host = { type = "domain" }
        "#,
    );
    let key = |host: &str| codec.encode_key(&[Value::from(host)]).unwrap();
    let mut keys =
        ["mail.google.com", "www.zeit.de", "maps.google.com", "google-shop.com", "search.google.com"]
            .map(key);
    keys.sort();
    let plan = planned(&codec, "host subdomain of google.com");
    let [range] = &plan.buckets[0].ranges[..] else { panic!("{plan}") };
    let inside: Vec<bool> = keys.iter().map(|key| range.contains(key.as_bytes())).collect();
    assert_eq!(inside.iter().filter(|inside| **inside).count(), 3);
    assert!(inside.windows(2).filter(|pair| pair[0] != pair[1]).count() <= 2, "not adjacent: {keys:?}");
}

#[test]
fn the_stray_bucket_of_hbasewd_is_read_too() {
    let codec = codec(
        r#"
        version = 1
        table = "t"
        [key]
        layout = "{salt}{id}"
        [key.salt]
        of = ["id"]
        buckets = 3
        hash = "hbasewd"
        format = "bytes"
        [key.fields]
        id = { type = "fixed", bytes = 6 }
        "#,
    );
    // A key whose hash is the least 32-bit integer is written under fe, outside of 0..3.
    check(
        &codec,
        r"id = '\x96\x00\xf6\x00\x13\xfe'",
        &[r"[\xfe\x96\x00\xf6\x00\x13\xfe, \xfe\x96\x00\xf6\x00\x13\xfe\x00)"],
    );
    let plan = plan(&codec, &Query::new().full_scan()).unwrap();
    let buckets: Vec<Option<u32>> = plan.buckets.iter().map(|bucket| bucket.bucket).collect();
    assert_eq!(buckets, [Some(0), Some(1), Some(2), Some(0xfe)]);
    assert_eq!(plan.buckets[2].ranges[0].to_string(), r"[\x02, \x03)");
}

#[test]
fn errors_of_where_text_point_at_the_character() {
    let error = |text: &str| refused(&fleet(), text);
    assert_eq!(
        error("vehicle = 7 and colour = red"),
        "where, at character 17: the key has no field `colour`; it has kind, vehicle, time\n  \
         vehicle = 7 and colour = red\n                  ^"
    );
    assert!(error("vehicle = ").contains("expected a value"));
    assert!(error("vehicle 7").contains("expected `=`, `<`"));
    assert!(error("vehicle != 7").contains("(f < v or f > v)"));
    assert!(error("vehicle = seven").contains("`seven` is not an unsigned integer"));
    assert!(error("vehicle = 7 or vehicle = 8").contains("inside parentheses"));
    assert!(error("(vehicle = 7 or kind = van)").contains("alternatives of one field"));
    assert!(error("kind = 'van").contains("the quote is not closed"));
    assert!(error("kind = and").contains("put it in quotes"));
    assert!(error("time >= yesterday").contains("is not a time"));
    assert!(error("vehicle prefix 4").contains("use a range"));
    assert!(error("vehicle in 4").contains("expected `(`"));
    assert!(error("vehicle = 7 kind = van").contains("expected `and` or the end"));
    assert!(error(&"(".repeat(1000)).contains("nested"));
}

#[test]
fn a_field_may_have_the_name_of_a_word_of_where_text() {
    let codec = codec(
        r#"
        version = 1
        table = "t"
        [key]
        layout = "{between}#{of}#{subdomain}"
        [key.fields]
        between = { type = "uint", digits = 3 }
        of = { type = "string" }
        subdomain = { type = "domain" }
        "#,
    );
    check(&codec, "between between 1 and 2", &["[001#, 003#)"]);
    check(&codec, "between = 1 and of = 'of'", &["[001#of#, 001#of$)"]);
    check(
        &codec,
        "between = 1 and of in (x) and subdomain subdomain of example.com",
        &["[001#x#com,example,, 001#x#com,example-)"],
    );
    assert!(refused(&codec, "of = between").contains("if `between` is one, put it in quotes"));
    assert!(refused(&codec, "and of = x").contains("at character 1: expected the name of a field"));
}

#[test]
fn an_error_in_a_long_text_shows_what_is_around_it() {
    let list = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("vehicle in ({}, x1, {})", list(500), list(500));
    let shown = refused(&fleet(), &text);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[1].starts_with("  ...") && lines[1].ends_with("..."), "{shown}");
    assert!(lines[1].len() < 160, "{shown}");
    let caret = lines[2].find('^').unwrap();
    assert!(lines[1][caret..].starts_with("x1,"), "{shown}");
}

#[test]
fn long_lists_are_planned_and_not_printed_in_full() {
    let codec = unsalted();
    let list = (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let plan = planned(&codec, &format!("region = a and fleet = b and vehicle in ({list})"));
    assert_eq!(plan.cost.ranges, 1);
    let shown = plan.to_string();
    assert!(shown.len() < 2_000 && shown.contains("more characters"), "{shown}");
    let list = (0..10_000).map(|n| (100_000 + n).to_string()).collect::<Vec<_>>().join(",");
    let shown = planned(&codec, &format!("region = a and fleet = b and vehicle in (7,{list})")).to_string();
    assert!(shown.contains("... and 9997 more\n"), "{shown}");
}

#[test]
fn a_plan_prints_what_it_reads() {
    let plan = planned(
        &unsalted(),
        "region = us-east and fleet = fleet_01 and vehicle = 4092 and time >= 2026-09-15 and time < 2026-09-16",
    );
    assert_eq!(
        plan.to_string(),
        "query     region = us-east and fleet = fleet_01 and vehicle = 4092 and time >= 2026-09-15T00:00:00Z and \
         time < 2026-09-16T00:00:00Z\n\
         ranges    1\n          us-east#fleet_01#04092#20260915T000000Z .. us-east#fleet_01#04092#20260916T000000Z\n\
         check     nothing\n\
         order     ascending by key\n\
         cost      1 seek, and every row read is a result\n"
    );
    let plan = planned(&fleet(), "kind = van and time >= 2026-09-15");
    let text = plan.to_string();
    assert!(
        text.contains("buckets   16, all: 00, 01, 02, 03, 04, 05, 06, 07, 08, 09, ... and 6 more\n"),
        "{text}"
    );
    assert!(text.contains("ranges    16\n          00#van# .. 00#van$\n"), "{text}");
    assert!(text.contains("... and 10 more\n"), "{text}");
    assert!(text.contains("check     time >= 2026-09-15T00:00:00Z\n"), "{text}");
    assert!(text.contains("order     ascending, 16 buckets merged by the key behind the salt\n"), "{text}");
    assert!(text.contains("unknown, since the check drops some"), "{text}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text: String, words in proptest::collection::vec(proptest::sample::select(vec![
        "vehicle", "kind", "time", "=", "<", ">=", "(", ")", "and", "or", "in", "between", "prefix", "subdomain of", "'", "\"", "é", ",",
        "7", "van", "\n", "\t", "2026-09-15", "!", "-99999999999999999999",
    ]), 0..12)) {
        let codec = fleet();
        for text in [text, words.concat(), words.join(" ")] {
            if let Ok(query) = Query::parse(&codec, &text) {
                proptest::prop_assert_eq!(&Query::parse(&codec, &query.text(&codec)).unwrap().text(&codec), &query.text(&codec));
                let _ = plan(&codec, &query.full_scan()).map(|plan| plan.to_string());
            }
        }
    }
}
