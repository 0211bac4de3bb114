//! Rules about fields whose text does not sort or group as their values do: `unpadded-number`, `negative-text-number`,
//! `delimiter-in-data`, `hex-case-mix`.

use super::case::{Case, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::reverse::sample;
use super::say;
use crate::finding::quote_value;
use crate::layout::{FieldFacts, Format, Meaning, Oddity, Segment};
use crate::rule::{Rule, Severity};

/// Text order differs from number order for more than this share of pairs (research, D3).
const DISCORDANT_MIN: f64 = 0.01;

/// A handful of malformed keys is no habit: so many keys of the sample and this share of its format.
const KEYS_ODD_MIN: f64 = 5.0;
const SHARE_ODD_MIN: f64 = 0.002;

/// Some per cent of the values are worth a warning.
const SHARE_MIX_MIN: f64 = 0.02;

/// Whether a share is more than a handful.
fn is_habit(share: f64, keys: u64) -> bool {
    share >= SHARE_ODD_MIN && share * say::float(keys) >= KEYS_ODD_MIN
}

/// Looks at each oddity of each field of each format; the first that `look` accepts makes the finding.
fn first_oddity(
    case: &Case<'_>,
    clear: &str,
    look: impl Fn(&Shape<'_>, &FieldFacts, &Oddity, u64) -> Option<Draft>,
) -> Outcome {
    if case.layout.sampled < KEYS_MIN / 2 {
        return Outcome::Unchecked(case.no_order());
    }
    for shape in &case.shapes {
        let keys = sample(case, shape.format.share);
        for field in &shape.fields {
            for oddity in &field.oddities {
                if let Some(draft) = look(shape, field, oddity, keys) {
                    return Outcome::one(draft.field(&field.name));
                }
            }
        }
    }
    Outcome::Clear(clear.to_owned())
}

fn widest<'f>(shape: &Shape<'f>) -> impl Iterator<Item = &'f [u8]> {
    shape.format.examples.iter().take(6).map(AsRef::as_ref)
}

pub(super) fn unpadded(case: &Case<'_>) -> Outcome {
    first_oddity(
        case,
        "no number of varying width sorts differently as text",
        |shape, field, oddity, keys| {
            let Oddity::Discordant { share } = oddity else { return None };
            if *share <= DISCORDANT_MIN || matches!(field.meaning, Meaning::Hash { .. } | Meaning::Text) {
                return None;
            }
            let headline = format!(
                "`{}` is a number as text of {} to {} bytes: {} of pairs sort otherwise than their numbers",
                field.name,
                field.width_min,
                field.width_max,
                say::percent(*share)
            );
            let draft = Draft::new(Rule::UnpaddedNumber, Severity::Warning, headline)
                .measured(
                    "pairs whose text order is not their order",
                    *share,
                    format!("above {DISCORDANT_MIN}"),
                    keys,
                    Some(share_error(*share, keys)),
                )
                .examples(widest(shape));
            Some(draft.advice(
                "Pad it with zeros to one width, or store it as big-endian bytes.",
                "",
                "a range of numbers becomes one range of keys; rows must be rewritten once",
            ))
        },
    )
}

pub(super) fn negative(case: &Case<'_>) -> Outcome {
    first_oddity(case, "no negative numbers as text", |shape, field, oddity, keys| {
        let Oddity::Negative { share } = oddity else { return None };
        if !is_habit(*share, keys) {
            return None;
        }
        let headline = format!(
            "`{}` holds negative numbers as text, {}: they sort backwards and apart from the others",
            field.name,
            say::percent(*share)
        );
        let draft = Draft::new(Rule::NegativeTextNumber, Severity::Warning, headline)
            .measured(
                "share of negative values",
                *share,
                format!("from {SHARE_ODD_MIN}"),
                keys,
                Some(share_error(*share, keys)),
            )
            .examples(widest(shape));
        Some(draft.advice(
            "Add an offset that makes all values positive before padding, or use an encoding that keeps order.",
            "",
            "a range of numbers becomes one range of keys; rows must be rewritten once",
        ))
    })
}

pub(super) fn delimiter(case: &Case<'_>) -> Outcome {
    let inside = first_oddity(
        case,
        "no field holds the delimiter behind it",
        |shape, field, oddity, keys| {
            let Oddity::Delimiter { byte, share, example } = oddity else { return None };
            if !is_habit(*share, keys) {
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
                for piece in bytes.split_inclusive(|byte| byte.is_ascii_punctuation()) {
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

pub(super) fn hex_case(case: &Case<'_>) -> Outcome {
    first_oddity(case, "no hex field comes in both cases", |shape, field, oddity, keys| {
        let Oddity::HexCase { upper, lower } = oddity else { return None };
        let lesser = upper.min(*lower);
        if lesser < SHARE_MIX_MIN || lesser * say::float(keys) < KEYS_ODD_MIN {
            return None;
        }
        let headline = format!(
            "`{}` is hex in capitals ({}) and in small letters ({}): one value has two keys, in two places",
            field.name,
            say::percent(*upper),
            say::percent(*lower)
        );
        let draft = Draft::new(Rule::HexCaseMix, Severity::Warning, headline)
            .measured(
                "share of the rarer case",
                lesser,
                format!("from {SHARE_MIX_MIN}"),
                keys,
                Some(share_error(lesser, keys)),
            )
            .examples(widest(shape));
        Some(draft.advice(
            "Write hex in one case before it becomes a key, and rewrite the rows of the other.",
            "",
            "a look-up finds the row, whoever wrote it",
        ))
    })
}
