//! Times: numbers since the epoch in a unit, and ISO 8601 text in UTC.
//!
//! ```text
//! basic       20260915T000000Z       20260915T000000.000Z           years 0000 to 9999
//! extended    2026-09-15T00:00:00Z   2026-09-15T00:00:00.000Z       0, 3, 6 or 9 decimals, by the unit
//! dates       20260915               2026-09-15
//! ```
//!
//! A time is never cut to a unit, moved into a range, or read in an assumed zone: what does not fit is an error. The calendar is
//! the proleptic Gregorian one; leap seconds do not exist.

use super::digits;
use crate::schema::{IsoForm, TimeUnit};
use crate::{Error, Result, Time};
use std::fmt;
use std::str::FromStr;

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

impl TimeUnit {
    /// Nanoseconds in one of it.
    pub fn nanos(self) -> i64 {
        match self {
            TimeUnit::Seconds => NANOS_PER_SECOND,
            TimeUnit::Millis => 1_000_000,
            TimeUnit::Micros => 1_000,
            TimeUnit::Nanos => 1,
        }
    }

    /// How many decimals of the second it has: 0, 3, 6 or 9.
    pub fn decimals(self) -> u8 {
        match self {
            TimeUnit::Seconds => 0,
            TimeUnit::Millis => 3,
            TimeUnit::Micros => 6,
            TimeUnit::Nanos => 9,
        }
    }

    /// As a schema names it: `s`, `ms`, `us` or `ns`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Millis => "ms",
            TimeUnit::Micros => "us",
            TimeUnit::Nanos => "ns",
        }
    }
}

/// The time as a number of units, if it is a whole one.
pub(crate) fn in_units(time: Time, unit: TimeUnit) -> Result<i128> {
    let nanos = i128::from(unit.nanos());
    if time.nanos.rem_euclid(nanos) != 0 {
        return Err(not_whole(time, unit));
    }
    Ok(time.nanos.div_euclid(nanos))
}

/// The same for what is nearly every time: a whole number, from 1970 to 2554. `None`: ask [`in_units`].
#[inline]
pub(crate) fn in_units_fast(time: Time, unit: TimeUnit) -> Option<u64> {
    // Division of 64 bits by a constant is several times as fast as that of 128 bits.
    let nanos = u64::try_from(time.nanos).ok()?;
    let (units, back) = match unit {
        TimeUnit::Seconds => (nanos / 1_000_000_000, nanos / 1_000_000_000 * 1_000_000_000),
        TimeUnit::Millis => (nanos / 1_000_000, nanos / 1_000_000 * 1_000_000),
        TimeUnit::Micros => (nanos / 1_000, nanos / 1_000 * 1_000),
        TimeUnit::Nanos => (nanos, nanos),
    };
    (back == nanos).then_some(units)
}

#[cold]
fn not_whole(time: Time, unit: TimeUnit) -> Error {
    Error::value(format!(
        "{} is not a whole number of {}: round it first, or give the field a finer unit",
        format(time),
        unit.name()
    ))
}

/// The time of so many units.
#[inline]
pub(crate) fn from_units(units: impl Into<i128>, unit: TimeUnit) -> Time {
    Time { nanos: units.into() * i128::from(unit.nanos()) }
}

/// A date and a time of day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    seconds: i64,
    nanos: i64,
}

