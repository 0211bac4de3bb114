//! Checks of tables: names, designs, split points, changes of families.

use super::{invalid, limit, row_key, shown};
use crate::limits::{
    ANNOTATION_BYTES_MAX, ANNOTATION_NAME_BYTES_MAX, FAMILIES_MAX, FAMILY_NAME_BYTES_MAX,
    TABLE_NAME_BYTES_MAX,
};
use crate::{DropScope, Error, ErrorKind, FamilyChange, FamilyConfig, GcRule, Result, TableConfig, gc};
use bytes::Bytes;

/// The error for a table that does not exist.
pub fn table_missing(table: &str) -> Error {
    let message =
        format!("table `{table}` does not exist; create it, or see the list of tables for the right name");
    Error::new(ErrorKind::NotFound, message)
}

/// The error for a table that exists already.
pub fn table_exists(table: &str) -> Error {
    Error::new(
        ErrorKind::AlreadyExists,
        format!("table `{table}` exists already; drop it first, or take another name"),
    )
}

/// The error for a change that deletion protection forbids.
pub fn protected(table: &str, what: &str) -> Error {
    let message =
        format!("{what} is refused: table `{table}` is protected; switch its deletion protection off first");
    Error::new(ErrorKind::Conflict, message)
}

/// Checks a new table and answers with its design as the engine keeps it: families by name.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn new_table(table: &str, config: &TableConfig) -> Result<TableConfig> {
    new_name(table)?;
    let in_table = |error: Error| error.context(format!("table `{table}`"));
    let mut config = config.clone();
    config.families.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = config.families.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(in_table(invalid(format!("family `{}` is given twice; give it once", pair[0].name))));
    }
    config.families.iter().try_for_each(family).map_err(in_table)?;
    family_count(config.families.len()).map_err(in_table)?;
    split_points(table, &config.split_points)?;
    for (name, content) in &config.annotations {
        annotation(table, name, Some(content))?;
    }
    Ok(config)
}

/// Checks the new name of a table.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn new_name(table: &str) -> Result<()> {
    name("table", table, TABLE_NAME_BYTES_MAX)
}

/// Refuses to drop a protected table.
///
/// # Errors
///
/// `Conflict`.
pub fn drop_table(table: &str, config: &TableConfig) -> Result<()> {
    if config.deletion_protection { Err(protected(table, "dropping it")) } else { Ok(()) }
}

/// What a change of families comes to. A family in both lists is dropped and created anew: its cells are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyPlan {
    /// The new design.
    pub config: TableConfig,
    /// Families of the old design whose cells are to be dropped.
    pub dropped: Vec<String>,
    /// Families of the new design that start empty, in their order there; they are its last ones.
    pub created: Vec<String>,
}

/// Applies changes to a design, all or none. Families made by one call come last, by name.
///
/// # Errors
///
/// `NotFound`, `AlreadyExists`, `Conflict` (protected table), `Invalid`, `Limit`.
pub fn family_changes(table: &str, config: &TableConfig, changes: &[FamilyChange]) -> Result<FamilyPlan> {
    // Production refuses the whole call because of one drop, before it looks at the others.
    if config.deletion_protection && changes.iter().any(|change| matches!(change, FamilyChange::Drop { .. }))
    {
        return Err(protected(table, "dropping a family"));
    }
    if changes.is_empty() {
        return Err(invalid(format!("table `{table}`: no changes of families are given")));
    }
    let mut kept = config.families.clone();
    let mut created: Vec<FamilyConfig> = Vec::new();
    let mut dropped = Vec::new();
    for change in changes {
        apply_change(change, &mut kept, &mut created, &mut dropped)
            .map_err(|error| error.context(format!("table `{table}`")))?;
    }
    created.sort_by(|a, b| a.name.cmp(&b.name));
    let names = created.iter().map(|family| family.name.clone()).collect();
    kept.extend(created);
    family_count(kept.len()).map_err(|error| error.context(format!("table `{table}`")))?;
    Ok(FamilyPlan { config: TableConfig { families: kept, ..config.clone() }, dropped, created: names })
}

