//! Real input: one file under three keys gives the same logical rows in the same order.
//!
//! `ROWKEY_TEST_DATA` names the folder of `telemetry.csv` (its default is `../shared/data` beside the repository); without it the test
//! says that it was skipped. With `ROWKEY_PRINT_ANSWERS=FILE`, the canonical answers are written there, for comparison with an
//! independent program:
//!
//! ```text
//! # one day of all sensors: 2014-04-02       then lines sensor,time,group,value by sensor and time, duplicates in the order of the file
//! # last ten of each sensor                  the same, by sensor, newest first
//! # all                                      the same order as above: only the number of lines and the CRC-32 of all, each with its end
//! ```

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use rowkey::query::Query;
use rowkey::{KeySchema, Value};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Clock, Durability, Engine, ManualClock};
use rowkey_table::export::ExportFormat;
use rowkey_table::import::{ImportHooks, ImportOptions, InputFormat, Mapping};
use rowkey_table::{CreateOptions, KeyedRow, KeyedTable, ScanRequest};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

const DAY: &str = "2014-04-02";
const DAY_AFTER: &str = "2014-04-03";

/// Key part of each schema, and whether newer rows of a sensor come first.
const DESIGNS: [(&str, &str, bool); 3] = [
    (
        "time first",
        "[key]\nlayout = \"{time}#{sensor}\"\n[key.fields]\n\
         time = { type = \"timestamp\", unit = \"s\", format = \"iso-basic\" }\nsensor = { type = \"string\" }\n",
        false,
    ),
    (
        "sensor first",
        "[key]\nlayout = \"{sensor}#{time}\"\n[key.fields]\n\
         sensor = { type = \"string\" }\ntime = { type = \"timestamp\", unit = \"s\", digits = 10 }\n",
        false,
    ),
    (
        "salted, reversed time",
        "[key]\nlayout = \"{salt}#{sensor}#{time}\"\n[key.salt]\nof = [\"sensor\"]\nbuckets = 16\nhash = \"xxh3\"\n[key.fields]\n\
         sensor = { type = \"string\" }\ntime = { type = \"timestamp\", unit = \"s\", digits = 10, order = \"desc\" }\n",
        true,
    ),
];

/// Sensor, time, group, value.
type Line = [String; 4];

fn load(key: &str, path: &Path) -> KeyedTable {
    let schema =
        KeySchema::parse(&format!("version = 1\ntable = \"telemetry\"\n{key}[families]\nm = {{}}\n"))
            .unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(1_700_000_000_000_000));
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new(Arc::clone(&clock)));
    let table = KeyedTable::create(engine, clock, schema, &CreateOptions::default()).unwrap();
    let options = ImportOptions { durability: Durability::Buffered, ..ImportOptions::default() };
    let file = File::open(path).unwrap();
    let format = InputFormat::Csv { delimiter: b',' };
    let report = table.import(file, format, &Mapping::default(), &options, ImportHooks::default()).unwrap();
    assert_eq!(report.rows_read, 321_206);
    assert_eq!((report.rows_written, report.duplicates_kept, report.rejected()), (321_157, 49, 0));
    assert_eq!(report.cells_written, 2 * 321_206);
    assert_eq!(report.bytes_read, path.metadata().unwrap().len());
    assert!(report.adds_up());
    table
}

/// The lines of a row: one for each version, the oldest first.
fn lines(table: &KeyedTable, row: &KeyedRow) -> Vec<Line> {
    let field = |name: &str| {
        let index = table.schema().field_index(name).unwrap();
        table.codec().format_value(index, &row.values[index])
    };
    let versions = |qualifier: &'static str| {
        let versions = row.cells.iter().filter(move |cell| cell.qualifier == qualifier);
        versions.map(|cell| String::from_utf8(cell.value.to_vec()).unwrap())
    };
    let mut lines: Vec<Line> = versions("group")
        .zip(versions("value"))
        .map(|(group, value)| [field("sensor"), field("time"), group, value])
        .collect();
    lines.reverse();
    lines
}

fn scan(table: &KeyedTable, request: &ScanRequest) -> Vec<Line> {
    table.scan(request).unwrap().flat_map(|row| lines(table, &row.unwrap())).collect()
}

/// Sorted by sensor and time. Stable, so that versions stay in their order.
fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by(|a, b| a[..2].cmp(&b[..2]));
    lines
}

/// The ten newest rows of a sensor, the newest first.
fn last_ten(table: &KeyedTable, sensor: &str, newest_first: bool) -> Vec<Line> {
    let query = Query::new().equal("sensor", Value::from(sensor)).full_scan();
    let mut request = ScanRequest::new(query);
    (request.reversed, request.rows_max) = (!newest_first, Some(10));
    scan(table, &request)
}

/// The same of all sensors, from one scan that goes back in time.
fn last_ten_of_all(table: &KeyedTable, sensors: &[String]) -> Vec<Line> {
    let mut found: BTreeMap<String, (u32, Vec<Line>)> = BTreeMap::new();
    let request = ScanRequest { reversed: true, ..ScanRequest::new(Query::new().full_scan()) };
    for row in table.scan(&request).unwrap() {
        let lines = lines(table, &row.unwrap());
        let (rows, kept) = found.entry(lines[0][0].clone()).or_default();
        if *rows < 10 {
            *rows += 1;
            kept.extend(lines);
        }
    }
    sensors.iter().flat_map(|sensor| found.remove(sensor).unwrap_or_default().1).collect()
}

#[derive(Debug, PartialEq)]
struct Answers {
    day: Vec<Line>,
    last_ten: Vec<Line>,
    all: Vec<Line>,
}

