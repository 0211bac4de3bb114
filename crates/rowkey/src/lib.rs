//! Row keys declared once: schema, encodings, salts, queries and scan plans, split points.
//!
//! Pure: no I/O, no clock, no randomness. The same input gives the same bytes on every machine.
//! Start reading at [`KeySchema`].

mod codec;
mod encode;
mod error;
pub mod escape;
mod key;
pub mod plan;
pub mod query;
pub mod range;
pub mod salt;
pub mod schema;
pub mod splits;
#[cfg(test)]
mod testing;
mod value;

pub use codec::{Codec, Explanation, KeyFields, KeyPart};
pub use error::{Error, ErrorKind, Result};
pub use key::{ROW_KEY_BYTES_MAX_BIGTABLE, ROW_KEY_BYTES_MAX_HBASE, StoredKey, UnsaltedKey};
pub use plan::{Plan, plan};
pub use query::Query;
pub use schema::KeySchema;
pub use value::{Time, Value};
