//! Known weaknesses of hashes as salts, for warnings. Figures: computed over ten thousand padded decimal ids.

use crate::schema::{Hash, SaltSource};

impl SaltSource {
    /// Why this source spreads badly over so many buckets, if it is known to, and what to do.
    pub fn weakness(self, buckets: u32) -> Option<String> {
        if buckets < 2 {
            return None;
        }
        match self {
            SaltSource::Modulo => Some(format!(
                "`modulo` spreads consecutive numbers evenly, but numbers with a step that shares a factor with {buckets} \
                 reach only some buckets; `xxh3` has no such steps"
            )),
            SaltSource::Hash(Hash::Md5Hex { digits }) => digits_bias(digits, buckets),
            SaltSource::Hash(Hash::Fnv1) if buckets.is_multiple_of(2) => Some(format!(
                "the lowest bit of FNV-1 is the parity of the bytes' lowest bits, so with {buckets} buckets similar values meet \
                 in the odd or the even ones; use `xxh3`"
            )),
            SaltSource::Hash(Hash::Fnv1a) if buckets.is_multiple_of(2) => Some(format!(
                "the lowest bit of FNV-1a is the parity of the bytes' lowest bits, so with {buckets} buckets similar values meet \
                 in the odd or the even ones; use `xxh3`"
            )),
            SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd | Hash::OpenTsdb | Hash::JavaString) => {
                Some(polynomial(buckets))
            }
            SaltSource::Random => {
                Some("a random salt cannot be computed again: each point read visits every bucket".to_owned())
            }
            _ => None,
        }
    }

    /// What is wrong with the peer's rule itself, if anything.
    pub fn defect(self) -> Option<&'static str> {
        match self {
            SaltSource::Hash(Hash::HbaseWd) => Some(
                "HBaseWD takes the absolute value before the remainder. A key whose hash is -2^31 gets a bucket byte outside \
                 the set (key 96 00 f6 00 13 fe in 3 buckets: fe), so scans have one more bucket to visit",
            ),
            _ => None,
        }
    }
}

/// Digits of a digest divide unevenly; below 5 percent nobody can measure it.
fn digits_bias(digits: u8, buckets: u32) -> Option<String> {
    let values = 1u128 << (4 * u32::from(digits.min(16)));
    let buckets = u128::from(buckets);
    if values < buckets {
        return Some(format!(
            "{digits} hex digits have {values} values, fewer than the {buckets} buckets: some stay empty; take more digits"
        ));
    }
    let fewest = values / buckets;
    let uneven = !values.is_multiple_of(buckets) && fewest < 20;
    uneven.then(|| {
        let most = fewest + 1;
        format!("{digits} hex digits fall {most} to {fewest} on {buckets} buckets: take more digits")
    })
}

fn polynomial(buckets: u32) -> String {
    let reason = if buckets <= 32 && buckets.is_power_of_two() {
        "with 2, 4, 8, 16 or 32 buckets it is only the alternating sum of the bytes"
    } else if buckets.is_multiple_of(31) {
        "with a multiple of 31 buckets it depends on the last byte almost alone: padded numbers reach 10 of 31"
    } else {
        "similar values stay close together, and consecutive ones run through the buckets in order"
    };
    format!(
        "the polynomial with factor 31 mixes badly: {reason}; keep it for interoperation, else use `xxh3`"
    )
}
