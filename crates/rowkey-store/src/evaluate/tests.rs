//! The evaluation against another one, which is slow and plain: every filter makes new lists of whole cells.

use super::*;
use crate::metamorphic::filters;
use crate::select::{Admit, Selector};
use crate::{
    Cell, ColumnSelection, FamilyConfig, Filter, GcRule, ReadRequest, RowSet, Selection, TableConfig,
    ValueType, check,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const FAMILIES: [&str; 3] = ["a", "b", "d"];

fn config(rule: Option<&GcRule>) -> TableConfig {
    let family = |name: &&str| FamilyConfig {
        name: (*name).to_owned(),
        gc_rule: rule.cloned(),
        value_type: ValueType::Bytes,
    };
    TableConfig { families: FAMILIES.iter().map(family).collect(), ..TableConfig::default() }
}

/// What a filter lets through to the next one; what comes to a sink goes to `out`.
fn plain(filter: &Filter, key: &RowKey, cells: &[Cell], samples: &mut u64, out: &mut Vec<Cell>) -> Vec<Cell> {
    let keep = |yes: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| yes(cell)).cloned().collect();
    let all = |yes: bool| if yes { cells.to_vec() } else { Vec::new() };
    let matches = |pattern: &[u8], bytes: &[u8]| Pattern::new(pattern).unwrap().matches(bytes);
    let within = |start: &Bound<Bytes>, end: &Bound<Bytes>, bytes: &Bytes| {
        std::ops::RangeBounds::<Bytes>::contains(&(start.as_ref(), end.as_ref()), bytes)
    };
    match filter {
        Filter::PassAll => all(true),
        Filter::BlockAll => all(false),
        Filter::Chain(filters) => {
            let mut cells = cells.to_vec();
            for filter in filters {
                cells = plain(filter, key, &cells, samples, out);
            }
            cells
        }
        Filter::Interleave(filters) => {
            let merged = filters.iter().flat_map(|filter| plain(filter, key, cells, samples, out)).collect();
            in_order(merged)
        }
        Filter::Condition { predicate, then, otherwise } => {
            // Each sample of the filter has its number, whether its branch is taken or not.
            let matched = !plain(predicate, key, cells, samples, out).is_empty();
            let mut branch = |filter: &Option<Box<Filter>>| {
                filter.as_ref().map_or(Vec::new(), |filter| plain(filter, key, cells, samples, out))
            };
            let [then, otherwise] = [branch(then), branch(otherwise)];
            if matched { then } else { otherwise }
        }
        Filter::Sink => {
            out.extend(cells.iter().cloned());
            Vec::new()
        }
        Filter::RowKeyRegex(pattern) => all(matches(pattern, key)),
        Filter::RowSample(share) => {
            *samples += 1;
            #[expect(clippy::cast_precision_loss, reason = "a share is not that exact")]
            all((sampled(key, *samples - 1) as f64) / 2_f64.powi(64) < *share)
        }
        Filter::FamilyRegex(pattern) => keep(&|cell| matches(pattern.as_bytes(), cell.family.as_bytes())),
        Filter::QualifierRegex(pattern) => keep(&|cell| matches(pattern, &cell.qualifier)),
        Filter::QualifierRange { family, start, end } => {
            keep(&|cell| *cell.family == **family && within(start, end, &cell.qualifier))
        }
        Filter::TimestampRange(times) => {
            keep(&|cell| times.start <= cell.timestamp_us && cell.timestamp_us < times.end)
        }
        Filter::ValueRegex(pattern) => keep(&|cell| matches(pattern, &cell.value)),
        Filter::ValueRange { start, end } => keep(&|cell| within(start, end, &cell.value)),
        Filter::ValueBitmask(mask) => keep(&|cell| {
            cell.value.len() == mask.len() && (0..mask.len()).all(|at| cell.value[at] & mask[at] == mask[at])
        }),
        Filter::CellsPerRowOffset(count) => cells.iter().skip(*count as usize).cloned().collect(),
        Filter::CellsPerRowLimit(count) => cells.iter().take(*count as usize).cloned().collect(),
        Filter::CellsPerColumnLimit(count) => {
            let mut seen: BTreeMap<(Arc<str>, Bytes), u32> = BTreeMap::new();
            let mut first = |cell: &&Cell| {
                let seen = seen.entry((Arc::clone(&cell.family), cell.qualifier.clone())).or_default();
                *seen += 1;
                *seen <= *count
            };
            cells.iter().filter(|cell| first(cell)).cloned().collect()
        }
        Filter::StripValue => cells.iter().map(|cell| Cell { value: Bytes::new(), ..cell.clone() }).collect(),
        Filter::ApplyLabel(label) => {
            cells.iter().map(|cell| Cell { labels: vec![label.clone()], ..cell.clone() }).collect()
        }
    }
}

