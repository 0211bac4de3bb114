//! The short way: keys of common fields, written and read without looking back.
//!
//! ```text
//! | salt | lead | field | literal | field | literal | ... | spare |      a window of constant size; `out` is cut behind the key
//! ```
//!
//! A codec has a plan if its salt is the hash of one stretch of the key, or if it has none, and if each of its fields is text, digits
//! or a big-endian number. Stores are of constant size and overlap what comes next. Whatever is not plain (a value of another type, a
//! number too wide, a key longer than the window, a byte that must be escaped, a wrong literal) gives `None`: the caller starts again
//! on the long way, which alone decides whether it is an error, and which one.

#![expect(
    clippy::inline_always,
    reason = "measured: a call for each part of a key costs a tenth to a fifth of the whole key"
)]

use super::step::{Close, Step, is_allowed};
use crate::encode::quick::{self as field, Window};
use crate::encode::{self, POW10};
use crate::salt::{SaltPlan, hash};
use crate::schema::{FieldKind, Hash, Order, SaltFormat, SaltSource, TimeUnit};
use crate::{Time, Value};
use std::borrow::Cow;

/// The longest literal.
const LITERAL_MAX: usize = 8;

/// How a field is written and read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quick {
    /// Bytes that are at least `floor`. 0: any, up to the end of the key.
    Text { floor: u8 },
    /// Text without zero bytes, and an end mark.
    Escaped,
    /// Decimal digits of a number up to `max`.
    Digits { width: usize, max: u64, desc: bool },
    /// The same, of a time.
    EpochDigits { width: usize, max: u64, desc: bool, unit: TimeUnit },
    /// The lowest bytes of a number up to `max`, of which `flip` is flipped.
    Be { bytes: usize, max: u64, flip: u64 },
    /// The same of a number with a sign, whose sign bit is flipped too.
    BeInt { bytes: usize, flip: u64 },
    /// The same in eight bytes, of a time.
    BeTime { flip: u64, unit: TimeUnit },
}

/// One field, with the literal behind it.
#[derive(Debug)]
pub struct QuickStep {
    pub(super) quick: Quick,
    literal: [u8; LITERAL_MAX],
    literal_len: usize,
    /// Whether any of what follows says more than "no" or "any".
    is_marked: bool,
    /// The encodings that the field can have, sorted. Empty: any.
    allowed: Box<[Box<[u8]>]>,
    /// Whether the hash input begins with this field.
    opens: bool,
    /// Whether the hash input ends with this field.
    closes: bool,
}

impl QuickStep {
    /// Checks that the field at `start..end` of `key` is allowed, and returns where the hash input is, as far as it is known.
    #[inline(always)]
    fn mark(&self, key: &[u8], start: usize, end: usize, input: (usize, usize)) -> Option<(usize, usize)> {
        if !self.allowed.is_empty() && !is_allowed(&self.allowed, key.get(start..end)?) {
            return None;
        }
        Some((if self.opens { start } else { input.0 }, if self.closes { end } else { input.1 }))
    }
}

/// The short way of one codec.
#[derive(Debug)]
pub(super) struct QuickPlan {
    pub(super) steps: Box<[QuickStep]>,
    lead: [u8; LITERAL_MAX],
    lead_len: usize,
    salt: Option<QuickSalt>,
    /// Whether every key is UTF-8 as a whole, so that it need be checked only once.
    is_text: bool,
}

/// How the bucket is computed and written.
#[derive(Debug)]
struct QuickSalt {
    /// Whether everything behind the salt is hashed.
    hashes_all: bool,
    /// Whether the hash is XXH3, the default.
    is_xxh3: bool,
    buckets: u64,
    /// One less than the number of buckets if that is a power of two.
    mask: Option<u64>,
    width: usize,
    /// How each bucket is written, padded; empty if there are many buckets, or if the salt is wide.
    written: Box<[[u8; SALT_MAX]]>,
}

/// The widest salt of which a table is made.
const SALT_MAX: usize = 4;

/// The most buckets of which a table is made.
const TABLE_MAX: u32 = 1024;

