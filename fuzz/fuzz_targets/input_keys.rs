//! Keys, one a line, of any bytes: no panic, the counts add up, and what was read is read again from its escaped form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_fuzz::read_all;
use rowkey_hotspot::input::{Format, Options};

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let line_bytes_max = usize::from(*first);
    let options = Options { format: Some(Format::Keys), lenient: true, line_bytes_max, ..Options::default() };
    let Some(read) = read_all(text, &options) else { return };
    let mut lines = String::new();
    for operation in &read {
        lines.push_str(&rowkey::escape::escaped(&operation.key).to_string());
        lines.push('\n');
    }
    let options = Options { line_bytes_max: usize::MAX, ..options };
    assert_eq!(read_all(lines.as_bytes(), &options), Some(read));
});
