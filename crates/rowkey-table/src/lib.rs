//! Keyed tables: a key schema over an engine.
//!
//! Salted writes, gets, scans that gather all buckets and merge them back into logical order, paging, import and export.
//! Start reading at [`KeyedTable`].

mod access;
mod error;
pub mod export;
mod hash;
pub mod import;
mod row;
mod scan;
mod table;

pub use access::GetOptions;
pub use error::{Error, ErrorKind, Result};
pub use row::KeyedRow;
pub use scan::{OnForeignKey, Scan, ScanRequest, ScanStats};
pub use table::{CreateOptions, FINGERPRINT_ANNOTATION, KeyedTable, SCHEMA_ANNOTATION, kept_schema};
