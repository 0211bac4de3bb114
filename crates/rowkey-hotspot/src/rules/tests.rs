//! Each rule by a table that has its fault, and by one that only looks like it.

use rowkey_store::seeded::Seeded;

use crate::context::{Context, Declared};
use crate::doctor::{Doctor, DoctorOptions};
use crate::finding::Diagnosis;
use crate::operation::{OpKind, Operation};
use crate::rule::{Rule, Severity};

/// An operation that owns its keys.
struct Op {
    kind: OpKind,
    key: Vec<u8>,
    end: Option<Vec<u8>>,
    time_ms: Option<i64>,
    rows: Option<u64>,
}

fn write(key: impl Into<Vec<u8>>) -> Op {
    Op { kind: OpKind::Write, key: key.into(), end: None, time_ms: None, rows: None }
}

fn read(key: impl Into<Vec<u8>>) -> Op {
    Op { kind: OpKind::Read, ..write(key) }
}

fn delete(key: impl Into<Vec<u8>>) -> Op {
    Op { kind: OpKind::Delete, ..write(key) }
}

fn scan(key: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>, rows: u64) -> Op {
    Op { kind: OpKind::Scan, end: Some(end.into()), rows: Some(rows), ..write(key) }
}

fn at(time_ms: i64, op: Op) -> Op {
    Op { time_ms: Some(time_ms), ..op }
}

fn examine(ops: &[Op], context: &Context) -> Diagnosis {
    let mut doctor = Doctor::new(DoctorOptions { context: context.clone(), ..DoctorOptions::default() });
    for op in ops {
        doctor.observe(&Operation {
            kind: op.kind,
            key: &op.key,
            end: op.end.as_deref(),
            time_ms: op.time_ms,
            rows: op.rows,
            bytes: None,
        });
    }
    let diagnosis = doctor.finish();
    // Each rule either found something or says why not, and no number is out of bounds.
    for &rule in Rule::ALL {
        let found = diagnosis.findings.iter().any(|finding| finding.rule == rule);
        let passed = diagnosis.passed.iter().filter(|passed| passed.rule == rule);
        assert_eq!(usize::from(!found), passed.clone().count(), "{rule}");
        assert!(passed.into_iter().all(|passed| !passed.why.is_empty()), "{rule}");
    }
    for finding in &diagnosis.findings {
        assert!((0.0..=f64::from(context.nodes)).contains(&finding.nodes_lost), "{finding:?}");
        assert!(!finding.evidence.is_empty() && !finding.headline.is_empty(), "{finding:?}");
        assert!(finding.evidence.iter().all(|evidence| evidence.measured.is_finite()), "{finding:?}");
        assert!(finding.examples.len() <= 10 && !finding.advice.is_empty(), "{finding:?}");
    }
    diagnosis
}

/// `expected`: warnings and errors in their order, as `error time-first, warning ...`; `healthy` for none.
#[track_caller]
fn check_with(context: &Context, ops: &[Op], expected: &str) -> Diagnosis {
    let diagnosis = examine(ops, context);
    let found: Vec<String> = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note)
        .map(|finding| format!("{} {}", finding.severity, finding.rule))
        .collect();
    let found = if found.is_empty() { "healthy".to_owned() } else { found.join(", ") };
    assert_eq!(found, expected, "{:#?}\n{:#?}", diagnosis.findings, diagnosis.layout);
    diagnosis
}

#[track_caller]
fn check(ops: &[Op], expected: &str) -> Diagnosis {
    check_with(&Context::default(), ops, expected)
}

#[track_caller]
fn check_note(diagnosis: &Diagnosis, rule: Rule) {
    let found = diagnosis.findings.iter().find(|finding| finding.rule == rule);
    assert_eq!(found.map(|finding| finding.severity), Some(Severity::Note), "{:#?}", diagnosis.passed);
}

const START_MS: i64 = 1_714_644_000_000;

/// `count` keys of a time, about 7 ms apart with delays, and a random number.
fn stream(count: i64, key: impl Fn(i64, u64, &mut Seeded) -> String) -> Vec<Op> {
    let mut random = Seeded::new(7);
    (0..count)
        .map(|index| {
            let late = i64::try_from(random.below(40)).unwrap();
            let number = random.any();
            write(key(START_MS + index * 7 - late, number, &mut random))
        })
        .collect()
}

