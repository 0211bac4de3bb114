//! `google.longrunning.Operations`: everything is done at once, and its operation can be asked for.

use super::table_admin::run;
use crate::shared::Shared;
use prost::Message;
use prost_types::{Any, Timestamp};
use rowkey_bigtable::status;
use rowkey_proto::longrunning::operations_server::Operations;
use rowkey_proto::longrunning::{
    CancelOperationRequest, DeleteOperationRequest, GetOperationRequest, ListOperationsRequest,
    ListOperationsResponse, Operation, WaitOperationRequest, operation,
};
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// Operations of a page, unless fewer are asked for; ours.
const PAGE_MAX: usize = 1_000;

/// The service.
#[derive(Debug)]
pub(crate) struct OperationsService {
    shared: Arc<Shared>,
}

impl OperationsService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn find(&self, name: &str) -> Result<Operation, Status> {
        self.shared.catalog.operations.get(name).ok_or_else(|| missing(name))
    }
}

#[tonic::async_trait]
impl Operations for OperationsService {
    async fn list_operations(
        &self,
        request: Request<ListOperationsRequest>,
    ) -> Result<Response<ListOperationsResponse>, Status> {
        let request = request.into_inner();
        if !request.filter.is_empty() {
            return Err(Status::unimplemented("operations cannot be filtered: leave the filter empty"));
        }
        let size = page_size(request.page_size, PAGE_MAX)?;
        let after = match request.page_token.as_str() {
            "" => None,
            token => Some(token.parse().map_err(|_| bad_token())?),
        };
        // Both `operations/projects/P` and `projects/P` are in use.
        let prefix = match request.name.trim_end_matches('/') {
            "" | "operations" => "operations/".to_owned(),
            name if name.starts_with("operations/") => format!("{name}/"),
            name => format!("operations/{name}/"),
        };
        let mut found = self.shared.catalog.operations.list(&prefix, after, size + 1);
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().filter(|_| more).map(|(number, _)| number.to_string());
        let operations = found.into_iter().map(|(_, operation)| operation).collect();
        let response = ListOperationsResponse {
            operations,
            next_page_token: last.unwrap_or_default(),
            ..ListOperationsResponse::default()
        };
        Ok(Response::new(response))
    }

    async fn get_operation(
        &self,
        request: Request<GetOperationRequest>,
    ) -> Result<Response<Operation>, Status> {
        self.find(&request.into_inner().name).map(Response::new)
    }

    async fn delete_operation(
        &self,
        request: Request<DeleteOperationRequest>,
    ) -> Result<Response<()>, Status> {
        let name = request.into_inner().name;
        run(&self.shared, move |shared| {
            let found = shared.catalog.operations.remove(&name).map_err(|error| status(&error))?;
            if found { Ok(()) } else { Err(missing(&name)) }
        })
        .await
    }

    async fn cancel_operation(
        &self,
        request: Request<CancelOperationRequest>,
    ) -> Result<Response<()>, Status> {
        // It is done: there is nothing left to cancel, which is a success.
        self.find(&request.into_inner().name).map(|_| Response::new(()))
    }

    async fn wait_operation(
        &self,
        request: Request<WaitOperationRequest>,
    ) -> Result<Response<Operation>, Status> {
        self.find(&request.into_inner().name).map(Response::new)
    }
}

fn missing(name: &str) -> Status {
    Status::not_found(format!(
        "operation `{}` does not exist; the newest 10,000 are kept",
        crate::catalog::shown(name)
    ))
}

/// An operation that is done, kept under a name in `parent`, as `projects/P/instances/I`. Types are those of `google.bigtable.admin.v2`,
/// without the package. Blocks.
///
/// # Errors
///
/// Those of the engine.
pub(super) fn done(
    shared: &Shared,
    parent: &str,
    metadata: (&str, &impl Message),
    response: (&str, &impl Message),
) -> Result<Operation, Status> {
    let operation = Operation {
        name: String::new(),
        metadata: Some(any(metadata.0, metadata.1)),
        done: true,
        result: Some(operation::Result::Response(any(response.0, response.1))),
    };
    let now_us = shared.options.clock.now_us();
    shared.catalog.operations.add(parent, now_us, operation).map_err(|error| status(&error))
}

fn any(kind: &str, message: &impl Message) -> Any {
    Any {
        type_url: format!("type.googleapis.com/google.bigtable.admin.v2.{kind}"),
        value: message.encode_to_vec(),
    }
}

/// Now, by the server's clock.
pub(super) fn now(shared: &Shared) -> Timestamp {
    timestamp(shared.options.clock.now_us())
}

/// Microseconds since the epoch as a message.
pub(super) fn timestamp(time_us: i64) -> Timestamp {
    let nanos = time_us.rem_euclid(1_000_000) * 1_000;
    // Below a thousand million.
    Timestamp { seconds: time_us.div_euclid(1_000_000), nanos: i32::try_from(nanos).unwrap_or_default() }
}

/// The size of a page: what is asked for, at most `size_max`; 0 leaves it to the server.
///
/// # Errors
///
/// `INVALID_ARGUMENT` if it is negative.
pub(super) fn page_size(asked: i32, size_max: usize) -> Result<usize, Status> {
    match usize::try_from(asked) {
        Ok(0) => Ok(size_max),
        Ok(size) => Ok(size.min(size_max)),
        Err(_) => Err(Status::invalid_argument(format!("page_size is {asked}; it must not be negative"))),
    }
}

/// The status for a page token that this server did not hand out.
pub(super) fn bad_token() -> Status {
    Status::invalid_argument("page_token is none that this server handed out; begin without one")
}
