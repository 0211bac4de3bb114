//! `monotone-suffix` and `too-few-buckets`: a coarse part in front of a time or a sequence. As few places are written at once as the coarse
//! part has values.

use super::advise;
use super::case::{Case, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::places::groups;
use super::{entity, front, say};
use crate::finding::quote_value;
use crate::rule::Rule;

/// A format whose coarse part is in front of something that follows arrival.
struct Coarse<'s, 'a> {
    shape: &'s Shape<'a>,
    /// The field that follows arrival.
    front: usize,
    /// The share of all writes of the most frequent coarse part.
    share: f64,
    /// Different coarse parts.
    values: usize,
    /// The most frequent coarse part.
    top: &'a [u8],
}

fn coarse<'s, 'a>(case: &'s Case<'a>) -> Option<Coarse<'s, 'a>> {
    let (shape, front) = case.shapes.iter().find_map(|shape| Some((shape, shape.front_behind()?)))?;
    let groups = groups(case.rows_of(shape), front - 1);
    let top = groups.first()?;
    let share = say::length(top.keys.len()) / say::length(case.written.len().max(1));
    Some(Coarse { shape, front, share, values: groups.len(), top: top.prefix })
}

/// Whether rows that are written again and again explain by themselves that few places are written.
fn rows_explain(case: &Case<'_>) -> bool {
    let total = say::float(case.facts.counts.writes.max(1));
    let squares: f64 = case
        .facts
        .heavy_writes
        .iter()
        .map(|heavy| say::float(heavy.count.saturating_sub(heavy.error)) / total)
        .map(|share| share * share)
        .sum();
    squares >= 0.5 / case.facts.writes.n_eff.max(1.0)
}

pub(super) fn monotone_suffix(case: &Case<'_>) -> Outcome {
    if !case.has_order() {
        return Outcome::Unchecked(case.no_order());
    }
    let writes = &case.facts.writes;
    let half = case.load.nodes / 2.0;
    let clear = |why: &str| {
        Outcome::Clear(format!("{} places are written at once; {why}", say::number(writes.n_eff)))
    };
    if writes.n_eff >= half {
        return clear(&format!(
            "half of {} is {}",
            say::count(u64::from(case.context.nodes), "node"),
            say::number(half)
        ));
    }
    if front::any(case) {
        return clear("the first field that varies is a front itself");
    }
    if rows_explain(case) {
        return clear("the same rows are written again and again, which is another rule's");
    }
    let Some(coarse) = coarse(case) else {
        return unexplained(case)
            .map_or_else(|| clear("nothing behind the first field follows arrival"), Outcome::one);
    };
    if case.bucket_of(coarse.shape).is_some() {
        return clear("what is in front is a bucket, which other rules judge");
    }
    if entity::single(case) {
        return clear("without the one hottest entity the rest is spread, which is another rule's");
    }
    let lead = coarse.shape.lead_field();
    let behind = coarse.shape.fields[coarse.front];
    let share = coarse.share.max(1.0 / writes.n_eff.max(1.0));
    let headline = format!(
        "`{}` has {} in front of `{}`, which follows arrival: {} places are written at once, {} takes {}",
        lead.name,
        say::count(coarse.values as u64, "value"),
        behind.name,
        say::number(writes.n_eff),
        quote_value(coarse.top),
        say::percent(coarse.share),
    );
    let sample = case.written.len() as u64;
    let draft = Draft::of_share(case, Rule::MonotoneSuffix, share, headline)
        .field(&behind.name)
        .measured(
            "effective places written at once",
            writes.n_eff,
            format!("below half of {} nodes", case.context.nodes),
            case.facts.counts.writes,
            Some(writes.n_eff_error),
        )
        .measured(
            "largest share of one value in front",
            coarse.share,
            "",
            sample,
            Some(share_error(coarse.share, sample)),
        )
        .measured(
            "places of the field behind, among keys that agree before it",
            behind.order_within.n_eff,
            "",
            sample,
            None,
        )
        .examples(coarse.shape.format.examples.iter().take(5).map(AsRef::as_ref))
        .place(coarse.top);
    Outcome::one(advise::suffix(case, coarse.shape, coarse.front, draft))
}

/// Few places, and no field to blame: the layout was not understood, but the writes are as narrow all the same.
fn unexplained(case: &Case<'_>) -> Option<Draft> {
    let writes = &case.facts.writes;
    let salted = case.bucket.is_some();
    let narrow = writes.n_eff + 3.0 * writes.n_eff_error < case.load.nodes / 2.0;
    if salted || !narrow || entity::single(case) || super::rollover::any(case) || writes.windows < 3 {
        return None;
    }
    let share = 1.0 / writes.n_eff.max(1.0);
    let headline = format!(
        "only {} places are written at once, though no field was found that follows arrival",
        say::number(writes.n_eff)
    );
    let depth = writes.by_depth.iter().find(|depth| depth.n_eff >= 0.9 * writes.n_eff);
    let mut draft = Draft::of_share(case, Rule::MonotoneSuffix, share, headline)
        .measured(
            "effective places written at once",
            writes.n_eff,
            format!("below half of {} nodes", case.context.nodes),
            case.facts.counts.writes,
            Some(writes.n_eff_error),
        )
        .examples(case.written.iter().take(5).map(|row| row.key));
    if let Some(depth) = depth {
        draft = draft.measured(
            "bytes of the key that make these places",
            say::length(depth.bytes),
            "",
            case.facts.counts.writes,
            None,
        );
    }
    Some(draft.advice(
        "Put a field with many values in front, or a short hash of it.",
        "writes spread over as many places as it has values",
        "rows of several values are no longer one range",
    ))
}

pub(super) fn too_few_buckets(case: &Case<'_>) -> Outcome {
    if !case.has_order() {
        return Outcome::Unchecked(case.no_order());
    }
    let Some(stats) = &case.bucket else {
        return Outcome::Clear("the key has no bucket in front".to_owned());
    };
    let writes = &case.facts.writes;
    let nodes = case.load.nodes;
    let clear = |why: String| Outcome::Clear(format!("{}: {why}", say::count(stats.set as u64, "bucket")));
    if say::length(stats.set) >= nodes {
        return clear(format!("enough for {}", say::count(u64::from(case.context.nodes), "node")));
    }
    // The estimate of N_eff for K even buckets is K, give or take its error and a tenth for keys that come late.
    if writes.n_eff > say::length(stats.set) * 1.25 + 3.0 * writes.n_eff_error {
        return clear(format!(
            "what is behind spreads too, {} places are written at once",
            say::number(writes.n_eff)
        ));
    }
    let shape = &case.shapes[stats.shape];
    let Some(front) = shape.front_behind() else {
        return clear("nothing behind the bucket follows arrival".to_owned());
    };
    let field = shape.lead_field();
    let behind = shape.fields[front];
    let share = 1.0 / say::length(stats.set.max(1));
    let headline = format!(
        "{} in front of `{}`, which follows arrival, for {}",
        say::count(stats.set as u64, "bucket"),
        behind.name,
        say::count(u64::from(case.context.nodes), "node"),
    );
    let draft = Draft::of_share(case, Rule::TooFewBuckets, share, headline)
        .field(&field.name)
        .measured(
            "buckets",
            say::length(stats.set),
            format!("below {} nodes", case.context.nodes),
            stats.total,
            None,
        )
        .measured(
            "effective places written at once",
            writes.n_eff,
            "",
            case.facts.counts.writes,
            Some(writes.n_eff_error),
        )
        .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref));
    Outcome::one(advise::more_buckets(case, stats.set, draft))
}
