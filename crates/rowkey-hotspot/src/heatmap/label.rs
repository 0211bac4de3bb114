//! Names of groups of neighbouring rows: the prefixes that their keys share, as a hierarchy.

use super::view::View;
use crate::report::Redactor;
use rowkey::Codec;
use std::ops::Range;

/// Levels of the hierarchy at most.
const LEVELS_MAX: usize = 4;
/// Bytes that often stand between the parts of a key.
const DELIMITERS: &[u8] = b"#:|/_-.~\0\x1f";
/// Groups that a level may have where nothing but bytes tells them apart.
const GROUPS_MAX: usize = 40;

/// A group of neighbouring rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its rows.
    pub rows: Range<usize>,
    /// What they share.
    pub text: String,
}

/// One part of a key: where it ends, and what it says.
struct Part {
    end: usize,
    text: String,
}

/// The hierarchy of a view's rows, coarse levels first; empty where keys share nothing that helps. With a schema the parts are its
/// fields, else what stands between delimiters, else first bytes.
pub(super) fn labels(view: &View, codec: Option<&Codec>, redactor: Redactor) -> Vec<Vec<Label>> {
    let keys: Vec<&[u8]> = view.rows.iter().map(|row| row.example.as_deref().unwrap_or(&row.start)).collect();
    let parts: Vec<Vec<Part>> = keys
        .iter()
        .map(|key| match codec {
            Some(codec) => fields(codec, key, redactor),
            None => segments(key, redactor),
        })
        .collect();
    let mut levels = Vec::new();
    for level in 0..LEVELS_MAX {
        let end = |row: usize| parts[row].get(level).map(|part| part.end);
        let groups = groups_of(&keys, end, |row| parts[row][level].text.clone());
        let covered: usize = groups.iter().map(|group| group.rows.len()).sum();
        // As many groups as rows say no more than the rows' own keys.
        if groups.len() * 3 > view.rows.len().max(3) || covered * 2 < view.rows.len() {
            break;
        }
        levels.push(groups);
    }
    // A level of one group alone says what all keys share; it helps only above another.
    while levels.last().is_some_and(|groups| groups.len() < 2) {
        levels.pop();
    }
    if levels.is_empty() { first_bytes(&keys, redactor).into_iter().collect() } else { levels }
}

fn fields(codec: &Codec, key: &[u8], redactor: Redactor) -> Vec<Part> {
    let parts = codec.explain(key).parts.into_iter().filter(|part| part.name != "literal");
    let shown = |name: &str, text: &str| {
        if name == "salt" { text.to_owned() } else { format!("{name}={}", redactor.key(text.as_bytes())) }
    };
    parts.map(|part| Part { end: part.range.end, text: shown(&part.name, &part.text) }).collect()
}

fn segments(key: &[u8], redactor: Redactor) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, byte) in key.iter().enumerate() {
        if DELIMITERS.contains(byte) && parts.len() < LEVELS_MAX {
            parts.push(Part { end: at + 1, text: redactor.key(&key[begin..=at]) });
            begin = at + 1;
        }
    }
    parts
}

/// Neighbours whose keys agree up to the end of a part.
fn groups_of(
    keys: &[&[u8]],
    end: impl Fn(usize) -> Option<usize>,
    text: impl Fn(usize) -> String,
) -> Vec<Label> {
    let mut groups: Vec<Label> = Vec::new();
    let mut prefix: Option<&[u8]> = None;
    for (row, key) in keys.iter().enumerate() {
        let this = end(row).and_then(|end| key.get(..end));
        match (groups.last_mut(), this) {
            (Some(group), Some(_)) if this == prefix => group.rows.end = row + 1,
            (_, Some(_)) => groups.push(Label { rows: row..row + 1, text: text(row) }),
            (_, None) => {}
        }
        prefix = this;
    }
    groups
}

/// One level by the first bytes behind what all keys share, as many as make 2 to 40 groups.
fn first_bytes(keys: &[&[u8]], redactor: Redactor) -> Option<Vec<Label>> {
    let first = keys.iter().find(|key| !key.is_empty())?;
    let shared = keys.iter().filter(|key| !key.is_empty()).fold(first.len(), |shared, key| {
        shared.min(first.iter().zip(*key).take_while(|(a, b)| a == b).count())
    });
    let level = |length: usize| {
        let end = |row: usize| Some(length.min(keys[row].len())).filter(|&end| end > 0);
        groups_of(keys, end, |row| redactor.key(&keys[row][..length.min(keys[row].len())]))
    };
    let few = |groups: &Vec<Label>| (2..=GROUPS_MAX).contains(&groups.len()) && groups.len() < keys.len();
    (shared + 1..=shared + 8).map(level).take_while(few).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heatmap::{Axis, ViewRow};

    fn view(keys: &[&str]) -> View {
        let row = |key: &&str| ViewRow { start: key.as_bytes().into(), example: Some(key.as_bytes().into()) };
        View {
            axis: Axis::Time,
            rows: keys.iter().map(row).collect(),
            end: None,
            time_start: 0,
            time_step: 1,
            columns: 0,
            metrics: vec![],
            values: vec![],
            totals: vec![],
        }
    }

    fn check(keys: &[&str], codec: Option<&Codec>, redacts: bool, expected: &[&str]) {
        let levels = labels(&view(keys), codec, Redactor::new(redacts));
        let shown: Vec<String> = levels
            .iter()
            .map(|level| {
                let texts = level.iter().map(|label| format!("{}:{}", label.rows.len(), label.text));
                texts.collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn delimiters_make_a_hierarchy() {
        let keys = ["a#1#x", "a#1#y", "a#1#z", "a#2#x", "a#2#y", "a#2#z", "b#1#x", "b#1#y", "b#1#z"];
        check(&keys, None, false, &["6:a# 3:b#", "3:1# 3:2# 3:1#"]);
        check(&keys, None, true, &["6:a# 3:a#", "3:9# 3:9# 3:9#"]);
    }

    #[test]
    fn without_delimiters_first_bytes_do() {
        let keys: Vec<String> = (0..64).map(|at| format!("user{:02x}", at * 4)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let expected =
            "0123456789abcdef".chars().map(|digit| format!("4:user{digit}")).collect::<Vec<_>>().join(" ");
        check(&keys, None, false, &[&expected]);
        check(&[], None, false, &[]);
        check(&[""], None, false, &[]);
        check(&["same", "same"], None, false, &[]);
    }

    #[test]
    fn a_schema_names_the_fields() {
        let schema = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{tenant}#{vehicle}\"\n[key.fields]\ntenant = { type = \"string\" }\nvehicle = { type = \"uint\", digits = 3 }\n[families]\nf = { gc = \"maxversions=1\" }\n";
        let codec = Codec::new(rowkey::KeySchema::parse(schema).unwrap()).unwrap();
        let keys = ["acme#001", "acme#002", "acme#003", "acme#004", "bolt#001", "bolt#002"];
        check(&keys, Some(&codec), false, &["4:tenant=acme 2:tenant=bolt"]);
    }
}
