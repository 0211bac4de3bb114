//! Stored keys: decoding never panics, explains itself, and what decodes encodes to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey::ErrorKind;

fuzz_target!(|data: &[u8]| {
    let Some((codec, key)) = rowkey_fuzz::choose(data) else { return };
    let mut values = Vec::new();
    let _ = codec.explain(key);
    match codec.decode(key, &mut values) {
        Ok(()) => {
            let mut unsalted = Vec::new();
            codec.encode_unsalted(&values, &mut unsalted).expect("what was decoded can be encoded");
            assert_eq!(unsalted, codec.split_salt(key).expect("it decoded").1);
        }
        Err(error) => {
            if let ErrorKind::Malformed { offset } = error.kind() {
                assert!(offset <= key.len(), "offset {offset} of a key of {} bytes", key.len());
            }
        }
    }
});
