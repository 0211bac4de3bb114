//! Findings for machines: JSON and SARIF; values replaced by classes.

mod help;
mod json;
mod object;
pub mod redact;
#[cfg(test)]
mod samples;
mod sarif;
pub mod words;

pub use help::help;
pub use json::json;
pub use object::Json;
pub use redact::{Redactor, Wording};
pub use sarif::sarif;

/// Where the examined operations came from, as far as a report names it. File names are shown as they are, also where values are
/// redacted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The file of keys or operations, as the user named it. `None`: there was none, the keys are generated from the schema.
    pub input: Option<String>,
    /// The key schema's file, and the line of its layout, from 1.
    pub schema: Option<(String, u64)>,
    /// Lines read, blank ones included.
    pub lines: u64,
    /// Operations among them.
    pub operations: u64,
    /// Lines that were not understood.
    pub malformed: u64,
}
