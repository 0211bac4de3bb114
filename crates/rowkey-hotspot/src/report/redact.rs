//! `--redact`: values become their classes, so that a report can be shown to people who may not see the keys.
//!
//! ```text
//! digit -> 9   capital -> A   small letter -> a   control byte -> \x00   byte above ASCII -> \xff   other ASCII stays
//! ```
//!
//! Lengths stay, punctuation and so delimiters stay, and the order of the classes is that of the bytes. What is left says how a key is built
//! and nothing of what it holds: hex digits, names and numbers of one length look alike. Names of fields stay where a schema gave them; inferred
//! ones may be words of the keys, so they become what the field is.

use crate::finding::{Finding, VALUE_BEGIN, VALUE_END};
use crate::layout::{Format, Layout, Meaning};
use crate::report::words;
use rowkey::escape;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Shows values as they are, or as classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redactor {
    redacts: bool,
}

impl Redactor {
    /// Redacts if `redacts`, else shows values as they are.
    pub fn new(redacts: bool) -> Self {
        Self { redacts }
    }

    /// Whether values are replaced.
    pub fn redacts(self) -> bool {
        self.redacts
    }

    /// A key or a part of one, as it may be shown.
    pub fn bytes(self, value: &[u8]) -> Cow<'_, [u8]> {
        if self.redacts {
            Cow::Owned(value.iter().copied().map(class).collect())
        } else {
            Cow::Borrowed(value)
        }
    }

    /// The same, escaped as Rowkey prints keys.
    pub fn key(self, value: &[u8]) -> String {
        escape::escaped(&self.bytes(value)).to_string()
    }

    /// A text of the input that need not be a key, such as a malformed line: every character becomes its class.
    pub fn line(self, line: &str) -> String {
        if self.redacts { line.chars().map(class_of_character).collect() } else { line.to_owned() }
    }

    /// A text of a finding: marked values (see [`crate::finding::quote_value`]) in backquotes, as they may be shown. Names of fields
    /// are left as they are; see [`Wording`].
    pub fn text(self, text: &str) -> String {
        Wording::new(self).text(text)
    }
}

/// How a report speaks: values and the names of fields, as they may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wording {
    /// For values.
    pub redactor: Redactor,
    /// What inferred names of fields become.
    names: BTreeMap<String, String>,
}

impl Wording {
    /// All names as they are.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, names: BTreeMap::new() }
    }

    /// For reports about keys of this layout: if values are redacted, so are names that were inferred.
    pub fn of_layout(redactor: Redactor, layout: &Layout) -> Self {
        let mut wording = Self::new(redactor);
        if !layout.from_schema {
            for field in layout.formats.iter().flat_map(Format::fields) {
                wording.rename(&field.name, plain_name(&field.meaning));
            }
        }
        wording
    }

    /// If values are redacted, a field of this name is called `plain` from now on, with a number behind it if there is such a field
    /// already. A name that has become another one keeps that.
    pub fn rename(&mut self, name: &str, plain: &str) {
        if !self.redactor.redacts || self.names.contains_key(name) {
            return;
        }
        let is_taken = |new: &str| self.names.values().any(|taken| taken == new);
        let numbered =
            |number: usize| if number == 1 { plain.to_owned() } else { format!("{plain}{number}") };
        if let Some(new) = (1..=self.names.len() + 1).map(numbered).find(|new| !is_taken(new)) {
            self.names.insert(name.to_owned(), new);
        }
    }

    /// The name of a field, as it may be shown.
    pub fn name<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// A clause in which names of fields stand, such as a formula, as it may be shown.
    pub fn clause(&self, text: &str) -> String {
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let length = rest[start..].find(|character| !is_part(character));
            let end = length.map_or(rest.len(), |length| start + length);
            out.push_str(&rest[..start]);
            out.push_str(self.name(&rest[start..end]));
            rest = &rest[end..];
        }
        out + rest
    }

    /// A text of a finding: marked values (see [`crate::finding::quote_value`]) in backquotes, as they may be shown, and so the names of
    /// fields in backquotes.
    pub fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, marked)) = rest.split_once(VALUE_BEGIN) {
            // A mark without an end marks all that follows.
            let (value, after) = marked.split_once(VALUE_END).unwrap_or((marked, ""));
            out.push_str(&self.between_values(before));
            out.push('`');
            match escape::unescape(value) {
                Ok(bytes) => out.push_str(&self.redactor.key(&bytes)),
                Err(_) => out.push_str(&self.redactor.line(value)),
            }
            out.push('`');
            rest = after;
        }
        out + &self.between_values(rest)
    }

    /// A finding whose texts and field are as they may be shown. Its keys and places are left as they are.
    #[must_use]
    pub fn finding(&self, finding: &Finding) -> Finding {
        let mut shown = finding.clone();
        shown.headline = self.text(&finding.headline);
        shown.field = finding.field.as_deref().map(|field| self.name(field).to_owned());
        for evidence in &mut shown.evidence {
            evidence.what = self.text(&evidence.what);
            evidence.threshold = self.text(&evidence.threshold);
        }
        for advice in &mut shown.advice {
            for text in [&mut advice.action, &mut advice.gain, &mut advice.cost] {
                *text = self.text(text);
            }
        }
        shown
    }

    /// Text without marks, which has backquotes around names and formulas only.
    fn between_values<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.names.is_empty() {
            return text.into();
        }
        let parts: Vec<Cow<'_, str>> = text
            .split('`')
            .enumerate()
            .map(|(at, part)| if at % 2 == 1 { self.clause(part).into() } else { part.into() })
            .collect();
        parts.join("`").into()
    }
}

