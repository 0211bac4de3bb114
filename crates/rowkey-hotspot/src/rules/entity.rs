//! `hot-entity`: one entity (tenant, client, row) takes more than a node's share of the writes or reads, its rows sit together so that
//! splitting does not help, and the rest is spread.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, share_error, surely_above};
use super::places::{Group, groups, places};
use super::{front, row, say};
use crate::finding::quote_value;
use crate::rule::{Rule, Severity};

/// An entity as large as its peers is not hot, they are few: it must be at least so many times what the rest makes its peers.
const OVER_PEERS: f64 = 2.0;

/// An entity that takes too much.
struct Hot<'a> {
    prefix: &'a [u8],
    /// Name of the last field of the prefix.
    field: String,
    /// Its share of all operations of the kind.
    share: f64,
    /// Places written at once inside it.
    inside: f64,
}

/// Depths of a format at which an entity may end: from the lead to before what follows arrival, a bucket alone and complete rows left out.
fn depths(case: &Case<'_>, shape: &Shape<'_>) -> impl Iterator<Item = usize> + use<> {
    let end = shape.front_behind().unwrap_or(shape.fields.len() - 1);
    let salted = case.bucket_of(shape).is_some();
    let begin = shape.lead + usize::from(salted);
    begin..end.max(begin)
}

/// Whether a group of keys is one place too many for a node: its share over the places inside it is above a node's.
fn is_hot(group: &Group<'_>, share: f64, total: u64, nodes: f64) -> Option<f64> {
    if surely_above(share, total) <= 1.0 / nodes {
        return None;
    }
    let inside = places(&group.keys)?;
    // As spread as so few keys can show: splitting helps.
    let spread = inside.n_eff >= 0.5 * inside.ranges;
    (!spread && share / inside.n_eff.max(1.0) > 1.0 / nodes).then_some(inside.n_eff)
}

/// Whether most of a group's keys are one row: that is a rewritten row.
fn is_one_row(case: &Case<'_>, prefix: &[u8], share: f64) -> bool {
    let total = say::float(case.facts.counts.writes.max(1));
    case.facts
        .heavy_writes
        .iter()
        .filter(|heavy| heavy.key.starts_with(prefix))
        .any(|heavy| say::float(row::at_least(heavy)) / total > 0.5 * share)
}

/// Entities with more than a node's share of the writes, the deepest prefix of each, the largest first.
fn hot_writers<'a>(case: &Case<'a>) -> Vec<Hot<'a>> {
    let total = case.written.len() as u64;
    let mut found: Vec<Hot<'a>> = Vec::new();
    for shape in case.shapes.iter().filter(|shape| !shape.lead_follows()) {
        for depth in depths(case, shape) {
            for group in groups(case.rows_of(shape), depth) {
                let share = say::length(group.keys.len()) / say::float(total);
                if share <= 1.0 / case.load.nodes {
                    break;
                }
                let Some(inside) = is_hot(&group, share, total, case.load.nodes) else { continue };
                if is_one_row(case, group.prefix, share) {
                    continue;
                }
                found.retain(|hot| !group.prefix.starts_with(hot.prefix));
                let field = shape.fields[depth].name.clone();
                found.push(Hot { prefix: group.prefix, field, share, inside });
            }
        }
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.prefix.cmp(b.prefix)));
    found
}

/// Places of the keys that belong to none of these entities; `None`: too few keys are left.
fn rest(case: &Case<'_>, hot: &[Hot<'_>]) -> Option<(f64, bool)> {
    let keys: Vec<&[u8]> = case
        .written
        .iter()
        .map(|row| row.key)
        .filter(|key| !hot.iter().any(|hot| key.starts_with(hot.prefix)))
        .collect();
    let places = places(&keys)?;
    let spread = places.n_eff >= case.load.nodes / 2.0 || places.n_eff >= 0.5 * places.ranges;
    Some((places.n_eff, spread))
}

/// Whether exactly one entity is hot and all else is spread: then the design is right but for that one.
pub(super) fn single(case: &Case<'_>) -> bool {
    let hot = hot_writers(case);
    hot.len() == 1 && stands_out(case, &hot).is_some()
}

