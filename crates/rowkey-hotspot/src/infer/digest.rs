//! Digests in front of keys, and whether a common hash of the rest gives them, so that reads can compute them.

use rowkey::salt::hash;
use rowkey::schema::{Hash, SaltSource};

use super::column::len_f64;
use super::salt::{Input, Rest};
use crate::layout::SaltOrigin;

/// Keys that a hash is tried on before it is tried on more.
const PROBES: usize = 24;

/// Keys whose share is told.
const CHECKED: usize = 1_024;

/// A hash and its digest in bytes.
type Digest = (Hash, fn(&[u8]) -> Vec<u8>);

const DIGESTS: [Digest; 7] = [
    (Hash::Md5Hex { digits: 4 }, |input| hash::md5(input).to_vec()),
    (Hash::Xxh3, |input| hash::xxh3(input).to_be_bytes().to_vec()),
    (Hash::Murmur3, |input| hash::murmur3(input).to_be_bytes().to_vec()),
    (Hash::Crc32, |input| hash::crc32(input).to_be_bytes().to_vec()),
    (Hash::Fnv1a, |input| hash::fnv1a(input).to_be_bytes().to_vec()),
    (Hash::Fnv1, |input| hash::fnv1(input).to_be_bytes().to_vec()),
    (Hash::JavaString, |input| {
        std::str::from_utf8(input)
            .map_or_else(|_| Vec::new(), |text| hash::java_string(text).to_be_bytes().to_vec())
    }),
];

/// Which end of a digest stands in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// Whether `value` is an end of a digest, as bytes or as hex digits of any case.
fn is_end(value: &[u8], digest: &[u8], end: End) -> bool {
    let from = |len: usize, of: usize| match end {
        End::First => Some(0),
        End::Last => of.checked_sub(len),
    };
    let as_bytes = from(value.len(), digest.len()).and_then(|at| digest.get(at..at + value.len()));
    if as_bytes == Some(value) {
        return true;
    }
    let digit = |at: usize| {
        let byte = digest.get(at / 2).copied()?;
        char::from_digit(u32::from(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 }), 16)
    };
    let Some(first) = from(value.len(), 2 * digest.len()) else { return false };
    value.len() <= 2 * digest.len()
        && value.iter().enumerate().all(|(at, byte)| {
            digit(first + at).is_some_and(|digit| char::from(byte.to_ascii_lowercase()) == digit)
        })
}

/// The hash that gives the first field from the rest, if one does in nearly all keys. Three hex digits at least: fewer agree by chance.
pub(super) fn computed(rest: &Rest<'_, '_>) -> Option<SaltOrigin> {
    let fields = rest.names.len();
    if fields < 2 || rest.keys.len() < PROBES {
        return None;
    }
    let step = (rest.keys.len() / CHECKED).max(1);
    for input in Input::all(fields) {
        for (hash, digest) in DIGESTS {
            for end in [End::First, End::Last] {
                let fits = |at: usize| fits(rest, at, input, digest, end);
                let hits = (0..PROBES).filter(|probe| fits(probe * rest.keys.len() / PROBES)).count();
                if hits * 10 < PROBES * 9 {
                    continue;
                }
                let checked = rest.keys.len().div_ceil(step);
                let hits = (0..rest.keys.len()).step_by(step).filter(|at| fits(*at)).count();
                let share = len_f64(hits) / len_f64(checked);
                if share >= 0.9 {
                    return Some(origin(rest, input, hash, end, share));
                }
            }
        }
    }
    None
}

fn fits(rest: &Rest<'_, '_>, at: usize, input: Input, digest: fn(&[u8]) -> Vec<u8>, end: End) -> bool {
    let (key, spans) = (rest.keys[at], &rest.spans[at]);
    let mut bytes = Vec::new();
    input.take(key, spans, &mut bytes);
    let (from, to) = spans[0];
    to > from + 1 && is_end(&key[from..to], &digest(&bytes), end)
}

fn origin(rest: &Rest<'_, '_>, input: Input, hash: Hash, end: End, share: f64) -> SaltOrigin {
    let of = input.names(rest.names);
    let subject = if of.is_empty() { "all behind it".to_owned() } else { of.join(", ") };
    let name = if matches!(hash, Hash::Md5Hex { .. }) { "md5" } else { hash.name() };
    let (from, to) = rest.spans.first().map_or((0, 0), |spans| spans[0]);
    let value = rest.keys.first().map_or(&[][..], |key| &key[from..to]);
    let width = value.len();
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let what = if is_hex { "hex digits" } else { "bytes" };
    let which = if end == End::First { "first" } else { "last" };
    let bytes = if is_hex { width / 2 } else { width };
    let bytes = u8::try_from(bytes).ok().filter(|bytes| (1..=hash.prefix_bytes_max()).contains(bytes));
    let is_whole = !is_hex || width.is_multiple_of(2);
    let source = bytes
        .filter(|_| end == End::First && is_whole && !of.is_empty())
        .map(|bytes| SaltSource::HashPrefix { hash, bytes });
    SaltOrigin { formula: format!("{which} {width} {what} of {name}({subject})"), of, share, source }
}
