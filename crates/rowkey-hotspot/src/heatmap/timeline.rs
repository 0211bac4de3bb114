//! Time, cut into slots: which slot a time falls into, and how slots become wider so that their number stays bounded.

/// What the time axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Milliseconds since the epoch.
    Time,
    /// Operations, in the order in which they arrived, from 0: the input has no times.
    Arrival,
}

/// How time is kept as it becomes more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// All slots are equally wide: 1 ms at first, wider whenever there are more than `slots_max`. For files.
    Even {
        /// Slots at most.
        slots_max: usize,
    },
    /// The newest slots are narrow, older ones wider, the oldest ever wider. For what runs on. Widths grow from tier to tier, each a
    /// multiple of the one before.
    Tiered {
        /// Width in milliseconds and number of slots of each tier, newest first.
        tiers: Vec<(i64, usize)>,
    },
}

impl Resolution {
    /// For files: at most 2,048 slots.
    pub fn even() -> Self {
        Self::Even { slots_max: 2_048 }
    }

    /// For what runs on: an hour of 10 s, 8 hours of minutes, 4 days of 10 minutes, 28 days of hours; what is older shares slots.
    pub fn tiered() -> Self {
        Self::Tiered { tiers: vec![(10_000, 360), (60_000, 480), (600_000, 576), (3_600_000, 672)] }
    }
}

/// Widths of even slots; each divides the next, so that slots can be merged without being cut. Beyond a day they double.
const LADDER: [i64; 19] = [
    1, 2, 4, 20, 100, 200, 1_000, 2_000, 10_000, 20_000, 60_000, 120_000, 600_000, 1_200_000, 3_600_000,
    7_200_000, 14_400_000, 28_800_000, 86_400_000,
];

/// A part of the time whose slots are equally wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tier {
    /// Its first slot.
    begins: i64,
    /// Width in units.
    step: i64,
    /// Slots wanted at most.
    slots: i64,
}

/// How time is cut at the moment. A slot is numbered by its first unit.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    /// Milliseconds or operations of a slot of the narrowest kind.
    unit: i64,
    /// Newest first; the last one begins before all times.
    tiers: Vec<Tier>,
    slots_max: usize,
    newest: i64,
    even: bool,
}

/// What a change of the timeline does to the slots that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Widened {
    /// Old units in a new one.
    pub(super) ratio: i64,
}

impl Timeline {
    pub(super) fn new(resolution: &Resolution) -> Self {
        let last = |step, slots| Tier { begins: i64::MIN, step, slots };
        match resolution {
            Resolution::Even { slots_max } => Self {
                unit: 1,
                tiers: vec![last(1, 0)],
                slots_max: (*slots_max).max(2),
                newest: i64::MIN,
                even: true,
            },
            Resolution::Tiered { tiers } => {
                let unit = tiers.first().map_or(1, |tier| tier.0.max(1));
                let mut kept: Vec<Tier> = Vec::new();
                for &(width, slots) in tiers {
                    // A width that is no multiple of the one before is made one.
                    let before = kept.last().map_or(1, |tier| tier.step);
                    let step = (width / unit / before).max(1) * before;
                    kept.push(last(step, i64::try_from(slots.max(1)).unwrap_or(i64::MAX)));
                }
                if kept.is_empty() {
                    kept.push(last(1, 1));
                }
                let slots_max = tiers.iter().map(|tier| tier.1).sum::<usize>().max(2);
                Self {
                    unit,
                    tiers: kept,
                    slots_max: slots_max + slots_max / 4,
                    newest: i64::MIN,
                    even: false,
                }
            }
        }
    }

    /// Milliseconds or operations of a slot number.
    pub(super) fn unit(&self) -> i64 {
        self.unit
    }

    /// Slots at most.
    pub(super) fn slots_max(&self) -> usize {
        self.slots_max
    }

    /// The slot of a time.
    pub(super) fn slot(&self, time: i64) -> i64 {
        self.round(time.div_euclid(self.unit))
    }

    /// The slot that a narrower one has become part of.
    pub(super) fn round(&self, slot: i64) -> i64 {
        let step = self.step(slot);
        slot.saturating_sub(slot.rem_euclid(step))
    }

    /// Units of a slot.
    pub(super) fn step(&self, slot: i64) -> i64 {
        let tier = self.tiers.iter().find(|tier| slot >= tier.begins);
        tier.or(self.tiers.last()).map_or(1, |tier| tier.step)
    }

