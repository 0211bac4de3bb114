//! The TOML document, read with positions: every error says line, column, and what to write instead.

use crate::{Error, ErrorKind, Result};
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of the schema file: turns byte offsets into lines and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t>(pub(super) &'t str);

impl Source<'_> {
    /// An error at this byte offset.
    pub(super) fn error(self, at: usize, message: impl Into<String>) -> Error {
        let (line, column) = self.position(at);
        Error::new(ErrorKind::Schema { line, column }, message)
    }

    /// Line and column of a byte offset, from 1, the column in characters.
    fn position(self, at: usize) -> (usize, usize) {
        let at = (0..=at.min(self.0.len())).rev().find(|&at| self.0.is_char_boundary(at)).unwrap_or(0);
        let before = &self.0[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A string of the document, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Text<'t> {
    source: Source<'t>,
    pub(super) value: String,
    span: Range<usize>,
}

impl Text<'_> {
    /// An error about the whole string.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(self.span.start, message)
    }

    /// An error about the byte at `offset` of the string. It points there if the string is written without escapes.
    pub(super) fn error_at(&self, offset: usize, message: impl Into<String>) -> Error {
        let inner = self.span.start + 1..self.span.end.saturating_sub(1);
        let plain = self.source.0.get(inner.clone()) == Some(self.value.as_str());
        self.source.error(if plain { inner.start + offset } else { self.span.start }, message)
    }
}

/// A table of the document.
#[derive(Debug, Clone)]
pub(super) struct Table<'a, 't> {
    source: Source<'t>,
    /// How messages name it: `[key.salt]`, or the field `time`.
    name: String,
    at: usize,
    entries: &'a DeTable<'t>,
}

impl<'a, 't> Table<'a, 't> {
    /// The whole document.
    pub(super) fn root(source: Source<'t>, document: &'a DeTable<'t>) -> Self {
        Self { source, name: "the file".to_owned(), at: 0, entries: document }
    }

    /// An error about the whole table.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(self.at, message)
    }

    /// An error about a key of the table, or about the table if it has no such key.
    pub(super) fn error_at(&self, key: &str, message: impl Into<String>) -> Error {
        let at = self.entries.get_key_value(key).map_or(self.at, |(key, _)| key.span().start);
        self.source.error(at, message)
    }

    /// An error about the value of a key of the table, or about the table if it has no such key.
    pub(super) fn error_at_value(&self, key: &str, message: impl Into<String>) -> Error {
        let at = self.entries.get(key).map_or(self.at, |value| value.span().start);
        self.source.error(at, message)
    }

    /// The error that a key is missing, with the line to add.
    pub(super) fn missing(&self, key: &str, add: &str) -> Error {
        self.error(format!("missing `{key}` in {}: add {add}", self.name))
    }

    /// The keys, in the order of the file.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter().map(|key| key.get_ref().as_ref()).collect()
    }

    /// Whether there is such a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Refuses every key that is not known, the first of the file first.
    pub(super) fn refuse_unknown(&self, known: &[&str]) -> Result<()> {
        match self.keys().into_iter().find(|key| !known.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let message = format!("unknown key `{key}` in {}; {}", self.name, suggest(key, known));
                Err(self.error_at(key, message))
            }
        }
    }

    /// A string.
    pub(super) fn string(&self, key: &str) -> Result<Option<Text<'t>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        self.text_of(value, || format!("`{key}`")).map(Some)
    }

    /// A string that must be there; `example` is a whole line to add.
    pub(super) fn required_string(&self, key: &str, example: &str) -> Result<Text<'t>> {
        self.string(key)?.ok_or_else(|| self.missing(key, example))
    }

    /// A string that is one of these words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.string(key)? else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Ok(Some(*value));
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = suggest(&text.value, &known);
        Err(text.error(format!("unknown `{key}` \"{}\"; {hint}", text.value)))
    }

    /// An array of strings.
    pub(super) fn strings(&self, key: &str) -> Result<Option<Vec<Text<'t>>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.wrong_type(
                value,
                &format!("`{key}`"),
                "an array of strings, as in [\"a\", \"b\"]",
            ));
        };
        array
            .iter()
            .map(|value| self.text_of(value, || format!("an element of `{key}`")))
            .collect::<Result<_>>()
            .map(Some)
    }

    /// An integer of this range.
    pub(super) fn integer(&self, key: &str, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let DeValue::Integer(text) = value.get_ref() else {
            let example = format!("an integer, as in {key} = {}", range.start().max(&1));
            return Err(self.wrong_type(value, &format!("`{key}`"), &example));
        };
        let number =
            i64::from_str_radix(text.as_str(), text.radix()).ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let written = &self.source.0[value.span()];
            let wanted = match range.into_inner() {
                (low, high) if low == high => format!("{low}"),
                (low, i64::MAX) => format!("{low} or more, and below 2^63"),
                (low, high) => format!("from {low} to {high}"),
            };
            self.source.error(value.span().start, format!("`{key}` is {written}; it must be {wanted}"))
        })
    }

    /// A number that is not negative and not infinite, written as an integer or with a point.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let text = match value.get_ref() {
            DeValue::Integer(text) if text.radix() == 10 => text.as_str(),
            DeValue::Float(text) => text.as_str(),
            _ => {
                return Err(self.wrong_type(
                    value,
                    &format!("`{key}`"),
                    &format!("a number, as in {key} = 200"),
                ));
            }
        };
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| {
            self.source
                .error(value.span().start, format!("`{key}` is {text}; it must be zero or more, and finite"))
        })
    }

    /// `true` or `false`; absent is `false`.
    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        match self.entries.get(key) {
            None => Ok(false),
            Some(value) => match value.get_ref() {
                DeValue::Boolean(flag) => Ok(*flag),
                _ => Err(self.wrong_type(value, &format!("`{key}`"), "true or false, without quotes")),
            },
        }
    }

    /// A table. Its name in messages is `name`.
    pub(super) fn table(&self, key: &str, name: String, example: &str) -> Result<Option<Table<'a, 't>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        self.table_of(value, name, example).map(Some)
    }

    /// An array of tables, `[[key]]`.
    pub(super) fn tables(&self, key: &str) -> Result<Vec<Table<'a, 't>>> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let header = format!("[[{key}]]");
        let DeValue::Array(array) = value.get_ref() else {
            let example = format!("an array of tables: write {header} with two brackets above each");
            return Err(self.wrong_type(value, &format!("`{key}`"), &example));
        };
        array
            .iter()
            .map(|value| self.table_of(value, header.clone(), &format!("a table under {header}")))
            .collect()
    }

    fn table_of(
        &self,
        value: &'a Spanned<DeValue<'t>>,
        name: String,
        example: &str,
    ) -> Result<Table<'a, 't>> {
        match value.get_ref() {
            DeValue::Table(entries) => {
                Ok(Table { source: self.source, name, at: value.span().start, entries })
            }
            _ => Err(self.wrong_type(value, &name, example)),
        }
    }

    fn text_of(&self, value: &Spanned<DeValue<'t>>, what: impl Fn() -> String) -> Result<Text<'t>> {
        match value.get_ref() {
            DeValue::String(text) => {
                Ok(Text { source: self.source, value: text.as_ref().to_owned(), span: value.span() })
            }
            _ => Err(self.wrong_type(value, &what(), "a string in quotes")),
        }
    }

    fn wrong_type(&self, value: &Spanned<DeValue<'t>>, what: &str, wanted: &str) -> Error {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number with a point",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.source.error(value.span().start, format!("{what} is {found}; it must be {wanted}"))
    }
}

