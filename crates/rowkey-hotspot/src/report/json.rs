//! A diagnosis as one JSON object. `docs/formats/doctor.md` and `docs/formats/doctor.schema.json` describe it; a test holds them together.

use crate::context::Context;
use crate::facts::{Counts, Facts, HeavyKey, Spread};
use crate::finding::{Advice, Diagnosis, Evidence, Finding, Passed};
use crate::layout::{
    FieldFacts, FieldOrder, Format, IdMeaning, Layout, Meaning, Oddity, Segment, TimeMeaning,
};
use crate::report::object::Json;
use crate::report::redact::{Redactor, Wording};
use crate::report::{Source, words};

/// The version of the format. Members are added without a new version; one that changes its meaning or goes away gets one.
const VERSION: u32 = 1;

/// Windows of the series that are reported: every one of [`Spread::series`] at present.
const WINDOWS_MAX: usize = 512;

/// A diagnosis as one JSON object, `"type":"diagnosis"` first. Measured numbers have six significant digits; what was not measured is
/// null.
pub fn json(diagnosis: &Diagnosis, source: &Source, redactor: Redactor) -> Json {
    let wording = &Wording::of_layout(redactor, &diagnosis.layout);
    let facts = &diagnosis.facts;
    let writes = &facts.writes;
    let measured = |number: f64| if writes.windows > 0 { number.into() } else { Json::Null };
    Json::Object(vec![
        ("type", "diagnosis".into()),
        ("version", VERSION.into()),
        ("worst", Json::optional(diagnosis.worst().map(crate::Severity::name))),
        ("healthy", diagnosis.is_healthy().into()),
        ("findings", Json::list(diagnosis.findings.iter().map(|finding| finding_json(finding, wording)))),
        ("n_eff", measured(writes.n_eff)),
        ("n_eff_error", measured(writes.n_eff_error)),
        ("n_eff_min", measured(writes.n_eff_min)),
        ("largest_share", measured(writes.largest_share)),
        ("bound", bound_json(diagnosis)),
        ("counts", counts_json(&facts.counts)),
        ("layout", layout_json(&diagnosis.layout, wording)),
        ("facts", facts_json(facts, wording)),
        ("passed", Json::list(diagnosis.passed.iter().map(|passed| passed_json(passed, wording)))),
        ("context", context_json(&diagnosis.context)),
        ("input", source_json(source)),
        ("redacted", wording.redactor.redacts().into()),
    ])
}

fn finding_json(finding: &Finding, wording: &Wording) -> Json {
    let bytes = |bytes: &[u8]| Json::bytes(&wording.redactor.bytes(bytes));
    let places = finding.places.iter().map(|(start, end)| {
        Json::Object(vec![("start", bytes(start)), ("end", Json::optional(end.as_deref().map(bytes)))])
    });
    Json::Object(vec![
        ("rule", finding.rule.name().into()),
        ("severity", finding.severity.name().into()),
        ("headline", wording.text(&finding.headline).into()),
        ("field", Json::optional(finding.field.as_deref().map(|field| wording.name(field)))),
        ("nodes_lost", finding.nodes_lost.into()),
        ("evidence", Json::list(finding.evidence.iter().map(|evidence| evidence_json(evidence, wording)))),
        ("examples", Json::list(finding.examples.iter().map(|key| bytes(key)))),
        ("places", Json::list(places)),
        ("advice", Json::list(finding.advice.iter().map(|advice| advice_json(advice, wording)))),
    ])
}

fn evidence_json(evidence: &Evidence, wording: &Wording) -> Json {
    Json::Object(vec![
        ("what", wording.text(&evidence.what).into()),
        ("measured", evidence.measured.into()),
        ("threshold", non_empty(&wording.text(&evidence.threshold))),
        ("sample", evidence.sample.into()),
        ("error", Json::optional(evidence.error)),
    ])
}

