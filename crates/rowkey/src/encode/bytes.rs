//! Short runs of bytes, eight at a time: most fields are shorter than it takes to call a routine made for long ones.

/// Appends `bytes`.
#[inline]
pub(crate) fn append(bytes: &[u8], out: &mut Vec<u8>) {
    // Up to 16 bytes are two stores of constant size, the second of which overlaps the first.
    if let (8..=16, Some(first), Some(last)) =
        (bytes.len(), bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
    {
        let overlap = out.len() + bytes.len() - 8;
        out.extend_from_slice(first);
        out.truncate(overlap);
        out.extend_from_slice(last);
    } else if let (4..8, Some(first), Some(last)) =
        (bytes.len(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        let overlap = out.len() + bytes.len() - 4;
        out.extend_from_slice(first);
        out.truncate(overlap);
        out.extend_from_slice(last);
    } else if bytes.len() < 4 {
        for &byte in bytes {
            out.push(byte);
        }
    } else {
        out.extend_from_slice(bytes);
    }
}

/// The position of the first byte that is at most `max`.
#[inline]
pub(crate) fn position_up_to(bytes: &[u8], max: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    if max < 0x7f {
        let below = ONES * u64::from(max + 1);
        while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*word);
            // The top bit of the first byte below the limit, and maybe of later ones, which a borrow reaches.
            let found = word.wrapping_sub(below) & !word & (ONES << 7);
            if found != 0 {
                return Some(at + (found.trailing_zeros() / 8) as usize);
            }
            at += 8;
        }
    }
    bytes[at..].iter().position(|&byte| byte <= max).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_appended(mut out: Vec<u8>, bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let expected = [out.as_slice(), bytes.as_slice()].concat();
            append(&bytes, &mut out);
            prop_assert_eq!(out, expected);
        }

        #[test]
        fn the_first_small_byte_is_found(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x20u8..0x28, 0x7cu8..0x84], 0..40),
            max in prop_oneof![any::<u8>(), 0x20u8..0x28, 0x7cu8..0x84],
        ) {
            prop_assert_eq!(position_up_to(&bytes, max), bytes.iter().position(|&byte| byte <= max));
        }
    }
}
