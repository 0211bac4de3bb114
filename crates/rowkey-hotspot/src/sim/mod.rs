//! Tablets on nodes under load: the sampled-fluid model.
//!
//! ```text
//! each second:  draw a few thousand operations through the codec -> tablets, by key -> nodes, in node seconds
//!               -> what is served, waits, is refused -> latency from load -> tablets cut and moved
//! ```
//!
//! `docs/simulator.md` has the model in words, every parameter with its source, and what it cannot tell.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts, rates and shares are far below 2^53, and what is cast to a whole number is not negative"
)]

mod balance;
mod chart;
mod decide;
mod drive;
mod engine;
mod finder;
mod index;
mod latency;
mod outcome;
mod parameters;
mod serve;
mod settings;
mod tablet;
#[cfg(test)]
mod tests;
mod trace;

pub use balance::{BalanceGoal, moves_by_load};
pub use chart::Chart;
pub use drive::{Observer, SECONDS_MAX, pre_split, replay, simulate};
pub use engine::{NODES_MAX, Piece, Simulation, TABLETS_MAX};
pub use finder::{Finder, FinderRule};
pub use latency::{Latency, RHO_MAX, erlang_c, normal_cdf};
pub use outcome::{NodeOutcome, Outcome, Tick, Totals};
pub use parameters::Parameter;
pub use settings::{
    Balancer, Clients, Cut, Efficiency, LoadRule, PAPER_2006, Settings, SizeRule, TabletLimits, Watched,
    paper_2006,
};
pub use trace::{Trace, TraceOptions};
