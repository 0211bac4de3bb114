//! Proposals for the cases of the corpus, with layouts written by hand: what is inferred is another module's matter.

use super::*;
use crate::collect::{CollectConfig, Collector};
use crate::context::Context;
use crate::facts::Facts;
use crate::finding::{Bound, Finding};
use crate::input;
use crate::layout::{
    FieldFacts, Format, HashEncoding, IdMeaning, Layout, Meaning, SaltMeaning, Segment, TimeForm, TimeMeaning,
};
use rowkey::schema::TimeUnit;
use rowkey_store::seeded::Seeded;
use std::collections::BTreeMap as Map;
use std::ops::ControlFlow;
use std::path::PathBuf;

fn corpus(case: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = root.join(case);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED 1: {} is missing", path.display());
    None
}

fn facts_of(path: &std::path::Path) -> Facts {
    let file = ["keys.txt", "ops.jsonl"]
        .into_iter()
        .map(|name| path.join(name))
        .find(|file| file.is_file())
        .unwrap();
    let mut collector = Collector::new(CollectConfig::default());
    let options = input::Options { lenient: true, ..input::Options::default() };
    let mut sink = |operation: &crate::Operation<'_>| {
        collector.observe(operation);
        ControlFlow::Continue(())
    };
    input::read(std::fs::File::open(file).unwrap(), "case", &options, &mut sink, &mut |_| {}).unwrap();
    collector.finish()
}

/// `{time:iso}#{host:text}` as a format, without what has to be measured.
fn format_of(spec: &str) -> Format {
    let mut segments = Vec::new();
    let mut rest = spec;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (field, behind) = behind.split_once('}').unwrap();
        let (name, kind) = field.split_once(':').unwrap();
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal.as_bytes().to_vec()));
        }
        segments.push(Segment::Field(Box::new(FieldFacts::new(name, meaning(kind)))));
        rest = behind;
    }
    if !rest.is_empty() {
        segments.push(Segment::Literal(rest.as_bytes().to_vec()));
    }
    Format { share: 1.0, segments, examples: Vec::new() }
}

fn meaning(kind: &str) -> Meaning {
    let time = |form, reversed| {
        Meaning::Time(TimeMeaning { form, reversed, first_ms: 0, last_ms: 4_000_000_000_000 })
    };
    match kind {
        "s" => time(TimeForm::Epoch(TimeUnit::Seconds), false),
        "ms" => time(TimeForm::Epoch(TimeUnit::Millis), false),
        "reversed" => time(TimeForm::Epoch(TimeUnit::Millis), true),
        "ticks" => time(TimeForm::Ticks, true),
        "iso" => time(TimeForm::IsoExtended, false),
        "basic" => time(TimeForm::IsoBasic, false),
        "day" => match time(TimeForm::Calendar, false) {
            Meaning::Time(day) => Meaning::Period(day),
            other => other,
        },
        "uuid7" => Meaning::Id(IdMeaning::Uuid(7)),
        "uuid4" => Meaning::Id(IdMeaning::Uuid(4)),
        "oid" => Meaning::Id(IdMeaning::ObjectId),
        "snowflake" => Meaning::Id(IdMeaning::Snowflake),
        "number" => Meaning::Number { padded: false, grows: false, negative: false },
        "counter" => Meaning::Number { padded: false, grows: true, negative: false },
        "padded" => Meaning::Number { padded: true, grows: false, negative: false },
        "decimal" => Meaning::Decimal { negative: true },
        "hex" => Meaning::Hash { bits: 40, encoding: HashEncoding::Hex },
        "host" => Meaning::Domain { reversed: false },
        "salt" => Meaning::Salt(SaltMeaning {
            buckets: 0,
            used: 0,
            from: None,
            repeats: None,
            even_p: 0.5,
            follows: None,
        }),
        _ => Meaning::Text,
    }
}

