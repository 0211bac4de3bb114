//! Sums, memory and shapes of the matrix, over streams of every kind.

use super::*;
use crate::heatmap::{View, ViewSpec};
use proptest::prelude::*;
use std::fmt::Write as _;

fn write(key: &str, time_ms: Option<i64>) -> Operation<'_> {
    Operation { time_ms, bytes: Some(100), ..Operation::write(key.as_bytes()) }
}

/// Writes of these keys, one every 10 ms from `start` on.
fn written(config: Config, count: u64, mut key: impl FnMut(u64, &mut Seeded) -> String) -> Matrix {
    let mut matrix = Matrix::new(config);
    let mut seeded = Seeded::new(42);
    for at in 0..count {
        let key = key(at, &mut seeded);
        matrix.observe(&write(&key, Some(1_714_644_000_000 + i64::try_from(at).unwrap() * 10)));
    }
    matrix
}

fn view(matrix: &Matrix, rows_max: usize, columns_max: usize) -> View {
    let view = matrix.view(&ViewSpec { rows_max, columns_max, ..ViewSpec::default() });
    assert_eq!(view.sums(), matrix.totals(), "a view of everything has all counts");
    assert!(view.rows.len() <= rows_max && view.columns <= columns_max);
    view
}

/// In each column the rows that have at least a tenth of the column's sum.
fn bright(view: &View) -> Vec<Vec<usize>> {
    let sums = view.column_sums(0);
    let rows = |column: usize| {
        (0..view.rows.len()).filter(|&row| view.at(0, row, column) * 10 >= sums[column].max(1)).collect()
    };
    (0..view.columns).map(rows).collect()
}

#[test]
fn a_time_first_key_is_a_diagonal_from_the_first_column_to_the_last() {
    let matrix = written(Config::default(), 60_000, |at, seeded| {
        let jitter = seeded.below(100) as u64;
        format!("{:013}#{:04}", 1_714_644_000_000 + at * 10 + jitter, seeded.below(5_000))
    });
    assert!(matrix.row_count() > 500, "{}", matrix.row_count());
    let view = view(&matrix, 40, 40);
    for (column, rows) in bright(&view).into_iter().enumerate() {
        let expected = column * view.rows.len() / view.columns;
        assert!(!rows.is_empty() && rows.len() <= 3, "column {column}: {rows:?}");
        assert!(
            rows.iter().all(|row| row.abs_diff(expected) <= 3),
            "column {column}: {rows:?}, not {expected}"
        );
    }
}

#[test]
fn a_front_that_falls_is_a_diagonal_too() {
    let matrix = written(Config::default(), 30_000, |at, _| format!("{:013}", 9_999_999_999_999 - at * 10));
    let view = view(&matrix, 30, 30);
    for (column, rows) in bright(&view).into_iter().enumerate() {
        let expected = (29 - column) * view.rows.len() / 30;
        assert!(
            rows.iter().all(|row| row.abs_diff(expected) <= 3),
            "column {column}: {rows:?}, not {expected}"
        );
    }
}

#[test]
fn a_moving_front_is_visible_at_once_not_at_the_next_recalculation() {
    let mut matrix = written(Config::default(), 50_000, |at, _| format!("{at:09}"));
    // The last thousandth of all operations has rows of its own.
    for at in 50_000..50_100 {
        matrix.observe(&write(&format!("{at:09}"), Some(1_714_644_500_000 + (at - 50_000) * 10)));
    }
    let last = matrix.rows.last().unwrap();
    assert!(last.weight * 250 < matrix.totals()[0], "{} of {}", last.weight, matrix.totals()[0]);
    assert!(*last.start >= b"000049800"[..], "{:?}", String::from_utf8_lossy(&last.start));
}

#[test]
fn salted_time_keys_are_as_many_bands_as_there_are_salts() {
    for salts in [4, 16] {
        let matrix = written(Config::default(), 60_000, |at, seeded| {
            format!("{:02}#{:013}", seeded.below(salts), at * 10)
        });
        let view = view(&matrix, 160, 20);
        let salt = |row: usize| {
            String::from_utf8_lossy(&view.rows[row].start)[..].chars().take(2).collect::<String>()
        };
        let column = 10;
        let mut bands: Vec<String> = Vec::new();
        for row in 0..view.rows.len() {
            // A band's row has more than twice the mean of the column.
            if view.at(0, row, column) * 160 > 2 * view.column_sums(0)[column] {
                bands.push(salt(row));
            }
        }
        bands.dedup();
        assert_eq!(bands.len(), salts, "{bands:?}");
    }
}

#[test]
fn a_hot_row_is_one_row_of_the_view_and_cold_ranges_are_merged() {
    let matrix = written(Config::default(), 60_000, |at, seeded| {
        if at % 2 == 0 {
            "user#5000#profile".to_owned()
        } else {
            format!("user#{:04}#{:03}", seeded.below(10_000), seeded.below(999))
        }
    });
    let view = view(&matrix, 100, 10);
    let sums = view.row_sums(0);
    let hottest = sums.iter().max().unwrap();
    // What came before the row was cut free is shared by estimate.
    assert!((29_900..31_000).contains(hottest), "{hottest}");
    let others = sums.iter().filter(|&sum| sum != hottest).max().unwrap();
    assert!(*others < 1_500, "{others}");
}

