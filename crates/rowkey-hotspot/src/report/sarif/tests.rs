//! What SARIF 2.1.0 and code hosts require of a log.

use super::*;
use crate::report::samples;
use serde_json::Value;

fn keys() -> Source {
    Source { input: Some("./my keys.txt".to_owned()), ..Source::default() }
}

fn parsed(source: &Source) -> Value {
    serde_json::from_str(&sarif(&samples::diagnosis(), source, Redactor::default()).to_string()).unwrap()
}

#[test]
fn it_has_what_the_standard_requires() {
    let log = parsed(&keys());
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "rowkey doctor");
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Rule::ALL.len());
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().unwrap().ends_with('.'), "{rule}");
        }
        assert!(rule["name"].as_str().unwrap().chars().all(char::is_alphanumeric));
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20keys.txt");
        assert_eq!(place["region"]["startLine"], 1);
    }
    assert_eq!(results[0]["locations"][0]["logicalLocations"][0]["name"], "time");
    assert_eq!(run["artifacts"][0]["location"]["uri"], "my%20keys.txt");
}

#[test]
fn messages_have_the_numbers_and_the_advice() {
    let log = parsed(&keys());
    assert_eq!(
        log["runs"][0]["results"][0]["message"]["text"],
        "All writes hit 1 of 10 nodes: keys begin with a time, as in `1714644000#acme`. Measured: effective places written at once 1 \
         +- 0.0123457, below 5, of 8007. Put `text` before `time`: `acme#1714644000`; writes reach 10 of 10 nodes."
    );
}

#[test]
fn a_judged_schema_is_the_place_of_the_findings() {
    let source = Source { schema: Some(("keys/s.toml".to_owned(), 5)), ..keys() };
    let log = parsed(&source);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "keys/s.toml");
    assert_eq!(place["region"]["startLine"], 5);
    assert_eq!(log["runs"][0]["artifacts"].as_array().unwrap().len(), 2);
}

#[test]
fn fingerprints_tell_findings_apart_and_do_not_change_with_numbers() {
    let print =
        |diagnosis: &Diagnosis, source: &Source, at: usize| fingerprint(&diagnosis.findings[at], source);
    let one = samples::diagnosis();
    let mut other = samples::diagnosis();
    other.findings[0].headline = "another number".to_owned();
    other.findings[0].evidence[0].measured = 2.0;
    assert_eq!(print(&one, &keys(), 0), print(&other, &keys(), 0));
    assert_ne!(print(&one, &keys(), 0), print(&one, &keys(), 1));
    assert_ne!(print(&one, &keys(), 0), print(&one, &Source::default(), 0));
    // Code hosts keep them, so they must not change with a release.
    assert_eq!(print(&one, &keys(), 0), "caed9783bab9118c");
}

#[test]
fn paths_become_uri_references() {
    let check = |path: &str, expected: &str| assert_eq!(uri(path), expected);
    check("-", "stdin");
    check("./a/b.txt", "a/b.txt");
    check("/var/log/k#1.txt", "file:///var/log/k%231.txt");
    check("M\u{fc}ll", "M%C3%BCll");
}

#[test]
fn nothing_of_the_keys_is_left_when_redacted() {
    let redacted = sarif(&samples::diagnosis(), &keys(), Redactor::new(true)).to_string();
    for value in samples::VALUES {
        assert!(!redacted.contains(value), "{value} is left in {redacted}");
    }
    let whole = sarif(&samples::diagnosis(), &keys(), Redactor::new(false)).to_string();
    for value in samples::VALUES.iter().filter(|value| **value != "1714644999") {
        assert!(whole.contains(value), "{value} is not shown at all");
    }
}
