//! Rows as a keyed table returns them.

use bytes::Bytes;
use rowkey::{Value, escape};
use rowkey_store::{Cell, RowKey};

/// A row of a keyed table.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedRow {
    /// The logical key: one value for each field of the schema, in the order of the layout.
    pub values: Vec<Value<'static>>,
    /// The stored key.
    pub key: RowKey,
    /// The cells, as the store orders them: by family, qualifier, then newest first.
    pub cells: Vec<Cell>,
}

impl KeyedRow {
    /// The newest value of a column among the cells that were read.
    pub fn value(&self, family: &str, qualifier: &[u8]) -> Option<&Bytes> {
        self.cells
            .iter()
            .find(|cell| &*cell.family == family && cell.qualifier == qualifier)
            .map(|cell| &cell.value)
    }

    /// Bytes of its key and cells, about: what it holds in memory while it waits in a merge.
    pub(crate) fn bytes(&self) -> usize {
        let cells: usize =
            self.cells.iter().map(|cell| size_of::<Cell>() + cell.qualifier.len() + cell.value.len()).sum();
        let values: usize = self
            .values
            .iter()
            .map(|value| {
                size_of::<Value<'_>>()
                    + match value {
                        Value::Text(text) => text.len(),
                        Value::Bytes(bytes) => bytes.len(),
                        _ => 0,
                    }
            })
            .sum();
        size_of::<Self>() + self.key.len() + values + cells
    }
}

/// A key as messages name it.
pub(crate) fn named(key: &[u8]) -> impl std::fmt::Display + '_ {
    escape::escaped(key)
}
