//! Repeated writes to aggregate cells, told by their tokens: a client that got no answer sends again, and what was added must not be
//! added twice.
//!
//! Kept in memory, for 15 minutes and at most so many writes: a server that was restarted in between does not know them.

use crate::lock::lock;
use bytes::{BufMut as _, Bytes, BytesMut};
use rowkey_proto::data::Idempotency;
use rowkey_store::{Error, ErrorKind, Mutation, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// How long a token is known, 15 minutes (`Idempotency`), in microseconds.
const WINDOW_US: i64 = 15 * 60 * 1_000_000;

/// Bytes of a token, at least (`Idempotency.token`).
const TOKEN_BYTES_MIN: usize = 8;

/// Bytes of a token, at most; ours.
const TOKEN_BYTES_MAX: usize = 1_024;

/// Writes that are remembered at the same time; the oldest are forgotten first. About 40 MB with tokens and keys of 100 bytes.
const WRITES_MAX: usize = 200_000;

/// The writes of the last minutes.
#[derive(Debug, Default)]
pub(super) struct Replays(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// `true`: applied; `false`: on its way.
    writes: HashMap<Bytes, bool>,
    /// Those that were applied, by time.
    applied: VecDeque<(i64, Bytes)>,
}

/// What to do with a write.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Apply it; nothing need be remembered.
    Plain,
    /// Apply it, and say what came of it ([`Replays::end`]).
    First(Bytes),
    /// It was applied already.
    Replay,
}

impl Replays {
    /// Looks at a write before it is applied.
    ///
    /// # Errors
    ///
    /// `Invalid`: a token that is too short or too long. `Conflict`: the first attempt is longer ago than tokens are known.
    /// `Unavailable`: it is still on its way.
    pub(super) fn begin(
        &self,
        idempotency: Option<&Idempotency>,
        table: &str,
        key: &[u8],
        mutations: &[Mutation],
        now_us: i64,
    ) -> Result<Attempt> {
        let adds = |mutation: &Mutation| {
            matches!(mutation, Mutation::AddToCell { .. } | Mutation::MergeToCell { .. })
        };
        let Some(idempotency) = idempotency.filter(|_| mutations.iter().any(adds)) else {
            return Ok(Attempt::Plain);
        };
        let token = &idempotency.token;
        if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&token.len()) {
            let message = format!(
                "an idempotency token has {} bytes; it must have {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX}",
                token.len()
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let begun_us = idempotency.start_time.map_or(0, |time| {
            time.seconds.saturating_mul(1_000_000).saturating_add(i64::from(time.nanos) / 1_000)
        });
        if begun_us != 0 && begun_us < now_us.saturating_sub(WINDOW_US) {
            let message = "the first attempt of this write began more than 15 minutes ago: whether it was applied is not known any more";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let name = name(table, key, token);
        let mut known = self.lock();
        known.forget(now_us);
        match known.writes.get(&name) {
            Some(true) => Ok(Attempt::Replay),
            Some(false) => {
                let message = "an earlier attempt of this write is still on its way; send it again";
                Err(Error::new(ErrorKind::Unavailable, message))
            }
            None => {
                known.writes.insert(name.clone(), false);
                Ok(Attempt::First(name))
            }
        }
    }

    /// Remembers a first attempt that was applied, and forgets one that was not.
    pub(super) fn end(&self, name: Bytes, applied: bool, now_us: i64) {
        let mut known = self.lock();
        if applied {
            known.writes.insert(name.clone(), true);
            known.applied.push_back((now_us, name));
        } else {
            known.writes.remove(&name);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.0)
    }
}

impl Known {
    fn forget(&mut self, now_us: i64) {
        let old = now_us.saturating_sub(WINDOW_US);
        while self.applied.front().is_some_and(|(time_us, _)| *time_us < old)
            || self.applied.len() >= WRITES_MAX
        {
            if let Some((_, name)) = self.applied.pop_front() {
                self.writes.remove(&name);
            }
        }
    }
}

/// Table, row and token in one; lengths before the first two, so that no two are alike.
fn name(table: &str, key: &[u8], token: &[u8]) -> Bytes {
    let mut name = BytesMut::with_capacity(table.len() + key.len() + token.len() + 16);
    name.put_u64(table.len() as u64);
    name.put_slice(table.as_bytes());
    name.put_u64(key.len() as u64);
    name.put_slice(key);
    name.put_slice(token);
    name.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::Timestamp;

    const MINUTE_US: i64 = 60_000_000;

    fn idempotency(token: &'static str, start_s: i64) -> Idempotency {
        let start_time = (start_s != 0).then_some(prost_types::Timestamp { seconds: start_s, nanos: 0 });
        Idempotency { token: token.into(), start_time }
    }

    fn begin(replays: &Replays, token: &'static str, now_us: i64) -> Result<Attempt> {
        let add = [Mutation::add("sum", "q", Timestamp::Server, 1)];
        replays.begin(Some(&idempotency(token, 0)), "t", b"k", &add, now_us)
    }

    fn first(replays: &Replays, token: &'static str, now_us: i64) -> Bytes {
        match begin(replays, token, now_us) {
            Ok(Attempt::First(name)) => name,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_write_is_applied_once_within_its_window() {
        let replays = Replays::default();
        let name = first(&replays, "token-01", 0);
        replays.end(name, true, 0);
        assert!(matches!(begin(&replays, "token-01", 15 * MINUTE_US), Ok(Attempt::Replay)));
        replays.end(first(&replays, "token-02", 15 * MINUTE_US), true, 15 * MINUTE_US);
        first(&replays, "token-01", 15 * MINUTE_US + 1);
        assert!(matches!(begin(&replays, "token-02", 16 * MINUTE_US), Ok(Attempt::Replay)));
    }

    #[test]
    fn a_write_that_failed_may_be_tried_again_and_one_on_its_way_must_wait() {
        let replays = Replays::default();
        let name = first(&replays, "token-01", 0);
        assert_eq!(begin(&replays, "token-01", 0).unwrap_err().kind(), ErrorKind::Unavailable);
        replays.end(name, false, 0);
        first(&replays, "token-01", 0);
    }

    #[test]
    fn only_writes_that_add_are_remembered() {
        let replays = Replays::default();
        let set = [Mutation::set("f", "q", Timestamp::Server, "v")];
        let begin = |idempotency: Option<Idempotency>, mutations: &[Mutation]| {
            replays.begin(idempotency.as_ref(), "t", b"k", mutations, 100 * MINUTE_US)
        };
        let add = [Mutation::add("sum", "q", Timestamp::Server, 1)];
        assert!(matches!(begin(Some(idempotency("short", 0)), &set), Ok(Attempt::Plain)));
        assert!(matches!(begin(None, &add), Ok(Attempt::Plain)));
        assert_eq!(begin(Some(idempotency("short", 0)), &add).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(begin(Some(idempotency("token-01", 60)), &add).unwrap_err().kind(), ErrorKind::Conflict);
        assert!(matches!(begin(Some(idempotency("token-01", 86 * 60)), &add), Ok(Attempt::First(_))));
    }

    #[test]
    fn names_tell_tables_keys_and_tokens_apart() {
        assert_ne!(name("t", b"ab", b"c"), name("t", b"a", b"bc"));
        assert_ne!(name("ta", b"b", b"c"), name("t", b"ab", b"c"));
    }
}
