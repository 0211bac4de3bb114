//! A diagnosis in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS standard), for continuous integration.
//!
//! A finding is a result at level `error`, `warning` or `note`. Its place is the key schema if one was judged, for that is what gets corrected,
//! else the file of keys. The fingerprint is made of the rule, the part of the key and the file's name: it stays the same while numbers change.

use crate::finding::{Advice, Diagnosis, Evidence, Finding};
use crate::report::object::Json;
use crate::report::redact::{Redactor, Wording};
use crate::report::{Source, help};
use crate::rule::Rule;
use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_64;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// A diagnosis as a SARIF log with one run.
pub fn sarif(diagnosis: &Diagnosis, source: &Source, redactor: Redactor) -> Json {
    let wording = &Wording::of_layout(redactor, &diagnosis.layout);
    let results = diagnosis.findings.iter().map(|finding| result(finding, source, wording));
    let run = Json::Object(vec![
        ("tool", Json::Object(vec![("driver", driver())])),
        ("invocations", Json::list([Json::Object(vec![("executionSuccessful", true.into())])])),
        (
            "artifacts",
            Json::list(
                artifacts(source).into_iter().map(|uri| Json::Object(vec![("location", location(uri))])),
            ),
        ),
        ("results", Json::list(results)),
        ("columnKind", "unicodeCodePoints".into()),
    ]);
    Json::Object(vec![("$schema", SCHEMA.into()), ("version", "2.1.0".into()), ("runs", Json::list([run]))])
}

fn driver() -> Json {
    Json::Object(vec![
        ("name", "rowkey doctor".into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("semanticVersion", env!("CARGO_PKG_VERSION").into()),
        ("informationUri", REPOSITORY.into()),
        ("rules", Json::list(Rule::ALL.iter().map(|rule| descriptor(*rule)))),
    ])
}

fn descriptor(rule: Rule) -> Json {
    let message = |text: &str| Json::Object(vec![("text", text.into())]);
    Json::Object(vec![
        ("id", rule.name().into()),
        ("name", pascal_case(rule.name()).into()),
        ("shortDescription", message(&sentence(rule.summary()))),
        ("fullDescription", message(help(rule))),
        ("help", message(help(rule))),
        ("helpUri", format!("{REPOSITORY}/blob/main/docs/doctor.md#{rule}").into()),
        ("defaultConfiguration", Json::Object(vec![("level", "warning".into())])),
    ])
}

fn result(finding: &Finding, source: &Source, wording: &Wording) -> Json {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule).unwrap_or_default();
    let print = fingerprint(finding, source);
    Json::Object(vec![
        ("ruleId", finding.rule.name().into()),
        ("ruleIndex", index.into()),
        ("level", finding.severity.name().into()),
        ("message", Json::Object(vec![("text", wording.text(&message(finding)).into())])),
        ("locations", Json::list([place(finding, source, wording)])),
        (
            "partialFingerprints",
            // The first is the one that code hosts look for; its number tells equal ones of one file apart.
            Json::Object(vec![
                ("primaryLocationLineHash", format!("{print}:1").into()),
                ("rowkeyFinding/v1", print.into()),
            ]),
        ),
        (
            "properties",
            Json::Object(vec![
                ("nodesLost", finding.nodes_lost.into()),
                ("field", Json::optional(finding.field.as_deref().map(|field| wording.name(field)))),
                ("examples", Json::list(finding.examples.iter().map(|key| wording.redactor.key(key).into()))),
            ]),
        ),
    ])
}

/// Headline, measurements and advice. The first sentence can stand alone.
fn message(finding: &Finding) -> String {
    let mut text = sentence(&finding.headline);
    if !finding.evidence.is_empty() {
        let measured: Vec<String> = finding.evidence.iter().map(evidence).collect();
        let _ = write!(text, " Measured: {}.", measured.join("; "));
    }
    for advice in &finding.advice {
        let _ = write!(text, " {}", advice_sentence(advice));
    }
    text
}

fn evidence(evidence: &Evidence) -> String {
    let mut text = format!("{} {}", evidence.what, Json::measured(evidence.measured));
    if let Some(error) = evidence.error {
        let _ = write!(text, " +- {}", Json::measured(error));
    }
    if !evidence.threshold.is_empty() {
        let _ = write!(text, ", {}", evidence.threshold);
    }
    let _ = write!(text, ", of {}", evidence.sample);
    text
}

fn advice_sentence(advice: &Advice) -> String {
    let mut text = advice.action.trim_end_matches('.').to_owned();
    for clause in [&advice.gain, &advice.cost] {
        if !clause.is_empty() {
            let _ = write!(text, "; {}", clause.trim_end_matches('.'));
        }
    }
    sentence(&text)
}

fn place(finding: &Finding, source: &Source, wording: &Wording) -> Json {
    let (uri, line) = match (&source.schema, &source.input) {
        (Some((file, line)), _) => (uri(file), *line),
        (None, Some(file)) => (uri(file), 1),
        (None, None) => (uri("-"), 1),
    };
    let mut members = vec![(
        "physicalLocation",
        Json::Object(vec![
            ("artifactLocation", location(uri)),
            ("region", Json::Object(vec![("startLine", line.max(1).into())])),
        ]),
    )];
    if let Some(field) = &finding.field {
        let logical = vec![("name", wording.name(field).into()), ("kind", "member".into())];
        members.push(("logicalLocations", Json::list([Json::Object(logical)])));
    }
    Json::Object(members)
}

fn location(uri: String) -> Json {
    Json::Object(vec![("uri", uri.into())])
}

fn artifacts(source: &Source) -> Vec<String> {
    let schema = source.schema.as_ref().map(|(file, _)| file.as_str());
    source.input.as_deref().into_iter().chain(schema).map(uri).collect()
}

/// A path as a URI reference (RFC 3986): bytes outside of the unreserved characters and `/` as `%NN`. Stdin is called `stdin`.
fn uri(path: &str) -> String {
    if path == "-" {
        return "stdin".to_owned();
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn fingerprint(finding: &Finding, source: &Source) -> String {
    let file =
        source.schema.as_ref().map(|(file, _)| file.as_str()).or(source.input.as_deref()).unwrap_or_default();
    let field = finding.field.as_deref().unwrap_or_default();
    format!("{:016x}", xxh3_64(format!("{}\0{field}\0{file}", finding.rule).as_bytes()))
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

/// `time-first` as `TimeFirst`: SARIF wants names to be identifiers.
fn pascal_case(name: &str) -> String {
    name.split('-')
        .flat_map(|word| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)))
        .collect()
}

#[cfg(test)]
mod tests;
