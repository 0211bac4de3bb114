//! What is wrong with split points: the mistakes that lists written by hand have.

use crate::codec::Codec;
use crate::escape::escaped;
use crate::range::prefix_end;
use crate::schema::{FieldKind, Part, SaltFormat, SaltSource};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing, and may be meant.
    Note,
    /// Works, and wastes regions or spreads load badly.
    Warning,
    /// Refused by stores, or surely not what is meant.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its stable name: `empty-point`, `unsorted`, `duplicate`, `unpadded`, `hex-case`, `empty-first-region`, `behind-the-last-bucket`,
    /// `uneven-buckets`, `several-buckets`, `cut-bucket`, `empty-regions`, `uneven-shares`.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with which point, and what to do.
    pub message: String,
}

/// One region that the points make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its first key; empty: the start of the table.
    pub start: Vec<u8>,
    /// The first key behind it; `None`: the end of the table.
    pub end: Option<Vec<u8>>,
    /// The first and the last bucket that it has keys of.
    pub buckets: Option<(u32, u32)>,
    /// Keys of the sample in it, if there is one.
    pub sample_keys: Option<usize>,
}

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// The regions that the points make, once sorted and without duplicates.
    pub regions: Vec<Region>,
}

/// A region may hold this many times its fair share of the sample before it is a finding.
const SHARE_FACTOR_MAX: usize = 2;
/// Points or regions named in one message before the rest is only counted.
const SHOWN: usize = 3;

/// Checks split points: by themselves, against a schema, and against a sample of keys.
pub fn check(points: &[Vec<u8>], codec: Option<&Codec>, sample: Option<&[Vec<u8>]>) -> Report {
    let mut findings = Vec::new();
    order(points, &mut findings);
    text(points, codec, sample, &mut findings);
    let mut sorted: Vec<Vec<u8>> = points.iter().filter(|point| !point.is_empty()).cloned().collect();
    sorted.sort();
    sorted.dedup();
    let mut regions = regions(&sorted);
    if let Some(codec) = codec {
        first_region(codec, &sorted, &mut findings);
        buckets(codec, &sorted, &mut regions, &mut findings);
    }
    if let Some(sample) = sample {
        shares(sample, &mut regions, &mut findings);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Report { findings, regions }
}

fn add(findings: &mut Vec<Finding>, rule: &'static str, severity: Severity, message: String) {
    findings.push(Finding { rule, severity, message });
}

/// `a`, `b`, `c` and 4 more.
fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let shown: Vec<String> = items.take(SHOWN).collect();
    let rest = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

fn order(points: &[Vec<u8>], findings: &mut Vec<Finding>) {
    if points.iter().any(Vec::is_empty) {
        let message = "a split point is empty: the table begins there anyway; remove it".to_owned();
        add(findings, "empty-point", Severity::Error, message);
    }
    let mut sorted: Vec<&Vec<u8>> = points.iter().collect();
    sorted.sort();
    let mut repeated: Vec<&Vec<u8>> =
        sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    if !repeated.is_empty() {
        let names = list(repeated.iter().map(|point| format!("`{}`", escaped(point))));
        add(
            findings,
            "duplicate",
            Severity::Error,
            format!("split points stand in the list twice: {names}; remove one"),
        );
    }
    let mut descents = points.windows(2).filter_map(|pair| match pair {
        [before, behind] if before > behind => Some((before, behind)),
        _ => None,
    });
    if let Some((before, behind)) = descents.next() {
        let message = format!(
            "`{}` stands before `{}` but sorts behind it, byte by byte; sort the list",
            escaped(before),
            escaped(behind)
        );
        add(findings, "unsorted", Severity::Warning, message);
    }
}

/// Mistakes that show in the characters: numbers without padding, hex in the wrong case.
fn text(points: &[Vec<u8>], codec: Option<&Codec>, sample: Option<&[Vec<u8>]>, findings: &mut Vec<Finding>) {
    let shortest = points.iter().map(Vec::len).min().unwrap_or(0);
    let longest = points.iter().map(Vec::len).max().unwrap_or(0);
    if is_unpadded(points) {
        let message = format!(
            "the numbers are {shortest} to {longest} digits long, so that they do not sort as numbers (`10` comes before `2`); pad them \
             with zeros to {longest} digits, as the keys must be"
        );
        add(findings, "unpadded", Severity::Warning, message);
    }
    let is_hex = |key: &[u8]| !key.is_empty() && key.iter().all(u8::is_ascii_hexdigit);
    // Among bytes of all values some look like digits.
    if !points.iter().all(|point| is_hex(point)) {
        return;
    }
    let has = |wanted: fn(&u8) -> bool| points.iter().any(|point| point.iter().any(wanted));
    let (upper, lower) = (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase));
    let keys_are_lower = codec.is_some_and(begins_with_hex);
    // As many characters of a key as the points have.
    let in_sample = |wanted: fn(&u8) -> bool| {
        let mut keys = sample.unwrap_or_default().iter().map(|key| &key[..key.len().min(longest)]);
        keys.any(|key| is_hex(key) && key.iter().any(wanted))
    };
    if upper && lower {
        let message =
            "hex digits are in upper and in lower case, which sort apart: `F` comes before `a`; use one case"
                .to_owned();
        add(findings, "hex-case", Severity::Warning, message);
    } else if upper && (keys_are_lower || in_sample(u8::is_ascii_lowercase)) {
        let message =
            "the points have hex digits in upper case and the keys in lower case, so that regions stay empty"
                .to_owned();
        add(findings, "hex-case", Severity::Error, message);
    } else if lower && in_sample(u8::is_ascii_uppercase) {
        let message =
            "the points have hex digits in lower case and the keys in upper case, so that regions stay empty"
                .to_owned();
        add(findings, "hex-case", Severity::Error, message);
    }
}

