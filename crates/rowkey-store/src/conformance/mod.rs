//! Golden scripts that every engine must pass: `testscripts/*.txt`, built into this crate so that other crates can run them.
//!
//! A script is a list of blocks: commands, a line `---`, what they print, an empty line. Comments begin with `#`. Time stands still
//! unless a script sets it. Bytes are escaped, a space is `\x20`, nothing at all is `""`, and `repeat:4097:k` is 4,097 times `k`.
//!
//! ```text
//! clock 100s                                            the clock
//! create t a b:maxage=7d||maxversions=1 split=m micros protected
//! create t sum=c min=d:maxversions=1 max=e              aggregate families; `families t +sum=c` as well
//! drop t | rename t other | tables | describe t | protect t on
//! families t +c:maxversions=1 ~a:never -b               creates, changes the rule, drops
//! annotate t name content | annotate t name
//! mutate t row set a:q@5ms=v ; delete a:q@1ms..5ms ; delete a:q ; delete-family a ; delete-row | row2 set a:q=v
//! set t row a:q@5ms=v a:r=w                             short for mutate; without a time: the clock's
//! mutate t row add c:q@5ms=-7 ; merge c:q@5ms=\x00...   aggregates: a number, a state
//! check t row column=a:q filter=pass then delete-row else set a:q=v
//! rmw t row @5ms append a:q=suffix ; increment a:n=5
//! read t key=k prefix=p range=[a..b) none family=a column=a:q times=1ms..5ms versions=1 filter=... limit=2 reverse live
//! snapshot s t | read @s ... | release s                a view that is held
//! drop-rows t all | drop-rows t prefix=p | split t k | tablets t | counters t | samples t | garbage t | collect t | sync | reopen
//! ```
//!
//! Filters: `pass`, `block`, `sink`, `strip`, `chain(f,f)`, `interleave(f,f)`, `condition(f,f,f)` (`-`: no branch),
//! `qualifiers(a,>=x,<y)`, `values(>x,<=y)`, `times(1ms..2ms)`, `bitmask(\x01)`, `offset(1)`, `limit(1)`, `versions(1)`, `label(x)`,
//! `sample(0.5)`, `key-regex(x)`, `family-regex(x)`, `qualifier-regex(x)`, `value-regex(x)`. A backslash of a pattern is `\\`, and its
//! round brackets must match.

mod command;
mod parse;
mod show;

use crate::{Clock, Engine, ManualClock};
use std::fmt::Write as _;
use std::sync::Arc;

/// How a test opens engines.
pub trait Harness {
    /// An empty engine that tells the time by this clock.
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine>;

    /// Closes an engine, to which nobody else holds a handle, and opens it again with what it stored. The default is for engines
    /// that store nothing beyond the process: it goes on with the same one.
    fn reopen(&mut self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        engine
    }

    /// Called between any two steps of a metamorphic run, so that an engine can do what it does in the background: flush, compact,
    /// collect, each a repeatable choice. Scripts do not call it: they look at cells that collection may take.
    fn between(&mut self, engine: &Arc<dyn Engine>, choice: u64) {
        let _ = (engine, choice);
    }
}

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../testscripts/", $name, ".txt")))),*]
    };
}

/// All scripts: name and text.
pub const SCRIPTS: &[(&str, &str)] = scripts![
    "aggregate_errors",
    "aggregates",
    "aggregates_and_rules",
    "annotations",
    "atomic_rows",
    "check_and_mutate",
    "delete_and_rules",
    "delete_columns",
    "delete_families_and_rows",
    "drop_rows",
    "families",
    "filter_errors",
    "filter_regexes",
    "filter_samples",
    "filter_sinks",
    "filter_trees",
    "filters",
    "gc_age",
    "gc_intersection",
    "gc_nested",
    "gc_rule_changes",
    "gc_union",
    "gc_versions",
    "limits_of_rows",
    "live_reads",
    "mutation_limits",
    "names",
    "odd_bytes",
    "order_of_cells",
    "overwrite",
    "prefixes",
    "protection",
    "ranges",
    "read_modify_write",
    "rename",
    "reopen",
    "reverse",
    "selection",
    "snapshots",
    "tables",
    "tablet_counters",
    "tablets",
    "times",
];

/// Runs all scripts, each on an engine of its own.
///
/// # Errors
///
/// What was expected and what came, of each block that failed.
pub fn run_all(harness: &mut dyn Harness) -> Result<(), String> {
    let mut failures = String::new();
    for (name, text) in SCRIPTS {
        if let Err(failure) = run(name, text, harness) {
            failures.push_str(&failure);
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// Runs one script.
///
/// # Errors
///
/// What was expected and what came, of each block that failed.
pub fn run(name: &str, text: &str, harness: &mut dyn Harness) -> Result<(), String> {
    let mut failures = String::new();
    for (block, actual) in execute(text, harness) {
        if block.expected != actual {
            let _ = writeln!(
                failures,
                "script `{name}`, line {}:\n{}\nexpected:\n{}but it was:\n{actual}",
                block.line,
                block.commands.join("\n"),
                block.expected
            );
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// The same script with what an engine prints as the expectation. Read what changed before you keep it.
pub fn rewrite(text: &str, harness: &mut dyn Harness) -> String {
    let mut out = String::new();
    for (block, actual) in execute(text, harness) {
        for line in block.comments.iter().chain(&block.commands) {
            out.push_str(line);
            out.push('\n');
        }
        if !block.commands.is_empty() {
            let _ = write!(out, "---\n{actual}");
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[derive(Debug, Default)]
struct Block<'a> {
    /// The line of the first command, from 1.
    line: usize,
    comments: Vec<&'a str>,
    commands: Vec<&'a str>,
    expected: String,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    let mut expecting = false;
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim().is_empty() {
            if !block.commands.is_empty() || !block.comments.is_empty() {
                blocks.push(std::mem::take(&mut block));
            }
            expecting = false;
        } else if expecting {
            block.expected.push_str(content);
            block.expected.push('\n');
        } else if content == "---" {
            expecting = true;
        } else if content.starts_with('#') {
            block.comments.push(content);
        } else {
            if block.commands.is_empty() {
                block.line = line;
            }
            block.commands.push(content);
        }
    }
    if !block.commands.is_empty() || !block.comments.is_empty() {
        blocks.push(block);
    }
    blocks
}

fn execute<'a>(text: &'a str, harness: &mut dyn Harness) -> Vec<(Block<'a>, String)> {
    let clock = Arc::new(ManualClock::new(0));
    let engine = harness.open(Arc::clone(&clock) as Arc<dyn Clock>);
    let mut session = command::Session::new(engine, clock);
    let mut results = Vec::new();
    for block in blocks(text) {
        let mut actual = String::new();
        for command in &block.commands {
            if command.trim() == "reopen" {
                session = session.reopen(harness);
            } else {
                match session.run(command) {
                    Ok(output) => actual.push_str(&output),
                    Err(error) => {
                        let _ = writeln!(actual, "error {:?}: {error}", error.kind());
                    }
                }
            }
        }
        results.push((block, actual));
    }
    results
}

#[cfg(test)]
mod tests;
