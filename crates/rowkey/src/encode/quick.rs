//! Fields written by stores of constant size into a window of constant size, and read from the front of a key.
//!
//! ```text
//! put: | key so far | field, then what its last store wrote too much | ... |  ->  where the next part begins
//! ```
//!
//! The same bytes as the rest of this module writes, for plain values only: `None` says to take the long way, not what is wrong.

#![expect(
    clippy::inline_always,
    reason = "measured: a call for each part of a key costs a tenth to a fifth of the whole key"
)]

use super::digits;

/// Where a key is written. Longer keys take the long way.
pub(crate) const WINDOW: usize = 128;

pub(crate) type Window = [u8; WINDOW];

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = ONES << 7;

/// Writes bytes; the caller says how many of them count.
#[inline(always)]
pub(crate) fn put<const N: usize>(window: &mut Window, at: usize, bytes: [u8; N]) -> Option<()> {
    if at > WINDOW - N {
        return None;
    }
    window[at..at + N].copy_from_slice(&bytes);
    Some(())
}

/// Tops of bytes below `floor`, which is at most 128: exact up to the first of them.
#[inline(always)]
fn below(word: [u8; 8], floor: u64) -> u64 {
    let word = u64::from_le_bytes(word);
    word.wrapping_sub(floor) & !word & TOPS
}

/// Writes bytes all of which are at least `floor` (at most 128; 0: any).
#[inline(always)]
pub(crate) fn put_text(window: &mut Window, at: usize, text: &[u8], floor: u8) -> Option<usize> {
    let limit = ONES * u64::from(floor);
    let bad;
    if let Some(last) = text.last_chunk::<8>() {
        if text.len() > WINDOW - at.min(WINDOW) {
            return None;
        }
        let mut found = below(*last, limit);
        for (nth, chunk) in text.as_chunks::<8>().0.iter().enumerate() {
            found |= below(*chunk, limit);
            put(window, at + 8 * nth, *chunk)?;
        }
        put(window, at + text.len() - 8, *last)?;
        bad = found;
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let both = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        put(window, at, *first)?;
        put(window, at + text.len() - 4, *last)?;
        bad = below(both.to_le_bytes(), limit);
    } else {
        let [first, .., last] = *text else {
            let Some(&only) = text.first() else { return Some(at) };
            put(window, at, [only])?;
            return (only >= floor).then_some(at + 1);
        };
        let middle = text[text.len() / 2];
        put(window, at, [first, middle, last])?;
        put(window, at + text.len() - 1, [last])?;
        return (first >= floor && middle >= floor && last >= floor).then_some(at + text.len());
    }
    (bad == 0).then_some(at + text.len())
}

/// Writes `width` (1 to 16) digits of a number that has no more.
#[inline(always)]
pub(crate) fn put_digits(window: &mut Window, at: usize, number: u64, width: usize) -> Option<usize> {
    if width <= 8 {
        put(window, at, digits::head(number, width))?;
    } else {
        put(window, at, digits::head(number / digits::POW10[8], width - 8))?;
        put(window, at + width - 8, digits::eight(number % digits::POW10[8]))?;
    }
    Some(at + width)
}

/// Writes the low `bytes` (1 to 8) bytes of a number, big endian.
#[inline(always)]
pub(crate) fn put_be(window: &mut Window, at: usize, number: u64, bytes: usize) -> Option<usize> {
    put(window, at, (number << ((64 - 8 * bytes) & 63)).to_be_bytes())?;
    Some(at + bytes)
}

/// Where the first byte below `floor` (1 to 128) is at or behind `at`.
#[inline(always)]
pub(crate) fn end_of_text(key: &[u8], at: usize, floor: u8) -> Option<usize> {
    let limit = ONES * u64::from(floor);
    let rest = key.get(at..)?;
    let mut end = at;
    // Three words at once, without branches: where short text ends is not predictable.
    if let Some(window) = rest.first_chunk::<24>() {
        let [first, second, third] = window.as_chunks::<8>().0 else { return None };
        let (first, second, third) = (below(*first, limit), below(*second, limit), below(*third, limit));
        let (found, before) = if second != 0 { (second, 8) } else { (third, 16) };
        let (found, before) = if first != 0 { (first, 0) } else { (found, before) };
        if found != 0 {
            return Some(at + before + (found.trailing_zeros() / 8) as usize);
        }
        end += 24;
    }
    for word in key.get(end..)?.as_chunks::<8>().0 {
        let found = below(*word, limit);
        if found != 0 {
            return Some(end + (found.trailing_zeros() / 8) as usize);
        }
        end += 8;
    }
    key[end..].iter().position(|&byte| byte < floor).map(|found| end + found)
}

