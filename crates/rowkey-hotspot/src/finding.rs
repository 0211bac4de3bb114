//! What the doctor says.
//!
//! **Values in texts.** Headlines, evidence, advice, `why` and all other texts may be shown redacted. So a text that shows a key, a part
//! of one, a literal or anything else that stood in the input shows it through [`quote_value`], and never in another way: what is
//! between the marks is replaced by its classes, the rest of the text is shown as it is. Names of fields and numbers that were computed
//! need no marks. The report turns the marks into backquotes.

use crate::context::Context;
use crate::facts::Facts;
use crate::layout::Layout;
use crate::rule::{Rule, Severity};
use rowkey::escape;

/// Before a value inside a text: see [`quote_value`].
pub const VALUE_BEGIN: char = '\u{ab}';
/// Behind a value inside a text.
pub const VALUE_END: char = '\u{bb}';

/// A value for a text: escaped as Rowkey prints keys, cut behind 60 characters, between [`VALUE_BEGIN`] and [`VALUE_END`].
///
/// Escaped text is ASCII, so no value can hold a mark.
///
/// ```
/// use rowkey_hotspot::finding::quote_value;
/// assert_eq!(format!("all keys begin with {}", quote_value(b"a\0")), "all keys begin with \u{ab}a\\x00\u{bb}");
/// ```
pub fn quote_value(value: &[u8]) -> String {
    const SHOWN_MAX: usize = 60;
    let mut text = String::from(VALUE_BEGIN);
    let mut length = 0;
    for byte in value.chunks(1) {
        let shown = escape::escaped(byte).to_string();
        length += shown.len();
        if length > SHOWN_MAX {
            text.push_str("...");
            break;
        }
        text.push_str(&shown);
    }
    text.push(VALUE_END);
    text
}

/// The outcome of an examination.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// Findings, what matters most first; the first is the root cause.
    pub findings: Vec<Finding>,
    /// Rules that were looked at and did not fire, with what was measured for each, and rules that could not be looked at, with why.
    pub passed: Vec<Passed>,
    /// What was measured.
    pub facts: Facts,
    /// How the keys are built.
    pub layout: Layout,
    /// What it was judged against, with all that was assumed filled in.
    pub context: Context,
    /// Writes per second that the table takes on `context.nodes` nodes with even placement.
    pub bound: Bound,
}

impl Diagnosis {
    /// The worst severity; `None` if there is no finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether nothing is a warning or worse.
    pub fn is_healthy(&self) -> bool {
        self.worst().is_none_or(|severity| severity < Severity::Warning)
    }
}

/// How much of the cluster the writes can use.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// Writes per second needed: stated, measured, or the whole cluster's target.
    pub needed_per_s: f64,
    /// Whether that is stated or measured, not assumed.
    pub needed_is_known: bool,
    /// Nodes that the writes keep busy at once, 1 to the number of nodes: `min(N, 1 / largest share)` of the worst lasting kind.
    pub nodes_used: f64,
    /// Writes per second that these nodes take.
    pub bound_per_s: f64,
}

/// One finding.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// One sentence about this table, with its numbers; values only through [`quote_value`].
    pub headline: String,
    /// The part of the key to blame: the name of a field.
    pub field: Option<String>,
    /// What was measured.
    pub evidence: Vec<Evidence>,
    /// Nodes' worth of capacity that is lost at the stated load, 0 to the number of nodes.
    pub nodes_lost: f64,
    /// Example keys, at most 10.
    pub examples: Vec<Box<[u8]>>,
    /// Where in the key space, to be drawn: half-open ranges, `None` = to the end.
    pub places: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// What to do.
    pub advice: Vec<Advice>,
}

/// One measurement that a finding rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What was measured: `effective places written at once`.
    pub what: String,
    /// The value.
    pub measured: f64,
    /// The threshold that it passed, with its direction in words: `below 5`. Empty: it confirms, and has none.
    pub threshold: String,
    /// Keys or operations it was measured on.
    pub sample: u64,
    /// Plus or minus, if it is an estimate.
    pub error: Option<f64>,
}

/// Something to do, with what it brings and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// What to do, a sentence.
    pub action: String,
    /// What it gains the writes, a clause with numbers. Empty: nothing.
    pub gain: String,
    /// What it costs the reads, a clause with numbers. Empty: nothing.
    pub cost: String,
}

/// A rule that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Which rule.
    pub rule: Rule,
    /// Whether it could be looked at.
    pub checked: bool,
    /// What was seen, or why it could not be looked at.
    pub why: String,
}
