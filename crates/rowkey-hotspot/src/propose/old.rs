//! The key as it is: its fields, what stands between them, and how a key is cut into them.

use super::convert::Cell;
use crate::facts::Facts;
use crate::infer;
use crate::layout::{FieldFacts, Format, Layout, Meaning, SaltOrigin, Segment};
use rowkey::Codec;
use rowkey::schema::{Family, FieldKind, Order, Part, SaltSource};
use std::collections::BTreeSet;

/// A second format from this share on makes the table one of two formats. Below, it is malformed keys.
const FORMAT_SHARE_MIN: f64 = 0.02;

/// The old key.
#[derive(Debug, Clone)]
pub(super) struct Old {
    /// Its fields, in order. A salt is among them where the layout was inferred, and is not where a schema told it.
    pub(super) fields: Vec<OldField>,
    /// What stands before each field, and behind the last: one more than fields.
    pub(super) literals: Vec<Vec<u8>>,
    /// The bucket in front, if there is one.
    pub(super) salt: Option<OldSalt>,
    /// How a key is cut.
    pub(super) reader: Reader,
    /// Keys that distinct values were counted in.
    pub(super) sampled: u64,
    /// The families of the schema that was given; empty: none was.
    pub(super) families: Vec<Family>,
}

/// A field of the old key.
#[derive(Debug, Clone)]
pub(super) struct OldField {
    /// A name that a schema takes.
    pub(super) name: String,
    /// What was measured.
    pub(super) facts: FieldFacts,
    /// Its type, if a schema told it.
    pub(super) typed: Option<(FieldKind, Order, Vec<String>)>,
    /// Whether it follows from the rest, and is computed anew.
    pub(super) is_salt: bool,
    /// The layout's fields that it is made of: one, or neighbours that were joined.
    pub(super) parts: Vec<usize>,
}

/// A bucket or hash prefix in front of the old key.
#[derive(Debug, Clone)]
pub(super) struct OldSalt {
    /// Its field, where the layout was inferred.
    pub(super) at: Option<usize>,
    /// Its number of buckets; 0 for a hash prefix.
    pub(super) buckets: u32,
    /// What it comes from, if known.
    pub(super) source: Option<SaltSource>,
    /// The fields it comes from; empty: not known.
    pub(super) of: Vec<usize>,
}

/// How a key is cut into fields.
#[derive(Debug, Clone)]
pub(super) enum Reader {
    /// By the first of these formats that it has; all have the same fields.
    Formats(Vec<Format>),
    /// Not at all: the key is one field.
    Whole,
    /// By its schema.
    Schema(Codec),
    /// As another reader, with these neighbours in one.
    Joined(Box<Reader>, Vec<Vec<usize>>),
}

impl Reader {
    /// The fields of a key, salts included for inferred formats; `None` if it is not built so.
    pub(super) fn cells<'k>(&self, key: &'k [u8]) -> Option<Vec<Cell<'k>>> {
        match self {
            Self::Whole => Some(vec![Cell::Raw(key)]),
            Self::Formats(formats) => {
                let fields = formats.iter().find_map(|format| infer::split(format, key))?;
                Some(fields.into_iter().map(Cell::Raw).collect())
            }
            Self::Schema(codec) => {
                let mut values = Vec::new();
                codec.decode(key, &mut values).ok()?;
                Some(values.into_iter().map(Cell::Typed).collect())
            }
            Self::Joined(inner, groups) => {
                let cells = inner.cells(key)?;
                groups.iter().map(|group| joined(key, &cells, group)).collect()
            }
        }
    }
}

