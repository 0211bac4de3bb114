//! Compares two layouts of a wide-column store on one LSM tree: a pair per cell, and a pair per mutation.
//!
//! `layouts <empty folder> [runs]` prints medians and the ratio F/A. It stops if the two layouts ever read
//! different rows.

mod cells;
mod codec;
mod fragments;
mod model;
mod scenarios;
mod store;
mod workload;

#[cfg(test)]
mod tests;

use cells::Cells;
use fragments::Fragments;
use model::Result;
use scenarios::{Report, run};
use std::path::{Path, PathBuf};
use store::Layout;

const RUNS: usize = 3;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("usage: layouts <empty folder> [runs]")?);
    let runs = args.next().map_or(Ok(RUNS), |text| text.parse())?;
    let (mut all_a, mut all_f) = (Vec::new(), Vec::new());
    for nth in 0..runs {
        eprintln!("run {} of {runs}, load {}", nth + 1, load_average());
        // The layout that goes first changes, so that neither always meets the warmer machine.
        if nth % 2 == 0 {
            all_a.push(fresh::<Cells>(&dir)?);
            all_f.push(fresh::<Fragments>(&dir)?);
        } else {
            all_f.push(fresh::<Fragments>(&dir)?);
            all_a.push(fresh::<Cells>(&dir)?);
        }
        assert_eq!(all_a[nth].checks, all_f[nth].checks, "the layouts read different rows");
    }
    eprintln!("end, load {}; all checksums are equal", load_average());
    print(&all_a, &all_f);
    Ok(())
}

/// Runs one layout in an emptied folder.
fn fresh<L: Layout>(dir: &Path) -> Result<Report> {
    let dir = dir.join("store");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    let report = run::<L>(&dir)?;
    std::fs::remove_dir_all(&dir)?;
    Ok(report)
}

fn print(all_a: &[Report], all_f: &[Report]) {
    println!("| step | unit | {} | {} | F/A | A min..max | F min..max |", Cells::NAME, Fragments::NAME);
    println!("|---|---|---|---|---|---|---|");
    let steps = all_a.first().map_or(0, |report| report.numbers.len());
    for step in 0..steps {
        let sorted = |all: &[Report]| {
            let mut numbers: Vec<f64> = all.iter().map(|report| report.numbers[step].2).collect();
            numbers.sort_by(f64::total_cmp);
            numbers
        };
        let (a, f) = (sorted(all_a), sorted(all_f));
        let (mid_a, mid_f) = (a[a.len() / 2], f[f.len() / 2]);
        let (name, unit, _) = &all_a[0].numbers[step];
        let spread = |n: &[f64]| format!("{}..{}", show(n[0]), show(n[n.len() - 1]));
        let ratio = mid_f / mid_a;
        println!(
            "| {name} | {unit} | {} | {} | {ratio:.3} | {} | {} |",
            show(mid_a),
            show(mid_f),
            spread(&a),
            spread(&f)
        );
    }
}

fn show(number: f64) -> String {
    if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

/// Load of the machine over the last minute, if it tells.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
