//! The Bigtable API over any engine, with load by tablet, metrics and the Key Visualizer page.
//!
//! Start reading at [`Server`]; then `shared.rs` (what all services share), `grpc/` (one folder a service), `load/` (what is recorded),
//! `http/` (the page and its JSON). Nothing here prints or picks an engine.

mod blocking;
mod catalog;
mod grpc;
mod http;
mod load;
mod lock;
mod metrics;
mod options;
mod server;
mod shared;

/// Tables of an engine whose name begins so are the server's own: its catalog, the load that it recorded, tables that were deleted.
pub const SERVER_TABLES: &str = "_rowkey";

pub use options::Options;
pub use server::Server;
