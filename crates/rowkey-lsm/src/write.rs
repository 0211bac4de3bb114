//! A row's mutations folded into one fragment for each family: steps apply in order, later ones mask earlier ones. Pure.

use crate::fragment::{self, FragmentCell, Mask};
use crate::key;
use crate::prepare::{CellParts, encode_families};
use crate::state::Table;
use bytes::Bytes;
use rowkey_store::{
    Error, ErrorKind, FamilyConfig, GcRule, Mutation, Result, TableConfig, Timestamp, aggregate, check, gc,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A row's fragments, ready to be written under a sequence number.
#[derive(Debug, Default)]
pub(crate) struct RowWrite {
    /// The encoded row key with its terminator.
    pub(crate) prefix: Vec<u8>,
    /// Family and fragment.
    pub(crate) fragments: Vec<(usize, Bytes)>,
    /// Bytes of keys and values.
    pub(crate) bytes: u64,
    /// Families in which a delete leaves a cell alive that is older than one that it deletes.
    pub(crate) unsettled: Vec<usize>,
}

impl RowWrite {
    fn new(row: &[u8]) -> Self {
        Self { prefix: key::row_prefix(row), ..Self::default() }
    }

    /// Hides the cells of these columns of a family up to these times.
    pub(crate) fn masks(row: &[u8], family: usize, hidden: &[(Bytes, i64)]) -> Self {
        let mask = |(qualifier, last_us): &(Bytes, i64)| Mask {
            qualifier: Some(qualifier.clone()),
            first_us: 0,
            last_us: *last_us,
        };
        let masks: Vec<Mask> = hidden.iter().map(mask).collect();
        let mut write = Self::new(row);
        if !masks.is_empty() {
            write.push(family, fragment::encode(&masks, [], 0));
        }
        write
    }

    fn push(&mut self, family: usize, fragment: Vec<u8>) {
        self.bytes += (self.prefix.len() + 8 + fragment.len()) as u64;
        self.fragments.push((family, fragment.into()));
    }
}

/// One fragment for each family of these cells: family, qualifier, time, value.
pub(crate) fn fold_cells(row: &[u8], mut cells: Vec<CellParts<'_>>) -> RowWrite {
    let mut write = RowWrite::new(row);
    let mut bytes = Vec::new();
    let mut places = Vec::new();
    encode_families(&mut cells, &mut bytes, |family, range| places.push((family, range)));
    for (family, range) in places {
        write.push(family, bytes[range].to_vec());
    }
    write
}

/// Folds any mutations. `read` answers with the cells that a family of the row has now, by qualifier, then newest first; it is asked at
/// most once for each family. The mutations are checked.
///
/// # Errors
///
/// `NotFound` for a family, `Corrupt` for a cell of an aggregate that is no state, and those of `read`.
pub(crate) fn fold(
    table: &Table,
    row: &[u8],
    mutations: &[Mutation],
    now_us: i64,
    read: impl FnMut(usize) -> Result<Vec<FragmentCell>>,
) -> Result<RowWrite> {
    let mut fold = Fold { config: &table.config, now_us, read, families: BTreeMap::new() };
    mutations.iter().try_for_each(|mutation| fold.step(mutation))?;
    let mut write = RowWrite::new(row);
    for (family, fold) in fold.families {
        if fold.unsettles {
            write.unsettled.push(family);
        }
        if !fold.masks.is_empty() || !fold.new.is_empty() {
            let cells = fold
                .new
                .iter()
                .map(|((qualifier, Reverse(time)), value)| (&qualifier[..], *time, &value[..]));
            let bytes_about = cells.clone().map(|cell| fragment::cell_bytes(cell.0, cell.2)).sum();
            write.push(family, fragment::encode(&fold.masks, cells, bytes_about));
        }
    }
    Ok(write)
}

/// The row, while the steps apply.
struct Fold<'t, R> {
    config: &'t TableConfig,
    now_us: i64,
    read: R,
    families: BTreeMap<usize, FamilyFold>,
}

impl<R: FnMut(usize) -> Result<Vec<FragmentCell>>> Fold<'_, R> {
    fn step(&mut self, mutation: &Mutation) -> Result<()> {
        match mutation {
            Mutation::SetCell { family, qualifier, timestamp, value } => {
                let family = check::family_index(self.config, family)?;
                let timestamp_us = check::timestamp_us(*timestamp, self.config.granularity, self.now_us);
                let fold = self.families.entry(family).or_default();
                fold.new.insert((qualifier.clone(), Reverse(timestamp_us)), value.clone());
            }
            Mutation::AddToCell { family, qualifier, timestamp, input } => {
                self.add(family, qualifier, *timestamp, *input)?;
            }
            Mutation::MergeToCell { family, qualifier, timestamp, state } => {
                if let Some(input) = aggregate::number(state) {
                    self.add(family, qualifier, *timestamp, input)?;
                }
            }
            Mutation::DeleteFromColumn { family, qualifier, times_us } => {
                let family = check::family_index(self.config, family)?;
                let (rule, now_us) = (self.config.families[family].gc_rule.as_ref(), self.now_us);
                self.loaded(family)?.delete_from_column(qualifier, times_us.as_ref(), rule, now_us);
            }
            Mutation::DeleteFromFamily { family } => {
                self.loaded(check::family_index(self.config, family)?)?.delete_all();
            }
            Mutation::DeleteFromRow => {
                for family in 0..self.config.families.len() {
                    self.loaded(family)?.delete_all();
                }
            }
            _ => {
                let message =
                    format!("the embedded store does not know this step of a mutation: {mutation:?}");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        }
        Ok(())
    }

    fn add(&mut self, family: &str, qualifier: &Bytes, timestamp: Timestamp, input: i64) -> Result<()> {
        let family = check::family_index(self.config, family)?;
        let (config, now_us) = (&self.config.families[family], self.now_us);
        let timestamp_us = check::timestamp_us(timestamp, self.config.granularity, now_us);
        self.loaded(family)?.add(qualifier, timestamp_us, input, config, now_us)
    }

    /// A family with its cells of older fragments.
    fn loaded(&mut self, family: usize) -> Result<&mut FamilyFold> {
        let fold = self.families.entry(family).or_default();
        if fold.old.is_none() {
            let cells = (self.read)(family)?.into_iter();
            let cells = cells.map(|cell| ((cell.qualifier, Reverse(cell.timestamp_us)), cell.value));
            fold.old = Some(cells.collect());
        }
        Ok(fold)
    }
}

