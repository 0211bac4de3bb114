//! Makes up steps. Few keys, few columns, few times, so that they meet; bytes that encodings trip over.

use super::{Step, filters};
use crate::seeded::Seeded;
use crate::{
    CheckAndMutate, ColumnSelection, DropScope, FamilyChange, FamilyConfig, Filter, GcRule, Mutation,
    ReadModifyWrite, ReadRequest, RowKey, RowMutation, RowRange, RowSet, Selection, TableConfig, Timestamp,
    ValueType, check,
};
use bytes::Bytes;
use std::ops::Range;
use std::time::Duration;

/// Time at the first step.
pub(super) const START_US: i64 = 1_000_000;
/// Places that hold views.
pub(super) const SNAPSHOTS: usize = 3;

pub(crate) const BYTES: [u8; 6] = [0x00, 0x01, b'a', b'b', 0xfe, 0xff];
pub(crate) const FAMILIES: [&str; 5] = ["a", "b", "c", "d", AGGREGATE];
/// The family that is a sum, a minimum or a maximum. It is written as one, nearly always.
const AGGREGATE: &str = "s";
const WINDOW_MS: i64 = 40;

/// The steps of a seed. The first creates the table.
pub fn generate(seed: u64, steps: usize) -> Vec<Step> {
    let mut maker = Maker { choose: Seeded::new(seed), now_us: START_US };
    let mut list = vec![Step::Recreate(maker.config())];
    list.extend((1..steps).map(|_| maker.step()));
    list
}

struct Maker {
    choose: Seeded,
    now_us: i64,
}

impl Maker {
    fn step(&mut self) -> Step {
        match self.choose.below(1000) {
            0..400 => {
                let rows = 1 + self.choose.below(3);
                Step::Mutate((0..rows).map(|_| self.row_mutation()).collect())
            }
            400..430 => self.check_and_mutate(),
            430..480 => self.read_modify_write(),
            480..760 => {
                let place = self.choose.chance(30).then(|| self.choose.below(SNAPSHOTS));
                Step::Read(place, self.read())
            }
            760..800 => Step::Snapshot(self.choose.below(SNAPSHOTS)),
            800..815 => Step::Release(self.choose.below(SNAPSHOTS)),
            815..835 => {
                let changes = 1 + self.choose.below(2);
                Step::ModifyFamilies((0..changes).map(|_| self.family_change()).collect())
            }
            835..848 => Step::Split(self.key()),
            848..850 => Step::Rename,
            850..860 => Step::DropRows(match self.choose.below(5) {
                0 => DropScope::All,
                _ => DropScope::Prefix(self.some_bytes(0, 2)),
            }),
            860..875 => Step::Garbage,
            875..895 => Step::Collect,
            895..910 => Step::Describe,
            910..930 => Step::Reopen,
            930..936 => Step::Recreate(self.config()),
            _ => {
                let wait_us = 1 + i64::try_from(self.choose.below(8_000)).unwrap_or_default();
                self.now_us += wait_us;
                Step::Wait(wait_us)
            }
        }
    }

    fn some_bytes(&mut self, least: usize, most: usize) -> Bytes {
        let len = least + self.choose.below(most - least + 1);
        (0..len).map(|_| *self.choose.one_of(&BYTES)).collect()
    }

    fn key(&mut self) -> RowKey {
        if self.choose.chance(2) { Bytes::new() } else { self.some_bytes(1, 2) }
    }

    fn qualifier(&mut self) -> Bytes {
        self.some_bytes(0, 1)
    }

    /// Now and then one that does not exist.
    fn family(&mut self) -> String {
        if self.choose.chance(1) { "x".to_owned() } else { (*self.choose.one_of(&FAMILIES)).to_owned() }
    }

    fn time_us(&mut self) -> i64 {
        time_us(&mut self.choose, self.now_us)
    }

    fn timestamp(&mut self) -> Timestamp {
        match self.choose.below(20) {
            0 => Timestamp::Server,
            1 => Timestamp::Micros(0),
            2 if self.choose.chance(20) => Timestamp::Micros(self.now_us | 1),
            _ => Timestamp::Micros(self.time_us()),
        }
    }

