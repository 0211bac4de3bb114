//! Operations that were handed out: all are done when their name is, and can be asked for afterwards.
//!
//! The newest 10,000 are kept, over restarts as well.

use super::rows::Rows;
use super::shelf::{MESSAGE, decode};
use crate::lock::lock;
use bytes::Bytes;
use prost::Message as _;
use rowkey_proto::longrunning::Operation;
use rowkey_store::Result;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows of operations.
const PREFIX: &str = "operation/";
/// Operations that are kept; ours.
const OPERATIONS_MAX: usize = 10_000;

/// Operations by number.
#[derive(Debug)]
pub(crate) struct Operations {
    rows: Arc<Rows>,
    /// The last number that was given.
    last: Mutex<u64>,
    by_number: Mutex<BTreeMap<u64, Operation>>,
}

impl Operations {
    pub(super) fn open(rows: &Arc<Rows>) -> Result<Self> {
        let mut by_number = BTreeMap::new();
        for (number, mut columns) in rows.scan(PREFIX)? {
            let operation = decode(&format!("{PREFIX}{number}"), columns.remove(MESSAGE))?;
            if let Ok(number) = number.parse() {
                by_number.insert(number, operation);
            }
        }
        let last = by_number.last_key_value().map_or(0, |(number, _)| *number);
        Ok(Self { rows: Arc::clone(rows), last: Mutex::new(last), by_number: Mutex::new(by_number) })
    }

    /// Keeps an operation that is done, and gives it a name: `operations/PARENT/operations/N`. Numbers ascend; `now_us` is the next one
    /// if it is greater than the last. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn add(&self, parent: &str, now_us: i64, operation: Operation) -> Result<Operation> {
        let number = {
            let mut last = lock(&self.last);
            *last = u64::try_from(now_us).unwrap_or_default().max(last.saturating_add(1));
            *last
        };
        let operation = Operation { name: format!("operations/{parent}/operations/{number}"), ..operation };
        let content = Bytes::from(operation.encode_to_vec());
        self.rows.put(&row_key(number), &[(MESSAGE, content)])?;
        let oldest = {
            let mut by_number = self.lock();
            by_number.insert(number, operation.clone());
            if by_number.len() > OPERATIONS_MAX { by_number.pop_first() } else { None }
        };
        let key = oldest.map(|(oldest, _)| row_key(oldest));
        self.rows.remove(key.as_deref())?;
        Ok(operation)
    }

    /// The one of this name.
    pub(crate) fn get(&self, name: &str) -> Option<Operation> {
        let number = number(name)?;
        self.lock().get(&number).filter(|operation| operation.name == name).cloned()
    }

    /// At most `count` of those whose name begins with `prefix`, newest first, behind the one of number `after`; with their numbers.
    pub(crate) fn list(&self, prefix: &str, after: Option<u64>, count: usize) -> Vec<(u64, Operation)> {
        let by_number = self.lock();
        let older = by_number.range(..after.unwrap_or(u64::MAX)).rev();
        let found = older.filter(|(_, operation)| operation.name.starts_with(prefix));
        found.take(count).map(|(number, operation)| (*number, operation.clone())).collect()
    }

    /// Forgets the one of this name; whether there was one. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(crate) fn remove(&self, name: &str) -> Result<bool> {
        let Some(number) = self.get(name).and_then(|_| number(name)) else { return Ok(false) };
        self.rows.remove([row_key(number).as_str()])?;
        self.lock().remove(&number);
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Operation>> {
        lock(&self.by_number)
    }
}

fn row_key(number: u64) -> String {
    format!("{PREFIX}{number:020}")
}

fn number(name: &str) -> Option<u64> {
    name.rsplit('/').next()?.parse().ok()
}
