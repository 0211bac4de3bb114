//! Conversion of messages, both ways. What Bigtable refuses whatever the state of a table is refused here; what depends on a
//! table, or concerns every engine, is left to [`rowkey_store::check`].

mod family;

pub use family::{
    family_from_proto, family_to_proto, gc_rule_from_proto, gc_rule_to_proto, granularity_from_proto,
    granularity_to_proto, value_type_from_proto, value_type_to_proto,
};

use rowkey_store::{Error, ErrorKind};

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}
