//! Split points as the tools take them.
//!
//! ```text
//! cbt           one CSV record in `splits=`; any bytes but zero, which no command line can hold
//! gcloud        a list in `--splits=`, its delimiter changed to one that no point contains; printable ASCII alone
//! hbase-shell   Ruby strings in single quotes; the shell gives them to `Bytes.toBytesBinary`, which reads `\xNN` in upper case alone
//! hbase-file    the same escapes, one point a line; the shell reads it with SPLITS_FILE
//! json          one object a line, the bytes as `text` or as `base64`
//! ```

use crate::escape::escaped;
use crate::schema::{Family, KeySchema};
use crate::{Error, ErrorKind, Result};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// The longest argument that Linux passes to a program, in bytes (`MAX_ARG_STRLEN`: 32 pages of 4 KiB).
const ARGUMENT_BYTES_MAX: usize = 131_072;

/// Who the split points are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A `cbt createtable` command.
    Cbt,
    /// A `gcloud bigtable instances tables create` command.
    Gcloud,
    /// A `create` command of the `HBase` shell.
    HbaseShell,
    /// A splits file of the `HBase` shell.
    HbaseFile,
    /// JSON lines.
    Json,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Cbt, Self::Gcloud, Self::HbaseShell, Self::HbaseFile, Self::Json];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cbt => "cbt",
            Self::Gcloud => "gcloud",
            Self::HbaseShell => "hbase-shell",
            Self::HbaseFile => "hbase-file",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            Error::query(format!("`{text}` is no format of split points; there are {}", names.join(", ")))
        })
    }
}

/// Prints split points, each line ended. Commands create the table of the schema with its families; lines that begin with `#` say what a
/// tool cannot be told.
///
/// # Errors
///
/// [`ErrorKind::Value`] if a point has bytes that the tool cannot be given, or is empty; [`ErrorKind::Limit`] if a command
/// would be longer than a command line can be.
pub fn print(format: Format, schema: &KeySchema, points: &[Vec<u8>]) -> Result<String> {
    if let Some(at) = points.iter().position(Vec::is_empty) {
        return Err(Error::value(format!("split point {} is empty; remove it", at + 1)));
    }
    match format {
        Format::Cbt => cbt(schema, points),
        Format::Gcloud => gcloud(schema, points),
        Format::HbaseShell => Ok(hbase_shell(schema, points)),
        Format::HbaseFile => Ok(points.iter().map(|point| hbase_text(point) + "\n").collect()),
        Format::Json => Ok(points.iter().map(|point| json(point)).collect()),
    }
}

/// `families=` and `splits=` are each one CSV record (RFC 4180), as `cbt` reads them.
fn cbt(schema: &KeySchema, points: &[Vec<u8>]) -> Result<String> {
    let mut out = format!("cbt createtable {}", shell_quoted(schema.table.as_bytes()));
    if !schema.families.is_empty() {
        let families = schema.families.iter().map(|family| csv_field(cbt_family(family).as_bytes()));
        let record = [&b"families="[..], &families.collect::<Vec<_>>().join(&b',')].concat();
        let _ = write!(out, " {}", shell_quoted(&record));
    }
    if !points.is_empty() {
        for point in points {
            if point.contains(&0) {
                return Err(cannot_hold(
                    point,
                    "a zero byte, which no command line can",
                    "json, or a client library",
                ));
            }
        }
        let fields = points.iter().map(|point| csv_field(point));
        let record = [&b"splits="[..], &fields.collect::<Vec<_>>().join(&b',')].concat();
        check_length(&record)?;
        let _ = write!(out, " {}", shell_quoted(&record));
    }
    out.push('\n');
    Ok(out)
}

/// `family[:rule[:type]]`; a rule is needed in front of a type.
fn cbt_family(family: &Family) -> String {
    let is_plain = family.value_type.is_empty() || family.value_type == "bytes";
    match (family.gc.is_empty(), is_plain) {
        (true, true) => family.name.clone(),
        (true, false) => format!("{}:never:{}", family.name, family.value_type),
        (false, true) => format!("{}:{}", family.name, family.gc),
        (false, false) => format!("{}:{}:{}", family.name, family.gc, family.value_type),
    }
}

fn csv_field(bytes: &[u8]) -> Vec<u8> {
    if !bytes.iter().any(|byte| b",\"\r\n".contains(byte)) {
        return bytes.to_vec();
    }
    let mut field = vec![b'"'];
    for &byte in bytes {
        if byte == b'"' {
            field.push(b'"');
        }
        field.push(byte);
    }
    field.push(b'"');
    field
}

