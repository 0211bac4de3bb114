//! How many buckets, if any: what writers need, what readers allow, and what lies between.
//!
//! ```text
//! needed   N_w = ceil(W / (0.7 * C))                                  nodes that the writes need
//! aim      nodes for life (even placement), 2 to 4 times that (random placement)
//! cap      A + (A - 1) * R / 12.94, the latency budget, and the optimum F7 where it is below the nodes
//! gain     nodes' worth of writes that more than one node carries
//! cost     (K - 1) * Q * seek, in nodes
//! ```
//!
//! No buckets where one node takes the writes, where the cost exceeds the gain, or where `needed > cap`.

use super::latency::ScatterLatency;
use super::numbers::{rate, shown, whole};
use super::reads::{bucket_cap, optimum, query_cost_s, read_amplification};
use super::writes::{Placement, carried_per_s, even_share, nodes_needed, usable_share};
use crate::context::Capacity;

/// What a number of buckets is chosen for.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketQuestion {
    /// Writes per second at the peak of the stream that needs spreading.
    pub writes_per_s: f64,
    /// Whether that is stated or measured. If it is assumed, buckets are enough that use three quarters of what is assumed.
    pub writes_are_known: bool,
    /// Nodes now, at least 1.
    pub nodes: u32,
    /// The most nodes that the table is expected to have in its life; fewer than `nodes` counts as `nodes`.
    pub nodes_for_life: u32,
    /// Range reads per second that have to visit every bucket. 0: there are none.
    pub range_reads_per_s: f64,
    /// Rows that one of them returns.
    pub rows_per_read: f64,
    /// How much dearer such a read may become, at least 1. 2: twice.
    pub amplification_max: f64,
    /// How long the slowest hundredth of such reads may take.
    pub p99_ms_max: Option<f64>,
    /// How buckets come to nodes.
    pub placement: Placement,
    /// Buckets that the table has; then only doublings of them are proposed, since doubling moves the fewest rows: half.
    pub buckets_now: Option<u32>,
    /// What a node takes.
    pub capacity: Capacity,
    /// How long one answer takes.
    pub latency: ScatterLatency,
}

impl BucketQuestion {
    /// A question about a stream of unknown rate, which may need the whole cluster.
    pub fn whole_cluster(nodes: u32, capacity: Capacity) -> Self {
        let writes_per_s = f64::from(nodes.max(1)) * capacity.one_node_writes_per_s();
        Self { writes_are_known: false, ..Self::new(writes_per_s, nodes, capacity) }
    }

    /// A question with no range reads, even placement, no growth of the cluster, and reads that may become twice as dear.
    pub fn new(writes_per_s: f64, nodes: u32, capacity: Capacity) -> Self {
        Self {
            writes_per_s,
            writes_are_known: true,
            nodes,
            nodes_for_life: nodes,
            range_reads_per_s: 0.0,
            rows_per_read: 100.0,
            amplification_max: 2.0,
            p99_ms_max: None,
            placement: Placement::Even,
            buckets_now: None,
            capacity,
            latency: ScatterLatency::default(),
        }
    }

    /// One point of the curve.
    pub fn point(&self, buckets: u32) -> BucketPoint {
        let share = usable_share(buckets, self.nodes, self.placement);
        BucketPoint {
            buckets,
            usable_share: share,
            writes_per_s: carried_per_s(buckets, self.nodes, self.placement, &self.capacity),
            read_cost: read_amplification(buckets, self.rows_per_read, &self.capacity),
            p99_ms: self.latency.quantile_ms(0.99, buckets),
        }
    }

    /// The whole cluster's target, writes per second.
    fn cluster_per_s(&self) -> f64 {
        f64::from(self.nodes.max(1)) * self.capacity.one_node_writes_per_s()
    }

    fn life(&self) -> u32 {
        self.nodes_for_life.max(self.nodes).clamp(1, BUCKETS_MAX)
    }

