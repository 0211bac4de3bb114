//! What reviews would otherwise have to repeat: who may import whom, how files begin, how long they are, what may not be
//! in them, whether documents are true, and which licences come with the dependencies.

#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who may import whom: the table of ARCHITECTURE.md, "Code map". A new edge needs its own commit and its own reason.
const EDGES: &[(&str, &[&str])] = &[
    ("rowkey", &[]),
    ("rowkey-store", &[]),
    ("rowkey-lsm", &["rowkey-store"]),
    ("rowkey-table", &["rowkey", "rowkey-store"]),
    ("rowkey-hotspot", &["rowkey", "rowkey-store"]),
    ("rowkey-proto", &[]),
    ("rowkey-bigtable", &["rowkey-proto", "rowkey-store"]),
    (
        "rowkey-server",
        &["rowkey", "rowkey-bigtable", "rowkey-hotspot", "rowkey-proto", "rowkey-store", "rowkey-table"],
    ),
    (
        "rowkey-cli",
        &["rowkey", "rowkey-hotspot", "rowkey-lsm", "rowkey-server", "rowkey-store", "rowkey-table"],
    ),
];

/// Lines of a file before its tests.
const FILE_LINES_MAX: usize = 600;

/// What may not be in Rust code, and what to write instead. Each is cut in two, so that this file does not find itself.
const BANNED: &[(&str, &str, &str)] = &[
    ("todo", "!(", "finish it, or leave the whole thing out"),
    ("unimplemented", "!(", "finish it, or refuse it by name with an error"),
    ("#[ig", "nore", "a test runs or does not exist"),
    ("#[should_", "panic", "check the error that comes out"),
    ("#[al", "low(", "`#[expect(lint, reason = \"...\")]`"),
    ("FIX", "ME", "fix it, or say in the documentation what is missing"),
    ("XX", "X:", "fix it, or say in the documentation what is missing"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tidy/ lies in the repository").to_owned()
}

/// Files below `dir` with this ending, build output, generated code and hidden folders left out, sorted.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && name != "generated" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn fail_if_any(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn crates_import_only_what_the_table_says() {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for manifest in files(&root().join("crates"), "Cargo.toml") {
        let folder = manifest.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let content: toml::Table = fs::read_to_string(&manifest).unwrap().parse().unwrap();
        let name = content["package"]["name"].as_str().unwrap();
        if name != folder {
            faults.push(format!("{}: the folder of crate {name} must be crates/{name}", shown(&manifest)));
        }
        let Some((_, allowed)) = EDGES.iter().find(|(crate_name, _)| *crate_name == name) else {
            faults.push(format!(
                "{}: crate {name} is not in the table of tidy/tests/tidy.rs",
                shown(&manifest)
            ));
            continue;
        };
        seen.insert(name.to_owned());
        let dependencies = content.get("dependencies").and_then(toml::Value::as_table);
        for dependency in dependencies.into_iter().flat_map(toml::Table::keys) {
            let ours = EDGES.iter().any(|(crate_name, _)| crate_name == dependency);
            if ours && !allowed.contains(&dependency.as_str()) {
                faults.push(format!("{}: {name} may not import {dependency}", shown(&manifest)));
            }
        }
    }
    for (name, _) in EDGES {
        if !seen.contains(*name) {
            faults.push(format!("crate {name} is in the table of tidy/tests/tidy.rs, but not in crates/"));
        }
    }
    fail_if_any(&faults);
}

#[test]
fn every_file_opens_with_its_purpose_and_stays_short() {
    let mut faults = Vec::new();
    for file in files(&root(), ".rs") {
        let text = fs::read_to_string(&file).unwrap();
        if !text.starts_with("//!") && !text.starts_with("#!") {
            faults.push(format!("{}: open the file with `//!` and its purpose", shown(&file)));
        }
        let production = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        let is_test = file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs");
        if production > FILE_LINES_MAX && !is_test {
            faults.push(format!(
                "{}: {production} lines before its tests; at most {FILE_LINES_MAX}: one concept a file",
                shown(&file)
            ));
        }
    }
    fail_if_any(&faults);
}

#[test]
fn nothing_is_unfinished_or_switched_off() {
    let mut faults = Vec::new();
    for file in files(&root(), ".rs") {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            for (start, end, instead) in BANNED {
                if line.contains(&format!("{start}{end}")) {
                    faults.push(format!("{}:{}: `{start}{end}`: {instead}", shown(&file), number + 1));
                }
            }
        }
    }
    fail_if_any(&faults);
}

#[test]
fn only_the_command_line_ends_the_process() {
    let mut faults = Vec::new();
    for file in files(&root().join("crates"), ".rs") {
        let place = shown(&file);
        if place.starts_with("crates/rowkey-cli/") || !place.contains("/src/") {
            continue;
        }
        if fs::read_to_string(&file).unwrap().contains("process::exit") {
            faults.push(format!("{place}: only rowkey-cli exits"));
        }
    }
    fail_if_any(&faults);
}

/// Links of the form `](path)` or `](path#part)`, without those to the web.
fn local_links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| {
            !link.contains("://") && !link.starts_with('#') && !link.is_empty() && !link.contains(' ')
        })
        .map(|link| link.split('#').next().unwrap_or(link).to_owned())
        .collect()
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut faults = Vec::new();
    for file in files(&root(), ".md") {
        for link in local_links(&fs::read_to_string(&file).unwrap()) {
            if !file.parent().unwrap().join(&link).exists() {
                faults.push(format!("{}: link to {link}, which does not exist", shown(&file)));
            }
        }
    }
    fail_if_any(&faults);
}

#[test]
fn the_map_is_short_and_names_every_crate() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() < 250, "ARCHITECTURE.md must stay under 250 lines");
    for (name, _) in EDGES {
        assert!(map.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name the crate `{name}`");
    }
    let mut faults = Vec::new();
    for word in map.split('`').skip(1).step_by(2) {
        let is_path = word.starts_with("crates/") || word.starts_with("docs/") || word.starts_with("fuzz/");
        if is_path && !word.contains(['*', '{', '<']) && !root().join(word).exists() {
            faults.push(format!("ARCHITECTURE.md names {word}, which does not exist"));
        }
    }
    fail_if_any(&faults);
}

/// Whether one side of each `OR` of an SPDX expression, and all sides of each `AND`, are allowed.
fn licence_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    expression.split(" AND ").all(|part| part.split(" OR ").any(|name| allowed.contains(&name.trim())))
}

#[test]
fn dependencies_carry_the_licences_that_deny_toml_allows() {
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allowed = deny["licenses"]["allow"].as_array().unwrap();
    let allowed: Vec<&str> = allowed.iter().filter_map(toml::Value::as_str).collect();
    // Not offline: crates of other systems are looked at as well, which a build has not fetched.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > EDGES.len());
    let mut faults = Vec::new();
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("");
        if !licence_allowed(licence, &allowed) {
            faults.push(format!("{}: licence {licence:?} is not in deny.toml", package["name"]));
        }
    }
    fail_if_any(&faults);
}

#[test]
fn licence_expressions_are_read_right() {
    let allowed = ["MIT", "Apache-2.0"];
    assert!(licence_allowed("MIT OR GPL-3.0", &allowed));
    assert!(licence_allowed("(MIT OR Apache-2.0) AND Apache-2.0", &allowed));
    assert!(!licence_allowed("MIT AND GPL-3.0", &allowed));
    assert!(!licence_allowed("", &allowed));
}
