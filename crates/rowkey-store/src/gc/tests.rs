//! Rules: text, verdicts, and the properties that compaction relies on.

use super::*;
use proptest::prelude::*;

fn age(seconds: u64) -> GcRule {
    GcRule::MaxAge(Duration::from_secs(seconds))
}

/// Which cells of a column at these times (newest first) are left when it is 100 s.
fn left(rule: &str, seconds: &[i64]) -> usize {
    let rule = parse_rule(rule).unwrap();
    let times = seconds.iter().map(|seconds| seconds * 1_000_000);
    hidden_from(rule.as_ref(), times, 100_000_000).unwrap_or(seconds.len())
}

#[test]
fn versions_are_counted_from_the_newest_and_ages_from_now() {
    assert_eq!(left("never", &[9, 8, 7]), 3);
    assert_eq!(left("maxversions=2", &[9, 8, 7]), 2);
    assert_eq!(left("maxage=10s", &[95, 90, 89]), 2, "exactly 10 s old is not older than 10 s");
    assert_eq!(left("maxage=10s || maxversions=1", &[95, 94, 89]), 1);
    assert_eq!(left("maxage=10s && maxversions=1", &[95, 94, 89]), 2);
    assert_eq!(left("maxage=10s && maxversions=1", &[5]), 1, "the newest stays, however old");
    assert_eq!(left("maxage=50s || (maxage=10s && maxversions=2)", &[95, 94, 80, 10]), 2);
    assert_eq!(left("maxage=50s || (maxage=10s && maxversions=2)", &[80, 79, 49]), 2);
    assert_eq!(left("(maxage=10s || maxversions=3) && maxversions=1", &[99, 98, 50]), 2);
}

#[test]
fn a_rule_is_printed_as_cbt_reads_it() {
    let check = |text: &str, printed: &str| {
        let rule = parse_rule(text).unwrap();
        assert_eq!(format_rule(rule.as_ref()), printed);
        assert_eq!(parse_rule(printed).unwrap(), rule);
    };
    check("never", "never");
    check("  ", "never");
    check("maxage = 168h", "maxage=7d");
    check("maxage=10ms", "maxage=10ms");
    check("maxage=1500us", "maxage=1500us");
    check("maxversions=3", "maxversions=3");
    check("maxage=7d||maxversions=1", "maxage=7d || maxversions=1");
    check("maxage=30d or (maxage=3d and maxversions=100)", "maxage=30d || (maxage=3d && maxversions=100)");
    check("((maxage=90m))", "maxage=90m");
    check("maxage=1s || maxage=2s || maxage=3s", "maxage=1s || maxage=2s || maxage=3s");
}

#[test]
fn sets_of_one_rule_are_printed_without_a_trace() {
    let union = GcRule::Union(vec![age(1), age(2)]);
    let nested = GcRule::Intersection(vec![GcRule::Union(vec![union]), GcRule::MaxVersions(1)]);
    assert_eq!(nested.to_string(), "(maxage=1s || maxage=2s) && maxversions=1");
    assert_eq!(GcRule::Union(vec![age(1)]).to_string(), "maxage=1s");
}

