//! Where the values of one field come from.

use super::zipf::{Zipf, unit};
use super::{Source, WorkloadOptions};
use crate::{Error, ErrorKind, Result};
use rowkey::schema::{Field, FieldKind, IsoForm, TimeUnit};
use rowkey::{Codec, Time, Value};
use rowkey_store::seeded::Seeded;
use std::borrow::Cow;

/// Texts of entities are made once, up to this many.
const TEXTS_MAX: u64 = 65_536;

/// A field's values, ready to be drawn.
#[derive(Debug, Clone)]
pub(super) enum Drawer {
    /// The arrival of the write, plus or minus so many milliseconds.
    /// The time is rounded down to a whole `unit_nanos`.
    Time { jitter_ms: u64, unit_nanos: i128 },
    /// The next number, modulo `range`.
    Counter { first: u64, range: u64 },
    /// A number of an entity: `index * stride`.
    Number { ranks: Ranks, stride: u64 },
    /// One of these texts.
    Text { ranks: Ranks, texts: Vec<String> },
    /// One of these values, each as likely.
    Choice { values: Vec<Value<'static>> },
    /// Any bytes of this width; with a pool, the bytes of an entity.
    Bytes { form: Bytes, entities: Option<Ranks> },
    /// Any number in `0.0..1_000_000.0`.
    Float,
}

/// How random bytes look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes {
    width: usize,
    /// A UUID of version 4 instead of mere bytes.
    uuid: bool,
    /// An odd number of hex digits leaves the upper half of the first byte 0.
    odd: bool,
}

/// Ranks of popularity, spread over entities so that the popular ones are no neighbours.
#[derive(Debug, Clone)]
pub(super) struct Ranks {
    zipf: Zipf,
    step: u64,
}

impl Ranks {
    fn new(count: u64, skew: f64) -> Self {
        let zipf = Zipf::new(count, skew);
        let count = zipf.count();
        // A step near the golden ratio, without a common divisor, visits every entity once.
        let mut step = ((count as f64 * 0.618_033_988_749_895) as u64).max(1);
        while divisor(step, count) != 1 {
            step += 1;
        }
        Self { zipf, step }
    }

    fn count(&self) -> u64 {
        self.zipf.count()
    }

