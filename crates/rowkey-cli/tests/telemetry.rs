//! Real input under three keys: time first, sensor first, salted with reversed time. The same questions must give the same rows,
//! equal to what `telemetry/answers.py` computes without Rowkey (`telemetry/answers.txt`).
//!
//! The input, `telemetry.csv`, is not part of the repository: it is looked for in the folder `ROWKEY_TEST_DATA`, then in
//! `../shared/data` next to the workspace.

#![expect(clippy::unwrap_used, reason = "a test that cannot run its commands has failed")]

use md5::{Digest as _, Md5};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

const ANSWERS: &str = include_str!("telemetry/answers.txt");
const DAY: &str = "time >= 2014-04-11 and time < 2014-04-12";

/// A reading: sensor, time, group, value.
type Reading = [String; 4];

struct Design {
    name: &'static str,
    /// The `[key]` part of the schema.
    key: &'static str,
    /// The text of `answers.txt` that has all rows in this key's order.
    order: &'static str,
    day_order: &'static str,
    /// Whether the newest reading of a sensor comes first.
    newest_first: bool,
}

const DESIGNS: [Design; 3] = [
    Design {
        name: "time-first",
        key: "[key]\nlayout = \"{time}#{sensor}\"\n[key.fields]\ntime = { type = \"timestamp\", format = \"iso-basic\" }\n\
              sensor = { type = \"string\" }\n",
        order: "all-by-time",
        day_order: "one-day-by-time",
        newest_first: false,
    },
    Design {
        name: "sensor-first",
        key: "[key]\nlayout = \"{sensor}#{time}\"\n[key.fields]\nsensor = { type = \"string\" }\n\
              time = { type = \"timestamp\", unit = \"s\", digits = 10 }\n",
        order: "all-by-sensor",
        day_order: "one-day",
        newest_first: false,
    },
    Design {
        name: "salted",
        key: "[key]\nlayout = \"{salt}#{sensor}#{time}\"\n[key.salt]\nof = [\"sensor\"]\nbuckets = 16\n[key.fields]\n\
              sensor = { type = \"string\" }\ntime = { type = \"timestamp\", unit = \"s\", digits = 10, order = \"desc\" }\n",
        order: "all-newest-first",
        day_order: "",
        newest_first: true,
    },
];

#[test]
fn three_keys_give_the_answers_of_a_program_without_keys() {
    let Some(input) = input() else {
        // Not by `eprintln`, which the test harness hides.
        let message =
            "SKIPPED 3 designs: there is no telemetry.csv; set ROWKEY_TEST_DATA to the folder that has it";
        writeln!(std::io::stderr(), "{message}").unwrap();
        return;
    };
    let runs: Vec<_> = DESIGNS
        .into_iter()
        .map(|design| {
            let input = input.clone();
            thread::spawn(move || check(&design, &input))
        })
        .collect();
    for run in runs {
        run.join().unwrap();
    }
}

fn input() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folders = env::var_os("ROWKEY_TEST_DATA").map(PathBuf::from).into_iter().chain([beside]);
    folders.map(|folder| folder.join("telemetry.csv")).find(|file| file.exists())
}

fn check(design: &Design, input: &Path) {
    let name = design.name;
    let folder = tempfile::tempdir().unwrap();
    let families = "[families]\nreading = { gc = \"maxversions=1\" }\n";
    let schema = format!("version = 1\ntable = \"telemetry\"\n{}{families}", design.key);
    fs::write(folder.path().join("s.toml"), schema).unwrap();
    rowkey(folder.path(), &["table", "create", "--schema", "s.toml"]);
    check_import(name, folder.path(), input);

    let scan = |arguments: &[&str]| {
        let columns = ["--format", "csv", "--columns", "reading:group,reading:value"];
        let printed = rowkey(folder.path(), &[&["scan", "telemetry"], arguments, &columns].concat());
        readings(&printed)
    };
    let all = scan(&["--full-scan"]);
    check_text(name, design.order, &all);
    let mut sorted = all.clone();
    sorted.sort();
    check_text(name, "all-by-sensor", &sorted);
    let exported = rowkey(folder.path(), &["export", "telemetry", "--format", "csv"]);
    check_text(name, design.order, &readings(&exported));

    let mut day = scan(&["--full-scan", "--where", DAY]);
    if !design.day_order.is_empty() {
        check_text(name, design.day_order, &day);
    }
    day.sort();
    check_text(name, "one-day", &day);

    check_text(name, "last-ten", &last_ten(design, &all, &scan));
}

