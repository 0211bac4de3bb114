//! Scans: one range or more per bucket, read side by side and merged back into logical order.
//!
//! ```text
//! plan --> buckets --> Source (one open stream each) --> Fetcher (chunks, threads) --> merge by unsalted key --> Scan
//! ```
//!
//! One snapshot serves the whole scan. Rows with equal unsalted keys (a random salt allows that) come by bucket. A bucket that fails
//! or is late ends the scan with an error; a short result is never passed off as a whole one.

mod fetch;
mod merge;
mod run;
mod source;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub(crate) use merge::{Merge, MergeConfig};
pub use run::{Scan, ScanRequest, ScanStats};
pub(crate) use source::{Judge, Part, Reading};
pub(crate) use token::{PageToken, Position, Scope};

/// What happens to a stored key that does not conform to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnForeignKey {
    /// The scan fails and names the key, the field and the offset.
    #[default]
    Fail,
    /// The row is left out and counted in [`ScanStats::rows_foreign`].
    Skip,
}
