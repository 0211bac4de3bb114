//! Read-modify-write, decided: which cells its rules come to. Pure; the engine reads and writes as one step.

use crate::select::StoredCell;
use crate::{ReadModifyWrite, Result, RowKey, TableConfig, Timestamp, check};
use bytes::Bytes;
use std::collections::BTreeMap;

/// The new cells of checked rules, one a column, in the order of a row. `newest` answers with the newest live cell of a column
/// (family index, qualifier): live, so that the answer does not depend on when garbage was collected. Later rules see earlier ones.
///
/// # Errors
///
/// `Conflict` for an increment of what is not 8 bytes, `Limit` for a value that grew too long, and those of `newest`.
pub fn new_cells(
    table: &str,
    config: &TableConfig,
    key: &RowKey,
    rules: &[ReadModifyWrite],
    timestamp: Timestamp,
    now_us: i64,
    mut newest: impl FnMut(usize, &Bytes) -> Result<Option<(i64, Bytes)>>,
) -> Result<Vec<StoredCell>> {
    check::read_modify_write(table, config, key, rules, timestamp)?;
    let timestamp_us = check::timestamp_us(timestamp, config.granularity, now_us);
    let mut changed: BTreeMap<(usize, Bytes), (i64, Bytes)> = BTreeMap::new();
    for rule in rules {
        let (ReadModifyWrite::Append { family, qualifier, .. }
        | ReadModifyWrite::Increment { family, qualifier, .. }) = rule;
        let column = (check::family_index(config, family)?, qualifier.clone());
        let before = match changed.get(&column) {
            Some(changed) => Some(changed.clone()),
            None => newest(column.0, qualifier)?,
        };
        let value: Bytes = match rule {
            ReadModifyWrite::Append { suffix, .. } => {
                let before = before.as_ref().map_or(&[][..], |(_, value)| value);
                check::new_value(table, key, family, qualifier, before.len() + suffix.len())?;
                [before, suffix].concat().into()
            }
            ReadModifyWrite::Increment { amount, .. } => {
                let number = match &before {
                    None => 0,
                    Some((_, value)) => match <[u8; 8]>::try_from(&value[..]) {
                        Ok(bytes) => i64::from_be_bytes(bytes),
                        Err(_) => return Err(check::no_counter(table, key, family, qualifier, value.len())),
                    },
                };
                number.wrapping_add(*amount).to_be_bytes().to_vec().into()
            }
        };
        let before_us = before.map_or(timestamp_us, |(before_us, _)| before_us);
        changed.insert(column, (timestamp_us.max(before_us), value));
    }
    let cells = changed.into_iter().map(|((family, qualifier), (timestamp_us, value))| StoredCell {
        family,
        qualifier,
        timestamp_us,
        value,
    });
    Ok(cells.collect())
}
