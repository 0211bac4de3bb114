//! A key schema for the recommended design, and the sample through it.
//!
//! ```text
//! diagnosis -> old key: fields, literals, salt        -> sketches: designs for the root cause, best for the reads first
//!           -> reads: declared, observed, or assumed  -> built: types that hold every value, literals that keep the order
//!                                                     -> measured: the sample through each; the first that is healthy is taken
//! ```
//!
//! Nothing is proposed that the sample does not pass through: keys that do not fit are counted, and two keys never become one unless
//! they mean the same (a digest in capitals, seconds and milliseconds of one moment).

mod build;
mod convert;
mod examine;
mod imagine;
mod incurable;
mod old;
mod reads;
mod sample;
mod sketch;
#[cfg(test)]
mod tests;
mod text;
mod typing;

pub use examine::{Examination, QueryCost, Standing, query_costs};
pub use imagine::{Imagined, judge_schema};

use crate::advice::{BucketChoice, BucketQuestion, nodes_needed};
use crate::finding::{Diagnosis, quote_value};
use crate::rule::{Rule, Severity};
use crate::{Error, ErrorKind, Result};
use build::{Built, Column, build};
use convert::Cell;
use old::{Old, Reader};
use reads::Reads;
use rowkey::schema::SaltSource;
use rowkey::{Codec, KeySchema};
use sample::{Sample, Score};
use sketch::{Case, Sketch, sketches};

/// What a proposal does about the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// The key is good as it is: it is only declared.
    Keep,
    /// An entity in front of what grows.
    PromoteEntity,
    /// A salt that follows from fields of the key.
    DerivedSalt,
    /// Leading bytes of a hash.
    HashPrefix,
    /// A number with its digits reversed.
    ReverseDigits,
    /// A host with its labels reversed.
    ReverseDomain,
    /// A number padded with zeros.
    PadNumber,
    /// Numbers of which some are negative, in a form that sorts.
    SignedNumber,
    /// Times of one unit.
    OneTimeUnit,
    /// Reversed times that lose no digit.
    ExactReverseTime,
    /// Hex digits of one case.
    OneHexCase,
    /// A delimiter that does not occur in the fields.
    SafeDelimiter,
    /// More buckets.
    MoreBuckets,
    /// Fewer buckets.
    FewerBuckets,
    /// No buckets.
    NoSalt,
    /// The period behind the entity.
    PeriodBehind,
    /// Large entities over several places.
    SplitHotEntity,
    /// A digest instead of a long text.
    Digest,
}

impl Cure {
    /// What it is, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Keep => "keep the key, declared",
            Self::PromoteEntity => "put the entity in front of what grows",
            Self::DerivedSalt => "salt that follows from the key",
            Self::HashPrefix => "hash prefix",
            Self::ReverseDigits => "reverse the digits of the number",
            Self::ReverseDomain => "reverse the labels of the domain",
            Self::PadNumber => "pad the number",
            Self::SignedNumber => "write negative numbers in a form that sorts",
            Self::OneTimeUnit => "one unit of time",
            Self::ExactReverseTime => "reverse times with integers",
            Self::OneHexCase => "one case of hex digits",
            Self::SafeDelimiter => "a delimiter that does not occur in fields",
            Self::MoreBuckets => "more buckets",
            Self::FewerBuckets => "fewer buckets",
            Self::NoSalt => "no buckets",
            Self::PeriodBehind => "put the period behind the entity",
            Self::SplitHotEntity => "spread large entities",
            Self::Digest => "a digest instead of a long text",
        }
    }
}

/// How the sample goes through a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fit {
    /// Different keys tried.
    pub keys: u64,
    /// Different keys that have a new key.
    pub fitting: u64,
    /// Keys whose new key is also that of another, since they mean the same.
    pub merged: u64,
    /// Some keys that have none, at most 10.
    pub misfits: Vec<Box<[u8]>>,
}

/// A key schema that cures a diagnosis, and how an old key becomes a new one.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The new key.
    pub schema: KeySchema,
    /// What it does, the root cause first.
    pub cures: Vec<Cure>,
    /// Why, sentences with numbers.
    pub why: Vec<String>,
    /// What no key schema cures, and what to do about it. Empty: nothing is left.
    pub not_cured: Vec<String>,
    /// How the sample goes through it.
    pub fit: Fit,
    /// How the number of buckets was chosen, if there are any.
    pub choice: Option<BucketChoice>,
    toml: String,
    codec: Codec,
    reader: Reader,
    columns: Vec<Column>,
    /// A comment for each field.
    comments: Vec<String>,
    /// Whether the stored keys stay as they are.
    keep: bool,
}

impl Proposal {
    /// The new key of an old one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] if the old key is not built as the diagnosis says, or a value has no place in the new key.
    pub fn apply(&self, key: &[u8]) -> Result<Vec<u8>> {
        let malformed =
            |why: String| Error::new(ErrorKind::Malformed, format!("the key {} {why}", quote_value(key)));
        if self.keep && self.schema.salt.as_ref().is_some_and(|salt| salt.source == SaltSource::Random) {
            // A random bucket is the writer's: the key keeps the one it has.
            return match self.codec.decode(key, &mut Vec::new()) {
                Ok(()) => Ok(key.to_vec()),
                Err(error) => Err(malformed(format!("does not fit: {error}"))),
            };
        }
        let cells =
            self.reader.cells(key).ok_or_else(|| malformed("is not built as the others".to_owned()))?;
        let values = self.columns.iter().enumerate().map(|(at, column)| {
            let value = cells.get(column.from).and_then(|cell| column.convert.value(cell));
            value.ok_or_else(|| malformed(format!("has no value for {}", self.schema.fields[at].name)))
        });
        let values: Vec<_> = values.collect::<Result<_>>()?;
        let mut out = Vec::new();
        self.codec.encode(&values, &mut out).map_err(|error| malformed(format!("does not fit: {error}")))?;
        Ok(out)
    }

