//! Resources of one kind, by name: in memory for reading, in the server's own table for ever.

use super::rows::Rows;
use crate::lock::{read, write};
use bytes::Bytes;
use prost::Message;
use rowkey_store::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, RwLock};

/// The column of the message.
pub(super) const MESSAGE: &str = "message";

/// Resources of one kind, by full name, as `projects/P/instances/I`.
#[derive(Debug)]
pub(crate) struct Shelf<M> {
    rows: Arc<Rows>,
    prefix: &'static str,
    items: RwLock<BTreeMap<String, M>>,
}

impl<M: Message + Default + Clone> Shelf<M> {
    /// Reads all of them. Their rows begin with `prefix`.
    pub(super) fn open(rows: &Arc<Rows>, prefix: &'static str) -> Result<Self> {
        let items = rows.scan(prefix)?.into_iter().map(|(name, mut columns)| {
            let message = decode(&format!("{prefix}{name}"), columns.remove(MESSAGE))?;
            Ok((name, message))
        });
        let items = RwLock::new(items.collect::<Result<_>>()?);
        Ok(Self { rows: Arc::clone(rows), prefix, items })
    }

    /// The one of this name.
    pub(crate) fn get(&self, name: &str) -> Option<M> {
        self.read(|items| items.get(name).cloned())
    }

    /// Whether there is one of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.read(|items| items.contains_key(name))
    }

    /// Those whose name begins with `prefix`, by name.
    pub(crate) fn list(&self, prefix: &str) -> Vec<(String, M)> {
        self.read(|items| {
            let from = (Bound::Included(prefix), Bound::Unbounded);
            let found = items.range::<str, _>(from).take_while(|(name, _)| name.starts_with(prefix));
            found.map(|(name, message)| (name.clone(), message.clone())).collect()
        })
    }

    /// The names of those whose name begins with `prefix`, ascending.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        self.list(prefix).into_iter().map(|(name, _)| name).collect()
    }

    /// Writes one, on disk when this returns.
    ///
    /// # Errors
    ///
    /// Those of the engine; then it is as before.
    pub(crate) fn put(&self, name: &str, message: M) -> Result<()> {
        let content = Bytes::from(message.encode_to_vec());
        self.rows.put(&format!("{}{name}", self.prefix), &[(MESSAGE, content)])?;
        write(&self.items).insert(name.to_owned(), message);
        Ok(())
    }

    /// Removes those of these names, on disk when this returns.
    ///
    /// # Errors
    ///
    /// Those of the engine; then some may be gone.
    pub(crate) fn remove(&self, names: &[String]) -> Result<()> {
        let keys: Vec<String> = names.iter().map(|name| format!("{}{name}", self.prefix)).collect();
        self.rows.remove(keys.iter().map(String::as_str))?;
        let mut items = write(&self.items);
        for name in names {
            items.remove(name);
        }
        Ok(())
    }

    fn read<T>(&self, look: impl FnOnce(&BTreeMap<String, M>) -> T) -> T {
        look(&read(&self.items))
    }
}

/// The message of a row.
///
/// # Errors
///
/// `Corrupt`.
pub(super) fn decode<M: Message + Default>(key: &str, content: Option<Bytes>) -> Result<M> {
    let content = content.ok_or_else(|| corrupt(key, "it has no message"))?;
    M::decode(content).map_err(|error| corrupt(key, &error.to_string()))
}

/// The error for a row that cannot be read.
pub(super) fn corrupt(key: &str, why: &str) -> Error {
    let message = format!(
        "row `{key}` of the server's own table `{}` cannot be read: {why}; another release may have written it",
        super::rows::SYSTEM_TABLE
    );
    Error::new(ErrorKind::Corrupt, message)
}
