//! A salt compiled from its schema: which bytes are hashed, how the bucket comes from the hash, how it is written.

use super::{cockroach, hash};
use crate::encode;
use crate::schema::{FieldKind, Hash, KeySchema, Salt, SaltFormat, SaltSource};
use crate::{Error, Result, Value};

/// Neighbouring fields of the layout that are hashed together with the literals between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Whether the literal behind the last field belongs to it: yes but for the last run.
    pub(crate) closed: bool,
}

/// The most buckets.
const BUCKETS_MAX: u32 = 65_536;

/// The most runs, so that encoding needs no allocation to remember where they are.
pub(crate) const RUNS_MAX: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct SaltPlan {
    pub(crate) source: SaltSource,
    pub(crate) format: SaltFormat,
    pub(crate) buckets: u32,
    /// Width of the salt in bytes.
    pub(crate) width: usize,
    pub(crate) of: Vec<usize>,
    /// What is hashed; empty if everything behind the salt is, or nothing.
    pub(crate) runs: Vec<Run>,
    /// `HBaseWD`'s bucket outside `0..buckets`.
    pub(crate) stray: Option<u32>,
}

impl SaltPlan {
    pub(crate) fn new(schema: &KeySchema, salt: &Salt) -> Result<Self> {
        check_source(schema, salt)?;
        let width = check_format(salt)?;
        let runs = runs(schema, salt)?;
        let stray = match salt.source {
            SaltSource::Hash(Hash::HbaseWd) => stray_bucket(salt.buckets),
            _ => None,
        };
        let Salt { of, source, format, buckets } = salt.clone();
        Ok(Self { source, format, buckets, width, of, runs, stray })
    }

    /// Whether the bucket comes from the values rather than from the bytes of the key.
    pub(crate) fn is_of_values(&self) -> bool {
        matches!(self.source, SaltSource::Modulo | SaltSource::Hash(Hash::CockroachDb))
    }

    /// Whether everything behind the salt is hashed.
    pub(crate) fn is_of_whole_key(&self) -> bool {
        self.runs.is_empty() && matches!(self.source, SaltSource::Hash(_)) && !self.is_of_values()
    }

    /// The bucket of a hash input. For sources that are neither random, nor a prefix, nor of values.
    #[inline]
    pub(crate) fn bucket_of_input(&self, input: &[u8]) -> Result<u32> {
        match self.source {
            SaltSource::Hash(Hash::Xxh3) => Ok(reduce(hash::xxh3(input), self.buckets)),
            SaltSource::Hash(other) => bucket_of_hash(other, input, self.buckets),
            _ => Err(Error::value("this salt is not the hash of a key")),
        }
    }

    /// The bucket of values, one for each of `of`.
    pub(crate) fn bucket_of_values<'v>(
        &self,
        schema: &KeySchema,
        mut values: impl Iterator<Item = &'v Value<'v>>,
    ) -> Result<u32> {
        if let SaltSource::Hash(_) = self.source {
            let encoding = cockroach::encode(schema, &self.of, values)?;
            return Ok(reduce(u64::from(hash::cockroachdb(&encoding)), self.buckets));
        }
        let (Some(&field), Some(value)) = (self.of.first(), values.next()) else {
            return Err(Error::value("`modulo` needs one field"));
        };
        let field = &schema.fields[field];
        let number = match (value, &field.kind) {
            (Value::Uint(number), _) => i128::from(*number),
            (Value::Int(number), _) => i128::from(*number),
            (Value::Time(time), FieldKind::EpochDigits { unit, .. } | FieldKind::BeTime { unit }) => {
                encode::in_units(*time, *unit).map_err(|error| error.in_field(&field.name))?
            }
            _ => {
                let message = format!("`modulo` needs an integer, not {}", value.type_name());
                return Err(Error::value(message).in_field(&field.name));
            }
        };
        let bucket = number.rem_euclid(i128::from(self.buckets));
        Ok(u32::try_from(bucket).expect("below the number of buckets"))
    }

    /// The bytes of a hash prefix, as they stand in the key.
    pub(crate) fn push_hash_prefix(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let SaltSource::HashPrefix { hash, bytes } = self.source else {
            return Err(Error::value("this salt is not a hash prefix"));
        };
        let mut digest = [0u8; 16];
        let mut fill = |bytes: &[u8]| digest[..bytes.len()].copy_from_slice(bytes);
        match hash {
            Hash::Xxh3 => fill(&hash::xxh3(input).to_be_bytes()),
            Hash::Md5Hex { .. } => fill(&hash::md5(input)),
            other => fill(&hash32(other, input)?.to_be_bytes()),
        }
        let prefix = &digest[..usize::from(bytes)];
        match self.format {
            SaltFormat::Hex { .. } => encode::push_hex(prefix, out),
            _ => out.extend_from_slice(prefix),
        }
        Ok(())
    }

    /// Whether there can be keys with this bucket.
    pub(crate) fn is_bucket(&self, bucket: u32) -> bool {
        bucket < self.buckets || self.stray == Some(bucket)
    }

    /// Writes the bucket over `out`, which is as wide as the salt.
    #[inline]
    pub(crate) fn write(&self, bucket: u32, out: &mut [u8]) {
        match self.format {
            SaltFormat::Digits { .. } => {
                let mut rest = bucket;
                for digit in out.iter_mut().rev() {
                    *digit = low_byte(rest % 10) + b'0';
                    rest /= 10;
                }
            }
            SaltFormat::Hex { .. } => {
                let mut rest = bucket;
                for digit in out.iter_mut().rev() {
                    *digit = b"0123456789abcdef"[usize::from(low_byte(rest & 15))];
                    rest >>= 4;
                }
            }
            SaltFormat::Bytes { .. } => {
                let mut rest = bucket;
                for byte in out.iter_mut().rev() {
                    *byte = low_byte(rest);
                    rest >>= 8;
                }
            }
        }
    }

    /// Reads a salt of a bucket. Offsets of errors count from its start.
    #[inline]
    pub(crate) fn read(&self, salt: &[u8]) -> Result<u32> {
        let number = match self.format {
            SaltFormat::Digits { .. } => match encode::parse_digits(salt) {
                Some(number) => number,
                None => match encode::first_bad_digit(salt) {
                    Some(at) => return Err(Error::malformed(at, "the salt is not a digit here")),
                    None => u64::MAX,
                },
            },
            SaltFormat::Hex { .. } => {
                let mut number = 0u64;
                for (at, &digit) in salt.iter().enumerate() {
                    let Some(value) = encode::hex_value(digit) else {
                        return Err(Error::malformed(at, "the salt is not a lower-case hex digit here"));
                    };
                    number = number << 4 | u64::from(value);
                }
                number
            }
            SaltFormat::Bytes { .. } => salt.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        };
        match u32::try_from(number) {
            Ok(bucket) if self.is_bucket(bucket) => Ok(bucket),
            _ => {
                let message = format!("bucket {number} does not exist: the schema has {}", self.buckets);
                Err(Error::malformed(0, message))
            }
        }
    }
}

