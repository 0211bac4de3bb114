//! Where-text: what people write behind `--where`.
//!
//! ```text
//! where       = [ item { "and" item } ]
//! item        = comparison | "(" alternative { "or" alternative } ")"        all on one field
//! alternative = item { "and" item }
//! comparison  = field ( "=" | "<" | "<=" | ">" | ">=" ) value
//!             | field "in" "(" [ value { "," value } ] ")"
//!             | field "between" value "and" value                              both included
//!             | field "prefix" value
//!             | field "subdomain" "of" value
//! value       = bare characters | 'quoted, with '' for a quote' | "likewise"
//! ```

use super::{Condition, Query};
use crate::codec::Codec;
use crate::schema::FieldKind;
use crate::{Error, Result, Value};
use std::ops::Bound;

const KEYWORDS: [&str; 7] = ["and", "or", "in", "between", "prefix", "subdomain", "of"];

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 32;

/// How many characters an error shows on each side of the wrong one.
const SHOWN_AROUND: usize = 72;

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Whether a value may contain this character without quotes.
pub(super) fn is_bare_char(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"()',\"<>=!".contains(c)
}

impl Query {
    /// Reads where-text. Fields are those of the schema, values are read as [`Codec::parse_value`] does; empty text has no condition.
    ///
    /// ```text
    /// vehicle = 4092 and time >= 2026-09-15 and time < '2026-09-16T00:00:00Z' and kind in (truck, van)
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`](crate::ErrorKind::Query) with the offset, the text, and a caret below the wrong character.
    pub fn parse(codec: &Codec, text: &str) -> Result<Self> {
        let mut parser = Parser { codec, text, at: 0 };
        let mut query = Self::new();
        parser.skip_space();
        while !parser.rest().is_empty() {
            if !query.conditions.is_empty() {
                parser.joint()?;
            }
            let mut field = None;
            let condition = parser.item(&mut field, 0)?;
            let index = field.expect("an item has a field");
            query.conditions.push((codec.schema().fields[index].name.clone(), condition));
            parser.skip_space();
        }
        Ok(query)
    }
}

struct Parser<'a> {
    codec: &'a Codec,
    text: &'a str,
    /// Offset in bytes of what comes next.
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes this symbol if it comes next.
    fn take(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// The bare word that comes next, possibly empty. Not taken.
    fn peek_word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        &rest[..rest.find(|c: char| !is_bare_char(c)).unwrap_or(rest.len())]
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let word = self.peek_word();
        let found = word.eq_ignore_ascii_case(keyword);
        if found {
            self.at += word.len();
        }
        found
    }

    /// `and` between two items of the whole text.
    fn joint(&mut self) -> Result<()> {
        let start = self.at;
        if self.take_keyword("and") {
            return Ok(());
        }
        if self.take_keyword("or") {
            let message = "`or` joins conditions on one field, inside parentheses: `(a < 3 or a > 7)`";
            return Err(self.error(start, message));
        }
        Err(self.error(start, "expected `and` or the end"))
    }

    fn item(&mut self, field: &mut Option<usize>, depth: usize) -> Result<Condition> {
        self.skip_space();
        let start = self.at;
        if !self.take("(") {
            return self.comparison(field);
        }
        if depth == DEPTH_MAX {
            return Err(self.error(start, &format!("parentheses are nested more than {DEPTH_MAX} deep")));
        }
        let mut alternatives = Vec::new();
        loop {
            let mut all = vec![self.item(field, depth + 1)?];
            while self.take_keyword("and") {
                all.push(self.item(field, depth + 1)?);
            }
            alternatives.push(one_or(all, Condition::AllOf));
            if self.take(")") {
                return Ok(one_or(alternatives, Condition::AnyOf));
            }
            if !self.take_keyword("or") {
                return Err(self.error(self.at, "expected `or`, `and` or `)`"));
            }
        }
    }

    /// A comparison. Inside parentheses, all are on one field.
    fn comparison(&mut self, field: &mut Option<usize>) -> Result<Condition> {
        let index = self.field()?;
        let name_at = self.at;
        match *field {
            Some(other) if other != index => {
                let names = &self.codec.schema().fields;
                let message = format!(
                    "parentheses hold alternatives of one field; this is `{}` beside `{}`",
                    names[index].name, names[other].name
                );
                return Err(self.error(name_at - names[index].name.len(), &message));
            }
            _ => *field = Some(index),
        }
        self.skip_space();
        let start = self.at;
        // The longer symbols first.
        for symbol in ["<=", ">=", "<", ">", "==", "="] {
            if self.take(symbol) {
                return self.bound(index, symbol);
            }
        }
        if self.take_keyword("in") {
            return self.list(index);
        }
        if self.take_keyword("between") {
            let low = self.bound(index, ">=")?;
            if !self.take_keyword("and") {
                return Err(self.error(self.at, "expected `and`: `between 3 and 7`"));
            }
            let high = self.bound(index, "<=")?;
            return Ok(Condition::AllOf(vec![low, high]));
        }
        if self.take_keyword("prefix") {
            let (value_at, text) = self.value()?;
            let condition = Condition::Prefix(Value::Text(text.into()));
            return self.checked(index, value_at, condition);
        }
        if self.take_keyword("subdomain") || self.take_keyword("subdomains") {
            if !self.take_keyword("of") {
                return Err(self.error(self.at, "expected `of`: `host subdomain of example.com`"));
            }
            let (value_at, text) = self.value()?;
            return self.checked(index, value_at, Condition::SubdomainOf(text));
        }
        let is_not = self.rest().starts_with('!') || self.peek_word().eq_ignore_ascii_case("not");
        let hint = if is_not { "; for \"not equal\" write `(f < v or f > v)`" } else { "" };
        let message =
            format!("expected `=`, `<`, `<=`, `>`, `>=`, `in`, `between`, `prefix` or `subdomain of`{hint}");
        Err(self.error(start, &message))
    }

    fn field(&mut self) -> Result<usize> {
        let word = self.peek_word();
        let Some(index) = self.codec.schema().field_index(word) else {
            // A field may be called `of` or `between`: here only a name can stand.
            if word.is_empty() || is_keyword(word) {
                return Err(self.error(self.at, "expected the name of a field"));
            }
            let names: Vec<&str> =
                self.codec.schema().fields.iter().map(|field| field.name.as_str()).collect();
            let message = format!("the key has no field `{word}`; it has {}", names.join(", "));
            return Err(self.error(self.at, &message));
        };
        self.at += word.len();
        Ok(index)
    }

    fn bound(&mut self, index: usize, symbol: &str) -> Result<Condition> {
        let (value_at, text) = self.value()?;
        let read = self.read(index, value_at, &text)?;
        let condition = match (symbol, read) {
            ("<", Read::Value(value)) => Condition::Between(Bound::Unbounded, Bound::Excluded(value)),
            ("<=", Read::Value(value)) | ("<" | "<=", Read::Above(value)) => {
                Condition::Between(Bound::Unbounded, Bound::Included(value))
            }
            (">", Read::Value(value)) => Condition::Between(Bound::Excluded(value), Bound::Unbounded),
            (">=", Read::Value(value)) | (">" | ">=", Read::Below(value)) => {
                Condition::Between(Bound::Included(value), Bound::Unbounded)
            }
            (_, Read::Value(value)) => Condition::Equal(value),
            // Nothing is below what is below everything.
            (_, Read::Below(_) | Read::Above(_)) => Condition::OneOf(Vec::new()),
        };
        self.checked(index, value_at, condition)
    }

    fn list(&mut self, index: usize) -> Result<Condition> {
        if !self.take("(") {
            return Err(self.error(self.at, "expected `(`: `in (a, b)`"));
        }
        let mut values = Vec::new();
        if self.take(")") {
            return Ok(Condition::OneOf(values));
        }
        loop {
            let (value_at, text) = self.value()?;
            if let Read::Value(value) = self.read(index, value_at, &text)? {
                self.checked(index, value_at, Condition::Equal(value.clone()))?;
                values.push(value);
            }
            if self.take(")") {
                return Ok(Condition::OneOf(values));
            }
            if !self.take(",") {
                return Err(self.error(self.at, "expected `,` or `)`"));
            }
        }
    }

    /// A value as it is written, without its quotes, and where it stands.
    fn value(&mut self) -> Result<(usize, String)> {
        self.skip_space();
        let start = self.at;
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|c| ['\'', '"'].contains(c)) else {
            let word = self.peek_word();
            if word.is_empty() {
                return Err(self.error(start, "expected a value"));
            }
            if is_keyword(word) {
                let message = format!("expected a value; if `{word}` is one, put it in quotes");
                return Err(self.error(start, &message));
            }
            self.at += word.len();
            return Ok((start, word.to_owned()));
        };
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                text.push(c);
            } else if chars.next_if(|&(_, next)| next == quote).is_some() {
                text.push(quote);
            } else {
                self.at = start + at + 1;
                return Ok((start, text));
            }
        }
        Err(self.error(start, "the quote is not closed"))
    }

    /// Reads a value of a field. Numbers beyond 64 bits are below or above everything; bytes of another width than the field's are
    /// welcome as bounds.
    fn read(&self, index: usize, value_at: usize, text: &str) -> Result<Read> {
        let kind = &self.codec.schema().fields[index].kind;
        if matches!(kind, FieldKind::Hex { .. }) {
            return Ok(Read::Value(Value::Text(text.to_owned().into())));
        }
        let error = match self.codec.parse_value(index, text) {
            Ok(value) => return Ok(Read::Value(value)),
            Err(error) => error,
        };
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            match kind {
                FieldKind::Uint { .. } | FieldKind::UintReversed { .. } | FieldKind::BeUint { .. } => {
                    let beyond = if is_negative {
                        Read::Below(Value::Uint(0))
                    } else {
                        Read::Above(Value::Uint(u64::MAX))
                    };
                    return Ok(beyond);
                }
                FieldKind::Int { .. } | FieldKind::BeInt { .. } => {
                    let beyond = if is_negative {
                        Read::Below(Value::Int(i64::MIN))
                    } else {
                        Read::Above(Value::Int(i64::MAX))
                    };
                    return Ok(beyond);
                }
                _ => {}
            }
        }
        Err(self.value_error(index, value_at, &error))
    }

    /// The condition, if it can be put to the field.
    fn checked(&self, index: usize, value_at: usize, condition: Condition) -> Result<Condition> {
        match crate::plan::check(self.codec, index, &condition) {
            Ok(()) => Ok(condition),
            Err(error) => Err(self.value_error(index, value_at, &error)),
        }
    }

    fn value_error(&self, index: usize, value_at: usize, error: &Error) -> Error {
        let name = &self.codec.schema().fields[index].name;
        self.error(value_at, &format!("field `{name}`: {}", error.message()))
    }

    /// The message, the line of the text that it is about, and a caret below the character. Of a long line, what is around it.
    fn error(&self, at: usize, message: &str) -> Error {
        let line_start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let column = self.text[line_start..at].chars().count();
        let first = column.saturating_sub(SHOWN_AROUND);
        let cut_left = if first > 0 { "..." } else { "" };
        let cut_right = if line.chars().count() > column + SHOWN_AROUND { "..." } else { "" };
        let shown: String = line.chars().skip(first).take(column - first + SHOWN_AROUND).collect();
        let before = cut_left.chars().chain(shown.chars().take(column - first));
        let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let offset = self.text[..at].chars().count();
        Error::query(format!(
            "where, at character {}: {message}\n  {cut_left}{shown}{cut_right}\n  {indent}^",
            offset + 1
        ))
    }
}

/// A value, or that it is beyond every value of the type, whose end stands for it.
enum Read {
    Value(Value<'static>),
    Below(Value<'static>),
    Above(Value<'static>),
}

fn one_or(mut conditions: Vec<Condition>, many: impl FnOnce(Vec<Condition>) -> Condition) -> Condition {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        last => {
            conditions.extend(last);
            many(conditions)
        }
    }
}
