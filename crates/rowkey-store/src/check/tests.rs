//! Requests that are refused, and with which words.

use super::*;
use crate::{
    CheckAndMutate, ColumnSelection, DropScope, FamilyChange, FamilyConfig, Filter, Granularity, Mutation,
    ReadModifyWrite, ReadRequest, RowMutation, Timestamp, ValueType,
};
use bytes::Bytes;
use std::ops::Bound;

fn family(name: &str) -> FamilyConfig {
    FamilyConfig { name: name.to_owned(), gc_rule: None, value_type: ValueType::Bytes }
}

fn config() -> TableConfig {
    TableConfig { families: vec![family("a"), family("b")], ..TableConfig::default() }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn one(mutation: Mutation) -> Result<()> {
    row_mutation("t", &config(), &RowMutation { key: "k\x00".into(), mutations: vec![mutation] })
}

fn set(family: &str, time_us: i64) -> Mutation {
    Mutation::set(family, "q", Timestamp::Micros(time_us), "v")
}

#[test]
fn tables_are_checked_and_their_families_come_by_name() {
    let good = TableConfig { families: vec![family("z"), family("A.b-c_1")], ..TableConfig::default() };
    let kept = new_table("_t.1-x", &good).unwrap();
    assert_eq!(kept.families[0].name, "A.b-c_1");
    let name = |name: &str, kind, words| refused(new_table(name, &good), kind, words);
    name("", ErrorKind::Invalid, "is empty");
    name("a b", ErrorKind::Invalid, "only letters, digits");
    name("täble", ErrorKind::Invalid, "only letters, digits");
    name(".t", ErrorKind::Invalid, "begins with");
    name(&"t".repeat(51), ErrorKind::Limit, "the limit is 50");
    let bad = |families: Vec<FamilyConfig>, splits: &[&'static str], kind, words| {
        let split_points = splits.iter().map(|split| Bytes::from(*split)).collect();
        refused(
            new_table("t", &TableConfig { families, split_points, ..TableConfig::default() }),
            kind,
            words,
        );
    };
    bad(vec![family("bad id!/x")], &[], ErrorKind::Invalid, "only letters, digits");
    bad(vec![family(&"f".repeat(65))], &[], ErrorKind::Limit, "the limit is 64");
    bad(vec![family("f"), family("f")], &[], ErrorKind::Invalid, "given twice");
    bad((0..101).map(|n| family(&format!("f{n}"))).collect(), &[], ErrorKind::Limit, "the limit is 100");
    bad(vec![], &[""], ErrorKind::Invalid, "split point is empty");
    bad(vec![], &["a", "a"], ErrorKind::Invalid, "`a` is given twice");
    bad(vec![], &["b", "a"], ErrorKind::Invalid, "`a` comes behind `b`; sort them");
    refused(annotation("t", "x y", None), ErrorKind::Invalid, "only letters");
    refused(drop_scope("t", &DropScope::Prefix(Bytes::new())), ErrorKind::Invalid, "ask for all");
}

#[test]
fn changes_of_families_apply_in_order_all_or_none() {
    let create = |name: &str| FamilyChange::Create(family(name));
    let drop = |name: &str| FamilyChange::Drop { family: name.to_owned() };
    let change = |changes: &[FamilyChange]| family_changes("t", &config(), changes);
    let plan = change(&[create("z"), create("m"), drop("a"), create("a"), create("x"), drop("x")]).unwrap();
    let names: Vec<&str> = plan.config.families.iter().map(|family| family.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "m", "z"]);
    assert_eq!(plan.dropped, ["a"]);
    assert_eq!(plan.created, ["a", "m", "z"]);
    refused(change(&[create("n"), drop("x")]), ErrorKind::NotFound, "family not found: `x`");
    refused(change(&[create("a")]), ErrorKind::AlreadyExists, "`a` exists already");
    refused(change(&[]), ErrorKind::Invalid, "no changes");
    let protected = TableConfig { deletion_protection: true, ..config() };
    refused(family_changes("t", &protected, &[create("n"), drop("x")]), ErrorKind::Conflict, "protected");
    refused(drop_table("t", &protected), ErrorKind::Conflict, "protected");
}

