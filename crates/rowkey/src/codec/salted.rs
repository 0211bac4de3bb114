//! Buckets: computing, writing, reading and checking the salt of a key.

use super::step::{Close, Step, push_literal};
use super::{Codec, Inner};
use crate::salt::SaltPlan;
use crate::schema::{Hash, SaltSource};
use crate::{Error, Result, Value};

/// Hash inputs of several runs are put together on the stack up to this number of bytes.
const INPUT_ON_STACK: usize = 256;

/// Where the hashed runs of fields are in a key.
#[derive(Default)]
pub(super) struct Marks {
    runs: [(usize, usize); crate::salt::RUNS_MAX],
    count: usize,
}

// Marks are filled in where the caller keeps them: a result of this size is copied on its way, which costs as much as a field.
impl Marks {
    #[inline]
    pub(super) fn before(&mut self, step: &Step, at: usize) {
        if step.opens_run
            && let Some(run) = self.runs.get_mut(self.count)
        {
            run.0 = at;
        }
    }

    #[inline]
    pub(super) fn behind_field(&mut self, step: &Step, at: usize) {
        if step.closes_run == Close::BehindField {
            self.close(at);
        }
    }

    #[inline]
    pub(super) fn behind_literal(&mut self, step: &Step, at: usize) {
        if step.closes_run == Close::BehindLiteral {
            self.close(at);
        }
    }

    #[inline]
    fn close(&mut self, at: usize) {
        if let Some(run) = self.runs.get_mut(self.count) {
            run.1 = at;
            self.count += 1;
        }
    }

    /// Hands on the hash input: as a slice of the key where it is one, else put together on the stack, if it is not too long.
    #[inline]
    fn with_input<T>(&self, salt: &SaltPlan, key: &[u8], hash: impl FnOnce(&[u8]) -> T) -> T {
        let runs = match &self.runs[..self.count] {
            [] => return hash(&key[salt.width..]),
            [(start, end)] => return hash(&key[*start..*end]),
            runs => runs,
        };
        let length = runs.iter().map(|(start, end)| end - start).sum();
        let mut on_stack = [0; INPUT_ON_STACK];
        let mut on_heap = Vec::new();
        let input = if let Some(input) = on_stack.get_mut(..length) {
            input
        } else {
            on_heap.resize(length, 0);
            on_heap.as_mut_slice()
        };
        let mut at = 0;
        for &(start, end) in runs {
            input[at..at + (end - start)].copy_from_slice(&key[start..end]);
            at += end - start;
        }
        hash(input)
    }
}

impl Codec {
    /// The width of the salt in bytes; 0 without a salt.
    #[inline]
    pub fn salt_width(&self) -> usize {
        self.inner.salt.as_ref().map_or(0, |salt| salt.width)
    }