fn low_byte(number: u32) -> u8 {
    let [low, ..] = number.to_le_bytes();
    low
}

/// `hash mod buckets`.
#[inline]
fn reduce(hash: u64, buckets: u32) -> u32 {
    let buckets = u64::from(buckets);
    let rest = if buckets.is_power_of_two() { hash & (buckets - 1) } else { hash % buckets };
    // Below `buckets`, a u32, so the low half is the whole value.
    (rest & u64::from(u32::MAX)).try_into().unwrap_or(u32::MAX)
}

fn bucket_of_hash(hash: Hash, input: &[u8], buckets: u32) -> Result<u32> {
    let signed = i64::from(buckets);
    let bucket = match hash {
        Hash::Xxh3 => return Ok(reduce(hash::xxh3(input), buckets)),
        Hash::Md5Hex { digits } => return Ok(reduce(hash::md5_hex(input, digits), buckets)),
        Hash::Phoenix | Hash::OpenTsdb => (i64::from(hash::java_bytes(input)) % signed).unsigned_abs(),
        Hash::HbaseWd => {
            // Java's `Math.abs(-2^31)` is -2^31.
            let rest = i64::from(hash::java_bytes(input).wrapping_abs()) % signed;
            let [byte, ..] = rest.to_le_bytes();
            u64::from(byte)
        }
        Hash::JavaString => {
            let hash = hash32(hash, input)?.cast_signed();
            i64::from(hash).rem_euclid(signed).unsigned_abs()
        }
        other => return Ok(reduce(u64::from(hash32(other, input)?), buckets)),
    };
    Ok(u32::try_from(bucket).expect("below the number of buckets, or a byte"))
}

/// The hashes of 32 bits.
fn hash32(hash: Hash, input: &[u8]) -> Result<u32> {
    match hash {
        Hash::Crc32 => Ok(hash::crc32(input)),
        Hash::Murmur3 => Ok(hash::murmur3(input)),
        Hash::Fnv1 => Ok(hash::fnv1(input)),
        Hash::Fnv1a => Ok(hash::fnv1a(input)),
        Hash::JavaString => str::from_utf8(input)
            .map(|text| hash::java_string(text).cast_unsigned())
            .map_err(|_| Error::value("`java-string` hashes text, and the salt's fields are not UTF-8")),
        _ => Err(Error::value(format!("`{}` has no prefix", hash.name()))),
    }
}

/// `HBaseWD`'s byte for the hash -2^31, if it lies outside the set.
fn stray_bucket(buckets: u32) -> Option<u32> {
    let [byte, ..] = (i64::from(i32::MIN) % i64::from(buckets)).to_le_bytes();
    (u32::from(byte) >= buckets).then_some(u32::from(byte))
}

fn design_error(message: impl Into<String>) -> Error {
    crate::codec::design_error(message)
}