/// An uneven choice: number `n` about as often as `1 / (n + 1)`.
fn skewed(random: &mut Seeded, count: usize) -> usize {
    let limit = random.below(count) + 1;
    random.below(limit)
}

fn time_first() -> Vec<Op> {
    stream(6_000, |time, number, _| format!("{time}#{:05}", number % 5_000))
}

#[test]
fn a_time_in_front_is_one_place() {
    let diagnosis = check(&time_first(), "error time-first");
    let first = &diagnosis.findings[0];
    assert!((first.nodes_lost - 9.0).abs() < 0.2, "{first:?}");
    assert!(first.advice.iter().any(|advice| advice.action.starts_with("Put `")), "{first:?}");
    assert!((diagnosis.bound.nodes_used - 1.0).abs() < 0.2, "{:?}", diagnosis.bound);
}

#[test]
fn a_time_in_front_costs_nothing_below_one_node() {
    let slow = Context { writes_per_s: Some(500.0), ..Context::default() };
    let diagnosis = check_with(&slow, &time_first(), "healthy");
    check_note(&diagnosis, Rule::TimeFirst);
    let advice = &diagnosis.findings[0].advice[0];
    assert!(advice.action.starts_with("Do not salt"), "{advice:?}");
    let lone = Context { nodes: 1, ..Context::default() };
    check_with(&lone, &time_first(), "healthy");
}

#[test]
fn a_bulk_load_is_sorted_on_purpose() {
    let declared = Declared { bulk_load: true, ..Declared::default() };
    let context = Context { declared, ..Context::default() };
    check_note(&check_with(&context, &time_first(), "healthy"), Rule::TimeFirst);
}

#[test]
fn dates_of_birth_in_front_are_no_time_of_arrival() {
    let keys = stream(6_000, |_, number, _| {
        format!(
            "{}{:02}{:02}#{:06}",
            1_950 + number % 60,
            1 + number / 64 % 12,
            1 + number / 4_096 % 28,
            number >> 45
        )
    });
    check(&keys, "healthy");
}

#[test]
fn a_counter_in_front_is_one_place_padded_or_not() {
    let padded: Vec<Op> = (0..6_000).map(|number| write(format!("order/{:09}", 1_000 + number))).collect();
    check(&padded, "error sequential-id");
    let unpadded: Vec<Op> = (0..6_000).map(|number| write(format!("order/{}", 7_000 + number))).collect();
    check(&unpadded, "error sequential-id, warning unpadded-number");
}

#[test]
fn random_ids_in_front_are_many_places() {
    check(&stream(6_000, |time, number, _| format!("{number:016x}#{time}")), "healthy");
    check(&stream(6_000, |_, number, _| format!("user:{:09}", number % 1_000_000_000)), "healthy");
}

#[test]
fn sorted_texts_were_sorted_by_somebody() {
    let mut random = Seeded::new(3);
    let mut keys: Vec<String> =
        (0..4_000).map(|_| format!("{:016x}#{}", random.any(), random.below(9))).collect();
    keys.sort();
    let ops: Vec<Op> = keys.into_iter().map(write).collect();
    check(&ops, "healthy");
}

#[test]
fn few_sensors_in_front_of_a_time_are_few_places() {
    let keys = stream(8_000, |time, number, _| format!("sensor-{}#{time}", number % 4));
    check(&keys, "error monotone-suffix");
    let two = Context { nodes: 2, ..Context::default() };
    check_with(&two, &keys, "healthy");
    let many = stream(8_000, |time, number, _| format!("sensor-{:02}#{time}", number % 60));
    check(&many, "healthy");
}

#[test]
fn a_frequent_country_in_front_of_random_ids_is_no_hotspot() {
    let keys = stream(8_000, |_, number, random| {
        let country = if random.below(10) < 8 { "DE" } else { *random.one_of(&["AT", "CH", "LI"]) };
        format!("{country}#{number:016x}")
    });
    check(&keys, "healthy");
}

