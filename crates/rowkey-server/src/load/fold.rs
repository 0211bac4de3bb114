//! From what operations left behind to the record.

use super::Load;
use super::answer::{LATENCY_BOUNDS_US, Latencies};
use super::buffer::{Batch, Counted, KINDS, OUTCOMES, Touch};
use super::hot::MINUTE_MS;
use super::table::{Size, Table};
use crate::lock::{lock, read, write};
use rowkey_hotspot::sim::Settings;
use rowkey_store::tablet;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Full batches that wait for the next tick, at most: 131,072 events and 26 MB.
const WAITING_MAX: usize = 16;
/// Events between two looks at memory.
const CHECK_EVERY: usize = 16_384;

/// Latencies of all operations.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    latencies: BTreeMap<(u8, u8), Latencies>,
}

impl Statistics {
    fn count(&mut self, counted: Counted) {
        let name = |names: &[&'static str], at: u8| names.get(usize::from(at)).copied().unwrap_or("other");
        let latencies = self.latencies.entry((counted.kind, counted.outcome)).or_insert_with(|| Latencies {
            kind: name(&KINDS, counted.kind),
            outcome: name(&OUTCOMES, counted.outcome),
            count: 0,
            sum_us: 0,
            buckets: [0; LATENCY_BOUNDS_US.len() + 1],
        });
        latencies.count += 1;
        latencies.sum_us = latencies.sum_us.saturating_add(counted.took_us);
        latencies.buckets[bucket(counted.took_us)] += 1;
    }

    /// By kind and outcome.
    pub(super) fn all(&self) -> Vec<Latencies> {
        self.latencies.values().cloned().collect()
    }
}

/// The bucket of a latency.
fn bucket(took_us: u64) -> usize {
    LATENCY_BOUNDS_US.partition_point(|&bound| bound < took_us)
}

impl Load {
    /// Takes into the record all that operations have left behind.
    pub(super) fn fold(&self) {
        let _folding = lock(&self.folding);
        let mut batches = std::mem::take(&mut *lock(&self.full));
        batches.extend(self.buffers.drain());
        self.fold_batches(&batches);
    }

    /// Takes a batch that a thread had no room for. Whoever ticks folds it; where that is too slow, the thread does, so that memory stays
    /// bounded.
    pub(super) fn put_aside(&self, batch: Batch) {
        let waiting = {
            let mut full = lock(&self.full);
            full.push(batch);
            full.len()
        };
        if waiting > WAITING_MAX {
            self.fold();
        } else {
            self.wake.notify_one();
        }
    }

    fn fold_batches(&self, batches: &[Batch]) {
        // In the order in which operations ended, for whoever looks at neighbours.
        let mut order: Vec<(i64, usize, usize)> = Vec::with_capacity(batches.iter().map(Batch::len).sum());
        for (number, batch) in batches.iter().enumerate() {
            order.extend((0..batch.len()).map(|at| (batch.ended_us(at), number, at)));
        }
        order.sort_unstable();
        let mut tables: Vec<Vec<Option<Arc<Mutex<Table>>>>> =
            batches.iter().map(|batch| vec![None; batch.tables().len()]).collect();
        for chunk in order.chunks(CHECK_EVERY) {
            let size = self.size();
            let mut statistics = lock(&self.statistics);
            for &(_, number, at) in chunk {
                let batch = &batches[number];
                let event = batch.get(at);
                if let Some(counted) = event.counts {
                    statistics.count(counted);
                }
                if event.touch == Touch::Nothing {
                    continue;
                }
                let place = &mut tables[number][event.table];
                let table = place.get_or_insert_with(|| self.table(&batch.tables()[event.table]));
                lock(table).count(&event, &self.costs, size);
            }
            drop(statistics);
            self.keep_within_memory();
        }
    }

    /// The room for one more table.
    pub(super) fn size(&self) -> Size {
        Size::of(self.memory_bytes_max, read(&self.tables).len() + 1)
    }

    /// The record of a table, which is begun if there is none.
    pub(super) fn table(&self, name: &str) -> Arc<Mutex<Table>> {
        if let Some(table) = self.known(name) {
            return table;
        }
        let mut table = Table::default();
        self.ask_engine(name, &mut table);
        Arc::clone(write(&self.tables).entry(name.to_owned()).or_insert_with(|| Arc::new(Mutex::new(table))))
    }

