//! Designs that could cure a finding, those that serve the reads best first. Which of them is taken is decided by measuring each.

use super::Cure;
use super::old::{Old, OldSalt};
use super::reads::{Reads, repeats};
use super::typing::Wish;
use crate::advice::{BucketChoice, BucketQuestion, Outcome, choose_buckets, grow_by_doubling};
use crate::layout::{IdMeaning, Meaning};
use crate::rule::Rule;
use rowkey::schema::{Hash, SaltSource};
use std::collections::BTreeMap;

/// What sketches are made from.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) old: &'a Old,
    pub(super) reads: &'a Reads,
    /// The root cause; `None`: nothing to cure.
    pub(super) root: Option<Rule>,
    /// All rules found at warning or error.
    pub(super) rules: &'a [Rule],
    /// Load and cluster, without range reads.
    pub(super) question: &'a BucketQuestion,
    /// Nodes that the writes need, at most the cluster.
    pub(super) needed: u32,
}

/// A design: which old fields in which order, behind which salt.
#[derive(Debug, Clone, Default)]
pub(super) struct Sketch {
    /// Old fields in their new order.
    pub(super) order: Vec<usize>,
    /// What a field is to become, other than what sorts as it does.
    pub(super) wishes: BTreeMap<usize, Wish>,
    pub(super) salt: Option<SaltSketch>,
    pub(super) cures: Vec<Cure>,
    /// Why, a sentence each.
    pub(super) why: Vec<String>,
    /// Whether the stored keys stay as they are.
    pub(super) keep: bool,
}

/// A salt of old fields.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SaltSketch {
    pub(super) of: Vec<usize>,
    pub(super) source: SaltSource,
    /// 0 for a hash prefix.
    pub(super) buckets: u32,
    /// How the number was chosen.
    pub(super) choice: Option<BucketChoice>,
}

/// The designs to try, the best for the reads first. Never empty.
pub(super) fn sketches(case: &Case<'_>) -> Vec<Sketch> {
    let mut list = match case.root {
        None => keep(case),
        Some(Rule::TimeFirst | Rule::PeriodRollover) => clock_in_front(case),
        Some(Rule::SequentialId) => growing_id(case),
        Some(Rule::MonotoneSuffix) => few_in_front(case),
        Some(Rule::TooFewBuckets) => more_buckets(case),
        Some(Rule::UnevenBuckets) => other_salt(case),
        Some(Rule::TooManyBuckets | Rule::SaltedRangeReads) => fewer_buckets(case),
        Some(Rule::HotEntity) => hot_entity(case),
        Some(_) => Vec::new(),
    };
    if list.is_empty() {
        list.push(same_order(case));
    }
    for sketch in &mut list {
        if !sketch.keep {
            wishes(case, sketch);
        }
    }
    list
}

