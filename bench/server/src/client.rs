//! The requests of a benchmark, on a plain gRPC client without retries.

use crate::Result;
use bytes::Bytes;
use rowkey_proto::admin::bigtable_table_admin_client::BigtableTableAdminClient;
use rowkey_proto::admin::{ColumnFamily, CreateTableRequest, Table};
use rowkey_proto::data::bigtable_client::BigtableClient;
use rowkey_proto::data::mutate_rows_request::Entry;
use rowkey_proto::data::mutation::{Mutation as Step, SetCell};
use rowkey_proto::data::row_range::{EndKey, StartKey};
use rowkey_proto::data::{MutateRowRequest, MutateRowsRequest, Mutation, ReadRowsRequest, RowRange, RowSet};
use tonic::transport::Channel;

const TABLE: &str = "projects/p/instances/i/tables/bench";
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// A connection.
#[derive(Clone)]
pub struct Client(BigtableClient<Channel>);

async fn channel(endpoint: &str) -> Result<Channel> {
    Ok(Channel::from_shared(endpoint.to_owned())?.tcp_nodelay(true).connect().await?)
}

/// A table of one family; it may be made once.
pub async fn create_table(endpoint: &str) -> Result<()> {
    let mut admin = BigtableTableAdminClient::new(channel(endpoint).await?);
    let table =
        Table { column_families: [("f".to_owned(), ColumnFamily::default())].into(), ..Table::default() };
    let request = CreateTableRequest {
        parent: "projects/p/instances/i".to_owned(),
        table_id: "bench".to_owned(),
        table: Some(table),
        ..CreateTableRequest::default()
    };
    admin.create_table(request).await?;
    Ok(())
}

/// The key of a row: its number scattered, so that the order of writing is not that of keys.
pub fn key(row: u64) -> Bytes {
    format!("user{:016x}", row.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into()
}

fn set(row: u64) -> Mutation {
    let value = Bytes::from(vec![(row % 251) as u8; 100]);
    let set = SetCell {
        family_name: "f".to_owned(),
        column_qualifier: Bytes::from_static(b"q"),
        timestamp_micros: 1_700_000_000_000_000,
        value,
    };
    Mutation { mutation: Some(Step::SetCell(set)), ..Mutation::default() }
}

impl Client {
    pub async fn connect(endpoint: &str) -> Result<Self> {
        let client = BigtableClient::new(channel(endpoint).await?);
        Ok(Self(
            client.max_decoding_message_size(MESSAGE_BYTES_MAX).max_encoding_message_size(MESSAGE_BYTES_MAX),
        ))
    }

    pub async fn write(&mut self, row: u64) -> Result<()> {
        let request = MutateRowRequest {
            table_name: TABLE.to_owned(),
            row_key: key(row),
            mutations: vec![set(row)],
            ..MutateRowRequest::default()
        };
        self.0.mutate_row(request).await?;
        Ok(())
    }

    pub async fn write_many(&mut self, rows: std::ops::Range<u64>) -> Result<()> {
        let expected = rows.end - rows.start;
        let entries =
            rows.map(|row| Entry { row_key: key(row), mutations: vec![set(row)], ..Entry::default() });
        let request = MutateRowsRequest {
            table_name: TABLE.to_owned(),
            entries: entries.collect(),
            ..MutateRowsRequest::default()
        };
        let mut answers = self.0.mutate_rows(request).await?.into_inner();
        let mut written = 0;
        while let Some(answer) = answers.message().await? {
            written += answer
                .entries
                .iter()
                .filter(|entry| entry.status.as_ref().is_none_or(|s| s.code == 0))
                .count();
        }
        if written as u64 == expected {
            Ok(())
        } else {
            Err(format!("{written} of {expected} rows were written").into())
        }
    }

    /// Reads one row; it must be there.
    pub async fn read(&mut self, row: u64) -> Result<()> {
        let rows = RowSet { row_keys: vec![key(row)], row_ranges: Vec::new() };
        match self.read_rows(rows, 0).await? {
            1 => Ok(()),
            count => Err(format!("{count} rows where one was expected").into()),
        }
    }

    /// Reads at most `limit` rows from a key on, and answers with their number.
    pub async fn scan(&mut self, start: Bytes, limit: i64) -> Result<u64> {
        let range = RowRange { start_key: Some(StartKey::StartKeyClosed(start)), end_key: None };
        self.read_rows(RowSet { row_keys: Vec::new(), row_ranges: vec![range] }, limit).await
    }

    /// Reads the rows of a short range of keys.
    pub async fn short_range(&mut self, row: u64, share: f64) -> Result<u64> {
        let start = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let end = start.saturating_add((u64::MAX as f64 * share) as u64);
        let bound = |at: u64| Bytes::from(format!("user{at:016x}"));
        let range = RowRange {
            start_key: Some(StartKey::StartKeyClosed(bound(start))),
            end_key: Some(EndKey::EndKeyOpen(bound(end))),
        };
        self.read_rows(RowSet { row_keys: Vec::new(), row_ranges: vec![range] }, 0).await
    }

    async fn read_rows(&mut self, rows: RowSet, limit: i64) -> Result<u64> {
        let request = ReadRowsRequest {
            table_name: TABLE.to_owned(),
            rows: Some(rows),
            rows_limit: limit,
            ..ReadRowsRequest::default()
        };
        let mut answers = self.0.read_rows(request).await?.into_inner();
        let mut count = 0;
        while let Some(answer) = answers.message().await? {
            let committed = |chunk: &&rowkey_proto::data::read_rows_response::CellChunk| {
                matches!(
                    chunk.row_status,
                    Some(rowkey_proto::data::read_rows_response::cell_chunk::RowStatus::CommitRow(true))
                )
            };
            count += answer.chunks.iter().filter(committed).count() as u64;
        }
        Ok(count)
    }
}
