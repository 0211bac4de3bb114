//! What to do, with what it gains the writes and costs the reads. Numbers of buckets come from [`crate::advice`].

use super::case::{Case, Shape, grows};
use super::draft::Draft;
use super::say;
use crate::advice::{self, BucketChoice, BucketQuestion, Outcome};
use crate::layout::{FieldFacts, Meaning};

/// Values that a field needs, at least, to lead the key instead: more than there are nodes, by as much as keeps the fullest node at twice
/// the mean (research, section 4.1).
const VALUES_PER_NODE: u64 = 2;

/// Rows of a range read, where nothing is known.
const ROWS_PER_READ: f64 = 100.0;

/// The question of how many buckets, with what is known of the reads.
fn question(case: &Case<'_>) -> BucketQuestion {
    let counts = &case.facts.counts;
    let measured = (counts.scans_with_rows > 0)
        .then(|| say::float(counts.scanned_rows) / say::float(counts.scans_with_rows));
    let scans_per_s = case.facts.span.map_or(0.0, |span| span.scans_per_s);
    let (nodes, capacity) = (case.context.nodes, case.context.capacity.clone());
    // The same question as a proposal asks, so that both name one number.
    let asked = if case.load.known {
        BucketQuestion::new(case.load.needed_per_s, nodes, capacity)
    } else {
        BucketQuestion::whole_cluster(nodes, capacity)
    };
    BucketQuestion {
        range_reads_per_s: case.context.reads_per_s.unwrap_or(scans_per_s),
        rows_per_read: case.context.rows_per_read.or(measured).unwrap_or(ROWS_PER_READ),
        ..asked
    }
}

/// A field that could lead the key: it varies enough, does not grow, and the largest value is below a node's share.
fn entity<'s, 'a>(case: &Case<'_>, shape: &'s Shape<'a>, front: usize) -> Option<&'s &'a FieldFacts> {
    let wanted = u64::from(case.context.nodes).saturating_mul(VALUES_PER_NODE);
    shape.fields.iter().enumerate().filter(|(index, _)| *index > front).map(|(_, field)| field).find(
        |field| {
            let spreads = field.distinct >= wanted && field.top_share <= 1.0 / case.load.nodes;
            let named = !matches!(field.meaning, Meaning::Decimal { .. } | Meaning::Binary);
            spreads && named && !grows(&field.meaning)
        },
    )
}

/// For what leads the key and follows arrival.
pub(super) fn front(case: &Case<'_>, shape: &Shape<'_>, draft: Draft) -> Draft {
    let lead = shape.lead_field();
    if case.load.one_node_is_enough() {
        return do_not_salt(case, &lead.name, draft);
    }
    let mut draft = draft;
    if let Some(entity) = entity(case, shape, shape.lead) {
        draft = draft.advice(
            &format!("Put `{}` in front of `{}`.", entity.name, lead.name),
            &format!(
                "{} values, the most frequent with {} of the keys: the writes reach all {}",
                say::number(say::float(entity.distinct)),
                say::percent(entity.top_share),
                say::count(u64::from(case.context.nodes), "node")
            ),
            &format!(
                "one `{}` is one range; a range of `{}` over all of them is not",
                entity.name, lead.name
            ),
        );
    } else if matches!(lead.meaning, Meaning::Number { .. } | Meaning::BinaryNumber { .. } | Meaning::Id(_)) {
        draft = draft.advice(
            &format!("Put a short hash of `{0}` in front of it, or reverse the bits of `{0}`.", lead.name),
            "every write goes to a place of its own",
            "a row is still found by its id with one read; ranges of ids are no longer ranges of keys",
        );
    }
    salt(case, &lead.name, draft)
}

fn do_not_salt(case: &Case<'_>, field: &str, draft: Draft) -> Draft {
    draft.advice(
        &format!("Do not salt: keep `{field}` in front."),
        &format!(
            "nothing would be gained: one node takes {} writes/s and the peak is {}",
            say::number(case.load.target_per_s),
            say::number(case.load.needed_per_s)
        ),
        "none; buckets would make every range read dearer",
    )
}

/// The bucket that the formulas choose, or why none.
fn salt(case: &Case<'_>, field: &str, draft: Draft) -> Draft {
    let question = question(case);
    let choice = advice::choose_buckets(&question);
    match choice.outcome {
        Outcome::OneNodeTakesIt => do_not_salt(case, field, draft),
        Outcome::Salt { buckets } => {
            let action = format!(
                "{} a bucket in front, computed from an id in the key: {buckets} {}.",
                put(&draft),
                if buckets == 1 { "bucket" } else { "buckets" }
            );
            draft.advice(&action, &gain(&choice), &cost(&question, &choice))
        }
        Outcome::ReadsDearer | Outcome::WindowEmpty => {
            let mut draft = draft.advice(
                "Do not salt: the range reads would pay more than the writes gain.",
                "",
                &choice.why.join("; "),
            );
            for alternative in choice.alternatives.iter().take(2) {
                draft = draft.advice(alternative.text(), "", "");
            }
            draft
        }
    }
}

