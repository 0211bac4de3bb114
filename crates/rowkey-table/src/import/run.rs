//! One import: from records to batches, and from the engine's answers to counts.

use super::apply::{Applied, Applier, Batch, Note, Outcome};
use super::input::open_text;
use super::mapping::{CellColumn, Draft, DraftCell, Mapper, Mapping};
use super::record::{CsvRecords, JsonRecords, Record, Records};
use super::reject::Rejects;
use super::seen::{KeyMark, Seen, mark};
use super::{ImportHooks, ImportOptions, ImportReport, InputFormat, OnDuplicate, Progress, ProgressFn};
use crate::access::bucket_for;
use crate::{Error, ErrorKind, KeyedTable, Result};
use rowkey::schema::SaltSource;
use rowkey::{Codec, Value};
use rowkey_store::{
    Durability, Granularity, Mutation, RowKey, RowMutation, TableConfig, Timestamp, check, limits,
};
use std::collections::BTreeSet;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

impl KeyedTable {
    /// Imports CSV or JSON lines, gzipped or not. Each record becomes one row; a record that is wrong is rejected and the import goes on.
    ///
    /// # Errors
    ///
    /// `Data` for input that is empty, binary or lacks a column, and for too many rejects; `Invalid` for a mapping that does not fit;
    /// `Cancelled` if the progress function says so; those of the engine. What was written before stays written, and the message
    /// says how much that is.
    pub fn import(
        &self,
        input: impl Read,
        format: InputFormat,
        mapping: &Mapping,
        options: &ImportOptions,
        hooks: ImportHooks<'_>,
    ) -> Result<ImportReport> {
        let text = open_text(input)?;
        let mut records = match format {
            InputFormat::Csv { delimiter } => Records::Csv(CsvRecords::new(text, delimiter)?),
            InputFormat::JsonLines => Records::Json(JsonRecords::new(text)),
        };
        let header = match &records {
            Records::Csv(records) => Some(records.header()),
            Records::Json(_) => None,
        };
        let mapper = Mapper::new(self.codec(), mapping, header)?;
        let config = self.engine().table_config(self.name())?;
        let granule_us = match config.granularity {
            Granularity::Millis => 1000,
            Granularity::Micros => 1,
        };
        let timestamp_us = options.timestamp_us.unwrap_or_else(|| self.clock().now_us());
        let mut run = Run {
            codec: self.codec(),
            table: self.name(),
            config,
            seen: Seen::new(mapping.time.is_some(), cut(timestamp_us, granule_us)),
            mapper,
            options,
            granule_us,
            columns: BTreeSet::new(),
            rejects: Rejects::new(hooks.rejects, options.rejects_max),
            progress: hooks.progress,
            report: ImportReport { timestamp_us: cut(timestamp_us, granule_us), ..ImportReport::default() },
            batch: Batch::default(),
            unsalted: Vec::new(),
            key: Vec::new(),
        };
        let result = std::thread::scope(|scope| {
            let applier = Applier::start(scope, &**self.engine(), self.name(), options.durability);
            let read = run.read_all(&mut records, &applier);
            let answers = applier.finish();
            // What the engine answered is counted even if reading failed; the first error is the one to tell.
            let applied = answers.into_iter().try_for_each(|applied| run.account(applied));
            // The cause lies with the engine if the thread that feeds it has ended.
            applied.and(read)
        });
        result.map_err(|error| run.stopped(self.name(), error))?;
        if options.durability == Durability::Buffered {
            self.engine().sync()?;
        }
        run.report.columns_ignored.clone_from(&run.mapper.ignored);
        run.warn();
        assert!(run.report.adds_up(), "the counts of an import add up: {:?}", run.report);
        Ok(run.report)
    }
}

struct Run<'i, 'h> {
    codec: &'i Codec,
    table: &'i str,
    config: TableConfig,
    mapper: Mapper,
    options: &'i ImportOptions,
    granule_us: i64,
    seen: Seen,
    /// Columns written so far: those that an overwritten record may have.
    columns: BTreeSet<Arc<CellColumn>>,
    rejects: Rejects<'h>,
    progress: Option<&'h mut ProgressFn<'h>>,
    report: ImportReport,
    batch: Batch,
    unsalted: Vec<u8>,
    key: Vec<u8>,
}

enum Refused {
    Wrong(String),
    Duplicate,
}