    /// What the buckets must carry: the writes, or the whole cluster where that is less.
    fn wanted_per_s(&self) -> f64 {
        let all = rate(self.writes_per_s).min(self.cluster_per_s());
        if self.writes_are_known { all } else { all * SHARE_ENOUGH }
    }

    /// Nodes' worth of writes gained, and nodes' worth of reads added.
    fn gain_and_cost(&self, buckets: u32) -> (f64, f64) {
        let one = self.capacity.one_node_writes_per_s();
        let carried = self.point(buckets).writes_per_s.min(rate(self.writes_per_s));
        let gain = (carried - one.min(rate(self.writes_per_s))) / one;
        let seeks = rate(self.range_reads_per_s) * self.capacity.seek_s() / self.capacity.target;
        (gain, (f64::from(buckets) - 1.0) * seeks)
    }
}

/// The usable share that is enough where the rate is a guess: more would be more exact than the guess. F3 gives it to any number of
/// buckets from three times the nodes on.
const SHARE_ENOUGH: f64 = 0.75;

/// Buckets of a schema: at most 65,536 (docs/schema.md).
const BUCKETS_MAX: u32 = 65_536;

/// What so many buckets mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BucketPoint {
    /// How many.
    pub buckets: u32,
    /// Share of the cluster that the writes can use, 0 to 1.
    pub usable_share: f64,
    /// Writes per second carried at the target use of a node.
    pub writes_per_s: f64,
    /// How much dearer a range read becomes.
    pub read_cost: f64,
    /// How long the slowest hundredth of the range reads takes, in milliseconds, if the answers are independent.
    pub p99_ms: f64,
}

/// What came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Take so many buckets.
    Salt {
        /// How many.
        buckets: u32,
    },
    /// Do not salt: one node takes the writes.
    OneNodeTakesIt,
    /// Do not salt: what the range reads pay is more than what the writes gain.
    ReadsDearer,
    /// Do not salt: no number of buckets gives the writers enough and leaves the readers within their limit.
    WindowEmpty,
}

/// What to do instead of salting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// Put an entity's id in front of the time.
    PromoteEntity,
    /// Spread the largest entities only.
    SplitHotEntity,
    /// A small salted table for the recent past, moved into the readable one.
    RecentTable,
    /// Write the sums that readers want, besides the rows.
    Summary,
}

impl Alternative {
    /// All of them, the cheapest to live with first.
    pub const ALL: [Self; 4] = [Self::PromoteEntity, Self::SplitHotEntity, Self::RecentTable, Self::Summary];

    /// What to do, a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Self::PromoteEntity => {
                "Put the id of an entity in front of the time: writes spread over entities, and one entity is one range."
            }
            Self::SplitHotEntity => {
                "Spread only the largest entities over a few sub-buckets; all others stay one range."
            }
            Self::RecentTable => {
                "Write to a small salted table for the last hours, and move its rows in order into the table that is read."
            }
            Self::Summary => {
                "Write what the range reads compute, such as sums per minute, as rows of their own."
            }
        }
    }
}

/// A number of buckets, or why none, with all that it was decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketChoice {
    /// What came out.
    pub outcome: Outcome,
    /// The trade-off, by growing number of buckets; the chosen one is among them.
    pub curve: Vec<BucketPoint>,
    /// Nodes that the writes need.
    pub nodes_needed: u32,
    /// The most buckets that the reads allow; `None`: no limit.
    pub cap: Option<u32>,
    /// The formulas with the numbers put in, a line each.
    pub why: Vec<String>,
    /// What to do instead, where reads forbid salting. Else empty.
    pub alternatives: Vec<Alternative>,
}

impl BucketChoice {
    /// The number of buckets to take: 1 where none are wanted.
    pub fn buckets(&self) -> u32 {
        match self.outcome {
            Outcome::Salt { buckets } => buckets,
            _ => 1,
        }
    }

    /// The point of the curve that was chosen.
    pub fn chosen(&self) -> Option<&BucketPoint> {
        self.curve.iter().find(|point| point.buckets == self.buckets())
    }
}