    fn times_us(&mut self) -> Range<i64> {
        times_us(&mut self.choose, self.now_us)
    }

    fn mutation(&mut self) -> Mutation {
        let (family, qualifier) = (self.family(), self.qualifier());
        match self.choose.below(20) {
            0..3 => {
                let times_us = self.choose.chance(60).then(|| self.times_us());
                Mutation::DeleteFromColumn { family, qualifier, times_us }
            }
            3 => Mutation::DeleteFromFamily { family },
            4 if self.choose.chance(50) => Mutation::DeleteFromRow,
            _ => self.cell(family, qualifier),
        }
    }

    /// A write to a family: of the kind that it takes, nearly always.
    fn cell(&mut self, family: String, qualifier: Bytes) -> Mutation {
        let timestamp = self.timestamp();
        if (family == AGGREGATE) == self.choose.chance(2) {
            let value = if self.choose.chance(10) { Bytes::from(vec![0; 8]) } else { self.some_bytes(0, 3) };
            return Mutation::SetCell { family, qualifier, timestamp, value };
        }
        match self.choose.below(40) {
            0..20 => Mutation::AddToCell { family, qualifier, timestamp, input: self.input() },
            20 => Mutation::MergeToCell { family, qualifier, timestamp, state: self.some_bytes(0, 9) },
            _ => {
                let state = Bytes::copy_from_slice(&self.input().to_be_bytes());
                Mutation::MergeToCell { family, qualifier, timestamp, state }
            }
        }
    }

    /// A small number, or any.
    fn input(&mut self) -> i64 {
        if self.choose.chance(20) {
            return i64::from_be_bytes(self.choose.any().to_be_bytes());
        }
        i64::try_from(self.choose.below(20)).unwrap_or_default() - 10
    }

    fn mutations(&mut self) -> Vec<Mutation> {
        let count = if self.choose.chance(2) { 0 } else { 1 + self.choose.below(4) };
        (0..count).map(|_| self.mutation()).collect()
    }

    fn row_mutation(&mut self) -> RowMutation {
        RowMutation { key: self.key(), mutations: self.mutations() }
    }

    fn check_and_mutate(&mut self) -> Step {
        let key = self.key();
        let columns = self.columns();
        let predicate = self.choose.chance(60).then(|| self.filter(2));
        let (then, otherwise) = (self.mutations(), self.mutations());
        Step::CheckAndMutate(CheckAndMutate { key, columns, predicate, then, otherwise })
    }

    fn read_modify_write(&mut self) -> Step {
        let rules = (0..self.choose.below(4)).map(|_| {
            let (family, qualifier) = (self.family(), self.qualifier());
            // Refused on an aggregate: now and then is enough.
            let spared = family == AGGREGATE && self.choose.chance(90);
            let family = if spared { FAMILIES[0].to_owned() } else { family };
            if self.choose.chance(50) {
                ReadModifyWrite::Append { family, qualifier, suffix: self.some_bytes(0, 2) }
            } else {
                let amount = i64::from_be_bytes(self.choose.any().to_be_bytes());
                ReadModifyWrite::Increment { family, qualifier, amount }
            }
        });
        let rules = rules.collect();
        Step::ReadModifyWrite(self.key(), rules, self.timestamp())
    }

    fn read(&mut self) -> ReadRequest {
        let selection = Selection {
            columns: self.columns(),
            times_us: self.choose.chance(30).then(|| self.times_us()),
            versions_max: self.choose.chance(30).then(|| *self.choose.one_of(&[1, 2, 3])),
        };
        let live = self.choose.chance(60);
        ReadRequest {
            rows: self.rows(),
            selection,
            filter: (live && self.choose.chance(25)).then(|| self.filter(3)),
            rows_max: (live && self.choose.chance(40)).then(|| self.choose.below(5) as u64),
            reversed: self.choose.chance(40),
            live,
            watch: None,
        }
    }