impl QuickSalt {
    fn new(salt: &SaltPlan) -> Self {
        let buckets = if salt.width <= SALT_MAX && salt.buckets <= TABLE_MAX { salt.buckets } else { 0 };
        let write = |bucket| {
            let mut written = [0; SALT_MAX];
            salt.write(bucket, &mut written[..salt.width]);
            written
        };
        Self {
            hashes_all: salt.runs.is_empty(),
            is_xxh3: salt.source == SaltSource::Hash(Hash::Xxh3),
            buckets: salt.buckets.into(),
            mask: salt.buckets.is_power_of_two().then(|| u64::from(salt.buckets) - 1),
            width: salt.width,
            written: (0..buckets).map(write).collect(),
        }
    }

    /// The salt that belongs to a hash input, padded.
    #[inline(always)]
    fn of_input(&self, input: &[u8]) -> Option<[u8; SALT_MAX]> {
        if !self.is_xxh3 {
            return None;
        }
        let hash = hash::xxh3(input);
        let bucket = match self.mask {
            Some(mask) => hash & mask,
            None => hash % self.buckets,
        };
        // Below the number of buckets, so it fits where a table does.
        self.written.get(usize::try_from(bucket).ok()?).copied()
    }
}

/// The plan of a codec, if it can have one.
pub(super) fn plan(salt: Option<&SaltPlan>, lead: &[u8], steps: &[Step]) -> Option<QuickPlan> {
    let is_quick = |salt: &SaltPlan| {
        matches!(salt.source, SaltSource::Hash(_)) && !salt.is_of_values() && salt.runs.len() <= 1
    };
    if !salt.is_none_or(is_quick) {
        return None;
    }
    let is_text = steps.iter().all(|step| step.kind.is_text() && step.literal.is_ascii())
        && lead.is_ascii()
        && salt.is_none_or(|salt| !matches!(salt.format, SaltFormat::Bytes { .. }));
    let (lead, lead_len) = padded(lead)?;
    let steps = steps.iter().map(quick_step).collect::<Option<Box<[QuickStep]>>>()?;
    Some(QuickPlan { steps, lead, lead_len, salt: salt.map(QuickSalt::new), is_text })
}

fn padded(literal: &[u8]) -> Option<([u8; LITERAL_MAX], usize)> {
    let mut padded = [0; LITERAL_MAX];
    padded.get_mut(..literal.len())?.copy_from_slice(literal);
    Some((padded, literal.len()))
}

fn quick_step(step: &Step) -> Option<QuickStep> {
    let desc = step.order == Order::Desc;
    let flip = if desc { u64::MAX } else { 0 };
    let quick = match step.kind {
        FieldKind::String => match step.delimiter {
            None => Quick::Text { floor: 0 },
            Some(delimiter @ ..0x80) => Quick::Text { floor: delimiter + 1 },
            Some(_) => return None,
        },
        FieldKind::EscapedText if !desc => Quick::Escaped,
        FieldKind::Uint { digits: digits @ 1..=16 } => {
            Quick::Digits { width: digits.into(), max: POW10[usize::from(digits)] - 1, desc }
        }
        FieldKind::EpochDigits { unit, digits: digits @ 1..=16 } => {
            Quick::EpochDigits { width: digits.into(), max: POW10[usize::from(digits)] - 1, desc, unit }
        }
        FieldKind::BeUint { bytes: bytes @ (1 | 2 | 4 | 8) } => {
            let max = u64::MAX >> (64 - 8 * u32::from(bytes));
            Quick::Be { bytes: bytes.into(), max, flip: flip & max }
        }
        FieldKind::BeInt { bytes: bytes @ (1 | 2 | 4 | 8) } => {
            Quick::BeInt { bytes: bytes.into(), flip: flip ^ 1 << (8 * u32::from(bytes) - 1) }
        }
        FieldKind::BeTime { unit } => Quick::BeTime { flip: flip ^ 1 << 63, unit },
        _ => return None,
    };
    let (literal, literal_len) = padded(&step.literal)?;
    Some(QuickStep {
        quick,
        literal,
        literal_len,
        is_marked: step.opens_run || step.closes_run != Close::No || !step.allowed.is_empty(),
        allowed: step.allowed.clone(),
        opens: step.opens_run,
        closes: step.closes_run != Close::No,
    })
}