/// Fills in what the rules of a proposal look at: distinct values, the most frequent, widths, and the span of times.
fn measure(format: &mut Format, facts: &Facts) {
    let keys: Vec<&[u8]> = facts.written.uniform.iter().map(|arrived| &*arrived.key).collect();
    let rows: Vec<Vec<&[u8]>> = keys.iter().filter_map(|key| crate::infer::split(format, key)).collect();
    assert!(rows.len() * 10 > keys.len() * 9, "the layout of the test fits");
    let mut at = 0;
    for segment in &mut format.segments {
        let Segment::Field(field) = segment else { continue };
        let mut counts: Map<&[u8], u64> = Map::new();
        for row in &rows {
            *counts.entry(row[at]).or_default() += 1;
        }
        at += 1;
        field.distinct = counts.len() as u64;
        let (top, count) = counts.iter().max_by_key(|(_, count)| **count).unwrap();
        field.top_value = (*top).into();
        field.top_share =
            f64::from(u32::try_from(*count).unwrap()) / f64::from(u32::try_from(rows.len()).unwrap());
        field.width_min = counts.keys().map(|value| value.len()).min().unwrap();
        field.width_max = counts.keys().map(|value| value.len()).max().unwrap();
        if let Meaning::Salt(salt) = &mut field.meaning {
            salt.buckets = u32::try_from(counts.len()).unwrap();
            salt.used = salt.buckets;
        }
    }
}

fn diagnosis(path: &std::path::Path, spec: &str, rules: &[Rule], nodes: u32) -> Diagnosis {
    let facts = facts_of(path);
    let mut format = format_of(spec);
    // Widths first, by which keys are cut.
    measure(&mut format, &facts);
    measure(&mut format, &facts);
    let layout =
        Layout { formats: vec![format], sampled: facts.written.uniform.len() as u64, ..Layout::default() };
    diagnosed(facts, layout, rules, nodes)
}

fn diagnosed(facts: Facts, layout: Layout, rules: &[Rule], nodes: u32) -> Diagnosis {
    let context = Context { nodes, ..Context::default() };
    let finding = |rule: &Rule| Finding {
        rule: *rule,
        severity: Severity::Error,
        headline: String::new(),
        field: None,
        evidence: Vec::new(),
        nodes_lost: 1.0,
        examples: Vec::new(),
        places: Vec::new(),
        advice: Vec::new(),
    };
    let measured = facts.span.map(|span| span.writes_per_s);
    let needed = measured.unwrap_or(f64::from(nodes) * context.capacity.one_node_writes_per_s());
    let bound = Bound {
        needed_per_s: needed,
        needed_is_known: measured.is_some(),
        nodes_used: 1.0,
        bound_per_s: 9_800.0,
    };
    Diagnosis {
        findings: rules.iter().map(finding).collect(),
        passed: Vec::new(),
        facts,
        layout,
        context,
        bound,
    }
}

/// What is proposed for a case: its layout line and what it cures.
fn check(
    case: &str,
    spec: &str,
    rules: &[Rule],
    nodes: u32,
    layout: &str,
    cures: &[Cure],
) -> Option<Proposal> {
    let path = corpus(case)?;
    let diagnosis = diagnosis(&path, spec, rules, nodes);
    let proposal = propose(&diagnosis, None, case).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(proposal.schema.layout(), layout, "{}", proposal.to_toml());
    assert_eq!(proposal.cures, cures, "{}", proposal.to_toml());
    let parsed = KeySchema::parse(proposal.to_toml()).unwrap();
    assert_eq!(parsed, proposal.schema);
    // Hosts and hex digits are the same in capitals and in small letters, and some keys of these cases occur in both.
    let folds = cures.iter().any(|cure| matches!(cure, Cure::ReverseDomain | Cure::OneHexCase));
    assert!(folds || proposal.fit.merged == 0, "{case}: {} keys become one", proposal.fit.merged);
    assert!(proposal.fit.fitting * 100 >= proposal.fit.keys * 99, "{:?}", proposal.fit);
    if std::env::var_os("SHOW").is_some() {
        eprintln!("---- {case}\n{}", proposal.to_toml());
    }
    Some(proposal)
}

#[test]
fn a_time_in_front_goes_behind_numerous_entities() {
    check(
        "s02-silo-statistics",
        "{time:ticks}${silo:text}${counter:text}",
        &[Rule::TimeFirst],
        6,
        "{silo}${counter}${time}",
        &[Cure::PromoteEntity],
    );
}

#[test]
fn a_time_in_front_of_few_entities_gets_a_salt() {
    let kept = "{salt}#{time}#{metric}#{series}";
    let spec = "{time:s}#{metric:text}#{series:hex}";
    check("s01-cloud-metrics", spec, &[Rule::TimeFirst], 10, kept, &[Cure::DerivedSalt]);
}

