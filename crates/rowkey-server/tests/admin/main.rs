//! Table and instance admin over gRPC, as a client meets it.

#![expect(clippy::unwrap_used, reason = "test code")]

mod families;
mod instances;
mod policies;
mod restart;
mod tables;

use rowkey_lsm::LsmEngine;
use rowkey_proto::admin;
use rowkey_proto::admin::bigtable_instance_admin_client::BigtableInstanceAdminClient;
use rowkey_proto::admin::bigtable_table_admin_client::BigtableTableAdminClient;
use rowkey_proto::longrunning::operations_client::OperationsClient;
use rowkey_proto::longrunning::{Operation, operation};
use rowkey_server::{Options, Server};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Engine, SystemClock};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};

const INSTANCE: &str = "projects/p/instances/i";
const TABLE: &str = "projects/p/instances/i/tables/t";

/// A client, the server that it talks to, and the engine below.
struct Client {
    runtime: Runtime,
    server: Server,
    engine: Arc<dyn Engine>,
    channel: Channel,
    tables: BigtableTableAdminClient<Channel>,
    instances: BigtableInstanceAdminClient<Channel>,
    operations: OperationsClient<Channel>,
}

/// Runs a test on a server over each engine.
fn on_every_engine(test: impl Fn(&Client)) {
    on_memory(Options::default(), &test);
    let folder = tempfile::tempdir().unwrap();
    on_lsm(folder.path(), test);
}

/// Runs a test on a server over the engine in memory.
fn on_memory(options: Options, test: impl Fn(&Client)) {
    let client = Client::start(Arc::new(MemoryEngine::new(Arc::new(SystemClock))), options);
    test(&client);
    client.server.stop().unwrap();
}

/// Runs a test on a server over the embedded store in a folder, and closes it.
fn on_lsm(folder: &Path, test: impl Fn(&Client)) {
    let options = rowkey_lsm::Options { create: true, ..rowkey_lsm::Options::default() };
    let lsm = Arc::new(LsmEngine::open(folder, options).unwrap());
    let client = Client::start(Arc::clone(&lsm) as Arc<dyn Engine>, Options::default());
    test(&client);
    client.server.stop().unwrap();
    lsm.close();
}

impl Client {
    fn start(engine: Arc<dyn Engine>, options: Options) -> Self {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = Options { grpc_address: free, http_address: None, ..options };
        let server = Server::start(Arc::clone(&engine), options).unwrap();
        let runtime = Runtime::new().unwrap();
        let channel = Channel::from_shared(format!("http://{}", server.grpc_address())).unwrap();
        let channel = runtime.block_on(channel.connect()).unwrap();
        Self {
            runtime,
            server,
            engine,
            tables: BigtableTableAdminClient::new(channel.clone()),
            instances: BigtableInstanceAdminClient::new(channel.clone()),
            operations: OperationsClient::new(channel.clone()),
            channel,
        }
    }

    /// Waits for an answer.
    fn call<T>(&self, answer: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Status> {
        self.runtime.block_on(answer).map(Response::into_inner)
    }

    fn create(
        &self,
        parent: &str,
        id: &str,
        table: admin::Table,
        splits: &[&str],
    ) -> Result<admin::Table, Status> {
        let split = |key: &&str| admin::create_table_request::Split { key: (*key).into() };
        let request = admin::CreateTableRequest {
            parent: parent.to_owned(),
            table_id: id.to_owned(),
            table: Some(table),
            initial_splits: splits.iter().map(split).collect(),
        };
        self.call(self.tables.clone().create_table(request))
    }

    fn get(&self, name: &str, view: admin::table::View) -> Result<admin::Table, Status> {
        let request = admin::GetTableRequest { name: name.to_owned(), view: view.into() };
        self.call(self.tables.clone().get_table(request))
    }

    fn delete(&self, name: &str) -> Result<(), Status> {
        self.call(self.tables.clone().delete_table(admin::DeleteTableRequest { name: name.to_owned() }))
    }

    /// Ids of the tables of an instance.
    fn list(&self, parent: &str) -> Vec<String> {
        let request =
            admin::ListTablesRequest { parent: parent.to_owned(), ..admin::ListTablesRequest::default() };
        let tables = self.call(self.tables.clone().list_tables(request)).unwrap().tables;
        tables.into_iter().map(|table| last(&table.name).to_owned()).collect()
    }

    fn update(&self, table: admin::Table, paths: &[&str]) -> Result<Operation, Status> {
        let request = admin::UpdateTableRequest {
            table: Some(table),
            update_mask: Some(mask(paths)),
            ignore_warnings: false,
        };
        self.call(self.tables.clone().update_table(request))
    }
}

/// The table `t`, with these families and nothing else.
fn table(families: &[&str]) -> admin::Table {
    // A type without a kind is what the server says of bytes.
    let plain = admin::ColumnFamily { value_type: Some(admin::Type::default()), gc_rule: None };
    let family = |name: &&str| ((*name).to_owned(), plain.clone());
    admin::Table {
        name: TABLE.to_owned(),
        column_families: families.iter().map(family).collect(),
        ..admin::Table::default()
    }
}

fn mask(paths: &[&str]) -> prost_types::FieldMask {
    prost_types::FieldMask { paths: paths.iter().map(|path| (*path).to_owned()).collect() }
}

fn days(days: i64) -> prost_types::Duration {
    prost_types::Duration { seconds: days * 24 * 60 * 60, nanos: 0 }
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap()
}

/// The response of an operation that is done, which must be of this type.
fn response<M: prost::Message + Default>(operation: &Operation, kind: &str) -> M {
    assert!(operation.done);
    match &operation.result {
        Some(operation::Result::Response(any)) => {
            assert_eq!(any.type_url, format!("type.googleapis.com/google.bigtable.admin.v2.{kind}"));
            M::decode(&any.value[..]).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Status>, code: Code, words: &str) {
    let status = result.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(words), "{status}");
}
