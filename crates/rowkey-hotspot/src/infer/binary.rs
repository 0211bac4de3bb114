//! Fields of bytes that are no text: times, UUIDs, digests, numbers.

use std::collections::BTreeMap;

use rowkey::schema::TimeUnit;

use super::column::{self, Column, len_f64};
use super::ids::Verdict;
use super::partition::share;
use super::segment::SHARE_MIN;
use super::times::{Found, WINDOW_MS};
use crate::layout::{HashEncoding, IdMeaning, Meaning, TimeForm, TimeMeaning};

/// Times further apart than this are no sample of one table's writes: 8 years.
const WIDE_MS: i128 = 8 * 365 * 86_400_000;

/// How a number is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Plain,
    /// With the sign bit flipped, so that negative numbers sort first.
    Flipped,
    /// Subtracted from the greatest number with or without sign.
    Reversed(u128),
}

fn big_endian(value: &[u8]) -> u128 {
    value.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

fn readings(width: usize) -> Vec<Reading> {
    match width {
        8 => vec![
            Reading::Plain,
            Reading::Flipped,
            Reading::Reversed(u128::from(u64::MAX)),
            Reading::Reversed(u128::from(u64::MAX >> 1)),
        ],
        4 => vec![
            Reading::Plain,
            Reading::Reversed(u128::from(u32::MAX)),
            Reading::Reversed(u128::from(u32::MAX >> 1)),
        ],
        6 => vec![Reading::Plain],
        _ => Vec::new(),
    }
}

fn read(value: &[u8], reading: Reading) -> Option<(TimeUnit, i128)> {
    let number = big_endian(value);
    let number = match reading {
        Reading::Plain => number,
        Reading::Flipped => number ^ 1 << 63,
        Reading::Reversed(base) => base.checked_sub(number)?,
    };
    let number = i128::try_from(number).ok()?;
    let units = [
        (TimeUnit::Seconds, 1_000i128, 1i128),
        (TimeUnit::Millis, 1, 1),
        (TimeUnit::Micros, 1, 1_000),
        (TimeUnit::Nanos, 1, 1_000_000),
    ];
    // Four bytes hold seconds, six milliseconds.
    let units = match value.len() {
        4 => &units[..1],
        6 => &units[1..2],
        _ => &units[..],
    };
    units.iter().find_map(|(unit, factor, divisor)| {
        let ms = number * factor / divisor;
        WINDOW_MS.contains(&ms).then_some((*unit, ms))
    })
}

/// The readings of values as times, if nearly all are times close together.
fn as_time(values: &[&[u8]], reading: Reading) -> Option<(TimeUnit, f64, i128, i128)> {
    let mut times = Vec::with_capacity(values.len());
    let mut units: BTreeMap<u8, (TimeUnit, usize)> = BTreeMap::new();
    for (unit, ms) in values.iter().filter_map(|value| read(value, reading)) {
        times.push(ms);
        units.entry(unit.decimals()).or_insert((unit, 0)).1 += 1;
    }
    let fits = share(times.len(), values.len());
    if fits < SHARE_MIN {
        return None;
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    let (unit, count) = units.into_values().max_by_key(|(_, count)| *count)?;
    // Of numbers in four bytes 29 % are such times: they must lie close together.
    let wide = if values[0].len() == 4 { WIDE_MS / 4 } else { WIDE_MS };
    // Small numbers are no reversed times shortly before 2038.
    let large = values.iter().filter(|value| value[0] > 0).count();
    let is_large = values[0].len() != 4 || share(large, values.len()) >= SHARE_MIN;
    let agrees = share(count, values.len()) >= SHARE_MIN && at(95) - at(5) <= wide && is_large;
    agrees.then_some((unit, fits, at(0), at(100)))
}

/// Whether `len` bytes from `at` on are a time or a UUID.
pub(super) fn is_known(values: &[&[u8]], at: usize, len: usize) -> bool {
    let some = super::segment::some(values);
    let column: Option<Vec<&[u8]>> = some.iter().map(|value| value.get(at..at + len)).collect();
    let Some(column) = column else { return false };
    if len == 16 {
        return uuid_version(&column).is_some();
    }
    let varies = column.iter().any(|value| *value != column[0]);
    (varies || len == 8) && readings(len).into_iter().any(|reading| as_time(&column, reading).is_some())
}

/// The version of UUIDs in 16 bytes, if nearly all have the same, and the bytes are no text.
fn uuid_version(values: &[&[u8]]) -> Option<(u8, f64)> {
    let version = |value: &&[u8]| {
        let version = value[6] >> 4;
        ((1..=8).contains(&version) && value[8] >> 6 == 0b10).then_some(version)
    };
    if values.len() < 8 {
        return None;
    }
    let first = values.iter().find_map(version)?;
    let same = share(values.iter().filter(|value| version(value) == Some(first)).count(), values.len());
    (same >= SHARE_MIN).then_some((first, same))
}

/// Entropy in bits of the bytes at a place.
pub(super) fn entropy_at(values: &[&[u8]], at: usize) -> f64 {
    let mut counts = [0u32; 256];
    for value in values {
        counts[usize::from(value[at])] += 1;
    }
    let total = len_f64(values.len());
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// The column as times in bytes.
pub(super) fn time(column: &Column<'_>) -> Option<Found> {
    let width = fixed_width(column)?;
    let values: Vec<&[u8]> = column.values.iter().copied().filter(|value| value.len() == width).collect();
    readings(width).into_iter().find_map(|reading| {
        let (unit, share, first, last) = as_time(&values, reading)?;
        let time = TimeMeaning {
            form: TimeForm::Binary(unit),
            reversed: matches!(reading, Reading::Reversed(_)),
            first_ms: i64::try_from(first).ok()?,
            last_ms: i64::try_from(last).ok()?,
        };
        let chance = if width == 4 { 1e-2 } else { 1e-6 };
        Some(Found { time, is_period: false, share, chance, units: Vec::new(), base: None })
    })
}

fn fixed_width(column: &Column<'_>) -> Option<usize> {
    let width = column.top().0.len();
    (column.share(|value| value.len() == width) >= SHARE_MIN).then_some(width)
}

/// What bytes that are no time are.
pub(super) fn other(column: &Column<'_>) -> Verdict {
    let Some(width) = fixed_width(column) else { return (Meaning::Binary, 1.0, 1.0) };
    let values: Vec<&[u8]> = column.distinct.iter().copied().filter(|value| value.len() == width).collect();
    if width == 16
        && let Some((version, share)) = uuid_version(&values)
    {
        return (Meaning::Id(IdMeaning::Uuid(version)), share, 1e-6);
    }
    let most = len_f64(values.len().min(256)).log2();
    let even = |at: usize| entropy_at(&values, at) > 0.9 * most;
    if width >= 4 && values.len() >= 16 && (0..width).all(even) {
        let bits = u32::try_from(8 * width).unwrap_or(u32::MAX);
        return (Meaning::Hash { bits, encoding: HashEncoding::Raw }, 1.0, 1e-6);
    }
    match u8::try_from(width) {
        Ok(bytes @ 1..=8) => {
            let grows = column::tau(&column.ranks) >= 0.9 && column.distinct.len() > 16;
            (Meaning::BinaryNumber { bytes, grows }, 1.0, 0.1)
        }
        _ => (Meaning::Binary, 1.0, 1.0),
    }
}

/// Whether most values are no text.
pub(super) fn is_binary(column: &Column<'_>) -> bool {
    column.share(|value| !super::token::is_text(value)) > 0.2
}
