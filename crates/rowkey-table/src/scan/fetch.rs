//! Reads chunks of many buckets with a few threads.
//!
//! ```text
//! scan --request(bucket)--> queue --> worker: Source::read --> answer of the bucket --take(bucket)--> scan
//! ```
//!
//! At most one chunk of a bucket is on its way or waiting, so memory is bounded by the chunk sizes that the scan asks for. A scan
//! that would have to wait for a chunk that no worker has begun reads it itself; without workers it reads all of them.
//! Dropping the fetcher stops the workers after the row at hand and joins them.

use super::source::{Chunk, ChunkSize, Part, Reading, Source};
use crate::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a waiting scan looks at the clock, in milliseconds of the machine.
const DEADLINE_POLL_MS: u64 = 5;

/// Threads that read buckets.
pub(crate) struct Fetcher {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// A worker hangs in a read that missed its deadline: it is left to end by itself.
    abandoned: bool,
}

struct Shared {
    reading: Reading,
    /// Chunks are taken by [`Fetcher::take_any`] alone.
    as_they_come: bool,
    state: Mutex<State>,
    /// The queue is not empty, or the scan is over.
    work: Condvar,
    /// A bucket has an answer.
    answers: Condvar,
}

struct State {
    queue: VecDeque<usize>,
    slots: Vec<Slot>,
    /// Buckets with an answer, in the order in which those came. Kept only if chunks are taken as they come.
    answered: VecDeque<usize>,
    /// Buckets that were requested and not taken.
    outstanding: usize,
    over: bool,
}

struct Slot {
    /// Away while a thread reads it.
    source: Option<Source>,
    size: ChunkSize,
    requested: bool,
    started_us: Option<i64>,
    answer: Option<Result<Chunk>>,
    /// For messages while `source` is away.
    part: Arc<Part>,
}

impl Fetcher {
    /// Starts `workers` threads; 0 for none. With `as_they_come`, chunks are taken by [`Fetcher::take_any`] alone.
    pub(crate) fn new(reading: Reading, sources: Vec<Source>, workers: usize, as_they_come: bool) -> Self {
        let slots = sources.into_iter().map(Slot::new).collect();
        let state =
            State { queue: VecDeque::new(), slots, answered: VecDeque::new(), outstanding: 0, over: false };
        let shared = Arc::new(Shared {
            reading,
            as_they_come,
            state: Mutex::new(state),
            work: Condvar::new(),
            answers: Condvar::new(),
        });
        let workers = (0..workers).filter_map(|number| spawn(&shared, number)).collect();
        Self { shared, workers, abandoned: false }
    }

    /// Asks for the next chunk of a bucket, unless that is on its way already.
    pub(crate) fn request(&self, bucket: usize, size: ChunkSize) {
        let mut state = self.shared.lock();
        let slot = &mut state.slots[bucket];
        if !slot.requested {
            slot.requested = true;
            slot.size = size;
            state.outstanding += 1;
            state.queue.push_back(bucket);
            self.shared.work.notify_one();
        }
    }