#[test]
fn without_times_the_axis_is_the_order_of_arrival() {
    let mut matrix = Matrix::new(Config::default());
    for at in 0..10_000 {
        matrix.observe(&Operation::write(format!("{at:06}").as_bytes()));
    }
    assert_eq!(matrix.axis(), Axis::Arrival);
    let view = view(&matrix, 10, 10);
    assert_eq!((view.time_start, view.axis), (0, Axis::Arrival));
    assert_eq!(view.column_sums(0), vec![view.time_step.unsigned_abs(); 10]);
    // A time that comes later does not turn the axis over.
    matrix.observe(&write("x", Some(1_714_644_000_000)));
    assert_eq!(matrix.slot_count(), 10_001_usize.div_ceil(20));
}

#[test]
fn operations_without_a_time_count_at_the_last_known_one() {
    let mut matrix = Matrix::new(Config::default());
    matrix.observe(&write("a", Some(5_000)));
    matrix.observe(&write("a", None));
    matrix.observe(&write("a", Some(6_000)));
    let view = view(&matrix, 10, 2_000);
    assert_eq!((view.at(0, 0, 0), view.at(0, 0, 1_000)), (2, 1));
}

#[test]
fn each_kind_of_operation_counts_what_it_moves() {
    let mut matrix = Matrix::new(Config::default());
    for kind in OpKind::ALL {
        let operation =
            Operation { kind, key: b"k", end: None, time_ms: Some(1), rows: Some(10), bytes: Some(1_000) };
        matrix.observe(&operation);
    }
    assert_eq!(matrix.totals(), [2, 2, 2_000, 2_000, 20, 0]);
    matrix.add(1, b"k", Metric::TimeUs, 77);
    assert_eq!(matrix.totals()[Metric::TimeUs.index()], 77);
    matrix.add_all(1, b"k", [1, 2, 3, 4, 5, 6]);
    assert_eq!(matrix.totals(), [3, 4, 2_003, 2_004, 25, 83]);
    assert_eq!(view(&matrix, 9, 9).sums(), matrix.totals());
}

#[test]
fn nothing_and_the_ends_of_numbers_are_no_trouble() {
    let empty = Matrix::new(Config::default());
    let nothing = view(&empty, 10, 10);
    assert_eq!((nothing.rows.len(), nothing.columns, nothing.metrics.len()), (1, 0, 0));
    let mut matrix = Matrix::new(Config::default());
    for time in [0, i64::MAX, i64::MIN, -1, 1_714_644_000_000] {
        matrix.add(time, b"", Metric::BytesIn, u64::MAX / 2);
        matrix.add(time, &[0xff; 5_000], Metric::Writes, 3);
    }
    assert_eq!(matrix.totals()[Metric::BytesIn.index()], u64::MAX, "cut off, not wrapped");
    view(&matrix, 3, 3);
    view(&matrix, 1, 1);
}

#[test]
fn a_view_of_a_part_has_the_counts_of_that_part() {
    let matrix =
        written(Config::default(), 10_000, |at, _| format!("{}#{at:06}", ["a", "b", "c"][(at % 3) as usize]));
    let spec = ViewSpec { start: b"b".to_vec(), end: Some(b"c".to_vec()), ..ViewSpec::default() };
    let part = matrix.view(&spec);
    let sum = part.sum(0);
    assert!((3_300..3_400).contains(&sum), "{sum}: the edges of rows lie near the prefix");
    let all = view(&matrix, 1_000, 1_000);
    let half = matrix.view(&ViewSpec { to: Some(all.time_start + 50_000), ..ViewSpec::default() });
    assert!((4_990..=5_020).contains(&half.sum(0)), "{}", half.sum(0));
    let none = matrix.view(&ViewSpec { from: Some(i64::MAX), ..ViewSpec::default() });
    assert_eq!(none.sum(0), 0);
    assert_eq!(all.rows_of(b"b", Some(b"b")), 0..0);
    assert_eq!(all.rows_of(b"", None), 0..all.rows.len());
}

/// Every range is written and read in every step of two weeks; bytes are large numbers, which take the most space.
fn two_weeks(config: Config, steps: i64, key: impl Fn(u64) -> String) -> Matrix {
    let keys: Vec<String> = (0..1_000).map(key).collect();
    let mut matrix = Matrix::new(config);
    let mut seeded = Seeded::new(3);
    for step in 0..steps {
        for key in &keys {
            for (kind, offset) in [(OpKind::Write, 1), (OpKind::Read, 2)] {
                let bytes = Some((1 << 30) + seeded.any() % (1 << 30));
                let time_ms = Some(14 * 86_400_000 / steps * step + offset);
                matrix.observe(&Operation {
                    kind,
                    key: key.as_bytes(),
                    end: None,
                    time_ms,
                    rows: None,
                    bytes,
                });
            }
        }
    }
    matrix
}

