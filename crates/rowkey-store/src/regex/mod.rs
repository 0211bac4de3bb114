//! Patterns of filters: RE2 in Latin-1 mode, which must match the whole of a key, name or value.
//!
//! Row keys, qualifiers and values are bytes, and so is a pattern: each byte of it is one character. A pattern is read here by the grammar
//! of RE2 (<https://github.com/google/re2/wiki/Syntax>) and written anew for `regex::bytes` without Unicode, every byte as an
//! escape. So the `regex` crate never reads what a client sent, and what it alone understands (`(?x)`, `[a&&b]`, `\<`) is refused as
//! RE2 refuses it. What can be decided without it is: literals, prefixes.
//!
//! Must never: panic, whatever the bytes; accept what RE2 refuses; read a pattern differently.

mod class;
mod parse;
mod set;

pub use parse::{Translation, translate};

use crate::{Error, ErrorKind, Result};
use ::regex::bytes::{Regex, RegexBuilder};
use parse::Tail;

/// Bytes of one compiled pattern, and of what it remembers while it matches (its cache of states). RE2's budget for one is 8 MiB
/// (`RE2::Options::max_mem`); what [`limits::FILTER_REGEX_STATES_MAX`](crate::limits::FILTER_REGEX_STATES_MAX) lets through fits.
const COMPILED_BYTES_MAX: usize = 32 * 1024 * 1024;
const CACHE_BYTES_MAX: usize = 1024 * 1024;
/// Groups in groups of the written pattern: a level of ours is up to four of those.
const NESTING_MAX: u32 = 1_000;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What every match begins with.
    prefix: Vec<u8>,
    rest: Rest,
}

#[derive(Debug, Clone)]
enum Rest {
    /// The prefix is all.
    Nothing,
    /// Any bytes follow.
    Anything,
    /// Of the whole.
    Regex(Regex),
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// `Invalid` where RE2 refuses it, with the offset; `Limit` if it is too large.
    pub fn new(pattern: &[u8]) -> Result<Self> {
        let Translation { text, prefix, tail, .. } = translate(pattern)?;
        let rest = match tail {
            Tail::Nothing => Rest::Nothing,
            Tail::Anything => Rest::Anything,
            Tail::Other => Rest::Regex(build(&text).map_err(|error| {
                let message =
                    format!("the pattern `{}` is too large: shorten it", crate::check::shown(pattern));
                Error::new(ErrorKind::Limit, message).with_source(error)
            })?),
        };
        Ok(Self { prefix, rest })
    }

    /// Whether the whole of `bytes` matches.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        match &self.rest {
            Rest::Nothing => *bytes == self.prefix,
            Rest::Anything => bytes.starts_with(&self.prefix),
            Rest::Regex(regex) => bytes.starts_with(&self.prefix) && regex.is_match(bytes),
        }
    }

    /// What every match begins with, and whether a match is nothing else.
    pub fn prefix(&self) -> (&[u8], bool) {
        (&self.prefix, matches!(self.rest, Rest::Nothing))
    }
}

fn build(text: &str) -> Result<Regex, ::regex::Error> {
    RegexBuilder::new(text)
        .unicode(false)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(CACHE_BYTES_MAX)
        .nest_limit(NESTING_MAX)
        .build()
}

/// A pattern that matches exactly these bytes.
pub fn quote(literal: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(literal.len());
    for &byte in literal {
        // RE2 takes a backslash before ASCII that is neither letter nor digit, and any other byte as it is.
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests;
