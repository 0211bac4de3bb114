//! A schema as canonical TOML: what [`KeySchema::parse`] reads back to an equal schema.

use super::parse::{field, salt};
use super::{
    Binding, DeclaredQuery, Family, Field, FieldKind, IsoForm, KeySchema, Order, Part, Salt, SaltFormat,
    SaltSource, TimeUnit,
};
use std::fmt::Write as _;

impl KeySchema {
    /// The schema as a TOML file in canonical form: every default written out, comments and spacing lost.
    ///
    /// `KeySchema::parse(&schema.to_toml())` gives an equal schema for every schema that `parse` has made.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        self.write_toml(&mut out).expect("writing to a string does not fail");
        out
    }

    /// The layout line: `{salt}#{vehicle}#{time}`.
    pub fn layout(&self) -> String {
        self.parts.iter().map(|part| self.part_text(part)).collect()
    }

    fn part_text(&self, part: &Part) -> String {
        match part {
            Part::Salt => "{salt}".to_owned(),
            Part::Field(index) => format!("{{{}}}", self.fields[*index].name),
            Part::Literal(bytes) => {
                crate::escape::escaped(bytes).to_string().replace('{', "{{").replace('}', "}}")
            }
        }
    }

    fn write_toml(&self, out: &mut String) -> std::fmt::Result {
        write!(
            out,
            "version = 1\ntable = {}\n\n[key]\nlayout = {}\n",
            quoted(&self.table),
            raw(&self.layout())
        )?;
        if let Some(salt) = &self.salt {
            self.write_salt(out, salt)?;
        }
        out.push_str("\n[key.fields]\n");
        for field in &self.fields {
            writeln!(out, "{} = {{ {} }}", field.name, field_attributes(field))?;
        }
        if !self.families.is_empty() {
            out.push_str("\n[families]\n");
        }
        for family in &self.families {
            writeln!(out, "{} = {}", quoted_key(&family.name), family_table(family))?;
        }
        for query in &self.queries {
            self.write_query(out, query)?;
        }
        Ok(())
    }

    fn write_salt(&self, out: &mut String, salt: &Salt) -> std::fmt::Result {
        out.push_str("\n[key.salt]\n");
        if salt.source != SaltSource::Random {
            let names: Vec<String> = salt.of.iter().map(|index| quoted(&self.fields[*index].name)).collect();
            writeln!(out, "of = [{}]", names.join(", "))?;
        }
        writeln!(out, "hash = \"{}\"", salt::hash_name(salt.source))?;
        match salt.source {
            SaltSource::HashPrefix { bytes, .. } => writeln!(out, "prefix_bytes = {bytes}")?,
            SaltSource::Hash(super::Hash::Md5Hex { digits }) => {
                writeln!(out, "hex_digits = {digits}\nbuckets = {}", salt.buckets)?;
            }
            _ => writeln!(out, "buckets = {}", salt.buckets)?,
        }
        let (format, width) = match salt.format {
            SaltFormat::Digits { width } => ("digits", width),
            SaltFormat::Hex { width } => ("hex", width),
            SaltFormat::Bytes { width } => ("bytes", width),
        };
        writeln!(out, "format = \"{format}\"\nwidth = {width}")
    }

    fn write_query(&self, out: &mut String, query: &DeclaredQuery) -> std::fmt::Result {
        write!(out, "\n[[queries]]\nname = {}\n", quoted(&query.name))?;
        writeln!(out, "where = \"{}\"", self.bound_text(query))?;
        if let Some(limit) = query.limit {
            writeln!(out, "limit = {limit}")?;
        }
        if let Some(rows) = query.rows {
            writeln!(out, "rows = {rows}")?;
        }
        if let Some(per_second) = query.per_second {
            writeln!(out, "per_second = {per_second:?}")?;
        }
        if query.reverse {
            out.push_str("reverse = true\n");
        }
        Ok(())
    }

    /// What a declared query binds: `tenant, kind in, time range`, or `*`.
    pub(super) fn bound_text(&self, query: &DeclaredQuery) -> String {
        if query.bound.is_empty() {
            return "*".to_owned();
        }
        let item = |(index, binding): &(usize, Binding)| {
            let word = match binding {
                Binding::Equal => "",
                Binding::In => " in",
                Binding::Prefix => " prefix",
                Binding::Range => " range",
            };
            format!("{}{word}", self.fields[*index].name)
        };
        query.bound.iter().map(item).collect::<Vec<_>>().join(", ")
    }
}

