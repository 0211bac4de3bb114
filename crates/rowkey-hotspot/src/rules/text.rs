//! Rules about fields whose text does not sort or group as their values do: `unpadded-number`, `negative-text-number`,
//! `hex-case-mix`.

use std::collections::BTreeSet;

use super::case::{Case, KEYS_MIN, Shape};
use super::draft::{Draft, Outcome, share_error};
use super::reverse::sample;
use super::say;
use crate::layout::{FieldFacts, Meaning, Oddity};
use crate::rule::{Rule, Severity};

/// Text order differs from number order for more than this share of pairs (research, D3).
const DISCORDANT_MIN: f64 = 0.01;

/// A handful of malformed keys is no habit: so many keys of the sample and this share of its format.
const KEYS_ODD_MIN: f64 = 5.0;
pub(super) const SHARE_ODD_MIN: f64 = 0.002;

/// Some per cent of the values are worth a warning.
pub(super) const SHARE_MIX_MIN: f64 = 0.02;

/// Whether a share is more than a handful.
pub(super) fn is_habit(share: f64, keys: u64) -> bool {
    share >= SHARE_ODD_MIN && share * say::float(keys) >= KEYS_ODD_MIN
}

/// Looks at each oddity of each field of each format; the first that `look` accepts makes the finding.
pub(super) fn first_oddity(
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

pub(super) fn widest<'f>(shape: &Shape<'f>) -> impl Iterator<Item = &'f [u8]> {
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
            let lonely = stands_alone(case, shape, field);
            let severity = if lonely { Severity::Note } else { Severity::Warning };
            let headline = if lonely {
                headline + "; what is before it is rarely the same twice, so that its order hardly matters"
            } else {
                headline
            };
            let draft = Draft::new(Rule::UnpaddedNumber, severity, headline)
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

/// Whether hardly two rows agree in all before a field, such as a time in milliseconds: then nobody reads it in order. Only a complete sample
/// can show that.
fn stands_alone(case: &Case<'_>, shape: &Shape<'_>, field: &FieldFacts) -> bool {
    let Some(index) = shape.fields.iter().position(|other| std::ptr::eq(*other, field)) else { return false };
    let Some(before) = index.checked_sub(1).filter(|before| *before >= shape.lead) else { return false };
    let prefixes: BTreeSet<&[u8]> = case.rows_of(shape).filter_map(|row| row.prefix(before)).collect();
    case.facts.written.is_complete() && prefixes.len() * 10 >= case.rows_of(shape).count() * 9
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
