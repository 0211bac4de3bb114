//! What a declared query reads, told from the design alone: the same choices as [`crate::plan()`] makes, without values.

use super::QueryDescription;
use crate::plan::{IMPLICIT_COMBINATIONS, IMPLICIT_RANGES_MAX};
use crate::schema::{Binding, DeclaredQuery, KeySchema, SaltSource};

/// How far into the key the ranges reach.
struct Reach {
    /// Fields from the front of the key.
    levels: usize,
    /// Combinations of declared values that are tried for it.
    combinations: u128,
}

impl KeySchema {
    pub(super) fn describe_query(&self, query: &DeclaredQuery) -> QueryDescription {
        let buckets = self.buckets_of(query);
        // Behind an unknown hash no field cuts anything.
        let levels = buckets.map_or(0, |buckets| self.levels(query, buckets));
        let name = |index: usize| self.fields[index].name.clone();
        let (cut_by, tried): (Vec<usize>, Vec<usize>) =
            (0..levels).partition(|index| binding(query, *index).is_some());
        let checked = query.bound.iter().filter(|(index, _)| *index >= levels);
        QueryDescription {
            name: query.name.clone(),
            bound: self.bound_text(query),
            buckets,
            cut_by: cut_by.into_iter().map(name).collect(),
            tried: tried.into_iter().map(name).collect(),
            checked: checked.map(|(index, _)| name(*index)).collect(),
        }
    }

    fn buckets_of(&self, query: &DeclaredQuery) -> Option<u32> {
        let Some(salt) = &self.salt else { return Some(1) };
        let is_known =
            !salt.of.is_empty() && salt.of.iter().all(|index| binding(query, *index) == Some(Binding::Equal));
        match salt.source {
            _ if is_known => Some(1),
            SaltSource::HashPrefix { .. } => None,
            _ => Some(salt.buckets),
        }
    }

    fn levels(&self, query: &DeclaredQuery, buckets: u32) -> usize {
        let mut reaches = IMPLICIT_COMBINATIONS.iter().map(|max| self.reach(query, *max));
        let fits = |reach: &Reach| {
            reach.combinations.saturating_mul(u128::from(buckets)) <= IMPLICIT_RANGES_MAX as u128
        };
        reaches.find(fits).unwrap_or_else(|| self.reach(query, 1)).levels
    }

    fn reach(&self, query: &DeclaredQuery, combinations_max: u128) -> Reach {
        let mut reach = Reach { levels: 0, combinations: 1 };
        // Of fields that are tried, those count which a bound one follows.
        let mut combinations = 1u128;
        for (index, field) in self.fields.iter().enumerate() {
            let binding = binding(query, index);
            let is_single = matches!(binding, Some(Binding::Equal | Binding::In));
            if !is_single {
                let with_each = combinations.saturating_mul(field.values.len() as u128);
                if field.values.is_empty() || with_each > combinations_max {
                    reach.levels = if binding.is_some() { index + 1 } else { reach.levels };
                    break;
                }
                combinations = with_each;
            }
            if binding.is_some() {
                reach = Reach { levels: index + 1, combinations };
            }
        }
        reach
    }
}

fn binding(query: &DeclaredQuery, field: usize) -> Option<Binding> {
    query.bound.iter().find(|(index, _)| *index == field).map(|(_, binding)| *binding)
}
