//! The key schema: one TOML file, versioned and fingerprinted.

mod describe;
mod diff;
mod fingerprint;
mod model;
mod parse;
mod print;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod warnings;
mod width;

pub use describe::{Description, PartDescription, QueryDescription};
pub use diff::{Change, Diff, Verdict, diff};
pub use fingerprint::Fingerprint;
pub use model::*;
pub use warnings::Warning;
pub use width::Width;

impl KeySchema {
    /// The index of a field in [`KeySchema::fields`], by its name.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// A JSON Schema (draft 2020-12) of the schema file, for editors: completion, and red lines under mistakes.
pub fn json_schema() -> &'static str {
    include_str!("schema.json")
}
