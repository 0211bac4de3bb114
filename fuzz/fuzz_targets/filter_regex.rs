//! Patterns of filters: the translator never panics, what it accepts compiles and matches without a panic, and a quoted literal matches
//! itself and nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_store::regex::{Pattern, quote, translate};

// | length of the pattern: u8 | pattern | text |
fuzz_target!(|data: &[u8]| {
    let Some((&len, rest)) = data.split_first() else { return };
    let (pattern, text) = rest.split_at(usize::from(len).min(rest.len()));
    if translate(pattern).is_ok() {
        let compiled = Pattern::new(pattern).expect("what is translated compiles");
        let matched = compiled.matches(text);
        let (prefix, whole) = compiled.prefix();
        assert!(!matched || text.starts_with(prefix));
        assert!(!whole || matched == (text == prefix));
        // A group around it, and another alternative that cannot match, change nothing.
        let grouped = [b"(?:", pattern, b")|(?:[^\\x00-\\xff])"].concat();
        // `\Q` may have swallowed what was put behind.
        if !pattern.windows(2).any(|two| two == b"\\Q")
            && let Ok(grouped) = Pattern::new(&grouped)
        {
            assert_eq!(grouped.matches(text), matched);
        }
    }
    let literal = Pattern::new(&quote(pattern)).expect("a quoted literal is a pattern");
    assert!(literal.matches(pattern));
    assert_eq!(literal.matches(text), text == pattern);
});