    /// The record of a table, if there is one.
    pub(super) fn known(&self, name: &str) -> Option<Arc<Mutex<Table>>> {
        read(&self.tables).get(name).map(Arc::clone)
    }

    /// All records, by name.
    pub(super) fn all(&self) -> Vec<(String, Arc<Mutex<Table>>)> {
        read(&self.tables).iter().map(|(name, table)| (name.clone(), Arc::clone(table))).collect()
    }

    /// Asks the engine for a table's tablets and its schema. Tablets of a table that is new here are spread over the nodes.
    pub(super) fn ask_engine(&self, name: &str, table: &mut Table) {
        // It may be gone: then there is nothing to learn.
        let Ok(config) = self.engine.table_config(name) else { return };
        table.tablets.refresh(&config.split_points);
        if !table.is_known {
            table.is_known = true;
            self.spread(table);
        }
        let text = config.annotations.get(rowkey_table::SCHEMA_ANNOTATION);
        if table.schema_text.as_ref() != text {
            table.schema_text = text.cloned();
            let schema = rowkey_table::kept_schema(name, &config).ok();
            table.kept_schema = schema.and_then(|schema| rowkey::Codec::new(schema).ok());
        }
    }

    /// Places the tablets of a new table as the simulator does: as many on each node, as nothing is known of their loads; the first on the
    /// node with the fewest.
    fn spread(&self, table: &mut Table) {
        let mut of_node = lock(&self.tablets_of_node);
        let nodes = of_node.len().max(1);
        let first = (0..nodes).min_by_key(|&node| of_node.get(node).copied()).unwrap_or(0);
        let placed = tablet::assign(&vec![0; table.tablets.count()], nodes);
        for (tablet, node) in table.tablets.all_mut().iter_mut().zip(placed) {
            let node = (node + first) % nodes;
            tablet.node = u32::try_from(node).unwrap_or(0);
            if let Some(count) = of_node.get_mut(node) {
                *count += 1;
            }
        }
    }

    /// Lets tables that are in use have larger maps again where there is room for them: a few at a time.
    pub(super) fn use_room(&self, now_ms: i64) {
        const AT_ONCE: usize = 8;
        let room = self.memory_bytes_max.saturating_sub(self.memory_bytes.load(Ordering::Relaxed));
        if room < self.memory_bytes_max / 2 {
            return;
        }
        let (size, since_ms) = (self.size(), now_ms.saturating_sub(2 * MINUTE_MS));
        let grown = self.all().into_iter().filter(|(_, table)| lock(table).grow(since_ms, size));
        grown.take(AT_ONCE).for_each(drop);
    }

    /// Lets tables give up their maps until all fit: those first that were not used for the longest, and of those that were used in the same
    /// minute the largest.
    pub(super) fn keep_within_memory(&self) {
        let tables = self.all();
        let mut sizes: Vec<usize> = tables.iter().map(|(_, table)| lock(table).bytes()).collect();
        let mut all: usize = sizes.iter().sum();
        if all > self.memory_bytes_max {
            let mut order: Vec<(i64, Reverse<usize>, usize)> = (0..tables.len())
                .map(|at| (lock(&tables[at].1).last_ms.div_euclid(MINUTE_MS), Reverse(sizes[at]), at))
                .collect();
            order.sort_unstable();
            // Twice: first all but a coarse map goes, then that as well.
            for (_, _, at) in order.iter().chain(&order) {
                if all <= self.memory_bytes_max {
                    break;
                }
                let mut table = lock(&tables[*at].1);
                if table.shrink() {
                    lock(&self.counters).tables_shrunk += 1;
                }
                let bytes = table.bytes();
                all = all.saturating_sub(sizes[*at]).saturating_add(bytes);
                sizes[*at] = bytes;
            }
        }
        self.memory_bytes.store(all, Ordering::Relaxed);
    }
}

/// The nodes and their rule: the simulator's, for Bigtable on SSD.
pub(super) fn settings(nodes: u32) -> Settings {
    Settings { nodes, ..Settings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_the_first_bucket_that_they_fit() {
        assert_eq!([0, 100, 101, 10_000_000, u64::MAX].map(bucket), [0, 0, 1, 15, 16]);
    }
}
