//! Reading what is examined, with progress, Ctrl-C and an account of the lines.

use super::{DoctorArgs, InputKind, generate};
use crate::exit::Failure;
use crate::input_file;
use crate::interrupt::{Interrupt, Interruptible};
use crate::progress::{Progress, Unit};
use crate::session::Session;
use crate::text::{count, counted};
use anyhow::Result;
use rowkey::Codec;
use rowkey_hotspot::collect::{CollectConfig, Collector};
use rowkey_hotspot::doctor;
use rowkey_hotspot::input::{self, Options, ReadReport};
use rowkey_hotspot::report::{Redactor, Source};
use rowkey_hotspot::{Context, Diagnosis, ErrorKind, Facts, Operation};
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

/// More malformed lines of 100 are an error, unless lenient. As `rowkey_hotspot::input` has it.
const MALFORMED_PERCENT_MAX: u64 = 1;

/// What every step of an examination is given.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// The command line.
    pub(super) args: &'a DoctorArgs,
    /// The schema that was given.
    pub(super) codec: Option<Codec>,
    /// Shows values, or their classes.
    pub(super) redactor: Redactor,
    /// Ctrl-C.
    pub(super) interrupt: Interrupt,
}

/// A diagnosis, and what it is of.
#[derive(Debug)]
pub(super) struct Examination {
    /// What was found.
    pub(super) diagnosis: Diagnosis,
    /// What was read.
    pub(super) source: Source,
    /// A copy of stdin, if the sample will be read again.
    pub(super) copy: Option<File>,
}

/// Examines the file, or the schema alone. `None`: Ctrl-C, which is told.
///
/// # Errors
///
/// If the file cannot be read, or too much of it is malformed; if no key can be made from the schema.
pub(super) fn examine(setting: &Setting<'_>, session: &Session) -> Result<Option<Examination>> {
    let Setting { args, codec, interrupt, .. } = setting;
    let mut source = Source {
        schema: args.schema.as_deref().map(|file| (shown(file), line_of_layout(file))),
        ..Source::default()
    };
    let mut collector = Collector::new(CollectConfig { seed: args.seed, ..CollectConfig::default() });
    let mut copy = None;
    if let Some(file) = &args.file {
        if file == Path::new("-") && args.propose.is_some() {
            copy = Some(tempfile::tempfile()?);
        }
        let input = open(file, copy.as_ref(), interrupt)?;
        let Some(report) = read(input, setting, session, &mut |operation| collector.observe(operation))?
        else {
            return Ok(None);
        };
        tell(&report, setting, session);
        source.input = Some(shown(file));
        (source.lines, source.operations, source.malformed) =
            (report.lines, report.operations, report.malformed);
    } else if let Some(codec) = codec {
        let mut sink = |operation: &Operation<'_>| collector.observe(operation);
        let Some(notes) = make_up(codec, setting, session, &mut sink)? else { return Ok(None) };
        for note in notes {
            session.note(&format!("note: {note}"));
        }
    }
    let facts = collector.finish();
    let context = context(setting, &facts)?;
    Ok(Some(Examination { diagnosis: doctor::diagnose(facts, codec.as_ref(), &context), source, copy }))
}

/// What it is judged against: reads as stated, else as measured, else as the schema's queries declare them.
fn context(setting: &Setting<'_>, facts: &Facts) -> Result<Context> {
    let mut context = setting.args.load.context();
    let are_measured = facts.span.is_some() && facts.counts.scans > 0;
    if let (Some(codec), false) = (&setting.codec, are_measured)
        && let Some(declared) = generate::declared_reads(codec, setting.args.seed)?
    {
        context.reads_per_s = context.reads_per_s.or(Some(declared.per_second));
        context.rows_per_read = context.rows_per_read.or(Some(declared.rows));
    }
    Ok(context)
}

/// An input and, if it is a plain file, its length.
pub(super) struct Input<'a> {
    name: String,
    reader: Box<dyn Read + 'a>,
    length: Option<u64>,
}

