//! `time-first` and `sequential-id`: what leads the key follows arrival, so that one place is written at once.

use super::advise;
use super::case::{Case, FRONT_PLACES_MAX, KEYS_MIN, Shape, is_time};
use super::draft::{Draft, Outcome, surely_above};
use super::{rollover, say};
use crate::finding::quote_value;
use crate::layout::{IdMeaning, Meaning, TimeForm};
use crate::rule::{Rule, Severity};

pub(super) fn time_first(case: &Case<'_>) -> Outcome {
    judge(case, Rule::TimeFirst)
}

pub(super) fn sequential_id(case: &Case<'_>) -> Outcome {
    judge(case, Rule::SequentialId)
}

fn judge(case: &Case<'_>, rule: Rule) -> Outcome {
    if !case.has_order() {
        return Outcome::Unchecked(case.no_order());
    }
    let fronts: Vec<&Shape<'_>> = case.shapes.iter().filter(|shape| is_front(case, shape)).collect();
    let mine: Vec<&Shape<'_>> = fronts.iter().copied().filter(|shape| rule_of(shape) == rule).collect();
    if let Some(largest) = mine.first() {
        return Outcome::one(draft(case, rule, largest, &mine));
    }
    if rule == Rule::SequentialId
        && let Some(draft) = unexplained(case, !fronts.is_empty())
    {
        return Outcome::one(draft);
    }
    Outcome::Clear(clear(case))
}

/// Whether a format's keys go to one place that moves. A period that lasts long enough for its part to be split is another rule's.
pub(super) fn is_front(case: &Case<'_>, shape: &Shape<'_>) -> bool {
    let keys = say::float(case.layout.sampled) * shape.format.share;
    // One node takes a place whose share is at most 1/N.
    let matters = surely_above(shape.format.share, case.layout.sampled) > 1.0 / case.load.nodes
        || case.load.one_node_is_enough();
    shape.lead_follows()
        && keys >= say::float(KEYS_MIN)
        && matters
        && rollover::period(case, shape).is_none_or(|period| !period.is_split())
}

/// Whether any format is a front.
pub(super) fn any(case: &Case<'_>) -> bool {
    case.has_order() && case.shapes.iter().any(|shape| is_front(case, shape))
}

fn rule_of(shape: &Shape<'_>) -> Rule {
    if is_time(&shape.lead_field().meaning) { Rule::TimeFirst } else { Rule::SequentialId }
}

fn draft(case: &Case<'_>, rule: Rule, shape: &Shape<'_>, all: &[&Shape<'_>]) -> Draft {
    let field = shape.lead_field();
    let together: f64 = all.iter().map(|shape| shape.format.share).sum();
    let what = describe(&field.meaning);
    let shares = if together > 0.995 {
        "all writes".to_owned()
    } else {
        format!("{} of the writes", say::percent(together))
    };
    let headline = format!(
        "`{}`, {what}, leads the key and follows arrival: {shares} go to {} at once",
        field.name,
        if all.len() > 1 {
            say::count(all.len() as u64, "moving place")
        } else {
            "one moving place".to_owned()
        },
    );
    let writes = &case.facts.writes;
    let mut draft = Draft::of_share(case, rule, shape.format.share, headline)
        .field(&field.name)
        .measured(
            "effective places written at once by this field",
            field.order.n_eff,
            format!("below {FRONT_PLACES_MAX}"),
            case.layout.sampled,
            None,
        )
        .measured(
            "effective places written at once by whole keys",
            writes.n_eff,
            "",
            case.facts.counts.writes,
            Some(writes.n_eff_error),
        )
        .measured("rank correlation with arrival", field.order.tau, "", case.layout.sampled, None)
        .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref));
    if case.sorted {
        draft.finding.severity = Severity::Note;
        draft.finding.headline = format!(
            "the keys come sorted by `{}`, {what}: if a tool sorted the file, it says nothing about arrival; if not, one place is written at once",
            field.name
        );
        return draft.advice("Examine keys in the order in which they arrive, or say `--bulk-load`.", "", "");
    }
    if let Some(last) = case.facts.written.runs.last().and_then(|run| run.last()) {
        draft.finding.places.push((last.key.to_vec(), None));
        if field.order.tau < 0.0 {
            draft.finding.places = vec![(Vec::new(), Some(last.key.to_vec()))];
        }
    }
    advise::front(case, shape, draft)
}

/// Keys in front order of which the layout does not say why: no field was told apart, or none follows.
fn unexplained(case: &Case<'_>, explained: bool) -> Option<Draft> {
    let writes = &case.facts.writes;
    let front = &writes.front;
    let moving = front.above.max(front.below);
    if explained || rollover::any(case) || writes.n_eff >= FRONT_PLACES_MAX || moving < 0.8 {
        return None;
    }
    let headline = format!(
        "{} of the writes lie beyond all earlier keys: one moving place takes the writes, whatever leads the key",
        say::percent(moving)
    );
    let draft = Draft::of_share(case, Rule::SequentialId, 1.0 / writes.n_eff.max(1.0), headline)
        .measured(
            "effective places written at once",
            writes.n_eff,
            format!("below {FRONT_PLACES_MAX}"),
            case.facts.counts.writes,
            Some(writes.n_eff_error),
        )
        .measured(
            "share of writes beyond all earlier keys",
            moving,
            "above 0.8",
            case.facts.counts.writes,
            None,
        )
        .examples(case.written.iter().take(5).map(|row| row.key));
    Some(draft.advice(
        "Put an id that many writers have in front of what grows, or a short hash of the id.",
        "writes spread over as many places as there are ids",
        "rows of several ids are no longer one range",
    ))
}

fn clear(case: &Case<'_>) -> String {
    let writes = &case.facts.writes;
    let lead = case.shapes.first().map(Shape::lead_field);
    let field = lead.map_or_else(String::new, |field| {
        format!(
            "; the key begins with `{}` (such as {}), written at {} places at once",
            field.name,
            quote_value(&field.top_value),
            say::number(field.order.n_eff)
        )
    });
    format!(
        "{} places are written at once, {} of the writes lie beyond all earlier keys{field}",
        say::number(writes.n_eff),
        say::percent(writes.front.above.max(writes.front.below)),
    )
}

/// What a field is, in words.
pub(super) fn describe(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Time(time) if time.reversed => "a reversed time",
        Meaning::Time(time) | Meaning::Period(time) => match time.form {
            TimeForm::Epoch(_) | TimeForm::Binary(_) => "a time since 1970",
            TimeForm::Ticks => "a time in ticks",
            _ => "a calendar time",
        },
        Meaning::Number { .. } | Meaning::BinaryNumber { .. } => "a number",
        Meaning::Decimal { .. } => "a number with a point",
        Meaning::Id(IdMeaning::Uuid(7)) => "a UUID version 7 with a clock in front",
        Meaning::Id(IdMeaning::Uuid(1)) => "a UUID version 1 with a clock inside",
        Meaning::Id(IdMeaning::Uuid(_)) => "a UUID",
        Meaning::Id(IdMeaning::Growing) => "an id that only grows",
        Meaning::Id(_) => "an id with a clock in front",
        Meaning::Hash { .. } => "a digest",
        Meaning::Salt(_) => "a bucket",
        Meaning::Domain { .. } => "a host name",
        Meaning::Path => "a path",
        Meaning::Address => "an address",
        Meaning::Email => "an e-mail address",
        Meaning::Enumeration => "one of few words",
        Meaning::Text => "a text",
        Meaning::Binary => "bytes",
    }
}