/// "did you mean `x`?" if one of the known words is near, otherwise the list of them.
pub(super) fn suggest(word: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|known| (distance(word, known), *known)).min();
    match nearest {
        Some((edits, known)) if edits <= 1.max(known.chars().count() / 3) => {
            format!("did you mean `{known}`?")
        }
        Some(_) => format!("known are {}", list(known)),
        None => "there is none".to_owned(),
    }
}

/// `` `a`, `b` and `c` ``.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. Words longer than 64
/// characters are near nothing.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len() > 64 || right.len() > 64 {
        return usize::MAX;
    }
    let width = right.len() + 1;
    let mut grid = vec![0_usize; (left.len() + 1) * width];
    for row in 0..=left.len() {
        for column in 0..=right.len() {
            grid[row * width + column] = if row == 0 || column == 0 {
                row + column
            } else {
                let replace = usize::from(left[row - 1] != right[column - 1]);
                let mut best = (grid[(row - 1) * width + column] + 1)
                    .min(grid[row * width + column - 1] + 1)
                    .min(grid[(row - 1) * width + column - 1] + replace);
                let swapped = row > 1
                    && column > 1
                    && left[row - 1] == right[column - 2]
                    && left[row - 2] == right[column - 1];
                if swapped {
                    best = best.min(grid[(row - 2) * width + column - 2] + 1);
                }
                best
            };
        }
    }
    grid[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_gets_the_list() {
        let known = ["buckets", "hash", "of"];
        assert_eq!(suggest("buckts", &known), "did you mean `buckets`?");
        assert_eq!(suggest("bukcets", &known), "did you mean `buckets`?");
        assert_eq!(suggest("fo", &known), "did you mean `of`?");
        assert_eq!(suggest("partitions", &known), "known are `buckets`, `hash` and `of`");
        assert_eq!(suggest("x", &[]), "there is none");
    }

    #[test]
    fn positions_count_characters_and_survive_offsets_outside() {
        let source = Source("a = 1\né = ü\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(6), (2, 1));
        assert_eq!(source.position(8), (2, 2));
        assert_eq!(source.position(7), (2, 1));
        assert_eq!(source.position(99), (3, 1));
    }
}
