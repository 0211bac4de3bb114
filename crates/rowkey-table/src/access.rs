//! Single rows: put, get, delete, by typed values.

use crate::{Error, ErrorKind, KeyedRow, KeyedTable, Result, row};
use rowkey::schema::SaltSource;
use rowkey::{StoredKey, Value};
use rowkey_store::seeded::Seeded;
use rowkey_store::{Durability, Mutation, ReadRequest, Row, RowKey, RowMutation, RowSet, Selection};
use std::sync::atomic::Ordering;

/// What a get reads.
#[derive(Debug, Clone, Default)]
pub struct GetOptions {
    /// Which cells.
    pub selection: Selection,
    /// Cells that garbage collection may take are left out.
    pub live: bool,
}

impl KeyedTable {
    /// The stored keys that a logical key can have: one, or one for each bucket under a random salt.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field.
    pub fn stored_keys(&self, values: &[Value<'_>]) -> Result<Vec<StoredKey>> {
        let Some(buckets) = self.random_buckets() else {
            return Ok(vec![self.codec().encode_key(values)?]);
        };
        let in_bucket = |bucket| {
            let mut key = Vec::new();
            self.codec().encode_in_bucket(bucket, values, &mut key)?;
            Ok(StoredKey(key))
        };
        (0..buckets).map(in_bucket).collect()
    }

    /// Applies mutations to the row of a logical key. Under a random salt, a bucket is chosen at random: two puts of one key are two
    /// rows, unless they happen to choose the same.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field; `Limit`; those of the engine.
    pub fn put(&self, values: &[Value<'_>], mutations: Vec<Mutation>, durability: Durability) -> Result<()> {
        let key = self.key_to_write(values)?;
        self.apply(vec![RowMutation { key, mutations }], durability)
    }

    /// The stored key that a put of this logical key writes.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field.
    pub fn key_to_write(&self, values: &[Value<'_>]) -> Result<RowKey> {
        let mut key = Vec::new();
        match self.random_buckets() {
            None => self.codec().encode(values, &mut key)?,
            Some(buckets) => {
                let state = self.random.fetch_add(1, Ordering::Relaxed);
                self.codec().encode_in_bucket(bucket_for(state, buckets), values, &mut key)?;
            }
        }
        Ok(key.into())
    }

    /// Reads the row of a logical key; `None` if it has no cell.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field; `Conflict` if a random salt put the key into more than one bucket (then
    /// [`KeyedTable::get_all`] has them all); those of the engine.
    pub fn get(&self, values: &[Value<'_>], options: &GetOptions) -> Result<Option<KeyedRow>> {
        let mut rows = self.get_all(values, options)?;
        if let [first, second, ..] = &rows[..] {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "table `{}` has {} rows of this key, among them `{}` and `{}`: its random salt chose several buckets; a \
                     scan of the key reads all of them",
                    self.name(),
                    rows.len(),
                    row::named(&first.key),
                    row::named(&second.key),
                ),
            ));
        }
        Ok(rows.pop())
    }

    /// Reads all rows of a logical key, by bucket: more than one is possible under a random salt alone.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field; those of the engine.
    pub fn get_all(&self, values: &[Value<'_>], options: &GetOptions) -> Result<Vec<KeyedRow>> {
        let keys = self.stored_keys(values)?;
        let request = ReadRequest {
            rows: RowSet::new(keys.into_iter().map(|key| RowKey::from(key.0)), []),
            selection: options.selection.clone(),
            live: options.live,
            ..ReadRequest::default()
        };
        let rows = self.engine().snapshot(self.name())?.read_rows(&request)?;
        rows.map(|row| self.keyed(row?)).collect()
    }

    /// Deletes the row of a logical key, in every bucket where it can be. Deleting what does not exist is no error.
    ///
    /// # Errors
    ///
    /// `Value` for a value that does not fit its field; those of the engine.
    pub fn delete(&self, values: &[Value<'_>], durability: Durability) -> Result<()> {
        let rows = self.stored_keys(values)?.into_iter();
        let rows =
            rows.map(|key| RowMutation { key: key.0.into(), mutations: vec![Mutation::DeleteFromRow] });
        self.apply(rows.collect(), durability)
    }

    fn keyed(&self, row: Row) -> Result<KeyedRow> {
        let mut values = Vec::new();
        self.codec().decode(&row.key, &mut values)?;
        let values = values.into_iter().map(Value::into_owned).collect();
        Ok(KeyedRow { values, key: row.key, cells: row.cells })
    }

    fn apply(&self, rows: Vec<RowMutation>, durability: Durability) -> Result<()> {
        let results = self.engine().mutate_rows(self.name(), rows, durability)?;
        results.into_iter().collect::<rowkey_store::Result<()>>().map_err(Error::from)
    }

    fn random_buckets(&self) -> Option<u32> {
        let salt = self.schema().salt.as_ref()?;
        (salt.source == SaltSource::Random).then_some(salt.buckets)
    }
}

/// A bucket that a seed chooses.
pub(crate) fn bucket_for(seed: u64, buckets: u32) -> u32 {
    u32::try_from(Seeded::new(seed).below(buckets as usize)).expect("it is below a u32")
}
