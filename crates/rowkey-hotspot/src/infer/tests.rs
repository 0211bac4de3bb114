//! What people would say of samples, and what the inference says.

mod corpus;
mod junk;
mod shapes;

use std::fmt::Write;

use super::{Hints, infer};
use crate::facts::{Arrived, KeySample};
use crate::layout::{HashEncoding, Layout, Meaning, Segment, TimeForm, TimeMeaning};

/// A sample of all these keys.
fn sample(keys: impl IntoIterator<Item = Vec<u8>>) -> KeySample {
    let arrived =
        |(index, key): (usize, Vec<u8>)| Arrived { index: index as u64, time_ms: None, key: key.into() };
    let uniform: Vec<Arrived> = keys.into_iter().enumerate().map(arrived).collect();
    KeySample { seen: uniform.len() as u64, uniform, runs: Vec::new() }
}

/// The formats of a layout, one a line, in short: literals as they are, fields as what they are.
fn outline(layout: &Layout) -> String {
    let mut text = String::new();
    for format in &layout.formats {
        for segment in &format.segments {
            match segment {
                Segment::Literal(bytes) => write!(text, "{}", rowkey::escape::escaped(bytes)),
                Segment::Field(field) => write!(text, "{{{}}}", short(&field.meaning)),
            }
            .expect("a string takes all");
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn short(meaning: &Meaning) -> String {
    let time = |name: &str, time: &TimeMeaning| {
        let form = match time.form {
            TimeForm::Epoch(unit) => unit.name().to_owned(),
            TimeForm::Binary(unit) => format!("binary {}", unit.name()),
            TimeForm::Ticks => "ticks".to_owned(),
            TimeForm::IsoExtended => "iso".to_owned(),
            TimeForm::IsoBasic => "basic".to_owned(),
            TimeForm::Calendar => "calendar".to_owned(),
        };
        format!("{name} {form}{}", if time.reversed { " reversed" } else { "" })
    };
    match meaning {
        Meaning::Time(meaning) => time("time", meaning),
        Meaning::Period(meaning) => time("period", meaning),
        Meaning::Number { padded, grows, negative } => {
            let words = [("padded", *padded), ("growing", *grows), ("negative", *negative)];
            let mut text = String::new();
            for (word, _) in words.iter().filter(|(_, is)| *is) {
                text.push_str(word);
                text.push(' ');
            }
            text + "number"
        }
        Meaning::Decimal { negative } => if *negative { "negative decimal" } else { "decimal" }.to_owned(),
        Meaning::BinaryNumber { bytes, grows } => {
            format!("{}u{}", if *grows { "growing " } else { "" }, 8 * u32::from(*bytes))
        }
        Meaning::Id(id) => format!("{id:?}").to_lowercase(),
        Meaning::Hash { bits, encoding } => {
            let name = match encoding {
                HashEncoding::Hex => "hex",
                HashEncoding::Base64 => "base64",
                HashEncoding::Raw => "raw",
                HashEncoding::Decimal => "digits",
            };
            format!("{name} {bits}")
        }
        Meaning::Salt(salt) => format!("salt {}", salt.buckets),
        Meaning::Domain { reversed } => if *reversed { "reversed host" } else { "host" }.to_owned(),
        Meaning::Path => "path".to_owned(),
        Meaning::Address => "address".to_owned(),
        Meaning::Email => "email".to_owned(),
        Meaning::Enumeration => "words".to_owned(),
        Meaning::Text => "text".to_owned(),
        Meaning::Binary => "binary".to_owned(),
    }
}

#[track_caller]
fn check_sample(sample: &KeySample, expected: &str) {
    let layout = infer(sample, &Hints::default());
    assert_eq!(outline(&layout), expected, "\n{layout}");
}

#[test]
fn an_empty_sample_has_no_formats() {
    check_sample(&sample([]), "");
    check_sample(&sample([Vec::new()]), "");
}

#[test]
fn one_key_is_a_format() {
    let layout = infer(&sample([b"a#b".to_vec()]), &Hints::default());
    assert_eq!(layout.formats.len(), 1);
    assert_eq!(layout.formats[0].share.to_bits(), 1.0f64.to_bits());
}
