//! The labelled samples: every expected rule is reported, no forbidden one as an error or a warning, the root cause comes first, and N_eff
//! is inside its interval. `ROWKEY_CORPUS` names another folder of cases to look at instead.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read is a failed test")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
use rowkey_hotspot::input;
use rowkey_hotspot::{Context, Declared, Diagnosis, Severity};
use serde_json::Value;

/// A case's label, as `case.toml` has it. Its values are strings, numbers and arrays, which JSON writes alike.
struct Label(Vec<(String, Value)>);

impl Label {
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("case.toml")).unwrap();
        let pairs = text.lines().filter_map(|line| line.split_once(" = "));
        Self(
            pairs
                .map(|(name, value)| (name.trim().to_owned(), serde_json::from_str(value).unwrap()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap()
    }

    fn list(&self, name: &str) -> Vec<&str> {
        self.get(name)
            .and_then(Value::as_array)
            .map_or(Vec::new(), |all| all.iter().map(|one| one.as_str().unwrap()).collect())
    }
}

fn examine(folder: &Path, label: &Label) -> Diagnosis {
    let declared = label.list("declared");
    let context = Context {
        nodes: u32::try_from(label.get("nodes").and_then(Value::as_u64).unwrap()).unwrap(),
        declared: Declared {
            bulk_load: declared.contains(&"bulk-load"),
            point_reads: declared.contains(&"point-reads"),
        },
        ..Context::default()
    };
    let mut doctor = Doctor::new(DoctorOptions { context, ..DoctorOptions::default() });
    let file = fs::File::open(folder.join(label.text("file"))).unwrap();
    let options = input::Options::default();
    let mut observe = |operation: &rowkey_hotspot::Operation<'_>| {
        doctor.observe(operation);
        ControlFlow::Continue(())
    };
    input::read(file, label.text("file"), &options, &mut observe, &mut |_| {}).unwrap();
    doctor.finish()
}

/// What is wrong with a diagnosis; empty: nothing.
fn faults(label: &Label, diagnosis: &Diagnosis) -> Vec<String> {
    let mut faults = Vec::new();
    for name in label.list("expected") {
        if !diagnosis.findings.iter().any(|finding| finding.rule.name() == name) {
            let why = diagnosis.passed.iter().find(|passed| passed.rule.name() == name);
            faults.push(format!("no {name}: {}", why.map_or("", |passed| &passed.why)));
        }
    }
    let forbidden = label.list("forbidden");
    let main = label.text("main");
    for finding in diagnosis.findings.iter().filter(|finding| finding.severity > Severity::Note) {
        if forbidden.contains(&finding.rule.name()) || main == "healthy" {
            faults.push(format!("{} {}: {}", finding.severity, finding.rule, finding.headline));
        }
    }
    if main != "healthy" {
        let first = diagnosis.findings.first().map_or("nothing", |finding| finding.rule.name());
        if first != main {
            faults.push(format!("first is {first}, not {main}"));
        }
    }
    if let Some([low, high]) = label.get("n_eff").and_then(Value::as_array).map(Vec::as_slice) {
        let n_eff = diagnosis.facts.writes.n_eff;
        if !(low.as_f64().unwrap()..=high.as_f64().unwrap()).contains(&n_eff) {
            faults.push(format!("N_eff {n_eff:.1}, not {low} to {high}"));
        }
    }
    faults
}

#[test]
fn every_labelled_sample_gets_its_diagnosis() {
    let folder = std::env::var_os("ROWKEY_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("SKIPPED: 30 labelled samples, because {} is missing", folder.display());
        return;
    };
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("case.toml").is_file()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let mut good = 0;
    let mut table = Vec::new();
    for case in &cases {
        let label = Label::read(case);
        let diagnosis = examine(case, &label);
        let faults = faults(&label, &diagnosis);
        if faults.is_empty() {
            good += 1;
            continue;
        }
        let found: Vec<String> = diagnosis
            .findings
            .iter()
            .map(|finding| format!("{} {}", finding.severity, finding.rule))
            .collect();
        table.push(format!("{} ({})\n  found: {}", label.text("id"), label.text("main"), found.join(", ")));
        table.extend(faults.into_iter().map(|fault| format!("  fault: {fault}")));
    }
    assert!(good == cases.len(), "{good} of {} right\n{}", cases.len(), table.join("\n"));
}
