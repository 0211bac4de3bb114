//! The balancer by load: which tablets move to which nodes. Pure; the simulation and the server act on the answers.

use rowkey_store::tablet::{self, Move};
use std::cmp::Reverse;

/// What [`moves_by_load`] is to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceGoal {
    /// Moves at most.
    pub moves_max: usize,
    /// A move that lowers the load of the heaviest node by no more than this is not worth it.
    pub slack: u64,
    /// A node with no more than this is left as it is.
    pub even_max: u64,
}

/// Up to so many moves, each of which lowers the load of the heaviest node that can be relieved ([`tablet::rebalance`]). `node_of` has the
/// node of each tablet, below `nodes`. Nodes that cannot be relieved, because one tablet is all their load, are left aside.
pub fn moves_by_load(loads: &[u64], node_of: &[u32], nodes: usize, goal: &BalanceGoal) -> Vec<Move> {
    /// Nodes that are left aside at one look.
    const ASIDE_MAX: usize = 64;
    let mut aside = vec![false; nodes];
    let mut node_of: Vec<usize> = node_of.iter().map(|&node| node as usize).collect();
    let mut found = Vec::new();
    for _ in 0..ASIDE_MAX {
        let kept: Vec<usize> = (0..nodes).filter(|&node| !aside[node]).collect();
        let mut number = vec![usize::MAX; nodes];
        for (at, &node) in kept.iter().enumerate() {
            number[node] = at;
        }
        let is_in = |tablet: &usize| node_of.get(*tablet).is_some_and(|&node| node < nodes && !aside[node]);
        let ids: Vec<usize> = (0..loads.len()).filter(is_in).collect();
        let of_ids: Vec<u64> = ids.iter().map(|&tablet| loads[tablet]).collect();
        let mut numbers: Vec<usize> = ids.iter().map(|&tablet| number[node_of[tablet]]).collect();
        while found.len() < goal.moves_max
            && let Some(moved) = tablet::rebalance(&of_ids, &numbers, kept.len(), goal.slack)
        {
            numbers[moved.tablet] = moved.to;
            let (tablet, to) = (ids[moved.tablet], kept[moved.to]);
            found.push(Move { tablet, from: node_of[tablet], to });
            node_of[tablet] = to;
        }
        let mut sums = vec![0_u64; kept.len()];
        for (load, &at) in of_ids.iter().zip(&numbers) {
            sums[at] = sums[at].saturating_add(*load);
        }
        let heaviest = (0..sums.len()).max_by_key(|&at| (sums[at], Reverse(at)));
        match heaviest {
            Some(at) if found.len() < goal.moves_max && sums[at] > goal.even_max && kept.len() > 2 => {
                aside[kept[at]] = true;
            }
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        loads: &[u64],
        node_of: &[u32],
        nodes: usize,
        moves_max: usize,
        expected: &[(usize, usize, usize)],
    ) {
        let goal = BalanceGoal { moves_max, slack: 1, even_max: 20 };
        let moves = moves_by_load(loads, node_of, nodes, &goal);
        let shown: Vec<_> = moves.iter().map(|moved| (moved.tablet, moved.from, moved.to)).collect();
        assert_eq!(shown, expected, "{loads:?} on {node_of:?}");
    }

    #[test]
    fn the_heaviest_node_that_can_be_relieved_is() {
        check(&[10, 10, 10], &[0, 0, 0], 3, 9, &[(0, 0, 1), (1, 0, 2)]);
        check(&[10, 10, 10], &[0, 0, 0], 3, 1, &[(0, 0, 1)]);
        // Node 0 is one hot tablet: the next one is relieved.
        check(&[100, 15, 15, 1], &[0, 1, 1, 2], 3, 9, &[(1, 1, 2)]);
        check(&[100, 1], &[0, 1], 2, 9, &[]);
        check(&[10, 10], &[0, 0], 1, 9, &[]);
        check(&[], &[], 0, 9, &[]);
        check(&[5], &[7], 2, 9, &[]);
    }
}