/// The column and the time of a cell, in the order of a row.
type CellPlace = (Bytes, Reverse<i64>);

/// One family of the row, while the steps apply.
#[derive(Debug, Default)]
struct FamilyFold {
    /// Living cells of older fragments, once they are read. Cells in `new` may stand for the same column and time.
    old: Option<BTreeMap<CellPlace, Bytes>>,
    new: BTreeMap<CellPlace, Bytes>,
    masks: Vec<Mask>,
    unsettles: bool,
}

impl FamilyFold {
    fn delete_all(&mut self) {
        self.new.clear();
        let old = self.old.get_or_insert_default();
        if !old.is_empty() {
            old.clear();
            self.masks = vec![Mask::FAMILY];
        }
    }

    /// Combines an input with the live cell of this column and time. One that the rule hides at this moment may have been collected, or
    /// not: it does not count.
    fn add(
        &mut self,
        qualifier: &Bytes,
        timestamp_us: i64,
        input: i64,
        config: &FamilyConfig,
        now_us: i64,
    ) -> Result<()> {
        let place = (qualifier.clone(), Reverse(timestamp_us));
        let old = self.old.get_or_insert_default();
        let mut before = self.new.get(&place).or_else(|| old.get(&place)).cloned();
        if let (Some(_), Some(rule)) = (&before, &config.gc_rule) {
            let newer = self.times(qualifier).into_iter().filter(|time| *time > timestamp_us).count();
            if rule.takes(1 + newer as u64, timestamp_us, now_us) {
                before = None;
            }
        }
        let state = aggregate::combine(config.value_type, before.as_deref(), input)?;
        self.new.insert(place, state);
        Ok(())
    }

    /// The times of a column's living cells, newest first.
    fn times(&self, qualifier: &Bytes) -> Vec<i64> {
        let bounds = (qualifier.clone(), Reverse(i64::MAX))..=(qualifier.clone(), Reverse(i64::MIN));
        let old = self.old.iter().flat_map(|old| old.range(bounds.clone()));
        let all: BTreeSet<Reverse<i64>> =
            old.chain(self.new.range(bounds.clone())).map(|cell| cell.0.1).collect();
        all.into_iter().map(|time| time.0).collect()
    }

    /// Deletes what the caller names, and what the rule hides at this moment: otherwise a cell that was hidden by a deleted one would come
    /// back, or not, depending on when garbage was collected.
    fn delete_from_column(
        &mut self,
        qualifier: &Bytes,
        times_us: Option<&Range<i64>>,
        rule: Option<&GcRule>,
        now_us: i64,
    ) {
        let column = self.times(qualifier);
        let old = self.old.get_or_insert_default();
        let hidden = gc::hidden_from(rule, column.iter().copied(), now_us).map(|at| column[at]);

        let named = times_us.map_or((0, i64::MAX), |times| (times.start, last_of(times)));
        let ranges = [Some(named), hidden.map(|last| (0, last))];
        let is_killed = |time: i64| ranges.iter().flatten().any(|range| range.0 <= time && time <= range.1);
        for (first_us, last_us) in ranges.into_iter().flatten() {
            let touches = column.iter().any(|time| {
                first_us <= *time
                    && *time <= last_us
                    && old.contains_key(&(qualifier.clone(), Reverse(*time)))
            });
            let mask = Mask { qualifier: Some(qualifier.clone()), first_us, last_us };
            if touches && !self.masks.contains(&mask) {
                self.masks.push(mask);
            }
        }
        let newest_killed = column.iter().copied().find(|time| is_killed(*time));
        self.unsettles |=
            newest_killed.is_some_and(|newest| column.iter().any(|time| *time < newest && !is_killed(*time)));
        for time in column.into_iter().filter(|time| is_killed(*time)) {
            let cell = (qualifier.clone(), Reverse(time));
            old.remove(&cell);
            self.new.remove(&cell);
        }
    }
}

/// The last time of a half-open range. An end of `i64::MAX` is no end (see [`rowkey_store::select::time_in`]).
fn last_of(times: &Range<i64>) -> i64 {
    if times.end == i64::MAX { i64::MAX } else { times.end - 1 }
}
