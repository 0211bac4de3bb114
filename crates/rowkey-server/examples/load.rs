//! Writes and reads over gRPC for so many seconds, as an application would whose keys are badly chosen: for looking at the page.
//!
//! `cargo run -p rowkey-server --example load -- http://127.0.0.1:8086 60`
//!
//! Table `events` gets keys that begin with the time, a hot user, and users that are even; table `quiet` gets nothing.

use rowkey_proto::admin::bigtable_table_admin_client::BigtableTableAdminClient;
use rowkey_proto::admin::{
    ColumnFamily, CreateTableRequest, GcRule, Table, create_table_request::Split, gc_rule,
};
use rowkey_proto::data::bigtable_client::BigtableClient;
use rowkey_proto::data::mutate_rows_request::Entry;
use rowkey_proto::data::mutation::{Mutation as Kind, SetCell};
use rowkey_proto::data::{MutateRowsRequest, Mutation, ReadRowsRequest, RowSet};
use rowkey_store::seeded::Seeded;
use rowkey_store::{Clock as _, SystemClock};
use std::time::Duration;
use tonic::transport::Channel;

const INSTANCE: &str = "projects/demo/instances/demo";
/// Writes and reads of one turn.
const TURN_WRITES: u64 = 40;
const TURN_READS: u64 = 10;
const TURN: Duration = Duration::from_millis(100);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(seconds)) = (arguments.next(), arguments.next()) else {
        return Err("usage: load http://HOST:PORT SECONDS".into());
    };
    let seconds: u64 = seconds.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let channel = Channel::from_shared(address)?.connect().await?;
        create(channel.clone()).await?;
        run(channel, seconds).await
    })
}

/// Creates the tables; that one is there already is fine.
async fn create(channel: Channel) -> Result<()> {
    let mut admin = BigtableTableAdminClient::new(channel);
    for (table, splits) in [("events", vec!["user#"]), ("quiet", Vec::new())] {
        let newest = GcRule { rule: Some(gc_rule::Rule::MaxNumVersions(1)) };
        let family = ColumnFamily { gc_rule: Some(newest), ..ColumnFamily::default() };
        let request = CreateTableRequest {
            parent: INSTANCE.to_owned(),
            table_id: table.to_owned(),
            table: Some(Table { column_families: [("m".to_owned(), family)].into(), ..Table::default() }),
            initial_splits: splits.into_iter().map(|key| Split { key: key.into() }).collect(),
        };
        match admin.create_table(request).await {
            Err(status) if status.code() != tonic::Code::AlreadyExists => return Err(status.into()),
            _ => {}
        }
    }
    Ok(())
}

async fn run(channel: Channel, seconds: u64) -> Result<()> {
    let mut client = BigtableClient::new(channel);
    let mut random = Seeded::new(7);
    let clock = SystemClock;
    let end = clock.now_us() + i64::try_from(seconds)?.saturating_mul(1_000_000);
    let mut ticks = tokio::time::interval(TURN);
    let table = format!("{INSTANCE}/tables/events");
    while clock.now_us() < end {
        ticks.tick().await;
        let now_ms = clock.now_us() / 1_000;
        let entries = (0..TURN_WRITES).map(|write| entry(&key(&mut random, now_ms, write))).collect();
        let request =
            MutateRowsRequest { table_name: table.clone(), entries, ..MutateRowsRequest::default() };
        let mut answers = client.mutate_rows(request).await?.into_inner();
        while answers.message().await?.is_some() {}
        let keys = (0..TURN_READS).map(|_| user(&mut random).into()).collect();
        let request = ReadRowsRequest {
            table_name: table.clone(),
            rows: Some(RowSet { row_keys: keys, row_ranges: Vec::new() }),
            ..ReadRowsRequest::default()
        };
        let mut rows = client.read_rows(request).await?.into_inner();
        while rows.message().await?.is_some() {}
    }
    Ok(())
}

/// Four of ten keys begin with the time, one of ten is always the same, the rest is spread.
fn key(random: &mut Seeded, now_ms: i64, write: u64) -> String {
    match write % 10 {
        0..4 => format!("events#{now_ms:013}#{write:02}"),
        4 => "user#07#000042".to_owned(),
        _ => user(random),
    }
}

fn user(random: &mut Seeded) -> String {
    format!("user#{:02}#{:06}", random.below(20), random.below(100_000))
}

fn entry(key: &str) -> Entry {
    let cell = SetCell {
        family_name: "m".to_owned(),
        column_qualifier: "q".into(),
        timestamp_micros: -1,
        value: vec![b'x'; 100].into(),
    };
    let mutation = Mutation { mutation: Some(Kind::SetCell(cell)), ..Mutation::default() };
    Entry { row_key: key.to_owned().into(), mutations: vec![mutation], ..Entry::default() }
}