#[test]
fn a_day_in_front_of_hashes_is_one_place_at_midnight_only() {
    let mut random = Seeded::new(5);
    let keys: Vec<Op> = (0..14_000)
        .map(|index| write(format!("202403{:02}|{:012x}", 1 + index / 1_500, random.any() >> 16)))
        .collect();
    let diagnosis = check(&keys, "warning period-rollover");
    assert!(diagnosis.findings[0].headline.contains("every day"), "{:?}", diagnosis.findings[0]);
}

#[test]
fn a_short_period_is_a_time_like_any_other() {
    let keys = stream(9_000, |time, number, _| format!("{}|{number:016x}", time / 1_000));
    check(&keys, "error time-first");
}

#[test]
fn one_big_account_is_a_hot_entity() {
    let keys = stream(9_000, |time, _, random| {
        let account = if random.below(100) < 30 { 7 } else { random.below(3_000) };
        format!("acct#{account:06}#{time}")
    });
    let diagnosis = check(&keys, "error hot-entity");
    assert!(diagnosis.findings[0].headline.contains("acct#000007"), "{:?}", diagnosis.findings[0]);
    let even = stream(9_000, |time, _, random| format!("acct#{:06}#{time}", random.below(3_000)));
    check(&even, "healthy");
    // Its rows are random, so that they split like any others.
    let random_rows = stream(9_000, |_, number, random| {
        let account = if random.below(100) < 30 { 7 } else { random.below(3_000) };
        format!("acct#{account:06}#{number:016x}")
    });
    check(&random_rows, "healthy");
}

#[test]
fn a_row_that_everybody_reads_is_hot_at_any_rate() {
    let mut random = Seeded::new(11);
    let ops: Vec<Op> = (0..6_000)
        .map(|index| {
            let key = format!("profile:{:08}", random.below(50_000));
            let op = match index % 3 {
                0 => write(key),
                _ if random.below(10) < 4 => read("profile:00000042"),
                _ => read(key),
            };
            at(START_MS + index * 10, op)
        })
        .collect();
    check(&ops, "warning hot-entity");
}

#[test]
fn fewer_buckets_than_nodes_are_too_few() {
    let keys =
        stream(8_000, |time, number, _| format!("{:02}#{time}#{:05}", number % 4, number >> 40 & 0xffff));
    check(&keys, "error too-few-buckets");
    let enough =
        stream(8_000, |time, number, _| format!("{:02}#{time}#{:05}", number % 16, number >> 40 & 0xffff));
    check(&enough, "healthy");
    let spread =
        stream(8_000, |time, number, _| format!("{:02}#{:05}#{time}", number % 4, number >> 40 & 0xffff));
    check(&spread, "healthy");
}

#[test]
fn buckets_that_follow_the_time_do_not_spread() {
    let keys =
        stream(9_000, |time, number, _| format!("{:02}#{time}#{:05}", time / 1_000 % 16, number % 90_000));
    check(&keys, "error uneven-buckets");
}

#[test]
fn one_bucket_far_above_the_mean_is_uneven() {
    let keys = stream(9_000, |time, number, random| {
        let bucket = if random.below(2) == 0 { 3 } else { number % 16 };
        format!("{bucket:02}#{time}#{:05}", number >> 20 & 0xffff)
    });
    check(&keys, "error uneven-buckets");
}

#[test]
fn rows_outside_the_set_of_buckets_are_missed_by_readers() {
    let keys = stream(9_000, |time, number, random| {
        let bucket = if random.below(50) == 0 { 99 } else { number % 16 };
        format!("{bucket:02}#{:05}#{time}", number >> 20 & 0xffff)
    });
    check(&keys, "warning uneven-buckets");
}

/// Writes to `buckets`, and every 40th operation a range read of all of them.
fn salted_reads(buckets: u64, rows: u64, apart_ms: i64) -> Vec<Op> {
    let mut random = Seeded::new(13);
    let mut ops = Vec::new();
    for index in 0..4_000 {
        let time = START_MS + index * apart_ms / 100;
        let meter = random.below(9_000);
        ops.push(at(time, write(format!("{:02x}#m{meter:05}#{time}", random.any() % buckets))));
        if index % 400 == 7 {
            for bucket in 0..buckets {
                let start = format!("{bucket:02x}#m{meter:05}#{}", time - 3_600_000);
                ops.push(at(time, scan(start, format!("{bucket:02x}#m{meter:05}#{time}"), rows)));
            }
        }
    }
    ops
}