/// Places of the rest, if the rest is spread and these entities are far above their peers.
fn stands_out(case: &Case<'_>, hot: &[Hot<'_>]) -> Option<f64> {
    let (places, spread) = rest(case, hot)?;
    let share: f64 = hot.iter().map(|hot| hot.share).sum();
    let peer = (1.0 - share).max(0.0) / places.max(1.0);
    (spread && hot.first()?.share >= OVER_PEERS * peer).then_some(places)
}

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut seen = Vec::new();
    if case.written.len() as u64 >= KEYS_MIN && case.has_order() && !front::any(case) {
        match written(case) {
            Ok(draft) => drafts.push(draft),
            Err(why) => seen.push(why),
        }
    } else {
        seen.push("writes not looked at: they are too few or a front".to_owned());
    }
    match read(case) {
        Ok(Some(draft)) => drafts.push(draft),
        Ok(None) => {}
        Err(why) => seen.push(why),
    }
    drafts.sort_by(|a, b| b.finding.severity.cmp(&a.finding.severity).then(b.share.total_cmp(&a.share)));
    match drafts.is_empty() {
        false => Outcome::Found(drafts),
        true if case.facts.counts.writes < KEYS_MIN
            && case.facts.counts.reads + case.facts.counts.scans < KEYS_MIN =>
        {
            Outcome::Unchecked(case.no_order())
        }
        true => Outcome::Clear(seen.join("; ")),
    }
}

fn written(case: &Case<'_>) -> Result<Draft, String> {
    let hot = hot_writers(case);
    let Some(top) = hot.first() else {
        return Err(format!(
            "no entity of which rows sit together takes more than {} of the writes",
            say::percent(1.0 / case.load.nodes)
        ));
    };
    let few = case.facts.writes.n_eff < case.load.nodes / 2.0 && hot.len() > 1;
    let Some(others) = stands_out(case, &hot).filter(|_| !few) else {
        return Err(format!(
            "{} takes {} of the writes, but the rest is not spread either",
            quote_value(top.prefix),
            say::percent(top.share)
        ));
    };
    let headline = format!(
        "{} takes {} of the writes at {} while the rest is spread over {}",
        quote_value(top.prefix),
        say::percent(top.share),
        places_of(top.inside),
        places_of(others),
    );
    let sample = case.written.len() as u64;
    let mut draft =
        Draft::of_share(case, Rule::HotEntity, top.share / top.inside.max(1.0), headline).field(&top.field);
    for hot in hot.iter().take(10) {
        draft = draft
            .measured(
                &format!("share of the writes of {}", quote_value(hot.prefix)),
                hot.share,
                format!("above {}, a node's share", say::percent(1.0 / case.load.nodes)),
                sample,
                Some(share_error(hot.share, sample)),
            )
            .place(hot.prefix);
    }
    draft = draft
        .measured("effective places of the rest", others, "", sample, None)
        .examples(case.written.iter().map(|row| row.key).filter(|key| key.starts_with(top.prefix)).take(5));
    let parts = say::number((top.share * case.load.nodes).ceil().max(2.0));
    Ok(draft.advice(
        &format!("Spread only {} over {parts} sub-buckets computed from the rest of the key; leave all others as they are.", quote_value(top.prefix)),
        &format!("its {} become {parts} places", say::percent(top.share)),
        &format!("range reads of this one entity visit {parts} ranges; all other reads cost what they cost today"),
    ))
}

fn places_of(places: f64) -> String {
    let shown = say::number(places);
    if shown == "1" { "one place".to_owned() } else { format!("{shown} places") }
}

/// Reads: a row read too often, or an entity.
fn read(case: &Case<'_>) -> Result<Option<Draft>, String> {
    let counts = &case.facts.counts;
    let total = counts.reads.saturating_add(counts.scans);
    if total < KEYS_MIN {
        return if total == 0 { Ok(None) } else { Err(format!("only {} reads", say::float(total))) };
    }
    if let Some(draft) = hot_row(case, total) {
        return Ok(Some(draft));
    }
    Ok(hot_readers(case))
}

