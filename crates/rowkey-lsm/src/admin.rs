//! What changes tables, on the committer's thread: each change is one batch of records, published together with its data.
//!
//! Keyspaces are made before the batch that names them, and deleted behind the batch that names them no more (`spares.rs`). A crash between
//! the two leaves keyspaces that no table names; opening the store deletes them. So no change is ever seen, or found, half done.

use crate::committer::Committer;
use crate::damage;
use crate::error;
use crate::info;
use crate::key;
use crate::meta::{self, TableRecord};
use crate::state::{Counters, Shard, Space, Table, Tablet, space_name};
use bytes::Bytes;
use fjall::Readable as _;
use rowkey_store::tablet::{WeightSample, choose_split};
use rowkey_store::{
    DropScope, Error, ErrorKind, FamilyChange, GcRule, Result, RowKey, RowRange, TableConfig, check,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Fragments that a drop of rows removes one by one; above that the rows that stay are copied.
const REMOVED_ONE_BY_ONE_MAX: usize = 100_000;

type Records = Vec<(Vec<u8>, Option<Vec<u8>>)>;

impl Committer {
    pub(crate) fn create_table(&mut self, name: &str, config: &TableConfig) -> Result<()> {
        if self.tables.contains_key(name) {
            return Err(check::table_exists(name));
        }
        let config = check::new_table(name, config)?;
        let spaces = config.families.iter().map(|family| self.family_space(family.gc_rule.as_ref()));
        let spaces = spaces.collect::<Result<Vec<_>>>()?;
        self.take_on(Table::new(name, config, &spaces))
    }

    /// Makes a table known.
    pub(crate) fn take_on(&mut self, table: Table) -> Result<()> {
        let name = table.name.clone();
        self.switch(&name, Some(table), Vec::new())
    }

    pub(crate) fn drop_table(&mut self, name: &str) -> Result<()> {
        let table = self.table(name)?;
        check::drop_table(name, &table.config)?;
        self.switch(name, None, Vec::new())
    }

    /// One batch removes the record under the old name and writes it under the new one; keyspaces stay as they are.
    pub(crate) fn rename_table(&mut self, from: &str, to: &str) -> Result<()> {
        check::new_name(to)?;
        let mut table = Table::clone(&*self.table(from)?);
        if self.tables.contains_key(to) {
            return Err(check::table_exists(to));
        }
        to.clone_into(&mut table.name);
        let records = vec![(meta::table_key(from), None), (meta::table_key(to), Some(record_of(&table)))];
        let before = Arc::clone(&self.tables);
        let tables = Arc::make_mut(&mut self.tables);
        tables.remove(from);
        tables.insert(to.to_owned(), Arc::new(table));
        self.commit_pairs(records, Vec::new(), true).inspect_err(|_| self.tables = before)
    }

    pub(crate) fn modify_families(&mut self, name: &str, changes: &[FamilyChange]) -> Result<TableConfig> {
        let old = self.table(name)?;
        let plan = check::family_changes(name, &old.config, changes)?;
        let kept = plan.config.families.len() - plan.created.len();
        let mut sources = Vec::new();
        for family in &plan.config.families[..kept] {
            sources.push(check::family_index(&old.config, &family.name)?);
        }
        let mut records = Vec::new();
        let mut rules: Vec<(Space, Option<GcRule>)> = Vec::new();
        let mut table = Table::clone(&old);
        table.config = plan.config;
        for shard in old.shards() {
            let mut spaces = Vec::new();
            for (family, config) in table.config.families.iter().enumerate() {
                let Some(&source) = sources.get(family) else {
                    spaces.push(self.family_space(config.gc_rule.as_ref())?);
                    continue;
                };
                let space = shard.spaces[source].clone();
                if old.config.families[source].gc_rule != config.gc_rule {
                    records.push((meta::space_key(space.id), Some(meta::encode_space(false))));
                    rules.push((space.clone(), config.gc_rule.clone()));
                }
                spaces.push(space);
            }
            table.move_shard(&shard, &spaces);
        }
        // While the change is under way nothing is taken: neither by a rule that is given up nor by one that a crash undoes.
        for (space, _) in &rules {
            space.policy.unsettle();
            space.policy.rule.store(None);
        }
        table.note_split_points();
        let config = table.config.clone();
        self.switch(name, Some(table), records)?;
        for (space, rule) in rules {
            space.policy.rule.store(rule.map(Arc::new));
            space.policy.touch();
        }
        Ok(config)
    }

    pub(crate) fn annotate_table(&mut self, name: &str, key: &str, content: Option<Bytes>) -> Result<()> {
        let old = self.table(name)?;
        check::annotation(name, key, content.as_ref())?;
        let mut table = Table::clone(&old);
        match content {
            Some(content) => drop(table.config.annotations.insert(key.to_owned(), content)),
            None => drop(table.config.annotations.remove(key)),
        }
        self.switch(name, Some(table), Vec::new())
    }

    pub(crate) fn protect_table(&mut self, name: &str, protected: bool) -> Result<()> {
        let mut table = Table::clone(&*self.table(name)?);
        table.config.deletion_protection = protected;
        self.switch(name, Some(table), Vec::new())
    }

    pub(crate) fn drop_rows(&mut self, name: &str, scope: &DropScope) -> Result<()> {
        let old = self.table(name)?;
        check::drop_scope(name, scope)?;
        let dropped = match scope {
            DropScope::All => RowRange::all(),
            DropScope::Prefix(prefix) => RowRange::prefix(prefix),
        };
        let mut table = Table::clone(&old);
        let mut removed = Vec::new();
        for shard in old.shards() {
            let Some(dropped) = shard.range.intersection(&dropped) else { continue };
            let kept = kept_of(&shard.range, &dropped);
            if !kept.is_empty()
                && let Some(keys) = self.few_keys(&shard.spaces, &dropped, REMOVED_ONE_BY_ONE_MAX)?
            {
                removed.extend(keys);
                continue;
            }
            let spaces = self.copies(&shard.spaces, &kept)?;
            table.move_shard(&shard, &spaces);
        }
        let removed = removed.into_iter().map(|(space, key)| (space.keyspace, key, None)).collect();
        self.switch_with(name, Some(table), Vec::new(), removed)
    }

    /// The keys of all fragments of the rows, unless they are too many.
    fn few_keys(
        &self,
        spaces: &[Space],
        rows: &RowRange,
        keys_max: usize,
    ) -> Result<Option<Vec<(Space, Bytes)>>> {
        let mut keys = Vec::new();
        for space in spaces {
            let (start, end) = key::range_bounds(rows);
            let pairs = match end {
                Some(end) => self.snapshot.range(&space.keyspace, start..end),
                None => self.snapshot.range(&space.keyspace, start..),
            };
            for pair in pairs {
                if keys.len() == keys_max {
                    return Ok(None);
                }
                let key = pair.key().map_err(|error| self.read_error(space, error))?;
                keys.push((space.clone(), key.into()));
            }
        }
        Ok(Some(keys))
    }

    pub(crate) fn split_tablet(&mut self, name: &str, at: &RowKey) -> Result<()> {
        let old = self.table(name)?;
        check::split_point(name, at)?;
        let index = old.tablet_of(at);
        let tablet = &old.tablets[index];
        if tablet.range.start == *at {
            return Ok(());
        }
        let mut table = Table::clone(&old);
        cut(&mut table, at);
        self.switch(name, Some(table), Vec::new())
    }

    /// Gives the two parts of a shard keyspaces of their own. Writers wait meanwhile, readers do not.
    fn split_shard(&mut self, name: &str, shard: &Shard, at: &RowKey) -> Result<()> {
        let mut table = Table::clone(&*self.table(name)?);
        cut(&mut table, at);
        for half in table.shards() {
            let lower = RowRange { start: Bytes::new(), end: Some(at.clone()) };
            let upper = RowRange { start: at.clone(), end: None };
            if !half.spaces.iter().map(|space| space.id).eq(shard.spaces.iter().map(|space| space.id)) {
                continue;
            }
            for side in [lower, upper] {
                let Some(range) = half.range.intersection(&side) else { continue };
                let spaces = self.copies(&half.spaces, std::slice::from_ref(&range))?;
                let tablets =
                    half.tablets.clone().filter(|index| range.contains(&table.tablets[*index].range.start));
                let tablets: Vec<usize> = tablets.collect();
                let (Some(first), Some(last)) = (tablets.first(), tablets.last()) else { continue };
                let moved = Shard { tablets: *first..last + 1, range, spaces: Vec::new() };
                table.move_shard(&moved, &spaces);
            }
        }
        self.switch(name, Some(table), Vec::new())
    }

    /// New keyspaces with the fragments of these rows of a tablet.
    fn copies(&mut self, spaces: &[Space], ranges: &[RowRange]) -> Result<Vec<Space>> {
        let mut copies = Vec::new();
        for space in spaces {
            let rule = space.policy.rule.load_full();
            let copied = self.new_space(rule.as_deref(), space.policy.is_settled()).and_then(|copy| {
                copies.push(copy.clone());
                self.copy_into(space, &copy, ranges)
            });
            if let Err(error) = copied {
                // What cannot be read would be copied again and again otherwise, until the disk is full.
                self.delete_spaces(copies);
                return Err(error);
            }
        }
        Ok(copies)
    }

    fn copy_into(&self, from: &Space, to: &Space, ranges: &[RowRange]) -> Result<()> {
        let failed = |error| error::of_fjall(&self.shared.path, "writing", error, None);
        let mut ingestion = to.keyspace.start_ingestion().map_err(failed)?;
        for range in ranges {
            let (start, end) = key::range_bounds(range);
            let pairs = match end {
                Some(end) => self.snapshot.range(&from.keyspace, start..end),
                None => self.snapshot.range(&from.keyspace, start..),
            };
            for pair in pairs {
                let (key, value) = pair.into_inner().map_err(|error| self.read_error(from, error))?;
                ingestion.write(key, value).map_err(failed)?;
            }
        }
        ingestion.finish().map_err(failed)
    }

    fn read_error(&self, space: &Space, error: fjall::Error) -> Error {
        damage::read_error(&self.shared.path, error, [&space.keyspace])
    }

    fn switch(&mut self, name: &str, table: Option<Table>, records: Records) -> Result<()> {
        self.switch_with(name, table, records, Vec::new())
    }

    /// Puts a table in the place of the one of this name, in one batch with the records and pairs, and deletes what is no longer named.
    fn switch_with(
        &mut self,
        name: &str,
        table: Option<Table>,
        mut records: Records,
        mut pairs: Vec<(fjall::Keyspace, Bytes, Option<Bytes>)>,
    ) -> Result<()> {
        let old = self.tables.get(name).cloned();
        let old_spaces = old.iter().flat_map(|table| spaces_of(table)).collect::<Vec<_>>();
        let new_spaces = table.iter().flat_map(spaces_of).collect::<Vec<_>>();
        let gone = difference(&old_spaces, &new_spaces);
        let made = difference(&new_spaces, &old_spaces);
        let (usable, removals, doomed) = self.usable_again(gone.clone());
        for space in &usable {
            // Another rule comes with the next table.
            space.policy.unsettle();
            space.policy.rule.store(None);
        }
        pairs.extend(removals);
        records.extend(gone.iter().map(|space| (meta::space_key(space.id), None)));
        records.extend(
            made.iter().map(|space| {
                (meta::space_key(space.id), Some(meta::encode_space(space.policy.is_settled())))
            }),
        );
        records.push((meta::table_key(name), table.as_ref().map(record_of)));
        let before = Arc::clone(&self.tables);
        let tables = Arc::make_mut(&mut self.tables);
        match table {
            Some(table) => drop(tables.insert(name.to_owned(), Arc::new(table))),
            None => drop(tables.remove(name)),
        }
        if let Err(error) = self.commit_pairs(records, pairs, true) {
            self.tables = before;
            self.delete_spaces(made);
            return Err(error);
        }
        self.keep_spaces(usable);
        self.doom_spaces(doomed);
        Ok(())
    }

    /// Cuts shards that have grown too large. Looks once in a while, by bytes written.
    pub(crate) fn split_large_shards(&mut self) {
        let bytes_max = self.shared.options.tablet_bytes_max;
        if self.bytes_since_look < bytes_max / 16 {
            return;
        }
        self.bytes_since_look = 0;
        for table in Arc::clone(&self.tables).values() {
            for shard in table.shards() {
                if info::bytes(&shard.spaces) > bytes_max
                    && let Ok(samples) = self.weights(&shard, bytes_max / 64)
                    && let Some(at) = choose_split(&shard.range, &samples, samples.len() as u64 / 2)
                {
                    // A failure leaves the shard as it is; the next look tries again.
                    let _ = self.split_shard(&table.name, &shard, &at);
                }
            }
        }
    }

    /// A sample of the shard's largest family about each `step_bytes`, of equal weights.
    fn weights(&self, shard: &Shard, step_bytes: u64) -> Result<Vec<WeightSample>> {
        let Some(largest) = shard.spaces.iter().max_by_key(|space| info::space_bytes(space)) else {
            return Ok(Vec::new());
        };
        let mut samples = Vec::new();
        let mut bytes = u64::MAX;
        for pair in self.snapshot.range(&largest.keyspace, key::range_bounds(&shard.range).0..) {
            let (key, value) = pair.into_inner().map_err(|error| self.read_error(largest, error))?;
            bytes = bytes.saturating_add((key.len() + value.len()) as u64);
            if bytes >= step_bytes {
                bytes = 0;
                let key = Bytes::from(key);
                let (prefix, _) = key::split(&key)?;
                samples.push(WeightSample { key: key::row_of(key.slice(..prefix.len()))?, weight: 1 });
            }
        }
        Ok(samples)
    }
}

/// Cuts the tablet in two in which `at` lies, unless it begins there. Both stay in its shard.
fn cut(table: &mut Table, at: &RowKey) {
    let index = table.tablet_of(at);
    let tablet = Arc::clone(&table.tablets[index]);
    if tablet.range.start == *at {
        return;
    }
    let lower = RowRange { start: tablet.range.start.clone(), end: Some(at.clone()) };
    let upper = RowRange { start: at.clone(), end: tablet.range.end.clone() };
    // What was counted stays with the lower part.
    let parts = [(lower, Arc::clone(&tablet.counters)), (upper, Arc::default())];
    let parts =
        parts.map(|(range, counters)| Arc::new(Tablet { range, spaces: tablet.spaces.clone(), counters }));
    table.tablets.splice(index..=index, parts);
    table.note_split_points();
}

/// The record of a table in the keyspace `meta`.
fn record_of(table: &Table) -> Vec<u8> {
    let spaces = table.tablets.iter().map(|tablet| tablet.spaces.iter().map(|space| space.id).collect());
    meta::encode_table(&TableRecord { config: table.config.clone(), spaces: spaces.collect() })
}

fn spaces_of(table: &Table) -> Vec<Space> {
    table.shards().into_iter().flat_map(|shard| shard.spaces).collect()
}

fn difference(of: &[Space], without: &[Space]) -> Vec<Space> {
    let ids: HashSet<u64> = without.iter().map(|space| space.id).collect();
    of.iter().filter(|space| !ids.contains(&space.id)).cloned().collect()
}

/// The parts of a range that lie outside of `dropped`.
fn kept_of(range: &RowRange, dropped: &RowRange) -> Vec<RowRange> {
    let before = RowRange { start: Bytes::new(), end: Some(dropped.start.clone()) };
    let behind = dropped.end.clone().map(|start| RowRange { start, end: None });
    [Some(before), behind].into_iter().flatten().filter_map(|part| range.intersection(&part)).collect()
}

/// The error for a table without a keyspace that it names.
pub(crate) fn missing_space(path: &std::path::Path, table: &str, id: u64) -> Error {
    let message = format!(
        "the store at {}: keyspace {} of table `{table}` is missing in its folder `data`: restore the table from a backup",
        path.display(),
        space_name(id)
    );
    Error::new(ErrorKind::Corrupt, message)
}

/// Counters of a tablet that was not touched yet.
pub(crate) fn no_counters() -> Arc<Counters> {
    Arc::default()
}