#[test]
fn range_reads_of_a_table_that_is_hardly_written_need_no_buckets() {
    let diagnosis = check(&salted_reads(16, 2, 1_000), "warning salted-range-reads");
    let advice = &diagnosis.findings[0].advice[0];
    assert!(advice.action.starts_with("Do not salt"), "{advice:?}");
}

#[test]
fn far_more_buckets_than_nodes_make_range_reads_dear() {
    let busy = Context { writes_per_s: Some(60_000.0), ..Context::default() };
    check_with(&busy, &salted_reads(128, 1, 1_000), "warning too-many-buckets");
    // As many buckets as nodes, at a load that needs them.
    check_with(&busy, &salted_reads(16, 20, 1_000), "healthy");
}

#[test]
fn look_ups_that_try_every_bucket_are_reported() {
    let mut random = Seeded::new(17);
    let mut ops = Vec::new();
    for _ in 0..4_000 {
        let order = random.below(900_000);
        ops.push(write(format!("{:02}#{order:06}", random.below(16))));
        if order.is_multiple_of(40) {
            ops.extend((0..16).map(|bucket| read(format!("{bucket:02}#{order:06}"))));
        }
    }
    check(&ops, "warning salted-range-reads");
}

#[test]
fn a_bare_digest_matters_where_ranges_are_read() {
    let mut random = Seeded::new(19);
    let mut digest = || format!("{:016x}{:016x}", random.any(), random.any());
    let mut ops: Vec<Op> = (0..3_000).map(|_| write(digest())).collect();
    check_note(&check(&ops, "healthy"), Rule::OpaqueKey);
    ops.extend((0..100).map(|_| scan("3", "4", 190)));
    check(&ops, "warning opaque-key");
}

#[test]
fn a_counter_row_is_rewritten() {
    let mut keys = stream(5_000, |_, number, _| format!("evt#{number:016x}"));
    for (index, key) in keys.iter_mut().enumerate().filter(|(index, _)| index % 5 == 0) {
        *key = write(format!("cnt#total#{}", index % 2));
    }
    let diagnosis = examine(&keys, &Context::default());
    assert_eq!(diagnosis.findings[0].rule, Rule::RewrittenRow);
    let seldom: Vec<Op> =
        stream(5_000, |_, number, random| format!("evt#{:04}#{}", number % 5_000, random.below(9)));
    check(&seldom, "healthy");
}

#[test]
fn long_keys_are_a_note_then_a_warning_then_an_error() {
    let of_length = |length: usize| {
        let mut random = Seeded::new(23);
        let key = |random: &mut Seeded| {
            let text: String =
                (0..length).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap())).collect();
            write(format!("{:016x}#{text}", random.any()))
        };
        (0..400).map(|_| key(&mut random)).collect::<Vec<Op>>()
    };
    check_note(&check(&of_length(150), "healthy"), Rule::LongKey);
    check(&of_length(1_100), "warning long-key");
    check(&of_length(4_090), "error long-key");
    assert!(check(&of_length(60), "healthy").findings.is_empty());
}

#[test]
fn a_queue_is_read_through_what_was_deleted() {
    let mut ops = Vec::new();
    let key = |index: i64| format!("jobs#{:015}", START_MS + index * 3);
    for index in 0..3_000 {
        ops.push(at(START_MS + index * 20, write(key(index))));
        if index > 50 {
            ops.push(at(START_MS + index * 20 + 3, delete(key(index - 50))));
        }
        if index % 20 == 0 {
            ops.push(at(START_MS + index * 20 + 5, scan("jobs#", "jobs$", 10)));
        }
    }
    check(&ops, "warning delete-behind-front");
    // Old rows are dropped, but nobody reads there.
    for op in ops.iter_mut().filter(|op| op.kind == OpKind::Scan) {
        let time = op.time_ms.unwrap();
        op.key = key((time - START_MS) / 20 - 40).into_bytes();
    }
    check(&ops, "healthy");
}

