//! FNV-1a, 64 bits: names scans in page tokens. Part of their format, so it never changes.

/// The hash of several strings of bytes; their lengths count, so that moving a boundary changes it.
pub(crate) fn fnv1a_64(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for &byte in *part {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash = (hash ^ part.len() as u64).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_count() {
        assert_ne!(fnv1a_64(&[b"ab", b"c"]), fnv1a_64(&[b"a", b"bc"]));
        assert_ne!(fnv1a_64(&[]), fnv1a_64(&[b""]));
    }
}
