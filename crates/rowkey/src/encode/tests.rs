//! Encodings against the vectors of `crates/rowkey/vectors`, messages of wrong values, and the calendar against `jiff`.

use super::*;
use crate::testing::{for_each_vector, hex};
use crate::{Codec, KeySchema, Time};

/// A codec of one field.
fn codec(field: &str) -> Codec {
    let text = format!("version = 1\ntable = \"t\"\n[key]\nlayout = \"{{f}}\"\nfields.f = {{ {field} }}\n");
    Codec::new(KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

#[test]
fn fields_have_the_bytes_of_the_register() {
    for_each_vector(include_str!("../../vectors/encodings.tsv"), |name, columns| {
        let [field, text, expected] = columns else { panic!("{name}: three columns") };
        let codec = codec(field);
        let value = codec.parse_value(0, text).unwrap_or_else(|error| panic!("{name} {text}: {error}"));
        let key = codec.encode_key(std::slice::from_ref(&value)).unwrap();
        assert_eq!(hex(key.as_bytes()), *expected, "{name} {text}");
        let decoded =
            codec.decode_field(0, key.as_bytes()).unwrap_or_else(|error| panic!("{name} {text}: {error}"));
        assert_eq!(decoded, value, "{name} {text}");
        let printed = codec.format_value(0, &value);
        assert_eq!(codec.parse_value(0, &printed), Ok(value), "{name} {text} {printed}");
    });
}

/// The message of a text that cannot be read or encoded as this field.
fn refused(field: &str, text: &str) -> String {
    let codec = codec(field);
    let mut out = Vec::new();
    let result = codec.parse_value(0, text).and_then(|value| codec.encode_field(0, &value, &mut out));
    result.expect_err(text).to_string()
}

#[track_caller]
fn check_refused(field: &str, text: &str, message: &str) {
    let got = refused(field, text);
    assert!(got.contains(message), "{text}: {got}");
}

#[test]
fn numbers_that_do_not_fit_are_refused_with_width_and_value() {
    check_refused(r#"type = "uint", digits = 5"#, "100000", "field `f`: 100000 has more than 5 digits");
    check_refused(r#"type = "uint", digits = 5"#, "-1", "not an unsigned integer");
    check_refused(r#"type = "uint", digits = 20"#, "18446744073709551616", "not an unsigned integer");
    check_refused(r#"type = "int", digits = 3"#, "-1000", "-1000 has more than 3 digits");
    check_refused(r#"type = "u8""#, "256", "256 does not fit into 8 bits");
    check_refused(r#"type = "i8""#, "-129", "-129 does not fit into 8 bits");
    check_refused(r#"type = "i32""#, "2147483648", "does not fit into 32 bits");
    check_refused(r#"type = "f64""#, "NaN", "not a number");
    check_refused(r#"type = "f64""#, "1e309", "1e309 does not fit into a 64-bit float, which ends at 1.79");
    check_refused(r#"type = "f64""#, "-1e999", "does not fit");
    check_refused(r#"type = "fixed", bytes = 4"#, "abc", "3 bytes, and the field holds exactly 4");
    check_refused(r#"type = "hex", digits = 4"#, "abc", "exactly 4 hex digits");
    check_refused(r#"type = "hex", digits = 4"#, "abcg", "not hex digits");
    check_refused(r#"type = "uuid""#, "0011", "not a UUID");
}

#[test]
fn times_are_never_cut_moved_or_read_in_an_assumed_zone() {
    let seconds = r#"type = "timestamp", unit = "s", digits = 10"#;
    check_refused(seconds, "2026-09-15T00:00:00.5Z", "2026-09-15T00:00:00.500Z is not a whole number of s");
    check_refused(seconds, "2026-09-15T00:00:00", "a zone expected");
    check_refused(seconds, "2026-09-15 00:00:00", "a zone expected");
    check_refused(seconds, "2016-12-31T23:59:60Z", "second 60 does not exist");
    check_refused(seconds, "2026-02-29", "day 29 does not exist in 2026-02");
    check_refused(seconds, "2026-13-01", "month 13 does not exist");
    check_refused(seconds, "1969-12-31T23:59:59Z", "is before 1970");
    check_refused(seconds, "-1", "is before 1970");
    check_refused(seconds, "9999-12-31T23:59:59Z", "253402300799 has more than 10 digits");
    check_refused(seconds, "yesterday", "not a time");
    check_refused(
        r#"type = "timestamp", unit = "ms", digits = 13, order = "desc""#,
        "10000000000000",
        "more than 13 digits",
    );
    check_refused(r#"type = "timestamp", format = "date-basic""#, "2026-09-15T00:00:01Z", "not midnight UTC");
    check_refused(r#"type = "timestamp", format = "iso-basic""#, "-62167219201", "not in 0000 to 9999");
    check_refused(
        r#"type = "timestamp", format = "iso-basic", unit = "ms""#,
        "2026-09-15T00:00:00.0001Z",
        "whole number of ms",
    );
    check_refused(
        r#"type = "timestamp", unit = "ns", encoding = "binary""#,
        "9999-12-31",
        "do not fit into 64 bits",
    );
}

#[test]
fn hosts_that_are_not_hosts_are_refused() {
    let domain = r#"type = "domain""#;
    check_refused(domain, "user:secret@example.com", "user name or password");
    check_refused(domain, "http://u@example.com/", "user name or password");
    check_refused(domain, "a..b", "empty label");
    check_refused(domain, "exa mple.com", "contains ` `");
    check_refused(domain, "a,b", "contains `,`");
    check_refused(domain, "example.com:http", "not a port");
    check_refused(domain, "example.com:65536", "not a port");
    check_refused(domain, "2001:db8::1", "must stand in brackets");
    check_refused(domain, "[2001:db8::g]", "not an IPv6 address");
    check_refused(domain, "xn--a.com", "IDNA");
}

#[test]
fn domains_are_neighbours_and_subtrees_contiguous_only_with_a_low_separator() {
    let sorted = |separator: &str| {
        let codec = codec(&format!(r#"type = "domain", separator = "{separator}""#));
        let hosts = ["example.com", "www.example.com", "www.example-shop.com", "example2.com"];
        let mut keys: Vec<(Vec<u8>, &str)> = Vec::new();
        for host in hosts {
            let key = codec.encode_key(&[codec.parse_value(0, host).unwrap()]).unwrap();
            keys.push((key.0, host));
        }
        keys.sort();
        keys.into_iter().map(|(_, host)| host).collect::<Vec<_>>()
    };
    assert_eq!(sorted(","), ["example.com", "www.example.com", "www.example-shop.com", "example2.com"]);
    assert_eq!(sorted("."), ["example.com", "www.example-shop.com", "www.example.com", "example2.com"]);
}

#[test]
fn padded_numbers_sort_as_numbers_and_text_as_text() {
    let mut texts = ["device_2", "device_100", "device_10", "device_1"];
    texts.sort_by_key(|text| codec(r#"type = "string""#).encode_key(&[Value::from(*text)]).unwrap());
    assert_eq!(texts, ["device_1", "device_10", "device_100", "device_2"]);
    let mut numbers = [100u64, 2, 10, 1];
    let codec = codec(r#"type = "uint", digits = 5"#);
    numbers.sort_by_key(|number| codec.encode_key(&[Value::Uint(*number)]).unwrap());
    assert_eq!(numbers, [1, 2, 10, 100]);
}

#[test]
fn a_value_of_another_type_is_refused_by_name() {
    let codec = codec(r#"type = "uint", digits = 5"#);
    let error = codec.encode_key(&[Value::from("7")]).unwrap_err();
    assert_eq!(error.to_string(), "field `f`: a `uint` field takes an unsigned integer, not text");
    assert_eq!(codec.encode_key(&[Value::Int(7)]).unwrap().as_bytes(), b"00007");
    assert!(codec.encode_key(&[]).is_err());
}

#[test]
fn the_calendar_is_that_of_jiff() {
    let first = jiff::civil::date(0, 1, 1);
    let epoch = jiff::civil::date(1970, 1, 1);
    let kind = FieldKind::Iso { form: crate::schema::IsoForm::DateExtended, unit: TimeUnit::Seconds };
    let mut date = first;
    loop {
        let days = date.since((jiff::Unit::Day, epoch)).unwrap().get_days();
        let time = Time::from_seconds(i64::from(days) * 86_400);
        let text = date.to_string();
        assert_eq!(parse_value(&kind, &text), Ok(Value::Time(time)));
        assert_eq!(format_value(&kind, &Value::Time(time)), text);
        match date.tomorrow() {
            Ok(tomorrow) => date = tomorrow,
            Err(_) => break,
        }
    }
    assert_eq!(date.to_string(), "9999-12-31");
}

/// Cells may be of any time that 64 bits of microseconds hold, and people give back what was printed.
#[test]
fn every_time_is_printed_as_it_is_read() {
    for micros in [i64::MIN, -1, 0, 70_000, 253_402_300_799_999_999, 253_402_300_800_000_000, i64::MAX] {
        let time = Time::from_micros(micros);
        assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
    }
    assert_eq!(Time::from_millis(70).to_string(), "1970-01-01T00:00:00.070Z");
    assert_eq!(Time::from_micros(253_402_300_799_999_000).to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(Time::from_seconds(253_402_300_800).to_string(), "253402300800000000000 ns since 1970");
    assert!("ns since 1970".parse::<Time>().is_err());
}

/// Found by fuzzing: a count of seconds far beyond the year 9999, given to a field of dates, printed as text that no field reads.
#[test]
fn a_time_beyond_the_calendar_is_printed_as_the_number_that_it_was() {
    for form in [crate::schema::IsoForm::DateBasic, crate::schema::IsoForm::Extended] {
        let kind = FieldKind::Iso { form, unit: TimeUnit::Seconds };
        for text in ["11111202601202605", "-99999999999999"] {
            let value = parse_value(&kind, text).unwrap();
            assert_eq!(format_value(&kind, &value), text);
        }
    }
}