impl Case<'_> {
    fn name(&self, at: usize) -> &str {
        &self.old.fields[at].name
    }

    fn names(&self, of: &[usize]) -> String {
        of.iter().map(|at| self.name(*at)).collect::<Vec<_>>().join(", ")
    }

    fn meaning(&self, at: usize) -> &Meaning {
        &self.old.fields[at].facts.meaning
    }

    /// Whether values of this field grow with time.
    fn is_clock(&self, at: usize) -> bool {
        match self.meaning(at) {
            Meaning::Number { grows, .. } | Meaning::BinaryNumber { grows, .. } => *grows,
            Meaning::Id(IdMeaning::Uuid(version)) => matches!(version, 1 | 6 | 7),
            Meaning::Time(_) | Meaning::Period(_) | Meaning::Id(_) => true,
            _ => false,
        }
    }

    /// Fields that do not grow, in order.
    fn others(&self) -> Vec<usize> {
        self.old.kept().into_iter().filter(|at| !self.is_clock(*at)).collect()
    }

    /// Fields that name something with several rows, in order.
    fn entities(&self) -> Vec<usize> {
        self.others().into_iter().filter(|at| repeats(self.old, *at)).collect()
    }

    /// The fields that a salt may be of, those first that keep a read in one bucket.
    fn salt_inputs(&self) -> Vec<Vec<usize>> {
        let kept = self.old.kept();
        let others = self.others();
        let mut list: Vec<Vec<usize>> = Vec::new();
        let given: Vec<usize> = others.iter().copied().filter(|at| self.reads.mostly_give(*at)).collect();
        list.push(given);
        let most = |of: &[usize]| {
            of.iter().copied().max_by_key(|at| (self.old.fields[*at].facts.distinct, std::cmp::Reverse(*at)))
        };
        list.extend(most(&self.entities()).map(|at| vec![at]));
        list.extend(most(&others).map(|at| vec![at]));
        list.push(others);
        // One moment has many writers: a bucket of the time alone sends all that arrives in its unit to one place.
        let is_moment = |at: &usize| matches!(self.meaning(*at), Meaning::Time(_) | Meaning::Period(_));
        list.extend(most(&kept).filter(|at| !is_moment(at) || kept.len() == 1).map(|at| vec![at]));
        list.push(kept);
        let mut seen: Vec<Vec<usize>> = Vec::new();
        for of in list {
            if !of.is_empty() && !seen.contains(&of) {
                seen.push(of);
            }
        }
        seen
    }

    /// How many buckets for a salt of these fields.
    fn choose(&self, of: &[usize], buckets_now: Option<u32>) -> BucketChoice {
        let (range_reads_per_s, rows) = self.reads.scattered_by(of);
        let rows_per_read = if range_reads_per_s > 0.0 { rows } else { self.question.rows_per_read };
        let question =
            BucketQuestion { range_reads_per_s, rows_per_read, buckets_now, ..self.question.clone() };
        choose_buckets(&question)
    }

    /// A salt of these fields in front of the fields in this order; `None` where buckets do not pay.
    fn salted(&self, order: &[usize], of: &[usize], buckets_now: Option<u32>, cure: Cure) -> Option<Sketch> {
        let choice = self.choose(of, buckets_now);
        let Outcome::Salt { buckets } = choice.outcome else { return None };
        let spreads = format!(
            "A salt of {} spreads the writes over {buckets} buckets, and follows from the key, so that point reads find it.",
            self.names(of)
        );
        let reads = if self.reads.scattered_by(of).0 > 0.0
            || !self.reads.ranges.iter().all(|pattern| of.iter().all(|at| pattern.gives(*at)))
        {
            format!(
                "A range read that does not give {} visits all {buckets} buckets; their rows are merged back into order.",
                self.names(of)
            )
        } else {
            format!("Range reads give {}, so each visits one bucket.", self.names(of))
        };
        let source = SaltSource::Hash(Hash::Xxh3);
        Some(Sketch {
            order: order.to_vec(),
            salt: Some(SaltSketch { of: of.to_vec(), source, buckets, choice: Some(choice) }),
            cures: vec![cure],
            why: vec![spreads, reads],
            ..Sketch::default()
        })
    }

    /// A wide hash prefix of these fields.
    fn prefixed(&self, order: &[usize], of: &[usize]) -> Sketch {
        let why = format!(
            "Two bytes of a hash of {} spread the writes over the whole table, for any number of nodes, and follow from the key; \
             rows with different {} have no order any more.",
            self.names(of),
            self.names(of)
        );
        Sketch {
            order: order.to_vec(),
            salt: Some(SaltSketch {
                of: of.to_vec(),
                source: SaltSource::HashPrefix { hash: Hash::Xxh3, bytes: 2 },
                buckets: 0,
                choice: None,
            }),
            cures: vec![Cure::HashPrefix],
            why: vec![why],
            ..Sketch::default()
        }
    }

    /// The entities in front of what grows, if there are any behind it.
    fn promoted(&self, cure: Cure) -> Option<Sketch> {
        let kept = self.old.kept();
        let mut front = self.entities();
        if front.is_empty() {
            front.extend(self.others().first());
        }
        let rest: Vec<usize> = kept.iter().copied().filter(|at| !front.contains(at)).collect();
        let order: Vec<usize> = front.iter().chain(&rest).copied().collect();
        if front.is_empty() || rest.is_empty() || order == kept {
            return None;
        }
        let clock = rest.iter().copied().find(|at| self.is_clock(*at)).unwrap_or(rest[0]);
        let mut why = vec![format!(
            "{} in front of {}: each has a place of its own, and its rows of one time are one range.",
            self.names(&front),
            self.name(clock),
        )];
        if self.reads.known && self.reads.any_range_over(clock, &front) {
            why.push(format!(
                "Reads of a range of {} over all {} become full scans.",
                self.name(clock),
                self.names(&front)
            ));
        }
        Some(Sketch { order, cures: vec![cure], why, ..Sketch::default() })
    }
}

