//! The JSON of a diagnosis is what its schema says.

use super::*;
use crate::report::samples;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../../docs/formats/doctor.schema.json");

fn parsed(diagnosis: &Diagnosis, redacts: bool) -> Value {
    let source = Source {
        input: Some("keys.txt".to_owned()),
        schema: None,
        lines: 8_010,
        operations: 8_007,
        malformed: 3,
    };
    serde_json::from_str(&json(diagnosis, &source, Redactor::new(redacts)).to_string()).unwrap()
}

/// What of `value` is not as `schema` says, also members that it does not describe. Knows the keywords that the schema uses.
fn faults(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema.get("$ref") {
        let name = name.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        return faults(value, &root["$defs"][name], root, at);
    }
    let mut found = Vec::new();
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let best = choices.iter().map(|choice| faults(value, choice, root, at)).min_by_key(Vec::len);
        found.extend(best.unwrap());
    }
    if let Some(expected) = schema.get("const")
        && value != expected
    {
        found.push(format!("{at}: {value} is not {expected}"));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        found.push(format!("{at}: {value} is none of {choices:?}"));
    }
    if let Some(types) = schema.get("type") {
        let names: Vec<&str> = match types {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            name => name.as_str().into_iter().collect(),
        };
        if !names.iter().any(|name| has_type(value, name)) {
            found.push(format!("{at}: {value} is no {names:?}"));
        }
    }
    if let Some(items) = schema.get("items")
        && let Some(values) = value.as_array()
    {
        found.extend(
            values
                .iter()
                .enumerate()
                .flat_map(|(index, item)| faults(item, items, root, &format!("{at}[{index}]"))),
        );
    }
    if let (Some(members), Some(value)) =
        (schema.get("properties").and_then(Value::as_object), value.as_object())
    {
        for name in schema["required"].as_array().unwrap() {
            if !value.contains_key(name.as_str().unwrap()) {
                found.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, value) in value {
            match members.get(name) {
                Some(schema) => found.extend(faults(value, schema, root, &format!("{at}.{name}"))),
                None => found.push(format!("{at}.{name} is not described")),
            }
        }
    }
    found
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn check_schema(diagnosis: &Diagnosis) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for redacts in [false, true] {
        let found = faults(&parsed(diagnosis, redacts), &schema, &schema, "$");
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn it_is_what_the_schema_says() {
    check_schema(&samples::diagnosis());
}

#[test]
fn the_check_finds_what_is_missing_wrong_or_not_described() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let whole = parsed(&samples::diagnosis(), false);
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut changed = whole.clone();
        change(&mut changed);
        let found = faults(&changed, &schema, &schema, "$").join("\n");
        assert!(found.contains(expected), "{found}");
    };
    check(&|value| drop(value.as_object_mut().unwrap().remove("n_eff")), "\"n_eff\" is missing");
    check(&|value| value["findings"][0]["severity"] = "bad".into(), "$.findings[0].severity");
    check(&|value| value["facts"]["new"] = 1.into(), "$.facts.new is not described");
    check(&|value| value["layout"]["sampled"] = "1".into(), "$.layout.sampled");
}

#[test]
fn every_rule_is_in_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let names: Vec<&str> = crate::Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(schema["$defs"]["finding"]["properties"]["rule"]["enum"], Value::from(names));
}

#[test]
fn a_diagnosis_of_nothing_has_nulls_and_no_zeros_for_what_was_not_measured() {
    let mut nothing = samples::diagnosis();
    nothing.findings.clear();
    nothing.facts = Facts::default();
    nothing.layout = Layout::default();
    nothing.bound.bound_per_s = f64::NAN;
    check_schema(&nothing);
    let value = parsed(&nothing, false);
    for name in ["worst", "n_eff", "n_eff_min", "n_eff_error", "largest_share"] {
        assert!(value[name].is_null(), "{name}");
    }
    assert!(value["facts"]["writes"].is_null() && value["bound"]["bound_per_s"].is_null());
    assert_eq!(value["healthy"], true);
}

#[test]
fn the_type_comes_first_and_texts_show_values_in_backquotes() {
    let line = json(&samples::diagnosis(), &Source::default(), Redactor::default()).to_string();
    assert!(line.starts_with(r#"{"type":"diagnosis","version":1,"worst":"error","#), "{line}");
    let value = parsed(&samples::diagnosis(), false);
    let headline = value["findings"][0]["headline"].as_str().unwrap();
    assert!(headline.ends_with("as in `1714644000#acme`"), "{headline}");
    assert_eq!(value["findings"][0]["evidence"][0]["error"], 0.012_345_7);
}

#[test]
fn nothing_of_the_keys_is_left_when_redacted() {
    let whole = json(&samples::diagnosis(), &Source::default(), Redactor::new(false)).to_string();
    let redacted = json(&samples::diagnosis(), &Source::default(), Redactor::new(true)).to_string();
    for value in samples::VALUES.iter().filter(|value| **value != "zebra") {
        assert!(whole.contains(value), "{value} is not shown at all");
        assert!(!redacted.contains(value), "{value} is left in {redacted}");
    }
    // This one is in a key of other bytes, so its text is base64.
    assert!(!redacted.contains("MTcxNDY0NDk5OSN6ZWJyYf8="), "{redacted}");
    assert!(redacted.contains("9999999999#aaaa"));
}