#[test]
fn point_reads_make_order_a_note() {
    let keys = stream(6_000, |_, _, random| format!("user:{}", random.below(2_000_000)));
    check(&keys, "warning unpadded-number");
    let declared = Declared { point_reads: true, ..Declared::default() };
    let context = Context { declared, ..Context::default() };
    check_note(&check_with(&context, &keys, "healthy"), Rule::UnpaddedNumber);
}

#[test]
fn negative_numbers_as_text_are_reported_unless_a_handful() {
    let keys = |of_hundred: usize| {
        stream(6_000, |_, number, random| {
            let sign = if random.below(100) < of_hundred { "-" } else { "0" };
            format!("{sign}{:03}.{:02}#{number:016x}", random.below(90), random.below(100))
        })
    };
    check(&keys(30), "warning negative-text-number");
    check(&keys(0), "healthy");
}

#[test]
fn the_delimiter_inside_a_name_is_reported() {
    let names = [
        "CHICAGO OHARE",
        "DALLAS/FT WORTH",
        "DENVER",
        "BOSTON LOGAN",
        "MIAMI",
        "SEATTLE/TACOMA",
        "OMAHA",
        "SARASOTA/BRADENTON",
        "RENO",
        "HARTFORD/SPRINGFIELD",
        "TAMPA",
        "FARGO",
    ];
    let keys = stream(6_000, |_, number, random| {
        format!("{}/{:05}/{number:016x}", random.one_of(&names), random.below(90_000))
    });
    check(&keys, "warning delimiter-in-data");
}

#[test]
fn times_of_two_units_are_reported() {
    let keys = stream(6_000, |time, number, _| {
        let time = if number % 3 == 0 { time / 1_000 } else { time };
        format!("dev-{:05}#{time}", number >> 30 & 0xfff)
    });
    check(&keys, "warning mixed-time-units");
}

#[test]
fn reversed_times_through_a_double_are_lossy() {
    let keys = |lossy: bool| {
        stream(6_000, move |time, number, _| {
            let exact = i64::MAX - time;
            let reversed = if lossy { (exact + 512) / 1_024 * 1_024 } else { exact };
            format!("u/{:08x}/{reversed}", number >> 32)
        })
    };
    check(&keys(true), "warning lossy-reverse-time");
    check(&keys(false), "healthy");
}

#[test]
fn hex_in_both_cases_is_reported() {
    let keys = stream(6_000, |_, number, random| {
        let digest = format!("{number:016x}{:016x}", random.any());
        format!("blob:{}", if random.below(2) == 0 { digest.to_uppercase() } else { digest })
    });
    check(&keys, "warning hex-case-mix");
}

#[test]
fn hosts_in_reading_order_are_scattered() {
    let keys = |reversed: bool| {
        stream(5_000, move |_, number, random| {
            let labels = [
                *random.one_of(&["www", "shop", "mail", "blog"]),
                *random.one_of(&["canyon", "summit", "harbor", "meadow", "river", "island"]),
                *random.one_of(&["com", "org", "de", "co.uk"]),
            ];
            let host = if reversed {
                format!("{}.{}.{}", labels[2], labels[1], labels[0])
            } else {
                labels.join(".")
            };
            format!("{host}/{:06x}", number >> 40)
        })
    };
    check(&keys(false), "warning domain-not-reversed");
    check(&keys(true), "healthy");
}

#[test]
fn two_layouts_in_one_place_are_mixed_formats() {
    let keys = stream(6_000, |_, number, random| {
        if number % 4 == 0 {
            format!("{:012}", random.below(900_000_000))
        } else {
            format!("{}:{:04}:{:06x}", random.one_of(&["eu", "us", "ap"]), random.below(9_000), number >> 40)
        }
    });
    check(&keys, "warning mixed-formats");
}

#[test]
fn nothing_one_key_and_few_keys_raise_no_alarm() {
    check(&[], "healthy");
    check(&[write("a")], "healthy");
    check(&[write("")], "healthy");
    let few: Vec<Op> = time_first().into_iter().take(30).collect();
    let diagnosis = check(&few, "healthy");
    let time = diagnosis.passed.iter().find(|passed| passed.rule == Rule::TimeFirst).unwrap();
    assert!(!time.checked && time.why.contains("too few"), "{time:?}");
}

