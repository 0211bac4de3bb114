//! The text of a description: an aligned table, then sentences.

use super::{Description, PartDescription, QueryDescription};
use crate::key::{ROW_KEY_BYTES_MAX_BIGTABLE, ROW_KEY_BYTES_MAX_HBASE};
use crate::schema::Width;
use std::fmt;

/// Characters of a cell of the table.
const CELL_SHOWN: usize = 64;

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl Description {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("table        {}", self.table), format!("layout       {}", self.layout)];
        lines.extend(self.example.iter().map(|key| format!("example      {key}")));
        lines.push(format!("fingerprint  {}", self.fingerprint));
        lines.push(String::new());
        lines.extend(self.table_lines());
        lines.push(String::new());
        lines.push(self.order.clone());
        lines.push(self.length_sentence());
        if self.salt_bytes_per_million_rows > 0 {
            let bytes = grouped(self.salt_bytes_per_million_rows);
            lines.push(format!("The salt takes {bytes} bytes for a million rows."));
        }
        if !self.queries.is_empty() {
            lines.extend([String::new(), "queries".to_owned()]);
        }
        for query in &self.queries {
            lines.push(format!("  {}: {}", query.name, query.bound));
            let is_salted = self.parts.first().is_some_and(|part| part.name == "salt");
            lines.push(format!("    {}", query_sentence(query, is_salted)));
        }
        if !self.warnings.is_empty() {
            lines.extend([String::new(), "warnings".to_owned()]);
        }
        lines.extend(self.warnings.iter().map(|warning| format!("  {warning}")));
        lines
    }

    fn table_lines(&self) -> Vec<String> {
        let head = ["at", "bytes", "part", "type", "example", "value"].map(str::to_owned);
        let rows: Vec<[String; 6]> = std::iter::once(head).chain(self.parts.iter().map(row)).collect();
        let mut widths = [0; 6];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let line = |row: &[String; 6]| {
            let cells = row.iter().zip(widths).zip(0..).map(|((cell, width), column)| match column {
                // Numbers stand to the right.
                0 | 1 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        rows.iter().map(line).collect()
    }

    fn length_sentence(&self) -> String {
        let Width { min, max } = self.key_width;
        let limits = format!("Bigtable takes {ROW_KEY_BYTES_MAX_BIGTABLE}, HBase {ROW_KEY_BYTES_MAX_HBASE}");
        match max {
            Some(1) if min == 1 => format!("Keys have 1 byte; {limits}."),
            Some(max) if max == min => format!("Keys have {min} bytes; {limits}."),
            Some(max) => format!("Keys have {min} to {max} bytes; {limits}."),
            None => {
                let endless: Vec<&str> = self
                    .parts
                    .iter()
                    .filter(|part| part.width.max.is_none())
                    .map(|part| part.name.as_str())
                    .collect();
                let verb = if endless.len() == 1 { "has" } else { "have" };
                format!(
                    "Keys have at least {min} bytes; {} {verb} no limit, so the store's counts: {limits}.",
                    endless.join(" and ")
                )
            }
        }
    }
}

fn row(part: &PartDescription) -> [String; 6] {
    let width = match part.width {
        Width { min, max: Some(max) } if min == max => min.to_string(),
        Width { min, max: Some(max) } => format!("{min}-{max}"),
        Width { min, max: None } => format!("{min}+"),
    };
    [
        part.offset.map_or_else(|| "..".to_owned(), |offset| offset.to_string()),
        width,
        part.name.clone(),
        shortened(&part.kind),
        shortened(&part.example),
        shortened(&part.value),
    ]
}

/// One field of 4,096 bytes would push every line of the table out of sight.
fn shortened(cell: &str) -> String {
    match cell.char_indices().nth(CELL_SHOWN) {
        Some((end, _)) => format!("{}...", &cell[..end]),
        None => cell.to_owned(),
    }
}

fn query_sentence(query: &QueryDescription, is_salted: bool) -> String {
    let buckets = match query.buckets {
        Some(_) if !is_salted => "reads the table".to_owned(),
        Some(1) => "reads one bucket".to_owned(),
        Some(buckets) => format!("reads {buckets} buckets"),
        None => "reads the whole table, since the hash is not known".to_owned(),
    };
    let cut = match query.cut_by.as_slice() {
        [] => "from beginning to end".to_owned(),
        fields => format!("cut by {}", fields.join(", ")),
    };
    let tried = match query.tried.as_slice() {
        [] => String::new(),
        fields => format!("; each value of {} tried", fields.join(" and ")),
    };
    let checked = match query.checked.as_slice() {
        [] => String::new(),
        fields => format!("; {} checked row by row", fields.join(", ")),
    };
    format!("{buckets}, {cut}{tried}{checked}")
}

/// 2000000 as `2,000,000`.
pub(in crate::schema) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
