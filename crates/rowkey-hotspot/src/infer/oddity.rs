//! What is odd about a field's values.

use super::column::{Column, len_f64};
use super::recognise::{Recognised, signed};
use super::times;
use super::token;
use crate::layout::{HashEncoding, IdMeaning, Meaning, Oddity};

/// A share below this is a handful, not a habit.
const SHARE_MIN: f64 = 0.005;

/// All that is odd about a column. `behind`: the byte of the literal behind the field.
pub(super) fn oddities(column: &Column<'_>, recognised: &Recognised, behind: Option<u8>) -> Vec<Oddity> {
    let mut odd = Vec::new();
    let is_number = matches!(
        recognised.meaning,
        Meaning::Number { .. }
            | Meaning::Decimal { .. }
            | Meaning::Salt(_)
            | Meaning::Id(IdMeaning::Snowflake)
    );
    if is_number && !matches!(&recognised.meaning, Meaning::Salt(_) if !all_digits(column)) {
        odd.extend(discordant(column, behind));
        odd.extend(negative(column));
    }
    if is_hex(&recognised.meaning) || is_hex_text(column) {
        odd.extend(hex_case(column));
    }
    if let Some(found) = &recognised.time {
        if found.units.len() > 1 {
            odd.push(Oddity::TimeUnits { units: found.units.clone() });
        }
        odd.extend(granular(column, found.base));
    }
    if let Some(byte) = behind {
        odd.extend(delimiter(column, byte));
        let is_text = matches!(
            recognised.meaning,
            Meaning::Text | Meaning::Enumeration | Meaning::Path | Meaning::Domain { .. } | Meaning::Email
        );
        if is_text {
            odd.extend(below_delimiter(column, byte));
        }
    }
    odd
}

fn all_digits(column: &Column<'_>) -> bool {
    column.distinct.iter().all(|value| value.iter().all(u8::is_ascii_digit))
}

fn is_hex(meaning: &Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Hash { encoding: HashEncoding::Hex, .. }
            | Meaning::Id(IdMeaning::Uuid(_) | IdMeaning::ObjectId)
    )
}

fn is_hex_text(column: &Column<'_>) -> bool {
    column.share_of_distinct(|value| value.len() >= 6 && value.iter().all(u8::is_ascii_hexdigit)) >= 0.95
}

/// Numbers whose text order is not their order: the share of pairs, each value with one far from it in the sample.
fn discordant(column: &Column<'_>, behind: Option<u8>) -> Option<Oddity> {
    let width = column.distinct.first()?.len();
    if column.distinct.iter().all(|value| value.len() == width) {
        return None;
    }
    let len = column.len();
    let pairs = (0..len).map(|at| (column.values[at], column.values[(at * 7_919 + len / 2 + 1) % len]));
    let text =
        |one: &[u8], other: &[u8]| one.iter().chain(behind.as_ref()).cmp(other.iter().chain(behind.as_ref()));
    let wrong = pairs.filter(|(one, other)| {
        let numbers = signed(one).cmp(&signed(other));
        numbers.is_ne() && text(one, other) != numbers
    });
    let share = len_f64(wrong.count()) / len_f64(len);
    (share > 0.0).then_some(Oddity::Discordant { share })
}

fn negative(column: &Column<'_>) -> Option<Oddity> {
    let share = column.share(|value| value.first() == Some(&b'-') && token::is_signed(value));
    (share > 0.0).then_some(Oddity::Negative { share })
}

fn hex_case(column: &Column<'_>) -> Option<Oddity> {
    let upper = column
        .share(|value| value.iter().any(u8::is_ascii_uppercase) && !value.iter().any(u8::is_ascii_lowercase));
    let lower = column
        .share(|value| value.iter().any(u8::is_ascii_lowercase) && !value.iter().any(u8::is_ascii_uppercase));
    (upper >= SHARE_MIN && lower >= SHARE_MIN).then_some(Oddity::HexCase { upper, lower })
}

/// Numbers above 2^53 that are all multiples of the step at which doubles of their size stand, where powers of ten do not explain it:
/// 1,024 for `2^63 - 1 - ms`.
fn granular(column: &Column<'_>, base: Option<i128>) -> Option<Oddity> {
    let numbers: Vec<i128> = column.distinct.iter().filter_map(|value| times::number(value)).collect();
    let middle = *numbers.get(numbers.len() / 2)?;
    let bits = 128 - middle.leading_zeros();
    if bits <= 53 || numbers.len() < 8 {
        return None;
    }
    let step = 1i128 << (bits - 53);
    let share_of = |fits: &dyn Fn(i128) -> bool| {
        len_f64(numbers.iter().filter(|number| fits(**number)).count()) / len_f64(numbers.len())
    };
    let share = share_of(&|number| number % step == 0);
    // A multiple of 10^k is one of 2^k: days in milliseconds are multiples of 1,024.
    let power = 10i128.pow(bits - 53).min(86_400_000);
    let is_round = share_of(&|number| base.map_or(number, |base| base - number) % 1_000 == 0) > 0.5
        || share_of(&|number| number % power == 0) > 0.5;
    let step = u64::try_from(step).ok()?;
    (step >= 16 && share >= 0.9 && !is_round).then_some(Oddity::Granular { step, share })
}

fn delimiter(column: &Column<'_>, byte: u8) -> Option<Oddity> {
    let holds = |value: &[u8]| value.contains(&byte);
    let share = column.share(holds);
    let example = column.distinct.iter().find(|value| holds(value))?;
    (share > 0.0).then(|| Oddity::Delimiter { byte, share, example: (*example).into() })
}

/// Values that another value continues with a byte below the delimiter: `a b` sorts before `a` where `#` stands behind both.
fn below_delimiter(column: &Column<'_>, delimiter: u8) -> Option<Oddity> {
    let (mut share, mut example, mut below) = (0.0, None, 0u8);
    for (value, count) in column.distinct.iter().zip(&column.counts) {
        let continues = value.iter().take(64).enumerate().find(|(at, byte)| {
            *at > 0 && **byte < delimiter && column.distinct.binary_search(&&value[..*at]).is_ok()
        });
        if let Some((_, byte)) = continues {
            share += f64::from(*count) / len_f64(column.len());
            let is_better =
                example.is_none() || below.is_ascii_alphanumeric() && !byte.is_ascii_alphanumeric();
            if is_better {
                example = Some(*value);
                below = *byte;
            }
        }
    }
    let example = example?;
    Some(Oddity::BelowDelimiter { delimiter, byte: below, share, example: example.into() })
}
