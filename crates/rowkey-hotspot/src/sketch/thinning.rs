//! Which elements of a stream to keep so that few are kept, evenly: one of each block of `2^level` consecutive ones.

use rowkey_store::seeded::Seeded;

/// Chooses one element, at random, from each block of `2^level` consecutive ones. The level grows when the keeper runs out of room.
///
/// Every element has the same chance, `2^-level`, and no stretch of the stream can be missed: stratified sampling.
#[derive(Debug, Clone)]
pub struct Thinning {
    level: u32,
    chosen: u64,
    seeded: Seeded,
}

impl Thinning {
    /// Takes every element, until the level grows.
    pub fn new(seed: u64) -> Self {
        Self { level: 0, chosen: 0, seeded: Seeded::new(seed) }
    }

    /// How many elements each taken one stands for: a power of two.
    pub fn weight(&self) -> u64 {
        1 << self.level
    }

    /// Whether to take this element. To be asked for every index in order, from 0.
    pub fn takes(&mut self, index: u64) -> bool {
        let mask = self.weight() - 1;
        let at = index & mask;
        if at == 0 && mask != 0 {
            self.chosen = self.seeded.any() & mask;
        }
        at == self.chosen
    }

    /// Doubles the weight: fills `keep` with whether each of the `taken` indices stays. `taken` are all that are taken, ascending;
    /// the last of them was asked for last.
    pub fn double(&mut self, taken: impl ExactSizeIterator<Item = u64>, keep: &mut Vec<bool>) {
        keep.clear();
        keep.resize(taken.len(), true);
        let half = self.weight();
        // At 2^62 elements apiece nothing will come that could be thinned further.
        self.level = (self.level + 1).min(62);
        let mut before: Option<u64> = None;
        let mut last = 0;
        for (position, index) in taken.enumerate() {
            last = index;
            let block = index >> self.level;
            if before == Some(block) {
                // Two of one block: a coin decides.
                let drop = if self.seeded.any() & 1 == 0 { position } else { position - 1 };
                keep[drop] = false;
                before = None;
            } else {
                before = Some(block);
            }
        }
        let mask = self.weight() - 1;
        self.chosen = last & mask;
        if before.is_some() && self.chosen < half && self.seeded.any() & 1 == 0 {
            // The last stands alone for the first half of a block whose second half is to come: the coin chose that one.
            if let Some(end) = keep.last_mut() {
                *end = false;
            }
            self.chosen = half | (self.seeded.any() & (half - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(elements: u64, room: usize, seed: u64) -> (Vec<u64>, u64) {
        let mut thinning = Thinning::new(seed);
        let mut taken: Vec<u64> = Vec::new();
        let mut keep = Vec::new();
        for index in 0..elements {
            if thinning.takes(index) {
                taken.push(index);
                while taken.len() > room {
                    thinning.double(taken.iter().copied(), &mut keep);
                    let mut position = 0;
                    taken.retain(|_| {
                        position += 1;
                        keep[position - 1]
                    });
                }
            }
        }
        (taken, thinning.weight())
    }

    #[test]
    fn each_whole_block_has_exactly_one_element() {
        for elements in [0, 1, 2, 7, 8, 9, 63, 64, 65, 100, 1_000, 4_099] {
            for seed in 0..20 {
                let (taken, weight) = thinned(elements, 8, seed);
                let whole = elements / weight;
                for block in 0..whole {
                    let inside = taken.iter().filter(|index| **index / weight == block).count();
                    assert_eq!(
                        inside, 1,
                        "block {block} of {elements} elements, seed {seed}, kept {taken:?}"
                    );
                }
                assert!(taken.len() as u64 <= whole + 1, "{taken:?}");
            }
        }
    }

    #[test]
    fn every_element_has_the_same_chance() {
        // 40 elements, room for 8: 4 or 5 blocks of 8 hold 5 elements; each element is kept in one of 8 runs.
        let runs = 4_000;
        let mut times = [0_u32; 40];
        for seed in 0..runs {
            let (taken, weight) = thinned(40, 8, seed * 7_919);
            assert_eq!(weight, 8);
            for index in taken {
                times[usize::try_from(index).unwrap()] += 1;
            }
        }
        // Mean 500, standard deviation 21: six of them allow for 40 looks.
        for (index, times) in times.iter().enumerate() {
            assert!(
                (374..=626).contains(times),
                "element {index} was kept {times} times of {runs}, expected 500"
            );
        }
    }
}
