//! Fields that are times: digits since an epoch, ticks, calendar text, and each of them reversed.
//!
//! No clock: a time is between 2000 and 2040. That alone proves little (every eighth number of ten digits is such a time), so the values
//! must also follow arrival, or lie close together, and must not be a counter.

use rowkey::schema::TimeUnit;

use super::calendar::{self, Grain};
use super::column::{self, Column};
use super::segment::SHARE_MIN;
use crate::layout::{TimeForm, TimeMeaning};

/// 2000-01-01 and 2040-01-01 in seconds since 1970.
const SECONDS: (i128, i128) = (946_684_800, 2_208_988_800);

/// The same in milliseconds.
pub(super) const WINDOW_MS: std::ops::Range<i128> = SECONDS.0 * 1_000..SECONDS.1 * 1_000;

/// 1970-01-01 in ticks of 100 ns since the year 1 (.NET `DateTime.Ticks`).
const TICKS_1970: i128 = 621_355_968_000_000_000;

/// The greatest tick count: `DateTime.MaxValue.Ticks`.
const TICKS_MAX: i128 = 3_155_378_975_999_999_999;

/// Values that lie within this are close together even if they follow no order: a quarter of a year.
const CLOSE_MS: i128 = 92 * 86_400_000;

/// Values further apart than this are no sample of one table's writes, unless they follow arrival well.
const WIDE_MS: i128 = 8 * 365 * 86_400_000;

/// Rank correlation from which an order counts as one.
const TAU_MIN: f64 = 0.4;

/// What is known of a column besides its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// Groups of keys with the same parts in front.
    pub(super) groups: &'a [u32],
    /// When each key arrived, if all are known.
    pub(super) arrived_ms: Option<&'a [i64]>,
    /// Whether neighbours in the column are neighbours in the stream.
    pub(super) is_complete: bool,
    /// Where they are not: values that are, fewer.
    pub(super) stretch: Option<&'a Column<'a>>,
}

/// A column that is a time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) time: TimeMeaning,
    pub(super) is_period: bool,
    pub(super) share: f64,
    pub(super) chance: f64,
    /// The units, where there are several.
    pub(super) units: Vec<(TimeForm, f64)>,
    /// What the reversed time was subtracted from.
    pub(super) base: Option<i128>,
}

/// The decimal number that a value is, at most 20 digits; of seconds with a fraction, `1714644000.123`, the whole ones.
pub(super) fn number(value: &[u8]) -> Option<i128> {
    let point = memchr::memchr(b'.', value).filter(|point| (9..=10).contains(point));
    let value = match point {
        Some(point) if value.len() > point + 1 && value[point + 1..].iter().all(u8::is_ascii_digit) => {
            &value[..point]
        }
        _ => value,
    };
    if value.is_empty() || value.len() > 20 {
        return None;
    }
    value
        .iter()
        .try_fold(0i128, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i128::from(byte - b'0')))
}

/// The unit of an epoch by its size, and its time in milliseconds.
fn epoch(value: i128) -> Option<(TimeForm, i128)> {
    let units = [
        (TimeUnit::Seconds, 1_000i128, 1i128),
        (TimeUnit::Millis, 1, 1),
        (TimeUnit::Micros, 1, 1_000),
        (TimeUnit::Nanos, 1, 1_000_000),
    ];
    for (unit, factor, divisor) in units {
        let ms = value * factor / divisor;
        if WINDOW_MS.contains(&ms) {
            return Some((TimeForm::Epoch(unit), ms));
        }
    }
    None
}

/// The time in milliseconds of a tick count.
fn ticks(value: i128) -> Option<(TimeForm, i128)> {
    let ms = (value - TICKS_1970).div_euclid(10_000);
    WINDOW_MS.contains(&ms).then_some((TimeForm::Ticks, ms))
}

/// Whether a value has the size of an epoch.
pub(super) fn is_epoch_like(value: &[u8]) -> bool {
    number(value).is_some_and(|value| epoch(value).is_some())
}

/// What a number may be as a time.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reading {
    Epoch,
    Ticks,
    /// The base minus an epoch.
    Reversed(i128),
    ReversedTicks,
}

impl Reading {
    fn read(self, value: i128) -> Option<(TimeForm, i128)> {
        match self {
            Self::Epoch => epoch(value),
            Self::Ticks => ticks(value),
            Self::Reversed(base) => epoch(base - value),
            Self::ReversedTicks => ticks(TICKS_MAX - value),
        }
    }

    fn is_reversed(self) -> bool {
        matches!(self, Self::Reversed(_) | Self::ReversedTicks)
    }

    /// All readings; those of small bases, which take most numbers of nine digits, last.
    fn all() -> Vec<Self> {
        let mut all = vec![Self::Epoch, Self::Ticks, Self::ReversedTicks];
        all.extend([(1i128 << 63) - 1, (1i128 << 64) - 1, (1i128 << 53) - 1].map(Self::Reversed));
        for digits in [10, 13, 16, 19] {
            let power = 10i128.pow(digits);
            all.extend([power - 1, power].map(Self::Reversed));
        }
        all.extend([(1i128 << 32) - 1, (1i128 << 31) - 1].map(Self::Reversed));
        all
    }

