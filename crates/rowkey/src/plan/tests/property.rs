//! The property of plans: for random schemas, rows and queries, the rows that the ranges select, after the residual check and merged by
//! unsalted key, are those that a filter of all rows selects. Forwards, backwards, and page by page.
//!
//! `ROWKEY_PLAN_CASES` sets the number of cases, `ROWKEY_PLAN_SEED` repeats one: a failure prints it.

use super::generate::{self, Dice, World};
use super::model;
use crate::plan::{self, Plan, ResultOrder};
use crate::query::Query;
use crate::range::KeyRange;
use crate::schema::SaltSource;
use crate::{ErrorKind, UnsaltedKey};

/// Schemas of one run; each is asked several queries.
const SCHEMAS: u64 = 2_500;
const QUERIES: usize = 6;

/// An unsalted key and the stored key that it is in.
type Row = (Vec<u8>, Vec<u8>);

#[derive(Debug, Default)]
struct Seen {
    cases: usize,
    rows: usize,
    pages: usize,
    residual: usize,
    pruned: usize,
    refused: usize,
    empty: usize,
}

#[test]
fn planned_rows_are_the_rows_of_a_filter() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        let digits = text.strip_prefix("0x");
        digits.map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
    };
    let mut seen = Seen::default();
    if let Some(seed) = number("ROWKEY_PLAN_SEED") {
        check_schema(seed, &mut seen);
        return;
    }
    let schemas = number("ROWKEY_PLAN_CASES").map_or(SCHEMAS, |cases| cases / QUERIES as u64);
    for seed in 0..schemas {
        check_schema(seed, &mut seen);
    }
    println!("{seen:?}");
    // The generator must not have become one of trivial cases.
    assert!(schemas < SCHEMAS || seen.cases >= 10_000, "{} cases", seen.cases);
    assert!(seen.rows > 5 * seen.cases, "{} rows in {} cases", seen.rows, seen.cases);
    for (what, count) in [
        ("pages", seen.pages),
        ("residual checks", seen.residual),
        ("pruned buckets", seen.pruned),
        ("refused full scans", seen.refused),
        ("empty plans", seen.empty),
    ] {
        assert!(count > seen.cases / 50, "only {count} {what} in {} cases", seen.cases);
    }
}

/// Of small schemas, every possible key is looked at: each range has a key that matches, unless it is in a bucket that the query could not
/// tell to be without one; and without a residual check, all keys in the ranges match.
#[test]
fn no_range_could_be_dropped() {
    let (mut ranges, mut more) = (0, 0);
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let (world, keys) = generate::small_world(&mut dice);
        for _ in 0..4 {
            let query = generate::query(&mut dice, &world).full_scan();
            let plan = plan::plan(&world.codec, &query).unwrap();
            let is_pruned = plan.cost.buckets_total.is_none_or(|total| plan.buckets.len() < total as usize);
            let matching: Vec<bool> = keys.iter().map(|key| matches(&world, &query, key)).collect();
            for range in plan.buckets.iter().flat_map(|bucket| &bucket.ranges) {
                let mut inside = keys.iter().zip(&matching).filter(|(key, _)| range.contains(key));
                let found = inside.any(|(_, is_match)| *is_match);
                assert!(found || !is_pruned, "seed {seed}: {range} of {query:?}\n{plan}{:?}", world.codec);
            }
            if plan.residual.checks.is_empty() && world.codec.schema().salt.is_none() {
                ranges += plan.cost.ranges;
                let starts = (0..keys.len()).filter(|&at| matching[at] && (at == 0 || !matching[at - 1]));
                more += plan.cost.ranges.saturating_sub(starts.count());
            }
        }
    }
    // Two ranges that only keys of other rows could part would be one: rare, and not worth looking for.
    assert!(ranges > 500 && more * 20 < ranges, "{more} of {ranges} ranges could be joined to others");
}

fn matches(world: &World, query: &Query, key: &[u8]) -> bool {
    let mut values = Vec::new();
    world.codec.decode(key, &mut values).unwrap();
    model::holds(&world.codec, query, &values)
}

