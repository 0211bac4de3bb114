//! Values as people write them: parsing never panics, and what was read prints to text that reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((codec, rest)) = rowkey_fuzz::choose(data) else { return };
    let Some((first, text)) = rest.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let field = usize::from(*first) % codec.schema().fields.len();
    if let Ok(value) = codec.parse_value(field, text) {
        let printed = codec.format_value(field, &value);
        let again = codec.parse_value(field, &printed).expect("what was printed can be read");
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let first = codec.encode_field(field, &value, &mut a).is_ok();
        let second = codec.encode_field(field, &again, &mut b).is_ok();
        assert_eq!((first, a), (second, b), "{text:?} printed as {printed:?}");
    }
});
