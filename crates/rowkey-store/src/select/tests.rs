//! What comes out of a row.

use super::*;
use crate::{FamilyConfig, ValueType, gc};
use std::ops::Bound;

fn config() -> TableConfig {
    let family = |(name, rule): (&str, &str)| FamilyConfig {
        name: name.to_owned(),
        gc_rule: gc::parse_rule(rule).unwrap(),
        value_type: ValueType::Bytes,
    };
    let mut families: Vec<FamilyConfig> =
        [("a", "maxversions=2"), ("b", "never"), ("c", "never")].map(family).into();
    families[2].gc_rule = Some(GcRule::MaxAge(std::time::Duration::from_micros(10)));
    TableConfig { families, ..TableConfig::default() }
}

/// Cells as `family qualifier time`, in order.
const CELLS: [(usize, &str, i64); 8] = [
    (0, "q", 30),
    (0, "q", 20),
    (0, "q", 10),
    (0, "r", 10),
    (1, "q", 30),
    (1, "q", 20),
    (2, "q", 95),
    (2, "q", 80),
];

fn check(request: &ReadRequest, expected: &str) {
    let selector = Selector::new("t", &config(), request, 100).unwrap();
    let cells = CELLS.map(|(family, qualifier, timestamp_us)| StoredCell {
        family,
        qualifier: qualifier.into(),
        timestamp_us,
        value: Bytes::from(format!("{timestamp_us}")),
    });
    let shown = |cell: &Cell| {
        let qualifier = str::from_utf8(&cell.qualifier).unwrap();
        format!("{}{qualifier}{}{}", cell.family, cell.timestamp_us, cell.labels.concat())
    };
    let row = selector.row("k".into(), cells).unwrap().map(|row| row.cells);
    let row: Vec<String> = row.unwrap_or_default().iter().map(shown).collect();
    assert_eq!(row.join(" "), expected, "{request:?}");
}

fn selection(
    columns: ColumnSelection,
    times_us: Option<Range<i64>>,
    versions_max: Option<u32>,
) -> ReadRequest {
    ReadRequest { selection: Selection { columns, times_us, versions_max }, ..ReadRequest::default() }
}

#[test]
fn columns_times_and_versions_are_selected_in_this_order() {
    let all = || ColumnSelection::All;
    check(&ReadRequest::default(), "aq30 aq20 aq10 ar10 bq30 bq20 cq95 cq80");
    check(&ReadRequest { live: true, ..ReadRequest::default() }, "aq30 aq20 ar10 bq30 bq20 cq95");
    check(&selection(all(), None, Some(1)), "aq30 ar10 bq30 cq95");
    check(&selection(all(), Some(10..30), Some(1)), "aq20 ar10 bq20");
    check(&selection(all(), Some(10..10), None), "");
    let live = ReadRequest { live: true, ..selection(all(), Some(0..20), None) };
    check(&live, "ar10");
}

#[test]
fn families_and_columns_are_united() {
    let only = |families: &[(&str, Option<&[&'static str]>)]| {
        let columns = |columns: &&[&'static str]| columns.iter().map(|column| Bytes::from(*column)).collect();
        let families =
            families.iter().map(|(family, wanted)| ((*family).to_owned(), wanted.as_ref().map(columns)));
        selection(ColumnSelection::Only(families.collect()), None, Some(1))
    };
    check(&only(&[]), "");
    check(&only(&[("b", None)]), "bq30");
    check(&only(&[("c", None), ("a", Some(&["r", "x"]))]), "ar10 cq95");
    check(&only(&[("a", Some(&["r"])), ("a", Some(&["q"]))]), "aq30 ar10");
    check(&only(&[("a", Some(&["r"])), ("a", None)]), "aq30 ar10");
    check(&only(&[("a", Some(&[]))]), "");
}

#[test]
fn an_engine_may_skip_what_the_gate_closes() {
    let request = ReadRequest { live: true, ..selection(ColumnSelection::All, Some(25..i64::MAX), None) };
    let selector = Selector::new("t", &config(), &request, 100).unwrap();
    let mut gate = selector.gate();
    assert_eq!(gate.admit(0, b"q", 30), Admit::Yes);
    assert_eq!(gate.admit(0, b"q", 20), Admit::NoneOlder);
    assert_eq!(gate.admit(0, b"r", 20), Admit::NoneOlder);
    assert_eq!(gate.admit(2, b"q", i64::MAX), Admit::Yes);
    assert_eq!(gate.admit(2, b"q", 89), Admit::NoneOlder);
    assert_eq!(selector.wanted(3), Wanted::Nothing);
}

#[test]
fn filters_work_on_what_was_selected() {
    let filtered = |filter: Filter, expected: &str| {
        check(&ReadRequest { filter: Some(filter), live: true, ..ReadRequest::default() }, expected);
    };
    let label = |text: &str| Filter::ApplyLabel(text.to_owned());
    let newest = || Filter::CellsPerColumnLimit(1);
    let of_b = || Filter::QualifierRange {
        family: "b".to_owned(),
        start: Bound::Included("q".into()),
        end: Bound::Unbounded,
    };
    filtered(Filter::PassAll, "aq30 aq20 ar10 bq30 bq20 cq95");
    filtered(Filter::BlockAll, "");
    filtered(newest(), "aq30 ar10 bq30 cq95");
    filtered(Filter::CellsPerRowLimit(2), "aq30 aq20");
    filtered(Filter::CellsPerRowOffset(5), "cq95");
    filtered(Filter::CellsPerRowOffset(9), "");
    filtered(of_b(), "bq30 bq20");
    filtered(Filter::TimestampRange(20..30), "aq20 bq20");
    filtered(Filter::ValueBitmask(Bytes::from_static(b"\x32\x30")), "aq30 aq20 bq30 bq20");
    let end = Bound::Excluded("30".into());
    filtered(Filter::ValueRange { start: Bound::Excluded("10".into()), end }, "aq20 bq20");
    filtered(Filter::Chain(vec![of_b(), newest(), label("x")]), "bq30x");
    filtered(Filter::Chain(vec![newest(), of_b(), Filter::CellsPerRowOffset(1)]), "");
    let both = Filter::Interleave(vec![Filter::Chain(vec![newest(), label("x")]), of_b()]);
    filtered(both.clone(), "aq30x ar10x bq30x bq30 bq20 cq95x");
    // A limit behind an interleave counts each copy.
    filtered(Filter::Chain(vec![both, Filter::CellsPerColumnLimit(2)]), "aq30x ar10x bq30x bq30 cq95x");
    let condition = |predicate| Filter::Condition {
        predicate: Box::new(predicate),
        then: Some(Box::new(newest())),
        otherwise: None,
    };
    filtered(condition(of_b()), "aq30 ar10 bq30 cq95");
    filtered(condition(Filter::BlockAll), "");
}
