//! `too-many-buckets` and `salted-range-reads`: what readers pay for the bucket.
//!
//! A read that has to visit all buckets shows as scans that agree in all but the bucket. `rest` is a scan's bounds without the bucket;
//! scans of one rest are one or several reads of the same range.

use std::collections::{BTreeMap, BTreeSet};

use super::buckets::Buckets;
use super::case::{Case, Shape, cut_one};
use super::draft::{Draft, Outcome};
use super::say;
use crate::advice::{bucket_cap, query_cost_s, read_amplification};
use crate::layout::Meaning;
use crate::rule::{Rule, Severity};

/// A range read may become so many times dearer by buckets before that is too much (research, section 4.3: A = 2).
const AMPLIFICATION_MAX: f64 = 2.0;

/// Buckets over nodes up to which practice goes: 2 to 4 for HBase (research, section 4.3).
const BUCKETS_PER_NODE: f64 = 4.0;

/// Reads fewer than this do not show a habit.
const READS_MIN: u64 = 3;

/// How range reads visit buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fan {
    /// Scans looked at.
    scans: u64,
    /// Logical reads that they make.
    queries: f64,
    /// Buckets that one read visits, mean.
    buckets: f64,
    /// Rows that one read returns, if scans say so.
    rows: f64,
    /// Reads per second, if times are known.
    per_s: f64,
}

/// Splits a scan's or row's key into bucket and rest.
fn split<'k>(
    case: &Case<'_>,
    shape: &Shape<'_>,
    values: &BTreeSet<&[u8]>,
    key: &'k [u8],
) -> Option<(&'k [u8], &'k [u8])> {
    let row = cut_one(case.layout, key);
    if row.format == Some(shape.index)
        && let Some(end) = row.prefix(shape.lead).map(<[u8]>::len)
    {
        return key.split_at_checked(end);
    }
    // A scan's bounds are rarely whole keys: the bucket is the longest known value that they begin with.
    let width = shape.lead_field().width_min..=shape.lead_field().width_max;
    width.rev().filter_map(|width| key.split_at_checked(width)).find(|(bucket, _)| values.contains(bucket))
}

/// Of one rest: scans by bucket, and rows.
type Reads<'k> = (BTreeMap<&'k [u8], u64>, u64);

fn fan(case: &Case<'_>, stats: &Buckets<'_>) -> Option<Fan> {
    let values = stats.values();
    let shape = &case.shapes[stats.shape];
    let mut rests: BTreeMap<(&[u8], &[u8]), Reads<'_>> = BTreeMap::new();
    let mut scans = 0;
    for scan in case.facts.scanned.runs.iter().flatten() {
        let Some((bucket, rest)) = split(case, shape, &values, &scan.key) else { continue };
        let end = scan
            .end
            .as_deref()
            .and_then(|end| split(case, shape, &values, end))
            .map_or(&[][..], |(_, end)| end);
        let reads = rests.entry((rest, end)).or_default();
        *reads.0.entry(bucket).or_default() += 1;
        reads.1 = reads.1.saturating_add(scan.rows.unwrap_or(0));
        scans += 1;
    }
    if scans == 0 {
        return None;
    }
    // A read visits each of its buckets once, so the bucket visited most tells how many reads there were.
    let (mut queries, mut visited, mut rows) = (0.0, 0.0, 0.0);
    for (by_bucket, read) in rests.values() {
        let times = by_bucket.values().copied().max().unwrap_or(1);
        let all: u64 = by_bucket.values().sum();
        queries += say::float(times);
        visited += say::float(all);
        rows += say::float(*read);
    }
    let seconds = case.facts.span.map(|span| say::float(span.last_ms.abs_diff(span.first_ms)) / 1_000.0);
    let of_all = say::float(case.facts.counts.scans) / say::float(scans);
    let per_s = seconds.filter(|seconds| *seconds > 0.0).map_or(0.0, |seconds| queries * of_all / seconds);
    Some(Fan {
        scans,
        queries,
        buckets: visited / queries,
        rows: if case.facts.counts.scans_with_rows > 0 { rows / queries } else { 100.0 },
        per_s: case.context.reads_per_s.unwrap_or(per_s),
    })
}