#[test]
fn one_key_over_and_over_is_a_rewritten_row() {
    let keys: Vec<Op> = (0..3_000).map(|_| write("cnt")).collect();
    check(&keys, "error rewritten-row");
}

#[test]
fn binary_and_very_long_keys_are_judged_without_a_panic() {
    let mut random = Seeded::new(29);
    let binary: Vec<Op> = (0..3_000)
        .map(|_| write([random.any().to_be_bytes(), random.any().to_be_bytes()].concat()))
        .collect();
    check_note(&check(&binary, "healthy"), Rule::OpaqueKey);
    let long: Vec<Op> =
        (0..300).map(|_| write(vec![u8::try_from(random.below(256)).unwrap(); 5_000])).collect();
    assert_eq!(examine(&long, &Context::default()).worst(), Some(Severity::Error));
    let ends: Vec<Op> = (0..500).map(|_| write(vec![0xff; 1 + random.below(9)])).collect();
    examine(&ends, &Context::default());
}

#[test]
fn a_thousand_nodes_and_a_small_sample_raise_no_false_alarm() {
    let large = Context { nodes: 1_000, ..Context::default() };
    check_with(&large, &stream(1_500, |_, number, _| format!("{number:016x}")), "healthy");
    let skew = stream(3_000, |time, _, random| format!("dev-{:05}#{time}", skewed(random, 50_000)));
    examine(&skew, &large);
}

#[test]
fn a_time_in_front_is_one_front_though_the_sample_is_as_short_as_the_delays() {
    // 0.3 s of 30,000 writes a second: a window of 1,000 is 33 ms long, and delays are up to 50 ms.
    let mut random = Seeded::new(21);
    let delayed: Vec<Op> = (0..9_000)
        .map(|index| {
            write(format!(
                "{}/{:06x}",
                1_736_935_200_000 + index / 30 - random.below(50),
                random.below(1 << 24)
            ))
        })
        .collect();
    check(&delayed, "error time-first");
    // The same times in no order are a history that is loaded: every place takes some.
    let history: Vec<Op> = (0..9_000)
        .map(|_| {
            write(format!("{}/{:06x}", 1_736_935_200_000 + random.below(300_000), random.below(1 << 24)))
        })
        .collect();
    check(&history, "healthy");
}

#[test]
fn a_full_bucket_costs_nothing_where_its_rows_spread() {
    // One of forty takes three writes of five. Under random ids these are many places, under times they are one.
    let mut random = Seeded::new(22);
    let mut bucket = move || if random.below(5) < 3 { 0 } else { random.below(40) };
    let mut other = Seeded::new(23);
    let spread: Vec<Op> =
        (0..8_000).map(|_| write(format!("{:02}#{:016x}", bucket(), other.any()))).collect();
    check(&spread, "healthy");
    let moving: Vec<Op> = (0..8_000_u64)
        .map(|index| write(format!("{:02}#{}", bucket(), 1_736_935_200_000 + index * 7)))
        .collect();
    let diagnosis = check_first(&moving);
    assert!(matches!(diagnosis, Some(Rule::UnevenBuckets | Rule::MonotoneSuffix)), "{diagnosis:?}");
}

/// The rule that comes first.
fn check_first(ops: &[Op]) -> Option<Rule> {
    examine(ops, &Context::default()).findings.first().map(|finding| finding.rule)
}

#[test]
fn a_turn_in_the_middle_of_a_window_is_seen() {
    // Turns at 2,500, 5,500 and 8,500: each leaves half a window behind it.
    let mut random = Seeded::new(24);
    let keys: Vec<Op> = (0..9_500_u64)
        .map(|index| write(format!("{}/{:016x}", 2_900 + (index + 500) / 3_000, random.any())))
        .collect();
    check(&keys, "warning period-rollover");
}

