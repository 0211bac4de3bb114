//! Garbage-collection rules: parsing never panics, and a rule prints to text that parses to an equal one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_store::gc;

fuzz_target!(|text: &str| {
    let Ok(rule) = gc::parse_rule(text) else { return };
    let printed = gc::format_rule(rule.as_ref());
    assert_eq!(gc::parse_rule(&printed).expect("what was printed can be read"), rule);
});
