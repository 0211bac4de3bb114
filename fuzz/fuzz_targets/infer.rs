//! Key layouts: inference never panics, its shares add up, and every format splits a key of the sample into its fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_hotspot::facts::{Arrived, KeySample};
use rowkey_hotspot::infer::{Hints, from_schema, infer, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, text)) = rowkey_fuzz::choose(data) else { return };
    // Each line several times: what is rare is no format.
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let keys = lines.iter().cycle().take(lines.len() * 3).enumerate();
    let uniform: Vec<Arrived> =
        keys.map(|(index, key)| Arrived { index: index as u64, time_ms: None, key: (*key).into() }).collect();
    let sample = KeySample { seen: uniform.len() as u64, runs: vec![uniform.clone()], uniform };
    for layout in [infer(&sample, &Hints::default()), from_schema(codec, &sample)] {
        let shares: f64 = layout.formats.iter().map(|format| format.share).sum();
        assert!((0.0..1.000_001).contains(&(shares + layout.unexplained_share)), "{layout}");
        for format in layout.formats.iter().filter(|_| !layout.from_schema) {
            let fields = format.fields().count();
            let cut: Vec<usize> = sample
                .uniform
                .iter()
                .filter_map(|arrived| split(format, &arrived.key))
                .map(|cut| cut.len())
                .collect();
            assert!(!cut.is_empty() && cut.iter().all(|count| *count == fields), "{format}");
        }
    }
});
