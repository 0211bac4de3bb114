//! What a schema may say, and should think about again. The numbers are computed, or measured in the sources named in
//! `docs/schema.md`.

use super::{Field, FieldKind, Hash, KeySchema, Order, Part, SaltSource};
use crate::escape::escaped;
use crate::key::ROW_KEY_BYTES_MAX_BIGTABLE;
use std::fmt;

/// Keys above this are said to cost: every cell of `HBase` and every entry of an index repeats them.
const KEY_BYTES_ADVISED_MAX: usize = 100;
/// From one more on, families get a warning: each has files of its own (also `limits.rs` of `rowkey-store`).
const FAMILIES_ADVISED_MAX: usize = 5;

/// Every topic of a warning.
#[cfg(test)]
pub(super) const TOPICS: [&str; 13] = [
    "time-first",
    "salt-of-time",
    "random-salt",
    "hash-prefix",
    "one-bucket",
    "weak-hash",
    "peer-defect",
    "peer-bytes",
    "domain-separator",
    "narrow-delimiter",
    "name-clash",
    "long-key",
    "many-families",
];

/// A design that works and has a price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// A stable name to look up: `weak-hash`, `time-first`.
    pub topic: &'static str,
    /// What is wrong, what it costs, and what to write instead.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.topic, self.message)
    }
}

