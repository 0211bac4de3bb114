//! Decimal digits of fixed width, eight at a time.
//!
//! ```text
//! width 5, value 4092           0 4 0 9 2
//! the same descending           9 5 9 0 7        10^5 - 1 - 4092: each digit subtracted from 9
//! ```
//!
//! Never writes more or fewer digits than the width: a value that does not fit is an error of the caller's.

/// `10^n` for every n that a `u64` can hold.
pub(crate) const POW10: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut n = 1;
    while n < 20 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// The greatest value of this many digits (1 to 20); `u64::MAX` for 20.
#[inline]
pub(crate) fn max(width: u8) -> u64 {
    POW10.get(usize::from(width)).map_or(u64::MAX, |power| power - 1)
}

/// Appends `value`, padded with zeros. `value <= max(width)`, `width <= 20`.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, value: u64, width: u8) {
    let width = usize::from(width);
    if width <= 8 {
        push_head(out, value, width);
    } else if width <= 16 {
        push_head(out, value / POW10[8], width - 8);
        out.extend_from_slice(&eight(value % POW10[8]));
    } else {
        push_head(out, value / POW10[16], width - 16);
        let low = value % POW10[16];
        out.extend_from_slice(&eight(low / POW10[8]));
        out.extend_from_slice(&eight(low % POW10[8]));
    }
}

/// Appends `value` so that greater values sort first: each digit is subtracted from 9.
#[inline]
pub(crate) fn push_desc(out: &mut Vec<u8>, value: u64, width: u8) {
    if let Some(power) = POW10.get(usize::from(width)) {
        push(out, power - 1 - value, width);
    } else {
        let start = out.len();
        push(out, value, width);
        out[start..].iter_mut().for_each(|digit| *digit = nines(*digit));
    }
}

/// The digit that makes nine with this one.
#[inline]
pub(crate) fn nines(digit: u8) -> u8 {
    (b'0' + b'9').wrapping_sub(digit)
}

/// The number; `None` if a byte is not a digit, or if it is more than `u64::MAX`.
#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Option<u64> {
    let (head, eights) = bytes.split_at(bytes.len() % 8);
    let mut number = 0u64;
    for &byte in head {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    for chunk in eights.chunks_exact(8) {
        let eight = parse_eight(chunk.try_into().expect("chunks of eight"))?;
        number = number.checked_mul(POW10[8])?.checked_add(eight)?;
    }
    Some(number)
}

/// The offset of the first byte that is not a digit, if there is one.
#[cold]
pub(crate) fn first_bad(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| !byte.is_ascii_digit())
}

/// The first `width` (1 to 8) digits of `value * 10^(8 - width)`: stores of constant size instead of a copy of variable size.
#[inline]
fn push_head(out: &mut Vec<u8>, value: u64, width: usize) {
    let end = out.len() + width;
    out.extend_from_slice(&head(value, width));
    out.truncate(end);
}

/// The `width` (1 to 8) digits of a value that has no more, and what stands behind them: zeros.
#[inline]
pub(crate) fn head(value: u64, width: usize) -> [u8; 8] {
    eight(value * POW10[8 - width])
}

/// Eight digits of a value below 10^8: pairs, then single digits, each step in all lanes of one word.
#[inline]
pub(crate) fn eight(value: u64) -> [u8; 8] {
    debug_assert!(value < POW10[8], "{value} has more than eight digits");
    // Lanes of 32 bits: the upper four digits, then the lower four.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    // `x * 10486 >> 20 == x / 100` for x below 10,000.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    // Lanes of 16 bits.
    let pairs = hundreds | (fours - hundreds * 100) << 16;
    // `x * 103 >> 10 == x / 10` for x below 100.
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - tens * 10) << 8;
    (digits + 0x3030_3030_3030_3030).to_le_bytes()
}

/// The inverse of [`eight`]; `None` if a byte is not a digit.
#[inline]
pub(crate) fn parse_eight(bytes: [u8; 8]) -> Option<u64> {
    let digits = u64::from_le_bytes(bytes).wrapping_sub(0x3030_3030_3030_3030);
    // A byte below '0' borrows and one above '9' carries into bit 7 or sets a high nibble.
    let word = u64::from_le_bytes(bytes);
    let high_nibbles = word & 0xf0f0_f0f0_f0f0_f0f0;
    let above_nine = word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
    if high_nibbles != 0x3030_3030_3030_3030 || above_nine != 0x3030_3030_3030_3030 {
        return None;
    }
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pushed(value: u64, width: u8) -> String {
        let mut out = Vec::new();
        push(&mut out, value, width);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_padded_to_the_width() {
        assert_eq!(pushed(4092, 5), "04092");
        assert_eq!(pushed(0, 1), "0");
        assert_eq!(pushed(99_999_999, 8), "99999999");
        assert_eq!(pushed(u64::MAX, 20), "18446744073709551615");
    }

    #[test]
    fn what_is_not_a_digit_is_found_at_its_offset() {
        let check = |bytes: &[u8], bad: Option<usize>| {
            assert_eq!((parse(bytes), first_bad(bytes)), (None, bad));
        };
        check(b"1234567x", Some(7));
        check(b"x2345678", Some(0));
        check(b"12/45678901", Some(2));
        check(b"1230000:000", Some(7));
        check(b"18446744073709551616", None);
        check(b"9999999999999999999x", Some(19));
    }

    proptest! {
        #[test]
        fn digits_are_those_of_the_standard_library(value: u64, width in 1u8..=20) {
            let value = if width == 20 { value } else { value % POW10[usize::from(width)] };
            let text = format!("{value:0width$}", width = usize::from(width));
            prop_assert_eq!(&pushed(value, width), &text);
            prop_assert_eq!(parse(text.as_bytes()), Some(value));
            let mut out = Vec::new();
            push_desc(&mut out, value, width);
            let nines: Vec<u8> = text.bytes().map(|digit| b'9' - (digit - b'0')).collect();
            prop_assert_eq!(out, nines);
        }

        #[test]
        fn a_byte_that_is_not_a_digit_is_never_taken_for_one(mut bytes in "[0-9]{1,20}", at: usize, byte: u8) {
            let mut raw = std::mem::take(&mut bytes).into_bytes();
            let at = at % raw.len();
            raw[at] = byte;
            let fits = str::from_utf8(&raw).is_ok_and(|text| text.parse::<u64>().is_ok());
            prop_assert_eq!(parse(&raw).is_some(), byte.is_ascii_digit() && fits);
        }
    }
}
