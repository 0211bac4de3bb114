//! Escaped keys: reading never panics, and what was read prints to something that reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(bytes) = rowkey::escape::unescape(text) {
        let printed = rowkey::escape::escaped(&bytes).to_string();
        assert_eq!(rowkey::escape::unescape(&printed).as_deref(), Ok(&bytes[..]));
    }
});
