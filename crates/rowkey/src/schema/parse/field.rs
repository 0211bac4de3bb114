//! One entry of `[key.fields]`: its type, encoding and order.

use super::attributes::{TYPES, all_field_attributes};
use super::document::{Table, Text, list, suggest};
use crate::schema::{Field, FieldKind, IsoForm, Order, TimeUnit};
use crate::{Error, Result};

/// The units of a time, as they are spelled.
pub(in crate::schema) const UNITS: [(&str, TimeUnit); 4] =
    [("s", TimeUnit::Seconds), ("ms", TimeUnit::Millis), ("us", TimeUnit::Micros), ("ns", TimeUnit::Nanos)];

/// The formats of a time in text, as they are spelled. `None`: digits since the epoch.
pub(in crate::schema) const FORMATS: [(&str, Option<IsoForm>); 5] = [
    ("epoch", None),
    ("iso-basic", Some(IsoForm::Basic)),
    ("iso-extended", Some(IsoForm::Extended)),
    ("date-basic", Some(IsoForm::DateBasic)),
    ("date-extended", Some(IsoForm::DateExtended)),
];

const ORDERS: [(&str, Order); 2] = [("asc", Order::Asc), ("desc", Order::Desc)];

/// Text or binary.
const ENCODINGS: [(&str, bool); 2] = [("text", false), ("binary", true)];

/// Reads the field `name` from its table.
pub(super) fn parse(name: &str, table: &Table<'_, '_>) -> Result<Field> {
    let type_text = table.required_string("type", "type = \"string\"")?;
    let types: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let Some((type_name, attributes)) = TYPES.iter().find(|(name, _)| *name == type_text.value) else {
        return Err(type_text.error(format!(
            "unknown `type` \"{}\"; {}",
            type_text.value,
            suggest(&type_text.value, &types)
        )));
    };
    refuse_foreign_attributes(table, type_name, attributes)?;
    let kind = kind(type_name, table)?;
    let order = table.word("order", &ORDERS)?.unwrap_or_default();
    if order == Order::Desc && !kind.can_descend() {
        return Err(no_desc(table, type_name, &kind));
    }
    let values = values(table, &kind)?;
    Ok(Field { name: name.to_owned(), kind, order, values })
}

fn refuse_foreign_attributes(table: &Table<'_, '_>, type_name: &str, attributes: &[&str]) -> Result<()> {
    let all = all_field_attributes();
    for key in table.keys() {
        if key == "type" || attributes.contains(&key) {
            continue;
        }
        let own: Vec<&str> = std::iter::once("type").chain(attributes.iter().copied()).collect();
        let message = if all.contains(&key) {
            format!("`{key}` has no meaning for type \"{type_name}\", which has {}; remove it", list(&own))
        } else {
            format!("unknown attribute `{key}` of type \"{type_name}\"; {}", suggest(key, &own))
        };
        return Err(table.error_at(key, message));
    }
    Ok(())
}

fn kind(type_name: &str, table: &Table<'_, '_>) -> Result<FieldKind> {
    Ok(match type_name {
        "string" => FieldKind::String,
        "uint" => uint(table)?,
        "int" => FieldKind::Int { digits: digits(table, 18, "8")? },
        "hex" => FieldKind::Hex {
            digits: u16::try_from(required(table, "digits", 512, "32")?).expect("at most 512"),
        },
        "timestamp" => timestamp(table)?,
        "domain" => FieldKind::Domain { separator: separator(table)? },
        "uuid" if table.word("encoding", &ENCODINGS)?.unwrap_or(false) => FieldKind::UuidBytes,
        "uuid" => FieldKind::UuidText,
        "f64" => FieldKind::BeFloat,
        "bytes" => FieldKind::EscapedBytes,
        "text" => FieldKind::EscapedText,
        "fixed" => FieldKind::Fixed {
            bytes: u16::try_from(required(table, "bytes", 4096, "16")?).expect("at most 4096"),
        },
        integer => {
            let bytes = match &integer[1..] {
                "8" => 1,
                "16" => 2,
                "32" => 4,
                _ => 8,
            };
            if integer.starts_with('u') { FieldKind::BeUint { bytes } } else { FieldKind::BeInt { bytes } }
        }
    })
}

fn uint(table: &Table<'_, '_>) -> Result<FieldKind> {
    let digits = digits(table, 20, "5")?;
    Ok(if table.flag("reverse")? { FieldKind::UintReversed { digits } } else { FieldKind::Uint { digits } })
}

fn required(table: &Table<'_, '_>, key: &str, max: i64, example: &str) -> Result<i64> {
    table.integer(key, 1..=max)?.ok_or_else(|| table.missing(key, &format!("{key} = {example}")))
}