/// The key as it is, declared: with the salt that computes its bucket, or with the bucket as a field like the others.
fn keep(case: &Case<'_>) -> Vec<Sketch> {
    let plain = Sketch {
        order: (0..case.old.fields.len()).collect(),
        cures: vec![Cure::Keep],
        why: vec!["Nothing to cure: the key as it is, declared.".to_owned()],
        keep: true,
        ..Sketch::default()
    };
    let Some(salt) = &case.old.salt else { return vec![plain] };
    let mut list = Vec::new();
    if let Some(retained) = retained(salt) {
        list.push(Sketch { order: case.old.kept(), salt: Some(retained), ..plain.clone() });
    }
    if salt.at.is_some() {
        let unknown = "How the bucket follows from the rest is not known, so it is declared as a field: reads have to give it.";
        let mut why = plain.why.clone();
        why.push(unknown.to_owned());
        list.push(Sketch { why, ..plain });
    }
    list
}

/// The salt as it is, if a schema can say it.
fn retained(salt: &OldSalt) -> Option<SaltSketch> {
    let source = salt.source?;
    if salt.of.is_empty() && source != SaltSource::Random {
        return None;
    }
    Some(SaltSketch { of: salt.of.clone(), source, buckets: salt.buckets, choice: None })
}

/// The fields in their order, behind a salt if there was one.
fn same_order(case: &Case<'_>) -> Sketch {
    let order = case.old.kept();
    let salt = case.old.salt.as_ref().and_then(|salt| {
        retained(salt).or_else(|| {
            let of = case.salt_inputs().into_iter().next()?;
            let source = SaltSource::Hash(Hash::Xxh3);
            Some(SaltSketch { of, source, buckets: salt.buckets.max(2), choice: None })
        })
    });
    Sketch { order, salt, ..Sketch::default() }
}

fn clock_in_front(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let clock = kept.iter().copied().find(|at| case.is_clock(*at));
    let cure = if case.root == Some(Rule::PeriodRollover) { Cure::PeriodBehind } else { Cure::PromoteEntity };
    let promoted = case.promoted(cure);
    let salted =
        case.salt_inputs().into_iter().filter_map(|of| case.salted(&kept, &of, None, Cure::DerivedSalt));
    // One read that would become a full scan decides: its cost grows with the table, that of the others does not.
    let by_time = clock.is_some_and(|clock| case.reads.any_range_over(clock, &case.others()));
    let mut list: Vec<Sketch> = Vec::new();
    let without_entity = case.root == Some(Rule::TimeFirst) && case.entities().is_empty();
    if by_time && case.reads.known || without_entity {
        list.extend(salted);
        list.extend(promoted);
    } else {
        list.extend(promoted);
        list.extend(salted);
    }
    if case.reads.ranges.is_empty() || !case.reads.known {
        list.push(case.prefixed(&kept, &kept));
    }
    list
}