fn check_source(schema: &KeySchema, salt: &Salt) -> Result<()> {
    let ascending = salt.of.is_sorted_by(|a, b| a < b);
    if !ascending || salt.of.iter().any(|&field| field >= schema.fields.len()) {
        return Err(design_error("the salt's fields must be fields of the layout, each once, in its order"));
    }
    if salt.of.is_empty() != (salt.source == SaltSource::Random) {
        return Err(design_error("a salt is of at least one field, and a random one of none"));
    }
    let kinds = || salt.of.iter().map(|&field| (&schema.fields[field].name, &schema.fields[field].kind));
    match salt.source {
        SaltSource::Modulo if salt.of.len() != 1 || !kinds().all(|(_, kind)| kind.is_integer()) => {
            return Err(design_error("`modulo` is of exactly one integer or epoch field"));
        }
        SaltSource::Hash(Hash::CockroachDb) => {
            if let Some((name, kind)) = kinds().find(|(_, kind)| !cockroach::knows(kind)) {
                let kind = kind.name();
                return Err(design_error(format!(
                    "field `{name}`: `CockroachDB`'s key encoding of `{kind}` is not known here; integers, text and bytes are"
                )));
            }
        }
        SaltSource::Hash(Hash::JavaString) | SaltSource::HashPrefix { hash: Hash::JavaString, .. } => {
            if let Some((name, kind)) = kinds().find(|(_, kind)| !kind.is_text()) {
                let kind = kind.name();
                return Err(design_error(format!(
                    "field `{name}`: `java-string` hashes text, and `{kind}` is binary"
                )));
            }
        }
        _ => {}
    }
    if let SaltSource::Hash(Hash::Md5Hex { digits }) = salt.source
        && !(1..=16).contains(&digits)
    {
        return Err(design_error(format!("`md5-hex` takes 1 to 16 digits, not {digits}")));
    }
    Ok(())
}

/// Checks that the format holds every bucket, and returns its width.
fn check_format(salt: &Salt) -> Result<usize> {
    let (width, values) = match salt.format {
        SaltFormat::Digits { width } => (width, 10u128.checked_pow(u32::from(width))),
        SaltFormat::Hex { width } => (width, 16u128.checked_pow(u32::from(width))),
        SaltFormat::Bytes { width } => (width, 256u128.checked_pow(u32::from(width))),
    };
    if let SaltSource::HashPrefix { hash, bytes } = salt.source {
        let max = hash.prefix_bytes_max();
        if bytes == 0 || bytes > max {
            return Err(design_error(format!(
                "a hash prefix of `{}` takes 1 to {max} bytes, not {bytes}",
                hash.name()
            )));
        }
        let expected = match salt.format {
            SaltFormat::Hex { .. } => 2 * bytes,
            SaltFormat::Bytes { .. } => bytes,
            SaltFormat::Digits { .. } => {
                return Err(design_error("a hash prefix is written as hex or bytes, not as decimal digits"));
            }
        };
        if width != expected {
            return Err(design_error(format!(
                "a hash prefix of {bytes} bytes is {expected} wide, not {width}"
            )));
        }
        return Ok(usize::from(width));
    }
    if !(1..=BUCKETS_MAX).contains(&salt.buckets) {
        return Err(design_error(format!("1 to {BUCKETS_MAX} buckets, not {}", salt.buckets)));
    }
    let empty_allowed = salt.source == SaltSource::Hash(Hash::OpenTsdb) && salt.buckets == 1;
    if width > 20 || width == 0 && !empty_allowed {
        return Err(design_error(format!("a salt is 1 to 20 wide, not {width}")));
    }
    if values.is_some_and(|values| values < u128::from(salt.buckets)) {
        return Err(design_error(format!("a salt {width} wide cannot hold {} buckets", salt.buckets)));
    }
    if salt.source == SaltSource::Hash(Hash::HbaseWd) && salt.format != (SaltFormat::Bytes { width: 1 }) {
        return Err(design_error("`hbasewd` writes its bucket as one byte"));
    }
    Ok(usize::from(width))
}

fn runs(schema: &KeySchema, salt: &Salt) -> Result<Vec<Run>> {
    let whole_key = matches!(salt.source, SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd))
        && salt.of.len() == schema.fields.len();
    let of_values = matches!(salt.source, SaltSource::Modulo | SaltSource::Hash(Hash::CockroachDb));
    if whole_key || of_values {
        return Ok(Vec::new());
    }
    let mut runs: Vec<Run> = Vec::new();
    for &field in &salt.of {
        match runs.last_mut() {
            Some(run) if run.last + 1 == field => run.last = field,
            _ => {
                if let Some(before) = runs.last_mut() {
                    before.closed = true;
                }
                runs.push(Run { first: field, last: field, closed: false });
            }
        }
    }
    if runs.len() > RUNS_MAX {
        return Err(design_error(format!(
            "the salt's fields stand in {} separate places of the layout; at most {RUNS_MAX} are supported",
            runs.len()
        )));
    }
    Ok(runs)
}