/// Doublings of `buckets` until there are at least `wanted`: a row stays where it is or moves by the old number of buckets, so that
/// each doubling moves half of the rows.
pub fn grow_by_doubling(buckets: u32, wanted: u32) -> u32 {
    let mut grown = buckets.max(1);
    while grown < wanted && grown < BUCKETS_MAX {
        grown = grown.saturating_mul(2);
    }
    grown.min(BUCKETS_MAX)
}

/// Chooses a number of buckets by the rule at the head of this file.
pub fn choose_buckets(question: &BucketQuestion) -> BucketChoice {
    let needed = nodes_needed(question.writes_per_s, &question.capacity);
    let cap = cap(question, needed);
    let mut why = vec![needed_text(question, needed)];
    let outcome = if needed == 1 {
        why.push("One node takes that: buckets would only make reads dearer.".to_owned());
        Outcome::OneNodeTakesIt
    } else {
        why.extend(cap_texts(question, cap));
        choose_between(question, needed.min(question.nodes.max(1)), cap)
    };
    why.extend(outcome_texts(question, outcome, needed, cap));
    let alternatives = match outcome {
        Outcome::ReadsDearer | Outcome::WindowEmpty => Alternative::ALL.to_vec(),
        _ => Vec::new(),
    };
    BucketChoice { outcome, curve: curve(question, outcome), nodes_needed: needed, cap, why, alternatives }
}

/// The most buckets that range reads allow.
fn cap(question: &BucketQuestion, needed: u32) -> Option<u32> {
    let reads = rate(question.range_reads_per_s);
    if reads == 0.0 {
        return None;
    }
    let mut most = bucket_cap(question.amplification_max, question.rows_per_read, &question.capacity);
    if let Some(budget_ms) = question.p99_ms_max {
        most = most.min(within_latency(question, budget_ms));
    }
    let best = optimum(question.nodes, question.writes_per_s, reads, &question.capacity);
    if best < f64::from(question.nodes) {
        most = most.min(whole(best.ceil()).max(needed));
    }
    Some(most.clamp(1, BUCKETS_MAX))
}

/// The most buckets whose slowest hundredth of reads is within a budget, by bisection; at least 1.
fn within_latency(question: &BucketQuestion, budget_ms: f64) -> u32 {
    let (mut good, mut bad) = (1, BUCKETS_MAX + 1);
    while bad - good > 1 {
        let middle = u32::midpoint(good, bad);
        if question.latency.quantile_ms(0.99, middle) <= budget_ms { good = middle } else { bad = middle }
    }
    good
}

/// The first candidate that readers allow and that carries the writes at a cost below its gain.
fn choose_between(question: &BucketQuestion, needed: u32, cap: Option<u32>) -> Outcome {
    let allowed = |buckets: &u32| cap.is_none_or(|cap| *buckets <= cap);
    let carries =
        |buckets: &u32| question.point(*buckets).writes_per_s >= question.wanted_per_s() * (1.0 - 1e-9);
    let fitting: Vec<u32> = candidates(question, needed).into_iter().filter(allowed).collect();
    let carrying: Vec<u32> = fitting.iter().copied().filter(carries).collect();
    if carrying.is_empty() {
        return without_full_carry(question, needed, &fitting);
    }
    let worth = |buckets: &u32| {
        let (gain, cost) = question.gain_and_cost(*buckets);
        cost < gain
    };
    match carrying.into_iter().find(worth) {
        Some(buckets) => Outcome::Salt { buckets },
        None => Outcome::ReadsDearer,
    }
}

/// Dropped at random, buckets seldom carry a load that needs the whole cluster: then the most that the rule aims at is taken.
fn without_full_carry(question: &BucketQuestion, needed: u32, fitting: &[u32]) -> Outcome {
    let enough = |buckets: &u32| *buckets >= needed && *buckets <= question.life().saturating_mul(4);
    let most = fitting.iter().copied().filter(enough).max();
    match most {
        Some(buckets) if question.placement == Placement::Random || question.buckets_now.is_some() => {
            Outcome::Salt { buckets }
        }
        _ => Outcome::WindowEmpty,
    }
}

