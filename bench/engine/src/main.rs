//! The embedded store measured against its own foundation, side by side in one run.
//!
//! ```text
//! cargo run --release -p engine [import|merge|columns|all] [rounds] [rows]
//! ```
//!
//! - `import`: rows through the CSV import, and through `mutate_rows`, against the bare LSM crate fed the same pairs in the same order.
//! - `merge`: 100 buckets of 20,000 rows merged into order against one contiguous scan of the same rows; the first 10 of each.
//! - `columns`: one of ten columns, in the same family and in a family of its own.
//!
//! Rounds go in turn; medians and ratios are printed.

mod columns;
mod import;
mod merge;
mod support;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "all".to_owned());
    let mut number =
        |default: usize| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let rounds = number(3);
    let rows = number(2_000_000);
    match what.as_str() {
        "import" => import::run(rounds, rows),
        "merge" => merge::run(rounds),
        "columns" => columns::run(rounds),
        "all" => {
            import::run(rounds, rows);
            merge::run(rounds);
            columns::run(rounds);
        }
        other => panic!("no benchmark is called {other}: import, merge, columns or all"),
    }
}