impl Old {
    /// The old key as a layout or a schema describes it.
    pub(super) fn new(layout: &Layout, codec: Option<&Codec>, facts: &Facts) -> Self {
        let sampled = layout.sampled;
        if let Some(codec) = codec {
            let families = codec.schema().families.clone();
            return Self { sampled, families, ..Self::of_schema(codec, layout) };
        }
        let formats: Vec<&Format> = layout
            .formats
            .iter()
            .filter(|format| format.share >= FORMAT_SHARE_MIN || layout.formats.len() == 1)
            .collect();
        let covered: f64 = layout.formats.iter().map(|format| format.share).sum();
        match formats.split_first() {
            Some((main, rest))
                if main.fields().next().is_some()
                    && covered > 0.5
                    && rest.iter().all(|other| is_like(main, other)) =>
            {
                Self { sampled, ..Self::of_formats(main, rest) }
            }
            _ => Self::whole(layout, facts),
        }
    }

    fn of_formats(main: &Format, rest: &[&Format]) -> Self {
        let mut literals = vec![Vec::new()];
        let mut fields: Vec<OldField> = Vec::new();
        for segment in &main.segments {
            match segment {
                Segment::Literal(bytes) => {
                    if let Some(last) = literals.last_mut() {
                        last.extend_from_slice(bytes);
                    }
                }
                Segment::Field(facts) => {
                    fields.push(OldField::new(facts));
                    literals.push(Vec::new());
                }
            }
        }
        let mut facts_of_rest: Vec<Vec<&FieldFacts>> =
            rest.iter().map(|format| format.fields().collect()).collect();
        for (at, field) in fields.iter_mut().enumerate() {
            for other in &mut facts_of_rest {
                field.join(other[at]);
            }
        }
        name_fields(&mut fields);
        for (at, field) in fields.iter_mut().enumerate() {
            field.parts = vec![at];
        }
        let salt = inferred_salt(&mut fields);
        let formats = std::iter::once(main).chain(rest.iter().copied()).cloned().collect();
        Self { fields, literals, salt, reader: Reader::Formats(formats), sampled: 0, families: Vec::new() }
    }

    fn of_schema(codec: &Codec, layout: &Layout) -> Self {
        let schema = codec.schema();
        let known: Vec<&FieldFacts> = layout.formats.iter().take(1).flat_map(Format::fields).collect();
        let fields = schema.fields.iter().map(|field| {
            let measured = known.iter().find(|facts| facts.name == field.name);
            let facts = measured
                .map_or_else(|| FieldFacts::new(&*field.name, Meaning::Text), |facts| (*facts).clone());
            let typed = Some((field.kind.clone(), field.order, field.values.clone()));
            OldField { name: field.name.clone(), facts, typed, is_salt: false, parts: Vec::new() }
        });
        let mut literals = vec![Vec::new()];
        for part in &schema.parts {
            match part {
                Part::Field(_) => literals.push(Vec::new()),
                Part::Literal(bytes) => {
                    if let Some(last) = literals.last_mut() {
                        last.extend_from_slice(bytes);
                    }
                }
                Part::Salt => {}
            }
        }
        let salt = schema.salt.as_ref().map(|salt| OldSalt {
            at: None,
            buckets: salt.buckets,
            source: Some(salt.source),
            of: salt.of.clone(),
        });
        // What stands between the salt and the first field is written anew with the new salt.
        if let (Some(_), Some(first)) = (&salt, literals.first_mut()) {
            first.clear();
        }
        Self {
            fields: fields.collect(),
            literals,
            salt,
            reader: Reader::Schema(codec.clone()),
            sampled: 0,
            families: Vec::new(),
        }
    }

    fn whole(layout: &Layout, facts: &Facts) -> Self {
        let keys = || facts.written.uniform.iter().chain(&facts.read.uniform);
        let readable = keys().all(|arrived| std::str::from_utf8(&arrived.key).is_ok());
        let meaning = if readable { Meaning::Text } else { Meaning::Binary };
        let mut whole = FieldFacts::new("key", meaning);
        let distinct: BTreeSet<&[u8]> = keys().map(|arrived| &*arrived.key).collect();
        whole.distinct = distinct.len() as u64;
        if let Some(order) =
            layout.formats.first().and_then(|format| format.fields().next()).map(|field| field.order)
        {
            whole.order = order;
        }
        let field =
            OldField { name: "key".to_owned(), facts: whole, typed: None, is_salt: false, parts: Vec::new() };
        Self {
            fields: vec![field],
            literals: vec![Vec::new(); 2],
            salt: None,
            reader: Reader::Whole,
            sampled: keys().count() as u64,
            families: Vec::new(),
        }
    }

