//! The history of load: reading never panics, what is read is written as something that reads the same, and putting it in order loses no sum.
#![no_main]
// Only a part of each is used here.
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/rowkey-server/src/load/answer.rs"]
mod answer;
#[path = "../../crates/rowkey-server/src/load/history.rs"]
mod history;

fuzz_target!(|data: &[u8]| {
    let Ok(mut history) = history::History::decode(data) else { return };
    assert!(history.ranges.len() + history.tablets.len() <= data.len(), "every part takes a byte");
    assert_eq!(history::History::decode(&history.encode()).as_ref(), Ok(&history));
    let before = history.sums();
    history.tidy(data.len() % 7 + 1);
    assert_eq!(history.sums(), before);
    assert!(history.ranges.len() <= data.len() % 7 + 1 && history.tablets.len() <= history::TABLETS_MAX);
    assert_eq!(history::History::decode(&history.encode()).as_ref(), Ok(&history));
});
