//! Checks of writes.

use super::{family_index, invalid, limit, row_key, shown};
use crate::limits::{MUTATIONS_MAX, QUALIFIER_BYTES_MAX, VALUE_BYTES_MAX};
use crate::{
    CheckAndMutate, Error, ErrorKind, Granularity, Mutation, ReadModifyWrite, Result, RowMutation,
    TableConfig, Timestamp, aggregate,
};

/// The time of a new cell in microseconds: the server's cut to the granularity.
pub fn timestamp_us(timestamp: Timestamp, granularity: Granularity, now_us: i64) -> i64 {
    match (timestamp, granularity) {
        (Timestamp::Micros(time_us), _) => time_us,
        (Timestamp::Server, Granularity::Millis) => now_us - now_us.rem_euclid(1000),
        (Timestamp::Server, Granularity::Micros) => now_us,
    }
}

/// Checks what concerns a request of several rows as a whole; the rows are checked one by one with [`row_mutation`].
///
/// # Errors
///
/// `Limit`.
pub fn mutate_rows(table: &str, rows: &[RowMutation]) -> Result<()> {
    let total: usize = rows.iter().map(|row| row.mutations.len()).sum();
    if rows.len() > 1 && total > MUTATIONS_MAX {
        return Err(limit(format!(
            "{total} mutations for {} rows of table `{table}` in one request; the limit is {MUTATIONS_MAX}: send fewer rows at once",
            rows.len()
        )));
    }
    Ok(())
}

/// Checks the mutations of one row.
///
/// # Errors
///
/// `Invalid` (also for a step that does not fit the type of its family), `Limit`, `NotFound` (family).
pub fn row_mutation(table: &str, config: &TableConfig, row: &RowMutation) -> Result<()> {
    row_key(table, &row.key)?;
    let in_row = |error: Error| in_row(table, &row.key, error);
    if row.mutations.is_empty() {
        return Err(in_row(invalid("No mutations provided")));
    }
    mutations(config, &row.mutations).map_err(in_row)
}

/// Checks a conditional write.
///
/// # Errors
///
/// As [`row_mutation`], and those of the predicate.
pub fn check_and_mutate(table: &str, config: &TableConfig, request: &CheckAndMutate) -> Result<()> {
    row_key(table, &request.key)?;
    let in_row = |error: Error| in_row(table, &request.key, error);
    if request.then.is_empty() && request.otherwise.is_empty() {
        return Err(in_row(invalid("No mutations provided")));
    }
    super::read::columns(config, &request.columns).map_err(in_row)?;
    request.predicate.as_ref().map_or(Ok(()), super::filter).map_err(in_row)?;
    mutations(config, &request.then).map_err(in_row)?;
    mutations(config, &request.otherwise).map_err(in_row)
}

/// Checks a read-modify-write.
///
/// # Errors
///
/// As [`row_mutation`].
pub fn read_modify_write(
    table: &str,
    config: &TableConfig,
    key: &[u8],
    rules: &[ReadModifyWrite],
    timestamp: Timestamp,
) -> Result<()> {
    row_key(table, key)?;
    let in_row = |error: Error| in_row(table, key, error);
    if rules.is_empty() {
        return Err(in_row(invalid("No rules provided")));
    }
    count(rules.len()).map_err(in_row)?;
    new_time(config, timestamp).map_err(in_row)?;
    for rule in rules {
        let (ReadModifyWrite::Append { family, qualifier: name, .. }
        | ReadModifyWrite::Increment { family, qualifier: name, .. }) = rule;
        family_of_type(config, family, "a read-modify-write", false).map_err(in_row)?;
        qualifier(family, name).map_err(in_row)?;
        if let ReadModifyWrite::Append { suffix, .. } = rule {
            value(family, name, suffix.len()).map_err(in_row)?;
        }
    }
    Ok(())
}

/// Checks the value that an append or an increment comes to, and says where it stands if it cannot be.
pub(crate) fn new_value(table: &str, key: &[u8], family: &str, qualifier: &[u8], len: usize) -> Result<()> {
    value(family, qualifier, len).map_err(|error| in_row(table, key, error))
}

/// The error for an increment of what is no counter.
pub(crate) fn no_counter(table: &str, key: &[u8], family: &str, qualifier: &[u8], len: usize) -> Error {
    let message = format!(
        "Cannot increment value of {len} bytes (family={family}, qualifier={}). The increment operation can only be performed \
         on 64-bit values",
        shown(qualifier)
    );
    in_row(table, key, Error::new(ErrorKind::Conflict, message))
}

