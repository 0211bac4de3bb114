//! How a server is started.

use rowkey::KeySchema;
use rowkey_store::{Clock, SystemClock};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Options of [`crate::Server::start`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Where gRPC listens; port 0: any free one.
    pub grpc_address: SocketAddr,
    /// Where the page, its JSON and the metrics listen; `None`: nowhere.
    pub http_address: Option<SocketAddr>,
    /// Virtual nodes on which tablets are placed, at least 1.
    pub nodes: u32,
    /// Key schemas, by the table that each names: what keys look like to people.
    pub schemas: Vec<KeySchema>,
    /// Refuses instances that nobody created. Else any project and instance can be used at once, as clients of an emulator expect.
    pub strict_instances: bool,
    /// Bytes of a `ReadRows` message, about: it ends at the first row behind it. A row that is larger by itself goes over several.
    /// Clients refuse messages over 4 MiB unless they are told otherwise.
    pub message_bytes_max: usize,
    /// How long requests in flight may take after a request to stop.
    pub drain_max: Duration,
    /// Tells timestamps and times of load.
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grpc_address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8086)),
            http_address: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 8087))),
            nodes: 10,
            schemas: Vec::new(),
            strict_instances: false,
            message_bytes_max: 3_500_000,
            drain_max: Duration::from_secs(10),
            clock: Arc::new(SystemClock),
        }
    }
}