#[test]
fn what_is_no_rule_is_refused_with_what_to_write() {
    let check = |text: &str, wanted: &str| {
        let error = parse_rule(text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{text}: {error}");
    };
    check("maxage=7", "one of d, h, m, s, ms, us");
    check("maxage=3.5h", "`.` is not expected");
    check("maxage=7ns", "one of d, h, m, s, ms, us");
    check("maxage=d", "write a whole number");
    check("maxage=106751992d", "longer than timestamps reach");
    check("maxage=99999999999999999999d", "write a whole number");
    check("maxage=999us", "the least is maxage=1ms");
    check("maxversions=0", "the least is maxversions=1");
    check("maxversions=x", "no number of versions");
    check("maxversions=3000000000", "above the greatest");
    check("maxversions 3", "`=` is expected in place of `3`");
    check("maxage=7d | maxversions=1", "`|` is not expected");
    check("maxage=7d maxversions=1", "join rules with");
    check("maxage=7d ||", "it ends too early");
    check("(maxage=7d", "`)` is missing");
    check("never || maxage=7d", "stands alone");
    check("keep=7d", "`keep` is not expected");
    check(
        "maxage=1s || maxage=2s && maxversions=1",
        "cbt would read it as `(maxage=1s || maxage=2s) && ...`",
    );
    check(&"(".repeat(100_000), "too many parentheses");
    check(&vec!["maxage=1s"; 100].join("||"), "the limit is 500");
    assert!("never".parse::<GcRule>().is_err());
}

#[test]
fn empty_sets_of_rules_are_refused_and_take_nothing() {
    assert!(check_rule(&GcRule::Union(vec![])).is_err());
    let empty = GcRule::Intersection(vec![]);
    assert!(check_rule(&empty).is_err());
    assert!(!empty.takes(9, 0, i64::MAX));
    let mut deep = age(1);
    for _ in 0..1000 {
        deep = GcRule::Union(vec![deep]);
    }
    assert!(check_rule(&deep).is_err());
}

#[test]
fn the_size_of_a_rule_is_that_of_its_message() {
    assert_eq!(encoded_len(&GcRule::MaxVersions(1)), 2);
    assert_eq!(encoded_len(&GcRule::MaxVersions(300)), 3);
    assert_eq!(encoded_len(&age(604_800)), 6); // 12 04 08 80 f5 24
    assert_eq!(encoded_len(&GcRule::Union(vec![GcRule::MaxVersions(1), age(604_800)])), 14);
}

fn rules() -> impl Strategy<Value = GcRule> {
    let leaf = prop_oneof![
        (1u32..5).prop_map(GcRule::MaxVersions),
        (1u64..20_000).prop_map(|age_us| GcRule::MaxAge(Duration::from_micros(999 + age_us))),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(GcRule::Union),
            prop::collection::vec(inner, 2..4).prop_map(GcRule::Intersection),
        ]
    })
}

proptest! {
    #[test]
    fn the_hidden_cells_are_a_tail(
        rule in rules(),
        times in prop::collection::btree_set(0i64..40_000, 0..8),
        now in 0i64..60_000,
    ) {
        let times: Vec<i64> = times.into_iter().rev().collect();
        let hidden: Vec<bool> =
            (1..).zip(&times).map(|(nth, time)| rule.takes(nth, *time, now)).collect();
        let from = hidden_from(Some(&rule), times.iter().copied(), now).unwrap_or(times.len());
        prop_assert!(hidden.iter().enumerate().all(|(index, hidden)| *hidden == (index >= from)));
    }

    #[test]
    fn taking_the_hidden_cells_early_changes_nothing_later(
        rule in rules(),
        times in prop::collection::btree_set(0i64..40_000, 0..8),
        added in prop::collection::btree_set(0i64..40_000, 0..4),
        now in 0i64..30_000,
        later in 0i64..30_000,
    ) {
        // Without deletes in between: those take the hidden cells themselves, see `Mutation::DeleteFromColumn`.
        let live = |times: &std::collections::BTreeSet<i64>, now: i64| -> Vec<i64> {
            let times: Vec<i64> = times.iter().rev().copied().collect();
            let from = hidden_from(Some(&rule), times.iter().copied(), now).unwrap_or(times.len());
            times[..from].to_vec()
        };
        let collected = live(&times, now).into_iter().chain(added.iter().copied()).collect();
        let kept = times.into_iter().chain(added).collect();
        prop_assert_eq!(live(&collected, now + later), live(&kept, now + later));
    }

    #[test]
    fn what_is_printed_is_read_back(rule in rules()) {
        match parse_rule(&rule.to_string()) {
            Ok(read) => prop_assert_eq!(read, Some(rule)),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Limit),
        }
    }

    #[test]
    fn any_text_is_a_rule_or_an_error(text in "(maxage|maxversions|=|[0-9]{1,3}|[dhms]|\\(|\\)|&&|or| |é){0,12}") {
        let _ = parse_rule(&text);
    }
}
