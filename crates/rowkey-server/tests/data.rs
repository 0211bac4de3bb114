//! `google.bigtable.v2.Bigtable`, by a client over the network.

#![expect(clippy::unwrap_used, reason = "a test whose server does not answer has failed")]

mod common;

use common::{on_every_engine, read_all, refused, set};
use rowkey_proto::data::ReadRowsRequest;
use tonic::Code;

#[test]
fn what_is_written_is_read() {
    on_every_engine(|client| {
        client.mutate("r1", vec![set("f", "q", 1_000, "v1"), set("f", "q", 2_000, "v2")]).unwrap();
        client.mutate("r2", vec![set("g", "q", 1_000, "w")]).unwrap();
        client.check_all("r1 f:q 2000 v2, f:q 1000 v1; r2 g:q 1000 w");
    });
}

#[test]
fn a_missing_table_or_family_is_not_found() {
    on_every_engine(|client| {
        let words = "Requested column family not found";
        refused(client.mutate("r1", vec![set("x", "q", 0, "v")]), Code::NotFound, words);
        let missing = "projects/p/instances/i/tables/missing".to_owned();
        let request = ReadRowsRequest { table_name: missing, ..read_all() };
        refused(client.read(request), Code::NotFound, "missing");
    });
}