/// The number in `width` (1 to 16) digits.
#[inline(always)]
pub(crate) fn take_digits(key: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = key.get(at..at + width)?;
    if width <= 8 {
        take_head(bytes)
    } else {
        let (head, tail) = bytes.split_last_chunk::<8>()?;
        Some(take_head(head)? * digits::POW10[8] + digits::parse_eight(*tail)?)
    }
}

/// The number in 1 to 8 digits: two overlapping words, as zeros do no harm in front.
#[inline(always)]
fn take_head(bytes: &[u8]) -> Option<u64> {
    let len = bytes.len();
    let word = if let Some(all) = bytes.first_chunk::<8>() {
        u64::from_be_bytes(*all)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_be_bytes(*first)) << ((len - 4) * 8) | u64::from(u32::from_be_bytes(*last))
    } else {
        bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    // Zeros in front.
    let missing = 8 * (8 - len.min(8));
    let zeros = if missing == 64 { ONES * 0x30 } else { !(u64::MAX >> missing) & (ONES * 0x30) };
    digits::parse_eight((word | zeros).to_be_bytes())
}

/// The number in `bytes` (1, 2, 4 or 8) bytes, big endian.
#[inline(always)]
pub(crate) fn take_be(key: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let rest = key.get(at..)?;
    Some(match bytes {
        1 => u64::from(*rest.first()?),
        2 => u64::from(u16::from_be_bytes(*rest.first_chunk()?)),
        4 => u64::from(u32::from_be_bytes(*rest.first_chunk()?)),
        _ => u64::from_be_bytes(*rest.first_chunk()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::bytes::position_up_to;
    use proptest::prelude::*;

    /// What `put` writes behind three bytes.
    fn written(put: impl FnOnce(&mut Window, usize) -> Option<usize>) -> Option<Vec<u8>> {
        let mut window = [0xee; WINDOW];
        let end = put(&mut window, 3)?;
        assert_eq!(window[..3], [0xee; 3], "what is in front stays");
        Some(window[3..end].to_vec())
    }

    proptest! {
        #[test]
        fn text_above_the_floor_is_written(
            text in proptest::collection::vec(prop_oneof![30 => 0x24u8.., 1 => any::<u8>()], 0..60),
            floor in prop_oneof![Just(0), Just(1), Just(0x24), 0u8..=0x80],
        ) {
            let expected = text.iter().all(|&byte| byte >= floor).then(|| text.clone());
            prop_assert_eq!(written(|window, at| put_text(window, at, &text, floor)), expected);
        }

        #[test]
        fn the_end_of_text_is_found(
            key in proptest::collection::vec(prop_oneof![20 => 0x24u8.., 1 => any::<u8>()], 0..60),
            at in 0usize..60,
            floor in prop_oneof![Just(1), Just(0x24), 1u8..=0x80],
        ) {
            let expected = key.get(at..).and_then(|rest| position_up_to(rest, floor - 1)).map(|end| at + end);
            prop_assert_eq!(end_of_text(&key, at, floor), expected);
        }

        #[test]
        fn digits_are_written_and_read(number: u64, width in 1usize..=16) {
            let number = number % digits::POW10[width];
            let text = format!("{number:0width$}").into_bytes();
            prop_assert_eq!(written(|window, at| put_digits(window, at, number, width)), Some(text.clone()));
            let key = [b"##", &*text, b"##"].concat();
            prop_assert_eq!(take_digits(&key, 2, width), Some(number));
            prop_assert_eq!(take_digits(&key[..=width], 2, width), None);
        }

        #[test]
        fn what_is_not_a_digit_is_not_read(text in "[0-9]{1,16}", at: usize, byte: u8) {
            let mut text = text.into_bytes();
            let at = at % text.len();
            text[at] = byte;
            let is_number = text.iter().all(u8::is_ascii_digit);
            prop_assert_eq!(take_digits(&text, 0, text.len()).is_some(), is_number);
        }

        #[test]
        fn big_endian_numbers_are_written_and_read(number: u64, width in proptest::sample::select(vec![1usize, 2, 4, 8])) {
            let number = number >> (64 - 8 * width);
            let bytes = number.to_be_bytes()[8 - width..].to_vec();
            prop_assert_eq!(written(|window, at| put_be(window, at, number, width)), Some(bytes.clone()));
            prop_assert_eq!(take_be(&bytes, 0, width), Some(number));
            prop_assert_eq!(take_be(&bytes, 1, width), None);
        }
    }

    #[test]
    fn nothing_is_written_behind_the_window() {
        let mut window = [0; WINDOW];
        for at in 0..=WINDOW + 20 {
            for len in 0..24 {
                let end = put_text(&mut window, at, &[b'x'; 24][..len], 1);
                assert!(end.is_none_or(|end| end == at + len && (end <= WINDOW || len == 0)));
            }
            let end = put_digits(&mut window, at, 5, 13);
            assert!(end.is_none_or(|end| end <= WINDOW));
        }
    }
}
