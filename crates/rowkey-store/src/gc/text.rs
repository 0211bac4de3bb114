//! Rules as text, in the grammar of Bigtable's `cbt` tool:
//!
//! ```text
//! rule = "never" | term { op term }        term = "maxage" "=" N unit | "maxversions" "=" N | "(" rule ")"
//! op   = "||" | "or" | "&&" | "and"        unit = "ms" | "s" | "m" | "h" | "d" | "us"
//! ```
//!
//! `us` is ours, so that every rule of the API can be printed. `cbt` reads `a || b && c` from left to right, against what most
//! people expect; as a rule deletes data, such a mixture without parentheses is refused, with that reading in the message.

use super::{DEPTH_MAX, check_rule, micros};
use crate::{Error, ErrorKind, GcRule, Result};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Reads a rule; `never` and nothing but blanks are no rule.
///
/// ```
/// # use rowkey_store::gc::{format_rule, parse_rule};
/// let rule = parse_rule("maxage=7d || (maxage=1h and maxversions=2)")?;
/// assert_eq!(format_rule(rule.as_ref()), "maxage=7d || (maxage=1h && maxversions=2)");
/// assert_eq!(parse_rule("never")?, None);
/// # Ok::<(), rowkey_store::Error>(())
/// ```
///
/// # Errors
///
/// `Invalid` where the text leaves the grammar, and what [`check_rule`] refuses.
pub fn parse_rule(text: &str) -> Result<Option<GcRule>> {
    if matches!(text.trim(), "" | "never") {
        return Ok(None);
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0 };
    let rule = parser.rule(0)?;
    if let Some(token) = parser.peek() {
        return Err(parser.error(&format!("`{token}` is not expected here; join rules with `||` or `&&`")));
    }
    check_rule(&rule).map_err(|error| error.context(format!("rule `{text}`")))?;
    Ok(Some(rule))
}

/// Shows a rule so that [`parse_rule`] reads it back; no rule is `never`.
pub fn format_rule(rule: Option<&GcRule>) -> String {
    rule.map_or_else(|| "never".to_owned(), GcRule::to_string)
}

impl FromStr for GcRule {
    type Err = Error;

    /// As [`parse_rule`], but `never` is an error: it is no rule.
    fn from_str(text: &str) -> Result<Self> {
        parse_rule(text)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                format!("`{text}` is no garbage-collection rule; leave the rule out"),
            )
        })
    }
}

impl fmt::Display for GcRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rules, op) = match self {
            Self::MaxVersions(versions) => return write!(f, "maxversions={versions}"),
            Self::MaxAge(age) => return write_age(f, *age),
            Self::Union(rules) => (rules, " || "),
            Self::Intersection(rules) => (rules, " && "),
        };
        for (index, rule) in rules.iter().enumerate() {
            if index > 0 {
                f.write_str(op)?;
            }
            match alone(rule) {
                rule @ (Self::Union(_) | Self::Intersection(_)) if rules.len() > 1 => write!(f, "({rule})")?,
                rule => write!(f, "{rule}")?,
            }
        }
        Ok(())
    }
}

/// The rule inside unions and intersections of one.
fn alone(rule: &GcRule) -> &GcRule {
    match rule {
        GcRule::Union(rules) | GcRule::Intersection(rules) if rules.len() == 1 => alone(&rules[0]),
        rule => rule,
    }
}

/// Microseconds of each unit, longest first.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

fn write_age(f: &mut fmt::Formatter<'_>, age: Duration) -> fmt::Result {
    let age_us = micros(age).unsigned_abs();
    let (unit, unit_us) =
        UNITS.into_iter().find(|(_, unit_us)| age_us.is_multiple_of(*unit_us)).unwrap_or(("us", 1));
    write!(f, "maxage={}{unit}", age_us / unit_us)
}

fn parse_age(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let Some((_, unit_us)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
        return Err(format!(
            "`{text}` is no age; write a whole number and one of d, h, m, s, ms, us, as in `7d`"
        ));
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no age; write a whole number before the unit, as in `7d`"))?;
    let age_us = number.checked_mul(unit_us).filter(|age_us| i64::try_from(*age_us).is_ok());
    age_us.map(Duration::from_micros).ok_or_else(|| format!("`{text}` is longer than timestamps reach"))
}

/// Words of letters and digits, and the symbols `=`, `(`, `)`, `||`, `&&`.
fn tokens(text: &str) -> Result<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '=' | '(' | ')' => 1,
            '|' | '&' if rest.starts_with("||") || rest.starts_with("&&") => 2,
            _ => rest.bytes().take_while(u8::is_ascii_alphanumeric).count(),
        };
        if len == 0 {
            let message = format!(
                "rule `{text}`: `{first}` is not expected; a rule looks like `maxage=7d || maxversions=1`"
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let (token, behind) = rest.split_at(len);
        tokens.push(token);
        rest = behind.trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [&'a str],
    at: usize,
}

impl<'a> Parser<'a> {
    fn rule(&mut self, depth: usize) -> Result<GcRule> {
        if depth > DEPTH_MAX {
            return Err(self.error("too many parentheses"));
        }
        let mut terms = vec![self.term(depth)?];
        let mut joined_by = None;
        while let Some(all) = self.peek().and_then(|token| match token {
            "&&" | "and" => Some(true),
            "||" | "or" => Some(false),
            _ => None,
        }) {
            self.at += 1;
            if joined_by.is_some_and(|before| before != all) {
                let before = joined(terms, !all);
                let op = if all { "&&" } else { "||" };
                return Err(self.error(&format!(
                    "`||` and `&&` are mixed without parentheses. cbt would read it as `({before}) {op} ...`; write the parentheses"
                )));
            }
            joined_by = Some(all);
            terms.push(self.term(depth)?);
        }
        Ok(match joined_by {
            None => terms.swap_remove(0),
            Some(all) => joined(terms, all),
        })
    }

    fn term(&mut self, depth: usize) -> Result<GcRule> {
        match self.next() {
            Some("(") => {
                let rule = self.rule(depth + 1)?;
                self.expect(")")?;
                Ok(rule)
            }
            Some("maxage") => {
                self.expect("=")?;
                let age = self.next().unwrap_or("");
                parse_age(age).map(GcRule::MaxAge).map_err(|message| self.error(&message))
            }
            Some("maxversions") => {
                self.expect("=")?;
                let versions = self.next().unwrap_or("");
                versions.parse().map(GcRule::MaxVersions).map_err(|_| {
                    self.error(&format!(
                        "`{versions}` is no number of versions; write one, as in `maxversions=1`"
                    ))
                })
            }
            Some("never") => Err(self.error("`never` stands alone")),
            Some(token) => {
                Err(self
                    .error(&format!("`{token}` is not expected here; write `maxage=7d` or `maxversions=1`")))
            }
            None => Err(self.error("it ends too early; write `maxage=7d` or `maxversions=1` there")),
        }
    }

    fn expect(&mut self, wanted: &str) -> Result<()> {
        match self.next() {
            Some(token) if token == wanted => Ok(()),
            Some(token) => Err(self.error(&format!("`{wanted}` is expected in place of `{token}`"))),
            None => Err(self.error(&format!("`{wanted}` is missing at the end"))),
        }
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Invalid, format!("rule `{}`: {what}", self.text))
    }
}

fn joined(rules: Vec<GcRule>, all: bool) -> GcRule {
    if all { GcRule::Intersection(rules) } else { GcRule::Union(rules) }
}
