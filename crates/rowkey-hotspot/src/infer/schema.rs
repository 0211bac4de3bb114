//! The layout that a schema tells, with numbers measured on a sample.

use rowkey::schema::{Field, FieldKind, IsoForm, Order, Part as SchemaPart, Salt, SaltFormat, SaltSource};
use rowkey::{Codec, Value};

use super::column::{self, Column};
use super::measure::{self, Cut};
use super::partition::share;
use super::recognise::{self, Recognised};
use super::salt;
use super::times::{Around, Found};
use crate::facts::{Arrived, KeySample};
use crate::layout::{
    Format, HashEncoding, IdMeaning, Layout, Meaning, SaltMeaning, SaltOrigin, Segment, TimeForm, TimeMeaning,
};

/// The layout of a codec's keys: names and kinds from its schema, numbers from the sample. Keys that the schema does not take are
/// `unexplained_share`; without a key the numbers are 0.
pub fn from_schema(codec: &Codec, sample: &KeySample) -> Layout {
    let arrived = super::keys_of(sample);
    let mut conforming: Vec<&Arrived> = Vec::with_capacity(arrived.len());
    let mut spans = Vec::with_capacity(arrived.len());
    for arrived in &arrived {
        if let Some(of_key) = spans_of(codec, &arrived.key) {
            conforming.push(arrived);
            spans.push(of_key);
        }
    }
    let share_fits = share(conforming.len(), arrived.len());
    Layout {
        formats: vec![format(
            codec,
            sample,
            &conforming,
            spans,
            if arrived.is_empty() { 1.0 } else { share_fits },
        )],
        sampled: arrived.len() as u64,
        unexplained_share: if arrived.is_empty() { 0.0 } else { 1.0 - share_fits },
        from_schema: true,
    }
}

/// Where the salt and each field begin and end; `None` if the key does not conform. A wrong salt is a matter of the rules.
fn spans_of(codec: &Codec, key: &[u8]) -> Option<Vec<(usize, usize)>> {
    let explanation = codec.explain(key);
    let parts = explanation.parts.iter().filter(|part| part.name != "literal");
    let spans: Vec<(usize, usize)> = parts.map(|part| (part.range.start, part.range.end)).collect();
    let schema = codec.schema();
    let end = explanation.parts.last().map_or(0, |part| part.range.end);
    let is_whole =
        spans.len() == schema.fields.len() + usize::from(schema.salt.is_some()) && end == key.len();
    is_whole.then_some(spans)
}

fn format(
    codec: &Codec,
    sample: &KeySample,
    arrived: &[&Arrived],
    spans: Vec<Vec<(usize, usize)>>,
    share: f64,
) -> Format {
    let schema = codec.schema();
    let keys: Vec<&[u8]> = arrived.iter().map(|arrived| &*arrived.key).collect();
    let cut = Cut { keys: &keys, spans, behind: behind(&schema.parts) };
    let times: Vec<i64> = arrived.iter().filter_map(|arrived| arrived.time_ms).collect();
    let mut at = 0;
    let segments = schema.parts.iter().map(|part| match part {
        SchemaPart::Literal(bytes) => Segment::Literal(bytes.clone()),
        SchemaPart::Salt | SchemaPart::Field(_) => {
            let (column, groups) = cut.column(at);
            let around = Around {
                groups: &groups,
                arrived_ms: (times.len() == arrived.len()).then_some(times.as_slice()),
                is_complete: sample.is_complete(),
                stretch: None,
            };
            let facts = match (part, &schema.salt) {
                (SchemaPart::Field(index), _) => {
                    field(codec, *index, &schema.fields[*index], &column, around)
                }
                (_, Some(salt)) => salt_recognised(codec, salt, &column),
                (_, None) => recognise::recognise(&column, around),
            };
            let mut facts = measure::facts(&column, around, at == 0, cut.behind[at], facts);
            match part {
                SchemaPart::Field(index) => facts.name.clone_from(&schema.fields[*index].name),
                _ => "salt".clone_into(&mut facts.name),
            }
            if let (SchemaPart::Salt, Some(salt)) = (part, &schema.salt) {
                facts.computed =
                    matches!(facts.meaning, Meaning::Hash { .. }).then(|| origin(codec, salt)).flatten();
            }
            at += 1;
            Segment::Field(Box::new(facts))
        }
    });
    let segments = segments.collect();
    Format { share, segments, examples: measure::examples(&keys) }
}

/// For the salt and each field the byte of the literal behind it.
fn behind(parts: &[SchemaPart]) -> Vec<Option<u8>> {
    let mut behind = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if !matches!(part, SchemaPart::Literal(_)) {
            behind.push(match parts.get(at + 1) {
                Some(SchemaPart::Literal(bytes)) => bytes.first().copied(),
                _ => None,
            });
        }
    }
    behind
}

