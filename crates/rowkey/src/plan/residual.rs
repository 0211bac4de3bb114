//! What the ranges of a plan cannot express, checked on each decoded row.

use super::choice::{self, Choices};
use super::set::FieldSet;
use crate::Value;
use crate::codec::Codec;
use crate::query::Query;
use std::fmt;

/// Conditions that are left to check on decoded rows.
#[derive(Debug, Clone, Default)]
pub struct Residual {
    /// The checks; all have to hold.
    pub checks: Vec<Check>,
    codec: Option<Codec>,
}

/// One field to check.
#[derive(Debug, Clone)]
pub struct Check {
    /// The name of the field.
    pub field: String,
    /// Its index among the fields of the key.
    pub index: usize,
    /// The conditions of the query on it, as where-text.
    pub text: String,
    set: FieldSet,
}

impl Residual {
    /// What is left behind the first `levels` fields.
    pub(super) fn new(codec: &Codec, query: &Query, choices: &Choices, levels: usize) -> Self {
        let mut checks = Vec::new();
        for (index, choice) in choices.fields.iter().enumerate().skip(levels) {
            if let Some(set) = &choice.set {
                let field = codec.schema().fields[index].name.clone();
                let text = query.text_of_field(codec, &field);
                checks.push(Check { field, index, text, set: set.clone() });
            }
        }
        let codec = (!checks.is_empty()).then(|| codec.clone());
        Self { checks, codec }
    }

    /// Whether a row with these values meets every check.
    pub fn matches(&self, values: &[Value<'_>]) -> bool {
        let Some(codec) = &self.codec else { return true };
        self.checks.iter().all(|check| {
            values
                .get(check.index)
                .is_some_and(|value| choice::contains(codec, check.index, &check.set, value))
        })
    }
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.checks.is_empty() {
            return f.write_str("nothing");
        }
        for (at, check) in self.checks.iter().enumerate() {
            let joint = if at == 0 { "" } else { " and " };
            write!(f, "{joint}{}", check.text)?;
        }
        Ok(())
    }
}
