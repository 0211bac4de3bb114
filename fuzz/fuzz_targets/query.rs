//! Queries: parsing and planning never panic, and plans are ascending, disjoint ranges.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey::Query;

fuzz_target!(|data: &[u8]| {
    let Some((codec, text)) = rowkey_fuzz::choose(data) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(query) = Query::parse(codec, text) else { return };
    let Ok(plan) = rowkey::plan(codec, &query) else { return };
    for bucket in &plan.buckets {
        for pair in bucket.ranges.windows(2) {
            let end = pair[0].end.as_ref().expect("only the last range is open");
            assert!(*end < pair[1].start, "ranges touch or overlap: {plan}");
        }
    }
    let _ = plan.to_string();
});
