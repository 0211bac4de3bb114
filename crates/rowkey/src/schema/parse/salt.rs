//! `[key.salt]`: which fields, which hash, how many buckets, and how the bucket is written.

use super::document::{Table, list, suggest};
use crate::Result;
use crate::escape::escaped;
use crate::salt::cockroach;
use crate::schema::{Field, Hash, Part, Salt, SaltFormat, SaltSource};

/// Buckets of a salt. 65,536 is what two bytes hold.
const BUCKETS_MAX: i64 = 65_536;
/// Buckets that `CockroachDB` takes.
const COCKROACHDB_BUCKETS: std::ops::RangeInclusive<u32> = 2..=2048;

/// What `hash` can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Plain(Hash),
    /// `md5-hex`: with `hex_digits`.
    Md5Hex,
    /// `md5`: with `prefix_bytes`.
    Md5,
    Modulo,
    Random,
}

const NAMES: [(&str, Name); 14] = [
    ("xxh3", Name::Plain(Hash::Xxh3)),
    ("md5-hex", Name::Md5Hex),
    ("md5", Name::Md5),
    ("crc32", Name::Plain(Hash::Crc32)),
    ("murmur3", Name::Plain(Hash::Murmur3)),
    ("fnv1", Name::Plain(Hash::Fnv1)),
    ("fnv1a", Name::Plain(Hash::Fnv1a)),
    ("java-string", Name::Plain(Hash::JavaString)),
    ("phoenix", Name::Plain(Hash::Phoenix)),
    ("hbasewd", Name::Plain(Hash::HbaseWd)),
    ("opentsdb", Name::Plain(Hash::OpenTsdb)),
    ("cockroachdb", Name::Plain(Hash::CockroachDb)),
    ("modulo", Name::Modulo),
    ("random", Name::Random),
];

/// How `hash` is spelled for this source.
pub(in crate::schema) fn hash_name(source: SaltSource) -> &'static str {
    let wanted = match source {
        SaltSource::Hash(Hash::Md5Hex { .. }) => Name::Md5Hex,
        SaltSource::HashPrefix { hash: Hash::Md5Hex { .. }, .. } => Name::Md5,
        SaltSource::Hash(hash) | SaltSource::HashPrefix { hash, .. } => Name::Plain(hash),
        SaltSource::Modulo => Name::Modulo,
        SaltSource::Random => Name::Random,
    };
    NAMES.iter().find(|(_, name)| *name == wanted).map_or("xxh3", |(text, _)| text)
}

/// Every word that `hash` can be.
#[cfg(test)]
pub(in crate::schema) fn hash_names() -> [&'static str; 14] {
    NAMES.map(|(name, _)| name)
}

/// The format, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Digits,
    Hex,
    Bytes,
}

const FORMATS: [(&str, Format); 3] =
    [("digits", Format::Digits), ("hex", Format::Hex), ("bytes", Format::Bytes)];

/// Reads `[key.salt]`.
pub(super) fn parse(table: &Table<'_, '_>, parts: &[Part], fields: &[Field]) -> Result<Salt> {
    let name = table.word("hash", &NAMES)?.unwrap_or(Name::Plain(Hash::Xxh3));
    let of = of(table, name, fields)?;
    if let Some(bytes) = table.integer("prefix_bytes", 1..=16)? {
        let salt = hash_prefix(table, name, of, u8::try_from(bytes).expect("at most 16"))?;
        check_input(table, &salt, parts, fields)?;
        return Ok(salt);
    }
    if name == Name::Md5 {
        let message = "hash = \"md5\" goes with `prefix_bytes`; for buckets write hash = \"md5-hex\" and hex_digits = 4";
        return Err(table.error_at_value("hash", message));
    }
    let buckets = table.integer("buckets", 1..=BUCKETS_MAX)?;
    let buckets = buckets.ok_or_else(|| table.missing("buckets", "buckets = 16 (or prefix_bytes = 2)"))?;
    let buckets = u32::try_from(buckets).expect("at most 65,536");
    let source = source(table, name, buckets)?;
    let format = format(table, name, buckets)?;
    let salt = Salt { of, source, format, buckets };
    check_input(table, &salt, parts, fields)?;
    Ok(salt)
}