/// Whether reads visit all buckets: nearly all, since a stretch of a log may begin or end inside a read.
fn visits_all(fan: &Fan, stats: &Buckets<'_>) -> bool {
    fan.buckets >= 0.6 * say::length(stats.set) && fan.queries >= say::float(READS_MIN)
}

/// What both rules need, or why they cannot look.
fn read<'s, 'a>(case: &'s Case<'a>) -> Result<(&'s Buckets<'a>, Fan), Outcome> {
    let Some(stats) = &case.bucket else {
        return Err(Outcome::Clear("the key has no bucket in front".to_owned()));
    };
    if case.facts.counts.scans == 0 {
        return Err(Outcome::Unchecked(format!(
            "{} in front, but the input has no range reads",
            say::count(stats.set as u64, "bucket")
        )));
    }
    match fan(case, stats) {
        Some(fan) => Ok((stats, fan)),
        None => Err(Outcome::Clear("range reads do not begin with a bucket".to_owned())),
    }
}

pub(super) fn too_many(case: &Case<'_>) -> Outcome {
    let (stats, fan) = match read(case) {
        Ok(read) => read,
        Err(outcome) => return outcome,
    };
    let set = u32::try_from(stats.set).unwrap_or(u32::MAX);
    let cap = bucket_cap(AMPLIFICATION_MAX, fan.rows, &case.context.capacity);
    let nodes = case.load.nodes * BUCKETS_PER_NODE;
    if !visits_all(&fan, stats) || set <= cap || f64::from(set) <= nodes {
        return Outcome::Clear(format!(
            "a range read visits {} of {} buckets for {} rows; up to {} buckets would cost it at most twice as much, and up to {} are usual for {}",
            say::number(fan.buckets),
            stats.set,
            say::number(fan.rows),
            say::number(f64::from(cap)),
            say::number(nodes),
            say::count(u64::from(case.context.nodes), "node"),
        ));
    }
    let dearer = read_amplification(set, fan.rows, &case.context.capacity);
    let headline = format!(
        "a range read visits {} buckets for {} rows: it costs {} times as much as one range, and {} need far fewer buckets",
        say::number(fan.buckets),
        say::number(fan.rows),
        say::number(dearer),
        say::count(u64::from(case.context.nodes), "node"),
    );
    let draft = draft(case, stats, &fan, Rule::TooManyBuckets, headline).measured(
        "buckets",
        say::length(stats.set),
        format!("above {nodes} (4 for each node) and above {cap} (reads at most twice as dear)"),
        stats.total,
        None,
    );
    Outcome::one(fewer(case, set, &fan, draft))
}

fn draft(case: &Case<'_>, stats: &Buckets<'_>, fan: &Fan, rule: Rule, headline: String) -> Draft {
    let set = u32::try_from(stats.set).unwrap_or(u32::MAX);
    let capacity = &case.context.capacity;
    let extra = fan.per_s * (query_cost_s(set, fan.rows, capacity) - query_cost_s(1, fan.rows, capacity));
    let mut draft = Draft::new(rule, Severity::Warning, headline)
        .field(&case.shapes[stats.shape].lead_field().name)
        .measured("buckets that one range read visits", fan.buckets, "at least 0.6 of all", fan.scans, None)
        .measured("rows that one range read returns", fan.rows, "", fan.scans, None)
        .examples(case.facts.scanned.runs.iter().flatten().take(5).map(|scan| scan.key.as_ref()));
    draft.finding.nodes_lost = extra.clamp(0.0, case.load.nodes);
    draft
}

/// The advice of a smaller number of buckets.
fn fewer(case: &Case<'_>, now: u32, fan: &Fan, draft: Draft) -> Draft {
    let capacity = &case.context.capacity;
    if case.load.one_node_is_enough() {
        return draft.advice(
            "Do not salt: leave the bucket out and read each range once.",
            &format!(
                "nothing is lost: {} writes/s are below the {} that one node takes",
                say::number(case.load.needed_per_s),
                say::number(case.load.target_per_s)
            ),
            &format!(
                "reads become {} times cheaper",
                say::number(read_amplification(now, fan.rows, capacity))
            ),
        );
    }
    let wanted = case.context.nodes.next_power_of_two();
    draft.advice(
        &format!("Use about as many buckets as nodes: {wanted} instead of {now}."),
        "the writes still reach every node",
        &format!(
            "a range read costs {} times one range, not {}",
            say::number(read_amplification(wanted, fan.rows, capacity)),
            say::number(read_amplification(now, fan.rows, capacity))
        ),
    )
}

