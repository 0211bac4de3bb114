//! What it takes to go from one schema to another: nothing, a migration, or a decision that only people can make.

mod kinds;
mod share;
#[cfg(test)]
mod tests;

use super::describe::text::grouped;
use super::{Family, Field, Fingerprint, KeySchema};
use std::fmt;

/// What a change asks for. The greater, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Stored keys stay as they are, and the new schema reads them.
    Safe,
    /// Rows have to be written again under new keys; every row can be.
    Migrate,
    /// Some rows have no key under the new schema, or two would get one: no program can decide that alone.
    Forbidden,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Safe => "safe",
            Verdict::Migrate => "migrate",
            Verdict::Forbidden => "forbidden",
        })
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it asks for.
    pub verdict: Verdict,
    /// What differs: `buckets 16 -> 32`.
    pub what: String,
    /// What follows from it.
    pub why: String,
}

/// All differences of two schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// The gravest verdict of the changes.
    pub verdict: Verdict,
    /// The changes, the gravest first.
    pub changes: Vec<Change>,
    /// The fingerprint of the old schema.
    pub old: Fingerprint,
    /// The fingerprint of the new schema.
    pub new: Fingerprint,
    /// Share of the rows whose bucket number changes, 0 to 1, for an even hash: `1 - min(N, M) / lcm(N, M)` if only the number of
    /// buckets differs. `None` where one of the two has no bucket numbers.
    pub moved_share: Option<f64>,
    /// Share of the rows whose stored key changes in any byte, 0 to 1. `None` if the change is forbidden.
    pub rewritten_share: Option<f64>,
    /// Bytes of salt more (or less) for a million rows.
    pub salt_bytes_per_million_rows: i64,
    /// Why rows of both designs cannot stand in one table while it is migrated; `None` if they can.
    pub not_in_one_table: Option<String>,
}

/// Which stored keys a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// None.
    Nothing,
    /// Those whose bucket differs.
    Bucket,
    /// All.
    Everything,
}

/// Collects changes.
struct Changes {
    list: Vec<Change>,
    reach: Reach,
}

impl Changes {
    fn add(&mut self, verdict: Verdict, reach: Reach, what: String, why: impl Into<String>) {
        self.list.push(Change { verdict, what, why: why.into() });
        self.reach = self.reach.max(reach);
    }

    fn safe(&mut self, what: String, why: impl Into<String>) {
        self.add(Verdict::Safe, Reach::Nothing, what, why);
    }
}

/// Compares two schemas. Pure: what is in the table decides nothing here.
pub fn diff(old: &KeySchema, new: &KeySchema) -> Diff {
    let mut changes = Changes { list: Vec::new(), reach: Reach::Nothing };
    if old.table != new.table {
        changes.safe(
            format!("table `{}` -> `{}`", old.table, new.table),
            "the name of the table is no part of its keys",
        );
    }
    let pairs = pair_fields(old, new);
    compare_fields(old, new, &pairs, &mut changes);
    compare_layouts(old, new, &pairs, &mut changes);
    let moved_share = share::moved(old, new, &pairs);
    share::compare_salts(old, new, &pairs, moved_share, &mut changes);
    compare_families(old, new, &mut changes);
    if old.queries != new.queries {
        changes.safe("queries".to_owned(), "they say what the table is for and change no key");
    }
    let Changes { mut list, reach } = changes;
    list.sort_by_key(|change| std::cmp::Reverse(change.verdict));
    let verdict = list.first().map_or(Verdict::Safe, |change| change.verdict);
    let rewritten_share = match (verdict, reach) {
        (Verdict::Forbidden, _) => None,
        (_, Reach::Nothing) => Some(0.0),
        (_, Reach::Bucket) => moved_share,
        (_, Reach::Everything) => Some(1.0),
    };
    let not_in_one_table =
        if reach == Reach::Nothing { None } else { share::not_in_one_table(old, new, &pairs) };
    Diff {
        verdict,
        changes: list,
        old: old.fingerprint(),
        new: new.fingerprint(),
        moved_share,
        rewritten_share,
        salt_bytes_per_million_rows: (bytes(new.salt_bytes()) - bytes(old.salt_bytes())) * 1_000_000,
        not_in_one_table,
    }
}

fn bytes(count: usize) -> i64 {
    i64::try_from(count).expect("a salt has at most 32 bytes")
}

/// Which old field is which new one: by name, and a renamed one by its place, if nothing else about it differs.
fn pair_fields(old: &KeySchema, new: &KeySchema) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (index, field) in old.fields.iter().enumerate() {
        let partner = new.field_index(&field.name).or_else(|| {
            let same_place = new.fields.get(index)?;
            let renamed = old.field_index(&same_place.name).is_none()
                && Field { name: String::new(), ..field.clone() }
                    == Field { name: String::new(), ..same_place.clone() };
            (renamed && old.fields.len() == new.fields.len()).then_some(index)
        });
        pairs.extend(partner.map(|partner| (index, partner)));
    }
    pairs
}

