//! CSV of any bytes behind a good header: no panic, the counts add up, and every key decodes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_fuzz::{choose, read_all};
use rowkey_hotspot::input::Options;

fuzz_target!(|data: &[u8]| {
    let Some((codec, rest)) = choose(data) else { return };
    let names: Vec<&str> = codec.schema().fields.iter().map(|field| field.name.as_str()).collect();
    let text = [names.join(",").as_bytes(), b"\n", rest].concat();
    let options =
        Options { codec: Some(codec.clone()), lenient: true, line_bytes_max: 200, ..Options::default() };
    for operation in read_all(&text, &options).unwrap_or_default() {
        codec.decode(&operation.key, &mut Vec::new()).expect("what was encoded can be decoded");
    }
});