fn growing_id(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let Some(id) = kept.iter().copied().find(|at| case.is_clock(*at)).or_else(|| kept.first().copied())
    else {
        return Vec::new();
    };
    let mut list = Vec::new();
    let given = case.entities().into_iter().any(|entity| case.reads.known && case.reads.mostly_give(entity));
    if given {
        list.extend(case.promoted(Cure::PromoteEntity));
    }
    if case.reads.known && case.reads.mostly(|pattern| pattern.ranges_over(id)) {
        list.extend(case.salted(&kept, &[id], None, Cure::DerivedSalt));
    }
    let is_number = matches!(case.meaning(id), Meaning::Number { .. } | Meaning::Id(IdMeaning::Snowflake));
    if is_number && kept.first() == Some(&id) {
        let why = format!(
            "{} with its digits reversed: neighbours stand far apart, and no hash is needed. Ranges of {} cannot be read any more.",
            case.name(id),
            case.name(id)
        );
        list.push(Sketch {
            order: kept.clone(),
            wishes: BTreeMap::from([(id, Wish::ReverseDigits)]),
            cures: vec![Cure::ReverseDigits],
            why: vec![why],
            ..Sketch::default()
        });
    }
    list.push(case.prefixed(&kept, &[id]));
    if !given {
        list.extend(case.promoted(Cure::PromoteEntity));
    }
    list
}

fn few_in_front(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let mut list: Vec<Sketch> = case.promoted(Cure::PromoteEntity).into_iter().collect();
    list.extend(
        case.salt_inputs().into_iter().filter_map(|of| case.salted(&kept, &of, None, Cure::DerivedSalt)),
    );
    if case.reads.points_only {
        list.push(case.prefixed(&kept, &kept));
    }
    list
}

fn more_buckets(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let Some(salt) = &case.old.salt else { return few_in_front(case) };
    let mut list: Vec<Sketch> = Vec::new();
    let now = Some(salt.buckets.max(1));
    if let Some(SaltSketch { of, source, .. }) = retained(salt)
        && let Some(mut sketch) = case.salted(&kept, &of, now, Cure::MoreBuckets)
        && let Some(grown) = &mut sketch.salt
    {
        if fits_peer(source, grown.buckets) {
            grown.source = source;
        }
        list.push(sketch);
    }
    let same_hash = list.len();
    // Rows of another hash move whatever their number is: doubling would gain nothing.
    list.extend(
        case.salt_inputs().into_iter().filter_map(|of| case.salted(&kept, &of, None, Cure::MoreBuckets)),
    );
    for sketch in list.iter_mut().take(same_hash) {
        if let Some(grown) = sketch.salt.as_ref().filter(|grown| grown.buckets % salt.buckets.max(1) == 0) {
            let times = grown.buckets / salt.buckets.max(1);
            sketch.why.push(format!(
                "{} buckets become {}: with the same hash each doubling moves half of the rows, {} % in all.",
                salt.buckets,
                grown.buckets,
                100 - 100 / times.max(1)
            ));
        }
    }
    list
}

/// Whether another program's salt can have so many buckets.
fn fits_peer(source: SaltSource, buckets: u32) -> bool {
    match source {
        SaltSource::Random => false,
        SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd) => buckets <= 256,
        SaltSource::Hash(Hash::CockroachDb) => buckets <= 2_048,
        _ => true,
    }
}

fn other_salt(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let now = case.old.salt.as_ref().map_or(1, |salt| salt.buckets.max(1));
    let buckets = grow_by_doubling(now, case.needed.max(2));
    let source = SaltSource::Hash(Hash::Xxh3);
    let with = |of: Vec<usize>| {
        let why = format!(
            "The bucket is a hash of {}, which has many values, so that all {buckets} buckets fill alike.",
            case.names(&of)
        );
        Sketch {
            order: kept.clone(),
            salt: Some(SaltSketch { of, source, buckets, choice: None }),
            cures: vec![Cure::DerivedSalt],
            why: vec![why],
            ..Sketch::default()
        }
    };
    case.salt_inputs().into_iter().map(with).collect()
}

fn fewer_buckets(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let mut plain = Sketch { order: kept.clone(), cures: vec![Cure::NoSalt], ..Sketch::default() };
    plain.why.push(format!(
        "No bucket: a range read is one range{}.",
        if case.needed == 1 { ", and one node takes these writes" } else { "" }
    ));
    let mut list = vec![plain];
    if let Some(SaltSketch { of, source, .. }) = case.old.salt.as_ref().and_then(retained)
        && let Some(mut sketch) = case.salted(&kept, &of, None, Cure::FewerBuckets)
        && let Some(salt) = &mut sketch.salt
    {
        if fits_peer(source, salt.buckets) && !matches!(source, SaltSource::HashPrefix { .. }) {
            salt.source = source;
        }
        list.push(sketch);
    }
    list.extend(
        case.salt_inputs().into_iter().filter_map(|of| case.salted(&kept, &of, None, Cure::FewerBuckets)),
    );
    list.extend(case.promoted(Cure::PromoteEntity).map(|mut sketch| {
        sketch.cures.push(Cure::NoSalt);
        sketch
    }));
    list
}

