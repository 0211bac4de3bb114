//! `lossy-reverse-time`: reversed times that went through a floating-point number.
//!
//! A double has 53 bits. `2^63 - 1 - time` needs 63, so that only every 1,024th value can be told apart: rows that were written within a
//! second get one key, and the last write wins.

use super::case::{Case, KEYS_MIN};
use super::draft::{Draft, Outcome, share_error, surely_above};
use super::say;
use crate::layout::Oddity;
use crate::rule::{Rule, Severity};

pub(super) fn judge(case: &Case<'_>) -> Outcome {
    if case.layout.sampled < KEYS_MIN / 2 {
        return Outcome::Unchecked(case.no_order());
    }
    for shape in &case.shapes {
        for field in &shape.fields {
            for oddity in &field.oddities {
                let Oddity::Granular { step, share } = oddity else { continue };
                let keys = sample(case, shape.format.share);
                // Values at random are multiples of the step once in `step`.
                let by_chance = 1.0 / say::float((*step).max(1));
                if *step < 2 || surely_above(*share, keys) <= (2.0 * by_chance).max(0.5) {
                    continue;
                }
                let headline = format!(
                    "`{}` holds only every {}th value: it went through a floating-point number, and rows written close together overwrite each other",
                    field.name,
                    say::float(*step)
                );
                let draft = Draft::new(Rule::LossyReverseTime, Severity::Warning, headline)
                    .field(&field.name)
                    .measured(
                        "share of values that are multiples",
                        *share,
                        format!("above 0.5; {} by chance", say::percent(by_chance)),
                        keys,
                        Some(share_error(*share, keys)),
                    )
                    .examples(shape.format.examples.iter().take(5).map(AsRef::as_ref));
                return Outcome::one(draft.advice(
                    "Compute the reversed time with 64-bit integers, or in a script with big integers.",
                    "no write is lost any more",
                    "rows written so far keep their keys; what was overwritten is gone",
                ));
            }
        }
    }
    Outcome::Clear("no number's values keep to multiples of a power of two".to_owned())
}

/// Keys of a format in the sample.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
pub(super) fn sample(case: &Case<'_>, share: f64) -> u64 {
    (say::float(case.layout.sampled) * share.clamp(0.0, 1.0)).round() as u64
}
