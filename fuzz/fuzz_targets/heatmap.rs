//! The heatmap: whatever operations come, no cut, merge or widening loses a count, and every view can be drawn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_hotspot::heatmap::{
    Colours, Config, FigureOptions, Matrix, Metric, Resolution, Sheet, SheetOptions, TerminalOptions,
    ViewSpec,
};
use rowkey_hotspot::picture::Theme;

fuzz_target!(|data: &[u8]| {
    let Some((&[rows, slots, kind], mut rest)) = data.split_first_chunk::<3>() else { return };
    let slots = usize::from(slots) + 2;
    let resolution = if kind & 1 == 0 {
        Resolution::Even { slots_max: slots }
    } else {
        Resolution::Tiered { tiers: vec![(10, slots), (i64::from(kind) * 10, 4), (5_000, 3)] }
    };
    let half_life = (kind & 2 != 0).then_some(i64::from(kind));
    let config = Config {
        rows_max: usize::from(rows),
        resolution,
        half_life,
        bytes_max: 1 << 20,
        ..Config::default()
    };
    let mut matrix = Matrix::new(config);
    let mut expected = [0_u64; Metric::ALL.len()];
    // | metric and flags: u8 | time: u8 or i64 | length of the key: u8 | key | amount: u8 or u64 |
    while let Some((&head, more)) = rest.split_first() {
        rest = more;
        let mut number = |wide: bool| {
            let width = if wide { 8 } else { 1 };
            let (bytes, more) = rest.split_at(width.min(rest.len()));
            rest = more;
            bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let (time, length, amount) = (number(head & 64 != 0), number(false), number(head & 128 != 0));
        let (key, more) = rest.split_at(usize::try_from(length).unwrap_or_default().min(rest.len()));
        rest = more;
        let metric = usize::from(head & 63) % Metric::ALL.len();
        let amount = amount.min(u64::MAX - expected[metric]);
        expected[metric] += amount;
        matrix.add(time.cast_signed(), key, Metric::ALL[metric], amount);
    }
    assert_eq!(matrix.totals(), expected);
    for (rows_max, columns_max) in [(1_000, 300), (5, 3)] {
        let view = matrix.view(&ViewSpec { rows_max, columns_max, ..ViewSpec::default() });
        assert_eq!(view.sums(), expected);
        if rows_max == 5 {
            let sheet = Sheet::new(view, &SheetOptions { nodes: u32::from(kind), ..SheetOptions::default() });
            let terminal = TerminalOptions {
                metric: None,
                width: 40,
                height: 9,
                colours: Colours::True,
                theme: Theme::Dark,
            };
            let _ = sheet.terminal(&terminal);
            let _ = sheet.svg(&FigureOptions { width: 400, map_height: 50, ..FigureOptions::default() });
        }
    }
});