/// A key that is being written.
pub(super) struct Pen<'w> {
    window: &'w mut Window,
    at: usize,
    input: (usize, usize),
}

impl<'w> Pen<'w> {
    /// Behind `space` bytes for the salt.
    #[inline(always)]
    pub(super) fn new(plan: &QuickPlan, space: usize, window: &'w mut Window) -> Option<Self> {
        field::put(window, space, plan.lead)?;
        Some(Self { window, at: space + plan.lead_len, input: (space, 0) })
    }

    /// Writes a field with `put`, and the literal behind it.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        step: &QuickStep,
        put: impl FnOnce(&mut Window, usize) -> Option<usize>,
    ) -> Option<()> {
        let start = self.at;
        self.at = put(self.window, start)?;
        if step.is_marked {
            self.input = step.mark(self.window, start, self.at, self.input)?;
        }
        field::put(self.window, self.at, step.literal)?;
        self.at += step.literal_len;
        Some(())
    }

    /// Writes the salt. Returns the length of the key.
    #[inline(always)]
    pub(super) fn finish(self, plan: &QuickPlan, salt: Option<&SaltPlan>) -> Option<usize> {
        let Self { window, at, input: (start, end) } = self;
        if let Some(salt) = salt {
            let quick = plan.salt.as_ref()?;
            let input = window.get(start..if quick.hashes_all { at } else { end })?;
            match (quick.of_input(input), quick.width) {
                (Some([byte, ..]), 1) => window[0] = byte,
                (Some([first, second, ..]), 2) => [window[0], window[1]] = [first, second],
                (Some(salt), width) => window.get_mut(..width)?.copy_from_slice(salt.get(..width)?),
                (None, width) => {
                    let bucket = salt.bucket_of_input(input).ok()?;
                    salt.write(bucket, window.get_mut(..width)?);
                }
            }
        }
        Some(at)
    }
}

/// Makes `out` a window, lets `write` fill it, and cuts it to the length that `write` returns.
#[inline(always)]
pub(super) fn in_window(out: &mut Vec<u8>, write: impl FnOnce(&mut Window) -> Option<usize>) -> Option<()> {
    out.clear();
    out.extend_from_slice(&[0; field::WINDOW]);
    let len = write(out.first_chunk_mut()?)?;
    out.truncate(len);
    Some(())
}

#[inline(always)]
pub(super) fn put_text(quick: Quick, text: &str, window: &mut Window, at: usize) -> Option<usize> {
    match quick {
        Quick::Text { floor } => field::put_text(window, at, text.as_bytes(), floor),
        Quick::Escaped => {
            let at = field::put_text(window, at, text.as_bytes(), 1)?;
            field::put(window, at, [0, 1])?;
            Some(at + 2)
        }
        _ => None,
    }
}

#[inline(always)]
pub(super) fn put_uint(quick: Quick, number: u64, window: &mut Window, at: usize) -> Option<usize> {
    match quick {
        Quick::Digits { width, max, desc } => put_number(number, width, max, desc, window, at),
        Quick::Be { bytes, max, flip } if number <= max => field::put_be(window, at, number ^ flip, bytes),
        _ => None,
    }
}

#[inline(always)]
fn put_number(
    number: u64,
    width: usize,
    max: u64,
    desc: bool,
    window: &mut Window,
    at: usize,
) -> Option<usize> {
    if number > max {
        return None;
    }
    field::put_digits(window, at, if desc { max - number } else { number }, width)
}

#[inline(always)]
pub(super) fn put_int(quick: Quick, number: i64, window: &mut Window, at: usize) -> Option<usize> {
    match quick {
        Quick::BeInt { bytes, flip } => {
            // Whether the bits above are copies of the sign.
            let unused = 64 - 8 * bytes;
            if number << unused >> unused != number {
                return None;
            }
            field::put_be(window, at, number.cast_unsigned() ^ flip, bytes)
        }
        _ => None,
    }
}

