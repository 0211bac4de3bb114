//! `period-rollover`: a day, an hour or another period leads the key and a part that spreads well is behind it. Fine inside the period; at
//! each turn all writes begin at one place.

use super::case::{Case, FRONT_PLACES_MAX, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, surely_above};
use super::places::{groups, places};
use super::say;
use crate::layout::Meaning;
use crate::rule::{Rule, Severity};

/// Tablets split and move within about so long: "minutes, up to 20" (cloud.google.com/bigtable/docs/overview, research section 3.2). A
/// period that is longer spreads for the rest of it; a shorter one is a time like any other.
const SPLIT_MS: f64 = 20.0 * 60_000.0;

/// Splits are decided once a minute (research section 3.2, an assumption): within a shorter period nothing is split, whatever the windows
/// of a busy stream show.
const DECISION_MS: f64 = 60_000.0;

/// A turn shows if a window falls to fewer places than this (research, D6).
const TURN_PLACES_MAX: f64 = 3.0;

/// A period in front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    /// How long one lasts, milliseconds. `None`: a number that many keys share, such as the number of a week or a batch.
    pub(super) length_ms: Option<f64>,
    /// Places inside one period, measured on the fullest.
    pub(super) inside: f64,
    /// Places that are wanted: half the nodes.
    wanted: f64,
    /// Places over all, turns included.
    over_all: f64,
}

impl Period {
    /// Whether only its turns are a front: what is behind it spreads, and it lasts until its part of the table is split. A number has no
    /// length, so that most windows must show it.
    pub(super) fn is_split(&self) -> bool {
        let lasts = match self.length_ms {
            Some(length) if length >= SPLIT_MS => true,
            Some(length) if length < DECISION_MS => false,
            _ => self.over_all >= FRONT_PLACES_MAX,
        };
        self.inside >= self.wanted && lasts
    }
}

/// The period that leads a format's keys, if the first field that varies is a time that many keys share.
pub(super) fn period(case: &Case<'_>, shape: &Shape<'_>) -> Option<Period> {
    let field = shape.lead_field();
    let time = match &field.meaning {
        Meaning::Period(time) | Meaning::Time(time) => Some(time),
        Meaning::Number { .. } | Meaning::BinaryNumber { .. } => None,
        _ => return None,
    };
    // Keys behind it are needed to measure how they spread.
    let shared = case.layout.sampled / field.distinct.max(1) >= 20;
    if !shared || shape.lead + 1 >= shape.fields.len() {
        return None;
    }
    let groups = groups(case.rows_of(shape), shape.lead);
    let inside = places(&groups.first()?.keys)?;
    // Ten keys a place are the most that a small group can show.
    let wanted = (case.load.nodes / 2.0).min(inside.ranges / 2.0).max(2.0);
    let turns = say::float(field.distinct.saturating_sub(1).max(1));
    let length_ms = time.map(|time| say::float(time.last_ms.abs_diff(time.first_ms)) / turns);
    Some(Period { length_ms, inside: inside.n_eff, wanted, over_all: case.facts.writes.n_eff })
}

/// Whether any format begins with a period whose turns are all that is wrong.
pub(super) fn any(case: &Case<'_>) -> bool {
    case.shapes.iter().any(|shape| found(case, shape).is_some())
}

/// Whether a turn in the middle of a window shows: the part of the window behind the turn lies beyond all earlier keys, in one place, which
/// takes more of the window than a node has to spare.
fn half_way(case: &Case<'_>) -> bool {
    let writes = &case.facts.writes;
    let beyond =
        writes.series.iter().skip(1).map(|window| window.above.max(window.below)).fold(0.0, f64::max);
    surely_above(beyond, writes.window_len) > 1.0 / case.load.nodes
}

fn found(case: &Case<'_>, shape: &Shape<'_>) -> Option<Period> {
    let field = shape.lead_field();
    let enough = say::float(case.layout.sampled) * shape.format.share >= say::float(KEYS_MIN);
    let moves = field.order.tau.abs() >= 0.3 || field.order.ascending >= 0.95;
    let turns = case.facts.writes.n_eff_min < TURN_PLACES_MAX || half_way(case);
    (enough && moves && turns).then(|| period(case, shape))?.filter(Period::is_split)
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    if !case.has_order() {
        return Outcome::Unchecked(case.no_order());
    }
    let fired = case.shapes.iter().find_map(|shape| Some((shape, found(case, shape)?)));
    let Some((shape, period)) = fired else {
        return Outcome::Clear(format!(
            "no period leads the key with a part behind it that spreads; the narrowest window has {} places",
            say::number(case.facts.writes.n_eff_min)
        ));
    };
    let field = shape.lead_field();
    let writes = &case.facts.writes;
    let narrow = writes.series.iter().filter(|window| window.n_eff_min < TURN_PLACES_MAX).count();
    let headline = format!(
        "`{}` leads the key and changes {}: inside it {} places are written at once, at each turn one",
        field.name,
        period
            .length_ms
            .map_or_else(|| "now and then".to_owned(), |length| format!("every {}", duration(length))),
        say::number(period.inside)
    );
    let mut draft = Draft::of_share(case, Rule::PeriodRollover, shape.format.share, headline)
        .field(&field.name)
        .measured(
            "places in the narrowest window",
            writes.n_eff_min,
            format!("below {TURN_PLACES_MAX}"),
            case.facts.counts.writes,
            None,
        )
        .measured("windows as narrow as that", say::length(narrow), "", writes.windows, None)
        .measured("places inside a period", period.inside, "", case.layout.sampled, None)
        .measured("places on average", writes.n_eff, "", case.facts.counts.writes, Some(writes.n_eff_error))
        .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref));
    // It lasts until the new part is split, and not longer.
    draft.finding.severity = draft.finding.severity.min(Severity::Warning);
    let behind = shape.fields.get(shape.lead + 1).map_or("the next field", |field| field.name.as_str());
    draft = draft.advice(
        &format!("Put `{behind}` before `{}`.", field.name),
        "no turn is a front any more",
        &format!("one period of all `{behind}` is no longer one range"),
    );
    Outcome::one(draft.advice(
        "Or keep the key, and split the next period's range before it begins.",
        "the turn finds tablets that are split already",
        "a job that must run before every turn",
    ))
}

/// A length of time in words.
fn duration(ms: f64) -> String {
    let units = [(86_400_000.0, "day"), (3_600_000.0, "hour"), (60_000.0, "minute"), (1_000.0, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ms >= unit * 0.95).unwrap_or((1.0, "millisecond"));
    let many = ms / unit;
    if (many - 1.0).abs() < 0.05 { name.to_owned() } else { format!("{} {name}s", say::number(many)) }
}