/// Numbers of several widths that ascend as numbers but not as bytes, or of which one is another with zeros behind it (`1` and `10`).
/// Short points that a sample gave, such as `25`, `5`, `75` between keys of five digits, are neither.
fn is_unpadded(points: &[Vec<u8>]) -> bool {
    let is_number = |point: &Vec<u8>| !point.is_empty() && point.iter().all(u8::is_ascii_digit);
    if !points.iter().all(is_number) {
        return false;
    }
    let as_number = |point: &Vec<u8>| {
        let zeros = point.iter().take_while(|digit| **digit == b'0').count();
        (point.len() - zeros, point[zeros..].to_vec())
    };
    let ascends_as_numbers = points.is_sorted_by_key(as_number);
    let all: std::collections::BTreeSet<&[u8]> = points.iter().map(Vec::as_slice).collect();
    let is_padded_right = |point: &Vec<u8>| {
        let end = point.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        (end.max(1)..point.len()).any(|end| all.contains(&point[..end]))
    };
    ascends_as_numbers && !points.is_sorted() || points.iter().any(is_padded_right)
}

fn begins_with_hex(codec: &Codec) -> bool {
    let schema = codec.schema();
    match (schema.parts.first(), &schema.salt) {
        (Some(Part::Salt), Some(salt)) => matches!(salt.format, SaltFormat::Hex { .. }),
        (Some(Part::Field(field)), _) => {
            matches!(schema.fields[*field].kind, FieldKind::Hex { .. } | FieldKind::UuidText)
        }
        _ => false,
    }
}

fn regions(sorted: &[Vec<u8>]) -> Vec<Region> {
    let starts = std::iter::once(&[][..]).chain(sorted.iter().map(Vec::as_slice));
    let ends = sorted.iter().map(Some).chain([None]);
    let region = |(start, end): (&[u8], Option<&Vec<u8>>)| Region {
        start: start.to_vec(),
        end: end.cloned(),
        buckets: None,
        sample_keys: None,
    };
    starts.zip(ends).map(region).collect()
}

/// No key is less than this.
fn least_key(codec: &Codec) -> Vec<u8> {
    let schema = codec.schema();
    let mut least = Vec::new();
    for part in &schema.parts {
        match part {
            Part::Salt if codec.bucket_count().is_some() => codec.write_salt(0, &mut least),
            Part::Literal(bytes) => least.extend_from_slice(bytes),
            Part::Field(field) => {
                let kind = &schema.fields[*field].kind;
                if let FieldKind::Uint { digits } | FieldKind::UintReversed { digits } = kind {
                    least.extend(std::iter::repeat_n(b'0', usize::from(*digits)));
                }
                break;
            }
            Part::Salt => break,
        }
    }
    least
}

fn first_region(codec: &Codec, sorted: &[Vec<u8>], findings: &mut Vec<Finding>) {
    if let Some(first) = sorted.first()
        && *first <= least_key(codec)
    {
        let message = format!(
            "no key is less than `{}`, so the first region stays empty for ever; remove this point",
            escaped(first)
        );
        add(findings, "empty-first-region", Severity::Error, message);
    }
}

