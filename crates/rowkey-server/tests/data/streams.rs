//! How rows travel: sizes of messages, slow and vanishing clients, deadlines.

use crate::client::{Client, TABLE, numbered, on_engine, on_every_engine, on_memory, read_all, set, table};
use prost::Message as _;
use rowkey_bigtable::merger::RowMerger;
use rowkey_proto::data::{ReadRowsRequest, ReadRowsResponse};
use rowkey_server::Options;
use rowkey_store::memory::MemoryEngine;
use rowkey_store::wrap::{Layer, Operation, Wrapped};
use rowkey_store::{Row, SystemClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tonic::{Code, Request};

/// Bytes of a message above which clients of an emulator refuse it, 4 MiB.
const CLIENT_BYTES_MAX: usize = 4 << 20;

/// Writes rows of this many bytes each.
fn fill(client: &Client, rows: usize, bytes: usize) {
    let value = "v".repeat(bytes);
    let keys: Vec<String> = (0..rows).map(numbered).collect();
    for keys in keys.chunks(2_000) {
        let entries = keys.iter().map(|key| (key.as_str(), vec![set("f", "q", 0, &value)])).collect();
        assert!(client.mutate_rows(entries).unwrap().iter().all(|(code, _)| *code == Code::Ok));
    }
}

fn merged(messages: &[ReadRowsResponse]) -> Vec<Row> {
    let mut merger = RowMerger::default();
    let mut rows = Vec::new();
    for message in messages {
        merger.push(message.clone(), &mut rows).unwrap();
    }
    merger.finish().unwrap();
    rows
}

/// Whether each message ends with its last row.
fn ends_between_rows(message: &ReadRowsResponse) -> bool {
    message.chunks.last().is_none_or(|chunk| chunk.row_status.is_some())
}

#[test]
fn messages_hold_whole_rows_and_stay_small() {
    on_every_engine(|client| {
        fill(client, 3_000, 1_000);
        let messages = client.messages(read_all()).unwrap();
        assert!(messages.len() > 5, "{}", messages.len());
        assert!(messages.iter().all(ends_between_rows));
        assert!(messages.iter().all(|message| message.encoded_len() <= 256 << 10));
        assert!(messages[0].encoded_len() <= 16 << 10, "the first rows come at once");
        assert_eq!(merged(&messages).len(), 3_000);
    });
}

#[test]
fn a_row_is_cut_only_if_it_is_larger_than_clients_accept() {
    on_every_engine(|client| {
        let value = |bytes: usize| "v".repeat(bytes);
        client.mutate("a", vec![set("f", "q", 0, "v")]).unwrap();
        client.mutate("b", (0..3).map(|n| set("f", &n.to_string(), 0, &value(1_000_000))).collect()).unwrap();
        client.mutate("c", (0..3).map(|n| set("f", &n.to_string(), 0, &value(3_000_000))).collect()).unwrap();
        client.mutate("d", vec![set("f", "q", 0, "v")]).unwrap();
        let messages = client.messages(read_all()).unwrap();
        assert!(messages.iter().all(|message| message.encoded_len() < CLIENT_BYTES_MAX));
        let cut: Vec<&ReadRowsResponse> =
            messages.iter().filter(|message| !ends_between_rows(message)).collect();
        assert!(!cut.is_empty());
        let rows = merged(&messages);
        let sizes: Vec<usize> =
            rows.iter().map(|row| row.cells.iter().map(|cell| cell.value.len()).sum()).collect();
        assert_eq!(sizes, [1, 3_000_000, 9_000_000, 1]);
        let of_b =
            messages.iter().find(|message| message.chunks.iter().any(|chunk| chunk.row_key == "b")).unwrap();
        assert_eq!(of_b.chunks.iter().map(|chunk| chunk.value.len()).max(), Some(1_000_000));
        assert!(ends_between_rows(of_b));
    });
}

#[test]
fn messages_may_be_larger_for_clients_that_take_them() {
    let options = Options { message_bytes_max: 64 << 20, ..Options::default() };
    on_memory(options, |client| {
        let value = "v".repeat(5_000_000);
        client.mutate("a", vec![set("f", "q", 0, &value), set("f", "r", 0, &value)]).unwrap();
        assert_eq!(client.messages(read_all()).unwrap().len(), 1);
    });
}

#[test]
fn a_slow_reader_holds_nobody_up() {
    on_every_engine(|client| {
        fill(client, 8_000, 2_000);
        client.runtime.block_on(async {
            // A reader that takes one message and then waits; behind it, more is there than windows and buffers hold.
            let mut slow = client.data.clone().read_rows(read_all()).await.unwrap().into_inner();
            let mut merger = RowMerger::default();
            let mut rows = Vec::new();
            merger.push(slow.message().await.unwrap().unwrap(), &mut rows).unwrap();
            for _ in 0..3 {
                let mut fast = client.other().await.read_rows(read_all()).await.unwrap().into_inner();
                let mut seen = 0;
                while let Some(message) = fast.message().await.unwrap() {
                    seen += message.chunks.len();
                }
                assert_eq!(seen, 8_000);
            }
            while let Some(message) = slow.message().await.unwrap() {
                merger.push(message, &mut rows).unwrap();
            }
            merger.finish().unwrap();
            assert_eq!(rows.len(), 8_000);
        });
    });
}

/// Counts the rows that come out of an engine.
#[derive(Debug, Default, Clone)]
struct Counted(Arc<AtomicU64>);

impl Layer for Counted {
    fn adjective(&self) -> &'static str {
        "counted"
    }

    fn before_row(&self, _: &Operation, _: u64) -> rowkey_store::Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn a_scan_goes_no_further_than_its_client_reads() {
    const ROWS: u64 = 30_000;
    let counted = Counted::default();
    let engine = Wrapped::new(MemoryEngine::new(Arc::new(SystemClock)), counted.clone());
    // Rows that came out when no more come out.
    let settled = async || {
        let mut before = u64::MAX;
        loop {
            let rows = counted.0.load(Ordering::SeqCst);
            if rows == before {
                return rows;
            }
            before = rows;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    on_engine(engine, Options::default(), |client| {
        fill(client, usize::try_from(ROWS).unwrap(), 2_000);
        client.runtime.block_on(async {
            let mut scan = client.data.clone().read_rows(read_all()).await.unwrap().into_inner();
            scan.message().await.unwrap().unwrap();
            // What windows and buffers hold is a small part of the table's 60 MB.
            let ahead = settled().await;
            assert!((1..ROWS / 2).contains(&ahead), "{ahead}");
            drop(scan);
            let after = settled().await;
            assert!(after <= ahead + 1_000, "{after} rows after {ahead}");
        });
    });
}

#[test]
fn ten_thousand_scans_are_given_up_half_read() {
    on_memory(Options::default(), |client| {
        fill(client, 4_000, 500);
        client.runtime.block_on(async {
            for round in 0..100 {
                // A connection that gives up a thousand streams ends itself.
                let other = client.other().await;
                let scans = (0..100).map(|_| {
                    let mut data = other.clone();
                    tokio::spawn(async move {
                        let mut scan = data.read_rows(read_all()).await.unwrap().into_inner();
                        if round % 2 == 0 {
                            scan.message().await.unwrap().unwrap();
                        }
                    })
                });
                for scan in scans.collect::<Vec<_>>() {
                    scan.await.unwrap();
                }
            }
        });
        assert_eq!(client.read(read_all()).unwrap().len(), 4_000);
    });
}

#[test]
fn calls_that_are_given_up_at_once_do_not_end_their_connection() {
    on_memory(Options::default(), |client| {
        fill(client, 1_000, 500);
        client.runtime.block_on(async {
            let other = client.other().await;
            for _ in 0..4 {
                let calls = (0..150).map(|_| {
                    let mut data = other.clone();
                    tokio::spawn(async move { data.read_rows(read_all()).await.map(drop) })
                });
                let calls: Vec<_> = calls.collect();
                tokio::task::yield_now().await;
                for call in calls {
                    call.abort();
                }
                other.clone().read_rows(read_all()).await.unwrap();
            }
        });
        assert_eq!(client.read(read_all()).unwrap().len(), 1_000);
    });
}

#[test]
fn a_scan_ends_at_its_deadline() {
    on_memory(Options::default(), |client| {
        fill(client, 20_000, 1_000);
        let ended = client.runtime.block_on(async {
            let mut request = Request::new(read_all());
            request.set_timeout(Duration::from_millis(300));
            let mut scan = client.data.clone().read_rows(request).await.unwrap().into_inner();
            let begun = Instant::now();
            // It waits for longer than that, so that the rest cannot come in time.
            scan.message().await.unwrap().unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
            loop {
                match scan.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("all rows came in {:?}", begun.elapsed()),
                    Err(status) => return status,
                }
            }
        });
        assert_eq!(ended.code(), Code::DeadlineExceeded, "{ended}");
    });
}

#[test]
fn writers_and_readers_get_on_with_each_other() {
    on_every_engine(|client| {
        fill(client, 500, 100);
        let write = |mut data: rowkey_proto::data::bigtable_client::BigtableClient<_>, number: usize| async move {
            for round in 0..10 {
                let request = rowkey_proto::data::MutateRowRequest {
                    table_name: TABLE.to_owned(),
                    row_key: numbered(number % 500).into(),
                    mutations: vec![set("g", "q", 0, &round.to_string())],
                    ..Default::default()
                };
                data.mutate_row(request).await.unwrap();
            }
        };
        let writers: Vec<_> =
            (0..600).map(|number| client.runtime.spawn(write(client.data.clone(), number))).collect();
        for _ in 0..5 {
            assert_eq!(client.read(read_all()).unwrap().len(), 500);
        }
        for writer in writers {
            client.runtime.block_on(writer).unwrap();
        }
        let rows = client.read(read_all()).unwrap();
        assert!(rows.iter().all(|row| row.cells[1].value == "9"));
        let other = ReadRowsRequest { table_name: table("micros"), ..read_all() };
        assert_eq!(client.read(other).unwrap().len(), 0);
    });
}
