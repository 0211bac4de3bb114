//! Schema files: parsing never panics, and a schema prints to text that parses to an equal one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey::{Codec, KeySchema};

fuzz_target!(|text: &str| {
    let Ok(schema) = KeySchema::parse(text) else { return };
    let printed = schema.to_toml();
    assert_eq!(KeySchema::parse(&printed).as_ref(), Ok(&schema), "{printed}");
    let _ = (schema.warnings(), schema.fingerprint());
    let codec = Codec::new(schema.clone()).expect("what parses compiles");
    let _ = schema.describe(&codec).to_string();
});
