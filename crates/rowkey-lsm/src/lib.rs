//! The embedded persistent engine.

pub mod fragment;
mod key;
mod merge;
#[cfg(test)]
mod random;
mod trim;
