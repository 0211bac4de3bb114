//! `google.bigtable.v2.Bigtable`: reads and writes.

mod at_once;
mod deadline;
mod features;
mod names;
mod read;
mod replays;
mod scan;
mod tap;
mod write;

pub(super) use tap::Tap;

use crate::shared::Shared;
use at_once::AtOnce;
use replays::Replays;
use rowkey_bigtable::convert::FilterField;
use rowkey_proto::data::bigtable_server::Bigtable;
use rowkey_proto::data::{
    CheckAndMutateRowRequest, CheckAndMutateRowResponse, MutateRowRequest, MutateRowResponse,
    MutateRowsRequest, MutateRowsResponse, PingAndWarmRequest, PingAndWarmResponse,
    ReadModifyWriteRowRequest, ReadModifyWriteRowResponse, ReadRowsRequest, ReadRowsResponse,
    SampleRowKeysRequest, SampleRowKeysResponse,
};
use std::sync::Arc;
use tap::Raw;
use tokio::sync::Semaphore;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub(crate) struct DataService {
    shared: Arc<Shared>,
    /// Threads that writers may hold.
    writers: Arc<Semaphore>,
    /// Writes that must not be applied twice.
    replays: Arc<Replays>,
    at_once: Arc<AtOnce>,
}

impl DataService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let writers = Arc::new(Semaphore::new(write::WRITERS_MAX));
        let at_once = Arc::new(AtOnce::new(&*shared.engine));
        Self { shared, writers, replays: Arc::default(), at_once }
    }
}

/// Messages that are there already.
fn stream<T: Send + 'static>(messages: Vec<T>) -> BoxStream<T> {
    Box::pin(tokio_stream::iter(messages.into_iter().map(Ok)))
}

// What is not here answers UNIMPLEMENTED.
#[tonic::async_trait]
impl Bigtable for DataService {
    async fn read_rows(
        &self,
        request: Request<ReadRowsRequest>,
    ) -> Result<Response<BoxStream<ReadRowsResponse>>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let known = Raw::check(&extensions, message.filter.as_ref(), FilterField::ReadRows);
        let scan = match known {
            Ok(()) => self.scan(&metadata, message).await,
            Err(status) => Err(status),
        };
        scan.map(|scan| Response::new(Box::pin(scan) as BoxStream<_>))
    }

    async fn sample_row_keys(
        &self,
        request: Request<SampleRowKeysRequest>,
    ) -> Result<Response<BoxStream<SampleRowKeysResponse>>, Status> {
        let samples = self.samples(request.into_inner()).await;
        samples.map(|samples| Response::new(stream(samples)))
    }

    async fn mutate_row(
        &self,
        request: Request<MutateRowRequest>,
    ) -> Result<Response<MutateRowResponse>, Status> {
        let result = self.mutate_one(request.into_inner()).await;
        result.map(Response::new)
    }

    async fn mutate_rows(
        &self,
        request: Request<MutateRowsRequest>,
    ) -> Result<Response<BoxStream<MutateRowsResponse>>, Status> {
        let messages = self.mutate_several(request.into_inner()).await;
        messages.map(|messages| Response::new(stream(messages)))
    }

    async fn check_and_mutate_row(
        &self,
        request: Request<CheckAndMutateRowRequest>,
    ) -> Result<Response<CheckAndMutateRowResponse>, Status> {
        let (_, extensions, message) = request.into_parts();
        let known =
            Raw::check(&extensions, message.predicate_filter.as_ref(), FilterField::CheckAndMutateRow);
        let result = match known {
            Ok(()) => self.check_and_mutate(message).await,
            Err(status) => Err(status),
        };
        result.map(Response::new)
    }

    async fn ping_and_warm(
        &self,
        request: Request<PingAndWarmRequest>,
    ) -> Result<Response<PingAndWarmResponse>, Status> {
        let result = names::instance(&self.shared, &request.into_inner().name);
        result.map(|()| Response::new(PingAndWarmResponse {}))
    }

    async fn read_modify_write_row(
        &self,
        request: Request<ReadModifyWriteRowRequest>,
    ) -> Result<Response<ReadModifyWriteRowResponse>, Status> {
        let result = self.read_modify_write(request.into_inner()).await;
        result.map(Response::new)
    }
}