impl Answers {
    fn of(table: &KeyedTable, newest_first: bool) -> Self {
        let query = format!("time >= {DAY} and time < {DAY_AFTER}");
        // Over a key that begins with the sensor, this reads all rows and checks their times.
        let query = Query::parse(table.codec(), &query).unwrap().full_scan();
        let day = sorted(scan(table, &ScanRequest::new(query)));
        let everything = ScanRequest::new(Query::new().full_scan());
        let all = sorted(scan(table, &everything));
        let sensors = sensors(&all);
        let last_ten = if table.schema().field_index("time") == Some(0) {
            // A query for one sensor reads most of the table under this key: a few of them, and one scan for all.
            let last_ten = last_ten_of_all(table, &sensors);
            for sensor in sensors.iter().step_by(16) {
                let of_sensor: Vec<Line> =
                    last_ten.iter().filter(|line| line[0] == *sensor).cloned().collect();
                assert!(self::last_ten(table, sensor, newest_first) == of_sensor, "{sensor}");
            }
            last_ten
        } else {
            sensors.iter().flat_map(|sensor| last_ten(table, sensor, newest_first)).collect()
        };
        Self { day, last_ten, all }
    }

    /// The same from the file, without any of the code under test.
    fn of_file(path: &Path) -> Self {
        let mut all = Vec::new();
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().skip(1) {
            let [time, group, sensor, value] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            all.push([sensor, time, group, value].map(str::to_owned));
        }
        let all = sorted(all);
        let day = all.iter().filter(|line| line[1].starts_with(DAY)).cloned().collect();
        let mut last_ten = Vec::new();
        for sensor in sensors(&all) {
            let mut by_time: BTreeMap<&str, Vec<Line>> = BTreeMap::new();
            for line in all.iter().filter(|line| line[0] == sensor) {
                by_time.entry(&line[1]).or_default().push(line.clone());
            }
            last_ten.extend(by_time.into_values().rev().take(10).flatten());
        }
        Self { day, last_ten, all }
    }

    /// What an independent program must print as well.
    fn canonical(&self) -> String {
        let mut text = format!("# one day of all sensors: {DAY}\n");
        let join =
            |lines: &[Line]| lines.iter().fold(String::new(), |text, line| text + &line.join(",") + "\n");
        text += &join(&self.day);
        text += "# last ten of each sensor\n";
        text += &join(&self.last_ten);
        let mut crc = flate2::Crc::new();
        crc.update(join(&self.all).as_bytes());
        writeln!(text, "# all\n{} lines, CRC-32 {:08x}", self.all.len(), crc.sum()).unwrap();
        text
    }
}

fn sensors(lines: &[Line]) -> Vec<String> {
    let mut sensors: Vec<String> = lines.iter().map(|line| line[0].clone()).collect();
    sensors.dedup();
    sensors
}

/// The rows of a full export, in the order of the file that is written.
fn exported(table: &KeyedTable) -> Vec<Line> {
    let mut out = Vec::new();
    let columns = Some(vec![("m".to_owned(), "group".into()), ("m".to_owned(), "value".into())]);
    let format = ExportFormat::Csv { delimiter: b',', columns };
    let request = ScanRequest::new(Query::new().full_scan());
    let report = table.export(&mut out, &format, &request, None).unwrap();
    assert_eq!((report.rows, report.versions_omitted, report.cells_omitted), (321_157, 2 * 49, 0));
    let (sensor, time) =
        (table.schema().field_index("sensor").unwrap(), table.schema().field_index("time").unwrap());
    let text = String::from_utf8(out).unwrap();
    let line = |line: &str| {
        let parts: Vec<&str> = line.split(',').collect();
        [parts[sensor], parts[time], parts[2], parts[3]].map(str::to_owned)
    };
    text.lines().skip(1).map(line).collect()
}

#[test]
fn three_keys_give_the_same_rows() {
    let Some(path) = common::data_file("telemetry.csv") else { return };
    let expected = Answers::of_file(&path);
    assert_eq!(expected.all.len(), 321_206);
    if let Some(file) = std::env::var_os("ROWKEY_PRINT_ANSWERS") {
        std::fs::write(file, expected.canonical()).unwrap();
    }
    for (name, key, newest_first) in DESIGNS {
        let table = load(key, &path);
        let answers = Answers::of(&table, newest_first);
        assert!(answers.day == expected.day, "{name}: one day of all sensors");
        assert!(answers.last_ten == expected.last_ten, "{name}: last ten of each sensor");
        assert!(answers.all == expected.all, "{name}: all");
        assert_eq!(answers.canonical(), expected.canonical());
        let exported = exported(&table);
        let mut newest = expected.all.clone();
        // CSV has the newest version alone: the last of each sensor and time.
        newest.reverse();
        newest.dedup_by(|later, kept| later[..2] == kept[..2]);
        newest.reverse();
        assert!(exported.is_sorted_by(|a, b| order(name, a) < order(name, b)), "{name}: order of the export");
        assert!(sorted(exported) == newest, "{name}: export");
    }
}

/// What the logical order of a design sorts by.
fn order(name: &str, line: &Line) -> (String, String) {
    let [sensor, time, ..] = line.clone();
    match name {
        "time first" => (time, sensor),
        "sensor first" => (sensor, time),
        // Digits are complemented, so that later times sort first.
        _ => (sensor, time.bytes().map(|byte| char::from(b'0' + b'9' - byte.clamp(b'0', b'9'))).collect()),
    }
}
