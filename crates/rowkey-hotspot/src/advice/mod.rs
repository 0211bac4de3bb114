//! What a cure gains the writes and costs the reads.
//!
//! Pure functions of numbers. `docs/doctor.md`, "Advice and its formulas", says the same in words and names every source; the
//! tests reproduce the tables that the formulas were first worked out with.

mod choose;
mod latency;
mod numbers;
mod reads;
mod writes;

pub use choose::{
    Alternative, BucketChoice, BucketPoint, BucketQuestion, Outcome, choose_buckets, grow_by_doubling,
};
pub use latency::{ScatterLatency, harmonic, slow_share};
pub use reads::{bucket_cap, optimum, query_cost_s, read_amplification};
pub use writes::{
    Placement, carried_per_s, even_share, even_share_min, idle_share, max_over_mean, nodes_needed,
    random_max_at_most, random_share, usable_share,
};
