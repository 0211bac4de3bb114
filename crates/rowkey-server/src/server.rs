//! Starts and stops a server.

use crate::catalog::Catalog;
use crate::load::Load;
use crate::options::Options;
use crate::shared::Shared;
use crate::{grpc, http};
use rowkey_store::wrap::{Recorded, Recorder};
use rowkey_store::{Engine, Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Threads that may block in the engine at the same time.
const BLOCKING_THREADS_MAX: usize = 512;

/// A server that runs. Dropping it stops it at once; [`Server::stop`] lets it finish.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    services: JoinSet<Result<()>>,
    stop: watch::Sender<bool>,
    shared: Arc<Shared>,
    grpc_address: SocketAddr,
    http_address: Option<SocketAddr>,
}

impl Server {
    /// Listens and begins to serve.
    ///
    /// # Errors
    ///
    /// `Unavailable`: an address cannot be listened on. Those of the engine: the server's own table cannot be read.
    pub fn start(engine: Arc<dyn Engine>, options: Options) -> Result<Self> {
        let load = Arc::new(Load::open(&engine, &options)?);
        let observer = Arc::clone(&load);
        let recorder = Recorder::new(Arc::clone(&options.clock), move |record| observer.observe(&record));
        let engine: Arc<dyn Engine> = Arc::new(Recorded::new(engine, recorder));
        let catalog = Catalog::open(&engine, &options)?;
        let shared = Arc::new(Shared { engine, catalog, load, options });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .thread_name("rowkey-server")
            .build()
            .map_err(|error| unavailable("threads cannot be started", error))?;
        let (stop, stopping) = watch::channel(false);
        let mut services = JoinSet::new();
        let grpc = runtime.block_on(listen(shared.options.grpc_address, "gRPC"))?;
        let grpc_address = address(&grpc)?;
        let http = shared
            .options
            .http_address
            .map(|address| runtime.block_on(listen(address, "HTTP, the page")))
            .transpose()?;
        let http_address = http.as_ref().map(address).transpose()?;
        services.spawn_on(grpc::serve(Arc::clone(&shared), grpc, stopping.clone()), runtime.handle());
        if let Some(http) = http {
            services.spawn_on(http::serve(Arc::clone(&shared), http, stopping.clone()), runtime.handle());
        }
        Load::start(&shared, &mut services, runtime.handle(), &stopping);
        Ok(Self { runtime, services, stop, shared, grpc_address, http_address })
    }

    /// Where gRPC listens.
    pub fn grpc_address(&self) -> SocketAddr {
        self.grpc_address
    }

    /// Where HTTP listens.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }

    /// Accepts nothing more, lets requests in flight end (at most [`Options::drain_max`]), and puts everything on disk.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::sync`], and of a service that had failed.
    pub fn stop(mut self) -> Result<()> {
        let _ = self.stop.send(true);
        let drain_max = self.shared.options.drain_max;
        let services = self.runtime.block_on(async {
            let all = async {
                let mut result = Ok(());
                while let Some(ended) = self.services.join_next().await {
                    let ended = ended.unwrap_or_else(|error| Err(unavailable("a service failed", error)));
                    result = result.and(ended);
                }
                result
            };
            // What does not end in time is given up with the runtime.
            tokio::time::timeout(drain_max, all).await.unwrap_or(Ok(()))
        });
        self.runtime.shutdown_timeout(drain_max);
        services.and(self.shared.load.save(&*self.shared.engine)).and(self.shared.engine.sync())
    }
}

async fn listen(address: SocketAddr, service: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let what =
            format!("cannot listen on {address} for {service}; is another server there? Choose another address or port");
        unavailable(&what, error)
    })
}

fn address(listener: &TcpListener) -> Result<SocketAddr> {
    listener.local_addr().map_err(|error| unavailable("the address of a socket cannot be read", error))
}

pub(crate) fn unavailable(what: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let error = error.into();
    Error::new(ErrorKind::Unavailable, format!("{what}: {error}")).with_source(error)
}