/// What a field is by its kind; texts and bytes by what they look like.
fn field(codec: &Codec, index: usize, field: &Field, column: &Column<'_>, around: Around<'_>) -> Recognised {
    let known = |meaning: Meaning| Recognised { meaning, share: 1.0, chance: 0.0, time: None };
    let number =
        || Meaning::Number { padded: true, grows: recognise::grows(column, around), negative: false };
    let time = |form: TimeForm| time(codec, index, field, column, form);
    let looks_like = || recognise::recognise(column, around);
    match &field.kind {
        FieldKind::String | FieldKind::EscapedText if !field.values.is_empty() => known(Meaning::Enumeration),
        // What looks like a time or an id in a number is one, whatever its type is called.
        FieldKind::Uint { .. } => match looks_like() {
            seen @ Recognised { meaning: Meaning::Time(_) | Meaning::Period(_) | Meaning::Id(_), .. } => seen,
            _ => known(number()),
        },
        FieldKind::UintReversed { .. } | FieldKind::Int { .. } => known(number()),
        FieldKind::EpochDigits { unit, .. } => time(TimeForm::Epoch(*unit)),
        FieldKind::Iso { form, .. } => time(match form {
            IsoForm::Basic => TimeForm::IsoBasic,
            IsoForm::Extended => TimeForm::IsoExtended,
            IsoForm::DateBasic | IsoForm::DateExtended => TimeForm::Calendar,
        }),
        FieldKind::BeTime { unit } => time(TimeForm::Binary(*unit)),
        FieldKind::Domain { .. } => known(Meaning::Domain { reversed: true }),
        FieldKind::UuidText | FieldKind::UuidBytes => match looks_like() {
            seen @ Recognised { meaning: Meaning::Id(IdMeaning::Uuid(_)), .. } => seen,
            _ => known(Meaning::Id(IdMeaning::Uuid(0))),
        },
        FieldKind::BeUint { bytes } | FieldKind::BeInt { bytes } => {
            known(Meaning::BinaryNumber { bytes: *bytes, grows: column::tau(&column.ranks) >= 0.9 })
        }
        FieldKind::BeFloat => known(Meaning::BinaryNumber { bytes: 8, grows: false }),
        FieldKind::String
        | FieldKind::EscapedText
        | FieldKind::EscapedBytes
        | FieldKind::Hex { .. }
        | FieldKind::Fixed { .. } => looks_like(),
    }
}

/// A declared time; a period if all of the sample's times are whole hours.
fn time(codec: &Codec, index: usize, field: &Field, column: &Column<'_>, form: TimeForm) -> Recognised {
    let ms: Vec<i64> = column
        .distinct
        .iter()
        .filter_map(|value| match codec.decode_field(index, value) {
            Ok(Value::Time(time)) => Some(time.as_millis()),
            _ => None,
        })
        .collect();
    let time = TimeMeaning {
        form,
        reversed: field.order == Order::Desc,
        first_ms: ms.iter().copied().min().unwrap_or(0),
        last_ms: ms.iter().copied().max().unwrap_or(0),
    };
    let is_period = form == TimeForm::Calendar || !ms.is_empty() && ms.iter().all(|ms| ms % 3_600_000 == 0);
    let base = match (&field.kind, time.reversed) {
        (FieldKind::EpochDigits { digits, .. }, true) => Some(10i128.pow(u32::from(*digits)) - 1),
        _ => None,
    };
    let meaning = if is_period { Meaning::Period(time) } else { Meaning::Time(time) };
    let found = Found { time, is_period, share: 1.0, chance: 0.0, units: Vec::new(), base };
    Recognised { meaning, share: 1.0, chance: 0.0, time: Some(found) }
}

fn salt_recognised(codec: &Codec, salt: &Salt, column: &Column<'_>) -> Recognised {
    let meaning = match salt.source {
        SaltSource::HashPrefix { bytes, .. } => Meaning::Hash {
            bits: 8 * u32::from(bytes),
            encoding: match salt.format {
                SaltFormat::Hex { .. } => HashEncoding::Hex,
                SaltFormat::Digits { .. } => HashEncoding::Decimal,
                SaltFormat::Bytes { .. } => HashEncoding::Raw,
            },
        },
        source => Meaning::Salt(SaltMeaning {
            buckets: salt.buckets,
            used: u32::try_from(column.distinct.len()).unwrap_or(u32::MAX),
            from: origin(codec, salt),
            follows: match salt.of[..] {
                [field] => codec.schema().fields.get(field).map(|field| field.name.clone()),
                _ => None,
            },
            repeats: (source != SaltSource::Random).then_some(true),
            even_p: salt::chi_square_p(&column.counts, salt.buckets),
        }),
    };
    Recognised { meaning, share: 1.0, chance: 0.0, time: None }
}

/// The declared origin; `None` for a random salt.
fn origin(codec: &Codec, salt: &Salt) -> Option<SaltOrigin> {
    let of: Vec<String> = salt
        .of
        .iter()
        .filter_map(|at| codec.schema().fields.get(*at))
        .map(|field| field.name.clone())
        .collect();
    let fields = of.join(", ");
    let formula = match salt.source {
        SaltSource::Hash(hash) => format!("{}({fields}) mod {}", hash.name(), salt.buckets),
        SaltSource::Modulo => format!("{fields} mod {}", salt.buckets),
        SaltSource::HashPrefix { hash, bytes } => format!("first {bytes} bytes of {}({fields})", hash.name()),
        SaltSource::Random => return None,
    };
    Some(SaltOrigin { formula, of, share: 1.0, source: Some(salt.source) })
}
