//! One table: its rows, and every operation on them.

use super::stream::Scan;
use crate::select::{Selector, StoredCell, time_in};
use crate::tablet::TabletMap;
use crate::{
    Cell, CheckAndMutate, DropScope, FamilyChange, GarbageReport, GcRule, KeySample, Mutation,
    ReadModifyWrite, ReadRequest, Result, Row, RowKey, RowMutation, RowRange, RowStream, TableConfig,
    TabletInfo, Timestamp, aggregate, check, gc, read_modify_write,
};
use bytes::Bytes;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The place of a cell in its row. A family keeps its number for ever, and a new one gets the next: so a family that was dropped
/// and created again starts empty, and numbers are in the order of [`TableConfig::families`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) family: u64,
    pub(super) qualifier: Bytes,
    pub(super) newest_first: Reverse<i64>,
}

pub(super) type Cells = BTreeMap<Place, Bytes>;

/// A table. A clone shares rows and counters, the rows until one side changes them.
#[derive(Debug, Clone)]
pub(super) struct Table {
    name: String,
    config: TableConfig,
    /// The number of each family of `config`.
    families: Vec<u64>,
    families_made: u64,
    rows: Arc<BTreeMap<RowKey, Arc<Cells>>>,
    tablets: Arc<Tablets>,
}

/// The tablets, and what was counted on each.
#[derive(Debug, Default)]
pub(super) struct Tablets {
    pub(super) map: TabletMap,
    pub(super) counters: Vec<Counters>,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) reads: AtomicU64,
    pub(super) rows_read: AtomicU64,
    pub(super) bytes_read: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    /// What it holds now.
    cells: AtomicU64,
    bytes: AtomicU64,
}

impl Table {
    pub(super) fn new(name: &str, config: TableConfig) -> Self {
        let map = TabletMap::new(config.split_points.clone());
        let counters = map.ranges().map(|_| Counters::default()).collect();
        let families: Vec<u64> = (0..).zip(&config.families).map(|(number, _)| number).collect();
        Self {
            name: name.to_owned(),
            families_made: families.len() as u64,
            families,
            config,
            rows: Arc::default(),
            tablets: Arc::new(Tablets { map, counters }),
        }
    }

    pub(super) fn config(&self) -> TableConfig {
        TableConfig { split_points: self.tablets.map.split_points().to_vec(), ..self.config.clone() }
    }

    pub(super) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    pub(super) fn annotate(&mut self, name: &str, content: Option<Bytes>) {
        match content {
            Some(content) => self.config.annotations.insert(name.to_owned(), content),
            None => self.config.annotations.remove(name),
        };
    }

    pub(super) fn protect(&mut self, protected: bool) {
        self.config.deletion_protection = protected;
    }

    pub(super) fn modify_families(&mut self, changes: &[FamilyChange]) -> Result<()> {
        let plan = check::family_changes(&self.name, &self.config, changes)?;
        for name in &plan.dropped {
            let index = check::family_index(&self.config, name)?;
            self.config.families.remove(index);
            let number = self.families.remove(index);
            self.edit_rows(&RowRange::all(), |cells| cells.retain(|place, _| place.family != number));
        }
        for _ in &plan.created {
            self.families.push(self.families_made);
            self.families_made += 1;
        }
        self.config = plan.config;
        Ok(())
    }

    pub(super) fn mutate(&mut self, row: &RowMutation, now_us: i64) -> Result<()> {
        check::row_mutation(&self.name, &self.config, row)?;
        self.apply(&row.key, &row.mutations, now_us);
        Ok(())
    }

    pub(super) fn check_and_mutate(&mut self, request: &CheckAndMutate, now_us: i64) -> Result<bool> {
        check::check_and_mutate(&self.name, &self.config, request)?;
        let (columns, predicate) = (&request.columns, request.predicate.as_ref());
        let selector = Selector::of_predicate(&self.name, &self.config, columns, predicate, now_us)?;
        let matched = match self.rows.get(&request.key) {
            Some(cells) => selector.row(request.key.clone(), stored_cells(&self.families, cells))?.is_some(),
            None => false,
        };
        let mutations = if matched { &request.then } else { &request.otherwise };
        if !mutations.is_empty() {
            self.apply(&request.key, mutations, now_us);
        }
        Ok(matched)
    }

