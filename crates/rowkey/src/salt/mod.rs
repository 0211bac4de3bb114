//! Salts: the prefix that spreads writes, a function of other fields unless it is random.
//!
//! ```text
//! | salt: fixed width | unsalted key |
//!   digits  07          bucket = hash(input) mod buckets
//!   hex     0f
//!   bytes   00 0f       big endian
//! ```
//!
//! The input of a hash is the bytes of the salt's fields as they stand in the key, in layout order. Each field but the last is
//! followed by the literal that follows it in the layout; so the input of neighbouring fields is one slice of the key. A hash of
//! several fields separated by other fields is the hash of the slices one behind the other. Two exceptions: `phoenix` and `hbasewd`
//! over all fields hash everything behind the salt, literals before and after included, as these peers do; `cockroachdb` hashes its own
//! key encoding of the values, and `modulo` needs no hash.

pub(crate) mod cockroach;
pub mod hash;
mod plan;
mod weakness;

pub(crate) use plan::{RUNS_MAX, SaltPlan};

use crate::schema::Hash;

impl Hash {
    /// As a schema names it.
    pub fn name(self) -> &'static str {
        match self {
            Hash::Xxh3 => "xxh3",
            Hash::Md5Hex { .. } => "md5-hex",
            Hash::Crc32 => "crc32",
            Hash::Murmur3 => "murmur3",
            Hash::Fnv1 => "fnv1",
            Hash::Fnv1a => "fnv1a",
            Hash::JavaString => "java-string",
            Hash::Phoenix => "phoenix",
            Hash::HbaseWd => "hbasewd",
            Hash::OpenTsdb => "opentsdb",
            Hash::CockroachDb => "cockroachdb",
        }
    }

    /// The hash of this name; `md5-hex` with its usual four digits.
    pub fn from_name(name: &str) -> Option<Hash> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// Every hash, in the order in which the documentation lists them.
    pub const ALL: [Hash; 11] = [
        Hash::Xxh3,
        Hash::Md5Hex { digits: 4 },
        Hash::Crc32,
        Hash::Murmur3,
        Hash::Fnv1,
        Hash::Fnv1a,
        Hash::JavaString,
        Hash::Phoenix,
        Hash::HbaseWd,
        Hash::OpenTsdb,
        Hash::CockroachDb,
    ];

    /// How many bytes of it a hash prefix can take, at most. 0: the hash is defined only together with a modulo.
    pub fn prefix_bytes_max(self) -> u8 {
        match self {
            Hash::Xxh3 => 8,
            Hash::Md5Hex { .. } => 16,
            Hash::Crc32 | Hash::Murmur3 | Hash::Fnv1 | Hash::Fnv1a | Hash::JavaString => 4,
            Hash::Phoenix | Hash::HbaseWd | Hash::OpenTsdb | Hash::CockroachDb => 0,
        }
    }
}

#[cfg(test)]
mod tests;
