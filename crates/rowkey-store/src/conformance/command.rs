//! Runs commands on an engine.

use super::parse::{bytes, cell, family, mutations, number, read_request, time, wrong};
use super::{Harness, show};
use crate::{
    CheckAndMutate, Clock as _, DropScope, Durability, Engine, EngineExt, FamilyChange, Granularity,
    ManualClock, ReadModifyWrite, ReadRequest, Result, RowMutation, Snapshot, TableConfig, Timestamp,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Session {
    engine: Arc<dyn Engine>,
    clock: Arc<ManualClock>,
    snapshots: BTreeMap<String, Arc<dyn Snapshot>>,
}

fn done<T>(_: T) -> String {
    "ok\n".to_owned()
}

impl Session {
    pub(super) fn new(engine: Arc<dyn Engine>, clock: Arc<ManualClock>) -> Self {
        Self { engine, clock, snapshots: BTreeMap::new() }
    }

    /// The same session on the engine opened again; views are gone.
    pub(super) fn reopen(self, harness: &mut dyn Harness) -> Self {
        drop(self.snapshots);
        Self::new(harness.reopen(self.engine), self.clock)
    }

    /// Runs one command and answers with what it prints.
    pub(super) fn run(&mut self, command: &str) -> Result<String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let engine = &*self.engine;
        match words[..] {
            ["clock", to] => {
                let now_us = match to.strip_prefix('+') {
                    Some(by) => self.clock.now_us() + time(by)?,
                    None => time(to)?,
                };
                self.clock.set(now_us);
                Ok(String::new())
            }
            ["snapshot", name, table] => {
                self.snapshots.insert(name.to_owned(), engine.snapshot(table)?);
                Ok(String::new())
            }
            ["release", name] => {
                self.snapshots.remove(name);
                Ok(String::new())
            }
            ["read", from, ref options @ ..] => {
                let request = read_request(options)?;
                let rows: Result<Vec<_>> = match from.strip_prefix('@') {
                    Some(name) => {
                        let snapshot = self.snapshots.get(name);
                        snapshot
                            .ok_or_else(|| wrong(format!("no snapshot `{name}`")))?
                            .read_rows(&request)?
                            .collect()
                    }
                    None => engine.read_all(from, &request),
                };
                rows.map(|rows| show::rows(&rows))
            }
            ["mutate", table, ref rows @ ..] => mutate(engine, table, rows),
            ["set", table, key, ref cells @ ..] => {
                let steps: Vec<&str> = cells.iter().flat_map(|cell| ["set", cell, ";"]).collect();
                engine.mutate_row(table, bytes(key)?, mutations(&steps)?).map(done)
            }
            ["check", table, key, ref words @ ..] => check(engine, table, key, words),
            ["rmw", table, key, ref words @ ..] => read_modify_write(engine, table, key, words),
            _ => self.run_admin(&words),
        }
    }

    fn run_admin(&self, words: &[&str]) -> Result<String> {
        let engine = &*self.engine;
        match *words {
            ["create", table, ref options @ ..] => create(engine, table, options),
            ["drop", table] => engine.drop_table(table).map(done),
            ["rename", from, to] => {
                engine.rename_table(from, &String::from_utf8_lossy(&bytes(to)?)).map(done)
            }
            ["tables"] => Ok(engine.list_tables()?.into_iter().map(|table| table + "\n").collect()),
            ["describe", table] => engine.table_config(table).map(|config| show::config(&config)),
            ["protect", table, on] => engine.protect_table(table, on == "on").map(done),
            ["annotate", table, name] => engine.annotate_table(table, name, None).map(done),
            ["annotate", table, name, content] => {
                engine.annotate_table(table, name, Some(bytes(content)?)).map(done)
            }
            ["families", table, ref changes @ ..] => {
                let changes: Vec<FamilyChange> =
                    changes.iter().map(|word| change(word)).collect::<Result<_>>()?;
                engine.modify_families(table, &changes).map(|config| show::config(&config))
            }
            ["drop-rows", table, "all"] => engine.drop_rows(table, &DropScope::All).map(done),
            ["drop-rows", table, prefix] => {
                let prefix = prefix.strip_prefix("prefix=").ok_or_else(|| wrong("drop-rows what?"))?;
                engine.drop_rows(table, &DropScope::Prefix(bytes(prefix)?)).map(done)
            }
            ["split", table, at] => engine.split_tablet(table, &bytes(at)?).map(done),
            ["tablets", table] => engine.tablets(table).map(|tablets| show::tablets(&tablets)),
            ["counters", table] => engine.tablet_counters(table).map(|tablets| show::tablets(&tablets)),
            ["samples", table] => engine.sample_row_keys(table).map(|samples| show::samples(&samples)),
            ["garbage", table] => engine.garbage(table).map(|reports| show::garbage(&reports)),
            ["collect", table] => engine.collect_garbage(table).map(|reports| show::garbage(&reports)),
            ["sync"] => engine.sync().map(done),
            _ => Err(wrong(format!("`{}` is no command", words.join(" ")))),
        }
    }
}

