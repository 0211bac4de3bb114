//! Any bytes as a file, packed or not, its format told by its first lines: no panic, the counts add up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_fuzz::read_all;
use rowkey_hotspot::input::Options;

/// The marks of gzip (with its method) and zstd: without them, few inputs would be taken for packed ones.
const MARKS: [&[u8]; 3] = [b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"];

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let bytes = [MARKS[usize::from(*first) % MARKS.len()], rest].concat();
    for lenient in [false, true] {
        read_all(&bytes, &Options { lenient, ..Options::default() });
    }
});