fn advice_json(advice: &Advice, wording: &Wording) -> Json {
    Json::Object(vec![
        ("action", wording.text(&advice.action).into()),
        ("gain", non_empty(&wording.text(&advice.gain))),
        ("cost", non_empty(&wording.text(&advice.cost))),
    ])
}

fn non_empty(text: &str) -> Json {
    Json::optional((!text.is_empty()).then_some(text))
}

fn bound_json(diagnosis: &Diagnosis) -> Json {
    let bound = &diagnosis.bound;
    Json::Object(vec![
        ("needed_per_s", bound.needed_per_s.into()),
        ("needed_is_known", bound.needed_is_known.into()),
        ("nodes_used", bound.nodes_used.into()),
        ("bound_per_s", bound.bound_per_s.into()),
    ])
}

fn counts_json(counts: &Counts) -> Json {
    Json::Object(vec![
        ("writes", counts.writes.into()),
        ("reads", counts.reads.into()),
        ("scans", counts.scans.into()),
        ("deletes", counts.deletes.into()),
        ("scanned_rows", counts.scanned_rows.into()),
        ("scans_with_rows", counts.scans_with_rows.into()),
        ("bytes_written", counts.bytes_written.into()),
        ("writes_with_bytes", counts.writes_with_bytes.into()),
        ("bytes_read", counts.bytes_read.into()),
        ("backwards", counts.backwards.into()),
    ])
}

fn layout_json(layout: &Layout, wording: &Wording) -> Json {
    Json::Object(vec![
        ("from_schema", layout.from_schema.into()),
        ("sampled", layout.sampled.into()),
        ("unexplained_share", layout.unexplained_share.into()),
        ("formats", Json::list(layout.formats.iter().map(|format| format_json(format, wording)))),
    ])
}

fn format_json(format: &Format, wording: &Wording) -> Json {
    let segments = format.segments.iter().map(|segment| match segment {
        Segment::Literal(literal) => {
            Json::Object(vec![("literal", Json::bytes(&wording.redactor.bytes(literal)))])
        }
        Segment::Field(field) => Json::Object(vec![("field", field_json(field, wording))]),
    });
    Json::Object(vec![
        ("share", format.share.into()),
        ("segments", Json::list(segments)),
        ("examples", Json::list(format.examples.iter().map(|key| Json::bytes(&wording.redactor.bytes(key))))),
    ])
}

fn field_json(field: &FieldFacts, wording: &Wording) -> Json {
    Json::Object(vec![
        ("name", wording.name(&field.name).into()),
        ("kind", words::kind(&field.meaning).into()),
        ("meaning", wording.clause(&words::meaning(field)).into()),
        ("details", details_json(field, wording)),
        ("meaning_share", field.meaning_share.into()),
        ("chance", field.chance.into()),
        ("bytes_min", field.width_min.into()),
        ("bytes_max", field.width_max.into()),
        ("distinct", field.distinct.into()),
        ("distinct_is_exact", field.distinct_exact.into()),
        ("top_value", Json::bytes(&wording.redactor.bytes(&field.top_value))),
        ("top_share", field.top_share.into()),
        ("entropy_bits", field.entropy_bits.into()),
        ("order", order_json(&field.order)),
        ("order_within", order_json(&field.order_within)),
        ("oddities", Json::list(field.oddities.iter().map(|oddity| oddity_json(oddity, wording)))),
    ])
}

