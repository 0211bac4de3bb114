//! How a table is read: by declared queries, by scans that were observed, or, where nothing is known, by what such a key is for.

use super::old::{Old, Reader};
use crate::context::Context;
use crate::facts::{Facts, Scan};
use crate::layout::{FieldFacts, Format, Meaning, Segment};
use rowkey::Codec;
use rowkey::schema::Binding;
use std::collections::{BTreeMap, BTreeSet};

/// One way in which rows are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    /// For people.
    pub(super) name: String,
    /// The old fields that are given, in their order, and how.
    pub(super) bound: Vec<(usize, Binding)>,
    /// How often; 0: not known.
    pub(super) per_second: f64,
    /// Rows that one such read returns.
    pub(super) rows: f64,
    /// Rows wanted, where a query was declared with a limit.
    pub(super) limit: Option<u64>,
    /// Whether the last rows are wanted first.
    pub(super) reverse: bool,
}

impl Pattern {
    /// Whether it gives one value for a field.
    pub(super) fn gives(&self, field: usize) -> bool {
        self.bound.iter().any(|(at, binding)| *at == field && *binding == Binding::Equal)
    }

    /// Whether it gives a range of a field.
    pub(super) fn ranges_over(&self, field: usize) -> bool {
        self.bound
            .iter()
            .any(|(at, binding)| *at == field && matches!(binding, Binding::Range | Binding::Prefix))
    }
}

/// How a table is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reads {
    /// Range reads, the most frequent first.
    pub(super) ranges: Vec<Pattern>,
    /// Whether they were declared or observed, not assumed.
    pub(super) known: bool,
    /// Whether rows are only read by the complete key.
    pub(super) points_only: bool,
}

impl Reads {
    /// How the table is read.
    pub(super) fn new(
        old: &Old,
        codec: Option<&Codec>,
        facts: &Facts,
        layout_format: Option<&Format>,
        context: &Context,
    ) -> Self {
        let mut ranges = codec.map(declared).unwrap_or_default();
        if ranges.is_empty()
            && let Some(format) = layout_format
        {
            ranges = observed(old, format, facts, context);
        }
        let known = !ranges.is_empty();
        let points_only =
            !known && (context.declared.point_reads || facts.counts.reads > 0 && facts.counts.scans == 0);
        if !known && !points_only {
            ranges = assumed(old, context);
        }
        Self { ranges, known, points_only }
    }

    /// Range reads per second that do not give all of these fields, and the rows that one returns.
    pub(super) fn scattered_by(&self, of: &[usize]) -> (f64, f64) {
        let all = |pattern: &&Pattern| !of.iter().all(|field| pattern.gives(*field));
        let scattered = || self.ranges.iter().filter(all);
        let per_second: f64 = scattered().map(|pattern| pattern.per_second).sum();
        let rows: f64 = scattered().map(|pattern| pattern.per_second * pattern.rows).sum();
        if per_second > 0.0 { (per_second, rows / per_second) } else { (0.0, 0.0) }
    }

    /// Whether most range reads give one value for a field.
    pub(super) fn mostly_give(&self, field: usize) -> bool {
        self.mostly(|pattern| pattern.gives(field))
    }

    /// Whether some range read is of a range of this field without any of those fields given.
    pub(super) fn any_range_over(&self, field: usize, without: &[usize]) -> bool {
        self.ranges
            .iter()
            .any(|pattern| pattern.ranges_over(field) && !without.iter().any(|other| pattern.gives(*other)))
    }

    pub(super) fn mostly(&self, test: impl Fn(&Pattern) -> bool) -> bool {
        let weight = |pattern: &Pattern| if pattern.per_second > 0.0 { pattern.per_second } else { 1e-9 };
        let all: f64 = self.ranges.iter().map(weight).sum();
        let good: f64 = self.ranges.iter().filter(|pattern| test(pattern)).map(weight).sum();
        all > 0.0 && good > all / 2.0
    }
}

/// The declared queries of a schema.
fn declared(codec: &Codec) -> Vec<Pattern> {
    let fields = codec.schema().fields.len();
    let queries = codec.schema().queries.iter();
    let pattern = |query: &rowkey::schema::DeclaredQuery| Pattern {
        name: query.name.clone(),
        bound: query.bound.clone(),
        per_second: query.per_second.unwrap_or(0.0),
        #[expect(clippy::cast_precision_loss, reason = "rows of a query are far below 2^53")]
        rows: query.limit.or(query.rows).unwrap_or(100) as f64,
        limit: query.limit,
        reverse: query.reverse,
    };
    let is_point = |pattern: &Pattern| (0..fields).all(|field| pattern.gives(field));
    queries.map(pattern).filter(|pattern| !is_point(pattern)).collect()
}