pub(super) fn salted_reads(case: &Case<'_>) -> Outcome {
    if let Some(draft) = lookups(case) {
        return Outcome::one(draft);
    }
    let (stats, fan) = match read(case) {
        Ok(read) => read,
        Err(outcome) => return outcome,
    };
    let set = u32::try_from(stats.set).unwrap_or(u32::MAX);
    let capacity = &case.context.capacity;
    let extra_of =
        |set: u32| fan.per_s * (query_cost_s(set, fan.rows, capacity) - query_cost_s(1, fan.rows, capacity));
    let extra = extra_of(set);
    // What buckets give: nodes that can take writes beyond the first, at the load that there is.
    let gain = if case.load.one_node_is_enough() { 0.0 } else { case.load.nodes_needed() - 1.0 };
    // Where as many buckets as the writes need would pay, not the bucket is wrong but the number of them.
    let least = extra_of(case.load.nodes_needed_whole().min(set));
    if stats.set < 2 || !visits_all(&fan, stats) || least / capacity.target <= gain && gain > 0.0 {
        return Outcome::Clear(format!(
            "a range read visits {} of {} buckets; as many as the writes need would cost {} nodes of reading and give the writes {} nodes",
            say::number(fan.buckets),
            stats.set,
            say::number(least),
            say::number(gain)
        ));
    }
    let headline = format!(
        "each range read visits {} buckets for {} rows and costs {} times one range, while {} writes/s {}",
        say::number(fan.buckets),
        say::number(fan.rows),
        say::number(read_amplification(set, fan.rows, capacity)),
        say::number(case.load.needed_per_s),
        if gain > 0.0 { "gain less by the buckets than that" } else { "need no bucket at all" },
    );
    let draft = draft(case, stats, &fan, Rule::SaltedRangeReads, headline)
        .measured(
            "nodes' worth of extra reading",
            extra,
            format!("above {gain} given to the writes"),
            fan.scans,
            None,
        )
        .measured("writes per second", case.load.needed_per_s, "", case.facts.counts.writes, None);
    Outcome::one(fewer(case, set, &fan, draft))
}

/// Point reads that try one bucket after the other: the bucket cannot be computed from the rest of the key.
fn lookups(case: &Case<'_>) -> Option<Draft> {
    let stats = case.bucket.as_ref()?;
    let values = stats.values();
    let (mut reads, mut rests, mut answered) = (0_u64, BTreeMap::<&[u8], BTreeSet<&[u8]>>::new(), 0_u64);
    let keys = case.facts.read.runs.iter().flatten();
    for arrived in keys {
        let Some((bucket, rest)) = split(case, &case.shapes[stats.shape], &values, &arrived.key) else {
            continue;
        };
        reads += 1;
        rests.entry(rest).or_default().insert(bucket);
    }
    // Of one rest, each bucket counts once: reading a row often is no search.
    let tried: u64 = rests.values().map(|buckets| buckets.len() as u64).sum();
    let searched = rests.values().filter(|buckets| buckets.len() > 1).count() as u64;
    answered += rests.len() as u64;
    let mean = say::float(tried) / say::float(answered.max(1));
    if reads < 20 || mean < 1.5 || say::float(searched) < 0.3 * say::float(answered) {
        return None;
    }
    let headline = format!(
        "a look-up tries {} of {} buckets: the bucket cannot be computed from the rest of the key",
        say::number(mean),
        stats.set
    );
    let computed = match &case.shapes[stats.shape].lead_field().meaning {
        Meaning::Salt(salt) => salt.from.as_ref().map_or(0.0, |from| from.share),
        _ => 0.0,
    };
    let draft = Draft::new(Rule::SaltedRangeReads, Severity::Warning, headline)
        .field(&case.shapes[stats.shape].lead_field().name)
        .measured("buckets tried for one row", mean, "from 1.5", reads, None)
        .measured("share of keys whose bucket a common hash explains", computed, "", stats.total, None)
        .examples(case.facts.read.runs.iter().flatten().take(5).map(|arrived| arrived.key.as_ref()));
    Some(draft.advice(
        "Compute the bucket from the rest of the key, by a hash of the id.",
        "the writes spread as they do now",
        &format!("a look-up costs one read, not {}", say::number(mean)),
    ))
}
