//! JSON lines of any bytes: no panic, the counts add up, and the quick way through a line agrees with the JSON parser, to which a member
//! that is an array leads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_fuzz::read_all;
use rowkey_hotspot::input::{Format, Options};

fuzz_target!(|data: &[u8]| {
    let options = Options { format: Some(Format::Operations), lenient: true, ..Options::default() };
    // A good line, so that the account is not refused for having none.
    let good = b"{\"op\":\"write\",\"key\":\"k\"}\n";
    let mut slow = good.to_vec();
    for line in data.split_inclusive(|&byte| byte == b'\n') {
        // What JSON takes for blanks; a form feed is none.
        let start = line.iter().position(|byte| !b" \t\r".contains(byte)).unwrap_or(line.len());
        match line[start..].strip_prefix(b"{") {
            Some(rest) => slow.extend_from_slice(&[b"{\"\":[],", rest].concat()),
            None => slow.extend_from_slice(line),
        }
    }
    // Either may be taken for a file of another kind, by what stands where in it.
    if let (Some(quickly), Some(slowly)) =
        (read_all(&[good, data].concat(), &options), read_all(&slow, &options))
    {
        assert_eq!(quickly, slowly);
    }
});
