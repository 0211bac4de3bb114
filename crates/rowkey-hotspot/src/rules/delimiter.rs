//! `delimiter-in-data`: the delimiter occurs inside a field, or bytes that sort below it, so that the rows of one value are not one range.

use super::case::{Case, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::say;
use super::text::{SHARE_MIX_MIN, SHARE_ODD_MIN, first_oddity, is_habit, widest};
use crate::finding::quote_value;
use crate::layout::{FieldFacts, Format, Meaning, Oddity, Segment};
use crate::rule::{Rule, Severity};

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    let inside = first_oddity(
        case,
        "no field holds the delimiter behind it",
        |shape, field, oddity, keys| {
            let Oddity::Delimiter { byte, share, example } = oddity else { return None };
            // A field of one width ends where its width says.
            if !is_habit(*share, keys) || field.is_fixed_width() {
                return None;
            }
            let headline = format!(
                "`{}` holds its own delimiter {} in {} of the keys, such as {}: what is a field cannot be told, and one value is not one range",
                field.name,
                quote_value(&[*byte]),
                say::percent(*share),
                quote_value(example)
            );
            let draft = Draft::new(Rule::DelimiterInData, Severity::Warning, headline)
                .measured(
                    "share of keys with the delimiter in the field",
                    *share,
                    format!("from {SHARE_ODD_MIN}"),
                    keys,
                    Some(share_error(*share, keys)),
                )
                .examples(widest(shape));
            Some(escape_it(draft))
        },
    );
    if matches!(inside, Outcome::Found(_) | Outcome::Unchecked(_)) {
        return inside;
    }
    if let Some(draft) = between_formats(case) {
        return Outcome::one(draft);
    }
    below(case)
}

/// Bytes that sort below the delimiter.
fn below(case: &Case<'_>) -> Outcome {
    first_oddity(
        case,
        "no field holds its delimiter or bytes that sort below it",
        |shape, field, oddity, keys| {
            let Oddity::BelowDelimiter { delimiter, byte, share, example } = oddity else { return None };
            let number =
                matches!(field.meaning, Meaning::Number { .. } | Meaning::Decimal { .. } | Meaning::Salt(_));
            if !is_habit(*share, keys) || field.is_fixed_width() || number {
                return None;
            }
            let index = shape.fields.iter().position(|other| std::ptr::eq(*other, field))?;
            let split = torn(case, shape, index);
            let severity = if split > SHARE_MIX_MIN { Severity::Warning } else { Severity::Note };
            let headline = format!(
                "`{}` holds bytes below its delimiter {}, such as {} in {}: values do not sort as rows do",
                field.name,
                quote_value(&[*delimiter]),
                quote_value(&[*byte]),
                quote_value(example)
            );
            let draft = Draft::new(Rule::DelimiterInData, severity, headline)
                .measured(
                    "share of keys whose value has other values between its rows",
                    split,
                    format!("above {SHARE_MIX_MIN} for a warning"),
                    keys,
                    None,
                )
                .measured(
                    "share of keys with such a byte",
                    *share,
                    format!("from {SHARE_ODD_MIN}"),
                    keys,
                    None,
                )
                .examples(widest(shape));
            Some(escape_it(draft))
        },
    )
}

/// A format that is another one with a text cut in two by the delimiter behind it: the same fields, and the same delimiter once more.
fn between_formats(case: &Case<'_>) -> Option<Draft> {
    let longer = |long: &Shape<'_>| {
        case.shapes.iter().find_map(|short| Some((short.format.share, cut_in_two(short, long)?, long.index)))
    };
    let (_, (name, delimiter), index) = case.shapes.iter().find_map(longer)?;
    let long = case.shapes.iter().find(|shape| shape.index == index)?;
    let (share, keys) = (long.format.share, case.layout.sampled);
    if share < SHARE_MIX_MIN {
        return None;
    }
    let headline = format!(
        "{} of the keys have one {} more than the others, inside `{name}`: what is a field cannot be told, and one value is not one range",
        say::percent(share),
        quote_value(&[delimiter]),
    );
    let draft = Draft::new(Rule::DelimiterInData, Severity::Warning, headline)
        .field(&name)
        .measured(
            "share of keys with the delimiter in the field",
            share,
            format!("from {SHARE_MIX_MIN}"),
            keys,
            Some(share_error(share, keys)),
        )
        .examples(widest(long));
    Some(escape_it(draft))
}

