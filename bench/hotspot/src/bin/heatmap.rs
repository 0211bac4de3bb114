//! Two weeks of 1,000 ranges, drawn: how long counting, viewing and each kind of picture takes. Prints seconds; the goal is under 2 s from
//! the matrix to any picture.

use rowkey_hotspot::heatmap::{
    Colours, Config, FigureOptions, Matrix, Sheet, SheetOptions, TerminalOptions, View, ViewSpec,
};
use rowkey_hotspot::picture::Theme;
use rowkey_hotspot::{Capacity, OpKind, Operation};
use rowkey_store::seeded::Seeded;
use std::time::Instant;

/// Seconds that `work` takes, and what it makes.
fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let made = work();
    println!("{name:<44}{:>8.3} s", begun.elapsed().as_secs_f64());
    made
}

fn main() {
    const SPAN_MS: i64 = 14 * 86_400_000;
    const OPERATIONS: i64 = 10_000_000;
    let mut seeded = Seeded::new(7);
    let keys: Vec<String> =
        (0..100_000).map(|at| format!("{:02}#vehicle{:05}#{at:06}", at % 16, seeded.below(90_000))).collect();
    let begun = Instant::now();
    let mut matrix = Matrix::new(Config::default());
    for at in 0..OPERATIONS {
        let key = keys[seeded.below(keys.len())].as_bytes();
        let kind = if at % 4 == 0 { OpKind::Read } else { OpKind::Write };
        let time_ms = Some(1_714_644_000_000 + SPAN_MS / OPERATIONS * at);
        matrix.observe(&Operation {
            kind,
            key,
            end: None,
            time_ms,
            rows: None,
            bytes: Some(100 + seeded.any() % 900),
        });
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "count {OPERATIONS} operations of 4 metrics: {seconds:.2} s, {:.2} million a second",
        10.0 / seconds
    );
    println!(
        "{} rows by {} slots in {:.1} MB",
        matrix.row_count(),
        matrix.slot_count(),
        matrix.bytes_peak() as f64 / 1e6
    );
    let all = ViewSpec { columns_max: 2_048, ..ViewSpec::default() };
    let view: View = timed("view: 1,000 rows by all slots, 4 metrics", || matrix.view(&all));
    println!("{} rows by {} columns", view.rows.len(), view.columns);
    let options = SheetOptions { nodes: 10, capacity: Some(Capacity::default()), ..SheetOptions::default() };
    let sheet = timed("sheet: names, nodes", || Sheet::new(view, &options));
    let figure = FigureOptions::default();
    let png = timed("PNG", || sheet.png(&figure));
    let svg = timed("SVG", || sheet.svg(&figure));
    let html = timed("page", || sheet.html());
    let terminal =
        TerminalOptions { metric: None, width: 200, height: 100, colours: Colours::True, theme: Theme::Dark };
    let text = timed("terminal of 200 by 100", || sheet.terminal(&terminal));
    let sizes = [
        png.map_or(0, |file| file.len()),
        svg.map_or(0, |file| file.len()),
        html.map_or(0, |file| file.len()),
    ];
    println!("bytes: PNG {}, SVG {}, page {}, terminal {}", sizes[0], sizes[1], sizes[2], text.len());
}
