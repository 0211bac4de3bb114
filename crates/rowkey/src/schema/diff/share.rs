//! Salts of two schemas: what a change of them moves, and whether rows of both can stand side by side.

use super::{Changes, Reach, Verdict};
use crate::schema::{Hash, KeySchema, Part, Salt, SaltFormat, SaltSource};

/// The old layout, its fields replaced by their partners in the new schema.
pub(super) fn layout_of_pairs(old: &KeySchema, pairs: &[(usize, usize)]) -> Vec<Part> {
    let partner =
        |index: usize| pairs.iter().find(|(old, _)| *old == index).map_or(usize::MAX, |(_, new)| *new);
    let part = |part: &Part| match part {
        Part::Field(index) => Part::Field(partner(*index)),
        other => other.clone(),
    };
    old.parts.iter().map(part).collect()
}

/// The salt's fields, as indexes of the new schema.
fn of(salt: &Salt, pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut of: Vec<usize> = salt
        .of
        .iter()
        .filter_map(|index| pairs.iter().find(|(old, _)| old == index))
        .map(|(_, new)| *new)
        .collect();
    of.sort_unstable();
    of
}

/// Share of rows whose bucket number changes, for an even hash.
pub(super) fn moved(old: &KeySchema, new: &KeySchema, pairs: &[(usize, usize)]) -> Option<f64> {
    let same_input = hashes_the_same(old, new, pairs);
    let (old, new) = (old.salt.as_ref()?, new.salt.as_ref()?);
    let prefix = |salt: &Salt| matches!(salt.source, SaltSource::HashPrefix { .. });
    if prefix(old) || prefix(new) {
        return None;
    }
    let (from, to) = (old.buckets, new.buckets);
    if new.source == SaltSource::Random {
        // Any bucket will do, so only rows in buckets that are no more have to go; HBaseWD's stray bucket is one of these.
        let kept = from.min(to);
        return Some(1.0 - f64::from(kept) / f64::from(from));
    }
    if old.source == new.source && same_input {
        return Some(1.0 - f64::from(from.min(to)) / lcm(from, to));
    }
    // Two numbers that have nothing to do with each other agree once in as many times as the greater count has buckets.
    Some(1.0 - 1.0 / f64::from(from.max(to)))
}

/// Whether both salts are computed from the same bytes of every row.
fn hashes_the_same(old_schema: &KeySchema, new_schema: &KeySchema, pairs: &[(usize, usize)]) -> bool {
    let (Some(old), Some(new)) = (&old_schema.salt, &new_schema.salt) else { return false };
    if of(old, pairs) != new.of || old.of.len() != new.of.len() {
        return false;
    }
    // A remainder is taken of the value, a hash of its bytes; of several fields, with what stands between them.
    let encoding = |(index, partner): &(usize, usize)| {
        let (before, after) = (&old_schema.fields[*index], &new_schema.fields[*partner]);
        before.kind == after.kind && before.order == after.order
    };
    let mut hashed = pairs.iter().filter(|(_, partner)| new.of.contains(partner));
    let whole_key = matches!(new.source, SaltSource::Hash(Hash::Phoenix | Hash::HbaseWd));
    let layouts = new.of.len() == 1 && !whole_key || layout_of_pairs(old_schema, pairs) == new_schema.parts;
    new.source == SaltSource::Modulo || hashed.all(encoding) && layouts
}

fn lcm(left: u32, right: u32) -> f64 {
    let (mut a, mut b) = (left, right);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    f64::from(left / a) * f64::from(right)
}

/// Tells how the salts differ.
pub(super) fn compare_salts(
    old: &KeySchema,
    new: &KeySchema,
    pairs: &[(usize, usize)],
    moved: Option<f64>,
    changes: &mut Changes,
) {
    let (before, after) = match (&old.salt, &new.salt) {
        (None, None) => return,
        (None, Some(salt)) => {
            let what = format!("salt added: {}", new.salt_text(salt));
            return changes.add(
                Verdict::Migrate,
                Reach::Everything,
                what,
                "every key gets a salt, so every row moves",
            );
        }
        (Some(salt), None) => {
            let what = format!("salt removed: {}", old.salt_text(salt));
            return changes.add(
                Verdict::Migrate,
                Reach::Everything,
                what,
                "every key loses its salt, so every row moves",
            );
        }
        (Some(before), Some(after)) => (before, after),
    };
    let kept = Salt { of: of(before, pairs), ..before.clone() };
    if kept == *after && before.of.len() == after.of.len() {
        return;
    }
    let what = format!("salt: {} -> {}", old.salt_text(before), new.salt_text(after));
    let stray = matches!(before.source, SaltSource::Hash(Hash::HbaseWd));
    if before.format != after.format {
        let why = "the salt is written differently, so every key is";
        changes.add(Verdict::Migrate, Reach::Everything, what, why);
    } else if after.source == SaltSource::Random && moved == Some(0.0) && !stray {
        let why = "every bucket of the old schema is one of the new; point reads visit all of them";
        changes.safe(what, why);
    } else if moved == Some(0.0) && !stray {
        changes.safe(what, "no row changes its bucket");
    } else {
        let reach = if moved.is_some() { Reach::Bucket } else { Reach::Everything };
        changes.add(Verdict::Migrate, reach, what, reason(&kept, after));
    }
}

