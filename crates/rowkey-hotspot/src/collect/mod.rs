//! Facts of a stream, collected in one pass and bounded memory.

mod collector;
mod depth;
mod lengths;
mod n_eff;
mod rates;
mod runs;
mod series;
mod spread;

pub use collector::{CollectConfig, Collector};
pub use n_eff::{evenness, n_eff, n_eff_error, n_eff_plain};
pub use spread::{SpreadConfig, SpreadMeter, spread_of};

#[cfg(test)]
mod tests;
