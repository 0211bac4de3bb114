//! Split points of the tools that people know, and the mistakes of lists written by hand.

use super::space::Space;
use super::*;
use crate::KeySchema;

fn codec(layout: &str, salt: &str, fields: &str) -> Codec {
    let text = format!(
        "version = 1\ntable = \"t\"\n[key]\nlayout = '{layout}'\n{salt}\n[key.fields]\n{fields}\n[families]\nm = {{ gc = \"maxage=7d || maxversions=1\" }}\ns = {{}}\n"
    );
    Codec::new(KeySchema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

fn salted(buckets: u32) -> Codec {
    let salt = format!("[key.salt]\nof = [\"id\"]\nbuckets = {buckets}\n");
    codec("{salt}|{id}", &salt, "id = { type = \"uint\", digits = 7 }")
}

fn unsalted(field: &str) -> Codec {
    codec("k{id}#", "", &format!("id = {field}"))
}

fn texts(split: &SplitPoints) -> Vec<String> {
    split.points.iter().map(|point| crate::escape::escaped(point).to_string()).collect()
}

fn points(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| crate::escape::unescape(text).unwrap()).collect()
}

#[test]
fn one_region_for_each_bucket_needs_one_point_less() {
    for (buckets, first, last) in [(10, "1", "9"), (100, "01", "99"), (1000, "001", "999")] {
        let split = per_bucket(&salted(buckets)).unwrap();
        assert_eq!(split.points.len(), buckets as usize - 1);
        assert_eq!([texts(&split)[0].as_str(), texts(&split).last().unwrap()], [first, last]);
        assert_eq!(for_regions(&salted(buckets), buckets).unwrap().points, split.points);
    }
}

#[test]
fn fewer_regions_than_buckets_share_them_evenly() {
    assert_eq!(texts(&for_regions(&salted(16), 4).unwrap()), ["04", "08", "12"]);
    let split = for_regions(&salted(1000), 3).unwrap();
    assert_eq!(texts(&split), ["333", "666"]);
    assert_eq!(split.notes, ["3 does not divide 1000 buckets: a region has 333 or 334"]);
    assert!(for_regions(&salted(16), 1).unwrap().points.is_empty());
}

#[test]
fn more_regions_than_buckets_cut_the_first_field() {
    let split = for_regions(&salted(2), 8).unwrap();
    assert_eq!(
        texts(&split),
        ["0|2500000", "0|5000000", "0|7500000", "1", "1|2500000", "1|5000000", "1|7500000"]
    );
    let salt = "[key.salt]\nof = [\"id\"]\nbuckets = 2\n";
    let error = for_regions(&codec("{salt}|{id}", salt, "id = { type = \"string\" }"), 8).unwrap_err();
    assert!(error.message().contains("or ask for 2 regions"), "{error}");
}

#[test]
fn the_spaces_are_those_of_the_split_algorithms_of_hbase() {
    let check = |space: Space, regions: u32, expected: &[&str]| {
        assert_eq!(texts(&from_space(&space, regions)), expected);
    };
    // HexStringSplit.
    let sixteen: Vec<String> = (1..16).map(|digit| format!("{digit:x}0000000")).collect();
    check(Space::digits(16, 8), 16, &sixteen.iter().map(String::as_str).collect::<Vec<_>>());
    check(Space::digits(16, 8), 3, &["55555555", "aaaaaaaa"]);
    // DecimalStringSplit.
    check(Space::digits(10, 8), 4, &["25000000", "50000000", "75000000"]);
    // UniformSplit.
    let eight = |byte: &str| byte.repeat(8);
    check(Space::bytes(8), 3, &[&eight("U"), &eight("\\xaa")]);
    // The helper printed in the HBase guide is off by one from the second region on.
    let sixteen: Vec<String> = (1..16).map(|digit| format!("{digit:x}000000000000000")).collect();
    check(Space::digits(16, 16), 16, &sixteen.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn without_a_salt_the_first_field_is_cut_where_it_is_uniform() {
    let check = |field: &str, regions: u32, expected: &[&str]| {
        assert_eq!(texts(&for_regions(&unsalted(field), regions).unwrap()), expected, "{field}");
    };
    check("{ type = \"uint\", digits = 3 }", 4, &["k250", "k500", "k750"]);
    check("{ type = \"uint\", digits = 1 }", 20, &["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"]);
    check("{ type = \"uuid\" }", 2, &["k80000000"]);
    check("{ type = \"string\", values = [\"b\", \"a\", \"c\", \"d\"] }", 4, &["kb", "kc", "kd"]);
    let time = for_regions(&unsalted("{ type = \"timestamp\", unit = \"s\", digits = 10 }"), 4).unwrap_err();
    assert!(time.message().contains("go to one region"), "{time}");
    assert!(for_regions(&unsalted("{ type = \"string\" }"), 4).is_err());
    assert!(per_bucket(&unsalted("{ type = \"string\" }")).is_err());
    assert_eq!(for_regions(&salted(4), 0).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn a_sample_is_cut_into_equal_shares_by_short_points() {
    let keys: Vec<Vec<u8>> = (0..1000).map(|n| format!("vehicle#{n:05}#x").into_bytes()).collect();
    let split = from_sample(keys, 4).unwrap();
    assert_eq!(texts(&split), ["vehicle#0025", "vehicle#005", "vehicle#0075"]);
    // Half of the sample is one key, which cannot be cut.
    let mut keys = points(&["a", "b", "d", "e"]);
    keys.extend(vec![b"c".to_vec(); 4]);
    let split = from_sample(keys, 4).unwrap();
    assert_eq!(texts(&split), ["c", "d"]);
    assert_eq!(split.notes, ["8 keys tell only 3 regions apart, of 4 asked for"]);
    assert!(from_sample(Vec::new(), 4).unwrap().points.is_empty());
    assert_eq!(sample::separator(b"ab", b"abc"), b"abc");
    assert_eq!(sample::separator(b"ab", b"acd"), b"ac");
}

fn rules(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn lists_written_by_hand_are_checked() {
    let by_itself = |texts: &[&str], expected: &[&str]| {
        assert_eq!(rules(&check(&points(texts), None, None)), expected, "{texts:?}");
    };
    by_itself(&["04", "08", "12"], &[]);
    by_itself(&["", "04"], &["empty-point"]);
    by_itself(&["04", "08", "04"], &["duplicate", "unsorted"]);
    by_itself(&["1", "10", "2"], &["unpadded"]);
    by_itself(&["1", "2", "10"], &["unsorted", "unpadded"]);
    by_itself(&["25", "5", "75"], &[]);
    by_itself(&["4a", "8B"], &["hex-case"]);
}

#[test]
fn lists_are_checked_against_buckets() {
    let against = |codec: &Codec, texts: &[&str], expected: &[&str]| {
        assert_eq!(rules(&check(&points(texts), Some(codec), None)), expected, "{texts:?}");
    };
    against(&salted(4), &["1", "2", "3"], &[]);
    against(&salted(16), &["04", "08", "12"], &["several-buckets"]);
    against(&salted(4), &["0", "1", "2", "3"], &["empty-first-region"]);
    against(&salted(4), &["1", "2", "3", "4"], &["behind-the-last-bucket"]);
    against(&salted(16), &["02", "08", "12"], &["uneven-buckets", "several-buckets"]);
    against(&salted(4), &["1|5", "2", "3"], &["cut-bucket", "uneven-buckets", "several-buckets"]);
    // Starting at the smallest bucket, in steps of two, with a region for the last bucket alone.
    let mut texts: Vec<String> = (0..500).map(|n| format!("{:03}", 2 * n)).collect();
    texts.push("999".to_owned());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let report = check(&points(&texts), Some(&salted(1000)), None);
    assert_eq!(rules(&report), ["empty-first-region", "several-buckets", "uneven-buckets"]);
    assert_eq!(report.regions[1].buckets, Some((0, 1)));
    assert_eq!(report.regions.last().unwrap().buckets, Some((999, 999)));
}

#[test]
fn shares_of_a_sample_are_counted() {
    // HexStringSplit on hex digits in upper case: regions a to f stay empty, and region 9 has their keys.
    let keys: Vec<Vec<u8>> = (0..4096).map(|n| format!("{:08X}", n << 20).into_bytes()).collect();
    let split = from_space(&Space::digits(16, 8), 16);
    let report = check(&split.points, None, Some(&keys));
    assert_eq!(rules(&report), ["hex-case", "empty-regions", "uneven-shares"]);
    let message = |rule: &str| &report.findings.iter().find(|finding| finding.rule == rule).unwrap().message;
    assert!(message("empty-regions").starts_with("6 of 16 regions"), "{}", message("empty-regions"));
    assert!(message("uneven-shares").contains("region 10 (43.75 %)"), "{}", message("uneven-shares"));
    let total: usize = report.regions.iter().filter_map(|region| region.sample_keys).sum();
    assert_eq!(total, keys.len());
    // Points from the sample have neither.
    let split = from_sample(keys.clone(), 16).unwrap();
    assert!(check(&split.points, None, Some(&keys)).findings.is_empty());
}

#[test]
fn commands_are_quoted_for_their_readers() {
    let schema = salted(16).schema().clone();
    let shown = |format: Format, texts: &[&str]| print(format, &schema, &points(texts)).unwrap();
    assert_eq!(
        shown(Format::Cbt, &["04", "08"]),
        "cbt createtable t 'families=m:maxage=7d || maxversions=1,s' splits=04,08\n"
    );
    assert_eq!(
        shown(Format::Cbt, &["a,b", "it's", "\\xff\"\\x0a"]),
        "cbt createtable t 'families=m:maxage=7d || maxversions=1,s' $'splits=\"a,b\",it\\'s,\"\\377\"\"\\012\"'\n"
    );
    assert_eq!(
        shown(Format::Gcloud, &["04#", "08#"]),
        "gcloud bigtable instances tables create t --instance=INSTANCE \
         '--column-families=m:maxage=7d||maxversions=1,s' '--splits=04#,08#'\n"
    );
    assert!(shown(Format::Gcloud, &["a,b", "c"]).ends_with(" '--splits=^:^a,b:c'\n"));
    assert!(
        shown(Format::HbaseShell, &["04", "\\x00\\xab"])
            .ends_with("create 't', 'm', 's', SPLITS => ['04', '\\x00\\xAB']\n")
    );
    assert_eq!(
        shown(Format::HbaseFile, &[" a b ", "it's\\\\", "\\x80"]),
        "\\x20a b\\x20\nit\\x27s\\x5C\n\\x80\n"
    );
    assert_eq!(
        shown(Format::Json, &["04", "\"\\x01", "\\xff\\x00", "a\\xff", "\\xff"]),
        "{\"type\":\"split\",\"key\":{\"text\":\"04\"}}\n{\"type\":\"split\",\"key\":{\"text\":\"\\\"\\u0001\"}}\n\
         {\"type\":\"split\",\"key\":{\"base64\":\"/wA=\"}}\n{\"type\":\"split\",\"key\":{\"base64\":\"Yf8=\"}}\n\
         {\"type\":\"split\",\"key\":{\"base64\":\"/w==\"}}\n"
    );
}

#[test]
fn what_a_tool_cannot_be_given_is_refused() {
    let schema = salted(16).schema().clone();
    let error = |format: Format, texts: &[&str]| print(format, &schema, &points(texts)).unwrap_err();
    assert!(error(Format::Cbt, &["a\\x00"]).message().contains("a zero byte"));
    assert!(error(Format::Gcloud, &["a\\x80"]).message().contains("not printable ASCII"));
    assert!(error(Format::HbaseFile, &["a", ""]).message().contains("point 2 is empty"));
    let many: Vec<Vec<u8>> = (0..40_000).map(|n| format!("{n:05}").into_bytes()).collect();
    assert_eq!(print(Format::Cbt, &schema, &many).unwrap_err().kind(), ErrorKind::Limit);
    assert!("csv".parse::<Format>().unwrap_err().message().contains("hbase-file"));
    assert_eq!("hbase-shell".parse::<Format>().unwrap(), Format::HbaseShell);
}

#[test]
fn numbers_of_twenty_digits_end_where_64_bits_do() {
    // Cut at thirds of 10^20, two of three regions would stay empty for ever.
    let split = for_regions(&unsalted(r#"{ type = "uint", digits = 20 }"#), 2).unwrap();
    assert_eq!(texts(&split), ["k09223372036854775808"]);
    let split = for_regions(&unsalted(r#"{ type = "uint", digits = 20, order = "desc" }"#), 2).unwrap();
    assert_eq!(texts(&split), ["k90776627963145224192"]);
    let split = for_regions(&unsalted(r#"{ type = "uint", digits = 19 }"#), 2).unwrap();
    assert_eq!(texts(&split), ["k5000000000000000000"]);
}

#[test]
fn bytes_that_look_like_hex_digits_are_no_mistake() {
    // The points of 256 buckets in one byte each, `F` and `a` among them.
    let salt = "[key.salt]\nof = [\"id\"]\nbuckets = 256\nformat = \"bytes\"\n";
    let codec = codec("{salt}{id}", salt, "id = { type = \"u32\" }");
    let split = per_bucket(&codec).unwrap();
    assert_eq!(check(&split.points, Some(&codec), None).findings, []);
}