fn digits(table: &Table<'_, '_>, max: i64, example: &str) -> Result<u8> {
    Ok(u8::try_from(required(table, "digits", max, example)?).expect("`max` is at most 20"))
}

fn timestamp(table: &Table<'_, '_>) -> Result<FieldKind> {
    let unit = table.word("unit", &UNITS)?;
    let required_unit =
        || unit.ok_or_else(|| table.missing("unit", "unit = \"ms\" (or \"s\", \"us\", \"ns\")"));
    if table.word("encoding", &ENCODINGS)?.unwrap_or(false) {
        for key in ["digits", "format"] {
            if table.has(key) {
                let message = format!(
                    "`{key}` belongs to times in text; with encoding = \"binary\" a time is 8 bytes; remove it"
                );
                return Err(table.error_at(key, message));
            }
        }
        return Ok(FieldKind::BeTime { unit: required_unit()? });
    }
    let Some(form) = table.word("format", &FORMATS)?.flatten() else {
        let unit = required_unit()?;
        return epoch_digits(table, unit);
    };
    if table.has("digits") {
        let message =
            "`digits` belongs to format = \"epoch\"; the width of ISO text follows from `unit`; remove it";
        return Err(table.error_at("digits", message));
    }
    if matches!(form, IsoForm::DateBasic | IsoForm::DateExtended) && table.has("unit") {
        let message = "`unit` has no meaning for a date, which has no time of day; remove it";
        return Err(table.error_at("unit", message));
    }
    Ok(FieldKind::Iso { form, unit: unit.unwrap_or(TimeUnit::Seconds) })
}

/// Digits that hold the present: those of 2026 do until 2286.
fn digits_of_today(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Seconds => 10,
        TimeUnit::Millis => 13,
        TimeUnit::Micros => 16,
        TimeUnit::Nanos => 19,
    }
}

fn epoch_digits(table: &Table<'_, '_>, unit: TimeUnit) -> Result<FieldKind> {
    let needed = digits_of_today(unit);
    let digits = digits(table, 19, &needed.to_string())?;
    if digits < needed {
        let message = format!(
            "{digits} digits of {name} end before 2002; today's times have {needed}: write digits = {needed}, which lasts until \
             2286",
            name = unit.name()
        );
        return Err(table.error_at_value("digits", message));
    }
    Ok(FieldKind::EpochDigits { unit, digits })
}

fn separator(table: &Table<'_, '_>) -> Result<u8> {
    let Some(text) = table.string("separator")? else { return Ok(b',') };
    match text.value.as_str() {
        "," => Ok(b','),
        "." => Ok(b'.'),
        "\0" | "\\x00" => Ok(0),
        _ => Err(text.error("`separator` must be \",\" or \"\\x00\" (behind every label, so that a subtree is contiguous) or \".\"")),
    }
}

fn no_desc(table: &Table<'_, '_>, type_name: &str, kind: &FieldKind) -> Error {
    let (why, instead) = match kind {
        FieldKind::String => ("text of variable length cannot be turned round", "; type = \"text\" can"),
        FieldKind::Domain { .. } => ("a domain cannot be turned round", ""),
        FieldKind::Hex { .. } => ("hex digits are kept readable", "; type = \"fixed\" can"),
        FieldKind::UuidText => ("a UUID in text is kept readable", "; encoding = \"binary\" can"),
        FieldKind::Iso { .. } => ("a date in text is kept readable", "; format = \"epoch\" can"),
        FieldKind::UintReversed { .. } => ("reversed digits have no order", ""),
        _ => ("its encoding has no descending form", ""),
    };
    let message = format!("type \"{type_name}\" cannot be descending: {why}{instead}; remove `order`");
    table.error_at("order", message)
}

fn values(table: &Table<'_, '_>, kind: &FieldKind) -> Result<Vec<String>> {
    let Some(texts) = table.strings("values")? else { return Ok(Vec::new()) };
    debug_assert!(
        matches!(kind, FieldKind::String | FieldKind::EscapedText),
        "the table of attributes says so"
    );
    if texts.is_empty() {
        return Err(table.error_at(
            "values",
            "`values` is empty: name every value that the field can have, or remove it",
        ));
    }
    for (index, text) in texts.iter().enumerate() {
        if texts[..index].iter().any(|earlier: &Text<'_>| earlier.value == text.value) {
            return Err(text.error(format!("\"{}\" stands twice in `values`; remove one", text.value)));
        }
    }
    Ok(texts.into_iter().map(|text| text.value).collect())
}
