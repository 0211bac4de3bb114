//! `google.bigtable.v2.Bigtable`, by a client over the network.

#![expect(clippy::unwrap_used, reason = "a test whose server does not answer has failed")]

mod client;
mod conditions;
mod filters;
mod mutations;
mod raw;
mod reads;
mod streams;
