//! What all rules look at: facts, layout, context, and the sample of written keys cut into fields.

use super::buckets::{self, Buckets};
use super::load::Load;
use super::say;
use crate::context::Context;
use crate::facts::{Arrived, Facts};
use crate::infer;
use crate::layout::{FieldFacts, FieldOrder, Format, IdMeaning, Layout, Meaning};

/// Fewer keys than this cannot tell order or spread: with 100, a share of one half is known to a tenth.
pub(super) const KEYS_MIN: u64 = 100;

/// One field follows arrival if its own values are written at fewer places than this (research, D1).
pub(super) const FRONT_PLACES_MAX: f64 = 2.0;

/// What grows by itself follows arrival whatever the number of its places, if its rank correlation with arrival is at least this. Delays of
/// up to `w` in a sample that spans `s` give `1 - 2w/3s`, so that here they are less than a third of the sample; a window is then as short
/// as the delays and shows several places, but they are one front in a stream that goes on.
const FRONT_TAU_MIN: f64 = 0.8;

/// A sample to be judged.
pub(super) struct Case<'a> {
    pub(super) facts: &'a Facts,
    pub(super) layout: &'a Layout,
    pub(super) context: &'a Context,
    pub(super) load: Load,
    /// The evenly drawn written keys, in order of arrival.
    pub(super) written: Vec<Row<'a>>,
    /// Formats with a field that varies.
    pub(super) shapes: Vec<Shape<'a>>,
    /// The bucket in front, if there is one.
    pub(super) bucket: Option<Buckets<'a>>,
    /// The keys come sorted, though nothing in front of them grows by itself: a file that was sorted says nothing about arrival.
    pub(super) sorted: bool,
}

/// A key cut into fields.
#[derive(Clone)]
pub(super) struct Row<'a> {
    pub(super) key: &'a [u8],
    /// The index of its format, if it has one.
    pub(super) format: Option<usize>,
    /// Its fields; empty without a format.
    pub(super) fields: Vec<&'a [u8]>,
}

impl<'a> Row<'a> {
    /// The key up to the end of field `depth`, the fields before it included.
    pub(super) fn prefix(&self, depth: usize) -> Option<&'a [u8]> {
        let field = self.fields.get(depth)?;
        let begin = field.as_ptr().addr().checked_sub(self.key.as_ptr().addr())?;
        self.key.get(..begin.checked_add(field.len())?)
    }
}

/// A format seen by its fields.
pub(super) struct Shape<'a> {
    /// Its index in the layout.
    pub(super) index: usize,
    pub(super) format: &'a Format,
    pub(super) fields: Vec<&'a FieldFacts>,
    /// The first field that varies.
    pub(super) lead: usize,
}

impl<'a> Shape<'a> {
    fn of(index: usize, format: &'a Format) -> Option<Self> {
        let fields: Vec<_> = format.fields().collect();
        let lead = fields.iter().position(|field| field.distinct > 1)?;
        Some(Self { index, format, fields, lead })
    }

    pub(super) fn lead_field(&self) -> &'a FieldFacts {
        self.fields[self.lead]
    }

    /// Whether the first field that varies follows arrival.
    pub(super) fn lead_follows(&self) -> bool {
        let field = self.lead_field();
        follows(field, &field.order)
    }

    /// The first field behind the lead that follows arrival among keys that agree before it.
    pub(super) fn front_behind(&self) -> Option<usize> {
        (self.lead + 1..self.fields.len()).find(|&index| {
            let field = self.fields[index];
            if field.order_within.n_eff > 0.0 {
                follows(field, &field.order_within)
            } else {
                field.distinct > 1 && grows(&field.meaning)
            }
        })
    }
}

/// Whether a field's values follow arrival: one place is written at once, and it moves with time.
///
/// The number of places alone would take a field with one frequent value for a front, so its order must agree, or its meaning.
pub(super) fn follows(field: &FieldFacts, order: &FieldOrder) -> bool {
    let grows = grows(&field.meaning);
    let moves = order.tau.abs() >= 0.5 || grows && field.top_share < 0.5;
    let is_narrow = order.n_eff < FRONT_PLACES_MAX && moves;
    let is_ordered = grows && order.tau.abs() >= FRONT_TAU_MIN;
    field.distinct > 1 && order.n_eff > 0.0 && (is_narrow || is_ordered)
}

