//! What a field is: the recognisers in the order in which they are asked, the most special first.

use super::binary;
use super::column::Column;
use super::ids::{self, Verdict};
use super::names;
use super::segment::SHARE_MIN;
use super::times::{self, Around, Found};
use super::token::{self, Class};
use crate::layout::{IdMeaning, Meaning};
use std::collections::BTreeSet;

/// Share of host names with a known suffix from which values are hosts.
const HOSTS_MIN: f64 = 0.9;

/// Few words: at most so many different ones, each as often as [`WORD_REPEATS`] on average.
const WORDS_MAX: usize = 128;
const WORD_REPEATS: usize = 8;

/// What was recognised.
#[derive(Debug, Clone)]
pub(super) struct Recognised {
    pub(super) meaning: Meaning,
    pub(super) share: f64,
    pub(super) chance: f64,
    /// For times: units that are mixed, and what they were subtracted from.
    pub(super) time: Option<Found>,
}

/// What the column is.
pub(super) fn recognise(column: &Column<'_>, around: Around<'_>) -> Recognised {
    if let Some(found) = time(column, around) {
        let meaning = if found.is_period { Meaning::Period(found.time) } else { Meaning::Time(found.time) };
        return Recognised { meaning, share: found.share, chance: found.chance, time: Some(found) };
    }
    let (meaning, share, chance) = other(column, around);
    Recognised { meaning, share, chance, time: None }
}

fn time(column: &Column<'_>, around: Around<'_>) -> Option<Found> {
    if binary::is_binary(column) {
        return binary::time(column);
    }
    if let Some(found) = times::calendar(column).or_else(|| times::year(column)) {
        return Some(found);
    }
    let tau = super::column::tau(&column.ranks);
    if ids::snowflake(column, tau).is_some() {
        // Nineteen digits are nanoseconds or a snowflake; ticks and reversed times have a window of their own.
        return times::decimal(column, around)
            .filter(|found| found.time.reversed || found.time.form == crate::layout::TimeForm::Ticks);
    }
    times::decimal(column, around)
}

fn other(column: &Column<'_>, around: Around<'_>) -> Verdict {
    if binary::is_binary(column) {
        return binary::other(column);
    }
    let tau = super::column::tau(&column.ranks);
    let special = ids::uuid(column)
        .or_else(|| ids::clocked(column))
        .or_else(|| ids::snowflake(column, tau))
        .or_else(|| number(column, around))
        .or_else(|| ids::hash(column))
        .or_else(|| growing(column, tau));
    special.unwrap_or_else(|| text(column))
}

/// Integers and decimals as text.
fn number(column: &Column<'_>, around: Around<'_>) -> Option<Verdict> {
    let is_digits = |value: &[u8]| !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let digits = column.share(is_digits);
    if digits >= SHARE_MIN {
        if let Some(verdict) = ids::hash(column) {
            return Some(verdict);
        }
        let padded = is_padded(column);
        let meaning = Meaning::Number { padded, grows: grows(column, around), negative: false };
        return Some((meaning, digits, 1e-3));
    }
    let numbers = column.share(|value| token::is_signed(value) || is_digits(value));
    if numbers < SHARE_MIN {
        return None;
    }
    let negative = column.share(|value| value.first() == Some(&b'-') && token::is_signed(value)) > 0.0;
    let decimals = column.share(|value| value.contains(&b'.'));
    let meaning = if decimals > 0.05 {
        Meaning::Decimal { negative }
    } else {
        Meaning::Number { padded: is_padded(column), grows: grows(column, around), negative }
    };
    Some((meaning, numbers, 1e-3))
}

/// Whether numbers are padded to one width: nearly all have it, and shorter ones would exist without it or none is that small.
fn is_padded(column: &Column<'_>) -> bool {
    let width = column.distinct.iter().map(|value| value.len()).max().unwrap_or(0);
    column.share(|value| value.len() == width) >= 0.995
}