#[inline(always)]
pub(super) fn put_time(quick: Quick, time: Time, window: &mut Window, at: usize) -> Option<usize> {
    match quick {
        Quick::EpochDigits { width, max, desc, unit } => {
            put_number(encode::in_units_fast(time, unit)?, width, max, desc, window, at)
        }
        Quick::BeTime { flip, unit } => {
            let units = encode::in_units_fast(time, unit)?;
            if units > i64::MAX.cast_unsigned() {
                return None;
            }
            field::put_be(window, at, units ^ flip, 8)
        }
        _ => None,
    }
}

#[expect(
    clippy::match_same_arms,
    reason = "each arm is compiled for its one encoding: 2 ns a key less than together"
)]
#[inline(always)]
pub(super) fn put_value(quick: Quick, value: &Value<'_>, window: &mut Window, at: usize) -> Option<usize> {
    // The field first, then its value: one jump that depends on data instead of two.
    match (quick, value) {
        (Quick::Text { .. }, Value::Text(text)) => put_text(quick, text, window, at),
        (Quick::Escaped, Value::Text(text)) => put_text(quick, text, window, at),
        (Quick::Digits { .. }, Value::Uint(number)) => put_uint(quick, *number, window, at),
        (Quick::Be { .. }, Value::Uint(number)) => put_uint(quick, *number, window, at),
        (Quick::BeInt { .. }, Value::Int(number)) => put_int(quick, *number, window, at),
        (Quick::EpochDigits { .. }, Value::Time(time)) => put_time(quick, *time, window, at),
        (Quick::BeTime { .. }, Value::Time(time)) => put_time(quick, *time, window, at),
        _ => None,
    }
}

/// A stored key, also as text if it is.
#[derive(Debug, Clone, Copy)]
pub struct Key<'k> {
    bytes: &'k [u8],
    text: Option<&'k str>,
}

/// A key that is being read.
pub(super) struct Eye<'k> {
    key: Key<'k>,
    at: usize,
    input: (usize, usize),
}

impl<'k> Eye<'k> {
    /// Behind `space` bytes of salt.
    #[inline(always)]
    pub(super) fn new(plan: &QuickPlan, space: usize, key: &'k [u8]) -> Option<Self> {
        let at = skip(key, space, plan.lead, plan.lead_len)?;
        let text = if plan.is_text { Some(str::from_utf8(key).ok()?) } else { None };
        Some(Self { key: Key { bytes: key, text }, at, input: (space, 0) })
    }

