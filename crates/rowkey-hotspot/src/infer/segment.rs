//! Keys cut into parts: delimiters where their number is constant, forms of their own where they are not.

use std::collections::{BTreeMap, BTreeSet};

use super::calendar;
use super::cut;
use super::names;
use super::partition::{self, is_worth, share};
use super::template::{Form, Part, Template};
use super::token::{self, Class, DELIMITERS};

/// The share of values that must agree: the specification's 0.95.
pub(super) const SHARE_MIN: f64 = 0.95;

/// The share that gives a column a form that other values would contradict.
const NEARLY_ALL: f64 = 0.985;

/// The share that makes a part constant, or all digits: what is left is a handful, and no format of its own.
const ALL_BUT_A_HANDFUL: f64 = 0.998;

/// Values that a slow look at a column needs at most.
const LOOK: usize = 512;

/// Times that what fits no template is looked at again.
const ROUNDS: usize = 6;

/// The templates that explain the keys. Keys that a few templates do not explain may remain.
pub(super) fn templates(keys: &[&[u8]]) -> Vec<Template> {
    let mut templates: Vec<Template> = Vec::new();
    let mut rest: Vec<&[u8]> = keys.to_vec();
    let mut fields = Vec::new();
    for round in 0..ROUNDS {
        if rest.is_empty() || round > 0 && !is_worth(rest.len(), keys.len()) {
            break;
        }
        let before = rest.len();
        let mut found = discover(&rest, 0);
        // Behind good templates, one that takes anything only says that nothing is known.
        found.retain(|template| round == 0 || !template.takes_anything());
        found.sort_by_key(|template| std::cmp::Reverse(template.weight()));
        for template in found {
            if !templates.contains(&template) {
                templates.push(template);
            }
        }
        rest.retain(|key| !templates.iter().any(|template| template.cut(key, &mut fields)));
        if rest.len() == before {
            break;
        }
    }
    // Where nothing explains most keys, a key is one field.
    if share(rest.len(), keys.len()) > 0.5 {
        templates.push(Template::new([Part::field(Form::Any)]));
    }
    templates.sort_by_key(|template| std::cmp::Reverse(template.weight()));
    templates
}

fn discover(keys: &[&[u8]], depth: u32) -> Vec<Template> {
    if depth < 4
        && let Some(groups) = partition::partition(keys)
    {
        return groups.iter().flat_map(|group| discover(group, depth + 1)).collect();
    }
    vec![Template::new(grow(keys, 0))]
}

/// Whether a key holds bytes that are neither text nor common delimiters.
pub(super) fn is_binary(key: &[u8]) -> bool {
    !key.split(|byte| matches!(byte, 0 | 0x1f | b'\t')).all(token::is_text)
}

/// How often each delimiter occurs in a key.
#[derive(Debug)]
pub(super) struct Delimiters {
    /// For each delimiter, how many keys have it how often.
    counts: Vec<BTreeMap<usize, usize>>,
    keys: usize,
}

impl Delimiters {
    pub(super) fn count(keys: &[&[u8]]) -> Self {
        let mut counts = vec![BTreeMap::new(); DELIMITERS.len()];
        let mut places = Vec::new();
        for key in keys {
            token::delimiters_of(key, &mut places);
            let mut of_key = [0usize; 32];
            for (_, byte) in &places {
                of_key[token::rank(*byte).unwrap_or(31)] += 1;
            }
            for (counts, count) in counts.iter_mut().zip(of_key) {
                *counts.entry(count).or_default() += 1;
            }
        }
        Self { counts, keys: keys.len() }
    }

    /// The strongest delimiter that occurs equally often in nearly all keys.
    pub(super) fn primary(&self) -> Option<u8> {
        self.counts.iter().position(|counts| self.is_regular(counts)).map(|rank| DELIMITERS[rank])
    }

    /// The strongest delimiter that nearly all keys have, however often.
    pub(super) fn often(&self) -> Option<u8> {
        self.counts.iter().position(|counts| self.least(counts) > 0).map(|rank| DELIMITERS[rank])
    }