fn check_schema(seed: u64, seen: &mut Seen) {
    let mut dice = Dice(seed);
    let world = generate::world(&mut dice);
    let stored = generate::rows(&mut dice, &world, 60);
    for _ in 0..QUERIES {
        let query = generate::query(&mut dice, &world);
        let describe = || {
            let schema = world.codec.schema();
            format!(
                "replay: ROWKEY_PLAN_SEED={seed} cargo test -p rowkey planned_rows\n{:?}\n{:?}\n{:?}\nquery {query:?}\n",
                schema.parts, schema.fields, schema.salt
            )
        };
        if let Err(failure) = check_query(&mut dice, &world, &stored, &query, seen) {
            panic!("{failure}\n{}", describe());
        }
        seen.cases += 1;
    }
}

fn check_query(
    dice: &mut Dice,
    world: &World,
    stored: &[Vec<u8>],
    query: &Query,
    seen: &mut Seen,
) -> Result<(), String> {
    let codec = &world.codec;
    let mut query = query.clone();
    let plan = match plan::plan(codec, &query) {
        Ok(plan) => plan,
        Err(error) if error.kind() == ErrorKind::Query && !query.full_scan => {
            seen.refused += 1;
            query.full_scan = true;
            let plan = plan::plan(codec, &query).map_err(|error| format!("named full scan: {error}"))?;
            if !plan.is_full_scan {
                return Err(format!("refused without reason: {error}"));
            }
            plan
        }
        Err(error) => return Err(error.to_string()),
    };
    check_shape(&plan)?;
    seen.empty += usize::from(plan.is_empty());
    seen.residual += usize::from(!plan.residual.checks.is_empty());
    seen.pruned +=
        usize::from(plan.cost.buckets_total.is_some_and(|total| plan.buckets.len() < total as usize));

    let expected = expected(world, stored, &query, &plan)?;
    let (rows, examined) = run(world, stored, &plan)?;
    same(&rows, &expected, "all rows")?;
    if plan.residual.checks.is_empty() && examined != rows.len() {
        return Err(format!(
            "{examined} rows are in the ranges, {} match, and nothing is left to check",
            rows.len()
        ));
    }
    seen.rows += rows.len();
    check_text(world, &query, &plan)?;
    if rows.len() > 1 {
        seen.pages += 1;
        check_pages(world, stored, &query, &rows, 1 + dice.below(4))?;
    }
    check_after_any_key(dice, world, stored, &query, &expected)
}

/// Ranges are ascending, disjoint, not touching, and none is empty; so are buckets.
fn check_shape(plan: &Plan) -> Result<(), String> {
    for bucket in &plan.buckets {
        if bucket.ranges.is_empty() {
            return Err("a bucket without ranges".to_owned());
        }
        for range in &bucket.ranges {
            if range.is_empty() || !range.start.starts_with(&bucket.salt) {
                return Err(format!("range {range} of bucket {:?}", bucket.bucket));
            }
        }
    }
    let ranges: Vec<&KeyRange> = plan.buckets.iter().flat_map(|bucket| &bucket.ranges).collect();
    for pair in ranges.windows(2) {
        if pair[0].end.as_ref().is_none_or(|end| *end > pair[1].start) {
            return Err(format!("{} and {} overlap or are not ascending", pair[0], pair[1]));
        }
    }
    for bucket in &plan.buckets {
        for pair in bucket.ranges.windows(2) {
            if pair[0].end.as_ref() == Some(&pair[1].start) {
                return Err(format!("{} and {} are one range", pair[0], pair[1]));
            }
        }
    }
    if plan.cost.ranges != ranges.len() {
        return Err("the cost counts other ranges".to_owned());
    }
    Ok(())
}

fn row(world: &World, key: &[u8]) -> Result<Row, String> {
    let (_, unsalted) = world.codec.split_salt(key).map_err(|error| error.to_string())?;
    Ok((unsalted.to_vec(), key.to_vec()))
}

/// Filter and sort of all rows, by the meaning of the query.
fn expected(world: &World, stored: &[Vec<u8>], query: &Query, plan: &Plan) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for key in stored {
        world.codec.decode(key, &mut values).map_err(|error| error.to_string())?;
        if model::holds(&world.codec, query, &values) {
            rows.push(row(world, key)?);
        }
    }
    sort(&mut rows, plan);
    Ok(rows)
}

fn sort(rows: &mut [Row], plan: &Plan) {
    match plan.order {
        ResultOrder::Unordered { .. } => rows.sort_by(|a, b| a.1.cmp(&b.1)),
        // Stored keys break ties as buckets do: all salts have one width.
        _ => rows.sort(),
    }
    if plan.reversed {
        rows.reverse();
    }
}

