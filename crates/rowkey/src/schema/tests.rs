//! Whole schema files in, schemas or messages out.

use super::parse::{attributes, field};
use super::testing::schema;
use crate::{Codec, KeySchema};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_canonical_text_parses_back_to_an_equal_schema(schema in schema()) {
        let text = schema.to_toml();
        let parsed = KeySchema::parse(&text);
        prop_assert_eq!(parsed.as_ref(), Ok(&schema), "{}", text);
        prop_assert_eq!(parsed.unwrap().to_toml(), text);
    }

    #[test]
    fn random_text_is_an_error_and_never_a_panic(text in "\\PC{0,200}") {
        prop_assert!(KeySchema::parse(&text).is_err());
    }

    #[test]
    fn a_damaged_schema_file_never_panics(schema in schema(), edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0_usize..4, "\\PC{0,3}"), 1..4)) {
        let mut text: Vec<char> = schema.to_toml().chars().collect();
        for (at, removed, inserted) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(schema) = KeySchema::parse(&text) {
            prop_assert_eq!(KeySchema::parse(&schema.to_toml()), Ok(schema));
        }
    }
}

/// The keys that `schema.json` allows in this object.
fn json_keys(object: &serde_json::Value) -> Vec<String> {
    assert_eq!(object["additionalProperties"], false, "{object}");
    let mut keys: Vec<String> = object["properties"].as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys
}

fn sorted(known: &[&str]) -> Vec<String> {
    let mut keys: Vec<String> = known.iter().map(|key| (*key).to_owned()).collect();
    keys.sort();
    keys
}

#[test]
fn the_json_schema_knows_every_key_of_the_parser_and_no_other() {
    let json: serde_json::Value = serde_json::from_str(super::json_schema()).unwrap();
    let definitions = &json["$defs"];
    assert_eq!(json_keys(&json), sorted(attributes::ROOT));
    assert_eq!(json_keys(&json["properties"]["key"]), sorted(attributes::KEY));
    assert_eq!(json_keys(&definitions["salt"]), sorted(attributes::SALT));
    assert_eq!(json_keys(&definitions["family"]), sorted(attributes::FAMILY));
    assert_eq!(json_keys(&definitions["query"]), sorted(attributes::QUERY));
    let types = definitions["field"]["oneOf"].as_array().unwrap();
    assert_eq!(types.len(), attributes::TYPES.len());
    for (json, (name, known)) in types.iter().zip(attributes::TYPES) {
        assert_eq!(json["properties"]["type"]["const"], *name);
        assert_eq!(json_keys(json), sorted(&[*known, &["type"]].concat()), "{name}");
    }
}

#[test]
fn the_json_schema_knows_every_word_of_the_parser_and_no_other() {
    let json: serde_json::Value = serde_json::from_str(super::json_schema()).unwrap();
    let definitions = &json["$defs"];
    let words = |list: &serde_json::Value| -> Vec<String> {
        list["enum"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&definitions["salt"]["properties"]["hash"]), super::parse::salt::hash_names());
    assert_eq!(words(&definitions["unit"]), field::UNITS.map(|(name, _)| name));
    let time = definitions["field"]["oneOf"].as_array().unwrap();
    let time = time.iter().find(|json| json["properties"]["type"]["const"] == "timestamp").unwrap();
    assert_eq!(words(&time["properties"]["format"]), field::FORMATS.map(|(name, _)| name));
}

/// `docs/schema.md` has a row for every key, and a section for every topic of a warning.
#[test]
fn the_reference_names_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    let reference = std::fs::read_to_string(path).unwrap();
    let tables = [attributes::ROOT, attributes::KEY, attributes::SALT, attributes::FAMILY, attributes::QUERY];
    let fields = attributes::all_field_attributes();
    let types: Vec<&str> = attributes::TYPES.iter().map(|(name, _)| *name).collect();
    for key in tables.concat().iter().chain(&fields).chain(&types) {
        assert!(reference.contains(&format!("`{key}`")), "docs/schema.md does not name `{key}`");
    }
    for topic in super::warnings::TOPICS {
        assert!(reference.contains(&format!("`{topic}`")), "docs/schema.md does not name `{topic}`");
    }
}