/// The text of `short` that is cut in `long`, and the delimiter, if `long` is `short` but for that.
fn cut_in_two(short: &Shape<'_>, long: &Shape<'_>) -> Option<(String, u8)> {
    let (few, many) = (parts(short.format), parts(long.format));
    if few.len() + 1 != many.len() || few.len() < 2 {
        return None;
    }
    // The parts before and behind the cut agree.
    let text = |part: &Part<'_>| match part.field {
        Some(field) => matches!(field.meaning, Meaning::Text | Meaning::Enumeration | Meaning::Path),
        None => true,
    };
    (0..few.len() - 1).find_map(|cut| {
        let same = few[..cut].iter().zip(&many[..cut]).all(|(a, b)| a.is_like(b))
            && few[cut + 1..].iter().zip(&many[cut + 2..]).all(|(a, b)| a.is_like(b));
        let delimiter = few[cut].delimiter?;
        let twice = many[cut].delimiter == Some(delimiter) && many[cut + 1].delimiter == Some(delimiter);
        let field = few[cut].field?;
        (same && twice && text(&few[cut]) && text(&many[cut]) && text(&many[cut + 1]))
            .then(|| (field.name.clone(), delimiter))
    })
}

/// A part of a key between delimiters: a field or a constant word, and the delimiter behind it.
struct Part<'f> {
    field: Option<&'f FieldFacts>,
    word: &'f [u8],
    delimiter: Option<u8>,
}

impl Part<'_> {
    fn is_like(&self, other: &Self) -> bool {
        let alike = match (self.field, other.field) {
            (Some(a), Some(b)) => std::mem::discriminant(&a.meaning) == std::mem::discriminant(&b.meaning),
            (None, None) => self.word == other.word,
            _ => false,
        };
        alike && self.delimiter == other.delimiter
    }
}

/// The parts of a format. Literals are cut behind every byte that is neither letter nor digit nor space.
fn parts(format: &Format) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut open = false;
    for segment in &format.segments {
        match segment {
            Segment::Field(field) => {
                parts.push(Part { field: Some(field), word: &[], delimiter: None });
                open = true;
            }
            Segment::Literal(bytes) => {
                for piece in bytes.split_inclusive(u8::is_ascii_punctuation) {
                    let delimiter = piece.last().copied().filter(u8::is_ascii_punctuation);
                    let word = if delimiter.is_some() { &piece[..piece.len() - 1] } else { piece };
                    match parts.last_mut() {
                        Some(last) if open => last.delimiter = delimiter,
                        _ => parts.push(Part { field: None, word, delimiter }),
                    }
                    open = delimiter.is_none();
                }
            }
        }
    }
    parts
}

fn escape_it(draft: Draft) -> Draft {
    draft.advice(
        "Escape the delimiter inside the field, use a code instead of the text, or take a delimiter below all bytes of the field.",
        "",
        "one value becomes one range again; rows must be rewritten once",
    )
}

/// The share of keys that are under a value of which other rows begin, without the delimiter, between its own: `a`, `a-b`, `a/c` with `-`
/// below `/`. Such a value and what is below it is not one range.
fn torn(case: &Case<'_>, shape: &Shape<'_>, field: usize) -> f64 {
    let mut keys: Vec<&[u8]> = case.rows_of(shape).map(|row| row.key).collect();
    let total = keys.len();
    keys.sort_unstable();
    let whole: std::collections::BTreeSet<&[u8]> = keys.iter().copied().collect();
    let torn = case.rows_of(shape).filter(|row| {
        row.prefix(field).is_some_and(|prefix| whole.contains(prefix) && prefix.len() < row.key.len())
    });
    say::length(torn.count()) / say::length(total.max(1))
}