/// The attributes of a field, as they stand between its braces: `type = "uint", digits = 5`.
pub(super) fn field_attributes(field: &Field) -> String {
    let mut text = kind_attributes(&field.kind);
    if field.order == Order::Desc {
        text.push_str(", order = \"desc\"");
    }
    if !field.values.is_empty() {
        let values: Vec<String> = field.values.iter().map(|value| quoted(value)).collect();
        text = format!("{text}, values = [{}]", values.join(", "));
    }
    text
}

/// A field in words: `uint, digits 5`, `timestamp, unit ms, digits 13, order desc`.
pub(super) fn field_words(field: &Field) -> String {
    let bare = field_attributes(&Field { values: Vec::new(), ..field.clone() });
    let words = bare.replacen("type = ", "", 1).replace(" = ", " ").replace(['"', '\''], "");
    match field.values.len() {
        0 => words,
        1..=4 => format!("{words}, one of {}", field.values.join(" ")),
        count => format!("{words}, one of {count}"),
    }
}

fn kind_attributes(kind: &FieldKind) -> String {
    match kind {
        FieldKind::String => "type = \"string\"".to_owned(),
        FieldKind::Uint { digits } => format!("type = \"uint\", digits = {digits}"),
        FieldKind::UintReversed { digits } => format!("type = \"uint\", digits = {digits}, reverse = true"),
        FieldKind::Int { digits } => format!("type = \"int\", digits = {digits}"),
        FieldKind::Hex { digits } => format!("type = \"hex\", digits = {digits}"),
        FieldKind::EpochDigits { unit, digits } => {
            format!("type = \"timestamp\", unit = \"{}\", digits = {digits}", unit.name())
        }
        FieldKind::Iso { form, unit } => iso_attributes(*form, *unit),
        FieldKind::Domain { separator: 0 } => "type = \"domain\", separator = '\\x00'".to_owned(),
        FieldKind::Domain { separator } => {
            format!("type = \"domain\", separator = \"{}\"", char::from(*separator))
        }
        FieldKind::UuidText => "type = \"uuid\"".to_owned(),
        FieldKind::UuidBytes => "type = \"uuid\", encoding = \"binary\"".to_owned(),
        FieldKind::BeUint { bytes } => format!("type = \"u{}\"", u16::from(*bytes) * 8),
        FieldKind::BeInt { bytes } => format!("type = \"i{}\"", u16::from(*bytes) * 8),
        FieldKind::BeFloat => "type = \"f64\"".to_owned(),
        FieldKind::EscapedBytes => "type = \"bytes\"".to_owned(),
        FieldKind::EscapedText => "type = \"text\"".to_owned(),
        FieldKind::Fixed { bytes } => format!("type = \"fixed\", bytes = {bytes}"),
        FieldKind::BeTime { unit } => {
            format!("type = \"timestamp\", unit = \"{}\", encoding = \"binary\"", unit.name())
        }
    }
}

fn iso_attributes(form: IsoForm, unit: TimeUnit) -> String {
    let name = field::FORMATS.iter().find(|(_, known)| *known == Some(form)).map_or("", |(name, _)| name);
    match form {
        IsoForm::Basic | IsoForm::Extended => {
            format!("type = \"timestamp\", unit = \"{}\", format = \"{name}\"", unit.name())
        }
        IsoForm::DateBasic | IsoForm::DateExtended => format!("type = \"timestamp\", format = \"{name}\""),
    }
}

fn family_table(family: &Family) -> String {
    let mut attributes = Vec::new();
    if !family.gc.is_empty() {
        attributes.push(format!("gc = {}", quoted(&family.gc)));
    }
    if family.value_type != "bytes" {
        attributes.push(format!("value_type = {}", quoted(&family.value_type)));
    }
    if attributes.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", attributes.join(", ")) }
}

/// A family name has a point or begins with a digit now and then: such a key is quoted.
fn quoted_key(name: &str) -> String {
    let bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A TOML string in which a backslash is easy to read, if it has one.
fn raw(text: &str) -> String {
    if text.contains('\\') && !text.contains('\'') { format!("'{text}'") } else { quoted(text) }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                write!(out, "\\u{:04X}", u32::from(control)).expect("writing to a string does not fail");
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
