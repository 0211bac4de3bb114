//! Fields measured: templates become formats.

use std::collections::BTreeMap;

use super::Hints;
use super::column::{self, Column};
use super::digest;
use super::oddity;
use super::partition::{is_worth, share};
use super::recognise::{self, Recognised};
use super::salt::{self, Rest};
use super::template::{Form, Part, Template};
use super::times::Around;
use crate::facts::{Arrived, KeySample};
use crate::layout::{FieldFacts, Format, HashEncoding, IdMeaning, Layout, Meaning, Segment, TimeForm};

/// Example keys of a format.
const EXAMPLES: usize = 10;

/// The layout that these templates give.
pub(super) fn layout(
    sample: &KeySample,
    arrived: &[&Arrived],
    templates: &[Template],
    hints: Hints,
) -> Layout {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); templates.len()];
    let mut fields = Vec::new();
    for (at, arrived) in arrived.iter().enumerate() {
        let fits = templates.iter().position(|template| template.cut(&arrived.key, &mut fields));
        if let Some(fits) = fits {
            members[fits].push(at);
        }
    }
    let mut formats = Vec::new();
    let mut explained = 0;
    let only = templates.len() == 1;
    for (template, members) in templates.iter().zip(&members) {
        if members.is_empty() || !(is_worth(members.len(), arrived.len()) || only) {
            continue;
        }
        explained += members.len();
        let of_format: Vec<&Arrived> = members.iter().map(|at| arrived[*at]).collect();
        let share = share(members.len(), arrived.len());
        formats.push(format(sample, &of_format, template, share, hints));
    }
    formats.sort_by(|one, other| other.share.total_cmp(&one.share));
    Layout {
        formats,
        sampled: arrived.len() as u64,
        unexplained_share: share(arrived.len() - explained, arrived.len()),
        from_schema: false,
    }
}

fn format(sample: &KeySample, arrived: &[&Arrived], template: &Template, share: f64, hints: Hints) -> Format {
    let keys: Vec<&[u8]> = arrived.iter().map(|arrived| &*arrived.key).collect();
    let cut = Cut::new(&keys, template);
    let is_complete = sample.is_complete() && !hints.bulk_load;
    let stretch = if is_complete { Vec::new() } else { longest_run(sample, template) };
    let stretch = Cut::new(&stretch, template);
    let mut fields = cut.fields(arrived, is_complete, &stretch);
    name(&mut fields, template);
    let names: Vec<String> = fields.iter().map(|(facts, _)| facts.name.clone()).collect();
    let lead: &[u8] = match template.parts.first() {
        Some(Part::Literal(bytes)) => bytes,
        _ => &[],
    };
    let rest = Rest { spans: &cut.spans, keys: &keys, names: &names, lead };
    if let Some((facts, column)) = fields.first_mut() {
        front(facts, column, &rest, cut.behind[0]);
    }
    let mut fields = fields.into_iter().map(|(facts, _)| facts);
    let segments = template.parts.iter().filter_map(|part| match part {
        Part::Literal(bytes) => Some(Segment::Literal(bytes.clone())),
        Part::Field { .. } => fields.next().map(|facts| Segment::Field(Box::new(facts))),
    });
    let format = Format { share, segments: segments.collect(), examples: examples(&keys) };
    if template.takes_anything() || cuts_some(&format, &keys) {
        return format;
    }
    // What was found by chance in keys without structure, and cannot be found again, is no structure.
    let whole = Template::new([Part::field(Form::Any)]);
    self::format(sample, arrived, &whole, share, hints)
}

/// Whether a format cuts at least one of its own keys: it says less than the template that it was measured by.
fn cuts_some(format: &Format, keys: &[&[u8]]) -> bool {
    let template = template_of(format);
    let mut fields = Vec::new();
    keys.iter().any(|key| template.cut(key, &mut fields))
}

/// Keys of a format that arrived one behind the other: those of the longest stretch of a sample.
fn longest_run<'s>(sample: &'s KeySample, template: &Template) -> Vec<&'s [u8]> {
    let run = sample.runs.iter().max_by_key(|run| run.len());
    let keys = run.into_iter().flatten().map(|arrived| &*arrived.key);
    let mut fields = Vec::new();
    keys.filter(|key| template.cut(key, &mut fields)).collect()
}

/// Some keys of a format.
pub(super) fn examples(keys: &[&[u8]]) -> Vec<Box<[u8]>> {
    let step = (keys.len() / EXAMPLES).max(1);
    keys.iter().step_by(step).take(EXAMPLES).map(|key| Box::from(*key)).collect()
}

