//! Which tablets are cut because of their load: the simulator's rule for Bigtable, so that the page shows what the simulator would.
//!
//! A tablet is busy when it takes half of a node or more. One that has been busy for 60 seconds is cut at the middle of its latest
//! operations, and neither part again for 60 seconds. One row cannot be cut: then its state says so.

use super::answer::TabletState;
use super::hot::{MINUTE_MS, percent};
use super::tablets::{Tablet, Tablets};
use rowkey_hotspot::sim::LoadRule;
use rowkey_store::{RowKey, RowRange, tablet};

/// Keys are kept of a tablet from this part of the threshold on, and until it falls below half of that.
const WATCH: f64 = 0.5;
/// Tablets of a table up to which it is cut by load. A front that moves on is cut every minute or two for ever, and nothing unites what
/// it leaves behind.
pub(super) const TABLETS_MAX: usize = 512;

/// The share of a node that a tablet took in the last minute.
pub(super) fn share(tablet: &Tablet, now_ms: i64) -> f64 {
    percent(tablet.recent.minute(now_ms).work_ns, MINUTE_MS) / 100.0
}

/// Looks at all tablets of a table: notes how each stands, and answers where to cut.
pub(super) fn look(tablets: &mut Tablets, now_ms: i64, rule: &LoadRule) -> Vec<RowKey> {
    let count = tablets.count();
    let mut cuts = Vec::new();
    for at in 0..count {
        let range = tablets.range(at);
        let may_cut = count + cuts.len() < TABLETS_MAX;
        cuts.extend(look_at(&mut tablets.all_mut()[at], &range, now_ms, rule, may_cut));
    }
    cuts
}

fn look_at(
    tablet: &mut Tablet,
    range: &RowRange,
    now_ms: i64,
    rule: &LoadRule,
    may_cut: bool,
) -> Option<RowKey> {
    let share = share(tablet, now_ms);
    if share >= WATCH * rule.threshold {
        tablet.watch(true);
    } else if share < 0.5 * WATCH * rule.threshold {
        tablet.watch(false);
    }
    if share < rule.threshold {
        tablet.busy_since_ms = None;
        tablet.state = TabletState::Quiet;
        return None;
    }
    let since_ms = *tablet.busy_since_ms.get_or_insert(now_ms);
    if !may_cut {
        tablet.state = TabletState::TooMany;
        return None;
    }
    let sustained_ms = i64::from(rule.sustained_s) * 1_000;
    if now_ms.saturating_sub(since_ms) < sustained_ms || now_ms < tablet.rests_until_ms {
        if tablet.state != TabletState::OneRow {
            tablet.state = TabletState::Busy;
        }
        return None;
    }
    let samples = tablet.samples();
    let cut = tablet::choose_split(range, &samples, 0);
    tablet.state = if cut.is_none() && !samples.is_empty() { TabletState::OneRow } else { TabletState::Busy };
    if cut.is_some() {
        tablet.rests_until_ms = now_ms.saturating_add(i64::from(rule.pause_s) * 1_000);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::super::answer::Sums;
    use super::*;
    use rowkey_hotspot::sim::Settings;

    /// Writes of `keys` in turn, so much of a node, for so many seconds; answers when and where it is cut.
    fn run(keys: &[&str], share: f64, seconds: i64) -> (Vec<(i64, String)>, Tablets) {
        let rule = Settings::default().load.unwrap();
        let mut tablets = Tablets::default();
        let mut points = Vec::new();
        let mut cuts = Vec::new();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small share")]
        let work_ns = (share * 1e9) as u64 / 10;
        for second in 0..seconds {
            for tenth in 0..10 {
                let key = keys[usize::try_from(second * 10 + tenth).unwrap() % keys.len()];
                let sums = Sums { writes: 1, work_ns, ..Sums::default() };
                tablets.add(second * 1_000 + tenth * 100, key.as_bytes(), &sums, &mut Vec::new());
            }
            for cut in look(&mut tablets, second * 1_000, &rule) {
                cuts.push((second, String::from_utf8_lossy(&cut).into_owned()));
                points.push(cut);
                points.sort();
                tablets.refresh(&points);
            }
        }
        (cuts, tablets)
    }

    #[test]
    fn a_busy_tablet_is_cut_in_the_middle_after_a_minute_and_its_parts_rest() {
        let (cuts, tablets) = run(&["a", "b", "c", "d"], 1.5, 300);
        assert_eq!(cuts.len(), 3, "{cuts:?}");
        assert_eq!(cuts[0].1, "c");
        assert!((60..120).contains(&cuts[0].0), "{cuts:?}");
        // Each half has 0.75 of a node, and is cut as well; quarters have 0.375.
        assert!(cuts[1..].iter().all(|cut| cut.0 >= cuts[0].0 + 60), "{cuts:?}");
        assert!(tablets.all().iter().all(|tablet| tablet.state == TabletState::Quiet));
    }

    #[test]
    fn less_than_half_of_a_node_is_left_alone() {
        assert!(run(&["a", "b"], 0.45, 300).0.is_empty());
    }

    #[test]
    fn one_row_cannot_be_cut_and_says_so() {
        let (cuts, tablets) = run(&["k"], 2.0, 300);
        assert!(cuts.is_empty());
        assert_eq!(tablets.all()[0].state, TabletState::OneRow);
        // With others around, it is cut free of them first.
        let (cuts, tablets) = run(&["a", "k", "k", "k", "k", "k", "k", "k", "k", "x"], 4.0, 500);
        let mut keys: Vec<&str> = cuts.iter().map(|cut| cut.1.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["k", "x"]);
        let states: Vec<TabletState> = tablets.all().iter().map(|tablet| tablet.state).collect();
        assert_eq!(states, [TabletState::Quiet, TabletState::OneRow, TabletState::Quiet]);
    }
}