/// The last ten readings of each sensor, newest first.
fn last_ten(design: &Design, all: &[Reading], scan: &dyn Fn(&[&str]) -> Vec<Reading>) -> Vec<Reading> {
    let sensors: BTreeSet<&str> = all.iter().map(|reading| reading[0].as_str()).collect();
    assert_eq!(sensors.len(), count("sensors"), "{}", design.name);
    if design.order == "all-by-time" {
        // With the time in front there is no range for a sensor: one scan backwards answers for all of them, 47 would take a minute.
        let mut of_sensor: BTreeMap<String, Vec<Reading>> = BTreeMap::new();
        for reading in scan(&["--full-scan", "--reverse"]) {
            let readings = of_sensor.entry(reading[0].clone()).or_default();
            if readings.len() < 10 {
                readings.push(reading);
            }
        }
        return of_sensor.into_values().flatten().collect();
    }
    let direction: &[&str] = if design.newest_first { &[] } else { &["--reverse"] };
    let ask = |sensor: &&str| {
        let condition = format!("sensor = '{sensor}'");
        scan(&[&["--limit", "10", "--where", &condition], direction].concat())
    };
    sensors.iter().flat_map(ask).collect()
}

/// Every line read is a row stored or a duplicate counted.
fn check_import(name: &str, folder: &Path, input: &Path) {
    let input = input.to_str().unwrap();
    let maps = ["--map", "group=reading:group", "--map", "value=reading:value"];
    let options = ["--on-duplicate", "overwrite", "--durability", "buffered", "--format", "json"];
    let printed = rowkey(folder, &[&["import", "telemetry", input], &maps[..], &options].concat());
    let summary: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let counted =
        |what: &str| summary[what].as_u64().unwrap_or_else(|| panic!("{name}: no {what} in {summary}"));
    assert_eq!(counted("rows_read"), count("read") as u64, "{name}: {summary}");
    assert_eq!(counted("rows_written"), count("distinct") as u64, "{name}: {summary}");
    assert_eq!(counted("duplicates_overwritten"), count("surplus") as u64, "{name}: {summary}");
    assert_eq!(counted("rows_rejected"), 0, "{name}: {summary}");
}

/// Runs the binary in `folder` and answers its stdout.
fn rowkey(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rowkey"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("ROWKEY_STORE")
        .env_remove("ROWKEY_RECORD")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Reads CSV whose columns are named after fields or `family:qualifier`, in any order. No value of this input is quoted.
fn readings(csv: &str) -> Vec<Reading> {
    let mut lines = csv.lines();
    let header: BTreeMap<&str, usize> =
        lines.next().unwrap().split(',').enumerate().map(|(at, name)| (name, at)).collect();
    let places = ["sensor", "time", "reading:group", "reading:value"].map(|name| header[name]);
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            places.map(|place| fields[place].to_owned())
        })
        .collect()
}

/// Compares rows with a text of `answers.txt`: number of lines, digest, first lines.
fn check_text(design: &str, text: &str, rows: &[Reading]) {
    let mut canonical = String::new();
    for row in rows {
        writeln!(canonical, "{}", row.join(",")).unwrap();
    }
    let digest: String = Md5::digest(canonical.as_bytes()).iter().fold(String::new(), |mut digest, byte| {
        write!(digest, "{byte:02x}").unwrap();
        digest
    });
    let first: Vec<&str> = canonical.lines().take(3).collect();
    let wanted = format!("text {text} ");
    let at = ANSWERS.lines().position(|line| line.starts_with(&wanted)).unwrap();
    let expected: Vec<&str> = ANSWERS.lines().skip(at + 1).take(3).map(str::trim).collect();
    assert_eq!(first, expected, "{design}: {text} begins with other rows");
    let line = ANSWERS.lines().nth(at).unwrap();
    assert_eq!(format!("text {text} {} {digest}", rows.len()), line, "{design}: {text}");
}

fn count(what: &str) -> usize {
    let prefix = format!("count {what} ");
    ANSWERS.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
}