#[test]
fn mutations_are_refused_in_bigtables_words() {
    one(set("a", 0)).unwrap();
    refused(
        one(set("x", 0)),
        ErrorKind::NotFound,
        "Error while mutating the row 'k\\x00' (t) : Requested column family not found: `x`; the table has: a, b",
    );
    refused(one(set("a", -1)), ErrorKind::Invalid, "timestamp -1 is negative");
    refused(
        one(set("a", 1234)),
        ErrorKind::Invalid,
        "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got 1234",
    );
    let micros = TableConfig { granularity: Granularity::Micros, ..config() };
    row_mutation("t", &micros, &RowMutation { key: "k".into(), mutations: vec![set("a", 1234)] }).unwrap();
    let delete =
        |times_us| Mutation::DeleteFromColumn { family: "a".into(), qualifier: "q".into(), times_us };
    one(delete(Some(0..1))).unwrap();
    refused(one(delete(Some(5..5))), ErrorKind::Invalid, "end behind its start");
    refused(one(Mutation::DeleteFromFamily { family: "x".into() }), ErrorKind::NotFound, "not found: `x`");
    let long = Mutation::set("a", vec![0; 16 * 1024 + 1], Timestamp::Server, "v");
    refused(one(long), ErrorKind::Limit, "the limit is 16384");
    let row = |key: &[u8], mutations| RowMutation { key: Bytes::copy_from_slice(key), mutations };
    let check = |row: &RowMutation| row_mutation("t", &config(), row);
    refused(check(&row(b"", vec![set("a", 0)])), ErrorKind::Invalid, "Row keys must be non-empty");
    refused(check(&row(&[b'k'; 4097], vec![set("a", 0)])), ErrorKind::Limit, "the limit is 4096");
    check(&row(&[b'k'; 4096], vec![set("a", 0)])).unwrap();
    refused(check(&row(b"k", vec![])), ErrorKind::Invalid, "No mutations provided");
    refused(
        check(&row(b"k", vec![Mutation::DeleteFromRow; 100_001])),
        ErrorKind::Limit,
        "the limit is 100000",
    );
    let half = row(b"k", vec![Mutation::DeleteFromRow; 50_001]);
    refused(mutate_rows("t", &[half.clone(), half]), ErrorKind::Limit, "send fewer rows at once");
}

#[test]
fn steps_must_fit_the_type_of_their_family() {
    let sum = FamilyConfig { value_type: ValueType::IntSum, ..family("s") };
    let config = TableConfig { families: vec![family("a"), sum], ..TableConfig::default() };
    let one = |step| row_mutation("t", &config, &RowMutation { key: "k".into(), mutations: vec![step] });
    let add = |family: &str, time_us| Mutation::add(family, "q", Timestamp::Micros(time_us), 1);
    let merge = |family: &str, state: &'static [u8]| Mutation::MergeToCell {
        family: family.to_owned(),
        qualifier: "q".into(),
        timestamp: Timestamp::Server,
        state: Bytes::from_static(state),
    };
    let mismatch = "Column family type mismatch";
    one(add("s", 0)).unwrap();
    one(merge("s", b"12345678")).unwrap();
    one(merge("s", b"")).unwrap();
    refused(one(set("s", 0)), ErrorKind::Invalid, mismatch);
    refused(one(add("a", 0)), ErrorKind::Invalid, mismatch);
    refused(one(merge("a", b"")), ErrorKind::Invalid, mismatch);
    refused(one(add("x", 0)), ErrorKind::NotFound, "not found: `x`");
    refused(one(add("s", 1)), ErrorKind::Invalid, "Timestamp granularity mismatch");
    refused(one(merge("s", b"1234567")), ErrorKind::Invalid, "has 7 bytes");
    refused(one(merge("s", b"123456789")), ErrorKind::Invalid, "has 9 bytes");
    let rule = ReadModifyWrite::Increment { family: "s".to_owned(), qualifier: "q".into(), amount: 1 };
    let increment = read_modify_write("t", &config, b"k", &[rule], Timestamp::Server);
    refused(increment, ErrorKind::Invalid, mismatch);
}

