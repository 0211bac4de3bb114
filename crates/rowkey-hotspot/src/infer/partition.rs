//! Keys sorted into groups that are built alike, before the parts of a group are looked at.

use std::collections::BTreeMap;

use super::cut;
use super::segment::{self, Delimiters, SHARE_MIN};
use super::token::{self, Class};

/// A group below this share is no format of its own: a handful of malformed keys is not a second format.
pub(super) const GROUP_SHARE_MIN: f64 = 0.01;

/// A group has at least so many keys.
pub(super) const GROUP_KEYS_MIN: usize = 5;

/// Different words that may tell formats apart, at most.
const WORDS_MAX: usize = 24;

type Groups<'k> = Vec<Vec<&'k [u8]>>;

/// Groups of keys that differ in how they are built; `None` if they do not.
pub(super) fn partition<'k>(keys: &[&'k [u8]]) -> Option<Groups<'k>> {
    // Few random bytes may all be letters: short keys are no second format of binary ones.
    let is_binary = |key: &[u8]| segment::is_binary(key) || key.len() < 8;
    if keys.iter().any(|key| segment::is_binary(key)) && cut::lead(keys).is_none() {
        if let Some(groups) = by(keys, |key| Some(is_binary(key))) {
            return Some(groups);
        }
        let binary = keys.iter().filter(|key| segment::is_binary(key)).count();
        if share(binary, keys.len()) > 1.0 - SHARE_MIN {
            return None;
        }
    }
    let delimiters = Delimiters::count(keys);
    if let Some(primary) = delimiters.primary() {
        let columns: Vec<Vec<&[u8]>> = keys.iter().map(|key| segment::split(key, primary)).collect();
        return by_class(keys, &columns).or_else(|| by_word(keys, &columns, true));
    }
    if let Some(often) = delimiters.often() {
        let columns: Vec<Vec<&[u8]>> = keys.iter().map(|key| segment::split(key, often)).collect();
        if let Some(groups) = by_word(keys, &columns, false) {
            return if is_one_with_text(keys, &groups, often) { None } else { Some(groups) };
        }
        let is_text_like = token::rank(often) > token::rank(b'$');
        if is_text_like && segment::anchors(keys, often).is_some() {
            return None;
        }
        let groups = by(keys, |key| Some(segment::split(key, often).len().min(8)));
        let is_few = groups.as_ref().is_some_and(|groups| groups.len() <= 3);
        return if is_few { groups } else { None };
    }
    let whole: Vec<Vec<&[u8]>> = keys.iter().map(|key| vec![*key]).collect();
    by_class(keys, &whole).or_else(|| by(keys, |key| Some(outline(key))))
}

/// Whether groups by a word are one format, in which the text in front holds the delimiter: they have the same special forms behind it.
fn is_one_with_text(keys: &[&[u8]], groups: &Groups<'_>, delimiter: u8) -> bool {
    let Some((_, right)) = segment::anchors(keys, delimiter) else { return false };
    let mut forms = groups.iter().map(|group| segment::special_forms(group));
    let Some(first) = forms.next() else { return false };
    right > 0 && !first.is_empty() && forms.all(|other| other == first)
}

/// The delimiters and protected spans of a key, the first few.
fn outline(key: &[u8]) -> Vec<u8> {
    let mut places = Vec::new();
    token::delimiters_of(key, &mut places);
    places
        .iter()
        .map(|(_, byte)| *byte)
        .filter(|byte| token::rank(*byte) <= token::rank(b','))
        .take(4)
        .collect()
}

/// Groups by a property; `None` if one group has nearly all keys, or the groups that are worth it leave too many keys alone.
fn by<'k, P: Ord>(keys: &[&'k [u8]], property: impl Fn(&[u8]) -> Option<P>) -> Option<Groups<'k>> {
    let mut groups: BTreeMap<P, Vec<&'k [u8]>> = BTreeMap::new();
    for key in keys {
        if let Some(property) = property(key) {
            groups.entry(property).or_default().push(key);
        }
    }
    worthwhile(keys.len(), groups.into_values().collect())
}

fn worthwhile(total: usize, mut groups: Groups<'_>) -> Option<Groups<'_>> {
    groups.retain(|group| is_worth(group.len(), total));
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let covered: usize = groups.iter().map(Vec::len).sum();
    (groups.len() > 1 && groups.len() <= WORDS_MAX && share(covered, total) >= 0.7).then_some(groups)
}

/// Whether so many keys are a group.
pub(super) fn is_worth(keys: usize, total: usize) -> bool {
    keys >= GROUP_KEYS_MIN && share(keys, total) >= GROUP_SHARE_MIN
}

/// `part / total`, 0 if there is nothing.
#[expect(clippy::cast_precision_loss, reason = "samples have far fewer than 2^52 keys")]
pub(super) fn share(part: usize, total: usize) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}