#[test]
fn old_rows_that_are_deleted_cost_readers_of_the_new_end_little() {
    // Rows of 50 pumps; the oldest go while readers take the newest twenty of a pump, and two deleted ones are still in reach.
    let mut random = Seeded::new(25);
    let (mut old, mut next, mut ops) = (Vec::new(), 0, Vec::new());
    for time in 0..6_000_u64 {
        let now = 1_736_935_200_000 + time * 2;
        let ms = i64::try_from(now).unwrap();
        let pump = random.below(50);
        if time < 1_500 || time % 4 < 2 {
            old.push(format!("pump{pump:02}/{now}"));
            ops.push(at(ms, write(old[old.len() - 1].clone())));
        } else if time % 4 == 2 && next < 300 {
            ops.push(at(ms, delete(old[next].clone())));
            next += 1;
        } else {
            ops.push(at(
                ms,
                scan(format!("pump{pump:02}/{}", now - 30_000), format!("pump{pump:02}/{now}"), 20),
            ));
        }
    }
    check(&ops, "healthy");
}

/// 30,000 writes a second into 256 buckets, and range reads over all of them for a row or two.
fn many_buckets(reads: usize) -> Vec<Op> {
    let mut random = Seeded::new(26);
    let mut ops = Vec::new();
    for index in 0..6_000 {
        let ms = 1_736_935_200_000 + i64::try_from(index / 30).unwrap();
        let bucket = random.below(256);
        ops.push(at(
            ms,
            write(format!("{bucket:02x}.web{:04}.{:08}", random.below(3_000), random.below(1 << 24))),
        ));
        if index % (6_000 / reads) == 0 {
            ops.extend(
                (0..256)
                    .map(|bucket| at(ms, scan(format!("{bucket:02x}.web"), format!("{bucket:02x}.wec"), 1))),
            );
        }
    }
    ops
}

#[test]
fn where_fewer_buckets_would_pay_their_number_is_wrong_and_not_the_bucket() {
    // 100 reads a second cost more than a node in 256 buckets, and next to nothing in the four that the writes need.
    assert_eq!(check_first(&many_buckets(20)), Some(Rule::TooManyBuckets));
    // 15,000 reads a second cost more than the writes gain by any number of buckets.
    assert_eq!(check_first(&many_buckets(3_000)), Some(Rule::SaltedRangeReads));
}

#[test]
fn a_delimiter_inside_a_field_of_one_width_splits_nothing() {
    // UUIDs exported with a carriage return: the last group is cut off as a field of its own.
    let mut random = Seeded::new(27);
    let mut group = move |digits: usize| format!("{:016x}", random.any())[..digits].to_owned();
    let keys: Vec<Op> = (0..4_000)
        .map(|_| {
            let (first, middle, last) = (group(8), group(4), group(12));
            write(format!("{first}-{middle}-4{}-a{}-{last}\r", group(3), group(3)))
        })
        .collect();
    check(&keys, "healthy");
}

#[test]
fn a_number_that_many_keys_share_is_a_period_too() {
    let mut random = Seeded::new(31);
    let keys: Vec<Op> =
        (0..12_000).map(|index| write(format!("{}/{:016x}", 2_900 + index / 3_000, random.any()))).collect();
    check(&keys, "warning period-rollover");
}

#[test]
fn a_signed_remainder_leaves_rows_outside_the_set() {
    let keys = stream(9_000, |time, number, _| {
        let remainder = i64::from_be_bytes(number.to_be_bytes()) % 8;
        format!("{remainder}#{time}#{:05}", number % 90_007)
    });
    let diagnosis = examine(&keys, &Context::default());
    assert!(
        diagnosis.findings.iter().any(|finding| finding.rule == Rule::UnevenBuckets),
        "{:#?}",
        diagnosis.findings
    );
    // Degrees are no buckets, though they have numbers from 0 without a gap as well.
    let degrees = stream(9_000, |_, number, random| {
        format!("{}:{:016x}", i64::try_from(random.below(181)).unwrap() - 90, number)
    });
    let diagnosis = examine(&degrees, &Context::default());
    assert!(
        !diagnosis.findings.iter().any(|finding| finding.rule == Rule::UnevenBuckets),
        "{:#?}",
        diagnosis.findings
    );
}

#[test]
fn the_order_of_a_number_behind_a_unique_time_hardly_matters() {
    let keys: Vec<Op> = (0..6_000_i64)
        .map(|index| write(format!("{:06}#{}", index * 7_919 % 1_000_003, index % 2_000)))
        .collect();
    check_note(&check(&keys, "healthy"), Rule::UnpaddedNumber);
}