fn hot_row(case: &Case<'_>, total: u64) -> Option<Draft> {
    // The list of what is read most has the first keys of scans too, which are no rows.
    let points = &case.facts.read.uniform;
    let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
    for arrived in points {
        *counts.entry(&arrived.key).or_default() += 1;
    }
    let (&key, &count) = counts.iter().max_by_key(|&(_, count)| count)?;
    let of_points = say::float(count) / say::length(points.len());
    let share = of_points * say::float(case.facts.counts.reads) / say::float(total);
    if surely_above(share, total.min(points.len() as u64)) <= 1.0 / case.load.nodes || count < KEYS_MIN / 5 {
        return None;
    }
    let headline = format!(
        "the row {} takes {} of the reads, and no split divides a row",
        quote_value(key),
        say::percent(share)
    );
    let mut end = key.to_vec();
    end.push(0);
    let mut draft = Draft::new(Rule::HotEntity, Severity::Warning, headline)
        .measured(
            "share of the reads",
            share,
            format!("above {}, a node's share", say::percent(1.0 / case.load.nodes)),
            total,
            Some(share_error(share, total)),
        )
        .examples([key])
        .advice(
            "Cache it in the readers, or keep a few copies of it under different keys.",
            "the writes gain nothing",
            "reads become cheaper; a change takes longer to be seen everywhere",
        );
    draft.share = share;
    draft.finding.places.push((key.to_vec(), Some(end)));
    Some(draft)
}

/// Reads booked to the entities that were written.
fn hot_readers(case: &Case<'_>) -> Option<Draft> {
    let scans = case.facts.scanned.runs.iter().flatten().map(|scan| scan.key.as_ref());
    let points = case.facts.read.uniform.iter().map(|arrived| arrived.key.as_ref());
    let keys: Vec<&[u8]> = points.chain(scans).collect();
    for shape in case.shapes.iter().filter(|shape| !shape.lead_follows()) {
        for depth in depths(case, shape) {
            let prefixes: BTreeSet<&[u8]> =
                groups(case.rows_of(shape), depth).into_iter().map(|group| group.prefix).collect();
            if let Some(draft) = hot_reader(case, &keys, &prefixes, &shape.fields[depth].name) {
                return Some(draft);
            }
        }
    }
    None
}

fn hot_reader(case: &Case<'_>, keys: &[&[u8]], prefixes: &BTreeSet<&[u8]>, field: &str) -> Option<Draft> {
    let mut by: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
    for key in keys {
        if let Some(prefix) = prefixes.range(..=*key).next_back().filter(|prefix| key.starts_with(prefix)) {
            by.entry(prefix).or_default().push(key);
        }
    }
    let total = keys.len() as u64;
    let (&prefix, inside) = by.iter().max_by_key(|(_, keys)| keys.len())?;
    let share = say::length(inside.len()) / say::float(total);
    let group = Group { prefix, keys: inside.clone() };
    let places = is_hot(&group, share, total, case.load.nodes)?;
    // Spread and peers of the rest, by the readers' own shares of entities.
    let squares: f64 = by
        .iter()
        .filter(|(other, _)| **other != prefix)
        .map(|(_, keys)| say::length(keys.len()) / say::float(total))
        .map(|share| share * share)
        .sum();
    let rest = (1.0 - share) * (1.0 - share) / squares.max(1e-9);
    if rest < case.load.nodes / 2.0 || share < OVER_PEERS * (1.0 - share) / rest {
        return None;
    }
    let span = case.facts.span.unwrap_or_default();
    let rate = (span.reads_per_s + span.scans_per_s) * share;
    let takes = case.context.capacity.reads_per_s * case.context.capacity.target;
    let severity =
        if case.facts.span.is_some() && rate <= takes { Severity::Note } else { Severity::Warning };
    let headline = format!(
        "{} takes {} of the reads at {} while the rest is spread over {}",
        quote_value(prefix),
        say::percent(share),
        places_of(places),
        places_of(rest)
    );
    let mut draft = Draft::new(Rule::HotEntity, severity, headline)
        .field(field)
        .measured(
            "share of the reads",
            share,
            format!("above {}, a node's share", say::percent(1.0 / case.load.nodes)),
            total,
            Some(share_error(share, total)),
        )
        .place(prefix)
        .examples(inside.iter().take(5).copied())
        .advice(
            "Cache what is read most, or spread the rows of this one entity over a few sub-buckets.",
            "the writes gain nothing",
            "range reads of this one entity visit several ranges",
        );
    draft.share = share;
    Some(draft)
}