fn reason(before: &Salt, after: &Salt) -> &'static str {
    if before.source == after.source && before.of == after.of {
        "the bucket is a remainder, so rows move between old and new buckets; a multiple of the old number moves fewest"
    } else {
        "the bucket comes from something else, so nearly every row moves"
    }
}

impl KeySchema {
    /// The salt in a few words: `xxh3(vehicle) mod 16, 2 digits`.
    pub(in crate::schema) fn salt_text(&self, salt: &Salt) -> String {
        let name = crate::schema::parse::salt::hash_name(salt.source);
        let fields: Vec<&str> = salt.of.iter().map(|index| self.fields[*index].name.as_str()).collect();
        let fields = fields.join(", ");
        let bucket = match salt.source {
            SaltSource::Random => format!("random below {}", salt.buckets),
            SaltSource::Modulo => format!("{fields} mod {}", salt.buckets),
            SaltSource::HashPrefix { bytes, .. } => format!("the first {bytes} bytes of {name}({fields})"),
            SaltSource::Hash(Hash::Md5Hex { digits }) => {
                format!("{name}({fields}), {digits} digits, mod {}", salt.buckets)
            }
            SaltSource::Hash(_) => format!("{name}({fields}) mod {}", salt.buckets),
        };
        let format = match salt.format {
            SaltFormat::Digits { width: 1 } => "1 digit".to_owned(),
            SaltFormat::Digits { width } => format!("{width} digits"),
            SaltFormat::Hex { width: 1 } => "1 hex digit".to_owned(),
            SaltFormat::Hex { width } => format!("{width} hex digits"),
            SaltFormat::Bytes { width: 1 } => "1 byte".to_owned(),
            SaltFormat::Bytes { width } => format!("{width} bytes"),
        };
        format!("{bucket}, {format}")
    }
}

/// Why a stored key might be one of both designs, with two meanings. `None` only where that is certain not to be.
pub(super) fn not_in_one_table(old: &KeySchema, new: &KeySchema, pairs: &[(usize, usize)]) -> Option<String> {
    // Keys of different lengths cannot be mixed up, whatever is in them.
    let (old_width, new_width) = (old.key_width(), new.key_width());
    let apart = |max: Option<usize>, min: usize| max.is_some_and(|max| max < min);
    if apart(old_width.max, new_width.min) || apart(new_width.max, old_width.min) {
        return None;
    }
    let unsalted =
        |parts: Vec<Part>| parts.into_iter().filter(|part| *part != Part::Salt).collect::<Vec<_>>();
    let same_fields = pairs.len() == old.fields.len()
        && pairs.len() == new.fields.len()
        && pairs.iter().all(|(index, partner)| {
            let (before, after) = (&old.fields[*index], &new.fields[*partner]);
            before.kind == after.kind && !super::kinds::turned(before, after)
        });
    let after = unsalted(new.parts.clone());
    if !same_fields || unsalted(layout_of_pairs(old, pairs)) != after {
        return Some("a stored key could be one of either design and mean two different rows".to_owned());
    }
    // The same unsalted key behind salts of one width: whichever design wrote it, it means the same row.
    if old.salt_bytes() == new.salt_bytes() {
        return None;
    }
    // Behind the narrower salt stands a literal; no salt of text has that byte in the same place.
    let wider = if old.salt_bytes() > new.salt_bytes() { &old.salt } else { &new.salt };
    let text = matches!(wider, Some(Salt { format: SaltFormat::Digits { .. } | SaltFormat::Hex { .. }, .. }));
    let literal = match after.first() {
        Some(Part::Literal(literal)) => literal.first().copied(),
        _ => None,
    };
    if text && literal.is_some_and(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    Some("a key with the narrower salt could also be read as one with the wider".to_owned())
}