impl KeySchema {
    /// What should be thought about again, the most costly first. An empty list is a good sign, not a proof: `rowkey doctor`
    /// looks at real keys.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |topic, message| warnings.push(Warning { topic, message });
        self.warn_of_time(&mut warn);
        self.warn_of_salt(&mut warn);
        self.warn_of_hash(&mut warn);
        self.warn_of_peer_bytes(&mut warn);
        self.warn_of_fields(&mut warn);
        self.warn_of_size(&mut warn);
        warnings
    }

    fn warn_of_time(&self, warn: &mut impl FnMut(&'static str, String)) {
        let first = &self.fields[0];
        if self.salt.is_none() && is_time(&first.kind) {
            let end = if first.order == Order::Desc { "beginning" } else { "end" };
            let message = format!(
                "the key begins with the time `{}`, so all writes of a moment go to one place, the {end} of the table, whatever \
                 the number of nodes; put the entity first, or a salt of it",
                first.name
            );
            warn("time-first", message);
        }
        let Some(salt) = &self.salt else { return };
        if let Some(time) =
            salt.of.iter().map(|index| &self.fields[*index]).find(|field| is_time(&field.kind))
        {
            let message = format!(
                "the salt depends on the time `{}`, so the rows of one entity are spread over all buckets and its scan reads \
                 every one; take `{}` out of `of`",
                time.name, time.name
            );
            warn("salt-of-time", message);
        }
    }

    fn warn_of_salt(&self, warn: &mut impl FnMut(&'static str, String)) {
        let Some(salt) = &self.salt else { return };
        match salt.source {
            SaltSource::Random => warn(
                "random-salt",
                format!(
                    "the salt is random, so a point read has to visit all {} buckets, and a row written twice may stand in two; \
                     a salt of fields visits one",
                    salt.buckets
                ),
            ),
            SaltSource::HashPrefix { bytes, .. } => warn(
                "hash-prefix",
                format!(
                    "a hash prefix of {bytes} bytes without modulo spreads widest, but rows with different `{}` have no order \
                     that can be merged back: scans over them come unordered and read the whole table; `buckets` keeps the \
                     order",
                    self.of_text(", ")
                ),
            ),
            _ if salt.buckets == 1 => {
                warn("one-bucket", "one bucket spreads nothing; take more, or remove the salt".to_owned());
            }
            _ => {}
        }
    }

    fn of_text(&self, between: &str) -> String {
        let of = self.salt.iter().flat_map(|salt| &salt.of);
        of.map(|index| self.fields[*index].name.as_str()).collect::<Vec<_>>().join(between)
    }

    fn warn_of_hash(&self, warn: &mut impl FnMut(&'static str, String)) {
        let Some(salt) = &self.salt else { return };
        // A random salt is weak in no way; its price is told of above.
        if let Some(weakness) =
            salt.source.weakness(salt.buckets).filter(|_| salt.source != SaltSource::Random)
        {
            warn("weak-hash", weakness);
        }
        if let Some(defect) = salt.source.defect() {
            warn("peer-defect", defect.to_owned());
        }
    }

    /// Hashes of other programs are taken to read or write their tables, so their bytes have to be theirs.
    fn warn_of_peer_bytes(&self, warn: &mut impl FnMut(&'static str, String)) {
        let Some(salt) = &self.salt else { return };
        let SaltSource::Hash(hash) = salt.source else { return };
        let (peer, whole_key) = match hash {
            Hash::Phoenix => ("Phoenix", true),
            Hash::HbaseWd => ("HBaseWD", true),
            Hash::OpenTsdb => ("OpenTSDB", false),
            _ => return,
        };
        if matches!(self.parts.get(1), Some(Part::Literal(_))) {
            let message = format!(
                "{peer} puts nothing between the salt and the key, this layout puts a literal there: {peer} cannot read these \
                 keys; remove it, or take hash = \"xxh3\""
            );
            warn("peer-bytes", message);
        }
        if whole_key && salt.of.len() != self.fields.len() {
            let message = format!(
                "{peer} hashes the whole key, this salt only `{}`: {peer} cannot read these keys; name every field in `of`, or \
                 take hash = \"xxh3\"",
                self.of_text(", ")
            );
            warn("peer-bytes", message);
        }
    }

    fn warn_of_fields(&self, warn: &mut impl FnMut(&'static str, String)) {
        for field in &self.fields {
            if field.kind == (FieldKind::Domain { separator: b'.' }) {
                let message = format!(
                    "with the separator `.` the subtree of a domain is not one range: `com.example-shop` sorts between \
                     `com.example` and `com.example.www`, since `-` is below `.`; take separator = \",\" for `{}`",
                    field.name
                );
                warn("domain-separator", message);
            }
        }
        for pair in self.parts.windows(2) {
            let [Part::Field(index), Part::Literal(literal)] = pair else { continue };
            let field = &self.fields[*index];
            if let Some(excluded) = excluded_by(field, literal[0]) {
                let message = format!(
                    "`{}` ends at the literal `{}`, so it can only hold bytes above that, which leaves out {excluded}; `#` (23) and \
                     `\\x00` leave all of them in",
                    field.name,
                    escaped(literal)
                );
                warn("narrow-delimiter", message);
            }
        }
        for field in &self.fields {
            let family = self.families.iter().any(|family| family.name == field.name);
            if family || matches!(field.name.as_str(), "_key" | "_timestamp") {
                let message = format!(
                    "Bigtable's row key schema takes no field named like a family, `_key` or `_timestamp`; rename `{}` if you \
                     want to export one",
                    field.name
                );
                warn("name-clash", message);
            }
        }
    }

    fn warn_of_size(&self, warn: &mut impl FnMut(&'static str, String)) {
        let width = self.key_width();
        match width.max {
            Some(max) if max > ROW_KEY_BYTES_MAX_BIGTABLE => {
                let message =
                    format!("keys can have {max} bytes; Bigtable takes {ROW_KEY_BYTES_MAX_BIGTABLE}");
                warn("long-key", message);
            }
            _ if width.min > ROW_KEY_BYTES_MAX_BIGTABLE => {
                let message = format!(
                    "keys have at least {} bytes; Bigtable takes {ROW_KEY_BYTES_MAX_BIGTABLE}",
                    width.min
                );
                warn("long-key", message);
            }
            max if max.unwrap_or(width.min) > KEY_BYTES_ADVISED_MAX => {
                let message = format!(
                    "keys can have {} bytes; above {KEY_BYTES_ADVISED_MAX} they begin to cost, since HBase repeats the key in \
                     every cell and every store keeps it in its indexes; binary types are shorter",
                    max.unwrap_or(width.min)
                );
                warn("long-key", message);
            }
            _ => {}
        }
        if self.families.len() > FAMILIES_ADVISED_MAX {
            let message = format!(
                "{} families: each has files of its own, so more than {FAMILIES_ADVISED_MAX} cost; use qualifiers within a family",
                self.families.len()
            );
            warn("many-families", message);
        }
    }
}

/// Whether it is a point in time.
pub(super) fn is_time(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. })
}

/// Which letters or digits a text field loses to the literal behind it.
fn excluded_by(field: &Field, first: u8) -> Option<&'static str> {
    if field.kind != FieldKind::String || !field.values.is_empty() {
        return None;
    }
    match first {
        b'a'.. => Some("digits, upper-case and some lower-case letters"),
        b'A'.. => Some("digits and upper-case letters, at least some"),
        b'0'.. => Some("digits, at least some"),
        _ => None,
    }
}