    /// All delimiters that nearly all keys have, but not equally often.
    fn all_irregular(&self) -> impl Iterator<Item = u8> {
        let is_one =
            |rank: &usize| self.least(&self.counts[*rank]) > 0 && !self.is_regular(&self.counts[*rank]);
        (0..DELIMITERS.len()).filter(is_one).map(|rank| DELIMITERS[rank])
    }

    fn is_regular(&self, counts: &BTreeMap<usize, usize>) -> bool {
        counts.iter().any(|(count, keys)| *count > 0 && share(*keys, self.keys) >= SHARE_MIN)
    }

    /// How often nearly all keys have it at least.
    fn least(&self, counts: &BTreeMap<usize, usize>) -> usize {
        let mut below = 0;
        for (count, keys) in counts {
            below += keys;
            if share(below, self.keys) > 1.0 - SHARE_MIN {
                return *count;
            }
        }
        0
    }
}

/// A key cut at each place of a delimiter outside protected spans.
pub(super) fn split(key: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let mut places = Vec::new();
    token::delimiters_of(key, &mut places);
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, byte) in places {
        let at = at as usize;
        if byte == delimiter {
            parts.push(&key[from..at]);
            from = at + 1;
        }
    }
    parts.push(&key[from..]);
    parts
}

/// The parts of values. `level` 0: the values are whole keys.
pub(super) fn grow(values: &[&[u8]], level: u32) -> Vec<Part> {
    if values.is_empty() || level > 6 {
        return vec![Part::field(Form::Any)];
    }
    if let Some(parts) = constant(values) {
        return parts;
    }
    if let Some(form) = leaf(values) {
        return vec![Part::field(form)];
    }
    let binary = share(values.iter().filter(|value| is_binary(value)).count(), values.len());
    if binary > 1.0 - SHARE_MIN && (binary > SHARE_MIN || cut::lead(values).is_some()) {
        return cut::binary(values, level);
    }
    url(values, level)
        .or_else(|| by_delimiter(values, level))
        .or_else(|| by_anchor(values, level))
        .or_else(|| glued(values))
        .or_else(|| cut::text(values))
        .unwrap_or_else(|| vec![Part::field(plain_form(values))])
}

/// A part that is the same in nearly all keys. Digits alone stay a field: a time or a number that did not change.
fn constant(values: &[&[u8]]) -> Option<Vec<Part>> {
    let (value, count) = most_frequent(values)?;
    // Others that come once each are malformed; others that come again are words.
    let others = values.len() - count;
    let needed = if distinct(values, others + 1) == others + 1 { NEARLY_ALL } else { ALL_BUT_A_HANDFUL };
    if share(count, values.len()) < needed || values.len() < 8 {
        return None;
    }
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let is_special = token::class(value).is_strong() || names::has_known_suffix(value);
    (!is_special).then(|| vec![Part::Literal(value.to_vec())])
}

/// The most frequent value and how often it occurs.
pub(super) fn most_frequent<'k>(values: &[&'k [u8]]) -> Option<(&'k [u8], usize)> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value)))
}

/// The most frequent length.
pub(super) fn most_frequent_len(values: &[&[u8]]) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value.len()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(len, _)| len)
}

/// The special forms of the fields of keys that are built alike, in order.
pub(super) fn special_forms(keys: &[&[u8]]) -> Vec<Form> {
    let form = |part: Part| match part {
        Part::Field { form, .. } if form != Form::Any => Some(form),
        _ => None,
    };
    grow(keys, 0).into_iter().filter_map(form).collect()
}

/// Every so manieth value, at most [`LOOK`].
pub(super) fn some<'k>(values: &[&'k [u8]]) -> Vec<&'k [u8]> {
    let step = values.len().div_ceil(LOOK).max(1);
    values.iter().step_by(step).copied().collect()
}

/// Different values, at most `max + 1` are counted.
pub(super) fn distinct(values: &[&[u8]], max: usize) -> usize {
    let mut seen = BTreeSet::new();
    for value in values {
        seen.insert(*value);
        if seen.len() > max {
            break;
        }
    }
    seen.len()
}

