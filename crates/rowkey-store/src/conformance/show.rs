//! What commands print.

use crate::escape::escaped;
use crate::{GarbageReport, Granularity, KeySample, Row, RowRange, TableConfig, TabletInfo, ValueType, gc};
use std::fmt::Write as _;

/// Bytes as one word that can be read back.
pub(crate) fn word(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 200;
    if bytes.is_empty() {
        return "\"\"".to_owned();
    }
    let text = escaped(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)]).to_string().replace(' ', "\\x20");
    if bytes.len() > SHOWN_BYTES_MAX { format!("{text}...({} bytes)", bytes.len()) } else { text }
}

pub(super) fn time(time_us: i64) -> String {
    match time_us {
        0 => "0".to_owned(),
        i64::MAX => "max".to_owned(),
        _ if time_us % 1_000_000 == 0 => format!("{}s", time_us / 1_000_000),
        _ if time_us % 1000 == 0 => format!("{}ms", time_us / 1000),
        _ => format!("{time_us}us"),
    }
}

pub(crate) fn rows(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "(no rows)\n".to_owned();
    }
    let mut out = String::new();
    for row in rows {
        let _ = writeln!(out, "{}", word(&row.key));
        for cell in &row.cells {
            let qualifier = word(&cell.qualifier);
            let (time, value) = (time(cell.timestamp_us), word(&cell.value));
            let _ = write!(out, "  {}:{qualifier} @{time} = {value}", cell.family);
            for label in &cell.labels {
                let _ = write!(out, " ({label})");
            }
            out.push('\n');
        }
    }
    out
}

fn range(range: &RowRange) -> String {
    let end = |key: &[u8]| if key.is_empty() { String::new() } else { word(key) };
    let bracket = if range.end.is_some() { ')' } else { ']' };
    format!("[{}..{}{bracket}", end(&range.start), end(range.end.as_deref().unwrap_or_default()))
}

pub(super) fn tablets(tablets: &[TabletInfo]) -> String {
    let line = |tablet: &TabletInfo| {
        format!("{} rows read {}, writes {}\n", range(&tablet.range), tablet.rows_read, tablet.writes)
    };
    tablets.iter().map(line).collect()
}

pub(super) fn samples(samples: &[KeySample]) -> String {
    samples.iter().map(|sample| word(&sample.key) + "\n").collect()
}

pub(super) fn garbage(reports: &[GarbageReport]) -> String {
    let line = |report: &GarbageReport| {
        format!("{}: live {}, expired {}\n", report.family, report.live_cells, report.expired_cells)
    };
    reports.iter().map(line).collect()
}

pub(super) fn config(config: &TableConfig) -> String {
    let mut out = String::new();
    for family in &config.families {
        let values = match family.value_type {
            ValueType::Bytes => "",
            ValueType::IntSum => ", sum",
            ValueType::IntMin => ", min",
            ValueType::IntMax => ", max",
        };
        let rule = gc::format_rule(family.gc_rule.as_ref());
        let _ = writeln!(out, "family {}: {rule}{values}", family.name);
    }
    if config.granularity == Granularity::Micros {
        out.push_str("granularity: micros\n");
    }
    for point in &config.split_points {
        let _ = writeln!(out, "split at {}", word(point));
    }
    if config.deletion_protection {
        out.push_str("protected\n");
    }
    for (name, content) in &config.annotations {
        let _ = writeln!(out, "annotation {name} = {}", word(content));
    }
    if out.is_empty() { "(nothing)\n".to_owned() } else { out }
}