/// Whether values with this meaning grow by themselves.
pub(super) fn grows(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Time(_) | Meaning::Period(_) => true,
        Meaning::Number { grows, .. } | Meaning::BinaryNumber { grows, .. } => *grows,
        Meaning::Id(id) => has_clock(*id),
        _ => false,
    }
}

/// Whether an id only grows by its construction.
pub(super) fn has_clock(id: IdMeaning) -> bool {
    match id {
        IdMeaning::Uuid(version) => matches!(version, 1 | 6 | 7),
        IdMeaning::Ulid
        | IdMeaning::Ksuid
        | IdMeaning::ObjectId
        | IdMeaning::Snowflake
        | IdMeaning::Growing => true,
    }
}

pub(super) fn is_time(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Time(_) | Meaning::Period(_))
}

/// Whether values with this meaning have no reason to grow: if they ascend all the same, somebody sorted them.
fn never_grows(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Hash { .. }
        | Meaning::Salt(_)
        | Meaning::Domain { .. }
        | Meaning::Path
        | Meaning::Address
        | Meaning::Email
        | Meaning::Enumeration
        | Meaning::Text
        | Meaning::Decimal { .. } => true,
        Meaning::Id(id) => !has_clock(*id),
        _ => false,
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(facts: &'a Facts, layout: &'a Layout, context: &'a Context) -> Self {
        let shapes: Vec<_> = layout
            .formats
            .iter()
            .enumerate()
            .filter_map(|(index, format)| Shape::of(index, format))
            .collect();
        let front = &facts.writes.front;
        let sorted = facts.counts.writes >= KEYS_MIN
            && front.ascending >= 1.0
            && shapes.first().is_some_and(|shape| {
                never_grows(&shape.lead_field().meaning) && shape.lead_field().distinct > 2
            });
        let written = cut(layout, &facts.written.uniform);
        Self {
            facts,
            layout,
            context,
            load: Load::of(facts, context),
            bucket: buckets::find(&shapes, &written),
            written,
            shapes,
            sorted,
        }
    }

    /// The bucket, if it is in front of this format.
    pub(super) fn bucket_of(&self, shape: &Shape<'_>) -> Option<&Buckets<'a>> {
        self.bucket.as_ref().filter(|bucket| self.shapes[bucket.shape].index == shape.index)
    }

    /// Written keys of one format.
    pub(super) fn rows_of(&self, shape: &Shape<'_>) -> impl Iterator<Item = &Row<'a>> {
        let index = shape.index;
        self.written.iter().filter(move |row| row.format == Some(index))
    }

    /// Whether the order of arrival can be judged at all.
    pub(super) fn has_order(&self) -> bool {
        self.facts.counts.writes >= KEYS_MIN && self.facts.writes.windows > 0
    }

    /// Why not.
    pub(super) fn no_order(&self) -> String {
        format!(
            "too few keys: {} written, at least {KEYS_MIN} are needed",
            say::count(self.facts.counts.writes, "key")
        )
    }

    /// Range reads that touch more than one row, as far as they say so.
    pub(super) fn range_reads(&self) -> u64 {
        let counts = &self.facts.counts;
        if counts.scans_with_rows > 0 && counts.scanned_rows <= counts.scans_with_rows {
            0
        } else {
            counts.scans
        }
    }
}

/// Cuts keys into fields, each by the first format that it fits.
pub(super) fn cut<'a>(layout: &'a Layout, keys: &'a [Arrived]) -> Vec<Row<'a>> {
    keys.iter().map(|arrived| cut_one(layout, &arrived.key)).collect()
}

/// Cuts one key.
pub(super) fn cut_one<'a>(layout: &Layout, key: &'a [u8]) -> Row<'a> {
    for (index, format) in layout.formats.iter().enumerate() {
        if let Some(fields) = infer::split(format, key) {
            return Row { key, format: Some(index), fields };
        }
    }
    Row { key, format: None, fields: Vec::new() }
}
