//! Checks of requests, before anything is written: every engine calls these, so all refuse the same with the same words.
//!
//! Words that clients' tests look for ("No mutations provided", "Row keys must be non-empty",
//! "Requested column family not found") are Bigtable's own.

mod mutation;
mod read;
mod table;

pub use mutation::{check_and_mutate, mutate_rows, read_modify_write, row_mutation, timestamp_us};
pub(crate) use mutation::{new_value, no_counter};
pub use read::{filter, read_request};
pub use table::{
    FamilyPlan, annotation, drop_scope, drop_table, family_changes, new_name, new_table, protected,
    split_point, table_exists, table_missing,
};

use crate::escape::escaped;
use crate::limits::ROW_KEY_BYTES_MAX;
use crate::{Error, ErrorKind, Result, TableConfig};

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn limit(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Limit, message)
}

/// A key for a message: escaped, and cut if it is long.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 100;
    match bytes.get(..SHOWN_BYTES_MAX) {
        Some(head) if bytes.len() > SHOWN_BYTES_MAX => format!("{}...", escaped(head)),
        _ => escaped(bytes).to_string(),
    }
}

/// Refuses empty and too long row keys.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn row_key(table: &str, key: &[u8]) -> Result<()> {
    if key.is_empty() {
        return Err(invalid(format!("Row keys must be non-empty (table `{table}`)")));
    }
    if key.len() > ROW_KEY_BYTES_MAX {
        return Err(limit(format!(
            "row key `{}` of table `{table}` has {} bytes; the limit is {ROW_KEY_BYTES_MAX}: shorten it",
            shown(key),
            key.len()
        )));
    }
    Ok(())
}

/// The index of a family in the table's design, which is the place of its cells in a row.
///
/// # Errors
///
/// `NotFound`; the caller adds what it was doing.
pub fn family_index(config: &TableConfig, family: &str) -> Result<usize> {
    config.families.iter().position(|known| known.name == family).ok_or_else(|| {
        let known: Vec<&str> = config.families.iter().map(|family| family.name.as_str()).collect();
        let known = if known.is_empty() {
            "the table has no families yet".to_owned()
        } else {
            format!("the table has: {}", known.join(", "))
        };
        Error::new(ErrorKind::NotFound, format!("Requested column family not found: `{family}`; {known}"))
    })
}

#[cfg(test)]
mod tests;
