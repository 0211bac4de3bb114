//! What each kind of change asks for.

use super::{Diff, Verdict, diff};
use crate::schema::testing::schema;
use crate::schema::{Hash, Order, Part, SaltFormat, SaltSource};
use crate::{Codec, KeySchema, Value};
use proptest::prelude::*;

const BASE: &str = r#"
version = 1
table = "telemetry"
[key]
layout = "{salt}#{tenant}#{kind}#{vehicle}#{time}"
[key.salt]
of = ["vehicle"]
buckets = 16
[key.fields]
tenant = { type = "string" }
kind = { type = "string", values = ["truck", "van"] }
vehicle = { type = "uint", digits = 5 }
time = { type = "timestamp", unit = "ms", digits = 13, order = "desc" }
[families]
metrics = { gc = "maxversions=1" }
"#;

fn changed(edits: &[(&str, &str)]) -> Diff {
    between(&[], edits)
}

fn between(old_edits: &[(&str, &str)], new_edits: &[(&str, &str)]) -> Diff {
    let schema = |edits: &[(&str, &str)]| {
        let text = edits.iter().fold(BASE.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        KeySchema::parse(&text).unwrap()
    };
    diff(&schema(old_edits), &schema(new_edits))
}

fn check(edits: &[(&str, &str)], verdict: Verdict, same_fingerprint: bool) {
    let diff = changed(edits);
    assert_eq!(diff.verdict, verdict, "{edits:?}\n{diff}");
    assert_eq!(diff.old == diff.new, same_fingerprint, "{edits:?}\n{diff}");
}

#[test]
fn what_is_no_part_of_the_keys_is_safe_and_keeps_the_fingerprint() {
    assert_eq!(changed(&[]).to_string(), "the same: nothing differs");
    check(&[("\"telemetry\"", "\"other\"")], Verdict::Safe, true);
    check(&[("maxversions=1", "maxage=7d")], Verdict::Safe, true);
    check(&[("[families]", "[families]\nspecs = {}")], Verdict::Safe, true);
    check(
        &[("[families]", "[[queries]]\nname = \"q\"\nwhere = \"tenant\"\n[families]")],
        Verdict::Safe,
        true,
    );
    check(&[("[\"truck\", \"van\"]", "[\"van\", \"truck\"]")], Verdict::Safe, true);
}

#[test]
fn a_new_name_or_a_further_value_is_safe_though_the_fingerprint_differs() {
    check(&[("tenant", "customer")], Verdict::Safe, false);
    check(&[("\"van\"]", "\"van\", \"bus\"]")], Verdict::Safe, false);
    check(&[(", values = [\"truck\", \"van\"]", "")], Verdict::Safe, false);
}

#[test]
fn other_bytes_for_the_same_rows_are_a_migration() {
    check(&[("buckets = 16", "buckets = 32")], Verdict::Migrate, false);
    check(&[("buckets = 16", "buckets = 16\nhash = \"crc32\"")], Verdict::Migrate, false);
    check(&[("[\"vehicle\"]", "[\"tenant\", \"vehicle\"]")], Verdict::Migrate, false);
    check(&[(", order = \"desc\"", "")], Verdict::Migrate, false);
    check(&[("digits = 5", "digits = 6")], Verdict::Migrate, false);
    check(&[("digits = 5", "digits = 4")], Verdict::Migrate, false);
    check(&[("#{vehicle}#", "#{vehicle}")], Verdict::Migrate, false);
    check(&[("{vehicle}#{time}", "{time}#{vehicle}")], Verdict::Migrate, false);
    check(&[(", \"van\"]", "]")], Verdict::Migrate, false);
    check(&[("unit = \"ms\", digits = 13", "unit = \"us\", digits = 16")], Verdict::Migrate, false);
    check(
        &[("[families]\nmetrics = {", "[families]\nmetrics = { value_type = \"intsum\",")],
        Verdict::Migrate,
        true,
    );
}

#[test]
fn what_loses_rows_or_needs_a_decision_is_forbidden() {
    check(
        &[("#{kind}", ""), ("kind = { type = \"string\", values = [\"truck\", \"van\"] }", "")],
        Verdict::Forbidden,
        false,
    );
    check(
        &[("#{time}", "#{time}{part}"), ("[families]", "part = { type = \"u8\" }\n[families]")],
        Verdict::Forbidden,
        false,
    );
    check(&[("unit = \"ms\", digits = 13", "unit = \"s\", digits = 10")], Verdict::Forbidden, false);
    check(&[("tenant = { type = \"string\" }", "tenant = { type = \"domain\" }")], Verdict::Forbidden, false);
    check(
        &[("tenant = { type = \"string\" }", "tenant = { type = \"uint\", digits = 3 }")],
        Verdict::Forbidden,
        false,
    );
}

#[test]
fn swapped_names_are_not_taken_for_a_renaming() {
    let diff = changed(&[
        (
            "tenant = { type = \"string\" }\nkind = { type = \"string\", values = [\"truck\", \"van\"] }",
            "kind = { type = \"string\" }\ntenant = { type = \"string\", values = [\"truck\", \"van\"] }",
        ),
        ("{tenant}#{kind}", "{kind}#{tenant}"),
    ]);
    assert_eq!(diff.verdict, Verdict::Migrate, "{diff}");
    assert!(diff.not_in_one_table.is_some());
}

/// Peers' users ask this of every salted table; the shares are those of `1 - min(N, M) / lcm(N, M)`.
#[test]
fn a_changed_number_of_buckets_moves_the_computed_share() {
    for (from, to, moved) in
        [(16, 32, 0.5), (20, 40, 0.5), (10, 16, 0.875), (10, 11, 1.0 - 1.0 / 11.0), (32, 16, 0.5)]
    {
        let buckets = |count: i32| format!("buckets = {count}\nwidth = 2");
        let diff = between(&[("buckets = 16", &buckets(from))], &[("buckets = 16", &buckets(to))]);
        assert!((diff.moved_share.unwrap() - moved).abs() < 1e-12, "{from} -> {to}: {diff}");
        assert_eq!(diff.rewritten_share, diff.moved_share);
        assert_eq!(diff.not_in_one_table, None);
    }
    // One more digit: half of the rows change their bucket, all of them their key.
    let diff = between(&[("buckets = 16", "buckets = 10")], &[("buckets = 16", "buckets = 20")]);
    assert_eq!((diff.moved_share, diff.rewritten_share), (Some(0.5), Some(1.0)));
    assert_eq!(diff.salt_bytes_per_million_rows, 1_000_000);
    assert_eq!(diff.not_in_one_table, None, "the literal tells one salt from the other");
}

#[test]
fn another_hash_or_another_encoding_of_its_field_moves_nearly_all() {
    let diff = changed(&[("buckets = 16", "buckets = 16\nhash = \"crc32\"")]);
    assert_eq!(diff.moved_share, Some(1.0 - 1.0 / 16.0));
    let diff = changed(&[("digits = 5", "digits = 6")]);
    assert_eq!((diff.moved_share, diff.rewritten_share), (Some(1.0 - 1.0 / 16.0), Some(1.0)));
    assert!(diff.not_in_one_table.is_some());
}

#[test]
fn more_random_buckets_move_nothing() {
    let random = |buckets: i32| format!("hash = \"random\"\nwidth = 2\nbuckets = {buckets}");
    let edits = |buckets: i32| {
        let salt = random(buckets);
        move || [("of = [\"vehicle\"]\nbuckets = 16".to_owned(), salt.clone())]
    };
    let run = |from: i32, to: i32| {
        let ([old], [new]) = (edits(from)(), edits(to)());
        between(&[(&old.0, &old.1)], &[(&new.0, &new.1)])
    };
    assert_eq!(run(16, 32).verdict, Verdict::Safe);
    assert_eq!(run(32, 16).moved_share, Some(0.5));
    assert_eq!(run(32, 16).verdict, Verdict::Migrate);
}

#[test]
fn a_salt_that_comes_or_goes_rewrites_everything() {
    let salt = "[key.salt]\nof = [\"vehicle\"]\nbuckets = 16\n";
    let diff = changed(&[("{salt}#", ""), (salt, "")]);
    assert_eq!((diff.verdict, diff.moved_share, diff.rewritten_share), (Verdict::Migrate, None, Some(1.0)));
    assert_eq!(diff.salt_bytes_per_million_rows, -2_000_000);
    assert!(diff.to_string().contains("\n2,000,000 bytes less of salt for a million rows\n"), "{diff}");
    assert!(diff.not_in_one_table.is_some());
}

#[test]
fn the_text_says_what_why_and_how_much() {
    let diff = changed(&[("buckets = 16", "buckets = 32"), ("tenant", "customer")]);
    let (old, new) = (diff.old, diff.new);
    let expected = format!(
        "migrate
  migrate    salt: xxh3(vehicle) mod 16, 2 digits -> xxh3(vehicle) mod 32, 2 digits
             the bucket is a remainder, so rows move between old and new buckets; a multiple of the old number moves fewest
  safe       field `tenant` -> `customer`
             its bytes stay; only programs and queries that name it have to follow
fingerprint {old} -> {new}
50 % of the rows change their bucket
50 % of the rows are written under a new key
rows of both designs can stand in one table: every key tells which it is of"
    );
    assert_eq!(diff.to_string(), expected);
}

/// The share that the formula promises is the share that the codec makes.
#[test]
fn the_computed_shares_are_those_of_real_keys() {
    const SALT: &str = "of = [\"vehicle\"]\nbuckets = 16";
    let salts = [
        (SALT.to_owned(), "of = [\"vehicle\"]\nbuckets = 32".to_owned()),
        (SALT.to_owned(), "of = [\"vehicle\"]\nbuckets = 24".to_owned()),
        (SALT.to_owned(), format!("{SALT}\nhash = \"crc32\"")),
        (
            format!("{SALT}\nhash = \"modulo\""),
            "of = [\"vehicle\"]\nbuckets = 20\nhash = \"modulo\"".to_owned(),
        ),
        (
            format!("{SALT}\nhash = \"phoenix\""),
            "of = [\"vehicle\"]\nbuckets = 48\nhash = \"phoenix\"".to_owned(),
        ),
        (SALT.to_owned(), "of = [\"vehicle\"]\nbuckets = 100\nwidth = 3".to_owned()),
    ];
    for (old, new) in salts {
        let parse = |salt: &str| KeySchema::parse(&BASE.replace(SALT, salt)).unwrap();
        let (old, new) = (parse(&old), parse(&new));
        let diff = diff(&old, &new);
        let (old, new) = (Codec::new(old).unwrap(), Codec::new(new).unwrap());
        let count = 48_000_u32;
        let (mut moved, mut rewritten) = (0_u32, 0_u32);
        for vehicle in 0..count {
            let values = [
                Value::from("acme"),
                Value::from("van"),
                Value::Uint(u64::from(vehicle)),
                Value::Time(crate::Time::from_seconds(1_789_430_400)),
            ];
            moved += u32::from(old.bucket(&values).unwrap() != new.bucket(&values).unwrap());
            rewritten += u32::from(old.encode_key(&values).unwrap() != new.encode_key(&values).unwrap());
        }
        for (counted, computed) in [(moved, diff.moved_share), (rewritten, diff.rewritten_share)] {
            let share = f64::from(counted) / f64::from(count);
            assert!((share - computed.unwrap()).abs() < 0.02, "{share}\n{diff}");
        }
    }
}

/// A change to a design, as people make them.
fn change(schema: &KeySchema, which: u8, amount: u32) -> KeySchema {
    let mut changed = schema.clone();
    match (which, &mut changed.salt) {
        (0, Some(salt)) if salt.buckets > 0 => salt.buckets = salt.buckets.div_ceil(amount),
        (1, Some(salt)) if salt.buckets > 0 && !matches!(salt.source, SaltSource::Hash(Hash::HbaseWd)) => {
            salt.format = SaltFormat::Digits { width: 6 };
        }
        (2, Some(salt)) if salt.buckets > 0 => {
            salt.source = SaltSource::Random;
            salt.of.clear();
        }
        (3, Some(_)) => {
            changed.salt = None;
            changed.parts.remove(0);
            if let [Part::Literal(first), Part::Literal(second), ..] = changed.parts.as_mut_slice() {
                first.append(second);
                changed.parts.remove(1);
            }
        }
        (4, _) => changed.fields[0].name = "renamed".to_owned(),
        (5, _) if changed.fields[0].kind.can_descend() => {
            changed.fields[0].order =
                if changed.fields[0].order == Order::Asc { Order::Desc } else { Order::Asc };
        }
        (6, _) => changed.fields.iter_mut().for_each(|field| field.values.clear()),
        _ => {}
    }
    changed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What the verdicts promise holds for real keys: under a safe change a key keeps its meaning, and where rows of both designs may
    /// stand in one table no key of one is read by the other with another meaning.
    #[test]
    fn keys_keep_what_the_verdict_promises(old in schema(), which in 0_u8..7, amount in 1_u32..5) {
        let new = change(&old, which, amount);
        let there = diff(&old, &new);
        let (Ok(old_codec), Ok(new_codec)) = (Codec::new(old.clone()), Codec::new(new.clone())) else { return Ok(()) };
        for (from, to, forward) in [(&old_codec, &new_codec, true), (&new_codec, &old_codec, false)] {
            let key = from.schema().describe(from).example.unwrap();
            let (mut meant, mut read) = (Vec::new(), Vec::new());
            from.decode(key.as_bytes(), &mut meant).unwrap();
            let readable = to.decode(key.as_bytes(), &mut read).is_ok();
            if there.verdict == Verdict::Safe && forward {
                prop_assert!(readable, "{}\n{}", key, there);
            }
            if there.not_in_one_table.is_none() && readable {
                prop_assert_eq!(&meant, &read, "{}\n{}", key, there);
            }
        }
    }
}
