//! A server on a free port, and a client of it that merges what it reads.

use bytes::Bytes;
use rowkey_bigtable::merger::RowMerger;
use rowkey_lsm::LsmEngine;
use rowkey_proto::data::bigtable_client::BigtableClient;
use rowkey_proto::data::mutation::{Mutation as Kind, SetCell};
use rowkey_proto::data::{
    CheckAndMutateRowRequest, MutateRowRequest, MutateRowsRequest, Mutation, ReadModifyWriteRowRequest,
    ReadModifyWriteRule, ReadRowsRequest, ReadRowsResponse, SampleRowKeysRequest, SampleRowKeysResponse,
    mutate_rows_request,
};
use rowkey_server::{Options, Server};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Engine, FamilyConfig, Granularity, Row, SystemClock, TableConfig, ValueType};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Status};

/// The table of most tests. It has the families `f` and `g` of bytes, and `max`, `min` and `sum` of integers.
pub(crate) const TABLE: &str = "projects/p/instances/i/tables/t";

/// The full name of another table.
pub(crate) fn table(id: &str) -> String {
    format!("projects/p/instances/i/tables/{id}")
}

/// A client, and the server that it talks to.
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) server: Server,
    pub(crate) channel: Channel,
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
    on_engine(MemoryEngine::new(Arc::new(SystemClock)), options, test);
}

/// Runs a test on a server over this engine.
pub(crate) fn on_engine(engine: impl Engine + 'static, options: Options, test: impl Fn(&Client)) {
    let client = Client::start(Arc::new(engine), options);
    test(&client);
    client.server.stop().unwrap();
}

impl Client {
    /// Starts a server, and creates the tables: `t`, `micros` with timestamps of microseconds, `cut` with split points `c` and `m`.
    fn start(engine: Arc<dyn Engine>, options: Options) -> Self {
        let family =
            |name: &str, value_type| FamilyConfig { name: name.to_owned(), gc_rule: None, value_type };
        let families = vec![
            family("f", ValueType::Bytes),
            family("g", ValueType::Bytes),
            family("max", ValueType::IntMax),
            family("min", ValueType::IntMin),
            family("sum", ValueType::IntSum),
        ];
        let config = TableConfig { families, ..TableConfig::default() };
        engine.create_table("t", &config).unwrap();
        let micros = TableConfig { granularity: Granularity::Micros, ..config.clone() };
        engine.create_table("micros", &micros).unwrap();
        let cut = TableConfig { split_points: vec!["c".into(), "m".into()], ..config };
        engine.create_table("cut", &cut).unwrap();
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = Options { grpc_address: free, http_address: None, ..options };
        let server = Server::start(engine, options).unwrap();
        let runtime = Runtime::new().unwrap();
        let channel = Channel::from_shared(format!("http://{}", server.grpc_address())).unwrap();
        let channel = runtime.block_on(channel.connect()).unwrap();
        let data = BigtableClient::new(channel.clone()).max_decoding_message_size(usize::MAX);
        Self { runtime, server, channel, data }
    }

    /// A client with a connection of its own.
    pub(crate) async fn other(&self) -> BigtableClient<Channel> {
        let address = format!("http://{}", self.server.grpc_address());
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        BigtableClient::new(channel).max_decoding_message_size(usize::MAX)
    }

    /// Changes one row of the table.
    pub(crate) fn mutate(&self, key: &str, mutations: Vec<Mutation>) -> Result<(), Status> {
        let row_key = Bytes::from(key.to_owned());
        let request =
            MutateRowRequest { table_name: TABLE.to_owned(), row_key, mutations, ..Default::default() };
        self.mutate_by(request)
    }

    /// Changes one row.
    pub(crate) fn mutate_by(&self, request: MutateRowRequest) -> Result<(), Status> {
        self.runtime.block_on(self.data.clone().mutate_row(request)).map(drop)
    }

    /// Changes several rows of the table: what came of each, as its code and its message.
    pub(crate) fn mutate_rows(
        &self,
        entries: Vec<(&str, Vec<Mutation>)>,
    ) -> Result<Vec<(Code, String)>, Status> {
        let entries = entries.into_iter().map(|(key, mutations)| {
            let row_key = Bytes::from(key.to_owned());
            mutate_rows_request::Entry { row_key, mutations, idempotency: None }
        });
        let entries = entries.collect();
        let request = MutateRowsRequest { table_name: TABLE.to_owned(), entries, ..Default::default() };
        self.mutate_rows_by(request)
    }

    /// Changes several rows.
    pub(crate) fn mutate_rows_by(&self, request: MutateRowsRequest) -> Result<Vec<(Code, String)>, Status> {
        let mut results = vec![(Code::Unknown, "no answer".to_owned()); request.entries.len()];
        self.runtime.block_on(async {
            let mut stream = self.data.clone().mutate_rows(request).await?.into_inner();
            while let Some(message) = stream.message().await? {
                for entry in message.entries {
                    let status = entry.status.unwrap();
                    let index = usize::try_from(entry.index).unwrap();
                    results[index] = (Code::from_i32(status.code), status.message);
                }
            }
            Ok(results)
        })
    }

    /// Changes one row by a condition.
    pub(crate) fn check_and_mutate(&self, request: CheckAndMutateRowRequest) -> Result<bool, Status> {
        let answer = self.runtime.block_on(self.data.clone().check_and_mutate_row(request));
        answer.map(|answer| answer.into_inner().predicate_matched)
    }

    /// Changes one row by rules: its new cells as text, each `family:qualifier bytes`.
    pub(crate) fn read_modify_write(
        &self,
        key: &str,
        rules: Vec<ReadModifyWriteRule>,
    ) -> Result<String, Status> {
        let row_key = Bytes::from(key.to_owned());
        let request =
            ReadModifyWriteRowRequest { table_name: TABLE.to_owned(), row_key, rules, ..Default::default() };
        let answer = self.runtime.block_on(self.data.clone().read_modify_write_row(request))?;
        let mut cells = Vec::new();
        for family in answer.into_inner().row.unwrap().families {
            for column in family.columns {
                assert_eq!(column.cells.len(), 1);
                let value = rowkey_store::escape::escaped(&column.cells[0].value).to_string();
                let qualifier = String::from_utf8_lossy(&column.qualifier);
                cells.push(format!("{}:{qualifier} {value}", family.name));
            }
        }
        Ok(cells.join(", "))
    }

    /// The samples of a table.
    pub(crate) fn samples(
        &self,
        request: SampleRowKeysRequest,
    ) -> Result<Vec<SampleRowKeysResponse>, Status> {
        self.runtime.block_on(async {
            let mut stream = self.data.clone().sample_row_keys(request).await?.into_inner();
            let mut samples = Vec::new();
            while let Some(sample) = stream.message().await? {
                samples.push(sample);
            }
            Ok(samples)
        })
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

/// A key of one letter and a number, for tests that need many.
pub(crate) fn numbered(number: usize) -> String {
    format!("k{number:06}")
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