/// How a further way begins: only behind a first one is it an `Or`.
fn put(draft: &Draft) -> &'static str {
    if draft.has_advice() { "Or put" } else { "Put" }
}

fn gain(choice: &BucketChoice) -> String {
    choice.chosen().map_or_else(String::new, |point| {
        format!(
            "the writes can use {} of the cluster, {} writes/s",
            say::percent(point.usable_share),
            say::number(point.writes_per_s)
        )
    })
}

fn cost(question: &BucketQuestion, choice: &BucketChoice) -> String {
    choice.chosen().map_or_else(String::new, |point| {
        format!(
            "a range read over all buckets that returns {} rows costs {} times one range",
            say::number(question.rows_per_read),
            say::number(point.read_cost)
        )
    })
}

/// For a coarse part in front of something that follows arrival.
pub(super) fn suffix(case: &Case<'_>, shape: &Shape<'_>, front: usize, draft: Draft) -> Draft {
    let behind = shape.fields[front];
    if case.load.one_node_is_enough() {
        return do_not_salt(case, &shape.lead_field().name, draft);
    }
    let mut draft = draft;
    if let Some(entity) = entity(case, shape, front) {
        draft = draft.advice(
            &format!("Move `{}` before `{}`.", entity.name, behind.name),
            &format!("the writes spread over {} values more", say::number(say::float(entity.distinct))),
            &format!(
                "one `{}` is one range; a range of `{}` over all of them is not",
                entity.name, behind.name
            ),
        );
    }
    let lead = shape.fields[front - 1];
    let question = question(case);
    let choice = advice::choose_buckets(&question);
    let Outcome::Salt { buckets } = choice.outcome else {
        return salt(case, &lead.name, draft);
    };
    let action =
        format!("{} a bucket between `{}` and `{}`: {buckets} buckets.", put(&draft), lead.name, behind.name);
    draft.advice(
        &action,
        &gain(&choice),
        &format!("a range read of one `{}` visits {buckets} ranges: {}", lead.name, cost(&question, &choice)),
    )
}

/// For a salt of fewer buckets than nodes.
pub(super) fn more_buckets(case: &Case<'_>, now: usize, draft: Draft) -> Draft {
    let now = u32::try_from(now).unwrap_or(u32::MAX).max(1);
    if case.load.one_node_is_enough() {
        return do_not_salt(case, "the bucket as it is", draft);
    }
    let question = BucketQuestion { buckets_now: Some(now), ..question(case) };
    let choice = advice::choose_buckets(&question);
    let buckets = match choice.outcome {
        Outcome::Salt { buckets } if buckets > now => buckets,
        _ => advice::grow_by_doubling(now, case.context.nodes),
    };
    let point = question.point(buckets);
    let doubles = buckets % now == 0 && (buckets / now).is_power_of_two();
    let moves =
        if doubles { "in doublings, each of which moves half of the rows" } else { "which moves most rows" };
    draft.advice(
        &format!("Raise the number of buckets from {now} to {buckets}, {moves}."),
        &format!(
            "the writes can use {} of the cluster, {} writes/s",
            say::percent(point.usable_share),
            say::number(point.writes_per_s)
        ),
        &format!(
            "a range read over all buckets that returns {} rows costs {} times one range, not {}",
            say::number(question.rows_per_read),
            say::number(point.read_cost),
            say::number(question.point(now).read_cost)
        ),
    )
}

/// For a bucket that does not spread.
pub(super) fn even(case: &Case<'_>, shape: &Shape<'_>, draft: Draft) -> Draft {
    let best = shape
        .fields
        .iter()
        .enumerate()
        .filter(|(index, field)| {
            *index != shape.lead && !matches!(field.meaning, Meaning::Time(_) | Meaning::Period(_))
        })
        .max_by_key(|(_, field)| field.distinct)
        .map(|(_, field)| field);
    let action = match best {
        Some(field) => format!(
            "Compute the bucket by a hash of `{}`, which has many values, before the remainder is taken.",
            field.name
        ),
        None => "Compute the bucket by a hash of a field with many values, before the remainder is taken."
            .to_owned(),
    };
    let used = case.load.nodes;
    draft.advice(
        &action,
        &format!("the writes reach all {} nodes", say::number(used)),
        "rows move to other buckets once; reads that compute the bucket must change with the writers",
    )
}