/// What such a key is for, where nobody says: the rows of one entity in a range of time, or the rows below what stands in front.
fn assumed(old: &Old, context: &Context) -> Vec<Pattern> {
    let kept = old.kept();
    let is_clock =
        |at: &usize| matches!(old.fields[*at].facts.meaning, Meaning::Time(_) | Meaning::Period(_));
    let clock = kept.iter().copied().find(is_clock);
    let mut bound: Vec<(usize, Binding)> = Vec::new();
    if let Some(clock) = clock {
        let entities = kept.iter().copied().filter(|at| !is_clock(at) && repeats(old, *at));
        bound.extend(entities.map(|at| (at, Binding::Equal)));
        bound.push((clock, Binding::Range));
    } else if kept.len() > 1 {
        let last = kept.len() - 1;
        bound.extend(kept[..last].iter().map(|at| (*at, Binding::Equal)));
    }
    if bound.is_empty() {
        return Vec::new();
    }
    bound.sort_by_key(|(at, _)| *at);
    vec![Pattern {
        name: name(old, &bound),
        bound,
        per_second: context.reads_per_s.unwrap_or(0.0).max(0.0),
        rows: context.rows_per_read.unwrap_or(100.0).max(0.0),
        limit: None,
        reverse: false,
    }]
}

/// Whether a field names something that has several rows: at least two on average in the sample.
pub(super) fn repeats(old: &Old, at: usize) -> bool {
    let distinct = old.fields[at].facts.distinct.max(1);
    distinct == 1 || old.sampled >= distinct.saturating_mul(2)
}

