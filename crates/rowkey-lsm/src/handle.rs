//! How the engine and its driver reach the committer and the published state.

use crate::committer::{Committer, Reply, Request};
use crate::error;
use crate::raw;
use crate::shared::Shared;
use crate::state::{Published, Space, Table};
use rowkey_store::{Result, RowKey, check};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

/// See the top of this file.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: SyncSender<Request>,
}

impl Handle {
    /// Sends a request and waits for its answer.
    pub(crate) fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T> {
        let (reply, answer) = sync_channel(1);
        let closed = || error::closed(&self.shared.path);
        self.queue.send(request(reply)).map_err(|_| closed())?;
        answer.recv().map_err(|_| closed())?
    }

    /// Runs a job on the committer's thread.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Committer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.ask(|reply| Request::Run(Box::new(move |committer| drop(reply.send(job(committer))))))
    }

    /// Writes a keyspace's memtable to a file. The committer lends its database for that, but does not wait.
    pub(crate) fn flush(&self, space: &Space) -> Result<()> {
        let db = self.run(|committer| Ok(committer.db.clone()))?;
        raw::flush(&db, &space.keyspace)
            .map_err(|error| error::of_fjall(&self.shared.path, "writing", error, None))
    }

    /// Asks for a row's fragments to be made one in these families, unless the committer is busy.
    pub(crate) fn tidy_row(&self, table: &str, row: &RowKey, families: Vec<usize>) {
        if self.shared.options.background_gc {
            let (table, row) = (table.to_owned(), row.clone());
            let job = move |committer: &mut Committer| drop(committer.tidy_row(&table, &row, &families));
            let _ = self.queue.try_send(Request::Run(Box::new(job)));
        }
    }

    /// What is published.
    pub(crate) fn published(&self) -> Result<Arc<Published>> {
        self.shared.published.load_full().ok_or_else(|| error::closed(&self.shared.path))
    }

    /// What is published, and a table of it.
    pub(crate) fn table(&self, table: &str) -> Result<(Arc<Published>, Arc<Table>)> {
        let published = self.published()?;
        let table = published.tables.get(table).cloned().ok_or_else(|| check::table_missing(table))?;
        Ok((published, table))
    }
}