    /// Whether numbers without meaning fall into the window so often that only their order can tell.
    fn is_weak(self) -> bool {
        matches!(self, Self::Reversed(base) if base < 1i128 << 33)
    }
}

/// The column as decimal times since an epoch.
pub(super) fn decimal(column: &Column<'_>, around: Around<'_>) -> Option<Found> {
    let numbers: Vec<Option<i128>> = column.distinct.iter().map(|value| number(value)).collect();
    Reading::all().into_iter().find_map(|reading| as_reading(column, &numbers, reading, around))
}

fn as_reading(
    column: &Column<'_>,
    numbers: &[Option<i128>],
    reading: Reading,
    around: Around<'_>,
) -> Option<Found> {
    let read: Vec<Option<(TimeForm, i128)>> =
        numbers.iter().map(|number| number.and_then(|number| reading.read(number))).collect();
    let total = column::len_f64(column.len());
    let fits: f64 = read
        .iter()
        .zip(&column.counts)
        .filter(|(read, _)| read.is_some())
        .map(|(_, count)| f64::from(*count))
        .sum();
    let share = fits / total;
    if share < SHARE_MIN {
        return None;
    }
    let times: Vec<i128> =
        column.ranks.iter().filter_map(|rank| read[*rank as usize]).map(|(_, ms)| ms).collect();
    let grouped: Vec<(u32, i128)> = column
        .ranks
        .iter()
        .zip(around.groups)
        .filter_map(|(rank, group)| read[*rank as usize].map(|(_, ms)| (*group, ms)))
        .collect();
    let evidence = evidence(&times, &grouped, column, around);
    if !is_time(&evidence, reading) {
        return None;
    }
    let units = units(&read, &column.counts, total);
    let (first, last) = (times.iter().min()?, times.iter().max()?);
    let form = units.first()?.0;
    let time = TimeMeaning {
        form,
        reversed: reading.is_reversed(),
        first_ms: i64::try_from(*first).ok()?,
        last_ms: i64::try_from(*last).ok()?,
    };
    let aligned = times.iter().filter(|ms| **ms % 3_600_000 == 0).count();
    let is_period = column::len_f64(aligned) >= 0.99 * column::len_f64(times.len()) && !reading.is_reversed();
    let chance = if evidence.matches_clock { 1e-9 } else { evidence.window_share };
    let base = match reading {
        Reading::Reversed(base) => Some(base),
        Reading::ReversedTicks => Some(TICKS_MAX),
        _ => None,
    };
    Some(Found {
        time,
        is_period,
        share,
        chance,
        units: if units.len() > 1 { units } else { Vec::new() },
        base,
    })
}

/// The units that occur, the most frequent first, those of a handful of values left out.
fn units(read: &[Option<(TimeForm, i128)>], counts: &[u32], total: f64) -> Vec<(TimeForm, f64)> {
    let mut units: Vec<(TimeForm, f64)> = Vec::new();
    for ((form, _), count) in
        read.iter().zip(counts).filter_map(|(read, count)| read.map(|read| (read, count)))
    {
        match units.iter_mut().find(|(other, _)| *other == form) {
            Some((_, sum)) => *sum += f64::from(*count) / total,
            None => units.push((form, f64::from(*count) / total)),
        }
    }
    units.sort_by(|one, other| other.1.total_cmp(&one.1));
    let most = units.first().map_or(0.0, |(_, share)| *share);
    units.retain(|(_, share)| *share >= 0.005 || *share >= most);
    units
}

/// What speaks for a column being a time.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    tau: f64,
    tau_within: f64,
    /// From the value that 5 % are below to the one that 95 % are below.
    span_ms: i128,
    /// The times are those at which the keys arrived.
    matches_clock: bool,
    /// Whether the values count up by one.
    counts_up: bool,
    /// The window's share of all numbers of this width.
    window_share: f64,
}

fn evidence(times: &[i128], grouped: &[(u32, i128)], column: &Column<'_>, around: Around<'_>) -> Evidence {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at =
        |percent: usize| sorted.get((sorted.len().saturating_sub(1)) * percent / 100).copied().unwrap_or(0);
    let matches_clock = around.arrived_ms.is_some_and(|arrived| {
        let mut shifts: Vec<i128> =
            arrived.iter().zip(times).map(|(arrived, time)| (i128::from(*arrived) - time).abs()).collect();
        shifts.sort_unstable();
        // A day either way: zones, and periods that begin before what they hold.
        times.len() == arrived.len() && shifts.get(shifts.len() / 2).is_some_and(|shift| *shift <= 86_400_000)
    });
    Evidence {
        tau: column::tau(times),
        tau_within: tau_within(grouped),
        span_ms: at(95) - at(5),
        matches_clock,
        counts_up: around.is_complete && counts_up(column) || around.stretch.is_some_and(counts_up),
        window_share: 0.13,
    }
}