/// What a field is called if its name may not be shown.
fn plain_name(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Salt(_) => "bucket",
        Meaning::Domain { .. } => "host",
        Meaning::Enumeration => "word",
        Meaning::Binary => "bytes",
        Meaning::BinaryNumber { .. } | Meaning::Decimal { .. } => "number",
        other => words::kind(other),
    }
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'9',
        b'A'..=b'Z' => b'A',
        b'a'..=b'z' => b'a',
        0x00..=0x1f | 0x7f => 0x00,
        0x80..=0xff => 0xff,
        _ => byte,
    }
}

fn class_of_character(character: char) -> char {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() => char::from(class(byte)),
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::quote_value;

    #[test]
    fn values_become_classes_of_the_same_length() {
        let check = |value: &[u8], expected: &[u8]| {
            let redacted = Redactor::new(true).bytes(value).into_owned();
            assert_eq!(redacted, expected);
            assert_eq!(redacted.len(), value.len());
        };
        check(b"07#Acme#2026-09-15", b"99#Aaaa#9999-99-99");
        check(b"\x01\x7fZ\xc3\xbc", b"\x00\x00A\xff\xff");
        check(b"", b"");
    }

    #[test]
    fn classes_sort_as_their_bytes_but_for_punctuation_between_them() {
        let classes = [b'\x05', b'7', b'Q', b'q', 0xc3].map(class);
        assert!(classes.is_sorted());
    }

    #[test]
    fn texts_lose_what_is_marked_and_nothing_else() {
        let text = format!(
            "all keys begin with {}, 12 of 40 with {}",
            quote_value(b"user/7\x00"),
            quote_value(b"x")
        );
        assert_eq!(Redactor::new(true).text(&text), "all keys begin with `aaaa/9\\x00`, 12 of 40 with `a`");
        assert_eq!(Redactor::new(false).text(&text), "all keys begin with `user/7\\x00`, 12 of 40 with `x`");
        assert_eq!(Redactor::new(true).text("open \u{ab}secret"), "open `aaaaaa`");
        assert_eq!(Redactor::new(true).text("none"), "none");
    }

    #[test]
    fn a_long_value_is_cut_before_it_is_marked() {
        let text = Redactor::new(true).text(&quote_value(&[b'\\'; 100]));
        assert_eq!(text, format!("`{}...`", "\\\\".repeat(30)));
    }

    #[test]
    fn inferred_names_become_what_the_fields_are() {
        let mut wording = Wording::new(Redactor::new(true));
        for name in ["acme", "time", "acme", "cnt"] {
            wording.rename(name, if name == "time" { "time" } else { "word" });
        }
        assert_eq!(
            ["acme", "time", "cnt", "other"].map(|name| wording.name(name)),
            ["word", "time", "word2", "other"]
        );
        let text = format!(
            "`acme` before `cnt`, {}, xxh3 of acme: `xxh3(acme_2, acme) mod 7`",
            quote_value(b"acme")
        );
        assert_eq!(
            wording.text(&text),
            "`word` before `word2`, `aaaa`, xxh3 of acme: `xxh3(acme_2, word) mod 7`"
        );
        assert_eq!(wording.clause("bucket, xxh3(cnt) mod 16"), "bucket, xxh3(word2) mod 16");
        let mut open = Wording::new(Redactor::new(false));
        open.rename("acme", "word");
        assert_eq!(open.text(&text), "`acme` before `cnt`, `acme`, xxh3 of acme: `xxh3(acme_2, acme) mod 7`");
    }

    #[test]
    fn a_finding_loses_names_and_values_in_all_its_texts() {
        let mut finding = crate::report::samples::diagnosis().findings.remove(0);
        finding.field = Some("acme".to_owned());
        finding.evidence[0].what = "share of `acme`".to_owned();
        let mut wording = Wording::new(Redactor::new(true));
        wording.rename("acme", "word");
        let shown = wording.finding(&finding);
        assert_eq!(shown.field.as_deref(), Some("word"));
        assert_eq!(shown.evidence[0].what, "share of `word`");
        let texts = format!("{} {:?}", shown.headline, shown.advice);
        assert!(!texts.contains("acme") && texts.contains("9999999999#aaaa"), "{texts}");
    }

    #[test]
    fn malformed_lines_become_classes_too() {
        assert_eq!(Redactor::new(true).line("{\"key\": \"B\u{fc}ro\\x41\""), "{\"aaa\": \"A?aa\\a99\"");
    }
}
