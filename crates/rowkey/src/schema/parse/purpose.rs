//! What the table is for: `[families]` and `[[queries]]`.

use super::document::{Table, Text, suggest};
use super::{attributes, layout};
use crate::Result;
use crate::schema::{Binding, DeclaredQuery, Family, Field, FieldKind};

/// Bytes of a family name (quota page of Bigtable's documentation; also `limits.rs` of `rowkey-store`).
const FAMILY_NAME_BYTES_MAX: usize = 64;
/// Families of a table (the same page; also `limits.rs` of `rowkey-store`).
const FAMILIES_MAX: usize = 100;
/// Bytes of a garbage-collection rule, serialised (`ColumnFamily.gc_rule`).
const GC_RULE_BYTES_MAX: usize = 500;
/// Types of a family's values.
const VALUE_TYPES: [(&str, &str); 4] =
    [("bytes", "bytes"), ("intsum", "intsum"), ("intmin", "intmin"), ("intmax", "intmax")];

/// Reads `[families]`.
pub(super) fn families(root: &Table<'_, '_>) -> Result<Vec<Family>> {
    let example = "a table, as in metrics = { gc = \"maxversions=1\" } under [families]";
    let Some(table) = root.table("families", "[families]".to_owned(), example)? else {
        return Ok(Vec::new());
    };
    let names = table.keys();
    if names.len() > FAMILIES_MAX {
        let message = format!("{} families; Bigtable takes at most {FAMILIES_MAX}", names.len());
        return Err(table.error(message));
    }
    names.into_iter().map(|name| family(&table, name)).collect()
}

fn family(families: &Table<'_, '_>, name: &str) -> Result<Family> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || !name.bytes().all(allowed) {
        let message = format!("the family name {name:?} may have letters, digits, `-`, `_` and `.` only");
        return Err(families.error_at(name, message));
    }
    if name.len() > FAMILY_NAME_BYTES_MAX {
        let message =
            format!("the family name `{name}` has {} bytes; at most {FAMILY_NAME_BYTES_MAX}", name.len());
        return Err(families.error_at(name, message));
    }
    let example = "a table, as in { gc = \"maxversions=1\" }, or {} to keep everything";
    let table =
        families.table(name, format!("family `{name}`"), example)?.expect("the name is a key of the table");
    table.refuse_unknown(attributes::FAMILY)?;
    let gc = table.string("gc")?;
    if let Some(gc) = gc.as_ref().filter(|gc| gc.value.len() > GC_RULE_BYTES_MAX) {
        return Err(gc.error(format!("`gc` has {} bytes; at most {GC_RULE_BYTES_MAX}", gc.value.len())));
    }
    let gc = gc.map_or_else(String::new, |gc| gc.value.trim().to_owned());
    let value_type = table.word("value_type", &VALUE_TYPES)?.unwrap_or("bytes").to_owned();
    Ok(Family { name: name.to_owned(), gc, value_type })
}

/// Reads every `[[queries]]`.
pub(super) fn queries(root: &Table<'_, '_>, fields: &[Field]) -> Result<Vec<DeclaredQuery>> {
    let mut queries: Vec<DeclaredQuery> = Vec::new();
    for table in root.tables("queries")? {
        let query = query(&table, fields)?;
        if queries.iter().any(|earlier| earlier.name == query.name) {
            let message = format!("two queries have the name \"{}\"; rename one", query.name);
            return Err(table.error_at_value("name", message));
        }
        queries.push(query);
    }
    Ok(queries)
}

