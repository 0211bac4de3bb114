//! Half-open ranges of keys, and which one a key is in, in some tens of nanoseconds.

/// Ranges that cut the key space at sorted bounds: `..bound 0`, `bound 0..bound 1`, up to `last bound..`.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    bytes: Vec<u8>,
    /// Where each bound ends in `bytes`.
    ends: Vec<usize>,
    /// Bytes that all bounds begin with.
    shared: usize,
    /// Of each bound the 16 bytes behind `shared`, padded with zeros.
    heads: Vec<u128>,
}

impl Ranges {
    /// Takes these bounds, which ascend, in place of those it had. Equal ones are one.
    pub fn learn<'k>(&mut self, bounds: impl Iterator<Item = &'k [u8]>) {
        self.bytes.clear();
        self.ends.clear();
        for bound in bounds {
            if self.ends.is_empty() || self.bound(self.ends.len() - 1) != bound {
                self.bytes.extend_from_slice(bound);
                self.ends.push(self.bytes.len());
            }
        }
        // The bounds are sorted: what the first and the last share, all share.
        self.shared = match self.ends.len() {
            0 => 0,
            count => {
                self.bound(0).iter().zip(self.bound(count - 1)).take_while(|(low, high)| low == high).count()
            }
        };
        let heads = (0..self.ends.len()).map(|at| head(&self.bound(at)[self.shared..]));
        self.heads = heads.collect();
    }

    /// The number of ranges: one more than bounds.
    pub fn len(&self) -> usize {
        self.ends.len() + 1
    }

    /// Whether there are no bounds, so that all keys are in one range.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bound between range `at` and the next; there are [`Ranges::len`] less one.
    pub fn bound(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// The range that has this key: as many bounds are at most this key.
    #[inline]
    pub fn find(&self, key: &[u8]) -> usize {
        let shared = &self.bytes[..self.shared];
        let Some((front, rest)) = key.split_at_checked(self.shared) else {
            // Shorter than what all bounds begin with: below all of them, or beside.
            return if key < shared { 0 } else { self.ends.len() };
        };
        if front != shared {
            return if front < shared { 0 } else { self.ends.len() };
        }
        let head = head(rest);
        let below = self.heads.partition_point(|bound| *bound < head);
        // Zero padding keeps order but for equal heads: there the whole keys decide.
        let equal = self.heads[below..].partition_point(|bound| *bound == head);
        if equal == 0 {
            return below;
        }
        let (mut low, mut high) = (below, below + equal);
        while low < high {
            let middle = low.midpoint(high);
            if self.bound(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[inline]
fn head(rest: &[u8]) -> u128 {
    if let Some(bytes) = rest.first_chunk::<16>() {
        return u128::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bounds: &[&[u8]], key: &[u8], expected: usize) {
        let mut ranges = Ranges::default();
        ranges.learn(bounds.iter().copied());
        assert_eq!(ranges.find(key), expected, "{key:?} in {bounds:?}");
    }

    #[test]
    fn a_bound_belongs_to_the_range_it_opens() {
        check(&[], b"a", 0);
        check(&[b"b"], b"a", 0);
        check(&[b"b"], b"b", 1);
        check(&[b"b", b"c"], b"bz", 1);
        check(&[b"b", b"b", b"c"], b"c", 2);
        check(&[b"x#a", b"x#b"], b"x", 0);
        check(&[b"x#a", b"x#b"], b"y", 2);
        check(&[b"x#a", b"x#b"], b"w", 0);
    }

    #[test]
    fn zeros_at_the_end_are_told_from_no_bytes() {
        check(&[b"a", b"a\0", b"a\0\0"], b"a", 1);
        check(&[b"a", b"a\0", b"a\0\0"], b"a\0", 2);
        check(&[b"a", b"a\0", b"a\0\0"], b"a\0\0\0", 3);
    }

    proptest! {
        #[test]
        fn finding_equals_counting_bounds(
            mut bounds in prop::collection::vec(prop::collection::vec(0_u8..3, 0..20), 0..40),
            keys in prop::collection::vec(prop::collection::vec(0_u8..3, 0..20), 0..40),
            shared in prop::collection::vec(0_u8..3, 0..10),
        ) {
            for bound in &mut bounds {
                bound.splice(0..0, shared.iter().copied());
            }
            bounds.sort();
            let mut ranges = Ranges::default();
            ranges.learn(bounds.iter().map(Vec::as_slice));
            bounds.dedup();
            prop_assert_eq!(ranges.len(), bounds.len() + 1);
            for key in keys.into_iter().flat_map(|key| [[shared.clone(), key.clone()].concat(), key]) {
                let expected = bounds.iter().filter(|bound| **bound <= key).count();
                prop_assert_eq!(ranges.find(&key), expected);
            }
        }
    }
}
