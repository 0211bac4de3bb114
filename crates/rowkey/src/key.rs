//! The kinds of key, never mixed: a logical key is a slice of [`Value`](crate::Value)s in field order, an
//! [`UnsaltedKey`] its bytes without the salt, a [`StoredKey`] the bytes in the store.
//!
//! ```text
//! | salt: 0 to n bytes, fixed width | unsalted key |     = stored key
//! ```

use crate::escape;
use std::fmt;

/// The longest row key that Bigtable takes, in bytes (4 KiB; `google.bigtable.v2.Row.key`).
pub const ROW_KEY_BYTES_MAX_BIGTABLE: usize = 4096;

/// The longest row key that `HBase` takes, in bytes (`HConstants.MAX_ROW_LENGTH`, `Short.MAX_VALUE`).
pub const ROW_KEY_BYTES_MAX_HBASE: usize = 32_767;

macro_rules! key_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub Vec<u8>);

        impl $name {
            /// The bytes of the key.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                escape::escaped(&self.0).fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

key_type! {
    /// The bytes of a row key as the store holds them, salt included. Printed escaped.
    StoredKey
}
key_type! {
    /// The bytes of a row key without its salt: what scatter-gather results are ordered by. Printed escaped.
    UnsaltedKey
}