    /// Waits for the chunk of a bucket that was requested.
    pub(crate) fn take(&mut self, bucket: usize) -> Result<Chunk> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        loop {
            if let Some(answer) = state.take_answer(bucket) {
                return answer;
            }
            if self.reads_itself()
                && let Some(at) = state.queue.iter().position(|&queued| queued == bucket)
            {
                state.queue.remove(at);
                state = shared.read(state, bucket);
                continue;
            }
            state = self.wait(&shared, state)?;
        }
    }

    /// Waits for the chunk of any bucket that was requested; `None` if there is none.
    pub(crate) fn take_any(&mut self) -> Option<(usize, Result<Chunk>)> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        loop {
            if let Some(bucket) = state.answered.pop_front() {
                let answer = state.take_answer(bucket).expect("an answered bucket has an answer");
                return Some((bucket, answer));
            }
            if state.outstanding == 0 {
                return None;
            }
            if self.reads_itself()
                && let Some(bucket) = state.queue.pop_front()
            {
                state = shared.read(state, bucket);
                continue;
            }
            match self.wait(&shared, state) {
                Ok(after) => state = after,
                Err(error) => return Some((0, Err(error))),
            }
        }
    }

    /// A thread that reads cannot watch a deadline, so a scan with one reads nothing itself if it has workers.
    fn reads_itself(&self) -> bool {
        self.workers.is_empty() || self.shared.reading.deadline_us.is_none()
    }

    fn wait<'s>(
        &mut self,
        shared: &'s Shared,
        state: MutexGuard<'s, State>,
    ) -> Result<MutexGuard<'s, State>> {
        let Some(deadline_us) = shared.reading.deadline_us else {
            return Ok(shared.answers.wait(state).unwrap_or_else(PoisonError::into_inner));
        };
        let poll = Duration::from_millis(DEADLINE_POLL_MS);
        let (state, _) = shared.answers.wait_timeout(state, poll).unwrap_or_else(PoisonError::into_inner);
        let now_us = shared.reading.clock.now_us();
        let late = |slot: &&Slot| slot.started_us.is_some_and(|started_us| now_us - started_us > deadline_us);
        if let Some(slot) = state.slots.iter().find(late) {
            self.abandoned = true;
            return Err(slot.part.too_slow(&shared.reading, None, deadline_us));
        }
        Ok(state)
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        self.shared.reading.cancelled.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        state.over = true;
        // A read that hangs keeps `shared` alive, but nothing else may stay open for that.
        let sources: Vec<Option<Source>> = state.slots.iter_mut().map(|slot| slot.source.take()).collect();
        drop(state);
        drop(sources);
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            if !self.abandoned {
                // A worker catches what panics in a read, so it ends well.
                let _ = worker.join();
            }
        }
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("reading", &self.shared.reading).finish_non_exhaustive()
    }
}

impl Slot {
    fn new(source: Source) -> Self {
        let part = Arc::clone(source.part());
        let size = ChunkSize { rows: 1, bytes: 1 };
        Self { source: Some(source), size, requested: false, started_us: None, answer: None, part }
    }
}

impl State {
    fn take_answer(&mut self, bucket: usize) -> Option<Result<Chunk>> {
        let answer = self.slots[bucket].answer.take()?;
        self.slots[bucket].requested = false;
        self.outstanding -= 1;
        Some(answer)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the next chunk of a bucket, with the lock released meanwhile.
    fn read<'s>(&'s self, mut state: MutexGuard<'s, State>, bucket: usize) -> MutexGuard<'s, State> {
        let started_us = self.reading.clock.now_us();
        let slot = &mut state.slots[bucket];
        let size = slot.size;
        slot.started_us = Some(started_us);
        let mut source = slot.source.take().expect("a bucket is queued once at a time");
        drop(state);
        let answer = catch_unwind(AssertUnwindSafe(|| source.read(&self.reading, size, started_us)));
        let answer = answer.unwrap_or_else(|_| {
            let error = Error::new(ErrorKind::Unavailable, "the engine panicked while it was read");
            Err(source.part().failed(&self.reading, None, error))
        });
        let mut state = self.lock();
        let slot = &mut state.slots[bucket];
        slot.source = Some(source);
        slot.started_us = None;
        slot.answer = Some(answer);
        if self.as_they_come {
            state.answered.push_back(bucket);
        }
        state
    }

    fn work(&self) {
        let mut state = self.lock();
        while !state.over {
            if let Some(bucket) = state.queue.pop_front() {
                state = self.read(state, bucket);
                self.answers.notify_all();
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// A worker; `None` if the system has no thread to give, which only makes the scan slower.
fn spawn(shared: &Arc<Shared>, number: usize) -> Option<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    std::thread::Builder::new().name(format!("rowkey-scan-{number}")).spawn(move || shared.work()).ok()
}
