//! What runs by the clock: folding four times a second or more often, cuts every 5 seconds, placement every 10 seconds, history every minute.

use super::hot::MINUTE_MS;
use super::table::Table;
use super::{Load, split};
use crate::lock::{lock, read, write};
use crate::shared::Shared;
use rowkey_hotspot::sim::{BalanceGoal, moves_by_load};
use rowkey_store::escape::escaped;
use rowkey_store::{Result, RowKey};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

const TICK: Duration = Duration::from_millis(250);
const LOOK_MS: i64 = 5_000;
const BALANCE_MS: i64 = 10_000;
/// A save that failed is tried again after so long.
const RETRY_MS: i64 = 10_000;
/// Differences of nodes below this part of their mean load are left alone, as in the simulator.
const SLACK: f64 = 0.05;

/// When what is due next, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    look: i64,
    balance: i64,
    save: i64,
    compact: i64,
}

/// Whether something is due, and if so, when next. A clock that was put back makes everything due.
fn is_due(next_ms: &mut i64, now_ms: i64, every_ms: i64) -> bool {
    if now_ms < *next_ms && *next_ms - now_ms <= every_ms {
        return false;
    }
    // At whole multiples, so that minutes end when they end.
    *next_ms = now_ms.div_euclid(every_ms).saturating_add(1).saturating_mul(every_ms);
    true
}

impl Load {
    /// Starts what runs by the clock.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        services: &mut JoinSet<Result<()>>,
        runtime: &Handle,
        stopping: &watch::Receiver<bool>,
    ) {
        let (load, mut stopping) = (Arc::clone(&shared.load), stopping.clone());
        let task = async move {
            let mut ticks = tokio::time::interval(TICK);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = load.wake.notified() => {}
                    _ = stopping.wait_for(|stop| *stop) => return Ok(()),
                }
                let load = Arc::clone(&load);
                if let Err(error) = tokio::task::spawn_blocking(move || load.tick()).await {
                    tracing::warn!("recording load: {error}");
                }
            }
        };
        services.spawn_on(task, runtime);
    }

    /// Does what is due.
    pub(crate) fn tick(&self) {
        self.fold();
        let now_ms = self.now_ms();
        let (look, balance, save, compact) = {
            let mut schedule = lock(&self.schedule);
            (
                is_due(&mut schedule.look, now_ms, LOOK_MS),
                is_due(&mut schedule.balance, now_ms, BALANCE_MS),
                is_due(&mut schedule.save, now_ms, MINUTE_MS),
                is_due(&mut schedule.compact, now_ms, super::hot::QUARTER_MS),
            )
        };
        if look {
            self.refresh();
            self.cut(now_ms);
        }
        if balance {
            self.balance(now_ms);
        }
        if save {
            self.forget_dropped();
            self.use_room(now_ms);
            if let Err(error) = self.save_minutes(now_ms, false) {
                lock(&self.counters).save_failures += 1;
                lock(&self.schedule).save = now_ms.saturating_add(RETRY_MS);
                tracing::warn!("the history of load cannot be saved, and is tried again: {error}");
            }
        }
        if compact && let Err(error) = self.compact(now_ms) {
            tracing::warn!("old history of load stays as it is for now: {error}");
        }
    }

    /// Has the engine's tablets of all tables that are in use.
    pub(super) fn refresh(&self) {
        for (name, table) in self.all() {
            self.ask_engine(&name, &mut lock(&table));
        }
        self.count_tablets();
    }

    fn count_tablets(&self) {
        let mut counts = vec![0; self.settings.nodes as usize];
        for (_, table) in self.all() {
            for tablet in lock(&table).tablets.all() {
                if let Some(count) = counts.get_mut(tablet.node as usize) {
                    *count += 1;
                }
            }
        }
        *lock(&self.tablets_of_node) = counts;
    }

    /// Cuts tablets that are too busy.
    fn cut(&self, now_ms: i64) {
        let Some(rule) = self.settings.load else { return };
        for (name, table) in self.all() {
            let cuts = split::look(&mut lock(&table).tablets, now_ms, &rule);
            if cuts.is_empty() {
                continue;
            }
            for key in cuts {
                self.cut_at(&name, &key);
            }
            self.ask_engine(&name, &mut lock(&table));
        }
    }

    fn cut_at(&self, table: &str, key: &RowKey) {
        let result = self.engine.split_tablet(table, key);
        let mut counters = lock(&self.counters);
        match result {
            Ok(()) => {
                counters.splits += 1;
                tracing::info!("table `{table}`: a busy tablet is cut at `{}`", escaped(key));
            }
            Err(error) => {
                counters.split_failures += 1;
                tracing::warn!("table `{table}`: a busy tablet cannot be cut at `{}`: {error}", escaped(key));
            }
        }
    }

    /// Moves tablets from busy nodes to others, as the simulator's balancer does.
    fn balance(&self, now_ms: i64) {
        let tables: Vec<(String, Arc<Mutex<Table>>)> = self.all();
        let nodes = self.settings.nodes as usize;
        // Which tablet each number is: its table, and its first key, since it may be cut meanwhile.
        let mut tablets: Vec<(usize, RowKey)> = Vec::new();
        let (mut loads, mut node_of, mut operations) = (Vec::new(), Vec::new(), 0_u64);
        for (number, (_, table)) in tables.iter().enumerate() {
            let table = lock(table);
            for (at, tablet) in table.tablets.all().iter().enumerate() {
                let minute = tablet.recent.minute(now_ms);
                tablets.push((number, table.tablets.range(at).start));
                loads.push(minute.work_ns);
                node_of.push(tablet.node);
                operations = operations.saturating_add(minute.operations());
            }
        }
        let Some(goal) = goal(&loads, nodes, operations, self.settings.moves_share) else { return };
        for moved in moves_by_load(&loads, &node_of, nodes, &goal) {
            let (number, start) = &tablets[moved.tablet];
            let mut table = lock(&tables[*number].1);
            let at = table.tablets.find(start);
            table.tablets.all_mut()[at].node = u32::try_from(moved.to).unwrap_or(0);
            lock(&self.counters).moves += 1;
        }
        self.count_tablets();
    }

    /// Gives up the records of tables that the engine does not have any more.
    fn forget_dropped(&self) {
        let before: Vec<String> = read(&self.tables).keys().cloned().collect();
        let Ok(there) = self.engine.list_tables() else { return };
        let there: BTreeSet<String> = there.into_iter().collect();
        for name in before.iter().filter(|name| !there.contains(*name)) {
            write(&self.tables).remove(name);
        }
    }
}