fn of(table: &Table<'_, '_>, name: Name, fields: &[Field]) -> Result<Vec<usize>> {
    let texts = table.strings("of")?;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    if name == Name::Random {
        return match texts {
            None => Ok(Vec::new()),
            Some(_) => Err(table.error_at("of", "a random salt depends on no field; remove `of`")),
        };
    }
    let example =
        format!("of = [\"{}\"], the fields whose rows stay in one bucket", names.first().unwrap_or(&"field"));
    let texts = texts.ok_or_else(|| table.missing("of", &example))?;
    if texts.is_empty() {
        return Err(table.error_at("of", format!("`of` is empty: write {example}, or hash = \"random\"")));
    }
    let mut of = Vec::with_capacity(texts.len());
    for text in &texts {
        let Some(index) = names.iter().position(|name| *name == text.value) else {
            let hint = suggest(&text.value, &names);
            return Err(text.error(format!("`{}` in `of` is not a field of the layout; {hint}", text.value)));
        };
        if of.contains(&index) {
            return Err(text.error(format!("`{}` stands twice in `of`; remove one", text.value)));
        }
        of.push(index);
    }
    of.sort_unstable();
    if name == Name::Modulo {
        check_modulo(table, &of, fields)?;
    }
    Ok(of)
}

fn check_modulo(table: &Table<'_, '_>, of: &[usize], fields: &[Field]) -> Result<()> {
    match of {
        [one] if fields[*one].kind.is_integer() => Ok(()),
        [one] => {
            let message = format!(
                "hash = \"modulo\" divides an integer, and `{}` is none (uint, int, u8 to i64, times as numbers); take hash = \"xxh3\"",
                fields[*one].name
            );
            Err(table.error_at_value("of", message))
        }
        _ => Err(table.error_at_value(
            "of",
            "hash = \"modulo\" takes exactly one field; take hash = \"xxh3\" for several",
        )),
    }
}

/// Hashes that do not take every type.
fn check_input(table: &Table<'_, '_>, salt: &Salt, parts: &[Part], fields: &[Field]) -> Result<()> {
    let hashed = || salt.of.iter().map(|index| &fields[*index]);
    let java = matches!(
        salt.source,
        SaltSource::Hash(Hash::JavaString) | SaltSource::HashPrefix { hash: Hash::JavaString, .. }
    );
    let (foreign, why) = match salt.source {
        _ if java => (hashed().find(|field| !field.kind.is_text()), "hash = \"java-string\" hashes text"),
        SaltSource::Hash(Hash::CockroachDb) => (
            hashed().find(|field| !cockroach::knows(&field.kind)),
            "hash = \"cockroachdb\" knows CockroachDB's encoding of integers, text and bytes",
        ),
        _ => (None, ""),
    };
    if let Some(Field { name, kind, .. }) = foreign {
        let message = format!("{why}, and `{name}` is of type \"{}\"; take hash = \"xxh3\"", kind.name());
        return Err(table.error_at_value("of", message));
    }
    // The literal behind each hashed field but the last is hashed too.
    let inner = salt.of.split_last().map_or(&[][..], |(_, inner)| inner);
    for pair in parts.windows(2) {
        if let [Part::Field(index), Part::Literal(literal)] = pair
            && java
            && inner.contains(index)
            && std::str::from_utf8(literal).is_err()
        {
            let message = format!(
                "hash = \"java-string\" hashes text, and the literal `{}` behind `{}` is none; take hash = \"xxh3\"",
                escaped(literal),
                fields[*index].name
            );
            return Err(table.error_at_value("hash", message));
        }
    }
    Ok(())
}

fn source(table: &Table<'_, '_>, name: Name, buckets: u32) -> Result<SaltSource> {
    if name != Name::Md5Hex && table.has("hex_digits") {
        return Err(table.error_at("hex_digits", "`hex_digits` belongs to hash = \"md5-hex\"; remove it"));
    }
    let hash = match name {
        Name::Modulo => return Ok(SaltSource::Modulo),
        Name::Random => return Ok(SaltSource::Random),
        Name::Md5Hex | Name::Md5 => md5_hex(table, buckets)?,
        Name::Plain(hash) => hash,
    };
    match hash {
        Hash::Phoenix | Hash::HbaseWd if buckets > 256 => {
            let message = format!("`buckets` is {buckets}; {} writes one byte, so at most 256", quoted(name));
            Err(table.error_at_value("buckets", message))
        }
        Hash::CockroachDb if !COCKROACHDB_BUCKETS.contains(&buckets) => {
            let message = format!("`buckets` is {buckets}; CockroachDB takes 2 to 2048");
            Err(table.error_at_value("buckets", message))
        }
        _ => Ok(SaltSource::Hash(hash)),
    }
}

fn md5_hex(table: &Table<'_, '_>, buckets: u32) -> Result<Hash> {
    let digits = table.integer("hex_digits", 1..=16)?;
    let digits = digits.ok_or_else(|| {
        table
            .missing("hex_digits", "hex_digits = 4, the leading hex digits of the MD5 that become the number")
    })?;
    let digits = u8::try_from(digits).expect("at most 16");
    if 16_u128.pow(u32::from(digits)) < u128::from(buckets) {
        let message = format!(
            "`hex_digits` is {digits}, which gives {} numbers for {buckets} buckets: some would stay empty; take hex_digits = 4 \
             or more",
            16_u128.pow(u32::from(digits))
        );
        return Err(table.error_at_value("hex_digits", message));
    }
    Ok(Hash::Md5Hex { digits })
}