#[test]
fn the_servers_time_is_cut_to_the_granularity() {
    assert_eq!(timestamp_us(Timestamp::Server, Granularity::Millis, 1_234_567), 1_234_000);
    assert_eq!(timestamp_us(Timestamp::Server, Granularity::Micros, 1_234_567), 1_234_567);
    assert_eq!(timestamp_us(Timestamp::Micros(5000), Granularity::Millis, 0), 5000);
}

#[test]
fn conditional_and_read_modify_writes_are_checked_whole() {
    let request = |predicate, then| CheckAndMutate {
        key: "k".into(),
        columns: ColumnSelection::All,
        predicate,
        then,
        otherwise: vec![],
    };
    let check = |request: &CheckAndMutate| check_and_mutate("t", &config(), request);
    check(&request(None, vec![Mutation::DeleteFromRow])).unwrap();
    refused(check(&request(None, vec![])), ErrorKind::Invalid, "No mutations provided");
    refused(
        check(&request(Some(Filter::RowSample(2.0)), vec![Mutation::DeleteFromRow])),
        ErrorKind::Invalid,
        "a sample of 2 of the rows",
    );
    let append = |family: &str| ReadModifyWrite::Append {
        family: family.to_owned(),
        qualifier: "q".into(),
        suffix: "s".into(),
    };
    let rmw = |rules: &[ReadModifyWrite]| read_modify_write("t", &config(), b"k", rules, Timestamp::Server);
    rmw(&[append("a")]).unwrap();
    refused(rmw(&[]), ErrorKind::Invalid, "No rules provided");
    refused(rmw(&[append("a"), append("x")]), ErrorKind::NotFound, "not found: `x`");
}

#[test]
fn filters_are_checked_whole() {
    let check = |filter: Filter, kind, words| {
        let request = ReadRequest { filter: Some(filter), ..ReadRequest::default() };
        refused(read_request("t", &config(), &request), kind, words);
    };
    check(Filter::Chain(vec![Filter::PassAll]), ErrorKind::Invalid, "at least 2");
    check(Filter::Interleave(vec![]), ErrorKind::Invalid, "at least 2");
    check(Filter::ApplyLabel("UP_1x".into()), ErrorKind::Invalid, "lower-case");
    check(Filter::ApplyLabel("a".repeat(16)), ErrorKind::Limit, "the limit is 15");
    check(Filter::Chain(vec![Filter::ApplyLabel("a".into()); 2]), ErrorKind::Invalid, "two labels");
    check(Filter::CellsPerRowLimit(0), ErrorKind::Invalid, "the least is 1");
    check(Filter::RowSample(f64::NAN), ErrorKind::Invalid, "more than 0 and less than 1");
    let no_family =
        Filter::QualifierRange { family: String::new(), start: Bound::Unbounded, end: Bound::Unbounded };
    check(no_family, ErrorKind::Invalid, "without a family");
    check(Filter::RowKeyRegex("".into()), ErrorKind::Invalid, "empty pattern");
    check(Filter::FamilyRegex("a:?".into()), ErrorKind::Invalid, "has a `:`");
    check(Filter::QualifierRegex("(".into()), ErrorKind::Invalid, "filter of qualifiers: the pattern `(`");
    let in_condition = |place: usize| {
        let mut branches = [Filter::PassAll, Filter::PassAll, Filter::PassAll];
        branches[place] = Filter::Interleave(vec![Filter::PassAll, Filter::Sink]);
        let [predicate, then, otherwise] = branches.map(Box::new);
        Filter::Condition { predicate, then: Some(then), otherwise: Some(otherwise) }
    };
    for place in 0..3 {
        check(in_condition(place), ErrorKind::Invalid, "a sink inside of a condition");
    }
    let large = || Filter::ValueRegex("[a-z]{1000}".repeat(70).into());
    filter(&large()).unwrap();
    check(Filter::Chain(vec![large(), large()]), ErrorKind::Limit, "states together");
    let nested = |levels| {
        (1..levels).fold(Filter::PassAll, |filter, _| Filter::Interleave(vec![filter, Filter::PassAll]))
    };
    filter(&nested(20)).unwrap();
    check(nested(21), ErrorKind::Limit, "deeper than 20");
}
