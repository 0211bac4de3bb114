//! Fragments of rows, as they lie on disk: decoding never panics, and cells come in order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok((_, cells)) = rowkey_lsm::fragment::decode(bytes::Bytes::copy_from_slice(data)) else { return };
    for pair in cells.windows(2) {
        let order =
            pair[0].qualifier.cmp(&pair[1].qualifier).then(pair[1].timestamp_us.cmp(&pair[0].timestamp_us));
        assert_eq!(order, std::cmp::Ordering::Less);
    }
});
