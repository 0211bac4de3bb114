//! `MutateRow`, `MutateRows`, `CheckAndMutateRow` and `ReadModifyWriteRow`.

use super::DataService;
use super::names::Target;
use super::replays::{Attempt, Replays};
use crate::blocking;
use rowkey_bigtable::{convert, status, status_to_proto};
use rowkey_proto::data::mutate_rows_response::Entry;
use rowkey_proto::data::{
    CheckAndMutateRowRequest, CheckAndMutateRowResponse, MutateRowRequest, MutateRowResponse,
    MutateRowsRequest, MutateRowsResponse, Mutation, ReadModifyWriteRowRequest, ReadModifyWriteRowResponse,
    mutate_rows_request,
};
use rowkey_proto::rpc;
use rowkey_store::limits::MUTATIONS_MAX;
use rowkey_store::{
    CheckAndMutate, Clock, ColumnSelection, Durability, Engine, Error, ErrorKind, Granularity, Result,
    RowMutation, Timestamp,
};
use std::sync::Arc;
use tonic::Status;

/// Writers that may wait in the engine at the same time. They wait for the disk, together: more of them make larger groups, up to this
/// many, and readers need threads as well.
pub(super) const WRITERS_MAX: usize = 256;

/// Bytes of statuses in one message, about.
const STATUSES_BYTES_MAX: usize = 1 << 20;

impl DataService {
    /// Runs a write on a thread that may block, when there is one for writers.
    async fn write<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Engine) -> Result<T> + Send + 'static,
    ) -> Result<T, Status> {
        let stopping = |_| Status::unavailable("the server stops; ask again later");
        let permit = Arc::clone(&self.writers).acquire_owned().await.map_err(stopping)?;
        let shared = Arc::clone(&self.shared);
        // The permit goes with the thread: a client that goes away does not give it back early.
        let run = move || {
            let _permit = permit;
            call(&*shared.engine)
        };
        blocking::run(run).await.map_err(|error| status(&error))
    }

    fn writer(&self) -> Writer {
        Writer { replays: Arc::clone(&self.replays), clock: Arc::clone(&self.shared.options.clock) }
    }

    pub(super) async fn mutate_one(&self, message: MutateRowRequest) -> Result<MutateRowResponse, Status> {
        let table = Target::of(message.table_name, message.authorized_view_name).resolve(&self.shared)?;
        let (key, mutations, idempotency) = (message.row_key, message.mutations, message.idempotency);
        let entry = mutate_rows_request::Entry { row_key: key, mutations, idempotency };
        let writer = self.writer();
        self.write(move |engine| {
            writer.entries(engine, &table, vec![entry])?.into_iter().collect::<Result<()>>()
        })
        .await?;
        Ok(MutateRowResponse {})
    }

    pub(super) async fn mutate_several(
        &self,
        message: MutateRowsRequest,
    ) -> Result<Vec<MutateRowsResponse>, Status> {
        let table = Target::of(message.table_name, message.authorized_view_name).resolve(&self.shared)?;
        let entries = message.entries;
        if entries.is_empty() {
            return Err(Status::invalid_argument("No mutations provided: the request has no entries"));
        }
        let total: usize = entries.iter().map(|entry| entry.mutations.len()).sum();
        if total > MUTATIONS_MAX {
            return Err(Status::invalid_argument(format!(
                "{total} mutations in one request; the limit is {MUTATIONS_MAX}: send fewer rows at once"
            )));
        }
        let writer = self.writer();
        let results = self.write(move |engine| writer.entries(engine, &table, entries)).await?;
        Ok(messages(&results))
    }

    pub(super) async fn check_and_mutate(
        &self,
        message: CheckAndMutateRowRequest,
    ) -> Result<CheckAndMutateRowResponse, Status> {
        let table = Target::of(message.table_name, message.authorized_view_name).resolve(&self.shared)?;
        let predicate = message.predicate_filter.map(convert::filter_from_proto).transpose();
        let predicate = predicate.map_err(|error| status(&error))?;
        let (key, then, otherwise) = (message.row_key, message.true_mutations, message.false_mutations);
        let predicate_matched = self
            .write(move |engine| {
                let granularity = granularity(engine, &table, &[&then, &otherwise])?;
                let then = convert::mutations_from_proto(then, granularity)?;
                let otherwise = convert::mutations_from_proto(otherwise, granularity)?;
                let columns = ColumnSelection::All;
                engine.check_and_mutate_row(
                    &table,
                    &CheckAndMutate { key, columns, predicate, then, otherwise },
                )
            })
            .await?;
        Ok(CheckAndMutateRowResponse { predicate_matched })
    }

    pub(super) async fn read_modify_write(
        &self,
        message: ReadModifyWriteRowRequest,
    ) -> Result<ReadModifyWriteRowResponse, Status> {
        let table = Target::of(message.table_name, message.authorized_view_name).resolve(&self.shared)?;
        let rules = convert::read_modify_write_from_proto(message.rules).map_err(|error| status(&error))?;
        let key = message.row_key;
        let row = self
            .write(move |engine| engine.read_modify_write_row(&table, &key, &rules, Timestamp::Server))
            .await?;
        Ok(ReadModifyWriteRowResponse { row: Some(convert::row_to_proto(row)) })
    }
}