/// What a program may want to know about a field beyond its kind. An object whose members depend on the kind.
fn details_json(field: &FieldFacts, wording: &Wording) -> Json {
    let time = |time: &TimeMeaning| {
        // The times are values of the keys.
        let shown = |ms: i64| if wording.redactor.redacts() { Json::Null } else { ms.into() };
        vec![
            ("form", words::time_form(time.form).into()),
            ("newest_first", time.reversed.into()),
            ("first_ms", shown(time.first_ms)),
            ("last_ms", shown(time.last_ms)),
        ]
    };
    Json::Object(match &field.meaning {
        Meaning::Time(meaning) | Meaning::Period(meaning) => time(meaning),
        Meaning::Number { padded, grows, negative } => {
            vec![("padded", (*padded).into()), ("grows", (*grows).into()), ("negative", (*negative).into())]
        }
        Meaning::Decimal { negative } => vec![("negative", (*negative).into())],
        Meaning::BinaryNumber { bytes, grows } => {
            vec![("bytes", u32::from(*bytes).into()), ("grows", (*grows).into())]
        }
        Meaning::Id(IdMeaning::Uuid(version)) => vec![("uuid_version", u32::from(*version).into())],
        Meaning::Hash { bits, .. } => {
            let formula = field.computed.as_ref().map(|origin| wording.clause(&origin.formula));
            vec![("bits", (*bits).into()), ("formula", Json::optional(formula))]
        }
        Meaning::Salt(salt) => vec![
            ("buckets", salt.buckets.into()),
            ("used", salt.used.into()),
            ("formula", Json::optional(salt.from.as_ref().map(|origin| wording.clause(&origin.formula)))),
            ("formula_share", Json::optional(salt.from.as_ref().map(|origin| origin.share))),
            ("repeats", Json::optional(salt.repeats)),
            ("even_p", salt.even_p.into()),
        ],
        Meaning::Domain { reversed } => vec![("reversed", (*reversed).into())],
        Meaning::Id(_)
        | Meaning::Address
        | Meaning::Email
        | Meaning::Path
        | Meaning::Enumeration
        | Meaning::Text
        | Meaning::Binary => Vec::new(),
    })
}

fn order_json(order: &FieldOrder) -> Json {
    Json::Object(vec![
        ("tau", order.tau.into()),
        ("ascending", order.ascending.into()),
        ("n_eff", order.n_eff.into()),
        ("n_eff_min", order.n_eff_min.into()),
    ])
}

fn oddity_json(oddity: &Oddity, wording: &Wording) -> Json {
    let (kind, example) = match oddity {
        Oddity::Discordant { .. } => ("discordant", None),
        Oddity::Negative { .. } => ("negative", None),
        Oddity::HexCase { .. } => ("hex-case", None),
        Oddity::TimeUnits { .. } => ("time-units", None),
        Oddity::Granular { .. } => ("granular", None),
        Oddity::Delimiter { example, .. } => ("delimiter", Some(example)),
        Oddity::BelowDelimiter { example, .. } => ("below-delimiter", Some(example)),
    };
    let example = example.map(|example| Json::bytes(&wording.redactor.bytes(example)));
    Json::Object(vec![
        ("kind", kind.into()),
        ("what", words::oddity(oddity).into()),
        ("example", Json::optional(example)),
    ])
}

fn facts_json(facts: &Facts, wording: &Wording) -> Json {
    let lengths = &facts.lengths;
    // Keys often hold the very time at which they were written.
    let time = |ms: i64| if wording.redactor.redacts() { Json::Null } else { ms.into() };
    let span = facts.span.map(|span| {
        Json::Object(vec![
            ("first_ms", time(span.first_ms)),
            ("last_ms", time(span.last_ms)),
            ("duration_ms", span.last_ms.saturating_sub(span.first_ms).into()),
            ("writes_per_s", span.writes_per_s.into()),
            ("reads_per_s", span.reads_per_s.into()),
            ("scans_per_s", span.scans_per_s.into()),
        ])
    });
    let heavy = |keys: &[HeavyKey]| Json::list(keys.iter().map(|heavy| heavy_json(heavy, wording)));
    Json::Object(vec![
        ("span", Json::optional(span)),
        ("writes", spread_json(&facts.writes, &time)),
        ("reads", spread_json(&facts.reads, &time)),
        (
            "key_bytes",
            Json::Object(vec![
                ("p50", lengths.p50.into()),
                ("p99", lengths.p99.into()),
                ("max", lengths.max.into()),
                ("over_4096", lengths.over_limit.into()),
                ("total", lengths.total.into()),
            ]),
        ),
        ("heavy_share_min", facts.heavy_share_min.into()),
        ("heavy_writes", heavy(&facts.heavy_writes)),
        ("heavy_reads", heavy(&facts.heavy_reads)),
    ])
}