fn apply_change(
    change: &FamilyChange,
    kept: &mut Vec<FamilyConfig>,
    created: &mut Vec<FamilyConfig>,
    dropped: &mut Vec<String>,
) -> Result<()> {
    let missing = |name: &str| {
        let message = format!("Requested column family not found: `{name}`; nothing was changed");
        Error::new(ErrorKind::NotFound, message)
    };
    match change {
        FamilyChange::Create(config) => {
            family(config)?;
            if kept.iter().chain(&*created).any(|known| known.name == config.name) {
                let message = format!("family `{}` exists already; nothing was changed", config.name);
                return Err(Error::new(ErrorKind::AlreadyExists, message));
            }
            created.push(config.clone());
        }
        FamilyChange::SetGcRule { family: name, gc_rule } => {
            rule(name, gc_rule.as_ref())?;
            let known = kept.iter_mut().chain(created).find(|known| known.name == *name);
            known.ok_or_else(|| missing(name))?.gc_rule.clone_from(gc_rule);
        }
        FamilyChange::Drop { family: name } => {
            if let Some(index) = kept.iter().position(|known| known.name == *name) {
                kept.remove(index);
                dropped.push(name.clone());
            } else {
                let index = created.iter().position(|known| known.name == *name);
                created.remove(index.ok_or_else(|| missing(name))?);
            }
        }
    }
    Ok(())
}

/// Refuses what cannot be a split point.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn split_point(table: &str, at: &[u8]) -> Result<()> {
    if at.is_empty() {
        return Err(invalid(format!(
            "table `{table}`: a split point is empty; it must be a row key, the first of the tablet behind it"
        )));
    }
    row_key(table, at).map_err(|error| error.context("split point"))
}

fn split_points(table: &str, points: &[Bytes]) -> Result<()> {
    points.iter().try_for_each(|point| split_point(table, point))?;
    match points.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some([a, b]) if a == b => {
            Err(invalid(format!("table `{table}`: split point `{}` is given twice; give it once", shown(a))))
        }
        Some([a, b, ..]) => Err(invalid(format!(
            "table `{table}`: split point `{}` comes behind `{}`; sort them",
            shown(b),
            shown(a)
        ))),
        _ => Ok(()),
    }
}

/// Refuses an empty prefix: it would drop all rows, which must be asked for by name.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn drop_scope(table: &str, scope: &DropScope) -> Result<()> {
    match scope {
        DropScope::All => Ok(()),
        DropScope::Prefix(prefix) if prefix.is_empty() => Err(invalid(format!(
            "table `{table}`: the prefix of the rows to drop is empty; to drop all rows, ask for all"
        ))),
        DropScope::Prefix(prefix) => {
            row_key(table, prefix).map_err(|error| error.context("prefix of the rows to drop"))
        }
    }
}

/// Checks the name and the size of an annotation.
///
/// # Errors
///
/// `Invalid`, `Limit`.
pub fn annotation(table: &str, annotation: &str, content: Option<&Bytes>) -> Result<()> {
    let in_table = |error: Error| error.context(format!("table `{table}`"));
    name("annotation", annotation, ANNOTATION_NAME_BYTES_MAX).map_err(in_table)?;
    match content.map_or(0, Bytes::len) {
        len if len > ANNOTATION_BYTES_MAX => Err(in_table(limit(format!(
            "annotation `{annotation}` has {len} bytes; the limit is {ANNOTATION_BYTES_MAX}"
        )))),
        _ => Ok(()),
    }
}

fn family(config: &FamilyConfig) -> Result<()> {
    name("family", &config.name, FAMILY_NAME_BYTES_MAX)?;
    rule(&config.name, config.gc_rule.as_ref())
}

fn rule(family: &str, rule: Option<&GcRule>) -> Result<()> {
    let checked = rule.map_or(Ok(()), gc::check_rule);
    checked.map_err(|error| error.context(format!("family `{family}`")))
}

fn family_count(count: usize) -> Result<()> {
    if count > FAMILIES_MAX {
        return Err(limit(format!(
            "{count} families; the limit is {FAMILIES_MAX}: put columns that are read together in one family"
        )));
    }
    Ok(())
}

/// Letters, digits, `-`, `_` and `.`; a table's name does not begin with `-` or `.`.
fn name(what: &str, name: &str, bytes_max: usize) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() {
        return Err(invalid(format!("the name of a {what} is empty; use letters, digits, `-`, `_` and `.`")));
    }
    if name.len() > bytes_max {
        return Err(limit(format!(
            "the name of {what} `{}` has {} bytes; the limit is {bytes_max}: shorten it",
            shown(name.as_bytes()),
            name.len()
        )));
    }
    if !name.bytes().all(allowed) {
        return Err(invalid(format!("{what} `{name}`: a name has only letters, digits, `-`, `_` and `.`")));
    }
    if what == "table" && name.starts_with(['-', '.']) {
        return Err(invalid(format!("table `{name}`: the name begins with a letter, a digit or `_`")));
    }
    Ok(())
}