fn in_order(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by_key(|cell| {
        let family = FAMILIES.iter().position(|name| **name == *cell.family);
        (family, cell.qualifier.clone(), std::cmp::Reverse(cell.timestamp_us))
    });
    cells
}

fn bytes(choose: &mut Seeded, most: usize) -> Bytes {
    (0..choose.below(most + 1)).map(|_| *choose.one_of(b"\x00\x01ab\xfe\xff")).collect()
}

/// Cells of a row in order, with few columns and times.
fn row(choose: &mut Seeded) -> Vec<StoredCell> {
    let mut cells: BTreeMap<(usize, Bytes, std::cmp::Reverse<i64>), Bytes> = BTreeMap::new();
    for _ in 0..choose.below(12) {
        let time = i64::try_from(choose.below(5)).unwrap();
        let place = (choose.below(3), bytes(choose, 1), std::cmp::Reverse(time));
        cells.insert(place, bytes(choose, 2));
    }
    let cell = |((family, qualifier, time), value): ((usize, Bytes, std::cmp::Reverse<i64>), Bytes)| {
        StoredCell { family, qualifier, timestamp_us: time.0, value }
    };
    cells.into_iter().map(cell).collect()
}

/// A filter that is right, and the cells that come to it.
fn case(choose: &mut Seeded) -> (Filter, Selection, bool, RowKey) {
    let mut times = |choose: &mut Seeded| {
        let from = i64::try_from(choose.below(4)).unwrap();
        from..if choose.chance(20) { i64::MAX } else { from + i64::try_from(choose.below(4)).unwrap() }
    };
    let filter = loop {
        let filter = filters::filter(choose, &mut times, 3);
        if check::filter(&filter).is_ok() {
            break filter;
        }
    };
    let selection = Selection {
        columns: match choose.below(4) {
            0 => ColumnSelection::Only(vec![
                ("a".into(), None),
                ("d".into(), Some(vec!["a".into(), "b".into()])),
            ]),
            _ => ColumnSelection::All,
        },
        times_us: choose.chance(20).then(|| times(choose)),
        versions_max: choose.chance(20).then(|| 1 + u32::try_from(choose.below(2)).unwrap()),
    };
    let key = [&b"a"[..], &bytes(choose, 2)].concat();
    (filter, selection, choose.chance(50), key.into())
}

#[test]
fn evaluation_equals_a_plain_one_of_the_selected_cells() {
    let choose = &mut Seeded::new(4);
    let (mut full, mut empty, mut parted, mut sunk) = (0, 0, 0, 0);
    for round in 0..15_000 {
        let (filter, selection, live, key) = case(choose);
        let cells = row(choose);
        let config = config(Some(&GcRule::MaxVersions(2)));
        let request = ReadRequest { selection, live, ..ReadRequest::all() };
        let selector = Selector::new("t", &config, &request, 0).unwrap();
        let selected = selector.row(key.clone(), cells.clone()).unwrap().map_or(Vec::new(), |row| row.cells);
        let mut expected = Vec::new();
        let passed = plain(&filter, &key, &selected, &mut 0, &mut expected);
        sunk += usize::from(!expected.is_empty());
        expected.extend(passed);
        let expected = in_order(expected);

        let request = ReadRequest { filter: Some(filter), ..request };
        let selector = Selector::new("t", &config, &request, 0).unwrap();
        let answer = selector.row(key.clone(), cells.clone()).unwrap();
        let message = format!("round {round}: {key:?} {:?}\n{cells:?}", request.filter);
        assert_eq!(answer.map_or(Vec::new(), |row| row.cells), expected, "{message}");
        // An engine that reads lazily looks at no more than the selector wants.
        let admitted = cells.into_iter().filter(|cell| {
            selector.gate().admit(cell.family, &cell.qualifier, cell.timestamp_us) != Admit::NoneOlder
        });
        let few = admitted.count() < selected.len();
        if !expected.is_empty() {
            assert!(
                selector.rows(&RowSet::all()).contains(&key) && selector.begin(&key).unwrap(),
                "{message}"
            );
        }
        full += usize::from(!expected.is_empty() && expected.len() == selected.len());
        empty += usize::from(expected.is_empty());
        parted += usize::from(few && !expected.is_empty());
    }
    assert!(full > 1_000 && empty > 1_000 && parted > 100 && sunk > 100, "{full} {empty} {parted} {sunk}");
}
