//! The hashes of salts. Each is frozen: its vectors are in `crates/rowkey/vectors/hashes.tsv`.
//!
//! None of them is of cryptographic use here.

use md5::{Digest, Md5};

/// XXH3-64 with seed 0 and the default secret.
#[inline]
pub fn xxh3(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

/// MD5 (RFC 1321).
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// The leading `digits` (1 to 16) hex digits of the MD5, as a number.
pub fn md5_hex(bytes: &[u8], digits: u8) -> u64 {
    let [high @ .., _, _, _, _, _, _, _, _] = md5(bytes);
    u64::from_be_bytes(high) >> (64 - 4 * u32::from(digits.clamp(1, 16)))
}

/// CRC-32 of IEEE 802.3, as in zlib.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// `MurmurHash3` x86 32 with seed 0.
pub fn murmur3(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |word: u32| word.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = 0u32;
    for word in words {
        hash ^= mix(u32::from_le_bytes(*word));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let mut last = [0u8; 4];
    last[..tail.len()].copy_from_slice(tail);
    hash ^= mix(u32::from_le_bytes(last));
    // The length modulo 2^32, as in the reference code.
    hash ^= (bytes.len() as u64 & 0xffff_ffff).try_into().unwrap_or(u32::MAX);
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

const FNV_OFFSET: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

/// FNV-1, 32 bits: multiply, then xor.
pub fn fnv1(bytes: &[u8]) -> u32 {
    bytes.iter().fold(FNV_OFFSET, |hash, &byte| hash.wrapping_mul(FNV_PRIME) ^ u32::from(byte))
}

/// FNV-1a, 32 bits: xor, then multiply.
pub fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(FNV_OFFSET, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Java's `String.hashCode`: `h = 31 h + unit` over UTF-16 units, from 0.
pub fn java_string(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `h = 31 h + byte` over signed bytes, from 1: Java's `Arrays.hashCode(byte[])`, and what Phoenix, `HBaseWD` and `OpenTSDB` hash with.
pub fn java_bytes(bytes: &[u8]) -> i32 {
    bytes.iter().fold(1i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed())))
}

/// `CockroachDB`'s hash of a key encoding: FNV-1 of the MD5 in lower-case hex digits.
pub fn cockroachdb(encoding: &[u8]) -> u32 {
    let mut digits = Vec::with_capacity(32);
    crate::encode::push_hex(&md5(encoding), &mut digits);
    fnv1(&digits)
}