#[test]
fn ids_with_a_clock_get_a_hash_in_front() {
    check(
        "s03-order-lines",
        "order-items/{id:uuid7}/{line:padded}",
        &[Rule::SequentialId],
        12,
        "{salt}/order-items/{id}/{line}",
        &[Cure::HashPrefix],
    );
}

#[test]
fn values_are_typed_so_that_they_sort() {
    check(
        "s05-one-time-keys",
        "/devices/{mac:hex}/{user:text}/one_time_keys/{no:number}",
        &[Rule::UnpaddedNumber],
        5,
        "/devices/{mac}/{user}/one_time_keys/{no}",
        &[Cure::PadNumber],
    );
    check(
        "s06-crawl-frontier",
        "{host:host}/{path:text}",
        &[Rule::DomainNotReversed],
        8,
        "{host}#{path}",
        &[Cure::ReverseDomain],
    );
    check("s17-landing-pages", "{id:padded}#{url:text}", &[Rule::LongKey], 4, "{id}#{url}", &[Cure::Digest]);
    check(
        "s18-quake-places",
        "{lat:decimal},{lon:decimal}#{event:text}",
        &[Rule::NegativeTextNumber],
        5,
        "{lat},{lon}#{event}",
        &[Cure::SignedNumber],
    );
    check(
        "s21-user-timeline",
        "u/{user:hex}/{time:reversed}",
        &[Rule::LossyReverseTime],
        10,
        "u/{user}/{time}",
        &[Cure::ExactReverseTime],
    );
    check(
        "s22-content-store",
        "blob:{digest:hex}",
        &[Rule::HexCaseMix],
        8,
        "blob:{digest}",
        &[Cure::OneHexCase],
    );
}

#[test]
fn few_fronts_get_a_salt_and_a_large_entity_is_spread() {
    check(
        "s07-ticker-mentions",
        "{symbol:text}#{time:ms}",
        &[Rule::MonotoneSuffix],
        24,
        "{salt}#{symbol}#{time}",
        &[Cure::DerivedSalt],
    );
    check(
        "s09-account-events",
        "acct#{account:padded}#{time:iso}",
        &[Rule::HotEntity],
        12,
        "{salt}#acct#{account}#{time}",
        &[Cure::SplitHotEntity],
    );
}

#[test]
fn a_period_goes_behind_the_entity() {
    check(
        "s08-visits-by-day",
        "{day:day}|{visitor:hex}|{page:text}",
        &[Rule::PeriodRollover],
        10,
        "{visitor}|{day}|{page}",
        &[Cure::PeriodBehind],
    );
}

#[test]
fn buckets_grow_shrink_and_go() {
    let grown = check(
        "s10-gateway-readings",
        "{bucket:salt}_{time:basic}_{device:text}",
        &[Rule::TooFewBuckets, Rule::UnpaddedNumber],
        40,
        "{salt}_{time}_{device}",
        &[Cure::MoreBuckets],
    );
    assert!(grown.is_none_or(|proposal| proposal.schema.salt.unwrap().buckets == 64));
    check(
        "s11-metric-buckets",
        "{bucket:salt}#{metric:text}#{time:s}#{host:text}",
        &[Rule::TooManyBuckets],
        8,
        "{metric}#{time}#{host}",
        &[Cure::NoSalt],
    );
    check(
        "s12-order-log",
        "{bucket:salt}#{time:iso}#{region:text}#{order:padded}",
        &[Rule::UnevenBuckets],
        12,
        "{salt}#{time}#{region}#{order}",
        &[Cure::DerivedSalt],
    );
    check(
        "s13-message-ids",
        "{bucket:salt}_{id:snowflake}",
        &[Rule::UnevenBuckets],
        8,
        "{salt}_{id}",
        &[Cure::DerivedSalt],
    );
    check(
        "s14-meter-dashboard",
        "{bucket:salt}#{meter:text}#{time:s}",
        &[Rule::SaltedRangeReads],
        6,
        "{meter}#{time}",
        &[Cure::NoSalt],
    );
}