    pub(super) fn read_modify_write(
        &mut self,
        key: &RowKey,
        rules: &[ReadModifyWrite],
        timestamp: Timestamp,
        now_us: i64,
    ) -> Result<Row> {
        let newest = |family: usize, qualifier: &Bytes| {
            let rule = self.config.families[family].gc_rule.as_ref();
            let newest =
                self.rows.get(key).and_then(|cells| column(cells, self.families[family], qualifier).next());
            let live = |(place, _): &(&Place, &Bytes)| {
                !rule.is_some_and(|rule| rule.takes(1, place.newest_first.0, now_us))
            };
            Ok(newest.filter(live).map(|(place, value)| (place.newest_first.0, value.clone())))
        };
        let (table, config) = (&self.name, &self.config);
        let new = read_modify_write::new_cells(table, config, key, rules, timestamp, now_us, newest)?;
        let set = |cell: &StoredCell| {
            let family = &self.config.families[cell.family].name;
            let timestamp = Timestamp::Micros(cell.timestamp_us);
            Mutation::set(family, cell.qualifier.clone(), timestamp, cell.value.clone())
        };
        let mutations: Vec<Mutation> = new.iter().map(set).collect();
        let cells = new.into_iter().map(|cell| Cell {
            family: Arc::from(self.config.families[cell.family].name.as_str()),
            qualifier: cell.qualifier,
            timestamp_us: cell.timestamp_us,
            value: cell.value,
            labels: Vec::new(),
        });
        let row = Row { key: key.clone(), cells: cells.collect() };
        self.apply(key, &mutations, now_us);
        Ok(row)
    }

    pub(super) fn drop_rows(&mut self, scope: &DropScope) {
        let range = match scope {
            DropScope::All => RowRange::all(),
            DropScope::Prefix(prefix) => RowRange::prefix(prefix),
        };
        self.edit_rows(&range, Cells::clear);
    }

    pub(super) fn read_rows(&self, request: &ReadRequest, now_us: i64) -> Result<RowStream> {
        let selector = Selector::new(&self.name, &self.config, request, now_us)?;
        let (rows, families, tablets) =
            (Arc::clone(&self.rows), self.families.clone(), Arc::clone(&self.tablets));
        Ok(Box::new(Scan::new(rows, families, tablets, selector, request)))
    }

    pub(super) fn split(&mut self, at: &RowKey) {
        let mut map = self.tablets.map.clone();
        if let Some(cut) = map.split(at) {
            // What was counted stays with the first part: nobody knows where in the tablet it was.
            let mut counters: Vec<Counters> = self.tablets.counters.iter().map(Counters::copy).collect();
            counters.insert(cut + 1, Counters::default());
            self.tablets = Arc::new(Tablets { map, counters });
            self.recount();
        }
    }

    /// The tablets, with what is known of them without a look at the rows.
    pub(super) fn tablet_counters(&self) -> Vec<TabletInfo> {
        let infos = self.tablets.map.ranges().zip(&self.tablets.counters);
        infos.map(|(range, counters)| counters.info(range)).collect()
    }

