//! Every table of the schema file and the keys that it knows: the one list behind "unknown key" and behind the JSON Schema's
//! test. `docs/schema.md` and `schema.json` say the same; tests hold them together.

/// Keys of the file itself.
pub(in crate::schema) const ROOT: &[&str] = &["version", "table", "key", "families", "queries"];
/// Keys of `[key]`.
pub(in crate::schema) const KEY: &[&str] = &["layout", "salt", "fields"];
/// Keys of `[key.salt]`.
pub(in crate::schema) const SALT: &[&str] =
    &["of", "buckets", "hash", "hex_digits", "prefix_bytes", "format", "width"];
/// Keys of one family.
pub(in crate::schema) const FAMILY: &[&str] = &["gc", "value_type"];
/// Keys of one `[[queries]]`.
pub(in crate::schema) const QUERY: &[&str] = &["name", "where", "limit", "per_second", "rows", "reverse"];

/// The types of fields, and the attributes that each has beside `type`.
pub(in crate::schema) const TYPES: &[(&str, &[&str])] = &[
    ("string", &["order", "values"]),
    ("uint", &["digits", "order", "reverse"]),
    ("int", &["digits", "order"]),
    ("hex", &["digits", "order"]),
    ("timestamp", &["unit", "digits", "format", "encoding", "order"]),
    ("domain", &["separator", "order"]),
    ("uuid", &["encoding", "order"]),
    ("u8", &["order"]),
    ("u16", &["order"]),
    ("u32", &["order"]),
    ("u64", &["order"]),
    ("i8", &["order"]),
    ("i16", &["order"]),
    ("i32", &["order"]),
    ("i64", &["order"]),
    ("f64", &["order"]),
    ("bytes", &["order"]),
    ("text", &["order", "values"]),
    ("fixed", &["bytes", "order"]),
];

/// Every attribute of any field.
pub(in crate::schema) fn all_field_attributes() -> Vec<&'static str> {
    let mut all = vec!["type"];
    for attribute in TYPES.iter().flat_map(|(_, attributes)| attributes.iter()) {
        if !all.contains(attribute) {
            all.push(attribute);
        }
    }
    all
}