/// The scans that were observed, by the fields that they give.
fn observed(old: &Old, format: &Format, facts: &Facts, context: &Context) -> Vec<Pattern> {
    let mut groups: BTreeMap<Vec<(usize, u8)>, Group> = BTreeMap::new();
    let mut all = 0_u64;
    for scan in facts.scanned.runs.iter().flatten() {
        all += 1;
        let Some((bound, rest)) = classify(old, format, scan) else { continue };
        let group =
            groups.entry(bound.iter().map(|(at, binding)| (*at, code(*binding))).collect()).or_default();
        group.scans += 1;
        group.rests.insert(rest);
        if let Some(rows) = scan.rows {
            group.rows += rows;
            group.with_rows += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a sample are far below 2^53")]
    let float = |count: u64| count as f64;
    let scans_per_s = facts.span.map_or(0.0, |span| span.scans_per_s);
    // A diagnosis fills in what was measured, which counts each range; only what differs from it was stated, and counts reads.
    let measured = float(facts.counts.scanned_rows) / float(facts.counts.scans_with_rows).max(1.0);
    let differs = |stated: f64, measured: f64| (stated - measured).abs() > 1e-9 * measured.abs().max(1.0);
    let stated_per_s = context.reads_per_s.filter(|rate| differs(*rate, scans_per_s));
    let known_rows = |rows: &f64| facts.counts.scans_with_rows > 0 && differs(*rows, measured);
    let stated_rows = context.rows_per_read.filter(known_rows);
    let mut list: Vec<(u64, Pattern)> = Vec::new();
    for (key, group) in groups {
        let bound: Vec<(usize, Binding)> =
            key.iter().map(|(at, code)| (*at, BINDINGS[usize::from(*code)])).collect();
        // A logical read over buckets comes as one scan for each.
        let fan_out = if old.salt.is_some() {
            float(group.scans) / float(group.rests.len() as u64).max(1.0)
        } else {
            1.0
        };
        let share = float(group.scans) / float(all).max(1.0);
        let rows =
            if group.with_rows > 0 { float(group.rows) / float(group.with_rows) * fan_out } else { 100.0 };
        let per_second = stated_per_s.map_or(scans_per_s / fan_out, |rate| rate.max(0.0)) * share;
        let rows = stated_rows.map_or(rows, |rows| rows.max(0.0));
        let pattern =
            Pattern { name: name(old, &bound), bound, per_second, rows, limit: None, reverse: false };
        list.push((group.scans, pattern));
    }
    list.sort_by_key(|(scans, _)| std::cmp::Reverse(*scans));
    list.truncate(PATTERNS_MAX);
    list.into_iter().map(|(_, pattern)| pattern).collect()
}

/// Queries written into a schema: more would not be read.
const PATTERNS_MAX: usize = 4;

#[derive(Debug, Default)]
struct Group {
    scans: u64,
    rows: u64,
    with_rows: u64,
    rests: BTreeSet<Rest>,
}

/// A scan's beginning and end without the bucket.
type Rest = (Vec<u8>, Vec<u8>);

const BINDINGS: [Binding; 4] = [Binding::Equal, Binding::In, Binding::Prefix, Binding::Range];

fn code(binding: Binding) -> u8 {
    match binding {
        Binding::Equal => 0,
        Binding::In => 1,
        Binding::Prefix => 2,
        Binding::Range => 3,
    }
}

/// The fields that a scan gives, by the bytes that its beginning and its end have in common, and the scan without its bucket.
fn classify(old: &Old, format: &Format, scan: &Scan) -> Option<(Vec<(usize, Binding)>, Rest)> {
    let end = scan.end.as_deref()?;
    let key: &[u8] = &scan.key;
    // All that begins with a prefix ends at the prefix with its last byte one greater.
    let prefix = end.split_last().and_then(|(last, front)| {
        let prefix = [front, &[last.checked_sub(1)?]].concat();
        key.starts_with(&prefix).then_some(prefix)
    });
    let same = key.iter().zip(end).take_while(|(mine, others)| mine == others).count();
    let given = prefix.as_ref().map_or(same, Vec::len);
    let mut bound = Vec::new();
    let mut salt_end = 0;
    for (at, cut) in cuts(format, key).into_iter().enumerate() {
        let facts = format.fields().nth(at)?;
        let field = old_index(old, facts, at);
        let is_salt = field.is_none();
        if is_salt && cut.end <= given {
            salt_end = cut.end;
        }
        let mut binding = if cut.is_whole && cut.behind <= given {
            Binding::Equal
        } else if prefix.is_some() && cut.start < given && key.len() == given {
            Binding::Prefix
        } else if cut.start < key.len() || cut.start < end.len() && cut.start <= same {
            Binding::Range
        } else {
            break;
        };
        let is_last = binding != Binding::Equal;
        // A part of a joined field: its beginning is given.
        if let Some(joined) = field.filter(|field| old.fields[*field].parts.len() > 1) {
            bound.retain(|(other, _)| *other != joined);
            if binding == Binding::Equal && old.fields[joined].parts.last() != Some(&at) {
                binding = Binding::Prefix;
            }
        }
        bound.extend(field.map(|field| (field, binding)));
        if is_last {
            break;
        }
    }
    let rest = (key.get(salt_end..)?.to_vec(), end.get(salt_end.min(end.len())..)?.to_vec());
    Some((bound, rest))
}

/// The old field of the layout's field `at`; `None` for a salt.
fn old_index(old: &Old, facts: &FieldFacts, at: usize) -> Option<usize> {
    if let Reader::Schema(_) = old.reader {
        return old.fields.iter().position(|field| field.name == facts.name);
    }
    old.fields.iter().position(|field| field.parts.contains(&at) && !field.is_salt)
}

/// Where a field stands in the beginning of a key.
struct Cut {
    start: usize,
    end: usize,
    /// Where the literal behind it ends: up to there the field is fixed.
    behind: usize,
    /// Whether it is certain that the field ends there.
    is_whole: bool,
}

/// The fields at the beginning of a key that may end within any of them.
fn cuts(format: &Format, key: &[u8]) -> Vec<Cut> {
    let mut list: Vec<Cut> = Vec::new();
    let mut at = 0;
    for (index, segment) in format.segments.iter().enumerate() {
        match segment {
            Segment::Literal(literal) => {
                if !key[at..].starts_with(literal) {
                    if let Some(last) = list.last_mut()
                        && last.end == at
                        && at < key.len()
                    {
                        last.is_whole = false;
                    }
                    break;
                }
                at += literal.len();
                if let Some(last) = list.last_mut() {
                    last.behind = at;
                }
            }
            Segment::Field(facts) => {
                let next = format.segments[index + 1..].iter().find_map(|segment| match segment {
                    Segment::Literal(literal) => Some(literal.as_slice()),
                    Segment::Field(_) => None,
                });
                let rest = &key[at..];
                let (width, is_whole) = if facts.is_fixed_width() && facts.width_max > 0 {
                    (facts.width_max.min(rest.len()), facts.width_max <= rest.len())
                } else {
                    let found = next
                        .and_then(|next| rest.windows(next.len().max(1)).position(|window| window == next));
                    (found.unwrap_or(rest.len()), found.is_some())
                };
                list.push(Cut { start: at, end: at + width, behind: at + width, is_whole });
                at += width;
                if !is_whole {
                    break;
                }
            }
        }
    }
    list
}

/// What a read is of, in a few words: `one host, a range of time`.
fn name(old: &Old, bound: &[(usize, Binding)]) -> String {
    let word = |(at, binding): &(usize, Binding)| {
        let name = &old.fields[*at].name;
        match binding {
            Binding::Equal => format!("one {name}"),
            Binding::In => format!("some {name}s"),
            Binding::Prefix => format!("{name}s with a prefix"),
            Binding::Range => format!("a range of {name}"),
        }
    };
    if bound.is_empty() {
        "all rows".to_owned()
    } else {
        bound.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Span;
    use crate::layout::{Layout, SaltMeaning, TimeForm, TimeMeaning};

    fn field(name: &str, meaning: Meaning, width: Option<usize>, distinct: u64) -> Segment {
        let mut facts = FieldFacts::new(name, meaning);
        (facts.width_min, facts.width_max) = width.map_or((1, 9), |width| (width, width));
        facts.distinct = distinct;
        Segment::Field(Box::new(facts))
    }

    fn salted() -> Format {
        let salt = Meaning::Salt(SaltMeaning {
            buckets: 16,
            used: 16,
            from: None,
            repeats: None,
            even_p: 0.5,
            follows: None,
        });
        let form = TimeForm::Epoch(rowkey::schema::TimeUnit::Seconds);
        let time = Meaning::Time(TimeMeaning { form, reversed: false, first_ms: 0, last_ms: 1 });
        let hash = || Segment::Literal(b"#".to_vec());
        let segments = vec![
            field("bucket", salt, Some(2), 16),
            hash(),
            field("meter", Meaning::Text, None, 50),
            hash(),
            field("time", time, Some(4), 900),
        ];
        Format { share: 1.0, segments, examples: Vec::new() }
    }

    fn old(format: &Format) -> Old {
        let layout = Layout { formats: vec![format.clone()], sampled: 1_000, ..Layout::default() };
        Old::new(&layout, None, &Facts::default())
    }

    fn check(key: &str, end: &str, expected: &[(usize, Binding)]) {
        let format = salted();
        let scan = Scan {
            index: 0,
            time_ms: None,
            key: key.as_bytes().into(),
            end: Some(end.as_bytes().into()),
            rows: None,
        };
        let found = classify(&old(&format), &format, &scan).map(|(bound, _)| bound);
        assert_eq!(found.as_deref(), Some(expected), "{key} to {end}");
    }

    #[test]
    fn a_scan_is_known_by_what_its_ends_have_in_common() {
        check("07#m1#1000", "07#m1#2000", &[(1, Binding::Equal), (2, Binding::Range)]);
        check("07#m1#", "07#m1$", &[(1, Binding::Equal)]);
        check("07#m1", "07#m2", &[(1, Binding::Prefix)]);
        check("07#m1#1000", "07#m1$", &[(1, Binding::Equal), (2, Binding::Range)]);
        check("07#", "07$", &[]);
        check("07#m1", "07#m7", &[(1, Binding::Range)]);
        check("07", "09", &[]);
    }

    #[test]
    fn scans_of_every_bucket_are_one_read() {
        let format = salted();
        let mut run = Vec::new();
        for read in 0..5 {
            for bucket in 0..16 {
                let key = format!("{bucket:02}#m{read}#1000").into_bytes().into();
                let end = format!("{bucket:02}#m{read}#2000").into_bytes().into();
                run.push(Scan { index: 0, time_ms: None, key, end: Some(end), rows: Some(3) });
            }
        }
        let mut facts = Facts::default();
        facts.scanned.runs.push(run);
        facts.counts.scans = 80;
        facts.span = Some(Span { scans_per_s: 160.0, ..Span::default() });
        let reads = Reads::new(&old(&format), None, &facts, Some(&format), &Context::default());
        assert!(reads.known && reads.ranges.len() == 1);
        let pattern = &reads.ranges[0];
        assert_eq!(pattern.bound, [(1, Binding::Equal), (2, Binding::Range)]);
        assert_eq!((pattern.per_second, pattern.rows), (10.0, 48.0));
        assert_eq!(reads.scattered_by(&[1]), (0.0, 0.0));
        assert_eq!(reads.scattered_by(&[1, 2]), (10.0, 48.0));
        assert!(reads.mostly_give(1) && !reads.any_range_over(2, &[1]) && reads.any_range_over(2, &[]));
    }

    #[test]
    fn nothing_known_is_an_entity_in_time_and_points_are_no_ranges() {
        let format = salted();
        let reads = Reads::new(&old(&format), None, &Facts::default(), Some(&format), &Context::default());
        assert!(!reads.known);
        assert_eq!(reads.ranges[0].name, "one meter, a range of time");
        let mut context = Context::default();
        context.declared.point_reads = true;
        let reads = Reads::new(&old(&format), None, &Facts::default(), Some(&format), &context);
        assert!(reads.points_only && reads.ranges.is_empty());
    }

    #[test]
    fn keys_of_any_kind_are_cut_without_a_panic() {
        let format = salted();
        for key in ["", "0", "07", "07#", "07#m1#", "07#m1#10000", "##", "07x", "\u{e9}"] {
            for end in ["", "0", "08", "07$", "z"] {
                let scan = Scan {
                    index: 0,
                    time_ms: None,
                    key: key.as_bytes().into(),
                    end: Some(end.as_bytes().into()),
                    rows: None,
                };
                let _ = classify(&old(&format), &format, &scan);
            }
        }
    }
}
