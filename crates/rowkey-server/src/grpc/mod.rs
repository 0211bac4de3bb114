//! The gRPC services, one folder each.

mod data;
mod iam;
mod instance_admin;
mod operations;
mod respond;
mod table_admin;

use crate::server::unavailable;
use crate::shared::Shared;
use respond::Named;
use rowkey_proto::admin::bigtable_instance_admin_server::BigtableInstanceAdminServer;
use rowkey_proto::admin::bigtable_table_admin_server::BigtableTableAdminServer;
use rowkey_proto::data::bigtable_server::BigtableServer;
use rowkey_proto::longrunning::operations_server::OperationsServer;
use rowkey_store::Result;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// Bytes of one message, 256 MiB: the largest row that a read returns (`MutateRowRequest`, `ReadRowsResponse`).
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Calls that a client of one connection may give up before they are begun, or while they are answered. The defaults of HTTP/2 servers, 20 and
/// 1,024, are against strangers who want to keep a server busy; a load test that gives up its scans would lose its connection.
const RESET_STREAMS_MAX: usize = 100_000;

/// Serves until `stopping` becomes true and requests in flight have ended.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    mut stopping: watch::Receiver<bool>,
) -> Result<()> {
    let data = BigtableServer::new(data::DataService::new(Arc::clone(&shared)))
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let data = data::Tap::new(data, MESSAGE_BYTES_MAX);
    let tables = BigtableTableAdminServer::new(table_admin::TableAdminService::new(Arc::clone(&shared)));
    let instances =
        BigtableInstanceAdminServer::new(instance_admin::InstanceAdminService::new(Arc::clone(&shared)));
    let operations = OperationsServer::new(operations::OperationsService::new(Arc::clone(&shared)));
    // Without it, the second of two small messages waits 40 ms for the first one's acknowledgement.
    let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
    Server::builder()
        .http2_max_pending_accept_reset_streams(Some(RESET_STREAMS_MAX))
        .http2_max_local_error_reset_streams(Some(RESET_STREAMS_MAX))
        .add_service(Named::new(data, &shared))
        .add_service(Named::new(tables, &shared))
        .add_service(Named::new(instances, &shared))
        .add_service(Named::new(operations, &shared))
        .serve_with_incoming_shutdown(connections, async move {
            // An error means that the server is gone: stop as well.
            let _ = stopping.wait_for(|stop| *stop).await;
        })
        .await
        .map_err(|error| unavailable("the gRPC service failed", error))
}
