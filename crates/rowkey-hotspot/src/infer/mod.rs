//! Key layouts, inferred from a sample of keys: which formats there are, the fields of each, and what each field is.
//!
//! ```text
//! keys -> groups built alike -> templates (literals and fields) -> columns of values -> what each field is -> Layout
//! ```
//!
//! Spans that hold delimiters themselves (calendar times, UUIDs, addresses) are found before anything is cut. Only the first 512 bytes of a
//! key are looked at for its structure. The same sample gives the same layout.

mod binary;
mod calendar;
mod column;
mod cut;
mod digest;
mod display;
mod ids;
mod measure;
mod names;
mod oddity;
mod partition;
mod recognise;
mod salt;
mod schema;
mod segment;
mod template;
#[cfg(test)]
mod tests;
mod times;
mod token;

use crate::facts::{Arrived, KeySample};
use crate::layout::{Format, Layout};

pub use schema::from_schema;

/// Keys that are looked at, at most; of more, every so manieth.
const KEYS_MAX: usize = 12_288;

/// What is known besides the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// The keys were sorted on purpose, so that their order says nothing about how they arise.
    pub bulk_load: bool,
}

/// The layout of the keys of a sample. An empty sample has no formats.
///
/// ```
/// use rowkey_hotspot::facts::{Arrived, KeySample};
/// use rowkey_hotspot::infer::{Hints, infer};
///
/// let key = |index: u64| Arrived { index, time_ms: None, key: format!("dev-{:04}#{}", index % 7, 1_714_644_000 + index / 3).into_bytes().into() };
/// let sample = KeySample { seen: 300, uniform: (0..300).map(key).collect(), runs: Vec::new() };
/// let layout = infer(&sample, &Hints::default());
/// let names: Vec<&str> = layout.formats[0].fields().map(|field| field.name.as_str()).collect();
/// assert_eq!(names, ["dev", "time"]);
/// ```
pub fn infer(sample: &KeySample, hints: &Hints) -> Layout {
    let arrived = keys_of(sample);
    let keys: Vec<&[u8]> = arrived.iter().map(|arrived| &*arrived.key).collect();
    let templates = segment::templates(&keys);
    measure::layout(sample, &arrived, &templates, *hints)
}

/// The keys to look at, in order of arrival.
fn keys_of(sample: &KeySample) -> Vec<&Arrived> {
    let all: Vec<&Arrived> = if sample.uniform.is_empty() {
        sample.runs.iter().flatten().collect()
    } else {
        sample.uniform.iter().collect()
    };
    let step = all.len().div_ceil(KEYS_MAX).max(1);
    all.into_iter().step_by(step).filter(|arrived| !arrived.key.is_empty()).collect()
}

/// The fields of a key of this format, in order, without the literals; `None` if the key is not built so.
pub fn split<'k>(format: &Format, key: &'k [u8]) -> Option<Vec<&'k [u8]>> {
    let template = measure::template_of(format);
    let mut fields = Vec::new();
    template.cut(key, &mut fields).then_some(fields)
}