fn topics(text: &str) -> Vec<&'static str> {
    let schema = KeySchema::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let topics: Vec<&str> = schema.warnings().iter().map(|warning| warning.topic).collect();
    for topic in &topics {
        assert!(super::warnings::TOPICS.contains(topic), "{topic}");
    }
    topics
}

fn check_warnings(layout: &str, salt: &str, fields: &str, expected: &[&str]) {
    let salt = if salt.is_empty() { String::new() } else { format!("[key.salt]\n{salt}\n") };
    let text =
        format!("version = 1\ntable = \"t\"\n[key]\nlayout = '{layout}'\n{salt}[key.fields]\n{fields}\n");
    assert_eq!(topics(&text), expected, "{text}");
}

#[test]
fn designs_with_a_price_are_warned_of() {
    let id = "id = { type = \"uint\", digits = 5 }";
    let both =
        "id = { type = \"uint\", digits = 5 }\nt = { type = \"timestamp\", unit = \"ms\", digits = 13 }";
    let salted = |salt: &str, expected: &[&str]| check_warnings("{salt}{id}", salt, id, expected);
    check_warnings("{id}{t}", "", both, &[]);
    check_warnings("{t}{id}", "", both, &["time-first"]);
    check_warnings("{salt}{t}{id}", "of = [\"id\"]\nbuckets = 16", both, &[]);
    check_warnings("{salt}{id}{t}", "of = [\"id\", \"t\"]\nbuckets = 16", both, &["salt-of-time"]);
    salted("buckets = 16\nhash = \"random\"", &["random-salt"]);
    salted("of = [\"id\"]\nprefix_bytes = 2", &["hash-prefix"]);
    salted("of = [\"id\"]\nbuckets = 1", &["one-bucket"]);
    salted("of = [\"id\"]\nbuckets = 16\nhash = \"phoenix\"", &["weak-hash"]);
    salted("of = [\"id\"]\nbuckets = 10\nhash = \"fnv1\"", &["weak-hash"]);
    salted("of = [\"id\"]\nbuckets = 11\nhash = \"fnv1\"", &[]);
    salted("of = [\"id\"]\nbuckets = 3\nhash = \"hbasewd\"", &["weak-hash", "peer-defect"]);
    salted("of = [\"id\"]\nbuckets = 50\nhash = \"md5-hex\"\nhex_digits = 2", &["weak-hash"]);
    salted("of = [\"id\"]\nbuckets = 50\nhash = \"md5-hex\"\nhex_digits = 4", &[]);
    check_warnings(
        "{salt}#{id}",
        "of = [\"id\"]\nbuckets = 10\nhash = \"phoenix\"",
        id,
        &["weak-hash", "peer-bytes"],
    );
    check_warnings(
        "{salt}{id}{t}",
        "of = [\"id\"]\nbuckets = 10\nhash = \"phoenix\"",
        both,
        &["weak-hash", "peer-bytes"],
    );
    check_warnings("{host}", "", "host = { type = \"domain\", separator = \".\" }", &["domain-separator"]);
    check_warnings(
        "{name}_{id}",
        "",
        &format!("name = {{ type = \"string\" }}\n{id}"),
        &["narrow-delimiter"],
    );
    check_warnings("{name}#{id}", "", &format!("name = {{ type = \"string\" }}\n{id}"), &[]);
    check_warnings("{h}", "", "h = { type = \"hex\", digits = 128 }", &["long-key"]);
    check_warnings("{h}", "", "h = { type = \"fixed\", bytes = 4096 }", &["long-key"]);
    check_warnings("{_key}", "", "_key = { type = \"u8\" }", &["name-clash"]);
    check_warnings(
        "{id}",
        "",
        &format!("{id}\n[families]\nid = {{}}\na = {{}}\nb = {{}}\nc = {{}}\nd = {{}}\ne = {{}}"),
        &["name-clash", "many-families"],
    );
}

