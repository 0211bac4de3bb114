//! The page of a diagnosis made by hand.

use super::*;
use rowkey_hotspot::Context;
use rowkey_hotspot::facts::{Counts, DepthSpread, Facts};
use rowkey_hotspot::finding::{Bound, Passed, quote_value};
use rowkey_hotspot::layout::Meaning;
use rowkey_hotspot::report::Redactor;

fn healthy() -> Diagnosis {
    Diagnosis {
        findings: Vec::new(),
        passed: vec![
            Passed { rule: Rule::LongKey, checked: true, why: "keys have 15 bytes".to_owned() },
            Passed { rule: Rule::TooManyBuckets, checked: false, why: "no reads are known".to_owned() },
        ],
        facts: Facts {
            counts: Counts { writes: 9_000, ..Counts::default() },
            writes: Spread {
                windows: 9,
                window_len: 1000,
                ranges: 256,
                n_eff: 253.2,
                n_eff_min: 201.0,
                ..Spread::default()
            },
            ..Facts::default()
        },
        layout: Layout::default(),
        context: Context::default(),
        bound: Bound {
            needed_per_s: 98_000.0,
            needed_is_known: false,
            nodes_used: 10.0,
            bound_per_s: 98_000.0,
        },
    }
}

fn sick() -> Diagnosis {
    let mut diagnosis = healthy();
    diagnosis.findings.push(Finding {
        rule: Rule::TimeFirst,
        severity: Severity::Error,
        headline: format!(
            "keys begin with a time, as in {}, {}",
            quote_value(b"1714644000#acme"),
            "and so on ".repeat(20)
        ),
        field: Some("time".to_owned()),
        evidence: vec![Evidence {
            what: "effective places written at once".to_owned(),
            measured: 1.0,
            threshold: "below 5".to_owned(),
            sample: 9_000,
            error: Some(0.01),
        }],
        nodes_lost: 9.0,
        examples: vec![b"1714644000#acme".as_slice().into(), vec![b'x'; 300].into()],
        places: Vec::new(),
        advice: vec![Advice {
            action: "put `text` before `time`".to_owned(),
            gain: "the writes reach 10 of 10 nodes".to_owned(),
            cost: "reads of a time span visit 40 places".to_owned(),
        }],
    });
    diagnosis.layout = Layout { formats: vec![format()], sampled: 9_000, ..Layout::default() };
    diagnosis.bound =
        Bound { needed_per_s: 98_000.0, needed_is_known: true, nodes_used: 1.0, bound_per_s: 9_800.0 };
    diagnosis
}

fn format() -> Format {
    let mut time = FieldFacts::new("time", Meaning::Text);
    (time.width_min, time.width_max, time.distinct) = (8, 10, 9_000);
    time.order.tau = 0.99;
    let word = FieldFacts::new("a_long_name_of_a_field", Meaning::Enumeration);
    Format {
        share: 1.0,
        segments: vec![
            Segment::Field(Box::new(time)),
            Segment::Literal(b"#".to_vec()),
            Segment::Field(Box::new(word)),
        ],
        examples: vec![b"1714644000#acme".as_slice().into()],
    }
}

fn page(diagnosis: &Diagnosis, redacts: bool, verbose: bool, color: bool) -> String {
    let mut page = Page::new(color, None);
    super::diagnosis(
        diagnosis,
        Look { wording: &Wording::new(Redactor::new(redacts)), verbose, rate_is_stated: false },
        &mut page,
    );
    page.finish()
}

#[test]
fn a_healthy_sample_gets_a_clear_verdict() {
    let text = page(&healthy(), false, false, false);
    let first: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(first[0], "no hotspot found");
    assert!(first[1].contains("keep 10 of 10 nodes busy"), "{text}");
    assert!(
        text.contains("passed  1 rule without a finding, 1 could not be looked at (-v lists them)"),
        "{text}"
    );
    let text = page(&healthy(), false, true, false);
    assert!(text.contains("  long-key              keys have 15 bytes\n"), "{text}");
    assert!(text.contains("Could not be looked at\n  too-many-buckets      no reads are known"), "{text}");
}

