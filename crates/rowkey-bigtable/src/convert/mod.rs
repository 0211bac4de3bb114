//! Conversion of messages, both ways. What Bigtable refuses whatever the state of a table is refused here; what depends on a
//! table, or concerns every engine, is left to [`rowkey_store::check`].

mod family;
mod filter;
mod mutation;
mod row;
mod row_set;
mod unknown;

pub use family::{
    family_from_proto, family_to_proto, gc_rule_from_proto, gc_rule_to_proto, granularity_from_proto,
    granularity_to_proto, value_type_from_proto, value_type_to_proto,
};
pub use filter::{filter_from_proto, says_nothing};
pub use mutation::{depends_on_granularity, mutations_from_proto, read_modify_write_from_proto};
pub use row::{key_samples_to_proto, row_to_proto};
pub use row_set::{row_range_from_proto, row_set_from_proto};
pub use unknown::{FilterField, unknown_filters};

use rowkey_store::{Error, ErrorKind};

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// The beginning of bytes, for a message.
fn shown(bytes: &[u8]) -> impl std::fmt::Display {
    const SHOWN_BYTES_MAX: usize = 100;
    rowkey_store::escape::escaped(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)])
}