#[test]
fn healthy_keys_are_declared_as_they_are() {
    for (case, spec, layout) in [
        ("s24-customers-by-country", "{country:text}#{id:uuid4}", "{country}#{id}"),
        ("s26-loyalty-cards", "{card:padded}#{two:padded}#{six:padded}", "{card}#{two}#{six}"),
        (
            "s27-pump-series",
            "{bucket:salt}#{pump:text}/{kind:text}#{time:s}",
            "{bucket}#{pump}/{kind}#{time}",
        ),
        ("s28-user-feed", "user/{user:hex}/{time:reversed}", "user/{user}/{time}"),
        ("s29-benchmark-sensors", "{sensor:text}#{time:s}", "{sensor}#{time}"),
        ("s30-profile-cache", "user:{user:number}", "user:{user}"),
    ] {
        let proposal = check(case, spec, &[], 10, layout, &[Cure::Keep]);
        for arrived in facts_of(&corpus(case).unwrap()).written.uniform {
            if let Some(Ok(key)) = proposal.as_ref().map(|proposal| proposal.apply(&arrived.key)) {
                assert_eq!(key, *arrived.key);
            }
        }
    }
}

#[test]
fn what_no_schema_cures_is_said() {
    for (case, spec, rule) in [
        ("s15-activity-by-digest", "{digest:hex}", Rule::OpaqueKey),
        ("s16-site-counters", "{key:text}", Rule::RewrittenRow),
        ("s23-job-queue", "jobs#{time:iso}#{id:hex}", Rule::DeleteBehindFront),
    ] {
        let Some(path) = corpus(case) else { continue };
        let error = propose(&diagnosis(&path, spec, &[rule], 5), None, case).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().len() > 60, "{error}");
    }
}

/// What a case of the corpus states: nodes, and what is declared.
fn stated(path: &std::path::Path) -> Context {
    let text = std::fs::read_to_string(path.join("case.toml")).unwrap();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
    let mut context = Context { nodes: line("nodes").unwrap().trim().parse().unwrap(), ..Context::default() };
    let declared = line("declared").unwrap_or_default();
    context.declared.bulk_load = declared.contains("bulk-load");
    context.declared.point_reads = declared.contains("point-reads");
    context
}

/// The cure of each case in the words of the corpus' `advice`; none: no schema cures it, or nothing is to be cured.
const ADVICE: &[(&str, &[Cure])] = &[
    ("s01-cloud-metrics", &[Cure::DerivedSalt, Cure::PromoteEntity]),
    ("s02-silo-statistics", &[Cure::PromoteEntity]),
    ("s03-order-lines", &[Cure::HashPrefix]),
    ("s04-document-store", &[Cure::HashPrefix]),
    ("s05-one-time-keys", &[Cure::PadNumber]),
    ("s06-crawl-frontier", &[Cure::ReverseDomain]),
    ("s07-ticker-mentions", &[Cure::DerivedSalt]),
    ("s08-visits-by-day", &[Cure::PeriodBehind]),
    ("s09-account-events", &[Cure::SplitHotEntity]),
    ("s10-gateway-readings", &[Cure::MoreBuckets]),
    ("s11-metric-buckets", &[Cure::FewerBuckets, Cure::NoSalt]),
    ("s12-order-log", &[Cure::DerivedSalt]),
    ("s13-message-ids", &[Cure::DerivedSalt]),
    ("s14-meter-dashboard", &[Cure::NoSalt]),
    ("s15-activity-by-digest", &[]),
    ("s16-site-counters", &[]),
    ("s17-landing-pages", &[Cure::Digest]),
    ("s18-quake-places", &[Cure::SignedNumber]),
    ("s19-wildlife-strikes", &[Cure::SafeDelimiter]),
    ("s20-firmware-clocks", &[Cure::OneTimeUnit]),
    ("s21-user-timeline", &[Cure::ExactReverseTime]),
    ("s22-content-store", &[Cure::OneHexCase]),
    ("s23-job-queue", &[]),
    ("s24-customers-by-country", &[Cure::Keep]),
    ("s25-admin-audit", &[Cure::Keep]),
    ("s26-loyalty-cards", &[Cure::Keep]),
    ("s27-pump-series", &[Cure::Keep]),
    ("s28-user-feed", &[Cure::Keep]),
    ("s29-benchmark-sensors", &[Cure::Keep]),
    ("s30-profile-cache", &[Cure::Keep]),
];

