//! Both ways through a line agree, and what is wrong is said.

use super::super::{Compression, Format, Options};
use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

/// An operation in words that can be compared, and what was noted.
type Said = (String, Vec<String>);

fn tally() -> Tally<'static> {
    Tally::new("in", &Options::default(), Format::Operations, Compression::None)
}

fn said(parsed: &Parsed<'_>, tally: &Tally<'_>) -> Said {
    (format!("{parsed:?}"), tally.report.ignored.iter().cloned().collect())
}

fn slowly(line: &[u8]) -> Result<Said, String> {
    let (mut keys, mut tally) = (Keys::default(), tally());
    let parsed = parse(line, &mut keys, &mut tally)?;
    Ok(said(&parsed, &tally))
}

/// `None`: the quick way leaves the line to the parser.
fn quickly(line: &[u8]) -> Option<Said> {
    let (mut quick, mut tally) = (Quick::default(), tally());
    let parsed = quick.parse(line, &mut tally)?;
    Some(said(&parsed, &tally))
}

fn check(line: &str, expected: Operation<'_>) {
    let (mut keys, mut tally) = (Keys::default(), tally());
    let parsed = parse(line.as_bytes(), &mut keys, &mut tally);
    assert_eq!(parsed.map(|parsed| parsed.operation), Ok(expected), "{line}");
    if let Some(quick) = quickly(line.as_bytes()) {
        assert_eq!(Ok(quick), slowly(line.as_bytes()), "{line}");
    }
}

fn is_quick(line: &str) {
    assert_eq!(quickly(line.as_bytes()).unwrap(), slowly(line.as_bytes()).unwrap(), "{line}");
}

fn refused(line: &str, why: &str) {
    assert_eq!(quickly(line.as_bytes()), None, "{line}");
    let said = slowly(line.as_bytes()).unwrap_err();
    assert!(said.contains(why), "{line}: {said}");
}

