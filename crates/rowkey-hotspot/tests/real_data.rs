//! Real data under several key designs gets the verdict that a person would give. Each test says why.

#![expect(clippy::print_stderr, reason = "what is skipped is said loudly")]

use std::fs;
use std::path::Path;

use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
use rowkey_hotspot::{Context, Diagnosis, Operation, Severity};

/// Rows of a file of `../shared/data`, cut at commas; fields of interest hold none. Empty, and said loudly, where the file is missing.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("SKIPPED: 1 test on real data, because {} is missing", path.display());
        return Vec::new();
    };
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// `expected`: errors and warnings in their order, or `healthy`; rules in `also` may follow the first.
#[track_caller]
fn check(name: &str, nodes: u32, key: impl Fn(&[String]) -> String, expected: &str, also: &[&str]) {
    let rows = rows(name);
    if rows.is_empty() {
        return;
    }
    let context = Context { nodes, ..Context::default() };
    let mut doctor = Doctor::new(DoctorOptions { context, ..DoctorOptions::default() });
    for row in &rows {
        doctor.observe(&Operation::write(key(row).as_bytes()));
    }
    let diagnosis: Diagnosis = doctor.finish();
    let mut found: Vec<String> = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note)
        .map(|finding| format!("{} {}", finding.severity, finding.rule))
        .collect();
    let first = if found.is_empty() { "healthy".to_owned() } else { found.remove(0) };
    assert_eq!(first, expected, "{:#?}", diagnosis.findings);
    found.retain(|found| !also.iter().any(|also| found.ends_with(also)));
    assert!(found.is_empty(), "{found:?}: {:#?}", diagnosis.findings);
}

#[test]
fn telemetry_by_time_is_one_place() {
    // All sensors write to the end of the table.
    check("telemetry.csv", 10, |row| format!("{}#{}", row[0], row[2]), "error time-first", &[]);
}

#[test]
fn telemetry_by_sensor_has_as_many_places_as_sensors_are_alive() {
    // 47 sensors in four years, but only a few at a time: a cluster of two takes them, one of 40 does not.
    check("telemetry.csv", 2, |row| format!("{}#{}", row[2], row[0]), "healthy", &[]);
    check("telemetry.csv", 40, |row| format!("{}#{}", row[2], row[0]), "error monotone-suffix", &[]);
}

#[test]
fn telemetry_by_reversed_time_is_one_place_as_well() {
    let key = |row: &[String]| {
        let digits: u64 = row[0]
            .bytes()
            .filter(u8::is_ascii_digit)
            .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        format!("{:014}#{}", 99_999_999_999_999 - digits, row[2])
    };
    check("telemetry.csv", 10, key, "error sequential-id", &["time-first"]);
}

#[test]
fn telemetry_in_sixteen_buckets_is_carried_by_ten_nodes_but_not_by_forty() {
    // The bucket comes from sensor and time, so that it is even.
    let key = |row: &[String]| {
        let sum = row[0]
            .bytes()
            .chain(row[2].bytes())
            .fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        format!("{:02}#{}#{}", (sum >> 8) % 16, row[0], row[2])
    };
    check("telemetry.csv", 10, key, "healthy", &[]);
    check("telemetry.csv", 40, key, "error too-few-buckets", &[]);
}

#[test]
fn requests_by_time_are_one_place() {
    check("access.csv", 6, |row| format!("{}|{}", row[0], row[1]), "error time-first", &[]);
}

#[test]
fn requests_by_client_are_spread() {
    // The busiest client has under 5 % of the requests, less than one node of six takes.
    check(
        "access.csv",
        6,
        |row| format!("{}#{}", row[1], row[0]),
        "healthy",
        &["delimiter-in-data", "rewritten-row"],
    );
}

#[test]
fn requests_by_path_rewrite_the_rows_of_favourite_paths() {
    // The path is the whole key: the most frequent ones, such as the site's icon, are written again and again.
    check(
        "access.csv",
        6,
        |row| row[3].clone(),
        "warning rewritten-row",
        &["delimiter-in-data", "mixed-formats"],
    );
}