/// Opens a file or stdin; what is read of stdin also goes into `copy`.
///
/// # Errors
///
/// If the file cannot be opened.
pub(super) fn open<'a>(file: &Path, copy: Option<&'a File>, interrupt: &Interrupt) -> Result<Input<'a>> {
    let name = shown(file);
    if file == Path::new("-") {
        let stdin = Interruptible::new(io::stdin(), interrupt.clone());
        let reader: Box<dyn Read + 'a> = match copy {
            Some(copy) => Box::new(Tee { reader: stdin, copy }),
            None => Box::new(stdin),
        };
        return Ok(Input { name, reader, length: None });
    }
    let (opened, length) = input_file::open(file)?;
    Ok(Input { name, reader: Box::new(opened), length })
}

/// Passes the operations that were examined once more to `sink`. False: Ctrl-C, which is told.
///
/// # Errors
///
/// If the input cannot be read again.
pub(super) fn repeat(
    examined: &Examination,
    setting: &Setting<'_>,
    session: &Session,
    sink: &mut dyn FnMut(&Operation<'_>),
) -> Result<bool> {
    let Setting { args, codec, interrupt, .. } = setting;
    let input = match (&examined.copy, &args.file, codec) {
        (Some(copy), _, _) => {
            let mut copy = copy;
            copy.rewind()?;
            Input { name: "stdin".to_owned(), reader: Box::new(copy), length: None }
        }
        (None, Some(file), _) => open(file, None, interrupt)?,
        (None, None, Some(codec)) => {
            return make_up(codec, setting, session, sink).map(|notes| notes.is_some());
        }
        (None, None, None) => return Ok(true),
    };
    Ok(read(input, setting, session, sink)?.is_some())
}

/// Makes operations up from the schema, and answers what was assumed. `None`: Ctrl-C, which is told.
fn make_up(
    codec: &Codec,
    setting: &Setting<'_>,
    session: &Session,
    sink: &mut dyn FnMut(&Operation<'_>),
) -> Result<Option<Vec<String>>> {
    let Setting { args, interrupt, .. } = setting;
    let mut sink = |operation: &Operation<'_>| {
        sink(operation);
        !interrupt.is_set()
    };
    let notes = generate::operations(codec, &args.load.context(), args.seed, &mut sink)?;
    if interrupt.is_set() {
        session.note("interrupted: nothing judged");
        return Ok(None);
    }
    Ok(Some(notes))
}

/// Reads all operations. `None`: Ctrl-C, which is told.
///
/// # Errors
///
/// As `rowkey_hotspot::input::read`; values in messages are redacted.
pub(super) fn read(
    input: Input<'_>,
    setting: &Setting<'_>,
    session: &Session,
    sink: &mut dyn FnMut(&Operation<'_>),
) -> Result<Option<ReadReport>> {
    let Setting { args, codec, redactor, interrupt } = setting;
    let options = Options {
        format: args.input_format.map(|kind| match kind {
            InputKind::Keys => input::Format::Keys,
            InputKind::Operations => input::Format::Operations,
            InputKind::Csv => input::Format::Csv,
        }),
        codec: codec.clone(),
        // Its error would show the lines; ours does not.
        lenient: args.lenient || redactor.redacts(),
        seed: args.seed,
        ..Options::default()
    };
    let mut progress = Progress::new("doctor", input.length, Unit::Bytes);
    let mut operations = 0_u64;
    let mut sink = |operation: &Operation<'_>| {
        operations += 1;
        sink(operation);
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result =
        input::read(input.reader, &input.name, &options, &mut sink, &mut |bytes| progress.set(bytes));
    drop(progress);
    if interrupt.is_set() {
        session.note(&format!("interrupted: {} read, nothing judged", counted(operations, "operation")));
        return Ok(None);
    }
    let report = result.map_err(|error| refused(&error, *redactor))?;
    if redactor.redacts() && !args.lenient && report.malformed * 100 > report.lines * MALFORMED_PERCENT_MAX {
        tell(&report, setting, session);
        return Err(Failure::bad_data(format!(
            "{}: {} of {} lines are malformed, more than {MALFORMED_PERCENT_MAX} %; --lenient goes on without them",
            input.name,
            count(report.malformed),
            count(report.lines)
        )));
    }
    Ok(Some(report))
}

/// What reading failed with. Only the first line of its message never shows a line of the input.
fn refused(error: &rowkey_hotspot::Error, redactor: Redactor) -> anyhow::Error {
    let message = error.to_string();
    let shown = if redactor.redacts() { message.lines().next().unwrap_or_default() } else { &message };
    match error.kind() {
        ErrorKind::Conflict => Failure::usage(shown),
        _ => Failure::bad_data(shown),
    }
}

/// Tells of lines that were not understood, and of what was left out.
fn tell(report: &ReadReport, setting: &Setting<'_>, session: &Session) {
    let Setting { redactor, codec, .. } = setting;
    for malformed in &report.first_malformed {
        let why = if redactor.redacts() {
            without_values(&malformed.why, codec.as_ref())
        } else {
            malformed.why.clone()
        };
        session.warn(&format!("line {}: {why}: {}", count(malformed.line), redactor.line(&malformed.shown)));
    }
    let shown = report.first_malformed.len() as u64;
    if report.malformed > shown {
        let more = count(report.malformed - shown);
        session.warn(&format!(
            "{more} more malformed lines; {} were read",
            counted(report.operations, "operation")
        ));
    }
    if let Some(why) = &report.cut_off {
        session.warn(&format!("the input {why}"));
    }
}

/// What reasons quote that is no value: members of operations, and how bytes are escaped.
const QUOTED_WORDS: &[&str] = &["op", "key", "end", "rows", "bytes", "time_ms", "\\", "x", "\\x00"];

/// A reason without the values that it quotes, in backquotes or double quotes.
fn without_values(why: &str, codec: Option<&Codec>) -> String {
    let redactor = Redactor::new(true);
    let is_word = |text: &str| {
        QUOTED_WORDS.contains(&text) || codec.is_some_and(|codec| codec.schema().field_index(text).is_some())
    };
    let mut out = String::with_capacity(why.len());
    let mut rest = why;
    while let Some(start) = rest.find(['`', '"']) {
        let quote = &rest[start..=start];
        let (before, behind) = (&rest[..start], &rest[start + 1..]);
        // A quote without an end quotes all that follows.
        let (quoted, after) = behind.split_once(quote).unwrap_or((behind, ""));
        let shown = if is_word(quoted) { quoted.to_owned() } else { redactor.line(quoted) };
        out.extend([before, quote, &shown, quote]);
        rest = after;
    }
    out + rest
}

/// A file as messages name it.
fn shown(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}

/// The line of a schema's layout, from 1: what has to be changed. 1 if it is written in a way that is not found.
fn line_of_layout(schema: &Path) -> u64 {
    let text = std::fs::read_to_string(schema).unwrap_or_default();
    let line = (1..).zip(text.lines()).find(|(_, line)| line.trim_start().starts_with("layout"));
    line.map_or(1, |(number, _)| number)
}

/// Copies what is read.
struct Tee<'a, R> {
    reader: R,
    copy: &'a File,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.copy.write_all(&buffer[..length])?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_loses_the_values_that_it_quotes() {
        let check = |why: &str, expected: &str| assert_eq!(without_values(why, None), expected);
        check("`op` is \"Delete7\": expected write", "`op` is \"Aaaaaa9\": expected write");
        check("as in `\\x00`, not `\\q`", "as in `\\x00`, not `\\a`");
        check("no JSON object", "no JSON object");
        check("`open secret", "`aaaa aaaaaa`");
    }
}
