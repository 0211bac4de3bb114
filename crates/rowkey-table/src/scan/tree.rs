//! A loser tree: the least of `n` heads, with one comparison a level when a head changes (`log2 n`), against two of a heap.
//!
//! ```text
//!            winner: 2                 Inner nodes hold the loser of the match below them; the leaf of head `i` is node
//!          node 1: loser 0             `width + i`. When the head of the winner changes, only the matches on its way
//!      node 2: 1     node 3: 3         to the top are played again.
//!      [0]   [1]     [2]   [3]
//! ```
//!
//! When one head wins twice in a row, the best of the others is looked up once, and a third win costs a single comparison: keys
//! often come in runs, since a salt keeps all rows of one entity in one bucket.

/// Which of several heads comes first. The caller keeps the heads; `less(a, b)` says whether head `a` comes before head `b`.
#[derive(Debug)]
pub(crate) struct LoserTree {
    /// Losers by inner node; index 0 is not used. `NOBODY` stands for a leaf that has no head.
    losers: Vec<u32>,
    winner: u32,
    /// Heads, rounded up to a power of two.
    width: usize,
    /// The best of the others, known only in a run.
    runner_up: Option<u32>,
    won_before: bool,
}

const NOBODY: u32 = u32::MAX;

impl LoserTree {
    /// Plays all matches among `heads` heads.
    pub(crate) fn new(heads: usize, less: &impl Fn(usize, usize) -> bool) -> Self {
        let width = heads.max(1).next_power_of_two();
        let heads = u32::try_from(heads).expect("a plan has at most 65,536 buckets");
        let mut tree =
            Self { losers: vec![NOBODY; width], winner: NOBODY, width, runner_up: None, won_before: false };
        // Winners of the nodes of one level, from the leaves up.
        let mut level: Vec<u32> =
            (0..).take(width).map(|leaf| if leaf < heads { leaf } else { NOBODY }).collect();
        let mut node = width;
        while level.len() > 1 {
            node /= 2;
            for at in 0..level.len() / 2 {
                let (a, b) = (level[2 * at], level[2 * at + 1]);
                let (winner, loser) = if beats(b, a, less) { (b, a) } else { (a, b) };
                tree.losers[node + at] = loser;
                level[at] = winner;
            }
            level.truncate(level.len() / 2);
        }
        tree.winner = level[0];
        tree
    }

    /// The head that comes first; `None` without heads.
    pub(crate) fn winner(&self) -> Option<usize> {
        (self.winner != NOBODY).then_some(self.winner as usize)
    }

    /// To be called after the head of the winner changed.
    pub(crate) fn replay(&mut self, less: &impl Fn(usize, usize) -> bool) {
        if let Some(runner_up) = self.runner_up {
            if beats(self.winner, runner_up, less) {
                return;
            }
            self.runner_up = None;
        }
        let before = self.winner;
        let mut winner = before;
        let mut node = (self.width + before as usize) >> 1;
        while node > 0 {
            if beats(self.losers[node], winner, less) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.winner = winner;
        let won_again = winner == before;
        if won_again && self.won_before {
            self.runner_up = self.best_loser(less);
        }
        self.won_before = won_again;
    }

    /// The second best lost against the winner itself, so it stands on the winner's way to the top.
    fn best_loser(&self, less: &impl Fn(usize, usize) -> bool) -> Option<u32> {
        let mut best = NOBODY;
        let mut node = (self.width + self.winner as usize) >> 1;
        while node > 0 {
            if beats(self.losers[node], best, less) {
                best = self.losers[node];
            }
            node /= 2;
        }
        (best != NOBODY).then_some(best)
    }
}

fn beats(a: u32, b: u32, less: &impl Fn(usize, usize) -> bool) -> bool {
    a != NOBODY && (b == NOBODY || less(a as usize, b as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Merges sorted lists; ties by list. An empty list comes last.
    fn merge(lists: &[Vec<u8>]) -> (Vec<(u8, usize)>, usize) {
        let mut at = vec![0; lists.len()];
        let comparisons = Cell::new(0);
        let mut out = Vec::new();
        let less = |at: &[usize], a: usize, b: usize| {
            comparisons.set(comparisons.get() + 1);
            match (lists[a].get(at[a]), lists[b].get(at[b])) {
                (Some(x), Some(y)) => (x, a) < (y, b),
                (x, _) => x.is_some(),
            }
        };
        let mut tree = LoserTree::new(lists.len(), &|a, b| less(&at, a, b));
        comparisons.set(0);
        while let Some(list) = tree.winner() {
            let Some(&item) = lists[list].get(at[list]) else { break };
            out.push((item, list));
            at[list] += 1;
            tree.replay(&|a, b| less(&at, a, b));
        }
        (out, comparisons.get())
    }

    #[test]
    fn no_heads_and_one_head() {
        assert!(LoserTree::new(0, &|_, _| true).winner().is_none());
        assert_eq!(merge(&[vec![1, 2]]).0, [(1, 0), (2, 0)]);
    }

    #[test]
    fn a_run_costs_about_one_comparison_a_row() {
        let run: Vec<u8> = (0..=99).collect();
        let mut lists = vec![vec![200]; 64];
        lists[17] = run;
        let (out, comparisons) = merge(&lists);
        assert_eq!(out.len(), 163);
        // 64 rows at the end cost 6 each.
        assert!(comparisons < 100 + 64 * 6 + 30, "{comparisons}");
    }

    proptest! {
        #[test]
        fn lists_come_out_sorted_with_ties_by_list(mut lists in prop::collection::vec(prop::collection::vec(0u8..20, 0..12), 0..20)) {
            for list in &mut lists {
                list.sort_unstable();
            }
            let mut expected: Vec<(u8, usize)> =
                lists.iter().enumerate().flat_map(|(at, list)| list.iter().map(move |&item| (item, at))).collect();
            expected.sort_unstable();
            prop_assert_eq!(merge(&lists).0, expected);
        }
    }
}
