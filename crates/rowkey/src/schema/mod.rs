//! The key schema: one TOML file, versioned and fingerprinted.

mod model;
mod parse;
mod print;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use model::*;

impl KeySchema {
    /// The index of a field in [`KeySchema::fields`], by its name.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}
