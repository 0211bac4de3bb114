//! Requests as bytes, which no generated client would send.

use crate::client::{Client, TABLE, on_memory, read_all, refused, set};
use bytes::{Buf as _, BufMut as _, Bytes};
use prost::Message as _;
use rowkey_proto::data::row_filter::{Chain, Filter};
use rowkey_proto::data::{CheckAndMutateRowRequest, ReadRowsRequest, ReadRowsResponse, RowFilter};
use rowkey_server::Options;
use rowkey_store::seeded::Seeded;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

/// A filter with field 21 of `RowFilter`, which is none yet.
const UNKNOWN_FILTER: &[u8] = &[0xaa, 0x01, 0x00];

/// Messages are bytes.
#[derive(Debug, Default, Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Calls a method with these bytes: the messages of its answer.
fn call(client: &Client, method: &str, message: &[u8]) -> Result<Vec<Bytes>, Status> {
    let path = PathAndQuery::try_from(format!("/google.bigtable.v2.Bigtable/{method}")).unwrap();
    client.runtime.block_on(async {
        let mut grpc = Grpc::new(client.channel.clone());
        grpc.ready().await.unwrap();
        let request = Request::new(Bytes::copy_from_slice(message));
        let mut stream = grpc.server_streaming(request, path, Raw).await?.into_inner();
        let mut messages = Vec::new();
        while let Some(message) = stream.message().await? {
            messages.push(message);
        }
        Ok(messages)
    })
}

/// A field with a length, of a number below 16.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

#[test]
fn a_filter_of_a_newer_client_is_refused_and_not_passed_over() {
    on_memory(Options::default(), |client| {
        client.mutate("r", vec![set("f", "q", 0, "v")]).unwrap();
        let read = |filter: &[u8]| {
            let request = [read_all().encode_to_vec(), field(3, filter)].concat();
            call(client, "ReadRows", &request)
        };
        let words = "field 21 of `RowFilter`";
        refused(read(UNKNOWN_FILTER), Code::InvalidArgument, words);
        let pass = RowFilter { filter: Some(Filter::PassAllFilter(true)) }.encode_to_vec();
        let chain = field(1, &[field(1, &pass), field(1, UNKNOWN_FILTER)].concat());
        refused(read(&chain), Code::InvalidArgument, words);
        let condition = field(3, &[field(1, &pass), field(2, UNKNOWN_FILTER)].concat());
        refused(read(&condition), Code::InvalidArgument, words);
        let check = CheckAndMutateRowRequest {
            table_name: TABLE.to_owned(),
            row_key: "r".into(),
            true_mutations: vec![set("f", "q", 0, "changed")],
            ..CheckAndMutateRowRequest::default()
        };
        let check = [check.encode_to_vec(), field(6, UNKNOWN_FILTER)].concat();
        refused(call(client, "CheckAndMutateRow", &check), Code::InvalidArgument, words);
        client.check_all("r f:q 0 v");
    });
}

#[test]
fn a_filter_that_is_too_deep_to_be_decoded_is_the_clients_fault() {
    on_memory(Options::default(), |client| {
        let pass = || RowFilter { filter: Some(Filter::PassAllFilter(true)) };
        let chain =
            |inner, _| RowFilter { filter: Some(Filter::Chain(Chain { filters: vec![inner, pass()] })) };
        for levels in [20, 40, 60, 100] {
            let filter = Some((0..levels).fold(pass(), chain));
            let read = client.read(ReadRowsRequest { filter, ..read_all() });
            refused(read, Code::InvalidArgument, "");
        }
    });
}

#[test]
fn a_filter_that_says_nothing_lets_everything_through() {
    on_memory(Options::default(), |client| {
        client.mutate("r", vec![set("f", "q", 0, "v")]).unwrap();
        let filters = vec![RowFilter::default(), RowFilter { filter: Some(Filter::PassAllFilter(true)) }];
        for filter in [RowFilter::default(), RowFilter { filter: Some(Filter::Chain(Chain { filters })) }] {
            client.check(ReadRowsRequest { filter: Some(filter), ..read_all() }, "r f:q 0 v");
        }
    });
}

#[test]
fn garbage_is_an_error_and_hurts_nobody() {
    on_memory(Options::default(), |client| {
        client.mutate("r", vec![set("f", "q", 0, "v")]).unwrap();
        let mut seeded = Seeded::new(7);
        let good = read_all().encode_to_vec();
        for _ in 0..300 {
            let mut bytes: Vec<u8> = match seeded.below(3) {
                0 => (0..seeded.below(60)).map(|_| seeded.any().to_be_bytes()[0]).collect(),
                _ => good.clone(),
            };
            if !bytes.is_empty() {
                let at = seeded.below(bytes.len());
                bytes[at] = seeded.any().to_be_bytes()[0];
            }
            let method = *seeded.one_of(&[
                "ReadRows",
                "MutateRow",
                "CheckAndMutateRow",
                "MutateRows",
                "SampleRowKeys",
            ]);
            // Whatever it is, it is answered, and an error has its id. It is the client's, who should not send it again.
            if let Err(status) = call(client, method, &bytes) {
                assert_ne!(status.code(), Code::Internal, "{status}");
                assert!(status.metadata().contains_key("x-request-id"), "{status}");
            }
        }
        let messages = call(client, "ReadRows", &good).unwrap();
        let message = ReadRowsResponse::decode(&messages[0][..]).unwrap();
        assert_eq!(message.chunks[0].row_key, "r");
    });
}