    /// Counts what the tablets hold.
    fn recount(&self) {
        for (counters, info) in self.tablets.counters.iter().zip(self.tablets()) {
            counters.cells.store(info.cells, Ordering::Relaxed);
            counters.bytes.store(info.bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn tablets(&self) -> Vec<TabletInfo> {
        let info = |(range, counters): (RowRange, &Counters)| {
            let (mut bytes, mut cells) = (0, 0);
            for (key, row) in
                self.rows.range(range.start.clone()..).take_while(|(key, _)| range.contains(key))
            {
                cells += row.len() as u64;
                bytes += row.iter().map(|(place, value)| cell_bytes(key, place, value)).sum::<u64>();
            }
            TabletInfo { bytes, cells, ..counters.info(range) }
        };
        self.tablets.map.ranges().zip(&self.tablets.counters).map(info).collect()
    }

    pub(super) fn sample_row_keys(&self) -> Vec<KeySample> {
        let ends = self.tablets().into_iter().scan(0, |offset_bytes, tablet| {
            *offset_bytes += tablet.bytes;
            Some(KeySample { key: tablet.range.end.unwrap_or_default(), offset_bytes: *offset_bytes })
        });
        ends.collect()
    }

    pub(super) fn garbage(&self, now_us: i64) -> Vec<GarbageReport> {
        let families = self.config.families.iter().zip(&self.families);
        let report = |(family, &number): (&crate::FamilyConfig, &u64)| {
            let mut report = GarbageReport { family: family.name.clone(), ..GarbageReport::default() };
            for (key, cells) in &*self.rows {
                let hidden = hidden_cells(cells, number, family.gc_rule.as_ref(), now_us);
                for (place, value) in cells.iter().filter(|(place, _)| place.family == number) {
                    let (count, bytes) = if hidden.contains(place) {
                        (&mut report.expired_cells, &mut report.expired_bytes)
                    } else {
                        (&mut report.live_cells, &mut report.live_bytes)
                    };
                    *count += 1;
                    *bytes += cell_bytes(key, place, value);
                }
            }
            report
        };
        families.map(report).collect()
    }

    pub(super) fn collect_garbage(&mut self, now_us: i64) -> Vec<GarbageReport> {
        let report = self.garbage(now_us);
        let rules: Vec<(u64, Option<GcRule>)> = self
            .families
            .iter()
            .zip(&self.config.families)
            .map(|(number, family)| (*number, family.gc_rule.clone()))
            .collect();
        self.edit_rows(&RowRange::all(), |cells| {
            for (number, rule) in &rules {
                for place in hidden_cells(cells, *number, rule.as_ref(), now_us) {
                    cells.remove(&place);
                }
            }
        });
        report
    }

    /// Applies checked mutations to one row.
    fn apply(&mut self, key: &RowKey, mutations: &[Mutation], now_us: i64) {
        let mut cells = self.rows.get(key).map_or_else(Cells::new, |cells| Cells::clone(cells));
        let mut bytes = key.len() as u64;
        for mutation in mutations {
            bytes += mutation.value_bytes();
            self.apply_step(&mut cells, mutation, now_us);
        }
        let held = |cells: &Cells| {
            let bytes: u64 = cells.iter().map(|(place, value)| cell_bytes(key, place, value)).sum();
            (cells.len() as u64, bytes)
        };
        let before = self.rows.get(key).map_or((0, 0), |cells| held(cells));
        let after = held(&cells);
        let rows = Arc::make_mut(&mut self.rows);
        if cells.is_empty() {
            rows.remove(key);
        } else {
            rows.insert(key.clone(), Arc::new(cells));
        }
        let counters = &self.tablets.counters[self.tablets.map.find(key)];
        counters.writes.fetch_add(1, Ordering::Relaxed);
        counters.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        for (held, before, after) in
            [(&counters.cells, before.0, after.0), (&counters.bytes, before.1, after.1)]
        {
            held.fetch_add(after, Ordering::Relaxed);
            held.fetch_sub(before, Ordering::Relaxed);
        }
    }

    fn apply_step(&self, cells: &mut Cells, mutation: &Mutation, now_us: i64) {
        let known = |name: &str| {
            let index = check::family_index(&self.config, name).expect("the mutations were checked");
            (self.families[index], self.config.families[index].gc_rule.as_ref())
        };
        match mutation {
            Mutation::SetCell { family, qualifier, timestamp, value } => {
                let timestamp_us = check::timestamp_us(*timestamp, self.config.granularity, now_us);
                let (family, qualifier) = (known(family).0, qualifier.clone());
                let place = Place { family, qualifier, newest_first: Reverse(timestamp_us) };
                cells.insert(place, value.clone());
            }
            Mutation::DeleteFromColumn { family, qualifier, times_us } => {
                let (number, rule) = known(family);
                let times: Vec<i64> =
                    column(cells, number, qualifier).map(|(place, _)| place.newest_first.0).collect();
                let hidden_from = gc::hidden_from(rule, times.iter().copied(), now_us).unwrap_or(times.len());
                for (index, timestamp_us) in times.into_iter().enumerate() {
                    if index >= hidden_from
                        || times_us.as_ref().is_none_or(|times_us| time_in(times_us, timestamp_us))
                    {
                        let qualifier = qualifier.clone();
                        cells.remove(&Place {
                            family: number,
                            qualifier,
                            newest_first: Reverse(timestamp_us),
                        });
                    }
                }
            }
            Mutation::DeleteFromFamily { family } => {
                let number = known(family).0;
                cells.retain(|place, _| place.family != number);
            }
            Mutation::DeleteFromRow => cells.clear(),
            Mutation::AddToCell { family, qualifier, timestamp, input } => {
                self.add(cells, family, qualifier, *timestamp, *input, now_us);
            }
            Mutation::MergeToCell { family, qualifier, timestamp, state } => {
                if let Some(input) = aggregate::number(state) {
                    self.add(cells, family, qualifier, *timestamp, input, now_us);
                }
            }
        }
    }

    /// Combines an input with the live cell of a column and time.
    fn add(
        &self,
        cells: &mut Cells,
        family: &str,
        qualifier: &Bytes,
        timestamp: Timestamp,
        input: i64,
        now_us: i64,
    ) {
        let index = check::family_index(&self.config, family).expect("the mutations were checked");
        let (number, config) = (self.families[index], &self.config.families[index]);
        let time_us = check::timestamp_us(timestamp, self.config.granularity, now_us);
        let newer = column(cells, number, qualifier).filter(|(place, _)| place.newest_first.0 > time_us);
        let nth_newest = 1 + newer.count() as u64;
        let hidden = config.gc_rule.as_ref().is_some_and(|rule| rule.takes(nth_newest, time_us, now_us));
        let place = Place { family: number, qualifier: qualifier.clone(), newest_first: Reverse(time_us) };
        let before = cells.get(&place).filter(|_| !hidden);
        let state = aggregate::combine(config.value_type, before.map(|state| &state[..]), input);
        cells.insert(place, state.expect("only states are written to an aggregate family"));
    }

    /// Changes the rows of a range; those that lose all cells are gone.
    fn edit_rows(&mut self, range: &RowRange, edit: impl Fn(&mut Cells)) {
        Arc::make_mut(&mut self.rows).retain(|key, cells| {
            if range.contains(key) {
                edit(Arc::make_mut(cells));
            }
            !cells.is_empty()
        });
        self.recount();
    }
}

impl Counters {
    fn info(&self, range: RowRange) -> TabletInfo {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TabletInfo {
            range,
            bytes: count(&self.bytes),
            cells: count(&self.cells),
            reads: count(&self.reads),
            rows_read: count(&self.rows_read),
            bytes_read: count(&self.bytes_read),
            writes: count(&self.writes),
            bytes_written: count(&self.bytes_written),
        }
    }

    fn copy(&self) -> Self {
        let copy = |counter: &AtomicU64| AtomicU64::new(counter.load(Ordering::Relaxed));
        Self {
            reads: copy(&self.reads),
            rows_read: copy(&self.rows_read),
            bytes_read: copy(&self.bytes_read),
            writes: copy(&self.writes),
            bytes_written: copy(&self.bytes_written),
            cells: copy(&self.cells),
            bytes: copy(&self.bytes),
        }
    }
}

/// The cells of a row with the index of their family in place of its number.
pub(super) fn stored_cells<'a>(
    families: &'a [u64],
    cells: &'a Cells,
) -> impl Iterator<Item = StoredCell> + 'a {
    cells.iter().map(|(place, value)| StoredCell {
        family: families
            .iter()
            .position(|number| *number == place.family)
            .expect("dropped families lose their cells"),
        qualifier: place.qualifier.clone(),
        timestamp_us: place.newest_first.0,
        value: value.clone(),
    })
}

/// The cells of one column, newest first.
fn column<'a>(
    cells: &'a Cells,
    family: u64,
    qualifier: &'a Bytes,
) -> impl Iterator<Item = (&'a Place, &'a Bytes)> {
    let newest = Place { family, qualifier: qualifier.clone(), newest_first: Reverse(i64::MAX) };
    cells
        .range(newest..)
        .take_while(move |(place, _)| place.family == family && place.qualifier == *qualifier)
}

/// The cells of a family that its rule hides.
fn hidden_cells(cells: &Cells, family: u64, rule: Option<&GcRule>, now_us: i64) -> Vec<Place> {
    let places: Vec<&Place> = cells.keys().filter(|place| place.family == family).collect();
    let columns = places.chunk_by(|a, b| a.qualifier == b.qualifier);
    let hidden = columns.flat_map(|places| {
        let times = places.iter().map(|place| place.newest_first.0);
        let from = gc::hidden_from(rule, times, now_us).unwrap_or(places.len());
        &places[from..]
    });
    hidden.map(|place| Place::clone(place)).collect()
}

/// Bytes of a cell's keys and value.
fn cell_bytes(key: &RowKey, place: &Place, value: &Bytes) -> u64 {
    (key.len() + place.qualifier.len() + value.len()) as u64
}