fn query(table: &Table<'_, '_>, fields: &[Field]) -> Result<DeclaredQuery> {
    table.refuse_unknown(attributes::QUERY)?;
    let name = table.required_string("name", "name = \"last readings of a vehicle\"")?;
    if name.value.trim().is_empty() {
        return Err(name.error("`name` is empty: say in a few words what the query is for"));
    }
    let all: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let example =
        format!("where = \"{}\", the fields that it binds, or where = \"*\" for a full scan", all.join(", "));
    let bound = bound(&table.required_string("where", &example)?, fields)?;
    let limit = table.integer("limit", 1..=i64::MAX)?.map(i64::unsigned_abs);
    let rows = table.integer("rows", 1..=i64::MAX)?.map(i64::unsigned_abs);
    if limit.is_some() && rows.is_some() {
        let message = "`rows` says how many rows come where there is no `limit`; remove one of them";
        return Err(table.error_at("rows", message));
    }
    let per_second = table.number("per_second")?;
    Ok(DeclaredQuery { name: name.value, bound, limit, per_second, rows, reverse: table.flag("reverse")? })
}

const WORDS: [(&str, Binding); 3] =
    [("in", Binding::In), ("prefix", Binding::Prefix), ("range", Binding::Range)];

fn bound(text: &Text<'_>, fields: &[Field]) -> Result<Vec<(usize, Binding)>> {
    let mut bound: Vec<(usize, Binding)> = Vec::new();
    if text.value.trim() == "*" {
        return Ok(bound);
    }
    if text.value.trim().is_empty() {
        return Err(text.error(
            "`where` is empty: name the fields that the query binds, or write where = \"*\" for a full scan",
        ));
    }
    let mut offset = 0;
    for item in text.value.split(',') {
        let at = offset + (item.len() - item.trim_start().len());
        offset += item.len() + 1;
        let mut words = item.split_whitespace();
        let Some(name) = words.next() else {
            return Err(
                text.error_at(at, "`where` has an empty item: write field names with one comma between them")
            );
        };
        let (index, binding) = binding(text, at, name, words.next(), fields)?;
        if words.next().is_some() {
            let message = format!(
                "`{}` says too much: write `{name}`, `{name} in`, `{name} prefix` or `{name} range`",
                item.trim()
            );
            return Err(text.error_at(at, message));
        }
        if bound.iter().any(|(earlier, _)| *earlier == index) {
            return Err(text.error_at(at, format!("`{name}` stands twice in `where`; remove one")));
        }
        bound.push((index, binding));
    }
    bound.sort_by_key(|(index, _)| *index);
    Ok(bound)
}

fn binding(
    text: &Text<'_>,
    at: usize,
    name: &str,
    word: Option<&str>,
    fields: &[Field],
) -> Result<(usize, Binding)> {
    let Some(index) = fields.iter().position(|field| field.name == name) else {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let what = if layout::is_name(name) { "is not a field of the layout" } else { "is not a field name" };
        return Err(text.error_at(at, format!("`{name}` in `where` {what}; {}", suggest(name, &names))));
    };
    let Some(word) = word else { return Ok((index, Binding::Equal)) };
    let Some((_, binding)) = WORDS.iter().find(|(known, _)| *known == word) else {
        let message = format!(
            "`{name} {word}` in `where`: a declared query says how a field is bound, not to which value: write `{name}` (equal), \
             `{name} in`, `{name} prefix` or `{name} range`"
        );
        return Err(text.error_at(at, message));
    };
    let kind = &fields[index].kind;
    let refused = match binding {
        Binding::Prefix if !has_prefixes(kind) => {
            Some("numbers, times and UUIDs have no prefix; write `range`")
        }
        Binding::Range if matches!(kind, FieldKind::UintReversed { .. }) => {
            Some("its reversed digits have no order; write `in`, or take reverse = true away")
        }
        _ => None,
    };
    match refused {
        Some(why) => Err(text.error_at(at, format!("`{name} {word}` in `where`: {why}"))),
        None => Ok((index, *binding)),
    }
}

fn has_prefixes(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::String
            | FieldKind::Hex { .. }
            | FieldKind::Domain { .. }
            | FieldKind::EscapedBytes
            | FieldKind::EscapedText
            | FieldKind::Fixed { .. }
    )
}