fn compare_fields(old: &KeySchema, new: &KeySchema, pairs: &[(usize, usize)], changes: &mut Changes) {
    for (index, field) in old.fields.iter().enumerate() {
        let Some((_, partner)) = pairs.iter().find(|(old_index, _)| *old_index == index) else {
            changes.add(
                Verdict::Forbidden,
                Reach::Everything,
                format!("field `{}` is gone", field.name),
                "rows that differ in it only would get one key; export them, decide, and import into a new table",
            );
            continue;
        };
        let new_field = &new.fields[*partner];
        if field.name != new_field.name {
            changes.safe(
                format!("field `{}` -> `{}`", field.name, new_field.name),
                "its bytes stay; only programs and queries that name it have to follow",
            );
        }
        kinds::compare(field, new_field, changes);
        compare_values(field, new_field, changes);
    }
    for (index, field) in new.fields.iter().enumerate() {
        if !pairs.iter().any(|(_, partner)| *partner == index) {
            changes.add(
                Verdict::Forbidden,
                Reach::Everything,
                format!("field `{}` is new", field.name),
                "the old keys have no value for it; export the rows, add it, and import into a new table",
            );
        }
    }
}

fn compare_values(old: &Field, new: &Field, changes: &mut Changes) {
    let lost: Vec<&str> =
        old.values.iter().filter(|value| !new.values.contains(value)).map(String::as_str).collect();
    let gained: Vec<&str> =
        new.values.iter().filter(|value| !old.values.contains(value)).map(String::as_str).collect();
    let what = |words: &str| format!("values of `{}`: {words}", new.name);
    match (old.values.is_empty(), new.values.is_empty()) {
        (true, true) => {}
        (false, true) => changes.safe(what("any"), "every key of the old schema is one of the new"),
        (true, false) => changes.add(
            Verdict::Migrate,
            Reach::Nothing,
            what(&format!("only {}", new.values.join(", "))),
            "rows with another value are refused by the new schema; find and delete or correct them first",
        ),
        (false, false) => {
            if !lost.is_empty() {
                changes.add(
                    Verdict::Migrate,
                    Reach::Nothing,
                    what(&format!("without {}", lost.join(", "))),
                    "rows with such a value are refused by the new schema; find and delete or correct them first",
                );
            }
            if !gained.is_empty() {
                changes.safe(
                    what(&format!("also {}", gained.join(", "))),
                    "every key of the old schema is one of the new",
                );
            }
        }
    }
}

/// Order and literals. Fields that came or went are told of elsewhere.
fn compare_layouts(old: &KeySchema, new: &KeySchema, pairs: &[(usize, usize)], changes: &mut Changes) {
    let complete = pairs.len() == old.fields.len() && pairs.len() == new.fields.len();
    if !complete || share::layout_of_pairs(old, pairs) == new.parts {
        return;
    }
    let in_order = pairs.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let (name, why) = if in_order {
        ("layout", "the literals are part of every key, and values must keep to what the new ones leave them")
    } else {
        ("order of fields in the layout", "rows sort differently, so every key is written again")
    };
    changes.add(
        Verdict::Migrate,
        Reach::Everything,
        format!("{name}: {} -> {}", old.layout(), new.layout()),
        why,
    );
}

fn compare_families(old: &KeySchema, new: &KeySchema, changes: &mut Changes) {
    let find = |families: &[Family], name: &str| families.iter().find(|family| family.name == name).cloned();
    for family in &old.families {
        let Some(other) = find(&new.families, &family.name) else {
            changes.safe(
                format!("family `{}` is gone from the schema", family.name),
                "keys do not depend on it; its cells stay until the family is dropped from the table",
            );
            continue;
        };
        if family.gc != other.gc {
            changes.safe(
                format!("gc of family `{}`: \"{}\" -> \"{}\"", family.name, family.gc, other.gc),
                "keys do not depend on it; a stricter rule deletes cells for good",
            );
        }
        if family.value_type != other.value_type {
            changes.add(
                Verdict::Migrate,
                Reach::Nothing,
                format!(
                    "value type of family `{}`: {} -> {}",
                    family.name, family.value_type, other.value_type
                ),
                "cells of one type cannot be read as the other; write them again into a new family",
            );
        }
    }
    for family in &new.families {
        if find(&old.families, &family.name).is_none() {
            changes.safe(format!("family `{}` is new", family.name), "keys do not depend on it");
        }
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.changes.is_empty() {
            return write!(f, "the same: nothing differs");
        }
        write!(f, "{}", self.verdict)?;
        for change in &self.changes {
            write!(f, "\n  {:<9}  {}\n             {}", change.verdict, change.what, change.why)?;
        }
        if self.old != self.new {
            write!(f, "\nfingerprint {} -> {}", self.old, self.new)?;
        }
        if let Some(share) = self.moved_share.filter(|share| *share > 0.0) {
            write!(f, "\n{} % of the rows change their bucket", percent(share))?;
        }
        if let Some(share) = self.rewritten_share.filter(|share| *share > 0.0) {
            write!(f, "\n{} % of the rows are written under a new key", percent(share))?;
        }
        if self.salt_bytes_per_million_rows != 0 {
            let bytes = grouped(self.salt_bytes_per_million_rows.unsigned_abs());
            let more = if self.salt_bytes_per_million_rows > 0 { "more" } else { "less" };
            write!(f, "\n{bytes} bytes {more} of salt for a million rows")?;
        }
        match (&self.not_in_one_table, self.rewritten_share) {
            (Some(why), _) => write!(f, "\nmigrate into a new table: {why}"),
            (None, Some(share)) if share > 0.0 => {
                write!(f, "\nrows of both designs can stand in one table: every key tells which it is of")
            }
            _ => Ok(()),
        }
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
