//! Where to cut a busy tablet by load: the finder of CockroachDB and `TiKV`, from their published behaviour.
//!
//! A few request keys are kept as candidates. Each counts the requests that come after it was chosen: to its left, at or to its right,
//! or spanning it. A candidate that balances both sides becomes the cut. Keys that only grow lie right of every candidate, so no cut is
//! found, by design.

use rowkey_store::seeded::Seeded;

/// When a candidate is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinderRule {
    /// Candidates kept.
    pub candidates: usize,
    /// Requests that a candidate must have counted.
    pub counts_min: u32,
    /// `|left - right| / (left + right)` must be below.
    pub imbalance_max: f64,
    /// The share of spanning requests must be below.
    pub spanning_max: f64,
}

#[derive(Debug, Clone)]
struct Candidate {
    key: Box<[u8]>,
    left: u32,
    right: u32,
    spanning: u32,
}

/// A search for a cut under way.
#[derive(Debug, Clone)]
pub struct Finder {
    rule: FinderRule,
    candidates: Vec<Candidate>,
    seen: usize,
}

impl Finder {
    /// A search that has seen nothing.
    pub fn new(rule: FinderRule) -> Self {
        Self { rule, candidates: Vec::new(), seen: 0 }
    }

    /// Counts a request for `key`, or for the keys up to `end`.
    pub fn record(&mut self, key: &[u8], end: Option<&[u8]>, rng: &mut Seeded) {
        self.seen += 1;
        let fresh = || Candidate { key: key.into(), left: 0, right: 0, spanning: 0 };
        if self.candidates.len() < self.rule.candidates {
            self.candidates.push(fresh());
            return;
        }
        let at = rng.below(self.seen);
        if at < self.rule.candidates {
            self.candidates[at] = fresh();
            return;
        }
        for candidate in &mut self.candidates {
            let cut = &*candidate.key;
            if key >= cut {
                candidate.right += 1;
            } else if end.is_some_and(|end| end.is_empty() || end > cut) {
                candidate.spanning += 1;
            } else {
                candidate.left += 1;
            }
        }
    }

    /// The best cut, if one is good enough.
    pub fn cut(&self) -> Option<&[u8]> {
        let mut best: Option<(f64, &[u8])> = None;
        for candidate in &self.candidates {
            let Candidate { key, left, right, spanning } = candidate;
            let [left, right, spanning] = [left, right, spanning].map(|&count| f64::from(count));
            let all = left + right + spanning;
            if all < f64::from(self.rule.counts_min) || left + right <= 0.0 {
                continue;
            }
            let imbalance = (left - right).abs() / (left + right);
            let spanned = spanning / all;
            if imbalance >= self.rule.imbalance_max || spanned >= self.rule.spanning_max {
                continue;
            }
            if best.is_none_or(|(least, _)| imbalance + spanned < least) {
                best = Some((imbalance + spanned, key));
            }
        }
        best.map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: FinderRule =
        FinderRule { candidates: 20, counts_min: 100, imbalance_max: 0.25, spanning_max: 0.5 };

    fn cut(requests: impl Iterator<Item = (u32, Option<u32>)>) -> Option<u32> {
        let mut rng = Seeded::new(1);
        let mut finder = Finder::new(RULE);
        for (key, end) in requests {
            finder.record(
                &key.to_be_bytes(),
                end.map(u32::to_be_bytes).as_ref().map(<[u8; 4]>::as_slice),
                &mut rng,
            );
        }
        finder.cut().map(|key| u32::from_be_bytes(key.try_into().unwrap()))
    }

    #[test]
    fn even_requests_are_cut_near_the_middle() {
        let mut rng = Seeded::new(2);
        let found = cut((0..5_000).map(|_| (u32::try_from(rng.below(1_000)).unwrap(), None)));
        assert!((350..650).contains(&found.unwrap()), "{found:?}");
    }

    #[test]
    fn growing_keys_one_key_and_wide_scans_give_no_cut() {
        assert_eq!(
            cut((0..50_000).map(|key| (key, None))),
            None,
            "all requests lie right of every candidate"
        );
        assert_eq!(cut((0..5_000).map(|_| (7, None))), None);
        assert_eq!(cut((0..5_000).map(|at| (at % 10, Some(1_000)))), None);
        assert_eq!(cut((0..50).map(|at| (at, None))), None, "too few counts");
    }
}
