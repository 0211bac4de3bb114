//! The thirty samples: the template that a person would give each.

use super::{check_sample, infer};
use crate::facts::{Arrived, KeySample};
use crate::infer::Hints;
use crate::layout::{Format, Oddity};

/// The writes of a case; `None`, said loudly, where the samples are missing.
fn case(number: u32) -> Option<KeySample> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let prefix = format!("s{number:02}-");
    let folders = std::fs::read_dir(&root).into_iter().flatten().flatten();
    let folder = folders
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    let Some(folder) = folder else {
        eprintln!("SKIPPED: 1 case, there is no {prefix}* in {}", root.display());
        return None;
    };
    let arrived = |(index, (time_ms, text)): (usize, (Option<i64>, String))| Arrived {
        index: index as u64,
        time_ms,
        key: rowkey::escape::unescape(&text).expect("keys are escaped").into(),
    };
    let keys: Vec<(Option<i64>, String)> = if let Ok(text) = std::fs::read_to_string(folder.join("keys.txt"))
    {
        text.lines().map(|line| (None, line.to_owned())).collect()
    } else {
        let text = std::fs::read_to_string(folder.join("ops.jsonl")).expect("keys.txt or ops.jsonl");
        let operations =
            text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let writes = operations.filter(|op| op["op"] == "write");
        writes.map(|op| (op["time_ms"].as_i64(), op["key"].as_str().expect("a key").to_owned())).collect()
    };
    let uniform: Vec<Arrived> = keys.into_iter().enumerate().map(arrived).collect();
    Some(KeySample { seen: uniform.len() as u64, uniform, runs: Vec::new() })
}

#[track_caller]
fn check(number: u32, expected: &str) {
    if let Some(sample) = case(number) {
        check_sample(&sample, expected);
    }
}

#[test]
fn every_case_has_the_template_that_a_person_would_give() {
    check(1, "{time s}#{words}#{hex 24}");
    check(2, "{time ticks reversed}$silo-{padded number}${words}");
    check(3, "order-items/{uuid(7)}/{padded number}");
    check(4, "{ulid}\n{objectid}");
    check(5, "/devices/{hex 48}/{words}/one_time_keys/{growing number}");
    check(6, "{host}/{path}");
    check(7, "{words}#{time ms}");
    check(8, "{period calendar}|{hex 48}|p{padded number}");
    check(9, "acct#{padded number}#{time iso}");
    check(10, "{salt 12}_{time basic}_dev-{padded number}");
    check(11, "{salt 256}#{words}#{period s}#web{padded number}");
    check(12, "{salt 16}#{time iso}#{words}#{padded number}");
    check(13, "{salt 4}_{snowflake}");
    check(14, "{salt 16}#m{padded number}#{time s}");
    check(15, "{hex 160}");
    check(16, "cnt#{words}#{words}\nevt#{uuid(4)}");
    check(17, "{digits 33}#https://{host}/{path}");
    check(18, "{negative decimal},{negative decimal}#{text}");
    check(19, "{words}/{period calendar}/{padded number}");
    check(20, "dev-{padded number}#{time ms}");
    check(21, "u/{hex 32}/{time ms reversed}");
    check(22, "blob:{hex 160}");
    check(23, "jobs#{time iso}#{hex 16}");
    check(24, "{words}#{uuid(4)}");
    check(25, "{time iso}#{words}#{words}");
    check(26, "{padded number}#{padded number}#{padded number}");
    check(27, "{salt 64}#pump-{padded number}/{words}#{time s}");
    check(28, "user/{hex 32}/{time ms reversed}");
    check(29, "{words}#{time s}");
    check(30, "user:{number}");
}

#[track_caller]
fn check_oddity(number: u32, is_it: impl Fn(&Oddity) -> bool) {
    let Some(sample) = case(number) else { return };
    let layout = infer(&sample, &Hints::default());
    let found = layout.formats.iter().flat_map(Format::fields).any(|field| field.oddities.iter().any(&is_it));
    assert!(found, "\n{layout}");
}

#[test]
fn what_is_odd_in_a_case_is_found() {
    check_oddity(5, |oddity| matches!(oddity, Oddity::Discordant { share } if *share > 0.1));
    check_oddity(10, |oddity| matches!(oddity, Oddity::Discordant { share } if *share > 0.1));
    check_oddity(18, |oddity| matches!(oddity, Oddity::Negative { share } if *share > 0.8));
    check_oddity(19, |oddity| matches!(oddity, Oddity::Delimiter { byte: b'/', share, .. } if *share > 0.1));
    check_oddity(20, |oddity| matches!(oddity, Oddity::TimeUnits { units } if units.len() == 2));
    check_oddity(21, |oddity| matches!(oddity, Oddity::Granular { step: 1024, share } if *share > 0.99));
    check_oddity(
        22,
        |oddity| matches!(oddity, Oddity::HexCase { upper, lower } if *upper > 0.4 && *lower > 0.4),
    );
    check_oddity(30, |oddity| matches!(oddity, Oddity::Discordant { .. }));
}

#[test]
fn an_exact_reversed_time_is_not_granular() {
    let Some(sample) = case(28) else { return };
    let layout = infer(&sample, &Hints::default());
    let fields = layout.formats.iter().flat_map(Format::fields);
    assert!(fields.flat_map(|field| &field.oddities).next().is_none(), "\n{layout}");
}
