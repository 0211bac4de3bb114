//! Trimming against a model: whatever part of a row's fragments a compaction sees, no answer changes.

use super::*;
use crate::fragment::{FragmentCell, encode};
use crate::merge::merge;
use crate::random::Random;
use rowkey_store::GcRule;
use std::time::Duration;

/// A row's fragments, newest first, by sequence number.
type Row = Vec<(u64, Bytes)>;

fn cells_of(row: &Row) -> Vec<FragmentCell> {
    merge(row.iter().map(|(_, value)| Ok(value.clone()))).unwrap().0
}

/// What a read with `live` returns.
fn live(row: &Row, rule: Option<&GcRule>, now_us: i64) -> Vec<FragmentCell> {
    let mut nth = 0;
    let mut column = Bytes::new();
    let mut cells = cells_of(row);
    cells.retain(|cell| {
        if cell.qualifier != column {
            column = cell.qualifier.clone();
            nth = 0;
        }
        nth += 1;
        !rule.is_some_and(|rule| rule.takes(nth, cell.timestamp_us, now_us))
    });
    cells
}

/// Trims the fragments for which `seen` answers yes.
fn trim(row: &Row, rule: Option<&GcRule>, now_us: i64, scope: Scope, seen: &mut dyn FnMut() -> bool) -> Row {
    let mut state = RowTrim::new(rule.cloned().map(Arc::new), now_us, scope);
    let mut tally = Tally::default();
    let mut out = Row::new();
    for (sequence, value) in row {
        let outcome = if seen() { state.next(*sequence, value, &mut tally).unwrap() } else { Outcome::Keep };
        match outcome {
            Outcome::Keep => out.push((*sequence, value.clone())),
            Outcome::Replace(value) => out.push((*sequence, value.into())),
            Outcome::Destroy => {}
        }
    }
    out
}

fn rules() -> Vec<Option<GcRule>> {
    let age = |us| GcRule::MaxAge(Duration::from_micros(us));
    vec![
        None,
        Some(GcRule::MaxVersions(1)),
        Some(GcRule::MaxVersions(2)),
        Some(age(6)),
        Some(GcRule::Union(vec![GcRule::MaxVersions(2), age(8)])),
        Some(GcRule::Intersection(vec![GcRule::MaxVersions(1), age(5)])),
    ]
}

/// A random write of one fragment, as the committer makes it. Answers whether it unsettles.
fn write(random: &mut Random, row: &mut Row, sequence: u64, rule: Option<&GcRule>, now_us: i64) -> bool {
    let qualifiers = ["a", "b"].map(|name| Bytes::from_static(name.as_bytes()));
    let qualifier = qualifiers[random.below(2)].clone();
    let time = random.time(12).min(now_us);
    if random.below(3) > 0 {
        let value = sequence.to_string();
        row.insert(0, (sequence, encode(&[], [(&qualifier[..], time, value.as_bytes())], 0).into()));
        return false;
    }
    if random.below(6) == 0 {
        row.insert(0, (sequence, encode(&[Mask::FAMILY], [], 0).into()));
        return false;
    }
    let column: Vec<i64> = cells_of(row)
        .iter()
        .filter(|cell| cell.qualifier == qualifier)
        .map(|cell| cell.timestamp_us)
        .collect();
    let hidden = rowkey_store::gc::hidden_from(rule, column.iter().copied(), now_us);
    let last = time + random.time(4);
    let mut masks = vec![Mask { qualifier: Some(qualifier.clone()), first_us: time, last_us: last }];
    if let Some(at) = hidden {
        masks.push(Mask { qualifier: Some(qualifier.clone()), first_us: 0, last_us: column[at] });
    }
    let killed = |time: &i64| masks.iter().any(|mask| mask.hides(&qualifier, *time));
    let newest_killed = column.iter().copied().find(|time| killed(time));
    let unsettles =
        newest_killed.is_some_and(|newest| column.iter().any(|time| *time < newest && !killed(time)));
    if newest_killed.is_some() {
        row.insert(0, (sequence, encode(&masks, [], 0).into()));
    }
    unsettles
}

#[test]
fn no_compaction_of_any_part_of_a_row_changes_what_lives() {
    for seed in 0..6_000 {
        let mut random = Random(seed);
        let rules = rules();
        let rule = rules[random.below(rules.len())].as_ref();
        let mut plain = Row::new();
        let mut trimmed = Row::new();
        let mut settled = true;
        let mut now_us = 0;
        for sequence in 0..24 {
            now_us += random.time(3);
            let before = random.clone();
            let unsettles = write(&mut random, &mut plain, sequence, rule, now_us);
            // The same write on the store that was trimmed: it must not matter that garbage is gone.
            let mut again = before;
            let _ = write(&mut again, &mut trimmed, sequence, rule, now_us);
            settled &= !unsettles;
            match random.below(6) {
                0 => {
                    trimmed =
                        trim(&trimmed, rule, now_us, Scope::Full { sequence_max: sequence }, &mut || true);
                    settled = true;
                }
                1..4 => {
                    let scope = if settled { Scope::PartialSettled } else { Scope::Partial };
                    let share = 1 + random.below(3);
                    let highest_before = trimmed.first().map(|(sequence, _)| *sequence);
                    let mut picks = random.clone();
                    let all = share == 1;
                    trimmed = trim(&trimmed, rule, now_us, scope, &mut || all || picks.below(share) > 0);
                    if all {
                        assert_eq!(
                            trimmed.first().map(|(sequence, _)| *sequence),
                            highest_before,
                            "seed {seed}"
                        );
                    }
                }
                _ => {}
            }
            assert_eq!(live(&trimmed, rule, now_us), live(&plain, rule, now_us), "seed {seed} at {sequence}");
            // What is not collected yet is never a value that was overwritten or deleted.
            let all = cells_of(&plain);
            assert!(cells_of(&trimmed).iter().all(|cell| all.contains(cell)), "seed {seed} at {sequence}");
        }
    }
}

#[test]
fn a_full_compaction_leaves_no_masks_and_nothing_that_came_in_order() {
    let rule = GcRule::MaxVersions(1);
    let mut row = Row::new();
    for (sequence, time) in (0..10).zip(0..) {
        row.insert(0, (sequence, encode(&[], [(&b"q"[..], time, &b"v"[..])], 0).into()));
    }
    let full = trim(&row, Some(&rule), 100, Scope::Full { sequence_max: 9 }, &mut || true);
    assert_eq!(full.len(), 1);
    let partial = trim(&row, Some(&rule), 100, Scope::PartialSettled, &mut || true);
    assert_eq!(partial.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), [9, 8]);
    row.insert(0, (10, encode(&[Mask::FAMILY], [], 0).into()));
    assert!(trim(&row, Some(&rule), 100, Scope::Full { sequence_max: 10 }, &mut || true).is_empty());
    assert_eq!(trim(&row, Some(&rule), 100, Scope::Full { sequence_max: 9 }, &mut || true).len(), 2);
}