/// Reads the ranges of a plan. Also counts the rows read.
fn run(world: &World, stored: &[Vec<u8>], plan: &Plan) -> Result<(Vec<Row>, usize), String> {
    let mut rows = Vec::new();
    let mut values = Vec::new();
    let mut examined = 0;
    for range in plan.buckets.iter().flat_map(|bucket| &bucket.ranges) {
        let start = stored.partition_point(|key| *key < range.start);
        let end = range.end.as_ref().map_or(stored.len(), |end| stored.partition_point(|key| key < end));
        for key in &stored[start..end.max(start)] {
            examined += 1;
            world.codec.decode(key, &mut values).map_err(|error| error.to_string())?;
            if plan.matches(&values) {
                rows.push(row(world, key)?);
            }
        }
    }
    sort(&mut rows, plan);
    Ok((rows, examined))
}

fn same(rows: &[Row], expected: &[Row], what: &str) -> Result<(), String> {
    if rows == expected {
        return Ok(());
    }
    let show = |rows: &[Row]| {
        let keys = rows.iter().map(|(_, key)| format!("  {}", crate::escape::escaped(key)));
        keys.collect::<Vec<_>>().join("\n")
    };
    Err(format!("{what}: planned\n{}\nexpected\n{}", show(rows), show(expected)))
}

fn after(world: &World, query: &Query, row: &Row) -> Result<Query, String> {
    let salt = world.codec.schema().salt.as_ref();
    let bucket = match salt {
        Some(salt) if salt.source == SaltSource::Random => {
            let (salt, _) = world.codec.split_salt(&row.1).map_err(|error| error.to_string())?;
            Some(world.codec.read_salt(salt).map_err(|error| error.to_string())?)
        }
        _ => None,
    };
    Ok(query.clone().after(UnsaltedKey(row.0.clone()), bucket))
}

/// Pages of `limit` rows, one after another, are the whole result; each page is a slice of it.
fn check_pages(
    world: &World,
    stored: &[Vec<u8>],
    query: &Query,
    rows: &[Row],
    limit: usize,
) -> Result<(), String> {
    let mut query = query.clone();
    let mut paged: Vec<Row> = Vec::new();
    loop {
        let plan = plan::plan(&world.codec, &query).map_err(|error| error.to_string())?;
        check_shape(&plan)?;
        let (page, _) = run(world, stored, &plan)?;
        same(&page, &rows[paged.len()..], "rows after a page")?;
        let Some(last) = page.get(limit - 1) else {
            paged.extend(page);
            break;
        };
        query = after(world, &query, last)?;
        paged.extend_from_slice(&page[..limit]);
    }
    same(&paged, rows, "all pages")
}

/// Going on after a key that the query does not return, and that may not exist.
fn check_after_any_key(
    dice: &mut Dice,
    world: &World,
    stored: &[Vec<u8>],
    query: &Query,
    expected: &[Row],
) -> Result<(), String> {
    let fresh = generate::rows(dice, world, 1);
    let Some(key) = fresh.first() else { return Ok(()) };
    let token = row(world, key)?;
    let query = after(world, query, &token)?;
    let plan = plan::plan(&world.codec, &query).map_err(|error| error.to_string())?;
    let (rows, _) = run(world, stored, &plan)?;
    let is_behind = |row: &&Row| {
        let order = match plan.order {
            ResultOrder::Unordered { .. } => row.1.cmp(&token.1),
            _ => (*row).cmp(&token),
        };
        order == if plan.reversed { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
    };
    let expected: Vec<Row> = expected.iter().filter(is_behind).cloned().collect();
    same(&rows, &expected, "rows after a key")
}

/// The text of a query is a query of the same plan.
fn check_text(world: &World, query: &Query, plan: &Plan) -> Result<(), String> {
    let text = query.text(&world.codec);
    let mut read = Query::parse(&world.codec, &text).map_err(|error| format!("its own text: {error}"))?;
    read.reversed = query.reversed;
    read.full_scan = query.full_scan;
    let again = plan::plan(&world.codec, &read).map_err(|error| format!("{text}: {error}"))?;
    if again.buckets == plan.buckets { Ok(()) } else { Err(format!("`{text}` plans other ranges")) }
}
