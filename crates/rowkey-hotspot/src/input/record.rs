//! The operations of a store as JSON lines, so that the doctor can be asked about a table in use.
//!
//! ```text
//! {"table":"fleet","time_ms":1714644000123,"op":"write","key":"07#acme\\x00","rows":1,"bytes":180}
//! ```
//!
//! A line for each row written or deleted, each key read, and each range scanned. What failed is left out, and so is what is no row's:
//! tables made or dropped, tablets listed, garbage collected.

use crate::operation::OpKind;
use rowkey_store::RowRange;
use rowkey_store::wrap::{OperationKind, Outcome, Part, Record, Scope};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Bytes written at once. Only whole lines are, so that several processes may append to one file.
const WRITE_BYTES: usize = 64 * 1024;

/// Writes records as JSON lines that [`super::read`] reads.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    buffer: String,
    lines: u64,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`, in large pieces of whole lines.
    pub fn new(out: W) -> Self {
        Self { out, buffer: String::new(), lines: 0 }
    }

    /// Adds a record.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        self.lines += append(record, &mut self.buffer);
        if self.buffer.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what was not written yet. Nothing does that for you when the writer is dropped, since nobody could be told of a failure.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        let result = self.out.write_all(self.buffer.as_bytes());
        self.buffer.clear();
        result?;
        self.out.flush()
    }

    /// Lines added.
    pub fn lines(&self) -> u64 {
        self.lines
    }
}

/// Writes the lines of one record; how many those are.
///
/// # Errors
///
/// Those of the writer.
pub fn write(record: &Record, out: &mut dyn Write) -> io::Result<u64> {
    let mut text = String::new();
    let lines = append(record, &mut text);
    out.write_all(text.as_bytes())?;
    Ok(lines)
}

/// Appends the lines of one record.
fn append(record: &Record, out: &mut String) -> u64 {
    let Outcome { rows, bytes, deletes_row, parts, started_us, error, .. } = &record.outcome;
    if error.is_some() {
        return 0;
    }
    let line = Line { table: &record.operation.table, time_ms: started_us.div_euclid(1000) };
    let whole = Part { rows: *rows, bytes: *bytes };
    match (record.operation.kind, &record.operation.scope) {
        (
            OperationKind::Mutate | OperationKind::CheckAndMutate | OperationKind::ReadModifyWrite,
            Scope::Key(key),
        ) => {
            let kind = if *deletes_row { OpKind::Delete } else { OpKind::Write };
            line.append(kind, key, None, whole, out);
            1
        }
        (OperationKind::Read, Scope::Rows(set)) => {
            for (at, range) in set.ranges().iter().enumerate() {
                let part = parts.get(at).copied().unwrap_or(whole);
                let kind = if is_one_key(range) { OpKind::Read } else { OpKind::Scan };
                let end = range.end.as_deref().filter(|_| kind == OpKind::Scan);
                line.append(kind, &range.start, end, part, out);
            }
            set.ranges().len() as u64
        }
        _ => 0,
    }
}

/// Whether a range holds one key and no other: it ends at the next key that there can be.
fn is_one_key(range: &RowRange) -> bool {
    range.end.as_ref().is_some_and(|end| end.strip_suffix(&[0]).is_some_and(|key| key == range.start))
        && !range.start.is_empty()
}

/// What all lines of a record have.
struct Line<'r> {
    table: &'r str,
    time_ms: i64,
}

impl Line<'_> {
    fn append(&self, kind: OpKind, key: &[u8], end: Option<&[u8]>, part: Part, out: &mut String) {
        let table = serde_json::Value::from(self.table);
        // Writing to a string never fails.
        let _ = write!(
            out,
            "{{\"table\":{table},\"time_ms\":{},\"op\":\"{}\",\"key\":",
            self.time_ms,
            kind.name()
        );
        append_key(key, out);
        if let Some(end) = end {
            out.push_str(",\"end\":");
            append_key(end, out);
        }
        let _ = writeln!(out, ",\"rows\":{},\"bytes\":{}}}", part.rows, part.bytes);
    }
}

/// A key, escaped as keys are and then as JSON's texts are.
fn append_key(key: &[u8], out: &mut String) {
    out.push('"');
    for &byte in key {
        match byte {
            b'\\' => out.push_str(r"\\\\"),
            b'"' => out.push_str("\\\""),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, r"\\x{byte:02x}");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::super::{Options, read};
    use super::*;
    use crate::operation::Operation;
    use proptest::prelude::*;
    use rowkey_store::memory::MemoryEngine;
    use rowkey_store::wrap::{Recorded, Recorder};
    use rowkey_store::{
        Durability, Engine, EngineExt as _, ManualClock, Mutation, ReadRequest, RowMutation, RowSet,
        Timestamp,
    };
    use std::ops::ControlFlow;
    use std::sync::{Arc, Mutex};

    /// The lines of what is done to an engine at 1,714,644,000,123 ms that has the rows `a\x00`, `a"` and `b\`.
    fn recorded(run: impl FnOnce(&dyn Engine)) -> String {
        let clock = Arc::new(ManualClock::new(1_714_644_000_123_999));
        let engine = MemoryEngine::new(clock.clone());
        engine.create("t", &[("f", "never")]).unwrap();
        for key in [&b"a\0"[..], b"a\"", b"b\\"] {
            engine.set_cells("t", key, &[("f", b"q", 0, b"value")]).unwrap();
        }
        let writer = Arc::new(Mutex::new(Writer::new(Vec::new())));
        let sink = Arc::clone(&writer);
        let recorder = Recorder::new(clock, move |record| sink.lock().unwrap().record(&record).unwrap());
        run(&Recorded::new(engine, recorder));
        let mut writer = writer.lock().unwrap();
        writer.flush().unwrap();
        let text = String::from_utf8(writer.out.clone()).unwrap();
        assert_eq!(writer.lines(), text.lines().count() as u64);
        text
    }

    fn operations(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut sink = |operation: &Operation<'_>| {
            all.push(format!("{operation:?}"));
            ControlFlow::Continue(())
        };
        let report = read(text.as_bytes(), "recorded", &Options::default(), &mut sink, &mut |_| ()).unwrap();
        assert_eq!((report.malformed, report.raw, report.ignored.len()), (0, 0, 0), "{report:?}");
        all
    }

    fn check(run: impl FnOnce(&dyn Engine), expected: &[Operation<'_>]) {
        let expected: Vec<String> = expected.iter().map(|operation| format!("{operation:?}")).collect();
        assert_eq!(operations(&recorded(run)), expected);
    }

    fn done(kind: OpKind, key: &[u8], rows: u64, bytes: u64) -> Operation<'_> {
        let time_ms = Some(1_714_644_000_123);
        Operation { kind, key, end: None, time_ms, rows: Some(rows), bytes: Some(bytes) }
    }

    fn mutate(engine: &dyn Engine, key: &'static [u8], mutation: Mutation) {
        let row = RowMutation { key: key.into(), mutations: vec![mutation] };
        engine.mutate_rows("t", vec![row], Durability::Synced).unwrap();
    }

    #[test]
    fn writes_and_deletes_are_a_line_a_row_and_failures_none() {
        let set = |family: &str| Mutation::set(family, "q", Timestamp::Micros(0), "xyz");
        check(
            |engine| {
                mutate(engine, b"k\xff", set("f"));
                mutate(engine, b"k", set("nope"));
                mutate(engine, b"k", Mutation::DeleteFromRow);
                engine.tablets("t").unwrap();
            },
            &[done(OpKind::Write, b"k\xff", 1, 5), done(OpKind::Delete, b"k", 1, 1)],
        );
    }

    #[test]
    fn reads_are_a_line_a_key_or_range_with_its_rows() {
        let request = ReadRequest::of(RowSet::new(
            [(&b"a\0"[..]).into(), (&b"zz"[..]).into()],
            [RowRange { start: (&b"a\""[..]).into(), end: Some((&b"c"[..]).into()) }],
        ));
        let scan = |key, end, rows, bytes| Operation { end, ..done(OpKind::Scan, key, rows, bytes) };
        check(
            |engine| drop(engine.read_all("t", &request).unwrap()),
            &[
                done(OpKind::Read, b"a\0", 1, 7),
                scan(b"a\"", Some(b"c"), 2, 14),
                done(OpKind::Read, b"zz", 0, 0),
            ],
        );
        check(|engine| drop(engine.read_all("t", &ReadRequest::all()).unwrap()), &[scan(b"", None, 3, 21)]);
    }

    proptest! {
        #[test]
        fn any_key_comes_back(key in prop::collection::vec(any::<u8>(), 1..30)) {
            let lines = recorded(|engine| {
                let row = RowMutation { key: key.clone().into(), mutations: vec![Mutation::DeleteFromRow] };
                engine.mutate_rows("t", vec![row], Durability::Synced).unwrap();
            });
            let expected = format!("{:?}", done(OpKind::Delete, &key, 1, key.len() as u64));
            prop_assert_eq!(operations(&lines), [expected]);
        }
    }
}