/// Groups by the forms of their columns, where several special forms share a column.
fn by_class<'k>(keys: &[&'k [u8]], columns: &[Vec<&'k [u8]>]) -> Option<Groups<'k>> {
    let width = modal_len(columns)?;
    let rows: Vec<(&'k [u8], &Vec<&'k [u8]>)> =
        keys.iter().copied().zip(columns).filter(|(_, row)| row.len() == width).collect();
    let mut vectors: Vec<Vec<Class>> = vec![Vec::with_capacity(width); rows.len()];
    let mut is_mixed = false;
    for at in 0..width {
        let classes = strong_classes(&rows.iter().map(|(_, row)| row[at]).collect::<Vec<_>>());
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        for class in &classes {
            *counts.entry(*class).or_default() += 1;
        }
        is_mixed |= counts.values().filter(|count| is_worth(**count, rows.len())).count() > 1;
        for (vector, class) in vectors.iter_mut().zip(classes) {
            vector.push(class);
        }
    }
    if !is_mixed {
        return None;
    }
    let mut groups: BTreeMap<Vec<Class>, Vec<&'k [u8]>> = BTreeMap::new();
    for (vector, (key, _)) in vectors.into_iter().zip(&rows) {
        groups.entry(vector).or_default().push(key);
    }
    worthwhile(keys.len(), groups.into_values().collect())
}

/// The class of each value as far as it tells formats apart: all weak ones are `Word`.
fn strong_classes(values: &[&[u8]]) -> Vec<Class> {
    let mut classes: Vec<Class> = values.iter().map(|value| token::class(value)).collect();
    let of = |wanted: &dyn Fn(Class) -> bool| classes.iter().filter(|class| wanted(**class)).count();
    let long = of(&|class| class == Class::LongDigits);
    let short = of(&|class| class == Class::Digits);
    // Long and short digits are two units of one time if they look like it, and else two kinds of number.
    let is_time = long > 0 && short > 0 && {
        let times = values.iter().filter(|value| super::times::is_epoch_like(value)).count();
        share(times, long + short) >= SHARE_MIN
    };
    // A digest in the form of a UUID has any version.
    let mut versions: BTreeMap<Class, usize> = BTreeMap::new();
    for class in classes.iter().filter(|class| matches!(class, Class::Uuid(_))) {
        *versions.entry(*class).or_default() += 1;
    }
    let has_versions = versions.values().filter(|count| is_worth(**count, values.len())).count() <= 3;
    // A number in hex without padding has shorter values too.
    let hex = of(&|class| class == Class::Hex);
    let is_padded_hex = share(hex, values.len()) < GROUP_SHARE_MIN;
    for class in &mut classes {
        *class = match *class {
            Class::LongDigits if is_time => Class::Word,
            Class::LongHex(_) if !is_padded_hex => Class::Word,
            Class::Uuid(_) if !has_versions => Class::Uuid(0),
            class if class.is_strong() => class,
            _ => Class::Word,
        };
    }
    classes
}

fn modal_len(columns: &[Vec<&[u8]>]) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in columns {
        *counts.entry(row.len()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(len, count)| (*count, std::cmp::Reverse(*len))).map(|(len, _)| len)
}

/// What follows a word: how many columns, and of which classes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Follow {
    columns: usize,
    classes: Vec<Option<Class>>,
}

/// Groups by a word in one of the first two columns, where what follows depends on the word.
fn by_word<'k>(keys: &[&'k [u8]], columns: &[Vec<&'k [u8]>], same_len: bool) -> Option<Groups<'k>> {
    (0..2).find_map(|at| by_word_at(keys, columns, at, same_len))
}

fn by_word_at<'k>(
    keys: &[&'k [u8]],
    columns: &[Vec<&'k [u8]>],
    at: usize,
    same_len: bool,
) -> Option<Groups<'k>> {
    let mut words: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (row, columns) in columns.iter().enumerate() {
        if let Some(word) = columns.get(at).filter(|word| word.iter().any(u8::is_ascii_alphabetic)) {
            words.entry(word).or_default().push(row);
        }
    }
    words.retain(|_, rows| is_worth(rows.len(), keys.len()));
    let covered: usize = words.values().map(Vec::len).sum();
    if words.len() < 2 || words.len() > WORDS_MAX || share(covered, keys.len()) < 0.9 {
        return None;
    }
    let mut groups: BTreeMap<Follow, Vec<&'k [u8]>> = BTreeMap::new();
    for rows in words.values() {
        let follow = follow(rows, columns, at)?;
        groups.entry(follow).or_default().extend(rows.iter().map(|row| keys[*row]));
    }
    // Different numbers of columns are different formats. With the same number, the forms must contradict each other.
    let mut follows = groups.keys();
    let first = follows.next()?;
    let differs = follows.any(|follow| {
        !same_len && follow.columns != first.columns
            || follow.classes.iter().zip(&first.classes).any(|(one, other)| match (one, other) {
                (Some(one), Some(other)) => contradict(*one, *other),
                _ => false,
            })
    });
    if differs { worthwhile(keys.len(), groups.into_values().collect()) } else { None }
}

fn contradict(one: Class, other: Class) -> bool {
    use Class::{Digits, Hex, LongHex, Signed};
    let is_number = |class| matches!(class, Digits | Signed);
    let is_hex = |class| matches!(class, Hex | LongHex(_));
    one != other && !(is_number(one) && is_number(other)) && !(is_hex(one) && is_hex(other))
}

/// What follows a word; `None` if that varies too much to be a format.
fn follow(rows: &[usize], columns: &[Vec<&[u8]>], at: usize) -> Option<Follow> {
    let mut lens: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows {
        *lens.entry(columns[*row].len()).or_default() += 1;
    }
    let (len, count) = lens.into_iter().max_by_key(|(_, count)| *count)?;
    if share(count, rows.len()) < SHARE_MIN {
        return None;
    }
    let classes = (at + 1..len).map(|column| {
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        for row in rows {
            if let Some(value) = columns[*row].get(column) {
                *counts.entry(token::class(value)).or_default() += 1;
            }
        }
        let (class, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        (share(count, rows.len()) >= SHARE_MIN).then_some(class)
    });
    Some(Follow { columns: len, classes: classes.collect() })
}