    /// Notes that a slot is in use. Answers whether older slots are to be merged now, with [`Timeline::round`].
    pub(super) fn reach(&mut self, slot: i64) -> Option<Widened> {
        if slot <= self.newest {
            return None;
        }
        self.newest = slot;
        if self.even || self.tiers.len() < 2 {
            return None;
        }
        // Merging takes a walk over all that is kept: the newest tier may grow to the double before.
        let narrow = self.tiers[0];
        let length = slot.saturating_sub(narrow.begins.max(i64::MIN / 2)) / narrow.step;
        (narrow.begins == i64::MIN || length >= narrow.slots.saturating_mul(2)).then(|| self.age())
    }

    /// Moves the beginnings of the tiers, so that each has the slots that it is to have.
    fn age(&mut self) -> Widened {
        let mut end = self.newest;
        for at in 0..self.tiers.len() - 1 {
            let next = self.tiers[at + 1].step;
            let tier = &mut self.tiers[at];
            let begins = end.saturating_sub(tier.step.saturating_mul(tier.slots));
            // No slot of the next tier reaches into this one. Time never becomes finer again.
            tier.begins = begins.saturating_sub(begins.rem_euclid(next)).max(tier.begins);
            end = tier.begins;
        }
        // No tier begins before an older one: the border that remains is a multiple of all widths below it.
        for at in (1..self.tiers.len()).rev() {
            self.tiers[at - 1].begins = self.tiers[at - 1].begins.max(self.tiers[at].begins);
        }
        Widened { ratio: 1 }
    }

    /// Makes slots wider. `None`: they cannot become wider.
    pub(super) fn widen(&mut self) -> Option<Widened> {
        if self.even {
            let wider = LADDER.into_iter().find(|&width| width > self.unit);
            let wider = wider.or_else(|| self.unit.checked_mul(2)).filter(|&width| width < i64::MAX / 4)?;
            let ratio = wider / self.unit;
            self.unit = wider;
            self.newest = self.newest.div_euclid(ratio);
            return Some(Widened { ratio });
        }
        let last = self.tiers.last_mut()?;
        last.step = last.step.checked_mul(2).filter(|&step| step < i64::MAX / self.unit / 4)?;
        let step = last.step;
        let narrower = self.tiers.len() - 1;
        for tier in &mut self.tiers[..narrower] {
            tier.slots = (tier.slots * 3 / 4).max(1);
        }
        // The last tier's neighbour begins at a multiple of the new width.
        if let Some(tier) = narrower.checked_sub(1).and_then(|at| self.tiers.get_mut(at)) {
            tier.begins = tier.begins.saturating_add(step - 1);
            tier.begins = tier.begins.saturating_sub(tier.begins.rem_euclid(step));
        }
        Some(self.age())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_slots_widen_by_whole_multiples_up_to_the_end_of_time() {
        let mut timeline = Timeline::new(&Resolution::even());
        assert_eq!(timeline.slot(-1), -1);
        let mut unit = 1;
        while let Some(widened) = timeline.widen() {
            unit *= widened.ratio;
            assert_eq!(timeline.unit(), unit);
        }
        assert!(unit > 1 << 55);
        assert_eq!(timeline.slot(i64::MIN), i64::MIN.div_euclid(unit));
        assert!(LADDER.windows(2).all(|pair| pair[1] % pair[0] == 0));
    }

    #[test]
    fn tiers_are_narrow_for_the_newest_and_wide_for_the_oldest() {
        let mut timeline = Timeline::new(&Resolution::tiered());
        let day = 86_400_000 / timeline.unit();
        let mut merges = 0;
        for slot in 0..40 * day {
            merges += usize::from(timeline.reach(timeline.round(slot)).is_some());
        }
        assert!((900..1_000).contains(&merges), "{merges}: once an hour");
        let ages = [1, 300, 3_000, 30_000, 300_000];
        let steps: Vec<i64> = ages.iter().map(|age| timeline.step(40 * day - age)).collect();
        assert_eq!(steps, [1, 1, 6, 60, 360]);
        // Every slot begins where its width says, whatever the tier.
        for slot in (0..40 * day).step_by(7) {
            let rounded = timeline.round(slot);
            assert!(rounded <= slot && slot < rounded + timeline.step(slot));
            assert_eq!(timeline.round(rounded), rounded);
            assert_eq!(timeline.step(rounded), timeline.step(slot), "a slot lies in one tier");
        }
    }

    #[test]
    fn odd_tiers_are_made_to_fit() {
        for tiers in [vec![], vec![(0, 0)], vec![(7, 1), (10, 1), (3, 1)], vec![(i64::MAX, 5)]] {
            let mut timeline = Timeline::new(&Resolution::Tiered { tiers });
            for time in [0, 5, 1_000, 100, -7, i64::MAX, i64::MIN] {
                let slot = timeline.slot(time);
                timeline.reach(slot);
                assert_eq!(timeline.round(timeline.round(slot)), timeline.round(slot));
            }
            while timeline.widen().is_some() {}
        }
    }
}