/// Vectors of `docs/formats/fingerprint.md`. Append only: a table keeps its fingerprint for ever.
#[test]
fn fingerprints_never_change() {
    let good = |name: &str| {
        let path = format!("{}/tests/schemas/good/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        KeySchema::parse(&std::fs::read_to_string(path).unwrap()).unwrap().fingerprint().to_string()
    };
    assert_eq!(good("binary"), "ef5fc8f8e0ccb7d1");
    assert_eq!(good("pages"), "9b0d721f0970d22f");
    assert_eq!(good("phoenix"), "583a58db486735e4");
    assert_eq!(good("salts"), "f19acafe61b6bf5f");
    assert_eq!(good("telemetry"), "fe7a11eec8f7a7b6");
    assert_eq!(good("text"), "373fe61197b03d9f");
    assert_eq!(good("times"), "dac38f011c014bc3");
}

#[test]
fn a_fingerprint_is_read_back_and_nothing_else_is() {
    let fingerprint = super::Fingerprint(0x0123);
    assert_eq!(fingerprint.to_string(), "0000000000000123");
    assert_eq!("0000000000000123".parse(), Ok(fingerprint));
    for bad in ["", "123", "000000000000012G", "000000000000012A", "+000000000000123", "00000000000000123"] {
        assert!(bad.parse::<super::Fingerprint>().is_err(), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn two_schemas_have_one_fingerprint_only_if_their_designs_are_equal(left in schema(), right in schema()) {
        let design = |schema: &KeySchema| {
            let mut design = KeySchema { table: String::new(), families: Vec::new(), queries: Vec::new(), ..schema.clone() };
            design.fields.iter_mut().for_each(|field| field.values.sort());
            design
        };
        prop_assert_eq!(left.fingerprint() == right.fingerprint(), design(&left) == design(&right));
        prop_assert_eq!(design(&left).fingerprint(), left.fingerprint());
    }

    #[test]
    fn a_difference_is_judged_without_a_panic(left in schema(), right in schema()) {
        let there = super::diff(&left, &right);
        prop_assert!(!there.to_string().is_empty());
        for share in [there.moved_share, there.rewritten_share].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&share), "{}", share);
        }
        let same = super::diff(&left, &left);
        prop_assert!(same.changes.is_empty());
        prop_assert_eq!(same.rewritten_share, Some(0.0));
    }

    #[test]
    fn the_width_of_a_key_is_that_of_its_parts(schema in schema()) {
        let width = schema.key_width();
        prop_assert!(width.max.is_none_or(|max| width.min <= max));
        if let Some(exact) = width.exact() {
            let sum: usize = schema.parts.iter().map(|part| schema.part_width(part).exact().unwrap()).sum();
            prop_assert_eq!(exact, sum);
        }
    }
}

fn described(text: &str) -> String {
    let schema = KeySchema::parse(text).unwrap();
    let codec = crate::Codec::new(schema.clone()).unwrap();
    schema.describe(&codec).to_string()
}

#[test]
fn the_description_shows_the_key_byte_by_byte() {
    let text = described(include_str!("../../tests/schemas/good/telemetry.toml"));
    assert_eq!(text, include_str!("../../tests/schemas/shown/telemetry.txt").trim_end());
}

#[test]
fn the_description_names_what_is_hidden_in_binary() {
    let text = described(include_str!("../../tests/schemas/good/binary.toml"));
    assert_eq!(text, include_str!("../../tests/schemas/shown/binary.txt").trim_end());
}

/// The first example of `docs/schema.md` shows a key behind its layout; it is one of that schema.
#[test]
fn the_description_of_a_wide_field_stays_a_table() {
    let text = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{blob}{n}\"\n[key.fields]\nblob = { type = \"fixed\", bytes = 4096 }\n\
                n = { type = \"u8\" }\n[families]\nf = {}\n";
    let schema = KeySchema::parse(text).unwrap();
    let description = schema.describe(&Codec::new(schema.clone()).unwrap());
    // The example key itself is whole: it can be decoded.
    let shown = description.to_string();
    let table = shown.split("\n\n").nth(1).unwrap();
    assert!(table.lines().all(|line| line.len() < 220), "{table}");
    assert!(table.contains("..."), "{table}");
}

