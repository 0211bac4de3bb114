//! SHA-256 (FIPS 180-4), for the hashes of scripts and styles that a page's content policy names. Not for secrets.

const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The digest of `bytes`.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    // The length takes the last eight bytes of a block of 64.
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut state = INITIAL;
    for block in padded.chunks_exact(64) {
        mix(&mut state, block);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn mix(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for at in 16..64 {
        let (old, new) = (words[at - 15], words[at - 2]);
        let old = old.rotate_right(7) ^ old.rotate_right(18) ^ old >> 3;
        let new = new.rotate_right(17) ^ new.rotate_right(19) ^ new >> 10;
        words[at] = words[at - 16].wrapping_add(old).wrapping_add(words[at - 7]).wrapping_add(new);
    }
    let mut now = *state;
    for (constant, word) in ROUNDS.into_iter().zip(words) {
        let choice = now[4] & now[5] ^ !now[4] & now[6];
        let majority = now[0] & now[1] ^ now[0] & now[2] ^ now[1] & now[2];
        let high = now[4].rotate_right(6) ^ now[4].rotate_right(11) ^ now[4].rotate_right(25);
        let low = now[0].rotate_right(2) ^ now[0].rotate_right(13) ^ now[0].rotate_right(22);
        let first = now[7].wrapping_add(high).wrapping_add(choice).wrapping_add(constant).wrapping_add(word);
        now.rotate_right(1);
        now[4] = now[4].wrapping_add(first);
        now[0] = first.wrapping_add(low).wrapping_add(majority);
    }
    for (state, now) in state.iter_mut().zip(now) {
        *state = state.wrapping_add(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        let digest = sha256(bytes).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(digest, expected, "{} bytes", bytes.len());
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-4's examples, and lengths around the padding's edge.
        check(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check(b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check(
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        );
        check(&[b'a'; 55], "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
        check(&[b'a'; 56], "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
        check(&[b'a'; 63], "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
        check(&[b'a'; 64], "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    }
}