    /// The schema file: TOML that `KeySchema::parse` reads, with comments that say why.
    pub fn to_toml(&self) -> &str {
        &self.toml
    }

    /// Encodes and decodes keys of the new schema.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }
}

/// Proposes a key schema for what a diagnosis says. `codec` is the schema that the sample was examined with, if any; `table` names the
/// new one.
///
/// A healthy key is declared as it is.
///
/// # Errors
///
/// [`ErrorKind::Conflict`], with what to do instead, if no key schema cures the root cause (a row that is rewritten, a queue, keys that are
/// bare digests, two layouts in one table), or if the sample has no keys.
pub fn propose(diagnosis: &Diagnosis, codec: Option<&Codec>, table: &str) -> Result<Proposal> {
    let conflict = |message: String| Error::new(ErrorKind::Conflict, message);
    let severe = diagnosis.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let rules: Vec<Rule> = severe.map(|finding| finding.rule).collect();
    let sample = Sample::new(diagnosis);
    if sample.is_empty() {
        return Err(conflict("There are no keys to propose a schema for.".to_owned()));
    }
    let mut old = Old::new(&diagnosis.layout, codec, &diagnosis.facts);
    let root = rules.first().copied();
    if root.is_none() {
        old.join_what_no_literal_parts(sample.all().map(|arrived| &*arrived.key));
    }
    if let Some(message) = root.and_then(|root| incurable::root(root, &old, diagnosis)) {
        return Err(conflict(message));
    }
    let format = diagnosis.layout.formats.first();
    let reads = Reads::new(&old, codec, &diagnosis.facts, format, &diagnosis.context);
    let question = question(diagnosis);
    let needed = nodes_needed(question.writes_per_s, &question.capacity).min(question.nodes.max(1));
    let case = Case { old: &old, reads: &reads, root, rules: &rules, question: &question, needed };
    let cells: Vec<Vec<Cell<'_>>> =
        sample.all().filter_map(|arrived| old.reader.cells(&arrived.key)).collect();
    let mut best: Option<(Score, Proposal)> = None;
    for sketch in sketches(&case) {
        let Some(built) = build(&case, &sketch, &cells, &table_name(table)) else { continue };
        let proposal = made(sketch, built, &old, &sample);
        let score = Score::of(&proposal, diagnosis, &sample, needed);
        let is_good = score.is_good();
        if best.as_ref().is_none_or(|(least, _)| score.is_better_than(least)) {
            best = Some((score, proposal));
        }
        if is_good {
            break;
        }
    }
    let (score, mut proposal) =
        best.ok_or_else(|| conflict("The schema language has no key for these fields.".to_owned()))?;
    if proposal.keep && !score.fits() {
        let message = "There is nothing to cure, and a schema cannot declare this key as it is: some field has bytes that are not \
                       above the literal behind it.";
        return Err(conflict(message.to_owned()));
    }
    proposal.not_cured = incurable::rest(&rules);
    proposal.toml = text::commented(&proposal, &reads, !old.families.is_empty());
    Ok(proposal)
}

/// A design with its schema, and the sample through it.
fn made(sketch: Sketch, built: Built, old: &Old, sample: &Sample<'_>) -> Proposal {
    let mut cures = sketch.cures;
    cures.extend(built.cures);
    if cures.is_empty() {
        cures.push(Cure::Keep);
    }
    let mut why = sketch.why;
    why.extend(built.notes);
    let mut proposal = Proposal {
        schema: built.codec.schema().clone(),
        cures,
        why,
        not_cured: Vec::new(),
        fit: Fit::default(),
        choice: sketch.salt.and_then(|salt| salt.choice),
        toml: String::new(),
        codec: built.codec,
        reader: old.reader.clone(),
        columns: built.columns,
        comments: built.comments,
        keep: sketch.keep,
    };
    proposal.fit = sample.fit(&proposal);
    proposal
}

/// What the number of buckets is chosen for, without range reads.
fn question(diagnosis: &Diagnosis) -> BucketQuestion {
    let (context, bound) = (&diagnosis.context, &diagnosis.bound);
    let capacity = context.capacity.clone();
    let nodes = context.nodes.max(1);
    if bound.needed_is_known {
        BucketQuestion::new(bound.needed_per_s, nodes, capacity)
    } else {
        BucketQuestion::whole_cluster(nodes, capacity)
    }
}

/// A table name that a schema takes: letters, digits, `_`, `-`, `.`, at most 50.
fn table_name(name: &str) -> String {
    let good = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.') { letter } else { '_' }
    };
    let mut text: String = name.chars().map(good).take(50).collect();
    if !text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_') {
        text = format!("t{text}").chars().take(50).collect();
    }
    text
}
