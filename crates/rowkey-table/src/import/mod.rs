//! Import of CSV and JSON lines through a key schema.
//!
//! ```text
//! text --records--> fields --mapping--> values and cells --codec--> stored key --batches--> engine
//!                      |                      |                        |                     |
//!                      +----------------------+---- rejects, with line, reason and text -----+
//! ```
//!
//! Nothing is dropped silently: every record ends in exactly one count of [`ImportReport`], and the sum is checked.

mod apply;
mod input;
mod mapping;
mod record;
mod reject;
mod run;
mod seen;

pub use input::open_text;
pub use mapping::{Mapping, RestColumns, TimeColumn};
pub use reject::Reject;

use rowkey_store::Durability;
use std::io::Write;
use std::ops::ControlFlow;

/// How the text is divided into records and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// CSV with a header line; quotes as in RFC 4180.
    Csv {
        /// Between fields, `,` in most files.
        delimiter: u8,
    },
    /// One JSON object a line: a flat one, or a line of our own JSON export.
    JsonLines,
}

/// What happens to a record whose row key an earlier record of the import had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    /// Both are kept as versions: the later one gets the next free cell timestamp, one granule (1 ms or 1 us) further.
    /// Cells of our own JSON export have times of their own and keep them; of two cells of one time the later one is left.
    #[default]
    KeepVersions,
    /// The last record of the input wins; the cells of the earlier ones are deleted. A line of our own JSON export replaces the row.
    Overwrite,
    /// The first record wins; later ones are rejected.
    Reject,
}

/// How an import is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// What happens to duplicates within the import.
    pub on_duplicate: OnDuplicate,
    /// The import stops with an error at one more rejected record than this; `None`: never.
    pub rejects_max: Option<u64>,
    /// When a batch is acknowledged. With `Buffered`, the end of the import waits for the disk once.
    pub durability: Durability,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// Bytes of a batch, about.
    pub batch_bytes: usize,
    /// The timestamp of cells that have none of their own, in microseconds; `None`: the clock's when the import begins.
    pub timestamp_us: Option<i64>,
    /// Chooses the buckets of a random salt.
    pub seed: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            on_duplicate: OnDuplicate::default(),
            rejects_max: None,
            durability: Durability::default(),
            batch_rows: 1000,
            batch_bytes: 1024 * 1024,
            timestamp_us: None,
            seed: 0,
        }
    }
}

/// Where an import reports to while it runs.
#[derive(Default)]
pub struct ImportHooks<'h> {
    /// Gets a line of JSON for each rejected record.
    pub rejects: Option<&'h mut dyn Write>,
    /// Called after each batch; may stop the import.
    pub progress: Option<&'h mut ProgressFn<'h>>,
}

/// Told how far an import came; `Break` stops it.
pub type ProgressFn<'h> = dyn FnMut(Progress) -> ControlFlow<()> + 'h;

impl std::fmt::Debug for ImportHooks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImportHooks").finish_non_exhaustive()
    }
}

/// How far an import came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Records read.
    pub rows: u64,
    /// Bytes of text read, after unpacking.
    pub bytes: u64,
}

/// What became of each record. The counts add up: see [`ImportReport::adds_up`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Records read, without the header.
    pub rows_read: u64,
    /// Rows written whose key no earlier record had.
    pub rows_written: u64,
    /// Duplicates written as further versions.
    pub duplicates_kept: u64,
    /// Duplicates that replaced an earlier record.
    pub duplicates_overwritten: u64,
    /// Duplicates rejected because the options say so.
    pub duplicates_rejected: u64,
    /// Records rejected because something is wrong with them.
    pub rows_rejected: u64,
    /// Cells written.
    pub cells_written: u64,
    /// Bytes of text read, after unpacking.
    pub bytes_read: u64,
    /// The timestamp of cells that had none of their own, in microseconds.
    pub timestamp_us: i64,
    /// Columns that were left out, as the mapping says.
    pub columns_ignored: Vec<String>,
    /// The first few rejected records.
    pub first_rejects: Vec<Reject>,
    /// What the caller should tell people.
    pub warnings: Vec<String>,
}

impl ImportReport {
    /// Whether every record that was read is in exactly one of the other counts.
    pub fn adds_up(&self) -> bool {
        self.rows_read
            == self.rows_written
                + self.duplicates_kept
                + self.duplicates_overwritten
                + self.duplicates_rejected
                + self.rows_rejected
    }

    /// Records that were rejected for any reason.
    pub fn rejected(&self) -> u64 {
        self.rows_rejected + self.duplicates_rejected
    }

    /// Records whose key an earlier one had.
    pub fn duplicates(&self) -> u64 {
        self.duplicates_kept + self.duplicates_overwritten + self.duplicates_rejected
    }
}