impl Run<'_, '_> {
    fn read_all<R: Read>(&mut self, records: &mut Records<R>, applier: &Applier<'_>) -> Result<()> {
        loop {
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    // What was read before the input failed is good, and a pipe may have taken hours to bring it.
                    self.report.bytes_read = records.bytes();
                    return self.hand_over(applier).and(Err(error));
                }
            };
            self.record(record, records.text())?;
            self.report.bytes_read = records.bytes();
            if self.batch.rows.len() >= self.options.batch_rows
                || self.batch.bytes >= self.options.batch_bytes
            {
                self.hand_over(applier)?;
            }
        }
        self.report.bytes_read = records.bytes();
        self.hand_over(applier)
    }

    fn hand_over(&mut self, applier: &Applier<'_>) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if !batch.rows.is_empty() && !applier.send(batch) {
            // Its answer says why, and is accounted for when the applier has finished.
            return Err(Error::new(ErrorKind::Unavailable, "the engine takes no more rows"));
        }
        while let Ok(applied) = applier.answers.try_recv() {
            self.account(applied)?;
        }
        let progress = Progress { rows: self.report.rows_read, bytes: self.report.bytes_read };
        match self.progress.as_mut().map(|progress_fn| progress_fn(progress)) {
            Some(ControlFlow::Break(())) => Err(Error::new(ErrorKind::Cancelled, "the import was cancelled")),
            _ => Ok(()),
        }
    }

    /// Puts a record into the batch, or rejects it.
    fn record(&mut self, record: Record, text: &[u8]) -> Result<()> {
        self.report.rows_read += 1;
        let prepared = record.fields.map_err(Refused::Wrong).and_then(|fields| {
            let draft = self.mapper.draft(fields).map_err(Refused::Wrong)?;
            self.prepare(&draft)
        });
        let (row, outcome, cells) = match prepared {
            Ok(prepared) => prepared,
            Err(Refused::Wrong(reason)) => {
                self.report.rows_rejected += 1;
                return self.rejects.reject(&mut self.report, record.line, reason, text);
            }
            Err(Refused::Duplicate) => {
                self.report.duplicates_rejected += 1;
                let reason = "an earlier record has the same row key".to_owned();
                return self.rejects.reject(&mut self.report, record.line, reason, text);
            }
        };
        self.batch.bytes += row.key.len() + text.len() + size_of::<Mutation>() * row.mutations.len();
        self.batch.rows.push(row);
        self.batch.texts.extend_from_slice(text);
        let text_end = self.batch.texts.len();
        self.batch.notes.push(Note { line: record.line, outcome, cells, text_end });
        Ok(())
    }

    fn prepare(&mut self, draft: &Draft) -> Result<(RowMutation, Outcome, u64), Refused> {
        let mark =
            self.encode(&draft.values, draft.bucket).map_err(|error| Refused::Wrong(error.to_string()))?;
        if self.key.len() > limits::ROW_KEY_BYTES_MAX {
            let (bytes, bytes_max) = (self.key.len(), limits::ROW_KEY_BYTES_MAX);
            return Err(Refused::Wrong(format!(
                "the row key would be {bytes} bytes long; the limit is {bytes_max}"
            )));
        }
        let exported = draft.cells.iter().any(|cell| cell.timestamp_us.is_some());
        let wanted_us = draft.timestamp_us.map_or(self.report.timestamp_us, |us| cut(us, self.granule_us));
        let mut row = RowMutation {
            key: RowKey::copy_from_slice(&self.key),
            mutations: draft.cells.iter().map(|cell| set_cell(cell, wanted_us)).collect(),
        };
        // A record that the engine will refuse is no earlier record of its key: it must not make a good one a duplicate.
        check::row_mutation(self.table, &self.config, &row)
            .map_err(|error| Refused::Wrong(error.to_string()))?;
        let outcome = match self.seen.note(mark, wanted_us) {
            None => Outcome::New,
            Some(times) => match self.options.on_duplicate {
                OnDuplicate::Reject => return Err(Refused::Duplicate),
                OnDuplicate::KeepVersions => {
                    let free_us = times.take_free(wanted_us, self.granule_us).ok_or_else(|| {
                        Refused::Wrong("no cell timestamp is left for a duplicate".to_owned())
                    })?;
                    row.mutations = draft.cells.iter().map(|cell| set_cell(cell, free_us)).collect();
                    Outcome::Kept
                }
                OnDuplicate::Overwrite if exported => {
                    row.mutations.insert(0, Mutation::DeleteFromRow);
                    Outcome::Overwritten
                }
                OnDuplicate::Overwrite => {
                    let mut deletes = Vec::new();
                    for &earlier_us in times.all() {
                        delete_at(&self.columns, earlier_us, self.granule_us, &mut deletes);
                    }
                    row.mutations.splice(0..0, deletes);
                    times.take(wanted_us);
                    Outcome::Overwritten
                }
            },
        };
        draft.cells.iter().for_each(|cell| self.remember_column(cell));
        Ok((row, outcome, draft.cells.len() as u64))
    }

    fn remember_column(&mut self, cell: &DraftCell) {
        if self.options.on_duplicate == OnDuplicate::Overwrite && !self.columns.contains(&cell.column) {
            self.columns.insert(Arc::clone(&cell.column));
        }
    }

    /// Encodes the stored key, and marks it.
    fn encode(&mut self, values: &[Value<'_>], bucket: Option<u32>) -> Result<KeyMark, rowkey::Error> {
        let salt = self.codec.schema().salt.as_ref();
        if let Some(salt) = salt.filter(|salt| salt.source == SaltSource::Random) {
            // Rows of one key go to one bucket, so that they meet as versions.
            self.codec.encode_unsalted(values, &mut self.unsalted)?;
            let chosen = bucket_for(self.options.seed ^ mark(&self.unsalted)[0], salt.buckets);
            self.codec.encode_in_bucket(bucket.unwrap_or(chosen), values, &mut self.key)?;
        } else {
            self.codec.encode(values, &mut self.key)?;
        }
        Ok(mark(&self.key))
    }

    /// Counts what the engine did with a batch.
    fn account(&mut self, applied: Applied) -> Result<()> {
        let results = applied.results?;
        let mut text_start = 0;
        for (note, result) in applied.notes.iter().zip(results) {
            let text = &applied.texts[text_start..note.text_end];
            text_start = note.text_end;
            match result {
                Ok(()) => self.count(note),
                Err(error) if is_about_the_row(error.kind()) => {
                    self.report.rows_rejected += 1;
                    self.rejects.reject(&mut self.report, note.line, error.to_string(), text)?;
                }
                Err(error) => return Err(Error::from(error).context(format!("line {}", note.line))),
            }
        }
        Ok(())
    }

    fn count(&mut self, note: &Note) {
        match note.outcome {
            Outcome::New => self.report.rows_written += 1,
            Outcome::Kept => self.report.duplicates_kept += 1,
            Outcome::Overwritten => self.report.duplicates_overwritten += 1,
        }
        self.report.cells_written += note.cells;
    }

    fn stopped(&self, table: &str, error: Error) -> Error {
        let written =
            self.report.rows_written + self.report.duplicates_kept + self.report.duplicates_overwritten;
        error.context(format!(
            "table `{table}`: the import stopped after {} record{}, of which {written} {} known to be written",
            self.report.rows_read,
            if self.report.rows_read == 1 { "" } else { "s" },
            if written == 1 { "is" } else { "are" },
        ))
    }

    fn warn(&mut self) {
        if self.report.rows_read == 0 {
            self.report.warnings.push("the input has no records".to_owned());
        } else if !self.mapper.never_met.is_empty() {
            let names: Vec<_> = self.mapper.never_met.iter().map(|name| format!("`{name}`")).collect();
            self.report
                .warnings
                .push(format!("no record has the member {} that a rule names", names.join(", ")));
        }
        if self.report.duplicates_kept == 0 {
            return;
        }
        for family in &self.config.families {
            let now_us = self.report.timestamp_us;
            if family.gc_rule.as_ref().is_some_and(|rule| rule.takes(2, now_us, now_us)) {
                self.report.warnings.push(format!(
                    "{} duplicates were kept as versions, but the rule of family `{}` keeps one version: the older ones go with \
                     the next garbage collection",
                    self.report.duplicates_kept, family.name
                ));
            }
        }
    }
}

