//! What the targets share: schemas, which together have every encoding, salt source and salt format, and a reader of operations.

use rowkey::{Codec, KeySchema};
use rowkey_hotspot::Operation;
use rowkey_hotspot::input::{self, Options};
use std::ops::ControlFlow;
use std::sync::LazyLock;

const SCHEMAS: [&str; 5] = [
    r##"version = 1
table = "text"
[key]
layout = "{salt}#{tenant}#{kind}#{vehicle}#{time}#{note}"
[key.salt]
of = ["vehicle"]
buckets = 16
[key.fields]
tenant = { type = "string" }
kind = { type = "string", values = ["truck", "van"] }
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
note = { type = "string" }
"##,
    r##"version = 1
table = "binary"
[key]
layout = "{salt}{name}{blob}{count}{offset}{ratio}{at}{id}{tail}"
[key.salt]
of = ["name", "count"]
buckets = 300
format = "bytes"
[key.fields]
name = { type = "text" }
blob = { type = "bytes", order = "desc" }
count = { type = "u32" }
offset = { type = "i64", order = "desc" }
ratio = { type = "f64" }
at = { type = "timestamp", unit = "us", encoding = "binary", order = "desc" }
id = { type = "uuid", encoding = "binary" }
tail = { type = "fixed", bytes = 3 }
"##,
    r##"version = 1
table = "domains"
[key]
layout = '{host}\x00{day}|{digest}|{uuid}|{delta}|{when}'
[key.fields]
host = { type = "domain" }
day = { type = "timestamp", format = "date-basic" }
digest = { type = "hex", digits = 8 }
uuid = { type = "uuid" }
delta = { type = "int", digits = 4 }
when = { type = "timestamp", format = "iso-extended", unit = "ms" }
"##,
    r##"version = 1
table = "wide"
[key]
layout = "{salt}{id}/{part}"
[key.salt]
of = ["id"]
hash = "md5"
prefix_bytes = 2
format = "hex"
[key.fields]
id = { type = "uint", digits = 10, reverse = true }
part = { type = "u8", order = "desc" }
"##,
    r##"version = 1
table = "dice"
[key]
layout = "{salt}#{host}#{n}"
[key.salt]
buckets = 7
hash = "random"
[key.fields]
host = { type = "domain", separator = "." }
n = { type = "i16" }
"##,
];

static CODECS: LazyLock<Vec<Codec>> = LazyLock::new(|| {
    SCHEMAS
        .iter()
        .map(|text| Codec::new(KeySchema::parse(text).expect("a good schema")).expect("a codec"))
        .collect()
});

/// One of the codecs, chosen by the first byte of the input, and the rest of the input.
pub fn choose(data: &[u8]) -> Option<(&'static Codec, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((&CODECS[usize::from(*first) % CODECS.len()], rest))
}

/// An operation that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// Its kind, time, rows and bytes, and where it ends.
    pub rest: String,
    /// Its key.
    pub key: Vec<u8>,
}

/// All operations of an input, if it is not refused. Checks that the counts add up.
pub fn read_all(bytes: &[u8], options: &Options) -> Option<Vec<Owned>> {
    let mut all = Vec::new();
    let mut sink = |operation: &Operation<'_>| {
        let rest = format!("{:?}", Operation { key: b"", ..*operation });
        all.push(Owned { rest, key: operation.key.to_vec() });
        ControlFlow::Continue(())
    };
    let report = input::read(bytes, "input", options, &mut sink, &mut |_| ()).ok()?;
    assert!(report.adds_up(), "{report:?}");
    assert_eq!(report.operations, all.len() as u64);
    Some(all)
}
