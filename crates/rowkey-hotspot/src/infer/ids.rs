//! Ids of known construction, digests and random bits.

use std::collections::BTreeMap;

use super::column::{self, Column};
use super::segment::SHARE_MIN;
use super::times;
use super::token;
use crate::layout::{HashEncoding, IdMeaning, Meaning};

/// 2000-01-01 and 2040-01-01 in milliseconds since 1970.
const WINDOW_MS: std::ops::Range<u64> = 946_684_800_000..2_208_988_800_000;

/// Seconds between KSUID's epoch and 1970.
const KSUID_EPOCH_S: u64 = 1_400_000_000;

/// What a column is, with the share of values that fit and the chance that others would.
pub(super) type Verdict = (Meaning, f64, f64);

/// A UUID's version, or `None` if its variant is not that of RFC 9562. The nil UUID has none either.
pub(super) fn uuid_version(value: &[u8]) -> Option<u8> {
    let digits: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'-').collect();
    if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let version = hex_digit(digits[12])?;
    let variant = hex_digit(digits[16])?;
    ((1..=8).contains(&version) && (8..12).contains(&variant)).then_some(version)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The number that at most 16 hex digits are.
pub(super) fn hex_number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| Some(sum << 4 | u64::from(hex_digit(*digit)?)))
}

/// The version that nearly all have; 0 where they have several or none.
fn uuid_verdict(column: &Column<'_>) -> (u8, f64) {
    let best = (1..=8).map(|version| (version, column.share(|value| uuid_version(value) == Some(version))));
    let (version, share) = best.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((0, 0.0));
    if share >= SHARE_MIN { (version, share) } else { (0, 0.0) }
}

/// UUIDs, with hyphens or without.
pub(super) fn uuid(column: &Column<'_>) -> Option<Verdict> {
    let hyphened = column.share(token::is_uuid);
    let (version, share) = uuid_verdict(column);
    if hyphened >= SHARE_MIN {
        // Without a version it is 128 bits in the form of a UUID.
        let share = if version == 0 { hyphened } else { share };
        return Some((Meaning::Id(IdMeaning::Uuid(version)), share, 1e-9));
    }
    // Six fixed bits by chance, in each of the different values.
    let bare =
        version != 0 && column.share(|value| value.len() == 32) >= SHARE_MIN && column.distinct.len() >= 8;
    bare.then_some((Meaning::Id(IdMeaning::Uuid(version)), share, (1.0f64 / 64.0).powi(8)))
}

/// Whether the times that ids hold lie close together or follow arrival.
fn times_agree(ms: &[Option<u64>], column: &Column<'_>) -> Option<f64> {
    let read: Vec<Option<u64>> = ms.iter().map(|ms| ms.filter(|ms| WINDOW_MS.contains(ms))).collect();
    let fits: f64 = read
        .iter()
        .zip(&column.counts)
        .filter(|(ms, _)| ms.is_some())
        .map(|(_, count)| f64::from(*count))
        .sum();
    let share = fits / column::len_f64(column.len());
    if share < SHARE_MIN {
        return None;
    }
    let times: Vec<u64> = column.ranks.iter().filter_map(|rank| read[*rank as usize]).collect();
    let mut sorted = times.clone();
    sorted.sort_unstable();
    let at = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let is_close = at(95) - at(5) < 8 * 365 * 86_400_000;
    (is_close || column::tau(&times) >= 0.4).then_some(share)
}

fn id_with_clock(
    column: &Column<'_>,
    id: IdMeaning,
    ms_of: impl Fn(&[u8]) -> Option<u64>,
) -> Option<Verdict> {
    let ms: Vec<Option<u64>> = column.distinct.iter().map(|value| ms_of(value)).collect();
    times_agree(&ms, column).map(|share| (Meaning::Id(id), share, 1e-6))
}

/// ULID, KSUID, `ObjectId`.
pub(super) fn clocked(column: &Column<'_>) -> Option<Verdict> {
    let width = column.distinct.first()?.len();
    match width {
        26 => id_with_clock(column, IdMeaning::Ulid, |value| {
            token::is_ulid(value).then(|| {
                value[..10]
                    .iter()
                    .filter_map(|digit| token::crockford(*digit))
                    .fold(0, |ms, digit| ms << 5 | u64::from(digit))
            })
        }),
        27 => id_with_clock(column, IdMeaning::Ksuid, |value| {
            ksuid_seconds(value).map(|seconds| (seconds + KSUID_EPOCH_S) * 1_000)
        }),
        24 => id_with_clock(column, IdMeaning::ObjectId, |value| {
            (value.len() == 24 && value.iter().all(u8::is_ascii_hexdigit))
                .then(|| hex_number(&value[..8]).map(|seconds| seconds * 1_000))
                .flatten()
        }),
        _ => None,
    }
}