    /// Reads a field with `take`, which returns it and where it ends, and the literal behind it.
    #[inline(always)]
    pub(super) fn step<T>(
        &mut self,
        step: &QuickStep,
        take: impl FnOnce(Key<'k>, usize) -> Option<(T, usize)>,
    ) -> Option<T> {
        let (value, end) = take(self.key, self.at)?;
        if step.is_marked {
            self.input = step.mark(self.key.bytes, self.at, end, self.input)?;
        }
        self.at = skip(self.key.bytes, end, step.literal, step.literal_len)?;
        Some(value)
    }

    /// Checks the salt, and that the key ends here.
    #[inline(always)]
    pub(super) fn finish(self, plan: &QuickPlan, salt: Option<&SaltPlan>) -> Option<()> {
        let Self { key: Key { bytes: key, .. }, at, input: (start, end) } = self;
        if let Some(salt) = salt {
            let quick = plan.salt.as_ref()?;
            let input = key.get(start..if quick.hashes_all { at } else { end })?;
            let same = match (quick.of_input(input), quick.width, key) {
                (Some([byte, ..]), 1, [stored, ..]) => *stored == byte,
                (Some([first, second, ..]), 2, [a, b, ..]) => [*a, *b] == [first, second],
                (Some(salt), width, _) => key.get(..width)? == salt.get(..width)?,
                (None, width, _) => salt.read(key.get(..width)?).ok()? == salt.bucket_of_input(input).ok()?,
            };
            if !same {
                return None;
            }
        }
        (at == key.len()).then_some(())
    }
}

/// Where the literal at `at` ends.
#[inline(always)]
fn skip(key: &[u8], at: usize, literal: [u8; LITERAL_MAX], len: usize) -> Option<usize> {
    let same = match len {
        0 => true,
        1 => key.get(at).copied() == literal.first().copied(),
        _ => key.get(at..)?.starts_with(literal.get(..len)?),
    };
    same.then_some(at + len)
}

#[inline(always)]
pub(super) fn take_text(quick: Quick, key: Key<'_>, at: usize) -> Option<(&str, usize)> {
    let (end, next) = match quick {
        Quick::Text { floor: 0 } => (key.bytes.len(), key.bytes.len()),
        Quick::Text { floor } => {
            let end = field::end_of_text(key.bytes, at, floor)?;
            (end, end)
        }
        Quick::Escaped => {
            let end = field::end_of_text(key.bytes, at, 1)?;
            if key.bytes.get(end + 1) != Some(&1) {
                return None;
            }
            (end, end + 2)
        }
        _ => return None,
    };
    let text = match key.text {
        Some(text) => text.get(at..end)?,
        None => str::from_utf8(key.bytes.get(at..end)?).ok()?,
    };
    Some((text, next))
}

#[inline(always)]
pub(super) fn take_uint(quick: Quick, key: Key<'_>, at: usize) -> Option<(u64, usize)> {
    match quick {
        Quick::Digits { width, max, desc } => take_number(width, max, desc, key, at),
        Quick::Be { bytes, flip, .. } => Some((field::take_be(key.bytes, at, bytes)? ^ flip, at + bytes)),
        _ => None,
    }
}

#[inline(always)]
fn take_number(width: usize, max: u64, desc: bool, key: Key<'_>, at: usize) -> Option<(u64, usize)> {
    let number = field::take_digits(key.bytes, at, width)?;
    Some((if desc { max - number } else { number }, at + width))
}

#[inline(always)]
pub(super) fn take_int(quick: Quick, key: Key<'_>, at: usize) -> Option<(i64, usize)> {
    match quick {
        Quick::BeInt { bytes, flip } => {
            let unused = 64 - 8 * bytes;
            let number = field::take_be(key.bytes, at, bytes)? ^ flip;
            Some(((number << unused).cast_signed() >> unused, at + bytes))
        }
        _ => None,
    }
}

#[inline(always)]
pub(super) fn take_time(quick: Quick, key: Key<'_>, at: usize) -> Option<(Time, usize)> {
    match quick {
        Quick::EpochDigits { width, max, desc, unit } => {
            let (units, end) = take_number(width, max, desc, key, at)?;
            Some((encode::from_units(units, unit), end))
        }
        Quick::BeTime { flip, unit } => {
            let units = (field::take_be(key.bytes, at, 8)? ^ flip).cast_signed();
            Some((encode::from_units(units, unit), at + 8))
        }
        _ => None,
    }
}

/// Reads a field and pushes its value. To return the value costs more: each copy waits for the stores of the one before.
#[inline(always)]
pub(super) fn take_value<'k>(
    quick: Quick,
    key: Key<'k>,
    at: usize,
    values: &mut Vec<Value<'k>>,
) -> Option<usize> {
    match quick {
        Quick::Text { .. } | Quick::Escaped => {
            let (text, end) = take_text(quick, key, at)?;
            values.push(Value::Text(Cow::Borrowed(text)));
            Some(end)
        }
        Quick::Digits { .. } | Quick::Be { .. } => {
            let (number, end) = take_uint(quick, key, at)?;
            values.push(Value::Uint(number));
            Some(end)
        }
        Quick::BeInt { .. } => {
            let (number, end) = take_int(quick, key, at)?;
            values.push(Value::Int(number));
            Some(end)
        }
        Quick::EpochDigits { .. } | Quick::BeTime { .. } => {
            let (time, end) = take_time(quick, key, at)?;
            values.push(Value::Time(time));
            Some(end)
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
