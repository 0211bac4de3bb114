//! Rowkey's Bigtable API against Google's emulator: both servers are driven by this one client in one run, in turn.
//!
//! ```text
//! cargo run --release -p server -- [rounds] [rows]
//! ```
//!
//! `ROWKEY` names our binary (else `../target/release/rowkey`), `CBTEMULATOR` the emulator (else it is looked for on `PATH` and where
//! Google's package puts it). Rowkey keeps everything on disk and acknowledges when it is there; the emulator keeps everything in memory. Medians
//! and ratios are printed; above 1 means that Rowkey is faster.

mod client;
mod process;
mod scenarios;

use process::Server;
use scenarios::{Figures, SCENARIOS};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let rows = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let Some(emulator) = process::emulator() else {
        println!("SKIPPED: Google's emulator is not here; CBTEMULATOR names it");
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (mut ours, mut theirs): (Vec<Figures>, Vec<Figures>) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        // Who goes first changes, so that nobody always meets the warmer machine.
        let order = if round % 2 == 0 { [true, false] } else { [false, true] };
        for is_ours in order {
            let server = if is_ours { Server::rowkey()? } else { Server::emulator(&emulator)? };
            let figures = runtime.block_on(scenarios::run(&server.endpoint(), server.id(), rows))?;
            if is_ours {
                ours.push(figures)
            } else {
                theirs.push(figures)
            }
            eprintln!(
                "  {}: {} MB resident",
                if is_ours { "Rowkey" } else { "emulator" },
                server.resident_mb()
            );
        }
    }
    println!("{rows} rows of 100 bytes, {rounds} rounds, medians\n");
    println!("| | Rowkey | emulator | ratio | processor, us: Rowkey | emulator | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (index, (name, unit)) in SCENARIOS.iter().enumerate() {
        let value = |figures: &[Figures]| median(figures.iter().map(|figures| figures[index].value));
        let cpu = |figures: &[Figures]| median(figures.iter().map(|figures| figures[index].cpu_us));
        let (a, b) = (value(&ours), value(&theirs));
        // Times are better when they are small, rates when they are great.
        let ratio = if unit.is_time() { b / a } else { a / b };
        let (x, y) = (cpu(&ours), cpu(&theirs));
        // Clocks of processes have steps of 10 ms.
        let cpu_ratio = if x > 0.0 && y > 0.0 { format!("{:.1}", y / x) } else { "-".to_owned() };
        let [x, y] = [x, y].map(|us| if us > 0.0 { format!("{us:.1}") } else { "too little".to_owned() });
        println!("| {name} | {} | {} | {ratio:.1} | {x} | {y} | {cpu_ratio} |", unit.show(a), unit.show(b));
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