#[test]
fn the_corpus_gets_the_kind_of_cure_that_its_labels_advise() {
    let mut wrong = Vec::new();
    for (case, cures) in ADVICE {
        let Some(path) = corpus(case) else { continue };
        let context = stated(&path);
        let diagnosis = crate::doctor::diagnose(facts_of(&path), None, &context);
        let proposal = match propose(&diagnosis, None, case) {
            Ok(proposal) => proposal,
            Err(error) => {
                if !cures.is_empty() || error.kind() != ErrorKind::Conflict {
                    wrong.push(format!("{case}: {error}"));
                }
                continue;
            }
        };
        if !cures.is_empty() && !proposal.cures.iter().any(|cure| cures.contains(cure)) || cures.is_empty() {
            wrong.push(format!("{case}: {:?} {}", proposal.cures, proposal.schema.layout()));
        }
        assert_eq!(KeySchema::parse(proposal.to_toml()).unwrap(), proposal.schema, "{case}");
        let root = diagnosis.findings.first().filter(|finding| finding.severity > Severity::Note);
        let after = proposal.examine(&diagnosis, 0);
        if let Some(root) = root.filter(|root| !incurable::stays(root.rule)) {
            let left = after
                .after
                .findings
                .iter()
                .find(|(rule, severity)| *rule == root.rule && *severity > Severity::Note);
            if left.is_some() {
                wrong.push(format!("{case}: {left:?} is left under {}", proposal.schema.layout()));
            }
        }
        if std::env::var_os("SHOW").is_some() {
            eprintln!("---- {case} {:?} -> {:?}\n{}", after.before, after.after, proposal.to_toml());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A part of a random key: its values follow nothing, or arrival.
fn random_part(random: &mut Seeded, kind: usize, index: u64) -> String {
    match kind {
        0 => format!("{}", 1_714_644_000_000 + index * 7 + random.any() % 40),
        1 => format!("{}", 90 + index),
        2 => format!("{:016x}", random.any()),
        3 => format!("{}", random.any() % 1_000),
        4 => format!("{:05}", random.any() % 3_000),
        5 => format!("{}.example-{}.org", ["www", "mail", "a-b"][random.below(3)], random.below(90)),
        6 => format!("-{}.{:02}", random.below(180), random.below(100)),
        7 => ["red", "green", "dark blue", "b/w"][random.below(4)].to_owned(),
        8 => format!("2024-05-{:02}", 1 + index / 100),
        _ => format!("{}\u{e9}{}", random.below(50), random.below(50)),
    }
}

#[test]
fn proposals_for_random_layouts_parse_and_keep_different_keys_apart() {
    let mut cured = 0;
    for seed in 0..24 {
        let mut random = Seeded::new(seed);
        let kinds: Vec<usize> = (0..=random.below(4)).map(|_| random.below(10)).collect();
        let delimiter = *random.one_of(&["#", "/", "|", "_", "\0", "::"]);
        let mut collector = Collector::new(CollectConfig::default());
        let mut keys = std::collections::BTreeSet::new();
        for index in 0..1_500 {
            let parts: Vec<String> =
                kinds.iter().map(|kind| random_part(&mut random, *kind, index)).collect();
            let key = parts.join(delimiter).into_bytes();
            collector.observe(&crate::Operation::write(&key));
            keys.insert(key);
        }
        let diagnosis = crate::doctor::diagnose(collector.finish(), None, &Context::default());
        let Ok(proposal) = propose(&diagnosis, None, "random") else { continue };
        assert_eq!(KeySchema::parse(proposal.to_toml()).unwrap(), proposal.schema, "seed {seed}");
        let mut new: Map<Vec<u8>, &[u8]> = Map::new();
        for key in &keys {
            let Ok(stored) = proposal.apply(key) else { continue };
            proposal.codec().decode(&stored, &mut Vec::new()).unwrap();
            assert_eq!(
                new.insert(stored, key),
                None,
                "seed {seed}: two keys become one under {}",
                proposal.schema.layout()
            );
        }
        assert!(new.len() * 10 >= keys.len() * 9, "seed {seed}: {:?}", proposal.fit);
        cured += 1;
    }
    assert!(cured >= 12, "only {cured} of 24 layouts got a proposal");
}