fn share_of(values: &[&[u8]], fits: impl Fn(&[u8]) -> bool) -> f64 {
    share(values.iter().filter(|value| fits(value)).count(), values.len())
}

/// The form of values that must not be cut although they hold delimiters.
fn leaf(values: &[&[u8]]) -> Option<Form> {
    let some = some(values);
    let is = |class: Class| share_of(&some, |value| token::class(value) == class) >= SHARE_MIN;
    if share_of(&some, token::is_uuid) >= SHARE_MIN {
        let version = (1..=8).find(|version| is(Class::Uuid(*version)));
        return Some(Form::Uuid(version.unwrap_or(0)));
    }
    if is(Class::Time) {
        return Some(Form::Time);
    }
    if is(Class::Address) {
        return Some(Form::Address);
    }
    if is(Class::Ulid) {
        return Some(Form::Ulid);
    }
    if is(Class::Ksuid) {
        return Some(Form::Ksuid);
    }
    // `20240502T103000Z` has letters between digits and is none of several parts.
    let is_basic = |value: &[u8]| calendar::whole(value).is_some();
    if share_of(&some, is_basic) >= 0.98 {
        let digits = share_of(&some, |value| value.iter().all(u8::is_ascii_digit)) > 0.0;
        return Some(if digits { Form::Digits } else { Form::Time });
    }
    let numbers = share_of(&some, |value| Form::Number.takes(value));
    if numbers >= SHARE_MIN && share_of(&some, token::is_signed) > 0.0 {
        return Some(Form::Number);
    }
    if share_of(&some, names::is_email) >= SHARE_MIN {
        return Some(Form::Any);
    }
    is_host(&some).then_some(Form::Domain)
}

/// URLs: the scheme, the host, and what stands behind the host. Bytes that separate in URLs do not separate fields here; those that stand
/// in no URL do.
fn url(values: &[&[u8]], level: u32) -> Option<Vec<Part>> {
    let some = some(values);
    let primary = Delimiters::count(&some).primary();
    let is_cut = primary.is_some_and(|primary| token::rank(primary) <= token::rank(b';'));
    if is_cut || share_of(&some, names::is_url) < SHARE_MIN {
        return None;
    }
    let ends: Vec<(&[u8], usize)> = values
        .iter()
        .filter_map(|value| memchr::memmem::find(value, b"://").map(|at| (*value, at)))
        .collect();
    let schemes: Vec<&[u8]> = ends.iter().map(|(value, at)| &value[..*at]).collect();
    let rests: Vec<&[u8]> = ends.iter().map(|(value, at)| &value[at + 3..]).collect();
    let hosts: Vec<&[u8]> =
        rests.iter().filter_map(|rest| memchr::memchr(b'/', rest).map(|at| &rest[..at])).collect();
    if share(hosts.len(), values.len()) < NEARLY_ALL {
        return Some(vec![Part::field(Form::Any)]);
    }
    let form = if is_host(&self::some(&hosts)) { Form::Domain } else { Form::Any };
    let mut parts = grow(&schemes, level + 1);
    parts.extend([Part::Literal(b"://".to_vec()), Part::field(form)]);
    parts.extend([Part::Literal(b"/".to_vec()), Part::field(Form::Any)]);
    Some(parts)
}

/// Whether values are host names, in reading order or turned round.
fn is_host(values: &[&[u8]]) -> bool {
    if share_of(values, names::looks_like_host) < SHARE_MIN || share_of(values, names::may_be_file) > 0.9 {
        return false;
    }
    // An address stands where a host has no name.
    let is_address = |value: &[u8]| token::class(value) == Class::Address;
    let addresses = share_of(values, is_address);
    let reading = share_of(values, names::has_known_suffix);
    let reversed =
        share_of(values, |value| names::has_known_suffix(&names::turned(value)) && !is_address(value));
    addresses < 0.5 && reading.max(reversed) + addresses >= SHARE_MIN
}