/// Numbers of buckets worth trying, the best first.
fn candidates(question: &BucketQuestion, needed: u32) -> Vec<u32> {
    let life = question.life();
    let powers = (0..=16).map(|exponent| 1_u32 << exponent);
    let mut list: Vec<u32> = Vec::new();
    if let Some(now) = question.buckets_now {
        let doubled = |doublings| now.max(1).checked_shl(doublings).unwrap_or(BUCKETS_MAX);
        list.extend((0..=16).map(doubled).filter(|buckets| *buckets >= needed));
        // Doublings may all miss what the readers allow or what divides the nodes: then a number of its own.
    }
    let from = if question.placement == Placement::Random { life.saturating_mul(2) } else { life };
    let to = if question.placement == Placement::Random {
        life.saturating_mul(16)
    } else {
        life.saturating_mul(4)
    };
    list.extend(powers.clone().filter(|power| (from..=to).contains(power)));
    list.extend((1..=4).map(|times| life.saturating_mul(times)));
    list.extend((1..=4).map(|times| question.nodes.max(1).saturating_mul(times)));
    list.extend(powers.rev().filter(|power| (needed..from).contains(power)));
    list.push(needed);
    list.retain(|buckets| (2..=BUCKETS_MAX).contains(buckets));
    list
}

fn curve(question: &BucketQuestion, outcome: Outcome) -> Vec<BucketPoint> {
    let life = question.life();
    let most = life.saturating_mul(4).min(BUCKETS_MAX);
    let mut all: Vec<u32> =
        (0..=16).map(|exponent| 1_u32 << exponent).filter(|power| *power <= most).collect();
    all.extend([question.nodes.clamp(1, BUCKETS_MAX), life]);
    all.extend(question.buckets_now.map(|now| now.clamp(1, BUCKETS_MAX)));
    if let Outcome::Salt { buckets } = outcome {
        all.push(buckets);
    }
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|buckets| question.point(buckets)).collect()
}

fn needed_text(question: &BucketQuestion, needed: u32) -> String {
    let capacity = &question.capacity;
    if !question.writes_are_known {
        return format!(
            "writes/s is not known: taken as what {} nodes carry, {} x {} x {} = {}",
            question.nodes,
            question.nodes,
            shown(capacity.target),
            shown(capacity.writes_per_s),
            shown(rate(question.writes_per_s)),
        );
    }
    format!(
        "nodes needed = writes/s / (target x writes/s of a node) = {} / ({} x {}) -> {}",
        shown(rate(question.writes_per_s)),
        shown(capacity.target),
        shown(capacity.writes_per_s),
        shown(f64::from(needed)),
    )
}

fn cap_texts(question: &BucketQuestion, cap: Option<u32>) -> Vec<String> {
    let Some(cap) = cap else {
        return vec![
            "No rate of range reads that visit all buckets is known, so reads set no limit.".to_owned(),
        ];
    };
    let (limit, rows) = (question.amplification_max, question.rows_per_read);
    let ratio = question.capacity.rows_per_seek();
    let mut texts = vec![format!(
        "most buckets = A + (A - 1) x rows / rows per seek = {} + {} x {} / {ratio:.2} -> {}",
        shown(limit),
        shown(limit - 1.0),
        shown(rate(rows)),
        shown(f64::from(bucket_cap(limit, rows, &question.capacity))),
    )];
    if let Some(budget_ms) = question.p99_ms_max {
        let most = within_latency(question, budget_ms);
        texts.push(format!("a p99 of {} ms allows {} buckets", shown(budget_ms), shown(f64::from(most))));
    }
    let reads = question.range_reads_per_s;
    let best = optimum(question.nodes, question.writes_per_s, reads, &question.capacity);
    texts.push(format!(
        "least load of the busiest node at sqrt(nodes x writes/s / (writes/s of a node x range reads/s x seek)) = sqrt({} x {} / ({} x {} x {:.1} us)) -> {} buckets{}",
        question.nodes,
        shown(rate(question.writes_per_s)),
        shown(question.capacity.writes_per_s),
        shown(reads),
        question.capacity.seek_s() * 1e6,
        shown(best),
        if best < f64::from(question.nodes) { "" } else { ", more than there are nodes, so it sets no limit" },
    ));
    texts.push(format!("in all at most {}", shown(f64::from(cap))));
    texts
}