fn heavy_json(heavy: &HeavyKey, wording: &Wording) -> Json {
    Json::Object(vec![
        ("key", Json::bytes(&wording.redactor.bytes(&heavy.key))),
        ("count", heavy.count.into()),
        ("error", heavy.error.into()),
    ])
}

/// Null if nothing was measured.
fn spread_json(spread: &Spread, time: &dyn Fn(i64) -> Json) -> Json {
    if spread.windows == 0 {
        return Json::Null;
    }
    let front = &spread.front;
    let by_depth = spread
        .by_depth
        .iter()
        .map(|depth| Json::Object(vec![("bytes", depth.bytes.into()), ("n_eff", depth.n_eff.into())]));
    let series = spread.series.iter().take(WINDOWS_MAX).map(|window| {
        Json::Object(vec![
            ("first", window.first.into()),
            ("len", window.len.into()),
            ("time_ms", Json::optional(window.time_ms.map(time))),
            ("n_eff", window.n_eff.into()),
            ("n_eff_min", window.n_eff_min.into()),
            ("largest_share", window.largest_share.into()),
        ])
    });
    Json::Object(vec![
        ("windows", spread.windows.into()),
        ("window_len", spread.window_len.into()),
        ("ranges", spread.ranges.into()),
        ("n_eff", spread.n_eff.into()),
        ("n_eff_error", spread.n_eff_error.into()),
        ("n_eff_min", spread.n_eff_min.into()),
        ("largest_share", spread.largest_share.into()),
        ("largest_share_max", spread.largest_share_max.into()),
        ("evenness", spread.evenness.into()),
        (
            "front",
            Json::Object(vec![
                ("above", front.above.into()),
                ("below", front.below.into()),
                ("ranges_per_window", front.ranges_per_window.into()),
                ("tau", front.tau.into()),
                ("ascending", front.ascending.into()),
            ]),
        ),
        ("by_depth", Json::list(by_depth)),
        ("series", Json::list(series)),
    ])
}

fn passed_json(passed: &Passed, wording: &Wording) -> Json {
    Json::Object(vec![
        ("rule", passed.rule.name().into()),
        ("checked", passed.checked.into()),
        ("why", wording.text(&passed.why).into()),
    ])
}

fn context_json(context: &Context) -> Json {
    let capacity = &context.capacity;
    let capacity = Json::Object(vec![
        ("name", capacity.name.as_str().into()),
        ("writes_per_s", capacity.writes_per_s.into()),
        ("reads_per_s", capacity.reads_per_s.into()),
        ("scanned_rows_per_s", capacity.scanned_rows_per_s.into()),
        ("target", capacity.target.into()),
        ("source", capacity.source.as_str().into()),
    ]);
    Json::Object(vec![
        ("nodes", context.nodes.into()),
        ("capacity", capacity),
        ("writes_per_s", Json::optional(context.writes_per_s)),
        ("reads_per_s", Json::optional(context.reads_per_s)),
        ("rows_per_read", Json::optional(context.rows_per_read)),
        ("bulk_load", context.declared.bulk_load.into()),
        ("point_reads", context.declared.point_reads.into()),
    ])
}

fn source_json(source: &Source) -> Json {
    Json::Object(vec![
        ("file", Json::optional(source.input.as_deref())),
        ("schema", Json::optional(source.schema.as_ref().map(|(file, _)| file.as_str()))),
        ("lines", source.lines.into()),
        ("operations", source.operations.into()),
        ("malformed", source.malformed.into()),
    ])
}

#[cfg(test)]
mod tests;