/// The form of values that are not cut further.
fn plain_form(values: &[&[u8]]) -> Form {
    let all = |form: Form| share_of(values, |value| form.takes(value)) >= ALL_BUT_A_HANDFUL;
    if all(Form::LongDigits) {
        return Form::LongDigits;
    }
    if all(Form::Digits) { Form::Digits } else { Form::Any }
}

/// Cuts at the strongest regular delimiter.
fn by_delimiter(values: &[&[u8]], level: u32) -> Option<Vec<Part>> {
    let delimiter = Delimiters::count(values).primary()?;
    let rows: Vec<Vec<&[u8]>> = values.iter().map(|value| split(value, delimiter)).collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in &rows {
        *counts.entry(row.len()).or_default() += 1;
    }
    let (width, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let rows: Vec<&Vec<&[u8]>> = rows.iter().filter(|row| row.len() == width).collect();
    let mut parts = Vec::new();
    for at in 0..width {
        if at > 0 {
            parts.push(Part::Literal(vec![delimiter]));
        }
        let column: Vec<&[u8]> = rows.iter().map(|row| row[at]).collect();
        parts.extend(grow(&column, level + 1));
    }
    (level == 0 || is_worth_cutting(values, delimiter, &parts)).then_some(parts)
}

/// Whether a part of a key says more cut than whole. `app.http.rate` and `us-east-1` do not; `pump-0003` does.
fn is_worth_cutting(values: &[&[u8]], delimiter: u8, parts: &[Part]) -> bool {
    let fields = parts.iter().filter(|part| matches!(part, Part::Field { .. })).count();
    let has_form = parts.iter().any(|part| matches!(part, Part::Field { form, .. } if *form != Form::Any));
    let all_digits =
        parts.iter().all(|part| !matches!(part, Part::Field { form, .. } if *form != Form::Digits));
    // A version is a number of several parts.
    if fields > 1 && all_digits && delimiter == b'.' {
        return false;
    }
    let is_strong = token::rank(delimiter) <= token::rank(b',');
    if fields <= 1 {
        // `tenant=acme` names its field.
        let is_named = is_strong && matches!(parts.first(), Some(Part::Literal(_)));
        return has_form || is_named || distinct(values, 64) > 64;
    }
    distinct(values, 64) > 64 && (has_form || is_strong)
}

/// Cuts values in which a delimiter occurs varyingly often, from both ends, as far as the parts have a form.
fn by_anchor(values: &[&[u8]], level: u32) -> Option<Vec<Part>> {
    let delimiters = Delimiters::count(values);
    delimiters.all_irregular().find_map(|delimiter| {
        let (left, right) = anchors(values, delimiter)?;
        let rows: Vec<Vec<&[u8]>> =
            values.iter().filter_map(|value| cut_ends(value, delimiter, left, right)).collect();
        let mut parts = Vec::new();
        for at in 0..=left + right {
            if at > 0 {
                parts.push(Part::Literal(vec![delimiter]));
            }
            let column: Vec<&[u8]> = rows.iter().map(|row| row[at]).collect();
            if at == left {
                parts.push(Part::field(Form::Any));
            } else {
                parts.extend(grow(&column, level + 1));
            }
        }
        (level == 0 || is_worth_cutting(values, delimiter, &parts)).then_some(parts)
    })
}

/// `value` cut at the first `left` and the last `right` places of a delimiter.
fn cut_ends(value: &[u8], delimiter: u8, left: usize, right: usize) -> Option<Vec<&[u8]>> {
    let all = split(value, delimiter);
    if all.len() < left + right + 1 {
        return None;
    }
    let mut parts: Vec<&[u8]> = all[..left].to_vec();
    let start: usize = all[..left].iter().map(|part| part.len() + 1).sum();
    let end: usize = all[all.len() - right..].iter().map(|part| part.len() + 1).sum();
    parts.push(&value[start..value.len() - end]);
    parts.extend(&all[all.len() - right..]);
    Some(parts)
}

/// How many parts at both ends have a form of their own, where a delimiter occurs varyingly often. `None`: none. Of all ways to take
/// parts from both ends, that with the most special forms; among equals the one with more parts from the left.
pub(super) fn anchors(values: &[&[u8]], delimiter: u8) -> Option<(usize, usize)> {
    let delimiters = Delimiters::count(values);
    let rank = token::rank(delimiter)?;
    let least = delimiters.least(&delimiters.counts[rank]).min(8);
    let rows: Vec<Vec<&[u8]>> = some(values).iter().map(|value| split(value, delimiter)).collect();
    let scores = |from_left: bool| -> Vec<u32> {
        let each = (0..least).map(|at| anchor_score(&rows, at, from_left));
        each.take_while(|score| *score > 0).collect()
    };
    let (left, right) = (scores(true), scores(false));
    let sum = |scores: &[u32], len: usize| scores[..len].iter().sum::<u32>();
    let all =
        (0..=left.len()).flat_map(|one| (0..=right.len().min(least - one)).map(move |other| (one, other)));
    let best = all.max_by_key(|(one, other)| (sum(&left, *one) + sum(&right, *other), *one))?;
    // A slash in front of a path is part of it.
    let only_empty = best == (1, 0) && rows.iter().all(|row| row[0].is_empty());
    (best.0 + best.1 > 0 && !only_empty).then_some(best)
}

/// How special the part at this distance from an end is: 0 not at all, 1 few words in front, 3 a form of its own.
fn anchor_score(rows: &[Vec<&[u8]>], at: usize, from_left: bool) -> u32 {
    let mut column: Vec<&[u8]> = Vec::with_capacity(rows.len());
    for row in rows {
        column.extend(if from_left { row.get(at) } else { row.iter().rev().nth(at) });
    }
    let classes: Vec<Class> = column.iter().map(|value| token::class(value)).collect();
    let of = |fits: &dyn Fn(Class) -> bool| {
        share(classes.iter().filter(|class| fits(**class)).count(), classes.len())
    };
    let has_class = of(&|class| matches!(class, Class::Digits | Class::Signed)) >= SHARE_MIN
        || of(&|class| matches!(class, Class::Hex | Class::LongHex(_))) >= SHARE_MIN
        || classes
            .first()
            .is_some_and(|first| first.is_strong() && of(&|class| class == *first) >= SHARE_MIN);
    if has_class || constant(&column).is_some() || is_host(&column) {
        return 3;
    }
    let is_few = column.len() >= 64 && distinct(&column, 64) * 8 <= column.len() && from_left && at == 0;
    u32::from(is_few)
}

/// A constant word with digits behind it without a delimiter, `p5638`; any word with a time of one width behind it, `DE20240502`.
fn glued(values: &[&[u8]]) -> Option<Vec<Part>> {
    let word = |value: &[u8]| value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let heads: Vec<&[u8]> = values.iter().map(|value| &value[..word(value)]).collect();
    let (head, _) = most_frequent(&heads).filter(|(head, _)| !head.is_empty())?;
    let fits = |value: &[u8], form: Form| value.strip_prefix(head).is_some_and(|rest| form.takes(rest));
    if share_of(values, |value| fits(value, Form::Digits)) >= NEARLY_ALL {
        return Some(vec![Part::Literal(head.to_vec()), Part::field(Form::Digits)]);
    }
    let tails: Vec<&[u8]> = values.iter().zip(&heads).map(|(value, head)| &value[head.len()..]).collect();
    let width = most_frequent_len(&tails).filter(|width| *width >= 8)?;
    let is_time = |tail: &[u8]| {
        tail.len() == width
            && tail.iter().all(u8::is_ascii_digit)
            && (calendar::whole(tail).is_some() || super::times::is_epoch_like(tail))
    };
    let has_heads = share_of(&heads, |head| !head.is_empty()) >= NEARLY_ALL;
    (has_heads && share_of(&tails, is_time) >= NEARLY_ALL)
        .then(|| vec![Part::field(Form::Any), Part::fixed(Form::Digits, width)])
}