/// What only the first field may be: a bucket, or a digest of the rest.
fn front(facts: &mut FieldFacts, column: &Column<'_>, rest: &Rest<'_, '_>, behind: Option<u8>) {
    if may_be_salt(&facts.meaning)
        && let Some(salt) = salt::bucket(column, rest)
    {
        facts.meaning = Meaning::Salt(salt);
        "bucket".clone_into(&mut facts.name);
        let recognised =
            Recognised { meaning: facts.meaning.clone(), share: 1.0, chance: facts.chance, time: None };
        facts.oddities = oddity::oddities(column, &recognised, behind);
    } else if matches!(
        facts.meaning,
        Meaning::Hash { .. } | Meaning::Binary | Meaning::BinaryNumber { .. } | Meaning::Text
    ) {
        facts.computed = digest::computed(rest);
    }
}

fn may_be_salt(meaning: &Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Number { negative: false, .. }
            | Meaning::BinaryNumber { .. }
            | Meaning::Enumeration
            | Meaning::Text
            | Meaning::Hash { .. }
            | Meaning::Binary
    )
}

/// For each field the byte that stands behind it, if a literal does.
fn behind(template: &Template) -> Vec<Option<u8>> {
    let mut behind = Vec::new();
    for (at, part) in template.parts.iter().enumerate() {
        if let Part::Field { .. } = part {
            behind.push(match template.parts.get(at + 1) {
                Some(Part::Literal(bytes)) => bytes.first().copied(),
                _ => None,
            });
        }
    }
    behind
}

/// Keys cut into fields.
pub(super) struct Cut<'a, 'k> {
    /// In order of arrival.
    pub(super) keys: &'a [&'k [u8]],
    /// For each key where each field begins and ends.
    pub(super) spans: Vec<Vec<(usize, usize)>>,
    /// For each field the byte of the literal behind it.
    pub(super) behind: Vec<Option<u8>>,
}

impl<'a, 'k> Cut<'a, 'k> {
    fn new(keys: &'a [&'k [u8]], template: &Template) -> Self {
        let mut values = Vec::new();
        let spans = keys.iter().map(|key| {
            template.cut(key, &mut values);
            let mut at = 0;
            let mut next = values.iter();
            let mut spans = Vec::with_capacity(values.len());
            for part in &template.parts {
                match part {
                    Part::Literal(bytes) => at += bytes.len(),
                    Part::Field { .. } => {
                        let len = next.next().map_or(0, |value| value.len());
                        spans.push((at, at + len));
                        at += len;
                    }
                }
            }
            spans
        });
        Self { keys, spans: spans.collect(), behind: behind(template) }
    }

    /// A field's values, and for each key the number of its group: keys with the same bytes in front of the field.
    pub(super) fn column(&self, field: usize) -> (Column<'k>, Vec<u32>) {
        let values = self.keys.iter().zip(&self.spans).map(|(key, spans)| {
            let (from, to) = spans[field];
            let key: &'k [u8] = key;
            &key[from..to]
        });
        let column = Column::new(values.collect());
        let groups =
            column::groups(self.keys.iter().zip(&self.spans).map(|(key, spans)| &key[..spans[field].0]));
        (column, groups)
    }

    /// The fields' facts, without names, each with its column.
    fn fields(
        &self,
        arrived: &[&Arrived],
        is_complete: bool,
        stretch: &Cut<'_, '_>,
    ) -> Vec<(FieldFacts, Column<'k>)> {
        let times: Vec<i64> = arrived.iter().filter_map(|arrived| arrived.time_ms).collect();
        let arrived_ms = (times.len() == arrived.len()).then_some(times.as_slice());
        let field = |(field, behind): (usize, &Option<u8>)| {
            let (column, groups) = self.column(field);
            let (neighbours, _) = stretch.column(field);
            let around = Around { groups: &groups, arrived_ms, is_complete, stretch: Some(&neighbours) };
            let recognised = recognise::recognise(&column, around);
            (facts(&column, around, field == 0, *behind, recognised), column)
        };
        self.behind.iter().enumerate().map(field).collect()
    }
}

/// What is measured on a field, its name left empty.
pub(super) fn facts(
    column: &Column<'_>,
    around: Around<'_>,
    is_first: bool,
    behind: Option<u8>,
    recognised: Recognised,
) -> FieldFacts {
    let (top_value, top_share) = column.top();
    let order = column.order();
    let order_within = if is_first { order } else { column::order_within(&column.ranks, around.groups) };
    let widths = column.distinct.iter().map(|value| value.len());
    FieldFacts {
        name: String::new(),
        meaning_share: recognised.share,
        chance: recognised.chance,
        width_min: widths.clone().min().unwrap_or(0),
        width_max: widths.max().unwrap_or(0),
        distinct: column.distinct.len() as u64,
        distinct_exact: around.is_complete,
        top_value: top_value.into(),
        top_share,
        entropy_bits: column.entropy_bits(),
        order,
        order_within,
        computed: None,
        oddities: oddity::oddities(column, &recognised, behind),
        meaning: recognised.meaning,
    }
}

