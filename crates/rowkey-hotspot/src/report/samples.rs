//! A diagnosis made by hand, for the tests of reports.

use crate::context::Context;
use crate::facts::{Counts, Facts, HeavyKey, Lengths, Span, Spread, WindowSpread};
use crate::finding::{Advice, Bound, Diagnosis, Evidence, Finding, Passed, quote_value};
use crate::layout::{FieldFacts, Format, Layout, Meaning, Oddity, Segment, TimeForm, TimeMeaning};
use crate::rule::{Rule, Severity};
use rowkey::schema::TimeUnit;

/// The words that must not be in a redacted report of [`diagnosis`].
pub(super) const VALUES: &[&str] = &["acme", "1714644000", "secret", "1714644999", "zebra"];

/// A time-first key with a second finding.
pub(super) fn diagnosis() -> Diagnosis {
    Diagnosis {
        findings: vec![time_first(), delimiter()],
        passed: vec![
            Passed {
                rule: Rule::LongKey,
                checked: true,
                why: "99 of 100 keys are at most 20 bytes long".to_owned(),
            },
            Passed {
                rule: Rule::HotEntity,
                checked: false,
                why: format!("most writes begin with {}", quote_value(b"1714644000")),
            },
        ],
        facts: facts(),
        layout: layout(),
        context: Context { writes_per_s: Some(140_000.0), ..Context::default() },
        bound: Bound {
            needed_per_s: 140_000.0,
            needed_is_known: true,
            nodes_used: 1.0,
            bound_per_s: 9_800.0,
        },
    }
}

fn time_first() -> Finding {
    Finding {
        rule: Rule::TimeFirst,
        severity: Severity::Error,
        headline: format!("all writes hit 1 of 10 nodes: keys begin with a time, as in {}", quote_value(KEY)),
        field: Some("time".to_owned()),
        evidence: vec![Evidence {
            what: "effective places written at once".to_owned(),
            measured: 1.0,
            threshold: "below 5".to_owned(),
            sample: 8_007,
            error: Some(0.012_345_678),
        }],
        nodes_lost: 9.0,
        examples: vec![KEY.into(), b"1714644999#zebra\xff".as_slice().into()],
        places: vec![(KEY.to_vec(), None)],
        advice: vec![Advice {
            action: format!("put `text` before `time`: {}", quote_value(b"acme#1714644000")),
            gain: "writes reach 10 of 10 nodes".to_owned(),
            cost: String::new(),
        }],
    }
}

fn delimiter() -> Finding {
    Finding {
        rule: Rule::DelimiterInData,
        severity: Severity::Note,
        headline: format!("{} holds the delimiter", quote_value(b"secret#")),
        field: None,
        evidence: Vec::new(),
        nodes_lost: 0.0,
        examples: Vec::new(),
        places: Vec::new(),
        advice: Vec::new(),
    }
}

const KEY: &[u8] = b"1714644000#acme";

fn facts() -> Facts {
    Facts {
        counts: Counts { writes: 8_007, ..Counts::default() },
        span: Some(Span { first_ms: 1_714_644_000_000, last_ms: 1_714_644_999_000, ..Span::default() }),
        writes: Spread {
            windows: 8,
            window_len: 1000,
            ranges: 256,
            n_eff: 1.000_000_4,
            n_eff_min: 1.0,
            largest_share: 1.0,
            series: vec![WindowSpread { len: 1000, n_eff: 1.0, ..WindowSpread::default() }],
            ..Spread::default()
        },
        lengths: Lengths { p50: 15, p99: 20, max: 20, over_limit: 0, total: 120_000 },
        heavy_writes: vec![HeavyKey { key: KEY.into(), count: 70, error: 3 }],
        heavy_share_min: 0.001,
        ..Facts::default()
    }
}

fn layout() -> Layout {
    let time = TimeMeaning {
        form: TimeForm::Epoch(TimeUnit::Seconds),
        reversed: false,
        first_ms: 1_714_644_000_000,
        last_ms: 1_714_644_999_000,
    };
    let below = Oddity::BelowDelimiter {
        delimiter: b'#',
        byte: b' ',
        share: 0.1,
        example: b"secret x".as_slice().into(),
    };
    Layout {
        formats: vec![Format {
            share: 0.99,
            segments: vec![
                Segment::Field(Box::new(field("time", Meaning::Time(time), b"1714644000", Vec::new()))),
                Segment::Literal(b"#".to_vec()),
                Segment::Field(Box::new(field("text", Meaning::Text, b"acme", vec![below]))),
            ],
            examples: vec![KEY.into()],
        }],
        sampled: 8_007,
        unexplained_share: 0.01,
        from_schema: false,
    }
}

fn field(name: &str, meaning: Meaning, top_value: &[u8], oddities: Vec<Oddity>) -> FieldFacts {
    FieldFacts {
        width_min: 4,
        width_max: 10,
        distinct: 100,
        distinct_exact: true,
        top_value: top_value.into(),
        top_share: 0.25,
        oddities,
        ..FieldFacts::new(name, meaning)
    }
}
