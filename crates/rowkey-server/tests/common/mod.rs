//! A server on a free port, and a client of it that merges what it reads.

use rowkey_bigtable::merger::RowMerger;
use rowkey_lsm::LsmEngine;
use rowkey_proto::data::bigtable_client::BigtableClient;
use rowkey_proto::data::mutation::{Mutation as Kind, SetCell};
use rowkey_proto::data::{MutateRowRequest, Mutation, ReadRowsRequest, ReadRowsResponse};
use rowkey_server::{Options, Server};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Engine, FamilyConfig, Row, SystemClock, TableConfig, ValueType};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Status};

/// The table of the tests. It has the families `f` and `g` of bytes.
pub(crate) const TABLE: &str = "projects/p/instances/i/tables/t";

/// A client, and the server that it talks to.
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) server: Server,
    pub(crate) data: BigtableClient<Channel>,
}

/// Runs a test on a server over each engine.
pub(crate) fn on_every_engine(test: impl Fn(&Client)) {
    on_memory(Options::default(), &test);
    let folder = tempfile::tempdir().unwrap();
    let options = rowkey_lsm::Options { create: true, ..rowkey_lsm::Options::default() };
    let lsm = LsmEngine::open(folder.path(), options).unwrap();
    let client = Client::start(Arc::new(lsm), Options::default());
    test(&client);
    client.server.stop().unwrap();
}

/// Runs a test on a server over the engine in memory.
pub(crate) fn on_memory(options: Options, test: impl Fn(&Client)) {
    let client = Client::start(Arc::new(MemoryEngine::new(Arc::new(SystemClock))), options);
    test(&client);
    client.server.stop().unwrap();
}

impl Client {
    /// Starts a server, and creates the table.
    fn start(engine: Arc<dyn Engine>, options: Options) -> Self {
        let family =
            |name: &str| FamilyConfig { name: name.to_owned(), gc_rule: None, value_type: ValueType::Bytes };
        let config = TableConfig { families: vec![family("f"), family("g")], ..TableConfig::default() };
        engine.create_table("t", &config).unwrap();
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = Options { grpc_address: free, http_address: None, ..options };
        let server = Server::start(engine, options).unwrap();
        let runtime = Runtime::new().unwrap();
        let channel = Channel::from_shared(format!("http://{}", server.grpc_address())).unwrap();
        let channel = runtime.block_on(channel.connect()).unwrap();
        let data = BigtableClient::new(channel).max_decoding_message_size(usize::MAX);
        Self { runtime, server, data }
    }

    pub(crate) fn mutate(&self, key: &str, mutations: Vec<Mutation>) -> Result<(), Status> {
        let request = MutateRowRequest {
            table_name: TABLE.to_owned(),
            row_key: key.to_owned().into(),
            mutations,
            ..MutateRowRequest::default()
        };
        self.runtime.block_on(self.data.clone().mutate_row(request)).map(drop)
    }

    /// The messages of a read, up to its end or an error.
    pub(crate) fn messages(&self, request: ReadRowsRequest) -> Result<Vec<ReadRowsResponse>, Status> {
        self.runtime.block_on(async {
            let mut stream = self.data.clone().read_rows(request).await?.into_inner();
            let mut messages = Vec::new();
            while let Some(message) = stream.message().await? {
                messages.push(message);
            }
            Ok(messages)
        })
    }

    /// The rows of a read, whose messages must be as the API wants them.
    pub(crate) fn read(&self, request: ReadRowsRequest) -> Result<Vec<Row>, Status> {
        let mut merger = RowMerger::new(request.reversed);
        let mut rows = Vec::new();
        for message in self.messages(request)? {
            merger.push(message, &mut rows).unwrap();
        }
        merger.finish().unwrap();
        Ok(rows)
    }

    /// The rows of a read, as `key family:qualifier timestamp value, ...; ...`.
    pub(crate) fn check(&self, request: ReadRowsRequest, expected: &str) {
        assert_eq!(shown(&self.read(request).unwrap()), expected);
    }

    /// What is in the table.
    pub(crate) fn check_all(&self, expected: &str) {
        self.check(read_all(), expected);
    }
}

/// A read of the whole table.
pub(crate) fn read_all() -> ReadRowsRequest {
    ReadRowsRequest { table_name: TABLE.to_owned(), ..ReadRowsRequest::default() }
}

/// Writes a cell.
pub(crate) fn set(family: &str, qualifier: &str, timestamp_micros: i64, value: &str) -> Mutation {
    step(Kind::SetCell(SetCell {
        family_name: family.to_owned(),
        column_qualifier: qualifier.to_owned().into(),
        timestamp_micros,
        value: value.to_owned().into(),
    }))
}

/// A mutation.
pub(crate) fn step(kind: Kind) -> Mutation {
    Mutation { mutation: Some(kind), ..Mutation::default() }
}

/// Rows as text.
pub(crate) fn shown(rows: &[Row]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let row = |row: &Row| {
        let cells = row.cells.iter().map(|cell| {
            let labels = cell.labels.iter().fold(String::new(), |all, label| all + " " + label);
            let (qualifier, value) = (text(&cell.qualifier), text(&cell.value));
            format!("{}:{qualifier} {} {value}{labels}", cell.family, cell.timestamp_us)
        });
        format!("{} {}", text(&row.key), cells.collect::<Vec<_>>().join(", "))
    };
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Checks an error, and that it carries a request id.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Status>, code: Code, words: &str) {
    let status = result.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(words), "{status}");
    assert!(status.metadata().contains_key("x-request-id"), "{status}");
}