/// What is said of a declared query, and what the plan of such a query leaves to check.
fn check_declared(salt: &str, declared: &str, asked: &str, expected: &str) {
    let layout = if salt.is_empty() { "" } else { "{salt}#" };
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{layout}{{tenant}}#{{kind}}#{{vehicle}}#{{time}}\"\n{salt}\n[key.fields]\n\
         tenant = {{ type = \"string\" }}\nkind = {{ type = \"string\", values = [\"truck\", \"van\"] }}\n\
         vehicle = {{ type = \"uint\", digits = 5 }}\ntime = {{ type = \"timestamp\", unit = \"s\", digits = 10 }}\n\
         [families]\nf = {{}}\n[[queries]]\nname = \"q\"\nwhere = \"{declared}\"\n"
    );
    let codec = Codec::new(KeySchema::parse(&text).unwrap()).unwrap();
    let description = codec.schema().describe(&codec);
    let shown = description.to_string();
    assert!(shown.contains(&format!("  q: {declared}\n    {expected}")), "{shown}");
    let query = crate::Query::parse(&codec, asked).unwrap().full_scan();
    let plan = crate::plan(&codec, &query).unwrap();
    let checked: Vec<&str> = plan.residual.checks.iter().map(|check| check.field.as_str()).collect();
    assert_eq!(description.queries[0].checked, checked, "{declared}\n{plan}");
    if let Some(buckets) = description.queries[0].buckets {
        assert!(plan.cost.buckets <= buckets as usize, "{declared}\n{plan}");
    }
}

#[test]
fn what_is_said_of_a_declared_query_is_what_its_plan_does() {
    let salt = "[key.salt]\nof = [\"vehicle\"]\nbuckets = 16";
    let wide = "[key.salt]\nof = [\"time\"]\nbuckets = 4096";
    let hashed = "[key.salt]\nof = [\"vehicle\"]\nprefix_bytes = 2";
    // `kind` has two values and is left open: it was said that vehicle and time are checked row by row.
    check_declared(
        salt,
        "tenant, vehicle, time range",
        "tenant = a and vehicle = 5 and time > 7",
        "reads one bucket, cut by tenant, vehicle, time; each value of kind tried",
    );
    check_declared(
        salt,
        "tenant, kind range, vehicle",
        "tenant = a and kind > a and vehicle = 5",
        "reads one bucket, cut by tenant, kind, vehicle",
    );
    check_declared(
        salt,
        "tenant prefix, vehicle",
        "tenant prefix a and vehicle = 5",
        "reads one bucket, cut by tenant; vehicle checked row by row",
    );
    check_declared(
        wide,
        "tenant, vehicle",
        "tenant = a and vehicle = 5",
        "reads 4096 buckets, cut by tenant; vehicle checked row by row",
    );
    check_declared(
        "",
        "tenant, vehicle range",
        "tenant = a and vehicle > 5",
        "reads the table, cut by tenant, vehicle; each value of kind tried",
    );
    check_declared(
        salt,
        "time range",
        "time > 7",
        "reads 16 buckets, from beginning to end; time checked row by row",
    );
    check_declared(
        hashed,
        "tenant",
        "tenant = a",
        "reads the whole table, since the hash is not known, from beginning to end; tenant checked row by row",
    );
}

#[test]
fn the_key_in_the_reference_is_real() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    let reference = std::fs::read_to_string(path).unwrap();
    let example = reference.split("```").nth(1).unwrap().strip_prefix("toml").unwrap();
    let layout = example.lines().find(|line| line.starts_with("layout")).unwrap();
    let (_, key) = layout.rsplit_once(" # ").unwrap();
    let codec = crate::Codec::new(KeySchema::parse(example).unwrap()).unwrap();
    codec.decode(key.as_bytes(), &mut Vec::new()).unwrap();
    let shown = reference.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(
        described(example),
        shown.trim_end(),
        "the second block is what `schema show` prints of the first"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_schema_has_an_example_key_that_decodes(schema in schema()) {
        let codec = crate::Codec::new(schema.clone()).unwrap();
        let description = schema.describe(&codec);
        let key = description.example.clone().unwrap();
        codec.decode(key.as_bytes(), &mut Vec::new()).unwrap();
        let width = schema.key_width();
        prop_assert!(width.min <= key.as_bytes().len());
        prop_assert!(width.max.is_none_or(|max| key.as_bytes().len() <= max));
        let whole: String = description.parts.iter().map(|part| part.example.as_str()).collect();
        prop_assert_eq!(whole, key.to_string());
        for part in &description.parts {
            if let Some(exact) = part.width.exact() {
                prop_assert_eq!(crate::escape::unescape(&part.example).unwrap().len(), exact);
            }
        }
    }
}
