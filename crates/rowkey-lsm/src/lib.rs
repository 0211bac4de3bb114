//! The embedded persistent engine: Bigtable's data model on the LSM trees of `fjall`, in one folder.
//!
//! Start reading at [`LsmEngine`]; then `committer.rs` (how a write becomes durable and visible), `fragment.rs` (what is stored),
//! `trim.rs` (garbage collection). The formats are described in `docs/formats/store.md`.

mod admin;
mod apply;
mod backup;
mod collect;
mod committer;
mod damage;
mod driver;
mod engine;
mod error;
mod filter;
pub mod fragment;
mod handle;
mod info;
mod key;
mod merge;
mod meta;
mod open;
mod options;
mod prepare;
#[cfg(test)]
mod random;
mod raw;
mod read;
mod shared;
mod spares;
mod state;
mod statistics;
mod trim;
mod write;

pub use engine::LsmEngine;
pub use options::Options;