fn outcome_texts(question: &BucketQuestion, outcome: Outcome, needed: u32, cap: Option<u32>) -> Vec<String> {
    let mut texts = Vec::new();
    match outcome {
        Outcome::OneNodeTakesIt => {}
        Outcome::Salt { buckets } => texts = salt_texts(question, buckets, needed),
        Outcome::ReadsDearer => texts.push(dearer_text(question, needed.min(question.nodes).max(2))),
        Outcome::WindowEmpty => texts.push(format!(
            "The writes need {} buckets and the reads allow {}: do not salt.",
            shown(f64::from(needed)),
            cap.map_or_else(|| "any number".to_owned(), |cap| shown(f64::from(cap))),
        )),
    }
    if rate(question.writes_per_s) > question.cluster_per_s() * (1.0 + 1e-9) {
        texts.push(format!(
            "{} nodes take {} writes/s at most, however they are spread: the stream needs {} nodes.",
            question.nodes,
            shown(question.cluster_per_s()),
            shown(f64::from(needed)),
        ));
    }
    texts
}

fn salt_texts(question: &BucketQuestion, buckets: u32, needed: u32) -> Vec<String> {
    let point = question.point(buckets);
    let per_node = f64::from(buckets) / f64::from(question.nodes.max(1));
    let formula = match question.placement {
        Placement::Even => format!(
            "K / (N x ceil(K / N)) = {buckets} / ({} x {})",
            question.nodes,
            buckets.div_ceil(question.nodes.max(1))
        ),
        Placement::Random => format!(
            "mean / expected maximum = {} / {}",
            shown(per_node),
            shown(per_node / point.usable_share)
        ),
    };
    let mut texts = vec![format!(
        "usable share = {formula} = {:.0} %, which carries {} writes/s",
        point.usable_share * 100.0,
        shown(point.writes_per_s)
    )];
    let even = question.point(question.nodes.max(1));
    if buckets.is_power_of_two() && even.usable_share > point.usable_share + 0.01 {
        texts.push(format!(
            "A power of two: doubling it later cuts each bucket in two. {} buckets would use {:.0} % of today's {} nodes.",
            question.nodes,
            even.usable_share * 100.0,
            question.nodes
        ));
    }
    if question.placement == Placement::Random && even_share(buckets, question.nodes) > point.usable_share {
        texts.push(format!(
            "Placed evenly the same buckets use {:.0} %: split the table in advance and balance it by itself.",
            even_share(buckets, question.nodes) * 100.0
        ));
    }
    let (gain, cost) = question.gain_and_cost(buckets);
    if rate(question.range_reads_per_s) > 0.0 {
        texts.push(format!(
            "a range read costs {} times as much; writes gain {} nodes, reads cost {}",
            shown(point.read_cost),
            shown(gain),
            shown(cost)
        ));
    }
    let busy = rate(question.writes_per_s) / question.capacity.writes_per_s
        + rate(question.range_reads_per_s)
            * query_cost_s(buckets, question.rows_per_read, &question.capacity);
    let there = f64::from(question.nodes.max(1)) * question.capacity.target;
    if busy > there && needed <= question.nodes {
        texts.push(format!(
            "Writes and range reads together keep {} nodes busy; {} nodes at their target are {}.",
            shown(busy),
            question.nodes,
            shown(there)
        ));
    }
    texts.push("Point reads cost nothing extra: the bucket follows from the key.".to_owned());
    texts
}