fn in_row(table: &str, key: &[u8], error: Error) -> Error {
    error.context(format!("Error while mutating the row '{}' ({table}) ", shown(key)))
}

fn mutations(config: &TableConfig, mutations: &[Mutation]) -> Result<()> {
    count(mutations.len())?;
    mutations.iter().try_for_each(|step| mutation(config, step))
}

fn mutation(config: &TableConfig, mutation: &Mutation) -> Result<()> {
    match mutation {
        Mutation::SetCell { family, qualifier: name, timestamp, value: bytes } => {
            family_of_type(config, family, "SetCell", false)?;
            qualifier(family, name)?;
            new_time(config, *timestamp)?;
            value(family, name, bytes.len())
        }
        Mutation::AddToCell { family, qualifier: name, timestamp, .. } => {
            family_of_type(config, family, "AddToCell", true)?;
            qualifier(family, name)?;
            new_time(config, *timestamp)
        }
        Mutation::MergeToCell { family, qualifier: name, timestamp, state } => {
            family_of_type(config, family, "MergeToCell", true)?;
            qualifier(family, name)?;
            new_time(config, *timestamp)?;
            merged_state(family, name, state)
        }
        Mutation::DeleteFromColumn { family, qualifier: name, times_us } => {
            family_index(config, family)?;
            qualifier(family, name)?;
            match times_us {
                Some(times) if times.start < 0 || times.start >= times.end => Err(invalid(format!(
                    "the range of times to delete in column `{family}:{}` is {}..{} us; it must begin at 0 or later and end behind its start",
                    shown(name),
                    times.start,
                    times.end
                ))),
                _ => Ok(()),
            }
        }
        Mutation::DeleteFromFamily { family } => family_index(config, family).map(drop),
        Mutation::DeleteFromRow => Ok(()),
    }
}

/// Refuses a step on a family of the other kind.
fn family_of_type(config: &TableConfig, family: &str, what: &str, aggregate: bool) -> Result<()> {
    let is_aggregate = config.families[family_index(config, family)?].value_type.is_aggregate();
    if is_aggregate == aggregate {
        return Ok(());
    }
    Err(invalid(if is_aggregate {
        format!(
            "Column family type mismatch: `{family}` is an aggregate, which {what} cannot change; use AddToCell or MergeToCell"
        )
    } else {
        format!(
            "Column family type mismatch: `{family}` is no aggregate, which {what} needs; use SetCell, or an increment for a counter"
        )
    }))
}

/// A state is empty, which does nothing, or a number.
fn merged_state(family: &str, qualifier: &[u8], state: &[u8]) -> Result<()> {
    if state.is_empty() || aggregate::number(state).is_some() {
        return Ok(());
    }
    Err(invalid(format!(
        "the state for column `{family}:{}` has {} bytes; it must be a 64-bit integer, {} bytes big-endian",
        shown(qualifier),
        state.len(),
        aggregate::STATE_BYTES
    )))
}

fn count(mutations: usize) -> Result<()> {
    if mutations > MUTATIONS_MAX {
        return Err(limit(format!(
            "{mutations} mutations; the limit is {MUTATIONS_MAX} of one row in one request: send them in several"
        )));
    }
    Ok(())
}

fn qualifier(family: &str, qualifier: &[u8]) -> Result<()> {
    if qualifier.len() > QUALIFIER_BYTES_MAX {
        return Err(limit(format!(
            "the qualifier of column `{family}:{}` has {} bytes; the limit is {QUALIFIER_BYTES_MAX}: shorten it",
            shown(qualifier),
            qualifier.len()
        )));
    }
    Ok(())
}

fn value(family: &str, qualifier: &[u8], len: usize) -> Result<()> {
    if len > VALUE_BYTES_MAX {
        return Err(limit(format!(
            "the value for column `{family}:{}` has {len} bytes; the limit is {VALUE_BYTES_MAX}: cut it in several cells",
            shown(qualifier)
        )));
    }
    Ok(())
}

fn new_time(config: &TableConfig, timestamp: Timestamp) -> Result<()> {
    match timestamp {
        Timestamp::Micros(time_us) if time_us < 0 => Err(invalid(format!(
            "timestamp {time_us} is negative; the least is 0, and the store's own time is asked for by name"
        ))),
        Timestamp::Micros(time_us) if config.granularity == Granularity::Millis && time_us % 1000 != 0 => {
            Err(invalid(format!(
                "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got {time_us}"
            )))
        }
        Timestamp::Micros(_) | Timestamp::Server => Ok(()),
    }
}