    #[inline]
    fn draw(&self, rng: &mut Seeded) -> u64 {
        let rank = self.zipf.draw(rng);
        (u128::from(rank) * u128::from(self.step) % u128::from(self.count())) as u64
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many numbers a field can hold without going below zero; `None`: it holds no numbers.
fn number_range(kind: &FieldKind) -> Option<u64> {
    let ten_to = |digits: u8| 10u64.checked_pow(u32::from(digits)).unwrap_or(u64::MAX);
    Some(match *kind {
        FieldKind::Uint { digits } | FieldKind::UintReversed { digits } | FieldKind::Int { digits } => {
            ten_to(digits)
        }
        FieldKind::BeUint { bytes: 8 } => u64::MAX,
        FieldKind::BeUint { bytes } => 1 << (8 * u32::from(bytes)),
        FieldKind::BeInt { bytes } => 1 << (8 * u32::from(bytes.clamp(1, 8)) - 1),
        _ => return None,
    })
}

impl Drawer {
    /// How the values of field `at` are drawn.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if the field cannot hold what is asked for.
    pub(super) fn new(codec: &Codec, at: usize, source: Source, options: &WorkloadOptions) -> Result<Self> {
        let field = &codec.schema().fields[at];
        let refuse = |what: &str| {
            let message = format!("field `{}` of type {} cannot be {what}", field.name, field.kind.name());
            Err(Error::new(ErrorKind::Conflict, message))
        };
        match source {
            Source::Time if is_time(&field.kind) => {
                Ok(Self::Time { jitter_ms: options.jitter_ms.into(), unit_nanos: unit_nanos(&field.kind) })
            }
            Source::Time => refuse("the time of arrival"),
            Source::Counter => match number_range(&field.kind) {
                // Begun at a tenth of the range: the numbers have all their digits, and room to grow.
                Some(range) => Ok(Self::Counter { first: range / 10, range }),
                None => refuse("a counter"),
            },
            Source::Choice => choice(codec, at),
            Source::Entity { count, skew } => entity(codec, at, count, skew),
            Source::Random => match field.kind {
                FieldKind::BeFloat => Ok(Self::Float),
                _ => match bytes_form(&field.kind) {
                    Some(form) => Ok(Self::Bytes { form, entities: None }),
                    None => entity(codec, at, u64::MAX, 0.0),
                },
            },
        }
    }

    /// The next value. `index` numbers the writes.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Seeded, kind: &FieldKind, time_ms: i64, index: u64) -> Value<'_> {
        match self {
            Self::Time { jitter_ms, unit_nanos } => {
                let random = rng.any();
                let width = 2 * jitter_ms + 1;
                let offset = (random >> 32) % width;
                let millis = i128::from(time_ms) + i128::from(offset) - i128::from(*jitter_ms);
                let nanos = millis * 1_000_000 + i128::from((random & 0xffff_ffff) % 1_000_000);
                Value::Time(Time { nanos: nanos - nanos.rem_euclid(*unit_nanos) })
            }
            Self::Counter { first, range } => number(kind, first.wrapping_add(index) % (*range).max(1)),
            Self::Number { ranks, stride } => number(kind, ranks.draw(rng).saturating_mul(*stride)),
            Self::Text { ranks, texts } => {
                let index = usize::try_from(ranks.draw(rng)).unwrap_or(0);
                Value::Text(Cow::Borrowed(texts.get(index).map_or("", String::as_str)))
            }
            Self::Choice { values } => match values.get(rng.below(values.len())) {
                Some(Value::Text(text)) => Value::Text(Cow::Borrowed(text)),
                Some(value) => value.clone(),
                None => Value::Uint(0),
            },
            Self::Bytes { form, entities: None } => random_bytes(rng, *form),
            // The bytes of an entity follow from its number.
            Self::Bytes { form, entities: Some(ranks) } => {
                random_bytes(&mut Seeded::new(ranks.draw(rng)), *form)
            }
            Self::Float => Value::Float(unit(rng) * 1e6),
        }
    }

    /// How many values it can draw, as far as that is bounded.
    pub(super) fn distinct(&self) -> Option<u64> {
        match self {
            Self::Number { ranks, .. } | Self::Text { ranks, .. } => Some(ranks.count()),
            Self::Bytes { entities, .. } => entities.as_ref().map(Ranks::count),
            Self::Choice { values } => Some(values.len() as u64),
            Self::Time { .. } | Self::Counter { .. } | Self::Float => None,
        }
    }
}

fn number(kind: &FieldKind, number: u64) -> Value<'static> {
    match kind {
        FieldKind::Int { .. } | FieldKind::BeInt { .. } => {
            Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
        }
        _ => Value::Uint(number),
    }
}

fn random_bytes(rng: &mut Seeded, form: Bytes) -> Value<'static> {
    if form.uuid {
        let mut bytes = ((u128::from(rng.any()) << 64) | u128::from(rng.any())).to_be_bytes();
        // Version 4, variant 10 (RFC 9562).
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        return Value::Uuid(bytes);
    }
    let mut bytes = Vec::with_capacity(form.width + 8);
    while bytes.len() < form.width {
        bytes.extend_from_slice(&rng.any().to_le_bytes());
    }
    bytes.truncate(form.width);
    if let (true, Some(first)) = (form.odd, bytes.first_mut()) {
        *first &= 0x0f;
    }
    Value::Bytes(Cow::Owned(bytes))
}

pub(super) fn is_time(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. })
}

/// The finest time that the field can hold; a day for dates.
fn unit_nanos(kind: &FieldKind) -> i128 {
    match *kind {
        FieldKind::Iso { form: IsoForm::DateBasic | IsoForm::DateExtended, .. } => 86_400_000_000_000,
        FieldKind::EpochDigits { unit, .. } | FieldKind::Iso { unit, .. } | FieldKind::BeTime { unit } => {
            match unit {
                TimeUnit::Seconds => 1_000_000_000,
                TimeUnit::Millis => 1_000_000,
                TimeUnit::Micros => 1_000,
                TimeUnit::Nanos => 1,
            }
        }
        _ => 1,
    }
}

pub(super) fn is_number(kind: &FieldKind) -> bool {
    number_range(kind).is_some()
}