fn dearer_text(question: &BucketQuestion, buckets: u32) -> String {
    let (gain, cost) = question.gain_and_cost(buckets);
    format!(
        "Even {buckets} buckets cost the range reads {} nodes, (K - 1) x reads/s x seek / target, and gain the writes {}: do not salt.",
        shown(cost),
        shown(gain)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(writes_per_s: f64, nodes: u32, range_reads_per_s: f64, rows_per_read: f64) -> BucketQuestion {
        let new = BucketQuestion::new(writes_per_s, nodes, Capacity::default());
        BucketQuestion { range_reads_per_s, rows_per_read, ..new }
    }

    fn check(question: &BucketQuestion, expected: Outcome) -> BucketChoice {
        let choice = choose_buckets(question);
        assert_eq!(choice.outcome, expected, "{:#?}", choice.why);
        assert!(choice.chosen().is_some(), "the chosen point is on the curve");
        choice
    }

    #[test]
    fn one_node_takes_a_small_stream_and_no_salt_is_proposed() {
        let choice = check(&question(9_800.0, 10, 100.0, 10.0), Outcome::OneNodeTakesIt);
        assert_eq!(choice.buckets(), 1);
        assert_eq!(
            choice.why[0],
            "nodes needed = writes/s / (target x writes/s of a node) = 9,800 / (0.7 x 14,000) -> 1"
        );
    }

    #[test]
    fn without_range_reads_a_power_of_two_at_or_above_the_nodes_is_taken() {
        check(&question(50_000.0, 10, 0.0, 0.0), Outcome::Salt { buckets: 16 });
        check(&question(50_000.0, 16, 0.0, 0.0), Outcome::Salt { buckets: 16 });
    }

    #[test]
    fn a_load_that_needs_every_node_gets_a_number_that_divides_evenly() {
        // 16, 32 and 64 buckets leave at least 8 % of ten nodes idle; ten leave none.
        check(&question(98_000.0, 10, 0.0, 0.0), Outcome::Salt { buckets: 10 });
    }

    #[test]
    fn a_guessed_load_is_content_with_three_quarters_of_the_cluster() {
        for (nodes, buckets) in [(10, 16), (40, 64), (12, 32), (16, 16), (2, 2)] {
            check(&BucketQuestion::whole_cluster(nodes, Capacity::default()), Outcome::Salt { buckets });
        }
        check(&BucketQuestion::whole_cluster(1, Capacity::default()), Outcome::OneNodeTakesIt);
        let grown = BucketQuestion {
            buckets_now: Some(12),
            ..BucketQuestion::whole_cluster(40, Capacity::default())
        };
        check(&grown, Outcome::Salt { buckets: 96 });
    }

    #[test]
    fn range_reads_pull_the_number_down_to_what_they_allow() {
        // A = 2, R = 100: at most 9; the writes need 6 nodes; 8 is the greatest power of two between.
        let choice = check(&question(50_000.0, 10, 500.0, 100.0), Outcome::Salt { buckets: 8 });
        assert_eq!(choice.cap, Some(9));
    }

    #[test]
    fn an_empty_window_is_said_and_the_alternatives_are_named() {
        // A = 2, R = 10: at most 2 buckets; the writes need 6.
        let choice = check(&question(50_000.0, 10, 500.0, 10.0), Outcome::WindowEmpty);
        assert_eq!(choice.alternatives, Alternative::ALL);
        assert!(
            choice
                .why
                .iter()
                .any(|line| line == "The writes need 6 buckets and the reads allow 2: do not salt.")
        );
    }

    #[test]
    fn reads_that_cost_more_than_writes_gain_forbid_a_salt() {
        // Two nodes of writes; each of 40,000 reads a second would seek once more: 40,000 / 17,000 / 0.7 = 3.4 nodes for 0.5.
        let choice = check(&question(15_000.0, 10, 40_000.0, 5_000.0), Outcome::ReadsDearer);
        assert_eq!(choice.alternatives, Alternative::ALL);
    }

    #[test]
    fn a_latency_budget_caps_the_buckets() {
        // Eight answers have a p99 of 22 ms, sixteen of 25 ms.
        let strict = BucketQuestion { p99_ms_max: Some(23.0), ..question(50_000.0, 10, 10.0, 10_000.0) };
        let choice = check(&strict, Outcome::Salt { buckets: 8 });
        assert!(choice.cap.is_some_and(|cap| (8..16).contains(&cap)), "{:?}", choice.cap);
    }

    #[test]
    fn existing_buckets_are_doubled() {
        let grown = BucketQuestion { buckets_now: Some(12), ..question(300_000.0, 40, 0.0, 0.0) };
        check(&grown, Outcome::Salt { buckets: 96 });
        assert_eq!(grow_by_doubling(12, 40), 48);
        assert_eq!(grow_by_doubling(0, 3), 4);
        assert_eq!(grow_by_doubling(16, 16), 16);
        assert_eq!(grow_by_doubling(3, u32::MAX), 65_536);
    }

    #[test]
    fn random_placement_takes_more_buckets_and_says_what_even_placement_gives() {
        let random = BucketQuestion { placement: Placement::Random, ..question(50_000.0, 10, 0.0, 0.0) };
        // 51 % are needed: 2N = 20 give 45 %, 32 give 51 %.
        let choice = check(&random, Outcome::Salt { buckets: 32 });
        assert!(
            choice.why.iter().any(|line| line.starts_with("Placed evenly the same buckets use 80 %")),
            "{:#?}",
            choice.why
        );
        let full = BucketQuestion { placement: Placement::Random, ..question(98_000.0, 10, 0.0, 0.0) };
        check(&full, Outcome::Salt { buckets: 40 });
    }

    #[test]
    fn a_cluster_that_is_too_small_is_named() {
        let choice = check(&question(500_000.0, 10, 0.0, 0.0), Outcome::Salt { buckets: 10 });
        assert!(
            choice.why.iter().any(|line| line.contains("the stream needs 52 nodes")),
            "{:#?}",
            choice.why
        );
    }

    #[test]
    fn growth_of_the_cluster_is_planned_for() {
        let growing = BucketQuestion { nodes_for_life: 60, ..question(50_000.0, 10, 0.0, 0.0) };
        check(&growing, Outcome::Salt { buckets: 64 });
    }

    #[test]
    fn the_curve_rises_in_writes_and_in_cost() {
        let choice = choose_buckets(&question(50_000.0, 10, 100.0, 1_000.0));
        for pair in choice.curve.windows(2) {
            assert!(pair[0].buckets < pair[1].buckets && pair[0].read_cost < pair[1].read_cost);
            assert!(pair[0].p99_ms < pair[1].p99_ms);
        }
        let shares: Vec<u32> =
            choice.curve.iter().map(|point| whole(point.usable_share * 100.0 + 0.5)).collect();
        assert_eq!(shares, [10, 20, 40, 80, 100, 80, 80]);
    }

    #[test]
    fn any_question_has_an_answer_within_its_limits() {
        let numbers = [f64::NAN, -1.0, 0.0, 1.0, 9_801.0, 1e5, 1e9, f64::INFINITY];
        for writes in numbers {
            for nodes in [0, 1, 2, 7, 1_000] {
                for reads in numbers {
                    for rows in [f64::NAN, 0.0, 100.0, 1e7] {
                        let choice = choose_buckets(&question(writes, nodes, reads, rows));
                        if let Outcome::Salt { buckets } = choice.outcome {
                            assert!((2..=BUCKETS_MAX).contains(&buckets));
                            assert!(choice.cap.is_none_or(|cap| buckets <= cap));
                        }
                        assert!(choice.chosen().is_some() && !choice.why.is_empty());
                    }
                }
            }
        }
    }
}
