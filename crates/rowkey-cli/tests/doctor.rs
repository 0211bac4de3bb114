//! `rowkey doctor --redact` over the labelled samples: whatever the format, no value of a key is left on stdout or stderr.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot run its commands has failed; skipping is told"
)]

use rowkey::escape::unescape;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(entries) = fs::read_dir(&root) else {
        eprintln!("SKIPPED (1 test): no samples in {}", root.display());
        return Vec::new();
    };
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

fn data_file(case: &Path) -> PathBuf {
    let keys = case.join("keys.txt");
    if keys.exists() { keys } else { case.join("ops.jsonl") }
}

/// Everything that the doctor prints of a file, in all formats.
fn output(file: &Path, redacts: bool) -> String {
    let mut out = String::new();
    for format in [&["-v"][..], &["--format", "json"], &["--format", "csv"], &["--format", "sarif"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowkey"));
        command.arg("doctor").arg(file).args(format).stdin(Stdio::null());
        if redacts {
            command.arg("--redact");
        }
        let run = command.output().unwrap();
        assert!(matches!(run.status.code(), Some(0 | 1)), "{}: {run:?}", file.display());
        out.push_str(&String::from_utf8(run.stdout).unwrap());
        out.push_str(&String::from_utf8(run.stderr).unwrap());
    }
    out.replace(file.to_str().unwrap(), "")
}

/// Runs of letters and digits that would tell something: 4 and more with a letter, 6 and more digits. What is its own class tells
/// nothing.
fn tokens(bytes: &[u8]) -> BTreeSet<String> {
    let runs = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    runs.filter(|run| run.len() >= if run.iter().all(u8::is_ascii_digit) { 6 } else { 4 })
        .filter(|run| run.iter().any(|byte| !matches!(byte, b'9' | b'a' | b'A')))
        .map(|run| String::from_utf8(run.to_vec()).unwrap())
        .collect()
}

fn tokens_of_keys(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let parsed =
            serde_json::from_str::<serde_json::Value>(line).ok().filter(serde_json::Value::is_object);
        let keys: Vec<String> = match &parsed {
            Some(value) => {
                ["key", "end"].iter().filter_map(|name| Some(value[*name].as_str()?.to_owned())).collect()
            }
            None => vec![line.to_owned()],
        };
        for key in keys {
            found.extend(tokens(&unescape(&key).unwrap_or(key.into_bytes())));
        }
    }
    found
}

#[test]
fn nothing_of_the_keys_is_left_in_redacted_output() {
    let cases = corpus();
    let outputs: Vec<BTreeSet<String>> =
        cases.iter().map(|case| tokens(output(&data_file(case), true).as_bytes())).collect();
    let mut leaks = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        // Words of ours are in the output of other cases too: reports of all rules' help are among them.
        let ours = |word: &&String| {
            outputs.iter().enumerate().any(|(other, words)| other != at && words.contains(*word))
        };
        let keys = tokens_of_keys(&data_file(case));
        let left: Vec<&String> = keys.intersection(&outputs[at]).filter(|word| !ours(word)).collect();
        if !left.is_empty() {
            leaks.push(format!("{}: {left:?}", case.file_name().unwrap().display()));
        }
    }
    assert!(leaks.is_empty(), "\n{}", leaks.join("\n"));
}

#[test]
fn the_search_for_values_finds_them_where_nothing_is_redacted() {
    for case in corpus().iter().take(3) {
        let file = data_file(case);
        let shown = tokens(output(&file, false).as_bytes());
        assert!(tokens_of_keys(&file).intersection(&shown).count() > 3, "{}", case.display());
    }
}