/// The limit: at most 16 MB for 14 days of 1,000 ranges and 4 metrics.
#[test]
fn two_weeks_of_a_thousand_ranges_and_four_metrics_take_at_most_16_mb() {
    let check = |name: &str, matrix: &Matrix, slots_min: usize| {
        let peak = matrix.bytes_peak();
        assert!(peak <= 16_000_000, "{name}: {peak} bytes");
        assert!(matrix.slot_count() >= slots_min, "{name}: {} slots are left", matrix.slot_count());
        assert!(matrix.row_count() >= 500, "{name}: {} rows are left", matrix.row_count());
        view(matrix, 1_000, 1_000);
    };
    let hashed = |at: u64| format!("{:016x}", Seeded::new(at).any());
    let even = Config { bytes_max: 16_000_000, ..Config::default() };
    let live = Config { bytes_max: 16_000_000, ..Config::live() };
    check("even", &two_weeks(even.clone(), 1_344, hashed), 600);
    check("live", &two_weeks(live, 1_344, hashed), 600);
    check("long keys", &two_weeks(even, 200, |at| format!("{:0900}{}", 7, hashed(at))), 150);
}

#[test]
fn the_same_stream_gives_the_same_matrix() {
    let make = || {
        let matrix = written(Config::default(), 20_000, |_, seeded| format!("{:x}", seeded.any() % 5_000));
        let mut text = String::new();
        write!(text, "{:?}", view(&matrix, 100, 100)).unwrap();
        text
    };
    assert_eq!(make(), make());
}

#[test]
fn what_is_old_weighs_less_where_rows_are_cut_for_what_runs_on() {
    let config = Config { half_life: Some(100), ..Config::live() };
    let mut matrix = Matrix::new(config);
    for at in 0..200_000_i64 {
        // A hundred slots on one table, then on another.
        let key = if at < 100_000 { format!("old#{:05}", at % 977) } else { format!("new#{:05}", at % 977) };
        matrix.observe(&write(&key, Some(at * 100)));
    }
    let new = matrix.rows.iter().filter(|row| row.start.starts_with(b"new")).count();
    assert!(new * 10 > matrix.row_count() * 7, "{new} of {}", matrix.row_count());
    view(&matrix, 1_000, 1_000);
}

#[test]
fn weights_are_grouped_evenly_and_within_the_limit() {
    assert_eq!(grouped(&[1, 1, 1, 1], 2), [2, 2]);
    assert_eq!(grouped(&[9, 1, 1, 1], 2), [1, 3]);
    assert_eq!(grouped(&[1, 1], 5), [1, 1]);
    assert_eq!(grouped(&[0, 0, 0], 1), [3]);
    assert_eq!(grouped(&[u64::MAX, u64::MAX], 1), [2]);
    assert_eq!(grouped(&[], 3), Vec::<usize>::new());
}

#[derive(Debug, Clone)]
struct Step {
    time: i64,
    key: u16,
    metric: usize,
    amount: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let time = prop_oneof![0_i64..2_000, 0_i64..1 << 40, any::<i64>()];
    let step = (time, prop_oneof![0_u16..5, any::<u16>()], 0_usize..6, prop_oneof![0_u64..100, any::<u64>()]);
    prop::collection::vec(
        step.prop_map(|(time, key, metric, amount)| Step { time, key, metric, amount }),
        0..400,
    )
}

proptest! {
    #[test]
    fn no_cut_no_merge_and_no_widening_loses_a_count(
        steps in steps(), rows in 16_usize..40, slots in 2_usize..50, live in any::<bool>(), half_life in prop::option::of(1_i64..9)
    ) {
        let resolution = if live { Resolution::Tiered { tiers: vec![(10, slots), (100, 3), (1_000, 4)] } } else { Resolution::Even { slots_max: slots } };
        let mut matrix = Matrix::new(Config { rows_max: rows, resolution, half_life, ..Config::default() });
        let mut expected = [0_u64; 6];
        for step in &steps {
            let amount = step.amount.min(u64::MAX - expected[step.metric]);
            expected[step.metric] += amount;
            matrix.add(step.time, &step.key.to_be_bytes(), Metric::ALL[step.metric], step.amount);
        }
        prop_assert_eq!(matrix.totals(), expected);
        prop_assert!(matrix.row_count() <= rows);
        let by_slot = matrix.slots.values().fold([0_u64; 6], |mut sums, values| { add(&mut sums, values); sums });
        prop_assert_eq!(by_slot, expected);
        for spec in [(1_000, 1_000), (7, 3), (1, 1)] {
            let view = matrix.view(&ViewSpec { rows_max: spec.0, columns_max: spec.1, ..ViewSpec::default() });
            prop_assert_eq!(view.sums(), expected);
        }
        prop_assert!(matrix.rows.windows(2).all(|pair| pair[0].start < pair[1].start));
    }
}