fn quoted(name: Name) -> String {
    let text = NAMES.iter().find(|(_, known)| *known == name).map_or("", |(text, _)| text);
    format!("hash = \"{text}\"")
}

fn format(table: &Table<'_, '_>, name: Name, buckets: u32) -> Result<SaltFormat> {
    let written = table.word("format", &FORMATS)?;
    let peer = match name {
        Name::Plain(hash @ (Hash::Phoenix | Hash::HbaseWd | Hash::OpenTsdb)) => Some(hash),
        _ => None,
    };
    if peer.is_some() && written.is_some_and(|format| format != Format::Bytes) {
        let message = format!("{} writes bytes: write format = \"bytes\", or remove it", quoted(name));
        return Err(table.error_at_value("format", message));
    }
    let format = written.unwrap_or(if peer.is_some() { Format::Bytes } else { Format::Digits });
    let (base, max) = match (format, peer) {
        (Format::Digits, _) => (10, 16),
        (Format::Hex, _) => (16, 16),
        (Format::Bytes, Some(Hash::OpenTsdb)) => (256, 8),
        (Format::Bytes, Some(_)) => (256, 1),
        (Format::Bytes, None) => (256, 2),
    };
    let needed = width_of(buckets - 1, base);
    let width = match table.integer("width", 1..=max)? {
        None => needed,
        Some(width) if width >= i64::from(needed) => u8::try_from(width).expect("at most 16"),
        Some(width) => {
            let message = format!(
                "`width` is {width}, too narrow for bucket {} of {buckets} in {}: write width = {needed} or more",
                buckets - 1,
                format_name(format),
            );
            return Err(table.error_at_value("width", message));
        }
    };
    Ok(match format {
        Format::Digits => SaltFormat::Digits { width },
        Format::Hex => SaltFormat::Hex { width },
        Format::Bytes => SaltFormat::Bytes { width },
    })
}

fn format_name(format: Format) -> &'static str {
    FORMATS.iter().find(|(_, known)| *known == format).map_or("", |(name, _)| name)
}

/// Digits of `number` in this base, at least 1.
fn width_of(number: u32, base: u32) -> u8 {
    let digits = number.checked_ilog(base).map_or(1, |exponent| exponent + 1);
    u8::try_from(digits).expect("a u32 has at most 32 digits")
}

/// The hash, if it can stand as a prefix, without modulo.
fn prefix_hash(name: Name) -> Option<Hash> {
    let hash = match name {
        Name::Plain(hash) => hash,
        Name::Md5 => Hash::Md5Hex { digits: 16 },
        Name::Md5Hex | Name::Modulo | Name::Random => return None,
    };
    (hash.prefix_bytes_max() > 0).then_some(hash)
}

fn hash_prefix(table: &Table<'_, '_>, name: Name, of: Vec<usize>, bytes: u8) -> Result<Salt> {
    for key in ["buckets", "hex_digits"] {
        if table.has(key) {
            let message = format!(
                "`{key}` and `prefix_bytes` exclude each other: a hash prefix has no number of buckets; remove one"
            );
            return Err(table.error_at(key, message));
        }
    }
    let Some(hash) = prefix_hash(name) else {
        let known: Vec<&str> =
            NAMES.iter().filter(|(_, name)| prefix_hash(*name).is_some()).map(|(text, _)| *text).collect();
        let known = list(&known);
        return Err(table
            .error_at_value("hash", format!("{} cannot be a hash prefix; known are {known}", quoted(name))));
    };
    let max = hash.prefix_bytes_max();
    if bytes > max {
        let message = format!("`prefix_bytes` is {bytes}, but {} has {max} bytes", quoted(name));
        return Err(table.error_at_value("prefix_bytes", message));
    }
    let (format, width) = match table.word("format", &FORMATS)? {
        None | Some(Format::Bytes) => (SaltFormat::Bytes { width: bytes }, bytes),
        Some(Format::Hex) => (SaltFormat::Hex { width: 2 * bytes }, 2 * bytes),
        Some(Format::Digits) => {
            let message = "a hash prefix is written as bytes or hex: write format = \"hex\"";
            return Err(table.error_at_value("format", message));
        }
    };
    if table.integer("width", 1..=32)?.is_some_and(|written| written != i64::from(width)) {
        let message = format!("the width of this hash prefix is {width}; remove `width`");
        return Err(table.error_at_value("width", message));
    }
    let source = SaltSource::HashPrefix { hash, bytes };
    Ok(Salt { of, source, format, buckets: 0 })
}