/// What the balancer is to reach; `None`: there is nothing to balance.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "loads of a minute are far below 2^53 ns, and not negative"
)]
fn goal(loads: &[u64], nodes: usize, operations: u64, moves_share: f64) -> Option<BalanceGoal> {
    let sum: u64 = loads.iter().fold(0, |sum, load| sum.saturating_add(*load));
    if sum == 0 || nodes < 2 {
        return None;
    }
    let mean = sum as f64 / nodes as f64;
    // What chance alone does to the load of a node.
    let chance = 3.0 * (nodes as f64 / operations.max(1) as f64).sqrt();
    let slack = mean * SLACK.max(chance.min(1.0));
    let moves_max = (nodes as f64 * moves_share).ceil().max(1.0) as usize;
    Some(BalanceGoal { moves_max, slack: slack.round() as u64, even_max: (mean + slack) as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_due_once_and_at_whole_multiples() {
        let mut next = 0;
        let due: Vec<i64> = [0, 1, 4_999, 5_000, 7_000, 9_999, 10_001, 60_000, 60_001, 100, 5_000]
            .into_iter()
            .filter(|&now| is_due(&mut next, now, 5_000))
            .collect();
        assert_eq!(due, [0, 5_000, 10_001, 60_000, 100, 5_000]);
    }

    #[test]
    fn few_operations_are_left_where_they_are() {
        assert_eq!(goal(&[0, 0], 2, 0, 0.1), None);
        assert_eq!(goal(&[5], 1, 9, 0.1), None);
        let many = goal(&[1_000, 3_000], 2, 1_000_000, 0.1).unwrap();
        assert_eq!(many, BalanceGoal { moves_max: 1, slack: 100, even_max: 2_100 });
        let few = goal(&[1_000, 3_000], 2, 4, 0.1).unwrap();
        assert_eq!(few.slack, 2_000);
    }
}
