//! Batches of rows on their way to the engine, applied by a thread of their own while the next batch is read.

use rowkey_store::{Durability, Engine, RowMutation};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// Batches that may wait for the engine.
const BATCHES_WAITING_MAX: usize = 2;

/// What a row of a batch counts as, if the engine takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    New,
    Kept,
    Overwritten,
}

/// Rows with what is needed to count or reject them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<RowMutation>,
    pub(crate) notes: Vec<Note>,
    /// The texts of the records, one behind the other.
    pub(crate) texts: Vec<u8>,
    pub(crate) bytes: usize,
}

/// What is known of a row of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    pub(crate) line: u64,
    pub(crate) outcome: Outcome,
    pub(crate) cells: u64,
    /// End of its text in [`Batch::texts`].
    pub(crate) text_end: usize,
}

/// A batch that the engine answered.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) notes: Vec<Note>,
    pub(crate) texts: Vec<u8>,
    pub(crate) results: rowkey_store::Result<Vec<rowkey_store::Result<()>>>,
}

/// The thread that applies batches, in order.
#[derive(Debug)]
pub(crate) struct Applier<'s> {
    batches: SyncSender<Batch>,
    pub(crate) answers: Receiver<Applied>,
    thread: ScopedJoinHandle<'s, ()>,
}

impl<'s> Applier<'s> {
    pub(crate) fn start<'e: 's>(
        scope: &'s Scope<'s, 'e>,
        engine: &'e dyn Engine,
        table: &'e str,
        durability: Durability,
    ) -> Self {
        let (batches, incoming) = sync_channel::<Batch>(BATCHES_WAITING_MAX);
        let (outgoing, answers) = std::sync::mpsc::channel();
        let thread = scope.spawn(move || {
            for batch in incoming {
                let results = engine.mutate_rows(table, batch.rows, durability);
                let failed = results.is_err();
                let applied = Applied { notes: batch.notes, texts: batch.texts, results };
                // Nobody listens once the import has failed; nothing more may be written then.
                if outgoing.send(applied).is_err() || failed {
                    return;
                }
            }
        });
        Self { batches, answers, thread }
    }

    /// Hands a batch over, waiting while too many wait; whether the thread still takes batches.
    pub(crate) fn send(&self, batch: Batch) -> bool {
        self.batches.send(batch).is_ok()
    }

    /// Ends the thread when it has applied what it has, and answers with what was not asked for yet.
    pub(crate) fn finish(self) -> Vec<Applied> {
        drop(self.batches);
        let answers = self.answers.iter().collect();
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
        answers
    }
}
