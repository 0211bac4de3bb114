//! The labelled samples of `../shared/corpus`: N_eff lies in the interval of every case.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::spread_of;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

/// Undoes the escapes of `keys.txt`.
fn unescaped(line: &str) -> Vec<u8> {
    rowkey::escape::unescape(line).unwrap()
}

/// The keys written, in order of arrival.
fn written(folder: &Path) -> Vec<Vec<u8>> {
    if let Ok(text) = fs::read_to_string(folder.join("keys.txt")) {
        return text.lines().map(unescaped).collect();
    }
    let text = fs::read_to_string(folder.join("ops.jsonl")).unwrap();
    let operations = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    operations
        .filter(|operation| operation["op"] == "write")
        .map(|operation| unescaped(operation["key"].as_str().unwrap()))
        .collect()
}

/// The interval `n_eff = [low, high]` of a case.
fn interval(folder: &Path) -> Option<(f64, f64)> {
    let text = fs::read_to_string(folder.join("case.toml")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("n_eff = ["))?;
    let (low, high) = line.strip_suffix(']').unwrap().split_once(", ").unwrap();
    Some((low.parse().unwrap(), high.parse().unwrap()))
}

#[test]
fn n_eff_lies_in_the_interval_of_every_labelled_sample() {
    let Ok(entries) = fs::read_dir(corpus()) else {
        eprintln!("SKIPPED: 30 cases, {} is missing", corpus().display());
        return;
    };
    let folders: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    let mut checked = 0;
    let mut outside = Vec::new();
    for folder in folders {
        let Some((low, high)) = interval(&folder) else { continue };
        let keys = written(&folder);
        let n_eff = spread_of(keys.iter().map(Vec::as_slice), 1_000, 256).n_eff;
        checked += 1;
        if !(low..=high).contains(&n_eff) {
            outside.push(format!("{}: {n_eff:.1} is not in {low} to {high}", folder.display()));
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
    assert!(checked >= 30, "only {checked} cases have an interval");
}