/// Days from 1970-01-01 to a date. Years are counted from March, so that the leap day is their last.
fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    // 719,468 days from 0000-03-01 to 1970-01-01; 146,097 in 400 years.
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_date`]: year, month, day.
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The date and time of day, if the year is in 0 to 9999.
fn civil(time: Time) -> Option<Civil> {
    let seconds = i64::try_from(time.nanos.div_euclid(i128::from(NANOS_PER_SECOND))).ok()?;
    let nanos = i64::try_from(time.nanos.rem_euclid(i128::from(NANOS_PER_SECOND))).ok()?;
    // 0000-01-01 and 10000-01-01, so that nothing below can overflow.
    if !(-62_167_219_200..253_402_300_800).contains(&seconds) {
        return None;
    }
    let (year, month, day) = date_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    Some(Civil { year, month, day, seconds: seconds.rem_euclid(SECONDS_PER_DAY), nanos })
}

/// The width of ISO text.
pub(crate) fn iso_width(form: IsoForm, unit: TimeUnit) -> usize {
    let fraction = match unit {
        TimeUnit::Seconds => 0,
        finer => usize::from(finer.decimals()) + 1,
    };
    match form {
        IsoForm::Basic => 16 + fraction,
        IsoForm::Extended => 20 + fraction,
        IsoForm::DateBasic => 8,
        IsoForm::DateExtended => 10,
    }
}

/// Appends ISO text of fixed width.
pub(crate) fn encode_iso(time: Time, form: IsoForm, unit: TimeUnit, out: &mut Vec<u8>) -> Result<()> {
    let Some(civil) = civil(time) else {
        let message =
            "the year is not in 0000 to 9999, which is what ISO text holds: use epoch digits or binary";
        return Err(Error::value(message));
    };
    let date = matches!(form, IsoForm::DateBasic | IsoForm::DateExtended);
    if date && (civil.seconds, civil.nanos) != (0, 0) {
        let message = format!("{} is not midnight UTC, and the field holds dates only", format(time));
        return Err(Error::value(message));
    }
    if civil.nanos % unit.nanos() != 0 {
        return Err(not_whole(time, unit));
    }
    let (hyphen, colon): (&[u8], &[u8]) = match form {
        IsoForm::Basic | IsoForm::DateBasic => (b"", b""),
        IsoForm::Extended | IsoForm::DateExtended => (b"-", b":"),
    };
    push(out, civil.year, 4);
    out.extend_from_slice(hyphen);
    push(out, civil.month, 2);
    out.extend_from_slice(hyphen);
    push(out, civil.day, 2);
    if date {
        return Ok(());
    }
    out.push(b'T');
    push(out, civil.seconds / 3600, 2);
    out.extend_from_slice(colon);
    push(out, civil.seconds / 60 % 60, 2);
    out.extend_from_slice(colon);
    push(out, civil.seconds % 60, 2);
    if unit != TimeUnit::Seconds {
        out.push(b'.');
        push(out, civil.nanos / unit.nanos(), unit.decimals());
    }
    out.push(b'Z');
    Ok(())
}

fn push(out: &mut Vec<u8>, number: i64, width: u8) {
    digits::push(out, number.unsigned_abs(), width);
}

/// Reads ISO text of exactly this form.
pub(crate) fn decode_iso(text: &[u8], form: IsoForm, unit: TimeUnit) -> Result<Time> {
    let width = iso_width(form, unit);
    if text.len() != width {
        return Err(Error::malformed(text.len().min(width), format!("this time is {width} characters long")));
    }
    let mut reader = Reader { text, at: 0 };
    let extended = matches!(form, IsoForm::Extended | IsoForm::DateExtended);
    let date = reader.date(extended)?;
    let mut nanos = 0;
    if matches!(form, IsoForm::Basic | IsoForm::Extended) {
        reader.expect(b'T')?;
        let seconds = reader.time_of_day(extended)?;
        if unit != TimeUnit::Seconds {
            reader.expect(b'.')?;
            nanos = reader.number(usize::from(unit.decimals()))? * unit.nanos();
        }
        reader.expect(b'Z')?;
        return Ok(at(date * SECONDS_PER_DAY + seconds, nanos));
    }
    Ok(at(date * SECONDS_PER_DAY, nanos))
}

fn at(seconds: i64, nanos: i64) -> Time {
    Time { nanos: i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos) }
}

/// Reads what people write: RFC 3339 with any offset, its basic form, or a date, which means midnight UTC.
///
/// # Errors
///
/// A time without a zone, second 60, a date that does not exist, more than nine decimals, anything else.
pub(crate) fn parse(text: &str) -> Result<Time> {
    let bytes = text.as_bytes();
    let mut reader = Reader { text: bytes, at: 0 };
    parse_parts(&mut reader).map_err(|error| {
        Error::value(format!("`{text}` is not a time: {} at character {}", error.message(), reader.at + 1))
    })
}

fn parse_parts(reader: &mut Reader<'_>) -> Result<Time> {
    let extended = reader.text.get(4) == Some(&b'-');
    let days = reader.date(extended)?;
    if reader.rest().is_empty() {
        return Ok(at(days * SECONDS_PER_DAY, 0));
    }
    if !matches!(reader.rest(), [b'T' | b't' | b' ', ..]) {
        return Err(reader.error("`T` and a time of day expected"));
    }
    reader.at += 1;
    let seconds = reader.time_of_day(extended)?;
    let mut nanos = 0;
    if matches!(reader.rest(), [b'.' | b',', ..]) {
        reader.at += 1;
        let decimals = reader.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&decimals) {
            return Err(reader.error("one to nine decimals expected"));
        }
        let scale = u32::try_from(9 - decimals).expect("at most nine");
        nanos = reader.number(decimals)? * 10i64.pow(scale);
    }
    let offset = reader.offset()?;
    if !reader.rest().is_empty() {
        return Err(reader.error("nothing may follow the zone"));
    }
    Ok(at(days * SECONDS_PER_DAY + seconds - offset, nanos))
}

/// RFC 3339 with any offset, its basic form, or a date, which means midnight UTC; and whatever a time is printed as.
impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let far = text.strip_suffix(FAR).and_then(|nanos| nanos.parse().ok());
        far.map_or_else(|| parse(text), |nanos| Ok(Self { nanos }))
    }
}

/// RFC 3339 in UTC with as many decimals as needed (0, 3, 6 or 9). Outside the years 0 to 9999: `-5 ns since 1970`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(*self))
    }
}

/// Behind the nanoseconds of a time whose year has not four digits.
const FAR: &str = " ns since 1970";

/// Whether `text` is a number of units since the epoch rather than a date.
pub(crate) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// RFC 3339 in UTC with as many decimals as needed (0, 3, 6 or 9). Outside the years 0 to 9999: nanoseconds since 1970.
pub(crate) fn format(time: Time) -> String {
    let unit = finest_unit(time);
    let mut text = Vec::new();
    match encode_iso(time, IsoForm::Extended, unit, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => format!("{}{FAR}", time.nanos),
    }
}

/// A date in the form `2026-09-15` where the time is midnight, else as [`format`].
pub(crate) fn format_date(time: Time) -> String {
    let mut text = Vec::new();
    match encode_iso(time, IsoForm::DateExtended, TimeUnit::Seconds, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => format(time),
    }
}

/// Whether the time can be written with a year of four digits.
pub(crate) fn has_four_digit_year(time: Time) -> bool {
    civil(time).is_some()
}

fn finest_unit(time: Time) -> TimeUnit {
    [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros]
        .into_iter()
        .find(|unit| time.nanos % i128::from(unit.nanos()) == 0)
        .unwrap_or(TimeUnit::Nanos)
}

/// Reads the parts of a time from left to right. Offsets of errors are in the text.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, message: &str) -> Error {
        Error::malformed(self.at, message)
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.rest().first() != Some(&byte) {
            return Err(self.error(&format!("`{}` expected", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    /// A number of exactly so many digits, at most nine.
    fn number(&mut self, digits: usize) -> Result<i64> {
        let mut number = 0;
        for _ in 0..digits {
            let Some(digit) = self.rest().first().filter(|byte| byte.is_ascii_digit()) else {
                return Err(self.error("a digit expected"));
            };
            number = number * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        Ok(number)
    }

    /// A number of two digits up to `max`.
    fn two(&mut self, max: i64, name: &str) -> Result<i64> {
        let number = self.number(2)?;
        if number > max {
            self.at -= 2;
            return Err(self.error(&format!("{name} {number:02} does not exist")));
        }
        Ok(number)
    }

    /// A date, as days since 1970-01-01.
    fn date(&mut self, extended: bool) -> Result<i64> {
        let year = self.number(4)?;
        if extended {
            self.expect(b'-')?;
        }
        let month_at = self.at;
        let month = self.number(2)?;
        if !(1..=12).contains(&month) {
            self.at = month_at;
            return Err(self.error(&format!("month {month:02} does not exist")));
        }
        if extended {
            self.expect(b'-')?;
        }
        let day_at = self.at;
        let day = self.number(2)?;
        if !(1..=days_in_month(year, month)).contains(&day) {
            self.at = day_at;
            return Err(self.error(&format!("day {day:02} does not exist in {year:04}-{month:02}")));
        }
        Ok(days_from_date(year, month, day))
    }

    /// Hour, minute and second, as seconds. Second 60 is refused: no number since the epoch stands for it.
    fn time_of_day(&mut self, extended: bool) -> Result<i64> {
        let hour = self.two(23, "hour")?;
        if extended {
            self.expect(b':')?;
        }
        let minute = self.two(59, "minute")?;
        if extended {
            self.expect(b':')?;
        }
        let second = self.two(59, "second")?;
        Ok(hour * 3600 + minute * 60 + second)
    }

    /// `Z`, `+02:00`, `+0200` or `+02`, as seconds east.
    fn offset(&mut self) -> Result<i64> {
        let sign = match self.rest() {
            [b'Z' | b'z', ..] => {
                self.at += 1;
                return Ok(0);
            }
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Err(self.error("a zone expected (`Z` for UTC, or an offset such as `+02:00`)")),
        };
        self.at += 1;
        let hours = self.two(23, "hour")?;
        if self.rest().first() == Some(&b':') {
            self.at += 1;
        } else if self.rest().is_empty() {
            return Ok(sign * hours * 3600);
        }
        Ok(sign * (hours * 3600 + self.two(59, "minute")? * 60))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