fn hot_entity(case: &Case<'_>) -> Vec<Sketch> {
    let kept = case.old.kept();
    let mut list: Vec<Sketch> = Vec::new();
    let clock = kept.iter().position(|at| case.is_clock(*at));
    let behind = clock.map(|clock| &kept[clock + 1..]).unwrap_or_default();
    let movable: Vec<usize> = behind.iter().copied().filter(|at| !case.is_clock(*at)).collect();
    if let Some(clock) = clock
        && !movable.is_empty()
    {
        let mut order = kept[..clock].to_vec();
        order.extend(&movable);
        order.push(kept[clock]);
        order.extend(behind.iter().copied().filter(|at| !movable.contains(at)));
        let why = format!(
            "{} in front of {}: a large entity is spread over its {}, and splits can cut it.",
            case.names(&movable),
            case.name(kept[clock]),
            case.names(&movable)
        );
        list.push(Sketch { order, cures: vec![Cure::SplitHotEntity], why: vec![why], ..Sketch::default() });
    }
    let share = kept.iter().map(|at| case.old.fields[*at].facts.top_share).fold(0.0, f64::max);
    // Sub-buckets enough for the largest to fall below a node's share, then a power of two for later doublings.
    let fewest = (share * f64::from(case.needed.max(2))).ceil().clamp(2.0, 65_536.0);
    let mut buckets = 2_u32;
    while f64::from(buckets) < fewest {
        buckets *= 2;
    }
    for buckets in [buckets, buckets.saturating_mul(2), buckets.saturating_mul(4)] {
        let why = vec![
            format!(
                "A salt of the whole key spreads every entity over {buckets} places, so that the largest fills no node; a schema has one \
                 salt for all entities."
            ),
            format!(
                "It costs: reading one entity takes {buckets} ranges. An application that knows its few large entities can write only \
                 those under {buckets} sub-ids, and leave all others one range."
            ),
        ];
        let source = SaltSource::Hash(Hash::Xxh3);
        list.push(Sketch {
            order: kept.clone(),
            salt: Some(SaltSketch { of: kept.clone(), source, buckets: buckets.min(65_536), choice: None }),
            cures: vec![Cure::SplitHotEntity],
            why,
            ..Sketch::default()
        });
    }
    list
}

/// What fields become because of findings about their values.
fn wishes(case: &Case<'_>, sketch: &mut Sketch) {
    for &at in &sketch.order {
        let facts = &case.old.fields[at].facts;
        let wish = match facts.meaning {
            Meaning::Domain { reversed: false } if case.rules.contains(&Rule::DomainNotReversed) => {
                sketch.cures.push(Cure::ReverseDomain);
                sketch.why.push(format!(
                    "{} has its labels reversed: a domain and all below it are one range.",
                    facts.name
                ));
                Wish::ReverseLabels
            }
            _ if case.rules.contains(&Rule::LongKey)
                && facts.width_max > LONG_VALUE_BYTES
                && is_longest(case, at) =>
            {
                sketch.cures.push(Cure::Digest);
                sketch.why.push(format!(
                    "{} is replaced by its XXH3-128, 32 hex digits; the application computes it and keeps the text in a cell.",
                    facts.name
                ));
                Wish::Digest
            }
            _ => continue,
        };
        sketch.wishes.entry(at).or_insert(wish);
    }
}

/// A value from this length on is not worth being in a key: twice a digest, `long-key`'s own note begins at 100 bytes.
const LONG_VALUE_BYTES: usize = 100;

fn is_longest(case: &Case<'_>, at: usize) -> bool {
    let width = |at: usize| case.old.fields[at].facts.width_max;
    case.old.kept().into_iter().all(|other| width(other) <= width(at))
}
