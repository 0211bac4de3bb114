//! A made-up fleet: the same seed gives the same readings on every machine.

use rowkey_store::seeded::Seeded;

/// Vehicles of the fleet.
pub(super) const VEHICLES: usize = 200;
/// Seconds between two readings of a vehicle.
pub(super) const STEP_S: i64 = 240;
/// 2026-09-15T00:00:00Z, the beginning of the day.
pub(super) const DAY_START_S: i64 = 1_789_430_400;
/// Seconds of the day.
pub(super) const DAY_S: i64 = 86_400;

/// One reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// Seconds since the epoch.
    pub(super) time_s: i64,
    /// The vehicle's number, below 100,000.
    pub(super) vehicle: u64,
    /// km/h.
    pub(super) speed: u64,
    /// Percent of the tank.
    pub(super) fuel: u64,
}

/// A fleet that reports for a day.
#[derive(Debug)]
pub(super) struct Fleet {
    random: Seeded,
    vehicles: Vec<Vehicle>,
}

#[derive(Debug)]
struct Vehicle {
    number: u64,
    speed: u64,
    /// Thousandths of a percent.
    fuel: u64,
}

impl Fleet {
    /// The fleet of this seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Seeded::new(seed);
        let mut numbers = std::collections::BTreeSet::new();
        while numbers.len() < VEHICLES {
            numbers.insert(below(&mut random, 100_000));
        }
        let vehicles = numbers
            .into_iter()
            .map(|number| Vehicle {
                number,
                speed: below(&mut random, 90),
                fuel: 20_000 + below(&mut random, 80_000),
            })
            .collect();
        Self { random, vehicles }
    }

    /// The number of the vehicle at this place in the fleet.
    pub(super) fn number(&self, at: usize) -> u64 {
        self.vehicles[at].number
    }

    /// All readings, in the order in which they arrive.
    pub(super) fn into_readings(mut self) -> impl Iterator<Item = Reading> {
        let steps = DAY_S / STEP_S;
        (0..steps).flat_map(move |step| {
            let time_s = DAY_START_S + step * STEP_S;
            let random = &mut self.random;
            let readings: Vec<Reading> =
                self.vehicles.iter_mut().map(|vehicle| vehicle.advance(time_s, random)).collect();
            readings
        })
    }
}

impl Vehicle {
    fn advance(&mut self, time_s: i64, random: &mut Seeded) -> Reading {
        self.speed = (self.speed + below(random, 21)).saturating_sub(10).min(120);
        self.fuel = self.fuel.saturating_sub(self.speed * 3);
        if self.fuel < 5_000 {
            self.fuel = 100_000;
        }
        Reading { time_s, vehicle: self.number, speed: self.speed, fuel: self.fuel / 1_000 }
    }
}

/// A number below `end`.
fn below(random: &mut Seeded, end: u64) -> u64 {
    // The bias of the remainder is below end / 2^64.
    random.any() % end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_readings_and_another_seed_others() {
        let all = |seed| Fleet::new(seed).into_readings().collect::<Vec<_>>();
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert_eq!(all(1).len(), VEHICLES * 360);
    }
}
