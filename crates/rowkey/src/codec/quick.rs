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

use super::step::{Close, Step, is_allowed};
use crate::encode::quick::{self as field, Window};
use crate::encode::{self, POW10};
use crate::salt::{SaltPlan, hash};
use crate::schema::{FieldKind, Hash, Order, SaltSource, TimeUnit};
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
    #[inline]
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
    #[inline]
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
    let (lead, lead_len) = padded(lead)?;
    let steps = steps.iter().map(quick_step).collect::<Option<Box<[QuickStep]>>>()?;
    Some(QuickPlan { steps, lead, lead_len, salt: salt.map(QuickSalt::new) })
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
    #[inline]
    pub(super) fn new(plan: &QuickPlan, space: usize, window: &'w mut Window) -> Option<Self> {
        field::put(window, space, plan.lead)?;
        Some(Self { window, at: space + plan.lead_len, input: (space, 0) })
    }

    /// Writes a field with `put`, and the literal behind it.
    #[inline]
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
    #[inline]
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
#[inline]
pub(super) fn in_window(out: &mut Vec<u8>, write: impl FnOnce(&mut Window) -> Option<usize>) -> Option<()> {
    out.clear();
    out.extend_from_slice(&[0; field::WINDOW]);
    let len = write(out.first_chunk_mut()?)?;
    out.truncate(len);
    Some(())
}

#[inline]
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

#[inline]
pub(super) fn put_uint(quick: Quick, number: u64, window: &mut Window, at: usize) -> Option<usize> {
    match quick {
        Quick::Digits { width, max, desc } => put_number(number, width, max, desc, window, at),
        Quick::Be { bytes, max, flip } if number <= max => field::put_be(window, at, number ^ flip, bytes),
        _ => None,
    }
}

#[inline]
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

#[inline]
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

#[inline]
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

#[inline]
pub(super) fn put_value(quick: Quick, value: &Value<'_>, window: &mut Window, at: usize) -> Option<usize> {
    match value {
        Value::Text(text) => put_text(quick, text, window, at),
        Value::Uint(number) => put_uint(quick, *number, window, at),
        Value::Int(number) => put_int(quick, *number, window, at),
        Value::Time(time) => put_time(quick, *time, window, at),
        _ => None,
    }
}

/// A key that is being read.
pub(super) struct Eye<'k> {
    key: &'k [u8],
    at: usize,
    input: (usize, usize),
}

impl<'k> Eye<'k> {
    /// Behind `space` bytes of salt.
    #[inline]
    pub(super) fn new(plan: &QuickPlan, space: usize, key: &'k [u8]) -> Option<Self> {
        let at = skip(key, space, plan.lead, plan.lead_len)?;
        Some(Self { key, at, input: (space, 0) })
    }

    /// Reads a field with `take`, which returns it and where it ends, and the literal behind it.
    #[inline]
    pub(super) fn step<T>(
        &mut self,
        step: &QuickStep,
        take: impl FnOnce(&'k [u8], usize) -> Option<(T, usize)>,
    ) -> Option<T> {
        let (value, end) = take(self.key, self.at)?;
        if step.is_marked {
            self.input = step.mark(self.key, self.at, end, self.input)?;
        }
        self.at = skip(self.key, end, step.literal, step.literal_len)?;
        Some(value)
    }

    /// Checks the salt, and that the key ends here.
    #[inline]
    pub(super) fn finish(self, plan: &QuickPlan, salt: Option<&SaltPlan>) -> Option<()> {
        let Self { key, at, input: (start, end) } = self;
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
#[inline]
fn skip(key: &[u8], at: usize, literal: [u8; LITERAL_MAX], len: usize) -> Option<usize> {
    let same = match len {
        0 => true,
        1 => key.get(at).copied() == literal.first().copied(),
        _ => key.get(at..)?.starts_with(literal.get(..len)?),
    };
    same.then_some(at + len)
}

#[inline]
pub(super) fn take_text(quick: Quick, key: &[u8], at: usize) -> Option<(&str, usize)> {
    let (end, next) = match quick {
        Quick::Text { floor: 0 } => (key.len(), key.len()),
        Quick::Text { floor } => {
            let end = field::end_of_text(key, at, floor)?;
            (end, end)
        }
        Quick::Escaped => {
            let end = field::end_of_text(key, at, 1)?;
            if key.get(end + 1) != Some(&1) {
                return None;
            }
            (end, end + 2)
        }
        _ => return None,
    };
    Some((str::from_utf8(key.get(at..end)?).ok()?, next))
}

#[inline]
pub(super) fn take_uint(quick: Quick, key: &[u8], at: usize) -> Option<(u64, usize)> {
    match quick {
        Quick::Digits { width, max, desc } => take_number(width, max, desc, key, at),
        Quick::Be { bytes, flip, .. } => Some((field::take_be(key, at, bytes)? ^ flip, at + bytes)),
        _ => None,
    }
}

#[inline]
fn take_number(width: usize, max: u64, desc: bool, key: &[u8], at: usize) -> Option<(u64, usize)> {
    let number = field::take_digits(key, at, width)?;
    Some((if desc { max - number } else { number }, at + width))
}

#[inline]
pub(super) fn take_int(quick: Quick, key: &[u8], at: usize) -> Option<(i64, usize)> {
    match quick {
        Quick::BeInt { bytes, flip } => {
            let unused = 64 - 8 * bytes;
            let number = field::take_be(key, at, bytes)? ^ flip;
            Some(((number << unused).cast_signed() >> unused, at + bytes))
        }
        _ => None,
    }
}

#[inline]
pub(super) fn take_time(quick: Quick, key: &[u8], at: usize) -> Option<(Time, usize)> {
    match quick {
        Quick::EpochDigits { width, max, desc, unit } => {
            let (units, end) = take_number(width, max, desc, key, at)?;
            Some((encode::from_units(units, unit), end))
        }
        Quick::BeTime { flip, unit } => {
            let units = (field::take_be(key, at, 8)? ^ flip).cast_signed();
            Some((encode::from_units(units, unit), at + 8))
        }
        _ => None,
    }
}

#[inline]
pub(super) fn take_value(quick: Quick, key: &[u8], at: usize) -> Option<(Value<'_>, usize)> {
    match quick {
        Quick::Text { .. } | Quick::Escaped => {
            take_text(quick, key, at).map(|(text, end)| (Value::Text(Cow::Borrowed(text)), end))
        }
        Quick::Digits { .. } | Quick::Be { .. } => {
            take_uint(quick, key, at).map(|(number, end)| (Value::Uint(number), end))
        }
        Quick::BeInt { .. } => take_int(quick, key, at).map(|(number, end)| (Value::Int(number), end)),
        Quick::EpochDigits { .. } | Quick::BeTime { .. } => {
            take_time(quick, key, at).map(|(time, end)| (Value::Time(time), end))
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
