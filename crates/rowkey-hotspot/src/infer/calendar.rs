//! Calendar times as text, read by hand: no date library is as fast, and a recogniser must not accept more than what it names.
//!
//! ```text
//! extended   2024-05-02   2024/05/02   2024-05   2024-W18   2024-05-02T10:30:00.123Z   2024-05-02 10:30:00+02:00
//! basic      20240502     2024050210   20240502103000       20240502T103000123Z
//! ```

/// Years that a calendar time may have: outside, eight digits are rather an id.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;

/// How fine a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grain {
    Finer,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
}

/// A calendar time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Milliseconds since 1970, UTC unless it says otherwise.
    pub(super) ms: i64,
    /// How fine it is written.
    pub(super) grain: Grain,
    /// Bytes read.
    pub(super) len: usize,
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (era arithmetic; the year begins in March).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The number in `text[at..at + len]`, if these are digits.
fn digits(text: &[u8], at: usize, len: usize) -> Option<i64> {
    let part = text.get(at..at.checked_add(len)?)?;
    part.iter().try_fold(0i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

fn date_ms(year: i64, month: i64, day: i64) -> Option<i64> {
    let valid =
        YEARS.contains(&year) && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    valid.then(|| days(year, month, day) * 86_400_000)
}

fn clock_ms(hour: i64, minute: i64, second: i64) -> Option<i64> {
    // A leap second is written as 60 (RFC 3339).
    (hour < 24 && minute < 60 && second <= 60).then(|| ((hour * 60 + minute) * 60 + second) * 1_000)
}

/// The time in extended form that `text` begins with, the longest that there is. A digit behind it makes it none.
pub(super) fn extended(text: &[u8]) -> Option<Stamp> {
    let year = digits(text, 0, 4)?;
    let separator = *text.get(4)?;
    if !matches!(separator, b'-' | b'/' | b'.') || !YEARS.contains(&year) {
        return None;
    }
    let stamp = if separator == b'-' && text.get(5) == Some(&b'W') {
        week(text, year)?
    } else {
        let month = digits(text, 5, 2)?;
        match (text.get(7) == Some(&separator)).then(|| digits(text, 8, 2)).flatten() {
            Some(day) if separator == b'/' => {
                with_hour(text, Stamp { ms: date_ms(year, month, day)?, grain: Grain::Day, len: 10 })
            }
            Some(day) => {
                with_clock(text, Stamp { ms: date_ms(year, month, day)?, grain: Grain::Day, len: 10 })
            }
            None if separator == b'.' => return None,
            None => Stamp { ms: date_ms(year, month, 1)?, grain: Grain::Month, len: 7 },
        }
    };
    let ends = text.get(stamp.len).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    ends.then_some(stamp)
}

fn week(text: &[u8], year: i64) -> Option<Stamp> {
    let week = digits(text, 6, 2).filter(|week| (1..=53).contains(week))?;
    // The first week is the one with January 4.
    let fourth = days(year, 1, 4);
    let monday = fourth - (fourth + 3).rem_euclid(7);
    let day = (text.get(8) == Some(&b'-'))
        .then(|| digits(text, 9, 1))
        .flatten()
        .filter(|day| (1..=7).contains(day));
    let (grain, len) = if day.is_some() { (Grain::Day, 10) } else { (Grain::Week, 8) };
    Some(Stamp { ms: (monday + 7 * (week - 1) + day.unwrap_or(1) - 1) * 86_400_000, grain, len })
}

/// A date as folders, and the folder of the hour behind it if there is one.
fn with_hour(text: &[u8], date: Stamp) -> Stamp {
    let hour = (text.get(10) == Some(&b'/')).then(|| digits(text, 11, 2)).flatten().filter(|hour| *hour < 24);
    let ends = text.get(13).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    match hour {
        Some(hour) if ends => Stamp { ms: date.ms + hour * 3_600_000, grain: Grain::Hour, len: 13 },
        _ => with_clock(text, date),
    }
}

/// A date, and the time of day behind it if there is one.
fn with_clock(text: &[u8], date: Stamp) -> Stamp {
    let at = date.len;
    if !matches!(text.get(at), Some(b'T' | b't' | b' ' | b'_')) {
        return date;
    }
    let is_strict = matches!(text.get(at), Some(b'T' | b't'));
    let Some(hour) = digits(text, at + 1, 2).filter(|hour| *hour < 24) else { return date };
    let separator = text.get(at + 3).copied();
    let minute = matches!(separator, Some(b':' | b'-')).then(|| digits(text, at + 4, 2)).flatten();
    let Some(minute) = minute.filter(|minute| *minute < 60) else {
        return if is_strict {
            zone(text, Stamp { ms: date.ms + hour * 3_600_000, grain: Grain::Hour, len: at + 3 })
        } else {
            date
        };
    };
    let second = (text.get(at + 6).copied() == separator).then(|| digits(text, at + 7, 2)).flatten();
    match second.and_then(|second| clock_ms(hour, minute, second)) {
        None => zone(
            text,
            Stamp { ms: date.ms + (hour * 60 + minute) * 60_000, grain: Grain::Minute, len: at + 6 },
        ),
        Some(clock) => {
            zone(text, fraction(text, Stamp { ms: date.ms + clock, grain: Grain::Second, len: at + 9 }, true))
        }
    }
}

/// Adds a fraction of a second: behind a point or comma, or (basic form) directly.
fn fraction(text: &[u8], stamp: Stamp, pointed: bool) -> Stamp {
    let from = stamp.len + usize::from(pointed);
    if pointed && !matches!(text.get(stamp.len), Some(b'.' | b',')) {
        return stamp;
    }
    let count = text.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !matches!(count, 1..=9) {
        return stamp;
    }
    let ms = (0..3)
        .fold(0, |ms, at| ms * 10 + if at < count { digits(text, from + at, 1).unwrap_or(0) } else { 0 });
    Stamp { ms: stamp.ms + ms, grain: Grain::Finer, len: from + count }
}

/// Takes a zone: `Z`, `+02:00`, `+0200`, `+02`.
fn zone(text: &[u8], stamp: Stamp) -> Stamp {
    let at = stamp.len;
    match text.get(at) {
        Some(b'Z' | b'z') => Stamp { len: at + 1, ..stamp },
        Some(sign @ (b'+' | b'-')) => {
            let Some(hours) = digits(text, at + 1, 2).filter(|hours| *hours <= 14) else { return stamp };
            let colon = usize::from(text.get(at + 3) == Some(&b':'));
            // All offsets in use are of whole quarters of an hour. `-02` alone is rather a field of its own.
            let minutes =
                digits(text, at + 3 + colon, 2).filter(|minutes| minutes % 15 == 0 && *minutes < 60);
            let Some(minutes) = minutes else { return stamp };
            let offset = (hours * 60 + minutes) * 60_000;
            let ms = if *sign == b'+' { stamp.ms - offset } else { stamp.ms + offset };
            Stamp { ms, len: at + 5 + colon, ..stamp }
        }
        _ => stamp,
    }
}

/// A whole text as a time in basic form: `yyyymm`, `yyyymmdd`, and further digits, or `T` and the time of day.
pub(super) fn basic(text: &[u8]) -> Option<Stamp> {
    let (year, month) = (digits(text, 0, 4)?, digits(text, 4, 2)?);
    if text.len() == 6 {
        return Some(Stamp { ms: date_ms(year, month, 1)?, grain: Grain::Month, len: 6 });
    }
    let date = Stamp { ms: date_ms(year, month, digits(text, 6, 2)?)?, grain: Grain::Day, len: 8 };
    if text.len() == 8 {
        return Some(date);
    }
    let at = 8 + usize::from(matches!(text[8], b'T' | b't'));
    let hour = digits(text, at, 2).filter(|hour| *hour < 24)?;
    let minute = digits(text, at + 2, 2).filter(|minute| *minute < 60);
    let second = digits(text, at + 4, 2).filter(|second| *second <= 60);
    let stamp = match (minute, second) {
        (None, _) => Stamp { ms: date.ms + hour * 3_600_000, grain: Grain::Hour, len: at + 2 },
        (Some(minute), None) => {
            Stamp { ms: date.ms + (hour * 60 + minute) * 60_000, grain: Grain::Minute, len: at + 4 }
        }
        (Some(minute), Some(second)) => {
            let ms = date.ms + clock_ms(hour, minute, second)?;
            let whole = Stamp { ms, grain: Grain::Second, len: at + 6 };
            let pointed = matches!(text.get(at + 6), Some(b'.' | b','));
            fraction(text, whole, pointed)
        }
    };
    let stamp = zone(text, stamp);
    (stamp.len == text.len()).then_some(stamp)
}

/// A whole text as a calendar time in either form.
pub(super) fn whole(text: &[u8]) -> Option<(Stamp, bool)> {
    if let Some(stamp) = extended(text).filter(|stamp| stamp.len == text.len()) {
        return Some((stamp, true));
    }
    basic(text).map(|stamp| (stamp, false))
}