fn create(engine: &dyn Engine, table: &str, options: &[&str]) -> Result<String> {
    let mut config = TableConfig::default();
    for option in options {
        if let Some(point) = option.strip_prefix("split=") {
            config.split_points.push(bytes(point)?);
        } else if *option == "micros" {
            config.granularity = Granularity::Micros;
        } else if *option == "protected" {
            config.deletion_protection = true;
        } else {
            config.families.push(family(option)?);
        }
    }
    let table = bytes(table)?;
    engine.create_table(&String::from_utf8_lossy(&table), &config).map(done)
}

fn change(word: &str) -> Result<FamilyChange> {
    let (sign, rest) = word.split_at_checked(1).ok_or_else(|| wrong("an empty change"))?;
    match sign {
        "+" => Ok(FamilyChange::Create(family(rest)?)),
        "-" => Ok(FamilyChange::Drop { family: rest.to_owned() }),
        "~" => {
            let config = family(rest)?;
            Ok(FamilyChange::SetGcRule { family: config.name, gc_rule: config.gc_rule })
        }
        _ => Err(wrong(format!("`{word}` is no change of a family"))),
    }
}

fn mutate(engine: &dyn Engine, table: &str, words: &[&str]) -> Result<String> {
    let row = |words: &[&str]| {
        let (key, steps) = words.split_first().ok_or_else(|| wrong("a row without key"))?;
        Ok(RowMutation { key: bytes(key)?, mutations: mutations(steps)? })
    };
    let rows: Vec<RowMutation> = words.split(|word| *word == "|").map(row).collect::<Result<_>>()?;
    let results = engine.mutate_rows(table, rows, Durability::Synced)?;
    let show = |result: Result<()>| match result {
        Ok(()) => "ok\n".to_owned(),
        Err(error) => format!("error {:?}: {error}\n", error.kind()),
    };
    Ok(results.into_iter().map(show).collect())
}

fn check(engine: &dyn Engine, table: &str, key: &str, words: &[&str]) -> Result<String> {
    let mut parts = words.split(|word| matches!(*word, "then" | "else"));
    let ReadRequest { selection, filter, .. } = read_request(parts.next().unwrap_or_default())?;
    let branches = ["then", "else"].map(|branch| {
        let behind = words.iter().position(|word| *word == branch).map_or(&[][..], |at| &words[at + 1..]);
        mutations(behind.split(|word| *word == "else").next().unwrap_or_default())
    });
    let [then, otherwise] = branches;
    let request = CheckAndMutate {
        key: bytes(key)?,
        columns: selection.columns,
        predicate: filter,
        then: then?,
        otherwise: otherwise?,
    };
    let matched = engine.check_and_mutate_row(table, &request)?;
    Ok(if matched { "matched\n" } else { "not matched\n" }.to_owned())
}

fn read_modify_write(engine: &dyn Engine, table: &str, key: &str, words: &[&str]) -> Result<String> {
    let (timestamp, words) = match words {
        [first, rest @ ..] if first.starts_with('@') => (Timestamp::Micros(time(&first[1..])?), rest),
        _ => (Timestamp::Server, words),
    };
    let rules = words.split(|word| *word == ";").filter(|rule| !rule.is_empty()).map(|rule| match *rule {
        ["append", word] => {
            let (family, qualifier, _, suffix) = cell(word)?;
            Ok(ReadModifyWrite::Append { family, qualifier, suffix: bytes(suffix)? })
        }
        ["increment", word] => {
            let (family, qualifier, _, amount) = cell(word)?;
            Ok(ReadModifyWrite::Increment { family, qualifier, amount: number(amount)? })
        }
        _ => Err(wrong(format!("`{}` is no rule", rule.join(" ")))),
    });
    let rules: Vec<ReadModifyWrite> = rules.collect::<Result<_>>()?;
    let row = engine.read_modify_write_row(table, &bytes(key)?, &rules, timestamp)?;
    Ok(show::rows(&[row]))
}