    /// Makes one field of neighbours that no schema could tell apart: where the first varies in width and has bytes that are not above
    /// the literal behind it. What is joined is text.
    pub(super) fn join_what_no_literal_parts<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) {
        if !matches!(self.reader, Reader::Formats(_)) {
            return;
        }
        let rows: Vec<Vec<Cell<'k>>> = keys.filter_map(|key| self.reader.cells(key)).collect();
        let fields = self.fields.len();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut open = false;
        for at in 0..fields {
            match groups.last_mut() {
                Some(group) if open => group.push(at),
                _ => groups.push(vec![at]),
            }
            let literal = self.literals.get(at + 1).and_then(|literal| literal.first().copied());
            open = at + 1 < fields
                && !self.fields[at].is_salt
                && !self.fields[at + 1].is_salt
                && runs_on(&rows, at, literal);
        }
        if groups.len() < fields {
            self.join(groups);
        }
    }

    fn join(&mut self, groups: Vec<Vec<usize>>) {
        let place = |at: usize| groups.iter().position(|group| group.contains(&at));
        let mut fields = Vec::new();
        let mut literals = vec![self.literals[0].clone()];
        for group in &groups {
            let (first, last) = (group[0], group[group.len() - 1]);
            let mut field = self.fields[first].clone();
            if group.len() > 1 {
                let names: Vec<&str> = group.iter().map(|at| self.fields[*at].name.as_str()).collect();
                field.name = names.join("_");
                field.facts.meaning = Meaning::Text;
                field.facts.distinct =
                    group.iter().map(|at| self.fields[*at].facts.distinct).max().unwrap_or(1);
                field.parts.clone_from(group);
            }
            fields.push(field);
            literals.push(self.literals[last + 1].clone());
        }
        if let Some(salt) = &mut self.salt {
            salt.at = salt.at.and_then(place);
            salt.of = salt.of.iter().filter_map(|at| place(*at)).collect();
            salt.of.dedup();
        }
        let reader = std::mem::replace(&mut self.reader, Reader::Whole);
        self.reader = Reader::Joined(Box::new(reader), groups);
        self.fields = fields;
        self.literals = literals;
    }

    /// Whether two formats could not be brought together, so that the key is one field.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.reader, Reader::Whole)
    }

    /// Fields that stay: all but salts.
    pub(super) fn kept(&self) -> Vec<usize> {
        (0..self.fields.len()).filter(|&at| !self.fields[at].is_salt).collect()
    }

    /// The byte that stands between fields most often, if any does.
    pub(super) fn delimiter(&self) -> Option<u8> {
        let inner = self.literals.get(1..self.literals.len().saturating_sub(1)).unwrap_or_default();
        let firsts = || inner.iter().filter_map(|literal| literal.first().copied());
        firsts().max_by_key(|byte| (firsts().filter(|other| other == byte).count(), std::cmp::Reverse(*byte)))
    }
}

impl OldField {
    fn new(facts: &FieldFacts) -> Self {
        Self {
            name: facts.name.clone(),
            facts: facts.clone(),
            typed: None,
            is_salt: false,
            parts: Vec::new(),
        }
    }

    /// Takes in the same field of another format: what holds for one only does not hold.
    fn join(&mut self, other: &FieldFacts) {
        self.facts.distinct = self.facts.distinct.saturating_add(other.distinct);
        self.facts.width_min = self.facts.width_min.min(other.width_min);
        self.facts.width_max = self.facts.width_max.max(other.width_max);
        self.facts.oddities.extend(other.oddities.iter().cloned());
        let same = std::mem::discriminant(&self.facts.meaning) == std::mem::discriminant(&other.meaning);
        let is_time = |meaning: &Meaning| matches!(meaning, Meaning::Time(_) | Meaning::Period(_));
        if let (Meaning::Time(mine), Meaning::Time(others)) = (&self.facts.meaning, &other.meaning)
            && mine.form != others.form
        {
            let units = vec![(mine.form, 0.5), (others.form, 0.5)];
            self.facts.oddities.push(crate::layout::Oddity::TimeUnits { units });
        } else if !same && !is_time(&self.facts.meaning) {
            self.facts.meaning = Meaning::Text;
        }
    }
}