#[test]
fn all_members_are_read() {
    let scan = Operation {
        kind: OpKind::Scan,
        key: b"a\0",
        end: Some(b"a\\"),
        time_ms: Some(1_714_644_000_123),
        rows: Some(3),
        bytes: Some(180),
    };
    check(r#"{"time_ms":1714644000123,"op":"scan","key":"a\\x00","end":"a\\\\","rows":3,"bytes":180}"#, scan);
    check("{ \"key\" : \"k\" , \"op\" : \"write\" }", Operation::write(b"k"));
    check(
        r#"{"op":"read","key":"\u00e9"}"#,
        Operation { kind: OpKind::Read, ..Operation::write("\u{e9}".as_bytes()) },
    );
    check(
        r#"{"op":"write","key":"k","time_ms":-5.5}"#,
        Operation { time_ms: Some(-6), ..Operation::write(b"k") },
    );
    check(
        r#"{"op":"write","key":"k","time_ms":null,"end":null,"rows":null,"bytes":null}"#,
        Operation::write(b"k"),
    );
    check(r#"{"op":"scan","key":"","end":""}"#, Operation { kind: OpKind::Scan, ..Operation::write(b"") });
    check(r#"{"op":"write","key":"a","key":"b"}"#, Operation::write(b"b"));
}

#[test]
fn the_plain_form_takes_the_quick_way() {
    is_quick(r#"{"time_ms":1714644000123,"op":"write","key":"07#acme#4092","bytes":180}"#);
    is_quick(r#"{"time_ms": 0, "op": "scan", "key": "a\\x00\\\\\"", "end": "b", "rows": 0}"#);
    is_quick("{\"op\":\"read\",\"key\":\"a\",\"latency_ms\":-1.25,\"ok\":true,\"who\":\"x\",\"no\":null}\r");
}

#[test]
fn unknown_members_are_noted_once_whatever_they_are() {
    let noted = |line: &str| slowly(line.as_bytes()).unwrap().1;
    assert_eq!(noted(r#"{"op":"read","key":"a","x":{"y":[1]},"":2}"#), ["", "x"]);
    assert_eq!(noted(r#"{"op":"read","key":"a"}"#), Vec::<String>::new());
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    refused(r#"{"key":"a"}"#, "`op` is missing");
    refused(r#"{"op":"read"}"#, "`key` is missing");
    refused(r#"{"op":"PUT","key":"a"}"#, "`op` is \"PUT\": expected write, read, scan or delete");
    refused(r#"{"op":"read","key":7}"#, "`key` is 7: expected text");
    refused(r#"{"op":"read","key":""}"#, "the key is empty");
    refused(r#"{"op":"read","key":"a","end":"b"}"#, "belongs to scans");
    refused(r#"{"op":"read","key":"a\\q"}"#, "`key`, byte 2: a backslash");
    refused(r#"{"op":"read","key":"a\x00"}"#, "written twice");
    refused(r#"{"op":"read","key":"a","rows":-1}"#, "`rows` is -1");
    refused(r#"{"op":"read","key":"a","bytes":1.5}"#, "`bytes` is 1.5");
    refused(r#"{"op":"read","key":"a","time_ms":"now"}"#, "`time_ms` is \"now\"");
    refused(r#"{"op":"read","key":"a","time_ms":1e300}"#, "`time_ms` is");
    refused(r#"{"op":"read","key":"a","table":1}"#, "`table` is 1");
    refused(r#"{"op":"read","key":"a"#, "does not end");
    refused(r#"{"op":"read","key":"a"} x"#, "no JSON");
    refused("[1]", "a JSON object is expected");
    refused("key", "no JSON");
}

/// Lines of JSON, mostly of the plain form, with all that may be odd.
fn line() -> impl Strategy<Value = String> {
    let text = r#""([a-c#]|\\\\x0[0-9a]|\\\\\\\\|\\"|\\\\q|\\x|\\u00e9|é|	){0,6}""#;
    let number = r"-?(0|[1-9][0-9]{0,19}|0[0-9])(\.[0-9]{0,3})?([eE][+-]?[0-9]{1,3})?";
    let value =
        prop_oneof![text, number, r#"true|false|null|nul|\[\]|\{"a":1\}|"write"|"read"|"scan"|"delete""#];
    let name = prop_oneof![4 => r#""(time_ms|op|key|end|rows|bytes|table)""#, 1 => r#""[a-e\\]{0,2}""#];
    let odd = (name, r"[ \t]?:[ ]?", value).prop_map(|(name, colon, value)| name + &colon + &value);
    let plain = r#""(time_ms|rows|bytes|d|e)": ?(0|[1-9][0-9]{0,18})|"end":"[ab]{0,2}"|"d":("x"|true|-1\.5)|"table":"[ab]"|"table":null"#;
    let member = prop_oneof![1 => odd, 3 => plain];
    let good = r#""op":"(write|read|scan|delete)"#.prop_flat_map(move |op| {
        (Just(op), r#""key":"([a-c]|\\\\x00){1,5}"#).prop_map(|(op, key)| vec![op + "\"", key + "\""])
    });
    let good = prop_oneof![3 => good, 1 => Just(Vec::new())];
    let ends = prop_oneof![8 => r"\} ?", 1 => r"\}\}|,\}|"];
    (good, prop::collection::vec(member, 0..4), any::<bool>(), ends).prop_map(|(good, more, first, end)| {
        let members = if first { [good, more].concat() } else { [more, good].concat() };
        format!("{{{}{end}", members.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn both_ways_agree(line in line()) {
        if let Some(quick) = quickly(line.as_bytes()) {
            prop_assert_eq!(Ok(quick), slowly(line.as_bytes()));
        }
    }
}

#[test]
fn the_lines_of_that_test_take_both_ways() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut quick, mut refused) = (0, 0);
    for _ in 0..1000 {
        let line = line().new_tree(&mut runner).unwrap().current();
        quick += u64::from(quickly(line.as_bytes()).is_some());
        refused += u64::from(slowly(line.as_bytes()).is_err());
    }
    assert!(quick > 100 && refused > 100, "{quick} {refused}");
}