#[test]
fn the_verdict_comes_first_and_the_advice_has_both_sides() {
    let text = page(&sick(), false, false, false);
    assert!(
        text.starts_with("error: time-first: the key begins with a time, so all writes hit one tablet\n"),
        "{text}"
    );
    assert!(text.contains("; 9 nodes' worth is lost\n"), "{text}");
    assert!(
        text.contains("measured   effective places written at once: 1.0 \u{b1} 0.01 (below 5), of 9,000\n"),
        "{text}"
    );
    let advice: Vec<&str> = text.lines().skip_while(|line| !line.contains("   do ")).take(3).collect();
    assert!(advice[1].trim_start().starts_with("+ the writes reach"), "{text}");
    assert!(advice[2].trim_start().starts_with("- reads of a time span"), "{text}");
}

#[test]
fn no_line_is_wider_than_the_page() {
    for (columns, width) in [(None, 100), (Some(300), 100), (Some(90), 90), (Some(10), 80)] {
        let mut page = Page::new(false, columns);
        let look =
            Look { wording: &Wording::new(Redactor::new(false)), verbose: true, rate_is_stated: false };
        super::diagnosis(&sick(), look, &mut page);
        let text = page.finish();
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} in {text}");
        assert!(!text.lines().any(|line| line.ends_with(' ')), "{text}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = page(&sick(), false, true, false);
    let mut coloured = page(&sick(), false, true, true);
    assert!(coloured.contains("\x1b[1;31merror"));
    while let Some(at) = coloured.find('\x1b') {
        let end = coloured[at..].find('m').map_or(coloured.len(), |end| at + end + 1);
        coloured.replace_range(at..end, "");
    }
    assert_eq!(coloured, plain);
}

#[test]
fn values_are_gone_when_redacted() {
    let text = page(&sick(), true, true, false);
    assert!(
        text.contains("9999999999#aaaa") && !text.contains("acme") && !text.contains("1714644000"),
        "{text}"
    );
}

#[test]
fn names_stand_on_one_line_if_they_fit() {
    assert_eq!(labels(&[(0, "time"), (11, "text")]), ["\u{2514} time     \u{2514} text"]);
    assert_eq!(
        labels(&[(0, "bucket"), (3, "tenant"), (8, "time")]),
        ["\u{2502}  \u{2502}    \u{2514} time", "\u{2502}  \u{2514} tenant", "\u{2514} bucket"]
    );
    assert_eq!(labels(&[(4, "id")]), ["    \u{2514} id"]);
}

#[test]
fn the_curve_has_a_block_for_each_character_shown() {
    let depth = |bytes, n_eff| DepthSpread { bytes, n_eff };
    let writes =
        Spread { by_depth: vec![depth(1, 1.0), depth(2, 16.0), depth(4, 256.0)], ..Spread::default() };
    let shown: String = curve(b"a\x00cd", &writes).into_iter().collect();
    assert_eq!(shown, "\u{2581}\u{2585}\u{2585}\u{2585}\u{2585}\u{2585}\u{2588}");
    assert!(curve(b"a", &Spread::default()).is_empty());
}

#[test]
fn a_fields_order_is_told_in_words() {
    let check = |tau: f64, within: f64, expected: &str| {
        let mut field = FieldFacts::new("n", Meaning::Text);
        (field.order.tau, field.order_within.tau) = (tau, within);
        assert_eq!(order(&field), expected);
    };
    check(0.99, 0.99, "rises");
    check(-0.99, 0.0, "falls");
    check(0.1, 0.99, "rises within");
    check(0.1, -0.2, "");
    check(f64::NAN, f64::NAN, "");
}