/// Names fields after the constant word in front of them, or after what they are.
fn name(fields: &mut [(FieldFacts, Column<'_>)], template: &Template) {
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let mut word = None;
    let mut fields = fields.iter_mut();
    for part in &template.parts {
        match part {
            Part::Literal(bytes) => word = word_of(bytes),
            Part::Field { .. } => {
                let Some((facts, _)) = fields.next() else { return };
                let base = base_name(&facts.meaning, word.take());
                let count = used.entry(base.clone()).or_default();
                *count += 1;
                facts.name = if *count == 1 { base } else { format!("{base}{count}") };
            }
        }
    }
}

/// The last word of a literal, as a name.
fn word_of(literal: &[u8]) -> Option<String> {
    let mut words = literal.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let word = words.rfind(|word| !word.is_empty())?;
    let word = String::from_utf8_lossy(word).trim_matches('_').to_ascii_lowercase();
    let is_name = word.len() >= 2 && word.starts_with(|first: char| first.is_ascii_alphabetic());
    (is_name && word != "bucket").then_some(word)
}

fn base_name(meaning: &Meaning, word: Option<String>) -> String {
    let plain = match meaning {
        Meaning::Time(_) => return "time".to_owned(),
        Meaning::Period(time) => return period_name(time.form).to_owned(),
        Meaning::Domain { .. } => return "host".to_owned(),
        Meaning::Salt(_) => return "bucket".to_owned(),
        Meaning::Number { .. } | Meaning::Decimal { .. } | Meaning::BinaryNumber { .. } => "number",
        Meaning::Id(IdMeaning::Uuid(_)) => "uuid",
        Meaning::Id(_) => "id",
        Meaning::Hash { .. } => "hash",
        Meaning::Path => "path",
        Meaning::Address => "address",
        Meaning::Email => "email",
        Meaning::Enumeration => "word",
        Meaning::Text => "text",
        Meaning::Binary => "bytes",
    };
    word.unwrap_or_else(|| plain.to_owned())
}

fn period_name(form: TimeForm) -> &'static str {
    match form {
        TimeForm::Calendar => "period",
        _ => "time",
    }
}

/// The template that cuts keys of a format.
///
/// Where not even the format's own examples have the forms that their meanings ask for, only literals and widths count.
pub(super) fn template_of(format: &Format) -> Template {
    let strict = template_with(format, form_of);
    let mut fields = Vec::new();
    if format.examples.is_empty() || format.examples.iter().any(|key| strict.cut(key, &mut fields)) {
        return strict;
    }
    template_with(format, |_| Form::Any)
}

fn template_with(format: &Format, form_of: impl Fn(&FieldFacts) -> Form) -> Template {
    let mut parts = Vec::with_capacity(format.segments.len());
    for (at, segment) in format.segments.iter().enumerate() {
        parts.push(match segment {
            Segment::Literal(bytes) => Part::Literal(bytes.clone()),
            Segment::Field(facts) => {
                let touches =
                    matches!(format.segments.get(at + 1), Some(Segment::Field(_))) || is_bytes(facts);
                Part::Field {
                    form: form_of(facts),
                    width: (touches && facts.is_fixed_width()).then_some(facts.width_max),
                }
            }
        });
    }
    Template::new(parts)
}

/// Whether a field holds any byte, so that only its width tells where it ends.
fn is_bytes(facts: &FieldFacts) -> bool {
    match &facts.meaning {
        Meaning::Time(time) | Meaning::Period(time) => matches!(time.form, TimeForm::Binary(_)),
        Meaning::BinaryNumber { .. } | Meaning::Binary => true,
        Meaning::Hash { encoding, .. } => *encoding == HashEncoding::Raw,
        Meaning::Id(IdMeaning::Uuid(_)) => facts.width_max == 16,
        Meaning::Salt(_) => !facts.top_value.iter().all(u8::is_ascii_graphic),
        _ => false,
    }
}

/// What values of a field must look like for a key to be of its format.
fn form_of(facts: &FieldFacts) -> Form {
    if facts.meaning_share < 0.999 {
        return Form::Any;
    }
    match &facts.meaning {
        Meaning::Time(time) | Meaning::Period(time) => match time.form {
            TimeForm::IsoBasic | TimeForm::IsoExtended | TimeForm::Calendar => Form::Time,
            TimeForm::Epoch(_) | TimeForm::Ticks => Form::Digits,
            TimeForm::Binary(_) => Form::Any,
        },
        Meaning::Id(IdMeaning::Uuid(version)) if facts.width_max == 36 => Form::Uuid(*version),
        Meaning::Id(IdMeaning::Ulid) => Form::Ulid,
        Meaning::Id(IdMeaning::Ksuid) => Form::Ksuid,
        Meaning::Id(IdMeaning::Snowflake) | Meaning::Number { negative: false, .. } => Form::Digits,
        Meaning::Address => Form::Address,
        _ => Form::Any,
    }
}