/// The table's granularity, if anything depends on it.
fn granularity(engine: &dyn Engine, table: &str, mutations: &[&[Mutation]]) -> Result<Granularity> {
    if mutations.iter().any(|mutations| convert::depends_on_granularity(mutations)) {
        return Ok(engine.table_config(table)?.granularity);
    }
    Ok(Granularity::default())
}

/// What a write of rows needs beside the engine.
struct Writer {
    replays: Arc<Replays>,
    clock: Arc<dyn Clock>,
}

impl Writer {
    /// One result for each entry: those that cannot be read as well as those of the engine.
    fn entries(
        &self,
        engine: &dyn Engine,
        table: &str,
        entries: Vec<mutate_rows_request::Entry>,
    ) -> Result<Vec<Result<()>>> {
        let all: Vec<&[Mutation]> = entries.iter().map(|entry| &entry.mutations[..]).collect();
        let granularity = granularity(engine, table, &all)?;
        let mut rows = Vec::with_capacity(entries.len());
        // Of each entry: an error, or whether it is among the rows, and under which name its result is kept.
        let mut attempts: Vec<Result<Attempt>> = Vec::with_capacity(entries.len());
        for entry in entries {
            let attempt = self.begin(table, entry, granularity, &mut rows);
            attempts.push(attempt);
        }
        let written = match engine.mutate_rows(table, rows, Durability::Synced) {
            Ok(written) => written,
            Err(error) => {
                for attempt in attempts {
                    self.end(attempt, false);
                }
                return Err(error);
            }
        };
        let mut written = written.into_iter();
        let results = attempts.into_iter().map(|attempt| match attempt {
            Err(error) => Err(error),
            Ok(Attempt::Replay) => Ok(()),
            Ok(attempt) => {
                let result = written.next().unwrap_or_else(|| {
                    let message = "the store did not answer for this row; send it again";
                    Err(Error::new(ErrorKind::Unavailable, message))
                });
                self.end(Ok(attempt), result.is_ok());
                result
            }
        });
        Ok(results.collect())
    }

    /// Reads an entry, and puts it to the rows that are to be written.
    fn begin(
        &self,
        table: &str,
        entry: mutate_rows_request::Entry,
        granularity: Granularity,
        rows: &mut Vec<RowMutation>,
    ) -> Result<Attempt> {
        let mutations = convert::mutations_from_proto(entry.mutations, granularity)?;
        let attempt = match &entry.idempotency {
            None => Attempt::Plain,
            Some(idempotency) => {
                let now_us = self.clock.now_us();
                self.replays.begin(Some(idempotency), table, &entry.row_key, &mutations, now_us)?
            }
        };
        if !matches!(attempt, Attempt::Replay) {
            rows.push(RowMutation { key: entry.row_key, mutations });
        }
        Ok(attempt)
    }

    fn end(&self, attempt: Result<Attempt>, applied: bool) {
        if let Ok(Attempt::First(name)) = attempt {
            self.replays.end(name, applied, self.clock.now_us());
        }
    }
}

fn messages(results: &[Result<()>]) -> Vec<MutateRowsResponse> {
    let mut messages = vec![MutateRowsResponse::default()];
    let mut bytes = 0;
    for (index, result) in (0..).zip(results) {
        let status = match result {
            Ok(()) => rpc::Status::default(),
            Err(error) => status_to_proto(error),
        };
        // Tags, an index and a code.
        bytes += status.message.len() + 24;
        if bytes > STATUSES_BYTES_MAX {
            messages.push(MutateRowsResponse::default());
            bytes = 0;
        }
        if let Some(message) = messages.last_mut() {
            message.entries.push(Entry { index, status: Some(status) });
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_statuses_come_in_several_messages() {
        let failed = |_| Err(Error::new(ErrorKind::NotFound, "x".repeat(1_000)));
        let results: Vec<Result<()>> = (0..5_000).map(failed).collect();
        let messages = messages(&results);
        assert_eq!(messages.len(), 5);
        let indexes: Vec<i64> =
            messages.iter().flat_map(|message| &message.entries).map(|entry| entry.index).collect();
        assert_eq!(indexes, (0..5_000).collect::<Vec<i64>>());
        assert!(messages.iter().all(|message| prost::Message::encoded_len(message) < 2 << 20));
    }
}