    fn rows(&mut self) -> RowSet {
        match self.choose.below(10) {
            0..3 => RowSet::all(),
            3..5 => RowRange::prefix(&self.some_bytes(0, 2)).into(),
            5..7 => RowRange::key(&self.some_bytes(1, 2)).into(),
            _ => {
                let keys: Vec<RowKey> = (0..self.choose.below(3)).map(|_| self.some_bytes(1, 2)).collect();
                let ranges: Vec<RowRange> = (0..self.choose.below(3)).map(|_| self.range()).collect();
                RowSet::new(keys, ranges)
            }
        }
    }

    fn range(&mut self) -> RowRange {
        let (a, b) = (self.some_bytes(0, 3), self.some_bytes(0, 3));
        let end = if self.choose.chance(20) { None } else { Some(a.clone().max(b.clone())) };
        RowRange { start: a.min(b), end }
    }

    fn columns(&mut self) -> ColumnSelection {
        if self.choose.chance(50) {
            return ColumnSelection::All;
        }
        let families = (0..self.choose.below(4)).map(|_| {
            let qualifiers =
                self.choose.chance(40).then(|| (0..self.choose.below(4)).map(|_| self.qualifier()).collect());
            (self.family(), qualifiers)
        });
        ColumnSelection::Only(families.collect())
    }

    fn filter(&mut self, depth: usize) -> Filter {
        let now_us = self.now_us;
        let mut times = |choose: &mut Seeded| times_us(choose, now_us);
        // Wrong ones stay now and then; most filters of several levels are.
        loop {
            let filter = filters::filter(&mut self.choose, &mut times, depth);
            if check::filter(&filter).is_ok() || self.choose.chance(10) {
                return filter;
            }
        }
    }

    fn rule(&mut self, depth: usize) -> GcRule {
        match self.choose.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => GcRule::MaxVersions(1 + u32::try_from(self.choose.below(3)).unwrap_or_default()),
            2 | 3 => GcRule::MaxAge(Duration::from_micros(1000 + self.choose.below(25_000) as u64)),
            4 | 5 => GcRule::Union(vec![self.rule(depth - 1), self.rule(depth - 1)]),
            _ => GcRule::Intersection(vec![self.rule(depth - 1), self.rule(depth - 1)]),
        }
    }

    fn family_config(&mut self, name: &str) -> FamilyConfig {
        let gc_rule = self.choose.chance(75).then(|| self.rule(2));
        let aggregates = [ValueType::IntSum, ValueType::IntMin, ValueType::IntMax];
        let value_type = if name == AGGREGATE { *self.choose.one_of(&aggregates) } else { ValueType::Bytes };
        FamilyConfig { name: name.to_owned(), gc_rule, value_type }
    }

    fn family_change(&mut self) -> FamilyChange {
        let family = self.family();
        match self.choose.below(20) {
            0..11 => {
                FamilyChange::SetGcRule { family, gc_rule: self.choose.chance(80).then(|| self.rule(2)) }
            }
            11..18 => FamilyChange::Create(self.family_config(&family)),
            _ => FamilyChange::Drop { family },
        }
    }

    fn config(&mut self) -> TableConfig {
        let families = FAMILIES.iter().map(|name| self.family_config(name)).collect();
        let mut split_points: Vec<RowKey> =
            (0..self.choose.below(4)).map(|_| self.some_bytes(1, 2)).collect();
        split_points.sort();
        split_points.dedup();
        TableConfig { families, split_points, ..TableConfig::default() }
    }
}

/// A millisecond shortly before now, sometimes behind it.
fn time_us(choose: &mut Seeded, now_us: i64) -> i64 {
    let back = choose.below(usize::try_from(WINDOW_MS).unwrap_or(1));
    (now_us / 1000 + 3 - i64::try_from(back).unwrap_or_default()) * 1000
}

fn times_us(choose: &mut Seeded, now_us: i64) -> Range<i64> {
    let (a, b) = (time_us(choose, now_us), time_us(choose, now_us));
    match choose.below(10) {
        0 => a..i64::MAX,
        1 => 0..a,
        2 => a..b,
        _ => a.min(b)..a.max(b) + 1000,
    }
}