/// The first 32 of the 160 bits that 27 base-62 digits are.
fn ksuid_seconds(value: &[u8]) -> Option<u64> {
    if value.len() != 27 {
        return None;
    }
    let mut limbs = [0u64; 5];
    for byte in value {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return None,
        };
        let mut carry = u64::from(digit);
        for limb in limbs.iter_mut().rev() {
            let product = *limb * 62 + carry;
            *limb = product & 0xffff_ffff;
            carry = product >> 32;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(limbs[0])
}

/// Numbers of 15 to 20 digits with a clock in the upper bits and a sequence and a machine's number in the lower ones. They grow, or their low bits are
/// not those of a clock: a clock of nanoseconds has even low bits unless it counts in thousands.
pub(super) fn snowflake(column: &Column<'_>, order_tau: f64) -> Option<Verdict> {
    let numbers: Vec<u64> = column
        .distinct
        .iter()
        .filter_map(|value| times::number(value))
        .filter_map(|number| u64::try_from(number).ok())
        .collect();
    let fits = column.share(|value| (15..=20).contains(&value.len()) && times::number(value).is_some());
    if fits < SHARE_MIN || numbers.len() < 50 || times::counts_up(column) {
        return None;
    }
    let thousands = numbers.iter().filter(|number| **number % 1_000 == 0).count();
    if thousands * 10 > numbers.len() * 9 {
        return None;
    }
    let (first, last) = (*numbers.iter().min()?, *numbers.iter().max()?);
    // Upper bits that agree: all ids are of the last hundredth of the time since their epoch, or they grow.
    let is_narrow = last - first < last / 4;
    let structured = has_structured_low_bits(&numbers);
    (structured && (is_narrow || order_tau > 0.5)).then_some((Meaning::Id(IdMeaning::Snowflake), fits, 1e-3))
}

/// Whether some of the bits 3 to 21 are far from even. Bits 0 to 2 are so in multiples of ten too.
fn has_structured_low_bits(numbers: &[u64]) -> bool {
    let total = column::len_f64(numbers.len());
    let sigma = total.sqrt() / 2.0;
    (3..22).any(|bit| {
        let ones = column::len_f64(numbers.iter().filter(|number| **number >> bit & 1 == 1).count());
        (ones - total / 2.0).abs() > 6.0 * sigma
    })
}

/// Digests and random bits of fixed width in hex, decimal digits, base64 or its like.
pub(super) fn hash(column: &Column<'_>) -> Option<Verdict> {
    let width = column.distinct.first()?.len();
    let same = column.share(|value| value.len() == width);
    if same < SHARE_MIN || width > 256 {
        return None;
    }
    let values: Vec<&[u8]> = column.distinct.iter().copied().filter(|value| value.len() == width).collect();
    let is_hex = values.iter().all(|value| value.iter().all(u8::is_ascii_hexdigit));
    let has_letters = values.iter().any(|value| value.iter().any(u8::is_ascii_alphabetic));
    let has_digits = values.iter().any(|value| value.iter().any(u8::is_ascii_digit));
    let bits = |bits: usize| u32::try_from(bits).unwrap_or(u32::MAX);
    if is_hex && has_letters && has_digits && (width >= 4 || width >= 2 && values.len() >= 100) {
        let even = is_even(&values, 16, hex_digit);
        let meaning = Meaning::Hash { bits: bits(4 * width), encoding: HashEncoding::Hex };
        return even.then_some((meaning, same, chance_of_hex(values.len(), width)));
    }
    let decimal = |byte: u8| byte.is_ascii_digit().then(|| byte - b'0');
    if !has_letters && width >= 8 && values.len() >= 100 && is_even(&values, 10, decimal) {
        let meaning = Meaning::Hash { bits: bits(width * 10 / 3), encoding: HashEncoding::Decimal };
        return Some((meaning, same, 1e-3));
    }
    base64(&values, width, same)
}

/// Hex digits that only look random: words of the letters a to f with digits.
fn chance_of_hex(values: usize, width: usize) -> f64 {
    let digits = i32::try_from((values * width).min(1_000)).unwrap_or(1_000);
    (22.0f64 / 62.0).powi(digits).max(1e-12)
}

fn base64(values: &[&[u8]], width: usize, same: f64) -> Option<Verdict> {
    let symbols: std::collections::BTreeSet<u8> =
        values.iter().flat_map(|value| value.iter().copied()).collect();
    let symbols: Vec<u8> = symbols.into_iter().filter(|symbol| *symbol != b'=').collect();
    let takes = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    if width < 6 || values.len() < 50 || symbols.len() < 26 || !symbols.iter().all(takes) {
        return None;
    }
    let index = |byte: u8| symbols.binary_search(&byte).ok().and_then(|at| u8::try_from(at).ok());
    let is_varied =
        values.iter().filter(|value| value.iter().any(u8::is_ascii_digit)).count() * 2 > values.len();
    if !is_varied || !is_even(values, symbols.len(), index) {
        return None;
    }
    let bits_per = column::len_f64(symbols.len()).log2();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 256 symbols of 6 bits"
    )]
    let bits = (bits_per * column::len_f64(width)).round() as u32;
    Some((Meaning::Hash { bits, encoding: HashEncoding::Base64 }, same, 1e-6))
}

/// Whether every column of digits is evenly distributed over `radix` symbols: chi-square within six standard deviations, so that a false
/// alarm has a chance below one in a million a column. A version nibble or a padded last digit is allowed: two columns in ten may differ.
pub(super) fn is_even(values: &[&[u8]], radix: usize, digit: impl Fn(u8) -> Option<u8>) -> bool {
    let Some(width) = values.first().map(|value| value.len()) else { return false };
    let freedom = column::len_f64(radix) - 1.0;
    let total = column::len_f64(values.len());
    let mut uneven = 0;
    for at in 0..width {
        let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
        for digit in values.iter().filter_map(|value| digit(value[at])) {
            *counts.entry(digit).or_default() += 1;
        }
        let expected = total / column::len_f64(radix);
        let seen: f64 = counts.values().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        let missing = column::len_f64(radix.saturating_sub(counts.len())) * expected;
        let chi = seen + missing;
        let is_off = (chi - freedom) / (2.0 * freedom).sqrt() > 6.0;
        // The first column decides where rows lie, so that it must be even.
        if is_off && at == 0 {
            return false;
        }
        uneven += usize::from(is_off);
    }
    uneven * 10 <= width * 2
}
