//! The Bigtable API over any engine, with load by tablet, metrics and the Key Visualizer page.
//!
//! Start reading at [`Server`]; then `shared.rs` (what all services share), `grpc/` (one folder a service), `load/` (what is recorded),
//! `http/` (the page and its JSON). Nothing here prints or picks an engine.

mod blocking;
mod catalog;
mod grpc;
mod http;
mod load;
mod options;
mod server;
mod shared;

pub use options::Options;
pub use server::Server;
