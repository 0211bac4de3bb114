//! The embedded engine from outside.

#![expect(clippy::unwrap_used, reason = "a failure of these is a failure of the test")]

mod aggregates;
mod backup;
mod basic;
mod busy;
mod conformance;
mod crash;
mod garbage;
mod metamorphic;
mod opening;
mod torn;
mod watch;

/// A folder that goes away with the test, in memory where the system has such: nothing here depends on a real disk, and syncs are what
/// these tests would wait for.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A number from the environment, so that a test can be run for longer than the gate has time for.
fn rounds(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// A small seeded generator (splitmix64).
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
