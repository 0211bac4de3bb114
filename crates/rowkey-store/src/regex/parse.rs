//! Reads a pattern of RE2 and writes it for `regex::bytes`.
//!
//! RE2 keeps a stack: items of a sequence, sequences of an alternation, open groups. So does this. How greedy an operator is, and where
//! groups begin and end, does not matter for a match of the whole, so neither is written.

use super::class::ByteSet;
use crate::limits::{FILTER_BYTES_MAX, FILTER_REGEX_STATES_MAX};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most that a repetition may ask for, alone or multiplied with those inside it (RE2's `kMaxRepeat`).
const REPETITION_MAX: u32 = 1_000;
/// Groups and repetitions in each other; ours. RE2 allows 1,000.
const DEPTH_MAX: u32 = 100;

/// A pattern, written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// For `regex::bytes` with Unicode off, anchored at both ends.
    pub text: String,
    /// About how many states it compiles to; at most [`FILTER_REGEX_STATES_MAX`].
    pub states: u32,
    pub(super) prefix: Vec<u8>,
    pub(super) tail: Tail,
}

/// What follows the literal bytes at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    Nothing,
    Anything,
    Other,
}

/// Reads a pattern of RE2.
///
/// # Errors
///
/// `Invalid` where RE2 refuses it, with the offset; `Limit` if it is too large.
pub fn translate(pattern: &[u8]) -> Result<Translation> {
    if pattern.len() > FILTER_BYTES_MAX {
        let message =
            format!("a pattern of {} bytes; the limit is {FILTER_BYTES_MAX}: shorten it", pattern.len());
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let mut parser = Parser {
        pattern,
        at: 0,
        flags: Flags::default(),
        open: Vec::new(),
        sequence: Sequence::default(),
        names: BTreeSet::new(),
        behind_repetition: false,
    };
    while parser.at < pattern.len() {
        parser.step()?;
    }
    parser.finish()
}

/// What `(?ims)` set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) fold: bool,
    lines: bool,
    dot_all: bool,
}

/// One item of a sequence.
#[derive(Debug)]
struct Item {
    kind: ItemKind,
    states: u32,
    /// The largest product of repetitions on a way into it.
    repeated: u32,
    depth: u32,
}

#[derive(Debug)]
enum ItemKind {
    Byte(u8),
    AnyByte,
    AnyBytes,
    /// Written; `true`: an operator can follow it as it is.
    Text(String, bool),
}

/// The sequence that is being read, and the ones before it in the same alternation.
#[derive(Debug, Default)]
struct Sequence {
    items: Vec<Item>,
    /// The alternatives before, each with a `|` behind it.
    before: String,
    states: u32,
    repeated: u32,
    depth: u32,
}

impl Item {
    fn new(kind: ItemKind) -> Self {
        Self { kind, states: 1, repeated: 1, depth: 0 }
    }

    fn text(text: &str) -> Self {
        Self::new(ItemKind::Text(text.to_owned(), false))
    }

    fn set(set: ByteSet) -> Self {
        if set == ByteSet::ALL {
            return Self::new(ItemKind::AnyByte);
        }
        let (text, states) = set.write();
        Self { states, ..Self::new(ItemKind::Text(text, true)) }
    }

    fn write(&self, out: &mut String) {
        match &self.kind {
            ItemKind::Byte(byte) => write_byte(*byte, out),
            ItemKind::AnyByte => out.push_str("[\\x00-\\xFF]"),
            ItemKind::AnyBytes => out.push_str("[\\x00-\\xFF]*"),
            ItemKind::Text(text, _) => out.push_str(text),
        }
    }

    /// Its text, so that an operator can follow.
    fn operand(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        match self.kind {
            ItemKind::Byte(_) | ItemKind::AnyByte | ItemKind::Text(_, true) => text,
            ItemKind::AnyBytes | ItemKind::Text(_, false) => format!("(?:{text})"),
        }
    }
}

fn write_byte(byte: u8, out: &mut String) {
    if byte.is_ascii_alphanumeric() {
        out.push(char::from(byte));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\x{byte:02X}");
    }
}

impl Sequence {
    /// Ends an alternative.
    fn bar(&mut self) {
        for item in std::mem::take(&mut self.items) {
            item.write(&mut self.before);
            self.states = self.states.saturating_add(item.states);
            self.repeated = self.repeated.max(item.repeated);
            self.depth = self.depth.max(item.depth);
        }
        self.before.push('|');
        self.states = self.states.saturating_add(1);
    }

    /// The whole group.
    fn group(mut self) -> Item {
        self.bar();
        self.before.pop();
        let text = format!("(?:{})", self.before);
        let kind = ItemKind::Text(text, true);
        Item { kind, states: self.states, repeated: self.repeated.max(1), depth: self.depth + 1 }
    }
}

