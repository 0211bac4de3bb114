//! Garbage: counting it and collecting it.

use crate::engine::LsmEngine;
use crate::shared::Shared;
use crate::state::{Published, Table};
use rowkey_store::{Error, ErrorKind, GarbageReport, Result};

/// Counts what a collection would keep and take now.
pub(crate) fn count(shared: &Shared, _: &Published, _: &Table) -> Result<Vec<GarbageReport>> {
    let message = format!("the embedded store at {} cannot count garbage yet", shared.path.display());
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// Collects now.
pub(crate) fn collect(engine: &LsmEngine, table: &str) -> Result<Vec<GarbageReport>> {
    let (published, table) = engine.table(table)?;
    count(&engine.shared, &published, &table)
}