fn gcloud(schema: &KeySchema, points: &[Vec<u8>]) -> Result<String> {
    let mut out = String::new();
    let mut families = Vec::new();
    for family in &schema.families {
        let rule: String = family.gc.chars().filter(|c| !c.is_whitespace()).collect();
        let is_nested = rule.contains('(');
        if is_nested || !matches!(family.value_type.as_str(), "" | "bytes") {
            let _ = writeln!(
                out,
                "# family {}: set its rule and type with `cbt setgcpolicy` and `cbt setvaluetype`",
                family.name
            );
        }
        families.push(if rule.is_empty() || rule == "never" || is_nested {
            family.name.clone()
        } else {
            format!("{}:{rule}", family.name)
        });
    }
    let _ = write!(
        out,
        "gcloud bigtable instances tables create {} --instance=INSTANCE",
        shell_quoted(schema.table.as_bytes())
    );
    let columns = format!("--column-families={}", families.join(","));
    let _ = write!(out, " {}", shell_quoted(columns.as_bytes()));
    if !points.is_empty() {
        for point in points {
            if let Some(byte) = point.iter().find(|byte| !(0x20..0x7f).contains(*byte)) {
                let what = format!("the byte {byte:02x}, which is not printable ASCII");
                return Err(cannot_hold(point, &what, "cbt, or json"));
            }
        }
        let delimiter = list_delimiter(points)?;
        let intro = if delimiter == "," { String::new() } else { format!("^{delimiter}^") };
        let texts: Vec<String> =
            points.iter().map(|point| String::from_utf8_lossy(point).into_owned()).collect();
        let argument = format!("--splits={intro}{}", texts.join(delimiter));
        check_length(argument.as_bytes())?;
        let _ = write!(out, " {}", shell_quoted(argument.as_bytes()));
    }
    out.push('\n');
    Ok(out)
}

/// A comma, or the first delimiter that no point contains: `^:^a:b` is a list split at colons.
fn list_delimiter(points: &[Vec<u8>]) -> Result<&'static str> {
    let is_free = |delimiter: &&str| {
        let bytes = delimiter.as_bytes();
        !points.iter().any(|point| point.windows(bytes.len()).any(|window| window == bytes))
    };
    let starts_plain = points.first().is_none_or(|point| point[0] != b'^');
    if starts_plain && is_free(&",") {
        return Ok(",");
    }
    // Of one character each: a longer one could arise where a point ends and the delimiter begins.
    [":", ";", "|", "@", "%", "~", "!", "+"].into_iter().find(is_free).ok_or_else(|| {
        Error::value(
            "the points contain every delimiter that a gcloud list can have; print them for cbt, or as json",
        )
    })
}

fn hbase_shell(schema: &KeySchema, points: &[Vec<u8>]) -> String {
    let mut out = String::new();
    if schema.families.iter().any(|family| !family.gc.is_empty()) {
        out.push_str("# the rules of the families are not part of this command: set VERSIONS and TTL as you need them\n");
    }
    let names = std::iter::once(&schema.table).chain(schema.families.iter().map(|family| &family.name));
    let names: Vec<String> = names.map(|name| format!("'{}'", hbase_text(name.as_bytes()))).collect();
    let _ = write!(out, "create {}", names.join(", "));
    if !points.is_empty() {
        let points: Vec<String> = points.iter().map(|point| format!("'{}'", hbase_text(point))).collect();
        let _ = write!(out, ", SPLITS => [{}]", points.join(", "));
    }
    out.push('\n');
    out
}

/// Text that `Bytes.toBytesBinary` reads as these bytes, and that stands for itself in a Ruby string in single quotes and in a line of a
/// file. It has no escape for a backslash, and the shell strips spaces from the ends of lines.
fn hbase_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let is_end = at == 0 || at + 1 == bytes.len();
        match byte {
            b'\\' | b'\'' => {}
            b' ' if is_end => {}
            0x20..0x7f => {
                text.push(char::from(byte));
                continue;
            }
            _ => {}
        }
        let _ = write!(text, "\\x{byte:02X}");
    }
    text
}

fn json(point: &[u8]) -> String {
    let key = match std::str::from_utf8(point) {
        Ok(text) => format!("{{\"text\":\"{}\"}}", json_text(text)),
        Err(_) => format!("{{\"base64\":\"{}\"}}", base64(point)),
    };
    format!("{{\"type\":\"split\",\"key\":{key}}}\n")
}

fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0'..'\x20' | '\x7f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let word = a << 16 | b << 8 | c;
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            out.push(if digit > chunk.len() { '=' } else { char::from(ALPHABET[index as usize]) });
        }
    }
    out
}

/// A word of a POSIX shell; with other bytes than printable ASCII, a `$'...'` of bash and zsh.
fn shell_quoted(word: &[u8]) -> String {
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(byte);
    if !word.is_empty() && word.iter().all(is_safe) {
        return String::from_utf8_lossy(word).into_owned();
    }
    if word.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        return format!("'{}'", String::from_utf8_lossy(word).replace('\'', "'\\''"));
    }
    let mut out = "$'".to_owned();
    for &byte in word {
        match byte {
            b'\\' | b'\'' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            0x20..0x7f => out.push(char::from(byte)),
            // Three octal digits: unlike hex, they end by themselves.
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('\'');
    out
}

fn check_length(argument: &[u8]) -> Result<()> {
    if argument.len() < ARGUMENT_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "the split points are an argument of {} bytes; a command line holds {ARGUMENT_BYTES_MAX}: print fewer points, or json or hbase-file",
        argument.len()
    );
    Err(Error::new(ErrorKind::Limit, message))
}

fn cannot_hold(point: &[u8], what: &str, instead: &str) -> Error {
    Error::value(format!("split point `{}` contains {what}: use {instead}", escaped(point)))
}
