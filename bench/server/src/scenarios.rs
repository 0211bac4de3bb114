//! What is measured. Every answer is checked, so that nobody is fast by being wrong.

use crate::Result;
use crate::client::{Client, create_table};
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

/// One figure a scenario.
pub type Figures = [f64; SCENARIOS.len()];

/// Connections; both servers get as many.
const CONNECTIONS: usize = 4;

/// Runs all of them on a fresh server.
pub async fn run(endpoint: &str, rows: u64) -> Result<Figures> {
    create_table(endpoint).await?;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::connect(endpoint).await?);
    }
    let tenth = bulk(&clients, 0..rows / 10).await?;
    let small_scan = first_rows(&mut clients[0], 20).await?;
    let rest = bulk(&clients, rows / 10..rows).await?;
    let bulk_rate = rows as f64 / (tenth + rest);
    let large_scan = first_rows(&mut clients[0], 10).await?;
    let begun = Instant::now();
    let count = clients[0].scan(Bytes::new(), 0).await?;
    let full = count as f64 / begun.elapsed().as_secs_f64();
    if count != rows {
        return Err(format!("a full scan found {count} of {rows} rows").into());
    }
    let read_1 = concurrent(&clients, 1, 3_000, Load::Read, rows).await?;
    let read_32 = concurrent(&clients, 32, 20_000, Load::Read, rows).await?;
    let write_1 = concurrent(&clients, 1, 1_000, Load::Write, rows).await?;
    let write_32 = concurrent(&clients, 32, 20_000, Load::Write, rows).await?;
    let mixed = concurrent(&clients, 32, 10_000, Load::Mixed, rows).await?;
    Ok([bulk_rate, write_1, write_32, read_1, read_32, large_scan, small_scan, full, mixed])
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