pub(super) struct Parser<'a> {
    pattern: &'a [u8],
    pub(super) at: usize,
    pub(super) flags: Flags,
    /// What surrounds the group that is being read: the flags behind it, and the sequence that it is part of.
    open: Vec<(Flags, Sequence)>,
    sequence: Sequence,
    names: BTreeSet<&'a [u8]>,
    /// Whether the byte before belongs to a repetition: those do not stack.
    behind_repetition: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.pattern[self.at..]
    }

    pub(super) fn refuse<T>(&self, from: usize, why: &str) -> Result<T> {
        let shown = crate::check::shown(self.pattern);
        let message = format!("the pattern `{shown}` at byte {from}: {why}");
        Err(Error::new(ErrorKind::Invalid, message))
    }

    fn too_large<T>(&self, from: usize, why: &str) -> Result<T> {
        let shown = crate::check::shown(self.pattern);
        let message = format!("the pattern `{shown}` at byte {from}: {why}");
        Err(Error::new(ErrorKind::Limit, message))
    }

    /// Takes these bytes if they come next.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest().starts_with(bytes);
        if found {
            self.at += bytes.len();
        }
        found
    }

    fn push(&mut self, item: Item) -> Result<()> {
        if item.states > FILTER_REGEX_STATES_MAX {
            return self
                .too_large(self.at, &format!("more than {FILTER_REGEX_STATES_MAX} states; shorten it"));
        }
        if item.depth > DEPTH_MAX {
            return self.too_large(self.at, &format!("nested deeper than {DEPTH_MAX} levels; flatten it"));
        }
        self.sequence.items.push(item);
        Ok(())
    }

    fn literal(&mut self, byte: u8) -> Result<()> {
        self.push(if self.flags.fold && byte.is_ascii_alphabetic() {
            Item::set(ByteSet::of(&[(byte, byte)]).folded())
        } else {
            Item::new(ItemKind::Byte(byte))
        })
    }

    /// Reads what comes next: one item, operator, bracket or change of flags.
    fn step(&mut self) -> Result<()> {
        let from = self.at;
        let behind_repetition = std::mem::take(&mut self.behind_repetition);
        let byte = self.pattern[self.at];
        self.at += 1;
        match byte {
            b'(' if self.take(b"?") => self.extended_group(from),
            b'(' => self.open_group(self.flags),
            b')' => self.close_group(from),
            b'|' => {
                self.sequence.bar();
                Ok(())
            }
            b'^' => self.push(Item::text(if self.flags.lines { "(?m:^)" } else { "\\A" })),
            b'$' => self.push(Item::text(if self.flags.lines { "(?m:$)" } else { "\\z" })),
            b'.' if self.flags.dot_all => self.push(Item::set(ByteSet::ALL)),
            b'.' => self.push(Item::set(ByteSet::of(&[(b'\n', b'\n')]).negated())),
            b'[' => {
                let set = self.class(from)?;
                self.push(Item::set(set))
            }
            b'*' => self.repeat(from, behind_repetition, 0, None),
            b'+' => self.repeat(from, behind_repetition, 1, None),
            b'?' => self.repeat(from, behind_repetition, 0, Some(1)),
            b'{' => match self.bounds() {
                Some((least, most)) => self.repeat(from, behind_repetition, least, most),
                None => self.literal(byte),
            },
            b'\\' => self.escape(from),
            _ => self.literal(byte),
        }
    }

    fn open_group(&mut self, flags_behind: Flags) -> Result<()> {
        if self.open.len() >= DEPTH_MAX as usize {
            return self.too_large(self.at, &format!("nested deeper than {DEPTH_MAX} levels; flatten it"));
        }
        self.open.push((flags_behind, std::mem::take(&mut self.sequence)));
        Ok(())
    }

    fn close_group(&mut self, from: usize) -> Result<()> {
        let Some((flags, outer)) = self.open.pop() else {
            return self.refuse(from, "a `)` without a `(`; write `\\)` for the character");
        };
        self.flags = flags;
        let group = std::mem::replace(&mut self.sequence, outer).group();
        self.push(group)
    }

    /// Behind `(?`.
    fn extended_group(&mut self, from: usize) -> Result<()> {
        if [&b"="[..], b"!", b"<=", b"<!"].iter().any(|look| self.rest().starts_with(look)) {
            return self.refuse(from, "looking ahead or behind is not in RE2");
        }
        if self.take(b"P<") || self.take(b"<") {
            let len =
                self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let name = &self.rest()[..len];
            self.at += len;
            if len == 0 || !self.take(b">") {
                return self.refuse(from, "a name of a group has letters, digits and `_` and ends with `>`");
            }
            if !self.names.insert(name) {
                return self.refuse(from, "two groups of the same name; rename one");
            }
            return self.open_group(self.flags);
        }
        let mut flags = self.flags;
        let (mut on, mut missing) = (true, false);
        loop {
            let Some(&byte) = self.rest().first() else {
                return self.refuse(from, "a `(?` that does not end");
            };
            self.at += 1;
            match byte {
                b'i' => flags.fold = on,
                b'm' => flags.lines = on,
                b's' => flags.dot_all = on,
                b'U' => {}
                b'-' if on => {
                    on = false;
                    missing = true;
                    continue;
                }
                b':' | b')' if !missing => {
                    let behind = std::mem::replace(&mut self.flags, flags);
                    return if byte == b':' { self.open_group(behind) } else { Ok(()) };
                }
                _ => {
                    return self
                        .refuse(from, "what follows `(?` is not in RE2: it has the flags i, m, s and U");
                }
            }
            missing = false;
        }
    }

    /// `{2}`, `{2,}` or `{2,3}` behind the `{`; `None` if it stands for itself.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let begin = self.at;
        let bounds = self.read_bounds();
        if bounds.is_none() {
            self.at = begin;
        }
        bounds
    }

    fn read_bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let least = self.integer()?;
        let most = match (self.take(b","), self.rest().first()) {
            (false, _) => Some(least),
            (true, Some(b'}')) => None,
            (true, _) => Some(self.integer()?),
        };
        self.take(b"}").then_some((least, most))
    }

    /// Decimal, without needless zeros, below a thousand million, as RE2 takes it.
    fn integer(&mut self) -> Option<u32> {
        let len = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = str::from_utf8(&self.rest()[..len]).ok()?;
        if len == 0 || len > 9 || (len > 1 && digits.starts_with('0')) {
            return None;
        }
        self.at += len;
        digits.parse().ok()
    }

    fn repeat(&mut self, from: usize, behind_repetition: bool, least: u32, most: Option<u32>) -> Result<()> {
        let operator = &self.pattern[from..self.at];
        // `??` and the like: the least that matches, which is all the same here.
        self.take(b"?");
        self.behind_repetition = true;
        if behind_repetition {
            return self.refuse(from, "a repetition of a repetition; put a group around the inner one");
        }
        if most.is_some_and(|most| most < least) {
            return self.refuse(from, "the most is below the least; swap them");
        }
        let largest = most.unwrap_or(least);
        let product = |repeated: u32| {
            if operator[0] == b'{' { repeated.saturating_mul(largest.max(1)) } else { repeated }
        };
        let Some(item) = self.sequence.items.pop() else {
            return self.refuse(from, "nothing stands before it that could be repeated; escape it with `\\`");
        };
        let repeated = product(item.repeated);
        if largest > REPETITION_MAX || largest >= 2 && repeated > REPETITION_MAX {
            let message = format!("repeats more than {REPETITION_MAX} times; repeat less, or use `*`");
            return self.too_large(from, &message);
        }
        let states = item.states.saturating_mul(largest.max(1)).saturating_add(1);
        let kind = if operator == b"*" && matches!(item.kind, ItemKind::AnyByte) {
            ItemKind::AnyBytes
        } else {
            let mut text = item.operand();
            text.push_str(str::from_utf8(operator).unwrap_or_default());
            ItemKind::Text(text, false)
        };
        self.push(Item { kind, states, repeated, depth: item.depth + 1 })
    }

    /// Behind a backslash, outside of a class.
    fn escape(&mut self, from: usize) -> Result<()> {
        let Some(&letter) = self.rest().first() else {
            return self.refuse(from, "a backslash at the end; write `\\\\` for the character");
        };
        let item = match letter {
            b'b' | b'B' => Item::text(if letter == b'b' { "\\b" } else { "\\B" }),
            b'A' => Item::text("\\A"),
            b'z' => Item::text("\\z"),
            b'C' => Item::set(ByteSet::ALL),
            b'Q' => {
                self.at += 1;
                return self.quoted();
            }
            _ => {
                let Some(set) = self.named_set(from)? else {
                    let byte = self.escaped_byte(from)?;
                    return self.literal(byte);
                };
                return self.push(Item::set(set));
            }
        };
        self.at += 1;
        self.push(item)
    }

    /// Behind `\Q`.
    fn quoted(&mut self) -> Result<()> {
        while let Some(&byte) = self.rest().first() {
            if self.take(b"\\E") {
                break;
            }
            self.at += 1;
            self.literal(byte)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Translation> {
        if !self.open.is_empty() {
            return self
                .refuse(self.pattern.len(), "a `(` that is not closed; write `\\(` for the character");
        }
        let alone = self.sequence.before.is_empty();
        let literal = |item: &Item| if let ItemKind::Byte(byte) = item.kind { Some(byte) } else { None };
        let prefix: Vec<u8> =
            if alone { self.sequence.items.iter().map_while(literal).collect() } else { Vec::new() };
        let tail = match &self.sequence.items[prefix.len()..] {
            [] if alone => Tail::Nothing,
            [item] if alone && matches!(item.kind, ItemKind::AnyBytes) => Tail::Anything,
            _ => Tail::Other,
        };
        let Item { kind, states, .. } = std::mem::take(&mut self.sequence).group();
        if states > FILTER_REGEX_STATES_MAX {
            return self.too_large(0, &format!("more than {FILTER_REGEX_STATES_MAX} states; shorten it"));
        }
        let ItemKind::Text(group, _) = kind else { unreachable!("a group is text") };
        Ok(Translation { text: format!("\\A{group}\\z"), states, prefix, tail })
    }
}