    /// Cuts a stored key into its salt and the unsalted key, which begins right behind the salt, literals included.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the key ends within the salt.
    #[inline]
    pub fn split_salt<'k>(&self, stored: &'k [u8]) -> Result<(&'k [u8], &'k [u8])> {
        stored.split_at_checked(self.salt_width()).ok_or_else(|| {
            let width = self.salt_width();
            Error::malformed(stored.len(), format!("the key ends within its salt of {width} bytes"))
        })
    }

    /// The number of buckets; `None` without a salt or with a hash prefix.
    pub fn bucket_count(&self) -> Option<u32> {
        let salt = self.inner.salt.as_ref()?;
        (!matches!(salt.source, SaltSource::HashPrefix { .. })).then_some(salt.buckets)
    }

    /// A bucket that is not in `0..bucket_count`, and that keys can have all the same: that of `hbasewd`'s defect. Scans of all
    /// buckets have to visit it too.
    pub fn stray_bucket(&self) -> Option<u32> {
        self.inner.salt.as_ref()?.stray
    }

    /// The bucket of `values`, one for each field; `None` without a salt, or with a random one or a hash prefix.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn bucket(&self, values: &[Value<'_>]) -> Result<Option<u32>> {
        self.check_count(values)?;
        self.bucket_with(|at, _| values.get(at))
    }

    /// The bucket of the values of the salt's fields alone, in the order of `Salt::of`; `None` as for [`Codec::bucket`].
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn bucket_of(&self, salt_values: &[Value<'_>]) -> Result<Option<u32>> {
        self.bucket_with(|_, nth| salt_values.get(nth))
    }

    /// The salt of a [`SaltSource::HashPrefix`] for `values`, one for each field, as it stands in the key; `None` for other salts.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn hash_prefix(&self, values: &[Value<'_>]) -> Result<Option<Vec<u8>>> {
        self.check_count(values)?;
        self.hash_prefix_with(|at, _| values.get(at))
    }

    /// As [`Codec::hash_prefix`], from the values of the salt's fields alone, in the order of `Salt::of`.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    pub fn hash_prefix_of(&self, salt_values: &[Value<'_>]) -> Result<Option<Vec<u8>>> {
        self.hash_prefix_with(|_, nth| salt_values.get(nth))
    }

    /// Appends the salt of a bucket. Nothing without a salt. For a hash prefix, use [`Codec::hash_prefix`].
    pub fn write_salt(&self, bucket: u32, out: &mut Vec<u8>) {
        if let Some(salt) = &self.inner.salt {
            let start = out.len();
            out.resize(start + salt.width, 0);
            salt.write(bucket, &mut out[start..]);
        }
    }

    /// Reads the bucket of a salt.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if there is no such bucket, or the schema has no buckets.
    pub fn read_salt(&self, salt: &[u8]) -> Result<u32> {
        match &self.inner.salt {
            Some(plan) if !matches!(plan.source, SaltSource::HashPrefix { .. }) => {
                if salt.len() != plan.width {
                    let message = format!("{} bytes; the salt is {} bytes wide", salt.len(), plan.width);
                    return Err(Error::malformed(salt.len().min(plan.width), message));
                }
                plan.read(salt)
            }
            _ => Err(Error::malformed(0, "the schema has no buckets")),
        }
    }

    /// As [`Codec::encode`], in this bucket: for a random salt. For any other salt the bucket must be the computed one.
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`], and if the bucket does not exist or is not the computed one.
    pub fn encode_in_bucket(&self, bucket: u32, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        let Some(salt) = &self.inner.salt else {
            return Err(Error::value("the schema has no salt, so keys have no bucket"));
        };
        if salt.source != SaltSource::Random {
            self.encode(values, out)?;
            let computed = self.bucket(values)?;
            return match computed {
                Some(computed) if computed == bucket => Ok(()),
                Some(computed) => Err(Error::value(format!(
                    "bucket {bucket} was asked for, and these values are in {computed}"
                ))),
                None => Err(Error::value("a hash prefix has no buckets: use `encode`")),
            };
        }
        if !salt.is_bucket(bucket) {
            return Err(Error::value(format!(
                "bucket {bucket} does not exist: the schema has {}",
                salt.buckets
            )));
        }
        self.encode_behind(salt.width, values, out, &mut Marks::default())?;
        salt.write(bucket, &mut out[..salt.width]);
        Ok(())
    }

    /// Writes the salt in front of an encoded key.
    #[inline]
    pub(super) fn fill_salt(
        &self,
        salt: &SaltPlan,
        marks: &Marks,
        values: &[Value<'_>],
        out: &mut [u8],
    ) -> Result<()> {
        let bucket = match salt.source {
            SaltSource::Random => {
                return Err(Error::value("the salt is random: choose a bucket and use `encode_in_bucket`"));
            }
            SaltSource::HashPrefix { .. } => {
                let mut prefix = Vec::with_capacity(salt.width);
                marks.with_input(salt, out, |input| salt.push_hash_prefix(input, &mut prefix))?;
                out[..salt.width].copy_from_slice(&prefix);
                return Ok(());
            }
            SaltSource::Modulo | SaltSource::Hash(Hash::CockroachDb) => self.bucket_of_all(salt, values)?,
            SaltSource::Hash(_) => marks.with_input(salt, out, |input| salt.bucket_of_input(input))?,
        };
        salt.write(bucket, &mut out[..salt.width]);
        Ok(())
    }

    /// Checks that the salt of a decoded key is that of its values.
    #[inline]
    pub(super) fn check_salt(
        &self,
        salt: &SaltPlan,
        marks: &Marks,
        values: &[Value<'_>],
        key: &[u8],
    ) -> Result<()> {
        let stored = &key[..salt.width];
        // An error about values here means that no such key is ever written.
        let foreign = |error: Error| {
            Error::malformed(0, format!("no salt belongs to these values: {}", error.message()))
        };
        let computed = match salt.source {
            SaltSource::Random => return salt.read(stored).map(drop),
            SaltSource::HashPrefix { .. } => {
                let mut prefix = Vec::with_capacity(salt.width);
                marks
                    .with_input(salt, key, |input| salt.push_hash_prefix(input, &mut prefix))
                    .map_err(foreign)?;
                return if prefix == stored { Ok(()) } else { Err(wrong_salt(stored, &prefix)) };
            }
            SaltSource::Modulo | SaltSource::Hash(Hash::CockroachDb) => {
                self.bucket_of_all(salt, values).map_err(foreign)?
            }
            SaltSource::Hash(_) => {
                marks.with_input(salt, key, |input| salt.bucket_of_input(input)).map_err(foreign)?
            }
        };
        if salt.read(stored)? == computed {
            return Ok(());
        }
        let mut expected = vec![0; salt.width];
        salt.write(computed, &mut expected);
        Err(wrong_salt(stored, &expected))
    }

    fn bucket_of_all(&self, salt: &SaltPlan, values: &[Value<'_>]) -> Result<u32> {
        salt.bucket_of_values(&self.inner.schema, salt.of.iter().filter_map(|&at| values.get(at)))
    }

    fn bucket_with<'v>(&self, value: impl Fn(usize, usize) -> Option<&'v Value<'v>>) -> Result<Option<u32>> {
        let Some(salt) = &self.inner.salt else { return Ok(None) };
        if matches!(salt.source, SaltSource::Random | SaltSource::HashPrefix { .. }) {
            return Ok(None);
        }
        if salt.is_of_values() {
            let mut values = Vec::with_capacity(salt.of.len());
            let mut scratch = Vec::new();
            for (nth, &at) in salt.of.iter().enumerate() {
                let value = value(at, nth).ok_or_else(|| self.missing(at))?;
                // Refuses what no key can hold.
                self.encode_field(at, value, &mut scratch)?;
                values.push(value);
            }
            return salt.bucket_of_values(&self.inner.schema, values.into_iter()).map(Some);
        }
        let input = self.input_with(salt, value)?;
        salt.bucket_of_input(&input).map(Some)
    }

    fn hash_prefix_with<'v>(
        &self,
        value: impl Fn(usize, usize) -> Option<&'v Value<'v>>,
    ) -> Result<Option<Vec<u8>>> {
        match &self.inner.salt {
            Some(salt) if matches!(salt.source, SaltSource::HashPrefix { .. }) => {
                let input = self.input_with(salt, value)?;
                let mut prefix = Vec::with_capacity(salt.width);
                salt.push_hash_prefix(&input, &mut prefix)?;
                Ok(Some(prefix))
            }
            _ => Ok(None),
        }
    }

    /// The hash input, without a key: from the values of the salt's fields. `value` is asked for a field by its index in the schema
    /// and its index in the salt.
    fn input_with<'v>(
        &self,
        salt: &SaltPlan,
        value: impl Fn(usize, usize) -> Option<&'v Value<'v>>,
    ) -> Result<Vec<u8>> {
        let Inner { lead, steps, .. } = &*self.inner;
        let whole = salt.is_of_whole_key();
        let mut input = if whole { lead.to_vec() } else { Vec::new() };
        for (nth, &at) in salt.of.iter().enumerate() {
            let value = value(at, nth).ok_or_else(|| self.missing(at))?;
            self.encode_field(at, value, &mut input)?;
            if whole || nth + 1 < salt.of.len() {
                push_literal(&steps[at].literal, &mut input);
            }
        }
        Ok(input)
    }

    #[cold]
    fn missing(&self, field: usize) -> Error {
        Error::value("the salt needs its value, which is missing").in_field(self.name(field))
    }

    fn check_count(&self, values: &[Value<'_>]) -> Result<()> {
        let expected = self.inner.steps.len();
        if values.len() == expected { Ok(()) } else { Err(super::wrong_count(values.len(), expected)) }
    }
}

#[cold]
fn wrong_salt(stored: &[u8], expected: &[u8]) -> Error {
    use crate::escape::escaped;
    let same = stored.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let message =
        format!("the salt is `{}`, and that of these values is `{}`", escaped(stored), escaped(expected));
    Error::malformed(same, message)
}