/// Whether numbers only grow, or nearly: over all keys, or among those with the same parts in front, if such keys come back again and
/// again. Where they come once, one behind the other, as the readings of one second do, growth is the order of a batch and no counter.
pub(super) fn grows(column: &Column<'_>, around: Around<'_>) -> bool {
    let numbers: Vec<i128> = column.values.iter().map(|value| signed(value)).collect();
    if super::column::tau(&numbers) >= 0.9 {
        return column.distinct.len() > 16;
    }
    let turns = around.groups.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
    let groups: BTreeSet<u32> = around.groups.iter().copied().collect();
    let come_back = turns >= 2 * groups.len();
    let grouped: Vec<(u32, i128)> = around.groups.iter().copied().zip(numbers).collect();
    come_back && column.distinct.len() > 16 && times::tau_within(&grouped) >= 0.9
}

/// The integer that a value is, without what stands behind a point.
pub(super) fn signed(value: &[u8]) -> i128 {
    let negative = value.first() == Some(&b'-');
    let whole = value
        .iter()
        .skip_while(|byte| !byte.is_ascii_digit())
        .take_while(|byte| byte.is_ascii_digit())
        .take(30);
    let magnitude = whole.fold(0i128, |sum, byte| sum * 10 + i128::from(byte - b'0'));
    if negative { -magnitude } else { magnitude }
}

/// Letters and digits that only grow.
fn growing(column: &Column<'_>, tau: f64) -> Option<Verdict> {
    let alnum = column.share(|value| !value.is_empty() && value.iter().all(u8::is_ascii_alphanumeric));
    let has_digits = column.share(|value| value.iter().any(u8::is_ascii_digit));
    let many = column.distinct.len() >= 100;
    (alnum >= SHARE_MIN && has_digits >= SHARE_MIN && many && tau >= 0.9).then_some((
        Meaning::Id(IdMeaning::Growing),
        alnum,
        1e-6,
    ))
}

fn text(column: &Column<'_>) -> Verdict {
    let class = |wanted: Class| column.share_of_distinct(|value| token::class(value) == wanted);
    let address = class(Class::Address);
    if address >= SHARE_MIN {
        return (Meaning::Address, address, 1e-6);
    }
    let email = column.share_of_distinct(names::is_email);
    if email >= SHARE_MIN {
        return (Meaning::Email, email, 1e-6);
    }
    if let Some(verdict) = domain(column) {
        return verdict;
    }
    let url = column.share_of_distinct(|value| names::is_url(value) || value.first() == Some(&b'/'));
    let slashes = column.share_of_distinct(|value| value.contains(&b'/'));
    let is_few = column.distinct.len() <= WORDS_MAX && column.len() >= WORD_REPEATS * column.distinct.len();
    if url >= SHARE_MIN && slashes >= SHARE_MIN {
        return (Meaning::Path, url, 1e-3);
    }
    let text = column.share(token::is_text);
    if text < 0.8 {
        return (Meaning::Binary, 1.0 - text, 1e-3);
    }
    if is_few {
        return (Meaning::Enumeration, 1.0, 1e-3);
    }
    if slashes >= 0.3 && column.share_of_distinct(|value| !value.contains(&b' ')) >= SHARE_MIN {
        return (Meaning::Path, 1.0, 0.05);
    }
    (Meaning::Text, text, 1.0)
}

/// Host names in reading order, or turned round: what more of them end with a known suffix.
fn domain(column: &Column<'_>) -> Option<Verdict> {
    let hosts = column.share_of_distinct(names::looks_like_host);
    if hosts < HOSTS_MIN || column.share_of_distinct(names::may_be_file) > 0.9 {
        return None;
    }
    let reading = column.share_of_distinct(names::has_known_suffix);
    let reversed = column.share_of_distinct(|value| names::has_known_suffix(&names::turned(value)));
    let share = reading.max(reversed);
    let addresses = column.share_of_distinct(|value| token::class(value) == Class::Address);
    (share + addresses >= HOSTS_MIN && addresses < 0.5).then_some((
        Meaning::Domain { reversed: reversed > reading },
        share,
        0.01,
    ))
}