/// Kendall's tau within groups, weighted by keys.
pub(super) fn tau_within(grouped: &[(u32, i128)]) -> f64 {
    let mut members: Vec<Vec<i128>> = Vec::new();
    for (group, value) in grouped {
        let group = *group as usize;
        if group >= members.len() {
            members.resize_with(group + 1, Vec::new);
        }
        members[group].push(*value);
    }
    let (mut sum, mut over) = (0.0, 0.0);
    for values in members.iter().filter(|values| values.len() >= 3) {
        let weight = column::len_f64(values.len());
        sum += weight * column::tau(values);
        over += weight;
    }
    if over >= 50.0 { sum / over } else { 0.0 }
}

/// Whether a column counts up by one: neighbours mostly differ by one, and no value comes twice. Times do neither.
pub(super) fn counts_up(column: &Column<'_>) -> bool {
    let mut numbers: Vec<i128> = column.distinct.iter().filter_map(|value| number(value)).collect();
    numbers.sort_unstable();
    let steps = numbers.windows(2).filter(|pair| pair[1] - pair[0] == 1).count();
    let twice = column.len() - column.distinct.len();
    numbers.len() >= 50 && steps * 2 > numbers.len() && twice * 100 < column.len()
}

fn is_time(evidence: &Evidence, reading: Reading) -> bool {
    if evidence.matches_clock {
        return true;
    }
    if evidence.counts_up {
        return false;
    }
    let is_close = evidence.span_ms <= CLOSE_MS;
    let strongest =
        if evidence.tau.abs() > evidence.tau_within.abs() { evidence.tau } else { evidence.tau_within };
    if reading.is_weak() {
        return strongest >= TAU_MIN && is_close;
    }
    let is_ordered = strongest.abs() >= TAU_MIN;
    is_close || is_ordered && evidence.span_ms <= WIDE_MS || strongest.abs() >= 0.8
}

/// Four digits that are years: nearly all between 1970 and 2040, which one number of four digits in 140 is.
pub(super) fn year(column: &Column<'_>) -> Option<Found> {
    let is_year =
        |value: &[u8]| value.len() == 4 && number(value).is_some_and(|year| (1970..=2040).contains(&year));
    let share = column.share(is_year);
    if share < 0.99 || column.len() < 20 {
        return None;
    }
    let ms = |value: Option<&&[u8]>| {
        value.and_then(|value| calendar::basic(&[*value, b"01"].concat())).map(|stamp| stamp.ms)
    };
    let years = || column.distinct.iter().filter(|value| is_year(value));
    let time = TimeMeaning {
        form: TimeForm::Calendar,
        reversed: false,
        first_ms: ms(years().next())?,
        last_ms: ms(years().next_back())?,
    };
    let chance = 0.0071f64.powi(i32::try_from(column.distinct.len().min(8)).unwrap_or(8));
    Some(Found { time, is_period: true, share, chance, units: Vec::new(), base: None })
}

/// The column as calendar text.
pub(super) fn calendar(column: &Column<'_>) -> Option<Found> {
    let read: Vec<Option<(calendar::Stamp, bool)>> =
        column.distinct.iter().map(|value| calendar::whole(value)).collect();
    let total = column::len_f64(column.len());
    let mut by_grain: Vec<(Grain, bool, f64)> = Vec::new();
    let (mut first, mut last, mut fits) = (i64::MAX, i64::MIN, 0.0);
    for (read, count) in read.iter().zip(&column.counts) {
        let Some((stamp, is_extended)) = read else { continue };
        let weight = f64::from(*count);
        fits += weight;
        (first, last) = (first.min(stamp.ms), last.max(stamp.ms));
        match by_grain
            .iter_mut()
            .find(|(grain, extended, _)| (*grain, *extended) == (stamp.grain, *is_extended))
        {
            Some((_, _, sum)) => *sum += weight,
            None => by_grain.push((stamp.grain, *is_extended, weight)),
        }
    }
    let (grain, is_extended, _) = *by_grain.iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
    let share = fits / total;
    // 3.7 % of all numbers that begin with a year are dates, so that nearly all must be one.
    let all_digits = column.distinct.first().is_some_and(|value| value.iter().all(u8::is_ascii_digit));
    if share < if all_digits { 0.98 } else { SHARE_MIN } {
        return None;
    }
    let span_years = (last - first) / (365 * 86_400_000);
    if all_digits && grain == Grain::Month && (column.len() < 50 || span_years > 40) {
        return None;
    }
    let form = match grain {
        Grain::Finer | Grain::Second | Grain::Minute if is_extended => TimeForm::IsoExtended,
        Grain::Finer | Grain::Second | Grain::Minute => TimeForm::IsoBasic,
        _ => TimeForm::Calendar,
    };
    let is_period =
        grain >= Grain::Hour || grain == Grain::Minute && column.len() >= 50 * column.distinct.len();
    let chance = if all_digits {
        0.037f64.powi(i32::try_from(column.distinct.len().min(8)).unwrap_or(8))
    } else {
        1e-9
    };
    let time = TimeMeaning { form, reversed: false, first_ms: first, last_ms: last };
    Some(Found { time, is_period, share, chance, units: Vec::new(), base: None })
}
