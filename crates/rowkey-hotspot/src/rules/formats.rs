//! `mixed-formats` and `mixed-time-units`: several ways of writing keys, or times, in one table.

use super::case::{Case, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::say;
use crate::layout::{Format, Meaning, Oddity, Segment, TimeForm};
use crate::rule::{Rule, Severity};
use rowkey::schema::TimeUnit;

/// Some per cent (corpus definition): a format of less is a handful of malformed keys.
const SHARE_MIN: f64 = 0.02;

/// And so many keys, so that a few do not make a format.
const FORMAT_KEYS_MIN: f64 = 10.0;

/// The constant bytes that a format begins with.
fn tag(format: &Format) -> &[u8] {
    match format.segments.first() {
        Some(Segment::Literal(bytes)) => bytes,
        _ => &[],
    }
}

/// Whether two formats keep to ranges of their own by different words in front: several kinds of rows in one table, on purpose.
fn tagged_apart(a: &Format, b: &Format) -> bool {
    let (a, b) = (tag(a), tag(b));
    !a.starts_with(b) && !b.starts_with(a)
}

fn worth_mentioning<'a>(case: &'a Case<'_>) -> Vec<&'a Format> {
    let sampled = say::float(case.layout.sampled);
    let formats = case.layout.formats.iter();
    formats.filter(|format| format.share >= SHARE_MIN && format.share * sampled >= FORMAT_KEYS_MIN).collect()
}

pub(super) fn formats(case: &Case<'_>) -> Outcome {
    if case.layout.sampled < KEYS_MIN / 2 {
        return Outcome::Unchecked(case.no_order());
    }
    let formats = worth_mentioning(case);
    let (Some(first), Some(second)) = (formats.first(), formats.get(1)) else {
        return Outcome::Clear(format!(
            "one format explains {} of the keys",
            say::percent(case.layout.formats.first().map_or(0.0, |format| format.share))
        ));
    };
    let apart =
        formats.iter().enumerate().all(|(index, a)| formats[..index].iter().all(|b| tagged_apart(a, b)));
    let shares: Vec<String> = formats.iter().map(|format| say::percent(format.share)).collect();
    let headline = format!(
        "{} key formats in one table, of {} of the keys{}",
        formats.len(),
        shares.join(", "),
        if apart { ", each behind a word of its own" } else { ", mixed with each other" }
    );
    let severity = if apart { Severity::Note } else { Severity::Warning };
    let draft = Draft::new(Rule::MixedFormats, severity, headline)
        .measured(
            "share of the second format",
            second.share,
            format!("from {SHARE_MIN}"),
            case.layout.sampled,
            Some(share_error(second.share, case.layout.sampled)),
        )
        .measured("share of the first format", first.share, "", case.layout.sampled, None)
        .measured("share of keys in no format", case.layout.unexplained_share, "", case.layout.sampled, None)
        .examples(formats.iter().flat_map(|format| format.examples.iter().take(3).map(AsRef::as_ref)));
    Outcome::one(draft.advice(
        "Finish the change of format: rewrite the rows of the older one, and let one schema write all keys.",
        "",
        "until then a reader has to look under each format",
    ))
}

pub(super) fn time_units(case: &Case<'_>) -> Outcome {
    if case.layout.sampled < KEYS_MIN / 2 {
        return Outcome::Unchecked(case.no_order());
    }
    let within = case.shapes.iter().find_map(|shape| in_one_field(case, shape));
    match within.or_else(|| between_formats(case)) {
        Some(draft) => Outcome::one(draft.advice(
            "Convert to one unit where keys are made, and rewrite the rows of the other.",
            "",
            "a range of times becomes one range again",
        )),
        None => Outcome::Clear("no field holds times of two units".to_owned()),
    }
}

fn in_one_field(case: &Case<'_>, shape: &Shape<'_>) -> Option<Draft> {
    let sampled = say::float(case.layout.sampled) * shape.format.share;
    shape.fields.iter().find_map(|field| {
        let units = field.oddities.iter().find_map(|oddity| match oddity {
            Oddity::TimeUnits { units } => Some(units),
            _ => None,
        })?;
        let used: Vec<_> = units
            .iter()
            .filter(|(_, share)| *share >= SHARE_MIN && share * sampled >= FORMAT_KEYS_MIN)
            .collect();
        if used.len() < 2 {
            return None;
        }
        let lesser = used.iter().map(|(_, share)| *share).fold(1.0, f64::min);
        let shown: Vec<_> =
            used.iter().map(|(form, share)| format!("{} {}", say::percent(*share), name(*form))).collect();
        let headline = format!("`{}` holds times of several units: {}", field.name, shown.join(", "));
        Some(draft(case, headline, lesser, std::slice::from_ref(&shape.format)).field(&field.name))
    })
}

/// Formats that are the same but for how a time in one place is written.
fn between_formats(case: &Case<'_>) -> Option<Draft> {
    let formats = worth_mentioning(case);
    for (index, second) in formats.iter().enumerate() {
        for first in &formats[..index] {
            if let Some((name_of, a, b)) = same_but_for_time(first, second) {
                let headline = format!(
                    "`{name_of}` holds times written in two ways: {} {}, {} {}",
                    say::percent(first.share),
                    name(a),
                    say::percent(second.share),
                    name(b)
                );
                return Some(draft(case, headline, second.share, &[*first, *second]).field(&name_of));
            }
        }
    }
    None
}

fn draft(case: &Case<'_>, headline: String, lesser: f64, formats: &[&Format]) -> Draft {
    Draft::new(Rule::MixedTimeUnits, Severity::Warning, headline)
        .measured(
            "share of the rarer unit",
            lesser,
            format!("from {SHARE_MIN}"),
            case.layout.sampled,
            Some(share_error(lesser, case.layout.sampled)),
        )
        .examples(formats.iter().flat_map(|format| format.examples.iter().take(5).map(AsRef::as_ref)))
}

fn same_but_for_time(a: &Format, b: &Format) -> Option<(String, TimeForm, TimeForm)> {
    let (left, right): (Vec<_>, Vec<_>) = (a.fields().collect(), b.fields().collect());
    if left.len() != right.len() || tagged_apart(a, b) {
        return None;
    }
    let mut found = None;
    for (left, right) in left.into_iter().zip(right) {
        match (&left.meaning, &right.meaning) {
            (Meaning::Time(a), Meaning::Time(b)) if a.form != b.form => {
                found = Some((left.name.clone(), a.form, b.form));
            }
            (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => {}
            _ => return None,
        }
    }
    found
}

fn name(form: TimeForm) -> String {
    let unit = |unit: TimeUnit| match unit {
        TimeUnit::Seconds => "seconds",
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
        TimeUnit::Nanos => "nanoseconds",
    };
    match form {
        TimeForm::Epoch(of) => format!("{} since 1970", unit(of)),
        TimeForm::Binary(of) => format!("binary {} since 1970", unit(of)),
        TimeForm::Ticks => "ticks of 100 ns".to_owned(),
        TimeForm::IsoExtended => "ISO 8601 with separators".to_owned(),
        TimeForm::IsoBasic => "ISO 8601 without separators".to_owned(),
        TimeForm::Calendar => "calendar digits".to_owned(),
    }
}
