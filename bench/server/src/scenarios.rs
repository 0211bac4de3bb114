//! What is measured. Every answer is checked, so that nobody is fast by being wrong.

use crate::Result;
use crate::client::{Client, create_table};
use crate::process::cpu_s;
use bytes::Bytes;
use std::time::Instant;

/// What a figure is.
#[derive(Clone, Copy)]
pub enum Unit {
    Rate(&'static str),
    Time,
}

impl Unit {
    pub fn is_time(self) -> bool {
        matches!(self, Self::Time)
    }

    /// A rate per second, or a time given in seconds.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Rate(what) => format!("{value:.0} {what}/s"),
            Self::Time => format!("{:.2} ms", value * 1e3),
        }
    }
}

/// The scenarios, in the order of [`Figures`].
pub const SCENARIOS: [(&str, Unit); 9] = [
    ("bulk `MutateRows`, 1,000 rows each, 4 in flight", Unit::Rate("rows")),
    ("`MutateRow`, 1 client", Unit::Rate("rows")),
    ("`MutateRow`, 32 clients", Unit::Rate("rows")),
    ("point reads, 1 client", Unit::Rate("reads")),
    ("point reads, 32 clients", Unit::Rate("reads")),
    ("first 10 rows of the table", Unit::Time),
    ("first 10 rows of a table of a tenth", Unit::Time),
    ("full scan", Unit::Rate("rows")),
    ("mixed, 32 clients: half reads, 45 % `MutateRow`, 5 % ranges of about 10 rows", Unit::Rate("requests")),
];

/// What came out of a scenario.
#[derive(Clone, Copy, Default)]
pub struct Figure {
    /// A rate or a time, as the scenario's [`Unit`] says.
    pub value: f64,
    /// Microseconds of the processor that the server took for each row, read or request; scans of ten rows: for each scan.
    pub cpu_us: f64,
}

/// One figure a scenario.
pub type Figures = [Figure; SCENARIOS.len()];

/// Connections; both servers get as many.
const CONNECTIONS: usize = 4;

/// Runs all of them on a fresh server.
pub async fn run(endpoint: &str, process: u32, rows: u64) -> Result<Figures> {
    create_table(endpoint).await?;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::connect(endpoint).await?);
    }
    let mut meter = Meter { process, before_s: cpu_s(process) };
    let tenth = bulk(&clients, 0..rows / 10).await?;
    let bulk_cpu = meter.take();
    let small_scan = Figure { value: first_rows(&mut clients[0], 20).await?, cpu_us: meter.take() / 20.0 };
    let rest = bulk(&clients, rows / 10..rows).await?;
    let bulk =
        Figure { value: rows as f64 / (tenth + rest), cpu_us: (bulk_cpu + meter.take()) / rows as f64 };
    let large_scan = Figure { value: first_rows(&mut clients[0], 20).await?, cpu_us: meter.take() / 20.0 };
    let begun = Instant::now();
    let count = clients[0].scan(Bytes::new(), 0).await?;
    let full =
        Figure { value: count as f64 / begun.elapsed().as_secs_f64(), cpu_us: meter.take() / rows as f64 };
    if count != rows {
        return Err(format!("a full scan found {count} of {rows} rows").into());
    }
    let mut many = Vec::new();
    for (count, requests, load) in [
        (1, 1_000, Load::Write),
        (32, 20_000, Load::Write),
        (1, 5_000, Load::Read),
        (32, 20_000, Load::Read),
        (32, 10_000, Load::Mixed),
    ] {
        let value = concurrent(&clients, count, requests, load, rows).await?;
        many.push(Figure { value, cpu_us: meter.take() / requests as f64 });
    }
    Ok([bulk, many[0], many[1], many[2], many[3], large_scan, small_scan, full, many[4]])
}

/// What the server takes of the processor.
struct Meter {
    process: u32,
    before_s: f64,
}

impl Meter {
    /// Microseconds since the last time.
    fn take(&mut self) -> f64 {
        let now_s = cpu_s(self.process);
        let taken_us = (now_s - self.before_s) * 1e6;
        self.before_s = now_s;
        taken_us
    }
}

/// Writes rows, and answers with the seconds that it took.
async fn bulk(clients: &[Client], rows: std::ops::Range<u64>) -> Result<f64> {
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for (index, client) in clients.iter().enumerate() {
        let (mut client, rows) = (client.clone(), rows.clone());
        tasks.spawn(async move {
            let batches = rows.clone().step_by(1000).skip(index).step_by(CONNECTIONS);
            for start in batches {
                client.write_many(start..(start + 1000).min(rows.end)).await?;
            }
            Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// The median time of a scan of ten rows.
async fn first_rows(client: &mut Client, times: usize) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        if client.scan(Bytes::new(), 10).await? != 10 {
            return Err("a scan with limit 10 must find 10 rows".into());
        }
        seconds.push(begun.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[seconds.len() / 2])
}

#[derive(Clone, Copy)]
enum Load {
    Read,
    Write,
    Mixed,
}

/// Requests a second of so many clients.
async fn concurrent(clients: &[Client], count: usize, requests: u64, load: Load, rows: u64) -> Result<f64> {
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..count {
        let mut client = clients[index % clients.len()].clone();
        let each = requests / count as u64;
        tasks.spawn(async move {
            let mut random = index as u64 + 1;
            for _ in 0..each {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (row, die) = ((random >> 20) % rows, (random >> 33) % 100);
                match load {
                    Load::Read => client.read(row).await?,
                    Load::Write => client.write(row).await?,
                    Load::Mixed if die < 50 => client.read(row).await?,
                    Load::Mixed if die < 95 => client.write(row).await?,
                    Load::Mixed => drop(client.short_range(row, 10.0 / rows as f64).await?),
                }
            }
            Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let done = requests / count as u64 * count as u64;
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}
