//! Finds row-key hotspots before production: what operations do to the tablets of a table, why, and what cures it.
//!
//! Analysis is a pure function of its input and a seed. Nothing here prints, reads a clock, or knows an engine.

pub mod advice;
pub mod collect;
pub mod context;
pub mod doctor;
mod error;
pub mod facts;
pub mod finding;
pub mod heatmap;
pub mod infer;
pub mod input;
pub mod layout;
pub mod operation;
pub mod picture;
pub mod propose;
pub mod report;
pub mod rule;
pub mod rules;
pub mod sim;
pub mod sketch;
pub mod workload;

pub use context::{Capacity, Context, Declared};
pub use error::{Error, ErrorKind, Result};
pub use facts::Facts;
pub use finding::{Advice, Diagnosis, Finding};
pub use layout::Layout;
pub use operation::{OpKind, Operation};
pub use rule::{Rule, Severity};