fn set_cell(cell: &DraftCell, timestamp_us: i64) -> Mutation {
    Mutation::SetCell {
        family: cell.column.family.clone(),
        qualifier: cell.column.qualifier.clone(),
        timestamp: Timestamp::Micros(cell.timestamp_us.unwrap_or(timestamp_us)),
        value: cell.value.clone(),
    }
}

/// Deletes what an earlier record wrote at its timestamp.
fn delete_at(
    columns: &BTreeSet<Arc<CellColumn>>,
    at_us: i64,
    granule_us: i64,
    mutations: &mut Vec<Mutation>,
) {
    mutations.extend(columns.iter().map(|column| Mutation::DeleteFromColumn {
        family: column.family.clone(),
        qualifier: column.qualifier.clone(),
        times_us: Some(at_us..at_us.saturating_add(granule_us)),
    }));
}

/// Whether the engine refused one row for what is in it, so that others may still be written.
fn is_about_the_row(kind: rowkey_store::ErrorKind) -> bool {
    use rowkey_store::ErrorKind as Store;
    matches!(kind, Store::Invalid | Store::Limit | Store::NotFound | Store::Conflict | Store::Unsupported)
}

/// A time cut to the table's granularity.
fn cut(micros: i64, granule_us: i64) -> i64 {
    micros - micros.rem_euclid(granule_us)
}