/// How a value of this type looks that is random as a whole; 16 bytes for `bytes`.
fn bytes_form(kind: &FieldKind) -> Option<Bytes> {
    let (width, uuid, odd) = match *kind {
        FieldKind::Hex { digits } => (usize::from(digits).div_ceil(2), false, digits % 2 == 1),
        FieldKind::Fixed { bytes } => (usize::from(bytes), false, false),
        FieldKind::UuidText | FieldKind::UuidBytes => (16, true, false),
        FieldKind::EscapedBytes => (16, false, false),
        _ => return None,
    };
    Some(Bytes { width, uuid, odd })
}

pub(super) fn is_bytes(kind: &FieldKind) -> bool {
    bytes_form(kind).is_some()
}

fn choice(codec: &Codec, at: usize) -> Result<Drawer> {
    let field = &codec.schema().fields[at];
    if field.values.is_empty() {
        let message = format!("field `{}` declares no values to choose from", field.name);
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    let parsed = field.values.iter().map(|text| codec.parse_value(at, text));
    let values = parsed.collect::<rowkey::Result<Vec<_>>>().map_err(|error| in_field(field, &error))?;
    Ok(Drawer::Choice { values })
}

fn in_field(field: &Field, error: &rowkey::Error) -> Error {
    Error::new(ErrorKind::Conflict, format!("field `{}`: {}", field.name, error.message()))
}

fn entity(codec: &Codec, at: usize, count: u64, skew: f64) -> Result<Drawer> {
    let field = &codec.schema().fields[at];
    if let Some(range) = number_range(&field.kind) {
        let ranks = Ranks::new(count.clamp(1, range), skew);
        let stride = (range / ranks.count()).max(1);
        return Ok(Drawer::Number { ranks, stride });
    }
    if let Some(form) = bytes_form(&field.kind) {
        return Ok(Drawer::Bytes { form, entities: Some(Ranks::new(count, skew)) });
    }
    match field.kind {
        FieldKind::BeFloat => Ok(Drawer::Float),
        FieldKind::String | FieldKind::EscapedText | FieldKind::Domain { .. } => {
            let ranks = Ranks::new(count.clamp(1, TEXTS_MAX), skew);
            let texts = texts(codec, at, ranks.count())?;
            Ok(Drawer::Text { ranks, texts })
        }
        _ => Ok(Drawer::Time { jitter_ms: 0, unit_nanos: unit_nanos(&field.kind) }),
    }
}

/// Texts that the field can hold, whatever its delimiter, ascending.
fn texts(codec: &Codec, at: usize, count: u64) -> Result<Vec<String>> {
    let field = &codec.schema().fields[at];
    let width = (count.saturating_sub(1)).to_string().len();
    let forms: &[fn(&str, u64, usize) -> String] = if matches!(field.kind, FieldKind::Domain { .. }) {
        &[|_, number, width| format!("www.site{number:0width$}.example")]
    } else {
        &[
            |name, number, width| format!("{name}{number:0width$}"),
            // Letters, for delimiters above digits.
            |name, number, width| name.to_owned() + &shifted(number, width, 'a'),
            |_, number, width| shifted(number, width, 'a'),
            // Two-byte characters, for delimiters above letters.
            |_, number, width| shifted(number, width, '\u{100}'),
        ]
    };
    let name: String = field.name.chars().filter(char::is_ascii_lowercase).take(8).collect();
    let mut failure = None;
    for form in forms {
        let last = form(&name, count.saturating_sub(1), width);
        match codec.encode_field(at, &Value::Text(last.into()), &mut Vec::new()) {
            Ok(()) => return Ok((0..count).map(|number| form(&name, number, width)).collect()),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let why = failure.map_or_else(String::new, |error| error.message().to_owned());
    Err(Error::new(
        ErrorKind::Conflict,
        format!("field `{}`: no text can be made up for it: {why}", field.name),
    ))
}

/// The decimal digits of a number as ten characters from `zero` on.
fn shifted(number: u64, width: usize, zero: char) -> String {
    let shift =
        |digit: char| char::from_u32(u32::from(zero) + digit.to_digit(10).unwrap_or(0)).unwrap_or(zero);
    format!("{number:0width$}").chars().map(shift).collect()
}