fn buckets(codec: &Codec, sorted: &[Vec<u8>], regions: &mut [Region], findings: &mut Vec<Finding>) {
    let Some(salt) = &codec.schema().salt else { return };
    if matches!(salt.source, SaltSource::HashPrefix { .. }) {
        return;
    }
    let salts: Vec<Vec<u8>> = (0..salt.buckets)
        .map(|bucket| {
            let mut bytes = Vec::new();
            codec.write_salt(bucket, &mut bytes);
            bytes
        })
        .collect();
    for region in regions.iter_mut() {
        // Buckets whose keys begin before the end of the region and end behind its start.
        let end = region.end.as_ref().map_or(salts.len(), |end| salts.partition_point(|salt| salt < end));
        let start = salts.partition_point(|salt| prefix_end(salt).is_some_and(|end| end <= region.start));
        let to_bucket = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        region.buckets = (start < end).then(|| (to_bucket(start), to_bucket(end - 1)));
    }
    // The stray bucket of `hbasewd` lies behind all others.
    let is_idle = |region: &&Region| region.buckets.is_none() && codec.stray_bucket().is_none();
    if let Some(last) = regions.last().filter(is_idle) {
        let message = format!(
            "`{}` lies behind the last bucket, so the region behind it stays empty; remove this point",
            escaped(&last.start)
        );
        add(findings, "behind-the-last-bucket", Severity::Error, message);
    }
    let cut: Vec<&Vec<u8>> = sorted.iter().filter(|point| is_inside(&salts, point)).collect();
    if !cut.is_empty() && sorted.len() < salts.len() {
        let names = list(cut.iter().map(|point| format!("`{}`", escaped(point))));
        let lie = if cut.len() == 1 { "point lies" } else { "points lie" };
        let message = format!(
            "{} {lie} inside a bucket, so that a scan of that bucket touches two regions: {names}; cut at the salts alone",
            cut.len()
        );
        add(findings, "cut-bucket", Severity::Warning, message);
    }
    spans(&salts, regions, findings);
}

/// Whether keys of one bucket lie on both sides of the point. `salts` are ascending, of one width.
fn is_inside(salts: &[Vec<u8>], point: &[u8]) -> bool {
    let behind = salts.partition_point(|salt| salt.as_slice() <= point);
    let before = behind.checked_sub(1).and_then(|index| salts.get(index));
    before.is_some_and(|salt| point.len() > salt.len() && point.starts_with(salt))
}

fn spans(salts: &[Vec<u8>], regions: &[Region], findings: &mut Vec<Finding>) {
    let widths = regions.iter().filter_map(|region| region.buckets).map(|(first, last)| last - first + 1);
    let (least, most) = (widths.clone().min().unwrap_or(0), widths.max().unwrap_or(0));
    if most > 1 {
        let several =
            regions.iter().filter(|region| region.buckets.is_some_and(|(first, last)| first < last));
        let several: Vec<String> = several
            .filter_map(|region| region.buckets)
            .map(|(first, last)| format!("buckets {first} to {last}"))
            .collect();
        let message = format!(
            "{} of {} regions span several of the {} buckets ({}); one region for each bucket takes {} points",
            several.len(),
            regions.len(),
            salts.len(),
            list(several.into_iter()),
            salts.len() - 1
        );
        add(findings, "several-buckets", Severity::Note, message);
    }
    if most > least {
        let count = u32::try_from(regions.len()).unwrap_or(u32::MAX);
        let buckets = u32::try_from(salts.len()).unwrap_or(u32::MAX);
        // As even as this number of regions allows.
        let is_fair = least == buckets / count && most == buckets.div_ceil(count);
        let severity = if is_fair { Severity::Note } else { Severity::Warning };
        let message = format!("regions hold from {least} to {most} buckets; give each the same number");
        add(findings, "uneven-buckets", severity, message);
    }
}

fn shares(sample: &[Vec<u8>], regions: &mut [Region], findings: &mut Vec<Finding>) {
    let mut keys: Vec<&[u8]> = sample.iter().map(Vec::as_slice).collect();
    keys.sort_unstable();
    for region in regions.iter_mut() {
        let start = keys.partition_point(|key| *key < region.start.as_slice());
        let end = region.end.as_deref().map_or(keys.len(), |end| keys.partition_point(|key| *key < end));
        region.sample_keys = Some(end - start);
    }
    if keys.is_empty() {
        return;
    }
    let count = |region: &Region| region.sample_keys.unwrap_or(0);
    let names = |wanted: &dyn Fn(&Region) -> bool| -> Vec<String> {
        let chosen = regions.iter().enumerate().filter(|(_, region)| wanted(region));
        chosen
            .map(|(index, region)| format!("region {} ({})", index + 1, share(count(region), keys.len())))
            .collect()
    };
    let empty = names(&|region| count(region) == 0);
    if !empty.is_empty() {
        let message = format!(
            "{} of {} regions have no key of the sample: {}",
            empty.len(),
            regions.len(),
            list(empty.into_iter())
        );
        add(findings, "empty-regions", Severity::Warning, message);
    }
    let large = names(&|region| count(region) * regions.len() > SHARE_FACTOR_MAX * keys.len());
    if !large.is_empty() {
        let fair = share(keys.len(), keys.len() * regions.len());
        let message = format!(
            "regions hold more than {SHARE_FACTOR_MAX} times their fair share of {fair}: {}; take the points from this sample",
            list(large.into_iter())
        );
        add(findings, "uneven-shares", Severity::Warning, message);
    }
}

/// A percentage with two decimals.
fn share(part: usize, of: usize) -> String {
    let hundredths = (part as u128 * 10_000 + of as u128 / 2) / of.max(1) as u128;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}