/// Whether a field of varying width cannot end at this byte.
fn runs_on(rows: &[Vec<Cell<'_>>], at: usize, literal: Option<u8>) -> bool {
    let values = || {
        rows.iter().filter_map(|row| match row.get(at)? {
            Cell::Raw(bytes) => Some(*bytes),
            Cell::Typed(_) => None,
        })
    };
    let mut widths = values().map(<[u8]>::len);
    let first = widths.next();
    let varies = widths.any(|width| Some(width) != first);
    varies && literal.is_none_or(|literal| values().any(|value| value.iter().any(|byte| *byte <= literal)))
}

/// Neighbours of a key as one cell, with what stands between them.
fn joined<'k>(key: &'k [u8], cells: &[Cell<'k>], group: &[usize]) -> Option<Cell<'k>> {
    let bytes = |at: &usize| match cells.get(*at) {
        Some(Cell::Raw(bytes)) => Some(*bytes),
        _ => None,
    };
    let (first, last) = (bytes(group.first()?)?, bytes(group.last()?)?);
    let start = first.as_ptr().addr().checked_sub(key.as_ptr().addr())?;
    let end = last.as_ptr().addr().checked_sub(key.as_ptr().addr())?.checked_add(last.len())?;
    key.get(start..end).map(Cell::Raw)
}

/// Whether two formats have the same fields behind the same literals, so that one schema can have both.
fn is_like(main: &Format, other: &Format) -> bool {
    main.segments.len() == other.segments.len()
        && main.segments.iter().zip(&other.segments).all(|pair| match pair {
            (Segment::Literal(mine), Segment::Literal(others)) => mine == others,
            (Segment::Field(mine), Segment::Field(others)) => {
                std::mem::discriminant(&mine.meaning) == std::mem::discriminant(&others.meaning)
            }
            _ => false,
        })
}

/// The salt or computed digest of an inferred layout, and the marks on its field.
fn inferred_salt(fields: &mut [OldField]) -> Option<OldSalt> {
    let at = fields
        .iter()
        .position(|field| matches!(field.facts.meaning, Meaning::Salt(_)) || is_prefix(&field.facts))?;
    let (buckets, origin) = match &fields[at].facts.meaning {
        Meaning::Salt(salt) => (salt.buckets, salt.from.clone()),
        _ => (0, fields[at].facts.computed.clone()),
    };
    let of = origin.as_ref().map(|origin| places(origin, at, fields)).unwrap_or_default();
    let source = origin.and_then(|origin| origin.source);
    for field in fields.iter_mut() {
        field.is_salt = matches!(field.facts.meaning, Meaning::Salt(_));
    }
    fields[at].is_salt = true;
    Some(OldSalt { at: Some(at), buckets, source, of })
}

/// A digest of other fields in front, which a schema can compute.
fn is_prefix(facts: &FieldFacts) -> bool {
    let source = facts.computed.as_ref().and_then(|origin| origin.source);
    matches!(source, Some(SaltSource::HashPrefix { .. }))
}

/// The fields that a salt comes from: those named, or all but itself.
fn places(origin: &SaltOrigin, salt: usize, fields: &[OldField]) -> Vec<usize> {
    let named = |at: &usize| origin.of.is_empty() || origin.of.contains(&fields[*at].facts.name);
    (0..fields.len()).filter(|at| *at != salt).filter(named).collect()
}

/// Names that a schema takes, each once.
fn name_fields(fields: &mut [OldField]) {
    let reserved = ["salt", "and", "or", "not", "in", "prefix"];
    let mut taken: BTreeSet<String> = reserved.iter().map(|word| (*word).to_owned()).collect();
    for field in fields {
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut name: String =
            field.name.chars().map(|letter| if good(letter) { letter } else { '_' }).collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            name = format!("field{name}");
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}{number}");
            number += 1;
        }
        field.name = unique;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SaltMeaning;

    fn format(segments: Vec<Segment>, share: f64) -> Format {
        Format { share, segments, examples: Vec::new() }
    }

    fn field(name: &str, meaning: Meaning) -> Segment {
        Segment::Field(Box::new(FieldFacts::new(name, meaning)))
    }

    fn literal(bytes: &str) -> Segment {
        Segment::Literal(bytes.as_bytes().to_vec())
    }

    fn old(formats: Vec<Format>) -> Old {
        Old::new(&Layout { formats, ..Layout::default() }, None, &Facts::default())
    }

    #[test]
    fn names_become_names_of_a_schema_and_stay_different() {
        let old = old(vec![format(
            vec![
                field("id", Meaning::Text),
                literal("#"),
                field("id", Meaning::Text),
                literal("#"),
                field("in", Meaning::Text),
                literal("#"),
                field("1 x", Meaning::Text),
            ],
            1.0,
        )]);
        let names: Vec<&str> = old.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["id", "id2", "in2", "field1_x"]);
        assert_eq!(old.delimiter(), Some(b'#'));
    }

    #[test]
    fn a_bucket_in_front_is_taken_out_and_remembered() {
        let from = SaltOrigin {
            formula: String::new(),
            of: vec!["host".to_owned()],
            share: 1.0,
            source: Some(SaltSource::Modulo),
        };
        let salt = Meaning::Salt(SaltMeaning {
            buckets: 12,
            used: 12,
            from: Some(from),
            repeats: None,
            even_p: 0.5,
            follows: None,
        });
        let old = old(vec![format(
            vec![
                field("bucket", salt),
                literal("_"),
                field("time", Meaning::Text),
                literal("_"),
                field("host", Meaning::Text),
            ],
            1.0,
        )]);
        assert_eq!(old.kept(), [1, 2]);
        let salt = old.salt.unwrap();
        assert_eq!((salt.buckets, salt.of, salt.source), (12, vec![2], Some(SaltSource::Modulo)));
    }

    #[test]
    fn formats_of_other_fields_make_the_key_one_field() {
        let one = format(vec![field("id", Meaning::Text)], 0.7);
        let two = format(vec![field("id", Meaning::Text), literal("-"), field("no", Meaning::Text)], 0.3);
        assert!(old(vec![one.clone(), two.clone()]).is_whole());
        let rare = Format { share: 0.01, ..two };
        assert!(!old(vec![one.clone(), rare]).is_whole());
        assert!(!old(vec![one.clone(), Format { share: 0.3, ..one }]).is_whole());
        assert!(old(Vec::new()).is_whole());
    }

    #[test]
    fn a_schema_gives_its_own_fields_and_salt() {
        let text = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{salt}#{a}#x#{b}\"\n[key.salt]\nof = [\"a\"]\nbuckets = 4\n[key.fields]\na = { type = \"string\" }\nb = { type = \"uint\", digits = 3 }\n";
        let codec = Codec::new(rowkey::KeySchema::parse(text).unwrap()).unwrap();
        let old = Old::new(&Layout::default(), Some(&codec), &Facts::default());
        assert_eq!(old.kept(), [0, 1]);
        assert_eq!(old.literals, [b"".to_vec(), b"#x#".to_vec(), b"".to_vec()]);
        assert_eq!(old.salt.map(|salt| salt.buckets), Some(4));
        let key = codec.encode_key(&["v".into(), 7_u64.into()]).unwrap();
        let cells = old.reader.cells(key.as_bytes()).unwrap();
        assert_eq!(cells[1], Cell::Typed(rowkey::Value::Uint(7)));
    }
}
