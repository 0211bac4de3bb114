//! The key schema: one TOML file, versioned and fingerprinted.

mod model;

pub use model::*;
