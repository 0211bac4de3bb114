//! Sketches: bounded memory, stated errors, the same answer for the same input and seed.

mod equi_depth;
mod kendall;
mod ranges;
mod sample;
mod space_saving;
mod thinning;

pub use equi_depth::EquiDepth;
pub use kendall::{Tau, tau_b};
pub use ranges::Ranges;
pub use sample::{Sample, Sampled};
pub use space_saving::{Heavy, SpaceSaving};
pub use thinning::Thinning;

/// Longest part of a key that sketches keep, in bytes: `google.bigtable.v2.Row.key` may be 4 KiB. What is longer is cut.
pub const KEY_KEPT_MAX: usize = 4_096;

/// The part of a key that sketches keep.
pub(crate) fn kept(key: &[u8]) -> &[u8] {
    &key[..key.len().min(KEY_KEPT_MAX)]
}

/// A count as a number to divide.
#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53: nobody feeds 9e15 operations")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// An offset or count that fits, since every sketch bounds its bytes and entries far below 2^32.
pub(crate) fn short(count: usize) -> u32 {
    u32::try_from(count).expect("sketches are bounded far below 2^32 bytes")
}

#[cfg(test)]
mod tests;
